"""What the guards check of an attribute that a class of the program has."""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType

from ..guards.builder import GuardBuilder
from ..values.shadows import real_class


def guard_class_attribute(guards: GuardBuilder, kind: type, name: str, found: object) -> None:
    """Check that the class still has ``found`` under that name, by itself or from a base."""
    kind = real_class(kind)
    holder = next(each for each in kind.__mro__ if name in vars(each))
    text, known = f"{kind.__name__}.{name} is the same", guards.constant(found)
    if holder is not kind and isinstance(found, FunctionType | property):
        guards.check(f"{guards.constant(kind)}.{name} is {known}", text)
        return
    guard_absent(guards, kind.__mro__[: kind.__mro__.index(holder)], name)
    guards.check(f"{guards.constant(holder)}.__dict__[{name!r}] is {known}", text)


def guard_absent(guards: GuardBuilder, kinds: Iterable[type], name: str) -> None:
    """Classes that get an attribute of that name later hide that of those behind them."""
    for kind in kinds:
        root, text = guards.constant(kind), f"{kind.__name__} has no {name} of its own"
        guards.check(f"{name!r} not in {root}.__dict__", text)
