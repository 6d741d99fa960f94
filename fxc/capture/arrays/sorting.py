"""Sorts and partitions, which NumPy itself runs; in place they are writes of the sorted array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.ir.error_kinds import NUMPY_OPTION
from fxc.ir.graph import Operand, Value

from ..numbers.dims import axis_number
from ..session.refusing import refuse
from ..session.session import current
from ..values.above import above
from ..values.objects import Args, Kwargs
from ..values.operands import operand, record
from .indexing import check_without_gaps
from .reductions import reducible
from .ufuncs import writable


def _sorting(name: str) -> Callable[..., Any]:
    """``np.sort`` or ``np.argsort``."""

    def call(
        a: object,
        axis: object = -1,
        kind: object = None,
        order: object = None,
        *,
        stable: object = None,
    ) -> object:
        x = reducible(a)
        _check_order(x, order)
        return record(name, x, axis=_axis(axis), kind=_kind(kind, stable))

    return call


def _dividing(name: str) -> Callable[..., Any]:
    """``np.partition`` or ``np.argpartition``."""

    def call(
        a: object, kth: object, axis: object = -1, kind: str = "introselect", order: object = None
    ) -> object:
        x = reducible(a)
        _check_order(x, order)
        return record(name, x, _places(kth, kind), axis=_axis(axis))

    return call


sort, argsort = _sorting("sort"), _sorting("argsort")
partition, argpartition = _dividing("partition"), _dividing("argpartition")


def sort_in_place(
    x: object,
    axis: object = -1,
    kind: object = None,
    order: object = None,
    *,
    stable: object = None,
    **newer: object,
) -> None:
    """As ``ndarray.sort``; what newer versions of NumPy take, and an order, is ``np.sort``'s."""
    target = writable(x)
    check_without_gaps(target)
    if newer or order is not None:
        _put(target, np.sort, (x, axis, kind, order), {"stable": stable, **newer})
        return
    options = {"axis": axis_number(axis), "kind": _kind(kind, stable)}
    current().record("sort.out", target, **options, out=target)


def partition_in_place(
    x: object, kth: object, axis: object = -1, kind: str = "introselect", order: object = None
) -> None:
    """As ``ndarray.partition``."""
    target = writable(x)
    check_without_gaps(target)
    if order is not None:
        _put(target, np.partition, (x, kth, axis, kind, order), {})
        return
    places = _places(kth, kind)
    current().record("partition.out", target, places, axis=axis_number(axis), out=target)


def _put(target: Value, function: object, args: Args, kwargs: Kwargs) -> None:
    """Write what a function gives."""
    found = operand(above().array_function(function, args, kwargs))
    current().record("copy_", target, found, casting="unsafe")


def _axis(axis: object) -> int | None:
    return None if axis is None else axis_number(axis)


def _kind(kind: Any, stable: Any) -> str | None:
    """The one name for how to sort; raises what NumPy raises for others."""
    np.sort(np.zeros(1), kind=kind, stable=stable)
    return "stable" if stable else kind


def _check_order(x: Operand, order: Any) -> None:
    """Refuse an order of fields; raise what NumPy raises where there are none."""
    if order is None:
        return
    if x.type.dtype.names is None:
        np.sort(np.zeros(1), order=order)
    raise refuse(NUMPY_OPTION, "a sort with order=")


def _places(kth: object, kind: Any) -> tuple[int, ...]:
    np.partition(np.zeros(1), 0, kind=kind)  # raises what NumPy raises for others
    given = kth if isinstance(kth, tuple | list | np.ndarray) and np.ndim(kth) else (kth,)
    return tuple(axis_number(place) for place in given)
