"""Whether two things are one object, are equal, or which of them comes first, and their hashes.

See Note [Forms].
"""

from __future__ import annotations

import dataclasses
import operator
import sys
from collections.abc import Callable, Iterable
from functools import partial
from types import FunctionType, ModuleType, NoneType
from typing import Any

import numpy as np

from fxc.ir.error_kinds import IDENTITY, OBJECT
from fxc.ir.later import import_later

from ..arrays.elements import check_distinct
from ..arrays.traced_array import TracedArray
from ..dicts.tables import ReadRow
from ..dicts.unknown_items import OneOfItems
from ..forms.differing import Differing
from ..forms.mixed import Mixed
from ..forms.options import is_named, is_open_int, is_record, is_unknown_number, things_in
from ..forms.several import Several
from ..lists.list_changes import is_list, without_order
from ..lists.list_parts import are_equal
from ..lists.lists_of_lists import ListRow
from ..lists.texts import UnknownText, refused
from ..lists.traced_lists import is_in_graph
from ..numbers.python_numbers import to_bool
from ..numbers.traced_int import TracedInt, known_ints
from ..outside.containers import PLAIN, External, copied, plain_key
from ..outside.lists import ExternalList
from ..session.refusing import refuse
from ..session.session import current
from ..values.identity import grown, has_grown
from ..values.late import Late
from ..values.objects import class_attribute
from ..values.operands import Traced, has_traced, is_scalar, operand
from ..values.shadows import class_name, class_of, has_method, seen_class
from .items import ItemAccess
from .reads import name_of

_ONE_OBJECT = range(-5, 257)  # the ints of which CPython has one object each


def identity(a: Any, b: Any) -> Any:
    """``a is b``; NotImplemented where it is as of Python's objects."""
    both, kinds = ((a, b), (b, a)), {type(a), type(b)}
    if Differing in kinds:
        return next(one.is_(other) for one, other in both if type(one) is Differing)
    for one, other in both:
        if type(one) is Several and not isinstance(other, Traced) and _are_single(other):
            return one.is_(other)
    if b is None:
        return a is None
    if a is not b and a is not None and (has_grown(a) or has_grown(b)):
        raise refuse(IDENTITY, "'is' of an array that a loop makes longer", "compare lengths")
    a, b = grown(a), grown(b)
    if is_record(a) and is_record(b):
        return a.is_(b)
    for one, other in both:
        if type(one) is Several and (one.may_be_record or _are_single(one, other)):
            return one.is_one(other)
    if Several in kinds:
        raise refuse(IDENTITY, "'is' of one of several things", "use ==")
    for one, other in both:
        if type(one) is Mixed and type(other) is bool:
            _, (holds, number) = one._options()
            return one.kind is bool and to_bool(np.logical_and(holds, number == other))
    if isinstance(a, bool) and isinstance(b, bool) and Mixed not in kinds:
        return a is b or a == b  # there is one object of each
    for one, other in both:
        if type(other) is int and other in _ONE_OBJECT and one.__class__ is int:
            return one == other
    if TracedInt in kinds and a is not b:
        return _are_one_int(*known_ints((a, b)))
    are_arrays = isinstance(a, TracedArray) and isinstance(b, TracedArray)
    if a is b or (are_arrays and is_same(a, b)):
        return True
    if isinstance(a, UnknownText) or isinstance(b, UnknownText):
        raise refused("'is'")
    if isinstance(a, Late) and isinstance(b, Late):
        raise refuse(IDENTITY, "'is' of two texts that are not known", "use ==")
    if are_arrays:
        current().aliases.check_distinct(a._value, b._value)
    check_distinct(a, b)
    if OneOfItems in kinds:
        for x in (a, b):
            current().door.lists.ask_pool(*(x._holds() if type(x) is OneOfItems else (x,)))
        raise refuse(IDENTITY, "'is' of one of several objects", "compare the places")
    if Mixed in kinds or (any(map(is_scalar, (a, b))) and a.__class__ is b.__class__):
        raise refuse(IDENTITY, "'is' of two numbers that are not known", "use ==")
    return NotImplemented


def _are_single(*xs: object) -> bool:
    """Whether these are constants of which there is one object each, all that they may be."""
    return all(is_named(each) and type(each) is not str for x in xs for each in things_in(x))


def _are_one_int(left: object, right: object) -> bool:
    if type(left) is not type(right) or left != right:
        return False
    if left not in _ONE_OBJECT:
        raise refuse(IDENTITY, "'is' of two equal ints", "use ==")
    return True


def hash_of(x: object) -> int:
    """``hash(x)``: a constant, guarded like what it is computed from."""
    if not _has_constant(x):
        raise refuse(OBJECT, f"hash() of a {class_name(x)}")
    if isinstance(x, Traced) and seen_class(x._class()).__hash__ is None:
        raise TypeError(f"unhashable type: {class_name(x)!r}")
    return hash(x)


def frozen(items: Iterable[object]) -> frozenset[Any]:
    """``frozenset(items)``: numbers in it are constants, as their hashes are."""
    return items if type(items) is frozenset else frozenset(map(plain_key, items))


def _has_constant(x: Any) -> bool:
    """Whether the hash of this is known; what has none raises for itself."""
    if type(x) in (tuple, frozenset):
        return all(map(_has_constant, x))
    if type(x) is Mixed:
        return False
    if isinstance(x, Traced | np.generic | np.dtype) or has_method(x, "__hash__"):
        return True
    return type(x) in PLAIN or type(x) in (type, FunctionType, ModuleType, list, dict, set)


# ------------------------------------------------------------------ comparisons


# See Note [Rooms with one door].
both = import_later("fxc.capture.statements.choices", "both")
both_true = import_later("fxc.capture.statements.choices", "both_true")
chosen = import_later("fxc.capture.statements.choices", "chosen")
either_true = import_later("fxc.capture.statements.choices", "either_true")
negated = import_later("fxc.capture.statements.choices", "negated")
flag_of = import_later("fxc.capture.forms.truths", "flag_of")
truth = import_later("fxc.capture.forms.truths", "truth")
is_same = import_later("fxc.capture.forms.variables", "is_same")

_NO_NUMBERS = (NoneType, str, bytes, FunctionType)  # NumPy compares an item with other objects
_BY_FIELDS: bool = sys.version_info >= (3, 13)

# Note [Order of tuples]
# Python compares two tuples by their first items that differ: it asks each pair for equality, where
# an object is equal to itself, and only then compares. Numbers that are not known are no objects,
# so a call in which both of a pair are nan, and might be one object, goes back to Python. Objects
# of a dataclass that has written their comparisons are compared as the tuples of their fields, but
# for equality from Python 3.13 on (``_equal_fields``).


def same(door: ItemAccess, a: Any, b: Any) -> Any:
    """``a is b``; what is two objects now may be one in another call."""
    found = identity(a, b)
    if found is not NotImplemented:
        return found
    if door.outside.real(a) is door.outside.real(b):
        return True  # NumPy's code, say, has the object itself
    for one, other in ((a, b), (b, a)):
        if type(one) in (ReadRow, ListRow) and isinstance(other, list):
            raise one.refused()  # it stands for a list, and is made where that is read
    are_tuples = isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b)
    are_made = any(door.outside.real(x) is x for x in (a, b))
    if are_tuples and are_made and has_traced((a, b)):
        # Lists of counted length and loops hold what is in a tuple, not the tuple: so do parts.
        error = refuse(IDENTITY, "'is' of two tuples of numbers that are not known")
        error.is_of_whole = True
        raise error
    door.places.check_apart(a, b)
    door.outside.guard_distinct(a, b)
    return False


def equal(door: ItemAccess, a: object, b: object) -> object:
    """``a == b``; the ``__eq__`` of a class of the user's goes through the door."""
    if _has_own_equality(door, a) or _has_own_equality(door, b):
        if type(a) is not type(b) or _fields_for(door, "eq", class_of(a)) is None:
            raise refuse(OBJECT, f"a comparison with a {name_of(b)}")
        if a is b:
            return True
        door.outside.guard_distinct(a, b)
    return compared(door, "eq", a, b)


def unequal(door: ItemAccess, a: object, b: object) -> object:
    """``a != b``."""
    own = _has_own_equality(door, a) or _has_own_equality(door, b)
    is_asked = has_method(a, "__eq__") and not has_method(a, "__ne__")
    if is_asked and (not has_method(b, "__eq__") or type(a) is type(b)):  # else b may go first
        found = door.special(a, "__eq__", b)
        if found is not NotImplemented:
            return negated(door, found)
    if not own or has_method(a, "__ne__"):
        return compared(door, "ne", a, b)
    return negated(door, equal(door, a, b))


def _has_own_equality(door: ItemAccess, x: object) -> bool:
    """Whether a dataclass has written the ``__eq__`` of an object: it reads the fields."""
    if isinstance(x, Traced | External | type) or has_method(x, "__eq__"):
        return False
    found = class_attribute(class_of(x), "__eq__")
    watched = door.outside.is_stand_in(x) and found is not vars(object)["__eq__"]
    return watched or (isinstance(found, FunctionType) and dataclasses.is_dataclass(x))


def compared(door: ItemAccess, name: str, a: object, b: object) -> object:
    """``a < b`` and its like, by the name of the function in ``operator``."""
    found = _tuples_of(door, name, a, b)
    if found is not None and name in ("eq", "ne") and not isinstance(a, tuple | list):
        same = _equal_fields(door, *found)
        return negated(door, same) if name == "ne" else same
    lists = _lists_of_the_graph(a, b) if found is None else None
    if lists is not None:
        return _compared_lists(door, name, *lists)
    if found is None:
        if isinstance(a, frozenset) and isinstance(b, External):  # see ``set_operand``
            b.settle()
        return getattr(operator, name)(a, copied(b) if isinstance(a, dict) else b)
    result = _from(door, name, *found, 0)
    asks_equality = name in ("eq", "ne") and isinstance(result, Traced)
    return to_bool(result) if asks_equality else result


def _compared_lists(door: ItemAccess, name: str, one: object, other: object) -> object:
    """What two lists, of which the length of the first depends on data, are to each other."""
    if name not in ("eq", "ne"):
        raise without_order()
    same = door.staged(are_equal)(one, other, partial(is_same_item, door))
    return negated(door, same) if name == "ne" else same


def _tuples_of(door: ItemAccess, name: str, a: Any, b: Any) -> tuple[Any, Any] | None:
    """Tuples or lists to compare in place of two things; None where Python compares them."""
    if name not in ("eq", "ne"):
        a, b = _in_order_with(b, a), _in_order_with(a, b)
    a, b = (x.few_items() if is_list(x) else x for x in (a, b))
    if isinstance(a, External) or (isinstance(a, Traced) and not a._is_object):
        return None
    if _is_plain_sequence(name, a) and _is_plain_sequence(name, b):
        alike = isinstance(a, tuple) == isinstance(b, tuple)
        fits = alike and has_traced((a, b)) and all(map(_is_item, (*a, *b)))
        return (a, b) if fits else None
    kind = _kind(a)
    if not dataclasses.is_dataclass(kind) or kind is not _kind(b):
        return None
    if has_method(a, f"__{name}__") or (fields := _fields_for(door, name, kind)) is None:
        return None
    return _fields_of(door, fields, a), _fields_of(door, fields, b)


def _from(door: ItemAccess, name: str, a: Any, b: Any, place: int) -> object:
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


def is_same_item(door: ItemAccess, x: object, y: object) -> object:
    """Whether two items are equal, or one object, as ``in`` asks it."""
    if x is y:
        return True
    both = ((x, y), (y, x))
    if any(is_unknown_number(one) and isinstance(other, _NO_NUMBERS) for one, other in both):
        return False
    _demand_one_number(door, x, y)
    return truth(equal(door, x, y))


def _demand_one_number(door: ItemAccess, x: object, y: object) -> None:
    """Leave a call to Python in which both are nan: they may be one object."""
    if _may_be_nan(x) and _may_be_nan(y):
        either = either_true(door, x == x, partial(operator.eq, y, y))
        door.session.record("try_demand", flag_of(either))


# ------------------------------------------------------------------ fields


def as_tuple(door: ItemAccess, x: object) -> tuple[Any, ...]:
    """What ``sorted`` compares in place of an object of a dataclass; anything else itself."""
    return x if isinstance(x, tuple) else in_order_by(door, _kind(x))(x)


def in_order_by(door: ItemAccess, kind: type) -> Callable[[Any], Any]:
    """The key by which ``sorted`` orders objects of a class."""
    fields = _fields_for(door, "lt", kind)
    if fields is None:
        raise refuse(OBJECT, f"sorted() of objects of {kind.__name__} without a key")
    return partial(_fields_of, door, fields)


def _fields_for(door: ItemAccess, name: str, kind: type) -> tuple[str, ...] | None:
    """The fields by which a comparison goes that dataclass has written; None for another."""
    method = f"__{name}__"
    if not _is_written(kind, name):
        return None
    holder = next(each for each in kind.__mro__ if method in vars(each))
    door.guard_class_attribute(kind, method, vars(holder)[method])
    fields: Any = dataclasses.fields(holder)
    return tuple(each.name for each in fields if each.compare)


def _fields_of(door: ItemAccess, names: tuple[str, ...], x: object) -> tuple[Any, ...]:
    return tuple(door.attr(x, name) for name in names)


def _equal_fields(door: ItemAccess, left: tuple[object, ...], right: tuple[object, ...]) -> object:
    """What the ``__eq__`` that dataclass has written says of the fields: from Python 3.13 on it
    is ``a is b or a.x == b.x and a.y == b.y``.
    """
    if not _BY_FIELDS:
        return compared(door, "eq", left, right)
    found: Any = True
    for x, y in zip(left, right, strict=True):
        _demand_one_number(door, x, y)
        found = both(door, found, partial(equal, door, x, y))
    return found


# ------------------------------------------------------------------ small questions


def is_compared(x: object) -> bool:
    """Whether it is a tuple, or an object like one, with numbers that are not known."""
    if isinstance(x, Traced | tuple) and not _is_object(x):
        return isinstance(x, tuple) and has_traced(x)
    return not has_method(x, "__lt__") and _is_written(_kind(x), "lt")


def _is_written(kind: type, name: str) -> bool:
    """Whether a comparison of a class is one that ``dataclass`` has written."""
    found = class_attribute(kind, f"__{name}__")
    if not isinstance(found, FunctionType):
        return False
    return found.__code__.co_filename in ("<string>", dataclasses.__file__)


def _kind(x: object) -> type:
    return x.__class__ if _is_object(x) else class_of(x)


def _is_object(x: object) -> bool:
    return isinstance(x, Traced) and x._is_object


def _lists_of_the_graph(a: object, b: object) -> tuple[Any, Any] | None:
    """Two lists, of which the length of the first one depends on data; None for others."""
    for one, other in ((a, b), (b, a)):
        if is_in_graph(one) and isinstance(one, list) and isinstance(other, list):
            made = other.as_list() if type(other) is ExternalList else other
            return None if made is None else (one, made)
    return None


def _in_order_with(other: object, x: object) -> object:
    """The tuple that one of several things has to be, if it is put in order with another one."""
    if type(x) is not Several or type(other) not in (tuple, Several):
        return x
    is_one = any(type(each) is tuple for _, each in x.options)
    return x.only(lambda each: type(each) is tuple) if is_one else x


def _is_plain_sequence(name: str, x: object) -> bool:
    if type(x) is list:
        return True
    method = f"__{name}__"
    return isinstance(x, tuple) and class_attribute(type(x), method) is vars(tuple)[method]


def _is_item(x: object) -> bool:
    """Whether it is a number or a constant, or a tuple of these."""
    if type(x) is tuple:
        return all(map(_is_item, x))
    return type(x) in PLAIN or is_unknown_number(x) or isinstance(x, np.generic)


def _may_be_nan(x: object) -> bool:
    if is_unknown_number(x):
        return not is_open_int(x) and operand(x).type.dtype.kind in "fc"
    return isinstance(x, float | complex) and not isinstance(x, Traced) and x != x
