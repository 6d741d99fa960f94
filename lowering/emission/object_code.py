"""Text of native functions that work with Python objects.

See Note [Native calls] and Note [Calls of NumPy].
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from fxc.ir.objects import BYTES_DATA, OBJECT_TYPE, SCALAR_VALUE

from .llvm_text import FunctionText

MISS, ERROR = "miss", "error"  # blocks: the call is not for this code; Python raised meanwhile
COMPARED = (int, float, str, bytes)  # types of which objects are compared without a call


class Code:
    """The text of a native function that works with Python objects, and the table of objects that
    it mentions.

    What it makes or fetches is held in slots of the stack frame until ``release``.
    """

    def __init__(self, f: FunctionText, first: int) -> None:
        self.f = f
        self._first = first  # place of an object in the table
        self._objects: dict[int, Any] = {}
        self._held: list[str] = []
        self.failing = ERROR  # the block for what Python raises from here on

    def do(self, text: str) -> None:
        self.f.do(text)

    def op(self, text: str) -> str:
        return self.f.op(text)

    def call(self, kind: str, name: str, *given: str) -> str:
        """Call a function of CPython's API; ``given`` are arguments with their types."""
        types = ", ".join(each.split()[0] for each in given)
        self.f.module.declare(f"declare {kind} @{name}({types})")
        text = f"call {kind} @{name}({', '.join(given)})"
        if kind != "void":
            return self.op(text)
        self.do(text)
        return ""

    def branch(self, condition: str, yes: str, no: str) -> None:
        self.do(f"br i1 {condition}, label %{yes}, label %{no}")

    def branch_same(self, pointer: str, known: Any, yes: str, no: str) -> None:
        """Go to ``yes`` where an object is of the type and the bits of one of ``COMPARED``."""
        there = self.f.new_label("same")
        kind = self.load("ptr", pointer, OBJECT_TYPE)
        self.branch(self.op(f"icmp eq ptr {kind}, {self.known(type(known))}"), there, no)
        self.f.start(there)
        if type(known) is float:
            (bits,) = struct.unpack("<q", struct.pack("<d", known))
            same = self.op(f"icmp eq i64 {self.load('i64', pointer, SCALAR_VALUE)}, {bits}")
        else:
            given = f"ptr {pointer}", f"ptr {self.known(known)}", "i32 2"
            equal = self.call("i32", "PyObject_RichCompareBool", *given)
            same = self.op(f"icmp eq i32 {equal}, 1")
        self.branch(same, yes, no)

    def demand(self, condition: str, otherwise: str = MISS) -> None:
        """Go on where ``condition`` holds."""
        there = self.f.new_label("on")
        self.branch(condition, there, otherwise)
        self.f.start(there)

    def present(self, pointer: str, otherwise: str = "") -> str:
        """The pointer, which is not null."""
        self.demand(self.op(f"icmp ne ptr {pointer}, null"), otherwise or self.failing)
        return pointer

    def load(self, kind: str, pointer: str, offset: int | str = 0) -> str:
        at = self.op(f"getelementptr i8, ptr {pointer}, i64 {offset}")
        return self.op(f"load {kind}, ptr {at}, align 4")

    def table(self, place: int) -> str:
        return self.load("ptr", "%self", BYTES_DATA + 8 * place)

    def known(self, value: Any) -> str:
        """The register with a pointer to an object that is known now."""
        self._objects.setdefault(id(value), value)
        return self.table(self._first + list(self._objects).index(id(value)))

    @property
    def objects(self) -> tuple[Any, ...]:
        """What ``known`` was asked for, in the order of the table."""
        return tuple(self._objects.values())

    def vectorcall(
        self, function: str, given: Sequence[str], names: str = "null", named: int = 0
    ) -> str:
        """Call an object; the last ones of the arguments have the names that stand in a tuple."""
        vector = self.vector("ptr", given)
        where = f"ptr {vector}", f"i64 {len(given) - named}", f"ptr {names}"
        return self.call("ptr", "PyObject_Vectorcall", f"ptr {function}", *where)

    def vector(self, kind: str, values: Sequence[str]) -> str:
        """An array of them in the stack frame."""
        room = self.f.stack(kind, max(1, len(values)))
        for place, value in enumerate(values):
            at = self.op(f"getelementptr {kind}, ptr {room}, i64 {place}")
            self.do(f"store {kind} {value}, ptr {at}, align 8")
        return room

    def hold(self, pointer: str) -> str:
        """Keep an object of our own until the end."""
        self._held.append(self.kept(pointer))
        return pointer

    def kept(self, pointer: str) -> str:
        """A slot of the stack frame with an object, or null where this is not reached."""
        slot = self.f.null_slot()
        self.do(f"store ptr {pointer}, ptr {slot}, align 8")
        return slot

    def share(self, pointer: str) -> str:
        """Keep an object of somebody else's until the end."""
        self.call("void", "Py_IncRef", f"ptr {pointer}")
        return self.hold(pointer)

    def release(self) -> None:
        for slot in self._held:
            held, drop, on = (
                self.load("ptr", slot),
                self.f.new_label("drop"),
                self.f.new_label("on"),
            )
            self.branch(self.op(f"icmp eq ptr {held}, null"), on, drop)
            self.f.start(drop)
            self.call("void", "Py_DecRef", f"ptr {held}")
            self.do(f"br label %{on}")
            self.f.start(on)

    def checked(self, name: str, left: str, right: str) -> str:
        """Signed arithmetic that fits 64 bits, or the call is not for this code."""
        pair, function = "{ i64, i1 }", f"@llvm.s{name}.with.overflow.i64"
        self.f.module.declare(f"declare {pair} {function}(i64, i64)")
        found = self.op(f"call {pair} {function}(i64 {left}, i64 {right})")
        fits = self.op(f"xor i1 {self.op(f'extractvalue {pair} {found}, 1')}, true")
        self.demand(fits)
        return self.op(f"extractvalue {pair} {found}, 0")

    def floor(self, name: str, left: str, right: str) -> str:
        """Python's ``//`` or ``%``; the right one is above 0, or the call is not for this code."""
        self.demand(self.op(f"icmp sgt i64 {right}, 0"))
        rest = self.op(f"srem i64 {left}, {right}")
        below = self.op(f"icmp slt i64 {rest}, 0")
        if name == "mod":
            above = self.op(f"add i64 {rest}, {right}")
            return self.op(f"select i1 {below}, i64 {above}, i64 {rest}")
        quotient = self.op(f"sdiv i64 {left}, {right}")
        return self.op(f"sub i64 {quotient}, {self.op(f'zext i1 {below} to i64')}")

    def extreme(self, name: str, left: str, right: str) -> str:
        """The ``min`` or ``max`` of two."""
        relation = "slt" if name == "min" else "sgt"
        test = self.op(f"icmp {relation} i64 {left}, {right}")
        return self.op(f"select i1 {test}, i64 {left}, i64 {right}")

    def number_of(self, pointer: str) -> str:
        """The value of a Python int; where it does not fit, the call is not for this code."""
        over = self.f.stack("i32", 1)
        value = self.call("i64", "PyLong_AsLongLongAndOverflow", f"ptr {pointer}", f"ptr {over}")
        self.demand(self.op(f"icmp eq i32 {self.load('i32', over)}, 0"))
        return value

    def sequence(self, kind: str, items: Sequence[str]) -> str:
        """A new "Tuple" or "List"."""
        made = self.call("ptr", f"Py{kind}_New", f"i64 {len(items)}")
        self.hold(self.present(made))
        for place, each in enumerate(items):
            self.call("void", "Py_IncRef", f"ptr {each}")  # the function takes it
            self.call("i32", f"Py{kind}_SetItem", f"ptr {made}", f"i64 {place}", f"ptr {each}")
        return made

    def int_object(self, number: str) -> str:
        return self.hold(self.present(self.call("ptr", "PyLong_FromLongLong", f"i64 {number}")))
