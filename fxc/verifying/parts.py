"""What objects of the program are made of, as far as compiled code may read or change them."""

from __future__ import annotations

import contextlib
import random
from collections import deque
from collections.abc import Iterator
from types import CellType, MemberDescriptorType
from typing import Any

import numpy as np

from fxc.capture.guards.facts import same_value
from fxc.ir.errors import a_kind

MOST_OBJECTS = 20_000
"""How many are looked at: a program may hand over all it has, by one reference."""

_GLOBALS = "__builtins__"  # a key of the dict of a module's variables
_WARNED = "__warningregistry__"  # another one: Python's notes of warnings, ignored ones too
HEAP_TYPE = 1 << 9  # a class that the program, or a library in Python, has defined


def generator_state(x: object) -> str:
    """The state of a random generator as text; empty for other objects."""
    if isinstance(x, np.random.Generator):
        return repr(x.bit_generator.state)
    if isinstance(x, np.random.RandomState):
        return repr(x.get_state(legacy=False))
    if isinstance(x, np.random.BitGenerator):
        return repr(x.state)
    return repr(x.getstate()) if isinstance(x, random.Random) else ""


def is_globals(x: object) -> bool:
    """Whether it is the dict of the variables of a module."""
    return isinstance(x, dict) and _GLOBALS in x


def parts_of(x: object) -> Iterator[tuple[str, object]] | None:
    """What an object holds, each with the text that follows the object's name; None for what is
    looked at as a whole.
    """
    match x:
        case list() | tuple() | deque():
            return _items(x)
        case dict():
            return None if is_globals(x) else _values(x)
        case CellType():
            return _contents(x)
    return _attributes(x) if has_attributes(x) else None


def has_attributes(x: object) -> bool:
    """Whether it is an object of a class in Python, whose attributes are all that it is."""
    kind = type(x)
    if not kind.__flags__ & HEAP_TYPE or kind.__module__.partition(".")[0] in ("fxc", "numpy"):
        return False
    return not isinstance(x, type | np.ndarray | np.generic) and not generator_state(x)


def slots_of(kind: type) -> Iterator[tuple[str, MemberDescriptorType]]:
    """The slots of a class, by name: not what code in C has of its own, which may be read-only."""
    for each in kind.__mro__:
        if "__slots__" in vars(each) and each.__flags__ & HEAP_TYPE:
            for name, found in vars(each).items():
                if isinstance(found, MemberDescriptorType):
                    yield name, found


def entries(x: Any) -> dict[object, object]:
    """What an object holds itself, by place, key or name."""
    match x:
        case list() | tuple() | deque():
            return dict(enumerate(x))
        case dict():
            return {key: x[key] for key in list(x) if key != _WARNED or not is_globals(x)}
        case CellType():
            return dict(_contents(x))
    own = getattr(x, "__dict__", None)
    found: dict[object, object] = {} if own is None else dict(own)
    for name, slot in slots_of(type(x)):
        with contextlib.suppress(AttributeError):
            found[name] = slot.__get__(x)
    return found


def is_still(item: object, before: object) -> bool:
    """Whether a name stands for what it did: an equal text or number may be another object."""
    is_plain = isinstance(item, str | bytes | int | float | complex)
    return item is before or (is_plain and same_value(item, before))


def _items(x: Any) -> Iterator[tuple[str, object]]:
    for place, item in enumerate(list(x)):
        yield f"[{place}]", item


def _values(x: dict[Any, object]) -> Iterator[tuple[str, object]]:
    for key, item in list(x.items()):
        yield f"[{_named(key)}]", item


def _named(key: object) -> str:
    return repr(key) if isinstance(key, str | int | float | tuple) else a_kind(key)


def _contents(x: CellType) -> Iterator[tuple[str, object]]:
    try:
        yield "", x.cell_contents
    except ValueError:
        return


def _attributes(x: object) -> Iterator[tuple[str, object]]:
    own = getattr(x, "__dict__", None)
    if type(own) is dict:
        for name, item in list(own.items()):
            yield f".{name}", item
    for name, slot in slots_of(type(x)):
        try:
            yield f".{name}", slot.__get__(x)
        except AttributeError:
            continue
