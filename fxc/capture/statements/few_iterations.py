"""Loops of few iterations: whether Python runs these one by one, or they are one of the graph."""

from __future__ import annotations

from itertools import chain
from typing import Any

from fxc.ir.records import frozen

from ..dicts.tables import KnownItems, Table
from ..lists.list_contents import SPARE
from ..lists.traced_lists import TracedList
from ..regions.counted import FEW, Counted, counted, of_one_thing, over_numbers
from ..session.refusing import How, Request, Requests, Respecialise
from ..session.session import Session

_MOST_COPIED = 150  # operations of an iteration that Python copies inside of a loop of the graph


@frozen
class Iterations:
    """``over`` is what a loop of the graph runs over; None if Python runs it, which it does
    ``otherwise``, too. That the first iteration that Python runs comes to too much is ``seen``.
    """

    over: Any
    otherwise: Requests = Requests()
    seen: Requests = Requests()

    def is_too_much(self, operations: int) -> bool:
        """Whether an iteration of so many had better not be copied."""
        return bool(self.seen) and operations > _MOST_COPIED


NONE_TO_COPY = Iterations(None)


def iterations_of(session: Session, label: str, iterable: object, deep: bool) -> Iterations:
    """What becomes of a loop. One that is ``deep``, around loops in loops, is not run by Python for
    its few iterations: the copies would multiply. Nor is one in a loop of the graph of which an
    iteration comes to much, if its items are counted, or can be looked up. If the program cannot be
    captured so, it is.
    """
    found: Any = over_numbers(counted(of_one_thing(iterable)))
    table = _in_table(iterable) if found is None else None
    few, asked = found if table is None else table, session.asked(label)
    if few is None and How.AS_A_WHOLE in asked:
        few = found = _in_arrays(session, iterable)
    if type(few) is not Counted or type(few.count) is not int:
        return Iterations(found)
    is_whole = How.AS_A_WHOLE in asked and few.count > 0
    if is_whole or (table is None and few.count > FEW):
        return Iterations(few)
    is_much = How.MANY_OPERATIONS in asked
    is_deep = is_much or (deep and table is None)
    if few.count > 1 and is_deep and How.FEW_ITERATIONS not in asked:
        return Iterations(few, otherwise=frozenset((Request(label, How.FEW_ITERATIONS),)))
    if few.count > 2 and session.region > 0 and not is_much:
        return Iterations(None, seen=frozenset((Request(label, How.MANY_OPERATIONS),)))
    return NONE_TO_COPY


def _in_arrays(session: Session, items: object) -> Any:
    """The items of a list that the program makes, for which the capture begins again with the list
    in the graph; None if it cannot be there.
    """
    wanted = session.door.lists.to_change(items)
    if wanted is not None:
        raise Respecialise(wanted)
    if type(items) is TracedList and items.form is None and items.is_made_in(session.region):
        items.make_room([], SPARE, None)
    return counted(items)


def _in_table(items: Any) -> Counted | None:
    """Known numbers, or rows of as many, for a loop that looks them up; None for other things."""
    if type(items) not in (tuple, list, KnownItems):
        return None
    of = (items, items.table) if type(items) is KnownItems else (items,)
    rows = [x if type(x) is tuple else (x,) for x in items]
    are_numbers = all(type(x) in (int, float) for x in chain(*rows))
    if not are_numbers or len({len(row) for row in rows}) != 1:
        return None
    return Counted(len(rows), lambda place: Table(items)[place], of=of)
