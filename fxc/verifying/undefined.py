"""What of a call depends on what was in new memory, as elements of ``np.empty``, or on the moment.

See Note [Undefined elements].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

import numpy as np

from fxc.ir.graph import Graph, walk
from fxc.ir.records import replace
from fxc.native.filled_memory import new_memory_of
from fxc.ops.effects import is_unseeded
from fxc.ops.operators import Tag
from fxc.ops.table import TABLE

from .bits import agreement
from .seen import Accepts, Seen, SeenPart, part_difference
from .seen import difference as any_difference

# Note [Undefined elements]
# If compiled code differs, NumPy runs some times more, each time with another byte in all of the
# memory that is new. What differs between these runs is undefined, and is left out; all else has
# to be equal. So it is NumPy alone that says what is undefined, however it has come to be: compiled
# code that forgets to write an element that is defined is found. The bytes make small and large
# numbers of either sign, nan, and both bools, so that what is computed of them shows it, too.

T = TypeVar("T")

_BYTES = (0x00, 0x01, 0x7F, 0xC0, 0xFF)


def unrepeatable(graph: Graph) -> str | None:
    """What calls of the graph do that no second call repeats."""
    for node in walk(graph.body):
        group = TABLE[node.op].group
        if TABLE[group].tag is Tag.CLOCK:
            return "read a clock"
        if group == "draw" and is_unseeded(node.arg("call")):
            return "draw without a seed"
    return None


def in_filled_memory(run: Callable[[], T]) -> Iterator[T]:
    """What ``run`` gives with one content of new memory after the other."""
    for byte in _BYTES:
        with new_memory_of(byte):
            found = run()
        yield found


def difference(
    expected: Seen,
    found: Seen,
    accepts: Accepts,
    runs: Callable[[], Sequence[Seen]],
    *,
    aliases: bool = True,
) -> str:
    """What is otherwise in ``found`` than in what NumPy gives, or ''. What differs between ``runs``
    of NumPy's in filled memory is left out.
    """
    text = any_difference(expected, found, accepts, aliases=aliases)
    if not text:
        return ""
    made = runs()
    if len({(type(each.error), str(each.error)) for each in made}) > 1:
        return ""
    theirs, ours = (_without_undefined(each, made) for each in (expected, found))
    return any_difference(theirs, ours, accepts, aliases=aliases)


def _without_undefined(given: Seen, runs: Sequence[Seen]) -> Seen:
    """What is seen of a call, without what differs between ``runs`` of it."""
    parts = {}
    for where, part in given.parts.items():
        found = [each.parts.get(where) for each in runs]
        if all(map(partial(_are_alike, found[0]), found)):
            parts[where] = _of_defined(part, [each for each in found if each is not None])
    relations = {
        pair: how
        for pair, how in given.relations.items()
        if len({each.relations.get(pair) for each in runs}) == 1
    }
    return Seen(parts, relations, given.error)


def _are_alike(x: SeenPart | None, y: SeenPart | None) -> bool:
    """Whether two parts are the same but for elements."""
    if x is None or y is None:
        return x is y
    return not part_difference("", x, y, lambda *_: True)


def _of_defined(part: SeenPart, runs: Sequence[SeenPart]) -> SeenPart:
    """The part, with elements that differ between the runs as in the first of these."""
    arrays = [each.value for each in runs if isinstance(each.value, np.ndarray)]
    if not isinstance(part.value, np.ndarray) or not arrays:
        return part
    first = arrays[0]
    if (first.dtype, first.shape) != (part.value.dtype, part.value.shape):
        return part
    same = np.logical_and.reduce([agreement(first, each) for each in arrays])
    value = part.value.copy()
    value[~same] = first[~same]
    return replace(part, value=value)
