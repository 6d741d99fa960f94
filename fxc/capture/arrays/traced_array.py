"""The array that the user's program sees while it is captured."""

from __future__ import annotations

import itertools
from abc import ABCMeta
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any

import numpy as np

from fxc.ir.error_kinds import ARRAY_MEMORY
from fxc.ir.graph import Value
from fxc.ir.later import import_later
from fxc.ir.types import ArrayType

from ..numbers.traced_int import wrap_dim
from ..session.exceptions import noting
from ..session.refusing import refusal, refuse
from ..session.session import ITEM, current, current_or_none
from ..values.above import above
from ..values.operands import TracedValue, kind_of, operand, record, taken_for, wrap
from ..values.protocols import as_numpys
from .array_facts import ArrayFacts, Flags, is_single
from .dtypes import CASTINGS, dtype_of, order_of
from .imported_later import IndexArrays, Place, apply_steps, assign, locate
from .ufuncs import call_ufunc, give_operators, write_in_place

# See Note [Rooms with one door].
element = import_later("fxc.capture.arrays.elements", "element")
flat_of = import_later("fxc.capture.arrays.elements", "TracedFlat")
write_element = import_later("fxc.capture.arrays.elements", "write_element")
numpys_class = import_later("fxc.capture.session.classes", "numpys_class")
as_picked = import_later("fxc.capture.session.classes", "as_picked")
read_at_arrays = import_later("fxc.capture.arrays.advanced", "read")
write_at_arrays = import_later("fxc.capture.arrays.advanced", "write")
read_masked = import_later("fxc.capture.arrays.masked", "read")
write_masked = import_later("fxc.capture.arrays.masked", "write")
in_shape = import_later("fxc.capture.arrays.memory", "in_shape")
plain_key = import_later("fxc.capture.arrays.memory", "plain_key")
viewed = import_later("fxc.capture.arrays.memory", "view")
_resize = import_later("fxc.capture.arrays.memory", "resize")
base_of = import_later("fxc.capture.arrays.sharing", "base_of")
_setflags = import_later("fxc.capture.arrays.sharing", "setflags")
sort_in_place = import_later("fxc.capture.arrays.sorting", "sort_in_place")
partition_in_place = import_later("fxc.capture.arrays.sorting", "partition_in_place")
call_with_options = import_later("fxc.capture.arrays.ufunc_options", "call_with_options")
source_of = import_later("fxc.capture.arrays.sequences", "source_of")
assign_part = import_later("fxc.capture.arrays.shaping", "assign_part")
flatten = import_later("fxc.capture.arrays.shaping", "flatten")
imaginary_part = import_later("fxc.capture.arrays.shaping", "imaginary_part")
is_in_order = import_later("fxc.capture.arrays.shaping", "is_in_order")
real_part = import_later("fxc.capture.arrays.shaping", "real_part")
reshape = import_later("fxc.capture.arrays.shaping", "reshape")
swapaxes = import_later("fxc.capture.arrays.shaping", "swapaxes")
transpose = import_later("fxc.capture.arrays.shaping", "transpose")
to_python = import_later("fxc.capture.numbers.python_numbers", "to_python")

_OUTSIDE = "use the array outside of the compiled function"
_REFUSED = {
    "tofile": "write files outside of the compiled function",
    "dump": "write files outside of the compiled function",
    "dumps": "convert outside of the compiled function",
    "byteswap": "convert outside of the compiled function",
    **dict.fromkeys(("ctypes", "data", "getfield", "setfield"), _OUTSIDE),
}


class TracedArray(ArrayFacts):
    """Stands for an ``np.ndarray``: each operation on it is recorded in the graph."""

    __slots__ = ("_original", "_place")
    __array_priority__ = 1000.0
    # Which view of which array this is, for ``x[i] += v``, see __setitem__; a part by its name.
    _place: tuple[Any, Place | str] | None

    __class__ = taken_for(np.ndarray)

    @property
    def _object(self) -> Value:
        """Of another shape than what it shows, if the program has set that; see ``memory``."""
        original: Value = getattr(self, "_original", self._value)
        return original

    def _show(self, value: Value) -> None:
        self._original = self._object
        self._value = value

    @property
    def flags(self) -> Flags:
        current().aliases.check_warned(self._value, "x.flags")
        return Flags(self)

    setflags = _setflags

    @property
    def base(self) -> object:
        return base_of(self)

    @property
    def T(self) -> Any:
        return transpose(self)

    @property
    def flat(self) -> Any:
        return flat_of(self)

    @property
    def mT(self) -> object:
        if self.ndim < 2:
            raise ValueError("matrix transpose with ndim < 2 is undefined")
        return swapaxes(self, -1, -2)

    @property
    def real(self) -> Any:
        return self._part("real", real_part(self))

    @property
    def imag(self) -> Any:
        part = self._part("imag", imaginary_part(self))
        return _with_class(part, attrgetter("imag"), self)

    def _part(self, name: str, part: TracedArray) -> Any:
        if part is not self:
            part._place = (self._value, name)
        return part

    def __len__(self) -> int:
        if not self._type.rank:
            raise TypeError("len() of unsized object")
        return int(wrap_dim(self._type.shape[0]))

    def __iter__(self) -> Iterator[Any]:
        if not self._type.rank:
            raise TypeError("iteration over a 0-d array")
        places = itertools.count()  # as long as there are items: the program may set the shape
        return (self._item(i) for i in itertools.takewhile(self._has_item, places))

    def _has_item(self, i: int) -> bool:
        return bool(self._type.rank) and i < len(self)

    def _item(self, i: int) -> object:
        """An item that Python has taken one by one."""
        current().spend(ITEM)
        return self[i]

    # -------------------------------------------------------- what needs the elements

    def __repr__(self) -> str:
        if current_or_none() is None:  # a debugger may print traced arrays
            return f"<traced {self._type}>"
        return str(self._need("printing an array"))

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return str(self._need("printing an array"))

    def __hash__(self) -> int:
        raise TypeError("unhashable type: 'numpy.ndarray'")

    def __contains__(self, element: object) -> bool:
        return bool(self._need("'in'"))

    def __copy__(self, memo: object = None) -> object:
        return self.copy()

    __deepcopy__ = __copy__

    def item(self, *args: object) -> object:
        size = self._type.size
        if args == () and is_single(self._type):
            found = self[(0,) * self.ndim] if self.ndim else record("item", self._value)
        elif args and all(isinstance(x, int | np.integer) for x in args) and len(args) == self.ndim:
            found = self[args]
        elif len(args) == 1 and type(args[0]) is int and isinstance(size, int):
            found = self._at_flat_place(args[0], size)
        else:
            return self._need(".item()")
        number = to_python(found) if isinstance(found, TracedValue) else found.item()
        return self._need(".item() of what is no number") if number is None else number

    def _at_flat_place(self, place: int, size: int) -> object:
        """The element at a place in C order."""
        if not -size <= place < size:
            raise IndexError(f"index {place} is out of bounds for size {size}")
        shape = tuple(map(int, self.shape))
        key = tuple(map(int, np.unravel_index(place % size, shape))) if shape else ()
        return self[key] if key else record("item", self._value)

    def tobytes(self, order: object = "C") -> object:
        """The memory of a copy of the elements in C order."""
        if order not in ("C", None):
            raise refuse(ARRAY_MEMORY, "x.tobytes in another order than C's", "use x.T.tobytes()")
        from ..values.late import bytes_of, late

        return late(bytes, bytes_of, self)

    def tolist(self) -> object:
        return above().to_list(self)

    def _class(self) -> type:
        if not current().classes:
            return np.ndarray
        kind: type | None = numpys_class(current(), self._value)
        if kind is None:
            raise refuse(ARRAY_MEMORY, "the class of what may be of a subclass")
        return kind

    def _is_instance(self, kinds: type | tuple[type, ...]) -> bool:
        return issubclass(np.ndarray, kinds) or issubclass(self._class(), kinds)

    def _missing(self, name: str) -> AttributeError:
        """NumPy's error for an attribute that is not there; an array of a subclass may have it."""
        session, may_have = current_or_none(), name == "__dict__" or not name.startswith("__")
        has_classes = session is not None and session.classes and may_have
        if has_classes and numpys_class(session, self._value) is not np.ndarray:
            raise refuse(ARRAY_MEMORY, f"x.{name} of a subclass of arrays")
        return AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")

    def __getattr__(self, name: str) -> object:
        if name == "_value":
            return self._read()
        advice = _REFUSED.get(name)
        if advice is not None:
            raise refuse(ARRAY_MEMORY, f"x.{name}", f"{advice}")
        if not name.startswith("_") and hasattr(np.ndarray, name):
            raise refusal(ARRAY_MEMORY, f"x.{name} cannot be captured in this version of fxc")
        raise AttributeError(name) if name in TracedArray.__slots__ else self._missing(name)

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("_value", "_later", "_place", "_original"):
            object.__setattr__(self, name, value)
            return
        if name in ("real", "imag"):
            # ``x.imag += v`` ends with ``x.imag = view``, where view is x.imag, as in __setitem__.
            if value is not self and not (
                type(value) is TracedArray and value._is_at(self._value, name)
            ):
                assign_part(self, name, value)
            return
        if not hasattr(np.ndarray, name):
            raise self._missing(name)
        if name == "flat":
            self.flat[...] = value
            return
        if name == "shape":
            shown = in_shape(self._value, value)
            current().reshaped[self._object] = self
            self._show(shown)
            return
        raise refuse(ARRAY_MEMORY, f"an assignment to x.{name}", "use x[...] = v, or x.reshape")

    # -------------------------------------------------------- elements

    @noting
    def __getitem__(self, key: object) -> Any:
        place = locate(self._type, plain_key(key) if current().classes else key)
        if place.is_element:
            return element(wrap(self._value), place.steps)
        view = apply_steps(self._value, place.steps)
        if place.arrays is not None or place.is_copy:
            found = _picked(view, place)
            return as_picked(current(), self._value, found) if current().classes else found
        found = wrap(view)
        found._place = (self._value, place)
        return found

    @noting
    def __setitem__(self, key: object, source: object) -> None:
        place = locate(self._type, plain_key(key) if current().classes else key)
        # ``x[i] += v`` ends with ``x[i] = view``, where view is x[i]: nothing is left to do.
        is_own = type(source) is TracedArray and source._is_at(self._value, place)
        if is_own and self._type.writeable:
            return
        if place.is_element:
            write_element(wrap(self._value), place.steps, source)
            return
        view = apply_steps(self._value, place.steps)
        if isinstance(place.arrays, IndexArrays):
            write_at_arrays(view, place.arrays, source)
        elif place.arrays is not None:
            write_masked(view, place.arrays, source)
        else:
            is_list = isinstance(source, list | tuple)
            assign(view, source_of(source, kind_of(view)) if is_list else source)

    def __delitem__(self, key: object) -> None:
        raise ValueError("cannot delete array elements")

    def _is_at(self, base: object, place: Place | str) -> bool:
        known = getattr(self, "_place", None)
        return known is not None and known[0] is base and known[1] == place

    def fill(self, value: object) -> None:
        if operand(value).type.rank:
            raise refuse(ARRAY_MEMORY, "x.fill with an array", "use x[...] = value")
        assign(self._value, value)

    # -------------------------------------------------------- copies, shapes

    def copy(self, order: str = "C") -> Any:
        found = record("copy", self._value, order=order_of(order))
        return _with_class(found, np.ndarray.copy, self, order)

    def astype(
        self,
        dtype: object,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> Any:
        wanted, order = dtype_of(dtype), order_of(order, "K")
        if wanted == self._type.dtype and not copy and is_in_order(self._type, order):
            return self
        if casting not in CASTINGS:
            return above().called_as_is(np.ndarray.astype, (self, wanted, order, casting), {})
        found = record("astype", self._value, wanted, casting=casting, order=order)
        return _with_class(found, np.ndarray.astype, self, wanted, order, casting, subok)

    def reshape(self, *shape: object, order: str = "C", **options: Any) -> Any:
        if options:
            np.empty(()).reshape((), **options)  # raises: before NumPy 2.1 it takes no ``copy``
        wanted = shape[0] if len(shape) == 1 else shape
        return reshape(self, wanted, order, **options)

    def view(self, dtype: object = None, type: object = None) -> Any:
        return viewed(self._value, dtype, type)

    resize = _resize

    def flatten(self, order: str = "C") -> object:
        return _with_class(flatten(self, order), np.ndarray.flatten, self, order)

    def transpose(self, *axes: object) -> Any:
        wanted = axes[0] if len(axes) == 1 else axes or None
        return transpose(self, wanted)

    # -------------------------------------------------------- computations

    def put(self, indices: object, values: object, mode: str = "raise") -> None:
        as_numpys("put")(self, indices, values, mode)

    def compress(self, condition: object, axis: object = None, out: object = None) -> object:
        return as_numpys("compress")(condition, self, axis, out)

    def clip(
        self, min: object = None, max: object = None, out: object = None, **options: object
    ) -> object:
        return as_numpys("clip")(self, min, max, out, **options)

    def conjugate(self, *out: object) -> object:
        if out:
            return call_with_options(np.conjugate, "conjugate", (self, *out), {})
        return self if self._type.dtype.kind != "c" else call_ufunc("conjugate", self)

    conj = conjugate

    def __divmod__(self, other: object) -> Any:
        return call_ufunc("divmod", self, other)

    def __rdivmod__(self, other: object) -> Any:
        return call_ufunc("divmod", other, self)

    def sort(self, axis: object = -1, *args: object, **options: object) -> None:
        sort_in_place(self, axis, *args, **options)

    def partition(self, kth: object, axis: object = -1, *args: object, **options: object) -> None:
        partition_in_place(self, kth, axis, *args, **options)


def _with_class(found: object, method: Callable[..., object], *args: object) -> object:
    """What a method has given, with its class: see Note [Classes of arrays]."""
    return above().with_class(method, args, {}, found) if current().classes else found


def _picked(view: Value, place: Place) -> object:
    """The elements of a view at places that arrays say, or a copy of it."""
    if isinstance(place.arrays, IndexArrays):
        return wrap(read_at_arrays(view, place.arrays))
    if place.arrays is not None:
        return read_masked(view, place.arrays)
    return record("copy", view, order="K")


# Methods that are NumPy's functions of the same names: the array is the first argument.
_AS_FUNCTIONS = (
    "all any argmax argmin argpartition argsort choose cumprod cumsum diagonal dot max mean min "
    "nonzero prod ravel repeat round searchsorted squeeze std sum swapaxes take trace var"
)
for _name in _AS_FUNCTIONS.split():
    setattr(TracedArray, _name, as_numpys(_name))
give_operators(TracedArray, write_in_place)

# ``case [a, b]:`` takes arrays from NumPy 2.5 on, by a flag of their class, Py_TPFLAGS_SEQUENCE: a
# class in Python gets it where an abstract one that has it is told of it.
ABCMeta("_Matched", (), {"__abc_tpflags__": np.ndarray.__flags__ & 1 << 5}).register(TracedArray)
TracedValue._wrappers[ArrayType] = TracedArray
