"""Sizes: as numbers of the module, as values that the module computes, or as bounds.

A tensor has numbers for sizes, or question marks. A size that depends on the sizes of inputs is a
question mark, and where an operation needs it as a value, the module computes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from fxc.ir.size_functions import substitute
from fxc.ir.symbols import Computed, Dim, Symbol, SymExpr, SymFunc, symbols_of, terms_of

from .builder import I64, Builder, Val
from .problems import Unsayable

# Note [Held sizes]
# XLA's tensors have one size for as long as the program runs. What has another size in each
# iteration of a loop, or as many elements as a mask has chosen, is held in a tensor that is large
# enough for all: its first elements are those, the others are nobody's. Operations that would see
# them (sums, products of matrices, what is written to a place) leave them out.

Range = tuple[int, int | None]
_LOWEST = -(2**62)


class TensorSizes:
    """What is known of the symbols of a graph.

    ``known`` are symbols with a number, ``ranges`` those that change while the program runs, and
    ``values`` gives the tensor of each symbol that is not known.
    """

    def __init__(self, b: Builder, known: Mapping[str, int]) -> None:
        self.b = b
        self.known = dict(known)
        self.ranges: dict[str, Range] = {}
        self.values: dict[str, Callable[[], Val]] = {}

    def plain(self, dim: Dim) -> Dim:
        """The dim with what is known."""
        return dim if isinstance(dim, int) or not self.known else substitute(dim, self.known)

    def changes(self, dim: Dim) -> bool:
        """Whether the size is another one from time to time: see Note [Held sizes]."""
        return any(name in self.ranges for name in symbols_of(self.plain(dim)))

    def held(self, dim: Dim) -> Dim:
        """The size of the tensor that holds it: a number, or what depends on inputs alone."""
        dim = self.plain(dim)
        if not self.changes(dim):
            return dim
        most = self.range(dim)[1]
        if most is None:
            raise Unsayable(f"the size {dim} changes while the program runs, without a known bound")
        return max(most, 0)

    def held_shape(self, shape: Sequence[Dim]) -> tuple[Dim, ...]:
        """Each of the sizes as ``held`` has it."""
        return tuple(map(self.held, shape))

    # ------------------------------------------------------------ bounds

    def range(self, dim: Dim) -> Range:
        """The least and the greatest number that ``dim`` can be."""
        low: int = 0
        high: int | None = 0
        for monomial, factor in terms_of(self.plain(dim)):
            part: Range = (1, 1)
            for atom in monomial:
                part = _product(part, self._atom_range(atom))
            part = _product(part, (factor, factor)) if factor >= 0 else self._negated(part, factor)
            low = low + part[0]
            high = None if high is None or part[1] is None else high + part[1]
        return low, high

    def _negated(self, part: Range, factor: int) -> Range:
        low, high = part
        if high is None:
            return _LOWEST, low * factor
        return high * factor, low * factor

    def _atom_range(self, atom: Symbol | SymFunc | Computed) -> Range:
        match atom:
            case Symbol(name, _, lower):
                return self.ranges.get(name, (_LOWEST if lower is None else lower, None))
            case SymFunc(name, left, right):
                return _of_function(name, self.range(left), self.range(right))
            case _:
                return _LOWEST, None

    # ------------------------------------------------------------ values

    def value(self, dim: Dim) -> Val:
        """``dim`` as a tensor of one int64."""
        dim = self.plain(dim)
        if isinstance(dim, int):
            return self.b.scalar(dim, I64)
        for block in reversed(self.b.blocks):
            if dim in block.sizes:
                return block.sizes[dim]
        made = self._computed(dim)
        self.b.blocks[-1].sizes[dim] = made
        return made

    def _computed(self, dim: SymExpr) -> Val:
        total: Val | None = None
        for monomial, factor in terms_of(dim):
            parts = [self._atom_value(atom) for atom in monomial]
            if factor != 1 or not parts:
                parts.append(self.b.scalar(factor, I64))
            term = parts[0]
            for part in parts[1:]:
                term = self.b.same("multiply", term, part)
            total = term if total is None else self.b.same("add", total, term)
        assert total is not None
        return total

    def _atom_value(self, atom: Symbol | SymFunc | Computed) -> Val:
        match atom:
            case SymFunc("min" | "max" as name, left, right):
                return self.b.same(f"{name}imum", self.value(left), self.value(right))
            case SymFunc(name, left, right):
                return _divided(self.b, name, self.value(left), self.value(right))
            case Symbol(name) if name in self.values:
                return self.values[name]()
            case _:
                raise Unsayable(f"the size {atom.name} is known to nobody")

    def shape(self, shape: Sequence[Dim]) -> Val:
        """Sizes as one tensor, for operations of question marks."""
        if all(isinstance(dim, int) for dim in shape):
            return self.b.constant(np.array(shape, I64))
        return self.vector([self.value(dim) for dim in shape])

    def vector(self, numbers: Sequence[Val]) -> Val:
        """Tensors of one int64 as one tensor."""
        parts = [self.b.op("reshape", [each], I64, (1,)) for each in numbers]
        if not parts:
            return self.b.constant(np.zeros(0, I64))
        if len(parts) == 1:
            return parts[0]
        return self.b.op("concatenate", parts, I64, (len(parts),), "dim = 0")


def _product(left: Range, right: Range) -> Range:
    if left[1] is None or right[1] is None:
        is_natural = left[0] >= 0 and right[0] >= 0
        return (left[0] * right[0], None) if is_natural else (_LOWEST, None)
    ends = [a * b for a in left for b in right if a is not None and b is not None]
    return min(ends), max(ends)


def _of_function(name: str, left: Range, right: Range) -> Range:
    highs = [high for high in (left[1], right[1]) if high is not None]
    if name == "min":
        return min(left[0], right[0]), min(highs, default=None)
    if name == "max":
        return max(left[0], right[0]), max(highs) if len(highs) == 2 else None
    if left[0] < 0 or right[0] < 0:
        return _LOWEST, None
    if name == "mod":
        return 0, None if right[1] is None else max(right[1] - 1, 0)
    return 0, None if left[1] is None else left[1] // max(right[0], 1)


def _divided(b: Builder, name: str, x: Val, y: Val) -> Val:
    """Python's ``//`` or ``%`` of sizes: the divisor is positive."""
    rest = b.same("remainder", x, y)
    below = b.compare("LT", rest, b.scalar(0, I64))
    if name == "mod":
        return b.select(below, b.same("add", rest, y), rest)
    quotient = b.same("divide", x, y)
    return b.select(below, b.same("subtract", quotient, b.scalar(1, I64)), quotient)
