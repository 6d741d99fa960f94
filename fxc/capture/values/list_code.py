"""What changes of lists do that move items, in Python; it is staged like the user's own code.

See Note [Lists of counted length] and Note [Pools of lists].
"""

from __future__ import annotations

from typing import Any


def inserted(items: Any, place: Any, x: Any) -> None:
    count = len(items)
    if place < 0:
        place = place + count
    if place < 0:
        place = 0
    if place > count:
        place = count
    items.append(x)
    for k in range(count - place):
        items.move(count - k, count - k - 1)
    items.put_again(place, x)


def deleted(items: Any, start: Any, stop: Any) -> None:
    count = len(items)
    for k in range(count - stop):
        items.move(start + k, stop + k)
    items.shorten(count - stop + start)


def replaced(items: Any, found: Any) -> None:
    for k in range(len(found)):
        items.put_again(k, found.at(k))


def extended(items: Any, more: Any) -> None:
    for x in more:
        items.append(x)


def place_of(items: Any, x: Any, is_same: Any) -> Any:
    for place in range(len(items)):
        if is_same(items.at(place), x):
            return place
    return -1


def number_of(items: Any, x: Any, is_same: Any) -> Any:
    count = 0
    for place in range(len(items)):
        if is_same(items.at(place), x):
            count += 1
    return count


def appended(pool: Any, number: Any, x: Any) -> None:
    begin, count, room = pool.head(number)
    if count == room:
        end = pool.end()
        if begin + room == end:
            pool.set_end(end + 1)
            pool.set_head(number, begin, room + 1)
        else:
            room = 2 * count + 4
            pool.set_end(end + room)
            for k in range(count):
                pool.move(end + k, begin + k)
            pool.set_head(number, end, room)
            begin = end
    pool.put(begin + count, x)
    pool.set_count(number, count + 1)


def are_equal(a: Any, b: Any, is_same: Any) -> Any:
    if len(a) != len(b):
        return False
    return all(is_same(a[k], b[k]) for k in range(len(b)))
