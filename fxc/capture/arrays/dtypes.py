"""Dtypes and orders as the user's program gives them."""

from __future__ import annotations

from typing import Any

import numpy as np

from fxc.ir.boxed_dtypes import is_without_unit
from fxc.ir.error_kinds import OPERAND
from fxc.ir.graph import Operand
from fxc.ir.types import ArrayType, ScalarType, is_known

from ..session.refusing import refuse
from ..values.operands import Traced, has_traced, type_of

CASTINGS = frozenset({"no", "equiv", "safe", "same_kind", "unsafe"})  # which dtypes decide on


def order_of(order: object, default: str = "C") -> str:
    """An order as NumPy reads it: of either case, or none.

    Raises NumPy's exceptions for what is none.
    """
    if order is None:
        return default
    if not isinstance(order, str):
        raise TypeError(f"order must be str, not {type(order).__name__}")
    if order.upper() not in ("C", "F", "A", "K"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got '{order}')")
    return order.upper()


def result_type(*arrays_and_dtypes: object) -> np.dtype:
    found: np.dtype = np.result_type(*map(_promoting, arrays_and_dtypes))
    return found


def min_scalar_type(a: Any) -> np.dtype:
    """As ``np.min_scalar_type``: of an array with axes its dtype."""
    kind = a._operand().type if isinstance(a, Traced) else None
    if kind is None and has_traced(a):
        raise refuse(
            OPERAND, "np.min_scalar_type of a list of numbers that vary", "make it an array"
        )
    if kind is not None and not kind.rank:
        raise refuse(OPERAND, "np.min_scalar_type of a number, which decides the dtype,")
    found: np.dtype = np.min_scalar_type(a) if kind is None else kind.dtype
    return found


def _promoting(x: object) -> Any:
    if isinstance(x, list) and type(x) is not list:  # by its items NumPy takes it for a record's
        raise refuse(OPERAND, "np.result_type of such a list", "use its array")
    return promoting(x._operand().type) if isinstance(x, Traced) else x


def promoting(kind: ArrayType | ScalarType) -> Any:
    """What ``np.result_type`` takes for a type."""
    return kind.python_type(1) if isinstance(kind, ScalarType) and kind.weak else kind.dtype


def check_real(x: Operand, dtype: np.dtype) -> None:
    """Raise what Python raises where a complex number of its own becomes a real one."""
    kind = type_of(x)
    is_pythons = isinstance(kind, ScalarType) and kind.weak
    if is_pythons and kind.dtype.kind == "c" and dtype.kind in "iuf":
        raise TypeError("float() argument must be a string or a real number, not 'complex'")


def dtype_of(dtype: Any) -> np.dtype:
    """The dtype that the user's program asks for; graphs may know nothing of it."""
    if isinstance(dtype, Traced) and issubclass(dtype.__class__, str):
        dtype = dtype._known()  # type: ignore[attr-defined]
    found: np.dtype = np.dtype(np.void if has_traced(dtype) else dtype)
    if not is_known(found) or is_without_unit(found):
        named = "a structured dtype" if found == np.void else f"dtype {found}"
        raise refuse(OPERAND, f"an array of {named}")
    return found
