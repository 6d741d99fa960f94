"""Scalars that are not negative, or nan."""

from __future__ import annotations

from collections.abc import Callable

from fxc.ir.graph import Literal, Node, Operand, Value

from .counters import Range

_ALWAYS = frozenset({"absolute", "fabs", "square", "exp", "exp2", "sqrt", "root", "hypot"})
_SQUARES = (Literal(2), Literal(2.0))
_IF_OPERANDS = frozenset({"add", "multiply", "divide", "maximum", "float", "astype", "item"})


class Signs:
    """What is known of numbers while the nodes of a graph are gone through."""

    def __init__(self, range_of: Callable[[Operand], Range | None]) -> None:
        self.range_of = range_of
        self.natural: set[Value] = set()

    def is_natural(self, x: Operand) -> bool:
        """Whether a number is at least 0, or nan; it may be -0.0."""
        if isinstance(x, Literal):
            return isinstance(x.value, int | float) and not x.value < 0
        found = None if x.type.rank else self.range_of(x)
        return x in self.natural or (found is not None and found[0] >= 0)

    def add(self, node: Node) -> None:
        """Look at what a node gives."""
        if len(node.outputs) != 1 or node.output.type.rank or node.output.type.dtype.kind != "f":
            return
        name = node.op
        for prefix in ("py_", "try_", "math_"):
            name = name.removeprefix(prefix)
        operands = [x for x in node.args if isinstance(x, Value | Literal)]
        if (
            name in _ALWAYS
            or (name == "multiply" and operands[0] == operands[1])
            or (name.startswith("power") and operands[1] in _SQUARES)
            or (name in _IF_OPERANDS and all(map(self.is_natural, operands)))
        ):
            self.natural.add(node.output)
