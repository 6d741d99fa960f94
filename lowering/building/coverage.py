"""Which dtypes native code knows, and which calls of NumPy it makes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fxc.ir.boxed_dtypes import field_of, integer_of
from fxc.ir.graph import Literal, Node, Operand, Value, operands_of
from fxc.ir.types import PART_DTYPES, ScalarType, Type
from fxc.ops.operators import CONTROL, Tag
from fxc.ops.table import TABLE

from ..machine.target import Target
from ..nests.buffers import HALF
from .fields import FIELDS, names_in
from .scope import free_values

# Note [Half precision]
# NumPy computes with float16 in float32, and rounds the result of each ufunc; a sum is rounded at
# the end of each run that its inner loop adds up. So does native code, where the processor converts
# the one to the other (``Target.halves``) and its result in float32 is NumPy's to the bit: a last
# bit there decides between two numbers of float16. Other functions, and all of them on other
# processors, are NumPy's; elements are moved natively there, too. A float64 is rounded once.

NATIVE_DTYPES = frozenset(
    np.dtype(code)
    for code in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
)


def is_complex(node: Node) -> bool:
    """Whether a pointwise node has complex operands or a complex result."""
    return any(x.dtype.kind == "c" and x.dtype in PART_DTYPES for x in types_in(node))


def is_called(node: Node) -> bool:
    """Whether native code can call NumPy for the node: see Note [Calls of NumPy]."""
    return not node.regions and node.bound is None and TABLE[node.op].tag is not Tag.WRITE


def moves(node: Node) -> bool:
    """Whether all that is done to elements of dtypes without native code is to copy them.

    See Note [Boxed dtypes].
    """
    op = TABLE[node.op]
    given = [operand for arg in node.args for operand in operands_of(arg)]
    given += [result for region in node.regions for result in region.results]
    if any(isinstance(x, Literal) and not is_known(x.type) for x in given):
        return False
    kinds = [operand.type.dtype for operand in given]
    match op.tag:
        case Tag.LOOP | Tag.BRANCH:
            return True
        case Tag.VIEW if op.group in FIELDS:
            return True
        case Tag.VIEW | Tag.GATHER:
            return kinds[0] == node.output.type.dtype
        case Tag.SCATTER if op.group in FIELDS:
            field = field_of(kinds[0], names_in(node)).dtype
            return field == kinds[1] or field in NATIVE_DTYPES or field in PART_DTYPES
        case Tag.SCATTER:
            return kinds[0] == kinds[1]
        case Tag.JOIN:
            return all(dtype == node.output.type.dtype for dtype in kinds)
        case Tag.INDEX_PUT if op.name == "index_put":
            return kinds[0] == kinds[1]
    if op.name == "reinterpret":
        sides = integer_of(kinds[0]), integer_of(node.output.type.dtype)
        return all(side.kind in "iu" and side in NATIVE_DTYPES for side in sides)
    return op.name in ("copy", "item") and kinds[0] == node.output.type.dtype


def has_conversions(node: Node, machine: Target) -> bool:
    """Whether the machine converts what the node has of float16: see Note [Half precision]."""
    if not has_halves(node) or moves(node):
        return True
    return machine.halves and takes_halves(node)


def reads_unseen(node: Node, inputs: Sequence[Value]) -> bool:
    """Whether it reads a number that native code is not given, as it is of a boxed dtype."""
    unseen = {v for v in inputs if isinstance(v.type, ScalarType) and not is_known(v.type)}
    return bool(unseen) and not unseen.isdisjoint((*node.inputs, *free_values(node)))


def has_halves(node: Node) -> bool:
    """Whether a value of the node is of float16."""
    return any(kind.dtype == HALF for kind in types_in(node))


def takes_halves(node: Node) -> bool:
    """Whether native code for the node may be of float16 at all: see Note [Half precision]."""
    op = TABLE[node.op]
    if op.tag is Tag.FACTORY or op.tag is Tag.INDEX_PUT:
        return op.name not in ("arange", "index_reduce")
    return op.tag in _WITH_HALVES


_WITH_HALVES = frozenset(
    {Tag.POINTWISE, Tag.REDUCTION, Tag.VIEW, Tag.GATHER, Tag.SCATTER, Tag.JOIN, *CONTROL}
)


def types_in(node: Node) -> list[Type]:
    """The types of a node's operands and of its results."""
    found: list[Type] = []
    for arg in (*node.args, *node.outputs):
        if isinstance(arg, Operand):
            found.append(arg.type)
        elif isinstance(arg, tuple):
            found += [item.type for item in arg if isinstance(item, Operand)]
    return found


def is_known(*types: Type) -> bool:
    """Whether there is native code for these dtypes."""
    return all(kind.dtype in NATIVE_DTYPES or kind.dtype in PART_DTYPES for kind in types)
