"""One product of two matrices: a call of NumPy's own inner loop, which chooses the BLAS routine.

It is reached through a table of pointers that the runtime fills in (``Module.inner_loops``);
nothing in the code depends on where NumPy lies in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fxc.ir.records import frozen
from fxc.ir.symbols import Dim
from fxc.ops.metas.shapes import goes_in

from ..nests.buffers import Buffer
from ..nests.statements import Matmul
from . import sticky
from .emitter import Emitter
from .llvm_text import kind_name


def matrix(buffer: Buffer, *, as_row: bool) -> tuple[tuple[Dim, Dim], tuple[Dim, Dim]]:
    """Sizes and strides of the last two dims; a vector is a row or a column."""
    shape, strides = buffer.shape[-2:], buffer.strides[-2:]
    if len(buffer.shape) == 1:
        shape = (1, *shape) if as_row else (*shape, 1)
        strides = (0, *strides) if as_row else (*strides, 0)
    fixed = tuple(0 if dim == 1 else stride for dim, stride in zip(shape, strides, strict=True))
    return (shape[0], shape[1]), (fixed[0], fixed[1])


def leading(
    buffer: Buffer, counters: Sequence[Dim], core: int, batch: Sequence[Dim] | None = None
) -> Dim:
    """The byte offset of the matrix at the position in a batch, or of the row at that in the
    buffer's own leading dims. A dim of size 1 goes into any.
    """
    offset = buffer.offset
    lead = len(buffer.shape) - core
    skipped = len(counters) - lead
    for axis, dim in enumerate(buffer.shape[:lead]):
        if not goes_in(dim, dim if batch is None else batch[skipped + axis]):
            offset = offset + counters[skipped + axis] * buffer.strides[axis]
    return offset


@frozen
class ProductLayout:
    """What is the same for all products of a batch: sizes and strides."""

    sizes: tuple[Dim, Dim, Dim]
    x_steps: tuple[Dim, Dim]
    y_steps: tuple[Dim, Dim]
    out_steps: tuple[Dim, Dim]


@frozen
class Product:
    """One product of two matrices: what NumPy's inner loop is given."""

    pointers: tuple[str, ...]  # of x, y and the result
    sizes: tuple[Dim, Dim, Dim]
    x_steps: tuple[Dim, Dim]
    y_steps: tuple[Dim, Dim]
    out_steps: tuple[Dim, Dim]
    dtype: np.dtype


def layout_of(buffers: Mapping[str, Buffer], stmt: Matmul) -> ProductLayout:
    out, x, y = buffers[stmt.out], buffers[stmt.x], buffers[stmt.y]
    (rows, inner), x_steps = matrix(x, as_row=True)
    (_, columns), y_steps = matrix(y, as_row=False)
    core = out.strides[_lead(buffers, stmt) :]
    return ProductLayout(
        (rows, inner, columns),
        x_steps,
        y_steps,
        (
            core[0] if len(x.shape) > 1 and rows != 1 else 0,
            core[-1] if len(y.shape) > 1 and columns != 1 else 0,
        ),
    )


def offsets_at(
    buffers: Mapping[str, Buffer], stmt: Matmul, counters: Sequence[Dim]
) -> tuple[Dim, Dim, Dim]:
    """The byte offsets of both operands and of the result at the position in a batch."""
    out, lead = buffers[stmt.out], _lead(buffers, stmt)
    x, y = (
        leading(each, counters, min(2, len(each.shape)), out.shape[:lead])
        for each in (buffers[stmt.x], buffers[stmt.y])
    )
    return x, y, leading(out, counters, len(out.shape) - lead, out.shape[:lead])


def _lead(buffers: Mapping[str, Buffer], stmt: Matmul) -> int:
    """The number of the leading dims of the result."""
    vectors = sum(len(buffers[name].shape) > 1 for name in (stmt.x, stmt.y))
    return len(buffers[stmt.out].shape) - vectors


def product_at(emitter: Emitter, stmt: Matmul, counters: Sequence[Dim]) -> Product:
    buffers = emitter.program.buffers
    offsets = offsets_at(buffers, stmt, counters)
    pointers = tuple(
        emitter.address(name, offset)
        for name, offset in zip((stmt.x, stmt.y, stmt.out), offsets, strict=True)
    )
    lies = layout_of(buffers, stmt)
    return Product(
        pointers, lies.sizes, lies.x_steps, lies.y_steps, lies.out_steps, buffers[stmt.out].dtype
    )


def call_inner_loop(emitter: Emitter, product: Product) -> None:
    f = emitter.function
    sticky.collect(emitter)
    steps: list[Dim] = [0, 0, 0, *product.x_steps, *product.y_steps, *product.out_steps]
    arrays = emitter.on_stack("ptr", product.pointers)
    dims = emitter.on_stack("i64", [emitter.dim(d) for d in (1, *product.sizes)])
    strides = emitter.on_stack("i64", [emitter.dim(d) for d in steps])
    loop, data = emitter.inner_loop("matmul", kind_name(product.dtype))
    f.do(f"call void {loop}(ptr {arrays}, ptr {dims}, ptr {strides}, ptr {data})")
