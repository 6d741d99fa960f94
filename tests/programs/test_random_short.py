"""Short random programs with all that no graph holds, compiled, and equal to Python in all that is seen.

``FXC_FUZZ_PROGRAMS`` sets how many there are (``make fuzz``); a failing one is shrunk and printed.
"""

from __future__ import annotations

import os
import signal
from collections import Counter

import pytest

from tests.conftest import FOUND_BY
from tests.planted_splits import PLANTED, QUICK, Plant
from tests.random_short import ShortProgram, random_short, shrink
from tests.short_failures import failure
from tests.short_runs import run_here, runs

LONG = "FXC_FUZZ_PROGRAMS" in os.environ
COUNT = int(os.environ.get("FXC_FUZZ_PROGRAMS", "40"))
FIRST = int(os.environ.get("FXC_FUZZ_FIRST", "0"))  # seeds from here on
CHUNKS = 1 if LONG else 4  # tests that share the programs
MOST = 300  # programs for a planted bug


def _fails(seed: int) -> str:
    """How the smallest program that fails like the one of a seed differs."""
    program = random_short(seed)
    text = failure(program)
    if not text:
        return ""
    kind = text.split(":")[0]
    small = shrink(program, lambda each: failure(each).startswith(kind))
    return f"{failure(small)}\n\n{small}"


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_short_random_programs(chunk: int) -> None:
    """A few in this process; many in processes of their own."""
    seeds = range(FIRST + chunk, FIRST + COUNT, CHUNKS)
    counts = Counter[str]()
    for ran in runs(seeds) if LONG else [run_here(seeds)]:
        counts.update(ran.counts)
        for seed, text in ran.failures.items():
            is_of_process = "process" in text
            pytest.fail(f"seed {seed}: {text}" if is_of_process else _fails(seed), pytrace=False)
    assert counts["split"] + counts["native"] > counts["eager"]


@pytest.mark.parametrize("seed", [311663, 316223, 327564, 339532])
def test_where_variables_are_bound(seed: int) -> None:
    assert _fails(seed) == ""


@pytest.mark.parametrize("loops", [False, True])
def test_programs_depend_on_the_seed_alone(loops: bool) -> None:
    texts = [str(random_short(seed, loops=loops)) for seed in (3, 3, 4)]
    assert texts[0] == texts[1] != texts[2]


class _Endless(BaseException):
    """A program runs for long."""


def _with_bug(program: ShortProgram) -> str:
    """How it differs; a loop that never ends differs, too."""

    def end(*_: object) -> None:
        raise _Endless

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, 10.0, 10.0)
    try:
        return failure(program)
    except _Endless:
        return "it does not end"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("plant", PLANTED if LONG else QUICK, ids=lambda each: each.__name__)
def test_a_planted_bug_is_found(plant: Plant, record_property: pytest.RecordProperty) -> None:
    for number in range(MOST):
        program = random_short(700_000 + number)
        with pytest.MonkeyPatch.context() as patch:
            plant(patch)
            found = _with_bug(program)
        if found and not failure(program):
            record_property(FOUND_BY, number + 1)
            return
    pytest.fail(f"{MOST} programs pass with the bug")
