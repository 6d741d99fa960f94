"""Functions for products of small matrices of known shapes, in the order of this process's NumPy.

See Note [Small products]: a lane for each column of the result, and some of its rows in registers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

from fxc.ir.records import frozen, replace
from fxc.ir.symbols import Dim

from ..nests.addressing import step_of
from ..nests.buffers import F32, F64
from ..nests.statements import Matmul
from ..operators.matrix_order import Step
from ..operators.small_order import Question, SmallOrder, small_order
from .dots import SumWriter, symbol_of
from .emitter import Emitter
from .llvm_text import Lanes, ModuleText
from .one_product import layout_of, offsets_at

_PARAMETERS = "ptr %x, i64 %x_batch, ptr %y, i64 %y_batch, ptr %out, i64 %out_batch, i64 %count"


@frozen
class SmallForm:
    """What a function is for: matrices of which the columns of the result lie side by side, in
    vectors of up to ``lanes``. So many of them ``fit`` into registers as totals; loops whose
    bodies add to no more than ``whole`` of them in all are written down. ``fixed``: all products
    have one second matrix.
    """

    asked: Question
    lanes: int
    fit: int
    whole: int
    fixed: bool


def emit_small(
    emitter: Emitter,
    stmt: Matmul,
    counters: Sequence[Dim],
    count: str,
    otherwise: Callable[[], None],
) -> None:
    """Write the products along the last counter, or the one there is, if NumPy's order is known;
    else what ``otherwise`` writes, to which a test at run time may lead, too.
    """
    steps = _batch_steps(emitter, stmt, counters)
    first = [*counters[:-1], *(0 for _ in counters[-1:])]
    offsets = offsets_at(emitter.program.buffers, stmt, first)
    question = _question(emitter, stmt)
    if question is None:
        otherwise()
        return
    one = question.may_be_one and _are_one(emitter, stmt, offsets, steps)
    order = small_order(question, same=one)
    if order is None or (order.is_fused and not emitter.program.target.fuses):
        otherwise()
        return
    form, turned = _form_of(emitter, question, steps)
    f = emitter.function
    f.module.support[_function(order, form)] = None
    function = symbol_of("small", (order, form), form.asked.dtype)
    f.module.declare(f"declare void {function}(ptr, i64, ptr, i64, ptr, i64, i64) nounwind")
    x, y, out = (
        (emitter.address(name, offset), emitter.dim(step))
        for name, offset, step in zip((stmt.x, stmt.y, stmt.out), offsets, steps, strict=True)
    )

    def call() -> None:
        sides = (y, x, out) if turned else (x, y, out)
        given = ", ".join(f"ptr {place}, i64 {step}" for place, step in sides)
        f.do(f"call void {function}({given}, i64 {count})")

    if one or not question.may_be_one or small_order(question, same=True) == order:
        call()
    else:
        gap = emitter.dim(steps[0] - steps[1])
        emitter.either(_are_apart(emitter, (x[0], y[0]), gap, count), call, otherwise)


def _are_one(emitter: Emitter, stmt: Matmul, offsets: Sequence[Dim], steps: Sequence[Dim]) -> bool:
    """Whether each product is known to be of a matrix and itself."""
    x, y = (emitter.program.buffers[name] for name in (stmt.x, stmt.y))
    return x.storage == y.storage and offsets[0] == offsets[1] and steps[0] == steps[1]


def _are_apart(emitter: Emitter, places: tuple[str, str], gap: str, count: str) -> str:
    """Whether no product is of matrices at one place; ``gap``: bytes by which the first operand
    goes further than the second one, from one product to the next.
    """
    f = emitter.function
    x, y = (f.op(f"ptrtoint ptr {place} to i64") for place in places)
    away = f.op(f"sub i64 {y}, {x}")
    step = f.op(f"call i64 @llvm.umax.i64(i64 {gap}, i64 1)")
    f.module.declare("declare i64 @llvm.umax.i64(i64, i64)")
    meeting = f.op(f"sdiv i64 {away}, {step}")
    return f.op(f"icmp uge i64 {meeting}, {count}")


def _batch_steps(emitter: Emitter, stmt: Matmul, counters: Sequence[Dim]) -> list[Dim]:
    """The bytes from one product to the next, of both operands and of the result."""
    steps = []
    for offset in offsets_at(emitter.program.buffers, stmt, counters):
        step = step_of(offset, str(counters[-1])) if counters else 0
        assert step is not None
        steps.append(step)
    return steps


def _form_of(
    emitter: Emitter, question: Question, batch_steps: Sequence[Dim]
) -> tuple[SmallForm, bool]:
    """The form, and whether the function takes the operands the other way round, with rows of the
    result for columns.
    """
    target, size = emitter.program.target, question.dtype.itemsize
    turned = question.out_steps[1] != size
    if turned:
        question = replace(
            question,
            sizes=question.sizes[::-1],
            x_steps=question.y_steps[::-1],
            y_steps=question.x_steps[::-1],
            out_steps=question.out_steps[::-1],
        )
    lanes = max(1, target.vector // size)
    fit, whole = target.registers * 3 // 4, target.costs.small_whole
    form = SmallForm(question, lanes, fit, whole, batch_steps[0 if turned else 1] == 0)
    return form, turned


def _question(emitter: Emitter, stmt: Matmul) -> Question | None:
    """What NumPy is to be asked, if sizes and strides are known, of floats, the matrices are small
    and the rows of the result, or its columns, have no gaps.
    """
    buffers = emitter.program.buffers
    x, y, lies = buffers[stmt.x], buffers[stmt.y], layout_of(buffers, stmt)
    dims = (*lies.sizes, *lies.x_steps, *lies.y_steps, *lies.out_steps)
    known = [dim for dim in dims if isinstance(dim, int)]
    if x.dtype not in (F32, F64) or x.dtype != y.dtype or len(known) < len(dims):
        return None
    rows, inner, columns, *steps = known
    if stmt.done is not None or 0 in (rows, inner, columns) or rows == columns == 1:
        return None
    x_steps, y_steps, out_steps = ((steps[at], steps[at + 1]) for at in (0, 2, 4))
    most = emitter.program.target.costs.small_products * x.dtype.itemsize
    if rows * inner * columns * F64.itemsize > most or x.dtype.itemsize not in out_steps:
        return None
    return Question(x.dtype, (rows, inner, columns), x_steps, y_steps, out_steps)


@cache
def _function(order: SmallOrder, form: SmallForm) -> str:
    """The module."""
    writer = _Matrices(ModuleText(), form)
    writer.products(order)
    name = symbol_of("small", (order, form), form.asked.dtype)
    return writer.text(f"define void {name}({_PARAMETERS}) nounwind {{")


class _Matrices(SumWriter):
    def __init__(self, module: ModuleText, form: SmallForm) -> None:
        super().__init__(module, form.asked.dtype)
        self.form = form
        self.parts = _parts(form.asked.sizes[2], form.lanes)
        self.is_whole = False  # loops are written down

    def products(self, order: SmallOrder) -> None:
        """A loop over the batch."""
        rows, inner, _ = self.form.asked.sizes
        most = max(1, self.form.fit // len(self.parts))
        block = min(rows, most)
        self.is_whole = rows * inner * len(self.parts) <= self.form.whole
        columns = _Columns(self)
        if self.form.fixed:
            columns.begin("%y", again=True)
        self.loop("0", "%count", 1, partial(self.product, order, block, columns))
        self.f.do("ret void")

    def product(self, order: SmallOrder, block: int, columns: _Columns, place: str) -> None:
        rows = self.form.asked.sizes[0]
        whole = rows - rows % block
        if not self.form.fixed:
            columns.begin(self.at("%y", place, "%y_batch"), again=rows > block)
        x, out = (self.at(f"%{name}", place, f"%{name}_batch") for name in ("x", "out"))

        def some(count: int, first: str) -> None:
            x_rows = self.rows(x, self.form.asked.x_steps[0], first, count)
            totals = self.totals(order, x_rows, columns)
            for row, sums in zip(
                self.rows(out, self.form.asked.out_steps[0], first, count), totals, strict=True
            ):
                self.store(order, row, sums)

        self.each(0, whole, block, partial(some, block))
        if rows % block:
            some(rows % block, str(whole))

    def each(self, start: int, stop: int, step: int, body: Callable[[str], None]) -> None:
        if self.is_whole or stop - start <= step:
            for place in range(start, stop, step):
                body(str(place))
        else:
            self.loop(str(start), str(stop), step, body)

    def totals(self, order: SmallOrder, x_rows: list[str], columns: _Columns) -> list[list[str]]:
        """Of each row the variables for its parts, when all is added."""
        inner = self.form.asked.sizes[1]
        totals = [[self.zero(lanes) for _, lanes in self.parts] for _ in x_rows]
        place = 0
        for step in order.steps:
            stop = inner - (inner - place) % step.size
            self.each(place, stop, step.size, partial(self.take, step, x_rows, columns, totals))
            place = stop
        return totals

    def take(
        self,
        step: Step,
        x_rows: list[str],
        columns: _Columns,
        totals: list[list[str]],
        place: str,
    ) -> None:
        """One step of all totals of some rows."""
        places = [self.f.op(f"add nsw i64 {place}, {more}") for more in range(step.size)]
        for part, (_, lanes) in enumerate(self.parts):
            column = [columns.get(each, part) for each in places]
            for row, sums in zip(x_rows, totals, strict=True):
                vector = [self.spread(self.element(row, each), lanes) for each in places]
                before = self.get(self.vector(lanes), sums[part])
                value = self.plus_step(step, before, vector, column, lanes)
                self.put(self.vector(lanes), sums[part], value)

    def zero(self, lanes: int) -> str:
        return self.variable(self.vector(lanes), "zeroinitializer" if lanes > 1 else "0.0")

    def element(self, row: str, place: str) -> str:
        return self.load(row, self.f.op(f"mul nsw i64 {place}, {self.form.asked.x_steps[1]}"))

    def store(self, order: SmallOrder, row: str, sums: list[str]) -> None:
        for (first, lanes), total in zip(self.parts, sums, strict=True):
            kind, code = self.vector(lanes), Lanes(self.f, lanes)
            value = self.get(kind, total)
            if order.adds_zero:
                value = code.binary("fadd", self.dtype, value, code.const(0.0, self.dtype))
            at = self.f.op(f"getelementptr i8, ptr {row}, i64 {first * self.dtype.itemsize}")
            self.f.do(f"store {kind} {value}, ptr {at}, align {self.dtype.itemsize}")

    def vector(self, lanes: int) -> str:
        return Lanes(self.f, lanes).type(self.dtype)

    def rows(self, base: str, step: int, first: str, count: int) -> list[str]:
        places = [self.f.op(f"add nsw i64 {first}, {more}") for more in range(count)]
        return [self.at(base, place, str(step)) for place in places]

    def at(self, base: str, place: str, step: str) -> str:
        offset = self.f.op(f"mul nsw i64 {place}, {step}")
        return self.f.op(f"getelementptr i8, ptr {base}, i64 {offset}")


class _Columns:
    """The second matrix, in vectors of elements of a row. These are put together where they have
    gaps, of a matrix that is read more than once in a copy of it.
    """

    def __init__(self, writer: _Matrices) -> None:
        self.writer, self.base = writer, "%y"
        self.row, self.step = writer.form.asked.y_steps

    def begin(self, base: str, *, again: bool) -> None:
        """The matrix at this place comes next."""
        writer, f, self.base = self.writer, self.writer.f, base
        _, inner, columns = writer.form.asked.sizes
        if not again or self.step == writer.dtype.itemsize or columns == 1:
            return
        step, size = self.step, writer.dtype.itemsize
        copy, width = f.reserve(), columns * size
        f.stack_lines.append(f"  {copy} = alloca [{inner * columns} x {writer.kind}], align 64")

        def row_of(place: str) -> None:
            row, to = writer.at(base, place, row_step), writer.at(copy, place, str(width))
            for column in range(columns):
                value = writer.load(row, str(column * step))
                at = f.op(f"getelementptr i8, ptr {to}, i64 {column * size}")
                f.do(f"store {writer.kind} {value}, ptr {at}, align {size}")

        row_step = str(writer.form.asked.y_steps[0])
        writer.each(0, inner, 1, row_of)
        self.base, self.row, self.step = copy, width, size

    def get(self, place: str, part: int) -> str:
        """A vector of a row."""
        writer, (first, lanes) = self.writer, self.writer.parts[part]
        row = writer.at(self.base, place, str(self.row))
        if lanes == 1 or self.step == writer.dtype.itemsize:
            return writer.load(row, str(first * self.step), lanes)
        vector, kind = "poison", writer.vector(lanes)
        for lane in range(lanes):
            value = writer.load(row, str((first + lane) * self.step))
            vector = writer.f.op(
                f"insertelement {kind} {vector}, {writer.kind} {value}, i64 {lane}"
            )
        return vector


def _parts(columns: int, lanes: int) -> list[tuple[int, int]]:
    """Where vectors begin, and how many lanes they have: powers of two, so none is filled up."""
    parts, first = [], 0
    while first < columns:
        while lanes > columns - first:
            lanes //= 2
        parts.append((first, lanes))
        first += lanes
    return parts
