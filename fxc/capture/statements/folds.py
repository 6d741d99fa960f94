"""Comprehensions and generators that a function takes up at once, as loops of the graph:
``sum(x[i] for i in range(n))``, ``np.array([f(v) for v in x])``.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from fxc.ir.error_kinds import ITERATOR
from fxc.ir.errors import CaptureError
from fxc.ir.records import frozen, replace
from fxc.ir.size_guards import guard

from ..forms.truths import flag_of
from ..lists.traced_lists import TracedList
from ..numbers.varying import decide_in_loops
from ..outside.containers import External, class_seen
from ..regions.counted import FEW, Bounded, Counted, counted
from ..regions.needed import StatementDoor
from ..session.locations import user_location
from ..session.refusing import How, Request, Respecialise, refuse
from ..session.session import current
from ..values.objects import Args, Kwargs
from ..values.operands import array_of, is_scalar
from .comprehensions import (
    MOST_KNOWN,
    MOST_LISTED,
    Comprehension,
    Each,
    Filtered,
    Items,
    as_driven,
    filtered,
    gathered,
    itself,
    mapped,
)
from .folded import (
    FOLDS,
    OF_ARRAYS,
    OF_KEYS,
    WITH_START,
    added,
    best_of,
    comes_up,
    comes_up_in_few,
    extreme,
    first_of,
    first_of_few,
    stored,
    tallied,
)

T = TypeVar("T")
_LEAVING = (any, all, next)  # they may not ask for all items
_TRUSTED = ("builtins", "collections", "numpy")
_KNOWN = frozenset(map(type, ((), [], {}.keys(), {}.values(), {}.items())))
MOST_OF_ROWS = 64  # operations of a comprehension in a comprehension that Python runs


@frozen
class Fold:
    """A comprehension whose items are being computed."""

    label: str
    is_array: bool = False  # a loop, whose items become an array
    began: int | None = None  # Python runs it: the operations before, if they are not to be many

    def look(self) -> None:
        """Ask for a loop if the operations have become many."""
        if self.began is not None and current().operations - self.began > MOST_OF_ROWS:
            raise Respecialise(Request(self.label, How.MANY_OPERATIONS))


def fold(
    door: StatementDoor,
    function: object,
    is_list: bool,
    made: Comprehension,
    *rest: object,
    **options: object,
) -> Any:
    """``function(comprehension, …)``; one that ``is_list`` may be a list of the graph."""
    if not (rest or options) and (in_turn := _of_each(door, function, made)) is not None:
        return in_turn()
    if function not in _LEAVING and (taken := as_driven(door, made)) is not None:
        return door.call(function, taken, *rest, **options)
    loop, more = _loop_of(function, made, rest, options)
    found = counted(made.items) if loop is not None else None
    fold = Fold(f"comprehension {user_location()}")
    takes_list = made.is_lazy and function in (np.fromiter, deque)
    if loop is None and made.test is None and (is_list or takes_list):
        return door.call(function, mapped(door, False, _in_list(made)), *rest, **options)
    is_known = type(made.items) in _KNOWN and len(made.items) <= FEW
    if is_known and (loop is comes_up or (loop is first_of and rest and made.test)):
        return _of_known(door, function, fold, made, *rest)
    filters = made.test is not None and type(made.items) in _KNOWN and loop is not first_of
    if takes_list or (filters and (is_list or loop is not None)):
        return door.call(function, filtered(door, _in_list(made)), *rest, **options)
    if loop is None or found is None or not _is_loop(loop, found, made.test):
        return door.call(function, _items(fold, made.over, made.items), *rest, **options)
    if loop is extreme and (made.test is not None or options):
        loop, more = best_of, (*more, options.get("key"))
        more += (options["default"],) if "default" in options else ()
    asked = door.session.asked(fold.label)
    known, count = type(made.items) is range, found.count if type(found) is Counted else None
    few = type(count) is int and count <= (MOST_KNOWN if known else FEW)
    by_python = How.ITEM_BY_ITEM in asked
    if by_python or (few and asked.isdisjoint((How.AS_LOOP, How.MANY_OPERATIONS))):
        began = door.session.operations if loop is gathered and not by_python else None
        try:
            items = made.items if known else found
            given = _items(Fold(fold.label, began=began), made.over, items)
            return door.call(function, given, *rest, **options)
        except CaptureError as error:
            if by_python:
                raise
            raise Respecialise(Request(fold.label, How.AS_LOOP), error=error) from None
    if loop is extreme and not _has_items(found):
        return door.call(function, _items(fold, made.over, found), *rest, **options)
    found = found.taken() if loop is extreme else found
    loop = comes_up_in_few if loop is comes_up and few else loop
    result = _by_loop(door, loop, fold, found, made, more)
    return door.call(function, result) if function in OF_ARRAYS else result


def _loop_of(
    function: object, made: Comprehension, rest: Args, options: Kwargs
) -> tuple[Callable[..., object] | None, Args]:
    """The loop of a function, and what it is given beside the comprehension; None for others."""
    loop, more = entry_of(FOLDS, function) or (None, ())
    if loop is gathered and made.is_lazy:
        return None, ()  # to NumPy's functions a generator is one object
    if loop in WITH_START and rest + tuple(options.values()):
        (start, *others), is_start = (*rest, *options.values()), options.keys() <= {"start"}
        if others or not is_start or not _is_start(start):
            return None, ()
        return loop, (start,)
    if loop is first_of:
        return (None if options else loop), rest
    if rest or (options and (loop is not extreme or not options.keys() <= {"key", "default"})):
        return None, ()
    return loop, more


def _is_start(x: object) -> bool:
    """Whether this is a number or an array, which a loop may carry."""
    return array_of(x) is not None or is_scalar(x) or isinstance(x, int | float | np.number)


def _of_each(
    door: StatementDoor, function: object, made: Comprehension
) -> Callable[[], Any] | None:
    """A loop for what a list, a deque, a set or a dict takes in as soon as it is there."""
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    key: Any = owner.__class__, name
    of_items = made.items, made.of_item, made.holds
    if not made.is_lazy:
        return None
    if key in _OF_PAIRS and not isinstance(owner, External):
        return lambda: door.staged(_OF_PAIRS[key])(*of_items, owner)
    if key not in _OF_ONE:
        return None
    return lambda: door.staged(added)(*of_items, door.attr(owner, _OF_ONE[key]))


# Methods that put in items one by one, what they do, and those that put in one.
_OF_PAIRS = {(dict, "update"): stored, (Counter, "update"): tallied}
_OF_ONE = {
    (list, "extend"): "append",
    (deque, "extend"): "append",
    (deque, "extendleft"): "appendleft",
    (set, "update"): "add",
}


def _in_list(made: Comprehension) -> Comprehension:
    """A comprehension that is no generator."""
    return replace(made, over=lambda items: list(made.over(items)), is_lazy=False)


def _by_loop(
    door: StatementDoor,
    loop: Callable[..., object],
    fold: Fold,
    found: Counted | Bounded,
    made: Comprehension,
    more: Sequence[object],
) -> Any:
    """What one of ``FOLDS`` makes of items; what is short and no loop is done item by item."""
    in_graph = Fold(fold.label, loop is gathered)
    if in_graph.is_array:
        more = (TracedList([]),)
    try:
        result = _items(in_graph, door.staged(loop), found, made.of_item, made.holds, *more)
        return door.call(np.asarray, result.as_array(taken=True)) if in_graph.is_array else result
    except CaptureError as error:
        asked, count = door.session.asked(fold.label), found.count
        is_short = type(count) is int and count <= MOST_LISTED
        if loop not in OF_KEYS and (How.AS_LOOP in asked or not is_short):
            raise
        raise Respecialise(Request(fold.label, How.ITEM_BY_ITEM), error=error) from None


def _of_known(
    door: StatementDoor, function: object, fold: Fold, made: Comprehension, *rest: object
) -> object:
    """``any``, ``all`` and ``next`` of what is computed from a few items that Python has: branches,
    if what they ask for is not known.
    """
    by_item = Request(fold.label, How.ITEM_BY_ITEM)
    if by_item in door.session.requests:
        return door.call(function, _items(fold, made.over, made.items), *rest)
    loop, more = (first_of_few, rest) if function is next else (comes_up_in_few, (function is any,))
    few = list(made.items), made.of_item, made.holds, *more
    try:
        return _items(fold, door.staged(loop), *few)
    except CaptureError as error:
        raise Respecialise(by_item, error=error) from None


def _is_loop(loop: object, found: object, test: object) -> bool:
    """Whether a loop may run over it; one that makes an array has to know the count."""
    if loop is gathered and test is not None:
        return False
    return type(found) is Counted or (type(found) is Bounded and loop is not gathered)


def _has_items(found: Items) -> bool:
    """Whether there are items; where that varies, a call without any goes back to Python."""
    if type(found) is Counted and not current().varies(found.count):
        return guard(found.count, ">", 0)
    if type(found) is Bounded or decide_in_loops(found.count, ">", 0) is not True:
        current().record("try_demand", flag_of(found.length() > 0))
    return True


def taking(function: object) -> object:
    """What has the name of a builtin, or of a method of such a class, that takes up a generator at
    once, if it is no other.
    """
    owner = getattr(function, "__self__", None)
    of = function if owner is None or isinstance(owner, ModuleType) else class_seen(owner)
    if (getattr(of, "__module__", None) or "").partition(".")[0] not in _TRUSTED:
        raise refuse(
            ITERATOR,
            "a generator as the argument of a function by the name of a builtin",
            "give it a list",
        )
    return function


def _items(fold: Fold, made: Each, *args: object) -> Any:
    folds = current().folds
    folds.append(fold)
    try:
        return made(*args)
    finally:
        folds.pop()


def row(door: StatementDoor, made: Comprehension) -> Any:
    """``[each(item) for item in items]`` as an item of a fold: an array, where that makes one."""
    outer: Fold = current().folds[-1]
    outer.look()
    if outer.is_array:
        return fold(door, np.array, False, made)
    return made.over(made.items)


def fold_items(
    door: StatementDoor, function: object, items: object, *rest: object, **options: object
) -> object:
    """``sum`` and its like of an array, or of what is counted."""
    made = items.made if type(items) is Filtered else Comprehension(items, list, itself)
    return fold(door, function, False, made, *rest, **options)


def fold_few(door: StatementDoor, function: object, items: Sequence[object]) -> object:
    """``any`` and ``all`` of items that Python has."""
    return door.staged(comes_up_in_few)(items, itself, None, function is any)


def entry_of(table: Mapping[Callable[..., object], T], function: Any) -> T | None:
    """What a table has for a function; None of what it cannot hold, too."""
    try:
        return table.get(function)
    except TypeError:  # unhashable callables are none of these
        return None
