"""Python's operators as methods of a class, all of which one function computes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

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
Compute = Callable[..., Any]  # of the name of an operator and of its operands, in their order


def give_methods(kind: type, compute: Compute, names: Iterable[str]) -> None:
    """Give a class the operators of these names; binary ones take it on either side."""
    for name in names:
        setattr(kind, f"__{name}__", _method(compute, name))
        if name in BINARY:
            setattr(kind, f"__r{name}__", _reflected(compute, name))


def _method(compute: Compute, name: str) -> Callable[..., Any]:
    return lambda self, *other: compute(name, self, *other)


def _reflected(compute: Compute, name: str) -> Callable[..., Any]:
    return lambda self, other: compute(name, other, self)


def operator_of(name: str) -> Callable[..., Any]:
    """Python's operator of that name."""
    found: Callable[..., Any] = getattr(operator, f"__{name}__")
    return found
