"""Bugs planted by hand, one small change each: does a random program notice?

A ``Planted`` puts one wrong decision into a pass or into lowering, as a slip of the pen might: a
cache that is not cleared, a direction that is flipped, a check that always says yes.
``tests/programs/test_planted_bugs.py`` counts the programs until one of them differs from NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from fxc.ir.graph import Graph, SliceSpec
from fxc.ir.signature import ResultLeaf, ViewLeaf
from fxc.lowering.building import context, control, index_maps, stores, writes
from fxc.lowering.emission import emit
from fxc.lowering.scheduling import forward, fuse, lanes, loop_facts
from fxc.passes import (
    aliases,
    bases,
    functional_column,
    functionalize,
    overwrites,
    reinplace,
    simplify,
)
from fxc.pipeline import stages
from tests.levels import Level, cheaply, natively

Patch = pytest.MonkeyPatch


@dataclass(frozen=True)
class Planted:
    """One bug: ``plant`` puts it in, ``level`` is the cheapest way to run programs that shows it."""

    name: str
    level: Level
    plant: Callable[[Patch], None]
    is_quick: bool  # a few dozen programs find it
    first: int  # of them: those before are known to look the same


PLANTED: list[Planted] = []


def planted(
    level: Level, *, quick: bool = False, first: int = 0
) -> Callable[[Callable[[Patch], None]], Callable[[Patch], None]]:
    """Lists a function that plants a bug, under its name."""

    def listed(plant: Callable[[Patch], None]) -> Callable[[Patch], None]:
        PLANTED.append(Planted(plant.__name__, level, plant, quick, first))
        return plant

    return listed


def _rewired(patch: Patch, change: Callable[[Graph], Graph]) -> None:
    """``functionalize`` with its result changed."""
    original = stages.functionalize
    patch.setattr(stages, "functionalize", lambda *args: change(original(*args)))


# ---------------------------------------------------------------- functionalize


@planted(cheaply, quick=True)
def views_stay_stale_after_a_write(patch: Patch) -> None:
    def update(base: Any, value: Any, where: Any) -> None:
        base.value = value
        base.written[()] = None

    patch.setattr(bases.Base, "update", update)


@planted(cheaply, quick=True)
def a_write_replaces_the_whole_of_a_view_of_a_view(patch: Patch) -> None:
    """The views on the path are scattered into the base, not into each other."""
    original = functional_column.Functionalization.store

    def store(self: Any, target: Any, content: Any) -> None:
        original(self, replace(target, path=target.path[-1:]), content)

    patch.setattr(functional_column.Functionalization, "store", store)


@planted(cheaply)
def views_beyond_basic_indexing_stay_stale_after_a_write(patch: Patch) -> None:
    original = functional_column.Functionalization.view

    def view(self: Any, op: Any, args: Any) -> Any:
        made = original(self, op, args)
        self.operand(made)  # derived at once, not when it is read
        return made

    def update(base: Any, value: Any, where: Any) -> None:
        base.value = value
        base.written[()] = None
        base.derived = {path: old for path, old in base.derived.items() if len(path) > 1}

    patch.setattr(functional_column.Functionalization, "view", view)
    patch.setattr(bases.Base, "update", update)


@planted(cheaply, quick=True)
def a_mutation_is_dropped_from_the_signature(patch: Patch) -> None:
    def change(graph: Graph) -> Graph:
        signature = graph.signature
        assert signature is not None
        kept = signature.mutations[:1]
        return replace(graph, signature=replace(signature, mutations=kept))

    _rewired(patch, change)


@planted(cheaply)
def a_returned_view_lacks_its_last_step(patch: Patch) -> None:
    def change(graph: Graph) -> Graph:
        signature = graph.signature
        assert signature is not None
        outputs = tuple(
            replace(leaf, steps=leaf.steps[:-1])
            if isinstance(leaf, ViewLeaf) and len(leaf.steps) > 2
            else leaf
            for leaf in signature.outputs
        )
        return replace(graph, signature=replace(signature, outputs=outputs))

    _rewired(patch, change)


@planted(cheaply)
def two_arrays_with_one_value_become_one_object(patch: Patch) -> None:
    def base(self: Any, base: Any) -> Any:
        if base.input is not None:
            return functionalize.InputLeaf(base.input)
        return ResultLeaf(self.result(base.value), base.value.type)

    patch.setattr(functionalize._Boundary, "base", base)


@planted(cheaply, quick=True)
def a_slice_of_a_reversed_slice_starts_one_off(patch: Patch) -> None:
    original = aliases._slice_of_slice

    def wrong(first: SliceSpec, second: SliceSpec) -> SliceSpec:
        made = original(first, second)
        if isinstance(made.step, int) and made.step < -1 and made.start != 0:
            return replace(made, start=made.start - 1)
        return made

    patch.setattr(aliases, "_slice_of_slice", wrong)


@planted(cheaply)
def axes_of_views_are_undone_in_the_wrong_direction(patch: Patch) -> None:
    original = functional_column.inverse_steps

    def wrong(view: Any) -> Any:
        return [
            replace(step, args=(tuple(map(step.args[0].index, range(len(step.args[0])))),))
            if step.op == "transpose"
            else step
            for step in original(view)
        ]

    patch.setattr(functional_column, "inverse_steps", wrong)


# ---------------------------------------------------------------- overwrites, simplify, reinplace


@planted(cheaply)
def a_write_with_gaps_hides_what_is_between(patch: Patch) -> None:
    patch.setattr(overwrites, "_is_dense", lambda node: True)


@planted(cheaply, quick=True)
def a_write_that_touches_a_region_hides_it(patch: Patch) -> None:
    def covered(box: Any, by: Any) -> bool:
        return box is not None and any(list(overwrites._outside(box, o)) != [box] for o in by)

    patch.setattr(overwrites, "_is_covered", covered)


@planted(cheaply, quick=True)
def a_hidden_write_is_dropped_though_it_is_read(patch: Patch) -> None:
    class Once(dict[Any, int]):
        def __init__(self, values: Any) -> None:
            super().__init__(dict.fromkeys(values, 1))

    patch.setattr(overwrites, "Counter", Once)


@planted(cheaply)
def any_region_read_back_is_the_one_just_written(patch: Patch) -> None:
    original = simplify._Simplification.maker

    def maker(self: Any, operand: Any, role: str, like: Any) -> Any:
        found = self.made_by.get(operand) if isinstance(operand, simplify.Value) else None
        wanted = original(self, operand, role, like)
        if (
            wanted is None
            and role == "scatter"
            and found is not None
            and found.op == "slice_scatter"
        ):
            return found if like.op == "slice_copy" else None
        return wanted

    patch.setattr(simplify._Simplification, "maker", maker)


@planted(cheaply)
def what_is_read_back_keeps_the_layout_it_was_written_with(patch: Patch) -> None:
    def alike(self: Any, value: Any, other: Any) -> bool:
        return (value.type.dtype, value.type.shape) == (other.type.dtype, other.type.shape)

    patch.setattr(simplify._Simplification, "alike", alike)


@planted(cheaply)
def a_base_that_a_result_needs_is_overwritten(patch: Patch) -> None:
    original = reinplace._last_uses

    def last_uses(region: Any) -> Any:
        end = len(region.nodes)
        inner = replace(region, results=())
        return {**dict.fromkeys(region.results, -1), **original(inner)} if end else {}

    patch.setattr(reinplace, "_last_uses", last_uses)


@planted(cheaply)
def an_update_of_a_copy_takes_the_memory_of_the_input(patch: Patch) -> None:
    patch.setattr(reinplace, "way", lambda graph, mutation: None)


@planted(cheaply)
def a_base_that_is_read_later_is_overwritten(patch: Patch) -> None:
    def first_uses(region: Any) -> Any:
        first: dict[Any, int] = {}
        for place, node in enumerate(region.nodes):
            for value in node.inputs:
                first.setdefault(value, place)
        return first

    patch.setattr(reinplace, "_last_uses", first_uses)


@planted(cheaply)
def an_input_is_overwritten_that_the_caller_keeps(patch: Patch) -> None:
    original = reinplace._marked
    patch.setattr(reinplace, "_marked", lambda region, kept, ways: original(region, set(), {}))


# ---------------------------------------------------------------- lowering: where stores go


@planted(natively)
def loops_run_against_the_direction_they_need(patch: Patch) -> None:
    original = stores.relation
    flipped = {"ascending": "descending", "descending": "ascending"}

    def relation(*args: Any) -> str:
        found = original(*args)
        return flipped.get(found, found)

    patch.setattr(stores, "relation", relation)


@planted(natively, quick=True)
def a_clash_of_load_and_store_is_called_safe(patch: Patch) -> None:
    original = stores.relation

    def relation(*args: Any) -> str:
        found = original(*args)
        return "apart" if found == "clash" else found

    patch.setattr(stores, "relation", relation)


@planted(natively)
def a_buffer_is_taken_whose_value_is_needed(patch: Patch) -> None:
    def may_overwrite(self: Any, storage: str, *, undo: bool = False) -> bool:
        return storage in self.scope.owned

    patch.setattr(context.Context, "may_overwrite", may_overwrite)


@planted(natively)
def inline_values_are_not_placed_before_their_source_changes(patch: Patch) -> None:
    patch.setattr(context.Context, "place_readers", lambda self, storage, value=None: None)


@planted(natively)
def carried_values_overwrite_each_other(patch: Patch) -> None:
    patch.setattr(control, "place_apart", lambda *args: None)


@planted(natively)
def a_scatter_is_merged_into_the_next_though_it_is_elsewhere(patch: Patch) -> None:
    original = writes._is_part_of_next

    def is_part(context: Any, node: Any) -> bool:
        if original(context, node):
            return True
        following = context.scope.last_use.get(node.output, -1)
        if context.scope.uses.get(node.output) != 1 or following >= len(context.scope.nodes):
            return False
        outer = context.scope.nodes[following]
        return outer.op.endswith("_scatter") and outer.args[1] is node.output

    patch.setattr(writes, "_is_part_of_next", is_part)


# ---------------------------------------------------------------- lowering: indices, fusion


@planted(natively, quick=True)
def a_reversed_slice_starts_one_off(patch: Patch) -> None:
    original = index_maps.slice_index

    def slice_index(operand: Any, args: Any, index: Any) -> Any:
        found = original(operand, args, index)
        return tuple(
            i + 1 if isinstance(s.step, int) and s.step < -1 and s.start + 1 < dim else i
            for i, s, dim in zip(found, args[0], operand.shape, strict=True)
        )

    patch.setitem(index_maps.INDEX_MAPS, "slice", slice_index)


@planted(natively)
def diagonals_lie_on_the_other_side(patch: Patch) -> None:
    original = index_maps.diagonal_index

    def diagonal_index(operand: Any, args: Any, index: Any) -> Any:
        offset, axis1, axis2 = args
        is_square = operand.shape[axis1] == operand.shape[axis2]
        return original(operand, (-offset if is_square else offset, axis1, axis2), index)

    patch.setitem(index_maps.INDEX_MAPS, "diagonal", diagonal_index)


@planted(natively)
def a_reshape_counts_its_first_axis_fastest(patch: Patch) -> None:
    original = index_maps._within

    def within(source: Any, target: Any, index: Any) -> Any:
        if len(target) == 1:
            return original(source[::-1], target, index[::-1])
        return original(source, target, index)

    patch.setattr(index_maps, "_within", within)


@planted(natively, quick=True)
def loops_are_merged_that_meet_each_others_elements(patch: Patch) -> None:
    patch.setattr(fuse, "_legal", lambda var, first, second: True)


@planted(natively)
def loops_are_moved_over_what_they_depend_on(patch: Patch) -> None:
    patch.setattr(fuse, "conflict", lambda program, first, second: False)
    patch.setattr(loop_facts.LoopFacts, "conflicts", lambda self, other: False)


@planted(natively)
def a_register_outlives_the_store_to_its_element(patch: Patch) -> None:
    patch.setattr(forward._Known, "forget", lambda self, program, storages: None)


@planted(natively)
def a_move_within_a_buffer_is_taken_for_none(patch: Patch) -> None:
    def is_there(context: Any, body: Any, stores: Any) -> bool:
        loads = {stmt.name: stmt.buffer for stmt in body.stmts if isinstance(stmt, stores.Load)}
        buffers = [(loads.get(stmt.value), stmt.buffer) for stmt in stores]
        return len(body.stmts) == len(stores) and all(
            source is not None and context.buffers[source] is context.buffers[target]
            for source, target in buffers
        )

    patch.setattr(stores, "_is_there", is_there)


@planted(natively)
def iterations_run_twice_that_read_what_they_write(patch: Patch) -> None:
    patch.setattr(lanes, "is_repeatable", lambda program, loop: True)


@planted(natively, quick=True, first=350)
def what_vectors_leave_over_is_left_out(patch: Patch) -> None:
    original = emit.Emitter.plain_loop

    def plain_loop(self: Any, loop: Any, lanes: int, start: str, *rest: Any) -> None:
        if start == "0":
            original(self, loop, lanes, start, *rest)

    patch.setattr(emit.Emitter, "plain_loop", plain_loop)
