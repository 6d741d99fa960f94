"""Variables that a function has from outside, and what guards check of attributes of classes."""

from __future__ import annotations

from collections.abc import Container, Iterable
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
    """A global variable, which a namespace holds, one of a function around one, in its cell, or an
    attribute of a class that is changed.
    """

    holder: dict[str, Any] | CellType | type
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
        return CONTENTS if isinstance(self.holder, CellType) else self.name

    @property
    def stem(self) -> str:
        """What guard programs call its holder."""
        return "cell" if isinstance(self.holder, CellType) else "globals"

    @property
    def expression(self) -> str:
        """What gets it from its holder."""
        return f"[{self.name!r}]" if self.is_global else f".{self.part}"

    @property
    def label(self) -> str:
        """What it is called in messages, and where it may vary."""
        owner = f"{self.holder.__name__}." if isinstance(self.holder, type) else ""
        return f"{owner}{self.name}"

    @property
    def key(self) -> tuple[int, str]:
        return id(self.holder), self.part

    @property
    def text(self) -> str:
        """What it is called, if no other one is called so."""
        if isinstance(self.holder, dict):
            return f"{self.name} of {self.holder.get('__name__')}"
        if isinstance(self.holder, type):
            return f"{self.name} of {self.holder.__qualname__}"
        return f"{self.name} of an enclosing function"

    def value(self) -> Any:
        """What it is outside of the capture; DELETED for nothing."""
        if isinstance(self.holder, dict):
            return self.holder.get(self.name, DELETED)
        if isinstance(self.holder, type):
            return vars(self.holder).get(self.name, DELETED)
        try:
            return self.holder.cell_contents
        except ValueError:
            return DELETED

    def unset(self) -> NameError:
        """The exception for a variable without a value."""
        what = "name {!r} is not defined" if self.is_global else "variable {!r} has no value yet"
        return NameError(what.format(self.name), name=self.name)


# ------------------------------------------------------------------ attributes of classes


def may_be_stored(kind: type, name: str, value: object) -> bool:
    """Whether an attribute of a class of the program's is a plain value, and is to be another one:
    only then nobody but who reads it can tell that it has changed.
    """
    if type(kind) is not type or not kind.__flags__ & _MADE_BY_PYTHON or name.startswith("__"):
        return False
    return name in vars(kind) and not any(
        hasattr(type(each), way) for each in (vars(kind)[name], value) for way in _DESCRIBED
    )


_MADE_BY_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_DESCRIBED = ("__get__", "__set__", "__delete__", "__set_name__")


def changed_attribute(
    changed: Container[tuple[int, str]], guards: GuardBuilder, kind: type, name: str
) -> Outer | None:
    """The attribute that a class has, by itself or from a base, if it is among the ``changed``."""
    holder = next((each for each in kind.__mro__ if name in vars(each)), None)
    if holder is None or (id(holder), name) not in changed:
        return None
    guard_absent(guards, kind.__mro__[: kind.__mro__.index(holder)], name)
    return Outer(holder, name)


def guard_class_attribute(guards: GuardBuilder, kind: type, name: str, found: object) -> None:
    """Check that the class still has ``found`` under that name, by itself or from a base."""
    kind = real_class(kind)
    if guards.is_new_class(kind):
        return
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
