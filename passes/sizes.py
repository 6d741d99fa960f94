"""Ranges of dims."""

from __future__ import annotations

from collections.abc import Iterable

from fxc.ir.graph import Node, Value
from fxc.ir.later import import_later
from fxc.ir.size_guards import Guard
from fxc.ir.symbols import Dim, Symbol, SymFunc, symbols_of
from fxc.ir.types import ArrayType

from .counters import Range
from .facts import INT64
from .range_rules import DIM_RULES, multiplied

# See Note [Rooms with one door].
symbols_bound_by = import_later("fxc.ir.evaluate", "symbols_bound_by")

ADDRESSES = 2**57  # bytes


class Sizes:
    """What is known of the symbols of a graph, and of the counters of its loops."""

    def __init__(self, inputs: Iterable[Value], guards: Iterable[Guard]) -> None:
        self.symbols: dict[str, Range] = {}
        self.bound = [name for value in inputs for name in symbols_bound_by(value)]  # here
        for guard in guards:
            self.relation(guard)
        for value in inputs:
            self.fits(value)

    def is_bound(self, dim: Dim) -> bool:
        """Whether a dim is one that code here can have."""
        return all(name in self.bound for name in symbols_of(dim))

    def relation(self, guard: Guard) -> None:
        """A guard holds: one that compares a symbol with a number."""
        found = _of_one_symbol(guard.left)
        if found is None or found[1:] != (1, 0) or not isinstance(guard.right, int):
            return
        low, high = self.atom(found[0])
        match guard.relation:
            case ">=" | ">" as relation:
                low = max(low, guard.right + (relation == ">"))
            case "<=" | "<" as relation:
                high = min(high, guard.right - (relation == "<"))
        self.symbols[found[0].name] = low, high

    def fits(self, value: Value) -> None:
        """An array is there whose elements have places of their own, of more than no bytes."""
        kind = value.type
        if not isinstance(kind, ArrayType) or 0 in kind.shape or 0 in kind.strides:
            return
        unknown = [dim for dim in kind.shape if not isinstance(dim, int)]
        found = _of_one_symbol(unknown[0]) if len(unknown) == 1 else None
        if found is not None and found[1] > 0:
            low, high = self.atom(found[0])
            self.symbols[found[0].name] = low, min(high, (ADDRESSES - found[2]) // found[1])

    def bind(self, node: Node, number: Range) -> Range:
        """A symbol is a number from here on."""
        high = min(number[1], self.dim(node.arg("most"))[1])
        self.symbols[node.arg("symbol")] = found = max(number[0], 0), high
        return found

    def dim(self, dim: Dim) -> Range:
        if isinstance(dim, int):
            return dim, dim
        total = 0, 0
        for monomial, coefficient in dim.terms:
            term: Range = coefficient, coefficient
            for atom in monomial:
                term = multiplied(term, self.atom(atom))
            total = total[0] + term[0], total[1] + term[1]
        return total

    def atom(self, atom: object) -> Range:
        if isinstance(atom, SymFunc):
            found = DIM_RULES[atom.name](self.dim(atom.left), self.dim(atom.right))
            return INT64 if found is None else found
        if isinstance(atom, Symbol):
            least = INT64[0] if atom.lower is None else atom.lower
            return self.symbols.get(atom.name, (least, INT64[1]))
        return INT64


def _of_one_symbol(dim: Dim) -> tuple[Symbol, int, int] | None:
    """The symbol, the factor and the number in ``factor * symbol + number``."""
    found, number = None, 0
    for monomial, factor in () if isinstance(dim, int) else dim.terms:
        if not monomial:
            number = factor
        elif found is None and len(monomial) == 1 and isinstance(monomial[0], Symbol):
            found = monomial[0], factor
        else:
            return None
    return None if found is None else (*found, number)
