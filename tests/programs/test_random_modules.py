"""Random modules of helpers, options and arrays of any rank, compiled, and equal to Python in all that is seen.

``FXC_FUZZ_PROGRAMS`` sets how many there are; a failing one is shrunk and printed.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import Outcome, difference
from tests.random_modules import Module, arguments, random_module, smaller
from tests.written_programs import check

COUNT = int(os.environ.get("FXC_FUZZ_PROGRAMS", "0")) // 2 or 24
FIRST = int(os.environ.get("FXC_FUZZ_FIRST", "0"))  # seeds from here on
CHUNKS = 2  # tests that share the programs


@dataclass(frozen=True)
class Seen:
    """All that can be seen of a call."""

    outcome: Outcome
    printed: str
    told: Counter[str]  # warnings of numbers, of lines of the program
    reports: list[str]


def observed(function: Callable[..., Any], seed: int) -> Seen:
    args, options = arguments(seed)
    result, error, printed = None, None, io.StringIO()
    bases = [memory_of(each) for each in args[:2]]
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(printed):
        warnings.simplefilter("always")
        try:
            result = function(*args, **options)
        except Exception as raised:
            error = raised
    texts = [(each.filename, each.lineno, each.category, str(each.message)) for each in caught]
    told = Counter(
        f"{category.__name__}, line {line}: {text}"
        for file, line, category, text in texts
        if file.startswith("<module") and category is RuntimeWarning
    )
    reports = [text for *_, text in texts if "please report" in text]
    return Seen(Outcome(result, error, (*args, options, bases)), printed.getvalue(), told, reports)


def memory_of(x: np.ndarray) -> np.ndarray | None:
    """What the array is a window of; of floats as such, as the sign of a nan is left open."""
    memory: np.ndarray | None = x.base
    is_of_bytes = memory is not None and memory.dtype == np.uint8 and memory.flags.c_contiguous
    return memory.view(x.dtype) if is_of_bytes and x.dtype.kind in "fc" else memory


# What may give either zero, see docs/numerics.md.
_EITHER_ZERO = re.compile(r"(max|min|clip|ptp|sort|unique|median)\b")


def failure(module: Module) -> str:
    """How the compiled program differs from Python, or ''."""
    try:
        plain, other = module.load(), module.load()
    except SyntaxError:
        return ""  # no program: one that is being shrunk
    compiled = fxc.compile(other["program"], dynamic=module.seed % 4 == 3)
    # A quarter of the last place: no numbers but the zeros are that close.
    ulps = 0.25 if _EITHER_ZERO.search(module.source) else 0.0
    for place, seed in enumerate(module.calls):
        wanted = observed(plain["program"], seed)
        error = wanted.outcome.error
        if isinstance(error, NameError | MemoryError):
            return ""
        found = observed(compiled, seed)
        text = next(iter(found.reports), "")
        text = text or difference(wanted.outcome, found.outcome, lambda _: ulps)
        if not text and wanted.printed != found.printed:
            text = f"prints {found.printed!r}, Python {wanted.printed!r}"
        if not text and found.told - wanted.told:  # what nobody reads warns of nothing
            text = f"warns {found.told}, Python {wanted.told}"
        if text:
            return f"{text.split()[0]}: call {place}: {text}"
    return ""


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_modules(chunk: int) -> None:
    check(map(random_module, range(FIRST + chunk, FIRST + COUNT, CHUNKS)), failure, smaller)


def test_programs_depend_on_the_seed_alone() -> None:
    assert str(random_module(3)) == str(random_module(3)) != str(random_module(4))
