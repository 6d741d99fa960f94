"""Products of two vectors, added up in the order of this process's BLAS.

See Note [Dot products]. For each dtype there is one module of functions, which all code shares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from zlib import crc32

import numpy as np

from ..operators.dot_order import Adjacent, Apart, Fold
from ..operators.matrix_order import Step
from .llvm_text import FunctionText, Lanes, ModuleText, kind_name, scalar_type

IN_VECTORS = "; in vectors\n"  # see runtime/engine.py
_F64 = np.dtype(np.float64)
_VECTORS = "ptr %x, i64 %x_step, ptr %y, i64 %y_step, i64 %n"
_BEGUN = "double %begun0, double %begun1"  # what accumulators of ``Apart`` start with


def symbol_of(what: str, order: object, dtype: np.dtype) -> str:
    """The name of a function for one order."""
    return f'@"fxc.{what}.{kind_name(dtype)}.{crc32(repr(order).encode()):x}"'


def declare_dot(module: ModuleText, order: Adjacent | Apart, dtype: np.dtype) -> str:
    """The function of two vectors: ``(x, bytes to the next element, y, …, number)``, and behind
    that two accumulators for what ``Apart`` has begun with.
    """
    module.support[_functions(order, dtype)] = None
    name, kind = symbol_of("dot", order, dtype), scalar_type(dtype)
    begun = ", double, double" if isinstance(order, Apart) else ""
    module.declare(f"declare {kind} {name}(ptr, i64, ptr, i64, i64{begun}) nounwind")
    return name


@cache
def _functions(order: Adjacent | Apart, dtype: np.dtype) -> str:
    """The module."""
    writer, given = SumWriter(ModuleText(), dtype), _VECTORS
    if isinstance(order, Adjacent):
        writer.adjacent(order)
    else:
        writer.apart(order)
        given = f"{_VECTORS}, {_BEGUN}"
    name = symbol_of("dot", order, dtype)
    return writer.text(f"define {writer.kind} {name}({given}) nounwind {{")


class SumWriter:
    """Writes a function. What loops carry is on the stack: LLVM gives it registers."""

    def __init__(self, module: ModuleText, dtype: np.dtype) -> None:
        self.f = FunctionText(module)
        self.dtype = dtype
        self.kind = scalar_type(dtype)

    def text(self, define: str) -> str:
        """The module with this function alone."""
        body = [*self.f.stack_lines, *self.f.lines]
        lines = [*self.f.module.declares, define, "entry:", *body, "}", ""]
        return IN_VECTORS + "\n".join(lines)

    # -- statements

    def variable(self, kind: str, start: str) -> str:
        place = self.f.reserve()
        self.f.stack_lines.append(f"  {place} = alloca {kind}, align 64")
        self.f.do(f"store {kind} {start}, ptr {place}, align 64")
        return place

    def get(self, kind: str, place: str) -> str:
        return self.f.op(f"load {kind}, ptr {place}, align 64")

    def put(self, kind: str, place: str, value: str) -> None:
        self.f.do(f"store {kind} {value}, ptr {place}, align 64")

    def loop(self, start: str, stop: str, step: int, body: Callable[[str], None]) -> str:
        """``body`` for each number from ``start`` on while it is below ``stop``; the first that is
        not.
        """
        f = self.f
        counter = self.variable("i64", start)
        head, inside, done = f.new_label("head"), f.new_label("inside"), f.new_label("done")
        f.do(f"br label %{head}")
        f.start(head)
        now = self.get("i64", counter)
        f.do(f"br i1 {f.op(f'icmp slt i64 {now}, {stop}')}, label %{inside}, label %{done}")
        f.start(inside)
        body(now)
        self.put("i64", counter, f.op(f"add nsw i64 {now}, {step}"))
        f.do(f"br label %{head}")
        f.start(done)
        return now

    def load(self, base: str, offset: str, lanes: int = 1) -> str:
        at = self.f.op(f"getelementptr i8, ptr {base}, i64 {offset}")
        kind = Lanes(self.f, lanes).type(self.dtype)
        return self.f.op(f"load {kind}, ptr {at}, align {self.dtype.itemsize}")

    def spread(self, value: str, lanes: int) -> str:
        if lanes == 1:
            return value
        kind, scalar = Lanes(self.f, lanes).type(self.dtype), self.kind
        first = self.f.op(f"insertelement {kind} poison, {scalar} {value}, i64 0")
        mask = f"<{lanes} x i32> zeroinitializer"
        return self.f.op(f"shufflevector {kind} {first}, {kind} poison, {mask}")

    # -- arithmetic

    def multiply(self, x: str, y: str, lanes: int = 1) -> str:
        return Lanes(self.f, lanes).binary("fmul", self.dtype, x, y)

    def plus_product(self, total: str, x: str, y: str, *, fused: bool, lanes: int = 1) -> str:
        code = Lanes(self.f, lanes)
        if fused:
            return code.intrinsic("fma", self.dtype, (x, y, total))
        return code.binary("fadd", self.dtype, total, self.multiply(x, y, lanes))

    def plus_step(
        self, step: Step, total: str, xs: Sequence[str], ys: Sequence[str], lanes: int
    ) -> str:
        """The total behind a step, which takes these pairs."""
        if step.is_onto:
            return self.plus_product(total, xs[0], ys[0], fused=True, lanes=lanes)
        code, sums = Lanes(self.f, lanes), []
        for head, *others in step.chains:
            chain = self.multiply(xs[head], ys[head], lanes)
            for each in others:
                chain = self.plus_product(chain, xs[each], ys[each], fused=step.fused, lanes=lanes)
            sums.append(chain)
        found, *rest = sums
        for other in rest:
            found = code.binary("fadd", self.dtype, found, other)
        return code.binary("fadd", self.dtype, total, found)

    def as_f64(self, value: str, lanes: int = 1) -> str:
        if self.dtype == _F64:
            return value
        return Lanes(self.f, lanes).convert("fpext", value, self.dtype, _F64)

    def finished(self, totals: Sequence[str], lanes: int = 1) -> str:
        """The number that accumulators, of float64, give. NumPy adds it to 0.0, so it is no
        negative zero.
        """
        code = Lanes(self.f, lanes)
        total, *others = totals
        for each in (*others, code.const(0.0, _F64)):
            total = code.binary("fadd", _F64, total, each)
        return total if self.dtype == _F64 else code.convert("fptrunc", total, _F64, self.dtype)

    def give(self, *totals: str) -> None:
        self.f.do(f"ret {self.kind} {self.finished(totals)}")

    # -- vectors without gaps

    def adjacent(self, order: Adjacent) -> None:
        f, lanes = self.f, order.lanes
        whole = f.op(f"and i64 %n, {-order.multiple}")
        start, starts = "0", ["zeroinitializer"] * 4
        if order.wide:
            start = f.op(f"and i64 {whole}, {-8 * lanes}")
            both = self._blocks("0", start, 2 * lanes, starts, fused=order.fused)
            code = Lanes(f, 2 * lanes)
            starts = [self._halved(part, code) for part in both]
        parts = self._blocks(start, whole, lanes, starts, fused=order.fused)
        for step in order.fold:
            parts, lanes = self._folded(step, parts, lanes)
        (total,) = parts
        apart = order.apart
        rest = self.variable("double" if apart else self.kind, "0.0" if apart else total)

        def add(place: str) -> None:
            offset = f.op(f"mul nsw i64 {place}, {self.dtype.itemsize}")
            x, y = self.load("%x", offset), self.load("%y", offset)
            if apart:
                product = self.as_f64(self.multiply(x, y))
                value = f.op(f"fadd double {self.get('double', rest)}, {product}")
                self.put("double", rest, value)
            else:
                before = self.get(self.kind, rest)
                value = self.plus_product(before, x, y, fused=order.fused_rest)
                self.put(self.kind, rest, value)

        self.loop(whole, "%n", 1, add)
        if apart:
            total = self.as_f64(total)
            self.give(f.op(f"fadd double {self.get('double', rest)}, {total}"))
        else:
            self.give(self.get(self.kind, rest))

    def _blocks(
        self, start: str, stop: str, lanes: int, starts: Sequence[str], *, fused: bool
    ) -> list[str]:
        """The accumulators behind the blocks."""
        f, kind = self.f, Lanes(self.f, lanes).type(self.dtype)
        places = [self.variable(kind, each) for each in starts]

        def add(place: str) -> None:
            for number, at in enumerate(places):
                first = f.op(f"add nsw i64 {place}, {number * lanes}")
                offset = f.op(f"mul nsw i64 {first}, {self.dtype.itemsize}")
                x, y = self.load("%x", offset, lanes), self.load("%y", offset, lanes)
                before = self.get(kind, at)
                self.put(kind, at, self.plus_product(before, x, y, fused=fused, lanes=lanes))

        self.loop(start, stop, len(places) * lanes, add)
        return [self.get(kind, at) for at in places]

    def _halved(self, part: str, code: Lanes) -> str:
        half = code.count // 2
        low, high = (code.part(part, self.dtype, number, half) for number in (0, 1))
        return Lanes(self.f, half).binary("fadd", self.dtype, low, high)

    def _folded(self, step: Fold, parts: list[str], lanes: int) -> tuple[list[str], int]:
        code = Lanes(self.f, lanes)
        match step:
            case "halves":
                return [self._halved(part, code) for part in parts], lanes // 2
            case "neighbours":
                return [self._joined(part, code) for part in parts], lanes // 2
            case "pairs":
                a, b, c, d = parts
                first, second = (code.binary("fadd", self.dtype, *p) for p in ((a, b), (c, d)))
                return [code.binary("fadd", self.dtype, first, second)], lanes
            case "chain":
                total, *others = parts
                for each in others:
                    total = code.binary("fadd", self.dtype, total, each)
                return [total], lanes

    def _joined(self, part: str, code: Lanes) -> str:
        """Each odd lane added to the one before."""
        kind, few = code.type(self.dtype), Lanes(self.f, code.count // 2)
        if few.count == 1:
            return self._halved(part, code)
        sides = []
        for first in (0, 1):
            lanes = ", ".join(f"i32 {lane}" for lane in range(first, code.count, 2))
            mask = f"<{few.count} x i32> <{lanes}>"
            sides.append(self.f.op(f"shufflevector {kind} {part}, {kind} poison, {mask}"))
        return few.binary("fadd", self.dtype, *sides)

    # -- vectors with gaps

    def apart(self, order: Apart) -> None:
        f, count = self.f, order.accumulators
        whole = f.op(f"and i64 %n, {-2 * count}")
        totals = [self.variable("double", f"%begun{number}") for number in range(count)]

        def element(place: str, more: int) -> tuple[str, str]:
            at = f.op(f"add nsw i64 {place}, {more}")
            offsets = [f.op(f"mul nsw i64 {at}, {step}") for step in ("%x_step", "%y_step")]
            return self.load("%x", offsets[0]), self.load("%y", offsets[1])

        def add_pairs(place: str) -> None:
            elements = [element(place, more) for more in range(2 * count)]
            for number, total in enumerate(totals):
                pair = self.pair(order, elements[number], elements[number + count])
                self.add(total, self.as_f64(pair))

        def add_one(place: str) -> None:
            self.add_product(order, totals[0], *element(place, 0))

        self.loop("0", whole, 2 * count, add_pairs)
        self.loop(whole, "%n", 1, add_one)
        self.give(*(self.get("double", each) for each in totals))

    def add(self, total: str, value: str, lanes: int = 1) -> None:
        code = Lanes(self.f, lanes)
        kind = code.type(_F64)
        self.put(kind, total, code.binary("fadd", _F64, self.get(kind, total), value))

    def add_product(self, order: Apart, total: str, x: str, y: str, lanes: int = 1) -> None:
        """Add what is left to the first accumulator."""
        if order.fused_rest:
            kind = Lanes(self.f, lanes).type(_F64)
            before = self.get(kind, total)
            self.put(kind, total, self.plus_product(before, x, y, fused=True, lanes=lanes))
        else:
            self.add(total, self.as_f64(self.multiply(x, y, lanes), lanes), lanes)

    def pair(
        self, order: Apart, first: tuple[str, str], second: tuple[str, str], lanes: int = 1
    ) -> str:
        """The sum of two products."""
        pairs = [first, second]
        if order.exact == 1:
            pairs.reverse()
        rounded = self.multiply(*pairs[1], lanes)
        return self.plus_product(rounded, *pairs[0], fused=order.exact is not None, lanes=lanes)
