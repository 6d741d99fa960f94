"""What the expressions of an epilogue are made of: leaves, variables and constants."""

from __future__ import annotations

from typing import Any

from ..outside.outside import Outside
from ..session.session import RESULT
from .leaves import CapturedLeaf, output_leaf


class ExpressionParts:
    """Collects the leaves, variables and constants that expressions name."""

    def __init__(self, outside: Outside) -> None:
        self._outside = outside
        self.leaves: list[CapturedLeaf] = []
        self.objects: dict[str, None] = {}  # variables of the guard program
        self._constants: dict[str, Any] = {}

    def _leaf(self, x: object) -> str:
        self._outside.session.spend(RESULT)
        self.leaves.append(output_leaf(self._outside, x))
        return f"r{len(self.leaves) - 1}"

    def _reference(self, var: str) -> str:
        """A variable of the guard program."""
        constants = self._outside.guards.constants
        if var in constants:
            self._constants[var] = constants[var]
        else:
            self.objects[var] = None
        return var

    def _constant(self, value: object) -> str:
        name = f"k{len(self._constants)}"
        self._constants[name] = value
        return name
