"""Metas of views, of their copies and of their inverses.

A view of a scalar is a view of the fresh array that NumPy makes of it, or the scalar itself where
NumPy gives that back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from fxc.ir.bounds import decide
from fxc.ir.boxed_dtypes import field_of
from fxc.ir.dtypes import alignment
from fxc.ir.errors import InternalError
from fxc.ir.graph import SliceSpec
from fxc.ir.records import replace
from fxc.ir.size_functions import hint, minimum
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, ScalarType, Type, array_type, known_dtype, part_dtype

from ..operators import Operator
from ..table import TABLE
from .layout import fresh_strides
from .probing import Operand, ask_bound, fail_in_numpy, keyed, type_of
from .reshaping import reshape_strides, resolve_shape
from .shapes import (
    broadcasts_to,
    has_hints,
    is_negative,
    is_one,
    is_too_big,
    normalize_axes_tuple,
    normalize_axis,
    show_shape,
    slice_length,
    stretches,
)

View = Callable[..., Type]
T = TypeVar("T")


def _as_array(x: Operand) -> ArrayType:
    kind = type_of(x)
    return kind if isinstance(kind, ArrayType) else ArrayType(kind.dtype, (), ())


def _view(x: ArrayType, shape: list[Dim], strides: list[Dim], *, writeable: bool) -> ArrayType:
    kind = array_type(x.dtype, shape, strides)
    if writeable and x.aligned:
        return kind
    return replace(kind, writeable=writeable, aligned=x.aligned)


def slice_(x: Operand, index: tuple[SliceSpec, ...]) -> Type:
    """``x[a:b:c, d:e, ...]``; axes after the last of ``index`` are taken whole."""
    kind = _as_array(x)
    if len(index) > kind.rank:
        raise IndexError(
            f"too many indices for array: array is {kind.rank}-dimensional, "
            f"but {len(index)} were indexed"
        )
    shape, strides = list(kind.shape), list(kind.strides)
    for axis, spec in enumerate(index):
        shape[axis] = slice_length(spec)
        strides[axis] = strides[axis] * spec.step
    return _view(kind, shape, strides, writeable=kind.writeable)


def select(x: Operand, axis: int, index: Dim) -> Type:
    """``x[..., index, ...]`` as a view: of rank 0 where ``x`` is of rank 1."""
    kind = _as_array(x)
    place = normalize_axis(axis, kind.rank)
    _check_index(index, kind.shape[place], place)
    shape, strides = list(kind.shape), list(kind.strides)
    del shape[place], strides[place]
    return _view(kind, shape, strides, writeable=kind.writeable)


def dynamic_select(x: Operand, index: Operand, axis: int) -> Type:
    """As ``select``, at an index that is known at run time and in bounds."""
    if type_of(index).rank or type_of(index).dtype.kind not in "iu":
        raise TypeError("only integer scalar arrays can be converted to a scalar index")
    kind = _as_array(x)
    place = normalize_axis(axis, kind.rank)
    shape, strides = list(kind.shape), list(kind.strides)
    del shape[place], strides[place]
    return _view(kind, shape, strides, writeable=kind.writeable)


def _check_index(index: Dim, size: Dim, axis: int) -> None:
    """Raise ``IndexError`` for an index out of bounds; that of a loop is checked when it runs."""
    for bound, relation in ((size, "<"), (-size, ">=")):
        known = decide(index, relation, bound)
        if known is None and not has_hints(index, bound):
            continue
        if not guard(index, relation, bound):
            raise IndexError(
                f"index {hint(index)} is out of bounds for axis {axis} with size {hint(size)}"
            )


def transpose(x: Operand, axes: tuple[int, ...]) -> Type:
    """``np.transpose``; axes may count from the back."""
    kind = type_of(x)
    if isinstance(kind, ScalarType):
        return _of_scalar("transpose", x, axes)
    if len(axes) != kind.rank or len({a % max(kind.rank, 1) for a in axes}) != kind.rank:
        fail_in_numpy(np.transpose, kind, axes)
    order = [normalize_axis(axis, kind.rank) for axis in axes]
    shape, strides = [kind.shape[a] for a in order], [kind.strides[a] for a in order]
    return _view(kind, shape, strides, writeable=kind.writeable)


def reshape(x: Operand, shape: tuple[Dim, ...]) -> Type:
    """``x.reshape`` where it is a view; capture asks ``reshape_strides`` before."""
    found = _reshaped(x, shape)
    if found is None:
        raise InternalError(f"reshape of {type_of(x)} to {shape} is no view")
    return found


def _reshape_copy(x: Operand, shape: tuple[Dim, ...]) -> Type:
    found = _reshaped(x, shape)
    if found is not None:
        return found
    kind = type_of(x)
    wanted = resolve_shape(kind, shape)
    return ArrayType(kind.dtype, wanted, fresh_strides(wanted, kind.dtype.itemsize))


def _reshaped(x: Operand, shape: tuple[Dim, ...]) -> Type | None:
    kind = type_of(x)
    wanted = resolve_shape(kind, shape)
    if isinstance(kind, ScalarType) and not kind.weak and not wanted:
        return kind
    strides = reshape_strides(kind, wanted)
    if strides is None:
        return None
    if not isinstance(kind, ArrayType):
        return ArrayType(kind.dtype, wanted, strides)
    return replace(kind, shape=wanted, strides=strides)


def expand_dims(x: Operand, axes: tuple[int, ...]) -> Type:
    """``np.expand_dims``: axes are places in the result."""
    kind = _as_array(x)
    rank = kind.rank + len(axes)
    places = _distinct(axes, rank, "repeated axis")
    shape: list[Dim] = [1] * rank
    strides: list[Dim] = [0] * rank
    kept = [axis for axis in range(rank) if axis not in places]
    for axis, dim, stride in zip(kept, kind.shape, kind.strides, strict=True):
        shape[axis], strides[axis] = dim, stride
    return _view(kind, shape, strides, writeable=kind.writeable)


def _distinct(axes: tuple[int, ...], rank: int, text: str) -> tuple[int, ...]:
    places = tuple(normalize_axis(axis, rank) for axis in axes)
    if len(set(places)) != len(places):
        raise ValueError(text)
    return places


def squeeze(x: Operand, axes: tuple[int, ...]) -> Type:
    """``np.squeeze`` of the given axes, which must be of size 1."""
    kind = type_of(x)
    if isinstance(kind, ScalarType):
        return _of_scalar("squeeze", x, axes)
    places = normalize_axes_tuple(axes, kind.rank)
    if not all(is_one(kind.shape[place]) for place in places):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    kept = [axis for axis in range(kind.rank) if axis not in places]
    shape, strides = [kind.shape[a] for a in kept], [kind.strides[a] for a in kept]
    return _view(kind, shape, strides, writeable=kind.writeable)


def _of_scalar(name: str, x: Operand, axes: tuple[int, ...]) -> Type:
    (found,) = ask_bound(TABLE[name], (keyed(x), axes))
    return found


def broadcast_to(x: Operand, shape: tuple[Dim, ...]) -> Type:
    """``np.broadcast_to``: read-only, with stride 0 along the axes that repeat."""
    kind = _as_array(x)
    extra = len(shape) - kind.rank
    is_possible = not any(map(is_negative, shape)) and broadcasts_to(kind.shape, shape)
    if not is_possible or is_too_big(shape, kind.dtype.itemsize):
        fail_in_numpy(np.broadcast_to, kind, shape)
    strides: list[Dim] = [0] * extra
    for dim, stride, wanted in zip(kind.shape, kind.strides, shape[extra:], strict=True):
        repeats = stretches(dim, wanted)
        strides.append(0 if repeats else stride)
    return _view(kind, list(shape), strides, writeable=False)


def broadcast(x: Operand, shape: tuple[Dim, ...]) -> Type:
    """As ``broadcast_to``, but as writeable as ``x``: what ``np.broadcast_arrays`` gives."""
    kind = broadcast_to(x, shape)
    assert isinstance(kind, ArrayType)
    return replace(kind, writeable=_as_array(x).writeable)


def diagonal(x: Operand, offset: int, axis1: int, axis2: int) -> Type:
    """``np.diagonal``: a read-only view, the diagonal is its last axis."""
    kind = _as_array(x)
    if kind.rank < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    first, second = normalize_axis(axis1, kind.rank), normalize_axis(axis2, kind.rank)
    if first == second:
        raise ValueError("axis1 and axis2 cannot be the same")
    if not -(2**31) <= offset < 2**31:
        fail_in_numpy(np.diagonal, kind, offset, axis1, axis2)
    rows, columns = kind.shape[first], kind.shape[second]
    if offset >= 0:
        columns = columns - offset
    else:
        rows = rows + offset
    length = minimum(rows, columns)
    if guard(length, "<", 0):
        length = 0
    kept = [axis for axis in range(kind.rank) if axis not in (first, second)]
    shape, strides = [kind.shape[a] for a in kept], [kind.strides[a] for a in kept]
    step = kind.strides[first] + kind.strides[second]
    return _view(kind, [*shape, length], [*strides, step], writeable=False)


def part(x: Operand) -> Type:
    """``x.real`` and ``x.imag`` of a complex array: floats with the strides of ``x``."""
    kind = _as_array(x)
    if kind.dtype.kind != "c":
        raise InternalError(f"the parts of {kind} are no views")
    parts = array_type(part_dtype(kind.dtype), kind.shape, kind.strides)
    return replace(parts, writeable=kind.writeable, aligned=kind.aligned)


def field(x: Operand, names: tuple[str, ...]) -> Type:
    """``x["a"]`` of records: a view of what each has there."""
    kind = _as_array(x)
    found = field_of(kind.dtype, names)
    size = alignment(found.dtype)
    bytes_ = (found.begin, kind.dtype.itemsize, *found.strides)
    is_aligned = size == 1 or (kind.aligned and not any(each % size for each in bytes_))
    shape, strides = (*kind.shape, *found.shape), (*kind.strides, *found.strides)
    made = array_type(known_dtype(found.dtype), shape, strides)
    return replace(made, writeable=kind.writeable, aligned=is_aligned)


def fields(x: Operand, names: tuple[str, ...]) -> Type:
    """``x[["a", "b"]]`` of records: a view of them as records of these fields."""
    kind = _as_array(x)
    found = kind.dtype[list(names)]
    is_aligned = kind.aligned or alignment(found) == 1
    made = array_type(known_dtype(found), kind.shape, kind.strides)
    return replace(made, writeable=kind.writeable, aligned=is_aligned)


def bitcast(x: Operand, dtype: np.dtype) -> Type:
    """``x.view(dtype)`` with elements of the same size."""
    kind = _as_array(x)
    if kind.dtype.itemsize != dtype.itemsize:
        raise InternalError(f"{kind} has elements of another size than {dtype}")
    made = array_type(dtype, kind.shape, kind.strides)
    return replace(made, writeable=kind.writeable, aligned=kind.aligned)


def regroup_bytes(x: Operand, dtype: np.dtype) -> Type:
    """``x.view(dtype)`` with elements of another size: along the last axis, without gaps."""
    kind = _as_array(x)
    if kind.rank and not _ends_dense(kind):
        raise ValueError(
            "To change to a dtype of a different size, the last axis must be contiguous"
        )
    shape = _regrouped(kind, dtype)
    strides = [*kind.strides[:-1], dtype.itemsize]
    return _view(replace(kind, dtype=dtype), shape, strides, writeable=kind.writeable)


def _regroup_bytes_copy(x: Operand, dtype: np.dtype) -> Type:
    """Of an array that lies otherwise too: it may stand for one that had no gaps."""
    kind = _as_array(x)
    if _ends_dense(kind):
        return regroup_bytes(x, dtype)
    return array_type(dtype, _regrouped(kind, dtype))


def _ends_dense(kind: ArrayType) -> bool:
    """Whether the elements along the last axis lie without gaps."""
    dense = guard(kind.strides[-1], "==", kind.dtype.itemsize) or is_one(kind.shape[-1])
    return dense or any(guard(size, "==", 0) for size in kind.shape)


def _regrouped(kind: ArrayType, dtype: np.dtype) -> list[Dim]:
    """The shape of an array whose bytes are taken for elements of another size."""
    if not kind.rank:
        raise ValueError(
            "Changing the dtype of a 0d array is only supported if the itemsize is unchanged"
        )
    size = kind.shape[-1] * kind.dtype.itemsize
    if dtype.itemsize > kind.dtype.itemsize and not guard(size % dtype.itemsize, "==", 0):
        raise ValueError(
            "When changing to a larger dtype, its size must be a divisor of the total size in "
            "bytes of the last axis of the array."
        )
    return [*kind.shape[:-1], size // dtype.itemsize]


def as_strided(x: Operand, shape: tuple[Dim, ...], steps: tuple[Dim, ...], writeable: bool) -> Type:
    """A view whose element at ``i`` is ``x[s @ i]``, for the matrix ``s`` whose rows, one for each
    axis of ``x``, follow each other in ``steps``. What it reaches has been checked.
    """
    kind = _as_array(x)
    rows = rows_of(steps, kind.rank, len(shape))
    strides: list[Dim] = [0] * len(shape)
    for row, stride in zip(rows, kind.strides, strict=True):
        strides = [total + step * stride for total, step in zip(strides, row, strict=True)]
    return _view(kind, list(shape), strides, writeable=writeable and kind.writeable)


def rows_of(steps: Sequence[T], rows: int, columns: int) -> list[tuple[T, ...]]:
    """The rows of the matrix that follow each other in ``steps``."""
    if len(steps) != rows * columns:
        raise InternalError(f"{len(steps)} steps for {rows} by {columns} axes")
    return [tuple(steps[row * columns : (row + 1) * columns]) for row in range(rows)]


def copy_meta(op: Operator, view: View) -> View:
    """The meta of ``x_copy``: an array of its own with the strides the view would have."""
    of_copy = _COPIES.get(op.group, view)

    def meta(x: Operand, *rest: object) -> Type:
        kind = of_copy(_as_array(x), *rest)  # of a scalar too the copy is an array
        assert isinstance(kind, ArrayType)
        return replace(kind, writeable=True)

    return meta


def scatter_meta(op: Operator, view: View) -> View:
    """The meta of ``x_scatter``: the base, after something was written to a view of it."""
    of_copy = _COPIES.get(op.group, view)

    def meta(x: Operand, source: Operand, *rest: object) -> Type:
        check_assignable(type_of(source).shape, of_copy(x, *rest).shape)
        return type_of(x)

    return meta


def _stripped(shape: tuple[Dim, ...], rank: int) -> tuple[Dim, ...]:
    """``shape`` without the leading ones that an assignment drops."""
    while len(shape) > rank and is_one(shape[0]):
        shape = shape[1:]
    return shape


def check_assignable(source: tuple[Dim, ...], target: tuple[Dim, ...]) -> None:
    """Raise NumPy's ``ValueError`` if an assignment cannot broadcast its source."""
    given = _stripped(source, len(target))
    if not broadcasts_to(given, target):
        raise ValueError(
            f"could not broadcast input array from shape {show_shape(given)} "
            f"into shape {show_shape(target)}"
        )


# Of copies that there are where the strides allow no view.
_COPIES: dict[str, View] = {"reshape": _reshape_copy, "regroup_bytes": _regroup_bytes_copy}

METAS: dict[str, View] = {
    "slice": slice_,
    "select": select,
    "dynamic_select": dynamic_select,
    "transpose": transpose,
    "reshape": reshape,
    "expand_dims": expand_dims,
    "squeeze": squeeze,
    "broadcast_to": broadcast_to,
    "broadcast": broadcast,
    "diagonal": diagonal,
    "real": part,
    "imag": part,
    "field": field,
    "array_field": field,
    "fields": fields,
    "bitcast": bitcast,
    "regroup_bytes": regroup_bytes,
    "as_strided": as_strided,
}
