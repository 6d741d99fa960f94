"""Rules of operators that become several operations: on complex numbers, and powers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fxc.ir.records import frozen
from fxc.ir.types import Type

from ..nests.buffers import Atom, Element
from ..operators.scalar_rules import DTypes, Typed
from .rule_body import RuleBody

# (body, operands cast to the loop's dtypes, these dtypes, the result's dtype) -> the result
Make = Callable[[RuleBody, Sequence[Element], DTypes, np.dtype], Element]
# (body, operands cast to the loop's dtypes, the result) -> whether Python gives no such result
Fails = Callable[[RuleBody, Sequence[Element], Element], Atom]


@frozen
class MadeRule:
    """How a pointwise operator becomes several operations: that on complex numbers, on floats.

    ``cost`` and ``typed`` are those of a ScalarRule; ``supports`` gets the types of the operands.
    What is ``bounded`` keeps to a bound, and may have other bits than NumPy. ``fails`` is of
    operators of Python's numbers that can.
    """

    make: Make
    cost: int = 2
    typed: Typed | None = None
    supports: Callable[[Sequence[Type]], bool] | None = None
    bounded: bool = False
    fails: Fails | None = None
