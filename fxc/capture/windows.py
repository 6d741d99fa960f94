"""Slices whose bounds are read from arrays: ``x[ptr[i]:ptr[i + 1]]``."""

from __future__ import annotations

from typing import Any

import numpy as np

from fxc.ir.graph import Literal, Operand, SliceSpec, Value
from fxc.ir.records import frozen
from fxc.ir.symbols import Dim, guard, hint
from fxc.ir.types import ScalarType
from fxc.ops.metas.shapes import normalize_slice

from .counting import new_name, size_of
from .history import hold_same, known_array
from .measured import known_size
from .operands import Traced, TracedValue, dim_of, operand
from .python_numbers import scalar_of, to_int
from .session import CountedSize, current, refuse
from .traced_int import TracedInt, decide_in_loops
from .varying import may_leave

# Note [Windows]
# Where such a slice lies and how many elements it spans are two counted sizes: the bounds as Python
# clamps them, so that they are within the axis in any case. So is a slice with a bound that goes
# beyond the axis in some iterations of a loop: ``x[i:i + 4]``. Slices with the same bounds, of axes
# of the same size, have the same symbols: ``values[lo:hi] * x[columns[lo:hi]]`` needs no check.

_Bound = Dim | Value | None
_BOOL = ScalarType(np.dtype(bool), weak=True)


@frozen
class Window:
    """A slice that was taken, at that time, between bounds as they were given: it spans so many
    elements from the first one on.
    """

    bounds: tuple[_Bound, _Bound]
    backwards: bool
    size: Dim
    at: int
    first: Dim
    span: Dim


def window(start: Any, stop: Any, step: Any, size: Dim) -> SliceSpec | None:
    """The slice of an axis of that size; None if its bounds do not depend on data."""
    if not _is_data(start, size) and not _is_data(stop, size):
        return None
    by = 1 if step is None else dim_of(step, "a slice step")
    if not isinstance(by, int) or not by:
        raise refuse("a slice between bounds that are read from arrays needs a known step")
    bounds = _bound(start, size), _bound(stop, size)
    found = _known(bounds, by < 0, size) or _made(bounds, by < 0, size)
    last = found.first + found.span
    return SliceSpec(found.first, last, by) if by > 0 else SliceSpec(last - 1, found.first - 1, by)


def _is_data(bound: Any, size: Dim) -> bool:
    bound = bound._plain() if isinstance(bound, Traced) else bound
    session = current()
    if type(bound) is TracedInt:
        dim = bound._dim
        unknown = session.is_unbounded(dim)
        return unknown or (session.varies(dim) and may_leave(session, dim, size))
    if not isinstance(bound, TracedValue) or bound._value.type.rank:
        return False
    value, kind = bound._value, bound._value.type
    is_int = kind.dtype.kind in "iu" or kind == _BOOL
    if not is_int or session.origins.get(value) or known_size(value) is not None:
        return False
    return known_array(value) is None and size_of(value) is None


def _bound(bound: Any, size: Dim) -> _Bound:
    if bound is None:
        return None
    if _is_data(bound, size):
        number = bound if type(bound) is TracedInt else to_int(scalar_of(bound))
        return _as_value(operand(number))
    dim = dim_of(bound, "a slice bound")
    inside = decide_in_loops(dim, ">=", 0) and decide_in_loops(dim, "<=", size)
    if inside or not current().varies(dim):
        return dim
    return _as_value(current().size_operand(dim))


def _as_value(x: Operand) -> Value:
    assert isinstance(x, Value)
    return x


def _known(bounds: tuple[_Bound, _Bound], backwards: bool, size: Dim) -> Window | None:
    """The slice if it was taken before."""
    session = current()
    windows: list[Window] = session.windows
    for each in windows:
        values = [x for x in each.bounds if isinstance(x, Value)]
        alike = each.backwards == backwards and all(map(session.is_alive, values))
        if not alike or not all(
            _are_one(x, each.at, y) for x, y in zip(each.bounds, bounds, strict=True)
        ):
            continue
        if each.size == size:
            return each
        varies = session.varies(each.size) or session.varies(size)
        if not varies and hint(each.size) == hint(size) and guard(each.size, "==", size):
            return each
    return None


def _are_one(x: _Bound, at: int, y: _Bound) -> bool:
    if isinstance(x, Value) and isinstance(y, Value):
        return hold_same(x, at, y, current().now)
    return not isinstance(x, Value) and not isinstance(y, Value) and x == y


def _made(bounds: tuple[_Bound, _Bound], backwards: bool, size: Dim) -> Window:
    session, at = current(), current().now
    low, high = reversed(bounds) if backwards else bounds
    begin: Dim | Value = 0 if low is None else _clamped(low, backwards, size)
    end: Dim | Value = size if high is None else _clamped(high, backwards, size)
    number = session.record("py_subtract", _operand(end), _operand(begin))
    number = session.record("py_maximum", number, Literal(0))
    if not isinstance(end, Value):
        span = _counted(number, end)
        first = end - span
    elif not isinstance(begin, Value):
        span, first = _counted(number, size - begin), begin
    else:
        span = _counted(number, size)
        first = _counted(session.record("py_minimum", begin, end), size - span)
    made = Window(bounds, backwards, size, at, first, span)
    session.windows.append(made)
    return made


def _clamped(bound: Dim | Value, backwards: bool, size: Dim) -> Dim | Value:
    """A bound counted from the front, between 0 and ``size``; backwards, one more than it is."""
    low = -1 if backwards else 0
    if not isinstance(bound, Value):
        return normalize_slice(bound, None, -1 if backwards else 1, size).start - low
    record = current().record
    is_negative = record("py_int", record("py_less", bound, Literal(0)))
    wrapped = record("py_add", bound, record("py_multiply", is_negative, _operand(size)))
    least = record("py_maximum", wrapped, Literal(low))
    found: Value = record("py_minimum", least, _operand(size + low))
    return record("py_subtract", found, Literal(low)) if low else found


def _counted(number: Any, most: Dim) -> Dim:
    """The size that a number from 0 to ``most`` is."""
    session, name = current(), new_name()
    value = session.record("bind_size", number, symbol=name, most=most)
    return session.counted(CountedSize(name, most, value))


def _operand(x: Dim | Value) -> Operand:
    return x if isinstance(x, Value) else current().size_operand(x)
