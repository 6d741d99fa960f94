"""How NumPy multiplies matrices into an array that goes down its columns.

::

    matmul.out(%x, %y, out=%out)      →      %0 = transpose_copy(%x, (1, 0))
                                             %1 = transpose_copy(%y, (1, 0))
                                             %2 = matmul(%1, %0)
                                             %3 = transpose_copy(%2, (1, 0))

BLAS fills an array row by row. So NumPy asks it for the product turned, of the operands turned,
and their order is the other one: totals may be rounded otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fxc.ir.graph import Operand
from fxc.ir.types import ArrayType, stride_order


def as_numpy_turns(
    trace: Callable[..., Any], target: ArrayType, values: Sequence[Operand], content: Operand
) -> Operand:
    """The ``content`` that NumPy writes to the target where it multiplies two values."""
    if content.type.dtype.kind not in "fc" or min(value.type.rank for value in values) < 2:
        return content
    order = stride_order(target)
    if order.index(target.rank - 2) < order.index(target.rank - 1):
        return content
    x, y = (trace("transpose_copy", value, _turned(value)) for value in values)
    found = trace("matmul", y, x)
    return trace("transpose_copy", found, _turned(found))  # type: ignore[no-any-return]


def _turned(value: Operand) -> tuple[int, ...]:
    *outer, row, column = range(value.type.rank)
    return (*outer, column, row)
