"""Functions for products of some vectors with one matrix at once, in this process's BLAS's order.

See Note [Products of a vector and a matrix]: a lane for each column of the matrix, and sums of some
vectors in registers, so that a row of the matrix is read once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np

from fxc.ir.records import frozen

from ..operators.matrix_order import LEAST, MatrixOrder, Step, Steps
from .dots import SumWriter, symbol_of
from .llvm_text import Lanes, ModuleText

_PARAMETERS = (
    "ptr %x, i64 %x_row, i64 %x_step, ptr %y, i64 %y_step, i64 %n, i64 %m, "
    "ptr %out, i64 %out_row, i64 %count"
)


@frozen
class GemvForm:
    """What a function is for: vectors whose elements lie side by side or not, which lie ``beside``
    each other or not, each with ``fewer`` columns than the one before. It makes products of so many
    ``vectors`` at once, with so many ``columns``, of ``lanes``.
    """

    is_adjacent: bool
    beside: bool
    fewer: int
    vectors: int
    columns: int
    lanes: int


def declare_together(
    module: ModuleText, order: MatrixOrder, dtype: np.dtype, form: GemvForm
) -> str:
    """The function: ``(first vector, bytes to the next one, bytes to the next element, matrix,
    bytes to the next row, length, columns for the first vector, result, bytes to the next one,
    number of vectors)``. With ``fewer`` the columns in front of a vector's own are anything.

    There are ``LEAST`` columns for each vector, or more, and vectors for a block.
    """
    module.support[_function(order, dtype, form)] = None
    name = symbol_of("gemv", (order, form), dtype)
    module.declare(f"declare void {name}({', '.join(_kinds())}) nounwind")
    return name


def _kinds() -> list[str]:
    return [each.split()[0] for each in _PARAMETERS.split(", ")]


@cache
def _function(order: MatrixOrder, dtype: np.dtype, form: GemvForm) -> str:
    """The module."""
    writer = _Vectors(ModuleText(), dtype)
    writer.form = form
    writer.products(order)
    name = symbol_of("gemv", (order, form), dtype)
    return writer.text(f"define void {name}({_PARAMETERS}) nounwind {{")


class _Vectors(SumWriter):
    form: GemvForm

    def products(self, order: MatrixOrder) -> None:
        f, form = self.f, self.form
        steps = order.steps(is_adjacent=form.is_adjacent)
        main = "%m" if form.fewer else f.op(f"and i64 %m, {-LEAST}")

        def columns(width: int) -> None:
            def some(column: str) -> None:
                self.vectors(self.met(column, width), partial(self.block, steps, width, column))

            self.parts(main, width, some)

        self.if_holds(main, form.columns, columns, LEAST)
        some = "%count"
        if not form.fewer:
            is_all = f.op(f"icmp eq i64 {main}, %m")
            some = f.op(f"select i1 {is_all}, i64 0, i64 %count")
        self.vectors(some, partial(self.last, order))
        f.do("ret void")

    def met(self, column: str, width: int) -> str:
        """How many vectors have one of so many columns, or fill a block."""
        if not self.form.fewer:
            return "%count"
        end = self.f.op(f"add nsw i64 {column}, {max(width, self.form.vectors)}")
        return self.smallest("%count", end)

    def vectors(self, count: str, body: Callable[[str], None]) -> None:
        """``body`` for the first vector of each block."""
        self.parts(count, self.form.vectors, body)

    def parts(self, size: str, width: int, body: Callable[[str], None]) -> None:
        """``body`` for the first of each ``width`` of ``size``, which is no less; what is left is
        done with some of the last ones again.
        """
        last = self.f.op(f"sub nsw i64 {size}, {width}")
        self.loop("0", size, width, lambda place: body(self.smallest(place, last)))

    def smallest(self, left: str, right: str) -> str:
        self.f.module.declare("declare i64 @llvm.smin.i64(i64, i64)")
        return self.f.op(f"call i64 @llvm.smin.i64(i64 {left}, i64 {right})")

    def if_holds(self, size: str, width: int, body: Callable[[int], None], other: int) -> None:
        """``body`` for this width, if it is no more than the size, or for another one."""
        f = self.f
        yes, no, done = f.new_label("wide"), f.new_label("narrow"), f.new_label("done")
        f.do(f"br i1 {f.op(f'icmp sge i64 {size}, {width}')}, label %{yes}, label %{no}")
        for label, each in ((yes, width), (no, other)):
            f.start(label)
            body(each)
            f.do(f"br label %{done}")
        f.start(done)

    def block(self, steps: Steps, width: int, column: str, first: str) -> None:
        """The products of a block of vectors, from the ``first`` on, with so many columns."""
        lanes = width if width % self.form.lanes else self.form.lanes
        block = _Block(self, self.rows(first), self.shifted("%y", column), width, lanes)
        place = "0"
        for step in steps:
            stop = self.f.op(f"sub nsw i64 %n, {step.size - 1}")
            place = self.loop(place, stop, step.size, partial(block.add, step))
        for row, totals in zip(self.results(first, column), block.totals, strict=True):
            for part, total in enumerate(totals):
                at = self.f.op(f"getelementptr i8, ptr {row}, i64 {part * block.bytes}")
                value = self.get(block.kind, total)
                self.f.do(f"store {block.kind} {value}, ptr {at}, align {self.dtype.itemsize}")

    def last(self, order: MatrixOrder, first: str) -> None:
        """The products of a block of vectors with their last columns."""
        f, code = self.f, Lanes(self.f, LEAST)
        column = f.op(f"sub nsw i64 %m, {LEAST}")
        block = _Block(self, self.rows(first), self.shifted("%y", column), LEAST, LEAST)
        self.loop("0", "%n", 1, partial(block.add, Step(((0,),), order.fused_last)))
        places = ", ".join(f"i64 {LEAST - 1 - place}" for place in range(LEAST))
        mask = f"<{LEAST} x i64>"
        for number, row in enumerate(self.results(first, column)):
            before = f.op(f"add nsw i64 {first}, {number}") if self.form.fewer else "0"
            left = f.op(f"sub nsw i64 %m, {before}")
            some = f.op(f"and i64 {left}, {LEAST - 1}")
            spread = f.op(f"insertelement {mask} poison, i64 {some}, i64 0")
            spread = f.op(
                f"shufflevector {mask} {spread}, {mask} poison, <{LEAST} x i32> zeroinitializer"
            )
            is_last = f.op(f"icmp sgt {mask} {spread}, <{places}>")
            value = self.get(block.kind, block.totals[number][0])
            if order.fused_last:
                value = code.binary("fadd", self.dtype, value, code.const(0.0, self.dtype))
            align = f"align {self.dtype.itemsize}"
            other = f.op(f"load {block.kind}, ptr {row}, {align}")
            value = code.select(is_last, self.dtype, value, other)
            f.do(f"store {block.kind} {value}, ptr {row}, {align}")

    def rows(self, first: str) -> list[str]:
        """Where the vectors of a block begin."""
        f = self.f
        if self.form.beside:
            start = self.shifted("%x", first)
            return [
                f.op(f"getelementptr i8, ptr {start}, i64 {number * self.dtype.itemsize}")
                for number in range(self.form.vectors)
            ]
        return self.places("%x", "%x_row", first)

    def results(self, first: str, column: str) -> list[str]:
        return self.places(self.shifted("%out", column), "%out_row", first)

    def places(self, base: str, step: str, first: str) -> list[str]:
        f, found = self.f, []
        for number in range(self.form.vectors):
            at = f.op(f"add nsw i64 {first}, {number}")
            offset = f.op(f"mul nsw i64 {at}, {step}")
            found.append(f.op(f"getelementptr i8, ptr {base}, i64 {offset}"))
        return found

    def shifted(self, base: str, elements: str) -> str:
        offset = self.f.op(f"mul nsw i64 {elements}, {self.dtype.itemsize}")
        return self.f.op(f"getelementptr i8, ptr {base}, i64 {offset}")


class _Block:
    """Totals of some vectors with some columns, in registers."""

    def __init__(
        self, writer: _Vectors, rows: list[str], matrix: str, width: int, lanes: int
    ) -> None:
        self.writer, self.rows, self.matrix, self.lanes = writer, rows, matrix, lanes
        self.bytes = lanes * writer.dtype.itemsize
        self.parts = range(width // lanes)
        self.kind = Lanes(writer.f, lanes).type(writer.dtype)
        self.totals = [[self.new() for _ in self.parts] for _ in rows]

    def new(self) -> str:
        return self.writer.variable(self.kind, "zeroinitializer")

    def add(self, step: Step, place: str) -> None:
        """Add the products of the elements from a place on."""
        f, writer = self.writer.f, self.writer
        places = [f.op(f"add nsw i64 {place}, {more}") for more in range(step.size)]
        starts = [f.op(f"mul nsw i64 {each}, %y_step") for each in places]
        matrix = [[self.element(start, part) for start in starts] for part in self.parts]
        x_step = writer.dtype.itemsize if writer.form.is_adjacent else "%x_step"
        offsets = [f.op(f"mul nsw i64 {each}, {x_step}") for each in places]
        for row, totals in zip(self.rows, self.totals, strict=True):
            vector = [writer.spread(writer.load(row, each), self.lanes) for each in offsets]
            for column, total in zip(matrix, totals, strict=True):
                before = writer.get(self.kind, total)
                added = writer.plus_step(step, before, vector, column, self.lanes)
                writer.put(self.kind, total, added)

    def element(self, start: str, part: int) -> str:
        at = self.writer.f.op(f"add nsw i64 {start}, {part * self.bytes}")
        return self.writer.load(self.matrix, at, self.lanes)
