"""Variables that a function has from outside: globals, and those of functions around it."""

from __future__ import annotations

from types import CellType, FunctionType
from typing import Any

from fxc.ir.records import frozen

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
