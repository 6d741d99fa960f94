"""Views as strides: where a view starts in memory, and how far apart its elements are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fxc.ir.graph import Node, Value
from fxc.ir.size_functions import substitute
from fxc.ir.symbols import Dim
from fxc.ops.table import TABLE

from ..nests.addressing import linearised
from ..nests.buffers import Idx
from .fields import FIELD_COPIES, own_offset
from .index_maps import INDEX_MAPS, PART_VIEWS


def affine(
    value: Value, base: Value, strides: Sequence[Dim], index: Idx, node_of: Mapping[Value, Node]
) -> tuple[int | None, Dim, list[Dim]] | None:
    """Where a view of ``base``, which has these strides, starts, and its own strides; in front
    of them which part of complex numbers it shows, if it does. None if strides do not describe it.
    ``index`` has a loop variable for each dim of the view, see ``Context.loop_vars``.
    """
    here: Idx = index
    part: int | None = None
    offset: Dim = 0
    above = value
    while above is not base:
        node = node_of[above]
        index_map = INDEX_MAPS.get(TABLE[node.op].group)
        if index_map is None:
            return None
        if node.op in FIELD_COPIES:
            offset = offset + own_offset(node, here)
        above, here = node.args[0], index_map(node.args[0].type, node.args[1:], here)
        part = PART_VIEWS.get(node.op, part)
    for stride, at in zip(strides, here, strict=True):
        offset = offset + at * stride
    offset = linearised(offset)
    zero = {str(i): 0 for i in index if not isinstance(i, int)}
    start = substitute(offset, zero)
    steps: list[Dim] = []
    rebuilt: Dim = start
    for i in index:
        if isinstance(i, int):
            steps.append(value.type.dtype.itemsize)
            continue
        step = substitute(offset, {**zero, str(i): 1}) - start
        steps.append(step)
        rebuilt = rebuilt + i * step
    return (part, start, steps) if rebuilt == offset else None
