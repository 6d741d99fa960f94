"""What builtins and NumPy do with the items of a comprehension: loops in Python, which are staged
like the user's own.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from typing import Any

import numpy as np

from ..forms.several import Several
from ..session.session import current
from .comprehensions import Each, Items, count_of, gathered, item_of

# From 3.12 on Python corrects sums of floats: it adds up what each addition has lost, and adds that
# in the end (Neumaier). It does so from the first of its own floats on to the first number that is
# neither a float nor an int of Python's.
CORRECTS = tuple(sys.version_info) >= (3, 12)

# ------------------------------------------------------------------ sums, staged


def total(items: Any, each: Any, test: Any, start: object) -> Any:
    result = start
    for item in items:
        if test is None or test(item):
            result = result + each(item)
    return result


def corrected_total(items: Any, each: Any, test: Any, start: object) -> object:
    result, lost = start, 0.0
    for item in items:
        if test is None or test(item):
            result, lost = one_more(result, lost, each(item))
    return ended((result, lost))


def plus(so_far: Any, value: object) -> object:
    return so_far + value


def corrected_plus(so_far: Any, value: object) -> object:
    result, lost = so_far
    return one_more(result, lost, value)


def _ended(so_far: Any) -> object:
    result, lost = so_far
    if lost != 0.0 and lost - lost == 0.0:  # it is finite
        result = result + lost
    return result


def _corrected(result: Any, lost: object, value: Any) -> Any:
    total = result + value
    if abs(result) >= abs(value):
        lost = lost + ((result - total) + value)
    else:
        lost = lost + ((value - total) + result)
    return total, lost


# ------------------------------------------------------------------ called by what is staged


def one_more(result: Any, lost: object, value: Any) -> tuple[Any, Any]:
    """A sum with one more number, and what has been lost so far."""
    if not _is(result, float) or _is(value, int) or _is(value, bool):
        return result + value, lost
    if type(result) is type(value) is type(lost) is float:
        found: tuple[Any, Any] = _corrected(result, lost, value)
    elif _is(value, float):
        found = current().door.staged(_corrected)(result, lost, value)
    else:
        found = ended((result, lost)) + value, 0.0
    return found


def ended(so_far: tuple[Any, Any]) -> object:
    """A sum with what has been lost."""
    is_known = all(type(x) is float for x in so_far)
    return _ended(so_far) if is_known else current().door.staged(_ended)(so_far)


def _is(x: object, kind: type) -> bool:
    """Whether the program sees a number of this class of Python's."""
    return getattr(x, "__class__", None) is kind


def sum_of_known(items: Any, start: object = 0) -> object:
    """``sum`` of a list or tuple that Python has, of numbers that are not all known."""
    result, lost = start, 0.0
    for item in items:
        result, lost = one_more(result, lost, item)
    return ended((result, lost))


TOTAL = corrected_total if CORRECTS else total

# ------------------------------------------------------------------ other folds, staged


def comes_up(items: Items, each: Each, test: Each | None, wanted: bool) -> object:
    """What ``any`` does if True is ``wanted``; what ``all`` does if False is."""
    for item in items:
        if (test is None or test(item)) and (each(item) if wanted else not each(item)):
            return wanted
    return not wanted


def comes_up_in_few(items: Items, each: Each, test: Each | None, wanted: bool) -> Any:
    """The same without an end on the way, which the iterations that Python runs cannot have."""
    found: Any = not wanted
    for item in items:
        is_open = not found if wanted else found
        if is_open and (test is None or test(item)) and (each(item) if wanted else not each(item)):
            found = wanted
    return found


def first_of(items: Items, each: Each, test: Each | None, *default: object) -> object:
    """What ``next`` does."""
    for item in items:
        if test is None or test(item):
            return each(item)
    if default:
        return default[0]
    raise StopIteration


def first_of_few(items: Items, each: Each, test: Each, default: object) -> object:
    """The same without an end on the way."""
    found, is_open = default, True
    for item in items:
        if is_open and test(item):
            found = each(item)
            is_open = False
    return found


def extreme(items: Items, each: Each, test: Each | None, largest: bool) -> Any:
    """What ``max`` does, or ``min``, if there are items, and all of them count."""
    best = each(item_of(items, 0))
    for place in range(1, count_of(items)):
        value = each(item_of(items, place))
        if value > best if largest else value < best:
            best = value
    return best


def best_of(
    items: Items, each: Each, test: Each | None, largest: bool, key: Each | None, *default: object
) -> object:
    """The same of those that count, by their ``key``; the ``default`` if there are none."""
    best: Any = default[0] if default else None
    top: Any = None
    for item in items:
        if test is None or test(item):
            value = each(item)
            rank = value if key is None else key(value)
            if top is None or (rank > top if largest else rank < top):
                best = value
                top = rank
    if default:
        return best
    if top is None:
        raise ValueError("iterable argument is empty")
    return but_none(best)


def product(items: Items, each: Each, test: Each | None, start: object) -> Any:
    """What ``math.prod`` does."""
    result = start
    for item in items:
        if test is None or test(item):
            result = result * each(item)
    return result


def counts_of(items: Items, each: Each, test: Each | None) -> object:
    """What ``Counter`` does."""
    made: Any = Counter()
    for item in items:
        if test is None or test(item):
            made[each(item)] += 1
    return made


def set_of(items: Items, each: Each, test: Each | None) -> object:
    """What ``set`` does."""
    made = set()
    for item in items:
        if test is None or test(item):
            made.add(each(item))
    return made


def dict_of(items: Items, each: Each, test: Each | None) -> object:
    """What ``dict`` does with pairs."""
    made = {}
    for item in items:
        if test is None or test(item):
            key, value = each(item)
            made[key] = value
    return made


def stored(items: Items, each: Each, test: Each | None, into: dict[Any, Any]) -> None:
    """What ``dict.update`` does with pairs."""
    for item in items:
        if test is None or test(item):
            key, value = each(item)
            into[key] = value


def tallied(items: Items, each: Each, test: Each | None, into: dict[Any, int]) -> None:
    """What ``Counter.update`` does."""
    for item in items:
        if test is None or test(item):
            into[each(item)] += 1


def added(items: Items, each: Each, test: Each | None, add: Each) -> None:
    """What ``list.extend`` does: ``each`` and ``test`` may read the list, which has grown."""
    for item in items:
        if test is None or test(item):
            add(each(item))


# What Python makes, where the items are nothing that the graph can hold.
OF_KEYS = (counts_of, set_of, dict_of)
# What begins with a number that may be given beside the items.
WITH_START = (TOTAL, product)
# Functions that do the same with a list as with the array of its items.
OF_ARRAYS = frozenset(
    {np.sum, np.prod, np.mean, np.std, np.var, np.max, np.min, np.any, np.all, np.cumsum, np.median}
)
# The loops of functions, and what these are given beside a comprehension.
FOLDS: dict[Any, tuple[Each, tuple[object, ...]]] = {
    sum: (TOTAL, (0,)),
    math.prod: (product, (1,)),
    any: (comes_up, (True,)),
    all: (comes_up, (False,)),
    next: (first_of, ()),
    max: (extreme, (True,)),
    min: (extreme, (False,)),
    Counter: (counts_of, ()),
    set: (set_of, ()),
    dict: (dict_of, ()),
    **dict.fromkeys((np.array, np.asarray, *OF_ARRAYS), (gathered, ())),
}


# ------------------------------------------------------------------ called by what is staged


def but_none(x: object) -> object:
    """What is not None."""
    return x.only(lambda option: option is not None) if type(x) is Several else x
