"""Powers by a number of the program, as products: of integers, and of Python's complex numbers.

NumPy multiplies integers in the dtype, and drops what goes beyond it, so the order of the products
does not show; it warns of no overflow, not even of scalars. A negative exponent raises: that is
NumPy's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from fxc.ir.graph import Literal, Node

from ..nests.buffers import F64, Atom, Const, Element, Pair
from ..operators.scalar_rules import DTypes
from .complex_rules import multiply_scalars
from .coverage import types_in
from .made_rules import MadeRule
from .python_complex import as_result, computes_as_known, is_infinite
from .rule_body import RuleBody

_MOST: Final = 64


def natural_power(node: Node) -> MadeRule | None:
    """The rule of a power by a small natural number that is known, if products give it."""
    if not isinstance(node.args[1], Literal):
        return None
    exponent = node.args[1].value
    if not isinstance(exponent, int | float | np.integer) or not 0 <= exponent <= _MOST:
        return None
    if node.op == "power":
        is_whole = isinstance(exponent, int | np.integer)
        return _OF_INTEGERS if is_whole and node.output.type.dtype.kind in "iu" else None
    is_known = exponent == int(exponent) and computes_as_known(types_in(node))
    return _OF_PYTHON if is_known else None


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


def _python_products(
    body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype
) -> Element:
    """By squares, times one to begin with, as CPython does."""
    square, power = args
    assert isinstance(power, Pair)
    assert isinstance(power.re, Const)
    rest = int(power.re.value)
    found: Element = Pair(Const(1.0, F64), Const(0.0, F64))
    while rest:
        if rest & 1:
            found = multiply_scalars(body, (found, square), dtypes, result)
        rest >>= 1
        if rest:
            square = multiply_scalars(body, (square, square), dtypes, result)
    return found


_OF_INTEGERS: Final = MadeRule(_products, cost=6)
_OF_PYTHON: Final = MadeRule(_python_products, cost=18, typed=as_result, fails=is_infinite)
