"""Sample inputs of the methods of ufuncs, and of partitions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from .arguments import Make, Source
from .arrays import FLOAT64, INT64, LAYOUTS, array, filled


def _ufunc_reductions() -> Iterator[Make]:
    def with_parts(number: int, start: object, masked: bool) -> tuple[Any, Any, Any]:
        x = array(FLOAT64, number)
        return x, start, x > 0 if masked else None

    options = (
        (None, False, None, None),
        ((0,), True, None, None),
        ((0,), False, np.dtype("f4"), None),
    )
    ufuncs = ("add", "multiply", "hypot", "logical_xor")
    for number, ufunc, (axis, keepdims, *dtypes) in itertools.product(
        range(LAYOUTS), ufuncs, options
    ):
        rest = (ufunc, axis, keepdims, *dtypes)
        yield lambda n=number, r=rest: (*with_parts(n, None, False), *r)  # type: ignore[misc]
        yield lambda n=number, r=rest: (*with_parts(n, 1, True), *r)  # type: ignore[misc]
    for name in ("add", "maximum"):
        rest = (name, (0,), False, None, np.dtype("f4"))
        yield lambda r=rest: (filled(FLOAT64, (2, 3)), None, None, *r)  # type: ignore[misc]


def _ufunc_scans() -> Iterator[Make]:
    for number, ufunc in itertools.product(range(LAYOUTS), ("maximum", "hypot", "logical_or")):
        yield lambda n=number, u=ufunc: (array(FLOAT64, n), u, 0, None, None)  # type: ignore[misc]
    yield lambda: (filled(INT64, (2, 3)), "add", 1, FLOAT64, None)
    yield lambda: (filled(FLOAT64, (2, 3)), "add", 1, None, np.dtype("f4"))


_SEGMENTED = ("add", "multiply", "subtract", "minimum", "fmax", "logical_or")


def _ufunc_segments() -> Iterator[Make]:
    for ufunc, axis in itertools.product(_SEGMENTED, (0, 1)):
        yield lambda u=ufunc, a=axis: (filled(FLOAT64, (4, 3)), np.array([0, 2, 1]), u, a, None)  # type: ignore[misc]
    yield lambda: (filled(INT64, (5,)), np.array([1, 3]), "add", 0, FLOAT64)
    for number in range(1, LAYOUTS):
        yield lambda n=number: (array(FLOAT64, n), np.array([0, 1, 0]), "add", -1, None)  # type: ignore[misc]


def _partitions() -> Iterator[Make]:
    for dtype in (FLOAT64, np.dtype("u1"), np.dtype("c8")):
        for kth, axis in itertools.product(((1,), (0, 2), (-1,)), (None, 0, 1)):
            yield lambda d=dtype, k=kth, a=axis: (filled(d, (3, 4)), k, a)  # type: ignore[misc]
    for number in range(1, LAYOUTS):
        yield lambda n=number: (array(FLOAT64, n), (1,), 0)  # type: ignore[misc]


SAMPLES: dict[str, Source] = {
    "ufunc_reduce": _ufunc_reductions,
    "ufunc_accumulate": _ufunc_scans,
    "ufunc_reduceat": _ufunc_segments,
    "partition": _partitions,
    "argpartition": _partitions,
}
