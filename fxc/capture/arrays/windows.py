"""Slices whose bounds are read from arrays: ``x[ptr[i]:ptr[i + 1]]``."""

from __future__ import annotations

from fxc.ir.graph import Literal, Operand, SliceSpec, Value
from fxc.ir.records import frozen
from fxc.ir.size_functions import hint
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim
from fxc.ir.types import PY_BOOL
from fxc.ops.metas.shapes import normalize_slice

from ..numbers.dims import dim_of
from ..numbers.measured import known_size, size_of
from ..numbers.python_numbers import arithmetic, scalar_of, to_int
from ..numbers.traced_int import TracedInt, exact
from ..numbers.varying import decide_in_loops, may_leave
from ..session.session import Session, current
from ..values.operands import Traced, TracedValue, operand
from .history import hold_same, known_array

# Note [Windows]
# Where such a slice lies and how many elements it spans are two counted sizes: the bounds as Python
# clamps them, so that they are within the axis in any case. So is a slice with a bound that goes
# beyond the axis in some iterations of a loop: ``x[i:i + 4]``. Slices with the same bounds, of axes
# of the same size, have the same symbols: ``values[lo:hi] * x[columns[lo:hi]]`` needs no check.
# A step from the data is such a size, too; one that is not positive is left to Python.

_Bound = Dim | Value | None


@frozen
class Window:
    """A slice taken at that time, between these bounds: so many elements from the first one on."""

    bounds: tuple[_Bound, _Bound]
    backwards: bool
    size: Dim
    at: int
    first: Dim
    span: Dim


@frozen
class Stride:
    """A step that was taken, at that time, along an axis of that size."""

    number: Value
    size: Dim
    at: int
    step: Dim


def window(start: object, stop: object, step: object, size: Dim) -> SliceSpec | None:
    """The slice of an axis of that size; None if its bounds do not depend on data."""
    session = current()
    if step is not None and _is_data(session, step):
        by = _step(session, step, size)
        between = window(start, stop, None, size)
        if between is None:
            low, high = (None if x is None else dim_of(x, "a slice bound") for x in (start, stop))
            between = normalize_slice(low, high, None, size)
        return SliceSpec(between.start, between.stop, by)
    if not _is_data(session, start, size) and not _is_data(session, stop, size):
        return None
    by = 1 if step is None else dim_of(step, "a slice step")
    if by == 0:
        raise ValueError("slice step cannot be zero")
    if not isinstance(by, int) and not decide_in_loops(by, ">", 0):
        by = _step(session, step, size)
    bounds = _bound(session, start, size), _bound(session, stop, size)
    backwards = isinstance(by, int) and by < 0
    found = _known(session, bounds, backwards, size) or _made(session, bounds, backwards, size)
    first, last = found.first, found.first + found.span
    return SliceSpec(last - 1, first - 1, by) if backwards else SliceSpec(first, last, by)


def _step(session: Session, step: object, size: Dim) -> Dim:
    """A step of at least one; beyond the size of the axis all are alike: there is one element."""
    at = session.now
    given = step if type(step) is TracedInt else to_int(scalar_of(step))
    number = _as_value(operand(given))
    strides: list[Stride] = session.strides
    for each in strides:
        known = each.size == size and session.is_alive(each.number) and session.is_bound(each.step)
        if known and hold_same(each.number, each.at, number, at):
            return each.step
    session.record("try_demand", operand(arithmetic("gt", given, 0)))
    more = session.record("py_subtract", number, Literal(1))
    found = session.bind_size(session.record("py_minimum", more, _operand(session, size)), size) + 1
    strides.append(Stride(number, size, at, found))
    return found


def _is_data(session: Session, bound: object, size: Dim | None = None) -> bool:
    """Whether a number is read from arrays; or, as a bound, goes beyond an axis of that size."""
    bound = bound._plain() if isinstance(bound, Traced) else bound
    if type(bound) is TracedInt:
        dim = bound._dim
        if size is None or session.is_unbounded(dim):
            return session.is_unbounded(dim)
        return session.varies(dim) and may_leave(session, dim, size)
    if not isinstance(bound, TracedValue) or bound._value.type.rank:
        return False
    value, kind = bound._value, bound._value.type
    is_int = kind.dtype.kind in "iu" or kind == PY_BOOL
    if not is_int or session.origins.get(value) or known_size(value) is not None:
        return False
    return known_array(value) is None and size_of(value) is None


def _bound(session: Session, bound: object, size: Dim) -> _Bound:
    bound = exact(bound)
    if bound is None:
        return None
    if _is_data(session, bound, size):
        number = bound if type(bound) is TracedInt else to_int(scalar_of(bound))
        return _as_value(operand(number))
    dim = dim_of(bound, "a slice bound")
    inside = decide_in_loops(dim, ">=", 0) and decide_in_loops(dim, "<=", size)
    if inside or not session.varies(dim):
        return dim
    return _as_value(session.size_operand(dim))


def _as_value(x: Operand) -> Value:
    assert isinstance(x, Value)
    return x


def _known(
    session: Session, bounds: tuple[_Bound, _Bound], backwards: bool, size: Dim
) -> Window | None:
    """The slice if it was taken before."""
    windows: list[Window] = session.windows
    for each in windows:
        values = [x for x in each.bounds if isinstance(x, Value)]
        alive = all(map(session.is_bound, (each.first, each.span)))
        alive = alive and all(map(session.is_alive, values))
        alike = each.backwards == backwards and alive
        if not alike or not all(
            _are_one(session, x, each.at, y) for x, y in zip(each.bounds, bounds, strict=True)
        ):
            continue
        if each.size == size:
            return each
        varies = session.varies(each.size) or session.varies(size)
        if not varies and hint(each.size) == hint(size) and guard(each.size, "==", size):
            return each
    return None


def _are_one(session: Session, x: _Bound, at: int, y: _Bound) -> bool:
    if isinstance(x, Value) and isinstance(y, Value):
        return hold_same(x, at, y, session.now)
    return not isinstance(x, Value) and not isinstance(y, Value) and x == y


def _made(session: Session, bounds: tuple[_Bound, _Bound], backwards: bool, size: Dim) -> Window:
    at = session.now
    low, high = reversed(bounds) if backwards else bounds
    begin: Dim | Value = 0 if low is None else _clamped(session, low, backwards, size)
    end: Dim | Value = size if high is None else _clamped(session, high, backwards, size)
    number = session.record("py_subtract", _operand(session, end), _operand(session, begin))
    number = session.record("py_maximum", number, Literal(0))
    if not isinstance(end, Value):
        span = session.bind_size(number, end)
        first = end - span
    elif not isinstance(begin, Value):
        span, first = session.bind_size(number, size - begin), begin
    else:
        span = session.bind_size(number, size)
        first = session.bind_size(session.record("py_minimum", begin, end), size - span)
    made = Window(bounds, backwards, size, at, first, span)
    session.windows.append(made)
    return made


def _clamped(session: Session, bound: Dim | Value, backwards: bool, size: Dim) -> Dim | Value:
    """A bound counted from the front, between 0 and ``size``; backwards, one more than it is."""
    low = -1 if backwards else 0
    if not isinstance(bound, Value):
        return normalize_slice(bound, None, -1 if backwards else 1, size).start - low
    record = session.record
    is_negative = record("py_int", record("py_less", bound, Literal(0)))
    wrapped = record("py_add", bound, record("py_multiply", is_negative, _operand(session, size)))
    least = record("py_maximum", wrapped, Literal(low))
    found: Value = record("py_minimum", least, _operand(session, size + low))
    return record("py_subtract", found, Literal(low)) if low else found


def _operand(session: Session, x: Dim | Value) -> Operand:
    return x if isinstance(x, Value) else session.size_operand(x)
