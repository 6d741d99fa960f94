"""Comprehensions with several ``for`` as loops: lists, and what ``sum``, ``any``, ``all``, ``max``
and ``min`` take up: ``sum(a[i, j] for i in range(n) for j in range(i))``.

The functions say in Python what the builtins do; they are staged like the user's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fxc.ir.errors import CaptureError

from ..regions.counted import counted
from ..regions.needed import StatementDoor
from ..session.locations import user_location
from ..session.refusing import How, Request, Respecialise
from ..values.operands import has_traced
from .comprehensions import MOST_KNOWN, Comprehension, Each, is_long
from .folded import CORRECTS, but_none, corrected_plus, ended, plus
from .folds import entry_of


def nest(door: StatementDoor, function: object, made: Comprehension) -> object:
    """``function(comprehension)``. Of the items that pass the test, ``each(way, so_far, item)``
    takes in all that belongs to one: see ``Way``.
    """
    by_item = Request(f"comprehension {user_location()}", How.ITEM_BY_ITEM)
    found = entry_of(_NESTS, function)
    if found is None and not made.is_lazy:
        return door.call(function, nested(door, made))
    if found is None or by_item in door.session.requests:
        return door.call(function, made.over(made.items))
    way = door.staged(found[0]), door.staged(found[1])
    try:
        result = way[0](way, *_parts(made), found[2])
    except CaptureError as error:
        raise Respecialise(by_item, error=error) from None
    if CORRECTS and function is sum:
        return ended(result)
    return door.staged(_best)(result) if function in (max, min) else result


def nested(door: StatementDoor, made: Comprehension) -> object:
    """The list of a comprehension with several ``for``: by Python if short or known, else loops."""
    label, requests = f"comprehension {user_location()}", door.session.requests
    by_item, as_loops = Request(label, How.ITEM_BY_ITEM), Request(label, How.AS_LOOPS)
    if by_item in requests:
        return made.over(made.items)
    if as_loops not in requests and not is_long(counted(made.items)):
        try:
            found = made.over(made.items)
        except CaptureError as error:
            raise Respecialise(as_loops, error=error) from None
        if len(found) <= MOST_KNOWN or not has_traced(found):
            return found
        raise Respecialise(as_loops)
    try:
        way = door.staged(_total), door.staged(_appended)
        return door.staged(_gathered)(way, *_parts(made))
    except CaptureError as error:
        if door.lists.changed:  # the list is to be one of the graph first
            raise
        raise Respecialise(by_item, error=error) from None


def _parts(made: Comprehension) -> tuple[Any, ...]:
    return made.items, made.each, made.test, made.unpacks


# ------------------------------------------------------------------ staged


Way = tuple[Each, Each]  # what runs over the items of a ``for``, and what takes in a value
Items = Iterable[object]


def _total(
    way: Way, items: Items, level: Each, test: Each | None, unpacks: bool, so_far: object
) -> object:
    for item in items:
        parts: Any = item if unpacks else (item,)
        if test is None or test(*parts):
            so_far = level(way, so_far, *parts)
    return so_far


def _comes_up(
    way: Way, items: Items, level: Each, test: Each | None, unpacks: bool, wanted: bool
) -> object:
    """What ``any`` does if True is ``wanted``; what ``all`` does if False is."""
    for item in items:
        parts: Any = item if unpacks else (item,)
        if (test is None or test(*parts)) and (
            level(way, wanted, *parts) if wanted else not level(way, wanted, *parts)
        ):
            return wanted
    return not wanted


def _gathered(way: Way, items: Items, level: Each, test: Each | None, unpacks: bool) -> Any:
    found: list[object] = []
    way[0](way, items, level, test, unpacks, found)
    return found


def _appended(so_far: list[object], value: object) -> object:
    so_far.append(value)
    return so_far


def _itself(so_far: object, value: object) -> object:
    return value


def _larger(so_far: Any, value: object) -> object:
    if so_far is None or value > so_far:
        so_far = value
    return so_far


def _smaller(so_far: Any, value: object) -> object:
    if so_far is None or value < so_far:
        so_far = value
    return so_far


def _best(found: object) -> Any:
    if found is None:
        raise ValueError("iterable argument is empty")
    return but_none(found)


# What runs over the items of a ``for``, what takes in a value, and what there is at first.
_NESTS: dict[Callable[..., object], tuple[Each, Each, object]] = {
    sum: (_total, corrected_plus, (0, 0.0)) if CORRECTS else (_total, plus, 0),
    any: (_comes_up, _itself, True),
    all: (_comes_up, _itself, False),
    max: (_total, _larger, None),
    min: (_total, _smaller, None),
}
