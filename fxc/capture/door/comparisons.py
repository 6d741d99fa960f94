"""Whether two things are one object, are equal, or which of them comes first."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..outside.containers import External
from ..outside.objects import class_attribute
from ..outside.shadows import class_of, has_method
from ..session import refuse
from ..statements.choices import negated
from ..statements.differing import Differing
from ..values.mixed import Mixed
from ..values.operands import Traced, has_traced, settled
from ..values.several import Several
from ..values.texts import UnknownText, refused
from ..values.traced_array import TracedArray
from ..values.traced_int import TracedInt, known_ints
from ..values.traced_scalar import TracedScalar
from ..values.unknown_items import OneOfItems
from ..values.variables import array_of, is_same
from .items import ItemAccess
from .ordering import compared, equal_fields, in_order_by, is_same_item
from .reads import name_of

_ONE_OBJECT = range(-5, 257)  # the ints of which CPython has one object each


class Comparisons(ItemAccess):
    """Identity, equality and order in one capture."""

    def same(self, a: Any, b: Any) -> Any:
        """``a is b``; what is two objects now may be one in another call."""
        if type(a) is Differing or type(b) is Differing:
            return a.is_(b) if type(a) is Differing else b.is_(a)
        if b is None:
            return a.is_(None) if type(a) is Several else a is None
        if isinstance(a, Traced) and isinstance(b, Traced) and a._in_pool and b._in_pool:
            return a.is_(b)  # type: ignore[attr-defined]
        for one, other in ((a, b), (b, a)):
            if type(one) is Several and one.may_be_record:
                return one.is_one(other)
        if type(a) is Several or type(b) is Several:
            raise refuse("'is' of one of several things cannot be captured; use ==")
        if isinstance(a, bool) and isinstance(b, bool):
            return bool(a) is bool(b)
        if TracedInt in (type(a), type(b)) and a is not b:
            left, right = known_ints((a, b))
            if type(left) is not type(right) or left != right:
                return False
            if left not in _ONE_OBJECT:
                raise refuse("'is' of two equal ints cannot be captured; use ==")
            return True
        if a is b or (isinstance(a, TracedArray) and is_same(a, b)):
            return True
        if isinstance(a, UnknownText) or isinstance(b, UnknownText):
            raise refused("'is'")
        if self.outside.real(a) is self.outside.real(b):
            return True  # NumPy's code, say, has the object itself
        if isinstance(a, TracedArray) and isinstance(b, TracedArray):
            self.session.aliases.check_distinct(a._value, b._value)
        kinds = {type(a), type(b)}
        if OneOfItems in kinds:
            for x in (a, b):
                self.lists.ask_pool(*(x._holds() if type(x) is OneOfItems else (x,)))
            raise refuse("'is' of one of several objects cannot be captured; compare the places")
        if Mixed in kinds or (TracedScalar in kinds and a.__class__ is b.__class__):
            raise refuse("'is' of two numbers that are not known cannot be captured; use ==")
        are_tuples = isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b)
        are_made = any(self.outside.real(x) is x for x in (a, b))
        if are_tuples and are_made and has_traced((a, b)):
            # Lists of counted length and loops hold what is in a tuple, not the tuple: so do parts.
            error = refuse("'is' of two tuples of numbers that are not known cannot be captured")
            error.is_of_whole = True
            raise error
        self.places.check_apart(a, b)
        self.outside.guard_distinct(a, b)
        return False

    def equal(self, a: Any, b: Any) -> Any:
        """``a == b``; the ``__eq__`` of a class of the user's goes through the door."""
        if not (self._has_own_equality(a) or self._has_own_equality(b)):
            return compared(self, "eq", a, b)
        found = class_attribute(class_of(a), "__eq__")
        if not isinstance(found, FunctionType):
            raise refuse(f"a comparison with a {name_of(b)} cannot be captured")
        self.guard_class_attribute(class_of(a), "__eq__", found)
        if type(a) is not type(b):
            raise refuse(f"a comparison with a {name_of(b)} cannot be captured")
        names = [field.name for field in dataclasses.fields(a) if field.compare]
        if a is b:
            return True
        self.outside.guard_distinct(a, b)
        left, right = (tuple(self.attr(x, name) for name in names) for x in (a, b))
        return equal_fields(self, left, right)

    def unequal(self, a: object, b: object) -> Any:
        """``a != b``."""
        own = self._has_own_equality(a) or self._has_own_equality(b)
        is_asked = has_method(a, "__eq__") and not has_method(a, "__ne__")
        if is_asked and (not has_method(b, "__eq__") or type(a) is type(b)):  # else b may go first
            found = self.special(a, "__eq__", b)
            if found is not NotImplemented:
                return negated(self, found)
        if not own or has_method(a, "__ne__"):
            return compared(self, "ne", a, b)
        return negated(self, self.equal(a, b))

    def is_same_item(self, x: Any, y: object) -> Any:
        """Whether two items of containers are equal, or one object."""
        return is_same_item(self, x, y)

    def in_order_by(self, kind: type) -> Callable[[Any], Any]:
        """The key by which ``sorted`` orders objects of a class."""
        return in_order_by(self, kind)

    def _has_own_equality(self, x: object) -> bool:
        """Whether a dataclass has written the ``__eq__`` of an object: it reads the fields."""
        if isinstance(x, Traced | External | type) or has_method(x, "__eq__"):
            return False
        found = class_attribute(class_of(x), "__eq__")
        watched = self.outside.is_stand_in(x) and found is not vars(object)["__eq__"]
        return watched or (isinstance(found, FunctionType) and dataclasses.is_dataclass(x))


def _is_array(x: object) -> bool:
    return array_of(settled(x)) is not None
