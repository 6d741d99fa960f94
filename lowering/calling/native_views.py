"""Views among the results of native functions for calls.

See Note [Native calls].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fxc.ir.graph import SliceSpec
from fxc.ir.objects import ARRAY_DTYPE, ARRAY_FLAGS
from fxc.ir.records import frozen
from fxc.ir.signature import ViewStep
from fxc.ir.symbols import Dim, SymExpr, dims_in
from fxc.ir.types import ArrayType, Type
from fxc.ops.kernels import kernel_of

from ..emission.object_code import Code
from .guarded_function import NEW_VIEW, SET_BASE
from .native_places import NativePlace

METHODS = {"transpose": np.ndarray.transpose, "reshape": np.ndarray.reshape}


@frozen
class NativeViews:
    """Writes what makes a view; ``dim`` gives the number that a dim is."""

    code: Code
    dim: Callable[[Dim], str]

    def view(self, array: str, kind: Type, steps: Sequence[ViewStep]) -> str:
        """A view of an array of this type, by steps. What those in front do to its shape and
        strides is computed, and one array made of it all; NumPy makes the rest one by one.
        """
        done = 0
        if isinstance(kind, ArrayType):
            place = NativePlace.of_array(self.code, self.dim, array, kind.rank)
            while done < len(steps) and place.step(steps[done]):
                done += 1
            if done:
                array = self._made(array, place)
        for step in steps[done:]:
            array = self._by_numpy(array, step)
        return array

    def _made(self, array: str, place: NativePlace) -> str:
        """A new array at a place of another one's memory, which it keeps, or whose base."""
        code = self.code
        dtype, flags = code.load("ptr", array, ARRAY_DTYPE), code.load("i32", array, ARRAY_FLAGS)
        shape, strides = code.vector("i64", place.shape), code.vector("i64", place.strides)
        code.call("void", "Py_IncRef", f"ptr {dtype}")  # the functions take both
        made = code.op(
            f"call ptr {code.table(NEW_VIEW)}(ptr {code.known(np.ndarray)}, ptr {dtype}, "
            f"i32 {len(place.shape)}, ptr {shape}, ptr {strides}, ptr {place.first}, "
            f"i32 {flags}, ptr null)"
        )
        code.hold(code.present(made))
        code.call("void", "Py_IncRef", f"ptr {array}")
        failed = code.op(f"call i32 {code.table(SET_BASE)}(ptr {made}, ptr {array})")
        code.demand(code.op(f"icmp eq i32 {failed}, 0"), code.failing)
        return made

    def _by_numpy(self, array: str, step: ViewStep) -> str:
        code = self.code
        match step.op, step.args:
            case "slice", (parts,):
                found = self._item(array, [*map(self._slice, parts), code.known(...)])
            case "select", (axis, index):
                before = [code.known(slice(None))] * axis
                found = self._item(array, [*before, self._object(index), code.known(...)])
            case op, args:
                function = METHODS.get(op) or kernel_of(op)
                found = code.vectorcall(code.known(function), [array, *map(self._object, args)])
        return code.hold(code.present(found))

    def _item(self, array: str, place: Sequence[str]) -> str:
        index = self.code.sequence("Tuple", place)
        return self.code.call("ptr", "PyObject_GetItem", f"ptr {array}", f"ptr {index}")

    def _slice(self, part: SliceSpec) -> str:
        """The Python slice of one axis. That of a negative step may stop before the first item, or
        start there, and is empty.
        """
        code, (start, stop, step) = self.code, map(self._object, (part.start, part.stop, part.step))
        if not isinstance(part.step, int) or part.step < 0:
            for number, otherwise in ((part.stop, None), (part.start, 0)):
                is_before = code.op(f"icmp slt i64 {self.dim(number)}, 0")
                stop = code.op(f"select i1 {is_before}, ptr {code.known(otherwise)}, ptr {stop}")
            start = code.op(f"select i1 {is_before}, ptr {code.known(0)}, ptr {start}")
        made = code.call("ptr", "PySlice_New", f"ptr {start}", f"ptr {stop}", f"ptr {step}")
        return code.hold(code.present(made))

    def _object(self, arg: object) -> str:
        """An argument as an object."""
        match arg:
            case SymExpr():
                return self.code.int_object(self.dim(arg))
            case tuple() if any(dims_in(arg)):
                return self.code.sequence("Tuple", [*map(self._object, arg)])
            case _:
                return self.code.known(arg)
