"""NumPy's functions that read by index arrays: ``take``, ``choose``, ``select`` and their kin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.ir.graph import Value
from fxc.ir.symbols import Dim
from fxc.ir.types import ScalarType
from fxc.ops.metas.shapes import broadcast_shapes, is_known_zero, normalize_axis, same_shape

from ..refusing import refuse
from ..session import current
from ..values.dims import axis_number
from ..values.operands import TracedValue, array_value, constant, has_traced, kind_of, record, wrap
from ..values.python_numbers import to_int
from ..values.traced_int import known_ints, wrap_dim
from . import advanced, creation, shaping
from .elements import copyto
from .indexing import IndexArrays, assign, checked
from .ufuncs import call_ufunc, writable

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


# Before NumPy 2.5, which works on a copy of ``out``, of the other dtype.
_COPIES_OUT = np.lib.NumpyVersion(np.__version__) < "2.5.0"


def take(a: Any, indices: object, axis: Any = None, out: object = None, mode: str = "raise") -> Any:
    """As ``np.take``: the result is in C order."""
    value = array_value(a)
    if axis is None or not value.type.rank:
        value, place = array_value(shaping.ravel(wrap(value))), 0
    else:
        place = normalize_axis(axis_number(axis), value.type.rank)
    index = positions(indices)
    shape = (*value.type.shape[:place], *index.type.shape, *value.type.shape[place + 1 :])
    size = value.type.shape[place]
    if any(map(is_known_zero, shape)):  # NumPy checks nothing
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
    kept, wanted = target.type.dtype, value.type.dtype
    if _COPIES_OUT and not np.can_cast(kept, wanted, "safe"):
        raise TypeError(
            f"Cannot cast array data from {kept!r} to {wanted!r} according to the rule 'safe'"
        )
    assign(target, found)
    return out


# ------------------------------------------------------------------ along an axis


def along_axis(array: Any, indices: object, axis: int) -> IndexArrays:
    """Index arrays for ``take_along_axis``: ``indices`` for one axis, ranges for the others."""
    index = array_value(indices)
    if index.type.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if index.type.rank != array.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    values: list[Value] = []
    for place, size in enumerate(array.shape):
        if place == axis:
            values.append(index)
            continue
        ones = tuple(other for other in range(array.ndim) if other != place)
        steps = array_value(creation.arange(size))
        values.append(current().record("expand_dims", steps, ones) if ones else steps)
    others = frozenset(range(array.ndim)) - {axis}
    return IndexArrays(tuple(values), tuple(range(array.ndim)), 0, in_bounds=others)


def take_along_axis(arr: object, indices: object, axis: object = -1) -> Any:
    """As ``np.take_along_axis``."""
    array = wrap(array_value(arr))
    if axis is not None:
        place = normalize_axis(axis_number(axis), array.ndim)
    elif array_value(indices).type.rank != 1:
        raise ValueError("when axis=None, `indices` must have a single dimension.")
    else:
        array, place = array.flatten(), 0
    return wrap(advanced.read(array._value, along_axis(array, indices, place)))


# ------------------------------------------------------------------ one of several arrays


def choose(a: object, choices: object, out: object = None, mode: str = "raise") -> Any:
    """As ``np.choose`` among arrays: the result is in C order."""
    if not isinstance(choices, tuple | list):
        choices = list(wrap(array_value(choices)))
    given = [wrap(array_value(choice)) for choice in choices if not _is_scalar(choice)]
    if out is not None or len(given) < len(choices) or len({x.dtype for x in given}) != 1:
        raise refuse(
            "np.choose with out=, or among anything but arrays of one dtype, cannot be captured; "
            "use np.where"
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


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """As ``np.select``: the first choice whose condition holds; the result is in C order."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if len(condlist) == 0:
        raise ValueError("select with an empty condition list is not possible")
    choices = [
        choice if type(choice) in (int, float, complex) else wrap(array_value(choice))
        for choice in (*choicelist, default)
    ]
    dtype = np.result_type(*(getattr(choice, "dtype", choice) for choice in choices))
    conditions = [array_value(condition) for condition in condlist]
    for number, condition in enumerate(conditions):
        if condition.type.dtype != np.bool_:
            raise TypeError(f"invalid entry {number} in condlist: should be boolean ndarray")
    shape = broadcast_shapes(
        *(condition.type.shape for condition in conditions),
        *(choice.shape for choice in map(_traced_array, choices) if choice is not None),
    )
    *choices, last = choices
    result = creation.full(shaping.wrap_dims(shape), last, dtype)
    for choice, condition in zip(reversed(choices), reversed(conditions), strict=True):
        copyto(result, choice, where=wrap(condition))
    return result


def _traced_array(choice: Any) -> Any:
    return None if type(choice) in (int, float, complex) else choice._type


# ------------------------------------------------------------------ index arrays


def indices_from(function: Callable[..., Any]) -> Callable[..., Any]:
    """``np.tril_indices_from`` and its kin, of an array of this shape."""

    def made(arr: object, *args: object, **kwargs: object) -> tuple[Any, ...]:
        kind = kind_of(array_value(arr))
        model = np.broadcast_to(np.zeros(()), known_ints(shaping.wrap_dims(kind.shape)))
        found = function(model, *known_ints(args), **known_ints(kwargs))
        return tuple(wrap(constant(each)) for each in found)

    return made
