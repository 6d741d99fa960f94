"""Whether two values are one object, and their hashes. See Note [Forms]."""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from fxc.ir.error_kinds import IDENTITY, OBJECT

from ..arrays.traced_array import TracedArray
from ..dicts.unknown_items import OneOfItems
from ..forms.differing import Differing
from ..forms.mixed import Mixed
from ..forms.options import is_record
from ..forms.several import Several
from ..forms.variables import is_same
from ..lists.texts import UnknownText, refused
from ..numbers.traced_int import TracedInt, known_ints
from ..outside.containers import PLAIN, plain_key
from ..session.refusing import refuse
from ..session.session import current
from ..values.operands import Traced, is_scalar
from ..values.shadows import class_name, has_method

_ONE_OBJECT = range(-5, 257)  # the ints of which CPython has one object each


def identity(a: Any, b: Any) -> Any:
    """``a is b``; NotImplemented where it is as of Python's objects."""
    both, kinds = ((a, b), (b, a)), {type(a), type(b)}
    if Differing in kinds:
        return next(one.is_(other) for one, other in both if type(one) is Differing)
    if b is None:
        return a.is_(None) if type(a) is Several else a is None
    if is_record(a) and is_record(b):
        return a.is_(b)
    for one, other in both:
        if type(one) is Several and one.may_be_record:
            return one.is_one(other)
    if Several in kinds:
        raise refuse(IDENTITY, "'is' of one of several things", "use ==")
    if isinstance(a, bool) and isinstance(b, bool):
        return bool(a) is bool(b)
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
    if are_arrays:
        current().aliases.check_distinct(a._value, b._value)
    if OneOfItems in kinds:
        for x in (a, b):
            current().door.lists.ask_pool(*(x._holds() if type(x) is OneOfItems else (x,)))
        raise refuse(IDENTITY, "'is' of one of several objects", "compare the places")
    if Mixed in kinds or (any(map(is_scalar, (a, b))) and a.__class__ is b.__class__):
        raise refuse(IDENTITY, "'is' of two numbers that are not known", "use ==")
    return NotImplemented


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
