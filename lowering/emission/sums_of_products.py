"""Functions for sums of products in the order of NumPy's einsum. See Note [Sums of products].

Different sums are made side by side: a lane for each column of the result, and some of its rows;
or, where it has no columns, some rows at once, each in NumPy's own vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Literal

import numpy as np

from fxc.ir.records import frozen
from fxc.ir.symbols import Dim, symbol

from ..nests.addressing import byte_offset
from ..nests.buffers import Buffer
from ..nests.statements import Matmul
from ..nests.together import Sums
from ..operators.einsum_order import BLOCK, VECTOR
from . import sticky
from .dots import SumWriter, symbol_of
from .emitter import Counting, Emitter
from .llvm_text import Lanes, ModuleText

_NUMBERS = ("rows", "inner", "columns", "x_row", "x_inner", "y_row", "y_inner")
_STEPS = ("out_row", "out_column")
_POINTERS = ("x", "y", "out")
Sides = Literal["columns", "rows"]


@frozen
class SumForm:
    """What a function is for. Columns lie side by side, in the second matrix and, if it is
    ``dense``, in the result, in vectors of ``lanes``. A ``block`` of so many rows is made at
    once.
    """

    dtype: np.dtype
    sums: Sums
    sides: Sides
    lanes: int
    block: int
    dense: bool


def emit_sums(emitter: Emitter, stmt: Matmul, sums: Sums) -> None:
    """Loops over the leading dims, the last of which the function has itself."""
    buffers = [emitter.program.buffers[name] for name in (stmt.x, stmt.y, stmt.out)]
    shape = buffers[2].shape[:-2]
    counters = [symbol(f"{emitter.prefix}.batch{axis}") for axis in range(len(shape))]
    around = max(0, len(shape) - 1)

    def loops(axis: int) -> None:
        if axis < around:
            counting = Counting(str(counters[axis]), "0", emitter.dim(shape[axis]))
            emitter.counted(counting, (), lambda: loops(axis + 1))
        else:
            _call(emitter, buffers, sums, counters[:around])

    sticky.collect(emitter)
    loops(0)
    sticky.drop(emitter)


def _call(emitter: Emitter, buffers: list[Buffer], sums: Sums, counters: Sequence[Dim]) -> None:
    x, y, out = buffers
    rows, columns = out.shape[-2:]
    lead = len(counters)
    has_batch = len(out.shape) > lead + 2
    count: Dim = out.shape[lead] if has_batch else 1
    batch = [each.strides[lead] if has_batch else 0 for each in buffers]
    steps = [x.strides[-2], 0, out.strides[-2]]
    if rows == columns == 1 and batch[2] != 0:  # each of the batch is a row
        rows, count, steps, batch = count, 1, batch, [0, 0, 0]
    size = out.dtype.itemsize
    sides: Sides = "rows" if columns == 1 else "columns"
    target = emitter.program.target
    lanes, block = max(1, target.vector // size), target.costs.sums_rows
    form = SumForm(out.dtype, sums, sides, lanes, block, out.strides[-1] == size)
    numbers = [rows, x.shape[-1], columns, steps[0], x.strides[-1], steps[1], y.strides[-2]]
    f = emitter.function
    f.module.support[_function(form)] = None
    name = symbol_of("sums", form, form.dtype)
    kinds = ", ".join(["ptr, i64"] * 3 + ["i64"] * (1 + len(_NUMBERS) + len(_STEPS)))
    f.module.declare(f"declare void {name}({kinds}) nounwind")
    given = [
        f"ptr {emitter.address(each.name, byte_offset(each, (*counters, *_zeros(each, lead))))}, "
        f"i64 {emitter.dim(step)}"
        for each, step in zip(buffers, batch, strict=True)
    ]
    others = [count, *numbers, steps[2], out.strides[-1]]
    given += [f"i64 {emitter.dim(each)}" for each in others]
    f.do(f"call void {name}({', '.join(given)})")


def _zeros(buffer: Buffer, lead: int) -> tuple[int, ...]:
    return (0,) * (len(buffer.shape) - lead)


@cache
def _function(form: SumForm) -> str:
    """The module."""
    writer = _Sums(form)
    writer.batch()
    names = ["count", *_NUMBERS, *_STEPS]
    given = [f"ptr %{each}, i64 %{each}_batch" for each in _POINTERS]
    given += [f"i64 %{each}" for each in names]
    name = symbol_of("sums", form, form.dtype)
    return writer.text(f"define void {name}({', '.join(given)}) nounwind {{")


class _Sums(SumWriter):
    def __init__(self, form: SumForm) -> None:
        super().__init__(ModuleText(), form.dtype)
        self.form, self.size = form, form.dtype.itemsize
        self.numpys = VECTOR // self.size  # lanes of NumPy's vectors

    # -- places

    def at(self, base: str, place: str, step: str) -> str:
        offset = self.f.op(f"mul nsw i64 {place}, {step}")
        return self.f.op(f"getelementptr i8, ptr {base}, i64 {offset}")

    def plus(self, number: str, more: int | str) -> str:
        return self.f.op(f"add nsw i64 {number}, {more}")

    def whole(self, number: str, step: int) -> str:
        """The number, rounded down to a multiple of a power of two."""
        return self.f.op(f"and i64 {number}, {-step}")

    def vector(self, lanes: int) -> str:
        return Lanes(self.f, lanes).type(self.dtype)

    # -- loops

    def batch(self) -> None:
        self.loop("0", "%count", 1, self.product)
        self.f.do("ret void")

    def product(self, place: str) -> None:
        x, y, out = (self.at(f"%{name}", place, f"%{name}_batch") for name in _POINTERS)
        if self.form.sides == "rows":
            self.each_rows(partial(self.rows, x, y, out))
            return
        lanes = self.form.lanes
        wide = self.whole("%columns", 2 * lanes)

        def some(vectors: int, masked: bool, column: str) -> None:
            start = self.at(y, column, str(self.size))
            to = self.at(out, column, "%out_column")
            left = self.f.op(f"sub nsw i64 %columns, {column}") if masked else None
            tile = _Tile(self, vectors, left)
            self.each_rows(partial(tile.rows, x, start, to))

        self.loop("0", wide, 2 * lanes, partial(some, 2, False))
        self.loop(wide, "%columns", lanes, partial(some, 1, True))

    def each_rows(self, body: Callable[[int, str], None]) -> None:
        block = self.form.block
        whole = self.whole("%rows", block)
        self.loop("0", whole, block, partial(body, block))
        self.loop(whole, "%rows", 1, partial(body, 1))

    def rows_at(self, base: str, step: str, first: str, count: int) -> list[str]:
        return [self.at(base, self.plus(first, more), step) for more in range(count)]

    # -- sums without columns

    def rows(self, x: str, y: str, out: str, count: int, first: str) -> None:
        xs = self.rows_at(x, "%x_row", first, count)
        ys = self.rows_at(y, "%y_row", first, count)
        outs = self.rows_at(out, "%out_row", first, count)
        in_lanes = self.form.sums.way == "in lanes"
        lanes = self.numpys if in_lanes else 1
        kind, zero = self.vector(lanes), "zeroinitializer" if in_lanes else "0.0"
        totals = [self.variable(kind, zero) for _ in xs]
        if self.form.sums.onto:
            for total, place in zip(totals, outs, strict=True):
                self.put(kind, total, self.load(place, "0"))

        def take(get: Callable[[str], str]) -> None:
            for total, left, right in zip(totals, xs, ys, strict=True):
                product = get(left), get(right)
                before = self.get(kind, total)
                self.put(kind, total, self.plus_product(before, *product, fused=False, lanes=lanes))

        if in_lanes:
            self.in_vectors(take)
        else:
            self.loop("0", "%inner", 1, lambda place: self.one(totals, xs, ys, place))
        for total, place in zip(totals, outs, strict=True):
            value = self.neighbours(self.get(kind, total)) if in_lanes else self.get(kind, total)
            if self.form.sums.adds and not self.form.sums.onto:
                value = self.f.op(f"fadd {self.kind} {self.load(place, '0')}, {value}")
            self.f.do(f"store {self.kind} {value}, ptr {place}, align {self.size}")

    def one(self, totals: list[str], xs: list[str], ys: list[str], place: str) -> None:
        steps = [self.f.op(f"mul nsw i64 {place}, %{name}_inner") for name in "xy"]
        for total, x, y in zip(totals, xs, ys, strict=True):
            product = self.load(x, steps[0]), self.load(y, steps[1])
            before = self.get(self.kind, total)
            self.put(self.kind, total, self.plus_product(before, *product, fused=False))

    def in_vectors(self, take: Callable[[Callable[[str], str]], None]) -> None:
        """Along the sum in NumPy's vectors, of which the last one may be no whole one."""
        lanes, f = self.numpys, self.f
        whole = self.whole("%inner", BLOCK * lanes)

        def block(place: str) -> None:
            for number in reversed(range(BLOCK)):
                at = f.op(f"mul nsw i64 {self.plus(place, number * lanes)}, {self.size}")
                take(lambda base, at=at: self.load(base, at, lanes))  # type: ignore[misc]

        def rest(place: str) -> None:
            left = f.op(f"sub nsw i64 %inner, {place}")
            mask = self.mask(left, lanes)
            take(lambda base: self.masked(self.at(base, place, str(self.size)), mask, lanes))

        self.loop("0", whole, BLOCK * lanes, block)
        self.loop(whole, "%inner", lanes, rest)

    def neighbours(self, vector: str) -> str:
        kind = self.vector(self.numpys)
        parts = [
            self.f.op(f"extractelement {kind} {vector}, i64 {lane}") for lane in range(self.numpys)
        ]
        return self.folded(parts, 1)

    def folded(self, parts: list[str], lanes: int) -> str:
        """The sums of all lanes of NumPy's as one."""
        code = Lanes(self.f, lanes)
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [code.binary("fadd", self.dtype, *pair) for pair in pairs]
        return parts[0]

    # -- some lanes of a vector

    def mask(self, left: str, lanes: int) -> str:
        """So many of the lanes, or all."""
        if lanes == 1:
            return "true"
        f, kind = self.f, f"<{lanes} x i64>"
        first = f.op(f"insertelement {kind} poison, i64 {left}, i64 0")
        all_lanes = f"<{lanes} x i32> zeroinitializer"
        spread = f.op(f"shufflevector {kind} {first}, {kind} poison, {all_lanes}")
        numbers = ", ".join(f"i64 {lane}" for lane in range(lanes))
        return f.op(f"icmp slt {kind} <{numbers}>, {spread}")

    def masked(self, place: str, mask: str, lanes: int) -> str:
        if lanes == 1:
            return self.load(place, "0")
        kind, bits = self.vector(lanes), f"<{lanes} x i1>"
        name = f"@llvm.masked.load.v{lanes}f{8 * self.size}.p0"
        self.f.module.declare(f"declare {kind} {name}(ptr, i32, {bits}, {kind})")
        given = f"ptr {place}, i32 {self.size}, {bits} {mask}, {kind} zeroinitializer"
        return self.f.op(f"call {kind} {name}({given})")

    def store_masked(self, value: str, place: str, mask: str, lanes: int) -> None:
        kind, bits = self.vector(lanes), f"<{lanes} x i1>"
        name = f"@llvm.masked.store.v{lanes}f{8 * self.size}.p0"
        self.f.module.declare(f"declare void {name}({kind}, ptr, i32, {bits})")
        given = f"{kind} {value}, ptr {place}, i32 {self.size}, {bits} {mask}"
        self.f.do(f"call void {name}({given})")


class _Tile:
    """Some columns, of which there may be ``left`` fewer than lanes."""

    def __init__(self, writer: _Sums, vectors: int, left: str | None) -> None:
        self.w, self.f, self.vectors, self.left = writer, writer.f, vectors, left
        self.lanes = writer.form.lanes
        self.kind = writer.vector(self.lanes)
        self.mask = None if left is None else writer.mask(left, self.lanes)
        self.width = self.lanes * writer.size

    def rows(self, x: str, y: str, out: str, count: int, first: str) -> None:
        w, sums = self.w, self.w.form.sums
        xs = w.rows_at(x, "%x_row", first, count)
        outs = w.rows_at(out, "%out_row", first, count)
        zero = "zeroinitializer" if self.lanes > 1 else "0.0"
        totals = [[w.variable(self.kind, zero) for _ in range(self.vectors)] for _ in xs]
        if sums.onto:
            for row, place in zip(totals, outs, strict=True):
                for number, total in enumerate(row):
                    w.put(self.kind, total, self.load_out(place, number))
        if sums.way == "in turn":
            w.loop("0", "%inner", 1, partial(self.take, xs, y, totals))
        else:
            self.in_lanes(xs, y, totals)
        for row, place in zip(totals, outs, strict=True):
            for number, total in enumerate(row):
                value = w.get(self.kind, total)
                if sums.adds and not sums.onto:
                    before, code = self.load_out(place, number), Lanes(self.f, self.lanes)
                    value = code.binary("fadd", w.dtype, before, value)
                self.store(place, number, value)

    def in_lanes(self, xs: list[str], y: str, totals: list[list[str]]) -> None:
        """Each lane of NumPy's by itself, and then their sum."""
        w, lanes = self.w, self.w.numpys
        flat = [total for row in totals for total in row]
        kept = self.f.reserve()
        size = lanes * len(flat)
        self.f.stack_lines.append(f"  {kept} = alloca [{size} x {self.kind}], align 64")
        whole = w.whole("%inner", BLOCK * lanes)

        def sum_of(lane: str) -> None:
            for total in flat:
                w.put(self.kind, total, "zeroinitializer" if self.lanes > 1 else "0.0")

            def block(place: str) -> None:
                start = w.plus(place, lane)
                for number in reversed(range(BLOCK)):
                    self.take(xs, y, totals, w.plus(start, number * lanes))

            w.loop("0", whole, BLOCK * lanes, block)
            w.loop(w.plus(whole, lane), "%inner", lanes, partial(self.take, xs, y, totals))
            here = w.at(kept, lane, str(len(flat) * self.width))
            for number, total in enumerate(flat):
                place = self.f.op(f"getelementptr i8, ptr {here}, i64 {number * self.width}")
                value = w.get(self.kind, total)
                self.f.do(f"store {self.kind} {value}, ptr {place}, align {w.size}")

        w.loop("0", str(lanes), 1, sum_of)
        for number, total in enumerate(flat):
            offsets = [(lane * len(flat) + number) * self.width for lane in range(lanes)]
            parts = [w.load(kept, str(offset), self.lanes) for offset in offsets]
            w.put(self.kind, total, w.folded(parts, self.lanes))

    def take(self, xs: list[str], y: str, totals: list[list[str]], place: str) -> None:
        """The products at one place of all sums."""
        w = self.w
        step = self.f.op(f"mul nsw i64 {place}, %x_inner")
        row = w.at(y, place, "%y_inner")
        columns = [
            w.load(row, str(number * self.width), self.lanes)
            if self.mask is None
            else w.masked(row, self.mask, self.lanes)
            for number in range(self.vectors)
        ]
        for x, sums in zip(xs, totals, strict=True):
            spread = w.spread(w.load(x, step), self.lanes)
            for column, total in zip(columns, sums, strict=True):
                before = w.get(self.kind, total)
                value = w.plus_product(before, spread, column, fused=False, lanes=self.lanes)
                w.put(self.kind, total, value)

    # -- the result, which may have gaps

    def load_out(self, place: str, number: int) -> str:
        w = self.w
        if w.form.dense:
            at = self.f.op(f"getelementptr i8, ptr {place}, i64 {number * self.width}")
            if self.mask is not None:
                return w.masked(at, self.mask, self.lanes)
            return w.load(at, "0", self.lanes)
        copy = w.variable(self.kind, "zeroinitializer" if self.lanes > 1 else "0.0")
        self.one_by_one(place, number, copy, out_first=True)
        return w.get(self.kind, copy)

    def store(self, place: str, number: int, value: str) -> None:
        w = self.w
        if not w.form.dense:
            self.one_by_one(place, number, w.variable(self.kind, value), out_first=False)
            return
        at = self.f.op(f"getelementptr i8, ptr {place}, i64 {number * self.width}")
        if self.mask is not None and self.lanes > 1:
            w.store_masked(value, at, self.mask, self.lanes)
        else:
            self.f.do(f"store {self.kind} {value}, ptr {at}, align {w.size}")

    def one_by_one(self, place: str, number: int, copy: str, *, out_first: bool) -> None:
        """From the result to the copy of a vector, or back."""
        w = self.w
        stop = str(self.lanes)
        if self.left is not None:
            less = self.f.op(f"icmp slt i64 {self.left}, {stop}")
            stop = self.f.op(f"select i1 {less}, i64 {self.left}, i64 {stop}")

        def move(lane: str) -> None:
            there = w.at(place, w.plus(lane, number * self.lanes), "%out_column")
            here = w.at(copy, lane, str(w.size))
            source, target = (there, here) if out_first else (here, there)
            value = w.load(source, "0")
            self.f.do(f"store {w.kind} {value}, ptr {target}, align {w.size}")

        w.loop("0", stop, 1, move)
