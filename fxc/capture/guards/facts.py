"""What guard programs call: facts about values and arrays, and arrays made of lists of numbers."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import Any

import numpy as np

from fxc.ir.dtypes import alignment, same_dtype
from fxc.ir.records import frozen


def same_value(x: Any, known: Any) -> bool:
    """Whether two plain values are of one type and of the same bits."""
    if x is known:
        return True
    if type(x) is not type(known):
        return False
    if isinstance(known, float):
        if known != known:
            return bool(x != x)
        return bool(x == known) and math.copysign(1.0, x) == math.copysign(1.0, known)
    if isinstance(known, complex):
        return same_value(x.real, known.real) and same_value(x.imag, known.imag)
    if isinstance(known, np.dtype):
        return same_dtype(x, known)
    if isinstance(known, np.generic):
        return same_dtype(x.dtype, known.dtype) and x.tobytes() == known.tobytes()
    if isinstance(known, tuple | list):
        return same_items(x, known)
    return bool(x == known)


def same_items(items: Any, known: Any) -> bool:
    """Whether two sequences hold the same plain values in order."""
    if len(items) != len(known):
        return False
    return all(map(operator.is_, items, known)) or all(map(same_value, items, known))


def distinct(*objects: object) -> bool:
    """Whether no two of these are one object."""
    return len(set(map(id, objects))) == len(objects)


def same_keys(found: dict[object, object], known: tuple[object, ...]) -> bool:
    """Whether a dict has these keys in this order."""
    return len(found) == len(known) and same_items(tuple(found), known)


def apart(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether two arrays have no element in common; False where that is hard to know."""
    try:
        return not np.shares_memory(x, y, max_work=_MOST_WORK)
    except np.exceptions.TooHardError:
        return False


_MOST_WORK: Any = 100_000  # NumPy's stub wants 0 or -1


def as_array(x: np.ndarray) -> np.ndarray:
    """The memory of an array as an ``ndarray``, whatever its class is."""
    return x.view(np.ndarray)


def of_other_files(x: Any, y: Any) -> bool:
    """Whether two arrays are no memmaps, or of one piece of memory, or certainly of two files."""
    ours, theirs = getattr(x, "_mmap", None), getattr(y, "_mmap", None)
    if ours is theirs or ours is None or theirs is None:
        return True
    try:
        return not os.path.samefile(x.filename, y.filename)
    except (OSError, TypeError):  # a file that is gone, or has no name
        return False


def tell_no_errors(filters: Sequence[Any]) -> bool:
    """Whether none of the filters of ``warnings`` makes an error of a warning."""
    return not any(each[0] == "error" for each in filters)


def has_aligned_fields(x: np.ndarray) -> bool:
    """Whether records lie at multiples of what the alignment of their fields is."""
    return bool(x.getfield(_as_aligned(x.dtype)).flags.aligned)


@cache
def _as_aligned(dtype: np.dtype) -> np.dtype:
    """A dtype of numbers that is to be aligned like records of this one, and no larger."""
    size = alignment(dtype)
    return np.dtype(f"u{size}") if size <= 8 else np.dtype(np.longdouble)


def overlaps_itself(x: np.ndarray) -> bool:
    """Whether two elements of an array lie at one place in memory, or may."""
    reach = x.itemsize
    for step, size in sorted(zip(map(abs, x.strides), x.shape, strict=True)):
        if size > 1 and step < reach:
            return x.size > 0
        reach += (size - 1) * step
    return False


def all_apart(arrays: Sequence[np.ndarray], other: np.ndarray) -> bool:
    """Whether none of these lies where the other array does."""
    return not any(np.may_share_memory(each, other) for each in arrays)


# ------------------------------------------------------------------ lists of numbers as arrays
# See Note [Lists of numbers].


FEW_NUMBERS = 4  # items of a list that are read one by one in any case
FEW_ARRAYS = 16  # the same of arrays
_MOST_COPIED = 1 << 26  # bytes of all arrays in a list that are copied at each call
_MOST_COLUMNS = 8
_CODES: dict[type, tuple[str, np.dtype]] = {
    int: ("q", np.dtype(np.int64)),
    float: ("d", np.dtype(np.float64)),
}
Arrays = tuple[np.ndarray | None, ...]


@frozen
class Numbers:
    """Items that are all numbers of this type. The first ``alike`` arrays are of one size."""

    kind: type
    alike = 1

    def arrays(self, items: Sequence[object]) -> Arrays:
        """A new array of the items; None if they are others, or few."""
        if set(map(type, items)) != {self.kind} or len(items) <= FEW_NUMBERS:
            return (None,)
        return (_array(items, self.kind),)


@frozen
class Columns:
    """Items that are tuples of as many numbers, of these types."""

    kinds: tuple[type, ...]

    @property
    def alike(self) -> int:
        """All arrays are of one size."""
        return len(self.kinds)

    def arrays(self, items: Sequence[Any]) -> Arrays:
        """A new array for each place of the tuples; Nones if they are others, or few."""
        width = len(self.kinds)
        if set(map(type, items)) == {tuple} and set(map(len, items)) == {width}:
            columns = zip(*items, strict=True)
            found = [Numbers(k).arrays(x)[0] for k, x in zip(self.kinds, columns, strict=True)]
            if all(x is not None for x in found):
                return tuple(found)
        return (None,) * width


@frozen
class Ragged:
    """Items that are lists of any length, of numbers of one type. As many arrays are ``alike``."""

    kind: type
    alike = 2

    def arrays(self, items: Sequence[Any]) -> Arrays:
        """Arrays of where each list begins, of lengths, and of all numbers; Nones for others."""
        if set(map(type, items)) != {list} or len(items) <= FEW_NUMBERS:
            return (None,) * 3
        flat = list(chain.from_iterable(items))
        if set(map(type, flat)) != {self.kind} or len(flat) < 2:
            return (None,) * 3
        counts = np.array(list(map(len, items)))
        return np.cumsum(counts) - counts, counts, _array(flat, self.kind)


@frozen
class OneShape:
    """Items that are arrays of this dtype, and of one shape of so many axes, in C order."""

    dtype: np.dtype
    rank: int
    alike = 1

    def arrays(self, items: Sequence[Any]) -> Arrays:
        """A new array of them all; None if they are others, few, or too large to copy."""
        if not self.fits(items):
            return (None,)
        return (np.concatenate(items).reshape(len(items), *items[0].shape),)

    def fits(self, items: Sequence[Any]) -> bool:
        """Whether the items are such, and may be copied at each call."""
        if len(items) <= FEW_ARRAYS or set(map(type, items)) != {np.ndarray}:
            return False
        shape, size = items[0].shape, items[0].nbytes
        if len(shape) != self.rank or len(items) * size > _MOST_COPIED:
            return False
        return all(
            x.dtype == self.dtype and x.shape == shape and x.flags.c_contiguous for x in items
        )


def form_of_items(items: Sequence[Any]) -> Numbers | Columns | Ragged | OneShape | None:
    """What the items of a list are, if ``arrays`` takes them."""
    kinds = set(map(type, items)) if len(items) > FEW_NUMBERS else set()
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    if kind is np.ndarray:
        first = items[0]
        if first.dtype.kind not in "biufc" or first.size < 2:
            return None
        made = OneShape(first.dtype, first.ndim)
        return made if made.fits(items) else None
    if kind is list:
        flat = list(chain.from_iterable(items))
        found = _kind_of(flat) if len(flat) > 1 else None
        return None if found is None else Ragged(found)
    if kind is tuple:
        widths = set(map(len, items))
        if len(widths) > 1 or not 0 < min(widths) <= _MOST_COLUMNS:
            return None
        columns = [_kind_of(column) for column in zip(*items, strict=True)]
        known = tuple(column for column in columns if column is not None)
        return Columns(known) if len(known) == len(columns) else None
    found = _kind_of(items)
    return None if found is None else Numbers(found)


def _kind_of(items: Sequence[Any]) -> type | None:
    kinds = set(map(type, items))
    kind = kinds.pop() if len(kinds) == 1 else None
    if kind not in _CODES or (kind is int and not -(2**63) <= min(items) <= max(items) < 2**63):
        return None
    return kind


def _array(items: Sequence[Any], kind: type) -> np.ndarray | None:
    from array import array  # few programs have lists of numbers

    code, dtype = _CODES[kind]
    try:
        return np.frombuffer(array(code, items), dtype)
    except OverflowError:  # an int of more than 64 bits
        return None


def codes_of(text: str) -> np.ndarray:
    """A new array of the code points of a text."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.int32)


def array_of_bytes(x: bytes) -> np.ndarray:
    """An array over the memory of these bytes."""
    return np.frombuffer(x, np.uint8)


def cell_of(text: np.str_) -> np.ndarray:
    """A new vector of one text, with room for others of about its length."""
    return np.array([text], f"U{len(text) // _ROOM * _ROOM + _ROOM}")


_ROOM = 16  # characters
