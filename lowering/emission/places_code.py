"""The places of what a loop chooses, stored by the bits of masks. See ``compaction``.

Of 64 elements the first few places are stored, chosen or not: no branch depends on how many there
are so long as there are few. Then come the others. What is stored behind the last place is stored
over by the next ones; there is room for it, since so many elements have not been looked at before.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Final

from fxc.ir.records import mutable
from fxc.ir.settings import features_taken

from ..nests.buffers import BOOL, I64
from ..nests.compaction import Compaction
from ..nests.statements import Compute, Loop
from ..operators.python_rules import SCALAR_RULES
from .emitter import Counting, Emitter
from .llvm_text import Lanes

LANES = 64  # bits of a register, and bytes of a mask in a vector
_EIGHT = 8  # places in a vector

# LLVM compresses lane by lane where the processor has no instruction for it: bits are faster.
_COMPRESSES: Final[bool] = (
    bool(
        importlib.import_module("numpy._core._multiarray_umath").__cpu_features__.get("AVX512_SKX")
    )
    and not features_taken()
)


def compact(emitter: Emitter, loop: Loop, found: Compaction) -> None:
    """Write the loop by the bits of masks, and what is left of it one by one."""
    f = emitter.function
    size = emitter.dim(loop.size)
    whole = f.op(f"and i64 {size}, {-LANES}")

    def block() -> None:
        _store(emitter, found, _bits(emitter, loop, found))

    emitter.regs.vector = loop.var
    counting = Counting(loop.var, "0", whole, LANES, LANES)
    emitter.counted(counting, (), block, [(found.total.name, "i64")])
    emitter.regs.vector = None
    if loop.size % LANES != 0:
        emitter.plain_loop(loop, 1, whole, (found.total,), size)


def _bits(emitter: Emitter, loop: Loop, found: Compaction) -> str:
    """Which of the next elements are chosen: what takes long is found out for a few at a time."""
    f, first = emitter.function, emitter.regs.dims[loop.var]
    work = sum(SCALAR_RULES[s.op].cost for s in found.before if isinstance(s, Compute))
    wide = LANES if work < emitter.costs.lanes_work else LANES // 4
    bits = ""
    for start in range(0, LANES, wide):
        emitter.regs.dims[loop.var] = f.op(f"add nsw i64 {first}, {start}")
        emitter.block(found.before, wide)
        chosen = emitter.atom(found.chosen, BOOL, Lanes(f, wide))
        part = f.op(f"bitcast <{wide} x i1> {chosen} to i{wide}")
        if wide < LANES:
            part = f.op(f"shl i64 {f.op(f'zext i{wide} {part} to i64')}, {start}")
        bits = f.op(f"or i64 {bits}, {part}") if bits else part
    emitter.regs.dims[loop.var] = first
    return bits


@mutable
class _Writing:
    """The bits that are left, and the place of the first of them: registers."""

    emitter: Emitter
    found: Compaction
    bits: str
    place: str

    def store(self, lane: str) -> None:
        """Store the element of a lane at the place."""
        f = self.emitter.function
        for each in self.found.placed:
            start = self.emitter.address(each.store.buffer, each.start)
            first, stride = self.emitter.dim(each.first), self.emitter.dim(each.stride)
            value = f.op(f"add nsw i64 {first}, {f.op(f'mul nsw i64 {lane}, {each.step}')}")
            offset = f.op(f"mul nsw i64 {self.place}, {stride}")
            at = f.op(f"getelementptr i8, ptr {start}, i64 {offset}")
            f.do(f"store i64 {value}, ptr {at}, align 8{self.emitter.mark(each.store.buffer)}")

    def next_set(self) -> None:
        """Store the first element that is chosen; if there is none, what lies behind all."""
        f = self.emitter.function
        self.store(f.op(f"call i64 @llvm.cttz.i64(i64 {self.bits}, i1 false)"))
        self.bits = f.op(f"and i64 {self.bits}, {f.op(f'sub i64 {self.bits}, 1')}")
        self.place = f.op(f"add nsw i64 {self.place}, 1")

    def next_any(self, lane: str) -> None:
        """Store the next element, and the one behind it at the same place if it is not chosen."""
        f = self.emitter.function
        self.store(lane)
        self.place = f.op(f"add nsw i64 {self.place}, {f.op(f'and i64 {self.bits}, 1')}")
        self.bits = f.op(f"lshr i64 {self.bits}, 1")

    def all_set(self) -> None:
        """A loop over the bits that are set."""
        self._loop(lambda _: f"icmp ne i64 {self.bits}, 0", lambda _: self.next_set())

    def all(self) -> None:
        """A loop over all bits."""
        self._loop(lambda lane: f"icmp ult i64 {lane}, {LANES}", self.next_any)

    def _loop(self, goes_on: Callable[[str], str], body: Callable[[str], None]) -> None:
        f = self.emitter.function
        head, inside, done = f.new_label("head"), f.new_label("body"), f.new_label("done")
        before, start = f.block, (self.bits, self.place, "0")
        f.do(f"br label %{head}")
        f.start(head)
        bits, place, lane = phis = [f.reserve() for _ in range(3)]
        at = len(f.lines)
        self.bits, self.place = bits, place
        more = f.op(goes_on(lane))
        f.do(f"br i1 {more}, label %{inside}, label %{done}")
        f.start(inside)
        body(lane)
        ends = (self.bits, self.place, f.op(f"add nsw i64 {lane}, 1"))
        f.do(f"br label %{head}")
        f.lines[at:at] = [
            f"  {phi} = phi i64 [ {first}, %{before} ], [ {end}, %{inside} ]"
            for phi, first, end in zip(phis, start, ends, strict=True)
        ]
        f.start(done)


def _store(emitter: Emitter, found: Compaction, bits: str) -> None:
    """Store the places of the bits that are set, and count them."""
    f, key = emitter.function, found.total.name
    for name, options in (("cttz", ", i1"), ("ctpop", "")):
        emitter.module.declare(f"declare i64 @llvm.{name}.i64(i64{options})")
    total = emitter.regs.totals[key]
    count = f.op(f"call i64 @llvm.ctpop.i64(i64 {bits})")
    first = _Writing(emitter, found, bits, total)
    least = emitter.costs.places_first
    for _ in range(least):
        first.next_set()
    more = f.op(f"icmp ugt i64 {count}, {least}")
    emitter.either(
        more, partial(_rest, first, _Writing(emitter, found, bits, total), count), _nothing
    )
    emitter.regs.totals[key] = f.op(f"add nsw i64 {total}, {count}")


def _nothing() -> None:
    pass


def _rest(first: _Writing, whole: _Writing, count: str) -> None:
    """Store what comes behind the first ones, or where it is much faster all once more."""
    emitter, (each, *others) = whole.emitter, whole.found.placed
    if _COMPRESSES and not others and (each.stride, each.step) == (I64.itemsize, 1):
        _compress(whole)
        return
    many = emitter.function.op(f"icmp ugt i64 {count}, {emitter.costs.places_many}")
    emitter.either(many, whole.all, first.all_set)


def _compress(writing: _Writing) -> None:
    """Store by a function of its own: it takes whole registers, whatever the others do."""
    emitter, (each,) = writing.emitter, writing.found.placed
    f, start = emitter.function, emitter.address(each.store.buffer, each.start)
    at = f.op(f"getelementptr i64, ptr {start}, i64 {writing.place}")
    f.do(f"call void {_NAME}(i64 {writing.bits}, i64 {emitter.dim(each.first)}, ptr {at})")
    if _TEXT not in emitter.module.functions:
        emitter.module.functions.append(_TEXT)
        for line in _DECLARES:
            emitter.module.declare(line)


_NAME = '@"fxc.places"'
_KIND = f"<{_EIGHT} x i64>"
_MASK = f"<{_EIGHT} x i1>"
_COMPRESS = f"@llvm.experimental.vector.compress.v{_EIGHT}i64"
_DECLARES = (
    f"declare {_KIND} {_COMPRESS}({_KIND}, {_MASK}, {_KIND})",
    "declare i8 @llvm.ctpop.i8(i8)",
)


def _text() -> str:
    """A function that stores the places of the bits of a number, counted from ``first``."""
    lines = [
        f"define internal void {_NAME}(i64 %bits, i64 %first, ptr %at) noinline nounwind "
        '"min-legal-vector-width"="512" {',
        f"  %one = insertelement {_KIND} poison, i64 %first, i32 0",
        f"  %all = shufflevector {_KIND} %one, {_KIND} poison, <{_EIGHT} x i32> zeroinitializer",
        "  %c0 = add i64 0, 0",
    ]
    for number in range(LANES // _EIGHT):
        places = ", ".join(f"i64 {_EIGHT * number + lane}" for lane in range(_EIGHT))
        lines += [
            f"  %s{number} = lshr i64 %bits, {_EIGHT * number}",
            f"  %b{number} = trunc i64 %s{number} to i8",
            f"  %m{number} = bitcast i8 %b{number} to {_MASK}",
            f"  %p{number} = add {_KIND} %all, <{places}>",
            f"  %v{number} = call {_KIND} {_COMPRESS}({_KIND} %p{number}, {_MASK} %m{number}, "
            f"{_KIND} poison)",
            f"  %a{number} = getelementptr i64, ptr %at, i64 %c{number}",
            f"  store {_KIND} %v{number}, ptr %a{number}, align 8",
            f"  %n{number} = call i8 @llvm.ctpop.i8(i8 %b{number})",
            f"  %w{number} = zext i8 %n{number} to i64",
            f"  %c{number + 1} = add i64 %c{number}, %w{number}",
        ]
    return "\n".join([*lines, "  ret void", "}"])


_TEXT = _text()
