"""Python's operators and conversions of numbers that are not known while capturing.

See Note [Operators of Python numbers] in ``fxc.ops.python_numbers``.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from fxc.ir.boxed_dtypes import is_boxed
from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.later import import_later
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.python_numbers import PYTHON_OPERATORS

from ..session.session import current
from ..session.warned_of import warning_of
from ..values.operands import Traced, TracedValue, operand, record, variable_of
from ..values.operator_methods import BINARY, COMPARISONS, UNARY

# See Note [Rooms with one door].
int_of = import_later("fxc.capture.numbers.derived", "int_of")

_NAMES = BINARY | COMPARISONS | UNARY | {name: name for name in ("and", "or", "xor")}
_OVERFLOWING = frozenset({"add", "subtract", "multiply", "negative", "absolute"})
_DIVISIONS = frozenset({"divide", "floor_divide", "remainder"})
_FLAG = ScalarType(np.dtype(bool))
_EXACT = 2**53  # up to here floats hold every integer


def arithmetic(name: str, *xs: Any) -> Any:
    """The operator ``name``, as methods are called (``"floordiv"``), of Python's scalars."""
    op, operands = _NAMES[name], [operand(x) for x in xs]
    if op in _DIVISIONS and isinstance(operands[1], Literal) and operands[1].value == 0:
        getattr(operator, name)(type(xs[1])(1), xs[1])  # Python raises right here
    if op in _DIVISIONS and current().handles and not isinstance(operands[1], Literal):
        operands[1] = _handled_if_zero(operands[1])
    op, operands = _respelled(op, operands)
    return record(_may_fail(op, operands), *operands)


def _handled_if_zero(x: Operand) -> Operand:
    """A divisor, or 1 instead of 0 if the program handles what Python raises."""
    if x.type.dtype.kind == "c":
        return x  # to add 0 changes the sign of a part that is -0.0
    zero = partial(arithmetic, "eq", variable_of(x), 0)
    is_zero = current().door.raises_if(ZeroDivisionError, zero)
    return x if is_zero is None else operand(arithmetic("add", variable_of(x), is_zero))


@functools.cache
def warning_of_inverted_bools() -> Warning | None:
    """What Python warns of in ``~True``, from 3.12 on."""
    return warning_of(lambda: operator.invert(True))


def _is_int(x: Operand) -> bool:
    return x.type.dtype.kind in "bi"


def _respelled(op: str, operands: list[Operand]) -> tuple[str, list[Operand]]:
    """The same in a form that native code has less to check for."""
    if len(operands) != 2:
        return op, operands
    x, y = operands
    if not isinstance(y, Literal):
        if op.startswith(("less", "greater")) or op in ("equal", "not_equal"):
            return op, [_beside(x, y), y]
        return op, operands
    if op == "power" and _is_int(x) and type(y.value) is int:
        if y.value == 2:
            return "multiply", [x, x]
        return op, [x, y if y.value >= 0 else Literal(float(y.value))]
    if op == "divide" and _is_int(x) and type(y.value) is int and abs(y.value).bit_count() == 1:
        return op, [_value(record("py_float", x)), Literal(float(y.value))]
    if op.startswith(("less", "greater")) or op in ("equal", "not_equal"):
        return op, [x, _beside(y, x)]
    return op, operands


def _beside(x: Operand, other: Operand) -> Operand:
    """A known int as a float, beside a float, if it is the same number."""
    if isinstance(x, Literal) and type(x.value) is int and other.type.dtype.kind in "fc":
        return Literal(float(x.value)) if abs(x.value) <= _EXACT else x
    return x


def _value(x: TracedValue) -> Operand:
    found: Operand = x._value
    return found


def _may_fail(op: str, operands: Sequence[Operand]) -> str:
    """The operator with or without a check, by what is known of its operands."""
    checked = f"try_{op}"
    if checked not in PYTHON_OPERATORS:
        return f"py_{op}"
    ints = all(map(_is_int, operands))
    last = operands[-1]
    is_size = op == "absolute" and operands[0].type.dtype.kind == "c"
    safe = op in _OVERFLOWING and not ints and not is_size
    if len(operands) == 2 and isinstance(last, Literal):
        if op in _DIVISIONS:
            safe = not ints and not any(x.type.dtype.kind == "c" for x in operands)
        elif op == "right_shift":
            safe = isinstance(last.value, int) and last.value >= 0
    return f"py_{op}" if safe else checked


# ------------------------------------------------------------------ conversions


def scalar_of(x: object) -> Any:
    """The traced scalar that ``x`` is, or holds as an array of rank 0; None for anything else."""
    x = x._plain() if isinstance(x, Traced) else x
    if not isinstance(x, TracedValue):
        return None
    kind = x._value.type
    if isinstance(kind, ScalarType):
        return x
    return None if kind.shape else record("item", x._value)


def as_scalar(x: Value) -> Value:
    """A number, or an array of rank 0, as a number."""
    return current().value("item", x) if isinstance(x.type, ArrayType) else x


def cast_to(x: Operand, dtype: np.dtype) -> Operand:
    """A number, or an array of rank 0, as NumPy's scalar of that dtype."""
    if isinstance(x, Literal) and not is_boxed(dtype):
        return Literal(dtype.type(x.value))
    return as_scalar(current().value("astype", x, dtype, casting="unsafe"))


def number_of_kind(x: Value, kind: ScalarType) -> object:
    """The number of this type that a number, or an array of rank 0, is."""
    number = variable_of(cast_to(x, kind.dtype))
    return to_python(number) if kind.weak else number


def to_int(x: Any) -> Any:
    """``int(x)`` of a traced scalar."""
    kind = x._value.type
    if kind.weak and kind.dtype.kind == "i":
        return x
    fits = kind.dtype.kind in "bi" or (kind.dtype.kind == "u" and kind.dtype.itemsize < 8)
    return int_of("py_int" if fits else "try_int", x._value)


def bit_count(x: Any) -> object:
    """``x.bit_count()`` of an int of 64 bits: of two bits how many, of four, of eight, of all."""
    x = abs(x)
    x = x - ((x >> 1) & 0x5555555555555555)
    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F
    for width in (8, 16, 32):
        x = x + (x >> width)
    return x & 0x7F


def to_float(x: Any) -> Any:
    """``float(x)`` of a traced scalar that is real."""
    kind = x._value.type
    return x if kind.weak and kind.dtype.kind == "f" else record("py_float", x._value)


def to_complex(re: object, im: object) -> Any:
    """``complex(re, im)`` of real numbers, not all of which are known."""
    return record("py_complex", operand(re), operand(im))


def to_bool(x: Any) -> Any:
    """``bool(x)`` of a traced scalar."""
    kind = x._value.type
    return x if kind.weak and kind.dtype.kind == "b" else record("py_bool", x._value)


def logical_not(x: object) -> Any:
    """``not x`` of a traced scalar, or of an array of rank 0: a bool of Python's."""
    return record("py_not", operand(x))


def flag(x: Operand) -> Operand:
    """Whether a scalar, or an array of rank 0, counts as true: a bool of NumPy's."""
    if x.type == _FLAG:
        return x
    if isinstance(x.type, ScalarType):
        return _value(record("astype", x, _FLAG.dtype, casting="unsafe"))
    return _value(record("not_equal", x, Literal(0)))


def to_python(x: Any) -> Any:
    """``x.item()`` of a traced scalar of NumPy's; None for what is no number."""
    dtype = x._value.type.dtype
    if dtype.char in "gG":  # Python has none of so many bits
        return x
    if dtype.kind == "c":
        return x if x._value.type.weak else to_complex(x.real, x.imag)
    made = {"b": to_bool, "i": to_int, "u": to_int, "f": to_float}.get(dtype.kind)
    return made(x) if made is not None else None


def rounded(x: Any) -> object:
    """``round(x)`` of a traced scalar, to an int."""
    kind = x._value.type
    if kind.dtype.kind == "b" and not kind.weak:
        round(np.True_)  # type: ignore[call-overload] # raises NumPy's error
    return to_int(x) if kind.dtype.kind in "biu" else int_of("try_round", x._value)


# ------------------------------------------------------------------ functions


def extremum(name: str, items: Sequence[object]) -> object:
    """``max`` or ``min`` of numbers; NotImplemented unless all are of one type."""
    operands = [operand(x) for x in items]
    kinds = {x.type for x in operands}
    if len(kinds) != 1 or len(operands) < 2:
        return NotImplemented
    (kind,) = kinds
    if not isinstance(kind, ScalarType) or kind.dtype.kind == "c":
        return NotImplemented
    found: Any = items[0]
    for x in operands[1:]:
        found = record(f"py_{name}", operand(found), x)
    return found
