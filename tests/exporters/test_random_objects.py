"""Random programs as object packages: what a caller sees is what compiled code lets it see.

``FXC_FUZZ_PROGRAMS`` sets how many there are.
"""

import itertools
import os
import tempfile
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ir.errors import ExportError
from fxc.package import load
from tests.outcomes import difference, run, same_bits
from tests.random_loops import random_loops
from tests.random_programs import random_program

from .test_objects import OWN, on_linux

COUNT = int(os.environ.get("FXC_FUZZ_PROGRAMS", "0")) // 5 or 10
FIRST = int(os.environ.get("FXC_FUZZ_FIRST", "0"))  # seeds from here on
Make = Callable[[], tuple[Any, ...]]


def failure(
    fn: Callable[..., Any], make: Make, seed: int, *, dynamic: bool, counts: Counter[str]
) -> str:
    """How a package differs from the exported program, or ''."""
    try:
        program = fxc.export(fn, *make(), dynamic=dynamic)
    except Exception:  # some raise what the function raises
        counts["not exported"] += 1
        return ""
    with tempfile.TemporaryDirectory() as folder:
        level = OWN[seed % len(OWN)]
        try:
            program.to_object(f"{folder}/package", [level])
        except ExportError as error:
            counts["refused"] += 1
            return "" if "cannot be exported to object code:" in str(error) else str(error)
        loaded = load(f"{folder}/package")
        counts["run"] += 1
        for call in (loaded, loaded.general):
            expected, found, untouched = run(program, make()), run(call, make()), make()
            if expected.error is not None and found.error is not None:
                if not _alike(found.inputs, untouched):
                    return f"{found.error!r}, and arguments are changed"
                continue
            text = difference(expected, found)
            if text or not _alike(expected.inputs, found.inputs):
                return f"{level}: {text or 'memory around arguments differs'}"
    return ""


def _alike(left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
    """Whether arrays, and what they are views of, have the same bits."""
    for x, y in zip(left, right, strict=True):
        for a, b in ((x, y), (getattr(x, "base", None), getattr(y, "base", None))):
            if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and not same_bits(a, b):
                return False
    return True


@on_linux
@pytest.mark.parametrize("dynamic", [False, True])
def test_random_programs(dynamic: bool) -> None:
    counts: Counter[str] = Counter()
    for seed in range(FIRST, FIRST + COUNT):
        program = random_program(seed, overlap=False)
        fn, make = program.load()
        text = failure(fn, make, seed, dynamic=dynamic, counts=counts)
        assert not text, f"{text}\n\n{program}"
    assert counts["run"] > COUNT // 2, counts


@on_linux
def test_random_loops() -> None:
    counts: Counter[str] = Counter()
    for seed in range(FIRST, FIRST + COUNT):
        program = random_loops(seed)
        fn, calls = program.load()
        for place, make in enumerate(itertools.islice(calls, 2)):
            text = failure(fn, make, seed + place, dynamic=bool(seed % 2), counts=counts)
            assert not text, f"{text}\n\n{program}"
    assert counts["run"], counts
