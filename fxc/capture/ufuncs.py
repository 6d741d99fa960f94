"""Calls of NumPy ufuncs on traced values: ``__array_ufunc__`` and the operators of Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.table import TABLE

from .operands import (
    Traced,
    TracedValue,
    array_value,
    dim_of,
    guard_range,
    operand,
    record,
    type_of,
    wrap,
    wrap_all,
)
from .session import current, refuse
from .traced_int import TracedInt

_IMPLIED = {"casting": "same_kind", "order": "K", "subok": True, "dtype": None, "where": True}


def operator_name(function: Any) -> str | None:
    """The operator in the table that a NumPy callable means."""
    op = TABLE.for_callable(function)
    return None if op is None else op.name


def call_ufunc(name: str, *inputs: Any, out: Any = None, where: Any = True) -> Any:
    """Record a ufunc by its operator's name; ``out`` is a traced array or None."""
    operands = [operand(x) for x in inputs]
    _check_python_ints(name, inputs, operands)
    if where is not True:
        return _masked(name, operands, out, where)
    if out is None:
        return wrap_all(current().record(name, *operands))
    current().record(f"{name}.out", *operands, out=writable(out))
    return out


def writable(out: Any) -> Value:
    """The Value of an array given as ``out=`` or written in place."""
    if isinstance(out, TracedValue) and isinstance(out._value.type, ArrayType):
        return out._value
    if isinstance(out, np.ndarray):
        raise refuse("out= is an array that was not given to, or made by, the compiled function")
    raise TypeError("return arrays must be of ArrayType")


def in_place(name: str, target: TracedValue, other: Any) -> Any:
    """``target op= other`` for a traced array."""
    value = operand(other)
    _check_python_ints(name, (target, other), (target._value, value))
    inplace = f"{name}_"
    if inplace in TABLE:
        current().record(inplace, target._value, value)
    else:
        current().record(f"{name}.out", target._value, value, out=target._value)
    return target


def _masked(name: str, operands: Sequence[Operand], out: Any, where: Any) -> Any:
    """``where=``: elements that are not selected keep what ``out`` holds."""
    if out is None:
        raise refuse(
            f"np.{name} with where= and no out= leaves elements undefined and cannot be captured; "
            "give out="
        )
    target = writable(out)
    session = current()
    computed = session.record(name, *operands)
    if type_of(computed).dtype != target.type.dtype:
        computed = session.record("astype", computed, target.type.dtype, casting="same_kind")
    chosen = session.record("where", operand(where), computed, target)
    session.record("copy_", target, chosen, casting="same_kind")
    return out


def _check_python_ints(name: str, inputs: Sequence[Any], operands: Sequence[Operand]) -> None:
    """Guard that traced Python ints fit into the dtype that they are weak against."""
    if not any(type(x) is TracedInt for x in inputs):
        return
    strong = [type_of(x).dtype for x in operands if not _is_weak(x)]
    if not strong:
        return
    dtype = np.result_type(*strong)
    if dtype.kind not in "iu" or dtype == np.int64:
        return
    info = np.iinfo(dtype)
    for x in inputs:
        if type(x) is TracedInt and not guard_range(x._dim, int(info.min), int(info.max)):
            if name in _COMPARISONS:
                raise refuse(f"np.{name} of {dtype} and an int that it cannot hold")
            raise OverflowError(f"Python integer {x._known()} out of bounds for {dtype}")


_COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}


def _is_weak(x: Operand) -> bool:
    kind = type_of(x)
    return isinstance(kind, ScalarType) and kind.weak


# ------------------------------------------------------------------ the protocol


def array_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: Any) -> Any:
    """``__array_ufunc__`` of all traced values."""
    name = operator_name(ufunc)
    if name is None:
        raise refuse(f"np.{ufunc.__name__} cannot be captured in this version of fxc")
    inputs, options = _by_name(ufunc, method, inputs, kwargs)
    match method:
        case "__call__":
            return _call(ufunc, name, inputs, options)
        case "reduce":
            return _reduce(ufunc, inputs, options)
        case "accumulate":
            return _accumulate(ufunc, inputs, options)
        case "outer":
            return _outer(ufunc, name, inputs, options)
        case _:
            raise refuse(f"np.{ufunc.__name__}.{method} cannot be captured")


# What NumPy takes by position after the operands.
_POSITIONS = {
    "reduce": ("axis", "dtype", "out", "keepdims", "initial", "where"),
    "accumulate": ("axis", "dtype", "out"),
}


def _by_name(
    ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The operands, and the other arguments by name, as NumPy gives them to the protocol.

    Staged code comes here without NumPy in between.
    """
    if method == "__call__":
        count, positional = ufunc.nin, {"out": inputs[ufunc.nin :]} if inputs[ufunc.nin :] else {}
    else:
        names = _POSITIONS.get(method, ())
        count = 1 if names else len(inputs)
        if len(inputs) - count > len(names):
            raise TypeError(f"np.{ufunc.__name__}.{method} takes {count + len(names)} arguments")
        positional = dict(zip(names, inputs[count:], strict=False))
    twice = positional.keys() & kwargs.keys()
    if twice:
        raise TypeError(f"np.{ufunc.__name__} with {twice.pop()} by position and by name")
    return inputs[:count], {**positional, **kwargs}


def _call(ufunc: np.ufunc, name: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    out = _single_out(ufunc, options.pop("out", None))
    where = options.pop("where", True)
    dtype = options.pop("dtype", None)
    casting = options.pop("casting", "same_kind")
    for key, value in options.items():
        if _IMPLIED.get(key, _IMPLIED) != value:
            raise refuse(f"np.{ufunc.__name__} with {key}= cannot be captured")
    if dtype is not None:
        inputs = _cast_inputs(ufunc, inputs, np.dtype(dtype), casting)
    elif casting != "same_kind":
        raise refuse(f"np.{ufunc.__name__} with casting={casting!r} cannot be captured")
    if ufunc.nout > 1 and (out is not None or where is not True):
        raise refuse(f"np.{ufunc.__name__} with out= or where= cannot be captured")
    return call_ufunc(name, *inputs, out=out, where=where)


def _single_out(ufunc: np.ufunc, out: Any) -> Any:
    if isinstance(out, tuple):
        given = [each for each in out if each is not None]
        if len(given) > 1 or (given and ufunc.nout > 1):
            raise refuse(f"np.{ufunc.__name__} with several out= cannot be captured")
        return given[0] if given else None
    return out


def _cast_inputs(
    ufunc: np.ufunc, inputs: tuple[Any, ...], dtype: np.dtype, casting: Any
) -> tuple[Any, ...]:
    """The inputs as the loop for the result dtype ``dtype`` takes them."""
    session = current()
    operands = [operand(x) for x in inputs]
    kinds = [_python_type_or_dtype(x) for x in operands]
    signature = (*(None,) * ufunc.nin, *(dtype,) * ufunc.nout)
    loop = ufunc.resolve_dtypes(
        (*kinds, *(None,) * ufunc.nout), signature=signature, casting=casting
    )
    cast = []
    for x, wanted in zip(operands, loop, strict=False):
        if _is_weak(x) or type_of(x).dtype == wanted:
            cast.append(x)
        else:
            cast.append(session.record("astype", x, wanted, casting=casting))
    # A weak scalar is no operand that the cast ones promote with: it takes the loop's dtype.
    for place, x in enumerate(cast):
        if isinstance(x, Literal) and _is_weak(x):
            cast[place] = Literal(loop[place].type(x.value))
    return tuple(x.value if isinstance(x, Literal) else wrap(x) for x in cast)


def _python_type_or_dtype(x: Operand) -> Any:
    kind = type_of(x)
    if isinstance(kind, ScalarType) and kind.weak:
        return kind.python_type if kind.python_type is not bool else np.dtype(bool)
    return kind.dtype


_REDUCTIONS: dict[np.ufunc, str] = {
    np.add: "sum",
    np.multiply: "prod",
    np.minimum: "min",
    np.maximum: "max",
    np.logical_and: "all",
    np.logical_or: "any",
}
_SCANS: dict[np.ufunc, str] = {np.add: "cumsum", np.multiply: "cumprod"}
# The ufuncs whose loops reductions and scans run, where the result depends on the loop's dtype.
_LOOPS = {name: f for f, name in (*_REDUCTIONS.items(), *_SCANS.items())}


def _reduce(ufunc: np.ufunc, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    name = _REDUCTIONS.get(ufunc)
    if name is None:
        raise refuse(f"np.{ufunc.__name__}.reduce cannot be captured")
    out = _single_out(ufunc, options.pop("out", None))
    return reduce(name, inputs[0], out=out, **{"axis": 0, **options})


def _accumulate(ufunc: np.ufunc, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    name = _SCANS.get(ufunc)
    if name is None:
        raise refuse(f"np.{ufunc.__name__}.accumulate cannot be captured")
    out = _single_out(ufunc, options.pop("out", None))
    return scan(name, inputs[0], out=out, **{"axis": 0, **options})


def _outer(ufunc: np.ufunc, name: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    if options:
        raise refuse(f"np.{ufunc.__name__}.outer with {next(iter(options))}= cannot be captured")
    left, right = (array_value(x) for x in inputs)
    axes = tuple(range(left.type.rank, left.type.rank + right.type.rank))
    return call_ufunc(name, record("expand_dims", left, axes) if axes else wrap(left), wrap(right))


# ------------------------------------------------------------------ reductions and scans

_TAKES_DTYPE = {"sum", "prod", "mean", "var", "std"}


def reduce(
    name: str,
    x: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = np._NoValue,
    where: Any = True,
    ddof: Any = 0,
    **unsupported: Any,
) -> Any:
    """Record a reduction over ``axis``: None, an int or a tuple, as NumPy takes it."""
    if initial is not np._NoValue and initial is not None:
        raise refuse(f"np.{name} with initial= cannot be captured; combine it with the result")
    if where is not True and where is not np._NoValue:
        raise refuse(f"np.{name} with where= cannot be captured; use np.where on the argument")
    for key, value in unsupported.items():
        if value is not np._NoValue:
            raise refuse(f"np.{name} with {key}= cannot be captured")
    value = reducible(x)
    if name not in _COMPOSED:
        axis = _axis_of_rank_0(axis, value)
    options: dict[str, Any] = {"axis": _axes(axis), "keepdims": _flag(keepdims)}
    if name in _TAKES_DTYPE:
        options["dtype"] = None if dtype is None else np.dtype(dtype)
    elif dtype is not None:
        raise TypeError(f"{name}() got an unexpected keyword argument 'dtype'")
    if name in ("var", "std"):
        options["ddof"] = _whole(ddof, f"np.{name} with ddof=")
    return _recorded(name, value, out, options)


def _axes(axis: Any) -> tuple[int, ...] | None:
    if axis is None:
        return None
    if isinstance(axis, tuple | list):
        return tuple(axis_number(each) for each in axis)
    return (axis_number(axis),)


def axis_number(axis: Any) -> int:
    """An axis as an int; NumPy's error for what is none."""
    dim = dim_of(axis, "an axis")
    return dim if isinstance(dim, int) else axis.__index__()


def _flag(value: Any) -> bool:
    return bool(value) if value is not np._NoValue else False


def _whole(value: Any, what: str) -> int:
    if isinstance(value, int | np.integer):
        return int(value)
    raise refuse(f"{what}{value!r}, which is no integer, cannot be captured")


def reducible(x: Any) -> Operand:
    """The operand for a function of an array: a scalar stays one, a list becomes an array."""
    return x._operand() if isinstance(x, Traced) else array_value(x)


def _recorded(name: str, value: Operand, out: Any, options: dict[str, Any]) -> Any:
    if out is None or out is np._NoValue:
        return record(name, value, **options)
    target = writable(out)
    if name in _COMPOSED:
        _check_composed_out(name, value, target.type.dtype, options["dtype"])
    elif options.get("dtype") is None:
        value, options = _in_loop_of_out(name, value, target.type.dtype, options)
    current().record(f"{name}.out", value, **options, out=target)
    return out


def _in_loop_of_out(
    name: str, value: Operand, out: np.dtype, options: dict[str, Any]
) -> tuple[Operand, dict[str, Any]]:
    """NumPy chooses the loop of a reduction or a scan by the dtype of ``out`` too."""
    ufunc = _LOOPS.get(name)
    kind = type_of(value).dtype
    if ufunc is None or out == kind:
        return value, options
    loop = ufunc.resolve_dtypes((out, kind, None), reduction=True, casting="unsafe")[1]
    if "dtype" in options:
        return value, {**options, "dtype": loop}
    if loop != kind:
        value = current().record("astype", value, loop, casting="unsafe")
    return value, options


def _check_composed_out(name: str, value: Operand, out: np.dtype, dtype: Any) -> None:
    """Refuse an ``out`` in whose dtype NumPy would round what it computes on the way."""
    kind = type_of(value).dtype
    result = getattr(np, name)(np.ones(1, kind), dtype=dtype).dtype
    if out != result or (name == "mean" and kind == np.float16 and dtype is None):
        raise refuse(
            f"np.{name} with out= of dtype {out} cannot be captured where the result is {result}; "
            f"use out[...] = x.{name}()"
        )


def find(name: str, x: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    """Record ``argmin`` or ``argmax``."""
    value = reducible(x)
    axis = _axis_of_rank_0(axis, value)
    place = None if axis is None else axis_number(axis)
    return _recorded(name, value, out, {"axis": place, "keepdims": _flag(keepdims)})


_COMPOSED = frozenset({"mean", "var", "std"})  # Python functions, which check their axis


def _axis_of_rank_0(axis: Any, value: Operand) -> Any:
    """NumPy's reductions take axis 0 and -1 of an array without axes for all of its axes."""
    is_first = isinstance(axis, int) and not isinstance(axis, bool) and axis in (0, -1)
    return None if is_first and value.type.rank == 0 else axis


def scan(name: str, x: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Record ``cumsum`` or ``cumprod``."""
    place = None if axis is None else axis_number(axis)
    kind = None if dtype is None else np.dtype(dtype)
    return _recorded(name, reducible(x), out, {"axis": place, "dtype": kind})


# ------------------------------------------------------------------ Python's operators

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

_TAKEN = (Traced, bool, int, float, complex, np.generic, np.ndarray, list, tuple)


def taken(x: Any) -> bool:
    """Whether NumPy's operators take ``x`` for an operand."""
    return isinstance(x, _TAKEN)


def binary(name: str) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """The method of an operator and its reflected one."""

    def plain(self: Any, other: Any) -> Any:
        if name == "power" and type(other) is int and other == 2 and _is_bools(self):
            return call_ufunc("square", self)  # the operator takes a shortcut, np.power does not
        return call_ufunc(name, self, other) if taken(other) else NotImplemented

    def reflected(self: Any, other: Any) -> Any:
        return call_ufunc(name, other, self) if taken(other) else NotImplemented

    return plain, reflected


def _is_bools(x: Any) -> bool:
    kind = x._value.type
    return isinstance(kind, ArrayType) and kind.dtype == np.dtype(bool)


def unary(name: str) -> Callable[[Any], Any]:
    """The method of a prefix operator."""

    def method(self: Any) -> Any:
        return call_ufunc(name, self)

    return method


def write_in_place(name: str) -> Callable[[Any, Any], Any]:
    """The method of an augmented assignment."""

    def method(self: Any, other: Any) -> Any:
        return in_place(name, self, other) if taken(other) else NotImplemented

    return method
