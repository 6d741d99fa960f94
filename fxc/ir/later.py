"""Functions and classes of modules that are imported when one of them is called."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

# Note [Rooms with one door]
# Most programs need few of the modules that know a kind of statement, of value or of NumPy's
# functions, and importing all would be half of the first call of a process. A table that says by
# which function something is done holds such functions by ``import_later``: the module behind it,
# and what that alone needs, is imported for the first program that has such a thing. The module is
# given by its full name, and the arrows between rooms and floors hold for it as for other imports.
#
# Many modules only ask whether something is of a class. ``import_class_later`` answers that without
# an import: as long as nobody has imported the module, there is no object of the class. It stands
# in the ``else`` of ``if TYPE_CHECKING``, so that type checkers know the class itself.


def import_later(module: str, name: str) -> Callable[..., Any]:
    """A function, or a class, of a module that is imported when it is called first.

    >>> dump = import_later("json", "dumps")
    >>> dump([1, 2])
    '[1, 2]'
    """
    found: list[Callable[..., Any]] = []

    def call(*args: object, **kwargs: object) -> Any:
        if not found:
            found.append(getattr(import_module(module), name))
        return found[0](*args, **kwargs)

    call.__name__ = name
    return call


def import_class_later(module: str, name: str) -> ClassLater:
    """A class that is imported when an object of it is made first, not when one is asked for.

    >>> Decimal = import_class_later("decimal", "Decimal")
    >>> isinstance(1, Decimal), isinstance(Decimal(1), Decimal)
    (False, True)
    """
    return ClassLater(module, name)


class ClassLater:
    """What stands for such a class."""

    __slots__ = ("__name__", "_found", "_module")

    def __init__(self, module: str, name: str) -> None:
        self._module, self.__name__ = module, name
        self._found: type | None = None

    def __call__(self, *args: object, **kwargs: object) -> object:
        if self._found is None:
            self._found = getattr(import_module(self._module), self.__name__)
        return self._found(*args, **kwargs)

    def __instancecheck__(self, x: object) -> bool:
        """By the type alone, which runs no code of the object's class."""
        if self._found is None:
            self._found = getattr(sys.modules.get(self._module), self.__name__, None)
        return self._found is not None and issubclass(type(x), self._found)
