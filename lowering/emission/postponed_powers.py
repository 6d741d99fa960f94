"""Loops in lanes that postpone powers, see ``operators/postponed_powers``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fxc.ir.records import frozen

from ..nests.buffers import F64, Const
from ..nests.statements import Compute, Loop, Stmt
from ..operators.postponed_powers import PostponedPowers
from .emitter import Counting, Emitter
from .llvm_text import Lanes
from .scalar_power import defined, nearly_exact, usual


@frozen
class _Slots:
    """Where the bases of a power and its results lie for a strip, and bits of those left to pow."""

    bases: str
    powers: str
    marks: str


def loop_of_postponed(emitter: Emitter, loop: Loop, parts: PostponedPowers) -> None:
    """Write the loop. Its last vector ends with it, or what fills none is run one by one."""
    f, lanes, most = emitter.function, loop.lanes, emitter.costs.powers_strip
    emitter.block(parts.hoisted)
    emitter.module.declare("declare i64 @llvm.smin.i64(i64, i64)")
    size, last = emitter.dim(loop.size), emitter.dim(loop.size - lanes)
    fills, stop = isinstance(loop.size, int) or loop.ends == "reaching", size
    if loop.ends == "rest":
        fills, stop = loop.size % lanes == 0, f.op(f"and i64 {size}, {-lanes}")
        last = f.op(f"sub nsw i64 {stop}, {lanes}")
    elif not fills:
        wide = f.op(f"icmp sge i64 {size}, {lanes}")
        stop = f.op(f"select i1 {wide}, i64 {size}, i64 0")
    slots = {
        power.name: _Slots(
            f.stack("double", most + lanes, 64),
            f.stack("double", most + lanes, 64),
            f.stack("i64", most // 64, 64),
        )
        for stage in parts.stages
        for power in stage.powers
    }
    number = f"{loop.var}.strip"

    def strip() -> None:
        start = emitter.regs.dims[number]
        end = f.op(f"add nsw i64 {start}, {most}")
        end = f.op(f"call i64 @llvm.smin.i64(i64 {end}, i64 {stop})")
        _Strip(emitter, loop, slots, start, end, last).write(parts)

    emitter.counted(Counting(number, "0", stop, most, rest=True), (), strip)
    if not fills:
        emitter.plain_loop(loop, 1, stop, (), size)


class _Strip:
    """The iterations from ``start`` to ``end``, of which no vector begins behind ``last``."""

    def __init__(
        self,
        emitter: Emitter,
        loop: Loop,
        slots: Mapping[str, _Slots],
        start: str,
        end: str,
        last: str,
    ) -> None:
        """So many parameters because it is one with the loop around it."""
        self.emitter, self.loop, self.slots = emitter, loop, slots
        self.start, self.end, self.last = start, end, last
        f = emitter.function
        self.code = Lanes(f, loop.lanes)
        self.first = f.op(f"call i64 @llvm.smin.i64(i64 {start}, i64 {last})")

    def write(self, parts: PostponedPowers) -> None:
        f = self.emitter.function
        size = f.op(f"sub nsw i64 {self.end}, {self.first}")
        last = f.op(f"sub nsw i64 {size}, {self.code.count}")
        made: list[Compute] = []
        for stage in parts.stages:
            for power in stage.powers:
                kind = f"[{self.emitter.costs.powers_strip // 64} x i64]"
                f.do(f"store {kind} zeroinitializer, ptr {self.slots[power.name].marks}, align 64")
            self.vectors(stage.bases, made, stage.powers)
            for power in stage.powers:
                slots = self.slots[power.name]
                where = f"ptr {slots.bases}, ptr {slots.powers}, ptr {slots.marks}"
                rest = defined(self.code, _exponent(power), ".rest", _rest)
                f.do(f"call void {rest}({where}, i64 {size}, i64 {last})")
            made += stage.powers
        self.vectors(parts.rest, made, ())

    def vectors(
        self, block: Sequence[Stmt], made: Sequence[Compute], powers: Sequence[Compute]
    ) -> None:
        """Statements for all iterations, given some powers, and then the first of other powers."""
        emitter, f, code = self.emitter, self.emitter.function, self.code
        var, lanes, kind = self.loop.var, code.count, code.type(F64)

        def vector() -> None:
            counter = emitter.regs.dims[var]
            place = f.op(f"call i64 @llvm.smin.i64(i64 {counter}, i64 {self.last})")
            emitter.regs.dims[var] = place
            place = f.op(f"sub nsw i64 {place}, {self.first}")
            for power in made:
                slot = f.op(
                    f"getelementptr double, ptr {self.slots[power.name].powers}, i64 {place}"
                )
                emitter.regs.atoms[power.name] = f.op(f"load {kind}, ptr {slot}, align 8"), lanes
            emitter.block(block, lanes)
            number = f.op(f"sub nsw i64 {counter}, {self.start}") if powers else ""
            for power in powers:
                self.begin(power, place, number)

        emitter.regs.vector = var
        emitter.counted(Counting(var, self.start, self.end, lanes, lanes), (), vector)
        emitter.regs.vector = None

    def begin(self, power: Compute, place: str, number: str) -> None:
        """Store bases, the nearest numbers to their powers, and marks."""
        f, code, slots = self.emitter.function, self.code, self.slots[power.name]
        kind, bits = code.type(F64), f"i{code.count}"
        base = self.emitter.atom(power.args[0], F64, code)
        nearest = defined(code, _exponent(power), ".nearest", _nearest)
        found = f.op(f"call {{ {kind}, {bits} }} {nearest}({kind} {base})")
        near = f.op(f"extractvalue {{ {kind}, {bits} }} {found}, 0")
        marks = f.op(f"extractvalue {{ {kind}, {bits} }} {found}, 1")
        for register, slot in ((base, slots.bases), (near, slots.powers)):
            here = f.op(f"getelementptr double, ptr {slot}, i64 {place}")
            f.do(f"store {kind} {register}, ptr {here}, align 8")
        byte = f.op(f"lshr exact i64 {number}, 3")
        here = f.op(f"getelementptr i8, ptr {slots.marks}, i64 {byte}")
        f.do(f"store {bits} {marks}, ptr {here}, align 1")


def _exponent(power: Compute) -> float:
    exponent = power.args[1]
    assert isinstance(exponent, Const)
    return float(exponent.value)


def _nearest(code: Lanes, exponent: float, name: str) -> str:
    """A function that gives the nearest numbers, and bits where pow may give others."""
    kind, mask, bits = code.type(F64), code.of("i1"), f"i{code.count}"
    return f"""\
define internal {{ {kind}, {bits} }} {name}({kind} %x) alwaysinline nounwind {{
{usual(code, exponent)}\
  %marks = bitcast {mask} %usual.left to {bits}
  %first = insertvalue {{ {kind}, {bits} }} poison, {kind} %usual.near, 0
  %both = insertvalue {{ {kind}, {bits} }} %first, {bits} %marks, 1
  ret {{ {kind}, {bits} }} %both
}}
"""


def _rest(code: Lanes, exponent: float, name: str) -> str:
    """A function that makes the powers that are marked, one by one.

    It is given how many there are, and where the last vector of them begins.
    """
    lanes, one = code.count, nearly_exact(Lanes(code.function, 1), exponent)
    code.function.module.declare("declare i64 @llvm.cttz.i64(i64, i1)")
    return f"""\
define internal void {name}(ptr %bases, ptr %powers, ptr %marks, i64 %size, i64 %last) noinline {{
entry:
  br label %word
word:
  %begin = phi i64 [ 0, %entry ], [ %behind, %done ]
  %byte = lshr exact i64 %begin, 3
  %at = getelementptr i8, ptr %marks, i64 %byte
  %bits = load i64, ptr %at, align 8
  br label %test
test:
  %left = phi i64 [ %bits, %word ], [ %others, %each ]
  %some = icmp ne i64 %left, 0
  br i1 %some, label %each, label %done
each:
  %bit = call i64 @llvm.cttz.i64(i64 %left, i1 true)
  %before = sub i64 %left, 1
  %others = and i64 %left, %before
  %lane = and i64 %bit, {lanes - 1}
  %group = and i64 %bit, -{lanes}
  %start = add nuw nsw i64 %begin, %group
  %vector = call i64 @llvm.smin.i64(i64 %start, i64 %last)
  %place = add nsw i64 %vector, %lane
  %from = getelementptr double, ptr %bases, i64 %place
  %to = getelementptr double, ptr %powers, i64 %place
  %base = load double, ptr %from, align 8
  %power = call double {one}(double %base)
  store double %power, ptr %to, align 8
  br label %test
done:
  %behind = add nuw nsw i64 %begin, 64
  %on = icmp slt i64 %behind, %size
  br i1 %on, label %word, label %return
return:
  ret void
}}
"""
