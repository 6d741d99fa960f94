"""Variables that a function has from outside, and what guards check of attributes of classes."""

from __future__ import annotations

from collections.abc import Iterable
from types import CellType, FunctionType
from typing import Any

from fxc.ir.records import frozen

from ..guards.builder import GuardBuilder
from ..guards.words import attribute_of
from ..values.shadows import real_class

DELETED: Any = object()
CONTENTS = "cell_contents"


@frozen
class Outer:
    """A global variable, which a namespace holds, or one of a function around one, in its cell."""

    holder: dict[str, Any] | CellType
    name: str

    @staticmethod
    def free(function: FunctionType, name: str) -> Outer:
        """The variable of this name of a function around ``function``."""
        cells: tuple[CellType, ...] = function.__closure__ or ()
        return Outer(cells[function.__code__.co_freevars.index(name)], name)

    @property
    def is_global(self) -> bool:
        return isinstance(self.holder, dict)

    @property
    def part(self) -> str:
        """The key or the attribute under which its holder has it."""
        return self.name if self.is_global else CONTENTS

    @property
    def key(self) -> tuple[int, str]:
        return id(self.holder), self.part

    @property
    def text(self) -> str:
        """What it is called, if no other one is called so."""
        if isinstance(self.holder, dict):
            return f"{self.name} of {self.holder.get('__name__')}"
        return f"{self.name} of an enclosing function"

    def value(self) -> Any:
        """What it is outside of the capture; DELETED for nothing."""
        if isinstance(self.holder, dict):
            return self.holder.get(self.name, DELETED)
        try:
            return self.holder.cell_contents
        except ValueError:
            return DELETED

    def unset(self) -> NameError:
        """The exception for a variable without a value."""
        what = "name {!r} is not defined" if self.is_global else "variable {!r} has no value yet"
        return NameError(what.format(self.name), name=self.name)


# ------------------------------------------------------------------ attributes of classes


def guard_class_attribute(guards: GuardBuilder, kind: type, name: str, found: object) -> None:
    """Check that the class still has ``found`` under that name, by itself or from a base."""
    kind = real_class(kind)
    holder = next(each for each in kind.__mro__ if name in vars(each))
    text, known = f"{kind.__name__}.{name} is the same", guards.constant(found)
    if holder is not kind and isinstance(found, FunctionType | property):
        guards.check(f"{attribute_of(guards.constant(kind), name)} is {known}", text)
        return
    guard_absent(guards, kind.__mro__[: kind.__mro__.index(holder)], name)
    guards.check(f"{guards.constant(holder)}.__dict__[{name!r}] is {known}", text)


def guard_absent(guards: GuardBuilder, kinds: Iterable[type], name: str) -> None:
    """Classes that get an attribute of that name later hide that of those behind them."""
    for kind in kinds:
        root, text = guards.constant(kind), f"{kind.__name__} has no {name} of its own"
        guards.check(f"{name!r} not in {root}.__dict__", text)
