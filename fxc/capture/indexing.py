"""Reading and writing ``x[key]`` on traced arrays: basic indexing, and masks that are written.

A key becomes a tuple of steps, each a view operator with its arguments::

    x[0, 1:-1, None]   select(0, 0), slice((1:n-1:1,)), expand_dims((1,))

Integers come first, from the last axis to the first; then one slice; then new axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fxc.ir.graph import Literal, Operand, SliceSpec, Value
from fxc.ir.records import frozen
from fxc.ir.signature import ViewStep
from fxc.ir.symbols import Dim, guard, hint
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.metas.shapes import is_one, normalize_slice, same_dim

from .operands import Traced, TracedValue, array_value, dim_of, operand
from .session import current, refuse
from .traced_int import TracedInt

Steps = tuple[ViewStep, ...]


@frozen
class Place:
    """What a key selects: the views to take, and whether one element is meant."""

    steps: Steps
    is_element: bool


def is_mask(key: Any) -> bool:
    """Whether a key is one array of booleans."""
    if isinstance(key, TracedValue):
        return key._value.type.dtype == np.bool_
    if isinstance(key, np.ndarray | np.bool_):
        return key.dtype == np.bool_
    return isinstance(key, bool)


def locate(kind: ArrayType, key: Any) -> Place:
    """The steps for a basic key.

    Raises NumPy's IndexError for a bad key, CaptureError for an index by an array.
    """
    entries = list(key) if isinstance(key, tuple) else [key]
    for entry in entries:
        _check_entry(entry)
    entries = _without_ellipsis(kind, entries)
    selected: list[tuple[int, Dim]] = []
    slices: list[SliceSpec] = []
    new_axes: list[int] = []
    axis = place = 0
    for entry in entries:
        if entry is None:
            new_axes.append(place)
            place += 1
        elif isinstance(entry, slice):
            slices.append(_slice_spec(entry, kind.shape[axis]))
            axis += 1
            place += 1
        else:
            selected.append((axis, _in_bounds(entry, axis, kind.shape[axis])))
            axis += 1
    kept = [dim for a, dim in enumerate(kind.shape) if a not in dict(selected)]
    steps = [ViewStep("select", each) for each in reversed(selected)]
    whole = all(
        spec.step == 1 and spec.start == 0 and spec.stop == dim
        for spec, dim in zip(slices, kept, strict=True)
    )
    if not whole or (not steps and not new_axes):
        steps.append(ViewStep("slice", (tuple(slices),)))
    if new_axes:
        steps.append(ViewStep("expand_dims", (tuple(new_axes),)))
    given = key if isinstance(key, tuple) else (key,)
    has_ellipsis = any(entry is Ellipsis for entry in given)
    return Place(tuple(steps), not kept and not new_axes and not has_ellipsis)


def _check_entry(entry: Any) -> None:
    if entry is None or entry is Ellipsis or isinstance(entry, slice):
        return
    if type(entry) is int or type(entry) is TracedInt:
        return
    if isinstance(entry, bool | np.bool_) or is_mask(entry):
        raise refuse(
            "reading by a mask has a size that depends on the data and cannot be captured; use "
            "np.where(mask, x, other), or a sum of x * mask"
        )
    if isinstance(entry, TracedValue):
        kind = entry._value.type
        if isinstance(kind, ScalarType) and current().origins.get(entry._value):
            return
        if kind.rank == 0 and kind.dtype.kind in "iu":
            raise refuse("an index that depends on the data cannot be captured")
        if kind.dtype.kind not in "iu":
            raise _bad_index()
        raise refuse("an index by an array cannot be captured; use slices, or np.where")
    if isinstance(entry, np.ndarray) and entry.ndim == 0 and entry.dtype.kind in "iu":
        return
    if isinstance(entry, np.ndarray | list | tuple | range):
        raise refuse("an index by an array or a list cannot be captured; use slices, or np.where")
    if not hasattr(entry, "__index__"):
        raise _bad_index()


def _bad_index() -> IndexError:
    return IndexError(
        "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or "
        "boolean arrays are valid indices"
    )


def _without_ellipsis(kind: ArrayType, entries: list[Any]) -> list[Any]:
    """The entries with the Ellipsis, or the end, replaced by full slices."""
    places = [place for place, entry in enumerate(entries) if entry is Ellipsis]
    if len(places) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    used = sum(entry is not None and entry is not Ellipsis for entry in entries)
    if used > kind.rank:
        raise IndexError(
            f"too many indices for array: array is {kind.rank}-dimensional, but {used} were indexed"
        )
    at = places[0] if places else len(entries)
    rest = entries[at + 1 :] if places else []
    return [*entries[:at], *[slice(None)] * (kind.rank - used), *rest]


def _slice_spec(entry: slice, dim: Dim) -> SliceSpec:
    start, stop, step = (
        None if bound is None else _slice_bound(bound)
        for bound in (entry.start, entry.stop, entry.step)
    )
    return normalize_slice(start, stop, step, dim)


def _slice_bound(bound: Any) -> Dim:
    if type(bound) is not int and not hasattr(bound, "__index__"):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    return dim_of(bound, "a slice bound")


def _in_bounds(entry: Any, axis: int, dim: Dim) -> Dim:
    index = dim_of(entry, "an index")
    if guard(index, "<", 0):
        found = index + dim
        inside = guard(found, ">=", 0)
    else:
        found = index
        inside = guard(found, "<", dim)
    if not inside:
        raise IndexError(
            f"index {hint(index)} is out of bounds for axis {axis} with size {hint(dim)}"
        )
    return found


def apply_steps(value: Value, steps: Steps) -> Value:
    """Record the views of ``steps``."""
    session = current()
    for step in steps:
        value = session.record(step.op, value, *step.args)
    return value


# ------------------------------------------------------------------ writes


def assign(value: Value, source: Any, casting: str = "unsafe") -> None:
    """``x[...] = source``: leading dims of size 1 that ``x`` has not are dropped, as in NumPy."""
    given = operand(source)
    if isinstance(given, Literal):
        given = _known_scalar(given, value.type.dtype, casting)
    check_fits(source, value.type.dtype)
    extra = given.type.rank - value.type.rank
    session = current()
    if extra > 0 and all(is_one(dim) for dim in given.type.shape[:extra]):
        given = session.record("squeeze", given, tuple(range(extra)))
    session.record("copy_", value, given, casting=casting)


def _known_scalar(scalar: Literal, dtype: np.dtype, casting: str) -> Literal:
    """A Python scalar as the element it becomes; raises what the assignment raises."""
    if not scalar.type.weak or casting != "unsafe":
        return scalar
    cell = np.zeros((), dtype)
    cell[...] = scalar.value
    return scalar


def check_fits(source: Any, dtype: np.dtype) -> None:
    """Guard that a Python int from outside is in the range of the dtype it goes into."""
    if type(source) is TracedInt and dtype.kind in "iu" and dtype != np.int64:
        info = np.iinfo(dtype)
        for relation, bound in ((">=", info.min), ("<=", info.max)):
            if not guard(source._dim, relation, int(bound)):
                raise OverflowError(f"Python integer {int(source)} out of bounds for {dtype}")


def assign_mask(value: Value, mask: Any, source: Any) -> None:
    """``x[mask] = scalar``: the whole array is written, from itself where the mask is False."""
    session = current()
    chosen = array_value(mask)
    if chosen.type.rank > value.type.rank:
        raise IndexError(
            f"too many indices for array: array is {value.type.rank}-dimensional, "
            f"but {chosen.type.rank} were indexed"
        )
    for axis, (size, wanted) in enumerate(zip(chosen.type.shape, value.type.shape, strict=False)):
        if not same_dim(size, wanted):
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis}; size of axis is "
                f"{hint(wanted)} but size of corresponding boolean axis is {hint(size)}"
            )
    trailing = range(chosen.type.rank, value.type.rank)
    if trailing:
        chosen = session.record("expand_dims", chosen, tuple(trailing))
    element = _one_element(source, value.type.dtype)
    updated = session.record("where", chosen, element, value)
    session.record("copy_", value, updated, casting="unsafe")


def _one_element(source: Any, dtype: np.dtype) -> Operand:
    """The scalar to write, in the dtype of the array."""
    if not isinstance(source, Traced):
        array = np.asarray(source)
        if array.ndim:
            raise refuse(
                "writing an array by a mask cannot be captured; use np.where(mask, values, x)"
            )
        cell = np.zeros((), dtype)
        cell[()] = source
        return Literal(cell.reshape(1)[0])
    check_fits(source, dtype)
    given = source._operand()
    if given.type.rank:
        raise refuse("writing an array by a mask cannot be captured; use np.where(mask, values, x)")
    if given.type.dtype == dtype and not getattr(given.type, "weak", False):
        return given
    result: Value = current().record("astype", given, dtype, casting="unsafe")
    return result
