"""``copy.copy`` and ``copy.deepcopy`` of what the program holds."""

from __future__ import annotations

import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.ir.error_kinds import OBJECT

from ..forms.options import is_record
from ..forms.variables import is_number
from ..lists.traced_lists import TracedList
from ..outside.containers import PLAIN, External
from ..session.refusing import refuse
from ..values.identity import Identity
from ..values.objects import (
    MISSING,
    class_attribute,
    has_python_method,
    is_made_by_object,
    is_namedtuple,
    is_python_class,
    put_attribute,
)
from ..values.operands import Traced, array_of, settled
from ..values.shadows import class_of, seen_class, shadow_of, tuple_of
from .stores import Stores

_Copy = Callable[[Any], Any]

# What copies to itself.
_SHARED = (type, types.FunctionType, types.BuiltinFunctionType, np.ufunc, np.dtype, property)
# With these a class says itself how it is copied.
_PICKLING = ("reduce", "reduce_ex", "getstate", "setstate", "getnewargs", "getnewargs_ex", "new")


def shallow(door: Stores, x: Any) -> Any:
    """As ``copy.copy``."""
    x = settled(x)
    if _is_shared(x) or _kind(x) in (tuple, frozenset):
        return x
    if is_namedtuple(_kind(x)):
        return tuple_of(_kind(x), x)
    if array_of(x) is not None:
        return x.copy(order="K")
    kind = _kind(x)
    if kind in (list, dict, set) and (isinstance(x, External) or type(x) is kind):
        return door.call(kind, x)
    is_of_graph = isinstance(x, Traced) and issubclass(kind, (list, dict, set, deque))
    if is_of_graph or type(x) in (OrderedDict, defaultdict, deque):
        return door.call(door.attr(x, "copy"))
    if has_python_method(kind, "__copy__"):
        return door.special(x, "__copy__")
    return _object(door, x, kind, lambda part: part, {})


def deep(door: Stores, x: Any, memo: Any = None) -> Any:
    """As ``copy.deepcopy``."""
    memo = {} if memo is None else memo
    x = settled(x)
    if _is_shared(x):
        return x
    key = Identity(x)
    if key in memo:
        return memo[key]
    kind = _kind(x)
    if array_of(x) is not None:
        memo[key] = x.copy(order="K")
    elif (found := _of_graph(x)) is not None:
        memo[key] = found
    elif kind is list and (
        isinstance(x, External)
        or type(x) is list
        or (type(x) is TracedList and x.items is not None)
    ):
        memo[key] = made = door.call(list, ())
        made += [deep(door, item, memo) for item in door.call(list, x)]
    elif kind is dict and (isinstance(x, External) or type(x) is dict or is_record(x)):
        memo[key] = door.made({})
        for name, item in door.iterable(door.call(door.attr(x, "items"))):
            memo[key][deep(door, name, memo)] = deep(door, item, memo)
    elif kind is tuple or is_namedtuple(kind):
        items = [deep(door, item, memo) for item in x]
        same = all(one is other for one, other in zip(items, x, strict=True))
        memo[key] = x if same else tuple_of(kind, items)
    elif kind in (set, frozenset) and (isinstance(x, External) or type(x) is kind):
        memo[key] = x if kind is frozenset else door.call(set, x)
    elif has_python_method(kind, "__deepcopy__"):
        memo[key] = door.special(x, "__deepcopy__", memo)
    else:
        return _object(door, x, kind, lambda part: deep(door, part, memo), memo)
    return memo[key]


def _kind(x: object) -> type:
    kind: type = x.kind if isinstance(x, External) else class_of(x)
    return seen_class(x.__class__ if isinstance(x, Traced) else kind)


def _is_shared(x: object) -> bool:
    if isinstance(x, Traced):
        return is_number(x)
    return type(x) in PLAIN or isinstance(x, (*_SHARED, np.generic))


def _is_fixed(x: object) -> bool:
    """Whether nothing can change it."""
    return _is_shared(x) or (type(x) is tuple and all(map(_is_fixed, x)))


def _of_graph(x: object) -> object:
    """A deep copy of a list, dict or set of the graph whose items cannot change; None of others."""
    made = x._copied_deeply if isinstance(x, Traced) else None
    return None if made is None else made(_is_fixed)


def _object(door: Stores, x: object, kind: type, part: _Copy, memo: dict[object, object]) -> object:
    """A new object of a class of the user's with copies of the attributes."""
    plain = not isinstance(x, Traced | External) and is_python_class(kind)
    if not plain or not is_made_by_object(kind) or _says_how(kind):
        raise refuse(OBJECT, f"a copy of a {kind.__name__}")
    made: Any = object.__new__(shadow_of(kind))
    memo[Identity(x)] = made
    door.places.note_made(made)
    held, slots = door.held_by(x)
    for name, value in held.items():
        vars(made)[name] = part(value)
    for name, value in slots.items():
        put_attribute(made, name, part(value))
    return made


def _says_how(kind: type) -> bool:
    is_pickled = any(has_python_method(kind, f"__{name}__") for name in _PICKLING)
    return is_pickled or class_attribute(kind, "__del__") is not MISSING
