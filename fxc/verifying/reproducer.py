"""A folder that shows a wrong result: a graph as text, its inputs, and a program that runs both.

``graph.txt`` is read by ``fxc.ir.parse``, ``inputs.npz`` by NumPy without pickle. Inputs that are
random generators, or lists for what is printed, are made anew.
"""

from __future__ import annotations

import json
import random
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fxc.ir.errors import FxcError
from fxc.ir.parse import parse_graph
from fxc.ir.types import ScalarType, strided_empty
from fxc.ir.version import __version__
from fxc.ops.table import TABLE

from .bisect import Verdict
from .cases import Case, handles_of

_SHOW = '''\
"""{text}

Found by `python -m fxc bisect` with fxc {version}, NumPy {numpy}. The status is 1 as long as there
is a difference.
"""

import sys

from fxc.verifying.reproducer import show

if __name__ == "__main__":
    sys.exit(show(__file__))
'''

_MADE_ANEW: dict[str, Callable[[], Any]] = {
    "Generator": lambda: np.random.default_rng(0),
    "RandomState": lambda: np.random.RandomState(0),
    "Random": lambda: random.Random(0),
    "deque": deque,
}


def write(folder: Path, case: Case, verdict: Verdict) -> None:
    """Write a case into a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    handles = handles_of(case.graph)
    arrays: dict[str, np.ndarray] = {}
    inputs: list[dict[str, Any]] = []
    for place, x in enumerate(case.inputs):
        if place in handles:
            inputs.append({"made": type(x).__name__})
            continue
        array = np.asarray(x)
        arrays[f"input{place}"] = array
        inputs.append({"strides": list(array.strides)})
    np.savez(folder / "inputs.npz", allow_pickle=False, **arrays)
    facts = {"step": verdict.step, "math": case.math, "inputs": inputs}
    (folder / "case.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    (folder / "graph.txt").write_text(str(case.graph), encoding="utf-8")
    text = str(verdict).replace("\\", "/").replace('"""', "'''")
    shown = _SHOW.format(text=text, version=__version__, numpy=np.__version__)
    (folder / "show.py").write_text(shown, encoding="utf-8")


def read(folder: Path) -> tuple[Case, str]:
    """The case in a folder, and the step that was wrong. Raises ``FxcError`` if it is damaged."""
    try:
        facts = json.loads((folder / "case.json").read_text(encoding="utf-8"))
        text = (folder / "graph.txt").read_text(encoding="utf-8")
        graph = parse_graph(text, TABLE.schema_of)
        with np.load(folder / "inputs.npz", allow_pickle=False) as arrays:
            inputs = tuple(
                _MADE_ANEW[each["made"]]() if "made" in each else _input(value.type, each, found)
                for place, (value, each) in enumerate(
                    zip(graph.inputs, facts["inputs"], strict=True)
                )
                for found in [arrays.get(f"input{place}")]
            )
        return Case(graph, inputs, facts["math"]), facts["step"]
    except FxcError:
        raise
    except Exception as error:
        raise FxcError(f"{folder} has no case that can be read: {error}") from error


def _input(kind: Any, facts: dict[str, Any], found: Any) -> Any:
    if isinstance(kind, ScalarType):
        return kind.python_type(found[()]) if kind.weak else found[()]
    made = strided_empty(found.dtype, found.shape, facts["strides"])
    made[...] = found
    return made


def show(script: str) -> int:
    """Print the case beside a script, and what is wrong; the exit status, 2 if it is no case."""
    try:
        case, step = read(Path(script).parent)
    except FxcError as error:
        print(f"{error}\nIf that is an operator of yours, import what registers it in {script}.")
        return 2
    print(case.graph)
    found = case.verdict()
    if found is None:
        print(f"No step differs from NumPy any more ({step} did).")
        return 0
    print(f"The first step whose result differs from NumPy's: {found}")
    if found.after is not None:
        print(f"\nIt made:\n{found.after}")
    return 1
