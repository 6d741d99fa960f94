"""``np.concatenate`` and its kin, and ``np.roll``."""

from __future__ import annotations

from typing import Any

from fxc.ops.metas.shapes import normalize_axis

from . import creation, shaping
from .operands import array_value, record, wrap
from .session import current, refuse
from .ufuncs import axis_number, writable


def concatenate(
    arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = None
) -> Any:
    """As ``np.concatenate``."""
    if dtype is not None or casting not in (None, "same_kind"):
        raise refuse("np.concatenate with dtype= or casting= cannot be captured; use astype")
    parts = tuple(array_value(x) for x in _sequence(arrays))
    place = None if axis is None else axis_number(axis)
    if out is not None:
        current().record("concatenate.out", parts, axis=place, out=writable(out))
        return out
    return record("concatenate", parts, axis=place)


def _sequence(arrays: Any) -> list[Any]:
    if not isinstance(arrays, tuple | list) and not creation.is_array(arrays):
        raise TypeError(
            'arrays to stack must be passed as a "sequence" type such as list or tuple.'
        )
    return list(arrays)


def stack(
    arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    """As ``np.stack``."""
    if dtype is not None or casting != "same_kind":
        raise refuse("np.stack with dtype= or casting= cannot be captured; use astype")
    parts = tuple(array_value(x) for x in _sequence(arrays))
    if out is not None:
        current().record("stack.out", parts, axis=axis_number(axis), out=writable(out))
        return out
    return record("stack", parts, axis=axis_number(axis))


def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """As ``np.vstack``."""
    return concatenate([shaping.at_least(x, 2) for x in tup], 0, dtype=dtype, casting=casting)


def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """As ``np.hstack``."""
    parts = [shaping.at_least(x, 1) for x in tup]
    axis = 0 if parts and parts[0].ndim == 1 else 1
    return concatenate(parts, axis, dtype=dtype, casting=casting)


def column_stack(tup: Any) -> Any:
    """As ``np.column_stack``."""
    parts = [creation.asarray(x) for x in tup]
    return concatenate([x if x.ndim > 1 else shaping.at_least(x, 2).T for x in parts], 1)


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """As ``np.roll``."""
    array = wrap(array_value(a))
    if axis is None:
        return roll(shaping.ravel(array), shift, 0).reshape(array.shape)
    shifts = shift if isinstance(shift, tuple) else (shift,)
    axes = axis if isinstance(axis, tuple) else (axis,)
    if len(shifts) != len(axes):
        raise refuse("np.roll with several shifts and one axis cannot be captured")
    for by, along in zip(shifts, axes, strict=True):
        array = _rolled(array, by, normalize_axis(axis_number(along), array.ndim))
    return array


def _rolled(array: Any, by: Any, axis: int) -> Any:
    size = array.shape[axis]
    if size == 0:
        return array.copy()
    split = -by % size
    before = (slice(None),) * axis
    parts = [array[(*before, slice(split, None))], array[(*before, slice(None, split))]]
    return concatenate(parts, axis)
