"""Comprehensions and generators that a function takes up at once, as loops of the graph:
``sum(x[i] for i in range(n))``, ``np.array([f(v) for v in x])``.

The functions of ``FOLDS`` say in Python what the builtins do; they are staged like the user's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fxc.ir.errors import CaptureError
from fxc.ir.records import frozen
from fxc.ir.size_functions import hint
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim, counted_in
from fxc.ir.types import ScalarType

from ..locations import user_location
from ..numpy_api.creation import empty
from ..numpy_api.shaping import wrap_dims
from ..numpy_api.ufuncs import call_ufunc
from ..refusing import How, Request, Respecialise, refuse
from ..session import current
from ..values import lists_of_lists, sized_lists
from ..values.one_dtype import is_unclear, one_dtype
from ..values.operands import operand
from ..values.several import Several
from ..values.traced_int import decide_in_loops, wrap_dim
from ..values.truths import flag_of
from .counted import FEW, Bounded, Counted, counted
from .structured import recorded
from .sums import TOTAL

_TRUSTED = ("builtins", "numpy")
MOST_LISTED = 256  # items of a list that are computed one by one
MOST_KNOWN = 32  # iterations over numbers that Python runs, so that what follows is known, too
MOST_APART = 16  # items of a list of numbers that are not known in any case
MOST_OF_ROWS = 64  # operations of a comprehension in a comprehension that Python runs


@frozen
class Comprehension:
    """``(each(item) for item in items if test(item))``; if it ``unpacks``, an item is the arguments
    of both. ``over(items)`` is that in Python.
    """

    items: Any
    over: Callable[[Any], Any]
    each: Callable[..., Any]
    test: Callable[..., Any] | None = None
    unpacks: bool = False

    @property
    def of_item(self) -> Callable[[Any], Any]:
        """What is computed of an item as a whole."""
        each = self.each
        return (lambda item: each(*item)) if self.unpacks else each

    @property
    def holds(self) -> Callable[[Any], Any] | None:
        """Whether an item as a whole counts."""
        test = self.test
        return test if test is None or not self.unpacks else (lambda item: test(*item))


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


def fold(door: Any, function: object, is_list: bool, *parts: Any, **options: object) -> Any:
    """``function(comprehension, **options)``, of which that is a list if it ``is_list``: it may be
    one of the graph.
    """
    made = Comprehension(*parts)
    items, over = made.items, made.over
    loop, known = _loop_of(function), type(items) is range
    found = counted(items) if loop is not None else None
    label = f"comprehension {user_location()}"
    if loop is None and is_list and made.test is None:
        return door.call(function, mapped(door, False, *parts), **options)
    if loop in _OF_FEW and type(items) in _KNOWN and len(items) <= FEW:
        return _of_known(door, function, label, made)
    if loop is None or found is None or not _is_loop(loop, found, made.test):
        return door.call(function, _items(Fold(label), over, items), **options)
    session = door.session
    more: tuple[Any, ...] = ()
    if function in (max, min) and (made.test is not None or options):
        has_default = "default" in options
        more = (function is max, options.get("key"), has_default, options.get("default"))
        loop = best_of
    asked = session.asked(label)
    count = found.count if type(found) is Counted else None
    few = type(count) is int and count <= (MOST_KNOWN if known else FEW)
    by_python = How.ITEM_BY_ITEM in asked
    if by_python or (few and asked.isdisjoint((How.AS_LOOP, How.MANY_OPERATIONS))):
        began = session.operations if loop is collected and not by_python else None
        try:
            given = _items(Fold(label, began=began), over, items if known else found)
            return door.call(function, given, **options)
        except CaptureError as error:
            if by_python:
                raise
            raise Respecialise(Request(label, How.AS_LOOP), error=error) from None
    if loop in (largest, smallest) and not _has_items(found):
        return door.call(function, _items(Fold(label), over, found), **options)
    staged, of_item = door.staged(_OF_FEW.get(loop, loop) if few else loop), made.of_item
    try:
        result = _items(Fold(label, loop is collected), staged, found, of_item, made.holds, *more)
    except CaptureError as error:
        is_short = type(count) is int and count <= MOST_LISTED
        if loop not in _OF_KEYS and (How.AS_LOOP in asked or not is_short):
            raise
        raise Respecialise(Request(label, How.ITEM_BY_ITEM), error=error) from None
    return door.call(function, result) if function in _OF_ARRAYS else result


def _of_known(door: Any, function: object, label: str, made: Comprehension) -> Any:
    """``any`` and ``all`` of what is computed from a few items that Python has: branches, if what
    they ask for is not known.
    """
    by_item = Request(label, How.ITEM_BY_ITEM)
    if by_item in door.session.requests:
        return door.call(function, _items(Fold(label), made.over, made.items))
    staged = door.staged(_OF_FEW[FOLDS[function]])
    try:
        return _items(Fold(label), staged, list(made.items), made.of_item, made.holds)
    except CaptureError as error:
        raise Respecialise(by_item, error=error) from None


def _is_loop(loop: object, found: object, test: object) -> bool:
    """Whether what is counted may be run over by a loop of the graph; one that makes an array has
    to know of how many items.
    """
    if loop is collected and test is not None:
        return False
    return type(found) is Counted or (type(found) is Bounded and loop is not collected)


def _has_items(found: Counted | Bounded) -> bool:
    """Whether there are items in this call; where that varies, the call goes back to Python if
    there are none.
    """
    if type(found) is Counted and not current().varies(found.count):
        return guard(found.count, ">", 0)
    if type(found) is Bounded or decide_in_loops(found.count, ">", 0) is not True:
        current().record("try_demand", flag_of(count_of(found) > 0))
    return True


def taking(function: object) -> Any:
    """A global by the name of a builtin that takes up a generator at once, if it is no other."""
    if (getattr(function, "__module__", None) or "").partition(".")[0] not in _TRUSTED:
        raise refuse(
            "a generator as the argument of a global function by the name of a builtin cannot be "
            "captured; give it a list"
        )
    return function


def _items(fold: Fold, made: Callable[..., Any], *args: object) -> Any:
    folds = current().folds
    folds.append(fold)
    try:
        return made(*args)
    finally:
        folds.pop()


def row(door: Any, *parts: Any) -> Any:
    """``[each(item) for item in items]`` as the item of a comprehension that is folded: where that
    is a loop whose items become an array, an array.
    """
    outer: Fold = current().folds[-1]
    outer.look()
    if outer.is_array:
        return fold(door, np.array, False, *parts)
    made = Comprehension(*parts)
    return made.over(made.items)


def filtered(door: Any, *parts: Any) -> Any:
    """``[each(item) for item in items if test(item)]``."""
    made = Comprehension(*parts)
    items, over = made.items, made.over
    found = counted(items)
    if type(found) not in (Counted, Bounded):
        return over(items)
    by_elements = Request(f"comprehension {user_location()}", How.BY_ELEMENTS)
    is_open = type(found) is Counted and counted_in(found.count)  # Python cannot run over it
    if by_elements not in door.session.requests and not is_open:
        try:
            return over(items if type(items) is range else found)
        except CaptureError:
            raise Respecialise(by_elements) from None
    return _gathered(door, found, made)


def _gathered(door: Any, found: Counted | Bounded, made: Comprehension) -> Any:
    """The same as a list of counted length."""
    return door.staged(gathered)(found, made.of_item, made.holds or _any_item)


def mapped(door: Any, repeats: bool, *parts: Any) -> Any:
    """``[each(item) for item in items]``: of numbers, and as long as a size says, a list of the
    graph, see Note [Lists of a size]; so are lists of numbers with the same items, see Note
    [Lists of lists]; ``repeats`` says that the items are alike. A list of so many arrays grows to
    its length. Else Python makes it.
    """
    made = Comprehension(*parts)
    items, over = made.items, made.over
    found = counted(items)
    by_python = Request(f"comprehension {user_location()}", How.BY_PYTHON)
    if type(found) is Bounded:
        return filtered(door, *parts)
    if type(found) is not Counted or _is_short(items, found.count):
        return over(listed(items))
    if counted_in(found.count):
        return filtered(door, *parts)
    if by_python in door.session.requests:
        if hint(found.count) <= MOST_LISTED:
            return over(items)
        return _gathered(door, found, made)
    door.lists.sized |= {by_python}
    if repeats:
        alike = repeated(by_python, found.count, made.each)
        return over(items) if alike is NotImplemented else alike
    return door.staged(tabled)(found, made.of_item)


def _is_short(items: object, count: Dim) -> bool:
    """Whether Python makes a list of so many items one by one, so that each is known."""
    return type(count) is int and count <= (MOST_KNOWN if type(items) is range else MOST_APART)


def list_of_items(door: object, items: Counted) -> Any:
    """``list(items)``."""
    return mapped(door, False, items, list, _same)


def fold_items(door: object, function: object, items: object, **options: object) -> Any:
    """``sum`` and its like of an array, or of what is counted."""
    return fold(door, function, False, items, list, _same, **options)


def fold_few(door: Any, function: object, items: Sequence[Any]) -> Any:
    """``any`` and ``all`` of items that Python has."""
    return door.staged(_OF_FEW[FOLDS[function]])(items, _same, None)


def _any_item(*item: object) -> bool:
    return True


def _same(item: object) -> Any:
    return item


def _loop_of(function: object) -> Callable[..., Any] | None:
    try:
        return FOLDS.get(function)
    except TypeError:  # unhashable callables are none of these
        return None


def listed(items: object) -> Any:
    """What a list is made of, item by item."""
    found = counted(items)
    if type(found) is Counted and type(found.count) is int and found.count > MOST_LISTED:
        raise refuse(
            f"a list of {found.count} items, each computed by itself, cannot be captured; use "
            "operations on arrays, np.array([…]) at once, or a loop that stores the elements"
        )
    return items


# ------------------------------------------------------------------ staged


def any_of(items: Any, each: Any, test: Any) -> Any:
    for item in items:  # noqa: SIM110 (it says what any does)
        if (test is None or test(item)) and each(item):
            return True
    return False


def all_of(items: Any, each: Any, test: Any) -> Any:
    for item in items:  # noqa: SIM110 (it says what all does)
        if (test is None or test(item)) and not each(item):
            return False
    return True


def any_of_few(items: Any, each: Any, test: Any) -> Any:
    found = False
    for item in items:
        if not found and (test is None or test(item)) and each(item):
            found = True
    return found


def all_of_few(items: Any, each: Any, test: Any) -> Any:
    holds = True
    for item in items:
        if holds and (test is None or test(item)) and not each(item):
            holds = False
    return holds


def largest(items: Any, each: Any, test: Any) -> Any:
    best = each(item_of(items, 0))
    for place in range(1, count_of(items)):
        value = each(item_of(items, place))
        if value > best:
            best = value
    return best


def smallest(items: Any, each: Any, test: Any) -> Any:
    best = each(item_of(items, 0))
    for place in range(1, count_of(items)):
        value = each(item_of(items, place))
        if value < best:
            best = value
    return best


def best_of(
    items: Any, each: Any, test: Any, largest: bool, key: Any, has_default: bool, default: Any
) -> Any:
    best, top = default, None
    for item in items:
        if test is None or test(item):
            value = each(item)
            rank = value if key is None else key(value)
            if top is None or (rank > top if largest else rank < top):
                best = value
                top = rank
    if has_default:
        return best
    if top is None:
        raise ValueError("iterable argument is empty")
    return but_none(best)


def collected(items: Any, each: Any, test: Any) -> Any:
    made, seen = room_for_all(each, items)
    for place, item in enumerate(items):
        value = each(item)
        if made is None:
            made, seen = room_for(value, items)
        made[place] = alike(made, value)
        seen = seen_with(seen, value)
    return of_its_dtype(made, seen)


def gathered(items: Any, each: Any, test: Any) -> Any:
    found = []
    for item in items:
        if test(item):
            found.append(each(item))
    return found


def tabled(items: Any, each: Any) -> Any:
    count = count_of(items)
    if count == 0:
        return []
    value = each(item_of(items, 0))
    if is_array(value):
        grown = [value]
        for place in range(1, count):
            grown.append(each(item_of(items, place)))
        return grown
    made = list_of(value, count)
    made[0] = value
    for place in range(1, count):
        made[place] = each(item_of(items, place))
    return made


def counts_of(items: Any, each: Any, test: Any) -> Any:
    """What ``Counter`` does."""
    made: Any = Counter()
    for item in items:
        if test is None or test(item):
            made[each(item)] += 1
    return made


def set_of(items: Any, each: Any, test: Any) -> Any:
    """What ``set`` does."""
    made = set()
    for item in items:
        if test is None or test(item):
            made.add(each(item))
    return made


def dict_of(items: Any, each: Any, test: Any) -> Any:
    """What ``dict`` does with pairs."""
    made = {}
    for item in items:
        if test is None or test(item):
            key, value = each(item)
            made[key] = value
    return made


# What Python makes, where the items are nothing that the graph can hold.
_OF_KEYS = (counts_of, set_of, dict_of)
# Without an end on the way, which the iterations that Python runs cannot have.
_OF_FEW: dict[Any, Callable[..., Any]] = {any_of: any_of_few, all_of: all_of_few}
_KNOWN = frozenset(map(type, ((), [], {}.keys(), {}.values(), {}.items())))
# Functions that do the same with a list as with the array of its items.
_OF_ARRAYS = frozenset(
    {np.sum, np.prod, np.mean, np.std, np.var, np.max, np.min, np.any, np.all, np.cumsum, np.median}
)
FOLDS: dict[Any, Callable[..., Any]] = {
    sum: TOTAL,
    any: any_of,
    all: all_of,
    max: largest,
    min: smallest,
    Counter: counts_of,
    set: set_of,
    dict: dict_of,
    **dict.fromkeys((np.array, np.asarray, *_OF_ARRAYS), collected),
}

# ------------------------------------------------------------------ called by what is staged


def room_for_all(each: Callable[[Any], Any], items: Counted) -> Any:
    """An array for the values of all items, which are of the first one's kind, and what is seen of
    them (``seen_with``); None if that one is to be computed before the loop.
    """
    session, count = current(), items.count
    first_apart = Request(session.folds[-1].label, How.FIRST_APART)
    counts = bool(counted_in(count))
    if not counts:
        some = decide_in_loops(count, ">", 0) if session.varies(count) else guard(count, ">", 0)
        if some is not True or first_apart in session.requests:
            return None, None
    try:
        # The region is forgotten: the loop computes the value.
        _, (kind, seen) = recorded(session, lambda: _in_array(each(item_of(items, 0))))
    except CaptureError as error:
        raise error if counts else Respecialise(first_apart) from None
    if counts and kind != _OF_NOTHING:
        session.record("try_demand", flag_of(wrap_dim(count) > 0))
    return _room(kind, items), seen


_OF_NOTHING = ScalarType(np.dtype(float))  # what np.array([]) has room for


def room_for(value: Any, items: Counted) -> Any:
    """An array for so many values of this one's kind, and what is seen of them."""
    kind, seen = _in_array(value)
    return _room(kind, items), seen


def _in_array(value: Any) -> tuple[Any, Any]:
    """The type of a value in an array, and what is seen before."""
    if not is_unclear(value):
        return operand(value).type, None
    found = one_dtype(value)
    if found.given and found.other:
        raise _refuse_dtypes()
    return ScalarType(found.dtype), np.False_


def _room(kind: Any, items: Counted) -> Any:
    return empty((wrap_dim(items.count), *wrap_dims(kind.shape)), kind.dtype)


def count_of(items: Counted | Bounded) -> Any:
    """How many items there are."""
    return items.length() if isinstance(items, Bounded) else wrap_dim(items.count)


def item_of(items: Counted | Bounded, place: Any) -> Any:
    """The item at a place."""
    return items.at(place) if isinstance(items, Bounded) else items.item(place)


def but_none(x: object) -> Any:
    """What is not None."""
    return x.only(lambda option: option is not None) if type(x) is Several else x


def is_array(x: object) -> bool:
    """Whether it is an array of some axes."""
    return isinstance(x, np.ndarray) and x.ndim > 0


def list_of(value: object, count: object) -> Any:
    """A list of the graph for so many numbers of a kind."""
    return sized_lists.room_for_numbers(value, count)


def repeated(by_python: Request, count: Dim, each: Callable[..., Any]) -> Any:
    """A list of the graph of so many items that are alike; NotImplemented if it cannot be one."""
    if not guard(count, ">", 0):
        return NotImplemented
    item = each(*[None] * each.__code__.co_argcount)
    if type(item) in (bool, int, float):
        return sized_lists.repeated([item], count)
    return lists_of_lists.repeated(by_python, count, item)


def alike(made: Any, value: object) -> Any:
    """The value, which is of the dtype and the shape of those before it."""
    (kind, _), wanted = _in_array(value), made._value.type
    if kind.dtype != wanted.dtype or kind.shape != wanted.shape[1:]:
        raise _refuse_dtypes()
    return value


def _refuse_dtypes() -> BaseException:
    error = refuse("a list of values of different dtypes or shapes cannot be captured as a loop")
    return Respecialise(Request(current().folds[-1].label, How.ITEM_BY_ITEM), error=error)


def seen_with(seen: Any, value: Any) -> Any:
    """Whether one of the values is such that the array is of its dtype; None if that is known."""
    if seen is None or not is_unclear(value):
        return seen
    return call_ufunc("logical_or", seen, one_dtype(value).witness(value))


def of_its_dtype(made: object, seen: object) -> Any:
    """The array, whose dtype is what NumPy makes of the values."""
    if seen is not None:
        current().record("try_demand", operand(seen))
    return made
