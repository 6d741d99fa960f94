"""Which inner loops of ufuncs native code calls. See Note [Foreign ufuncs]."""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.graph import Literal, Node, Value
from fxc.ir.types import ScalarType, Type
from fxc.ops.foreign_ufuncs import InnerLoop, PromotionKey, inner_loop_of
from fxc.ops.table import TABLE


def has_inner_loop(node: Node) -> bool:
    """Whether native code can call the inner loop of the ufunc that a node is."""
    operands = [arg for arg in node.args if isinstance(arg, Value | Literal)]
    if len(operands) < len(node.args):
        return False
    loop = loop_for(node.op, [operand.type for operand in operands])
    return loop is not None and [loop.dtypes[-1]] == [out.type.dtype for out in node.outputs]


def loop_for(op: str, kinds: Sequence[Type]) -> InnerLoop | None:
    """The inner loop that an operator runs on such operands, if it is not one of NumPy's own."""
    return inner_loop_of(TABLE[op].numpy, tuple(map(promotion_key, kinds)))


def promotion_key(kind: Type) -> PromotionKey:
    """What ``np.ufunc.resolve_dtypes`` takes for an operand: the type of a number, or a dtype."""
    if isinstance(kind, ScalarType) and kind.weak and kind.python_type is not bool:
        return kind.python_type
    return kind.dtype
