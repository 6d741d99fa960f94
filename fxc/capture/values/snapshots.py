"""What parts of a text hold at the time: copies of arrays and containers; known arrays as values.

See Note [Late effects].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.ir.error_kinds import TEXT
from fxc.ir.types import ArrayType

from ..session.refusing import refuse
from .operands import Traced, TracedValue, constant, record, settled, wrap

Of = Callable[[Any], object]


def mapped(x: object, of: Of, seen: Of = lambda x: x) -> Any:
    """A tree of containers with ``of(leaf)`` for each leaf; ``seen``: what each part is."""
    x = seen(x)
    if type(x) is tuple or type(x) is list:
        return type(x)([mapped(item, of, seen) for item in x])
    if type(x) is dict:
        return {key: mapped(item, of, seen) for key, item in x.items()}
    return of(x)


def as_pythons(x: object) -> Any:
    """A container from outside as one of Python's; an array that is read by a mask as such."""
    x = settled(x)
    if not isinstance(x, list | dict | set) or not hasattr(x, "settle"):
        return x
    external: Any = x
    if external.kind not in (list, dict, set):
        raise refuse(TEXT, f"showing a {external.kind.__name__} from outside")
    external.settle()
    found = external.kind(external)
    if type(found) is set and [*found] != [*external]:  # by all that was done with it
        raise refuse(TEXT, "showing a set from outside in an order that a copy has not")
    return found


class Held:
    """An object from outside that is given to what shows something."""

    def __init__(self, seen: object) -> None:
        self.seen = seen


def snapshot(x: object) -> Any:
    """What a part of a text holds now: copies of arrays, and of containers."""
    return mapped(x, _snapshot_of, as_pythons)


def _snapshot_of(x: Any) -> Any:
    if isinstance(x, TracedValue):
        return record("copy", x._object, order="K") if is_array(x) else x
    if isinstance(x, Traced):
        return x._snapshot(snapshot)
    if type(x) is np.ndarray:
        return x.copy()
    if type(x) in (set, frozenset) and not any(isinstance(item, Traced) for item in x):
        return type(x)(x)
    if type(x).__dict__.get("__fxc_class__") is not None:
        raise refuse(TEXT, f"showing a {type(x).__name__} inside of something else")
    return x


def is_array(x: TracedValue) -> bool:
    return isinstance(x._object.type, ArrayType)


def as_constants(result: Any) -> Any:
    """A result with traced arrays in place of those that are known, one for each."""
    made: dict[int, Any] = {}

    def constant_of(x: Any) -> Any:
        if type(x) is not np.ndarray:
            return x
        if id(x) not in made:
            made[id(x)] = wrap(constant(x))
        return made[id(x)]

    return mapped(result, constant_of)
