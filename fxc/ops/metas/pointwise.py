"""Metas of pointwise operators, casts and copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.ir.errors import InternalError
from fxc.ir.graph import Literal
from fxc.ir.types import ArrayType, ScalarType, Type

from ..operators import Operator
from .layout import copied_strides, pointwise_strides
from .probing import Operand, ask, key_of, quietly, sample, scalar_dtype, type_of
from .shapes import broadcast_shapes


def pointwise_meta(op: Operator) -> Callable[..., Type | tuple[Type, ...]]:
    """The meta of an operator that gives each element from one element of each operand.

    It follows from the NumPy callable alone, so new pointwise operators need no meta of their own.
    """
    function = op.numpy
    assert function is not None
    single = len(op.schema.returns) == 1

    def meta(*operands: Operand | None) -> Type | tuple[Type, ...]:
        samples = ask(function, tuple([key_of(operand) for operand in operands]))
        arrays = [x for x in operands if type(x) is ArrayType and x.shape]
        if not arrays:
            return samples[0] if single else samples
        shape = arrays[0].shape
        for x in arrays:
            if x.shape != shape:
                shapes = [
                    () if isinstance(x, Literal) else x.shape for x in operands if x is not None
                ]
                shape = broadcast_shapes(*shapes)
                break
        results = tuple(
            [
                ArrayType(r.dtype, shape, pointwise_strides(shape, arrays, r.dtype.itemsize))
                for r in samples
            ]
        )
        return results[0] if single else results

    return meta


def pointwise_type(like: np.dtype[Any], *operands: Type) -> ArrayType:
    """The array that a pointwise operator with results of dtype ``like`` allocates."""
    shape = broadcast_shapes(*(x.shape for x in operands))
    arrays = [x for x in operands if isinstance(x, ArrayType)]
    return ArrayType(like, shape, pointwise_strides(shape, arrays, like.itemsize))


def copy(x: Operand, order: str) -> Type:
    """``np.copy``: an array also of a scalar."""
    kind = type_of(x)
    if isinstance(kind, ScalarType):
        (found,) = ask(np.copy, (key_of(x),))
        return found
    return ArrayType(kind.dtype, kind.shape, copied_strides(kind, order, kind.dtype.itemsize))


def astype(x: Operand, dtype: np.dtype[Any], casting: str, order: str) -> Type:
    """``x.astype``; a Python scalar becomes NumPy's of the new dtype."""
    kind = type_of(x)
    check_cast(kind, dtype, casting)
    if isinstance(kind, ScalarType):
        return ScalarType(scalar_dtype(dtype))
    return ArrayType(dtype, kind.shape, copied_strides(kind, order, dtype.itemsize))


def reinterpret(x: Operand, dtype: np.dtype[Any]) -> Type:
    """The bytes of each element as another dtype of the same size, in the layout of ``x``."""
    kind = type_of(x)
    if kind.dtype.itemsize != dtype.itemsize:
        raise InternalError(f"{kind} has elements of another size than {dtype}")
    if isinstance(kind, ScalarType):
        return ScalarType(dtype)
    return ArrayType(dtype, kind.shape, kind.strides)


def check_cast(kind: Type, dtype: np.dtype[Any], casting: Any) -> None:
    """Raise NumPy's ``TypeError`` if the cast is not allowed."""
    if casting == "unsafe" or kind.dtype == dtype:
        return
    if not np.can_cast(kind.dtype, dtype, casting):
        scalar = isinstance(kind, ScalarType)
        one = sample((kind.dtype, "scalar" if scalar else min(kind.rank, 1), None))
        quietly(one.astype, dtype, casting=casting)
        raise TypeError(f"Cannot cast {kind.dtype!r} to {dtype!r} by the rule {casting!r}")


METAS: dict[str, Callable[..., Any]] = {"copy": copy, "astype": astype, "reinterpret": reinterpret}
