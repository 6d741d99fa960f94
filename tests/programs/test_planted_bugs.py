"""Would random programs notice a bug? Each of ``tests/planted.py`` is found by some.

``make fuzz`` looks through up to 5,000 programs for each bug and prints a table of how many it took
(``tests/conftest.py``); ``make test`` tries those that are found quickly.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

import pytest

from tests.conftest import FOUND_BY
from tests.levels import failure
from tests.planted import PLANTED, Planted
from tests.random_programs import random_program
from tests.written_programs import Program

LONG = "FXC_FUZZ_PROGRAMS" in os.environ
MOST = 5000 if LONG else 400
FIRST = 500_000 + int(os.environ.get("FXC_FUZZ_FIRST", "0"))  # seeds from here on


@cache
def _program(number: int) -> Program:
    return random_program(FIRST + number)


def _finder(bug: Planted) -> int | None:
    """The number of the first program that differs from NumPy with the bug, and not without."""
    for number in range(0 if LONG else bug.first, MOST):
        with pytest.MonkeyPatch.context() as patch:
            bug.plant(patch)
            found = failure(_program(number), bug.level)
        assert " argument" not in found, "what it replaces has other parameters now"
        if found and not failure(_program(number), bug.level):
            return number
    return None


BUGS = PLANTED if LONG else [bug for bug in PLANTED if bug.is_quick]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_found(
    bug: Planted, record_property: Callable[[str, object], None]
) -> None:
    number = _finder(bug)
    assert number is not None, f"{MOST} programs pass with the bug"
    record_property(FOUND_BY, number + 1)
