"""Metas of views, of their copies and of their inverses.

A view of a scalar is a view of the fresh array that NumPy makes of it, or the scalar itself where
NumPy gives that back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fxc.ir.errors import InternalError
from fxc.ir.graph import SliceSpec
from fxc.ir.symbols import Dim, decide, guard, hint, minimum
from fxc.ir.types import PART_DTYPES, ArrayType, ScalarType, Type, array_type

from ..table import TABLE, Operator
from .layout import fresh_strides, reshape_strides, resolve_shape
from .probing import Operand, ask_bound, fail_in_numpy, keyed, type_of
from .shapes import (
    broadcasts_to,
    has_hints,
    is_one,
    normalize_axes_tuple,
    normalize_axis,
    show_shape,
    slice_length,
)

View = Callable[..., Type]


def _as_array(x: Operand) -> ArrayType:
    kind = type_of(x)
    return kind if isinstance(kind, ArrayType) else ArrayType(kind.dtype, (), ())


def _view(x: ArrayType, shape: list[Dim], strides: list[Dim], *, writeable: bool) -> ArrayType:
    kind = array_type(x.dtype, shape, strides)
    return kind if writeable else replace(kind, writeable=False)


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
    writeable = kind.writeable if isinstance(kind, ArrayType) else True
    return ArrayType(kind.dtype, wanted, strides, writeable)


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
    if not broadcasts_to(kind.shape, shape):
        fail_in_numpy(np.broadcast_to, kind, shape)
    strides: list[Dim] = [0] * extra
    for dim, stride, wanted in zip(kind.shape, kind.strides, shape[extra:], strict=True):
        repeats = dim != wanted and is_one(dim)
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
    parts = array_type(PART_DTYPES[kind.dtype], kind.shape, kind.strides)
    return replace(parts, writeable=kind.writeable)


def copy_meta(op: Operator, view: View) -> View:
    """The meta of ``x_copy``: an array of its own with the strides the view would have."""
    of_copy = _reshape_copy if op.group == "reshape" else view

    def meta(x: Operand, *rest: Any) -> Type:
        kind = of_copy(_as_array(x), *rest)  # of a scalar too the copy is an array
        assert isinstance(kind, ArrayType)
        return replace(kind, writeable=True)

    return meta


def scatter_meta(op: Operator, view: View) -> View:
    """The meta of ``x_scatter``: the base, after something was written to a view of it."""
    of_copy = _reshape_copy if op.group == "reshape" else view

    def meta(x: Operand, source: Operand, *rest: Any) -> Type:
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
}
