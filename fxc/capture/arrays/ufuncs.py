"""Calls of NumPy ufuncs on traced values, and the operators of Python."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from types import NoneType
from typing import Any

import numpy as np

from fxc.ir.boxed_dtypes import is_boxed
from fxc.ir.error_kinds import NUMPY_CALL, NUMPY_OPTION, OPERAND
from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.later import import_later
from fxc.ir.types import ArrayType
from fxc.ops.foreign_ufuncs import operator_of, runs_python
from fxc.ops.metas.layout import layout_of
from fxc.ops.table import TABLE

from ..numbers.traced_int import TracedInt
from ..session.exceptions import note, noting
from ..session.refusing import refusal, refuse
from ..session.session import current
from ..session.warned_of import warn_again, warning_of
from ..values.operands import (
    Traced,
    TracedValue,
    array_value,
    kind_of,
    numpys_operand,
    record,
    settled,
    wrap_all,
)
from ..values.operator_methods import BINARY, COMPARISONS, UNARY
from .dtypes import promoting

# See Note [Rooms with one door].
compared = import_later("fxc.capture.arrays.records_compared", "compared")
beside_text = import_later("fxc.capture.arrays.deferring", "beside_text")
left_to = import_later("fxc.capture.arrays.deferring", "left_to")
guard_range = import_later("fxc.capture.numbers.varying", "guard_range")


def operator_name(function: object) -> str | None:
    """The operator in the table that a NumPy callable means."""
    op = TABLE.for_callable(function)
    return None if op is None else op.name


def adopted(ufunc: np.ufunc) -> str:
    """The operator of a ufunc that the table does not list, see Note [Foreign ufuncs]."""
    if ufunc.signature is not None:
        raise refuse(NUMPY_CALL, f"the ufunc {ufunc.__name__}, which has core dimensions,")
    if runs_python(ufunc):
        raise refuse(
            NUMPY_CALL, f"the ufunc {ufunc.__name__}, whose loops run Python code for each element,"
        )
    return operator_of(ufunc).name


def call_ufunc(name: str, *inputs: object, out: object = None) -> Any:
    """Record a ufunc by its operator's name; ``out`` is a traced array or None."""
    if out is None:
        for x in inputs:
            if isinstance(x, Traced) and x._run is not None:
                return x._run(name, inputs)
    operands = operands_of(name, inputs)
    if out is None:
        try:
            return wrap_all(current().record(name, *operands))
        except Exception as error:
            boxed = any(is_boxed(x.type.dtype) for x in operands)
            if name in _EQUALITY and isinstance(error, TypeError) and boxed:
                text = f"np.{name} of dates or texts and others is left to NumPy"
                raise refusal(OPERAND, text) from error
            note(error, TABLE[name].numpy, inputs, {})
            raise
    current().record(f"{name}.out", *operands, out=writable(out))
    return out


def writable(out: object) -> Value:
    """The Value of an array given as ``out=`` or written in place."""
    out = settled(out)
    out = out._plain() if isinstance(out, Traced) else out
    if isinstance(out, TracedValue) and isinstance(out._value.type, ArrayType):
        return out._value
    if out is ...:
        raise refuse(NUMPY_OPTION, "out=...", "np.asarray of the result is the array it asks for")
    if isinstance(out, Traced):
        out._operand()  # says what it cannot be
    elif isinstance(out, np.ndarray):
        raise refusal(
            NUMPY_OPTION,
            "out= is an array that was not given to, or made by, the compiled function",
        )
    raise TypeError("return arrays must be of ArrayType")


def in_place(name: str, target: TracedValue, other: object) -> Any:
    """``target op= other`` for a traced array."""
    other = other._beside(target) if isinstance(other, Traced) else other
    value = operands_of(name, (target, other))[1]
    if name == "matmul" and (target._value.type.rank < 1 or value.type.rank < 2):
        raise ValueError(
            "inplace matrix multiplication requires the first operand to have at least one and the "
            "second at least two dimensions."
        )
    inplace = f"{name}_"
    if inplace in TABLE:
        current().record(inplace, target._value, value)
    else:
        current().record(f"{name}.out", target._value, value, out=target._value)
    return target


def operands_of(name: str, inputs: Sequence[object]) -> list[Operand]:
    """The operands of a ufunc, of which NumPy warns in each call if it warns of their types: of
    Python's ints among durations, from 2.5 on, which become durations here.
    """
    operands = [numpys_operand(x) for x in inputs]
    _check_python_ints(name, inputs, operands)
    kinds = tuple(x.type.in_loops for x in operands)
    if int not in kinds or not any(np.dtype(kind).kind in "mM" for kind in kinds):
        return operands
    ufunc: Any = TABLE[name].numpy
    warning = _warning_of(ufunc, kinds)
    if warning is None:
        return operands
    warn_again(warning)
    loop = ufunc.resolve_dtypes((*kinds, None))
    return [cast(x, dtype, "unsafe") for x, dtype in zip(operands, loop, strict=False)]


@cache
def _warning_of(ufunc: np.ufunc, kinds: Sequence[Any]) -> Warning | None:
    samples = [1 if kind is int else np.ones((), kind) for kind in kinds]
    with suppress(TypeError):  # which the operator raises
        return warning_of(lambda: ufunc(*samples))
    return None


def cast(x: Operand, dtype: np.dtype, casting: str) -> Operand:
    """The operand as the loop takes it; a Python scalar is no longer weak."""
    if isinstance(x, Literal):
        return numpys_operand(np.asarray(x.value).astype(dtype, casting="unsafe")[()])
    if x.type.dtype == dtype and not x.type.weak:
        return x
    return current().value("astype", x, dtype, casting="unsafe" if x.type.weak else casting)


def _check_python_ints(name: str, inputs: Sequence[object], operands: Sequence[Operand]) -> None:
    """Guard that traced Python ints fit into the dtype that they are weak against."""
    if not any(type(x) is TracedInt for x in inputs):
        return
    strong = [x.type.dtype for x in operands if not x.type.weak]
    if not strong:
        return
    dtype = np.result_type(*strong)
    if dtype.kind not in "iu" or dtype == np.int64 or not _computes_ints(name, operands):
        return
    info = np.iinfo(dtype)
    for x in inputs:
        if type(x) is TracedInt and not guard_range(x._dim, int(info.min), int(info.max)):
            if _gives_truths(name):
                raise refusal(OPERAND, f"np.{name} of {dtype} and an int that it cannot hold")
            raise OverflowError(f"Python integer {x._known()} out of bounds for {dtype}")


def _gives_truths(name: str) -> bool:
    """Whether a ufunc is a comparison or a logical one, which take any int."""
    ufunc = TABLE[name].numpy
    return isinstance(ufunc, np.ufunc) and "bb->?" in ufunc.types


def _computes_ints(name: str, operands: Sequence[Operand]) -> bool:
    """Whether a ufunc takes these integers as they are; others take any int, as a float, and
    ``np.where``, which is none, has a rule of its own.
    """
    ufunc = TABLE[name].numpy
    if not isinstance(ufunc, np.ufunc):
        return False
    given = [x.type.in_loops for x in operands]
    try:
        found = ufunc.resolve_dtypes((*given, *(None,) * ufunc.nout))
    except TypeError:  # there is no such loop
        return True
    return found[0].kind in "iub"


# ------------------------------------------------------------------ Python's operators

_TAKEN = (Traced, bool, int, float, complex, np.generic, np.ndarray, list, tuple, range)


def taken(x: object) -> bool:
    return isinstance(x, _TAKEN)


def binary(name: str) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """The method of an operator and its reflected one."""

    def plain(self: Any, other: object) -> object:
        found = shortcut(self, other) if name == "power" else None
        if found is not None:
            return call_ufunc(*found)
        if (other is None or isinstance(other, str | bytes)) and _is_boxed(self):
            return _beside_text(name, self, other)
        if name in _EQUALITY:
            if type(other) in (NoneType, str, bytes):
                if other is not None and not self.ndim:
                    return beside_text(is_equal=name == "equal")
                return _equal_to_none(self, is_equal=name == "equal")
            if _is_boxed(self):
                other = other._stored_as(self.dtype) if isinstance(other, Traced) else other
                if are_records(self, other):
                    return compared(name, self, other)
        if not taken(other):
            return left_to(other, name, shape=self.shape)
        return call_ufunc(name, self, other)

    def reflected(self: Any, other: object) -> object:
        if isinstance(other, str | bytes) and _is_boxed(self):
            other = other._beside(self) if isinstance(other, Traced) else other
            return call_ufunc(name, other, self)
        if not taken(other):
            return left_to(other, shape=self.shape)
        return call_ufunc(name, other, self)

    return plain, reflected


_EQUALITY = ("equal", "not_equal")


def are_records(x: object, y: object) -> bool:
    """Whether these are arrays of records with the same fields."""
    dtype = getattr(x, "dtype", None)
    return getattr(dtype, "names", None) is not None and getattr(y, "dtype", None) == dtype


def _is_boxed(x: object) -> bool:
    if isinstance(x, TracedValue):
        return is_boxed(array_value(x).type.dtype)
    dtype = getattr(x, "dtype", None) if isinstance(x, Traced) else None
    return isinstance(dtype, np.dtype) and is_boxed(dtype)


def _beside_text(name: str, x: Any, other: object) -> object:
    """An operator of an array of a boxed dtype and a text, which is one for all elements."""
    other = other._beside(x) if isinstance(other, Traced) else other
    if other is None:
        raise refuse(OPERAND, f"an operator of an array of dtype {x.dtype} and None")
    return call_ufunc(name, x, other)


def _equal_to_none(x: Any, *, is_equal: bool) -> object:
    """What ``x == None`` and ``x == "text"`` give for each element, or ``!=``."""
    if not x.ndim:
        return np.bool_(not is_equal)
    kind = kind_of(array_value(x))
    return record(
        "zeros" if is_equal else "ones", kind.shape, np.dtype(bool), layout=layout_of(kind)
    )


# The powers for which the operator ** of arrays calls another ufunc, which np.power does not: by
# the type of the exponent. Of floats and integers both have the same bits.
_SHORTCUTS = {(int, 2): "square", (int, -1): "reciprocal", (float, 0.5): "sqrt"}


def shortcut(x: object, exponent: object) -> tuple[str, Any] | tuple[str, Any, Any] | None:
    """The ufunc that ``x ** exponent`` calls, and its arguments; None if that is np.power."""
    if isinstance(x, np.ndarray) and _any_number_decides():
        return _by_number(x, exponent)
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "bc":
        return None
    if exponent.__class__ not in (int, float):
        return None
    exponent = exponent.__class__(exponent)  # a constant from here on: it says what is called
    if x.dtype.kind == "b" and (type(exponent) is not int or exponent != 2):
        return None
    return _named(_SHORTCUTS.get((type(exponent), exponent)), x)


# In NumPy 2.0 a number of any type decides, its own or one of rank 0, for floats, too, and the
# result is of the dtype of ``x``, whatever the exponent is of; np.power takes no shortcuts there.
_BY_NUMBER = {-1.0: "reciprocal", 0.5: "sqrt", 1.0: "positive", 2.0: "square"}


@cache
def _any_number_decides() -> bool:
    return bool((np.ones(1, np.float32) ** np.float64(2)).dtype == np.float32)


def _by_number(x: Any, exponent: Any) -> tuple[str, Any] | tuple[str, Any, Any] | None:
    kind = exponent.__class__
    if issubclass(kind, np.ndarray):
        if exponent.ndim or exponent.dtype.kind not in "iuf":
            return None
        if not _is_kept(x, exponent):
            raise refuse(
                NUMPY_OPTION,
                "x ** y with an array y of rank 0, whose number decides in which dtype this NumPy "
                "computes,",
                "use np.power",
            )
        return _by_unknown(x, exponent)
    if not issubclass(kind, int | float | np.integer | np.floating):
        return None
    if isinstance(exponent, TracedValue | TracedInt) and _is_kept(x, exponent):
        return _by_unknown(x, exponent)
    number = float(kind(exponent))  # a constant from here on
    if x.dtype.kind in "fc":
        return _named(_BY_NUMBER.get(number), x) if number else ("power", x, x.dtype.type(0))
    if number != 2:
        return None
    is_float = issubclass(kind, float | np.floating)
    return "square", x.astype(np.float64) if is_float and x.dtype.kind in "iu" else x


def _is_kept(x: Any, exponent: object) -> bool:
    """Whether a power is of the dtype of ``x``, whichever way it is computed in."""
    kind = numpys_operand(exponent).type
    return x.dtype.kind != "c" and bool(np.result_type(x.dtype, promoting(kind)) == x.dtype)


def _by_unknown(x: object, exponent: object) -> tuple[str, Any] | None:
    """The same where the number is known at run time only."""
    base, power = array_value(x), numpys_operand(exponent)
    dtype = base.type.dtype
    if dtype.kind != "f":
        return None
    found = current().value("power", base, power)
    for number, name in _BY_NUMBER.items():
        is_it = current().value("equal", power, Literal(number))
        quiet = current().value("where", is_it, base, Literal(dtype.type(1)))
        found = current().value("where", is_it, current().value(name, quiet), found)
    return "positive", record("copy", found, order="K")


def _named(name: str | None, x: object) -> tuple[str, Any] | None:
    return None if name is None else (name, x)


def unary(name: str) -> Callable[[Any], Any]:
    """The method of a prefix operator."""

    def method(self: object) -> object:
        return call_ufunc(name, self)

    return method


def give_operators(kind: type, in_place: Callable[[str], Callable[[Any, Any], Any]]) -> None:
    """Give a class NumPy's operators; ``in_place`` makes the methods of augmented assignments."""
    for name, ufunc in BINARY.items():
        plain, reflected = binary(ufunc)
        setattr(kind, f"__{name}__", plain)
        setattr(kind, f"__r{name}__", reflected)
        assigned = in_place(ufunc)
        assigned.__name__ = f"__i{name}__"
        noted = hasattr(operator, f"i{name}")
        setattr(kind, assigned.__name__, noting(assigned) if noted else assigned)
    for name, ufunc in COMPARISONS.items():
        setattr(kind, f"__{name}__", binary(ufunc)[0])
    for name, ufunc in UNARY.items():
        setattr(kind, f"__{name}__", unary(ufunc))


def write_in_place(name: str) -> Callable[[Any, Any], Any]:
    """The method of an augmented assignment."""

    def method(self: Any, other: object) -> object:
        found = shortcut(self, other) if name == "power" else None
        if found is not None:
            op, given, *more = found
            if op == "positive" and given is not self:
                current().record("copy_", self._value, given._value, casting="same_kind")
            else:
                current().record(f"{op}_", self._value, *map(numpys_operand, more))
            return self
        if not taken(other):
            return left_to(other, shape=self.shape, in_place=True)
        return in_place(name, self, other)

    return method
