"""Other readings of an array's memory: ``x.view(dtype)``, ``as_strided``, windows, another shape.

What Python sees of an array, its shape for one, may change after it was made. A ``TracedArray``
knows the Value that it reads now, and the one that is the caller's object (``_object``), whose
shape the epilogue sets in the end.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from fxc.ir.error_kinds import ARRAY_MEMORY, EITHER_ARRAY
from fxc.ir.graph import SliceSpec, Value
from fxc.ir.later import import_later
from fxc.ir.size_functions import hint, mod
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim, product
from fxc.ir.types import ArrayType, is_known, normal_strides
from fxc.ops.metas.layout import is_c_ordered
from fxc.ops.metas.probing import fail_in_numpy, quietly
from fxc.ops.metas.reshaping import reshape_strides, resolve_shape
from fxc.ops.metas.shapes import normalize_axis

from ..numbers.dims import axis_number, dims_of
from ..session.refusing import refusal, refuse
from ..session.session import current
from ..session.warned_of import warn_again, warning_of
from ..values.operands import TracedValue, array_value, kind_of, record

# See Note [Rooms with one door].
unwrap = import_later("fxc.capture.session.classes", "unwrap")


def plain_key(key: object) -> object:
    """A key with plain index arrays: of which class they are makes no difference."""
    if isinstance(key, tuple):
        return tuple(map(plain_key, key))
    is_array = isinstance(key, TracedValue) and isinstance(key._value.type, ArrayType)
    if is_array and key._value in current().classes:  # type: ignore[attr-defined]
        return view(key._value, np.ndarray)  # type: ignore[attr-defined]
    return key


def view(value: Value, dtype: Any = None, kind: Any = None) -> Any:
    """As ``ndarray.view``, of an array or a NumPy scalar."""
    if kind is None and isinstance(dtype, type) and issubclass(dtype, np.ndarray):
        dtype, kind = None, dtype
    if kind not in (None, np.ndarray):
        raise refuse(ARRAY_MEMORY, f"x.view of class {kind.__name__}", "use plain arrays")
    old = value.type.dtype
    new = old if dtype is None else np.dtype(dtype)
    if not is_known(new) or (new.kind == "b" and old.kind != "b"):
        raise refuse(ARRAY_MEMORY, f"x.view({new}) of {old}", "use x.astype")
    if not isinstance(value.type, ArrayType):
        if new.itemsize != old.itemsize:
            raise refuse(ARRAY_MEMORY, "x.view of a scalar with a dtype of another size")
        return record("reinterpret", value, new)
    if new == old:
        found = record("slice", value, tuple(SliceSpec(0, dim, 1) for dim in value.type.shape))
    else:
        same = new.itemsize == old.itemsize
        found = record("bitcast" if same else "regroup_bytes", value, new)
    if kind is np.ndarray and value in current().classes:
        unwrap(current(), found._value, value, is_whole=new == old)
    return found


# ------------------------------------------------------------------ strides


def from_dlpack(x: object, /, **options: object) -> object:
    """As ``np.from_dlpack``: a view, of the base class, or a copy."""
    if not isinstance(x, TracedValue) or not isinstance(x._value.type, ArrayType):
        raise refuse(ARRAY_MEMORY, f"np.from_dlpack of a {type(x).__name__}", "give it an array")
    kind = x._value.type
    one = np.zeros(1, kind.dtype)
    one.flags.writeable = kind.writeable
    quietly(np.from_dlpack, one, **options)  # may raise
    if any(guard(mod(stride, kind.dtype.itemsize), "!=", 0) for stride in kind.strides):
        fail_in_numpy(np.from_dlpack, np.zeros(2, [("a", kind.dtype), ("b", "V1")])["a"])
    found = view(x._value, np.ndarray)
    return record("copy", found._value, order="K") if options.get("copy") else found


def as_strided(
    x: object,
    shape: Any = None,
    strides: Any = None,
    subok: bool = False,
    writeable: bool = True,
    *,
    check_bounds: object = None,
) -> object:
    """As ``np.lib.stride_tricks.as_strided``, within the elements of ``x``."""
    value = array_value(x)
    kind = kind_of(value)
    sizes = kind.shape if shape is None else dims_of(tuple(shape))
    wanted = kind.strides if strides is None else dims_of(tuple(strides))
    if len(sizes) != len(wanted):
        raise ValueError("mismatch in length of strides and shape")
    wanted = normal_strides(sizes, wanted, kind.dtype.itemsize)
    steps = _steps(kind, sizes, wanted)
    if steps is None and kind.rank > 1 and is_c_ordered(kind):
        value = record("reshape", value, (kind.size,))._value
        steps = _steps(kind_of(value), sizes, wanted)
    if steps is None:
        raise refuse(
            ARRAY_MEMORY,
            "as_strided beyond the elements of the array, or with strides that are no multiples "
            "of its own,",
            "use slices, or sliding_window_view",
        )
    return record("as_strided", value, sizes, steps, writeable=bool(writeable))


def _steps(kind: ArrayType, sizes: Sequence[Dim], strides: Sequence[Dim]) -> tuple[Dim, ...] | None:
    """The steps along each axis of an array that make these strides, if they stay inside."""
    rows: list[list[int]] = [[0] * len(sizes) for _ in range(kind.rank)]
    if any(guard(size, "==", 0) for size in sizes):
        return sum(map(tuple, rows), ())
    slowest_first = sorted(range(kind.rank), key=lambda axis: -abs(hint(kind.strides[axis])))
    for place, (size, left) in enumerate(zip(sizes, strides, strict=True)):
        if guard(size, "==", 1):
            continue
        for axis in slowest_first:
            stride = kind.strides[axis]
            if guard(kind.shape[axis], "<=", 1) or guard(stride, "==", 0):
                continue
            times = (
                abs(hint(left)) // abs(hint(stride)) * (1 if hint(left) * hint(stride) > 0 else -1)
            )
            if times and guard(left - times * stride, "==", hint(left) - times * hint(stride)):
                rows[axis][place] = times
                left = left - times * stride
        if not guard(left, "==", 0):
            return None
    for row, dim in zip(rows, kind.shape, strict=True):
        reaches = [step * (size - 1) for step, size in zip(row, sizes, strict=True)]
        lowest = sum((r for r, step in zip(reaches, row, strict=True) if step < 0), start=0)
        highest = sum((r for r, step in zip(reaches, row, strict=True) if step > 0), start=0)
        if not guard(lowest, ">=", 0) or not guard(highest, "<", dim):
            return None
    return tuple(step for row in rows for step in row)


def sliding_window_view(
    x: object,
    window_shape: object,
    axis: object = None,
    *,
    subok: bool = False,
    writeable: bool = False,
) -> object:
    value = array_value(x)
    kind = kind_of(value)
    windows = dims_of(window_shape)
    if axis is None:
        axes = tuple(range(kind.rank))
    else:
        given = axis if isinstance(axis, tuple | list) else (axis,)
        axes = tuple(normalize_axis(axis_number(each), kind.rank) for each in given)
    fits = len(windows) == len(axes) and not any(guard(size, "<", 0) for size in windows)
    starts = list(kind.shape)
    for along, size in zip(axes, windows, strict=fits):
        fits = fits and not guard(starts[along], "<", size)
        starts[along] = starts[along] - size + 1
    if not fits:
        fail_in_numpy(np.lib.stride_tricks.sliding_window_view, kind, windows, axis)
    steps = [
        int(along == each) for each in range(kind.rank) for along in (*range(kind.rank), *axes)
    ]
    shape = (*starts, *windows)
    return record("as_strided", value, shape, tuple(steps), writeable=bool(writeable))


# ------------------------------------------------------------------ what an array object is like


def in_shape(value: Value, shape: object) -> Value:
    """What an array of this memory shows after ``x.shape = shape``."""
    _check_outermost("shape")
    current().check_ndarray(value, "setting x.shape")
    warn_again(_warning_of_shapes())
    kind = kind_of(value)
    wanted = resolve_shape(kind, dims_of(shape))
    if reshape_strides(kind, wanted) is None:
        raise AttributeError(
            "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with "
            "the desired shape."
        )
    if value in current().alternatives:
        raise refusal(
            EITHER_ARRAY, "the shape of one array or another cannot be set; use x.reshape"
        )
    return current().value("reshape", value, wanted)


@functools.cache
def _warning_of_shapes() -> Warning | None:
    """What NumPy warns of where a shape is set, from 2.5 on."""
    return warning_of(lambda: setattr(np.empty(1), "shape", (1,)))


def resize(x: TracedValue, *new_shape: object, refcheck: bool = True) -> None:
    """As ``ndarray.resize`` with ``refcheck=False``, of an array that nothing else shows."""
    _check_outermost("size")
    session = current()
    value = x._value
    session.check_ndarray(value, "x.resize")
    if refcheck:
        raise refusal(
            ARRAY_MEMORY,
            "x.resize asks how often Python refers to x and cannot be captured; use np.resize, "
            "or refcheck=False",
        )
    if (
        x._object is not value
        or value not in session.made
        or value in session.aliases.bases.values()
        or value in session.aliases.bases
        or value in session.aliases.twins
    ):
        raise refuse(
            ARRAY_MEMORY, "x.resize of an argument, a view or an array with views", "use np.resize"
        )
    kind = kind_of(value)
    if not is_c_ordered(kind):
        raise refuse(ARRAY_MEMORY, "x.resize of an array that is not in C order", "use np.resize")
    shape = dims_of(new_shape[0] if len(new_shape) == 1 else new_shape)
    old, new = kind.size, product(list(shape))
    flat = record("reshape_copy", value, (old,))._value
    if guard(new, "<=", old):
        kept = record("slice_copy", flat, (SliceSpec(0, new, 1),))._value
    else:
        zeros = record("zeros", (new - old,), kind.dtype, layout=None)._value
        kept = record("concatenate", (flat, zeros), axis=0)._value
    x._value = record("reshape_copy", kept, shape)._value


def _check_outermost(what: str) -> None:
    if current().region:
        raise refuse(
            ARRAY_MEMORY,
            f"a change of the {what} of an array inside a branch or a loop",
            "use another name for another array",
        )
