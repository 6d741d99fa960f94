"""What is done with dicts and sets of the graph, in Python; it is staged like the user's own code.

See Note [Dicts of the graph].
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from typing import Any


def looked_up(items: Any, key: Any) -> Any:
    bits = key[0]
    for part in key[1:]:
        bits = (bits & 0xFFFFFFFF) * 1000003 ^ part
    slot = items.slot((bits & 0xFFFFFFFFFFFF) + ((bits >> 15) & 0xFFFFFFFF))
    number = items.number_at(slot)
    while number > 0 and not items.is_at(number - 1, key):
        slot = items.slot(slot + 1)
        number = items.number_at(slot)
    return slot, number


def stored(items: Any, item: Any) -> None:
    slot, number = items.find(item[0])
    if number == 0:
        number = items.put_key(slot, item[0])
        if items.is_crowded():
            items.fill()
    items.put(number - 1, item)


def made_by_a_read(items: Any, key: object) -> Any:
    slot, number = items.find(key)
    if number > 0:
        return items.items_.at(number - 1)[1]
    value = items.made_default()
    number = items.put_key(slot, key)
    items.put(number - 1, (key, value))
    if items.is_crowded():
        items.fill()
    return value


LEAST_PLACES = 64


def filled(items: Any, count: Any) -> None:
    size = LEAST_PLACES
    while size < 2 * count:
        size = size * 2
    items.set_size(size)
    for place in range(size):
        items.number(place, 0)
    for place in range(count):
        key = items.key_at(place)
        slot, _ = items.looked_up(key)
        items.number(slot, place + 1)


def set_default(items: Any, key: object, default: Any) -> Any:
    if key not in items:
        items[key] = default
    return items[key]


def added(items: Any, pairs: Any) -> None:
    for key, value in pairs:
        items[key] = value


def counted_in(items: Any, keys: Any) -> None:
    for key in keys:
        items[key] = items.get(key, 0) + 1


def counted_more(items: Any, pairs: Any) -> None:
    for key, count in pairs:
        items[key] = items.get(key, 0) + count


def taken_in(items: Any, keys: Any) -> None:
    for key in keys:
        items.add(key)


ADDED: dict[type, Any] = {
    dict: added,
    defaultdict: added,
    OrderedDict: added,
    Counter: counted_in,
    set: taken_in,
}


def best(items: Any, first: object, key: Any, largest: object) -> Any:
    best, top = first, key(first)
    for place, item in enumerate(items):
        if place > 0:
            rank = key(item)
            if rank > top if largest else rank < top:
                best, top = item, rank
    return best


def copied(items: Any) -> Any:
    made = {}
    for key, value in items:
        made[key] = value
    return made


def counter_of(items: Any) -> Any:
    made: Any = Counter()
    for key, value in items:
        made[key] = value
    return made


def most_common(items: Any, n: Any) -> Any:
    found = sorted(items.items(), key=lambda item: item[1], reverse=True)
    return found if n is None else found[:n]


def total(items: Any) -> Any:
    return sum(items.values())


def united(left: Any, right: Any, other: Any) -> Any:
    found = set()
    for key in left:
        found.add(key)
    for key in right:
        found.add(key)
    return found


def common(left: Any, right: object, other: Any) -> Any:
    found = set()
    for key in left:
        if key in other:
            found.add(key)
    return found


def without(left: Any, right: object, other: Any) -> Any:
    found = set()
    for key in left:
        if key not in other:
            found.add(key)
    return found
