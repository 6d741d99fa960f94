"""NumPy's functions that make arrays: ``zeros``, ``arange``, ``asarray`` and their kin."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fxc.ir.error_kinds import NUMPY_OPTION
from fxc.ir.graph import Literal, Operand, SliceSpec
from fxc.ir.later import import_later
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim, counted_in
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.metas.layout import is_c_ordered, is_f_ordered, layout_of
from fxc.ops.metas.shapes import is_zero, slice_length

from ..numbers.imported_later import derived, dim_of, dims_of, length_of_range, size_from, size_of
from ..numbers.traced_int import check_fits, exact, int_dim, wrap_dim
from ..session.refusing import refuse
from ..session.session import current
from ..values.identity import has_grown
from ..values.operands import (
    Traced,
    TracedValue,
    array_value,
    operand,
    record,
    settled,
    variable_of,
    wrap,
)
from .dtypes import dtype_of, order_of
from .traced_scalar import known_number

# See Note [Rooms with one door].
array_of = import_later("fxc.capture.arrays.sequences", "array_of")
is_in_order = import_later("fxc.capture.arrays.shaping", "is_in_order")


def is_array(x: object) -> bool:
    x = settled(x)
    return isinstance(x, TracedValue) and isinstance(x._value.type, ArrayType)


def _with_options(function: Callable[..., Any], create: Callable[..., Any]) -> Callable[..., Any]:
    """A creation function with options of NumPy's that change nothing: a device, an array."""

    def call(*args: object, device: object = None, like: object = None, **kwargs: object) -> object:
        is_like = like is None or is_array(like)
        is_other = {"device": device not in (None, "cpu"), "like": not is_like}
        for name in filter(is_other.get, is_other):
            raise refuse(NUMPY_OPTION, f"np.{function.__name__} with {name}=")
        return create(*args, **kwargs)

    return call


def _layout(order: str, rank: int) -> tuple[int, ...] | None:
    order = order_of(order)
    if order == "F" and rank > 1:
        return tuple(reversed(range(rank)))
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    return None


def _filled_with(name: str) -> Callable[..., Any]:
    def create(shape: object, dtype: object = float, order: str = "C") -> object:
        dims = dims_of(shape)
        return record(name, dims, dtype_of(dtype), layout=_layout(order, len(dims)))

    return create


zeros, ones, empty = (_filled_with(name) for name in ("zeros", "ones", "empty"))


def ndarray(shape: object, dtype: object = float, *view: object, **options: object) -> Any:
    """As ``np.ndarray`` with memory of its own."""
    order = order_of(options.pop("order", None))
    if view or options:
        raise refuse(NUMPY_OPTION, "np.ndarray with buffer=, offset= or strides=")
    return empty(shape, dtype, "F" if order == "F" else "C")


def full(shape: object, fill_value: object, dtype: object = None, order: str = "C") -> Any:
    dims = dims_of(shape)
    value = operand(fill_value)
    wanted = value.type.dtype if dtype is None else dtype_of(dtype)
    value = _fitting(fill_value, value, wanted)
    return _full_of(value, dims, wanted, _layout(order, len(dims)))


def _fitting(number: Any, value: Operand, dtype: np.dtype) -> Operand:
    """What an array of the dtype is filled with: NumPy 2.0 takes the low bits of an int that this
    does not hold, newer versions raise.
    """
    try:
        check_fits(number, dtype)
    except OverflowError:
        np.full(1, int(number), dtype)
        return current().value("astype", value, dtype, casting="unsafe")
    return value


def _full_of(value: Operand, dims: tuple[Dim, ...], dtype: np.dtype, layout: object) -> object:
    """A new array full of a scalar, or with an array broadcast into it."""
    if not value.type.rank:
        return record("full", dims, value, dtype, layout=layout)
    made = record("empty", dims, dtype, layout=layout)
    current().record("copy_", made._value, value, casting="unsafe")
    return made


def _like(x: object, dtype: object, order: str, shape: object) -> tuple[Any, np.dtype, Any]:
    """Shape, dtype and layout of ``zeros_like(x)``."""
    kind, order = array_value(x).type, order_of(order, "K")
    assert isinstance(kind, ArrayType)
    dims = kind.shape if shape is None else dims_of(shape)
    wanted = kind.dtype if dtype is None else dtype_of(dtype)
    if order == "K":
        layout = layout_of(kind) if len(dims) == kind.rank else None
    elif order == "A":
        use_f = is_f_ordered(kind) and not is_c_ordered(kind)
        layout = _layout("F" if use_f else "C", len(dims))
    else:
        layout = _layout(order, len(dims))
    return dims, wanted, layout


def _filled_like(name: str) -> Callable[..., Any]:
    def create(
        a: object, dtype: object = None, order: str = "K", subok: bool = True, shape: object = None
    ) -> object:
        dims, wanted, layout = _like(a, dtype, order, shape)
        return record(name, dims, wanted, layout=layout)

    return create


zeros_like, ones_like, empty_like = (_filled_like(name) for name in ("zeros", "ones", "empty"))


def full_like(
    a: object,
    fill_value: object,
    dtype: object = None,
    order: str = "K",
    subok: bool = True,
    shape: object = None,
) -> Any:
    dims, wanted, layout = _like(a, dtype, order, shape)
    if isinstance(fill_value, Traced):
        fill_value = fill_value._stored_as(wanted)
    value = _fitting(fill_value, operand(fill_value), wanted)
    return _full_of(value, dims, wanted, layout)


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Any:
    """As ``np.arange``."""
    alone = stop is None and step is None
    if start is None:
        raise refuse(NUMPY_OPTION, "np.arange without a bound")
    start, stop = (0, start) if stop is None else (start, stop)
    given: list[Any] = [start, stop, 1 if step is None else step]
    given = [x[()] if is_array(x) and not x.ndim else x for x in given]
    start, stop, step = (exact(_as_size(x, alone=alone)) for x in given)
    low, high, by = (int_dim(x) for x in (start, stop, step))
    if low is not None and high is not None and by is not None:
        length = _range_length(low, high, by)
        kinds = [operand(x) for x in given]
        return _arranged(kinds, operand(start), operand(step), length, dtype)
    if any(isinstance(x, Traced) for x in (start, stop, step)):
        found = [operand(x) for x in (start, stop, step)]
        length = derived(_arange_length, *found)
        length = length_of_range(start, stop, step) if length is None else length
        if length is not None:
            return _arranged(found, found[0], found[2], dim_of(length), dtype)
    start, stop, step = (known_number(x, "np.arange") for x in (start, stop, step))
    if any(isinstance(x, Traced) for x in (start, stop, step)):
        raise refuse(NUMPY_OPTION, "np.arange with bounds that depend on array data")
    sample: np.ndarray = np.arange(*(start, stop, step), dtype=dtype)
    steps = _steps(operand(start), operand(step), sample.dtype)
    return record("arange", *steps, length=len(sample), dtype=sample.dtype)


def _arranged(
    kinds: Sequence[Operand], first: Operand, by: Operand, length: Dim, dtype: Any
) -> object:
    """The array of a range of that length, between operands of these kinds."""
    wanted = np.arange(*map(_sample, kinds), dtype=dtype).dtype
    if wanted.kind == "b" and guard(length, ">", 2):
        np.arange(3, dtype=bool)  # raises
    first, by = _steps(first, by, wanted)
    return record("arange", first, by, length=length, dtype=wanted)


def _steps(first: Operand, by: Operand, wanted: np.dtype) -> tuple[Operand, Operand]:
    """The first element and the step: NumPy adds them up with the bits that they have."""
    if not any(x.type.dtype.kind == "f" and x.type.dtype.itemsize < 8 for x in (first, by)):
        return first, by
    start, second = variable_of(first), variable_of(first) + variable_of(by)
    one = wanted.type(1)
    return operand(start * one), operand(second * one - start * one)


def _arange_length(start: Any, stop: object, step: object) -> int:
    """NumPy's length of ``np.arange`` of numbers that are not all ints."""
    span = stop - start
    parts = float(span / step)
    if parts == 0.0 and span != 0:  # it underflows
        return 0 if math.copysign(1.0, parts) < 0 else 1
    return max(0, math.ceil(parts))


def _sample(x: Operand) -> Any:
    """A number of the type of a scalar."""
    assert isinstance(x.type, ScalarType)
    return x.type.one


_COUNTING = tuple(np.dtype(name) for name in ("i8", "i4", "i2", "i1", "u4", "u2", "u1"))


def _as_size(x: object, *, alone: bool = False) -> object:
    """A scalar that counts elements, or is an int that depends on data, as an int. Ints of few bits
    overflow, if NumPy computes with them: if they do not stand ``alone``.
    """
    number = x._plain() if isinstance(x, Traced) else x
    if not isinstance(number, TracedValue):
        return x
    value, kind = number._value, number._value.type
    dim = size_of(value)
    is_int = isinstance(kind, ScalarType) and kind.dtype in (_COUNTING if alone else _COUNTING[:1])
    if dim is None and is_int:
        dim = size_from(value)
    return x if dim is None else wrap_dim(dim)


def _range_length(low: Dim, high: Dim, by: Dim) -> Dim:
    """The length of ``range(low, high, by)``."""
    if is_zero(by):
        raise ZeroDivisionError("division by zero")
    if len(counted_in(high - low)) > 1 and isinstance(by, int) and by > 0:  # either may be larger
        session = current()
        past = session.size_operand(high - low + (by - 1))
        trips = session.record("py_floor_divide", past, Literal(by))
        steps: Dim = dim_of(wrap(session.record("py_maximum", trips, Literal(0))))
        return steps
    return slice_length(SliceSpec(low, high, by))


def linspace(
    start: object,
    stop: object,
    num: Any = 50,
    endpoint: object = True,
    retstep: object = False,
    dtype: object = None,
    axis: object = 0,
) -> Any:
    """As ``np.linspace`` of scalars (so many parameters because they are NumPy's)."""
    if axis != 0:
        raise refuse(NUMPY_OPTION, "np.linspace with axis=")
    low, high = (operand(_number(x)) for x in (start, stop))
    if low.type.rank or high.type.rank:
        raise refuse(NUMPY_OPTION, "np.linspace between arrays")
    count, closed = dim_of(_as_size(num)), bool(endpoint)
    if not isinstance(count, int) and guard(count, "<", 0):
        count = num.__index__()  # for NumPy's message
    found = np.linspace(_sample(low), _sample(high), 2).dtype
    wanted = dtype_of(dtype) if dtype is not None else found
    result = record("linspace", low, high, num=count, endpoint=closed, dtype=wanted)
    return (result, _step(low, high, count - closed, found)) if retstep else result


def _number(x: Any) -> Any:
    """The element of an array without axes."""
    is_element = isinstance(x, TracedValue) and isinstance(x._value.type, ArrayType)
    return record("item", x._value) if is_element and not x._value.type.rank else x


def _step(low: Operand, high: Operand, parts: Dim, dtype: np.dtype) -> object:
    """The ``step`` that ``np.linspace`` returns."""
    if not guard(parts, ">", 0):
        return np.nan
    if dtype != np.float64:
        raise refuse(NUMPY_OPTION, f"np.linspace with retstep= for {dtype}")
    ends = [operand(record("astype", x, dtype, casting="unsafe", order="K")) for x in (high, low)]
    return record("subtract", *ends) / wrap_dim(parts)


def eye(N: object, M: object = None, k: Any = 0, dtype: object = float, order: str = "C") -> Any:
    rows = dim_of(N)
    columns = rows if M is None else dim_of(M)
    made = record("eye", rows, columns, k=k.__index__(), dtype=dtype_of(dtype))
    return made.copy("F") if order_of(order) == "F" else made


def identity(n: object, dtype: object = None) -> Any:
    return eye(n, dtype=float if dtype is None else dtype)


# ------------------------------------------------------------------ conversions


def asarray(a: object, dtype: object = None, order: object = None, *, copy: object = None) -> Any:
    """As ``np.asarray``: the array itself where nothing needs to change."""
    order = order_of(order, "K")
    copy = _COPIES.get(copy, copy) if isinstance(copy, np._CopyMode) else copy
    if isinstance(a, np.flatiter):  # a view or a copy that is written back
        raise refuse(NUMPY_OPTION, "np.asarray of x.flat", "use x.ravel()")
    if is_array(a):
        array = a
    elif has_grown(a) and dtype is None:
        return a
    else:
        array = wrap(array_value(a)) if dtype is None else array_of(a, dtype_of(dtype))
    result = _converted(array, dtype, order)
    if copy is False and result is not a:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    if result is not array:
        return result
    return array.copy(order) if copy and is_array(a) else array


_COPIES = {
    np._CopyMode.ALWAYS: True,
    np._CopyMode.IF_NEEDED: None,
    np._CopyMode.NEVER: False,
}


def _converted(array: Any, dtype: object, order: str) -> Any:
    kind = array._value.type
    wanted = kind.dtype if dtype is None else dtype_of(dtype)
    if wanted != kind.dtype:
        return array.astype(wanted, order=order)
    return array if order == "A" or is_in_order(kind, order) else array.copy(order)


def array(
    object: object,
    dtype: object = None,
    *,
    copy: object = True,
    order: object = "K",
    subok: object = False,
    ndmin: Any = 0,
    ndmax: object = 0,
) -> Any:
    """As ``np.array``. There are so many parameters because they are NumPy's."""
    if ndmax:
        raise refuse(NUMPY_OPTION, "np.array with ndmax=")
    ndmin = operator.index(ndmin)
    result = asarray(object, dtype, order, copy=copy)
    missing = ndmin - result.ndim
    return result.reshape((1,) * missing + result.shape) if missing > 0 else result


def _contiguous(order: str) -> Callable[..., Any]:
    """``np.ascontiguousarray`` or ``np.asfortranarray``: of rank 1 at least."""

    def convert(a: object, dtype: object = None) -> object:
        result = asarray(a, dtype, order)
        return result.reshape(1) if result.ndim == 0 else result

    return convert


def copy(a: object, order: str = "K", subok: bool = False) -> object:
    return wrap(array_value(a)).copy(order)


_CREATION: dict[Any, Callable[..., Any]] = {
    np.zeros: zeros,
    np.ones: ones,
    np.empty: empty,
    np.full: full,
    np.zeros_like: zeros_like,
    np.ones_like: ones_like,
    np.empty_like: empty_like,
    np.full_like: full_like,
    np.arange: arange,
    np.linspace: linspace,
    np.eye: eye,
    np.identity: identity,
    np.array: array,
    np.asarray: asarray,
    np.asanyarray: asarray,
    np.ascontiguousarray: _contiguous("C"),
    np.asfortranarray: _contiguous("F"),
    np.copy: copy,
}
CREATION = {function: _with_options(function, ours) for function, ours in _CREATION.items()}
