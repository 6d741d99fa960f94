"""Texts of one character as the integers that they are: NumPy's operators on them, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from fxc.ir.boxed_dtypes import is_character
from fxc.ir.graph import ArrayConstant
from fxc.ir.types import Type

from .composites import OpsHandle

# Note [Characters as integers]
# Native code computes with texts of one character (``<U1``) as with their codes, by ``reinterpret``
# as for dates (Note [Dates as integers]). An element of code 0 is the empty text, which is less
# than all others, so codes compare as texts do. Texts of other lengths are left to NumPy.

_CODES = np.dtype(np.uint32)


def rule_for(name: str) -> Callable[..., object] | None:
    """As that of dates."""
    return _RULES.get(name)


def _codes(ops: OpsHandle, x: object) -> object:
    """Raises ``TypeError`` for what is no array of characters."""
    if not is_character(ops.type_of(x).dtype):
        raise TypeError("an operand has no codes")
    return ops.reinterpret(x, _CODES)


def _texts(ops: OpsHandle, kind: Type, codes: object) -> object:
    """Raises ``TypeError`` where the result is not of characters."""
    if not is_character(kind.dtype):
        raise TypeError("a result has no codes")
    return ops.reinterpret(codes, kind.dtype)


def _comparison(ops: OpsHandle, kind: Type, x: object, y: object, *, name: str) -> object:
    return ops.call(name, _codes(ops, x), _codes(ops, y))


def _where(ops: OpsHandle, kind: Type, condition: object, x: object, y: object) -> object:
    return _texts(ops, kind, ops.where(condition, _codes(ops, x), _codes(ops, y)))


def _constant(ops: OpsHandle, kind: Type, value: ArrayConstant) -> object:
    return _texts(ops, kind, ops.constant(ArrayConstant(_CODES, value.shape, value.data)))


def _full(
    ops: OpsHandle, kind: Type, shape: object, value: object, dtype: np.dtype, layout: object
) -> object:
    return _texts(ops, kind, ops.full(shape, _codes(ops, value), _CODES, layout))


_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
_RULES: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        **{name: partial(_comparison, name=name) for name in _COMPARISONS},
        "where": _where,
        "constant": _constant,
        "full": _full,
    }
)
