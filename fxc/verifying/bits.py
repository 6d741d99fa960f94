"""How far apart two arrays are.

A nan is a nan: its sign and payload are left open, as NumPy itself leaves them (they depend on
the order of operands that the compiler chose for its loops).
"""

from __future__ import annotations

from typing import Any

import numpy as np


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether the arrays agree bit for bit, any nan with any other."""
    return bool(agreement(a, b).all())


def agreement(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where two arrays of one dtype agree bit for bit."""
    if a.dtype.kind == "c":
        return np.asarray(agreement(a.real, b.real) & agreement(a.imag, b.imag))
    if a.dtype.kind == "O":
        pairs = zip(a.flat, b.flat, strict=True)
        return np.array([_are_equal(x, y) for x, y in pairs], bool).reshape(a.shape)
    if a.dtype.kind == "V":
        parts = [(a[name], b[name]) for name in a.dtype.names or ()] or [(_bytes(a), _bytes(b))]
        inside = tuple(range(a.ndim, a.ndim + 32))  # of fields that are arrays
        found = [agreement(*each) for each in parts]
        alike = [np.all(each, axis=inside[: each.ndim - a.ndim]) for each in found]
        return np.asarray(np.logical_and.reduce(alike))
    if a.dtype.kind in "mM":
        return np.asarray(np.array(a).view("i8") == np.array(b).view("i8"))
    if a.dtype.kind != "f":
        return np.asarray(a == b)
    if a.dtype.itemsize > 8:
        same = (a == b) & (np.signbit(a) == np.signbit(b))
        return np.asarray(same | (np.isnan(a) & np.isnan(b)))
    bits = f"u{a.dtype.itemsize}"
    same = np.ascontiguousarray(a).view(bits) == np.ascontiguousarray(b).view(bits)
    return np.asarray(same.reshape(a.shape) | (np.isnan(a) & np.isnan(b)))


def _bytes(a: np.ndarray) -> np.ndarray:
    return np.array(a).view((np.uint8, a.dtype.itemsize))


def _are_equal(x: Any, y: Any) -> bool:
    """Whether two objects are one, or equal to the last bit of each number that they hold."""
    if x is y or type(x) is not type(y):
        return x is y
    try:
        if isinstance(x, np.ndarray | np.generic | float | complex):
            a, b = np.asarray(x), np.asarray(y)
            return a.dtype == b.dtype and a.shape == b.shape and same_bits(a, b)
        if type(x) in (list, tuple):
            return len(x) == len(y) and all(map(_are_equal, x, y))
        if type(x) is dict:
            return [*x] == [*y] and all(map(_are_equal, x.values(), y.values()))
        return bool(x == y)
    except Exception:
        return False


def ulps_apart(a: np.ndarray, b: np.ndarray) -> float:
    """The largest distance in units in the last place of ``a``; inf if nans or infinities differ.

    Of complex numbers that is the distance of a part.
    """
    if a.dtype.kind == "c":
        return max(ulps_apart(a.real, b.real), ulps_apart(a.imag, b.imag))
    special = ~(np.isfinite(a) & np.isfinite(b))
    if not agreement(a[special], b[special]).all():
        return np.inf
    wide = np.longdouble
    with np.errstate(all="ignore"):
        gap = np.abs(a[~special].astype(wide) - b[~special].astype(wide))
        return float((gap / np.spacing(np.abs(a[~special])).astype(wide)).max(initial=0))
