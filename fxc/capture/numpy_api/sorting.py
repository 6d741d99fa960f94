"""Sorts and partitions, which NumPy itself runs; in place they are writes of the sorted array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..session import current
from ..values.dims import axis_number
from ..values.operands import record
from .reductions import reducible
from .ufuncs import writable


def sort(
    a: object,
    axis: object = -1,
    kind: object = None,
    order: object = None,
    *,
    stable: object = None,
) -> Any:
    """As ``np.sort``."""
    return record("sort", reducible(a), axis=_axis(axis), kind=_kind(kind, order, stable))


def argsort(
    a: object,
    axis: object = -1,
    kind: object = None,
    order: object = None,
    *,
    stable: object = None,
) -> Any:
    """As ``np.argsort``."""
    return record("argsort", reducible(a), axis=_axis(axis), kind=_kind(kind, order, stable))


def partition(
    a: object, kth: object, axis: object = -1, kind: str = "introselect", order: object = None
) -> Any:
    """As ``np.partition``."""
    return record("partition", reducible(a), _places(kth, kind, order), axis=_axis(axis))


def argpartition(
    a: object, kth: object, axis: object = -1, kind: str = "introselect", order: object = None
) -> Any:
    """As ``np.argpartition``."""
    return record("argpartition", reducible(a), _places(kth, kind, order), axis=_axis(axis))


def sort_in_place(
    x: object,
    axis: object = -1,
    kind: object = None,
    order: object = None,
    *,
    stable: object = None,
) -> None:
    """As ``ndarray.sort``."""
    target = writable(x)
    options = {"axis": axis_number(axis), "kind": _kind(kind, order, stable)}
    current().record("sort.out", target, **options, out=target)


def partition_in_place(
    x: Any, kth: object, axis: Any = -1, kind: str = "introselect", order: object = None
) -> None:
    """As ``ndarray.partition``."""
    target, places = writable(x), _places(kth, kind, order)
    current().record("partition.out", target, places, axis=axis_number(axis), out=target)


def _axis(axis: object) -> int | None:
    return None if axis is None else axis_number(axis)


def _kind(kind: Any, order: object, stable: Any) -> str | None:
    """The one name for how to sort."""
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    if stable is not None and kind is not None:
        raise ValueError(
            "`kind` and `stable` keyword parameters can't be provided at the same time"
        )
    if kind is not None and not isinstance(kind, str):
        raise TypeError("sort kind must be a str")
    return "stable" if stable else kind


def _places(kth: Any, kind: Any, order: Any) -> tuple[int, ...]:
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    np.partition(np.zeros(1), 0, kind=kind)  # raises what NumPy raises for another kind
    given = kth if isinstance(kth, tuple | list) else (kth,)
    return tuple(axis_number(place) for place in given)
