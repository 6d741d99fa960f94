"""The code of every pointwise operator."""

from __future__ import annotations

from .casts import Emit
from .python_code import PYTHON_CODE
from .python_failures import FAILURE_CODE
from .scalar_code import NUMPY_CODE

SCALAR_CODE: dict[str, Emit] = NUMPY_CODE | PYTHON_CODE | FAILURE_CODE
