"""Numbers as those of another dtype: what is stored into an array, or joined with another."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.indexing import as_stored
from ..numbers.python_numbers import as_scalar
from ..session.session import current
from ..values.operands import operand, variable_of, wrap
from .mixed import or_one


def is_weak_float(x: object) -> bool:
    """Whether this is a float of Python's, which raises where it fits in no int, or complex."""
    kind = operand(x).type
    return kind.dtype.kind == "c" or bool(kind.weak and kind.dtype.kind == "f")


def stored(flag: object, x: object, dtype: np.dtype) -> Any:
    """A number of that dtype where the flag holds; nothing that is asked of it raises elsewhere."""
    if dtype.kind == "i":
        x = variable_of(as_stored(operand(or_one(flag, x)), dtype))
    return as_number_of(x, dtype)


def as_number_of(x: object, dtype: np.dtype) -> Any:
    """The number, cast to that dtype."""
    found = current().value("astype", operand(x), dtype, casting="unsafe")
    return wrap(as_scalar(found))
