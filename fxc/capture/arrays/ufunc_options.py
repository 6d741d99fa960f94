"""Calls of ufuncs with all that NumPy takes: outputs, a mask, and what decides the loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from fxc.ir.error_kinds import NUMPY_OPTION, OVERLAPPING_WRITE
from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.metas.layout import is_f_ordered
from fxc.ops.metas.probing import fail_in_numpy
from fxc.ops.metas.shapes import broadcast_shapes, broadcasts_to, show_shape
from fxc.ops.table import TABLE

from ..numbers.traced_int import TracedInt
from ..session.refusing import refusal, refuse
from ..session.session import current
from ..session.warned_of import warn_again, warning_of
from ..values.operands import (
    TracedValue,
    array_value,
    has_traced,
    numpys_operand,
    operand,
    record,
    wrap,
)
from .dtypes import dtype_of
from .ufuncs import call_ufunc, cast, operands_of, writable

_BOOL: np.dtype = np.dtype(bool)


def call_with_options(
    ufunc: np.ufunc, name: str, inputs: tuple[Any, ...], options: dict[str, Any]
) -> object:
    """A call with all that NumPy takes: outputs, a mask, and what decides the loop."""
    if name in _OTHER_OPERATORS:
        inputs = _of_an_array(inputs[: ufunc.nin]) + inputs[ufunc.nin :]
    if not options and len(inputs) == ufunc.nin:
        return call_ufunc(name, *inputs)
    where, order = options.pop("where", True), options.pop("order", "K")
    if where is not True and "out" not in options and all(x is None for x in inputs[ufunc.nin :]):
        warn_again(_warning_of_undefined())
    inputs, outs = _split_outputs(ufunc, inputs, options.pop("out", None))
    options.pop("subok", None)  # there are no subclasses
    operands: Sequence[Operand] = operands_of(name, inputs)
    sources = operands
    casting = options.pop("casting", "same_kind")
    signature = _signature(ufunc, options)
    for key in options:
        raise _unknown_option(ufunc, key)
    loop = None
    if signature is not None or casting != "same_kind":
        loop = _loop_dtypes(ufunc, operands, outs, signature, casting)
        operands = [cast(x, dtype, casting) for x, dtype in zip(operands, loop, strict=False)]
    plain = where is True and casting == "same_kind" and loop is None
    if plain and ufunc.nout == 1 and outs[0] is not None:
        current().record(f"{name}.out", *operands, out=writable(outs[0]))
        return outs[0]
    mask = None if where is True else _mask(name, operands, where)
    if mask is not None:
        operands = quiet(ufunc, mask, operands)
    recorded = current().record(name, *operands)
    results = recorded if isinstance(recorded, tuple) else (recorded,)
    if mask is not None or ufunc.nout > 1:
        _check_apart(ufunc, sources, results, [None if x is None else writable(x) for x in outs])
    if loop is not None and [x.type.dtype for x in results] != list(loop[ufunc.nin :]):
        raise refuse(NUMPY_OPTION, f"np.{ufunc.__name__} with these dtypes")
    given = tuple(
        _new_result(result, mask, order, operands)
        if out is None
        else _stored(result, mask, out, casting)
        for result, out in zip(results, outs, strict=True)
    )
    return given[0] if ufunc.nout == 1 else given


# Ufuncs whose loops have other bits than the operators of two numbers: those call the C library.
_OTHER_OPERATORS = frozenset({"power"})


def _of_an_array(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs of a ufunc; where all are numbers and some are floats, one is an array of rank 0:
    the dtype is the same, and what is meant is the loop, not the operator.
    """
    if not all(isinstance(x, TracedValue | TracedInt | np.generic | int | float) for x in inputs):
        return inputs
    kinds = [numpys_operand(x).type for x in inputs]
    are_numbers = all(isinstance(kind, ScalarType) for kind in kinds)
    if not are_numbers or all(kind.dtype.kind != "f" for kind in kinds):
        return inputs
    place = next((place for place, kind in enumerate(kinds) if not kind.weak), 0)
    made = record("copy", numpys_operand(inputs[place]), order="K")
    return (*inputs[:place], made, *inputs[place + 1 :])


@cache
def _warning_of_places(ufunc: np.ufunc) -> Warning | None:
    """What NumPy warns of where outputs are given by place: of maximum and minimum, from 2.5 on."""
    kinds = ufunc.types[0].replace("->", "")
    return warning_of(lambda: ufunc(*(np.ones(1, kind) for kind in kinds)))


@cache
def _warning_of_undefined() -> Warning | None:
    """What NumPy warns of where a mask leaves elements of a new array undefined, from 2.4 on."""
    return warning_of(lambda: np.negative(np.ones(1), where=np.ones(1, _BOOL)))


def _split_outputs(
    ufunc: np.ufunc, args: tuple[object, ...], out: object
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The inputs, and for each output the array it goes into or None."""
    inputs, outs = args[: ufunc.nin], args[ufunc.nin :]
    if len(inputs) < ufunc.nin or len(args) > ufunc.nargs:
        fail_in_numpy(ufunc, *[1] * len(args))
    if outs and out is not None:
        raise TypeError("cannot specify 'out' as both a positional and keyword argument")
    if outs:
        warn_again(_warning_of_places(ufunc))
    if out is not None:
        outs = out if isinstance(out, tuple) else (out,)
        if len(outs) != ufunc.nout:
            raise TypeError("'out' must be a tuple of arrays, one for each output")
    return inputs, (*outs, *(None,) * (ufunc.nout - len(outs)))


def single_out(out: object) -> Any:
    """The ``out`` of a ufunc's method, which may be given in a tuple."""
    return out[0] if isinstance(out, tuple) and len(out) == 1 else out


def _signature(ufunc: np.ufunc, options: dict[str, object]) -> object:
    """The signature that ``signature=`` or ``dtype=`` asks for; None for the inputs' own loop."""
    dtype, signature = options.pop("dtype", None), options.pop("signature", None)
    if dtype is None:
        return signature
    if signature is not None:
        raise TypeError("cannot specify both 'signature' and 'dtype'")
    return (*(None,) * ufunc.nin, *(dtype_of(dtype),) * ufunc.nout)


def _unknown_option(ufunc: np.ufunc, key: str) -> Exception:
    if ufunc.signature is not None and key in ("axes", "axis", "keepdims"):
        return refuse(NUMPY_OPTION, f"np.{ufunc.__name__} with {key}=")
    return TypeError(f"{ufunc.__name__}() got an unexpected keyword argument '{key}'")


def _loop_dtypes(
    ufunc: np.ufunc,
    operands: Sequence[Operand],
    outs: Sequence[Any],
    signature: Any,
    casting: object,
) -> tuple[np.dtype, ...]:
    """The dtypes of the loop that NumPy takes; raises what it raises for casts it may not do."""
    given = tuple(x.type.in_loops for x in operands)
    if casting == "equiv" and any(x.type.weak for x in operands):
        # Asked for the loop of an int of Python's, NumPy 2.4 ends the process.
        raise refuse(NUMPY_OPTION, f"np.{ufunc.__name__} of a Python number with casting='equiv'")
    wanted = tuple(None if out is None else writable(out).type.dtype for out in outs)
    options = (
        {"casting": casting} if signature is None else {"casting": casting, "signature": signature}
    )
    found: tuple[np.dtype, ...] = ufunc.resolve_dtypes((*given, *wanted), **options)
    return found


def _mask(name: str, operands: Sequence[Operand], where: object) -> Operand:
    """The operand for ``where=``."""
    mask = operand(where if has_traced(where) else np.array(where, _BOOL, copy=None))
    if mask.type.dtype != _BOOL:
        fail_in_numpy(np.negative, 1.0, where=mask.type)
    if TABLE[name].raises and all(x.type.dtype.kind in "iub" for x in operands):
        raise refusal(
            NUMPY_OPTION,
            f"np.{getattr(TABLE[name].numpy, '__name__', name)} of integers with where= cannot be "
            "captured: elements that are not chosen may raise",
        )
    return mask


def quiet(ufunc: np.ufunc, mask: Operand, operands: Sequence[Operand]) -> list[Operand]:
    """Operands of which those that the mask does not choose set no floating-point flags, as a rule:
    the last array has a number there that does no harm.
    """
    given = list(operands)
    arrays = [place for place, x in enumerate(operands) if isinstance(x.type, ArrayType)]
    for place in arrays[-1:]:
        kind = operands[place].type
        usual = _harmless(ufunc, kind.dtype) if kind.dtype.kind in "iufc" else None
        if usual is not None and broadcasts_to(mask.type.shape, kind.shape):
            given[place] = current().record("where", mask, operands[place], Literal(usual))
    return given


@cache
def _harmless(ufunc: np.ufunc, dtype: np.dtype) -> Any:
    """A number that does no harm as the last array; None if there is none, or if all do none."""
    largest = [np.finfo(dtype).max] if dtype.kind in "fc" else []
    special = np.array([*_SPECIAL[dtype.kind], *largest], dtype)
    if _sets_no_flags(ufunc, *np.ix_(*[special] * ufunc.nin)):
        return None
    numbers = (dtype.type(1), dtype.type(0.5))
    return next((x for x in numbers if _sets_no_flags(ufunc, *[x] * ufunc.nin)), None)


def _sets_no_flags(ufunc: np.ufunc, *given: object) -> bool:
    try:
        with np.errstate(all="raise"):
            ufunc(*given)
    except (FloatingPointError, TypeError, ValueError):
        return False
    return True


_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.3, 1e4, -1e4, 1e-30, np.inf, -np.inf, np.nan)
_SPECIAL: Mapping[str, Sequence[complex]] = {
    "i": (0, 1, -1, 2, 100),
    "u": (0, 1, 2, 100),
    "f": _FLOATS,
    "c": [*map(complex, _FLOATS), 1j, -1j],
}


def _check_apart(
    ufunc: np.ufunc,
    operands: Sequence[Operand],
    results: Sequence[Value],
    targets: Sequence[Value | None],
) -> None:
    """Refuse outputs for which NumPy writes back a copy in one piece, and all of it."""
    may_share, written = current().aliases.may_share_memory, [x for x in targets if x is not None]
    several = any(may_share(x, y) for x, y in combinations(written, 2))
    cast_to = [
        x
        for x, result in zip(targets, results, strict=True)
        if x is not None and not _is_kept_in(x.type.dtype, result.type.dtype)
    ]
    others = [x for x in operands if isinstance(x, Value) and isinstance(x.type, ArrayType)]
    if several or any(x is not y and may_share(x, y) for x in cast_to for y in others):
        what = f"np.{ufunc.__name__} into arrays that overlap with others, by where= or in two,"
        raise refuse(OVERLAPPING_WRITE, what, "copy them first")


def _is_kept_in(dtype: np.dtype, other: np.dtype) -> bool:
    """Whether each number is the same after a cast to another dtype and back."""
    is_long = dtype.kind in "iu" and dtype.itemsize == 8  # NumPy says that doubles have them all
    return dtype == other or (np.can_cast(dtype, other) and not (is_long and other.kind in "fc"))


def _new_result(
    result: Value, mask: Operand | None, order: str, operands: Sequence[Operand]
) -> object:
    """A fresh result. Where a mask is False anything may stand in it: what would be computed."""
    session = current()
    if mask is not None:
        shape = broadcast_shapes(result.type.shape, mask.type.shape)
        if shape != result.type.shape:
            result = session.record("where", mask, result, result)
    if order not in ("K", "k", None) and isinstance(result.type, ArrayType):
        if order in ("A", "a"):
            arrays = [x.type for x in operands if isinstance(x.type, ArrayType)]
            order = "F" if all(map(is_f_ordered, arrays)) else "C"
        in_order = session.record("copy", result, order=order.upper())
        result = result if in_order.type == result.type else in_order
    return wrap(result)


def _stored(result: Value, mask: Operand | None, out: object, casting: str) -> object:
    """``out`` with the result in it where the mask is True."""
    session = current()
    target = writable(out)
    shape = target.type.shape
    parts = (result,) if mask is None else (result, mask)
    if not all(broadcasts_to(part.type.shape, shape) for part in parts):
        raise ValueError(f"non-broadcastable output operand with shape {show_shape(shape)}")
    if result.type.dtype != target.type.dtype:
        result = session.record("astype", result, target.type.dtype, casting=casting)
    if mask is not None:
        result = session.record("where", mask, result, target)
    session.record("copy_", target, result, casting=casting)
    return out


def outer(
    ufunc: np.ufunc, name: str, inputs: tuple[object, ...], options: dict[str, object]
) -> object:
    left, right = (array_value(x) for x in inputs)
    axes = tuple(range(left.type.rank, left.type.rank + right.type.rank))
    expanded = record("expand_dims", left, axes) if axes else wrap(left)
    return call_with_options(ufunc, name, (expanded, wrap(right)), options)
