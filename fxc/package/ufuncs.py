"""How a ufunc lies in memory: NumPy's ABI, which its public headers give. Needs only NumPy."""

from __future__ import annotations

import ctypes

import numpy as np


class UFuncLayout(ctypes.Structure):
    """The start of NumPy's PyUFuncObject."""

    _fields_ = (
        ("head", ctypes.c_byte * object.__basicsize__),
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
        ("reserved", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("types", ctypes.c_void_p),
    )


def layout_of(ufunc: np.ufunc) -> UFuncLayout:
    """The memory of a ufunc."""
    return UFuncLayout.from_address(id(ufunc))


def lies_as_known(ufunc: np.ufunc) -> bool:
    """Whether what a ufunc says of itself stands where it is expected."""
    lies = layout_of(ufunc)
    found = lies.nin, lies.nout, lies.nargs, lies.ntypes, lies.name
    known = ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.ntypes, ufunc.__name__.encode()
    return found == known
