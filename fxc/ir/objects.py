"""Where CPython and NumPy keep things: byte offsets into their objects."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

REFERENCES = 0  # how many there are, in every object
HEADER = object.__basicsize__  # of every object
OBJECT_TYPE = HEADER - 8
ARRAY_DATA = HEADER  # a pointer to the first element; the start of PyArrayObject is NumPy's ABI
ARRAY_NDIM = HEADER + 8
ARRAY_DIMS = HEADER + 16
ARRAY_STRIDES = HEADER + 24
ARRAY_BASE = HEADER + 32
ARRAY_DTYPE = HEADER + 40
ARRAY_FLAGS = HEADER + 48
ARRAY_WEAK_REFERENCES = HEADER + 56
DTYPE_METADATA = HEADER + 40  # of a dtype of NumPy 2
SCALAR_VALUE = HEADER  # of NumPy's scalars, and of Python's floats and complex numbers
BYTES_DATA = bytes.__basicsize__ - 1  # the first byte itself
SEQUENCE_SIZE = HEADER  # of a tuple or list
TUPLE_ITEMS = tuple.__basicsize__  # the first item itself
LIST_ITEMS = HEADER + 8  # a pointer to the first item
TYPE_SIZE = HEADER + 16  # of a type's objects; see Note [Vectorcall]
TYPE_VECTORCALL = HEADER + 40  # where, from an object's start, the function for its calls is
TYPE_FLAGS = HEADER + 152
TYPE_GET = HEADER + 256  # the function behind ``__get__``
OWN_DATA = 0x4  # flags of arrays: memory of its own
C_ORDER = 0x1
C_ARRAY = C_ORDER | 0x100 | 0x400  # also aligned, and writeable
OWN_ARRAY = OWN_DATA | C_ARRAY
HAS_VECTORCALL, IS_BASE, IS_METHOD = 1 << 11, 1 << 10, 1 << 17  # flags of types
IS_TUPLE = 1 << 26

_pointer_at = ctypes.c_void_p.from_address
_size_at = ctypes.c_ssize_t.from_address


def address_of(array: np.ndarray) -> int:
    """Where the array's first element is. ``array.ctypes.data`` says the same ten times slower."""
    return _pointer_at(id(array) + ARRAY_DATA).value or 0


def is_writeable(array: np.ndarray) -> bool:
    """``array.flags.writeable``, of which NumPy warns where the array has been broadcast."""
    return bool(array.flags.num & 0x400)


@cache
def references_are_as_known() -> bool:
    """Whether an argument that is a variable of the caller is counted twice."""
    value = object()
    count = _size_at(id(value) + REFERENCES).value
    return sys.version_info < (3, 14) and count == 1


@cache
def types_are_as_known() -> bool:
    """Whether types of this Python are what the offsets above say."""
    if sys.version_info >= (3, 14) or hasattr(sys, "gettotalrefcount"):
        return False  # a debug build takes no place that lies before an object
    find = ctypes.pythonapi.PyVectorcall_Function
    find.restype, find.argtypes = ctypes.c_void_p, (ctypes.py_object,)
    made = type("Made", (), {"__slots__": ("x",)})
    return all(
        _size_at(id(kind) + TYPE_SIZE).value == kind.__basicsize__
        and _size_at(id(kind) + TYPE_FLAGS).value == kind.__flags__
        and bool(kind.__flags__ & IS_BASE) == (kind is made)
        and _pointer_at(id(kind) + TYPE_GET - 16).value == id(kind.__base__)
        and _size_at(id(kind) + TYPE_GET + 16).value == kind.__dictoffset__
        for kind in (bool, FunctionType, made)
    ) and all(
        type(each).__flags__ & HAS_VECTORCALL
        and find(each)
        == _pointer_at(id(each) + _size_at(id(type(each)) + TYPE_VECTORCALL).value).value
        for each in (address_of, len)
    )


@cache
def objects_are_as_known() -> bool:
    """Whether objects of this Python and this NumPy are what the offsets above say."""
    array = np.empty((2, 3), np.float32).T
    fields: dict[Any, dict[int, int]] = {
        ctypes.c_int: {ARRAY_NDIM: 2, ARRAY_FLAGS: array.flags.num},
        ctypes.c_void_p: {OBJECT_TYPE: id(np.ndarray), ARRAY_DTYPE: id(array.dtype)},
    }
    numbers = [1.25, complex(1.5, 2.5), *(np.ones((), kind)[()] for kind in "?bhilqBHILQfdFD")]
    return (
        object.__basicsize__ == 16
        and all(
            kind.from_address(id(array) + offset).value == value
            for kind, values in fields.items()
            for offset, value in values.items()
        )
        and all(
            ctypes.string_at(id(number) + SCALAR_VALUE, np.asarray(number).nbytes)
            == np.asarray(number).tobytes()
            for number in numbers
        )
    )


@cache
def results_are_as_known() -> bool:
    """Whether objects that a call has given are what the offsets above say."""
    listed, several = [_size_at], (_size_at, _size_at)
    array = np.empty((2, 3))
    view = array[1:]
    told = np.dtype(float, metadata={"told": 1})
    return (
        objects_are_as_known()
        and types_are_as_known()
        and references_are_as_known()
        and _size_at(id(listed) + SEQUENCE_SIZE).value == 1
        and _size_at(id(several) + SEQUENCE_SIZE).value == 2
        and _pointer_at(_pointer_at(id(listed) + LIST_ITEMS).value or 0).value == id(_size_at)
        and _pointer_at(id(several) + TUPLE_ITEMS + 8).value == id(_size_at)
        and bool(tuple.__flags__ & IS_TUPLE > list.__flags__ & IS_TUPLE)
        and bool(_pointer_at(id(told) + DTYPE_METADATA).value)
        and not _pointer_at(id(np.dtype(float)) + DTYPE_METADATA).value
        and _pointer_at(id(view) + ARRAY_BASE).value == id(array)
        and _size_at(_pointer_at(id(view) + ARRAY_STRIDES).value or 0).value == array.strides[0]
    )


def _references() -> int:
    """What ``sys.getrefcount`` gives of what a variable and one other object have, nobody else."""
    found = [object()]
    (part,) = found
    return sys.getrefcount(part)


HELD_ONCE = _references()
