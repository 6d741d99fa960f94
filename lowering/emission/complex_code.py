"""Pointwise operators on parts of complex numbers, as LLVM code on registers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fxc.ir.flag_bits import INVALID

from ..nests.buffers import BOOL
from ..operators.scalar_rules import DTypes
from .llvm_text import Lanes


def fused_multiply_add(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    return code.intrinsic("fma", result, args)


def has_no_order(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    """Whether two numbers have none, by their real parts and, if they are complex, their imaginary
    ones, of which those of equal real parts are compared. NumPy calls that invalid.
    """
    dtype, (x, y, *imaginary) = dtypes[0], args
    found = code.compare("uno", dtype, x, y)
    if imaginary:
        same = code.compare("oeq", dtype, x, y)
        second = code.binary("and", BOOL, same, code.compare("uno", dtype, *imaginary))
        found = code.binary("or", BOOL, found, second)
    code.report(found, INVALID)
    return found
