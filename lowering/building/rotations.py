"""Arrays that are rotated (``np.roll``): read where they are needed, by a remainder.

Two slices of an array, joined so that its end comes first, are read as ``x[(i + start) mod n]``:
no element is copied. See ``scheduling/wraps``, which gives such loops plain indices again.
"""

from __future__ import annotations

from collections.abc import Mapping

from fxc.ir.graph import Node, SliceSpec, Value
from fxc.ir.records import frozen
from fxc.ir.size_functions import mod
from fxc.ir.symbols import Dim
from fxc.ops.table import TABLE

from ..nests.buffers import Idx


@frozen
class Rotation:
    """``base`` along an axis from ``start`` on, and then its beginning."""

    base: Value
    axis: int
    start: Dim

    def at(self, index: Idx) -> Idx:
        """The place in the base of an element."""
        size = self.base.type.shape[self.axis]
        along = mod(index[self.axis] + self.start, size)
        return (*index[: self.axis], along, *index[self.axis + 1 :])


def rotation_of(join: Node, inline: Mapping[Value, Node]) -> Rotation | None:
    """What a join rotates, if that is all that it does; ``inline`` has the nodes of values that
    are computed where they are read.
    """
    axis: int | None = join.arg("axis")
    parts = [_slice_of(part, inline) for part in join.args[0]]
    if axis is None or len(parts) != 2 or None in parts:
        return None
    (base, end), (other, begin) = parts  # type: ignore[misc]
    axis %= base.type.rank
    size, start = base.type.shape[axis], end[axis].start
    wanted = [SliceSpec(0, dim, 1) for dim in base.type.shape]
    if base is not other or begin[axis] != SliceSpec(0, start, 1):
        return None
    if end[axis] != SliceSpec(start, size, 1) or base.type.dtype != join.output.type.dtype:
        return None
    others = [place for place in range(len(wanted)) if place != axis]
    if any(specs[place] != wanted[place] for specs in (end, begin) for place in others):
        return None
    return Rotation(base, axis, start)


def _slice_of(
    part: object, inline: Mapping[Value, Node]
) -> tuple[Value, tuple[SliceSpec, ...]] | None:
    """What a part is a slice of, and which."""
    node = inline.get(part) if isinstance(part, Value) else None
    if node is None or TABLE[node.op].group != "slice" or not isinstance(node.args[0], Value):
        return None
    return node.args[0], node.args[1]
