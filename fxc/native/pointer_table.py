"""The table of pointers that native code is given: what stands in it, by names, and where that is.

The names mean the same in other processes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fxc.ir.later import import_later
from fxc.package.builtins import numpy_function, pointers
from fxc.runtime.left import Left
from fxc.runtime.notice import DEFAULT, ERRSTATE, Notice

# See Note [Rooms with one door].
inner_loop: Callable[[str, str], bytes] = import_later("fxc.native.numpy_slots", "inner_loop")
loop_of_ufunc: Callable[[Any, int], bytes] = import_later("fxc.native.numpy_slots", "loop_of_ufunc")
scalar_maker: Callable[[str], bytes] = import_later("fxc.native.numpy_slots", "scalar_maker")

Entry = tuple[Any, ...]  # what it is, and what else that takes


class TableObjects:
    """The objects of one compilation that a table points to; they live as long as its code.

    ``functions`` are the places of NumPy's functions that each of the ``calls`` begins with, before
    the objects that it mentions. ``data`` are the elements of its constants.
    """

    __slots__ = ("_objects", "calls", "data", "left", "notice")

    def __init__(
        self,
        notice: Notice,
        left: Left,
        functions: Sequence[int],
        calls: Sequence[tuple[Any, ...]],
    ) -> None:
        self.notice, self.left = notice, left
        self._objects = calls
        self.data: tuple[bytes, ...] = ()
        self.calls = tuple(
            pointers(*map(numpy_function, functions), *map(id, objects)) for objects in calls
        )


def table_of(entries: Sequence[Entry], objects: TableObjects) -> bytes:
    """The table with these entries, as bytes."""
    return b"".join(_pointers_of(entry, objects) for entry in entries)


def _pointers_of(entry: Entry, objects: TableObjects) -> bytes:
    match entry:
        case ("call", number):
            return pointers(id(objects.calls[number]), 0)
        case ("draw", form):
            from .draws import draw_function  # here and below: few programs need them

            return pointers(draw_function(form), 0)
        case ("states",):
            from .draws import state_functions

            return pointers(*state_functions())
        case ("parallel",):
            from fxc.runtime.pool import parallel

            return pointers(*parallel())
        case ("loop of", ufunc, number):
            return loop_of_ufunc(ufunc, number)
        case ("scalar", kind):
            return scalar_maker(kind)
        case ("loop", name, kind):
            return inner_loop(name, kind)
        case ("notice",):
            return pointers(id(objects.notice), id(ERRSTATE))
        case ("constant", data):
            from fxc.ir.objects import BYTES_DATA

            objects.data += (data,)
            return pointers(id(data) + BYTES_DATA, 0)
        case ("default",):
            return pointers(id(DEFAULT), 0)
        case ("left",):
            return pointers(objects.left.address, 0)
        case _:
            raise AssertionError(entry)
