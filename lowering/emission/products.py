"""Matrix products, sorts and complex functions: calls of NumPy's own functions in C.

The inner loop of ``matmul`` chooses the BLAS routine, as in NumPy.
These are reached through a table of pointers that the runtime fills in
(``Module.inner_loops``); nothing in the code depends on where NumPy lies in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from fxc.ir.records import replace
from fxc.ir.symbols import Dim, product, symbol

from ..nests.addressing import byte_offset, step_of
from ..nests.statements import Apply, Matmul
from ..operators.dot_order import LONGEST, Adjacent, Apart, dot_order
from . import sticky
from .dots import declare_dot
from .emitter import Counting, Emitter
from .llvm_text import kind_name, scalar_type
from .one_product import Product, call_inner_loop, leading, matrix, product_at
from .side_by_side import declare_dots
from .small_products import emit_small
from .sums_of_products import emit_sums
from .together import emit_together


def emit_matmul(emitter: Emitter, stmt: Matmul) -> None:
    """Loops over the leading dims around calls of the inner loop, or of functions that add up."""
    if stmt.sums is not None:
        emit_sums(emitter, stmt, stmt.sums)
        return
    if stmt.together is not None:
        emit_together(emitter, stmt)
        return
    if stmt.done is not None:
        (_end if stmt.begun is not None else _begin)(emitter, stmt)
        return
    batch = _batch_of(emitter, stmt)
    counters = [symbol(f"{emitter.prefix}.batch{axis}") for axis in range(len(batch))]
    _batch(emitter, stmt, list(zip(map(str, counters), batch, strict=True)), counters)


def _batch_of(emitter: Emitter, stmt: Matmul) -> tuple[Dim, ...]:
    """The leading dims, which the product of two matrices has not."""
    out, x, y = (emitter.program.buffers[name] for name in (stmt.out, stmt.x, stmt.y))
    return out.shape[: len(out.shape) - sum(len(b.shape) > 1 for b in (x, y))]


def _batch(
    emitter: Emitter, stmt: Matmul, loops: list[tuple[str, Dim]], counters: Sequence[Dim]
) -> None:
    if not loops:
        call = partial(_call, emitter, stmt, counters)
        if counters:
            call()
        else:
            emit_small(emitter, stmt, (), "1", call)
        return
    (var, size), *rest = loops
    stop = emitter.dim(size)

    def one_by_one() -> None:
        emitter.counted(Counting(var, "0", stop), (), lambda: _batch(emitter, stmt, rest, counters))

    if rest:
        one_by_one()
        return
    order = _order_of_columns(emitter, stmt, counters)
    if order is None:
        emit_small(emitter, stmt, counters, stop, one_by_one)
        return
    first = [*counters[:-1], 0]
    _if_short(
        emitter,
        stmt,
        lambda: _add_up_columns(emitter, product_at(emitter, stmt, first), order, stop),
        one_by_one,
    )


def _begin(emitter: Emitter, stmt: Matmul) -> None:
    """The accumulators of products that are made in two parts."""
    out, x, y = (emitter.program.buffers[name] for name in (stmt.out, stmt.x, stmt.y))
    found = _columns_at(emitter, stmt, symbol(f"{emitter.prefix}.batch", hint=0))
    if found is None:
        return
    stride, steps = out.strides[0], [matrix(each, as_row=each is x)[1] for each in (x, y)]
    assert isinstance(stride, int)

    def begin() -> None:
        pointers = tuple(emitter.address(each.name, each.offset) for each in (x, y, out))
        sizes = (1, x.shape[-1], 1)
        product = Product(pointers, sizes, steps[0], steps[1], (0, 0), x.dtype)
        _add_up_columns(emitter, product, found, emitter.dim(x.shape[0]), stride)

    _if_short(emitter, stmt, begin, lambda: None)


def _end(emitter: Emitter, stmt: Matmul) -> None:
    """What is left of a product that has begun."""
    order = _known_order(emitter, stmt)
    if not isinstance(order, Apart):
        _call(emitter, stmt, ())
        return
    assert stmt.begun is not None
    assert stmt.done is not None
    begun, done = emitter.program.buffers[stmt.begun], stmt.done
    product = product_at(emitter, stmt, ())

    def add() -> None:
        f = emitter.function
        totals = []
        for row in range(order.accumulators):
            at = emitter.address(begun.name, byte_offset(begun, (row, stmt.place)))
            totals.append(f.op(f"load double, ptr {at}, align 8"))
        rest = _behind(emitter, product, done)
        _add_up(emitter, rest, order, totals)

    _if_short(emitter, stmt, add, lambda: call_inner_loop(emitter, product))


def _behind(emitter: Emitter, product: Product, done: Dim) -> Product:
    """The product of two vectors without their first elements."""
    f = emitter.function
    x, y, out = product.pointers
    steps = product.x_steps[1], product.y_steps[0]
    x, y = (
        f.op(f"getelementptr i8, ptr {start}, i64 {emitter.dim(done * step)}")
        for start, step in zip((x, y), steps, strict=True)
    )
    rows, inner, columns = product.sizes
    return replace(product, pointers=(x, y, out), sizes=(rows, inner - done, columns))


def _if_short(
    emitter: Emitter, stmt: Matmul, yes: Callable[[], None], no: Callable[[], None]
) -> None:
    """Write ``yes`` for vectors of up to ``LONGEST`` elements, whose order of additions is known,
    and ``no`` for longer ones; a test at run time chooses where the size is a symbol.
    """
    size = matrix(emitter.program.buffers[stmt.x], as_row=True)[0][1]
    if isinstance(size, int):
        yes()
        return
    is_short = emitter.function.op(f"icmp ule i64 {emitter.dim(size)}, {LONGEST}")
    emitter.either(is_short, yes, no)


def _call(emitter: Emitter, stmt: Matmul, counters: Sequence[Dim]) -> None:
    product, order = product_at(emitter, stmt, counters), _known_order(emitter, stmt)
    if order is None:
        call_inner_loop(emitter, product)
        return
    _if_short(
        emitter,
        stmt,
        lambda: _add_up(emitter, product, order),
        lambda: call_inner_loop(emitter, product),
    )


def _known_order(emitter: Emitter, stmt: Matmul) -> Adjacent | Apart | None:
    """The order of additions of a product of two vectors, if native code can add them up so."""
    x, y = emitter.program.buffers[stmt.x], emitter.program.buffers[stmt.y]
    (rows, inner), x_steps = matrix(x, as_row=True)
    (_, columns), y_steps = matrix(y, as_row=False)
    steps = (x_steps[1], y_steps[0])
    if (rows, columns) != (1, 1) or x.dtype.kind != "f":
        return None
    if not all(isinstance(step, int) and step > 0 for step in steps):
        return None
    if isinstance(inner, int) and inner > LONGEST:
        return None
    order = dot_order(x.dtype)
    return order.adjacent if steps == (x.dtype.itemsize,) * 2 else order.apart


def _order_of_columns(
    emitter: Emitter, stmt: Matmul, counters: Sequence[Dim]
) -> tuple[Apart, int] | None:
    """As ``_columns_at``, of a batch whose products lie side by side, too."""
    out, batch = emitter.program.buffers[stmt.out], _batch_of(emitter, stmt)
    is_along = out.strides[len(batch) - 1] == out.dtype.itemsize
    return _columns_at(emitter, stmt, *counters) if is_along else None


def _columns_at(emitter: Emitter, stmt: Matmul, *counters: Dim) -> tuple[Apart, int] | None:
    """The order of the products along the last axis of a batch, if they are those of one vector and
    columns that lie side by side, and which operand the vector is.
    """
    order = _known_order(emitter, stmt)
    if not isinstance(order, Apart):
        return None
    operands = [emitter.program.buffers[name] for name in (stmt.x, stmt.y)]
    steps = [
        step_of(leading(each, counters, min(2, len(each.shape))), str(counters[-1]))
        for each in operands
    ]
    if sorted(map(str, steps)) != ["0", str(operands[0].dtype.itemsize)]:
        return None
    return order, steps.index(0)


def _add_up(
    emitter: Emitter, product: Product, order: Adjacent | Apart, begun: Sequence[str] = ()
) -> None:
    """``begun``: what accumulators start with."""
    f = emitter.function
    x, y, out = product.pointers
    kind, name = scalar_type(product.dtype), declare_dot(f.module, order, product.dtype)
    x_step, y_step = product.x_steps[1], product.y_steps[0]
    size = emitter.dim(product.sizes[1])
    starts = "".join(f", double {each}" for each in (*begun, "0.0", "0.0")[:2])
    given = f"ptr {x}, i64 {x_step}, ptr {y}, i64 {y_step}, i64 {size}"
    total = f.op(f"call {kind} {name}({given}{starts if isinstance(order, Apart) else ''})")
    f.do(f"store {kind} {total}, ptr {out}, align {product.dtype.itemsize}")


def _add_up_columns(
    emitter: Emitter, product: Product, way: tuple[Apart, int], count: str, begun: int = 0
) -> None:
    """``way``: what ``_columns_at`` gives; for ``begun`` see ``declare_dots``."""
    f, (order, vector) = emitter.function, way
    x, y, out = product.pointers
    sides = [f"ptr {x}, i64 {product.x_steps[1]}", f"ptr {y}, i64 {product.y_steps[0]}"]
    size = emitter.dim(product.sizes[1])
    name = declare_dots(f.module, order, product.dtype, begun)
    given = f"{sides[vector]}, {sides[1 - vector]}, i64 {size}, i64 {count}, ptr {out}"
    f.do(f"call void {name}({given})")


def emit_apply(emitter: Emitter, stmt: Apply) -> None:
    """NumPy's function on each row; the inner loop of a ufunc on all elements at once."""
    if stmt.function in ("sort", "argsort"):
        _sort(emitter, stmt)
        return
    sticky.collect(emitter)
    out, f = emitter.program.buffers[stmt.out], emitter.function
    place, step = emitter.address(stmt.out, out.offset), str(out.dtype.itemsize)
    arrays = emitter.on_stack("ptr", [place, place])
    sizes = emitter.on_stack("i64", [emitter.dim(product(out.shape))])
    steps = emitter.on_stack("i64", [step, step])
    loop, data = emitter.inner_loop(stmt.function, kind_name(out.dtype))
    f.do(f"call void {loop}(ptr {arrays}, ptr {sizes}, ptr {steps}, ptr {data})")


def _sort(emitter: Emitter, stmt: Apply) -> None:
    """Loops over the leading dims around calls of NumPy's function."""
    out, f = emitter.program.buffers[stmt.out], emitter.function
    counters = [symbol(f"{emitter.prefix}.row{axis}") for axis in range(len(out.shape) - 1)]

    place = symbol(f"{emitter.prefix}.place")

    def number() -> None:
        at = emitter.address(stmt.out, leading(out, counters, 1) + place * 8)
        f.do(f"store i64 {emitter.dim(place)}, ptr {at}, align 8")

    def sort(axis: int) -> None:
        if axis < len(counters):
            stop = emitter.dim(out.shape[axis])
            emitter.counted(Counting(str(counters[axis]), "0", stop), (), lambda: sort(axis + 1))
            return
        size = emitter.dim(out.shape[-1])
        if stmt.keys is not None:
            emitter.counted(Counting(str(place), "0", size), (), number)
        several, done = f.new_label("several"), f.new_label("sorted")
        f.do(f"br i1 {f.op(f'icmp sgt i64 {size}, 1')}, label %{several}, label %{done}")
        f.start(several)  # as NumPy, which calls it for no less
        row = emitter.address(stmt.out, leading(out, counters, 1))
        if stmt.keys is not None:
            given = emitter.program.buffers[stmt.keys]
            keys = emitter.address(stmt.keys, leading(given, counters, 1))
            row = f"{keys}, ptr {row}"
        kind = emitter.program.buffers[stmt.keys or stmt.out].dtype.str[1:]
        function, _ = emitter.inner_loop(stmt.function, kind)
        f.op(f"call i32 {function}(ptr {row}, i64 {size}, ptr null)")
        f.do(f"br label %{done}")
        f.start(done)

    sort(0)
