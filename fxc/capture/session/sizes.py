"""The sizes that a capture counts at run time, and the counters of its loops.

See Note [Counted sizes].
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.records import frozen
from fxc.ir.size_functions import counted_size
from fxc.ir.size_guards import Guard, recorders
from fxc.ir.symbols import Dim, Symbol, SymExpr, counted_in, symbols_of
from fxc.ir.types import PY_INT, ArrayType, ScalarType

from .recorder import Recorder


@frozen
class CountedSize:
    """A size, as the node of ``value`` binds it: a ``number``, if it is that of the elements which
    ``mask`` chose at that time. It may be about ``guess``.
    """

    name: str
    most: Dim
    value: Value
    number: Value | None = None
    mask: Value | None = None
    at: int = 0
    guess: int | None = None

    @property
    def dim(self) -> SymExpr:
        return counted_size(self.name, self.most, self.guess)


class CountedSizes(Recorder):
    """What records operators, and knows of each size whether it is known where the program is."""

    def __init__(self, demanded: Iterable[Guard]) -> None:
        super().__init__()
        # Counters of the loops that are being captured: their first number, and one past the last.
        self.counters: dict[str, tuple[Dim | None, Dim | None]] = {}
        self._indices: dict[str, Value] = {}  # the parameters that they are
        # Sizes that are counted at run time, by the symbol's name, and what is assumed of them: by
        # the regions in which it is checked. See Note [Counted sizes].
        self.sizes: dict[str, CountedSize] = {}
        self._size_count = 0
        self.assumed: dict[Guard, list[int]] = {}
        self._demanded = sorted(demanded, key=str)  # relations that a stage has relied on
        self.windows: list[Any] = []  # see windows.py
        self.strides: list[Any] = []  # likewise

    def counts(self, index: Value, low: Dim | None, high: Dim | None) -> None:
        """Note the counter of a loop that is being captured, and its bounds."""
        self.counters[index.name] = low, high
        self._indices[index.name] = index

    def varies(self, dim: Dim) -> bool:
        """Whether a dim differs between the iterations of a loop that is being captured."""
        return not self.counters.keys().isdisjoint(symbols_of(dim))

    def is_unbounded(self, dim: Dim) -> bool:
        """Whether the bounds of a loop that ``dim`` varies in are known at run time only."""
        bounds = [b for name in symbols_of(dim) for b in self.counters.get(name, ())]
        return any(bound is None or self.is_unbounded(bound) for bound in bounds)

    def counted(self, size: CountedSize) -> Dim:
        """Note a size that is counted here: as of a loop's counter, no guard can speak of it."""
        self.sizes[size.name] = size
        self.counters[size.name] = 0, size.most + 1
        for each in self._demanded:
            symbols = symbols_of(each.left - each.right)
            if size.name in symbols and all(map(self._is_known, symbols.values())):
                self.assume(each)
        return size.dim

    def bind_size(self, count: Operand, most: Dim, **known: Any) -> Dim:
        """The size that a count from 0 to ``most`` is; what else is ``known`` says CountedSize."""
        name = self.new_size_name()
        value = self.record("bind_size", count, symbol=name, most=most)
        known.setdefault("number", count)
        return self.counted(CountedSize(name, most, value, **known))

    def known_size(self, number: Value) -> Dim | None:
        """The symbol that stands for a number here already."""
        for known in self.sizes.values():
            if known.number is number and self.is_alive(known.value):
                return known.dim
        return None

    def new_size_name(self) -> str:
        """A name for a size: the same in each attempt, whatever else is recorded."""
        self._size_count += 1
        number = self._size_count
        return self.builder.value(PY_INT, "count" if number == 1 else f"count{number}").name

    def _is_known(self, symbol: Symbol) -> bool:
        """Whether a symbol has a value here."""
        if symbol.most is None:
            return symbol.name in self.counters or symbol.name in self.door.outside.symbols
        return symbol.name in self.sizes and self.is_alive(self.sizes[symbol.name].value)

    def is_bound(self, dim: Dim) -> bool:
        """Whether the counted sizes in a dim have been counted in a region that has not ended."""
        return all(self.is_alive(self.sizes[symbol.name].value) for symbol in counted_in(dim))

    def has_sizes(self, kind: ArrayType | ScalarType) -> bool:
        """Whether that holds for all sizes of a type, and the loops that they vary in go on."""
        return isinstance(kind, ScalarType) or all(map(self.is_here, kind.shape))

    def is_here(self, dim: Dim) -> bool:
        """Whether that holds for a dim."""
        counters = (self._indices[name] for name in symbols_of(dim) if name in self._indices)
        return self.is_bound(dim) and all(map(self.is_alive, counters))

    def assume(self, assumed: Guard) -> None:
        """Check, at this place of the program, what is assumed of counted sizes."""
        for each in counted_in(assumed.left - assumed.right):
            self.check_alive(self.sizes[each.name].value)
        places = self.assumed.setdefault(assumed, [])
        difference = assumed.left - assumed.right
        counters = (n for n in symbols_of(difference) if n in self.counters and n not in self.sizes)
        if assumed.relation != "==" and any(counters):
            recorders()[-1].setdefault(assumed)  # of all iterations of a loop, which says so
        elif self._open.isdisjoint(places):
            places.append(self.region)
            sides: tuple[Dim, Dim] = assumed.left, assumed.right
            if not symbols_of(assumed.left).keys() <= symbols_of(difference).keys():
                sides = difference, 0  # what both sides depend on alike may be counted later
            holds = self.record(_COMPARISONS[assumed.relation], *map(self.size_operand, sides))
            self.record("try_demand", holds)

    def size_operand(self, dim: Dim) -> Operand:
        """A size as an operand; it is not looked at whether it fits in 64 bits."""
        if not isinstance(dim, SymExpr):
            return Literal(int(dim))
        value: Value = self.record("int_value", dim)
        return value


_COMPARISONS = {
    "==": "py_equal",
    "!=": "py_not_equal",
    "<": "py_less",
    "<=": "py_less_equal",
    ">": "py_greater",
    ">=": "py_greater_equal",
}
