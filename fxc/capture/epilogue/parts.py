"""What expressions of an epilogue are made of: leaves, variables, constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fxc.ir.graph import Value
from fxc.ir.later import import_later

from ..outside.outside import Outside
from ..session.session import RESULT
from ..values.operands import wrap
from .leaves import CapturedLeaf, made_at, output_leaf

if TYPE_CHECKING:
    from ..arrays.elements import TracedVoid

# See Note [Rooms with one door].
check_distinct = import_later("fxc.capture.arrays.elements", "check_distinct")
classed = import_later("fxc.capture.epilogue.classed", "classed")


class ExpressionParts:
    """Collects the leaves, variables and constants that expressions name."""

    def __init__(self, outside: Outside) -> None:
        self._outside = outside
        self.leaves: list[CapturedLeaf] = []
        self.objects: dict[str, None] = {}  # variables of the guard program
        self.is_located = False  # whether what is refused was made at a known place
        self._constants: dict[str, Any] = {}
        self._lines: list[str] = []
        self._made: dict[int, tuple[str, Any]] = {}
        self._records: list[TracedVoid] = []

    def array(self, value: Value) -> str:
        """The expression for an array that leaves the function."""
        if value not in self._outside.session.classes:
            return self.leaf(wrap(value))
        return self.once(value, lambda: str(classed(self, value)))

    def record(self, x: TracedVoid, cell: Callable[[], str]) -> str:
        """The expression for a record that leaves the function, from that for its cell."""
        for each in self._records:
            check_distinct(x, each)
        self._records.append(x)
        return self.once(x, lambda: f"{cell()}[()]")

    def leaf(self, x: object) -> str:
        if self._outside.guards.is_new_class(x):
            return self._constant(x)
        self._outside.session.spend(RESULT)
        self.is_located = made_at(self._outside, x) is not None
        self.leaves.append(output_leaf(self._outside, x))
        return f"r{len(self.leaves) - 1}"

    def once(self, x: object, made: Callable[[], str]) -> str:
        """The variable that holds what is made for ``x``."""
        if id(x) not in self._made:
            expression, name = made(), f"c{len(self._made)}"
            self._lines.append(f"{name} = {expression}")
            self._made[id(x)] = (name, x)
        return self._made[id(x)][0]

    def reference(self, var: str) -> str:
        """A variable of the guard program."""
        constants = self._outside.guards.constants
        if var in constants:
            self._constants[var] = constants[var]
        else:
            self.objects[var] = None
        return var

    def _constant(self, value: object) -> str:
        if self._outside.guards.is_new_class(value):
            return self.once(value, lambda: self._class(value))
        name = f"k{len(self._constants)}"
        self._constants[name] = value
        return name

    def _class(self, kind: Any) -> str:
        """The expression for a class of named tuples that the program makes."""
        names = kind.__name__, kind._fields, tuple(kind._field_defaults.values()), kind.__module__
        name, fields, defaults, module = map(self._constant, names)
        options = f"rename=True, defaults={defaults}, module={module}"
        return f"namedtuple({name}, {fields}, {options})"
