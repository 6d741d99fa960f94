"""An item of a list, tuple or dict that Python knows, at a place that it does not.

See Note [Tables].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate, chain
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, NoReturn

import numpy as np

from fxc.ir.error_kinds import KEYS_OF_DATA
from fxc.ir.later import import_later

from ..lists.list_room import Int, place_among
from ..outside.containers import External, class_seen
from ..regions.counted import Bounded
from ..session.refusing import refusal
from ..session.session import current
from ..values.above import above, chosen_of
from ..values.limited import OF_LISTS, Limited, refuse_methods
from ..values.operands import Traced
from ..values.shadows import class_of

# See Note [Rooms with one door].
keys_of = import_later("fxc.capture.dicts.unknown_keys", "keys_of")
place_of_key = import_later("fxc.capture.dicts.unknown_keys", "place_of_key")
demand = import_later("fxc.capture.forms.truths", "demand")
demand_or_raise = import_later("fxc.capture.forms.truths", "demand_or_raise")

Table = Callable[[tuple[Any, ...], Any], Any]  # the item at a place, of these

_MOST = 64  # items
_FUNCTIONS = {FunctionType, BuiltinFunctionType, MethodType, np.ufunc}


class OneOfItems(Limited):
    """One of several objects of a class, none of them a number: it can be read.

    Its items and attributes are those at the place in the row of theirs. Tuples, and lists from
    outside, may be of several lengths: the items of all are one row then.
    """

    __slots__ = ("_at", "_items", "_place")
    _held = ("_items",)
    _is_object = _is_row = True
    _items: tuple[Any, ...]

    def __init__(self, at: Table, items: Sequence[object], place: Int) -> None:
        object.__setattr__(self, "_at", at)
        object.__setattr__(self, "_items", tuple(items))
        object.__setattr__(self, "_place", place)

    @staticmethod
    def may_be(items: Sequence[object]) -> bool:
        """Whether these are such objects."""
        kinds = {class_of(x) for x in items}
        alike = len(kinds) == 1 or kinds <= _FUNCTIONS
        alike = alike and not any(isinstance(x, Traced) for x in items)
        return alike and 1 < len(items) <= _MOST and not kinds & {type(None), str, bytes, type}

    @staticmethod
    def at(items: Sequence[Any], number_at: Callable[[list[Any]], Any]) -> object:
        """The one of several such, of the same objects, that stands at a place; else None."""
        if not all(type(x) is OneOfItems for x in items):
            return None
        if len({tuple(map(id, x._items)) for x in items}) != 1:
            return None
        return OneOfItems(items[0]._at, items[0]._items, number_at([x._place for x in items]))

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        if len({class_of(x) for x in self._items}) > 1:
            raise self.refused()
        return class_seen(self._items[0])  # type: ignore[no-any-return]

    def _row(self, part: Callable[[object], Any]) -> object:
        try:
            parts = tuple(map(part, self._items))
        except (AttributeError, LookupError):  # which Python asks one of them for alone
            raise self.refused() from None
        return self._at(parts, self._place)

    def _in_one_row(self) -> tuple[Any, Any, Callable[[Any], Any]] | None:
        """Where its items begin among those of all, how many they are, and the item at a place
        there; None if all have as many, or may change.
        """
        if not all(isinstance(x, tuple | External) for x in self._items):
            return None
        if not isinstance(self._items[0], tuple | list):
            return None
        rows = [tuple(x) for x in self._items]
        sizes = tuple(map(len, rows))
        if len(set(sizes)) == 1:
            return None
        begins, row = (0, *accumulate(sizes[:-1])), tuple(chain(*rows))
        begin, size = (self._at(numbers, self._place) for numbers in (begins, sizes))
        return begin, size, lambda place: self._at((*row, row[-1]), begin + place)

    def _counted(self) -> Bounded | None:
        found = self._in_one_row()
        return found and Bounded((0, found[1]), 0, found[1], found[2], of=(self,))

    def _is_filled(self) -> object:
        if not isinstance(self._items[0], tuple | list):
            return None
        found = self._in_one_row()
        return len(self) > 0 if found is None else found[1] > 0

    def __getitem__(self, key: object) -> Any:
        if type(key) is int and (found := self._in_one_row()) is not None:
            return found[2](place_among(key, found[1]))
        if isinstance(key, slice) or not isinstance(self._items[0], tuple | list | dict):
            raise self.refused()
        if any(isinstance(each, Traced) for each in (key if type(key) is tuple else (key,))):
            raise self.refused()  # the other objects need not have it
        return self._row(lambda x: current().door.indexed(x)[key])

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def __len__(self) -> int:
        if not isinstance(self._items[0], tuple | list):
            raise self.refused()
        sizes = set(map(len, self._items))
        if len(sizes) > 1:
            raise self.refused()
        return sizes.pop()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or isinstance(self._items[0], tuple | list | dict):
            raise self.refused()
        return self._row(lambda x: current().door.attr(x, name))

    def called(self, *args: object, **kwargs: object) -> object:
        """What the one of these functions gives that stands at the place."""
        door = current().door
        *first, last = (partial(door.call, each, *args, **kwargs) for each in self._items)
        found: Callable[[], Any] = last
        for place, each in reversed(list(enumerate(first))):
            found = partial(above().chosen, door, self._place == place, each, found)
        return found()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise self.refused()

    def __bool__(self) -> NoReturn:
        raise self.refused()

    def refused(self, what: str = "") -> Exception:
        current().door.lists.ask_pool(*self._items)
        what = class_seen(self._items[0]).__name__
        return refusal(
            KEYS_OF_DATA,
            f"one of several objects ({what}), at a place that depends on data, can only be read; "
            "use arrays, or an if",
        )


refuse_methods(OneOfItems, OF_LISTS)


def item_by_key(at: Table, items: dict[object, object], key: object, *default: object) -> object:
    """``items[key]``, or ``get``, for a key that is not known; NotImplemented if not computed."""
    keys = keys_of(items)
    found = place_of_key(keys, key)
    if found is None:
        return NotImplemented
    place, is_there = found
    values = (*(items[each] for each in keys), *default)
    if default:
        place = above().chosen(current().door, is_there, lambda: found[0], lambda: len(keys))
    else:
        demand_or_raise(is_there, KeyError)  # of none there the place is the first
    return at(values, place) if len(values) > 1 else values[0]


def store_by_key(
    items: dict[object, object], key: object, value: object, store: Callable[..., object]
) -> bool:
    """``items[key] = value`` for a key that is not known, of those that there are: each item is
    what it was, or the value. False where that cannot be had.
    """
    keys, door = keys_of(items), current().door
    found = place_of_key(keys, key)
    if found is None:
        return False
    place, is_there = found
    demand(is_there)  # else there is one key more
    for number, each in enumerate(keys):
        old = items[each]
        store(each, chosen_of(door, place == number, value, old))
    return True
