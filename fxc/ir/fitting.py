"""Whether an argument is of the kind that a parameter wants."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from .graph import Arg, ArrayConstant, Literal, Region, SliceSpec, Value
from .schema import Param
from .symbols import SymExpr
from .text import show_argument
from .types import ScalarType


def _is_dim(arg: Arg) -> bool:
    return (isinstance(arg, int) and not isinstance(arg, bool)) or isinstance(arg, SymExpr)


def _is_slice(arg: Arg) -> bool:
    return isinstance(arg, SliceSpec) and all(map(_is_dim, (arg.start, arg.stop, arg.step)))


def _is_scalar(arg: Arg) -> bool:
    return isinstance(arg, Value | Literal) and isinstance(arg.type, ScalarType)


_FITS: Mapping[str, Callable[[Arg], bool]] = {
    "Array": lambda arg: isinstance(arg, Value | Literal),
    "float": _is_scalar,
    "Sym": _is_dim,
    "int": lambda arg: type(arg) is int,
    "bool": lambda arg: type(arg) is bool,
    "str": lambda arg: type(arg) is str,
    "DType": lambda arg: isinstance(arg, np.dtype),
    "Slice": _is_slice,
    "Constant": lambda arg: isinstance(arg, ArrayConstant),
    "Region": lambda arg: isinstance(arg, Region),
}


def fits(param: Param, arg: Arg) -> bool:
    """Whether ``arg`` is of the kind that ``param`` wants."""
    if arg is None:
        return param.optional
    if param.is_list:
        return isinstance(arg, tuple) and all(map(_FITS[param.kind], arg))
    return _FITS[param.kind](arg)


def describe(arg: Arg) -> str:
    """An argument as messages name it."""
    return "a region" if isinstance(arg, Region) else show_argument(arg)
