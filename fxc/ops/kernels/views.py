"""Views of arrays, and the operators that replace what a view shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from fxc.ir.graph import SliceSpec
from fxc.ir.later import import_later

from .copies import strided_copy, unshared

# See Note [Rooms with one door].
rows_of = import_later("fxc.ops.metas.views", "rows_of")


def _reshape_scatter(x: Any, source: Any, shape: Sequence[int]) -> np.ndarray:
    """Every element is replaced, also where the layout of ``x`` allows no view of this shape."""
    result = unshared(x)
    result[...] = np.broadcast_to(source, shape).reshape(x.shape)
    return result


def _python_slice(spec: SliceSpec | Sequence[int]) -> slice:
    """The Python slice of one normalised axis."""
    if isinstance(spec, SliceSpec):
        start, stop, step = int(spec.start), int(spec.stop), int(spec.step)  # type: ignore[arg-type]
    else:
        start, stop, step = spec
    if step > 0:
        return slice(start, stop, step)
    if start < 0:  # a negative step that starts before the first element: nothing
        return slice(0, 0, step)
    return slice(start, stop if stop >= 0 else None, step)


def _field(x: Any, names: tuple[str, ...]) -> Any:
    for name in names:
        x = x[name]
    return x


def _fields(x: Any, names: tuple[str, ...]) -> Any:
    return x[list(names)]


def _bitcast(x: Any, dtype: np.dtype) -> Any:
    return x.view(dtype)


def _reinterpret(x: Any, dtype: np.dtype) -> Any:
    return strided_copy(x.view(dtype)) if isinstance(x, np.ndarray) else x.view(dtype)


def _regroup_bytes_copy(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Of an array that lies otherwise than NumPy's, too."""
    is_dense = x.shape[-1] == 1 or x.strides[-1] == x.itemsize
    return strided_copy((x if is_dense else np.array(x, order="C")).view(dtype))


def _regroup_bytes_scatter(x: np.ndarray, source: object, dtype: np.dtype) -> np.ndarray:
    result = unshared(x)
    bytes_ = np.empty((*x.shape[:-1], x.shape[-1] * x.itemsize // dtype.itemsize), dtype)
    bytes_[...] = source
    result[...] = bytes_.view(x.dtype)
    return result


def _as_strided(
    x: np.ndarray, shape: Sequence[int], steps: Sequence[int], writeable: bool
) -> np.ndarray:
    rows = rows_of(steps, x.ndim, len(shape))
    strides = [
        sum(row[axis] * stride for row, stride in zip(rows, x.strides, strict=True))
        for axis in range(len(shape))
    ]
    return as_strided(x, shape, strides, writeable=writeable)


def _as_strided_scatter(
    x: np.ndarray, source: object, shape: Sequence[int], steps: Sequence[int], writeable: bool
) -> np.ndarray:
    result = unshared(x)
    _as_strided(result, shape, steps, writeable=True)[...] = source
    return result


def _slice(x: np.ndarray, index: tuple[SliceSpec, ...]) -> Any:
    place: Any = (*map(_python_slice, index), Ellipsis)
    return x[place]


def _select(x: np.ndarray, axis: int, index: int) -> Any:
    # With the Ellipsis the element of a 1-d array is a rank-0 view and not a scalar.
    place: Any = (*(slice(None),) * axis, index, Ellipsis)
    return x[place]


def _dynamic_select(x: np.ndarray, index: Any, axis: int) -> Any:
    return _select(x, axis, int(index))


def _expand_dims(x: np.ndarray, axes: tuple[int, ...]) -> Any:
    # As x[None] does it, with strides of 0. np.expand_dims is a reshape.
    rank = np.ndim(x) + len(axes)
    new = {axis % rank for axis in axes}
    place: Any = tuple(None if axis in new else slice(None) for axis in range(rank))
    return np.asarray(x)[place]


def _transpose(x: np.ndarray, axes: tuple[int, ...]) -> Any:
    return np.transpose(x, axes)


def _reshape(x: np.ndarray, shape: tuple[int, ...]) -> Any:
    return np.reshape(x, shape)


def _broadcast(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    model = np.broadcast_to(x, shape)  # raises if it does not fit
    found: np.ndarray = np.broadcast_arrays(x, model, 0)[0]  # NumPy 2.0: no x if shapes differ
    return found


KERNELS: dict[str, Callable[..., Any]] = {
    "slice": _slice,
    "select": _select,
    "dynamic_select": _dynamic_select,
    "transpose": _transpose,
    "expand_dims": _expand_dims,
    "reshape": _reshape,
    "reshape_scatter": _reshape_scatter,
    "broadcast": _broadcast,
    "field": _field,
    "array_field": _field,
    "fields": _fields,
    "bitcast": _bitcast,
    "regroup_bytes": _bitcast,
    "regroup_bytes_copy": _regroup_bytes_copy,
    "regroup_bytes_scatter": _regroup_bytes_scatter,
    "reinterpret": _reinterpret,
    "as_strided": _as_strided,
    "as_strided_scatter": _as_strided_scatter,
}
