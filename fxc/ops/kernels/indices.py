"""Elements of arrays at computed indices, and where a mask holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..foreign_ufuncs import ufunc_named
from .copies import unshared
from .factories import empty


def _wrap_index(index: object, size: int, axis: int | None) -> Any:
    """The index counted from the front, as NumPy's kind of index; without axis of ``x.flat``."""
    places = np.asarray(index).astype(np.intp)
    outside = (places < -size) | (places >= size)
    if outside.any():
        of = f"size {size}" if axis is None else f"axis {axis} with size {size}"
        raise IndexError(f"index {places[outside].flat[0]} is out of bounds for {of}")
    wrapped = np.where(places < 0, places + size, places)
    return wrapped if isinstance(index, np.ndarray) else wrapped[()]


def _axes_first(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """The view of ``x`` with the indexed axes in front."""
    return np.moveaxis(x, axes, range(len(axes)))


def _gather(
    x: np.ndarray,
    indices: tuple[Any, ...],
    axes: tuple[int, ...],
    place: int,
    layout: tuple[int, ...] | None,
) -> np.ndarray:
    found = np.asarray(_axes_first(x, axes)[indices])
    count = np.broadcast(*indices).ndim
    moved = np.moveaxis(found, range(count), range(place, place + count))
    result: np.ndarray = empty(moved.shape, x.dtype, layout)
    result[...] = moved
    return result


def _targets(
    x: np.ndarray, source: Any, indices: tuple[Any, ...], axes: tuple[int, ...], place: int
) -> tuple[np.ndarray, tuple[Any, ...], Any]:
    """A view of ``x``, flat indices into its first axes, and a source to match: for NumPy itself,
    whose order for index arrays of several axes depends on their strides.
    """
    view = _axes_first(x, axes)
    flat = tuple(np.ravel(each) for each in np.broadcast_arrays(*indices))
    if source is None or np.ndim(source) == 0:
        return view, flat, source
    shape = np.broadcast_shapes(*map(np.shape, indices))
    rest = view.shape[len(axes) :]
    count = len(shape)
    extra = max(0, np.ndim(source) - len(rest) - count)  # axes of size 1 that assignment drops
    source = np.reshape(source, np.shape(source)[extra:])
    whole = np.broadcast_to(source, (*rest[:place], *shape, *rest[place:]))
    moved = np.moveaxis(whole, range(place, place + count), range(count))
    return view, flat, moved.reshape((flat[0].size, *rest))


def _index_put(
    x: np.ndarray, source: object, indices: tuple[Any, ...], axes: tuple[int, ...], place: int
) -> np.ndarray:
    result = unshared(x)
    view, flat, values = _targets(result, source, indices, axes, place)
    view[flat] = values
    return result


def _index_reduce(
    x: np.ndarray,
    source: object,
    indices: tuple[Any, ...],
    axes: tuple[int, ...],
    place: int,
    ufunc: str,
) -> np.ndarray:
    result = unshared(x)
    view, flat, values = _targets(result, source, indices, axes, place)
    operands = () if values is None else (values,)
    ufunc_named(ufunc).at(view, flat, *operands)
    return result


def _masked_put(x: np.ndarray, mask: Any, source: object) -> np.ndarray:
    result = unshared(x)
    result[mask] = source
    return result


KERNELS: dict[str, Callable[..., Any]] = {
    "wrap_index": _wrap_index,
    "gather": _gather,
    "index_put": _index_put,
    "index_reduce": _index_reduce,
    "masked_put": _masked_put,
}
