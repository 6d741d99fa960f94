"""What looks at all items: ``min``, ``max``, ``sum``, ``any`` and ``all``."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Sequence, ValuesView
from functools import partial
from typing import Any

import numpy as np

from fxc.ir.later import import_later

from ..dicts.tables import with_ranks
from ..dicts.traced_dicts import Keyed
from ..forms.variables import is_open_number
from ..lists.list_changes import is_list
from ..lists.list_parts import ListParts
from ..lists.traced_lists import plain_list
from ..numbers.python_numbers import extremum
from ..numbers.traced_int import int_dim
from ..statements.folded import CORRECTS, sum_of_known
from ..statements.folds import fold_few, fold_items
from ..values.above import chosen_of
from ..values.operands import Traced, settled
from .containers import is_counted
from .plain_calls import PlainCalls

is_compared = import_later("fxc.capture.door.comparisons", "is_compared")

_WITH_START = (sum, math.prod)


def of_items(function: Callable[..., object]) -> Callable[..., Any]:
    def found_of(door: PlainCalls, *args: Any, **kwargs: object) -> object:
        has_start = function in _WITH_START and (len(args) > 1 or kwargs)
        if args and is_counted(args[0]) and (has_start or (len(args) == 1 and not kwargs)):
            return fold_items(door, function, settled(args[0]), *args[1:], **kwargs)
        if function in (any, all) and len(args) == 1 and not kwargs and _has_open(args[0]):
            return fold_few(door, function, args[0])
        if CORRECTS and function is sum and args and not kwargs:
            return _sum(door, *args)
        return door.builtin(function, args, kwargs)

    return found_of


def _sum(door: PlainCalls, items: object, *start: object) -> object:
    """``sum`` of what Python runs over, where it corrects sums of its floats."""
    if isinstance(items, Iterable) and not isinstance(items, Traced | np.ndarray):
        items = list(*door.runnables((items,)))
        numbers = (*items, *start)
        if any(isinstance(x, Traced) and getattr(x, "__class__", None) is float for x in numbers):
            return sum_of_known(items, *start)
    return door.builtin(sum, (items, *start), {})


def _has_open(x: Any) -> bool:
    """Whether a tuple or list of Python's has an item that is not known."""
    return type(x) in (tuple, list) and any(isinstance(item, Traced) for item in x)


def extreme(
    name: str, plain: Callable[..., object], symbolic: Callable[..., object], order: str
) -> Callable[..., Any]:
    def found_of(door: PlainCalls, *args: Any, **kwargs: Any) -> object:
        sooner = partial(door.compared, order)
        if len(args) == 1 and isinstance(args[0], Keyed):
            if kwargs.keys() == {"key"} and kwargs["key"] is not None:
                return args[0].best(kwargs["key"], name == "maximum")
            args = (args[0].in_any_order(),)
        if len(args) == 1 and kwargs.keys() <= _OF_EXTREMES and is_counted(args[0]):
            items = settled(args[0])
            found: Any = NotImplemented
            if isinstance(items, ListParts) and not kwargs:
                found = items.first_in_order(name == "maximum")
            return fold_items(door, plain, items, **kwargs) if found is NotImplemented else found
        args = args if len(args) > 1 else tuple(map(plain_list, args))
        if len(args) == 1 and isinstance(args[0], _ONCE):
            args = ([*door.runnables(args)[0]],)
        if kwargs.get("key") is not None and kwargs.keys() <= _OF_EXTREMES:
            given = list(door.iterable(args[0])) if len(args) == 1 else list(args)
            key = kwargs["key"]
            keys = [door.call(key, x) for x in given]
            return _first_by(door, sooner, given, keys) if given else plain(given, **kwargs)
        is_given = len(args) == 1 and isinstance(args[0], tuple | list | deque)
        items = list(args[0]) if is_given else args
        if len(args) == 1 and _is_number(args[0]):
            iter(args[0])  # raises
        if items and kwargs.keys() == {"default"}:
            kwargs = {}
        is_open = not kwargs and any(isinstance(x, Traced) for x in items)
        if is_open and all(int_dim(x) is not None and type(x) is not bool for x in items):
            return symbolic(list(items))
        if is_open and all(map(_is_number, items)):
            plain_ones = all(x._graph_type() for x in items if isinstance(x, Traced))
            found = extremum(name, list(items)) if plain_ones else NotImplemented
            return _one_of(door, sooner, items) if found is NotImplemented else found
        if not kwargs and len(items) > 1 and any(is_compared(x) or is_list(x) for x in items):
            return _first_by(door, sooner, items, items)
        return door.run_plain(plain, args, kwargs)

    return found_of


_OF_EXTREMES = frozenset({"key", "default"})
_ONCE = (
    Iterator,
    KeysView,
    Sequence,
    ValuesView,
    ItemsView,
)  # whose items are taken up, in this order
_NUMBERS = frozenset((bool, int, float, *(np.dtype(code).type for code in "?bhilBHILfd")))


def _is_number(x: object) -> bool:
    """Whether this is a number, or may be one or another, that has a place in an order."""
    return type(x) in _NUMBERS or is_open_number(x)


def _one_of(
    door: PlainCalls, sooner: Callable[[object, object], object], items: Iterable[object]
) -> object:
    """The first of the items than which none is ``sooner``, of the type that it has."""
    found, *rest = items
    for x in rest:
        test = sooner(x, found)
        found = chosen_of(door, test, x, found)
    return found


def _first_by(
    door: PlainCalls,
    sooner: Callable[[object, object], object],
    items: Sequence[object],
    keys: Sequence[object],
) -> object:
    """The first item whose key is one than which none is ``sooner``."""
    ranks = with_ranks(keys)
    if ranks is items:
        return _one_of(door, sooner, items)
    found, best = items[0], ranks[0]
    for x, rank in zip(items[1:], ranks[1:], strict=True):
        test = sooner(rank, best)
        found = chosen_of(door, test, x, found)
        best = chosen_of(door, test, rank, best)
    return found
