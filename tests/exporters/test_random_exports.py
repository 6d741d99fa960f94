"""Random programs as NumPy source, ONNX and StableHLO: what runs those gives what the program does.

``FXC_FUZZ_PROGRAMS`` sets how many there are, ``FXC_FUZZ_FIRST`` the first seed.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.exported.program import ExportedProgram
from fxc.ir.errors import ExportError
from fxc.ir.tree import flatten
from tests.outcomes import difference, run
from tests.random_programs import random_program

from .in_xla import call_in_xla
from .onnx_runs import ROUNDED, compare, model_of

COUNT = int(os.environ.get("FXC_FUZZ_PROGRAMS", "0")) // 5 or 8
FIRST = int(os.environ.get("FXC_FUZZ_FIRST", "0"))  # seeds from here on
Make = Callable[[], tuple[Any, ...]]
_ROUNDED = ROUNDED["f"]  # sums are in other orders, and most programs have some floats of 32 bits


def in_source(program: ExportedProgram, function: Any, make: Make) -> str:
    space: dict[str, Any] = {}
    exec(program.to_numpy_source(), space)
    expected, found = run(program, make()), run(space["program"], make())
    if expected.error is not None and found.error is not None:
        return ""
    return difference(expected, found)


def in_onnx(program: ExportedProgram, function: Any, make: Make) -> str:
    model = model_of(program)
    if run(program, make()).error is not None:  # it is not for what they give
        return ""
    return compare(program, model, function, make, _ROUNDED)


def in_xla(program: ExportedProgram, function: Any, make: Make) -> str:
    args = make()
    expected = run(program, make())
    found = call_in_xla(program, args, plain=True)
    if expected.error is not None:
        return ""
    pairs = (flatten(tree)[0] for tree in ((expected.result, expected.inputs), (found, args)))
    for place, (left, right) in enumerate(zip(*pairs, strict=True)):
        x, y = np.asarray(left), np.asarray(right)
        if (x.dtype, x.shape) != (y.dtype, y.shape):
            return f"leaf {place}: {x.dtype}{x.shape} and {y.dtype}{y.shape}"
        if not np.allclose(x, y, _ROUNDED, _ROUNDED, equal_nan=True):
            return f"leaf {place}: {x} and {y}"
    return ""


def programs() -> Iterator[tuple[Any, ExportedProgram, Make, str]]:
    for seed in range(FIRST, FIRST + COUNT):
        written = random_program(seed, overlap=False)
        function, make = written.load()
        for dynamic in (False, True):
            try:
                program = fxc.export(function, *make(), dynamic=dynamic)
            except Exception:  # some raise what the function raises
                continue
            yield function, program, make, f"dynamic={dynamic}\n\n{written}"


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("way", [in_source, in_onnx, in_xla])
def test_random_programs(way: Callable[[ExportedProgram, Any, Make], str]) -> None:
    counts: Counter[str] = Counter()
    for function, program, make, text in programs():
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                found = way(program, function, make)
        except ExportError:
            assert way is not in_source, text
            counts["refused"] += 1
            continue
        assert not found, f"{found}\n{text}"
        counts["run"] += 1
    assert counts["run"], counts
