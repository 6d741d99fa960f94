"""Large arrays whose elements follow a rule, as the operators that compute them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.ir.graph import ArrayConstant, Literal, Value

from . import kernel_of

_FEW = 8  # parts that stand one behind the other in an array, each with a rule of its own
_SAMPLE = 64  # elements that tell most arrays from those of ``np.arange``


def by_rule(array: np.ndarray, record: Callable[..., Any]) -> Value | None:
    """A fresh array with these elements, as ``record`` of operators; None if there is no rule.

    The elements of a row may be as far apart as those of ``np.arange``, and rows may repeat. Both
    may hold of the parts of an array, as of those of ``np.indices``.
    """
    if array.dtype.kind not in "biufc" or array.itemsize > 16:
        return None
    found = _repeated(array, record)
    if found is not None or array.ndim < 2 or len(array) > _FEW:
        return found
    parts = [_repeated(part, record) for part in array]
    if None in parts:
        return None
    made = record("empty", array.shape, array.dtype, layout=None)
    for place, part in enumerate(parts):
        record("copy_", record("select", made, 0, place), part, casting="no")
    return made  # type: ignore[no-any-return]


def _repeated(array: np.ndarray, record: Callable[..., Any]) -> Value | None:
    """An array of one row or number that is repeated."""
    rest = array
    for axis in range(array.ndim):
        rest = _without_repeats(rest, axis)
    if rest.size == 1:
        number = Literal(rest.reshape(-1)[0])
        return record("full", array.shape, number, array.dtype, layout=None)  # type: ignore[no-any-return]
    row: Any = _row(rest, record)
    if row is None and rest.size > array.size // _FEW:
        return None
    if row is None:
        row = record("constant", ArrayConstant.of(rest))
    elif rest.shape != row.type.shape:
        row = record("reshape", row, rest.shape)
    if row.type.shape != array.shape:
        row = record("copy", record("broadcast_to", row, array.shape), order="C")
    return row  # type: ignore[no-any-return]


def _without_repeats(array: np.ndarray, axis: int) -> np.ndarray:
    """Of an array whose elements are the same all along an axis the first ones."""
    first, second = (array[(*[slice(None)] * axis, slice(n, n + 1))] for n in (0, 1))
    if array.shape[axis] == 1 or not _same(first, second) or not _same(array, first):
        return array
    return first


def _row(rest: np.ndarray, record: Callable[..., Any]) -> Value | None:
    """Elements that are as far apart as the first two."""
    if rest.size != max(rest.shape) or rest.dtype.kind not in "iuf":
        return None
    numbers, dtype = rest.reshape(-1), rest.dtype
    start, second = numbers[0].item(), numbers[1].item()
    step = second - start
    if not -(2**62) < start < 2**62 > step > -(2**62):  # nor one that is no number
        return None
    for size in (min(rest.size, _SAMPLE), rest.size):
        if not _same(numbers[:size], kernel_of("arange")(start, step, size, dtype)):
            return None
    found: Value = record("arange", Literal(start), Literal(step), length=rest.size, dtype=dtype)
    return found


def _same(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether arrays have the same bits, if the second is repeated."""
    return bool((_bits(x) == _bits(y)).all())


def _bits(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x)[..., None].view(f"u{min(x.itemsize, 8)}")
