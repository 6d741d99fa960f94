"""Sample inputs of pointwise operators that have static arguments, or take Python's numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..python_numbers import PYTHON_OPERATORS
from .arguments import Make, Source, operands
from .arrays import BOOL, DTYPES, FLOAT64, INT64, LAYOUTS, array, filled


def _where() -> Iterator[Make]:
    for make in operands(2, scalars=True):
        yield lambda m=make: (filled(BOOL, np.broadcast_shapes(*map(np.shape, m()))), *m())  # type: ignore[misc]
    yield lambda: (True, 1.0, 2)
    yield lambda: (filled(FLOAT64, (2, 3)), 1, filled(FLOAT64, (3,)))


def _clip() -> Iterator[Make]:
    for dtype in DTYPES:
        yield lambda d=dtype: (filled(d, (2, 3)), d.type(1), d.type(4))  # type: ignore[misc]
    for number in range(LAYOUTS):
        yield lambda n=number: (array(FLOAT64, n), -1.0, 2)  # type: ignore[misc]
        yield lambda n=number: (array(INT64, n), None, 3)  # type: ignore[misc]
        yield lambda n=number: (array(FLOAT64, n), 0.0, None)  # type: ignore[misc]
    yield lambda: (filled(FLOAT64, (2, 3)), None, None)
    yield lambda: (filled(np.dtype("f4"), (2, 3)), filled(FLOAT64, (3,)), np.inf)


def _astype() -> Iterator[Make]:
    for source, target in itertools.product(DTYPES, DTYPES):
        yield lambda s=source, t=target: (filled(s, (2, 3)), t, "unsafe", "K")  # type: ignore[misc]
    for number in range(1, LAYOUTS):
        for order in "KCFA":
            yield lambda n=number, o=order: (array(INT64, n), FLOAT64, "safe", o)  # type: ignore[misc]
    yield lambda: (np.float64(2.5), np.dtype("f4"), "same_kind", "K")
    yield lambda: (2, INT64, "unsafe", "K")


def _copy() -> Iterator[Make]:
    for dtype in DTYPES:
        yield lambda d=dtype: (filled(d, (2, 3)), "K")  # type: ignore[misc]
    for number, order in itertools.product(range(1, LAYOUTS), "KCFA"):
        yield lambda n=number, o=order: (array(FLOAT64, n), o)  # type: ignore[misc]


_NUMBERS: tuple[tuple[Any, Any], ...] = (
    *((1.5, 2.0), (-0.0, 3.0), (1 + 2j, 2.0), (True, 2.5), (7, 3), (-8, 2), (0.5, -2.0)),
    *((2**40, 2**5), (5, -1), (2.5, 4), (3, 0.5), (True, False), (0, 0)),
)


def _python_numbers(count: int) -> Source:
    def numbers() -> Iterator[Make]:
        for values in _NUMBERS:
            yield lambda v=(*values, 9): v[:count]  # type: ignore[misc]

    return numbers


def _numbers_with_parts() -> Iterator[Make]:
    for value in (1 - 2j, np.complex64(1 - 2j), np.complex128(complex(-0.0, np.nan))):
        yield lambda v=value: (v,)  # type: ignore[misc]
    yield lambda: (filled(np.dtype("c16"), (2, 3)),)


SAMPLES: dict[str, Source] = {
    "where": _where,
    "clip": _clip,
    "astype": _astype,
    "copy": _copy,
    **{name: _python_numbers(count) for name, (count, _, _) in PYTHON_OPERATORS.items()},
    "real_number": _numbers_with_parts,
    "imaginary_number": _numbers_with_parts,
}
