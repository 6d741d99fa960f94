"""Bugs put by hand into splits, draws and effects, as a slip of the pen might.

``tests/programs/test_random_short.py`` counts the short random programs until one of them shows it.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import Any

import pytest

from fxc.capture.door import shows
from fxc.capture.outside import effects, generators
from fxc.split import driver, flow, function_plan, inner_functions, part_source, taking_apart

Patch = pytest.MonkeyPatch
Plant = Callable[[Patch], None]
NONE = frozenset[str]()

# ---------------------------------------------------------------- what parts hand on


def results_that_are_read_later_are_dropped(patch: Patch) -> None:
    original = flow.live_before_statement

    def live(node: ast.stmt, after: frozenset[str], behind: flow.Flow) -> frozenset[str]:
        return NONE if isinstance(node, ast.AugAssign) else original(node, after, behind)

    for module in (flow, function_plan):
        patch.setattr(module, "live_before_statement", live)


def what_loops_read_at_their_head_is_forgotten(patch: Patch) -> None:
    patch.setattr(flow, "_head", lambda loop, after, flow: after)


def deleted_variables_keep_their_values(patch: Patch) -> None:
    for module in (flow, inner_functions, function_plan):
        patch.setattr(module, "deleted_in", lambda body: NONE)


# ---------------------------------------------------------------- what runs when


def statements_run_again_behind_a_part(patch: Patch) -> None:
    original = driver._Body.call

    def call(self: Any, run: Any, name: str, key: Any, plain: list[Any]) -> list[Any]:
        made = original(self, run, name, key, plain)
        return [*made, copy.deepcopy(plain[0])] if key.ending == "values" else made

    patch.setattr(driver._Body, "call", call)


def operands_left_of_a_call_are_evaluated_behind_it(patch: Patch) -> None:
    patch.setattr(taking_apart._Apart, "_is_still", lambda self, node: True)


def operands_are_taken_from_the_right(patch: Patch) -> None:
    original = taking_apart._operands
    patch.setattr(taking_apart, "_operands", lambda node: original(node)[::-1])


def an_early_return_of_a_part_is_taken_for_its_results(patch: Patch) -> None:
    original = driver.tagged
    for module in (driver, part_source):
        patch.setattr(module, "tagged", lambda tag, value: original(0, value))


def where_a_part_gives_up_nothing_runs(patch: Patch) -> None:
    original = driver._Body.call

    def call(self: Any, run: Any, name: str, key: Any, plain: list[Any]) -> list[Any]:
        return original(self, run, name, key, [ast.copy_location(ast.Pass(), run[0].node)])

    patch.setattr(driver._Body, "call", call)


# ---------------------------------------------------------------- draws and effects


def draws_are_made_twice(patch: Patch) -> None:
    original = generators.TracedGenerator._drawn

    def drawn(self: Any, *args: Any) -> Any:
        original(self, *args)
        return original(self, *args)

    patch.setattr(generators.TracedGenerator, "_drawn", drawn)


def effects_come_in_the_opposite_order(patch: Patch) -> None:
    original = effects.Effects.add

    def add(self: Any, *entry: Any) -> None:
        original(self, *entry)
        self.entries.insert(0, self.entries.pop())

    patch.setattr(effects.Effects, "add", add)


def what_is_shown_in_a_branch_is_shown_always(patch: Patch) -> None:
    original = shows.show

    def show(door: Any, *args: Any, **kwargs: Any) -> None:
        region, door.session.region = door.session.region, 0
        try:
            original(door, *args, **kwargs)
        finally:
            door.session.region = region

    patch.setattr(shows, "show", show)


# Those that a few programs find.
QUICK: tuple[Plant, ...] = (
    results_that_are_read_later_are_dropped,
    deleted_variables_keep_their_values,
    where_a_part_gives_up_nothing_runs,
)
PLANTED: tuple[Plant, ...] = (
    *QUICK,
    what_loops_read_at_their_head_is_forgotten,
    statements_run_again_behind_a_part,
    operands_left_of_a_call_are_evaluated_behind_it,
    operands_are_taken_from_the_right,
    an_early_return_of_a_part_is_taken_for_its_results,
    draws_are_made_twice,
    effects_come_in_the_opposite_order,
    what_is_shown_in_a_branch_is_shown_always,
)
