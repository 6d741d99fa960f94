"""What an array is without its elements: sizes, dtype and flags; it has no truth and no number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from fxc.ir.error_kinds import ARRAY_MEMORY, ELEMENT_NEEDED, TEXT
from fxc.ir.later import import_later
from fxc.ir.size_guards import Guard
from fxc.ir.types import ArrayType
from fxc.ops.metas.layout import is_c_ordered, is_f_ordered

from ..numbers.traced_int import wrap_dim
from ..session.refusing import element_needed, refusal, refuse
from ..session.session import current
from ..values.operands import TracedValue, kind_of

# See Note [Rooms with one door].
base_of = import_later("fxc.capture.arrays.sharing", "base_of")
strides_of = import_later("fxc.capture.arrays.sharing", "strides_of")
set_writeable = import_later("fxc.capture.arrays.sharing", "set_writeable")

_SHORT = {
    "C": "c_contiguous",
    "F": "f_contiguous",
    "A": "aligned",
    "W": "writeable",
    "X": "writebackifcopy",
    "O": "owndata",
    "CA": "carray",
    "FA": "farray",
}


def _is_fortran_alone(kind: ArrayType) -> bool:
    return is_f_ordered(kind) and not is_c_ordered(kind)


# What a flag says of an array of a type; ``owndata`` is no matter of the type.
_BY_TYPE: Mapping[str, Callable[[ArrayType], bool]] = {
    "writeable": lambda kind: kind.writeable,
    "behaved": lambda kind: kind.writeable,
    "aligned": lambda kind: True,
    "writebackifcopy": lambda kind: False,
    "c_contiguous": is_c_ordered,
    "contiguous": is_c_ordered,
    "f_contiguous": is_f_ordered,
    "fortran": is_f_ordered,
    "forc": lambda kind: is_f_ordered(kind) or is_c_ordered(kind),
    "fnc": _is_fortran_alone,
    "carray": lambda kind: kind.writeable and is_c_ordered(kind),
    "farray": lambda kind: kind.writeable and _is_fortran_alone(kind),
}

_OF_PLACES = frozenset({"aligned", "behaved", "carray", "farray"})


class Flags:
    """What ``x.flags`` tells of a traced array."""

    _array: TracedValue

    def __init__(self, array: TracedValue) -> None:
        object.__setattr__(self, "_array", array)

    def __setattr__(self, name: str, value: object) -> None:
        if name != "writeable":
            raise refuse(ARRAY_MEMORY, f"an assignment to x.flags.{name}")
        set_writeable(self._array, value)

    def __setitem__(self, name: str, value: object) -> None:
        setattr(self, _SHORT.get(name, name.lower()), value)

    def __getitem__(self, name: str) -> bool:
        return bool(getattr(self, _SHORT.get(name, name.lower())))

    def __repr__(self) -> str:
        raise refuse(TEXT, "the text of x.flags")

    def __getattr__(self, name: str) -> object:
        if name == "owndata":
            return base_of(self._array) is None
        found = _BY_TYPE.get(name)
        if found is not None:
            kind = kind_of(self._array._value)
            root = kind_of(current().aliases.root(self._array._object))
            if name in _OF_PLACES and root.dtype.alignment < kind.dtype.alignment:
                raise refuse(ARRAY_MEMORY, f"x.flags.{name} of a view with larger elements")
            return found(kind)
        if name.startswith("__"):  # Python asks of any object what it may have
            raise AttributeError(name)
        raise refuse(ARRAY_MEMORY, f"x.flags.{name}")


class ArrayFacts(TracedValue):
    """What is known of a traced array while capturing, and what is asked in vain."""

    __slots__ = ()

    @property
    def _type(self) -> ArrayType:
        kind = self._value.type
        assert isinstance(kind, ArrayType)
        return kind

    @property
    def shape(self) -> tuple[Any, ...]:
        return tuple(map(wrap_dim, self._type.shape))

    @property
    def strides(self) -> tuple[Any, ...]:
        return tuple(map(wrap_dim, strides_of(self)))

    @property
    def ndim(self) -> int:
        return self._type.rank

    @property
    def size(self) -> Any:
        of_list = self._later
        return wrap_dim(self._type.size if of_list is None else kind_of(of_list.array).size)

    @property
    def dtype(self) -> np.dtype:
        return self._type.dtype

    @property
    def __numpy_dtype__(self) -> NoReturn:
        """What ``np.dtype`` asks for, from NumPy 2.4 on; of an array it makes none."""
        raise TypeError("Cannot construct a dtype from an array")

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def itemsize(self) -> int:
        return self._type.dtype.itemsize

    @property
    def nbytes(self) -> object:
        return wrap_dim(self._type.size * self._type.dtype.itemsize)

    def _need(self, what: str) -> Any:
        raise element_needed(what)

    def __bool__(self) -> bool:
        if not is_single(self._type):
            raise _ambiguous_truth(self._type.size)
        expected = None if self._type.rank else current().expected(self._value)
        if expected is not None:
            return expected
        return bool(self._need("a decision (if, while, and, or, not)"))

    def __float__(self) -> float:
        return float(self._need("float()"))

    def __int__(self) -> int:
        return int(self._need("int()"))

    def __complex__(self) -> complex:
        return complex(self._need("complex()"))

    def __index__(self) -> int:
        if self._type.rank or self._type.dtype.kind not in "iu":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(self._need("an index or a size"))

    def __array__(self, *args: object, **kwargs: object) -> np.ndarray:
        raise refusal(
            ELEMENT_NEEDED, "a function that NumPy does not dispatch needs the elements of an array"
        )


def is_single(kind: ArrayType) -> bool:
    """Whether an array has one element. Of sizes that are counted, or differ between iterations,
    that is demanded: NumPy raises where they are others.
    """
    session, open_dims = current(), [dim for dim in kind.shape if not isinstance(dim, int)]
    if not all(dim == 1 for dim in kind.shape if isinstance(dim, int)):
        return False
    if not all(map(session.varies, open_dims)):
        return False
    for dim in open_dims:
        session.assume(Guard(dim, "==", 1))
    return True


def _ambiguous_truth(size: object) -> Exception:
    if isinstance(size, int) and size == 0:
        return ValueError(
            "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that "
            "an array is not empty."
        )
    return ValueError(
        "The truth value of an array with more than one element is ambiguous. "
        "Use a.any() or a.all()"
    )
