"""Comparisons of tuples, lists and objects of dataclasses with numbers that are not known."""

from __future__ import annotations

import dataclasses
import operator
import sys
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..outside.containers import PLAIN, External
from ..outside.lists import ExternalList
from ..outside.objects import class_attribute
from ..outside.shadows import class_of, has_method
from ..session import current, refuse
from ..statements.choices import both, both_true, chosen, either_true, negated
from ..values.list_code import are_equal
from ..values.list_pools import PooledList
from ..values.mixed import Mixed
from ..values.operands import Traced, has_traced, operand
from ..values.python_numbers import to_bool
from ..values.records import Record
from ..values.traced_int import TracedInt
from ..values.traced_lists import TracedList
from ..values.traced_scalar import TracedScalar
from ..values.unknown_items import OneOfItems
from ..values.variables import flag_of, truth

if TYPE_CHECKING:
    from .comparisons import Comparisons

_OBJECTS = (Record, OneOfItems)
_BY_FIELDS: bool = sys.version_info >= (3, 13)
_NUMBERS = (TracedScalar, TracedInt, Mixed)

# Note [Order of tuples]
# Python compares two tuples by their first items that differ: it asks each pair for equality, where
# an object is equal to itself, and only then compares. Numbers that are not known are no objects,
# so a call in which both of a pair are nan, and might be one object, goes back to Python. Objects
# of a dataclass that has written their comparisons are compared as the tuples of their fields, but
# for equality from Python 3.13 on (``equal_fields``).


def compared(door: Comparisons, name: str, a: object, b: object) -> Any:
    """``a < b`` and its like, by the name of the function in ``operator``."""
    found = _tuples_of(door, name, a, b)
    if found is not None and name in ("eq", "ne") and not isinstance(a, tuple | list):
        same = equal_fields(door, *found)
        return negated(door, same) if name == "ne" else same
    lists = _lists_of_the_graph(a, b) if found is None else None
    if lists is not None:
        return _compared_lists(door, name, *lists)
    if found is None:
        return getattr(operator, name)(a, b)
    result = _from(door, name, *found, 0)
    asks_equality = name in ("eq", "ne") and isinstance(result, Traced)
    return to_bool(result) if asks_equality else result


def _compared_lists(door: Comparisons, name: str, one: object, other: object) -> Any:
    """What two lists, of which the length of the first one depends on data, are to each other."""
    if name not in ("eq", "ne"):
        raise refuse(
            "an order of lists whose length depends on data cannot be captured; compare arrays"
        )
    same = current().door.staged(are_equal)(one, other, partial(is_same_item, door))
    return negated(door, same) if name == "ne" else same


def is_compared(x: object) -> bool:
    """Whether it is a tuple, or an object like one, with numbers that are not known."""
    if type(x) not in _OBJECTS and isinstance(x, Traced | tuple):
        return isinstance(x, tuple) and has_traced(x)
    return not has_method(x, "__lt__") and _is_written(_kind(x), "lt")


def fields_for(door: Comparisons, name: str, kind: type) -> tuple[str, ...] | None:
    """The fields by which the comparison that a dataclass has written goes; None for another."""
    method = f"__{name}__"
    if not _is_written(kind, name):
        return None
    holder = next(each for each in kind.__mro__ if method in vars(each))
    door.guard_class_attribute(kind, method, vars(holder)[method])
    fields: Any = dataclasses.fields(holder)
    return tuple(each.name for each in fields if each.compare)


def as_tuple(door: Comparisons, x: object) -> Any:
    """What ``sorted`` compares in place of an object of a dataclass; anything else itself."""
    return x if isinstance(x, tuple) else in_order_by(door, _kind(x))(x)


def in_order_by(door: Comparisons, kind: type) -> Callable[[Any], Any]:
    """The key by which ``sorted`` orders objects of a class."""
    fields = fields_for(door, "lt", kind)
    if fields is None:
        raise refuse(f"sorted() of objects of {kind.__name__} without a key cannot be captured")
    return partial(_fields_of, door, fields)


def _is_written(kind: type, name: str) -> bool:
    """Whether a comparison of a class is one that ``dataclass`` has written."""
    found = class_attribute(kind, f"__{name}__")
    if not isinstance(found, FunctionType):
        return False
    return found.__code__.co_filename in ("<string>", dataclasses.__file__)


def _fields_of(door: Comparisons, names: tuple[str, ...], x: object) -> tuple[Any, ...]:
    return tuple(door.attr(x, name) for name in names)


def _kind(x: Any) -> type:
    return x.__class__ if type(x) in _OBJECTS else class_of(x)


def _tuples_of(door: Comparisons, name: str, a: Any, b: Any) -> tuple[Any, Any] | None:
    """The tuples or lists that are compared in place of two things; None where Python does it."""
    a, b = (x.few_items() if type(x) is TracedList else x for x in (a, b))
    if isinstance(a, External) or (isinstance(a, Traced) and type(a) not in _OBJECTS):
        return None
    if _is_plain_sequence(name, a) and _is_plain_sequence(name, b):
        alike = isinstance(a, tuple) == isinstance(b, tuple)
        fits = alike and has_traced((a, b)) and all(map(_is_item, (*a, *b)))
        return (a, b) if fits else None
    kind = _kind(a)
    if not dataclasses.is_dataclass(kind) or kind is not _kind(b):
        return None
    if has_method(a, f"__{name}__") or (fields := fields_for(door, name, kind)) is None:
        return None
    return _fields_of(door, fields, a), _fields_of(door, fields, b)


def _lists_of_the_graph(a: object, b: object) -> tuple[Any, Any] | None:
    """Two lists, of which the length of the first one depends on data; None for others."""
    for one, other in ((a, b), (b, a)):
        is_counted = type(one) is PooledList or (type(one) is TracedList and one.items is None)
        if is_counted and isinstance(one, list) and isinstance(other, list):
            made = other.as_list() if type(other) is ExternalList else other
            return None if made is None else (one, made)
    return None


def _is_plain_sequence(name: str, x: object) -> bool:
    if type(x) is list:
        return True
    method = f"__{name}__"
    return isinstance(x, tuple) and class_attribute(type(x), method) is vars(tuple)[method]


def _is_item(x: object) -> bool:
    """Whether it is a number or a constant, or a tuple of these."""
    if type(x) is tuple:
        return all(map(_is_item, x))
    return type(x) in (*_NUMBERS, *PLAIN) or isinstance(x, np.generic)


def _from(door: Comparisons, name: str, a: Any, b: Any, place: int) -> Any:
    """What the items from a place on say."""
    if name == "ne":
        return negated(door, _from(door, "eq", a, b, place))
    if place == min(len(a), len(b)):
        return getattr(operator, name)(len(a), len(b))
    same = is_same_item(door, a[place], b[place])
    rest = partial(_from, door, name, a, b, place + 1)
    if name == "eq":
        return both_true(door, same, rest)
    return chosen(door, same, rest, partial(compared, door, name, a[place], b[place]))


def is_same_item(door: Comparisons, x: Any, y: object) -> Any:
    """Whether two items are equal, or one object, as ``in`` asks it."""
    if x is y:
        return True
    if any(type(one) in _NUMBERS and not _is_number(other) for one, other in ((x, y), (y, x))):
        return False
    _demand_one_number(door, x, y)
    return truth(door.equal(x, y))


def _demand_one_number(door: Comparisons, x: object, y: object) -> None:
    """Leave a call to Python in which both are nan: they may be one object."""
    if _may_be_nan(x) and _may_be_nan(y):
        either = either_true(door, x == x, partial(operator.eq, y, y))
        door.session.record("try_demand", flag_of(either))


def _may_be_nan(x: object) -> bool:
    if type(x) in (TracedScalar, Mixed):
        return operand(x).type.dtype.kind in "fc"
    return isinstance(x, float | complex) and not isinstance(x, Traced) and x != x


def equal_fields(door: Comparisons, left: tuple[Any, ...], right: tuple[Any, ...]) -> Any:
    """What the ``__eq__`` that dataclass has written says of the fields: from Python 3.13 on it is
    ``a is b or a.x == b.x and a.y == b.y``.
    """
    if not _BY_FIELDS:
        return compared(door, "eq", left, right)
    found: Any = True
    for x, y in zip(left, right, strict=True):
        _demand_one_number(door, x, y)
        found = both(door, found, partial(door.equal, x, y))
    return found


def _is_number(x: object) -> bool:
    return isinstance(x, Traced | bool | int | float | complex | np.generic)
