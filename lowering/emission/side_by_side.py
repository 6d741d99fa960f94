"""Products of one vector with columns that lie side by side: a lane for each column.

See Note [Dot products]: each sum is added up in the order of this process's BLAS.
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from ..operators.dot_order import Apart
from .dots import SumWriter, symbol_of
from .llvm_text import Lanes, ModuleText

_PARAMETERS = "ptr %x, i64 %x_step, ptr %y, i64 %y_step, i64 %n, i64 %m, ptr %out"
_LANES = 8
_BLOCKS = (4, 1)  # registers of sums at once
_FEW = (2, 1)  # where there are no more columns than those of a strip, see ``growing_products``
_F64 = np.dtype(np.float64)


def declare_dots(module: ModuleText, order: Apart, dtype: np.dtype, begun: int = 0) -> str:
    """The function of a vector and ``m`` columns, with the products in ``out``; or, if ``begun``,
    the accumulators, each so many bytes behind the one before.
    """
    module.support[_functions(order, dtype, begun)] = None
    name = symbol_of(f"dots{begun or ''}", order, dtype)
    module.declare(f"declare void {name}(ptr, i64, ptr, i64, i64, i64, ptr) nounwind")
    return name


@cache
def _functions(order: Apart, dtype: np.dtype, begun: int) -> str:
    """The module."""
    writer = _Columns(ModuleText(), dtype)
    writer.begun = begun
    writer.columns(order)
    name = symbol_of(f"dots{begun or ''}", order, dtype)
    return writer.text(f"define void {name}({_PARAMETERS}) nounwind {{")


class _Columns(SumWriter):
    begun = 0

    def columns(self, order: Apart) -> None:
        start = "0"
        for width in (*(_LANES * each for each in (_FEW if self.begun else _BLOCKS)), 1):
            stop = self.f.op(f"sub i64 %m, {width - 1}")
            start = self.loop(start, stop, width, partial(self.some, order, width))
        self.f.do("ret void")

    def some(self, order: Apart, width: int, column: str) -> None:
        """The products with so many columns from one on."""
        f, count = self.f, order.accumulators
        lanes = min(width, _LANES)
        parts = range(width // lanes)
        kind = Lanes(f, lanes).type(_F64)
        start = f.op(f"mul nsw i64 {column}, {self.dtype.itemsize}")
        y = f.op(f"getelementptr i8, ptr %y, i64 {start}")
        totals = [[self.variable(kind, "zeroinitializer") for _ in parts] for _ in range(count)]

        def element(place: str, more: int) -> tuple[str, list[str]]:
            """An element of the vector in all lanes, and those of the columns."""
            at = f.op(f"add nsw i64 {place}, {more}")
            x = self.load("%x", f.op(f"mul nsw i64 {at}, %x_step"))
            row = f.op(f"mul nsw i64 {at}, %y_step")
            columns = []
            for part in parts:
                offset = f.op(f"add nsw i64 {row}, {part * lanes * self.dtype.itemsize}")
                columns.append(self.load(y, offset, lanes))
            return self.spread(x, lanes), columns

        def add_pairs(place: str) -> None:
            elements = [element(place, more) for more in range(2 * count)]
            for number in range(count):
                (x0, y0), (x1, y1) = elements[number], elements[number + count]
                for part in parts:
                    pair = self.pair(order, (x0, y0[part]), (x1, y1[part]), lanes)
                    self.add(totals[number][part], self.as_f64(pair, lanes), lanes)

        def add_one(place: str) -> None:
            x, columns = element(place, 0)
            for total, each in zip(totals[0], columns, strict=True):
                self.add_product(order, total, x, each, lanes)

        whole = f.op(f"and i64 %n, {-2 * count}")
        self.loop("0", whole, 2 * count, add_pairs)
        self.loop(whole, "%n", 1, add_one)
        if not self.begun:
            for part in parts:
                result = self.finished([self.get(kind, total[part]) for total in totals], lanes)
                place = f.op(f"add nsw i64 {start}, {part * lanes * self.dtype.itemsize}")
                self.store(Lanes(f, lanes).type(self.dtype), result, place)
            return
        start = f.op(f"mul nsw i64 {column}, {_F64.itemsize}")
        for number, total in enumerate(totals):
            for part in parts:
                behind = number * self.begun + part * lanes * _F64.itemsize
                self.store(kind, self.get(kind, total[part]), f.op(f"add i64 {start}, {behind}"))

    def store(self, kind: str, value: str, offset: str) -> None:
        at = self.f.op(f"getelementptr i8, ptr %out, i64 {offset}")
        self.f.do(f"store {kind} {value}, ptr {at}, align 4")
