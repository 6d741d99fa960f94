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
    """A new array as ``np.empty`` makes it; ``sizes`` are registers or numbers. In memory the axes
    are in this ``order``, outermost first.
    """

    dtype: np.dtype
    sizes: Sequence[str]
    order: Sequence[int]

    def made(self, code: Code, make: str) -> str:
        """The array, which the function ``make`` makes: that of NumPy for new arrays."""
        dims, kind = code.vector("i64", self.sizes), code.known(self.dtype)
        steps, flags = "null", _FORTRAN if self._is_fortran else 0
        if not self._is_c and not self._is_fortran:
            steps = code.vector("i64", self._strides(code))
        code.call("void", "Py_IncRef", f"ptr {kind}")  # the function takes it
        found = code.op(
            f"call ptr {make}(ptr {code.known(np.ndarray)}, ptr {kind}, "
            f"i32 {len(self.sizes)}, ptr {dims}, ptr {steps}, ptr null, i32 {flags}, ptr null)"
        )
        return code.present(found)

    def _strides(self, code: Code) -> list[str]:
        found, stride = {}, str(self.dtype.itemsize)
        for axis in reversed(self.order):
            found[axis] = stride
            stride = code.op(f"mul i64 {stride}, {self.sizes[axis]}")
        return [found[axis] for axis in range(len(found))]

    @property
    def _is_c(self) -> bool:
        return [*self.order] == [*range(len(self.order))]

    @property
    def _is_fortran(self) -> bool:
        return [*self.order] == [*range(len(self.order))][::-1] and not self._is_c

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
        for axis, stride in enumerate(self._strides(code)):
            demand("i64", dims, 8 * axis, self.sizes[axis])
            demand("i64", strides, 8 * axis, stride)

    @property
    def _order(self) -> int:
        return _C if self._is_c else _F if self._is_fortran else 0
