"""In which dtypes pointwise nodes compute, and what they cost."""

from __future__ import annotations

from functools import cache

import numpy as np

from fxc.ir.graph import Literal, Node, Value
from fxc.ir.types import ScalarType, Type
from fxc.ops.table import TABLE

from .scalar_rules import SCALAR_RULES, DTypes

PromotionKey = np.dtype | type


def weight(node: Node) -> int:
    """A rough number of machine operations for one element of the result."""
    rule = SCALAR_RULES.get(node.op)
    return rule.cost if rule is not None else 0


def loop_dtypes(node: Node) -> tuple[DTypes, np.dtype]:
    """The dtypes to which NumPy casts the operands of a pointwise node, and that of the result."""
    operands = [arg for arg in node.args if isinstance(arg, Value | Literal)]
    keys = tuple(_promotion_key(operand.type) for operand in operands)
    return _loop_dtypes(node.op, keys, node.output.type.dtype)


def _promotion_key(kind: Type) -> PromotionKey:
    if isinstance(kind, ScalarType) and kind.weak and kind.python_type is not bool:
        return kind.python_type
    return kind.dtype


@cache
def _loop_dtypes(
    name: str, keys: tuple[PromotionKey, ...], result: np.dtype
) -> tuple[DTypes, np.dtype]:
    function, rule = TABLE[name].numpy, SCALAR_RULES.get(name)
    if rule is not None and rule.typed is not None:
        return rule.typed(tuple(np.dtype(key) for key in keys), result)
    if isinstance(function, np.ufunc):
        *inputs, output = function.resolve_dtypes((*keys, None))
        return tuple(inputs), output
    return tuple(result for _ in keys), result
