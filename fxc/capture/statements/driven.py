"""Generators of the program that are driven. See Note [Generators that are driven]."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from types import GeneratorType
from typing import Any

from fxc.ir.error_kinds import ITERATOR

from ..regions.needed import StatementDoor
from ..session.refusing import refuse
from ..session.session import current
from ..staging.continuations import is_new, note_run

_Took = Callable[[object], object]


class Numbered(enumerate[Any]):
    """``enumerate(items, start)`` of a generator that is to be driven."""

    def __new__(cls, items: Iterable[object], start: Any = 0) -> Any:
        made: Any = super().__new__(cls, items, start)
        made.given = items, start
        return made

    given: tuple[Iterable[object], Any]


def driven(door: StatementDoor, items: Any, took: _Took, leaves: bool = False) -> None:
    """``for item in items: took(item)``; or until that holds, if it is one that ``leaves``."""
    if type(items) is Numbered:
        door.staged(_numbered)(*items.given, partial(driven, door, leaves=leaves), took)
        return
    known = current().generators
    made = known.get(items) if is_new(current(), items) else None
    function = None if made is None else door.driving(made[0], took, leaves)
    if made is None or function is None:
        door.staged(_each_until if leaves else _each)(items, took)
        return
    items.close()  # behind the loop it has no items
    known[items] = None
    try:
        door.call(function, *made[1], **made[2])
    except StopIteration:  # which Python makes another exception of
        raise refuse(ITERATOR, "StopIteration in a generator") from None
    if not leaves:  # else nobody knows what it would give next
        del known[items]


def taken_up(
    door: StatementDoor, items: object, each: object = None, test: object = None
) -> object:
    """``[each(x) for x in items if test(x)]`` of a generator that is to be driven, or of what
    numbers one; None of another one.
    """
    is_driven = type(items) is Numbered or (
        type(items) is GeneratorType and note_run(current(), items)
    )
    if not is_driven:
        return None
    return door.staged(_collected)(items, partial(driven, door), each, test)


# ------------------------------------------------------------------ staged


def _each(items: Iterable[object], took: _Took) -> None:
    for item in items:
        took(item)


def _each_until(items: Iterable[object], took: _Took) -> None:
    for item in items:
        if took(item):
            break


def _numbered(
    items: object, start: Any, drive: Callable[[object, _Took], object], took: _Took
) -> None:
    count = start

    def took_one(item: object) -> object:
        nonlocal count
        count += 1
        return took((count - 1, item))

    drive(items, took_one)


def _collected(
    items: object, drive: Callable[[object, _Took], object], each: Any, test: Any
) -> Any:
    found: list[object] = []

    def took(item: object) -> None:
        if test is None or test(item):
            found.append(item if each is None else each(item))

    drive(items, took)
    return found
