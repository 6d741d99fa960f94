"""Functions of modules that are imported when one of them is called."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

# Note [Rooms with one door]
# Most programs need few of the modules that know a kind of statement, of value or of NumPy's
# functions, and importing all would be half of the first call of a process. A table that says by
# which function something is done holds such functions by ``import_later``: the module behind it,
# and what that alone needs, is imported for the first program that has such a thing. The module is
# given by its full name, and the arrows between rooms and floors hold for it as for other imports.


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
