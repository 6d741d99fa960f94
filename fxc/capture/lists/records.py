"""Dicts and objects that stand in arrays of the graph. See Note [Records]."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import FunctionType
from typing import Any

from fxc.ir.error_kinds import COUNTED_LIST
from fxc.ir.later import import_later
from fxc.ir.records import frozen

from ..forms.form import Items, as_numbers, pool_of
from ..forms.options import is_record
from ..forms.structures import Structure
from ..session.refusing import How, Request, refuse
from ..session.session import current
from ..values.limited import Limited
from ..values.objects import (
    MISSING,
    class_attribute,
    is_frozen,
    is_made_by_object,
    is_python_class,
    sets_by_python,
    slot_names,
)
from ..values.operands import Traced
from ..values.shadows import class_of, has_methods
from .list_buffers import Buffer
from .list_contents import kept
from .list_room import Int

# See Note [Rooms with one door].
arrays_in = import_later("fxc.capture.forms.items", "arrays_in")
is_lent = import_later("fxc.capture.regions.given", "is_lent")

# Note [Records]
# A dict or an object that a list of the graph has taken over, and that changes afterwards, is
# compared by identity, or is reached in another way, too, is no copy of what stands in the arrays
# of the list (Note [Records in lists]). The capture then starts again with all dicts of these keys,
# or objects of the class with these attributes, in a *pool*: a buffer of tuples of their fields, to
# which one is added where the program makes one, and of which none is ever taken away. The
# program has a *record*, the number of an item of the pool. So variables, lists and other records
# hold numbers, two records are one object if the numbers are equal, and what is stored by one name
# is read by all others. What leaves the function is made of all items of the pool, each once.

MOST_FIELDS = 32


@frozen
class Label:
    """By what a pool is known: a class, and the names of the fields."""

    kind: type
    keys: tuple[str, ...]

    @property
    def text(self) -> str:
        """What requests call it."""
        return f"records {self.kind.__module__}.{self.kind.__qualname__} {', '.join(self.keys)}"

    @property
    def is_wanted(self) -> bool:
        """Whether this capture is to have it."""
        return current().wants(self.text)


def label_of(x: object) -> Label | None:
    """By what the pool of a dict or object of the program is known; None for no pool."""
    places = current().door.places
    kind = class_of(x)
    if not places.is_made(x):
        return None
    if type(x) is dict:
        keys = tuple(x)
        plain = all(type(key) is str for key in keys)
    else:
        plain = (
            is_python_class(kind)
            and is_made_by_object(kind)
            and not has_methods(kind)
            and not (slot_names(kind) or sets_by_python(kind))
        )
        keys = tuple(vars(x)) if plain else ()
    return Label(kind, keys) if plain and 0 < len(keys) <= MOST_FIELDS else None


class Pool:
    """All records of a class that have the same fields."""

    def __init__(self, label: Label) -> None:
        self.label = label
        self.fields = Structure(label.kind, label.keys)
        self.table = Buffer(outermost=True)
        self._written: set[int] = set()  # places of fields that the program has stored to

    def __repr__(self) -> str:
        return self.label.text

    def add(self, fields: Sequence[object]) -> Record:
        """A new record."""
        table = self.table
        number = table.next_place()
        table.append(tuple(fields))
        return Record(self, number)

    def at(self, number: Int) -> Record:
        return Record(self, number)

    def read(self, number: Int, place: int) -> object:
        return self.table.part_at(number, place)

    def write(self, number: Int, place: int, x: object) -> None:
        self._written.add(place)
        self.table.set_part(number, place, kept(x))

    def of_callers(self) -> Iterator[tuple[int, str, Any]]:
        """The fields with arrays of the caller's: the number of the record, the key, what it is."""
        for number, fields in enumerate(self.table.borrowed):
            for place, (key, x) in enumerate(zip(self.label.keys, fields, strict=True)):
                if any(map(is_lent, arrays_in(x))):
                    if place in self._written:
                        raise refuse(
                            COUNTED_LIST,
                            "an attribute or item that is an array of the caller's in some "
                            "objects and changes, in objects that stand in arrays,",
                            "begin with a copy",
                        )
                    yield number, key, x

    def form_of_fields(self, form: Items) -> Items:
        """The form of dicts or objects with these fields; of records it has the numbers."""
        fields = (each if pool_of(each) is None else as_numbers(each) for each in form.items)
        return Items(self.fields, tuple(fields))

    def links(self, form: Items) -> Iterator[tuple[str, Pool]]:
        """The fields that are records, or may be: expressions for an ``x`` of this pool."""
        held = "x" if self.label.kind is dict else "vars(x)"
        for name, each in zip(self.label.keys, form.items, strict=True):
            if (pool := pool_of(each)) is not None:
                yield f"{held}[{name!r}]", pool


class Pools:
    """The pools of a capture."""

    def __init__(self) -> None:
        self._pools: dict[Label, Pool] = {}

    def taken(self, x: object) -> Any:
        """The record for a dict or object that was just made; itself, if there is to be none."""
        label = label_of(x)
        if label is None or not label.is_wanted:
            return x
        session = current()
        session.retries |= {Request(label.text, How.BY_PYTHON)}
        if label not in self._pools:
            self._pools[label] = Pool(label)
        held = x if type(x) is dict else session.door.held_by(x)[0]
        session.door.places.replace(x)
        return self._pools[label].add(list(held.values()))


class Pooled(Limited):
    """What a pool has, by its number there."""

    __slots__ = ("number", "pool")
    _held = ("pool",)
    _in_pool = True
    _written_by = "_pooled"

    def __init__(self, pool: object, number: Int) -> None:
        self.pool = pool
        self.number = number

    def _structure_keys(self) -> tuple[Any, ...]:
        return (self.pool,)

    @classmethod
    def _of_structure(cls, keys: tuple[Any, ...], items: Any) -> Pooled:
        (pool,), (number,) = keys, items
        return cls(pool, number)

    def is_(self, other: Pooled) -> object:
        return self.pool is other.pool and self.number == other.number

    @staticmethod
    def _structure_items(x: Any) -> tuple[Any, ...]:
        return (x.number,)


class Record(Pooled):
    """A dict or an object that is an item of a pool."""

    __slots__ = ()
    _is_object = True
    pool: Pool

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self.pool.label.kind

    def copy(self) -> Record:
        return self.pool.add([value for _, value in self.held()])

    def held(self) -> Iterator[tuple[str, Any]]:
        """The names and values of the fields."""
        for place, name in enumerate(self.pool.label.keys):
            yield name, self.pool.read(self.number, place)

    # -------------------------------------------------------- attributes

    def attribute(self, door: Any, name: str) -> object:
        kind, keys = self.pool.label.kind, self.pool.label.keys
        if kind is dict:
            found = _OF_DICTS.get(name)
            if found is None:
                raise self.refused(f".{name}()")
            return partial(found, self)
        if name in keys:
            return self.pool.read(self.number, keys.index(name))
        found = class_attribute(kind, name)
        if isinstance(found, staticmethod | classmethod):
            return door.attr(kind, name)
        if found is MISSING or (name.startswith("__") and name != "__class__"):
            raise self.refused(f".{name}")
        return door.own_attr(self, kind, name)

    def store(self, door: Any, name: str, value: object) -> None:
        kind, keys = self.pool.label.kind, self.pool.label.keys
        found = class_attribute(kind, name)
        if isinstance(found, property) and isinstance(found.fset, FunctionType):
            door.guard_class_attribute(kind, name, found)
            door.call(found.fset, self, value)
            return
        if kind is dict or name not in keys or is_frozen(kind, name):
            raise self.refused(f"a new attribute ({name})")
        self.pool.write(self.number, keys.index(name), value)

    # -------------------------------------------------------- items

    def _place(self, key: object) -> int | None:
        """The place of an item among those of a dict; None for a key that is not there."""
        if self.pool.label.kind is not dict or type(key) is not str:
            raise self.refused("an item, at a place that is not known,")
        keys = self.pool.label.keys
        return keys.index(key) if key in keys else None

    def keys(self) -> Iterator[str]:
        """As ``dict.keys``, for ``dict(self)``."""
        return iter(self)

    def __getitem__(self, key: object) -> Any:
        if (place := self._place(key)) is None:
            raise KeyError(key)
        return self.pool.read(self.number, place)

    def __setitem__(self, key: object, value: object) -> None:
        if (place := self._place(key)) is None:
            raise self.refused(f"a new key ({key!r})")
        self.pool.write(self.number, place, value)

    def __contains__(self, key: object) -> bool:
        if isinstance(key, Traced):
            raise self.refused("'in'")
        return key in self._keys_of_dict("'in'")

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys_of_dict("iteration"))

    def __len__(self) -> int:
        return len(self._keys_of_dict("len()"))

    def _keys_of_dict(self, what: str) -> tuple[str, ...]:
        if self.pool.label.kind is not dict:
            raise self.refused(what)
        return self.pool.label.keys

    def __bool__(self) -> bool:
        return True  # it has fields, and its class no method that says otherwise

    def __eq__(self, other: object) -> Any:
        is_plain = class_attribute(self.pool.label.kind, "__eq__") is vars(object)["__eq__"]
        if not is_plain or type(other) is not Record:
            raise self.refused("==")
        return self.is_(other)

    __hash__ = Limited.__hash__

    def __or__(self, other: object) -> Any:
        if self.pool.label.kind is not dict:
            return NotImplemented
        raise self.refused("|")

    __ror__ = __or__

    def __ior__(self, other: object) -> Any:
        if self.pool.label.kind is not dict:
            return NotImplemented
        _update(self, other)
        return self

    def refused(self, what: str) -> Exception:
        return refuse(
            COUNTED_LIST,
            f"{what} of a {self.pool.label.kind.__name__} that stands in arrays, as one of a list "
            "whose length depends on data,",
            "use its fields",
        )


def _get(x: Record, key: object, default: object = None) -> object:
    return x[key] if key in x.pool.label.keys else default


def _update(x: Record, *others: object, **named: object) -> None:
    for key, value in dict(*others, **named).items():
        x[key] = value


_OF_DICTS: dict[str, Any] = {
    "get": _get,
    "keys": lambda x: list(x),
    "values": lambda x: [value for _, value in x.held()],
    "items": lambda x: list(x.held()),
    "copy": Record.copy,
    "update": _update,
}


def record_at(items: Sequence[Any], number_at: Callable[[list[Any]], Any]) -> object:
    """The record, or pooled list, that stands at a place; None if they have no one pool."""
    pools = {x.pool if is_record(x) else None for x in items}
    if len(pools) != 1 or None in pools:
        if any(map(is_record, items)):
            current().door.lists.ask_pool(*items)
        return None
    (pool,) = pools
    assert pool is not None
    return pool.at(number_at([x.number for x in items]))
