"""Arrays of one size or another, as the first elements of a flat array that has room for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fxc.ir.bounds import decide
from fxc.ir.graph import Operand, SliceSpec, Value
from fxc.ir.size_functions import floordiv, maximum, substitute
from fxc.ir.symbols import MOST_MEASURED, Dim, Symbol, counted_in, product, terms_of
from fxc.ir.types import PY_INT, ArrayType, array_type
from fxc.ops.metas.layout import is_c_ordered

from ..arrays.counting import bound_size
from ..numbers.python_numbers import number_of_kind
from ..numbers.traced_int import wrap_dim
from ..session.alternatives import content_of, either
from ..session.session import Session, current
from ..values.operands import kind_of, operand
from .form import Sized
from .options import Option, flag_operand


def sized_form(kinds: Sequence[ArrayType]) -> Sized | None:
    """The form of what is one of arrays of a dtype and rank that differ in one size, of which it is
    known what it never exceeds; None if they differ otherwise.
    """
    first, *others = kinds
    rank, session = first.rank, current()
    axes = [a for a in range(rank) if any(kind.shape[a] != first.shape[a] for kind in others)]
    counted = [a for a in range(rank) if counted_in(first.shape[a])]
    axes = axes or counted
    if len(axes) != 1 or not all(kind.writeable and is_c_ordered(kind) for kind in kinds):
        return None
    (axis,) = axes
    rest = (*first.shape[:axis], *first.shape[axis + 1 :])
    most = [most_of(session, size) if counted_in(size) else size for size in _along(kinds, axis)]
    room: Dim | None = None
    for each in most:
        if each is None or session.varies(each):
            return None
        if room is None or decide(each, "<=", room) is not True:
            room = each if room is None or decide(room, "<=", each) is True else maximum(room, each)
    assert room is not None
    if any(map(session.varies, rest)) or decide(product(rest), ">", 0) is not True:
        return None
    size, width = room * product(rest), first.dtype.itemsize
    return Sized(axis, rest, array_type(first.dtype, (size,), (width,)))


def _along(kinds: Sequence[ArrayType], axis: int) -> Iterator[Dim]:
    return (kind.shape[axis] for kind in kinds)


def packed(form: Sized, arrays: Sequence[Option]) -> list[Operand]:
    """The size and the flat array of what is one of these arrays, recorded here."""
    session = current()
    found: tuple[Operand, Value] | None = None
    for flag, x in reversed(arrays):
        value: Value = x._value
        room = session.record("empty", form.flat.shape, form.flat.dtype, layout=None)
        size = operand(wrap_dim(kind_of(value).shape[form.axis]))
        flat = filled(session, room, value)
        if found is not None:
            test = flag_operand(flag)
            chosen = session.value("where", test, size, found[0])
            size = operand(number_of_kind(chosen, PY_INT))
            flat = content_of(session, either(session, test, flat, found[1]))
        found = size, flat
    assert found is not None
    return [*found]


def entered(form: Sized, size: Operand, flat: Operand) -> Value:
    """The array of this size that begins the flat one; a new array, but in the body of a loop that
    has the flat one as a parameter, so that they are known to share memory.
    """
    session, rest = current(), product(form.rest)
    count = bound_size(size, floordiv(form.flat.size, rest))
    shape = (*form.rest[: form.axis], count, *form.rest[form.axis :])
    part = session.record("slice", flat, (SliceSpec(0, product(shape), 1),))
    view = session.value("reshape", part, shape)
    return session.value("copy", view, order="C") if flat in session.made else view


def filled(session: Session, flat: Operand, array: Value) -> Value:
    """A flat array that begins with the elements of an array."""
    shape = kind_of(array).shape
    span = (SliceSpec(0, product(shape), 1),)
    if len(shape) > 1:
        array = session.record(
            "reshape_scatter", session.record("slice_copy", flat, span), array, shape
        )
    return session.value("slice_scatter", flat, array, span)


def most_of(session: Session, size: Dim) -> Dim | None:
    """The most that a counted size can be in any iteration; None if that is not known."""
    counts = counted_in(size)
    if not counts:
        return None
    while counts:
        parts = [(atoms, factor) for atoms, factor in terms_of(size) if atoms]
        rises = all(factor > 0 and {type(x) for x in atoms} == {Symbol} for atoms, factor in parts)
        if not rises or any(x.most == MOST_MEASURED for x in counts):
            return None
        size = substitute(size, {x.name: x.most for x in counts if x.most is not None})
        counts = counted_in(size)
    return None if session.varies(size) else size
