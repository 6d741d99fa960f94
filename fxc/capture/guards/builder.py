"""What collects the steps of a guard program while a capture runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fxc.ir.error_kinds import OBJECT
from fxc.ir.errors import uncapturable
from fxc.ir.size_guards import Guard
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType

from .program import Check, Fetch, GuardProgram, Source, Step, relation_check
from .words import expression_of


class GuardBuilder:
    """Collects the steps of a program while a capture runs."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.constants: dict[str, Any] = {}
        self.symbols: dict[str, str] = {}  # the variable that holds a symbol's value
        self._names: dict[int, str] = {}
        self._others: dict[int, object] = {}  # what is no constant, see ``no_constant``
        self._demanded: set[tuple[object, ...]] = set()
        self._count = 0

    def name(self, stem: str) -> str:
        """A new variable."""
        self._count += 1
        return f"{stem}{self._count}"

    def constant(self, value: object, stem: str = "k") -> str:
        """The name of an object that the program refers to."""
        if id(value) in self._others:
            raise uncapturable(
                OBJECT,
                f"{getattr(value, '__qualname__', 'a function')}, which is another one in "
                "each call, cannot be captured where it is more than called",
            )
        name = self._names.get(id(value))
        if name is None:
            name = self._names[id(value)] = f"{stem}_{len(self.constants)}"
            self.constants[name] = value
        return name

    def no_constant(self, value: object) -> None:
        """Note that an object stands for another one in each call."""
        self._others[id(value)] = value

    def is_new_class(self, kind: object) -> bool:
        """Whether a class is another one in each call."""
        return type(kind) is type and id(kind) in self._others

    def fetch(self, expression: str, text: str) -> Source:
        """Put something into a new variable."""
        source = Source(self.name("v"), text)
        self.steps.append(Fetch(source.var, expression))
        return source

    def check(
        self,
        condition: str,
        text: str,
        label: str = "",
        part: str = "",
        is_of_value: bool = False,
        value_of: str = "",
    ) -> None:
        """Demand a fact, once; ``label`` names what may change of it from call to call, see
        ``Check``.
        """
        fact = (condition, label, part, is_of_value, value_of)
        if fact in self._demanded:
            return
        self._demanded.add(fact)
        text = " ".join(text.split())
        self.steps.append(Check(condition, text, label, part, is_of_value, value_of))

    def check_array(
        self,
        conditions: Iterable[str],
        text: str,
        array: ArrayType,
        label: str = "",
        part: str = "",
    ) -> None:
        """Demand that an array is as this one was, or but for its shape if that is no ``part``."""
        condition, text = " and ".join(conditions), " ".join(text.split())
        self.steps.append(Check(condition, text, label, part, array=array))

    def same_keys(self, var: str, keys: tuple[object, ...]) -> str:
        """The condition that a dict has these keys in this order."""
        if all(type(key) is str for key in keys):
            return f"[*{var}] == {list(keys)!r}"
        return f"same_keys({var}, {self.constant(keys)})"

    def check_value(self, source: Source, value: object, label: str = "") -> None:
        """Demand the very type and value of a plain immutable object."""
        name = self.constant(value)
        shown = repr(value)
        shown = shown if len(shown) <= 40 else f"{shown[:37]}..."
        self.check(
            f"{source.var} is {name} or same_value({source.var}, {name})",
            f"{source.text} is {shown}",
            label,
            is_of_value=True,
            value_of=source.text,
        )

    def check_identity(self, source: Source, value: object, label: str = "") -> None:
        """Demand the very same object."""
        name = getattr(value, "__name__", type(value).__name__)
        condition = f"{source.var} is {self.constant(value)}"
        self.check(condition, f"{source.text} is {name}", label, value_of=source.text)

    def check_relation(self, guard: Guard) -> None:
        """Demand a relation between symbols."""
        self.steps.append(relation_check(guard, self.symbols))

    def expression(self, dim: Dim) -> str:
        """The Python expression of a dim."""
        return expression_of(dim, self.symbols)

    def program(self, inputs: Iterable[Source], objects: Iterable[str] = ()) -> GuardProgram:
        variables = [source.var for source in inputs]
        return GuardProgram(self.steps, self.constants, variables, objects, self.symbols)


def flags_of(array: Source) -> str:
    """The variable with the flags of an array that has been checked."""
    return f"{array.var}_flags"
