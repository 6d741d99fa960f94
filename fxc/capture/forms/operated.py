"""Numbers whose operators are in a module above: see Note [What modules above do]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..values.above import above
from ..values.operands import Traced
from ..values.operator_methods import BINARY, COMPARISONS, give_methods
from ..values.protocols import TakesUfuncs


class Operated(TakesUfuncs, Traced):
    """Such a number."""

    __slots__ = ()

    @staticmethod
    def _among(items: Sequence[Any]) -> object:
        return above().of_one_dtype(items)


give_methods(
    Operated,
    lambda name, *xs: above().mixed(name, *xs),
    {*BINARY, *COMPARISONS, "neg", "pos", "abs", "invert"} - {"matmul"},
)
