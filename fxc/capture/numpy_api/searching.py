"""``np.searchsorted`` and ``np.interp`` by the steps of NumPy's own loops.

The steps are those of ``binsearch.cpp`` and of ``arr_interp`` in ``compiled_base.c``: in arrays
that are not in order they find what NumPy finds, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fxc.ir.size_guards import guard
from fxc.ir.symbols import counted_in
from fxc.ir.types import ArrayType
from fxc.ops.metas.shapes import same_dim
from fxc.ops.table import TABLE

from ..arrays.traced_array import TracedArray
from ..numbers.python_numbers import scalar_of
from ..session.locations import as_program
from ..session.session import current
from ..values.operands import Traced
from .library import listed

_F64 = np.dtype(np.float64)
_NEAR = 8  # ``LIKELY_IN_CACHE_SIZE``
_FEW = 1024  # numbers to look up one by one
_ROWS = 16  # the order of so many elements is known in the time of one search
# Since NumPy 2.5 each search has the same lengths, and none begins where the last one ended.
_HALVES = np.searchsorted((0, 0, 0, 9, 0), 1) == 3
_searchsorted, _interp = (listed(TABLE[name]) for name in ("searchsorted", "interp"))


def searchsorted(a: object, v: object, side: object = "left", sorter: object = None) -> object:
    of_keys, kind = _dtype_of(v), _row(a)
    is_plain = sorter is None and side in ("left", "right")
    if of_keys is None or kind is None or not is_plain:
        return _searchsorted(a, v, side=side, sorter=sorter)
    if kind.dtype.kind not in "iuf" or np.result_type(kind.dtype, of_keys) != kind.dtype:
        return _searchsorted(a, v, side=side)
    door, to = current().door, kind.dtype.type
    if not _are_few(v):
        if not _are_many(v, kind):
            return _searchsorted(a, v, side=side)
        return door.staged(_places_of_many)(a, v, to, side == "right")
    if isinstance(v, TracedArray) and v.ndim:
        places = _places_by_halves if _HALVES else _places
        return door.staged(places)(a, v, to, side == "right")
    place = _place_by_halves if _HALVES else _place
    return door.staged(place)(a, door.call(to, v), side == "right")


def interp(
    x: object, xp: object, fp: object, left: Any = None, right: Any = None, period: object = None
) -> object:
    """There are so many parameters because NumPy has them."""
    given, points, values = _dtype_of(x), _row(xp), _row(fp)
    are_plain = all(each is None or type(each) in (int, float) for each in (left, right))
    if given is None or points is None or values is None or not are_plain or period is not None:
        return _interp(x, xp, fp, left, right, period)
    is_real = given.kind in "biuf" and given.itemsize <= 8
    are_alike = points.dtype == values.dtype == _F64 and same_dim(points.shape[0], values.shape[0])
    if not (
        is_real
        and are_alike
        and guard(points.shape[0], ">", 1)
        and (_are_few(x) or _are_many(x, points))
    ):
        return _interp(x, xp, fp, left, right, period)
    door = current().door
    ends = (each if each is None else float(each) for each in (left, right))
    if isinstance(x, TracedArray) and x.ndim:
        program = _interpolated_each if _are_few(x) else _interpolated_many
        return door.staged(program)(x, xp, fp, *ends)
    return door.staged(_interpolated)(door.call(np.float64, x), xp, fp, *ends)


def _dtype_of(x: object) -> np.dtype | None:
    """The dtype that NumPy gives a number, or of an array; None for anything else."""
    if isinstance(x, TracedArray):
        return x._type.dtype
    if isinstance(x, int | float | np.generic) and not isinstance(x, Traced):
        return np.asarray(x).dtype
    number = scalar_of(x)
    return None if number is None else number._type.dtype


def _are_few(x: object) -> bool:
    """Whether it is a number, or few."""
    if not isinstance(x, TracedArray):
        return True
    return _is_plain(x._type) and guard(x._type.size, "<=", _FEW)


def _are_many(x: object, row: ArrayType) -> bool:
    """Whether there are enough numbers to look up that the order of a row is looked at before."""
    if not isinstance(x, TracedArray) or not _is_plain(x._type):
        return False
    length = row.shape[0]
    return guard(length, ">", 1) and guard(length, "<=", _ROWS * x._type.size)


def _row(x: object) -> ArrayType | None:
    """The type of an array of one axis; None for anything else."""
    kind = x._type if isinstance(x, TracedArray) else None
    return kind if kind is not None and kind.rank == 1 and _is_plain(kind) else None


def _is_plain(kind: ArrayType) -> bool:
    """Whether a size can be asked for: it does not depend on data."""
    return not (counted_in(kind.size) or current().varies(kind.size))


@as_program
def _places(a: np.ndarray, keys: np.ndarray, to: type, is_right: bool) -> object:
    """Where each key belongs: the one before says where to look."""
    given, found = keys.ravel(), np.empty(keys.shape, np.intp)
    row, n = found.reshape(-1), len(a)
    low, high = 0, n
    last = to(given[0]) if len(given) else to(0)
    for i in range(len(given)):
        key = to(given[i])
        if _is_before(last, key, is_right):
            high = n
        else:
            low, high = 0, (high + 1 if high < n else n)
        last = key
        row[i] = low = high = _between(low, high, a, key, is_right)
    return found


@as_program
def _places_of_many(a: np.ndarray, keys: np.ndarray, to: type, is_right: bool) -> object:
    if not (a[:-1] <= a[1:]).all():
        return _searched(a, keys, "right" if is_right else "left")
    given = keys.ravel()
    found = _places_in_order(a, given if keys.dtype == to else given.astype(to), is_right)
    return _shaped(found, keys.shape)


@as_program
def _shaped(found: np.ndarray, shape: tuple[int, ...]) -> object:
    """An array of this shape with memory of its own."""
    return found if len(shape) == 1 else found.reshape(shape).copy()


def _searched(a: object, keys: object, side: str) -> object:
    return _searchsorted(a, keys, side=side)


@as_program
def _places_in_order(a: np.ndarray, keys: np.ndarray, is_right: bool) -> np.ndarray:
    """Where each key belongs in a row that is in order: any search finds what NumPy's does. All
    keys take each step together.
    """
    found, n = np.zeros(keys.shape, np.intp), len(a)
    while n > 1:
        half = n // 2
        at = a[found + (half - 1)]
        found = np.where(at > keys if is_right else at >= keys, found, found + half)
        n -= half
    at = a[found]
    return found + ~(at > keys if is_right else at >= keys)


@as_program
def _place(a: np.ndarray, key: object, is_right: bool) -> object:
    return np.intp(_between(0, len(a), a, key, is_right))


@as_program
def _between(low: int, high: int, a: np.ndarray, key: object, is_right: bool) -> int:
    """Where a key belongs, of the places from ``low`` to ``high``."""
    while low < high:
        middle = low + ((high - low) >> 1)
        if _is_before(a[middle], key, is_right):
            low = middle + 1
        else:
            high = middle
    return low


@as_program
def _places_by_halves(a: np.ndarray, keys: np.ndarray, to: type, is_right: bool) -> object:
    given, found = keys.ravel(), np.empty(keys.shape, np.intp)
    row = found.reshape(-1)
    for i in range(len(given)):
        row[i] = _in_halves(a, to(given[i]), is_right)
    return found


@as_program
def _place_by_halves(a: np.ndarray, key: object, is_right: bool) -> object:
    return np.intp(_in_halves(a, key, is_right))


@as_program
def _in_halves(a: np.ndarray, key: object, is_right: bool) -> int:
    """Where a key belongs: the part that is left is halved, whatever has been found."""
    low, length = 0, len(a)
    while length > 1:
        half = length >> 1
        length -= half
        if _is_before(a[low + half], key, is_right):
            low += half
    if length == 1 and _is_before(a[low], key, is_right):
        low += 1
    return low


@as_program
def _is_before(x: Any, key: Any, is_right: bool) -> object:
    """Whether a key belongs behind ``x``: nan is above all others."""
    if is_right:
        return not (key < x or (x != x and key == key))
    return x < key or (key != key and x == x)


@as_program
def _interpolated(
    x: float, xp: np.ndarray, fp: np.ndarray, left: float | None, right: float | None
) -> object:
    return x if x != x else _value(x, xp, fp, _segment(x, xp, len(xp), 0), left, right)


@as_program
def _interpolated_each(
    x: np.ndarray, xp: np.ndarray, fp: np.ndarray, left: float | None, right: float | None
) -> object:
    given, found = x.ravel(), np.empty(x.shape)
    row, at = found.reshape(-1), 0
    for i in range(len(given)):
        number = np.float64(given[i])
        if number == number:
            at = _segment(number, xp, len(xp), at)
            row[i] = _value(number, xp, fp, at, left, right)
        else:
            row[i] = number
    return found


@as_program
def _interpolated_many(
    x: np.ndarray, xp: np.ndarray, fp: np.ndarray, left: float | None, right: float | None
) -> object:
    """NumPy follows numbers that are in order from point to point, which is as fast."""
    shape, given, n = x.shape, x.ravel(), len(xp)
    if not (xp[:-1] <= xp[1:]).all() or (given[:-1] <= given[1:]).all():
        return _interp(x, xp, fp, left, right, None)
    x = given if given.dtype == _F64 else given.astype(_F64)
    at = _places_in_order(xp, x, True) - 1
    here = np.minimum(np.maximum(at, 0), n - 2)
    x0, x1, y0, y1 = xp[here], xp[here + 1], fp[here], fp[here + 1]
    with np.errstate(all="ignore"):
        slope = (y1 - y0) / (x1 - x0)
        found = slope * (x - x0) + y0
        other = slope * (x - x1) + y1
    other = np.where((other != other) & (y0 == y1), y0, other)
    found = np.where(found != found, other, found)
    found = np.where(x0 == x, y0, found)
    found = np.where(at < 0, fp[0] if left is None else left, found)
    last = np.where(x > xp[n - 1], fp[n - 1] if right is None else right, fp[n - 1])
    return _shaped(np.where(x != x, x, np.where(at >= n - 1, last, found)), shape)


@as_program
def _value(
    x: float, xp: np.ndarray, fp: np.ndarray, at: int, left: float | None, right: float | None
) -> Any:
    """What stands at ``x`` in this segment."""
    n = len(xp)
    if at == -1:
        return fp[0] if left is None else np.float64(left)
    if at == n:
        return fp[n - 1] if right is None else np.float64(right)
    if at == n - 1 or xp[at] == x:
        return fp[at]
    with np.errstate(all="ignore"):
        slope = (fp[at + 1] - fp[at]) / (xp[at + 1] - xp[at])
        found = slope * (x - xp[at]) + fp[at]
        if found != found:
            found = slope * (x - xp[at + 1]) + fp[at + 1]
            if found != found and fp[at] == fp[at + 1]:
                found = fp[at]
    return found


@as_program
def _segment(x: float, xp: np.ndarray, n: int, guess: int) -> int:
    """The place of the last point that is not above ``x``; -1 and ``n`` outside of the points."""
    if x > xp[n - 1]:
        return n
    if x < xp[0]:
        return -1
    if n <= 4:
        at = 1
        while at < n and x >= xp[at]:
            at += 1
        return at - 1
    guess = max(min(guess, n - 3), 1)
    low, high = 0, n
    if x < xp[guess]:
        if not x < xp[guess - 1]:
            return guess - 1
        high = guess - 1
        if guess > _NEAR and x >= xp[guess - _NEAR]:
            low = guess - _NEAR
    else:
        if x < xp[guess + 1]:
            return guess
        if x < xp[guess + 2]:
            return guess + 1
        low = guess + 2
        if guess < n - _NEAR - 1 and x < xp[guess + _NEAR]:
            high = guess + _NEAR
    return _between(low, high, xp, x, True) - 1
