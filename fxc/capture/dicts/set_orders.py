"""The order of the members of a set, which is that of CPython's table of them.

See Note [Orders of sets].
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import numpy as np

from fxc.ir.error_kinds import KEYS_OF_DATA

from ..forms.form import columns_of, key_shape
from ..forms.truths import demand
from ..lists.list_room import Int
from ..numbers.python_numbers import to_int
from ..regions.counted import Bounded, Counted
from ..session.refusing import refusal
from ..session.session import current
from ..values.operands import wrap
from .dict_tables import LEAST_PLACES, KeyedBuffer

# Note [Orders of sets]
# A loop over a set runs over CPython's table of it, which has the order of the members by their
# hashes, and by when they came. A set of the graph whose members have been added one by one to an
# empty one, and of which none was taken out, has its members in that order in its buffer. So where
# the order shows such a table is made: the members are put into eight places, the next one where
# the bits of the hash say, or one of nine behind it, or where more of the bits say. When three
# fifths are taken there is a table of four times as many places as there are members, twice above
# 50,000, into which they go in the order of the table before. Of other sets, which are merged or
# copied from one table into another, the order is Python's. So it is of texts, whose hashes differ
# from process to process.

_PLACES = 8  # of a table at first
_TRIES = 20  # to find in which order members have been added
_LOW = 0xFFFFFFFF
_SHIFTED = (1 << 59) - 1  # what is left of 64 bits behind those that are shifted out
_MODULUS = (1 << 61) - 1  # by which ints beyond it are hashed
# Primes of xxHash, in halves of 32 bits.
_FIRST, _SECOND = (0x9E3779B1, 0x85EBCA87), (0xC2B2AE3D, 0x27D4EB4F)
_FIFTH = 0x27D4EB2F, 0x165667C5


def unordered() -> Exception:
    """What to raise where the order of a set is Python's."""
    return refusal(KEYS_OF_DATA, "the order of a set with keys that depend on data is not captured")


def order_to_add(items: set[Any]) -> tuple[Any, ...] | None:
    """The members of a set in an order in which adding them to an empty one gives the order that
    they have in it; None if a copy has that order. Raises ``CaptureError`` if none is found.
    """
    shown = list(items)
    if list(items.copy()) == shown:
        return None
    places = _places_of(items)
    met = Counter(hash(x) & (places - 1) for x in shown)
    alone = [x for x in shown if met[hash(x) & (places - 1)] == 1]  # before the table grows
    others, rng = [x for x in shown if x not in set(alone)], Random(0)
    for _ in range(_TRIES):
        order = alone + others
        for _ in shown:
            again = list(_added(order))
            wrong = next((k for k, x in enumerate(again) if x != shown[k]), None)
            if wrong is None:
                return tuple(order)
            order.remove(again[wrong])  # it came too early for another one
            order.insert(order.index(shown[wrong]) + 1, again[wrong])
        rng.shuffle(others)
    raise unordered()


def _added(items: Iterable[Any]) -> set[Any]:
    found: set[Any] = set()
    for each in items:
        found.add(each)
    return found


def _places_of(items: set[Any]) -> int:
    return max((sys.getsizeof(items) - sys.getsizeof(set())) // 16, _PLACES)


def is_as_added(items: set[Any]) -> bool:
    """Whether the table of a set is what adding its members to an empty one in any order gives."""
    if len(items) < 2:
        return True
    places = _places_of(items)
    are_ints = all(type(part) is int for x in items for part in (x if type(x) is tuple else (x,)))
    homes = {hash(x) & (places - 1) for x in items}
    return are_ints and len(homes) == len(items) and _places_of(_added(items)) == places


class _Order:
    """A table of CPython's, in ``slots``: the numbers of the members of a set, from 1, and 0 where
    there is none; the ``hashes`` of the members, and the ``order`` that the table gives.
    """

    __slots__ = ("hashes", "is_tuple", "order", "slots", "table")

    def __init__(self, table: KeyedBuffer, is_tuple: bool) -> None:
        most = table.room.most
        self.table = table
        self.is_tuple = is_tuple
        self.slots, self.hashes, self.order = (
            wrap(table.session.value("empty", (size,), np.dtype(np.int64), layout=None))
            for size in (8 * most + LEAST_PLACES, most, most)
        )

    def _staged(self, function: Callable[..., None], *args: object) -> None:
        current().door.staged(function)(self, *args)

    def fill(self) -> None:
        """Put all members into it, and set the order."""
        self._staged(filled, self.table.number())

    def look_at(self, place: Int) -> None:
        """Compute the hash of a member."""
        self.hashes[place] = hash_of(self.table.key_at(place), self.is_tuple)

    def put(self, mask: Int, place: Int) -> None:
        """Put a member where its hash says."""
        self._staged(put, mask, to_int(self.hashes[place]), place + 1)

    def gather(self, mask: Int) -> None:
        self._staged(gathered, mask)

    def number(self, slot: Int) -> Any:
        return to_int(self.slots[slot])

    def set_number(self, slot: Int, number: Int) -> None:
        self.slots[slot] = number

    def member(self, place: Int) -> Any:
        """Which member is the one at a place of the order."""
        return to_int(self.order[place])

    def set_member(self, place: Int, member: Int) -> None:
        self.order[place] = member


def in_table_order(table: KeyedBuffer, items: Counted | Bounded) -> Counted | Bounded:
    """The items that a loop runs over, in the order of CPython's table. Raises ``CaptureError`` for
    others than ints and tuples of these.
    """
    shape, item = key_shape(columns_of(table.room.form)[0]), items.item
    is_tuple = type(shape) is tuple
    if any(part is not False for part in (shape if isinstance(shape, tuple) else (shape,))):
        raise unordered()
    assert item is not None
    order = _Order(table, is_tuple)
    order.fill()

    def at(place: Any) -> object:
        return item(order.member(place))

    if isinstance(items, Counted):
        return Counted(items.count, at, of=items.of)
    return Bounded((items.low, items.high), items.low, items.high, at, items.of)


# ------------------------------------------------------------------ in Python, to be staged


def filled(order: _Order, count: Int) -> None:
    for place in range(count):
        order.look_at(place)
        order.set_member(place, place)
    places = _PLACES
    is_crowded = True
    while is_crowded:
        mask = places - 1
        for slot in range(places):
            order.set_number(slot, 0)
        most = (3 * mask + 4) // 5  # then there are more places
        end = min(count, most)
        for place in range(end):
            order.put(mask, order.member(place))
        order.gather(mask)
        is_crowded = end == most
        wanted = end * (2 if end > 50000 else 4)
        while places <= wanted:
            places = places * 2


def put(order: _Order, mask: Int, rest: Any, number: Int) -> None:
    home = rest & mask
    step = 0
    while order.number(home + step) > 0:
        if step < 9 and home + 9 <= mask:
            step += 1
        else:
            rest = (rest >> 5) & _SHIFTED
            home = (home * 5 + 1 + rest) & mask
            step = 0
    order.set_number(home + step, number)


def gathered(order: _Order, mask: Int) -> None:
    found = 0
    for slot in range(mask + 1):
        number = order.number(slot)
        if number > 0:
            order.set_member(found, number - 1)
            found += 1


# ------------------------------------------------------------------ hashes


def hash_of(key: list[Any], is_tuple: bool) -> Any:
    """The hash of an int, or of a tuple of ints, as CPython has it."""
    if not is_tuple:
        return _hash_of_int(key[0])
    high, low = _FIFTH
    for part in key:
        lane = _hash_of_int(part)
        more = _product((lane >> 32) & _LOW, lane & _LOW, _SECOND)
        low = low + more[1]
        high = (high + more[0] + (low >> 32)) & _LOW
        low = low & _LOW
        turned = ((high << 31) | (low >> 1)) & _LOW
        high, low = _product(turned, ((low << 31) & _LOW) | (high >> 1), _FIRST)
    low = low + (len(key) ^ _FIFTH[1] ^ 3527539)
    high = (high + _FIFTH[0] + (low >> 32)) & _LOW
    demand((high & low & _LOW) < _LOW)  # CPython has another hash in place of -1
    return ((high - ((high >> 31) << 32)) << 32) | (low & _LOW)


def _hash_of_int(x: Any) -> Any:
    demand(x > -_MODULUS)
    demand(x < _MODULUS)
    return x - to_int(x == -1)


def _product(high: Any, low: Any, by: tuple[int, int]) -> tuple[Any, Any]:
    """The product of two numbers of 64 bits, all in halves; its low 64 bits."""
    most, least = by
    first, second = low * (least & 0xFFFF), low * (least >> 16)
    bits = (first & _LOW) + ((second & 0xFFFF) << 16)
    carried = (first >> 32) + (second >> 16) + (bits >> 32)
    return (carried + high * least + low * most) & _LOW, bits & _LOW
