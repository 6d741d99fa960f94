"""Random programs of NumPy's functions, called with arrays of all kinds: everything a caller sees is equal.

``FXC_FUZZ_PROGRAMS`` sets how many there are; a failing one is shrunk and printed.
"""

from __future__ import annotations

import os

import pytest

import fxc
from tests.outcomes import difference, run
from tests.programs.test_random_loops import observed
from tests.random_functions import FunctionProgram, arguments, random_functions, smaller
from tests.written_programs import check

COUNT = int(os.environ.get("FXC_FUZZ_PROGRAMS", "0")) or 40
FIRST = int(os.environ.get("FXC_FUZZ_FIRST", "0"))  # seeds from here on
CHUNKS = 4  # tests that share the programs


def failure(program: FunctionProgram) -> str:
    """How the compiled program differs from plain NumPy, or ''."""
    try:
        fn = program.load()
    except SyntaxError:
        return ""  # no program: one that is being shrunk
    compiled = fxc.compile(fn)
    for place, seed in enumerate(program.calls):
        expected = run(fn, arguments(seed))
        if isinstance(expected.error, NameError):
            return ""
        found, reports = observed(compiled, arguments(seed))
        text = next(iter(reports), "") or difference(expected, found)
        if text:
            return f"{text.split()[0]}: call {place}: {text}"
    return ""


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_functions(chunk: int) -> None:
    check(map(random_functions, range(FIRST + chunk, FIRST + COUNT, CHUNKS)), failure, smaller)


def test_programs_depend_on_the_seed_alone() -> None:
    assert str(random_functions(3)) == str(random_functions(3)) != str(random_functions(4))
