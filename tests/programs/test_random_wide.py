"""Wide random programs, plain and compiled: everything a caller sees is equal, at each of six calls.

What cannot be captured runs in parts; nothing may ask for a report. ``FXC_FUZZ_PROGRAMS`` sets how many
there are (``make fuzz``), which prints how often Python ran a whole call; a failing one is shrunk.
"""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fxc
from tests.conftest import REFUSED
from tests.outcomes import difference, run
from tests.programs.test_random_loops import observed
from tests.programs.test_random_programs import Record
from tests.random_wide import random_wide
from tests.written_programs import Program, shrink

COUNT = int(os.environ.get("FXC_FUZZ_PROGRAMS", "0")) // 10 or 12
FIRST = int(os.environ.get("FXC_FUZZ_FIRST", "0"))  # seeds from here on
# The arguments of each call: as they are written, with other numbers, in other sizes.
CALLS = ("as written", "numbers", "as written", "sizes", "numbers", "sizes")
# No numbers but the zeros are that close: which of two NumPy takes is open, see docs/numerics.md.
_ULPS = 0.25


def failure(program: Program, seen: Counter[str] | None = None) -> str:
    """How the compiled program differs from plain NumPy, or ''."""
    fn, _ = program.load()
    ways = {way: _otherwise(program, way).load()[1] for way in CALLS}
    compiled = fxc.compile(fn)
    for place, way in enumerate(CALLS):
        inputs = ways[way]
        if not _is_made(inputs) or _casts_beyond(fn, inputs()):
            continue
        expected = run(fn, inputs())
        if isinstance(expected.error, NameError):
            return ""  # no program: one that is being shrunk
        found, reports = observed(compiled, inputs())
        text = next(iter(reports), "") or difference(expected, found, lambda _: _ULPS)
        if text:
            return f"{text.split()[0][:6]}: call {place}: {text}"
    if seen is not None:
        info = compiled.cache_info()
        whole = "in Python" if info.eager_calls else "in parts" if info.parts else "whole"
        seen[whole] += 1
    return ""


def _is_made(inputs: Callable[[], object]) -> bool:
    """Whether arguments of these sizes fit together."""
    try:
        inputs()
    except ValueError:
        return False
    return True


def _casts_beyond(fn: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    """Whether a float is cast to an integer that does not hold it: the machine says what it becomes."""
    with warnings.catch_warnings(record=True) as told, np.errstate(all="ignore", invalid="warn"):
        warnings.simplefilter("always")
        with contextlib.suppress(Exception):
            fn(*args)
    return any("in cast" in str(each.message) for each in told)


_NUMBERS = re.compile(
    r"(?<=\), )\d(?=[,)])|(?<=dates\(\d, )\d"
)  # by which those of arrays are shifted
_SIZES = re.compile(r"(?<=[( ])[2-9](?=,? ?[\d)])")


def _otherwise(program: Program, way: str) -> Program:
    """The program with other numbers in its arguments, or with other sizes of them."""
    gaps = {"as written": None, "numbers": _NUMBERS, "sizes": _SIZES}[way]
    if gaps is None:
        return program
    inputs = (gaps.sub(lambda found: str(int(found[0]) + 3), line) for line in program.inputs)
    return replace(program, inputs=tuple(inputs))


def check(seeds: range) -> Counter[str]:
    seen: Counter[str] = Counter()
    for seed in seeds:
        program = random_wide(seed)
        text = failure(program, seen)
        if text:
            kind = text.split(":")[0]
            small = shrink(program, lambda p, kind=kind: failure(p).startswith(kind))
            pytest.fail(f"{failure(small)}\n\n{small}", pytrace=False)
    return seen


@pytest.mark.parametrize("chunk", range(4))
def test_wide_random_programs(chunk: int, record_property: Record) -> None:
    seen = check(range(FIRST + chunk, FIRST + COUNT, 4))
    assert seen["whole"]
    record_property(REFUSED, {f"wide, {kind}": number for kind, number in seen.items()})


def test_programs_depend_on_the_seed_alone() -> None:
    assert str(random_wide(3)) == str(random_wide(3)) != str(random_wide(4))
