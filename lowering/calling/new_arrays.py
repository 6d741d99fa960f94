"""New arrays in native functions for calls, or spent ones in their place.

See Note [Spent arrays].
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fxc.ir.objects import (
    ARRAY_BASE,
    ARRAY_DIMS,
    ARRAY_DTYPE,
    ARRAY_FLAGS,
    ARRAY_NDIM,
    ARRAY_STRIDES,
    ARRAY_WEAK_REFERENCES,
    OBJECT_TYPE,
    REFERENCES,
)
from fxc.ir.records import frozen

from ..emission.object_code import Code

_C, _F = 0x1, 0x2  # flags of NumPy: the order of the elements
_OWN = 0x4 | 0x100 | 0x400  # owns its memory, is aligned, is writeable
_FORTRAN = 2
_OF_VARIABLE_AND_CALL = 2


@frozen
class NewArray:
    """A new array in C order, or in Fortran's, as ``np.empty`` makes it; ``sizes`` are registers or
    numbers.
    """

    dtype: np.dtype
    sizes: Sequence[str]
    is_fortran: bool = False

    def made(self, code: Code, make: str) -> str:
        """The array, which the function ``make`` makes: that of NumPy for new arrays."""
        dims, kind = code.vector("i64", self.sizes), code.known(self.dtype)
        code.call("void", "Py_IncRef", f"ptr {kind}")  # the function takes it
        flags = _FORTRAN if self.is_fortran else 0
        found = code.op(
            f"call ptr {make}(ptr {code.known(np.ndarray)}, ptr {kind}, "
            f"i32 {len(self.sizes)}, ptr {dims}, ptr null, ptr null, i32 {flags}, ptr null)"
        )
        return code.present(found)

    def made_or_taken(self, code: Code, make: str, place: int, is_there: str) -> str:
        """The same, or the argument at a place, if there is one, and it will do."""
        slot, new, done = code.f.stack("ptr", 1), code.f.new_label("new"), code.f.new_label("done")
        code.demand(is_there, new)
        old = code.load("ptr", "%args", 8 * place)
        self._demand_alike(code, old, new)
        code.call("void", "Py_IncRef", f"ptr {old}")
        code.do(f"store ptr {old}, ptr {slot}, align 8")
        code.do(f"br label %{done}")
        code.f.start(new)
        code.do(f"store ptr {self.made(code, make)}, ptr {slot}, align 8")
        code.do(f"br label %{done}")
        code.f.start(done)
        return code.load("ptr", slot)

    def _demand_alike(self, code: Code, old: str, new: str) -> None:
        """Go on if an object is just what would be made, and nobody else knows it."""

        def demand(kind: str, pointer: str, offset: int, value: str | int) -> None:
            found = code.load(kind, pointer, offset)
            code.demand(code.op(f"icmp eq {kind} {found}, {value}"), new)

        demand("ptr", old, OBJECT_TYPE, code.known(np.ndarray))
        demand("i64", old, REFERENCES, _OF_VARIABLE_AND_CALL)
        demand("ptr", old, ARRAY_WEAK_REFERENCES, "null")
        demand("ptr", old, ARRAY_BASE, "null")
        demand("ptr", old, ARRAY_DTYPE, code.known(self.dtype))
        demand("i32", old, ARRAY_NDIM, len(self.sizes))
        flags = code.load("i32", old, ARRAY_FLAGS)
        for mask, wanted in ((~(_C | _F), _OWN), (self._order, self._order)):
            found = code.op(f"and i32 {flags}, {mask}")
            code.demand(code.op(f"icmp eq i32 {found}, {wanted}"), new)
        dims, strides = code.load("ptr", old, ARRAY_DIMS), code.load("ptr", old, ARRAY_STRIDES)
        axes = range(len(self.sizes))
        stride = str(self.dtype.itemsize)
        for axis in axes if self.is_fortran else reversed(axes):
            demand("i64", dims, 8 * axis, self.sizes[axis])
            demand("i64", strides, 8 * axis, stride)
            stride = code.op(f"mul i64 {stride}, {self.sizes[axis]}")

    @property
    def _order(self) -> int:
        return _F if self.is_fortran else _C
