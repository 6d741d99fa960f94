"""Sample inputs of operators with index arrays, or with masks."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..kernels import kernel_of
from .arguments import Make, Source, chain, literally
from .arrays import (
    BOOL,
    CUBE,
    FLOAT64,
    INT64,
    LAYOUTS,
    VARIANTS,
    array,
    filled,
    fortran,
    spread,
    turned,
)


def _index_arrays() -> Iterator[tuple[tuple[Any, ...], tuple[int, ...], int]]:
    """Index arrays for an array of shape (2, 3, 4), their axes, and where their axes go."""
    rows, columns = np.array([[1, 0, 1], [0, 0, 1]]), np.array([2, 0, 2])
    yield (rows,), (0,), 0
    yield (columns.astype("u2")[::-1],), (1,), 1
    yield (fortran(rows),), (2,), 2
    yield (rows, columns), (0, 1), 0
    yield (rows[:1], columns), (0, 2), 0
    yield (rows.astype("i4"), 1, columns), (0, 1, 2), 0
    yield (np.zeros((0,), np.int64),), (0,), 0
    yield (np.int64(1), np.int64(2)), (1, 2), 1


def _wraps() -> Iterator[Make]:
    for dtype in map(np.dtype, ("i8", "i4", "u1", "u8")):
        for number in range(LAYOUTS):
            yield lambda d=dtype, n=number: (array(d, n) % 9, 9, 0)  # type: ignore[misc]
    yield from literally((np.array([-3, 0, 2, -1]), 3, 1), (np.int32(-4), 4, 0), (3, 4, 0))()


def _gathers() -> Iterator[Make]:
    for indices, axes, place in _index_arrays():
        rank = 3 - len(axes) + np.broadcast(*indices).ndim
        for dtype, layout in ((FLOAT64, None), (BOOL, tuple(reversed(range(rank))))):
            for vary in VARIANTS:
                yield lambda d=dtype, i=indices, a=axes, p=place, o=layout, v=vary: (  # type: ignore[misc]
                    v(filled(d, CUBE)), i, a, p, o
                )  # fmt: skip


def _with_sources(targets: np.ndarray, indices: object, axes: object, place: int) -> Iterator[Any]:
    """Sources for what the index arrays choose: as large, broadcast, one element."""
    shape = kernel_of("gather")(targets, indices, axes, place, None).shape
    yield filled(targets.dtype, shape, 3)
    yield fortran(filled(np.dtype("i2"), shape, 4))
    if shape:
        yield filled(np.dtype("u1"), shape[-1:], 5)
    yield from (filled(targets.dtype, (), 7), targets.dtype.type(1), 1)


def _index_puts(*more: object) -> Source:
    def arguments() -> Iterator[Make]:
        for indices, axes, place in _index_arrays():
            for dtype, vary in ((FLOAT64, np.asarray), (INT64, fortran), (BOOL, spread)):
                target = filled(dtype, CUBE)
                for source in _with_sources(target, indices, axes, place):
                    call = (vary(target), source, indices, axes, place, *more)
                    yield from literally(call)()

    return arguments


def _negated() -> Iterator[Make]:
    for indices, axes, place in _index_arrays():
        call = (filled(FLOAT64, CUBE), None, indices, axes, place, "negative")
        yield from literally(call)()


def _masked_puts() -> Iterator[Make]:
    for dtype, vary in itertools.product((FLOAT64, INT64), (np.asarray, fortran, turned)):
        for rank in (1, 2, 3):
            mask = filled(BOOL, CUBE[:rank])
            for kind in (dtype, np.dtype("f4")):
                source = filled(kind, (int(mask.sum()), *CUBE[rank:]), 3)
                yield from literally((vary(filled(dtype, CUBE)), mask, source))()


SAMPLES: dict[str, Source] = {
    "wrap_index": _wraps,
    "gather": _gathers,
    "index_put": _index_puts(),
    "index_reduce": chain(*(_index_puts(n) for n in ("add", "maximum", "divide")), _negated),
    "masked_put": _masked_puts,
    "bind_size": literally((np.int64(3), "count", 7)),
    "nonzero": literally((np.array([True, False, True]), 2), (np.array([[0, 2], [3, 0]]), 2)),
    "unique": literally(
        (np.array([3, 1, 3]), False, False, False, True, True, False, "count", 3),
        (
            np.array([[2.0, np.nan], [np.nan, 2.0]]),
            True,
            True,
            True,
            False,
            True,
            False,
            "count",
            4,
        ),
        (np.array([[2, 1], [2, 1], [0, 1]]), True, False, True, True, True, True, "count", 3),
    ),
}
