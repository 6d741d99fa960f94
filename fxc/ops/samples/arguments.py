"""Where samples come from: ``Make`` gives the arguments of one call, new arrays each time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .arrays import BOOL, DTYPES, FLOAT64, INT64, LAYOUTS, VARIANTS, array, filled

Make = Callable[[], tuple[Any, ...]]
Source = Callable[[], Iterator[Make]]


def operands(count: int, scalars: bool) -> Iterator[Make]:
    """Operands: every dtype in C order, every layout in a few dtypes, scalars, broadcasts."""
    for dtype in DTYPES:
        yield _same(dtype, 0, count)
    for dtype in (FLOAT64, INT64, BOOL):
        for number in range(1, LAYOUTS):
            yield _same(dtype, number, count)
    if not scalars:
        return
    yield from (_scalars(kind, count) for kind in (np.float64, np.int32, np.bool_, float, int))
    if count > 1:
        yield from _mixed(count)


def _same(dtype: np.dtype, number: int, count: int) -> Make:
    return lambda: tuple(array(dtype, number, shift) for shift in range(count))


def _scalars(kind: type, count: int) -> Make:
    return lambda: tuple(kind(value) for value in (1, 2, 3)[:count])


def _mixed(count: int) -> Iterator[Make]:
    """Operands that differ in dtype, shape or kind."""
    tail = count - 2

    def rest() -> tuple[Any, ...]:
        return tuple(filled(FLOAT64, (3,)) for _ in range(tail))

    for left, right in itertools.permutations(map(np.dtype, ("f4", "i8", "u1")), 2):
        yield lambda a=left, b=right: (filled(a, (2, 3)), filled(b, (3,)), *rest())  # type: ignore[misc]
    for scalar in (2, 0.5, True, np.float32(0.5), np.int64(2), np.array(2.0)):
        for dtype in (np.dtype("f4"), INT64):
            yield lambda d=dtype, s=scalar: (filled(d, (2, 3)), s, *rest())  # type: ignore[misc]
            yield lambda d=dtype, s=scalar: (s, filled(d, (2, 3)), *rest())  # type: ignore[misc]
    yield lambda: (filled(FLOAT64, (2, 1)), filled(FLOAT64, (1, 3)), *rest())

    def overlapping() -> tuple[Any, ...]:
        base = filled(FLOAT64, (4,))
        return (base[1:], base[:-1], *rest())

    yield overlapping


def literally(*calls: tuple[Any, ...]) -> Source:
    """These arguments; arrays are copied for each sample."""

    def fresh(arg: object) -> Any:
        if isinstance(arg, np.ndarray):
            return arg.copy(order="K")
        return tuple(map(fresh, arg)) if type(arg) is tuple else arg

    def arguments() -> Iterator[Make]:
        for call in calls:
            yield lambda c=call: tuple(map(fresh, c))  # type: ignore[misc]

    return arguments


def over(*attributes: tuple[Any, ...], shape: tuple[int, ...]) -> Source:
    """Arrays of one shape, C, F, strided and reversed, with each of the static arguments."""

    def arguments() -> Iterator[Make]:
        for dtype, attribute in itertools.product((FLOAT64, np.dtype("i2")), attributes):
            for vary in VARIANTS:
                yield lambda d=dtype, a=attribute, v=vary: (v(filled(d, shape)), *a)  # type: ignore[misc]

    return arguments


def chain(*parts: Source) -> Source:
    return lambda: itertools.chain.from_iterable(part() for part in parts)
