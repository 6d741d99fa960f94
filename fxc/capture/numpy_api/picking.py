"""NumPy's functions of places: ``take``, ``choose``, ``unravel_index`` and their kin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from fxc.ir.error_kinds import NUMPY_OPTION, WARNS
from fxc.ir.graph import Value
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.metas.shapes import broadcast_shapes, is_known_zero, normalize_axis, same_shape

from ..arrays import creation, shaping
from ..arrays.creation import is_array
from ..arrays.indexing import assign, checked
from ..arrays.ufuncs import call_ufunc, writable
from ..numbers.dims import axis_number, dims_of
from ..numbers.python_numbers import to_int
from ..numbers.traced_int import known_ints, wrap_dim
from ..session.refusing import refuse
from ..session.session import current
from ..session.warned_of import run_now, warning_of
from ..values.operands import (
    TracedValue,
    array_value,
    constant,
    has_traced,
    kind_of,
    operand,
    record,
    wrap,
)
from .numpy_source import run_source

_INTP = np.dtype(np.intp)


def positions(indices: object, casting: str = "same_kind") -> Value:
    """An array of NumPy's own kind of index for what a function takes as ``indices``.

    A float that is no array is cut to an int. Raises NumPy's ``TypeError`` for an array of another
    kind.
    """
    kind = indices._value.type if isinstance(indices, TracedValue) else None
    if isinstance(kind, ScalarType) and kind.dtype.kind == "f":
        indices = to_int(indices)
    if not has_traced(indices) and not isinstance(indices, np.ndarray):
        return constant(np.array(indices, _INTP))
    value = array_value(indices)
    if value.type.dtype == _INTP:
        return value
    if isinstance(indices, list | tuple) and value.type.dtype.kind not in "biu":
        raise refuse(NUMPY_OPTION, "a list of numbers that are no ints as indices", "use ints")
    return current().value("astype", value, _INTP, casting=casting)


def bounded(index: Value, size: Dim, axis: int, mode: str) -> Value:
    """The index in the range of ``size``, by NumPy's ``mode``: raise, wrap or clip."""
    match mode:
        case "raise":
            return checked(index, size, axis)
        case "wrap":
            found = call_ufunc("remainder", wrap(index), wrap_dim(size))
        case "clip":
            low = call_ufunc("maximum", wrap(index), 0)
            found = call_ufunc("minimum", low, wrap_dim(size - 1))
        case _:
            raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    return array_value(found)


def take(
    a: object, indices: object, axis: object = None, out: object = None, mode: str = "raise"
) -> Any:
    """As ``np.take``: the result is in C order."""
    value = array_value(a)
    if axis is None or not value.type.rank:
        value = array_value(shaping.ravel(wrap(value)))
    place = 0 if axis is None else normalize_axis(axis_number(axis), value.type.rank)
    index = positions(indices)
    shape = (*value.type.shape[:place], *index.type.shape, *value.type.shape[place + 1 :])
    size = value.type.shape[place]
    checks = not any(map(is_known_zero, (*shape[:place], *index.type.shape)))
    if mode == "raise" and checks and any(map(is_known_zero, shape)):
        raise refuse(NUMPY_OPTION, "np.take of parts without elements")
    if any(map(is_known_zero, shape)):
        found = wrap(array_value(creation.empty(shaping.wrap_dims(shape), value.type.dtype)))
    elif is_known_zero(size):
        raise IndexError("cannot do a non-empty take from an empty axes.")
    else:
        index = bounded(index, size, place, mode)
        found = record("gather", value, (index,), axes=(place,), place=place, layout=None)
    if out is None:
        return found if found.ndim else found[()]
    target = writable(out)
    if not same_shape(target.type.shape, shape):
        raise ValueError("output array does not match result of ndarray.take")
    if _warning_of_cast(value.type.dtype, target.type.dtype, mode) is not None:
        raise refuse(WARNS, "np.take into numbers of another kind, of which NumPy warns,")
    assign(target, found)
    return out


@lru_cache
def _warning_of_cast(dtype: np.dtype, kept: np.dtype, mode: Any) -> Warning | None:
    """What NumPy warns of where ``np.take`` casts what it gives; raises what it raises: before 2.5
    the cast back, of the array that is given, has to be safe.
    """
    of, out = np.ones(1, dtype), np.ones(1, kept)
    return warning_of(lambda: np.take(of, [0], out=out, mode=mode))


def take_along_axis(arr: object, indices: object, axis: object = -1) -> object:
    """As ``np.take_along_axis``, whose own code reads ``arr.flat`` where there is no axis."""
    if axis is None and array_value(indices).type.rank == 1:
        arr, axis = shaping.ravel(arr), 0
    return run_source(np.take_along_axis, (arr, indices, axis), {})


# ------------------------------------------------------------------ one of several arrays


def choose(a: object, choices: object, out: object = None, mode: str = "raise") -> object:
    """As ``np.choose`` among arrays: the result is in C order."""
    if not isinstance(choices, tuple | list):
        choices = list(wrap(array_value(choices)))
    given = [wrap(array_value(choice)) for choice in choices if not _is_scalar(choice)]
    if out is not None or len(given) < len(choices) or len({x.dtype for x in given}) != 1:
        raise refuse(
            NUMPY_OPTION,
            "np.choose with out=, or among anything but arrays of one dtype,",
            "use np.where",
        )
    shape = broadcast_shapes(*(x._type.shape for x in given), array_value(a).type.shape)
    index = wrap(positions(a, "safe"))
    if mode == "raise":  # NumPy wants no negative numbers; they are as bad as those beyond the end
        index = call_ufunc("where", index < 0, len(given), index)
    index = wrap(bounded(array_value(index), len(given), 0, mode))
    result = given[-1]
    for number in reversed(range(len(given) - 1)):
        result = call_ufunc("where", index == number, given[number], result)
    found = shaping.broadcast_to(result, shaping.wrap_dims(shape)).copy()
    return found if found.ndim else found[()]


def _is_scalar(x: object) -> bool:
    return isinstance(x, bool | int | float | complex | np.generic)


# ------------------------------------------------------------------ index arrays


def indices_from(function: Callable[..., Any]) -> Callable[..., Any]:
    """``np.tril_indices_from`` and its kin, of an array of this shape."""

    def made(arr: object, *args: object, **kwargs: object) -> tuple[Any, ...]:
        kind = kind_of(array_value(arr))
        model = np.broadcast_to(np.zeros(()), known_ints(shaping.wrap_dims(kind.shape)))
        found = run_now(function, (model, *known_ints(args)), known_ints(kwargs))
        return tuple(wrap(constant(each)) for each in found)

    return made


# ------------------------------------------------------------------ places as one number


def _demand(holds: Any) -> None:
    """Check at run time that a condition holds of all places; NumPy raises where it does not."""
    holds = np.all(holds) if is_array(holds) else holds
    current().record("try_demand", operand(holds))


def _places(x: Any, name: str) -> Any:
    """Indices as NumPy's ints."""
    if isinstance(x, tuple | list):
        x = wrap(array_value(x))
    kind = operand(x).type
    if kind.dtype.kind not in "iu" or kind.dtype == np.uint64:
        raise refuse(NUMPY_OPTION, f"np.{name} of {kind.dtype}", "use ints")
    if isinstance(kind, ArrayType) and not kind.rank:
        x = x[()]
    return record("astype", operand(x), np.dtype(np.intp), casting="unsafe")


def _sizes(shape: object, order: str, name: str) -> list[Any]:
    """The sizes of an array, the one that moves fastest first."""
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    sizes = [wrap_dim(dim) for dim in dims_of(shape)]
    if not sizes:
        raise refuse(NUMPY_OPTION, f"np.{name} of an array without axes")
    return sizes[::-1] if order == "C" else sizes


def unravel_index(indices: object, shape: object, order: str = "C") -> object:
    """As ``np.unravel_index``: views of one array, a column for each axis."""
    rest = _places(indices, "unravel_index")
    sizes = _sizes(shape, order, "unravel_index")
    count: Any = 1
    for size in sizes:
        count = count * size
    _demand((rest >= 0) & (rest < count))
    parts = []
    for size in sizes[:-1]:
        parts.append(rest % size)
        rest = rest // size
    parts.append(rest)
    parts = parts[::-1] if order == "C" else parts
    if not is_array(rest):
        return tuple(parts)
    session = current()
    whole = session.record("stack", tuple(map(operand, parts)), axis=rest.ndim)
    return tuple(wrap(session.record("select", whole, rest.ndim, k)) for k in range(len(parts)))


def ravel_multi_index(
    multi_index: object, dims: object, mode: object = "raise", order: str = "C"
) -> object:
    """As ``np.ravel_multi_index`` of places that are in the array."""
    if mode != "raise":
        raise refuse(NUMPY_OPTION, f"np.ravel_multi_index with mode={mode!r}", "use np.clip")
    sizes = _sizes(dims, order, "ravel_multi_index")
    given = [_places(x, "ravel_multi_index") for x in _in_order(multi_index, order)]
    if len(given) != len(sizes):
        raise ValueError("parameter multi_index must be a sequence of length " + str(len(sizes)))
    found, step = given[0], sizes[0]
    for place, size in zip(given, sizes, strict=True):
        _demand((place >= 0) & (place < size))
    for place, size in zip(given[1:], sizes[1:], strict=True):
        found = found + place * step
        step = step * size
    _demand(step <= np.iinfo(np.intp).max)
    return found


def _in_order(places: object, order: str) -> Sequence[Any]:
    if not isinstance(places, tuple | list):
        places = tuple(wrap(array_value(places)))
    return tuple(places[::-1] if order == "C" else places)
