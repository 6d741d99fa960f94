"""Products of matrices: NumPy's own inner loop on operands that lie as NumPy's do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fxc.ir.bounds import decide
from fxc.ir.graph import Node, Operand
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, c_strides

from ..nests.buffers import BOOL, I64, Atom, Buffer, Const
from ..nests.statements import Compute, If, Index, Matmul
from ..operators.matrix_order import LEAST
from .call_operands import as_numpys, place_shared
from .context import Context
from .stores import store, whole
from .writes import aimed_buffer

_LONG_ROW = 9  # elements
Less = tuple[Dim, Dim]  # whether the first is less than the second


def contraction(context: Context, node: Node) -> None:
    """A matrix product: NumPy's own inner loop (BLAS) on strided operands, or on the copies of
    them that ``np.dot`` makes. See Note [What a call sees].
    """
    dtype = node.output.type.dtype
    place_shared(context, *node.args[:2])
    names = [as_numpys(context, operand) for operand in node.args[:2]]
    given = [context.buffers[name] for name in names]
    asked: list[tuple[Less, ...]] = [(), ()]
    for number, (operand, buffer) in enumerate(zip(node.args[:2], given, strict=True)):
        copies = node.op == "dot" and _copies(buffer, given[1 - number], is_first=number == 0)
        if buffer.dtype != dtype or copies is True:
            names[number] = _copied(context, operand, dtype, node)
        elif copies:
            asked[number] = copies
    out = aimed_buffer(context, node)
    product = Matmul(out, names[0], names[1], node.loc)
    stmts = context.scope.statements
    before = len(stmts)
    for number, operand in enumerate(node.args[:2]):
        if asked[number]:
            names[number] = _copied(context, operand, dtype, node)
    copying = (*stmts[before:], Matmul(out, names[0], names[1], node.loc))
    del stmts[before:]
    checks = (*asked[0], *asked[1])
    context.emit(If(_holds(context, checks), copying, (product,)) if checks else product)
    context.put(node.output, out)


def _copied(context: Context, operand: Operand, dtype: np.dtype, node: Node) -> str:
    """A buffer with the operand, in C order; a matrix that ``np.dot`` casts keeps its own."""
    kind = operand.type
    assert isinstance(kind, ArrayType)
    strides = c_strides(kind.shape, dtype.itemsize)
    if node.op == "dot" and kind.dtype != dtype and _is_turned(kind.shape, kind.strides):
        strides = (dtype.itemsize, kind.shape[0] * dtype.itemsize)
    copy = context.add_buffer(dtype, kind.shape, strides)
    store(context, operand, copy, whole, node.loc)
    return copy


def _is_turned(shape: Sequence[Dim], strides: Sequence[Dim]) -> bool:
    """Whether an array is a matrix whose columns lie closer to each other in memory than its rows:
    a copy of it that keeps its order is in Fortran order.
    """
    if len(shape) != 2 or any(guard(size, "<=", 1) for size in shape):
        return False
    first, second = (stride if guard(stride, ">=", 0) else -stride for stride in strides)
    return guard(first, "<", second)


def _copies(matrix: Buffer, vector: Buffer, *, is_first: bool) -> bool | tuple[Less, ...]:
    """Whether ``np.dot`` copies an operand before it calls BLAS, and that may show; or, of a matrix
    for a vector, what decides about it when it runs.

    It copies what has gaps, but for a single row or column. The copy of a window of a C array shows
    where BLAS has another order if there are no gaps between the rows: for a vector without gaps
    times 2 or 3 columns, and for rows of up to 8 elements; a single row or column is a vector. See
    Note [Products of a vector and a matrix].
    """
    step = _step(vector, is_first=not is_first)
    if len(matrix.shape) != 2 or step is None:
        return dot_copies(matrix)
    size, (rows, columns), (first, second) = matrix.dtype.itemsize, matrix.shape, matrix.strides
    checks: list[Less] = [(1, rows), (1, columns)]
    if any(decide(stride, ">", 0) is not True for stride in (first, second)):
        return dot_copies(matrix)
    if second == size:
        if not is_first and decide(step, ">", size) is True:
            return False
        checks += [(columns * size, first), (columns, _LONG_ROW if is_first else LEAST)]
    elif first == size:
        checks.append((rows * size, second))
    known = [decide(left, "<", right) for left, right in checks]
    if False in known:
        return False
    left = [each for each, holds in zip(checks, known, strict=True) if holds is None]
    return tuple(left) or True


def _step(vector: Buffer, *, is_first: bool) -> Dim | None:
    """From one element to the next of a vector, or of the single row or column that ``np.dot``
    takes for one; None for other matrices.
    """
    match vector.shape:
        case [_]:
            return vector.strides[0]
        case [1, _] if is_first:
            return vector.strides[1]
        case [_, 1] if not is_first:
            return vector.strides[0]
    return None


def _holds(context: Context, checks: Sequence[Less]) -> Atom:
    """Whether all of these are so."""
    found: list[Atom] = []
    for pair in checks:
        sides: list[Atom] = []
        for dim in pair:
            sides.append(Const(dim, I64) if isinstance(dim, int) else context.fresh())
            if isinstance(sides[-1], str):
                context.emit(Index(sides[-1], I64, dim))
        found.append(context.fresh())
        context.emit(Compute(str(found[-1]), BOOL, "less", tuple(sides), (I64, I64)))
    holds, *others = found
    for each in others:
        both = context.fresh()
        context.emit(Compute(both, BOOL, "logical_and", (holds, each), (BOOL, BOOL)))
        holds = both
    return holds


def dot_copies(buffer: Buffer) -> bool:
    """Whether ``np.dot`` copies an operand before it calls BLAS, which may then add otherwise.

    It copies what BLAS cannot read, reversed and broadcast axes, and matrices that are not
    contiguous; of these, most windows of C arrays have the same bits either way.
    """
    step = buffer.dtype.itemsize
    axes = [
        (size, stride)
        for size, stride in zip(buffer.shape, buffer.strides, strict=True)
        if size != 1
    ]
    if any(size == 0 for size, _ in axes):
        return False
    if any(guard(stride, "<=", 0) for _, stride in axes):
        return True
    if len(axes) < 2 or axes[1][1] == step:
        return False
    (rows, first), (_, second) = axes
    return first != step or second != rows * step
