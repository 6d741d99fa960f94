"""``first, *rest, last = x``: one assignment of as many values as there are targets."""

from __future__ import annotations

from typing import Any

from ..arrays.traced_array import TracedArray
from ..lists.traced_lists import is_in_arrays
from ..regions.needed import StatementDoor
from ..values.operands import settled


def starred(door: StatementDoor, x: Any, before: int, after: int) -> tuple[Any, ...]:
    """So many first items, a list of those between, and so many last ones.

    Raises ``ValueError`` as Python does.
    """
    found = settled(x)
    is_array = isinstance(found, TracedArray) and found.ndim > 0
    if is_array or is_in_arrays(found):
        size = door.call(len, found)
        if isinstance(size, int):
            _check(size, before + after)
            between = found[before : size - after]
            between = door.call(list, between) if is_array else between
            last = (found[k] for k in range(size - after, size))
            return (*(found[k] for k in range(before)), between, *last)
    items = [*x]
    _check(len(items), before + after)
    end = len(items) - after
    return (*items[:before], items[before:end], *items[end:])


def _check(count: int, least: int) -> None:
    if count < least:
        raise ValueError(f"not enough values to unpack (expected at least {least}, got {count})")
