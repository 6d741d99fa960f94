"""Comprehensions with several ``for`` as loops: lists, and what ``sum``, ``any``, ``all``, ``max``
and ``min`` take up: ``sum(a[i, j] for i in range(n) for j in range(i))``.

The functions say in Python what the builtins do; they are staged like the user's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fxc.ir.errors import CaptureError

from ..locations import user_location
from ..refusing import How, Request, Respecialise
from .folds import but_none
from .sums import CORRECTS, corrected_plus, ended, plus


def nest(
    door: Any,
    function: object,
    items: Any,
    over: Callable[[Any], Any],
    level: Callable[..., Any],
    test: Callable[..., Any] | None,
    unpacks: bool,
) -> Any:
    """``function(over(items))``. Of the items that pass the ``test``, ``level(run, last, so_far,
    item)`` takes in all that belongs to one: the innermost by ``last``, others by ``run``.
    """
    by_item = Request(f"comprehension {user_location()}", How.ITEM_BY_ITEM)
    try:
        found = _NESTS.get(function)
    except TypeError:  # unhashable callables are none of these
        found = None
    if found is None or by_item in door.session.requests:
        return door.call(function, over(items))
    run, last = map(door.staged, found[:2])
    try:
        result = run(run, last, items, level, test, unpacks, found[2])
    except CaptureError as error:
        raise Respecialise(by_item, error=error) from None
    if CORRECTS and function is sum:
        return ended(result)
    return door.staged(_best)(result) if function in (max, min) else result


def nested(
    door: Any,
    items: object,
    over: Callable[[Any], Any],
    level: Callable[..., Any],
    test: Callable[..., Any] | None,
    unpacks: bool,
) -> Any:
    """The list of a comprehension with several ``for``: made in Python by ``over(items)``, or by
    loops where that cannot be.
    """
    label, requests = f"comprehension {user_location()}", door.session.requests
    by_item, as_loops = Request(label, How.ITEM_BY_ITEM), Request(label, How.AS_LOOPS)
    if by_item in requests:
        return over(items)
    if as_loops not in requests:
        try:
            return over(items)
        except CaptureError as error:
            raise Respecialise(as_loops, error=error) from None
    run, last = door.staged(_total), door.staged(_appended)
    try:
        return door.staged(_gathered)(run, last, items, level, test, unpacks)
    except CaptureError as error:
        if door.lists.changed:  # the list is to be one of the graph first
            raise
        raise Respecialise(by_item, error=error) from None


# ------------------------------------------------------------------ staged


def _gathered(run: Any, last: object, items: Any, level: object, test: Any, unpacks: bool) -> Any:
    found: Any = []
    run(run, last, items, level, test, unpacks, found)
    return found


def _appended(so_far: Any, value: object) -> Any:
    so_far.append(value)
    return so_far


def _total(
    run: Any, last: object, items: Any, level: Any, test: Any, unpacks: bool, so_far: Any
) -> Any:
    for item in items:
        parts = item if unpacks else (item,)
        if test is None or test(*parts):
            so_far = level(run, last, so_far, *parts)
    return so_far


def _any(
    run: Any, last: object, items: Any, level: Any, test: Any, unpacks: bool, so_far: Any
) -> Any:
    for item in items:
        parts = item if unpacks else (item,)
        if (test is None or test(*parts)) and level(run, last, False, *parts):
            return True
    return False


def _all(
    run: Any, last: object, items: Any, level: Any, test: Any, unpacks: bool, so_far: Any
) -> Any:
    for item in items:
        parts = item if unpacks else (item,)
        if (test is None or test(*parts)) and not level(run, last, True, *parts):
            return False
    return True


def _itself(so_far: object, value: object) -> Any:
    return value


def _larger(so_far: Any, value: object) -> Any:
    if so_far is None or value > so_far:
        so_far = value
    return so_far


def _smaller(so_far: Any, value: object) -> Any:
    if so_far is None or value < so_far:
        so_far = value
    return so_far


def _best(found: object) -> Any:
    if found is None:
        raise ValueError("iterable argument is empty")
    return but_none(found)


_NESTS: dict[Any, tuple[Any, Any, Any]] = {
    sum: (_total, corrected_plus, (0, 0.0)) if CORRECTS else (_total, plus, 0),
    any: (_any, _itself, False),
    all: (_all, _itself, True),
    max: (_total, _larger, None),
    min: (_total, _smaller, None),
}
