"""``itertools.groupby``: an iterator of runs, of which each is an iterator of items.

Python finds the runs while a loop goes over them. Here they are found at once, from what the keys
are then, and the loop runs over as many as there are at run time: nothing that a key is made of may
change meanwhile.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from operator import itemgetter
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from fxc.ir.error_kinds import ITERATOR
from fxc.ir.graph import Region, Value, walk
from fxc.ir.size_guards import guard
from fxc.ir.types import ArrayType
from fxc.ops.operators import EFFECTS
from fxc.ops.table import TABLE

from ..arrays.creation import empty, ones
from ..arrays.traced_array import TracedArray
from ..numbers.python_numbers import to_bool, to_float, to_int
from ..numbers.traced_int import wrap_dim
from ..regions.counted import Bounded, Counted, counted
from ..regions.needed import StatementDoor
from ..regions.structured import recorded
from ..session.refusing import refuse
from ..session.session import current
from ..staging.nodes import DOOR
from ..values.maybe_set import contents_of
from ..values.operands import Traced, TracedValue, operand, settled
from .comprehensions import Comprehension, mapped

_TO_PYTHON = {bool: to_bool, int: to_int, float: to_float}


def runs_of(door: StatementDoor, x: object, key: object = None) -> object:
    """``itertools.groupby(x, key)`` with numbers as keys; None for what Python has to run over."""
    x = settled(x)
    found = counted(x)
    if type(found) is not Counted:
        return None
    found = Counted(found.count, found.taken().item, of=found.of, steps=found.steps)
    if not current().varies(found.count) and not guard(found.count, ">", 0):
        return itertools.groupby(())
    keys = _keys_of(door, x, found, key)
    return None if keys is None else _runs(found, keys)


class _Keys:
    """The keys as an array, whose class is ``kind`` to the program, and the ``sources`` that they
    are made of: arrays, and what the function reads that gives them.
    """

    def __init__(self, array: Any, sources: Iterator[Value], kind: type, key: object) -> None:
        session = current()
        self.array = array
        self._to_python = _TO_PYTHON.get(kind)
        self._roots = {session.aliases.root(value) for value in sources}
        self._began = session.now
        self._depth = len(session.statements)
        self._read = frozenset(_cells_of(key))

    def rely(self) -> None:
        """Note that what they are made of is taken to be as it was."""
        aliases = current().aliases
        for root in self._roots:
            changed = aliases.changed.get(root, 0) > self._began
            if changed or not aliases.may_rely_on(root):
                raise refuse(
                    ITERATOR,
                    "itertools.groupby of what changes while a loop runs over it",
                    "run over a copy",
                )
            aliases.rely_on(root, self._began)
        inside = current().statements[self._depth :]
        if any(not self._read.isdisjoint(getattr(each, "names", ())) for each in inside):
            raise refuse(
                ITERATOR,
                "a key of itertools.groupby that depends on a variable which the loop changes",
                "give it a default",
            )

    def at(self, place: object) -> object:
        """The key of an item."""
        found = self.array[place]
        return found if self._to_python is None else self._to_python(found)


def _keys_of(door: StatementDoor, x: object, found: Counted, key: object) -> _Keys | None:
    """The keys of items that are not known; None for none of numbers."""
    if key is None and isinstance(x, TracedArray):
        return _Keys(x, iter((x._value,)), x.dtype.type, None) if x.ndim == 1 else None
    if key is not None and not _reads_items_alone(key):
        return None

    def key_of(item: object) -> object:
        return item if key is None else door.call(key, item)

    # The region is forgotten: it shows what the keys are, and are made of.
    session = current()
    part, first = recorded(session, lambda: key_of(found.item(0)))
    if not isinstance(first, TracedValue) or first._value.type.rank:
        return None
    region = part.finished((), ())
    if any(TABLE[node.op].schema.writes or TABLE[node.op].tag in EFFECTS for node in walk(region)):
        return None
    each = Comprehension(found, lambda items: list(map(key_of, items)), key_of)
    items = mapped(door, False, each)
    array = door.call(np.array, items)
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        return None
    if array.dtype.kind == "f":  # one object that is a nan is equal to itself
        session.record("try_demand", operand(np.logical_not(np.isnan(array).any())))
    return _Keys(array, _arrays_in(region), first.__class__, key)


def _arrays_in(region: Region) -> Iterator[Value]:
    """The arrays from outside that a region reads."""
    nodes = walk(region)
    made = {value for node in nodes for value in node.outputs}
    for node in nodes:
        for value in node.inputs:
            if value not in made and isinstance(value.type, ArrayType):
                yield value


def _reads_items_alone(key: object) -> bool:
    """Whether a function reads nothing but items, numbers, arrays and functions of Python's."""
    if type(key) is not FunctionType:
        return type(key) in (BuiltinFunctionType, itemgetter) or key in _TO_PYTHON
    names = (x for x in key.__code__.co_consts if type(x) is str)
    read = (key.__globals__[name] for name in names if name in key.__globals__)
    return all(type(x) in (ModuleType, BuiltinFunctionType) for x in read) and all(
        isinstance(x, _NUMBERS) for x in (*_cells_of(key).values(), *(key.__defaults__ or ()))
    )


_NUMBERS = (bool, int, float, np.generic, np.ndarray, Traced)


def _cells_of(key: object) -> dict[str, Any]:
    """The variables that a function of the program, as it is staged, reads from around it."""
    if type(key) is not FunctionType:
        return {}
    both = zip(key.__code__.co_freevars, key.__closure__ or (), strict=True)
    return {name: contents_of(cell) for name, cell in both if name != DOOR}


def _runs(items: Counted, keys: _Keys) -> Counted:
    """The runs of items with one key. Those of a run are gone when the next run is asked for."""
    array, (size,) = keys.array, keys.array._type.shape
    begins = ones(wrap_dim(size), bool)
    begins[1:] = array[1:] != array[:-1]
    firsts: Any = np.flatnonzero(begins)
    (count,) = firsts._type.shape
    ends = empty(wrap_dim(count), np.intp)
    ends[:-1], ends[wrap_dim(count - 1) :] = firsts[1:], wrap_dim(size)
    latest: list[object] = []

    def run(place: object) -> tuple[Any, Bounded]:
        token = object()
        latest[:] = [token]
        keys.rely()

        def item(k: object) -> object:
            if latest != [token]:
                raise refuse(
                    ITERATOR,
                    "a group of itertools.groupby that is run over when the next one has been "
                    "asked for",
                    "make it a list at once",
                )
            return items.item(k)

        low, high = to_int(firsts[place]), to_int(ends[place])
        return keys.at(low), Bounded((low, high), low, high, item, items.of, once=True)

    return Counted(count, run, once=True, of=items.of)
