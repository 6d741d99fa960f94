"""Metas of functions that NumPy itself runs: medians, searches, transforms."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from fxc.ir.bounds import decide
from fxc.ir.error_kinds import NUMPY_OPTION
from fxc.ir.errors import uncapturable
from fxc.ir.later import import_later
from fxc.ir.size_functions import counted_size
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, ScalarType, Type, array_type, ordered_strides, stride_order

from ..table import TABLE
from .layout import fresh_strides
from .probing import Operand, ask_bound, fail_in_numpy, key_of, quietly, sample, type_of
from .shapes import Shape, normalize_axis, same_shape


def _fresh(dtype: np.dtype, shape: Shape) -> Type:
    """A new array in C order, or a scalar."""
    if not shape:
        return ScalarType(dtype)
    return ArrayType(dtype, shape, fresh_strides(shape, dtype.itemsize))


def _dtype(name: str, *args: object) -> np.dtype:
    found, *_ = ask_bound(TABLE[name], args)
    return found.dtype


def _shape(kind: Type) -> Shape:
    return kind.shape if isinstance(kind, ArrayType) else ()


def _without(kind: Type, axis: int | None) -> Shape:
    """The shape that is left when an axis, or all of them, are gone."""
    shape = _shape(kind)
    if axis is None:
        return ()
    place = normalize_axis(axis, kind.rank)
    return (*shape[:place], *shape[place + 1 :])


def _median_meta(name: str) -> Callable[..., Type]:
    def meta(x: Operand, axis: int | None) -> Type:
        return _fresh(_dtype(name, key_of(x), None), _without(type_of(x), axis))

    return meta


def _quantile_meta(name: str) -> Callable[..., Type]:
    def meta(x: Operand, q: Operand, axis: int | None, method: str) -> Type:
        if name.startswith("nan") and axis is not None and type_of(q).rank:
            raise uncapturable(
                NUMPY_OPTION, f"np.{name} along an axis for several q cannot be captured"
            )
        dtype = _dtype(name, key_of(x), key_of(q), None, method)
        return _fresh(dtype, (*_shape(type_of(q)), *_without(type_of(x), axis)))

    return meta


def searchsorted(x: Operand, v: Operand, side: str) -> Type:
    """``np.searchsorted``."""
    if type_of(x).rank != 1:
        fail_in_numpy(np.searchsorted, x, v)
    return _fresh(_dtype("searchsorted", key_of(x), key_of(v), side), _shape(type_of(v)))


def interp(x: Operand, *more: Operand | None) -> Type:
    """``np.interp``."""
    return _fresh(_dtype("interp", *map(key_of, (x, *more))), _shape(type_of(x)))


def digitize(x: Operand, bins: Operand, right: bool) -> Type:
    """``np.digitize``."""
    if type_of(bins).rank != 1:
        fail_in_numpy(np.digitize, x, bins)
    return _fresh(_dtype("digitize", key_of(x), key_of(bins), right), _shape(type_of(x)))


def isin(x: Operand, y: Operand, assume_unique: bool, invert: bool) -> Type:
    """``np.isin``: an array also of a scalar."""
    shape = _shape(type_of(x))
    return ArrayType(np.dtype(bool), shape, fresh_strides(shape, 1))


def lexsort(keys: tuple[Operand, ...], axis: int) -> Type:
    """``np.lexsort`` of keys of one shape."""
    kinds = [type_of(key) for key in keys]
    first = kinds[0]
    if not isinstance(first, ArrayType) or not first.rank:
        raise uncapturable(NUMPY_OPTION, "np.lexsort of numbers cannot be captured")
    if any(kind.rank != first.rank or not same_shape(kind.shape, first.shape) for kind in kinds):
        fail_in_numpy(np.lexsort, tuple(kinds))
    normalize_axis(axis, first.rank)
    return _fresh(np.dtype(np.intp), first.shape)


def histogram(
    x: Operand,
    weights: Operand | None,
    low: Operand | None,
    high: Operand | None,
    bins: Dim,
    density: bool,
) -> tuple[Type, Type]:
    """``np.histogram``: what it counts, and the edges."""
    _check_weights(x, weights)
    keys = map(key_of, (x, weights, low, high))
    counts, edges = ask_bound(TABLE["histogram"], (*keys, 2, density))
    return _fresh(counts.dtype, (bins,)), _fresh(edges.dtype, (bins + 1,))


def histogram_of_edges(x: Operand, edges: Operand, weights: Operand | None, density: bool) -> Type:
    """What ``np.histogram`` counts between edges."""
    _check_weights(x, weights)
    keys = map(key_of, (x, edges, weights))
    (size,) = _shape(type_of(edges))
    if not guard(size, ">", 1):
        raise uncapturable(NUMPY_OPTION, "np.histogram of less than two edges cannot be captured")
    return _fresh(_edges_dtype(*keys, density), (size - 1,))


@lru_cache(maxsize=256)
def _edges_dtype(x: object, edges: object, weights: Any, density: bool) -> np.dtype:
    one, other, weight = map(sample, (x, edges, weights))
    both = np.concatenate((other, other))
    found: np.ndarray = quietly(np.histogram, one, both, None, density, weight)[0]
    return found.dtype


def _check_weights(x: Operand, weights: Operand | None) -> None:
    if weights is not None and not same_shape(_shape(type_of(x)), _shape(type_of(weights))):
        fail_in_numpy(np.histogram, x, weights=weights)


def _window_meta(name: str) -> Callable[..., Type]:
    def meta(x: Operand, v: Operand, mode: str) -> Type:
        if type_of(x).rank != 1 or type_of(v).rank != 1 or mode not in ("full", "same", "valid"):
            raise uncapturable(
                NUMPY_OPTION, f"np.{name} but of vectors, in a mode with a name, cannot be captured"
            )
        dtype = _dtype(name, key_of(x), key_of(v), mode)
        (left,), (right,) = _shape(type_of(x)), _shape(type_of(v))
        if not guard(left, ">", 0) or not guard(right, ">", 0):
            fail_in_numpy(TABLE[name].numpy, type_of(x), type_of(v))  # type: ignore[arg-type]
        most, least = (left, right) if guard(left, ">=", right) else (right, left)
        sizes: dict[str, Dim] = {
            "full": left + right - 1,
            "same": most,
            "valid": most - least + 1,
        }
        return _fresh(dtype, (sizes[mode],))

    return meta


def bincount(x: Operand, weights: Operand | None, minlength: Dim) -> Type:
    """``np.bincount`` into as many bins as ``minlength`` says."""
    return _fresh(_counts_dtype(x, weights), (minlength,))


def _counts_dtype(x: Operand, weights: Operand | None) -> np.dtype:
    """That of what NumPy counts: of no elements numbers, whatever their weights are."""
    if any(decide(size, "==", 0) for size in _shape(type_of(x))):
        weights = None
    return _dtype("bincount", key_of(x), key_of(weights), 2)


def bincount_all(x: Operand, weights: Operand | None, symbol: str, most: Dim) -> tuple[Type, ...]:
    """``np.bincount`` into as many bins as it takes."""
    dtype = _counts_dtype(x, weights)
    return (array_type(dtype, (counted_size(symbol, most),)),)


def fourier(x: Operand, kind: str, axis: int, norm: str | None, n: Dim | None) -> Type:
    """A transform of ``np.fft`` of ``n`` points along an axis, laid out in memory as ``x``."""
    given = type_of(x)
    assert isinstance(given, ArrayType)
    place = normalize_axis(axis, given.rank)
    dtype = _fourier_dtype(given.dtype, kind, norm)
    size = given.shape[place]
    if not (guard(size, ">", 1) if n is None else guard(n, ">", 0)):
        raise uncapturable(
            NUMPY_OPTION, f"np.fft.{kind} of less than two elements cannot be captured"
        )
    if n is None:
        n = 2 * (size - 1) if kind == "irfft" else size
    shape = (*given.shape[:place], n // 2 + 1 if kind == "rfft" else n, *given.shape[place + 1 :])
    return ArrayType(dtype, shape, ordered_strides(shape, stride_order(given), dtype.itemsize))


@lru_cache(maxsize=256)
def _fourier_dtype(dtype: np.dtype, kind: str, norm: str | None) -> np.dtype:
    found: np.ndarray = getattr(np.fft, kind)(np.ones(2, dtype), norm=norm)
    return found.dtype


METAS: dict[str, Callable[..., Any]] = {
    "median": _median_meta("median"),
    "nanmedian": _median_meta("nanmedian"),
    "quantile": _quantile_meta("quantile"),
    "percentile": _quantile_meta("percentile"),
    "nanquantile": _quantile_meta("nanquantile"),
    "nanpercentile": _quantile_meta("nanpercentile"),
    "searchsorted": searchsorted,
    "digitize": digitize,
    "isin": isin,
    "lexsort": lexsort,
    "histogram": histogram,
    "histogram_of_edges": histogram_of_edges,
    "interp": interp,
    "convolve": _window_meta("convolve"),
    "correlate": _window_meta("correlate"),
    "bincount": bincount,
    "bincount_all": bincount_all,
    "fourier": fourier,
    "einsum": import_later("fxc.ops.metas.einsums", "einsum"),  # See Note [Rooms with one door].
}
