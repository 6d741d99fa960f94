"""What parts of a text hold at the time: copies of arrays and containers; known arrays as values.

See Note [Late effects].
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from functools import reduce
from itertools import combinations, starmap
from typing import Any

import numpy as np

from fxc.ir.error_kinds import OPERAND, TEXT
from fxc.ir.graph import Value
from fxc.ir.later import import_later
from fxc.ir.objects import is_writeable
from fxc.ir.signature import ViewStep
from fxc.ir.types import ArrayType

from ..session.refusing import refuse
from ..session.session import current
from .operands import Traced, TracedValue, constant, record, settled, wrap

# See Note [Rooms with one door].
common_base = import_later("fxc.capture.guards.common_base", "common_base")

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


def _snapshot_of(x: Any) -> object:
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


def as_constants(result: object) -> object:
    """A result with traced arrays in place of those that are known, one for each: laid out as these
    are, read-only where they are, and views of one array where they share memory.
    """
    known: dict[int, np.ndarray] = {}
    mapped(result, lambda x: known.setdefault(id(x), x) if type(x) is np.ndarray else x)
    made: dict[int, Any] = {}
    for group in _by_memory(known.values()):
        made.update(zip(map(id, group), map(wrap, _constants(group)), strict=True))
    return mapped(result, lambda x: made.get(id(x), x))


def _by_memory(arrays: Iterable[np.ndarray]) -> Iterable[list[np.ndarray]]:
    """The arrays, those together that share memory."""
    groups: dict[int, list[np.ndarray]] = {}
    for array in arrays:
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        groups.setdefault(id(owner), []).append(array)
    for group in groups.values():
        if any(starmap(np.may_share_memory, combinations(group, 2))):
            yield group
        else:
            yield from ([array] for array in group)


def _constants(group: list[np.ndarray]) -> list[Value]:
    """The nodes that make fresh arrays like these, which share memory if there are several."""
    first = group[0]
    if len(group) == 1 and first.flags.c_contiguous:
        inserted = _inserted(first)
        value = constant(first.squeeze(inserted) if inserted else first)
        if inserted:
            value = _viewed(value, "expand_dims", inserted)
        return [value if is_writeable(first) else _viewed(value, "broadcast_to", first.shape)]
    for arrays in (group, [*group, _span(group)]):
        base = common_base(arrays)
        memory = base.over(*arrays) if base is not None else None
        if base is not None and memory is not None and memory.flags.c_contiguous:
            value = constant(memory)
            return [reduce(_step, steps, value) for steps in base.views[: len(group)]]
    raise refuse(OPERAND, "an array of NumPy's whose elements share memory")


def _inserted(array: np.ndarray) -> tuple[int, ...]:
    """The axes that ``np.newaxis`` has put into a view: their strides show."""
    dims = zip(array.shape, array.strides, strict=True)
    axes = (axis for axis, dim in enumerate(dims) if dim == (1, 0))
    return tuple(axes) if array.size and isinstance(array.base, np.ndarray) else ()


def _span(group: list[np.ndarray]) -> np.ndarray:
    """All of the memory from the first of the elements to the last, as elements."""
    bounds = [np.lib.array_utils.byte_bounds(array) for array in group]
    low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
    memory: Any = (ctypes.c_char * (high - low)).from_address(low)
    size = group[0].itemsize
    return np.ndarray((high - low) // size, group[0].dtype, memory)


def _step(value: Value, step: ViewStep) -> Value:
    return _viewed(value, step.op, *step.args)


def _viewed(value: Value, name: str, *args: object) -> Value:
    return current().value(name, value, *args)
