"""Random programs of branches and loops, plain and compiled: everything a caller sees is equal.

What cannot be captured runs as plain NumPy, with a warning; none may ask for a report.
``FXC_FUZZ_PROGRAMS`` sets how many there are (``make fuzz``); a failing one is shrunk and printed.
"""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import fxc
from fxc.capture.statements import branches, loops
from tests.conftest import FOUND_BY
from tests.outcomes import Outcome, difference, run
from tests.random_loops import LoopProgram, random_loops, shrink

COUNT = int(os.environ.get("FXC_FUZZ_PROGRAMS", "0")) // 10 or 8
FIRST = int(os.environ.get("FXC_FUZZ_FIRST", "0"))  # seeds from here on
WAYS: dict[str, dict[str, Any]] = {
    "native": {},
    "numpy": {"backend": "numpy"},
    "dynamic": {"dynamic": True},
}
# What may give either zero, see docs/numerics.md.
_EITHER_ZERO = re.compile(r"\.(max|min)\(|\b(maximum|minimum)\.reduce\b")


def failure(program: LoopProgram, way: str, counts: Counter[str] | None = None) -> str:
    """How the compiled program differs from plain NumPy, or ''."""
    try:
        fn, calls = program.load()
    except SyntaxError:
        return ""  # no program: one that is being shrunk
    compiled = fxc.compile(fn, **WAYS[way])
    # A quarter of the last place: no numbers but the zeros are that close.
    ulps = 0.25 if _EITHER_ZERO.search(program.source) else 0.0
    for place, call in enumerate(calls):
        expected = run(fn, call())
        if type(expected.error) is NameError:
            return ""
        found, reports = observed(compiled, call())
        text = next(iter(reports), "") or difference(expected, found, lambda _: ulps)
        if text:
            return f"{text.split()[0][:6]}: call {place}: {text}"
    if counts is not None:
        info = compiled.cache_info()
        counts.update(native=info.native_calls, eager=info.eager_calls)
    return ""


def observed(compiled: Any, args: tuple[Any, ...]) -> tuple[Outcome, list[str]]:
    """What a call does, and the warnings that ask for a report."""
    seen: list[str] = []

    def called(*args: Any) -> Any:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", fxc.CaptureWarning)
            try:
                return compiled(*args)
            finally:
                texts = (str(each.message) for each in caught)
                seen.extend(text for text in texts if "please report" in text)

    return run(called, args), seen


def check(seeds: range, way: str, *, short: bool = False) -> Counter[str]:
    counts: Counter[str] = Counter()
    for seed in seeds:
        program = random_loops(seed, short=short)
        text = failure(program, way, counts)
        if text:
            kind = text.split(":")[0]
            small = shrink(program, lambda p, kind=kind: failure(p, way).startswith(kind))
            pytest.fail(f"{failure(small, way)}\n\n{small}", pytrace=False)
    return counts


@pytest.mark.parametrize("chunk", range(4))
def test_native_random_loops(chunk: int) -> None:
    counts = check(range(FIRST + chunk, FIRST + COUNT, 4), "native")
    assert counts["native"]


@pytest.mark.parametrize("chunk", range(4))
def test_short_random_loops(chunk: int) -> None:
    """Most of which run natively to their end."""
    counts = check(range(FIRST + chunk, FIRST + 2 * COUNT, 4), "native", short=True)
    assert counts["native"] > counts["eager"]


@pytest.mark.parametrize("way", ["numpy", "dynamic"])
def test_random_loops_in_other_ways(way: str) -> None:
    counts = check(range(FIRST, FIRST + (COUNT + 3) // 4), way)
    assert counts["native"]


def test_programs_depend_on_the_seed_alone() -> None:
    assert str(random_loops(3)) == str(random_loops(3)) != str(random_loops(4))


# ---------------------------------------------------------------- planted bugs


def variables_that_change_are_taken_for_what_they_were(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(loops.CapturedLoop, "_changed", lambda self, after: False)
    patch.setattr(loops.CapturedLoop, "_unstable", lambda self, after: [])


def the_arms_of_a_branch_are_exchanged(patch: pytest.MonkeyPatch) -> None:
    original = branches.record_cond
    patch.setattr(
        branches, "record_cond", lambda session, test, arms, values: original(
            session, test, arms[::-1], [(kinds, y, x) for kinds, x, y in values]
        )
    )  # fmt: skip


BUGS = (variables_that_change_are_taken_for_what_they_were, the_arms_of_a_branch_are_exchanged)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_a_planted_bug_is_found(
    bug: Callable[[pytest.MonkeyPatch], None], record_property: Callable[[str, object], None]
) -> None:
    for number in range(100):
        program = random_loops(500_150 + FIRST + number)
        with pytest.MonkeyPatch.context() as patch:
            bug(patch)
            found = failure(program, "native")
        if found and not failure(program, "native"):
            record_property(FOUND_BY, number + 1)
            return
    pytest.fail("no program differs with the bug", pytrace=False)
