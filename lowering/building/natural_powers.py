"""Integers to a power that is a number of the program: products.

NumPy multiplies in the dtype, and drops what goes beyond it, so the order of the products does not
show. Others are NumPy's own: a negative exponent raises, and of scalars NumPy tells what overflows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from fxc.ir.graph import Literal, Node
from fxc.ir.types import ArrayType

from ..nests.buffers import Atom, Const, Element, Pair
from ..operators.scalar_rules import DTypes
from .complex_rules import MadeRule
from .rule_body import RuleBody

_MOST: Final = 64


def is_natural_power(node: Node) -> bool:
    """Whether a power is one of an array of integers to a small number that is known."""
    base, exponent = node.args
    if not isinstance(exponent, Literal) or not isinstance(base.type, ArrayType):
        return False
    if node.output.type.dtype.kind not in "iu" or not isinstance(exponent.value, int | np.integer):
        return False
    return bool(0 <= exponent.value <= _MOST)


def _products(body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype) -> Element:
    """By squares, from the last bit of the exponent on."""
    square, power = args
    assert isinstance(power, Const)
    assert not isinstance(square, Pair)
    rest, both = int(power.value), (result, result)
    found: Atom | None = None
    while rest:
        if rest & 1:
            if found is None:
                found = square
            else:
                found = body.compute("multiply", (found, square), both, result)
        rest >>= 1
        if rest:
            square = body.compute("multiply", (square, square), both, result)
    return Const(1, result) if found is None else found


NATURAL_POWER: Final = MadeRule(_products, cost=6)
