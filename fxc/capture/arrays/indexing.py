"""What ``x[key]`` selects of a traced array: views, and what index arrays or a mask take of them.

A key becomes a tuple of steps, each a view operator with its arguments::

    x[0, 1:-1, None]   select(0, 0), slice((1:n-1:1,)), expand_dims((1,))

Integers come first, from the last axis to the first; then one slice; then new axes. Index arrays
and masks apply to the view that the steps give: see ``advanced`` and ``masked``.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from fxc.ir.boxed_dtypes import field_of, has_gaps
from fxc.ir.error_kinds import NUMPY_OPTION
from fxc.ir.graph import Literal, Operand, SliceSpec, Value
from fxc.ir.later import import_later
from fxc.ir.records import frozen
from fxc.ir.signature import Steps, ViewStep
from fxc.ir.size_functions import hint
from fxc.ir.size_guards import Guard, guard
from fxc.ir.symbols import Dim, counted_in
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.kernels import kernel_of
from fxc.ops.metas.probing import fail_in_numpy, quietly
from fxc.ops.metas.shapes import check_mask, is_one, is_zero, normalize_slice, same_shape

from ..numbers.traced_int import check_fits
from ..numbers.varying import in_bounds_from_either_end, place_in_bounds
from ..session.dropped_parts import warn_of_dropped_parts
from ..session.refusing import refuse
from ..session.session import MOST_AXES, current
from ..values.operands import Traced, constant, has_traced, operand, wrap
from .keys import ArrayEntry, At, Entry, entries_of

# See Note [Rooms with one door].
dim_of = import_later("fxc.capture.numbers.dims", "dim_of")
handled_if_outside = import_later("fxc.capture.arrays.handled_bounds", "handled_if_outside")
known_array = import_later("fxc.capture.arrays.history", "known_array")
window = import_later("fxc.capture.arrays.windows", "window")


@frozen
class IndexArrays:
    """The index arrays of a key: one for each of ``axes`` of the view.

    Their own axes stand at ``place`` in the result. ``is_mask`` if they stand for one mask of the
    shape of the array. Those that are ``in_bounds`` need no check.
    """

    values: tuple[Value, ...]
    axes: tuple[int, ...]
    place: int
    is_mask: bool = False
    in_bounds: bool = False


@frozen
class Mask:
    """A mask whose elements are not known: its axes are those of the view from ``axis`` on.

    In the result one axis stands for them, at ``place``. ``is_mask`` as for IndexArrays.
    """

    value: Value
    axis: int
    place: int
    is_mask: bool


@frozen
class Place:
    """What a key selects: the views to take, what index arrays take of the last of them, and
    whether one element is meant, or a copy where integers alone would give a view.
    """

    steps: Steps
    is_element: bool = False
    is_copy: bool = False
    arrays: IndexArrays | Mask | None = None


def locate(kind: ArrayType, key: object) -> Place:
    """What ``key`` selects of an array of that type.

    Raises NumPy's IndexError for a bad key.
    """
    if isinstance(key, str) and kind.dtype.names is not None:
        return Place((_field(kind, _known_name(key)),))
    if kind.dtype.names is not None and are_names(key):
        quietly(operator.getitem, np.zeros(1, kind.dtype), key)
        return Place((ViewStep("fields", (tuple(map(_known_name, key)),)),))  # type: ignore[call-overload]
    walk = _Walk(kind)
    for entry in entries_of(key, kind):
        walk.take(entry)
    return walk.place()


def _known_name(name: Any) -> str:
    found: str = name._known() if isinstance(name, Traced) else name  # type: ignore[attr-defined]
    return found


def are_names(key: object) -> bool:
    """Whether a key is a list of names of fields."""
    return isinstance(key, list) and bool(key) and all(isinstance(each, str) for each in key)


def _field(kind: ArrayType, name: str) -> ViewStep:
    """The view of a field of records."""
    if name not in (kind.dtype.names or ()):
        fail_in_numpy(np.zeros(1, kind.dtype).__getitem__, name)
    op = "array_field" if field_of(kind.dtype, (name,)).shape else "field"
    return ViewStep(op, ((name,),))


class _Walk:
    """Goes through the entries of a key and keeps where in the array and the result they are."""

    def __init__(self, kind: ArrayType) -> None:
        self.kind = kind
        self.axis = 0  # of the array
        self.at = 0  # of the view that the steps give
        self.selected: list[tuple[int, At]] = []
        self.slices: list[SliceSpec] = []
        self.new_axes: list[int] = []
        self.arrays: list[tuple[Value, int]] = []  # with the axis of the view each is for
        self.masks: list[tuple[Value, int]] = []
        self.gone = 0  # axes of the view that index arrays take the place of
        self.runs: list[int] = []  # where in the result runs of integers and arrays begin
        self.in_run = False
        self.entries = 0
        self.known_masks = 0
        self.has_ellipsis = False

    def take(self, entry: Entry) -> None:
        """The next entry."""
        is_advanced = isinstance(entry, At | ArrayEntry)
        if is_advanced and not self.in_run:
            self.runs.append(self.at - self.gone)
        self.in_run = is_advanced
        self.entries += 1
        if entry is None:
            self.new_axes.append(self.at)
            self.at += 1
        elif entry is Ellipsis:
            self.has_ellipsis = True
        elif isinstance(entry, slice):
            self.keep(_slice_spec(entry, self.kind.shape[self.axis]))
        elif isinstance(entry, At):
            self.selected.append((self.axis, entry))
            self.axis += 1
        elif not entry.is_mask:
            self.index(entry.value)
        elif entry.known is None:
            self.mask(entry.value)
        elif entry.axes:
            self.known_masks += 1
            check_mask(entry.known.shape, self.kind.shape, self.axis)
            for each in entry.known.nonzero():
                self.index(constant(each))
        else:
            self.arrays.append((constant(np.zeros(int(entry.known), np.intp)), self.at))
            self.new_axis()

    def keep(self, spec: SliceSpec) -> None:
        self.slices.append(spec)
        self.axis += 1
        self.at += 1

    def new_axis(self) -> None:
        """An axis that is indexed at once."""
        self.new_axes.append(self.at)
        self.at += 1
        self.gone += 1

    def index(self, value: Value) -> None:
        self.arrays.append((value, self.at))
        self.keep(SliceSpec(0, self.kind.shape[self.axis], 1))
        self.gone += 1

    def mask(self, value: Value) -> None:
        if not value.type.rank:  # of a new axis, as a mask of one element
            value = current().record("expand_dims", value, (0,))
            self.masks.append((value, self.at))
            self.new_axis()
            return
        check_mask(value.type.shape, self.kind.shape, self.axis)
        if any(hint(dim) == 0 and is_zero(dim) for dim in value.type.shape):  # of any size
            self.known_masks += same_shape(value.type.shape, self.kind.shape)
            for _ in range(value.type.rank):
                self.index(constant(np.zeros(0, np.intp)))
            return
        self.masks.append((value, self.at))
        for _ in range(value.type.rank):
            self.keep(SliceSpec(0, self.kind.shape[self.axis], 1))
            self.gone += 1

    def place(self) -> Place:
        """What all the entries select."""
        kept = [d for a, d in enumerate(self.kind.shape) if a not in dict(self.selected)]
        steps = [_select(self.kind, axis, each) for axis, each in reversed(self.selected)]
        whole = all(
            spec.step == 1 and spec.start == 0 and spec.stop == dim
            for spec, dim in zip(self.slices, kept, strict=True)
        )
        is_basic = not self.arrays and not self.masks
        if not whole or (is_basic and not steps and not self.new_axes):
            steps.append(ViewStep("slice", (tuple(self.slices),)))
        if self.new_axes:
            steps.append(ViewStep("expand_dims", (tuple(self.new_axes),)))
        if is_basic:
            is_element = not self.at and not self.has_ellipsis
            from_array = any(each.from_array for _, each in self.selected)
            return Place(tuple(steps), is_element, from_array and not is_element)
        at = self.runs[0] if len(self.runs) == 1 else 0
        is_mask = self.entries == 1 and len(self.masks) + self.known_masks == 1
        if self.masks:
            if self.arrays or len(self.masks) > 1:
                raise refuse(
                    NUMPY_OPTION,
                    "a mask whose elements are not known beside another index array",
                    "use np.where",
                )
            ((mask, axis),) = self.masks
            return Place(tuple(steps), arrays=Mask(mask, axis, at, is_mask))
        values, axes = zip(*self.arrays, strict=True)
        if len(values) >= MOST_AXES:
            raise IndexError(
                "when no subspace is given, the number of index arrays cannot be above "
                f"{MOST_AXES - 1}, but {len(values)} index arrays found"
            )
        return Place(tuple(steps), arrays=IndexArrays(values, axes, at, is_mask))


def check_masked_source(rank: int) -> None:
    """Raise NumPy's error for a source that an array of its own shape as a mask cannot take."""
    if rank > 1:
        np.zeros((2, 2))[np.ones((2, 2), bool)] = np.zeros((1,) * rank)


def _select(kind: ArrayType, axis: int, at: At) -> ViewStep:
    """The view at one index of an axis."""
    size = kind.shape[axis]
    if isinstance(at.index, Value):
        return ViewStep("dynamic_select", (_in_bounds_or_raised(at.index, size, axis), axis))
    session, dim = current(), dim_of(at.index, "an index")
    if not session.varies(dim) and not session.varies(size):
        return ViewStep("select", (axis, _in_bounds(at.index, axis, size)))
    place = place_in_bounds(session, dim, size)
    if place is not None:
        return ViewStep("select", (axis, place))
    if isinstance(dim, int) and counted_in(size):  # as a rule there is such an element
        there = Guard(size, ">=", -dim if dim < 0 else dim + 1)
        if there.holds_now() and guard(there.left, there.relation, there.right):
            return ViewStep("select", (axis, size + dim if dim < 0 else dim))
    index: Any = operand(at.index)
    if in_bounds_from_either_end(session, dim, size):
        from_back = session.record("py_int", session.record("py_less", index, Literal(0)))
        back = session.record("py_multiply", from_back, session.size_operand(size))
        return ViewStep("dynamic_select", (session.record("py_add", index, back), axis))
    return ViewStep("dynamic_select", (_in_bounds_or_raised(index, size, axis), axis))


def _in_bounds_or_raised(index: Value, size: Dim, axis: int) -> Value:
    index = handled_if_outside(index, size) if current().handles else index
    return checked(index, size, axis)


def checked(index: Value, size: Dim, axis: int | None) -> Value:
    """The index, or each of an array of them, counted from the front; of all elements without axis.

    What is out of bounds raises: here if its elements are known, else at run time.
    """
    known = known_array(index)
    if known is not None and isinstance(size, int):
        wrapped = kernel_of("wrap_index")(known, size, axis)
        is_it = index.type.dtype == wrapped.dtype and np.array_equal(known, wrapped)
        return index if is_it else constant(wrapped)
    if counted_in(size):
        guard(size, ">=", 1)  # native code reads element 0 in place of those out of bounds
    return current().value("wrap_index", index, size, axis=axis)


def _slice_spec(entry: slice, dim: Dim) -> SliceSpec:
    found: SliceSpec | None = window(entry.start, entry.stop, entry.step, dim)
    if found is not None:
        return found
    start, stop, step = (
        None if bound is None else _slice_bound(bound)
        for bound in (entry.start, entry.stop, entry.step)
    )
    return normalize_slice(start, stop, step, dim)


def _slice_bound(bound: object) -> Dim:
    if type(bound) is not int and not hasattr(bound, "__index__"):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    found: Dim = dim_of(bound, "a slice bound")
    return found


def _in_bounds(entry: object, axis: int, dim: Dim) -> Dim:
    index: Dim = dim_of(entry, "an index")
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


def check_without_gaps(target: Value) -> None:
    """Refuse what moves whole elements in NumPy, with them the bytes that no field has."""
    if has_gaps(target.type.dtype):
        raise refuse(NUMPY_OPTION, "what moves records with gaps in place", "work on a copy")


def assign(value: Value, source: object, casting: str | None = None) -> None:
    """``x[...] = source``: leading dims of size 1 that ``x`` has not are dropped, as in NumPy.

    ``casting`` is that of ``np.copyto``, which casts where an assignment makes ints of floats.
    """
    if isinstance(source, Traced):
        source = source._stored_as(value.type.dtype)
    given = operand(source)
    if casting is None:
        given, casting = as_stored(given, value.type.dtype), "unsafe"
    check_fits(source, value.type.dtype)
    extra = given.type.rank - value.type.rank
    session = current()
    if extra > 0 and all(is_one(dim) for dim in given.type.shape[:extra]):
        given = session.record("squeeze", given, tuple(range(extra)))
    session.record("copy_", value, given, casting=casting)


def assign_element(value: Value, source: Any) -> None:
    """``x[i] = source`` where ``x[i]`` is one element: arrays are none, as far as NumPy says so."""
    if isinstance(source, Traced):
        source = source._stored_as(value.type.dtype)
    rank = operand(source).type.rank if has_traced(source) else np.ndim(source)
    if rank and value.type.dtype == np.bool_:
        raise refuse(NUMPY_OPTION, "an array whose truth is stored in an element", "use bool(x)")
    if rank:
        np.zeros((1,))[0] = np.zeros((1,) * rank)  # raises what NumPy raises
    assign(value, source)


def as_stored(given: Operand, dtype: np.dtype, *, each: bool = False) -> Operand:
    """A scalar that goes into elements of this dtype; raises what the assignment raises.

    Python makes an int of a number that goes into integers, which fails for nan, and must fit.
    NumPy's are cast instead if the integers are unsigned, or ``each`` is put at a place of its own.
    """
    if isinstance(given, Literal):
        quietly(operator.setitem, np.zeros((), dtype), ..., given.value)
        return given
    kind = given.type
    if isinstance(kind, ScalarType) and kind.dtype.kind == "c" and not kind.weak:
        if dtype.kind == "i" and not each:  # Python makes an int of its real part
            warn_of_dropped_parts(current())
            return as_stored(operand(wrap(given).real), dtype)
        return given
    if not isinstance(kind, ScalarType) or dtype.kind not in "iu" or kind.dtype.kind not in "fiu":
        return given
    if kind.dtype.kind in "iu" and (kind.weak or np.can_cast(kind.dtype, dtype)):
        return given
    is_cast = not kind.weak and (each or dtype.kind == "u")
    if is_cast:
        return given
    may_raise = kind.dtype.kind == "f" or kind.dtype == np.uint64
    return current().value("try_int" if may_raise else "py_int", given)
