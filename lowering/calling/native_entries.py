"""Calls of pieces of native code by native functions for calls.

See Note [Native calls] and Note [Native entry].
"""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.asynchronous import hand_on
from fxc.ir.objects import BYTES_DATA, OBJECT_TYPE
from fxc.ir.records import frozen

from ..emission.native_module import Segment
from ..emission.object_code import MISS, Code
from .guarded_function import ENTRIES, FAILED

_IS_EXCEPTION = 1 << 30  # Py_TPFLAGS_BASE_EXC_SUBCLASS


@frozen
class NativeEntries:
    """Writes the calls of the pieces, and what is to be done about what they give back."""

    code: Code

    def enter(self, place: int, segment: Segment, arguments: Sequence[str]) -> str:
        """Call the code of a segment: the register with what it gives back."""
        code, entries = self.code, self.code.table(ENTRIES)
        function = code.load("ptr", entries, BYTES_DATA + 16 * place)
        own = code.load("ptr", entries, BYTES_DATA + 16 * place + 8)
        vector = code.vector("ptr", arguments)
        given = f"ptr {own}, ptr {vector}, i64 {len(arguments)}"
        found = code.present(code.op(f"call ptr {function}({given})"), FAILED)
        if segment.checks:
            self._miss_if(found, "%self")
        if segment.calls:
            self._look_for_raised(found, arguments[1])
        if segment.flags:
            self._miss_if(found, own)
        return found

    def _miss_if(self, found: str, known: str) -> None:
        """Leave the call to Python where the code gives back this object."""
        code = self.code
        bad, fine = code.f.new_label("bad"), code.f.new_label("fine")
        code.branch(code.op(f"icmp eq ptr {found}, {known}"), bad, fine)
        code.f.start(bad)
        code.call("void", "Py_DecRef", f"ptr {known}")
        code.do(f"br label %{MISS}")
        code.f.start(fine)

    def _look_for_raised(self, found: str, packed: str) -> None:
        """A call has raised what native code gives back: raise it if it comes from the handler of a
        signal, else Python does all of it again. Usually it gives back numbers, or ``packed``.
        """
        code = self.code
        other, fine = code.f.new_label("other"), code.f.new_label("fine")
        code.branch(code.op(f"icmp eq ptr {found}, {packed}"), fine, other)
        code.f.start(other)
        kind = code.load("ptr", found, OBJECT_TYPE)
        flags = code.call("i64", "PyType_GetFlags", f"ptr {kind}")
        bit = code.op(f"and i64 {flags}, {_IS_EXCEPTION}")
        bad = code.f.new_label("raised")
        code.branch(code.op(f"icmp ne i64 {bit}, 0"), bad, fine)
        code.f.start(bad)
        done = code.vectorcall(code.known(hand_on), [found])
        code.call("void", "Py_DecRef", f"ptr {found}")
        code.call("void", "Py_DecRef", f"ptr {done}")
        code.branch(code.op(f"icmp eq ptr {done}, null"), FAILED, MISS)
        code.f.start(fine)
