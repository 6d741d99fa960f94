"""The adapter through which native code draws one number. See Note [Native draws]."""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Mapping, Sequence

from fxc.ir.flag_bits import HAS_FLAGS
from fxc.ir.objects import HEADER, OBJECT_TYPE
from fxc.ir.records import frozen
from fxc.ops.draws import Form, Real

from .legacy_draws import LEGACY
from .llvm_text import FunctionText, ModuleText
from .object_code import Code
from .quick_draws import FILL, SCALE_LEAST, SCALE_MOST, SCALES


@frozen
class Layout:
    """Where a class of generators keeps things: the addresses of its class and of that of its lock,
    and byte offsets: of the bit generator, of the lock, of the byte of the lock that says that
    somebody holds it, and of the two kinds of states that functions in C take. ``next_word`` is
    the address of the bit generator's function for 64 bits.
    """

    kind: int
    lock_kind: int
    generator: int
    lock: int
    held: int
    bits: int
    legacy: int | None
    next_word: int


ENTRY = "fxc.draw"
_LEAVE = "leave"  # the block that leaves the draw to the method
_CACHE = 64  # words; NumPy's binomial_t has 17


_MOST = 2**22  # numbers at once: meanwhile no other thread runs, and no signal is looked at


def adapter(
    form: Form, layout: Layout, function: int | None, quick: str = "", *, many: bool
) -> str:
    """A module with a function ``i32 (generator, arguments …, place of the number)``; for ``many``
    numbers with their count before the place.

    It gives 1 if it has drawn; 0 if the method has to, and then nothing has happened. ``function``
    is the address of the function in C; None if it is one of ``LEGACY``. ``quick`` is the text of
    ``quick_draws``, if any.
    """
    module = ModuleText()
    code = _Adapter(module, form, layout, function, many)
    code.is_quick = bool(quick)
    code.write()
    legacy = [quick or LEGACY] if quick or function is None else []
    cache = [f"@fxc.cache = internal global [{_CACHE} x i64] zeroinitializer, align 16"]
    return "\n".join([*module.declares, *legacy, *cache, *module.functions])


def _is_free(code: Code, layout: Layout) -> str:
    """Whether nobody holds the lock of a generator."""
    lock = code.load("ptr", "%g", layout.lock)
    place = code.op(f"getelementptr i8, ptr {lock}, i64 {layout.held}")
    return code.op(f"icmp eq i8 {code.op(f'load i8, ptr {place}')}, 0")


class _Adapter:
    def __init__(
        self, module: ModuleText, form: Form, layout: Layout, function: int | None, many: bool
    ) -> None:
        self.f = FunctionText(module)
        self.many = many
        self.is_quick = False
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
        code.demand(_is_free(code, layout), _LEAVE)
        given = []
        for place, each in enumerate(form.arguments):
            kind = "double" if isinstance(each, Real) else "i64"
            given.append(f"{kind} %x{place}")
            if isinstance(each, Real):
                self.bounded(f"%x{place}", each.least, each.most)
            elif each.least > -(2**63):
                code.demand(code.op(f"icmp sge i64 %x{place}, {each.least}"), _LEAVE)
        parameters = ["ptr %g", *given, "ptr %out"]
        if self.many:
            parameters.insert(-1, "i64 %count")
            code.demand(code.op(f"icmp ule i64 %count, {_MOST}"), _LEAVE)
        offset = layout.bits if self.function.startswith("%") else layout.legacy
        state = code.op(f"getelementptr i8, ptr %g, i64 {offset}")
        for verb in ("st", "ld") if HAS_FLAGS else ():
            self.f.module.declare(f"declare void @llvm.x86.sse.{verb}mxcsr(ptr)")
        self.draw(f"ptr {state}", given)
        code.do("ret i32 1")
        self.f.start(_LEAVE)
        code.do("ret i32 0")
        head = f'define i32 @"{ENTRY}"({", ".join(parameters)}) nounwind {{'
        lines = [head, "entry:", *self.f.stack_lines, *self.f.lines, "}"]
        self.f.module.functions.append("\n".join(lines))

    def same(self, pointer: str, address: int) -> None:
        number = self.code.op(f"ptrtoint ptr {pointer} to i64")
        self.code.demand(self.code.op(f"icmp eq i64 {number}, {address}"), _LEAVE)

    def bounded(self, x: str, least: float | None, most: float) -> None:
        """Go on with a number within bounds."""
        if least is not None:
            self.code.demand(self.is_between(x, least, most), _LEAVE)

    def is_between(self, x: str, least: float, most: float) -> str:
        """Whether it is within bounds: doubles from 0 on are in the order of their bits."""
        low, high = _bits(least), _bits(most)
        number = self.code.op(f"bitcast double {x} to i64")
        above = self.code.op(f"sub i64 {number}, {low}")
        return self.code.op(f"icmp ule i64 {above}, {high - low}")

    def draw(self, state: str, given: list[str]) -> None:
        """Call the function, and store what it gives."""
        code, form = self.code, self.form
        if form.function == "random_bounded_uint64_fill":
            order = "sle" if form.options else "slt"
            code.demand(code.op(f"icmp {order} i64 %x0, %x1"), _LEAVE)
            last = "%x1" if form.options else code.op("sub i64 %x1, 1")
            span = code.op(f"sub i64 {last}, %x0")
            masked = "false" if form.source == "Generator" else "true"
            count = "%count" if self.many else "1"
            words = f"i64 %x0, i64 {span}, i64 {count}, i1 zeroext {masked}, ptr %out"
            code.do(f"call void {self.function}({state}, {words})")
            return
        if form.function == "random_uniform":
            span = code.op("fsub double %x1, %x0")
            self.bounded(span, 0.0, sys.float_info.max)
            given = ["double %x0", f"double {span}"]
        elif form.function == "random_binomial":
            given = ["double %x1", "i64 %x0", "ptr @fxc.cache"]
        kind = "double" if form.result == "f8" else "i64"
        if self.is_quick and not self.many:
            self.quickly(state, given)
        before = self.flags()
        if self.is_quick and self.many:
            self.fill(state, "%count", given)
        elif self.many and form.fill:
            code.do(f"call void {self.function}({state}, i64 %count, ptr %out)")
        elif self.many:
            self.each(f"call {kind} {self.function}({', '.join([state, *given])})", kind)
        else:
            found = code.op(f"call {kind} {self.function}({', '.join([state, *given])})")
            code.do(f"store {kind} {found}, ptr %out, align 8")
        self.bring_back(before)

    def quickly(self, state: str, given: list[str]) -> None:
        """Draw a number, and leave; go on where that may set flags. See Note [Quick draws]."""
        code, careful = self.code, self.f.new_label("careful")
        scale, added = SCALES.get(self.form.function.removeprefix("random_"), (None, None))
        if scale is not None:
            code.demand(self.is_between(scale, SCALE_LEAST, SCALE_MOST), careful)
        if added is not None:
            twice = code.op(f"shl i64 {code.op(f'bitcast double {added} to i64')}, 1")
            code.demand(code.op(f"icmp ult i64 {twice}, {2 * _bits(math.inf)}"), careful)
        self.fill(state, "1", given)
        code.do("ret i32 1")
        self.f.start(careful)

    def fill(self, state: str, count: str, given: list[str]) -> None:
        x0, x1 = [*given, "double 0.0", "double 0.0"][:2]
        self.code.do(f'call void @"{FILL}"({state}, i64 {count}, ptr %out, {x0}, {x1})')

    def each(self, call: str, kind: str) -> None:
        """Store what ``count`` calls give."""
        code, f, begin = self.code, self.f, self.f.block
        code.do("br label %next")
        f.start("next")
        code.do(f"%i = phi i64 [ 0, %{begin} ], [ %behind, %more ]")
        code.branch(code.op("icmp ult i64 %i, %count"), "more", "drawn")
        f.start("more")
        found = code.op(call)
        at = code.op(f"getelementptr {kind}, ptr %out, i64 %i")
        code.do(f"store {kind} {found}, ptr {at}, align 8")
        code.do("%behind = add i64 %i, 1")
        code.do("br label %next")
        f.start("drawn")

    def flags(self) -> str:
        """A place with the processor's flags, where the function may set any."""
        if not HAS_FLAGS or self.form.function == "random_standard_uniform":
            return ""
        place = self.f.stack("i32", 1)
        self.code.do(f"call void @llvm.x86.sse.stmxcsr(ptr {place})")
        return place

    def bring_back(self, place: str) -> None:
        if place:
            self.code.do(f"call void @llvm.x86.sse.ldmxcsr(ptr {place})")


def _bits(x: float) -> int:
    """A double as the integer of its bits."""
    return int.from_bytes(struct.pack("<d", x), "little")


KEEP, BRING_BACK = "fxc.keep_state", "fxc.bring_back_state"
# Where the room for a state begins: what Python keeps or null, then pointers to the two parts of
# the state, and their sizes.
_PARTS, _SIZES, _BYTES = 8, 24, 40
_LEGACY_SIZE = 24  # of aug_bitgen_t
_STATES = f"""\
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare ptr @PyObject_CallFunctionObjArgs(ptr, ...)
declare void @PyErr_Clear()
declare void @PyErr_Fetch(ptr, ptr, ptr)
declare void @PyErr_Restore(ptr, ptr, ptr)
declare void @Py_DecRef(ptr)

define internal void @copy(ptr %room, i1 %back) nounwind {{
  %p1.at = getelementptr i8, ptr %room, i64 {_PARTS}
  %p2.at = getelementptr i8, ptr %room, i64 {_PARTS + 8}
  %n1.at = getelementptr i8, ptr %room, i64 {_SIZES}
  %n2.at = getelementptr i8, ptr %room, i64 {_SIZES + 8}
  %p1 = load ptr, ptr %p1.at, align 8
  %p2 = load ptr, ptr %p2.at, align 8
  %n1 = load i64, ptr %n1.at, align 8
  %n2 = load i64, ptr %n2.at, align 8
  %r1 = getelementptr i8, ptr %room, i64 {_BYTES}
  %r2 = getelementptr i8, ptr %r1, i64 %n1
  %t1 = select i1 %back, ptr %p1, ptr %r1
  %f1 = select i1 %back, ptr %r1, ptr %p1
  %t2 = select i1 %back, ptr %p2, ptr %r2
  %f2 = select i1 %back, ptr %r2, ptr %p2
  call void @llvm.memcpy.p0.p0.i64(ptr %t1, ptr %f1, i64 %n1, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %t2, ptr %f2, i64 %n2, i1 false)
  ret void
}}

define void @"{BRING_BACK}"(ptr %g, ptr %room) nounwind {{
  %places = alloca ptr, i64 3, align 8
  %at1 = getelementptr ptr, ptr %places, i64 1
  %at2 = getelementptr ptr, ptr %places, i64 2
  %held = load ptr, ptr %room, align 8
  %none = icmp eq ptr %held, null
  br i1 %none, label %plain, label %python
plain:
  call void @copy(ptr %room, i1 true)
  ret void
python:
  call void @PyErr_Fetch(ptr %places, ptr %at1, ptr %at2)
  %found = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %held, ptr null)
  %failed = icmp eq ptr %found, null
  br i1 %failed, label %clear, label %drop
clear:
  call void @PyErr_Clear()
  br label %on
drop:
  call void @Py_DecRef(ptr %found)
  br label %on
on:
  call void @Py_DecRef(ptr %held)
  store ptr null, ptr %room, align 8
  %kind = load ptr, ptr %places, align 8
  %value = load ptr, ptr %at1, align 8
  %trace = load ptr, ptr %at2, align 8
  call void @PyErr_Restore(ptr %kind, ptr %value, ptr %trace)
  ret void
}}
"""


def states(layouts: Sequence[Layout], plain: Mapping[int, int], checkpoint: int) -> str:
    """A module with what keeps the state of a generator, ``i32 (generator, room)``, and what brings
    it back, ``void (generator, room)``. The first gives 0 if it has failed.

    ``plain`` are addresses of classes of bit generators, with the sizes of their objects, whose
    bytes are their state. ``checkpoint`` is the function of Python that keeps any other.
    """
    module = ModuleText()
    code = Code(FunctionText(module), 0)
    f = code.f
    kind = code.op(f"ptrtoint ptr {code.load('ptr', '%g', OBJECT_TYPE)} to i64")
    for layout in layouts if plain else ():
        here, there = f.new_label("here"), f.new_label("there")
        code.branch(code.op(f"icmp eq i64 {kind}, {layout.kind}"), here, there)
        f.start(here)
        bits = code.load("ptr", "%g", layout.generator)
        inner = code.op(f"ptrtoint ptr {code.load('ptr', bits, OBJECT_TYPE)} to i64")
        size = "0"
        for address, each in plain.items():
            is_this = code.op(f"icmp eq i64 {inner}, {address}")
            size = code.op(f"select i1 {is_this}, i64 {each - HEADER}, i64 {size}")
        code.demand(code.op(f"icmp ne i64 {size}, 0"), "other")
        code.demand(_is_free(code, layout), "other")  # Python waits for it
        data = code.op(f"getelementptr i8, ptr {bits}, i64 {HEADER}")
        own = code.op(f"getelementptr i8, ptr %g, i64 {layout.legacy or 0}")
        beside = 0 if layout.legacy is None else _LEGACY_SIZE
        parts = f"ptr {data}", f"ptr {own}", f"i64 {size}", f"i64 {beside}"
        for place, part in enumerate(("ptr null", *parts)):
            at = code.op(f"getelementptr i8, ptr %room, i64 {8 * place}")
            code.do(f"store {part}, ptr {at}, align 8")
        code.do("call void @copy(ptr %room, i1 false)")
        code.do("ret i32 1")
        f.start(there)
    code.do("br label %other")
    f.start("other")
    function = code.op(f"inttoptr i64 {checkpoint} to ptr")
    call = "call ptr (ptr, ...) @PyObject_CallFunctionObjArgs"
    held = code.op(f"{call}(ptr {function}, ptr %g, ptr null)")
    code.do(f"store ptr {held}, ptr %room, align 8")
    code.demand(code.op(f"icmp ne ptr {held}, null"), "failed")
    code.do("ret i32 1")
    f.start("failed")
    code.do("call void @PyErr_Clear()")
    code.do("ret i32 0")
    head = f'define i32 @"{KEEP}"(ptr %g, ptr %room) nounwind {{'
    return "\n".join([_STATES, head, "entry:", *f.stack_lines, *f.lines, "}"])
