"""Elements of a traced array: numbers, records (``p[i]``), and all in C order (``x.flat``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fxc.ir.boxed_dtypes import is_character
from fxc.ir.error_kinds import ARRAY_MEMORY, IDENTITY, OPERAND, OVERLAPPING_WRITE
from fxc.ir.graph import Operand, Value
from fxc.ir.later import import_later
from fxc.ir.signature import Steps, ViewStep
from fxc.ir.types import PY_INT, ArrayType
from fxc.ops.metas.layout import is_c_ordered
from fxc.ops.metas.probing import fail_in_numpy

from ..numbers.traced_int import TracedInt, wrap_dim
from ..session.refusing import refuse
from ..session.session import current
from ..values.above import above
from ..values.operands import Traced, TracedValue, kind_of, operand, record, taken_for, wrap
from ..values.operator_methods import BINARY, COMPARISONS
from ..values.protocols import TakesFunctions
from .imported_later import apply_steps, are_names, assign, assign_element, checked, late_element
from .ufuncs import are_records, binary, compared

# See Note [Rooms with one door].
broadcast_to = import_later("fxc.capture.arrays.shaping", "broadcast_to")
flatten = import_later("fxc.capture.arrays.shaping", "flatten")
ravel = import_later("fxc.capture.arrays.shaping", "ravel")
reshape = import_later("fxc.capture.arrays.shaping", "reshape")

# ------------------------------------------------------------------ numbers and records


def element(array: Any, steps: Steps) -> object:
    """The element of an array at a place: a number, a character, or a record."""
    view = apply_steps(array._value, steps)
    if kind_of(view).rank:  # a field that has several elements
        return wrap(view)
    if is_character(kind_of(view).dtype):
        return above().character(wrap(view))
    if kind_of(view).dtype.kind == "U":
        return late_element(wrap(view))
    is_number = kind_of(view).dtype.names is None
    return record("item", view) if is_number else TracedVoid(array, steps, wrap(view))


def write_element(array: Any, steps: Steps, source: Any) -> None:
    """Write to it."""
    view = apply_steps(array._value, steps)
    if kind_of(view).rank:
        assign(view, source)
        return
    names = kind_of(view).dtype.names
    is_same = type(source) is TracedVoid and source.dtype == kind_of(view).dtype
    if names is None or not (is_same or (type(source) is tuple and len(source) == len(names))):
        assign_element(view, source)
        return
    parts = source._stored_parts() if is_same else source
    for name, part in zip(names, parts, strict=True):
        write_element(array[name], steps, part)


class TracedVoid(TakesFunctions, Traced):
    """Stands for an ``np.void`` with fields: the element of ``array`` at a place, which ``cell``
    shows as an array of rank 0. Native code finds a field of it in the field of all records. One
    that a branch or a loop has ``joined`` may be the same object as another one: of records of one
    array only the indices differ, others are joined by their cells.
    """

    __slots__ = ("_array", "_cell", "_joined", "_steps")
    _written_by = "_void"

    def __init__(self, array: Any, steps: Steps, cell: Any, joined: bool = False) -> None:
        self._array = array
        self._steps = steps
        self._cell = cell
        self._joined = joined

    __class__ = taken_for(np.void)

    @property
    def dtype(self) -> Any:
        return self._cell.dtype

    def _stored_as(self, dtype: np.dtype) -> Any:
        return self._cell if dtype == self.dtype else self

    @property
    def has_place(self) -> bool:
        """Whether indices alone say which element of the array it is."""
        return bool(self._steps) and all(step.op in _AXIS_OF for step in self._steps)

    def _structure_keys(self) -> tuple[Any, ...]:
        if self.has_place:
            return tuple((self._array._value, _axis_in(step)) for step in self._steps)
        return self._wider_keys()  # type: ignore[no-any-return]

    @classmethod
    def _of_structure(cls, keys: tuple[Any, ...], items: Any) -> TracedVoid:
        if type(keys[0]) is not tuple:
            (cell,) = items
            return TracedVoid(cell, (), cell, joined=True)
        whole = keys[0][0]
        steps = tuple(_step(axis, at) for (_, axis), at in zip(keys, items, strict=True))
        return TracedVoid(wrap(whole), steps, wrap(apply_steps(whole, steps)), joined=True)

    @classmethod
    def _items_by(cls, keys: tuple[object, ...], x: Any) -> tuple[Any, ...]:
        return tuple(map(_place_in, x._steps)) if type(keys[0]) is tuple else (x._cell,)

    def _wider_keys(self) -> Any:
        return (self.dtype,)

    def _operand(self) -> Operand:
        return self._cell._operand()  # type: ignore[no-any-return]  # NumPy makes a view, too

    def _refused(self, *args: object) -> Any:
        raise refuse(OPERAND, "a record as an operand", "leave it in an array: x[i : i + 1]")

    __array__ = __bool__ = __hash__ = _refused

    def __getattr__(self, name: str) -> object:
        if hasattr(np.void, name):
            raise refuse(OPERAND, f"{name} of a record", "use its fields")
        raise AttributeError(f"'numpy.void' object has no attribute {name!r}")

    def _field(self, key: object) -> object:
        names = self.dtype.names or ()
        if isinstance(key, int | np.integer) and not isinstance(key, bool):
            if not -len(names) <= key < len(names):
                fail_in_numpy(np.zeros((), self.dtype)[()].__getitem__, int(key))
            key = names[key]
        if not isinstance(key, str) and not are_names(key):
            raise refuse(OPERAND, "this key of a record", "read fields by their names")
        return self._array[key]

    def __getitem__(self, key: object) -> Any:
        return element(self._field(key), self._steps)

    def __setitem__(self, key: object, value: object) -> None:
        write_element(self._field(key), self._steps, value)

    def __eq__(self, other: object) -> Any:
        return _cells_compared("equal", self, other)

    def __ne__(self, other: object) -> Any:
        return _cells_compared("not_equal", self, other)

    def __len__(self) -> int:
        return len(self.dtype.names or ())

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def _stored_parts(self) -> Iterator[Any]:
        """The fields, those that are texts as arrays of rank 0."""
        for name in self.dtype.names or ():
            yield (self._cell if self.dtype[name].kind in "SU" else self)[name]

    def item(self) -> object:
        return tuple([part.item() for part in self])

    tolist = item

    def copy(self) -> TracedVoid:
        copied = self._cell.copy()
        return TracedVoid(copied, (), copied)


_AXIS_OF = {"select": 0, "dynamic_select": 1}  # the argument that is the axis


def _axis_in(step: ViewStep) -> int:
    axis: int = step.args[_AXIS_OF[step.op]]
    return axis


def _place_in(step: ViewStep) -> object:
    """The index of an axis as a number of Python's."""
    index = step.args[1 - _AXIS_OF[step.op]]
    if not isinstance(index, Value):
        return wrap_dim(index)
    return wrap(index) if index.type == PY_INT else record("py_int", index)


def _step(axis: int, at: object) -> ViewStep:
    if type(at) is int:
        return ViewStep("select", (axis, at))
    return ViewStep("dynamic_select", (operand(at), axis))


def check_distinct(x: object, y: object) -> None:
    """Refuse two records that may be one object where it counts which one they are."""
    if type(x) is type(y) is TracedVoid and x is not y and (x._joined or y._joined):
        raise refuse(IDENTITY, "which of two records it is after a branch or a loop,")


def _cells_compared(name: str, record: TracedVoid, other: object) -> object:
    cell = other._cell if type(other) is TracedVoid else other
    return compared(name, record._cell, cell) if are_records(record, cell) else record._refused()


for _name in (*BINARY, *COMPARISONS):
    if _name not in ("eq", "ne"):
        setattr(TracedVoid, f"__{_name}__", TracedVoid._refused)


# ------------------------------------------------------------------ x.flat

_BAD_KEY = (
    "only integers, slices (`:`), ellipsis (`...`) and integer or boolean arrays are valid indices"
)


_ROW = np.arange(2)
_IS_THE_ARRAY = _ROW.flat[()] is _ROW  # before NumPy 2.4


class TracedFlat(Traced):
    """Stands for ``np.flatiter``: reads are copies, writes repeat a source that is too short."""

    __slots__ = ("_array", "_at", "_whole")

    def __init__(self, array: Any) -> None:
        self._array = array
        self._at = 0
        self._whole: Any = None  # what a loop runs over

    def _counted(self) -> object:
        if self._whole is None and not self._at:
            self._whole = above().elements_in_order(self._array)
        return self._whole

    __class__ = taken_for(np.flatiter)

    def _operand(self) -> Operand:
        return self.copy()._operand()  # type: ignore[no-any-return]

    @property
    def base(self) -> object:
        return self._array

    @property
    def index(self) -> int:
        return self._at

    def copy(self) -> Any:
        return flatten(self._array)

    def __len__(self) -> int:
        return int(self._array.size)

    def __iter__(self) -> TracedFlat:
        return self

    def __next__(self) -> Any:
        if self._whole is not None and self._whole.used:
            raise refuse(ARRAY_MEMORY, "x.flat behind a loop over it", "use x.flat anew")
        if self._at >= len(self):
            raise StopIteration
        self._at += 1
        return self._array[self._place(self._at - 1)]

    def __array__(self, *args: object, **kwargs: object) -> np.ndarray:
        raise refuse(ARRAY_MEMORY, "an array made of x.flat", "use x.ravel() or x.flatten()")

    def __getattr__(self, name: str) -> object:
        if hasattr(np.flatiter, name):
            raise refuse(ARRAY_MEMORY, f"x.flat.{name}")
        raise AttributeError(f"'numpy.flatiter' object has no attribute {name!r}")

    # -------------------------------------------------------- reading

    def __getitem__(self, key: object) -> Any:
        key = _single(key)
        if isinstance(key, tuple) and not key and _IS_THE_ARRAY:
            return self._array
        if key is Ellipsis or isinstance(key, tuple):
            return self.copy()
        if isinstance(key, slice):
            return self._as_row()[key].copy()
        if _is_number(key):
            row, at = self._element(key)
            return row[at]
        return self.copy()[_checked(key)]

    def _as_row(self) -> Any:
        """The elements as an array of one axis: a view if the array is in C order."""
        in_order = is_c_ordered(self._array._type)
        return reshape(self._array, -1) if in_order else self.copy()

    def _element(self, index: Any) -> tuple[Any, Any]:
        """The element of this number, as an array and where in it."""
        size = self._array.size
        if isinstance(index, TracedValue):
            place = wrap(checked(index._value, self._array._type.size, None))
            in_order = is_c_ordered(self._array._type)
            return (self._as_row(), place) if in_order else (self._array, self._place(place))
        found: Any = index if type(index) is TracedInt else index.__index__()
        if found < -size or found >= size:
            raise IndexError(f"index {index} is out of bounds for size {size}")
        return self._array, self._place(found + size if found < 0 else found)

    def _place(self, number: Any) -> tuple[Any, ...]:
        """Where in the array the element of this number is."""
        rest = number
        places: list[Any] = []
        for dim in reversed(self._array.shape):
            places.append(rest % dim)
            rest = rest // dim
        return tuple(reversed(places))

    # -------------------------------------------------------- writing

    def __setitem__(self, key: Any, source: object) -> None:
        key = _single(key)
        if not self._array._type.writeable:
            raise ValueError("underlying array is read-only")
        if isinstance(key, tuple):
            raise IndexError("Assigning to a flat iterator with a 0-D index is not supported")
        if _is_number(key):
            if operand(source).type.rank:
                raise ValueError("Error setting single item of array.")
            row, at = self._element(key)
            row[at] = source
            return
        self.write(slice(None) if key is Ellipsis else key, source)

    def write(self, key: Any, source: object) -> None:
        """Write to the elements of a slice, or of an index array."""
        if not isinstance(key, slice):
            key = _checked(key)
        row = self._as_row()
        value = operand(source)
        if value.type.rank:
            source = self._repeated(source, value, row[key].size)
            if source is None:
                return
        row[key] = source
        if not is_c_ordered(self._array._type):
            self._array[...] = reshape(row, self._array.shape)

    def _repeated(self, source: Any, value: Operand, count: Any) -> Any:
        """The source for so many elements; None if it has none."""
        kind, session = value.type, current()
        assert isinstance(kind, ArrayType)
        assert isinstance(value, Value)
        same_memory = session.aliases.may_share_memory(value, self._array._value)
        if same_memory and kind.dtype == self._array.dtype:
            raise refuse(
                OVERLAPPING_WRITE,
                "an assignment to x.flat from x itself, element by element,",
                "copy the source first",
            )
        row, size = ravel(wrap(value)), wrap_dim(kind.size)
        if size == 0:
            return None
        if size >= count:
            return row[:count]
        times = -(-count // size)
        return reshape(broadcast_to(row, (times, size)), -1)[:count]


def _single(key: object) -> object:
    """The one index in a tuple."""
    if not isinstance(key, tuple) or isinstance(key, Traced) or not key:
        return key
    if len(key) > 1:
        fail_in_numpy(np.zeros(1).flat.__getitem__, (0,) * len(key))
    return key[0]


def _is_number(key: object) -> bool:
    if isinstance(key, TracedValue):
        return key._value.type.rank == 0 and key._value.type.dtype.kind in "iu"
    if isinstance(key, np.ndarray):
        return key.ndim == 0 and key.dtype.kind in "iu"
    return isinstance(key, int | np.integer | TracedInt) and not isinstance(key, bool)


def _checked(key: object) -> Any:
    """An index by an array or a list; anything else is an error, or will be."""
    if key is None or isinstance(key, str):
        raise IndexError(_BAD_KEY)
    if isinstance(key, list) or (hasattr(key, "ndim") and key.ndim > 0):
        return key
    raise refuse(ARRAY_MEMORY, f"x.flat with an index that is a {type(key).__name__}")


def _compared_flat(name: str) -> Callable[[TracedFlat, Any], Any]:
    of_arrays = binary(name)[0]
    return lambda self, other: of_arrays(self.copy(), other)


for _name, _operator in COMPARISONS.items():
    setattr(TracedFlat, f"__{_name}__", _compared_flat(_operator))
