"""Real and imaginary parts: views of complex arrays, the array itself or zeros of real ones."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from fxc.ir.types import ArrayType
from fxc.ops.metas.layout import is_f_ordered

from ..values.operands import TracedValue, array_value, record, wrap
from .indexing import assign


def real_part(x: TracedValue) -> Any:
    """As ``x.real`` of an array: a real array itself."""
    return record("real", x._value) if _is_complex(x) else x


def imaginary_part(x: TracedValue) -> Any:
    """As ``x.imag`` of an array: of a real one, new zeros that are read-only."""
    if _is_complex(x):
        return record("imag", x._value)
    kind = x._value.type
    assert isinstance(kind, ArrayType)
    layout = tuple(reversed(range(kind.rank))) if is_f_ordered(kind) and kind.rank > 1 else None
    zeros = record("zeros", kind.shape, kind.dtype, layout=layout)
    return record("broadcast_to", zeros._value, kind.shape)


def assign_part(x: TracedValue, name: str, source: object) -> None:
    """As ``x.real = source`` or ``x.imag = source``."""
    if name == "imag" and not _is_complex(x):
        raise TypeError("array does not have imaginary part to set")
    part = real_part(x) if name == "real" else imaginary_part(x)
    assign(part._value, source if _are_parts_checked() else wrap(array_value(source)))


@cache
def _are_parts_checked() -> bool:
    """Whether this NumPy assigns a number to parts as to elements, as from 2.5 on: it must fit.
    Before, it was cast, as an array is.
    """
    try:
        np.zeros(1, np.int8).real = 300
    except OverflowError:
        return True
    return False


def _is_complex(x: TracedValue) -> bool:
    return x._value.type.dtype.kind == "c"
