"""What guard programs call: facts about values and arrays."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from fxc.ir.dtypes import alignment, same_dtype


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
