"""Other shapes of arrays, and their real and imaginary parts: views where NumPy makes some."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from functools import cache
from typing import Any

import numpy as np

from fxc.ir.error_kinds import SEVERAL_KINDS
from fxc.ir.graph import Value
from fxc.ir.size_guards import Guard, assuming
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.metas.layout import is_c_ordered, is_f_ordered, iteration_order
from fxc.ops.metas.probing import fail_in_numpy
from fxc.ops.metas.reshaping import reshape_strides, resolve_shape, strides_anew
from fxc.ops.metas.shapes import broadcast_shapes, is_one, normalize_axes_tuple, same_shape

from ..numbers.dims import axis_number, dims_of
from ..numbers.traced_int import wrap_dim
from ..session.refusing import VIEWS_BY_SIZES, refusal
from ..session.session import current
from ..values.operands import Traced, TracedValue, array_value, kind_of, record, wrap
from .dtypes import order_of
from .indexing import assign

# Note [Views or copies]
# ``reshape``, ``ravel``, ``asarray`` and ``astype(copy=False)`` give a view or a copy by the
# strides of the moment. The strides are known (types carry them), so capture decides, by guards
# where strides are symbolic, and records either the view operator or a copy and the view of it.
# Where counted sizes decide, ``reshape`` may give a view in one iteration of a loop and a copy in
# the next. It is a copy then, of which nobody may see whether it is one: a write to it or to the
# array, or both as results, begin the capture again, with sizes that are checked (VIEWS_BY_SIZES).
# Outside of loops they are always checked where a view may have another order than C's: all that
# is made of it takes that order.


def itself(x: object, value: Value) -> Any:
    """``x`` where NumPy gives the array itself; a new array where ``x`` is none."""
    return x if isinstance(x, TracedValue) and x._value is value else wrap(value)


def _is_scalar(x: object) -> bool:
    """Whether ``x`` is a number of NumPy's, which has such a method itself."""
    if not isinstance(x, TracedValue):
        if isinstance(x, Traced):
            raise refusal(
                SEVERAL_KINDS,
                "the shape of a number of several types by conditions is not captured",
            )
        return False
    return isinstance(x._value.type, ScalarType) and not x._value.type.weak


def is_in_order(kind: ArrayType, order: str) -> bool:
    """Whether an array has its elements in this order already."""
    match order:
        case "C":
            return is_c_ordered(kind)
        case "F":
            return is_f_ordered(kind)
        case "A":
            return is_c_ordered(kind) or is_f_ordered(kind)
        case _:
            return True


def reshape(x: object, shape: object, order: str = "C", copy: object = None) -> Any:
    value, order = array_value(x), order_of(order)
    if order in ("A", "F"):
        kind = kind_of(value)
        if order == "F" or (is_f_ordered(kind) and not is_c_ordered(kind)):
            wanted = resolve_shape(kind, dims_of(shape))
            return transpose(reshape(transpose(x), wrap_dims(wanted[::-1]), "C", copy))
    elif order != "C":
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got '{order}')")
    dims = dims_of(shape)
    wanted = resolve_shape(value.type, dims)
    if -1 in dims and 1 in wanted and wanted == kind_of(value).shape and copy is not True:
        value = _with_new_strides(value)
    if not wanted and not kind_of(value).rank and _is_scalar(x):
        return x
    doubts: list[Guard] = []
    session = current()
    shows_order = len(wanted) > 1 and not session.in_loop(0)
    may_doubt = copy is None and not shows_order and VIEWS_BY_SIZES not in session.requests
    with assuming(doubts.append) if may_doubt else nullcontext():
        is_view = copy is not True and reshape_strides(value.type, wanted) is not None
    if is_view and not doubts:
        return record("reshape", value, wanted)
    if copy is False:
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    copied = record("copy", value, order="C")._value
    if doubts:
        session.aliases.may_be_view(copied, value)
    return record("reshape", copied, wanted)


def _with_new_strides(value: Value) -> Value:
    """An array whose own shape NumPy gives it anew: axes of length 1 get other strides."""
    kind = kind_of(value)
    if strides_anew(kind, kind.shape) == kind.strides:
        return value
    return current().value("reshape", value, (*kind.shape, 1))


def wrap_dims(dims: Sequence[Dim]) -> tuple[Any, ...]:
    """A shape for the user."""
    return tuple(map(wrap_dim, dims))


def _flat_source(x: object, order: str) -> object:
    """The array whose elements in C order are those of ``x`` in ``order``."""
    kind, order = kind_of(array_value(x)), order_of(order)
    if order == "C" or (order != "F" and is_c_ordered(kind)):
        return x
    if order == "F" or is_f_ordered(kind):
        return transpose(x)
    return transpose(x, iteration_order(kind.rank, [kind])) if order == "K" else x


def ravel(x: object, order: str = "C") -> Any:
    """As ``np.ravel``: contiguous, so that of an array with gaps it is a copy."""
    source = _flat_source(x, order)
    return reshape(source, -1) if is_c_ordered(kind_of(array_value(source))) else _flat_copy(source)


def flatten(x: object, order: str = "C") -> object:
    """As ``ndarray.flatten``: always a copy."""
    return _flat_copy(_flat_source(x, order))


def _flat_copy(x: object) -> object:
    return reshaped_copy(x, (kind_of(array_value(x)).size,))


def reshaped_copy(x: object, shape: Sequence[Dim]) -> object:
    """A new array with the elements in C order: no view of a copy, as reshape makes it."""
    copied = record("copy", array_value(x), order="C")._value
    return record("reshape_copy", copied, tuple(shape))


def transpose(x: object, axes: object = None) -> Any:
    value = array_value(x)
    rank = kind_of(value).rank
    if not rank and _is_scalar(x) and axes in (None, ()):
        return x
    if axes is None:
        return record("transpose", value, tuple(reversed(range(rank))))
    given = axes if isinstance(axes, tuple | list | np.ndarray) else (axes,)
    wanted = tuple(map(axis_number, given))
    is_order = len(wanted) == rank == len({axis % rank for axis in wanted})
    if not is_order or not _are_axes(wanted, rank):
        fail_in_numpy(np.transpose, value.type, wanted)
    return record("transpose", value, tuple(axis % rank for axis in wanted))


def swapaxes(x: object, axis1: object, axis2: object) -> object:
    value = array_value(x)
    rank = kind_of(value).rank
    axes = list(range(rank))
    first, second = axis_number(axis1), axis_number(axis2)
    if not _are_axes((first, second), rank):
        fail_in_numpy(np.swapaxes, value.type, first, second)
    axes[first], axes[second] = axes[second], axes[first]
    return record("transpose", value, tuple(axes))


def _are_axes(numbers: Iterable[int], rank: int) -> bool:
    return all(-rank <= number < rank for number in numbers)


def _axes(axes: object, rank: int) -> tuple[int, ...]:
    given = axes if isinstance(axes, tuple | list | np.ndarray) else (axes,)
    return normalize_axes_tuple([axis_number(axis) for axis in given], rank)


def squeeze(x: object, axis: object = None) -> object:
    value = array_value(x)
    kind = kind_of(value)
    if not kind.rank and _is_scalar(x) and axis in (None, 0, -1, ()):
        return x
    if axis is None:
        ones = tuple(a for a, d in enumerate(kind.shape) if is_one(d))
        return record("squeeze", value, ones) if ones else itself(x, value)
    if kind.rank == 0 and axis in (0, -1):
        return itself(x, value)
    axes = _axes(axis, kind.rank)
    if not all(is_one(kind.shape[a]) for a in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return record("squeeze", value, tuple(sorted(axes)))


def diagonal(x: object, offset: object = 0, axis1: object = 0, axis2: object = 1) -> object:
    """As ``np.diagonal``: a read-only view."""
    value = array_value(x)
    return record("diagonal", value, axis_number(offset), axis_number(axis1), axis_number(axis2))


def broadcast_to(x: object, shape: object) -> Any:
    """As ``np.broadcast_to``: a read-only view."""
    return record("broadcast_to", array_value(x), dims_of(shape))


def broadcast_arrays(*args: object, subok: bool = False) -> tuple[Any, ...]:
    """As ``np.broadcast_arrays``: views, which can be written but should not be."""
    values = [array_value(x) for x in args]
    shape = broadcast_shapes(*(value.type.shape for value in values))
    have_it = [same_shape(value.type.shape, shape) for value in values]
    if _gives_views_alone() and not all(have_it):
        return tuple(_view_that_warns(value, shape) for value in values)
    return tuple(
        itself(x, value) if has_it else _view_that_warns(value, shape)
        for x, value, has_it in zip(args, values, have_it, strict=True)
    )


@cache
def _gives_views_alone() -> bool:
    """Whether ``np.broadcast_arrays`` gives a view of an array of the common shape, as 2.0 does."""
    array = np.empty(2)
    return np.broadcast_arrays(array, 1.0)[0] is not array


def _view_that_warns(value: Value, shape: Sequence[Dim]) -> object:
    """Of which NumPy warns where it is written."""
    view = record("broadcast", value, shape)
    current().aliases.warned.add(view._value)
    return view


# ------------------------------------------------------------------ real and imaginary parts


def real_part(x: TracedValue) -> Any:
    """As ``x.real`` of an array: a real array itself."""
    return record("real", x._value) if _is_complex(x) else x


def imaginary_part(x: TracedValue) -> Any:
    """As ``x.imag`` of an array: of a real one, new zeros that are read-only."""
    if _is_complex(x):
        return record("imag", x._value)
    kind = x._value.type
    assert isinstance(kind, ArrayType)
    layout = tuple(reversed(range(kind.rank))) if is_f_ordered(kind) and kind.rank > 1 else None
    zeros = record("zeros", kind.shape, kind.dtype, layout=layout)
    return record("broadcast_to", zeros._value, kind.shape)


def assign_part(x: TracedValue, name: str, source: object) -> None:
    """As ``x.real = source`` or ``x.imag = source``."""
    if name == "imag" and not _is_complex(x):
        raise TypeError("array does not have imaginary part to set")
    part = real_part(x) if name == "real" else imaginary_part(x)
    assign(part._value, source if _are_parts_checked() else wrap(array_value(source)))


@cache
def _are_parts_checked() -> bool:
    """Whether this NumPy assigns a number to parts as to elements, as from 2.5 on: it must fit.
    Before, it was cast, as an array is.
    """
    try:
        np.zeros(1, np.int8).real = 300
    except OverflowError:
        return True
    return False


def _is_complex(x: TracedValue) -> bool:
    return x._value.type.dtype.kind == "c"
