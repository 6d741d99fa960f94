"""Fields of records: other readings of the memory that these lie in."""

from __future__ import annotations

from collections.abc import Mapping

from fxc.ir.boxed_dtypes import field_of
from fxc.ir.graph import Node, Value
from fxc.ir.records import replace
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, known_dtype
from fxc.ops.operators import Tag
from fxc.ops.table import TABLE

from ..nests.buffers import Buffer, Idx

# Of records: the view of a field, of one that has several elements, and of several fields. The last
# axes of the second are not axes of the records, and no view is one of these axes.
FIELDS = frozenset({"field", "array_field", "fields"})
FIELD_COPIES = frozenset({f"{each}_copy" for each in FIELDS})

Names = tuple[str | tuple[str, ...], ...]  # see ``field_of``


def names_in(node: Node) -> Names:
    """Which field of the records a view or scatter is of."""
    op = TABLE[node.op]
    names: tuple[str, ...] = node.args[2 if op.tag is Tag.SCATTER else 1]
    return (names,) if op.group == "fields" else names


def own_index(node: Node, index: Idx) -> Idx:
    """Which element of the field in one record stands at the ``index`` of a view or scatter."""
    return index[node.args[0].type.rank :]


def own_offset(node: Node, index: Idx) -> Dim:
    """How far behind the beginning of the field, in bytes, that element stands."""
    shown, base = node.output.type, node.args[0].type
    assert isinstance(shown, ArrayType)
    offset: Dim = 0
    for stride, at in zip(shown.strides[base.rank :], own_index(node, index), strict=True):
        offset = offset + at * stride
    return offset


def names_of_field(value: Value, base: Value, node_of: Mapping[Value, Node]) -> Names:
    """The names of the field, and of those in it, that a view of ``base`` shows; none if it shows
    the elements themselves.
    """
    names: Names = ()
    while value is not base:
        node = node_of[value]
        names = (*names_in(node), *names) if node.op in FIELD_COPIES else names
        value = node.args[0]
    return names


def field(buffers: dict[str, Buffer], name: str, names: Names) -> str:
    """The reading of a field of the records in a buffer: a new one if there is none yet."""
    if not names:
        return name
    buffer = buffers[name]
    shown = field_of(buffer.dtype, names)
    dtype, place = shown.dtype, (shown.begin, shown.end)
    if buffer.field is not None:
        begin, end = buffer.field
        is_one = end - begin == buffer.dtype.itemsize  # record, not an array of them in each
        place = (begin + shown.begin, begin + shown.end) if is_one else buffer.field
    sizes = "".join(f"x{size}" for size in shown.shape)
    found = f"{name}.at{shown.begin}.{dtype.kind}{dtype.itemsize}{sizes}"
    while found in buffers and buffers[found].dtype != dtype:
        found += "_"
    if found not in buffers:
        buffers[found] = replace(
            buffer,
            name=found,
            dtype=known_dtype(dtype),
            shape=(*buffer.shape, *shown.shape),
            strides=(*buffer.strides, *shown.strides),
            offset=buffer.offset + shown.begin,
            field=place,
        )
    return found
