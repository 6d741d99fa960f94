"""What reductions start from."""

from __future__ import annotations

import numpy as np

from .buffers import Const


def neutral(combine: str, dtype: np.dtype) -> Const:
    """What the total of a reduction starts from, in NumPy: +0.0 for a sum."""
    match combine.removeprefix("py_"):
        case "add":
            return Const(dtype.type(0).item(), dtype)
        case "logical_or":
            return Const(False, dtype)
        case "multiply" | "logical_and":
            return Const(dtype.type(1).item(), dtype)
        case "maximum" | "minimum":
            return Const(_extreme(dtype, lowest=combine.endswith("maximum")), dtype)
        case _:
            raise AssertionError(combine)


_HAVE_ONE = frozenset({"add", "logical_or", "multiply", "logical_and", "maximum", "minimum"})


def usual_start(combine: str, dtype: np.dtype) -> Const | None:
    """What a total starts from if its text does not say: None if there is nothing usual."""
    return neutral(combine, dtype) if combine.removeprefix("py_") in _HAVE_ONE else None


def nothing(combine: str, dtype: np.dtype) -> Const:
    """What leaves every first element as it is, even -0.0."""
    if combine == "add" and dtype.kind == "f":
        return Const(-0.0, dtype)
    return neutral(combine, dtype)


def _extreme(dtype: np.dtype, *, lowest: bool) -> bool | int | float:
    match dtype.kind:
        case "f":
            return -np.inf if lowest else np.inf
        case "b":
            return not lowest
        case _:
            info = np.iinfo(dtype)
            return int(info.min if lowest else info.max)
