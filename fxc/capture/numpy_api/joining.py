"""``np.concatenate`` and its kin, ``np.roll`` and ``np.repeat``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from fxc.ir.error_kinds import NUMPY_OPTION
from fxc.ir.graph import SliceSpec, Value
from fxc.ir.symbols import Dim
from fxc.ops.metas.shapes import normalize_axis, same_shape

from ..arrays import creation, shaping
from ..arrays.dtypes import dtype_of
from ..arrays.ufuncs import writable
from ..numbers.dims import axis_number, dim_of, dims_of
from ..numbers.python_numbers import scalar_of, to_int
from ..numbers.traced_int import wrap_dim
from ..session.refusing import refuse
from ..session.session import current
from ..values.identity import has_grown
from ..values.operands import Traced, array_value, has_traced, operand, record, wrap


def concatenate(
    arrays: object,
    /,
    axis: object = 0,
    out: object = None,
    *,
    dtype: object = None,
    casting: str | None = "same_kind",
) -> Any:
    items = _sequence(arrays)
    if len(items) > 1 and has_grown(items[0]):
        longer = items[0].longer([array_value(x) for x in items[1:]], axis)
        if longer is not NotImplemented:
            return longer
    parts = tuple(array_value(x) for x in items)
    if axis is None and out is None and dtype is None:
        parts = _with_fitted_numbers(items, parts)
    return _joined(parts, None if axis is None else axis_number(axis), out, dtype, casting)


def _with_fitted_numbers(items: Sequence[object], parts: tuple[Value, ...]) -> tuple[Value, ...]:
    """Parts joined flat: Python numbers do not widen the dtype, and are cast without a check."""
    found: list[Any] = [part.type.dtype for part in parts]
    for place, item in enumerate(items):
        if not isinstance(item, tuple | list):
            kind = operand(item).type
            if kind.weak:
                found[place] = kind.dtype.type(0).item()
    joined = np.result_type(*found)
    return tuple(
        part
        if isinstance(dtype, np.dtype) or part.type.dtype == joined
        else current().record("astype", part, joined, casting="unsafe")
        for dtype, part in zip(found, parts, strict=True)
    )


def _joined(
    parts: tuple[Value, ...], axis: int | None, out: object, dtype: object, casting: str | None
) -> Any:
    session = current()
    casting = casting or "same_kind"
    found = session.dispatcher.meta("concatenate", parts, axis=axis)
    if out is not None:
        if dtype is not None:
            raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both")
        return _joined_into(writable(out), parts, axis, found.shape, out, casting)
    wanted = found.dtype if dtype is None else dtype_of(dtype)
    if dtype is not None or casting != "same_kind":
        parts = tuple(
            x if x.type.dtype == wanted else session.record("astype", x, wanted, casting=casting)
            for x in parts
        )
    return record("concatenate", parts, axis=axis)


def _joined_into(
    target: Value,
    parts: Sequence[Value],
    axis: int | None,
    shape: tuple[Dim, ...],
    out: object,
    casting: str,
) -> object:
    """Copy one part after the other, as NumPy does: what a copy overwrites, a later one reads."""
    session = current()
    if not same_shape(target.type.shape, shape):
        raise ValueError("Output array is the wrong shape")
    along = 0 if axis is None else normalize_axis(axis, len(shape))
    if axis is None and any(session.aliases.may_share_memory(x, target) for x in parts):
        raise refuse(NUMPY_OPTION, "np.concatenate of flattened parts of its out=")
    start: Dim = 0
    for part in parts:
        if axis is None:
            part = shaping.ravel(wrap(part))._value
        stop = start + part.type.shape[along]
        whole = [SliceSpec(0, dim, 1) for dim in shape]
        whole[along] = SliceSpec(start, stop, 1)
        session.record(
            "copy_", session.record("slice", target, tuple(whole)), part, casting=casting
        )
        start = stop
    return out


def _sequence(arrays: Any) -> list[Any]:
    if not isinstance(arrays, tuple | list) and not creation.is_array(arrays):
        raise TypeError(
            'arrays to stack must be passed as a "sequence" type such as list or tuple.'
        )
    return list(arrays)


def stack(
    arrays: object,
    axis: object = 0,
    out: object = None,
    *,
    dtype: object = None,
    casting: str = "same_kind",
) -> object:
    parts = tuple(array_value(x) for x in _sequence(arrays))
    place = axis_number(axis)
    if out is None and dtype is None and casting == "same_kind":
        return record("stack", parts, axis=place)
    session = current()
    shape = session.dispatcher.meta("stack", parts, axis=place).shape
    place = normalize_axis(place, len(shape))
    expanded = tuple(session.record("expand_dims", x, (place,)) for x in parts)
    return _joined(expanded, place, out, dtype, casting)


def roll(a: object, shift: object, axis: object = None) -> Any:
    array = wrap(array_value(a))
    if axis is None:
        return roll(shaping.ravel(array), shift, 0).reshape(array.shape)
    if not array.ndim:
        raise refuse(NUMPY_OPTION, "np.roll of an array without axes along one")
    given: Any = shift
    shifts = tuple(given) if isinstance(given, tuple | list) or np.ndim(given) else (given,)
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        raise ValueError("shape mismatch: objects cannot be broadcast to a single shape")
    count = max(len(shifts), len(axes)) if shifts and axes else 0
    by_axis: dict[int, Any] = {}
    for place in range(count):
        along = normalize_axis(axis_number(axes[place % len(axes)]), array.ndim)
        by = _python_int(shifts[place % len(shifts)])
        by_axis[along] = by_axis[along] + by if along in by_axis else by
    for along, by in by_axis.items():
        array = _rolled(array, by, along)
    return array if by_axis else array.copy("K")


@cache
def _floats_shift() -> bool:
    """Whether NumPy makes ints of floats. Version 2.0 does not: it slices with what is left over
    of them, unless that is 0.
    """
    shift: Any = 1.5
    try:
        return np.roll(np.zeros(2), shift) is not None
    except TypeError:
        return False


def _python_int(x: object) -> Any:
    """A number as an int of Python's: its negative has a sign. NumPy takes floats, too."""
    if isinstance(x, float | np.floating) and not _floats_shift():
        return x
    scalar = scalar_of(x)
    if scalar is not None:  # which says that it is a number of NumPy's
        return to_int(scalar) if scalar._type.dtype.kind in "biu" else x
    return int(x) if isinstance(x, np.integer | np.bool | float | np.floating) else x


def _rolled(array: Any, by: Any, axis: int) -> object:
    size = array.shape[axis]
    if isinstance(by, float | np.floating):
        by = by % (int(size) or 1)
        by = len(range(1)[:by]) if by else 0  # raises as NumPy does
    if size == 0:
        return array.copy()
    # The first asks for a size that the places where loops begin anew are in a known order for.
    if type(by) is int and by and (2 * abs(by) <= size or abs(by) < size):
        split = -by if by < 0 else size - by
    else:
        split = -by % size
    if type(split) is int and split == 0:
        return array.copy("K")
    before = (slice(None),) * axis
    if type(by) is int and not shaping.is_in_order(array._type, "C") and size == 2:
        # Parts of one entry would not tell in which order the axes lie.
        return array[(*before, slice(None, None, -1 if by % 2 else 1))].copy("K")
    parts = [array[(*before, slice(split, None))], array[(*before, slice(None, split))]]
    found = concatenate(parts, axis)
    return found if found.dtype == array.dtype else found.astype(array.dtype)  # not swapped


def repeat(a: object, repeats: Any, axis: object = None) -> Any:
    array = wrap(array_value(a))
    if axis is None:
        return repeat(shaping.ravel(array), repeats, 0)
    along = normalize_axis(axis_number(axis), array.ndim)
    given = operand(repeats).type if isinstance(repeats, Traced) else None
    if given.rank if given else np.ndim(repeats):
        return _repeat_each(array, repeats, along)
    if given and given.dtype.kind not in "biu":
        raise refuse(NUMPY_OPTION, "np.repeat by a number that is no int", "make an int of it")
    if not given:
        repeats = int(repeats)  # of a float, too
    count = wrap_dim(dim_of(repeats, "the number of repeats"))
    if count < 0:
        if array.size:
            raise ValueError("repeats may not contain negative values.")
        count = 0
    before, behind = array.shape[:along], array.shape[along + 1 :]
    each = array[(*(slice(None),) * (along + 1), None)]
    spread = shaping.broadcast_to(each, (*before, array.shape[along], count, *behind))
    shape = dims_of((*before, array.shape[along] * count, *behind))
    return shaping.reshaped_copy(spread, shape)


def _repeat_each(array: Any, repeats: Any, along: int) -> object:
    """Each entry along an axis as often as its own number says."""
    if not has_traced(repeats):
        known = np.asarray(repeats)
        if known.shape == (1,):
            return repeat(array, int(known[0]), along)
        if known.ndim == 1 and array.shape[along] != len(known):
            raise ValueError(f"operands could not be broadcast together with shape {known.shape}")
        return np.take(array, np.repeat(np.arange(len(known)), repeats), axis=along)
    counts = wrap(array_value(repeats))
    if counts.ndim != 1 or counts.dtype.kind not in "bi":
        raise refuse(NUMPY_OPTION, "np.repeat by numbers that are no vector of ints")
    if counts._value.type.shape == (1,):
        return repeat(array, counts[0], along)
    if array.shape[along] != counts.shape[0]:
        raise ValueError(f"operands could not be broadcast together with shape {counts.shape}")
    current().record("try_demand", operand(np.all(counts >= 0)))
    ends = np.cumsum(counts)
    steps = creation.zeros(ends[-1] + 1, np.intp)
    np.add.at(steps, ends, 1)  # an entry that is not repeated ends where the one before does
    return np.take(array, np.cumsum(steps[:-1]), axis=along)
