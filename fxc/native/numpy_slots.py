"""NumPy's functions in C, by address: those of its table, inner loops of ufuncs, sorts of a dtype.

They stand at fixed places, which NumPy's public headers give. ``check_places`` looks whether this
NumPy has them there, before anything is assembled: a call to a wrong address is the end of the
process.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from fxc.ir.errors import InternalError
from fxc.ir.later import import_later
from fxc.package.builtins import (
    ABI_VERSION,
    ITEM_SIZE,
    KNOWN_ABI,
    NEW_ARRAY,
    RESIZE,
    SCALAR_MAKER,
    SET_BASE,
    numpy_function,
    numpy_table,
    pointers,
    there,
)

# Further places in NumPy's table of C functions, and in that of the functions of a dtype.
_NEW_COPY = 85  # PyArray_NewCopy
_UPDATE_FLAGS = 92  # PyArray_UpdateFlags
SET_HANDLER = 304  # PyDataMem_SetHandler
_USUAL_HANDLER = 306  # PyDataMem_DefaultHandler, a variable
_FUNCTIONS_OF = 365  # _PyDataType_GetArrFuncs
# The first ones of PyArray_ArrFuncs.sort and .argsort, of three each: "quicksort".
_SORTS = {"sort": 33, "argsort": 36}
_TYPES = {2: np.ndarray, 3: np.dtype, 10: np.generic, 31: np.float64, 34: np.complex128}


layout_of = import_later("fxc.package.ufuncs", "layout_of")
lies_as_known = import_later("fxc.package.ufuncs", "lies_as_known")


_kind = cache(ctypes.PYFUNCTYPE)  # of functions: each is a class


def usual_handler() -> object:
    """What says where the memory of arrays comes from, if the program says nothing (NEP 49)."""
    return ctypes.py_object.from_address(numpy_function(_USUAL_HANDLER)).value


def scalar_maker(kind: str) -> bytes:
    """What makes a NumPy scalar, and the dtype."""
    return pointers(numpy_function(SCALAR_MAKER), id(_kept_dtype(kind)))


@cache
def _kept_dtype(kind: str) -> np.dtype:
    """One object for all of native code, which has its address: NumPy makes those of dates anew."""
    return np.dtype(kind)


@cache
def inner_loop(name: str, kind: str) -> bytes:
    """Function and data pointer of a ufunc's inner loop for one dtype throughout, or of a sort."""
    if name in _SORTS:
        check_sorts(np.dtype(kind))
        return pointers(_sorting_function(name, np.dtype(kind)), 0)
    ufunc = getattr(np, name)
    lies = layout_of(ufunc)
    number = np.dtype(kind[0] + str(int(kind[1:]) // 8)).num
    raw = ctypes.string_at(lies.types, ufunc.ntypes * ufunc.nargs)
    for place in range(ufunc.ntypes):
        if raw[place * ufunc.nargs : (place + 1) * ufunc.nargs] == bytes([number] * ufunc.nargs):
            return loop_of_ufunc(ufunc, place)
    raise InternalError(f"np.{name} has no inner loop for {kind}")


def loop_of_ufunc(ufunc: Any, number: int) -> bytes:
    """Function and data pointer of one of the inner loops of a ufunc."""
    lies = layout_of(ufunc)
    data = lies.data[number] if lies.data else None
    return pointers(there(lies.functions[number], f"loop of {ufunc.__name__}"), data or 0)


def _sorting_function(name: str, dtype: np.dtype) -> int:
    find = _kind(ctypes.c_void_p, ctypes.py_object)(numpy_function(_FUNCTIONS_OF))
    functions = ctypes.cast(find(dtype), ctypes.POINTER(ctypes.c_void_p))
    return there(functions[_SORTS[name]], f"{name} of {dtype}")


# -- whether they are there


def _demand(holds: bool, what: str) -> None:
    if not holds:
        raise ImportError(f"NumPy {np.__version__} is not one that fxc knows: {what}")


def check_places() -> None:
    """Look at what only holds data first, then call what has to be there if that is right.

    Raises ``ImportError`` if something is not where this module calls it.
    """
    from fxc.ir.objects import objects_are_as_known  # once, by who compiles

    table = numpy_table()
    _demand(objects_are_as_known(), "its arrays and scalars lie otherwise")
    for place, kind in _TYPES.items():
        _demand(table[place] == id(kind), f"{kind.__name__} is not entry {place} of its table")
    version = ctypes.CFUNCTYPE(ctypes.c_uint)(numpy_function(ABI_VERSION))()
    _demand(version == KNOWN_ABI, f"its ABI is {version:#x}")
    _check_functions()
    for name in ("add", "matmul", "sin"):
        _demand(lies_as_known(getattr(np, name)), f"np.{name} lies otherwise")
    _check_loop()
    for dtype in map(np.dtype, "bBhHiIlLfd"):
        found_size = ctypes.c_ssize_t.from_address(id(dtype) + ITEM_SIZE).value
        _demand(found_size == dtype.itemsize, f"the size of {dtype} lies otherwise")


def _check_functions() -> None:
    """A new array over memory, a copy of it of another size, its flags, a scalar of an element."""
    memory = np.arange(6.0)
    dtype, sizes, steps = memory.dtype, (ctypes.c_ssize_t * 2)(2, 3), (ctypes.c_ssize_t * 2)(8, 16)
    place, whole = ctypes.c_void_p, ctypes.c_int
    make = _kind(
        ctypes.py_object,
        ctypes.py_object,
        ctypes.py_object,
        whole,
        place,
        place,
        place,
        whole,
        place,
    )
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(dtype))  # the function takes it
    new = make(numpy_function(NEW_ARRAY))
    array = new(np.ndarray, dtype, 2, ctypes.addressof(sizes), ctypes.addressof(steps),
                memory.ctypes.data, 0x400, None)  # fmt: skip
    known = memory.reshape(3, 2).T
    _demand(np.array_equal(array, known) and array.strides == known.strides, "NewFromDescr")
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(memory))  # this one, too
    hold = _kind(whole, ctypes.py_object, ctypes.py_object)(numpy_function(SET_BASE))
    _demand(hold(array, memory) == 0 and array.base is memory, "SetBaseObject")
    copy = _kind(ctypes.py_object, ctypes.py_object, ctypes.c_int)
    made = copy(numpy_function(_NEW_COPY))(array, 0)
    _demand(np.array_equal(made, known) and made.flags.c_contiguous, "NewCopy")
    wanted = (ctypes.c_ssize_t * 2)(ctypes.addressof(sizes), 1)
    resize = _kind(ctypes.py_object, ctypes.py_object, place, whole, whole)
    resize(numpy_function(RESIZE))(made, ctypes.addressof(wanted), 0, 0)
    _demand(np.array_equal(made, known.ravel()[:2]) and made.flags.owndata, "Resize")
    update = _kind(None, ctypes.py_object, ctypes.c_int)
    update(numpy_function(_UPDATE_FLAGS))(array, 0x103)
    _demand(array.flags.f_contiguous and not array.flags.c_contiguous, "UpdateFlags")
    scalar = _kind(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    found = scalar(numpy_function(SCALAR_MAKER))(memory.ctypes.data + 8, dtype, None)
    _demand(type(found) is np.float64 and found == 1.0, "Scalar")
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
    _demand(name(usual_handler()) == b"mem_handler", "DefaultHandler")


_Loop = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)


def _check_loop() -> None:
    """The inner loop of ``np.add``: ``x + x`` of three numbers."""
    x, out = np.arange(3.0), np.zeros(3)
    address, data = (
        int.from_bytes(inner_loop("add", "f64")[at : at + 8], "little") for at in (0, 8)
    )
    arrays = (ctypes.c_void_p * 3)(x.ctypes.data, x.ctypes.data, out.ctypes.data)
    size, steps = (ctypes.c_ssize_t * 1)(3), (ctypes.c_ssize_t * 3)(8, 8, 8)
    given = [ctypes.addressof(arrays), ctypes.addressof(size), ctypes.addressof(steps)]
    _Loop(address)(*given, data)
    _demand(np.array_equal(out, x + x), "the inner loops of np.add")


def check_sorts(dtype: np.dtype) -> None:
    """As ``check_places`` for the functions of one dtype, before one of them is used."""
    numbers = np.array([3, 1, 2], dtype)
    order = np.arange(3)
    argsort = _kind(
        ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p
    )
    argsort(_sorting_function("argsort", dtype))(numbers.ctypes.data, order.ctypes.data, 3, None)
    _demand(order.tolist() == [1, 2, 0], f"argsort of {dtype}")
    sort = _kind(ctypes.c_int, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p)
    sort(_sorting_function("sort", dtype))(numbers.ctypes.data, 3, None)
    _demand(numbers.tolist() == [1, 2, 3], f"sort of {dtype}")
