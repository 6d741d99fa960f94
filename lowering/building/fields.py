"""Fields of records: other readings of the memory that these lie in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fxc.ir.boxed_dtypes import field_of
from fxc.ir.graph import Node, Value
from fxc.ir.types import known_dtype

from ..nests.buffers import Buffer

FIELD = "field_copy"


def names_of_field(value: Value, base: Value, node_of: Mapping[Value, Node]) -> tuple[str, ...]:
    """The names of the field, and of those in it, that a view of ``base`` shows; none if it shows
    the elements themselves.
    """
    names: tuple[str, ...] = ()
    while value is not base:
        node = node_of[value]
        names = (*node.args[1], *names) if node.op == FIELD else names
        value = node.args[0]
    return names


def field(buffers: dict[str, Buffer], name: str, names: tuple[str, ...]) -> str:
    """The reading of a field of the records in a buffer: a new one if there is none yet."""
    if not names:
        return name
    buffer = buffers[name]
    dtype, begin = field_of(buffer.dtype, names)
    place = begin if buffer.field is None else buffer.field[0] + begin
    found = f"{name}.at{begin}.{dtype.kind}{dtype.itemsize}"
    while found in buffers and buffers[found].dtype != dtype:
        found += "_"
    if found not in buffers:
        buffers[found] = replace(
            buffer,
            name=found,
            dtype=known_dtype(dtype),
            offset=buffer.offset + begin,
            field=(place, place + dtype.itemsize),
        )
    return found
