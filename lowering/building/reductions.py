"""Loop nests of reductions and scans, in NumPy's order. See ``reduction_order``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from fxc.ir.bounds import decide
from fxc.ir.graph import Node, Operand, Value
from fxc.ir.records import replace
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim, counted_in, product
from fxc.ir.types import PART_DTYPES, ArrayType, Type, array_type, is_c_contiguous

from ..nests.addressing import byte_offset, step_of
from ..nests.buffers import F32, HALF, Const, Element, Idx, atoms_of, element_of
from ..nests.neutral import neutral, nothing
from ..nests.statements import Accumulate, Index, Load, Loop, Order, Stmt
from ..operators.reduction_order import (
    TAKES_RUNS_WHOLE,
    ReductionOrder,
    axes_by_stride,
    reduction_order,
)
from .body import Body, literal_element
from .context import Context
from .index_maps import regroup
from .reducers import REDUCERS, SCANS, Reducer
from .stores import place_apart
from .writes import aimed_buffer


def has_nest(node: Node) -> bool:
    """Whether the reduction or scan has a nest; otherwise it is left to NumPy."""
    operand: Operand = node.args[0]
    reducer = (REDUCERS | SCANS)[node.op]
    if HALF in (operand.type.dtype, node.output.type.dtype) and not _has_halves_nest(node):
        return False
    taken, given = (kind.dtype in PART_DTYPES for kind in (operand.type, node.output.type))
    if (taken or given) and not reducer.by_parts:
        return False
    if taken and not given and not reducer.tests:
        return False  # NumPy drops the imaginary parts, and warns
    if node.op in REDUCERS:
        return _order(node) is not None
    return isinstance(operand.type, ArrayType) and operand.type.rank > 0


def has_scan(node: Node) -> bool:
    """Whether a ``ufunc.accumulate`` has a nest: elements and totals have one dtype, and of equal
    ones it is known which NumPy takes.
    """
    kind, result = node.args[0].type, node.output.type.dtype
    is_one = kind.dtype == result and node.arg("result") in (None, result)
    is_real = result != HALF and result not in PART_DTYPES
    return node.arg("ufunc") in _SCANNED and is_one and is_real


_SCANNED = frozenset(("maximum", "minimum"))


def segmented(ufunc: str) -> Reducer | None:
    """How ``ufunc.reduceat`` combines elements; None if there is no nest for it."""
    named = (each for each in REDUCERS.values() if each.combine == ufunc and not each.position)
    return next(named, Reducer(ufunc) if ufunc in _OF_ONE_DTYPE else None)


# Ufuncs beside those above whose operands and results have one dtype.
_OF_ONE_DTYPE = frozenset(("subtract", "fmax", "fmin", "bitwise_and", "bitwise_or", "bitwise_xor"))


def has_segments(node: Node) -> bool:
    """Whether there is a nest of a ``ufunc.reduceat``."""
    x, reducer, result = node.arg("x").type, segmented(node.arg("ufunc")), node.output.type.dtype
    if reducer is None or x.shape[node.arg("axis")] == 0 or HALF in (x.dtype, result):
        return False
    if x.dtype in PART_DTYPES or result in PART_DTYPES:
        return reducer.combine == "add" and result in PART_DTYPES
    return result.kind != "b" or reducer.combine not in ("add", "multiply", "subtract")


def sums_runs(node: Node) -> bool:
    """Whether a ``ufunc_reduce`` is a sum of floats that a mask chooses of rows in C order."""
    x, mask, result = node.arg("x").type, node.arg("where"), node.output.type.dtype
    start, plain = node.arg("initial"), node.arg("result") is None and not node.arg("keepdims")
    if TAKES_RUNS_WHOLE or not plain or node.arg("ufunc") != "add" or not isinstance(mask, Value):
        return False
    if start is not None and not _is_start(start.type, result):
        return False
    if not isinstance(x, ArrayType) or _axes(node) != (x.rank - 1,) or x.shape[-1] == 0:
        return False
    if x.dtype != result or result.kind not in "fc" or result == HALF or not x.aligned:
        return False
    given = mask.type
    if not isinstance(given, ArrayType) or given.rank not in (1, x.rank):
        return False
    pairs = zip(given.shape, x.shape[x.rank - given.rank :], strict=True)
    is_whole = all(guard(size, "==", other) for size, other in pairs)
    return is_whole and is_c_contiguous(x) and is_c_contiguous(given)


def _is_start(kind: Type, result: np.dtype) -> bool:
    """Whether a number of this type is one that a sum of ``result`` may begin with."""
    how: Literal["same_kind", "safe"] = "same_kind" if kind.weak else "safe"
    return kind.rank == 0 and np.can_cast(kind.dtype, result, how)


def _has_halves_nest(node: Node) -> bool:
    """Whether the reduction has a nest of float16: see Note [Half precision]."""
    operand, result = node.args[0].type, node.output.type.dtype
    if node.op not in REDUCERS or not isinstance(operand, ArrayType):
        return False
    reducer = REDUCERS[node.op]
    if reducer.position or not is_exact(reducer.combine, result):
        return _order(node) is not None  # of float32 the same one is the largest
    if result != HALF:
        return True
    order = _order(node) if operand.dtype == HALF and is_exact(reducer.combine, HALF) else None
    if order is None or (order.outer and (order.inner or len(order.outer) > 1)):
        return False
    if order.outer:  # it is the one axis that NumPy's inner loop walks
        walked = [a for a in range(operand.rank) if operand.shape[a] != 1]
        return reducer.combine == "multiply" and walked == list(order.outer)
    return order.cut(operand.shape) is None


def _axes(node: Node) -> tuple[int, ...]:
    axis = node.arg("axis")
    rank = node.args[0].type.rank
    if axis is None:
        return tuple(range(rank))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(each % rank for each in axes)


def is_exact(combine: str, dtype: np.dtype) -> bool:
    """Whether the order of combination shows in the bits of the result."""
    return dtype.kind in "fc" and combine in ("add", "multiply")


def _order(node: Node) -> ReductionOrder | None:
    """In which order the elements are combined; None if NumPy's is not known."""
    reducer = REDUCERS[node.op]
    operand, axes = node.args[0].type, _axes(node)
    if not isinstance(operand, ArrayType):
        return ReductionOrder((), ())
    known = all(isinstance(dim, int) for dim in (*operand.shape, *operand.strides))
    result = node.output.type.dtype
    if reducer.position or not is_exact(reducer.combine, result):
        order: Sequence[int] = range(operand.rank)
        if known and not reducer.position:
            order = axes_by_stride(order, (operand.strides,))  # type: ignore[arg-type]
        return ReductionOrder(tuple(axis for axis in order if axis in axes), ())
    # Sizes say which axes lie in memory as one; an axis by itself asks for none.
    is_one = len(axes) == 1 and all(isinstance(s, int) and s for s in operand.strides)
    strides = operand.strides if known or is_one else None
    if strides is None and not is_c_contiguous(operand):
        return None
    walked: Sequence[int] = range(operand.rank)
    if strides is not None:
        walked = axes_by_stride(walked, (strides,))  # type: ignore[arg-type]
    pairwise = reducer.combine == "add"
    shape = _with_ones(operand.shape, axes, walked) if pairwise else operand.shape
    if shape is None:
        return None
    return reduction_order(
        shape,  # type: ignore[arg-type]
        strides,  # type: ignore[arg-type]
        axes,
        buffered=operand.dtype != result or not operand.aligned,
        pairwise=pairwise,
    )


def _with_ones(
    shape: Sequence[Dim], axes: Sequence[int], walked: Sequence[int]
) -> Sequence[Dim] | None:
    """The sizes of an operand whose axes NumPy walks in this order, a 1 for one that turns out to
    be no more where it would walk them in another order then: the axis is kept, or stands behind a
    kept one, and one further out is reduced. None for a reduced one, whose loop the nest could not
    do without, and where only the run tells, as of counted sizes.

    The sizes of arrays are 2 or more, but one that was a Python int may be 1.
    """
    place_of = {axis: place for place, axis in enumerate(walked)}
    outermost = min((place_of[axis] for axis in axes), default=len(shape))
    kept = [place for axis, place in place_of.items() if axis not in axes and place > outermost]
    found: list[Dim] = []
    for axis, size in enumerate(shape):
        is_asked = any(other <= place_of[axis] for other in kept)
        if not is_asked or isinstance(size, int) or decide(size, ">", 1) is True:
            found.append(size)
        elif counted_in(size):
            return None
        elif guard(size, ">", 1):
            found.append(size)
        elif axis in axes:
            return None
        else:
            found.append(1)
    return found


def reduction(context: Context, node: Node) -> None:
    """Place the result of a reduction: loops over the kept axes around loops over the others."""
    order, operand = _order(node), node.args[0]
    assert order is not None
    if any(operand.type.shape[axis] == 0 for axis in _axes(node)):
        _empty(context, node)
        return
    kept = [axis for axis in range(operand.type.rank) if axis not in _axes(node)]
    nest = _nest(context, node, order, operand)
    if nest is None and len(order.inner) == 1:
        place_apart(context, operand, (*kept, *order.outer, *order.inner))
        nest = _nest(context, node, order, operand)
    if nest is None:  # several inner axes that do not lie in memory as one
        index, value, stmts = _in_one_run(context, node, order, operand, kept)
    else:
        whole, value, stmts = nest
        index = tuple(whole[axis] for axis in kept)
    name = aimed_buffer(context, node)
    at = index
    if node.arg("keepdims"):
        places = dict(zip(kept, index, strict=True))
        at = tuple(places.get(axis, 0) for axis in range(operand.type.rank))
    stores = context.cells(name, at, value)
    sizes = [operand.type.shape[axis] for axis in kept]
    context.emit_nest(index, sizes, (*stmts, *stores), node.loc)
    context.put(node.output, name)


def _in_one_run(
    context: Context, node: Node, order: ReductionOrder, operand: Value, kept: Sequence[int]
) -> tuple[Idx, Element, tuple[Stmt, ...]]:
    """The same behind a copy of the operand, whose inner axes are its last one: the index of the
    kept axes, the total, and the loops that make it.
    """
    axes = (*kept, *order.outer)
    buffer = context.buffers[place_apart(context, operand, (*axes, *order.inner))]
    shape = [buffer.shape[axis] for axis in axes]
    run = product([buffer.shape[axis] for axis in order.inner])
    strides = [buffer.strides[axis] for axis in (*axes, order.inner[-1])]
    kind = array_type(buffer.dtype, (*shape, run))
    copied = Value(f"{buffer.name}_in_runs", kind)
    context.put(copied, context.alias(buffer, kind, strides, buffer.offset))
    outer = tuple(range(len(kept), len(axes)))
    nest = _nest(context, node, replace(order, outer=outer, inner=(len(axes),)), copied)
    assert nest is not None
    index, value, stmts = nest
    return index[: len(kept)], value, stmts


def _empty(context: Context, node: Node) -> None:
    """The result of a reduction over no elements."""
    name, kind = context.new_buffer(node.output.type), node.output.type
    index = context.loop_vars(kind.shape)
    start = neutral(REDUCERS[node.op].combine, kind.dtype)
    stores = context.cells(name, index, literal_element(start.value, kind.dtype))
    context.emit_nest(index, kind.shape, stores, node.loc)
    context.put(node.output, name)


def _nest(
    context: Context, node: Node, order: ReductionOrder, operand: Operand
) -> tuple[Idx, Element, tuple[Stmt, ...]] | None:
    """The index of an element, the total, and the loops that make it; None if ``operand`` has to
    be placed first.
    """
    reducer, kind = REDUCERS[node.op], operand.type
    index = list(context.loop_vars(kind.shape))
    dtype = kind.dtype if reducer.position else node.output.type.dtype
    is_half = dtype == HALF and not reducer.tests
    how: Order = "sequential" if is_exact(reducer.combine, dtype) else "any"
    loops = [(index[a], kind.shape[a]) for a in order.outer if not isinstance(index[a], int)]
    chunk = None
    if order.inner:
        how = "complex pairwise" if dtype in PART_DTYPES else "pairwise"
        chunk = order.cut(kind.shape)
        sizes = tuple(kind.shape[axis] for axis in order.inner)
        run = index[order.inner[0]] if len(sizes) == 1 else context.loop_var()
        if len(sizes) > 1:
            parts = regroup((product(sizes),), sizes, (run,))
            for axis, part in zip(order.inner, parts, strict=True):
                index[axis] = part
        loops.append((run, product(sizes)))
    body = Body(context)
    value = _element(body, reducer, operand, tuple(index), dtype)
    if order.inner and not all(is_even(context, s, str(loops[-1][0])) for s in body.stmts):
        return None
    if not loops:
        return tuple(index), _single(body, reducer, value, dtype), tuple(body.stmts)
    position = _linear(kind.shape, tuple(index), _axes(node)) if reducer.position else None
    if is_half:
        value = body.cast(value, HALF, F32)
    scalar = F32 if is_half else PART_DTYPES.get(dtype, dtype)
    start = neutral(reducer.combine, scalar)
    carried = (start, how, len(loops), position, node.quiet, node.output.name)
    accumulates = [
        Accumulate(context.fresh(), scalar, reducer.combine, atom, *carried)
        for atom in atoms_of(value)
    ]
    stmts: tuple[Stmt, ...] = (*body.stmts, *accumulates)
    for place, (var, size) in enumerate(reversed(loops)):
        cut = chunk if place == 0 else None
        stmts = (Loop(str(var), size, stmts, chunk=cut, loc=node.loc),)
    total = element_of([stmt.name for stmt in accumulates])
    rounding = Body(context)
    if is_half and not reducer.position:
        total = rounding.cast(total, F32, HALF)
    return tuple(index), total, (*stmts, *rounding.stmts)


def is_even(context: Context, stmt: Stmt, loop: str) -> bool:
    """Whether what the statement reads moves evenly from one iteration of a loop to the next."""
    match stmt:
        case Load(buffer=buffer, index=index):
            return step_of(byte_offset(context.buffers[buffer], index), loop) is not None
        case Index(value=value):
            return step_of(value, loop) is not None
        case _:
            return True


def _element(
    body: Body, reducer: Reducer, operand: Operand, index: Idx, dtype: np.dtype
) -> Element:
    return body.truth(operand, index) if reducer.tests else body.element(operand, index, dtype)


def _single(body: Body, reducer: Reducer, value: Element, dtype: np.dtype) -> Element:
    """The total of one element."""
    if reducer.position:
        return Const(0, np.dtype(np.intp))
    if is_exact(reducer.combine, dtype):
        part = PART_DTYPES.get(dtype, dtype)
        start, both = neutral(reducer.combine, part), (part, part)
        return element_of(
            [body.compute(reducer.combine, (start, atom), both, part) for atom in atoms_of(value)]
        )
    return value


def _linear(shape: Sequence[Dim], index: Idx, axes: Sequence[int]) -> Dim:
    """The position among the reduced axes, in C order."""
    position: Dim = 0
    for axis in axes:
        position = position * shape[axis] + index[axis]
    return position


def scan(context: Context, node: Node) -> None:
    """Place the result of a cumulative operation: an ordered loop along its axis."""
    known, operand, axis = SCANS.get(node.op), node.args[0], node.arg("axis")
    combine = node.arg("ufunc") if known is None else known.combine
    if axis is None:
        operand = context.flattened(operand)
        axis = 0
    axis %= operand.type.rank
    kind, dtype = operand.type, node.output.type.dtype
    index = list(context.loop_vars(kind.shape))
    if isinstance(index[axis], int):
        index[axis] = context.loop_var()
    body = Body(context)
    value = body.element(operand, tuple(index), dtype)
    name = _scan_target(context, node, body, tuple(index)) or context.new_buffer(node.output.type)
    part = PART_DTYPES.get(dtype, dtype)
    start = nothing(combine, part)
    how: Order = "sequential"
    carried = (start, how, 1, None, node.quiet, node.output.name)
    totals = [
        Accumulate(context.fresh(), part, combine, atom, *carried) for atom in atoms_of(value)
    ]
    stores = context.cells(name, tuple(index), element_of([stmt.name for stmt in totals]))
    stmts = (*body.stmts, *totals, *stores)
    along = Loop(str(index[axis]), kind.shape[axis], stmts, ordered=True, loc=node.loc)
    around = [i for a, i in enumerate(index) if a != axis]
    sizes = [dim for a, dim in enumerate(kind.shape) if a != axis]
    context.emit_nest(around, sizes, (along,), node.loc)
    context.put(node.output, name)


def _scan_target(context: Context, node: Node, body: Body, index: Idx) -> str | None:
    """The buffer that the result aims at, if each element of it is read where it is stored."""
    target = context.target.get(node.output)
    if target is None or not context.may_overwrite(target):
        return None
    for origin in body.origins:
        buffer, at = context.buffers[origin.load.buffer], origin.load.index
        if buffer.parts:
            buffer, at = context.buffers[buffer.name.removesuffix(".parts")], at[:-1]
        if buffer.storage == target and (buffer.name != target or at != index):
            return None
    context.place_readers(target, node.output)
    return target
