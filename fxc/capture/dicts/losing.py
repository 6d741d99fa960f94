"""What takes items out of dicts and sets of the graph. See Note [Dicts that lose items]."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..forms.truths import demand
from ..session.refusing import How, Request, Respecialise
from ..session.session import current
from ..values.operands import settled
from .dict_tables import KeyedBuffer
from .holes import (
    HoledBuffer,
    discarded,
    emptied,
    first_taken,
    last_taken,
    moved_last,
    popped,
)

if TYPE_CHECKING:
    from .traced_dicts import Keyed


def _holed(items: Keyed) -> HoledBuffer:
    """The table of a dict or a set that loses items; where it is another, begin again."""
    if not isinstance(items.table, HoledBuffer):
        raise Respecialise(Request(items.table.label, How.HOLED))
    return items.table


def _found(items: Keyed, key: object, is_there: bool = True) -> tuple[Any, Any] | None:
    """As ``find`` of a table with holes, before an item, which is there, is taken out; None where
    that will be recorded again.
    """
    table = _holed(items)
    if not table.begin_change():
        if is_there and not table.is_foreseen():
            demand(False)  # if it is not recorded again, since no item was ever stored
        return None
    slot, number = table.find(settled(key))
    if is_there:
        demand(number > 0)  # else Python raises a KeyError
    return slot, number


def remove(items: Keyed, key: object) -> None:
    """``set.remove``, and ``del``."""
    if items.of is Counter:
        discard(items, key)
    elif (found := _found(items, key)) is not None:
        _holed(items).take_out(*found)


def discard(items: Keyed, key: object) -> None:
    """``set.discard``."""
    found = None if _holed(items).is_empty() else _found(items, key, is_there=False)
    if found is not None:
        _staged(discarded, _holed(items), *found)


def clear(items: Keyed) -> None:
    """``dict.clear``, ``set.clear``."""
    table = _holed(items)
    if not table.is_empty() and table.begin_change():
        _staged(emptied, table)


def pop(items: Keyed, key: object, *default: object) -> object:
    """``dict.pop``."""
    table = _holed(items)
    if default and table.is_empty():
        return default[0]
    found = _found(items, key, is_there=not default)
    if found is None:
        is_known = not default or (default[0] is None and table.is_foreseen())
        return table.any_item()[1] if is_known else default[0]
    if default:
        return _staged(popped, table, *found, *default)
    value = table.at(found[1] - 1)[1]
    table.take_out(*found)
    return value


def popitem(items: Keyed, *args: object, **kwargs: object) -> Any:
    """``dict.popitem``, and that of an ``OrderedDict``."""
    if items.of is not OrderedDict and (args or kwargs):
        raise TypeError(f"{items.of.__name__}.popitem() takes no arguments")
    last, table = _last(*args, **kwargs), _holed(items)
    if not table.begin_change():
        if not table.is_foreseen():
            demand(False)
        return table.any_item()
    demand(table.number() > 0)  # else Python raises a KeyError
    return _staged(last_taken if last else first_taken, table)


def _last(last: object = True) -> object:
    return last


def move_to_end(items: Keyed, key: object, last: bool = True) -> None:
    """``OrderedDict.move_to_end``."""
    if not last:
        raise items.refused("move_to_end() to the start")
    if (found := _found(items, key)) is not None:
        _staged(moved_last, _holed(items), *found)


def first_alone(items: Keyed) -> Iterator[Any]:
    """``iter`` of a dict, of which the program may take the first key."""
    changes = items.table.changes
    for key in _first_of_all(items.table):
        if items.table.changes == changes:
            yield key
        raise items.refused("more than the first key of an iterator")


def _first_of_all(table: KeyedBuffer) -> Iterator[Any]:
    if table.awaited_by() is not None:
        yield table.any_item()[0]
    elif table.items is not None:
        yield from (key for key, _ in table.items[:1])
    else:
        demand(table.number() > 0)  # else Python raises StopIteration
        place = table.first_place() if isinstance(table, HoledBuffer) else 0
        yield table.at(place)[0]


def _staged(function: Callable[..., Any], *args: object) -> Any:
    return current().door.staged(function)(*args)
