"""A Python int that is not known while capturing: the size of an array, an argument, arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from fxc.ir.error_kinds import COUNTED_SIZE
from fxc.ir.graph import Operand
from fxc.ir.later import import_later
from fxc.ir.size_functions import floordiv, hint, maximum, minimum, mod
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim, SymExpr, SymFunc, are_heavy, counted_in, terms_of
from fxc.ir.types import PY_INT, ScalarType

from ..session.refusing import refusal
from ..session.session import current
from ..values.above import above
from ..values.operands import (
    Traced,
    is_derived,
    is_scalar,
    operand,
    plain_number,
    record,
    taken_for,
    variable_of,
    wrap,
)
from ..values.operator_methods import give_conversions, give_methods, operator_of
from ..values.protocols import TakesUfuncs

# See Note [Rooms with one door].
decide_in_loops = import_later("fxc.capture.numbers.varying", "decide_in_loops")
int_of = import_later("fxc.capture.numbers.derived", "int_of")
arithmetic = import_later("fxc.capture.numbers.python_numbers", "arithmetic")
bit_count = import_later("fxc.capture.numbers.python_numbers", "bit_count")
extremum = import_later("fxc.capture.numbers.python_numbers", "extremum")
fits = import_later("fxc.capture.numbers.varying", "fits")
fits_now = import_later("fxc.capture.numbers.varying", "fits_now")
guard_range = import_later("fxc.capture.numbers.varying", "guard_range")


class TracedInt(TakesUfuncs, Traced):
    """An int given by a symbolic ``Dim``.

    Comparisons are decided by the value in this call and guarded. Where Python needs the number
    itself (``range(n)``, a dict key), it is taken as it is in this call, and guarded.
    """

    __slots__ = ("_dim",)
    _is_number = True
    __array_priority__ = 1000.0

    def __init__(self, dim: SymExpr) -> None:
        self._dim = dim

    __class__ = taken_for(int)

    def _operand(self) -> Operand:
        session = current()
        if fits(self._dim):
            return session.value("int_value", self._dim)
        is_large = not session.varies(self._dim) and not fits_now(self._dim)
        return operand(self._known() if is_large else _in_64_bits(self._dim))

    def _is_same(self, other: TracedInt) -> bool:
        return bool(self._dim == other._dim)

    def _graph_type(self) -> ScalarType:
        return PY_INT

    def _kinds(self) -> frozenset[ScalarType]:
        return frozenset((PY_INT,))

    def _is_open(self) -> bool:
        return current().varies(self._dim)

    def _known(self, what: str = "") -> int:
        """The number; from here on the capture is good for this number only."""
        if counted_in(self._dim):
            raise refusal(
                COUNTED_SIZE,
                "the size of an array that depends on the data is needed as a number while the "
                "program is being captured; use it in arithmetic, conditions and as a size",
            )
        number = hint(self._dim)
        guard(self._dim, "==", number)
        return number

    def __index__(self) -> int:
        return self._known()

    __trunc__ = __floor__ = __ceil__ = __index__

    def __bool__(self) -> bool:
        return guard(self._dim, "!=", 0)

    def __neg__(self) -> Any:
        return wrap_dim(-self._dim)

    def __invert__(self) -> Any:
        return wrap_dim(-self._dim - 1)

    def __pos__(self) -> TracedInt:
        return self

    def __abs__(self) -> Any:
        ask = decide_in_loops if current().varies(self._dim) else guard
        is_natural = ask(self._dim, ">=", 0)
        if is_natural is None:
            return largest([self, -self])
        return self if is_natural else wrap_dim(-self._dim)

    def __round__(self, digits: int | None = None) -> object:
        return self if digits is None or digits >= 0 else round(self._known(), digits)

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if modulus is None and type(other) is int and 0 < other <= 4:
            result: Any = self
            for _ in range(other - 1):
                result = result * self
            return result
        if modulus is not None:
            return pow(self._known(), other, modulus)
        return _as_scalar("pow", self, other)

    def __rpow__(self, other: object) -> Any:
        return _as_scalar("pow", other, self)

    @property
    def real(self) -> TracedInt:
        return self

    @property
    def imag(self) -> int:
        return 0

    def bit_length(self) -> object:
        return int_of("py_bit_length", self._operand())

    def bit_count(self) -> object:
        return bit_count(scalar_of_int(self))

    def __getattr__(self, name: str) -> object:
        if not hasattr(int, name):  # NumPy asks for its protocols, and whether it is an array
            raise AttributeError(f"'int' object has no attribute {name!r}", name=name, obj=0)
        return getattr(self._known(), name)


def _in_64_bits(dim: Dim) -> object:
    """A dim of which no bounds are known, by Python's arithmetic, which may leave native code."""
    total: Any = 0
    for monomial, factor in terms_of(dim):
        term: Any = factor
        for atom in monomial:
            value = _atom_in_64_bits(atom)
            term = value if type(term) is int and term == 1 else arithmetic("mul", term, value)
        both = isinstance(total, Traced) or isinstance(term, Traced)
        if type(total) is int and total == 0:
            total = term
        else:
            total = arithmetic("add", total, term) if both else total + term
    return total


def _atom_in_64_bits(atom: Any) -> object:
    if isinstance(atom, SymFunc):
        left, right = _in_64_bits(atom.left), _in_64_bits(atom.right)
        if atom.name in ("min", "max"):
            return extremum({"min": "minimum", "max": "maximum"}[atom.name], [left, right])
        return arithmetic({"floordiv": "floordiv", "mod": "mod"}[atom.name], left, right)
    return record("int_value", SymExpr((((atom,), 1),)))


def wrap_dim(dim: Dim) -> Any:
    """The int for the user: a plain one where it is known."""
    return dim if isinstance(dim, int) else TracedInt(dim)


def known_ints(tree: Any) -> Any:
    """``tree`` with its traced ints as they are in this call, from here on constants."""
    if type(tree) is TracedInt:
        return tree._known()
    if type(tree) in (tuple, list):
        return type(tree)(map(known_ints, tree))
    if type(tree) is dict:
        return {key: known_ints(value) for key, value in tree.items()}
    return tree


def exact(x: object) -> Any:
    """A number in a form that is right as a size, a place or a bound.

    Native code computes dims in 64 bits. One with parts beyond them is an operand, computed by
    Python's arithmetic, if a loop changes it, and the number that it is in this call otherwise.
    """
    if type(x) is not TracedInt or fits(x._dim):
        return x
    return scalar_of_int(x) if current().varies(x._dim) else x._known()


def scalar_of_int(x: object) -> Any:
    """An int as a scalar of the graph, or the number if it is known; anything else as it is."""
    if type(x) is not TracedInt:
        return x
    return variable_of(x._operand())


def int_dim(x: object) -> Dim | None:
    """The dim of a Python int, traced or not; None for anything else."""
    if type(x) is int or type(x) is bool:
        return int(x)
    return x._dim if type(x) is TracedInt else None


def _floordiv(left: Dim, right: Dim) -> Dim:
    if not guard(right, "!=", 0):
        raise ZeroDivisionError("integer division or modulo by zero")
    return floordiv(left, right)


def _mod(left: Dim, right: Dim) -> Dim:
    if not guard(right, "!=", 0):
        raise ZeroDivisionError("integer modulo by zero")
    return mod(left, right)


_EXACT: dict[str, Callable[[Dim, Dim], Dim]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": _floordiv,
    "mod": _mod,
}
_RELATIONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
# The same of an int and a float, as a relation to an int. ``x == 2.5`` holds for none.
_ROUNDED: dict[str, Callable[[float], int]] = {
    "lt": math.ceil,
    "le": math.floor,
    "gt": math.floor,
    "ge": math.ceil,
}


def _by_operator(name: str, left: Dim, right: Dim) -> Any:
    """Arithmetic by Python's operators in the graph, with their checks, instead of by guards."""
    return arithmetic(name, wrap_dim(left), wrap_dim(right))


def _arithmetic(name: str, left: object, right: object) -> object:
    """An operator that is one of dims, too."""
    x, y = int_dim(left), int_dim(right)
    if x is None or y is None:
        return _as_scalar(name, left, right)
    if (name in ("floordiv", "mod") and current().varies(y)) or are_heavy(x, y):
        return _by_operator(name, x, y)
    return wrap_dim(_EXACT[name](x, y))


def _as_scalar(name: str, left: Any, right: Any) -> object:
    """Arithmetic with what is no int: as a scalar of the graph."""
    is_left = type(left) is TracedInt
    x, other = (left, right) if is_left else (right, left)
    if isinstance(other, Traced) and not (type(other) is TracedInt or is_scalar(other)):
        return NotImplemented
    if type(other) is list and name == "mul":
        return above().repeated(other, x._dim)
    if type(other) is str and name == "mul":
        from ..values.late import late, repeated

        return late(str, repeated, other, x)
    if not isinstance(other, int | float | complex | np.generic):
        return NotImplemented
    kind = operand(other).type
    if not kind.weak and name != "truediv":
        check_fits(x, kind.dtype)
    value: Any = x._operand()
    return getattr(wrap(value), f"__{name}__" if is_left else f"__r{name}__")(other)


def _relation(name: str, x: TracedInt, other: object) -> object:
    dim = int_dim(other)
    if dim is not None:
        return _compared(name, x._dim, _RELATIONS[name], dim)
    if isinstance(other, np.complexfloating) and not isinstance(other, Traced):
        # Their order is NumPy's own.
        return operator_of(name)(type(other)(int(x)), other)
    if is_derived(other):
        return _relation(name, x, plain_number(other))  # type: ignore[arg-type]
    if type(other) is not float:
        return NotImplemented
    if not math.isfinite(other):
        return operator_of(name)(0.0, other)
    if name in ("eq", "ne") and not other.is_integer():
        return name == "ne"
    return _relation(name, x, _ROUNDED.get(name, int)(other))


def _compared(name: str, left: Dim, relation: str, right: Dim) -> object:
    """A guard, or an operator where the counter of a loop decides."""
    session = current()
    if not session.varies(left - right):
        return guard(left, relation, right)
    decided = decide_in_loops(left, relation, right)
    if decided is not None:
        return decided
    found = _by_operator(name, left, right)
    session.relations[found._value] = left, relation, right
    return found


def _bitwise(name: str, left: object, right: object) -> object:
    """A bit operation: with a known number arithmetic of dims, where it is that."""
    x, other = (left, right) if type(left) is TracedInt else (right, left)
    if type(x) is TracedInt and type(other) is int:
        is_mask = name == "and" and 0 <= other < 2**63 - 1 and (other + 1).bit_count() == 1
        if is_mask:
            return wrap_dim(mod(x._dim, other + 1))
        if x is left and name in ("lshift", "rshift") and 0 <= other < 63:
            power = 2**other
            return wrap_dim(x._dim * power if name == "lshift" else floordiv(x._dim, power))
    return _as_scalar(name, left, right)


def _divided(name: str, left: Any, right: Any) -> object:
    """``/`` of two ints: Python's float, by the scalar arithmetic of the graph."""
    divisor, dividend = int_dim(right), int_dim(left)
    if divisor is None or dividend is None:
        return _as_scalar(name, left, right)
    if current().is_unbounded(dividend) or current().varies(divisor):
        return _by_operator(name, dividend, divisor)
    if not guard(divisor, "!=", 0):
        raise ZeroDivisionError("division by zero")
    if not all(guard_range(dim, -(2**53), 2**53) for dim in (dividend, divisor)):
        return int(left) / int(right)  # beyond what floats hold, Python rounds once
    return record("py_divide", operand(wrap_dim(dividend)), operand(wrap_dim(divisor)))


give_methods(TracedInt, _arithmetic, _EXACT)
give_methods(TracedInt, _relation, _RELATIONS)
give_methods(TracedInt, _bitwise, ("and", "or", "xor", "lshift", "rshift"))
give_methods(TracedInt, _divided, ("truediv",))
give_conversions(TracedInt)


def smallest(ints: list[object]) -> Any:
    """``min`` of ints of which some are traced."""
    return _extreme("minimum", minimum, ints)


def largest(ints: list[object]) -> Any:
    """``max`` of ints of which some are traced."""
    return _extreme("maximum", maximum, ints)


def _extreme(name: str, of_dims: Callable[[Dim, Dim], Dim], ints: list[object]) -> object:
    dims = [dim for each in ints if (dim := int_dim(each)) is not None]
    if are_heavy(*dims):
        return extremum(name, ints)
    return wrap_dim(reduce(of_dims, dims))


def check_fits(source: object, dtype: np.dtype) -> None:
    """Guard that a Python int from outside is in the range of the dtype it goes into."""
    if type(source) is TracedInt and dtype.kind in "iu" and dtype != np.int64:
        info = np.iinfo(dtype)
        for relation, bound in ((">=", info.min), ("<=", info.max)):
            if not guard(source._dim, relation, int(bound)):
                raise OverflowError(f"Python integer {int(source)} out of bounds for {dtype}")
