"""Python's operators as methods of values, and which operand of one is asked first."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .operands import Traced, is_derived
from .protocols import TakesFunctions

# By the names of Python's methods the names of NumPy's ufuncs.
BINARY = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
COMPARISONS = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}
# By the names of Python's methods what they make of a number, and what a message calls that.
CONVERSIONS: dict[str, tuple[Callable[..., Any], str]] = {
    **{made.__name__: (made, f"{made.__name__}()") for made in (float, int, complex, hash)},
    **{made.__name__: (made, "printing a number") for made in (repr, format)},
}
Compute = Callable[..., Any]  # of the name of an operator and of its operands, in their order


def give_methods(kind: type, compute: Compute, names: Iterable[str]) -> None:
    """Give a class the operators of these names; binary ones take it on either side."""
    for name in names:
        setattr(kind, f"__{name}__", _method(compute, name))
        if name in BINARY:
            setattr(kind, f"__r{name}__", _reflected(compute, name))


def give_conversions(kind: type) -> None:
    """Give a class what Python makes of the number that ``_known(what)`` says."""
    for name, (convert, what) in CONVERSIONS.items():
        setattr(kind, f"__{name}__", _conversion(convert, what))


def _conversion(convert: Callable[..., Any], what: str) -> Callable[..., Any]:
    return lambda self, *spec: convert(self._known(what), *spec)


def _method(compute: Compute, name: str) -> Callable[..., Any]:
    if name not in BINARY and name not in COMPARISONS:
        return lambda self: compute(name, self)

    def method(self: object, other: object, *more: object) -> object:
        if is_derived(other) and _has_own(other, self.__class__, name):
            return NotImplemented
        return compute(name, self, other, *more)

    return method


def _has_own(x: object, kind: type, name: str) -> bool:
    """Whether a number on the right is asked before one of this class on the left, as its class is
    derived from that and has a method of its own.
    """
    own = _SWAPPED.get(name, f"__{name}__" if name in COMPARISONS else f"__r{name}__")
    return isinstance(x, kind) and getattr(type(x), own, None) is not getattr(kind, own, None)


_SWAPPED = {"lt": "__gt__", "gt": "__lt__", "le": "__ge__", "ge": "__le__"}


def _reflected(compute: Compute, name: str) -> Callable[..., Any]:
    return lambda self, other: compute(name, other, self)


def operator_of(name: str) -> Callable[..., Any]:
    """Python's operator of that name."""
    found: Callable[..., Any] = getattr(operator, f"__{name}__")
    return found


def as_they_come(items: Iterable[Any]) -> Iterable[Any]:
    """Items that go into a container one after the other: of an iterator each when it is asked, as
    it may read the container, of anything else at once, as it may be the container.
    """
    return items if isinstance(items, Iterator) else list(items)


def goes_first(other: object, *, repeating: bool = False) -> bool:
    """Whether NumPy's operator of ``other`` comes before the ``+``, or ``*``, of a list.

    Python asks the operand on the right first where the one on the left is a sequence of C's: so
    ``items += array`` makes an array. A number may be how often to repeat.
    """
    if not (isinstance(other, Traced) and isinstance(other, TakesFunctions)):
        return False
    return not (repeating and other._is_number)
