"""Arrays of counted sizes among the results of native functions for calls.

See Note [Native calls] and Note [Counted sizes].
"""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.objects import ARRAY_DATA
from fxc.ir.records import frozen
from fxc.ir.signature import Slot

from ..emission.object_code import Code
from .guarded_function import NEW, RESIZE
from .new_arrays import NewArray

_FEW = 4096  # bytes: to copy them takes less time than to give back the rest of the memory


@frozen
class NativeSizes:
    """Gives an array with ``room`` for so many elements the sizes that have been counted."""

    code: Code
    slot: Slot
    room: str
    sizes: Sequence[str]

    def settled(self, array: str) -> str:
        """The first elements, in an array of their own."""
        code = self.code
        count = self.sizes[0]
        for size in self.sizes[1:]:
            count = code.op(f"mul i64 {count}, {size}")
        kept = code.f.stack("ptr", 1)
        few, many, empty, done = map(code.f.new_label, ("few", "many", "empty", "done"))
        is_empty = code.op(f"icmp eq i64 {count}, 0")
        bytes_ = code.op(f"mul i64 {self.room}, {self.slot.dtype.itemsize}")
        is_small = code.op(f"icmp ult i64 {bytes_}, {_FEW}")
        code.branch(code.op(f"select i1 {is_empty}, i1 false, i1 {is_small}"), few, many)
        code.f.start(few)
        self._keep(kept, self._copied(array, count), done)
        code.f.start(many)
        self._resize(array)
        code.do(f"store ptr {array}, ptr {kept}, align 8")
        code.branch("false" if self.slot.keeps_strides else is_empty, empty, done)
        code.f.start(empty)
        self._keep(kept, self._new(), done)
        code.f.start(done)
        return code.load("ptr", kept)

    def _keep(self, kept: str, array: str, done: str) -> None:
        self.code.do(f"store ptr {self.code.hold(array)}, ptr {kept}, align 8")
        self.code.do(f"br label %{done}")

    def _new(self) -> str:
        new = NewArray(self.slot.dtype, self.sizes, self.slot.order)
        return new.made(self.code, self.code.table(NEW))

    def _copied(self, array: str, count: str) -> str:
        code, made = self.code, self._new()
        code.f.module.declare("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
        target, source = code.load("ptr", made, ARRAY_DATA), code.load("ptr", array, ARRAY_DATA)
        bytes_ = code.op(f"mul i64 {count}, {self.slot.dtype.itemsize}")
        given = f"ptr {target}, ptr {source}, i64 {bytes_}, i1 false"
        code.do(f"call void @llvm.memcpy.p0.p0.i64({given})")
        return made

    def _resize(self, array: str) -> None:
        code = self.code
        wanted = code.f.stack("i64", 2)  # a PyArray_Dims
        code.do(f"store ptr {code.vector('i64', self.sizes)}, ptr {wanted}, align 8")
        second = code.op(f"getelementptr i64, ptr {wanted}, i64 1")
        code.do(f"store i64 {len(self.sizes)}, ptr {second}, align 8")
        given = f"ptr {array}, ptr {wanted}, i32 0, i32 0"
        done = code.op(f"call ptr {code.table(RESIZE)}({given})")
        code.call("void", "Py_DecRef", f"ptr {code.present(done)}")
