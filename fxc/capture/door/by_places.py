"""Loops over lists that they change: what the code of ``staging/changed_in_loops.py`` asks for."""

from __future__ import annotations

from typing import Any

from fxc.ir.error_kinds import CHANGE_IN_LOOP

from ..lists.list_room import Int
from ..lists.traced_lists import TracedList, is_in_arrays
from ..outside.lists import ExternalList
from ..session.refusing import refusal
from .stores import Stores


def list_to_change(door: Stores, x: object) -> Any:
    """The list that is run over."""
    if type(x) in (list, ExternalList) or (type(x) is TracedList and x.of is list):
        return x
    raise refusal(
        CHANGE_IN_LOOP,
        "a change to something else than a list, while a loop runs over it, is not captured",
    )


def has_place(door: Stores, items: object, place: object) -> Any:
    return place < door.call(len, items)


def at_place(door: Stores, items: Any, place: Int) -> Any:
    if is_in_arrays(items):
        return items.at(place)
    return door.indexed(items)[place]
