"""How an epilogue gives arrays that leave the function the classes that they have in NumPy.

See Note [Classes of arrays].
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from fxc.ir.error_kinds import NO_RESULT
from fxc.ir.errors import CaptureError
from fxc.ir.graph import Value
from fxc.ir.objects import address_of
from fxc.ir.size_guards import guard
from fxc.ir.types import ArrayType
from fxc.ops.metas.layout import is_c_ordered, is_f_ordered

from ..forms.form import Array, Form, Items, Union
from ..guards.facts import as_array
from ..session.classes import (
    NewOfSubclass,
    OfNoFile,
    OfSubclass,
    PartOfFile,
    Unclear,
    Unwrapped,
)
from ..session.refusing import refusal
from ..session.session import current
from ..values.operands import kind_of, wrap


class ArrayExpressions(Protocol):
    """What writes the expressions of an epilogue, see ``ExpressionParts``."""

    is_located: bool  # whether what is refused was made at a known place

    def array(self, value: Value) -> str: ...
    def leaf(self, x: object) -> str: ...
    def reference(self, var: str) -> str: ...


def classed(builder: ArrayExpressions, value: Value) -> str:
    """The expression for an array that has a class."""
    match current().classes[value]:
        case PartOfFile(source) | OfNoFile(source) | OfSubclass(source) if (
            value in current().aliases.input_arrays
        ):
            return builder.reference(source.var)
        case PartOfFile(source):
            if any(guard(dim, "==", 0) for dim in kind_of(value).shape):
                raise _refused(builder, value, "an empty part of a memmap")
            return f"as_part_of({builder.leaf(wrap(value))}, {builder.reference(source.var)})"
        case OfSubclass(source) if current().aliases.root(value) is value:
            return f"wrapped_as({builder.reference(source.var)}, {builder.leaf(wrap(value))})"
        case OfSubclass(source) as kind if _is_part(value, kind):
            return f"as_part_of({builder.leaf(wrap(value))}, {builder.reference(source.var)})"
        case NewOfSubclass(OfSubclass(source)) if _is_in_order(kind_of(value)):
            return f"as_new_like({builder.leaf(wrap(value))}, {builder.reference(source.var)})"
        case Unwrapped(of):
            return f"as_array({builder.array(of)})"
        case Unclear.WRAPPED:
            return f"{builder.leaf(wrap(value))}.view()"
        case Unclear.MADE | Unclear.PART_OF_MADE as kind if _is_in_order(kind_of(value)):
            shown = ".view()" if kind is Unclear.PART_OF_MADE else ""
            return f"as_new_memmap({builder.leaf(wrap(value))}){shown}"
        case Unclear.SUBCLASS | OfSubclass() | NewOfSubclass():
            raise _refused(builder, value, "an array of a subclass")
        case _:
            raise _refused(builder, value, "what is a memmap of no file, or may be one,")


def _is_part(value: Value, kind: OfSubclass) -> bool:
    """Whether a view is one of the very array whose attributes it has, of a part that is there."""
    session = current()
    root = session.aliases.root(value)
    is_of_it = root in session.aliases.input_arrays and session.classes.get(root) is kind
    is_empty = any(guard(dim, "==", 0) for dim in kind_of(value).shape)
    return is_of_it and kind.keeps and _is_in_order(kind_of(root)) and not is_empty


def _is_in_order(kind: ArrayType) -> bool:
    return is_c_ordered(kind) or is_f_ordered(kind)


def _refused(builder: ArrayExpressions, value: Value, what: str) -> CaptureError:
    """The refusal of a result, where it was made."""
    nodes = current().builder.nodes
    place = next((node.loc for node in nodes if value in node.outputs), None)
    builder.is_located = place is not None
    return refusal(NO_RESULT, f"{what} cannot be captured as a result; use np.array", place)


def check_rows(form: Form) -> None:
    """Refuse a list of arrays, which stand in one, where they may be memmaps."""
    match form:
        case Array():
            raise refusal(NO_RESULT, "a list of arrays beside a memmap cannot be captured here")
        case Items(_, parts) | Union(parts):
            for each in parts:
                check_rows(each)


def as_new_memmap(array: np.ndarray) -> np.memmap[Any, Any]:
    """A memmap of no file that owns its memory, which nobody can give it: called by epilogues."""
    order: Any = "C" if array.flags.c_contiguous else "F"
    made: Any = np.ndarray.__new__(np.memmap, array.shape, array.dtype, order=order)
    as_array(made)[...] = array
    made.flags.writeable = array.flags.writeable
    return made  # type: ignore[no-any-return]


def as_new_like(array: np.ndarray, other: Any) -> object:
    """An array of the class and with the attributes of another one that owns its memory."""
    order: Any = "C" if array.flags.c_contiguous else "F"
    made: Any = np.ndarray.__new__(type(other), array.shape, array.dtype, order=order)
    as_array(made)[...] = array
    made.__array_finalize__(other)
    made.flags.writeable = array.flags.writeable
    return made


def as_part_of(part: np.ndarray, whole: Any) -> object:
    """A part of the memory of an array of a subclass as one of that class; for epilogues."""
    memory: Any = whole
    while type(memory.base) is type(whole):
        memory = memory.base
    memory = memory if memory.flags.c_contiguous else memory.T
    if memory.flags.c_contiguous:  # so that its base is what NumPy makes it
        offset = address_of(part) - address_of(memory)
        made: Any = np.ndarray.__new__(
            type(whole), part.shape, part.dtype, memory, offset, part.strides
        )
        made.flags.writeable = part.flags.writeable
    else:
        made = part.view(type(whole))
    made.__array_finalize__(whole)
    return made
