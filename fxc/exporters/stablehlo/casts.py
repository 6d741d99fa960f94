"""Casts between dtypes, as NumPy makes them on x86-64.

StableHLO's ``convert`` leaves open what becomes of a float that no integer of the dtype is, and XLA
takes the nearest. NumPy gives the lowest number; int8, int16, uint8 and uint16 go by way of int32.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from fxc.ir.types import PART_DTYPES

from .builder import BOOL, F32, F64, I32, I64, Builder, Val

_U32, _U64, _F16 = np.dtype("u4"), np.dtype("u8"), np.dtype("f2")


class Kit(Protocol):
    """What rules of elements are given: a builder, and numbers in the shape of a tensor."""

    b: Builder

    def like(self, x: Val, value: Any, dtype: np.dtype | None = None) -> Val: ...

    def truth(self, x: Val) -> Val: ...


def cast(k: Kit, x: Val, dtype: np.dtype) -> Val:
    """``x.astype(dtype)``."""
    if x.dtype == dtype:
        return x
    if dtype == BOOL:
        return k.truth(x)
    if x.dtype in PART_DTYPES:
        return _from_complex(k, x, dtype)
    if dtype in PART_DTYPES:
        part = cast(k, x, PART_DTYPES[dtype])
        return k.b.op("complex", [part, k.like(part, 0)], dtype, x.shape)
    if x.dtype.kind == "f" and dtype.kind in "iu":
        return _to_integer(k, x, dtype)
    return k.b.convert(x, dtype)


def _from_complex(k: Kit, x: Val, dtype: np.dtype) -> Val:
    if dtype in PART_DTYPES:
        return k.b.convert(x, dtype)
    return cast(k, k.b.op("real", [x], PART_DTYPES[x.dtype], x.shape), dtype)


def _to_integer(k: Kit, x: Val, dtype: np.dtype) -> Val:
    if x.dtype == _F16:
        x = k.b.convert(x, F32)
    if dtype.itemsize < 4:
        return k.b.convert(_to_signed(k, x, I32), dtype)
    if dtype == _U32:
        return k.b.convert(_to_signed(k, x, I64), dtype)
    if dtype == _U64:
        small = k.b.bits(_to_signed(k, x, I64), _U64)
        is_small = k.b.compare("LT", x, k.like(x, 2.0**63))
        return k.b.select(is_small, small, k.b.convert(x, _U64))
    return _to_signed(k, x, dtype)


def _to_signed(k: Kit, x: Val, dtype: np.dtype) -> Val:
    """To int32 or int64: their lowest number for what is not between their ends."""
    end = 2.0 ** (8 * dtype.itemsize - 1)
    if x.dtype == F64 and dtype == I32:  # what is cut off may be beyond the end
        above = k.b.compare("GT", x, k.like(x, -end - 1))
    else:
        above = k.b.compare("GE", x, k.like(x, -end))
    inside = k.b.same("and", above, k.b.compare("LT", x, k.like(x, end)))
    return k.b.select(inside, k.b.convert(x, dtype), k.like(x, np.iinfo(dtype).min, dtype))
