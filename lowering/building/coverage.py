"""Which dtypes native code knows, and which calls of NumPy it makes."""

from __future__ import annotations

import numpy as np

from fxc.ir.graph import Node, operands_of
from fxc.ir.types import PART_DTYPES, Type
from fxc.ops.operators import Tag
from fxc.ops.table import TABLE

NATIVE_DTYPES = frozenset(
    np.dtype(code) for code in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
)


def is_called(node: Node) -> bool:
    """Whether native code can call NumPy for the node: see Note [Calls of NumPy]."""
    is_plain = not node.regions and node.bound is None and TABLE[node.op].tag is not Tag.WRITE
    return is_plain and is_known(*types_in(node))


def types_in(node: Node) -> list[Type]:
    """The types of a node's operands and of its results."""
    types = [operand.type for arg in node.args for operand in operands_of(arg)]
    return types + [value.type for value in node.outputs]


def is_known(*types: Type) -> bool:
    """Whether there is native code for these dtypes."""
    return all(kind.dtype in NATIVE_DTYPES or kind.dtype in PART_DTYPES for kind in types)
