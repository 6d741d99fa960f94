"""Products of vectors with one matrix: some at once, what is left by NumPy's inner loop.

See Note [Products of a vector and a matrix].
"""

from __future__ import annotations

from fxc.ir.symbols import Dim, symbol

from ..nests.statements import Matmul
from ..operators.matrix_order import LEAST, MOST, matrix_order
from .emitter import Counting, Emitter
from .gemv import GemvForm, declare_together
from .one_product import Product, call_inner_loop


def emit_together(emitter: Emitter, stmt: Matmul) -> None:
    """The products of a batch: of as many vectors at once as may be, of the others by NumPy's inner
    loop.
    """
    f, buffers = emitter.function, emitter.program.buffers
    x, y, out = (buffers[name] for name in (stmt.x, stmt.y, stmt.out))
    assert stmt.together is not None
    fewer = stmt.together.fewer
    all_vectors, length, columns = (
        emitter.dim(each) for each in (x.shape[0], y.shape[0], y.shape[1])
    )
    order = matrix_order(x.dtype)
    at_once = "0"
    if order is not None:
        at_once = _at_once(emitter, stmt, all_vectors, length, columns)
        form = _form(emitter, stmt)
        name = declare_together(f.module, order, x.dtype, form)
        steps = [emitter.dim(each) for each in (x.strides[0], x.strides[2], y.strides[0])]
        starts = [emitter.address(each.name, each.offset) for each in (x, y, out)]
        row = emitter.dim(out.strides[0])

        def call() -> None:
            f.do(
                f"call void {name}(ptr {starts[0]}, i64 {steps[0]}, i64 {steps[1]}, "
                f"ptr {starts[1]}, i64 {steps[2]}, i64 {length}, i64 {columns}, "
                f"ptr {starts[2]}, i64 {row}, i64 {at_once})"
            )

        emitter.either(f.op(f"icmp sgt i64 {at_once}, 0"), call, lambda: None)
    place = f"{emitter.prefix}.place"
    emitter.counted(
        Counting(place, at_once, all_vectors),
        (),
        lambda: call_inner_loop(emitter, _product_of(emitter, stmt, symbol(place), fewer)),
    )


def _at_once(emitter: Emitter, stmt: Matmul, count: str, length: str, columns: str) -> str:
    """How many of the first vectors the function can be given: none, if they fill no block, or if
    the matrix is none that BLAS was asked about.
    """
    f, together = emitter.function, stmt.together
    assert together is not None
    y = emitter.program.buffers[stmt.y]
    row = emitter.dim(y.strides[0])
    if together.fewer:
        f.module.declare("declare i64 @llvm.smin.i64(i64, i64)")
        wide = f.op(f"sub nsw i64 {columns}, {LEAST - 1}")
        count = f.op(f"call i64 @llvm.smin.i64(i64 {count}, i64 {wide})")
    size = f.op(f"mul i64 {length}, {columns}")
    checks = (
        f.op(f"icmp ule i64 {size}, {MOST}"),
        f.op(f"icmp sge i64 {columns}, {LEAST}"),
        f.op(f"icmp sge i64 {count}, {together.vectors}"),
        f.op(f"icmp sge i64 {row}, {f.op(f'mul i64 {columns}, {y.dtype.itemsize}')}"),
    )
    holds, *others = checks
    for each in others:
        holds = f.op(f"and i1 {holds}, {each}")
    return f.op(f"select i1 {holds}, i64 {count}, i64 0")


def _form(emitter: Emitter, stmt: Matmul) -> GemvForm:
    x, together = emitter.program.buffers[stmt.x], stmt.together
    assert together is not None
    size = x.dtype.itemsize
    lanes = max(1, emitter.program.target.vector // size)
    return GemvForm(
        x.strides[2] == size,
        x.strides[0] == size,
        together.fewer,
        together.vectors,
        together.columns,
        lanes,
    )


def _product_of(emitter: Emitter, stmt: Matmul, place: Dim, fewer: int) -> Product:
    """That of the vector at a place."""
    x, y, out = (emitter.program.buffers[name] for name in (stmt.x, stmt.y, stmt.out))
    behind = place * fewer
    shift = behind * y.dtype.itemsize
    offsets = (
        (x, x.offset + place * x.strides[0]),
        (y, y.offset + shift),
        (out, out.offset + place * out.strides[0] + shift),
    )
    return Product(
        tuple(emitter.address(each.name, offset) for each, offset in offsets),
        (1, y.shape[0], y.shape[1] - behind),
        (0, x.strides[2]),
        (y.strides[0], y.strides[1]),
        (0, out.strides[2]),
        x.dtype,
    )
