"""The adapter through which native code draws one number. See Note [Native draws]."""

from __future__ import annotations

import struct
import sys

from fxc.ir.objects import OBJECT_TYPE
from fxc.ir.records import frozen
from fxc.ops.draws import Form, Real

from .legacy_draws import LEGACY
from .llvm_text import HAS_FLAGS, FunctionText, ModuleText
from .object_code import Code


@frozen
class Layout:
    """Where a class of generators keeps things: the addresses of its class and of that of its lock,
    and byte offsets: of the lock, of the byte of the lock that says that somebody holds it, and of
    the two kinds of states that functions in C take.
    """

    kind: int
    lock_kind: int
    lock: int
    held: int
    bits: int
    legacy: int | None


ENTRY = "fxc.draw"
_LEAVE = "leave"  # the block that leaves the draw to the method
_CACHE = 64  # words; NumPy's binomial_t has 17


def adapter(form: Form, layout: Layout, function: int | None) -> str:
    """A module with a function ``i32 (generator, arguments …, place of the number)``.

    It gives 1 if it has drawn; 0 if the method has to, and then nothing has happened. ``function``
    is the address of the function in C; None if it is one of ``LEGACY``.
    """
    module = ModuleText()
    code = _Adapter(module, form, layout, function)
    code.write()
    legacy = [LEGACY] if function is None else []
    cache = [f"@fxc.cache = internal global [{_CACHE} x i64] zeroinitializer, align 16"]
    return "\n".join([*module.declares, *legacy, *cache, *module.functions])


class _Adapter:
    def __init__(self, module: ModuleText, form: Form, layout: Layout, function: int | None):
        self.f = FunctionText(module)
        self.code = Code(self.f, 0)
        self.form, self.layout = form, layout
        self.function = f"@{form.function}"
        if function is not None:
            self.function = self.code.op(f"inttoptr i64 {function} to ptr")

    def write(self) -> None:
        code, form, layout = self.code, self.form, self.layout
        self.same(code.load("ptr", "%g", OBJECT_TYPE), layout.kind)
        lock = code.load("ptr", "%g", layout.lock)
        self.same(code.load("ptr", lock, OBJECT_TYPE), layout.lock_kind)
        held = code.op(
            f"load i8, ptr {code.op(f'getelementptr i8, ptr {lock}, i64 {layout.held}')}"
        )
        code.demand(code.op(f"icmp eq i8 {held}, 0"), _LEAVE)
        given = []
        for place, each in enumerate(form.arguments):
            kind = "double" if isinstance(each, Real) else "i64"
            given.append(f"{kind} %x{place}")
            if isinstance(each, Real):
                self.bounded(f"%x{place}", each.least, each.most)
            elif each.least > -(2**63):
                code.demand(code.op(f"icmp sge i64 %x{place}, {each.least}"), _LEAVE)
        offset = layout.bits if self.function.startswith("%") else layout.legacy
        state = code.op(f"getelementptr i8, ptr %g, i64 {offset}")
        self.draw(f"ptr {state}", given)
        code.do("ret i32 1")
        self.f.start(_LEAVE)
        code.do("ret i32 0")
        head = f'define i32 @"{ENTRY}"({", ".join(["ptr %g", *given, "ptr %out"])}) nounwind {{'
        lines = [head, "entry:", *self.f.stack_lines, *self.f.lines, "}"]
        self.f.module.functions.append("\n".join(lines))

    def same(self, pointer: str, address: int) -> None:
        number = self.code.op(f"ptrtoint ptr {pointer} to i64")
        self.code.demand(self.code.op(f"icmp eq i64 {number}, {address}"), _LEAVE)

    def bounded(self, x: str, least: float | None, most: float) -> None:
        """Go on with a number within bounds: doubles from 0 on are in the order of their bits."""
        if least is None:
            return
        low, high = _bits(least), _bits(most)
        number = self.code.op(f"bitcast double {x} to i64")
        above = self.code.op(f"sub i64 {number}, {low}")
        self.code.demand(self.code.op(f"icmp ule i64 {above}, {high - low}"), _LEAVE)

    def draw(self, state: str, given: list[str]) -> None:
        """Call the function, and store the number."""
        code, form = self.code, self.form
        if form.function == "random_bounded_uint64_fill":
            order = "sle" if form.options else "slt"
            code.demand(code.op(f"icmp {order} i64 %x0, %x1"), _LEAVE)
            last = "%x1" if form.options else code.op("sub i64 %x1, 1")
            span = code.op(f"sub i64 {last}, %x0")
            masked = "false" if form.source == "Generator" else "true"
            words = f"i64 %x0, i64 {span}, i64 1, i1 zeroext {masked}, ptr %out"
            code.do(f"call void {self.function}({state}, {words})")
            return
        if form.function == "random_uniform":
            span = code.op("fsub double %x1, %x0")
            self.bounded(span, 0.0, sys.float_info.max)
            given = ["double %x0", f"double {span}"]
        elif form.function == "random_binomial":
            given = ["double %x1", "i64 %x0", "ptr @fxc.cache"]
        kind = "double" if form.result == "f8" else "i64"
        before = self.flags()
        found = code.op(f"call {kind} {self.function}({', '.join([state, *given])})")
        self.bring_back(before)
        code.do(f"store {kind} {found}, ptr %out, align 8")

    def flags(self) -> str:
        """A place with the processor's flags, where the function may set any."""
        if not HAS_FLAGS or self.form.function == "random_standard_uniform":
            return ""
        self.f.module.declare("declare void @llvm.x86.sse.stmxcsr(ptr)")
        self.f.module.declare("declare void @llvm.x86.sse.ldmxcsr(ptr)")
        place = self.f.stack("i32", 1)
        self.code.do(f"call void @llvm.x86.sse.stmxcsr(ptr {place})")
        return place

    def bring_back(self, place: str) -> None:
        if place:
            self.code.do(f"call void @llvm.x86.sse.ldmxcsr(ptr {place})")


def _bits(x: float) -> int:
    """A double as the integer of its bits."""
    return int.from_bytes(struct.pack("<d", x), "little")
