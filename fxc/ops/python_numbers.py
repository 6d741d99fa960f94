"""Python's operators and functions of numbers, as callables behind operators of the table."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from fxc.ir.errors import WouldRaise, a_kind

# Note [Operators of Python numbers]
# A Python int has any number of digits, native code has 64 bits. ``py_add`` and its kin cannot
# fail: their operands are floats, or ``passes/ranges.py`` has proven that the result fits.
# ``try_add`` is the same number, but sends the call back to Python (Note [Raising ops]) where
# Python raises, or where the result is none of the type that the graph says: an int of more than 64
# bits, a complex power of floats, a fraction as a power of ints. So the replay of a program with
# them need not raise. Capture records ``try_`` operators wherever Python may fail for operands of
# these types. Results of ``math_`` functions are those of the C library that CPython calls.


# Operators whose result is as true as their operand.
AS_TRUE = frozenset({"astype", "py_bool"})

# Operators that NumPy's complex scalars compute otherwise than the ufuncs of these names do.
OF_COMPLEX_SCALARS = frozenset({"multiply", "less", "less_equal", "greater", "greater_equal"})


def stem(op: str) -> str:
    """The name of an operator that may be Python's, without a word about checks."""
    return op.removeprefix("py_").removeprefix("try_")


def power(x: object, y: Any) -> Any:
    """``x ** y``, of the type that it has for most numbers of these types."""
    result = x**y
    kinds = {type(x), type(y)}
    wanted = complex if complex in kinds else float if float in kinds else int
    if type(result) is not wanted:
        raise WouldRaise(f"{x!r} ** {y!r} is {a_kind(result)}")
    return result


def natural_quotient(x: int, y: int) -> int:
    """``x // y`` of ints that are not negative."""
    return _natural(x) // _natural(y)


def natural_remainder(x: int, y: int) -> int:
    """``x % y`` of ints that are not negative."""
    return _natural(x) % _natural(y)


def _natural(x: int) -> int:
    if x < 0:
        raise TypeError(f"{x} is negative")
    return x


def larger(x: object, y: Any) -> Any:
    """``max(x, y)``: the first if they are equal, or one is nan."""
    _check_alike(x, y)
    return y if y > x else x


def smaller(x: object, y: Any) -> Any:
    """``min(x, y)``."""
    _check_alike(x, y)
    return y if y < x else x


def _check_alike(x: object, y: object) -> None:
    if type(x) is not type(y):
        raise TypeError("the larger of two numbers of different types is of no known type")


def fit(x: int, low: int, high: int) -> int:
    """``x``, for a NumPy operator whose dtype holds no numbers but these."""
    if not low <= x <= high:
        raise WouldRaise(f"Python integer {x} out of bounds")
    return x


def to_int(x: Any) -> int:
    """``int(x)`` of a number."""
    return int(x)


def to_float(x: Any) -> float:
    """``float(x)`` of a number."""
    return float(x)


def to_complex(re: Any, im: Any) -> complex:
    """``complex(re, im)`` of numbers."""
    return complex(re, im)


def to_bool(x: object) -> bool:
    """``bool(x)`` of a number."""
    return bool(x)


def to_nearest(x: Any) -> int:
    """``round(x)``: halves go to the even number."""
    return round(x)  # type: ignore[no-any-return]


def bit_length(x: Any) -> int:
    """``x.bit_length()`` of an int."""
    return int(x).bit_length()


def demand(holds: object) -> bool:
    """True, unless the program raises here: what it raises, Python says."""
    if not holds:
        raise ArithmeticError("the program raises an exception")
    return True


_MAY_FAIL: dict[str, tuple[int, Callable[..., Any]]] = {
    "add": (2, operator.add),
    "subtract": (2, operator.sub),
    "multiply": (2, operator.mul),
    "divide": (2, operator.truediv),
    "floor_divide": (2, operator.floordiv),
    "remainder": (2, operator.mod),
    "natural_quotient": (2, natural_quotient),
    "natural_remainder": (2, natural_remainder),
    "power": (2, power),
    "left_shift": (2, operator.lshift),
    "right_shift": (2, operator.rshift),
    "negative": (1, operator.neg),
    "absolute": (1, operator.abs),
    "int": (1, to_int),
    "round": (1, to_nearest),
    "fit": (3, fit),
    "demand": (1, demand),
}
_NEVER_FAIL: dict[str, tuple[int, Callable[..., Any]]] = {
    "and": (2, operator.and_),
    "or": (2, operator.or_),
    "xor": (2, operator.xor),
    "invert": (1, operator.invert),
    "not": (1, operator.not_),
    "equal": (2, operator.eq),
    "not_equal": (2, operator.ne),
    "less": (2, operator.lt),
    "less_equal": (2, operator.le),
    "greater": (2, operator.gt),
    "greater_equal": (2, operator.ge),
    "root": (1, math.sqrt),  # of what is not negative
    "maximum": (2, larger),
    "minimum": (2, smaller),
    "bit_length": (1, bit_length),
    "float": (1, to_float),
    "bool": (1, to_bool),
    "complex": (2, to_complex),
}
# Functions of ``math`` with an operator: those that fail nowhere, and the others.
_SAFE = (
    "atan asinh tanh cbrt fabs copysign atan2 hypot isnan isinf isfinite degrees radians erf erfc"
)
_UNSAFE = (
    "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos sinh cosh acosh "
    "pow fmod floor ceil gcd isqrt"
)
_OF_TWO = frozenset({"atan2", "copysign", "pow", "fmod", "hypot", "gcd"})
# They cannot fail where they stand, and may anywhere else.
SETTLED = frozenset({"py_natural_quotient", "py_natural_remainder"})


def attempt(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as that of another operator, which may fail."""

    def attempted(*args: object) -> Any:
        found = function(*args)
        if type(found) is int and not -(2**63) <= found < 2**63:
            raise WouldRaise(f"{found} has more than 64 bits")
        return found

    attempted.__name__ = function.__name__
    return attempted


def _math(names: str, fails: bool) -> dict[str, tuple[int, Callable[..., Any], bool]]:
    return {
        f"math_{name}": (2 if name in _OF_TWO else 1, getattr(math, name), fails)
        for name in names.split()
    }


# Operator -> number of operands, what it means, whether it can fail.
PYTHON_OPERATORS: dict[str, tuple[int, Callable[..., Any], bool]] = {
    **{f"py_{name}": (n, f, False) for name, (n, f) in (_MAY_FAIL | _NEVER_FAIL).items()},
    **{f"try_{name}": (n, attempt(f), True) for name, (n, f) in _MAY_FAIL.items()},
    **_math(_SAFE, False),
    **_math(_UNSAFE, True),
}

# Operators that neither take nor give arrays: Python's numbers, and sizes as numbers.
OF_NUMBERS = frozenset({*PYTHON_OPERATORS, "int_value", "bind_size"})


def proven(name: str) -> str:
    """The operator that ``try_…`` is where it cannot fail."""
    return name.replace("try_", "py_", 1)


def may_leave(name: str) -> bool:
    """Whether the operator sends calls back to Python that need not raise there."""
    return name in PYTHON_OPERATORS and PYTHON_OPERATORS[name][2]
