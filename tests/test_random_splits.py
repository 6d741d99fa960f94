"""Random programs with statements that no graph holds: compiled around them, and equal to Python.

``FXC_FUZZ_PROGRAMS`` sets how many there are (``make fuzz``); a failing one is shrunk and printed.
"""

from __future__ import annotations

import ast
import copy
import os
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import fxc
from fxc.split import driver, function_plan, taking_apart
from tests.conftest import FOUND_BY
from tests.outcomes import difference, run
from tests.random_splits import Notes, SplitProgram, random_split, shrink
from tests.test_random_loops import _EITHER_ZERO

COUNT = int(os.environ.get("FXC_FUZZ_PROGRAMS", "0")) or 40
FIRST = int(os.environ.get("FXC_FUZZ_FIRST", "0"))  # seeds from here on
CHUNKS = 4


def failure(program: SplitProgram, counts: Counter[str] | None = None) -> str:
    """How the compiled program differs from Python, or ''."""
    plain = replace(program, notes=Notes())
    try:
        (fn, calls), (other, _) = plain.load(), program.load()
    except SyntaxError:
        return ""  # no program: one that is being shrunk
    compiled = fxc.compile(other)
    ulps = 0.25 if _EITHER_ZERO.search(program.source) else 0.0
    for place, call in enumerate(calls * 2):
        expected = run(_whole(fn, program, plain.notes), call())
        if type(expected.error) is NameError:
            return ""
        found, reports = _observed(_whole(compiled, program, program.notes), call())
        text = next(iter(reports), "") or difference(expected, found, lambda _: ulps)
        if text:
            return f"{text.split()[0][:6]}: call {place}: {text}"
    if counts is not None:
        info = compiled.cache_info()
        counts.update(parts=info.part_calls, native=info.native_calls, eager=info.eager_calls)
    return ""


def _whole(fn: Callable[..., Any], program: SplitProgram, notes: Notes) -> Callable[..., Any]:
    """A call, run to its end; the result has what its strange statements have seen."""

    def called(*args: Any) -> Any:
        notes.seen.clear()
        made = fn(*args)
        found = list(made) if program.is_generator and hasattr(made, "send") else made
        return (
            copy.deepcopy((found, notes.state()))
            if program.is_generator
            else (found, notes.state())
        )

    return called


def _observed(compiled: Any, args: tuple[Any, ...]) -> tuple[Any, list[str]]:
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


def check(seeds: range) -> Counter[str]:
    counts: Counter[str] = Counter()
    for seed in seeds:
        program = random_split(seed)
        text = failure(program, counts)
        if text:
            kind = text.split(":")[0]
            small = shrink(
                program,
                lambda each, kind=kind: failure(each).startswith(kind),  # type: ignore[misc]
            )
            pytest.fail(f"{failure(small)}\n\n{small}", pytrace=False)
    return counts


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_splits(chunk: int) -> None:
    counts = check(range(FIRST + chunk, FIRST + COUNT, CHUNKS))
    assert counts["parts"] > 10


# ---------------------------------------------------------------- planted bugs


def results_that_are_read_later_are_dropped(patch: pytest.MonkeyPatch) -> None:
    original = function_plan._live_before
    patch.setattr(
        function_plan,
        "_live_before",
        lambda node, after, flow: (
            frozenset() if isinstance(node, ast.AugAssign) else original(node, after, flow)
        ),
    )


def statements_run_again_behind_a_part(patch: pytest.MonkeyPatch) -> None:
    original = driver._Body.call

    def call(self: Any, run: Any, name: str, key: Any, plain: list[Any]) -> list[Any]:
        made = original(self, run, name, key, plain)
        return [*made, copy.deepcopy(plain[0])] if key.ending == "values" else made

    patch.setattr(driver._Body, "call", call)


def what_loops_read_at_their_head_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(function_plan, "_head", lambda loop, after, flow: after)


def operands_left_of_a_call_are_evaluated_behind_it(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(taking_apart._Apart, "_is_still", lambda self, node: True)


PLANTED = (
    operands_left_of_a_call_are_evaluated_behind_it,
    results_that_are_read_later_are_dropped,
    statements_run_again_behind_a_part,
    what_loops_read_at_their_head_is_forgotten,
)


@pytest.mark.parametrize("plant", PLANTED, ids=lambda each: each.__name__)
def test_a_planted_bug_is_found(
    plant: Callable[[pytest.MonkeyPatch], None], record_property: Callable[[str, object], None]
) -> None:
    for number in range(300):
        program = random_split(700_000 + number)
        with pytest.MonkeyPatch.context() as patch:
            plant(patch)
            found = failure(program)
        if found and not failure(replace(program, notes=Notes())):
            record_property(FOUND_BY, number + 1)
            return
    pytest.fail("300 programs pass with the bug")
