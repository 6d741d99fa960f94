"""Facts about values and arrays that guard programs check by calling these functions."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from fxc.ir.boxed_dtypes import alignment
from fxc.ir.types import same_dtype


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


def has_aligned_fields(x: np.ndarray) -> bool:
    """Whether records lie at multiples of what the alignment of their fields is."""
    place: int = x.__array_interface__["data"][0]
    return not any(each % alignment(x.dtype) for each in (place, *x.strides))


def overlaps_itself(x: np.ndarray) -> bool:
    """Whether two elements of an array lie at one place in memory, or may."""
    reach = x.itemsize
    for step, size in sorted(zip(map(abs, x.strides), x.shape, strict=True)):
        if size > 1 and step < reach:
            return x.size > 0
        reach += (size - 1) * step
    return False
