"""Indices that may be out of bounds where the program handles what NumPy raises."""

from __future__ import annotations

from typing import Any

from fxc.ir.graph import Operand, Value
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim, counted_in

from ..numbers.python_numbers import arithmetic, logical_not
from ..session.session import current
from ..values.operands import operand, record, variable_of


def handled_if_outside(index: Operand, size: Dim) -> Operand:
    """An index, or that of the first element if it is out of bounds and the program handles that:
    see Note [Handled in the graph].
    """
    session = current()
    if not isinstance(index, Value) or index.type.dtype.kind != "i" or counted_in(size):
        return index
    given = record("py_int", index)

    def is_inside() -> Any:
        count = variable_of(session.size_operand(size))
        ends = arithmetic("lt", given, count), arithmetic("ge", given, arithmetic("neg", count))
        return arithmetic("and", *ends)

    is_outside = session.door.raises_if(IndexError, lambda: logical_not(is_inside()))
    if is_outside is None:
        return index
    guard(size, ">=", 1)
    return operand(arithmetic("mul", given, is_inside()))
