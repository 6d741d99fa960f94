"""Which rule computes a node on complex numbers, by how NumPy walks its operands.

See Note [Complex numbers].
"""

from __future__ import annotations

from functools import cache

import numpy as np

from fxc.ir.graph import Node
from fxc.ir.records import replace
from fxc.ir.size_guards import guard
from fxc.ir.types import ArrayType

from .complex_floats import fused
from .complex_rules import COMPLEX_RULES, absolute_scalar, multiply_scalars
from .coverage import types_in
from .made_rules import MadeRule, Make
from .python_complex import PYTHON_COMPLEX_RULES

RULES = COMPLEX_RULES | PYTHON_COMPLEX_RULES


@cache
def calls_hypot_backwards() -> bool:
    """Whether this NumPy, on this processor, has another loop for what goes backwards."""
    parts = np.arange(1.0, 65.0)
    z = parts + 1j * parts[::-1] / 3
    return bool((np.abs(z[::-1])[::-1] != np.abs(z)).any())


@cache
def _backwards() -> dict[tuple[str, np.dtype], Make]:
    """What NumPy computes backwards, by operator and dtype of the result."""
    single, double = np.dtype(np.complex64), np.dtype(np.float64)
    made: dict[tuple[str, np.dtype], Make] = {}
    if not fused(single, -1):  # as NumPy 2.0 does
        made["multiply", single] = multiply_scalars
        made["square", single] = lambda body, args, *kinds: multiply_scalars(
            body, (*args, *args), *kinds
        )
    return made | ({("absolute", double): absolute_scalar} if calls_hypot_backwards() else {})


def has_rule(name: str) -> bool:
    """Whether there is a rule for an operator on complex numbers."""
    return name in RULES


def rule_of(node: Node) -> MadeRule | None:
    """The rule for a pointwise node on complex numbers."""
    rule = RULES.get(node.op)
    backwards = _backwards().get((node.op, node.output.type.dtype))
    if rule is None or backwards is None or not _goes_backwards(node):
        return rule
    return replace(rule, make=backwards)


def _goes_backwards(node: Node) -> bool:
    """Whether an array of rank 1 is walked with a negative stride; others NumPy may turn around, or
    gather first.
    """
    kinds = [kind for kind in types_in(node)[:-1] if isinstance(kind, ArrayType)]
    if node.output.type.rank != 1:
        return False
    moving = [kind for kind in kinds if kind.shape and kind.shape[0] != 1]
    return any(guard(kind.strides[0], "<", 0) for kind in moving)
