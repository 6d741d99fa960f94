"""In which dtypes pointwise nodes compute, and what they cost."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from fxc.ir.graph import Literal, Node, Value
from fxc.ir.later import import_later
from fxc.ir.types import PART_DTYPES, ArrayType, ScalarType, Type
from fxc.ops.foreign_ufuncs import PromotionKey, is_foreign, name_in_scipy
from fxc.ops.identities import power_takes_shortcuts
from fxc.ops.operators import Operator, Tag
from fxc.ops.python_numbers import stem
from fxc.ops.table import TABLE

from ..machine.costs import Costs
from ..operators.inner_loops import promotion_key
from ..operators.python_rules import SCALAR_RULES
from ..operators.scalar_rules import DTypes, ScalarRule, Typed
from .coverage import is_complex

if TYPE_CHECKING:
    from .made_rules import MadeRule

# See Note [Rooms with one door].
natural_power = import_later("fxc.lowering.building.natural_powers", "natural_power")
rule_of_complex = import_later("fxc.lowering.building.complex_nodes", "rule_of")


def weight(node: Node, costs: Costs) -> int:
    """A rough number of machine operations for one element of the result."""
    if TABLE[node.op].tag is Tag.GATHER:
        return costs.gather
    rule = rule_of(node)
    return rule.cost if rule is not None else 0


def loop_name(node: Node, *, repeated: bool = False) -> str:
    """The entry of ``SCALAR_RULES`` for the node's loop; a name of its own for one NumPy loop.

    Integer scalars in code that is ``repeated`` are computed without a look whether they overflow.
    """
    if not repeated and _is_of_integer_scalars(node):
        return f"{node.op} of scalars"
    if node.op != "power":
        return rule_name(TABLE[node.op])
    if all(isinstance(operand.type, ScalarType) for operand in node.args):
        return "power_of_scalars"
    shortcuts = power_takes_shortcuts() and _has_one_exponent(node)
    return "power_by_one" if shortcuts else "power"


def _is_of_integer_scalars(node: Node) -> bool:
    """Whether NumPy warns of an overflow."""
    kinds = [operand.type for operand in (*node.args, *node.outputs) if hasattr(operand, "type")]
    return (
        node.op in ("add", "subtract", "multiply", "negative", "absolute")
        and all(isinstance(kind, ScalarType) for kind in kinds)
        and node.output.type.dtype.kind in "iu"
    )


def _has_one_exponent(node: Node) -> bool:
    """See Note [Powers that NumPy computes otherwise]."""
    base, exponent = (operand.type for operand in node.args)
    if isinstance(exponent, ScalarType):
        return isinstance(base, ArrayType)
    steps = zip(exponent.shape, exponent.strides, strict=True)
    if not all(size == 1 or step == 0 for size, step in steps):
        return False
    if exponent.rank == 0 or any(size != 1 for size in exponent.shape):
        return True
    return bool(base.rank > 0 and exponent.shape != base.shape)


def rule_of(node: Node) -> ScalarRule | MadeRule | None:
    """How the node becomes code, if it does."""
    if stem(node.op) == "power":
        power: MadeRule | None = natural_power(node)
        if power is not None:
            return power
    if is_complex(node):
        rule: MadeRule | None = rule_of_complex(node)
        return rule
    return SCALAR_RULES.get(rule_name(TABLE[node.op]))


def rule_name(op: Operator) -> str:
    """The name of the rule of an operator on real numbers, if there is one."""
    special = name_in_scipy(op.numpy)
    return op.name if special is None else f"special_{special}"


def runs_inner_loop(node: Node) -> bool:
    """Whether NumPy's inner loop computes it: a function of complex numbers that has no rule."""
    return has_complex_loop(node) and rule_of(node) is None


def has_complex_loop(node: Node) -> bool:
    """Whether NumPy has an inner loop for the function of complex numbers that it is.

    NumPy takes the elements one by one, so the result depends on nothing but the element.
    """
    function, kind = TABLE[node.op].numpy, node.outputs[0].type.dtype
    if not isinstance(function, np.ufunc) or (function.nin, function.nout) != (1, 1):
        return False
    if kind not in PART_DTYPES or is_foreign(function):
        return False
    is_same = all(operand.type.dtype == kind for operand in node.args)
    return is_same and f"{kind.char}->{kind.char}" in function.types


def loop_dtypes(node: Node) -> tuple[DTypes, np.dtype]:
    """The dtypes to which NumPy casts the operands of a pointwise node, and that of the result."""
    operands = [arg for arg in node.args if isinstance(arg, Value | Literal)]
    keys = tuple(promotion_key(operand.type) for operand in operands)
    rule = rule_of(node)
    return _loop_dtypes(node.op, rule.typed if rule else None, keys, node.output.type.dtype)


def binary_dtypes(ufunc: str, left: Type, right: Type) -> tuple[DTypes, np.dtype]:
    """The dtypes to which a binary ufunc casts its operands, and that of its result."""
    keys = (promotion_key(left), promotion_key(right))
    return _loop_dtypes(ufunc, None, keys, left.dtype)


@cache
def _loop_dtypes(
    name: str, typed: Typed | None, keys: tuple[PromotionKey, ...], result: np.dtype
) -> tuple[DTypes, np.dtype]:
    function = TABLE[name].numpy
    if typed is not None:
        return typed(tuple(np.dtype(key) for key in keys), result)
    if isinstance(function, np.ufunc):
        *inputs, output = function.resolve_dtypes((*keys, None))
        return tuple(inputs), output
    return tuple(result for _ in keys), result
