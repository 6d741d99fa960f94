"""Dicts with keys that are known at run time only, and what sets have in common with them.

See Note [Dicts of the graph].
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import FunctionType
from typing import Any, TypeVar

from fxc.ir.error_kinds import KEYS_OF_DATA
from fxc.ir.later import import_later

from ..forms.mixed import scalar_kinds
from ..lists.list_buffers import any_number
from ..lists.list_contents import kept
from ..lists.list_room import WithLength
from ..regions.counted import Bounded, Counted
from ..session.refusing import How, refuse
from ..session.session import current
from ..values.above import above
from ..values.limited import Limited, refuse_methods
from ..values.operands import settled
from .dict_tables import KeyedBuffer, sure
from .tables import KnownItems

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
_Pairs = Iterable[tuple[_Key, _Value]]

# See Note [Rooms with one door].
_with_holes = import_later("fxc.capture.dicts.holes", "HoledBuffer")
demand = import_later("fxc.capture.forms.truths", "demand")
demand_or_raise = import_later("fxc.capture.forms.truths", "demand_or_raise")
LOSING = "fxc.capture.dicts.losing"


class Keyed(WithLength, Limited):
    """A dict or a set of the graph."""

    __slots__ = ("of", "table")
    _held = ("table",)
    _written_by = "_keyed"
    renewed: Callable[[], Any]  # a new dict, or a new set, with the same items
    copy: Callable[[], Any]

    def __init__(self, of: type, label: str) -> None:
        self.of = of
        is_holed = How.HOLED in current().asked(label)
        self.table: KeyedBuffer = (_with_holes if is_holed else KeyedBuffer)(label)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self.of

    def _staged(self, function: Callable[..., Any], *args: object) -> Any:
        return current().door.staged(function)(*args)

    clear = import_later(LOSING, "clear")

    # -------------------------------------------------------- reads

    def _has(self, key: object) -> object:
        table = self.table
        if table.is_empty():
            return False
        if not table.is_readable():
            return table.is_foreseen() and any_number() > 0
        return table.find(key)[1] > 0

    def __contains__(self, key: object) -> bool:
        return bool(self._has(key))

    def length(self) -> Any:
        return self.table.length()

    def _copied_deeply(self, is_fixed: Callable[[object], bool]) -> object:
        return self.copy() if self.table.has_fixed_items(is_fixed) else None

    def _is_filled(self) -> object:
        return self.length() > 0

    def in_any_order(self, part: int | None = 0) -> object:
        """The keys, the values, or the items, where the order does not show."""
        items = self.table._counted()
        if items is None:
            return KnownItems(self.table, part)
        at: Any = items.item

        def item(place: object) -> object:
            found = at(place)
            return found if part is None else found[part]

        if isinstance(items, Counted):
            return Counted(items.count, item, of=items.of)
        return Bounded((items.low, items.high), items.low, items.high, item, items.of)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.in_order(0))

    def in_order(self, part: int | None) -> Any:
        """The same where the order shows."""
        return self.in_any_order(part)

    def _counted(self) -> Any:
        found = self.in_order(0)
        return None if isinstance(found, list) else found

    def best(self, key: object, largest: bool) -> object:
        """``max(self, key=key)`` or ``min``."""
        table = self.table
        if table.awaited_by() is not None:
            return table.any_item()[0]
        demand(self._is_filled())  # else Python raises
        items = self.in_any_order()
        first = table.at(0)[0] if table.items is None else table.items[0][0]
        return self._staged(best, items, first, key, largest)

    # -------------------------------------------------------- taking another's place

    def is_made_in(self, region: int) -> bool:
        return self.table.is_made_in(region)

    def take_items(self, other: Keyed) -> bool:
        """Hold what another one, made here, holds instead; False if that cannot be had."""
        return self.of is other.of and self.table.take_items(other.table)

    # -------------------------------------------------------- what is refused

    def refused(self, what: str) -> Exception:
        return refuse(KEYS_OF_DATA, f"{what} of a {self.of.__name__} with keys that depend on data")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(self.of, name):
            raise AttributeError(f"{self.of.__name__!r} object has no attribute {name!r}")
        raise self.refused(f".{name}()")

    __hash__ = None  # type: ignore[assignment]


for _name, _sign in (("or", "|"), ("and", "&"), ("sub", "-"), ("xor", "^")):
    refuse_methods(Keyed, {f"__{_name}__": _sign, f"__r{_name}__": _sign})
refuse_methods(Keyed, dict.fromkeys(("__iand__", "__isub__", "__ixor__"), "^"))


class TracedDict(Keyed):
    """A dict, a Counter, or a defaultdict of numbers or lists."""

    __slots__ = ("_label", "factory")

    def __init__(self, items: dict[object, object], label: str) -> None:
        super().__init__(type(items), label)
        self._label = label
        self.factory = factory_of(items) if isinstance(items, defaultdict) else None
        for key, x in items.items():
            self.table.append((self.table.as_key(key), x))

    def _snapshot(self, of: Callable[[object], object]) -> object:
        found = object.__new__(TracedDict)
        found.of, found.factory, found.table = self.of, self.factory, self.table.snapshot(of)
        return found

    def made_default(self) -> Any:
        """A value for a key that a defaultdict does not have."""
        door = current().door
        if self.factory is list:
            found = door.held_list([], self._label)
            door.lists.ask_pool(found)
            return found
        found = door.call(self.factory)
        if scalar_kinds(found) is None:
            raise self.refused("another default than a number or a list")
        return found

    # -------------------------------------------------------- reads

    def __getitem__(self, key: object) -> Any:
        key, table = settled(key), self.table
        if self.of is defaultdict:
            return self._made_by_a_read(table.as_key(key))
        if self.of is Counter:
            return self.get(key, 0)
        if not table.is_readable():
            if not table.is_foreseen():
                demand(False)  # if it is not recorded again, since no item was ever stored
            return table.any_item()[1]
        _, number = table.find(key)
        is_there = demand_or_raise(number > 0, KeyError)
        return table.at(number - is_there)[1]

    def _made_by_a_read(self, key: object) -> object:
        table = self.table
        if not table.has_table():  # a default may ask the dict, as ``lambda: len(d)`` does
            made = self.made_default()
            table.store((key, made))
            return made
        return self._staged(made_by_a_read, table, key, self.made_default, type(self.factory))

    def get(self, key: object, default: object = None) -> Any:
        table = self.table
        if table.is_empty():
            return default
        if not table.is_readable():
            is_known = default is None and table.is_foreseen()
            return table.any_item()[1] if is_known else default
        _, number = table.find(key)
        door = current().door
        return above().chosen(door, number > 0, lambda: table.at(number - 1)[1], lambda: default)

    def keys(self) -> Any:
        return self.in_order(0)

    def values(self) -> Any:
        return self.in_order(1)

    def items(self) -> Any:
        return self.in_order(None)

    def copy(self) -> object:
        """As ``dict.copy``, or that of its like."""
        if self.of in (defaultdict, OrderedDict):
            raise self.refused("a copy")
        return self._staged(counter_of if self.of is Counter else copied, self.items())

    def renewed(self) -> object:
        return self._staged(copied, self.items())

    # -------------------------------------------------------- changes

    def __setitem__(self, key: object, value: object) -> None:
        self.table.store((self.table.as_key(sure(settled(key))), kept(value)))

    def setdefault(self, key: object, default: object = None) -> object:
        return self._staged(set_default, self, key, default)

    def update(self, *others: object, **items: object) -> None:
        """As ``dict.update``, or that of its like."""
        if items:
            raise self.refused("a keyword of update()")
        for other in others:
            pairs = other.items() if isinstance(other, dict) else any_order(other)
            change: Callable[..., None] = added
            if self.of is Counter:
                change = counted_more if isinstance(other, dict) else counted_in
            self._staged(change, self, pairs)

    def __ior__(self, other: object) -> Any:
        if self.of is Counter:
            raise self.refused("|=")
        self.update(other)
        return self

    __delitem__ = import_later(LOSING, "remove")
    pop, popitem, move_to_end, first_alone = (
        import_later(LOSING, name) for name in ("pop", "popitem", "move_to_end", "first_alone")
    )

    # -------------------------------------------------------- counters

    def __getattr__(self, name: str) -> Any:
        counts: dict[str, Callable[..., Any]] = {"most_common": most_common, "total": total}
        if self.of is Counter and name in counts:
            return partial(self._staged, counts[name], self)
        return super().__getattr__(name)


def factory_of(items: defaultdict[Any, Any]) -> object:
    """What makes missing items, as the program has it; it stands in a call of the door's."""
    made = items.default_factory
    return made.args[0] if isinstance(made, partial) and made.args else made


def any_order(items: object) -> object:
    """What a loop runs over in whose order that of a dict or a set does not show."""
    return items.in_any_order() if isinstance(items, Keyed) else items


# ------------------------------------------------------------------ in Python, to be staged


def made_by_a_read(
    items: KeyedBuffer, key: object, made_default: Callable[[], object], factory: type
) -> object:
    slot, number = items.find(key)
    if number > 0:
        return items.at(number - 1)[1]
    value = made_default()
    if not items.takes_in((key, value)):
        return value
    if factory is FunctionType:  # it may have stored others
        slot, number = items.find(key)
        demand(number == 0)
    number = items.put_key(slot, key)
    items.put_value(number - 1, (key, value))
    if items.is_crowded():
        items.fill()
    return value


def set_default(items: dict[_Key, _Value], key: _Key, default: _Value) -> _Value:
    if key not in items:
        items[key] = default
    return items[key]


def added(items: dict[_Key, _Value], pairs: _Pairs[_Key, _Value]) -> None:
    for key, value in pairs:
        items[key] = value


def counted_in(items: Counter[_Key], keys: Iterable[_Key]) -> None:
    for key in keys:
        items[key] = items.get(key, 0) + 1


def counted_more(items: Counter[_Key], pairs: _Pairs[_Key, int]) -> None:
    for key, count in pairs:
        items[key] = items.get(key, 0) + count


def best(items: Iterable[_Key], first: _Key, key: Callable[[_Key], float], largest: bool) -> _Key:
    best, top = first, key(first)
    for place, item in enumerate(items):
        if place > 0:
            rank = key(item)
            if rank > top if largest else rank < top:
                best, top = item, rank
    return best


def copied(items: _Pairs[_Key, _Value]) -> dict[_Key, _Value]:
    made = {}
    for key, value in items:
        made[key] = value
    return made


def counter_of(items: _Pairs[_Key, int]) -> Counter[_Key]:
    made: Counter[_Key] = Counter()
    for key, value in items:
        made[key] = value
    return made


def most_common(items: Counter[_Key], n: int | None) -> list[tuple[_Key, int]]:
    found = sorted(items.items(), key=lambda item: item[1], reverse=True)
    return found if n is None else found[:n]


def total(items: Counter[_Key]) -> int:
    return sum(items.values())
