"""The dtypes that the text of the loop IR leaves out, since they follow from the rest."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from .buffers import BOOL, F64, I64

_TRUTH = r"(py_)?(less|greater|equal|not_equal|logical_|is|signbit|out_of_).*|.* fails"
_OF_TYPES = {bool: "b", int: "iu", float: "f"}


def fits(value: object, dtype: np.dtype) -> bool:
    """Whether a constant is written like a number of this dtype."""
    return dtype.kind in _OF_TYPES[type(value)]


def kind_beside(value: object, others: Sequence[np.dtype]) -> np.dtype:
    """The dtype of a constant without one: of a scalar beside it, if there is one of its kind."""
    standard = {bool: BOOL, int: I64, float: F64}[type(value)]
    return next((dtype for dtype in others if fits(value, dtype)), standard)


def kind_of_result(op: str, given: Sequence[np.dtype]) -> np.dtype:
    """The dtype of a result without one: that of the last operand, or a truth value."""
    return BOOL if not given or re.fullmatch(_TRUTH, op) else given[-1]
