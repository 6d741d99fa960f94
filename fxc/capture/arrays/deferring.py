"""Operators of arrays and NumPy's scalars with an object of the user's on the other side.

NumPy leaves an operator to the object if its class says so: by ``__array_ufunc__ = None`` or by an
``__array_priority__`` above its own. Other objects become operands: an array calculates with them
element by element, a scalar hands its number to the object as Python's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from numbers import Number
from typing import Any

import numpy as np

from fxc.ir.error_kinds import OPERAND

from ..session.refusing import refuse
from ..session.session import current
from ..values.objects import MISSING, class_attribute
from ..values.operands import Traced
from ..values.operator_methods import COMPARISONS, operator_of
from ..values.shadows import class_of, has_method, is_shadow

_OF_ARRAYS, _OF_SCALARS = 0.0, -1e6  # NumPy's priorities
_OF_ITEMS = ("__len__", "__getitem__", "__iter__", "__array__")


def left_to(
    other: object, ufunc: str = "", *, shape: tuple[Any, ...] = (), in_place: bool = False
) -> object:
    """What the operator of an array gives for an operand that NumPy's ufuncs do not take."""
    if ufunc in ("equal", "not_equal") and not is_shadow(type(other)):
        raise refuse(
            OPERAND,
            f"== of an array and a {class_of(other).__name__}, which NumPy compares with each "
            "element,",
            "use is",
        )
    if is_shadow(type(other)):
        is_left = _is_first(other, _OF_ARRAYS, in_place)
    else:
        is_left = 0 not in shape  # where there is no element, none raises beside the object
    if is_left and not _is_other_number(other):
        return NotImplemented
    raise refuse(
        OPERAND,
        f"an operator of an array and a {class_of(other).__name__}, with which NumPy calculates "
        "element by element,",
        "give the class __array_ufunc__ = None" if is_shadow(type(other)) else "",
    )


def _is_other_number(other: object) -> bool:
    """Whether it is a number of a class of C's or Python's that no graph knows, as a Decimal is."""
    return isinstance(other, Number) and not (isinstance(other, Traced) or is_shadow(type(other)))


def left_to_of_scalar(name: str, as_pythons: Callable[[], Any], other: object) -> object:
    """The same, of a scalar of NumPy's on the left, for which Python's number may stand."""
    if not is_shadow(type(other)) or _is_first(other, _OF_SCALARS, False):
        is_asked = name in ("eq", "ne") and not is_shadow(type(other)) and other is not None
        if is_asked and not isinstance(other, Number) and _gives_bools_alone():
            return np.bool_(name == "ne")
        return NotImplemented
    if any(has_method(other, each) for each in _OF_ITEMS):
        raise refuse(
            OPERAND,
            f"an operator of a number and a {class_of(other).__name__}, which NumPy takes for a "
            "sequence or an array,",
            "give the class __array_ufunc__ = None",
        )
    if name in COMPARISONS and _gives_bools_alone():
        raise refuse(
            OPERAND,
            f"a comparison of a number and a {class_of(other).__name__}, of which this NumPy "
            "makes a bool,",
            "compare the object with it",
        )
    return operator_of(name)(as_pythons(), other)


def computes(other: object, name: str) -> bool:
    """Whether an operator beside a number runs the program's code, for this object of a class."""
    names = COMPARISONS if name in COMPARISONS else (name, f"r{name}")
    return any(has_method(other, f"__{each}__") for each in names)


def beside_text(*, is_equal: bool) -> object:
    """What ``==`` of a text and a scalar, or an array of rank 0, gives, or ``!=``: a bool of
    NumPy's, as it makes an array of the text; Python's in version 2.0.
    """
    return type(np.float64(1) == "text")(not is_equal)


@cache
def _gives_bools_alone() -> bool:
    """Whether NumPy makes a bool of what an object says to a comparison, as 2.0 does."""
    marked: Any = type("Marked", (), {"__ge__": lambda self, other: self})()
    return bool(type(np.float64(1) <= marked) is np.bool_)


def _is_first(other: object, own: float, in_place: bool) -> bool:
    kind, door = class_of(other), current().door
    attribute = class_attribute(kind, "__array_ufunc__")
    if attribute is not MISSING:
        if in_place:
            text = f"operand {kind.__name__!r} does not support ufuncs (__array_ufunc__=None)"
            raise TypeError(text)
        door.guard_class_attribute(kind, "__array_ufunc__", attribute)
        return True
    try:
        priority = door.attr(other, "__array_priority__")
    except AttributeError:
        return False
    if isinstance(priority, Traced):
        raise refuse(OPERAND, "an __array_priority__ that is not known")
    return isinstance(priority, int | float) and priority > own
