"""Inputs that share memory: which of them do, and the captured graph that knows of it.

See Note [Overlapping inputs].
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from fxc.dispatch.trace import recording_into
from fxc.ir.errors import InternalError, OverlapError
from fxc.ir.graph import Node, Value, walk
from fxc.ir.later import import_later
from fxc.ir.records import frozen, replace
from fxc.ir.signature import ViewStep
from fxc.ir.types import ArrayType, array_type
from fxc.ops.operators import ROUNDED
from fxc.ops.table import TABLE

from ..guards.builder import flags_of
from ..guards.facts import all_apart, apart, of_other_files, overlaps_itself
from ..session.refusing import Respecialise
from .outside import Outside

# See Note [Rooms with one door].
common_base = import_later("fxc.capture.guards.common_base", "common_base")
new_offsets = import_later("fxc.capture.guards.common_base", "Offsets")

# Note [Overlapping inputs]
# In a graph, inputs are apart: a write to one does not show in another. That two inputs of which
# one is written have no element in common is therefore guarded. Where they have, in the call that
# is captured, they become views of one more input, their common base: a hidden array over the
# memory of all of them, made anew at each call. The graph begins with these views, and no later
# pass sees anything new. How the inputs lie to each other is guarded.
# So it is with inputs that lie among each other, without a common element, where a product of
# complex numbers is written into one: see Note [Products among what is read].
# The caller's own arrays stay inputs, too: a result that is one of them, or a view of one, is made
# from that object. And what lies between them in memory may belong to somebody else: it is not
# written, see ``Mutation.regions``.


ViewSteps = tuple[ViewStep, ...]


class SizesNeeded(Exception):
    """Inputs overlap, so that the capture needs their sizes as constants."""


@frozen
class PartOfBase:
    """An input that overlaps others: ``value`` of the graph, a view of its base by ``steps``."""

    input: int
    value: Value
    steps: ViewSteps
    written: bool


@frozen
class Overlaps:
    """What overlapping inputs add to a captured graph.

    ``nodes`` make them from their common bases, in front of all others. ``parts`` are the views of
    each base, by its number among the inputs. ``regions`` are those that are written, where none of
    them is the whole base.
    """

    nodes: tuple[Node, ...]
    parts: Mapping[int, tuple[PartOfBase, ...]]
    regions: Mapping[int, tuple[ViewSteps, ...]]

    @property
    def inputs(self) -> dict[Value, int]:
        """The input that each value stands for."""
        return {part.value: part.input for parts in self.parts.values() for part in parts}


def settle_overlaps(outside: Outside) -> Overlaps:
    """Guard which inputs are apart, and give a common base to those that are not.

    Raises ``OverlapError`` where there is none, ``SizesNeeded`` where their sizes are symbols.
    """
    places = [place for place, each in enumerate(outside.inputs) if each.value in outside.arrays]
    written = [p for p in places if outside.inputs[p].value in outside.session.aliases.written]
    for place in written:
        _check_distinct(outside, place)
    _check_stacked(outside, written)
    groups = {place: [place] for place in places}
    multiplied = _multiplied(outside, places)
    apart_pairs = []
    pairs = {(min(pair), max(pair)) for pair in product(written, places) if pair[0] != pair[1]}
    for left, right in sorted(pairs):
        _check_files(outside, left, right)
        arrays = _array(outside, left), _array(outside, right)
        if not np.may_share_memory(*arrays) or ({left, right} not in multiplied and apart(*arrays)):
            apart_pairs.append((left, right))
        elif groups[left] is not groups[right]:
            groups[left] += groups[right]
            groups.update(dict.fromkeys(groups[right], groups[left]))
    for left, right in apart_pairs:
        if groups[left] is not groups[right]:
            _check_apart(outside, left, right, among={left, right} not in multiplied)
    found = _Builder(outside, frozenset(written))
    for place in places:
        if groups[place][0] == place and len(groups[place]) > 1:
            found.add(sorted(groups[place]))
    return Overlaps(tuple(found.nodes), found.parts, found.regions)


def _check_stacked(outside: Outside, written: Sequence[int]) -> None:
    """Rely on it that what is written is none of the arrays in lists that are read as copies."""
    for arrays, source, by_items in outside.stacked:
        for place in written:
            if not all_apart(arrays, _array(outside, place)):
                raise Respecialise(by_items)
            other = outside.input_sources[place]
            outside.guards.check(
                f"all_apart({source.var}, {other.var})",
                f"{other.text} is apart from the arrays of {source.text}",
            )


def _multiplied(outside: Outside, places: Sequence[int]) -> list[set[int]]:
    """The inputs of complex numbers of which one gets a product with the other in it."""
    inputs = {outside.inputs[place].value: place for place in places}
    if sum(value.type.dtype.kind == "c" for value in inputs) < 2:
        return []
    found: list[set[int]] = []
    for node in outside.session.builder.nodes:
        for each in (node, *(inner for region in node.regions for inner in walk(region))):
            if TABLE[each.op].group in ROUNDED and each.schema.writes:
                target: Value = each.args[each.schema.written_params[0]]
                if target.type.dtype.kind == "c":
                    found += _pairs(outside, inputs, target, each.inputs)
    return found


def _pairs(
    outside: Outside, inputs: Mapping[Value, int], target: Value, others: Sequence[Value]
) -> list[set[int]]:
    """The inputs of one dtype that a target and the others are, or are views of."""
    roots = outside.session.aliases.roots
    alike = [value for value in others if value.type.dtype == target.type.dtype]
    pairs = product(roots(target), frozenset().union(*map(roots, alike)))
    return [{inputs[x], inputs[y]} for x, y in pairs if {x, y} <= inputs.keys()]


def _array(outside: Outside, place: int) -> np.ndarray:
    return outside.arrays[outside.inputs[place].value]


def _has_symbols(outside: Outside, place: int) -> bool:
    kind = outside.inputs[place].value.type
    return isinstance(kind, ArrayType) and not all(
        isinstance(dim, int) for dim in (*kind.shape, *kind.strides)
    )


def _check_distinct(outside: Outside, place: int) -> None:
    """Rely on it that no two elements of a written array lie at one place."""
    array, source = _array(outside, place), outside.input_sources[place]
    text = f"several elements of {source.text} lie at one place in memory"
    if overlaps_itself(array):
        raise _refuse(outside, f"overlaps_itself({source.var})", f"{text}, and it is written")
    if _has_symbols(outside, place) and not (array.flags.c_contiguous or array.flags.f_contiguous):
        outside.guards.check(f"not overlaps_itself({source.var})", f"not {text}")


def _check_files(outside: Outside, left: int, right: int) -> None:
    """Rely on two memmaps not being of one file, whose content each has at its own address."""
    values = [outside.inputs[place].value for place in (left, right)]
    maps: list[Any] = [outside.session.classes.get(each) for each in values]
    if None in maps:
        return
    x, y = (each.source for each in maps)
    condition = f"of_other_files({x.var}, {y.var})"
    text = f"{x.text} and {y.text} are memmaps of one file"
    if not of_other_files(*(outside.arrays[each].base for each in values)):
        raise _refuse(outside, f"not {condition}", f"{text}, and one of them is written")
    outside.guards.check(condition, f"not {text}")


def _check_apart(outside: Outside, left: int, right: int, *, among: bool) -> None:
    """Rely on it that two inputs are apart; they may lie ``among`` each other, or not."""
    a, b = outside.input_sources[left], outside.input_sources[right]
    own = f"{flags_of(a)}.owndata and {flags_of(b)}.owndata"  # the quickest to know
    quickly = f"{a.var} is not {b.var} and {own} or "
    if not {a.var, b.var} <= outside.with_flags:  # the guards have made one of a list
        quickly = ""
    slowly = f" or apart({a.var}, {b.var})" if among else ""
    outside.guards.check(
        f"{quickly}not may_share({a.var}, {b.var}){slowly}",
        f"{a.text} and {b.text} have no element in common"
        + ("" if among else ", nor does one lie among the other"),
    )


def _refuse(outside: Outside, condition: str, reason: str) -> OverlapError:
    """The error that says so, with the guards under which it would be the same again."""
    outside.guards.check(condition, reason)
    return OverlapError(reason, outside.guards.program(()).check)


class _Builder:
    """Collects what the bases of all groups add to the graph."""

    def __init__(self, outside: Outside, written: frozenset[int]) -> None:
        self.outside = outside
        self.written = written
        self.nodes: list[Node] = []
        self.parts: dict[int, tuple[PartOfBase, ...]] = {}
        self.regions: dict[int, tuple[ViewSteps, ...]] = {}

    def add(self, group: Sequence[int]) -> None:
        """Make the inputs of a group views of one more input."""
        outside, guards = self.outside, self.outside.guards
        arrays = [_array(outside, place) for place in group]
        sources = [outside.input_sources[place] for place in group]
        given = ", ".join(source.var for source in sources)
        names = " and ".join(source.text for source in sources)
        base = common_base(arrays)
        if base is None:
            lie = guards.constant(new_offsets(arrays))
            reason = f"{names} overlap, one of them is written, and they are not views of one array"
            raise _refuse(outside, f"{lie}.hold({given})", reason)
        if any(_has_symbols(outside, place) for place in group):
            raise SizesNeeded
        source = guards.fetch(f"{guards.constant(base)}.over({given})", f"the memory of {names}")
        guards.check(f"{source.var} is not None", f"{names} lie to each other as they did")
        value = outside.add_input(array_type(base.dtype, base.shape, base.strides), source, "base")
        number = len(outside.inputs) - 1
        parts = [self.part(*each, value) for each in zip(group, base.views, strict=True)]
        self.parts[number] = tuple(parts)
        written = [part for part in parts if part.written]
        if all(outside.arrays[part.value].size < math.prod(base.shape) for part in written):
            self.regions[number] = tuple(part.steps for part in written)

    def part(self, place: int, steps: ViewSteps, base: Value) -> PartOfBase:
        """Add the nodes that make an input from its base; the input itself is a new value."""
        outside = self.outside
        each = outside.inputs[place]
        builder = outside.session.builder
        with builder.region(), recording_into(builder):
            made = base
            for step in steps:
                made = outside.session.dispatcher.call(step.op, made, *step.args)
            *before, last = builder.nodes
        if made.type != each.value.type:
            raise InternalError(f"{made.type} is not the {each.value.type} of {each.text}")
        self.nodes += [*before, replace(last, outputs=(each.value,))]
        param = Value(each.value.name, each.value.type)
        each.value.name = made.name
        outside.inputs[place] = replace(each, value=param)
        return PartOfBase(place, each.value, steps, place in self.written)
