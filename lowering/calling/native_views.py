"""Views among the results of native functions for calls: NumPy makes them.

See Note [Native calls].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fxc.ir.graph import SliceSpec
from fxc.ir.records import frozen
from fxc.ir.signature import ViewStep
from fxc.ir.symbols import Dim, SymExpr, dims_in
from fxc.ops.kernels import kernel_of

from ..emission.object_code import Code

METHODS = {"transpose": np.ndarray.transpose, "reshape": np.ndarray.reshape}


@frozen
class NativeViews:
    """Writes what makes a view; ``dim`` gives the number that a dim is."""

    code: Code
    dim: Callable[[Dim], str]

    def view(self, array: str, step: ViewStep) -> str:
        """A view of an array."""
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
