"""Calls of NumPy ufuncs on traced values, and the operators of Python."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import NoneType
from typing import Any

import numpy as np

from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.foreign_ufuncs import operator_of, runs_python
from fxc.ops.metas.layout import is_f_ordered, layout_of
from fxc.ops.metas.shapes import broadcast_shapes, broadcasts_to, show_shape
from fxc.ops.table import TABLE

from ..noted import note, noting
from ..refusing import refuse
from ..session import current
from ..values.operands import (
    Traced,
    TracedValue,
    array_value,
    dtype_of,
    guard_range,
    has_traced,
    kind_of,
    numpys_operand,
    operand,
    record,
    type_of,
    wrap,
    wrap_all,
)
from ..values.operator_methods import BINARY, COMPARISONS, UNARY
from ..values.traced_int import TracedInt
from .deferring import left_to


def operator_name(function: object) -> str | None:
    """The operator in the table that a NumPy callable means."""
    op = TABLE.for_callable(function)
    return None if op is None else op.name


def adopted(ufunc: np.ufunc) -> str:
    """The operator of a ufunc that the table does not list, see Note [Foreign ufuncs]."""
    if ufunc.signature is not None:
        raise refuse(f"the ufunc {ufunc.__name__}, which has core dimensions, cannot be captured")
    if runs_python(ufunc):
        raise refuse(
            f"the ufunc {ufunc.__name__}, whose loops run Python code for each element, cannot be "
            "captured"
        )
    return operator_of(ufunc).name


def call_ufunc(name: str, *inputs: object, out: object = None) -> Any:
    """Record a ufunc by its operator's name; ``out`` is a traced array or None."""
    if out is None:
        for x in inputs:
            if isinstance(x, Traced) and x._run is not None:
                return x._run(name, inputs)
    operands = [numpys_operand(x) for x in inputs]
    _check_python_ints(name, inputs, operands)
    if out is None:
        try:
            return wrap_all(current().record(name, *operands))
        except Exception as error:
            note(error, TABLE[name].numpy, inputs, {})
            raise
    current().record(f"{name}.out", *operands, out=writable(out))
    return out


def writable(out: object) -> Value:
    """The Value of an array given as ``out=`` or written in place."""
    out = out._plain() if isinstance(out, Traced) else out
    if isinstance(out, TracedValue) and isinstance(out._value.type, ArrayType):
        return out._value
    if out is ...:
        raise refuse(
            "out=... cannot be captured; np.asarray of the result is the array it asks for"
        )
    if isinstance(out, Traced):
        out._operand()  # says what it cannot be
    elif isinstance(out, np.ndarray):
        raise refuse("out= is an array that was not given to, or made by, the compiled function")
    raise TypeError("return arrays must be of ArrayType")


def in_place(name: str, target: TracedValue, other: Any) -> Any:
    """``target op= other`` for a traced array."""
    other = other._beside(target) if isinstance(other, Traced) else other
    value = numpys_operand(other)
    if name == "matmul" and (target._value.type.rank < 1 or type_of(value).rank < 2):
        raise ValueError(
            "inplace matrix multiplication requires the first operand to have at least one and the "
            "second at least two dimensions."
        )
    _check_python_ints(name, (target, other), (target._value, value))
    inplace = f"{name}_"
    if inplace in TABLE:
        current().record(inplace, target._value, value)
    else:
        current().record(f"{name}.out", target._value, value, out=target._value)
    return target


def _check_python_ints(name: str, inputs: Sequence[Any], operands: Sequence[Operand]) -> None:
    """Guard that traced Python ints fit into the dtype that they are weak against."""
    if not any(type(x) is TracedInt for x in inputs):
        return
    strong = [type_of(x).dtype for x in operands if not _is_weak(x)]
    if not strong:
        return
    dtype = np.result_type(*strong)
    if dtype.kind not in "iu" or dtype == np.int64 or not _computes_ints(name, operands):
        return
    info = np.iinfo(dtype)
    for x in inputs:
        if type(x) is TracedInt and not guard_range(x._dim, int(info.min), int(info.max)):
            if name in _COMPARISONS:
                raise refuse(f"np.{name} of {dtype} and an int that it cannot hold")
            raise OverflowError(f"Python integer {x._known()} out of bounds for {dtype}")


def _computes_ints(name: str, operands: Sequence[Operand]) -> bool:
    """Whether a ufunc takes these integers as they are; others take any int, as a float."""
    ufunc = TABLE[name].numpy
    if not isinstance(ufunc, np.ufunc):
        return True
    given = [_python_type(x) if _is_weak(x) else type_of(x).dtype for x in operands]
    try:
        found = ufunc.resolve_dtypes((*given, *(None,) * ufunc.nout))
    except TypeError:  # there is no such loop
        return True
    return found[0].kind in "iub"


_COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}


def _python_type(x: Operand) -> type:
    kind = type_of(x)
    assert isinstance(kind, ScalarType)
    return kind.python_type


def _is_weak(x: Operand) -> bool:
    kind = type_of(x)
    return isinstance(kind, ScalarType) and kind.weak


# ------------------------------------------------------------------ calls with options


def call_with_options(
    ufunc: np.ufunc, name: str, inputs: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """A call with all that NumPy takes: outputs, a mask, and what decides the loop."""
    if not options and len(inputs) == ufunc.nin:
        return call_ufunc(name, *inputs)
    inputs, outs = _split_outputs(ufunc, inputs, options.pop("out", None))
    where, order = options.pop("where", True), options.pop("order", "K")
    options.pop("subok", None)  # there are no subclasses
    operands = [numpys_operand(x) for x in inputs]
    _check_python_ints(name, inputs, operands)
    casting = options.pop("casting", "same_kind")
    signature = _signature(ufunc, options)
    for key in options:
        raise _unknown_option(ufunc, key)
    loop = None
    if signature is not None or casting != "same_kind":
        loop = _loop_dtypes(ufunc, operands, outs, signature, casting)
        operands = [_cast(x, dtype, casting) for x, dtype in zip(operands, loop, strict=False)]
    plain = where is True and casting == "same_kind" and loop is None
    if plain and ufunc.nout == 1 and outs[0] is not None:
        current().record(f"{name}.out", *operands, out=writable(outs[0]))
        return outs[0]
    mask = None if where is True else _mask(name, operands, where)
    if mask is not None:
        operands = quiet(ufunc, mask, operands)
    recorded = current().record(name, *operands)
    results = recorded if isinstance(recorded, tuple) else (recorded,)
    if loop is not None and [type_of(x).dtype for x in results] != list(loop[ufunc.nin :]):
        raise refuse(f"np.{ufunc.__name__} with these dtypes cannot be captured")
    given = tuple(
        _new_result(result, mask, order, operands)
        if out is None
        else _stored(result, mask, out, casting)
        for result, out in zip(results, outs, strict=True)
    )
    return given[0] if ufunc.nout == 1 else given


def _split_outputs(
    ufunc: np.ufunc, args: tuple[Any, ...], out: object
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The inputs, and for each output the array it goes into or None."""
    inputs, outs = args[: ufunc.nin], args[ufunc.nin :]
    if len(inputs) < ufunc.nin or len(args) > ufunc.nargs:
        raise TypeError(
            f"{ufunc.__name__}() takes from {ufunc.nin} to {ufunc.nargs} positional arguments but "
            f"{len(args)} were given"
        )
    if outs and out is not None:
        raise TypeError("cannot specify 'out' as both a positional and keyword argument")
    if out is not None:
        outs = out if isinstance(out, tuple) else (out,)
        if len(outs) != ufunc.nout:
            raise TypeError("'out' must be a tuple of arrays, one for each output")
    return inputs, (*outs, *(None,) * (ufunc.nout - len(outs)))


def single_out(out: object) -> Any:
    """The ``out`` of a ufunc's method, which may be given in a tuple."""
    return out[0] if isinstance(out, tuple) and len(out) == 1 else out


def _signature(ufunc: np.ufunc, options: dict[str, Any]) -> Any:
    """The signature that ``signature=`` or ``dtype=`` asks for; None for the inputs' own loop."""
    dtype, signature = options.pop("dtype", None), options.pop("signature", None)
    if dtype is None:
        return signature
    if signature is not None:
        raise TypeError("cannot specify both 'signature' and 'dtype'")
    return (*(None,) * ufunc.nin, *(dtype_of(dtype),) * ufunc.nout)


def _unknown_option(ufunc: np.ufunc, key: str) -> Exception:
    if ufunc.signature is not None and key in ("axes", "axis", "keepdims"):
        return refuse(f"np.{ufunc.__name__} with {key}= cannot be captured")
    return TypeError(f"{ufunc.__name__}() got an unexpected keyword argument '{key}'")


def _loop_dtypes(
    ufunc: np.ufunc,
    operands: Sequence[Operand],
    outs: Sequence[Any],
    signature: Any,
    casting: object,
) -> tuple[np.dtype, ...]:
    """The dtypes of the loop that NumPy takes; raises what it raises for casts it may not do."""
    given = tuple(_python_type_or_dtype(x) for x in operands)
    wanted = tuple(None if out is None else writable(out).type.dtype for out in outs)
    options = (
        {"casting": casting} if signature is None else {"casting": casting, "signature": signature}
    )
    found: tuple[np.dtype, ...] = ufunc.resolve_dtypes((*given, *wanted), **options)
    return found


def _cast(x: Operand, dtype: np.dtype, casting: str) -> Operand:
    """The operand as the loop takes it; a Python scalar is no longer weak."""
    if isinstance(x, Literal):
        return Literal(dtype.type(np.asarray(x.value).astype(dtype, casting="unsafe")))
    if x.type.dtype == dtype and not _is_weak(x):
        return x
    return current().value("astype", x, dtype, casting="unsafe" if _is_weak(x) else casting)


_BOOL: np.dtype = np.dtype(bool)


def _mask(name: str, operands: Sequence[Operand], where: object) -> Operand:
    """The operand for ``where=``."""
    mask = operand(where if has_traced(where) else np.array(where, _BOOL, copy=None))
    if mask.type.dtype != _BOOL:
        raise TypeError(
            f"Cannot cast array data from {mask.type.dtype!r} to dtype('bool') according to the "
            "rule 'safe'"
        )
    if TABLE[name].raises and all(type_of(x).dtype.kind in "iub" for x in operands):
        raise refuse(
            f"np.{name} of integers with where= cannot be captured: elements that are not chosen "
            "may raise"
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


def _new_result(
    result: Value, mask: Operand | None, order: Any, operands: Sequence[Operand]
) -> Any:
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


def _stored(result: Value, mask: Operand | None, out: object, casting: str) -> Any:
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


def _python_type_or_dtype(x: Operand) -> Any:
    kind = type_of(x)
    if isinstance(kind, ScalarType) and kind.weak:
        return kind.python_type if kind.python_type is not bool else np.dtype(bool)
    return kind.dtype


def outer(ufunc: np.ufunc, name: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """As ``ufunc.outer``."""
    left, right = (array_value(x) for x in inputs)
    axes = tuple(range(left.type.rank, left.type.rank + right.type.rank))
    expanded = record("expand_dims", left, axes) if axes else wrap(left)
    return call_with_options(ufunc, name, (expanded, wrap(right)), options)


# ------------------------------------------------------------------ Python's operators

_TAKEN = (Traced, bool, int, float, complex, np.generic, np.ndarray, list, tuple, range)


def taken(x: object) -> bool:
    """Whether NumPy's operators take ``x`` for an operand."""
    return isinstance(x, _TAKEN)


def binary(name: str) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """The method of an operator and its reflected one."""

    def plain(self: object, other: object) -> Any:
        shortcut = _shortcut(self, other) if name == "power" else None
        if shortcut is not None:
            return call_ufunc(shortcut, self)
        if name in _EQUALITY and type(other) in (NoneType, str):
            return _equal_to_none(self, is_equal=name == "equal")
        return call_ufunc(name, self, other) if taken(other) else left_to(other)

    def reflected(self: object, other: object) -> Any:
        return call_ufunc(name, other, self) if taken(other) else left_to(other)

    return plain, reflected


_EQUALITY = ("equal", "not_equal")


def _equal_to_none(x: Any, *, is_equal: bool) -> Any:
    """What ``x == None`` and ``x == "text"`` give for each element, or ``!=``."""
    if not x.ndim:
        return np.bool_(not is_equal)
    kind = kind_of(array_value(x))
    return record("zeros" if is_equal else "ones", kind.shape, _BOOL, layout=layout_of(kind))


# The powers for which the operator ** of arrays calls another ufunc, which np.power does not: by
# the type of the exponent. Of floats and integers both have the same bits.
_SHORTCUTS = {(int, 2): "square", (int, -1): "reciprocal", (float, 0.5): "sqrt"}


def _shortcut(x: object, exponent: object) -> str | None:
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "bc":
        return None
    if exponent.__class__ not in (int, float):
        return None
    exponent = exponent.__class__(exponent)  # a constant from here on: it says what is called
    if x.dtype.kind == "b" and (type(exponent) is not int or exponent != 2):
        return None
    return _SHORTCUTS.get((type(exponent), exponent))


def unary(name: str) -> Callable[[Any], Any]:
    """The method of a prefix operator."""

    def method(self: object) -> Any:
        return call_ufunc(name, self)

    return method


def give_operators(
    kind: type, in_place: Callable[[str], Callable[[Any, Any], Any]], *, but: str = ""
) -> None:
    """Give a class NumPy's operators; ``in_place`` makes the methods of augmented assignments."""
    for name, ufunc in BINARY.items():
        if name != but:
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

    def method(self: Any, other: object) -> Any:
        shortcut = _shortcut(self, other) if name == "power" else None
        if shortcut is not None:
            current().record(f"{shortcut}_", self._value)
            return self
        return in_place(name, self, other) if taken(other) else left_to(other, in_place=True)

    return method
