"""Ints of the program as dims: sizes, places, axes."""

from __future__ import annotations

import operator
from functools import cache
from typing import Any

import numpy as np

from fxc.ir.error_kinds import NUMPY_OPTION, WARNS
from fxc.ir.symbols import Dim, SymExpr
from fxc.ir.types import ArrayType, ScalarType

from ..session.refusing import refuse
from ..session.session import current
from ..session.warned_of import warning_of
from ..values.operands import Traced, TracedValue, wrap
from .derived import derived
from .measured import size_from, size_of
from .python_numbers import as_scalar
from .traced_int import exact


def dim_of(x: object, what: str = "a size") -> Dim:
    """The dim for an int in the user's program.

    Raises ``CaptureError`` for one that depends on elements of arrays.
    """
    if type(x) is int:
        return x
    x = x._plain() if isinstance(x, Traced) else x
    x = exact(x)
    dim = x if type(x) is int else getattr(x, "_dim", None) if isinstance(x, Traced) else None
    if isinstance(dim, SymExpr):
        return dim
    if isinstance(x, TracedValue):
        kind = x._value.type
        if kind.dtype.kind in "iu" and kind.rank == 0:
            counted = size_of(x._value)
            if counted is not None:
                return counted
            number = as_scalar(x._value)
            measured = size_from(number)
            if measured is not None:
                return measured
            known = derived(int, number)
            return int(current().specialise(number, what)) if known is None else dim_of(known)
        name = "numpy.ndarray" if isinstance(kind, ArrayType) else kind.dtype.type.__name__
        raise no_int(kind.dtype.type, name)
    if hasattr(x, "__index__"):
        return int(x.__index__())
    raise TypeError(f"{type(x).__name__!r} object cannot be interpreted as an integer")


def dims_of(shape: object) -> tuple[Dim, ...]:
    """The dims for a shape as NumPy takes it: an int or a sequence of ints, and no bools."""
    if isinstance(shape, TracedValue) and shape._value.type.rank > 0:
        shape = tuple(wrap(shape._value))
    if isinstance(shape, tuple | list):
        return tuple(map(_size, shape))
    if isinstance(shape, np.ndarray) and not isinstance(shape, Traced):
        return tuple(map(int, shape))
    return (_size(shape),)


def _size(x: object) -> Dim:
    kind = x._operand().type if isinstance(x, TracedValue) else None
    if isinstance(x, bool | np.bool_) or (isinstance(kind, ScalarType) and kind.dtype.kind == "b"):
        raise TypeError("an integer is required")
    return dim_of(x)


def known_int(x: Any, what: str) -> int:
    """What has to be an int, and known while capturing; NumPy's error for what is none."""
    if isinstance(x, TracedValue) and x._value.type.dtype.kind in "iu" and not x._value.type.rank:
        return int(current().specialise(x._value, what))
    dim = dim_of(x, what)
    return dim if isinstance(dim, int) else int(x.__index__())


def axis_number(axis: object) -> int:
    if type(axis) is bool:  # not all of NumPy's functions take it
        raise refuse(NUMPY_OPTION, "an axis that is a bool", "give an int")
    return known_int(axis, "an axis")


def no_int(kind: type, name: str) -> Exception:
    """What is raised where an int is wanted, but of what this is."""
    if issubclass(kind, np.bool_) and _bools_are_ints():
        return refuse(WARNS, "a bool of NumPy's as an int, of which NumPy warns,")
    return TypeError(f"{name!r} object cannot be interpreted as an integer")


@cache
def _bools_are_ints() -> bool:
    """Whether NumPy takes its bools for ints, with a warning, as 2.0 does."""
    true: Any = np.True_
    try:
        return warning_of(lambda: operator.index(true)) is not None
    except TypeError:
        return False
