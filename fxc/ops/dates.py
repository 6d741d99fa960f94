"""Dates and durations as the integers that they are: NumPy's operators on them, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, partial, reduce
from types import MappingProxyType
from typing import Any

import numpy as np

from fxc.ir.boxed_dtypes import is_date
from fxc.ir.graph import Literal
from fxc.ir.records import frozen
from fxc.ir.types import ArrayType, ScalarType, Type

from .composites import OpsHandle
from .table import TABLE

# Note [Dates as integers]
# Native code computes with datetime64 and timedelta64 as with int64: an operator on them is what
# the rules here make of it, between ``reinterpret`` to int64 and back. The ufunc says to which
# units it casts its operands; NaT is the least int64, and each rule says what becomes of it. What
# wraps around does so silently, in scalars, too: no rule lets NaT into an operation of scalars that
# would overflow by it. Where no rule serves (units without a fixed length, NaT as a literal,
# foreign byte order, quotients of which NumPy warns) NumPy is called.

_INT64 = np.dtype(np.int64)
_FLOAT64 = np.dtype(np.float64)
_ZERO, _ONE = np.int64(0), np.int64(1)
_NAT = np.int64(np.iinfo(np.int64).min)
_MOST = np.int64(np.iinfo(np.int64).max)
_BELOW_MINUTES = ("s", "ms", "us", "ns", "ps", "fs", "as")
_SECONDS = {
    **{"W": Fraction(7 * 86400), "D": Fraction(86400), "h": Fraction(3600), "m": Fraction(60)},
    **{unit: Fraction(1, 1000**power) for power, unit in enumerate(_BELOW_MINUTES)},
}

Rule = Callable[..., object]


def rule_for(name: str) -> Rule | None:
    """What an operator is made of where a value of its is a date: a function of the handle, the
    type of its result and its arguments, as a composite (``fxc/ops/composites.py``).

    It raises ``TypeError``, ``ValueError`` or ``OverflowError`` for what it does not serve.
    """
    rule = _is_missing if TABLE[name].numpy is np.isnat else _RULES.get(name)
    return None if rule is None else partial(_of_kind, rule)


def _of_kind(rule: Rule, ops: OpsHandle, kind: Type, *args: object) -> object:
    """What the rule makes; a scalar where that is one of which the rule made rank 0."""
    if kind.dtype.kind in "mM" and not is_date(kind.dtype):
        return NotImplemented
    found = rule(ops, kind, *args)
    if found is NotImplemented or isinstance(kind, ArrayType):
        return found
    return ops.item(found) if isinstance(ops.type_of(found), ArrayType) else found


# ---------------------------------------------------------------- operands


@frozen
class _Whole:
    """An operand as an int64, or a number; ``missing`` says where it is NaT, if it may be."""

    number: Any
    missing: Any = None


def _operands(ops: OpsHandle, name: str, args: tuple[object, ...]) -> tuple[list[_Whole], np.dtype]:
    """The operands of a ufunc in the dtypes of its loop, and that of its result.

    Raises ``TypeError`` or ``ValueError`` for those that no rule serves: see ``rule_for``.
    """
    ufunc: Any = TABLE[name].numpy
    keys = [ops.type_of(x).in_loops for x in args]
    *dtypes, result = ufunc.resolve_dtypes((*keys, None))
    return [_whole(ops, x, dtype) for x, dtype in zip(args, dtypes, strict=True)], result


def _whole(ops: OpsHandle, x: object, dtype: np.dtype) -> _Whole:
    if not is_date(dtype):
        return _Whole(_number(ops, x, dtype))
    bits = _bits(ops, x, dtype)
    if not isinstance(x, Literal):
        return _Whole(bits, ops.equal(bits, _NAT))
    if bits == _NAT:
        raise ValueError("NaT is everywhere")
    return _Whole(bits)


def _number(ops: OpsHandle, x: object, dtype: np.dtype) -> object:
    dtype = _INT64 if dtype.kind == "i" else dtype  # loops are of ``longlong``
    if isinstance(x, Literal):
        return np.asarray(x.value).astype(dtype)[()]
    kind = ops.type_of(x)
    return x if kind.dtype == dtype and not kind.weak else ops.astype(x, dtype, "unsafe", "K")


def _own_bits(ops: OpsHandle, x: object) -> object:
    """A date as int64, in its own unit."""
    kind = ops.type_of(x)
    if not is_date(kind.dtype):
        raise TypeError(f"{kind.dtype} is no date of native code")
    return ops.reinterpret(x, _INT64)


def _bits(ops: OpsHandle, x: object, dtype: np.dtype) -> object:
    """An operand in the unit of ``dtype``, as int64."""
    kind = ops.type_of(x)
    if isinstance(x, Literal):
        value = np.asarray(x.value)
        if value.dtype.kind not in "biumM":
            raise TypeError(f"{value.dtype} is no {dtype}")
        return value.astype(dtype).view(_INT64)[()]
    if kind.dtype.kind in "biu" and _sums_wrap_around():
        return _number(ops, x, _INT64)
    bits = _own_bits(ops, x)
    same = np.datetime_data(kind.dtype) == np.datetime_data(dtype)
    return bits if same else _converted(ops, bits, _ratio(kind.dtype, dtype))


def _ratio(source: np.dtype, target: np.dtype) -> Fraction:
    """How many units of ``target`` one of ``source`` is."""
    (unit, count), (new_unit, new_count) = map(np.datetime_data, (source, target))
    if unit not in _SECONDS or new_unit not in _SECONDS or not _wraps_around():
        raise TypeError(f"no number of {new_unit} is one {unit}")
    ratio = _SECONDS[unit] * count / (_SECONDS[new_unit] * new_count)
    if max(ratio.numerator, ratio.denominator) > _MOST:
        raise ValueError("NumPy raises")
    return ratio


@cache
def _wraps_around() -> bool:
    """Whether NumPy converts what the new unit is too small for as it multiplies integers."""
    days = np.array([2**60], "m8[D]")
    try:
        return bool(days.astype("m8[s]").view(_INT64)[0] == np.array([2**60]) * 86400)
    except OverflowError:
        return False


@cache
def _sums_wrap_around() -> bool:
    """Whether NumPy computes sums and products as those of integers, silently: from 2.5 on it
    raises for what overflows, and warns of bare integers among durations.
    """
    most = np.array([_MOST], "m8[s]")
    try:
        return bool((most + most).view(_INT64)[0] == -2)
    except OverflowError:
        return False


def _converted(ops: OpsHandle, bits: Any, ratio: Fraction) -> object:
    """As NumPy does it: a product, then a quotient in C of what is less by one unit below zero."""
    missing = ops.equal(bits, _NAT)
    found = ops.where(missing, _ZERO, bits)
    if ratio.numerator != 1:
        found = ops.multiply(found, np.int64(ratio.numerator))
    if ratio.denominator != 1:
        lowered = ops.subtract(found, np.int64(ratio.denominator - 1))
        found = ops.where(ops.less(bits, _ZERO), lowered, found)
        found = _quotient(ops, found, np.int64(ratio.denominator))
    return ops.where(missing, _NAT, found)


def _quotient(ops: OpsHandle, x: object, y: np.int64) -> object:
    """``x / y`` in C, for ``y`` that is not 0: cut off, not floored."""
    floored, rest = ops.floor_divide(x, y), ops.remainder(x, y)
    is_cut = ops.logical_and(ops.not_equal(rest, _ZERO), ops.less(floored, _ZERO))
    return ops.add(floored, ops.astype(is_cut, _INT64, "unsafe", "K"))


def _any_missing(ops: OpsHandle, operands: list[_Whole]) -> object:
    return reduce(ops.logical_or, [x.missing for x in operands if x.missing is not None])


def _present(ops: OpsHandle, x: _Whole, instead: object = _ZERO) -> object:
    """The number, and another one in place of NaT."""
    return x.number if x.missing is None else ops.where(x.missing, instead, x.number)


# ---------------------------------------------------------------- ufuncs


def _comparison(ops: OpsHandle, kind: Type, x: object, y: object, *, name: str) -> object:
    operands, _ = _operands(ops, name, (x, y))
    found = ops.call(name, *(each.number for each in operands))
    missing = _any_missing(ops, operands)
    if name == "not_equal":
        return ops.logical_or(found, missing)
    return ops.logical_and(found, ops.logical_not(missing))


def _arithmetic(ops: OpsHandle, kind: Type, *args: object, name: str) -> object:
    """NaT of NaT; sums, differences and products wrap around, if they do so in NumPy."""
    if len(args) > 1 and not _sums_wrap_around():
        return NotImplemented
    operands, dtype = _operands(ops, name, args)
    numbers = [each.number for each in operands]
    if isinstance(kind, ScalarType):
        numbers = [_present(ops, each) for each in operands]
    found = ops.call(name, *numbers)
    return ops.reinterpret(ops.where(_any_missing(ops, operands), _NAT, found), dtype)


def _multiply(ops: OpsHandle, kind: Type, x: object, y: object) -> object:
    """A duration, an integer times."""
    if any(ops.type_of(each).dtype.kind not in "miub" for each in (x, y)):
        return NotImplemented
    return _arithmetic(ops, kind, x, y, name="multiply")


def _divide(ops: OpsHandle, kind: Type, x: object, y: object, *, name: str) -> object:
    """By a duration in float64; a float is nan where one is NaT. By an integer as in C."""
    operands, dtype = _operands(ops, name, (x, y))
    if name == "divide" and dtype == _FLOAT64:
        numbers = [
            _number(ops, Literal(p) if isinstance(p, np.generic) else p, _FLOAT64)
            for p in (_present(ops, each, _ONE) for each in operands)
        ]
        return ops.where(_any_missing(ops, operands), np.float64("nan"), ops.divide(*numbers))
    whole, by = operands
    if not is_date(dtype) or not isinstance(by.number, np.int64) or by.number == 0:
        return NotImplemented
    found = _quotient(ops, _present(ops, whole), by.number)
    return ops.reinterpret(ops.where(whole.missing, _NAT, found), dtype)


def _extreme(ops: OpsHandle, kind: Type, x: object, y: object, *, name: str, of: str) -> object:
    """``of`` two, of which NaT is the least; ``minimum`` and ``fmax`` want nothing else."""
    operands, dtype = _operands(ops, name, (x, y))
    found = ops.call(of, *(each.number for each in operands))
    if name == "maximum":
        found = ops.where(_any_missing(ops, operands), _NAT, found)
    elif name == "fmin":
        for one, other in (operands, reversed(operands)):
            if one.missing is not None:
                found = ops.where(one.missing, other.number, found)
    return ops.reinterpret(found, dtype)


def _is_missing(ops: OpsHandle, kind: Type, x: object) -> object:
    return ops.equal(_own_bits(ops, x), _NAT)


def _is_there(ops: OpsHandle, kind: Type, x: object) -> object:
    return ops.not_equal(_own_bits(ops, x), _NAT)


def _sign(ops: OpsHandle, kind: Type, x: object) -> object:
    """A duration; that of NaT is -1."""
    return ops.reinterpret(ops.sign(_own_bits(ops, x)), kind.dtype)


# ---------------------------------------------------------------- others


def _where(ops: OpsHandle, kind: Type, condition: object, x: object, y: object) -> object:
    if ops.type_of(condition).dtype.kind in "mM":
        return NotImplemented
    bits = [_cast_bits(ops, each, kind.dtype) for each in (x, y)]
    return ops.reinterpret(ops.where(condition, *bits), kind.dtype)


def _cast_bits(ops: OpsHandle, x: object, dtype: np.dtype) -> object:
    """The bits of an operand as NumPy casts it: between dates and durations units do not count."""
    given = ops.type_of(x).dtype
    crosses = is_date(given) and given.kind != dtype.kind
    return _own_bits(ops, x) if crosses else _bits(ops, x, dtype)


def _astype(
    ops: OpsHandle, kind: Type, x: object, dtype: np.dtype, casting: str, order: str
) -> object:
    if is_date(dtype):
        return ops.reinterpret(_cast_bits(ops, x, dtype), dtype)
    if dtype.kind not in "biufc" or dtype.char in "gG" or not dtype.isnative:
        return NotImplemented
    return ops.astype(_own_bits(ops, x), dtype, "unsafe", order)


def _clip(ops: OpsHandle, kind: Type, x: object, low: object, high: object) -> object:
    found = x if low is None else ops.maximum(x, low)
    found = found if high is None else ops.minimum(found, high)
    return found if found is not x and ops.type_of(found).dtype == kind.dtype else NotImplemented


def _copied(ops: OpsHandle, kind: Type, x: object) -> object:
    return ops.reinterpret(_own_bits(ops, x), kind.dtype)


def _full(
    ops: OpsHandle, kind: Type, shape: object, value: object, dtype: np.dtype, layout: object
) -> object:
    return ops.reinterpret(ops.full(shape, _cast_bits(ops, value, dtype), _INT64, layout), dtype)


def _blank(
    ops: OpsHandle, kind: Type, shape: object, dtype: np.dtype, layout: object, *, name: str
) -> object:
    return ops.reinterpret(ops.call(name, shape, _INT64, layout), dtype)


def _least(
    ops: OpsHandle, kind: Type, x: object, axis: object, keepdims: bool, *, name: str
) -> object:
    """NaT, the least integer, is less than all dates to NumPy, too, or comes first."""
    found = ops.call(name, _own_bits(ops, x), axis, keepdims)
    return found if name == "argmin" else ops.reinterpret(found, kind.dtype)


def _greatest(
    ops: OpsHandle, kind: Type, x: object, axis: object, keepdims: bool, *, name: str
) -> object:
    """NaT is greater than all dates: each of these goes down by one, and NaT to the top."""
    if not isinstance(ops.type_of(x), ArrayType):
        return NotImplemented
    bits = _own_bits(ops, x)
    missing = ops.equal(bits, _NAT)
    lowered = ops.subtract(ops.where(missing, _ZERO, bits), _ONE)
    found = ops.call(name, ops.where(missing, _MOST, lowered), axis, keepdims)
    if name == "argmax":
        return found
    is_nat = ops.equal(found, _MOST)
    raised = ops.add(ops.where(is_nat, _ZERO, found), _ONE)
    return ops.reinterpret(ops.where(is_nat, _NAT, raised), kind.dtype)


_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
_RULES: Mapping[str, Rule] = MappingProxyType(
    {
        **{name: partial(_comparison, name=name) for name in _COMPARISONS},
        **{
            name: partial(_arithmetic, name=name)
            for name in ("add", "subtract", "negative", "absolute")
        },
        **{name: partial(_divide, name=name) for name in ("divide", "floor_divide")},
        "multiply": _multiply,
        **{
            name: partial(_extreme, name=name, of=of)
            for name, of in {
                "maximum": "maximum", "minimum": "minimum", "fmax": "maximum", "fmin": "minimum"
            }.items()
        },
        "isnan": _is_missing,
        "isfinite": _is_there,
        "sign": _sign,
        "positive": _copied,
        "clip": _clip,
        "where": _where,
        "astype": _astype,
        "full": _full,
        **{name: partial(_blank, name=name) for name in ("zeros", "empty")},
        **{name: partial(_least, name=name) for name in ("min", "argmin")},
        **{name: partial(_greatest, name=name) for name in ("max", "argmax")},
    }
)  # fmt: skip
