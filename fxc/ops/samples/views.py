"""Sample inputs of views."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from fxc.ir.graph import SliceSpec

from .arguments import Make, Source, chain, over
from .arrays import BOOL, CUBE, DTYPES, FLOAT64, VARIANTS, filled


def _parts() -> Iterator[Make]:
    for code in ("c8", "c16"):
        for shape in ((4,), (3, 4), (), (0, 2)):
            for vary in VARIANTS:
                yield lambda c=code, s=shape, v=vary: (v(filled(np.dtype(c), s)),)  # type: ignore[misc]


def _recast(has_room: Callable[[int, int], bool]) -> Source:
    """Arrays with each dtype to take their bytes for, of fitting sizes."""

    def arguments() -> Iterator[Make]:
        for old, new in itertools.product(DTYPES, DTYPES):
            if BOOL not in (old, new) and has_room(old.itemsize, new.itemsize):
                for vary in VARIANTS:
                    yield lambda o=old, n=new, v=vary: (v(filled(o, (3, 16))), n)  # type: ignore[misc]

    return arguments


_same_sizes = _recast(lambda old, new: old == new)
_other_sizes = _recast(lambda old, new: old != new)


def _fields() -> Iterator[Make]:
    inner = np.dtype([("n", "i4"), ("z", "c16")])
    for dtype in (np.dtype([("x", "f8"), ("t", "M8[s]"), ("in", inner)]), np.dtype([("x", "f4")])):
        for names in (("x",), ("in", "z")):
            if dtype.fields and names[0] in dtype.fields:
                yield lambda d=dtype, n=names: (np.zeros((3, 2), d), n)  # type: ignore[misc]
                yield lambda d=dtype, n=names: (np.ones((3, 2), d)[::-1, 1], n)  # type: ignore[misc]


def _array_fields() -> Iterator[Make]:
    inner = np.dtype([("n", "i4"), ("z", "c16", (2,))])
    dtype = np.dtype([("x", "f8", (3,)), ("n", "i4"), ("in", inner, (2, 2))])
    for names in (("x",), ("in", "z")):
        yield lambda n=names: (np.zeros((3, 2), dtype), n)  # type: ignore[misc]
        yield lambda n=names: (np.ones((3, 2), dtype)[::-1, 1], n)  # type: ignore[misc]


def _several_fields() -> Iterator[Make]:
    inner = np.dtype([("n", "i4"), ("z", "c16")])
    dtype = np.dtype([("x", "f8"), ("t", "M8[s]"), ("in", inner), ("n", "i2")])
    for names in (("x", "in"), ("n", "t"), ("t",), dtype.names or ()):
        yield lambda n=names: (np.zeros((3, 2), dtype), n)  # type: ignore[misc]
        yield lambda n=names: (np.ones((3, 2), dtype)[::-1, 1], n)  # type: ignore[misc]


def _index(*axes: tuple[int, int, int]) -> tuple[tuple[SliceSpec, ...]]:
    return (tuple(SliceSpec(*axis) for axis in axes),)


def _reshapes() -> Iterator[Make]:
    for dtype in (FLOAT64, np.dtype("u1")):
        for old, new in (
            ((2, 6), (3, 4)), ((2, 6), (12,)), ((12,), (2, 2, 3)), ((), (1, 1)), ((1,), ()),
            ((0, 3), (3, 0)), ((2, 6), (2, 1, 6)),
        ):  # fmt: skip
            yield lambda d=dtype, o=old, n=new: (filled(d, o), n)  # type: ignore[misc]
        yield lambda d=dtype: (filled(d, (4, 6))[::2], (2, 2, 3))  # type: ignore[misc]
        yield lambda d=dtype: (filled(d, (4, 6))[::-1], (4, 3, 2))  # type: ignore[misc]


SAMPLES: dict[str, Source] = {
    "slice": chain(
        over(_index((0, 4, 1)), _index((1, 4, 2)), _index((3, -1, -1)), shape=(4,)),
        over(_index((0, 3, 1), (3, 0, -2)), _index((1, 1, 1), (0, 4, 1)), shape=(3, 4)),
        over(_index(), shape=()),
    ),
    "select": chain(over((0, 1), (0, 0), shape=(4,)), over((0, 1), (1, 2), (2, 3), shape=CUBE)),
    "dynamic_select": chain(
        over((np.int64(1), 0), (np.int64(3), -1), shape=(4,)),
        over((np.int64(1), 0), (np.int64(2), 1), (np.int32(3), 2), shape=CUBE),
    ),
    "transpose": chain(
        over(((1, 0),), ((0, 1),), shape=(2, 3)),
        over(((2, 0, 1),), shape=CUBE),
        over(((),), shape=()),
    ),
    "reshape": _reshapes,
    "expand_dims": chain(over(((0,),), ((1, 3),), shape=(2, 3)), over(((0,),), shape=())),
    "squeeze": over(((1,),), ((1, 3),), shape=(2, 1, 3, 1)),
    "broadcast_to": chain(
        over(((2, 3),), ((3,),), shape=(3,)),
        over(((2, 3, 4),), shape=(3, 1)),
        over(((2,),), shape=()),
    ),
    "broadcast": chain(
        over(((2, 3),), ((3,),), shape=(3,)),
        over(((2, 3, 4),), shape=(3, 1)),
        over(((2,),), shape=()),
    ),
    "diagonal": chain(
        over((0, 0, 1), (1, 0, 1), (-1, 1, 0), shape=(3, 4)),
        over((1, 2, 0), (0, -2, -1), (-1, -1, -3), (1, 0, -1), shape=CUBE),
    ),
    "real": _parts,
    "imag": _parts,
    "field": _fields,
    "array_field": _array_fields,
    "fields": _several_fields,
    "bitcast": _same_sizes,
    "reinterpret": _same_sizes,
    "regroup_bytes": _other_sizes,
    "as_strided": chain(
        over(((2, 3), (1, 1), True), ((3,), (1,), False), ((2, 2), (2, 1), True), shape=(4,)),
        over(((2, 3, 2, 2), (1, 0, 1, 0, 0, 1, 0, 1), False), shape=(3, 4)),
    ),
}
