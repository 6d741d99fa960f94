"""``ufunc.reduceat``: what lies in each segment of an axis, combined.

::

    for j in 0:m
      start = places[j]
      stop = places[j + 1], or n for the last one
      size more = maximum(stop - start - 1, 0)
      total = x[start]
      for k in 0:more
        total = add(total, x[start + 1 + k])
      result[j] = total

So a segment that ends where it begins, or before, is one element. NumPy hands all but the first to
one run of its inner loop: floats are added up pairwise, and their sum to the first.
"""

from __future__ import annotations

import numpy as np

from fxc.ir.graph import Node, Operand
from fxc.ir.size_functions import counted_size, hint, minimum
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim
from fxc.ir.types import PART_DTYPES

from ..nests.buffers import BOOL, I64, Atom, Const, Element, Idx, atoms_of, element_of
from ..nests.neutral import usual_start
from ..nests.statements import Accumulate, Bind, For, Loop, Order, Stmt
from .body import Body
from .computed import check_none
from .context import Context
from .masked import nested
from .reductions import is_even, is_exact, segmented
from .stores import place_apart


def segments(context: Context, node: Node) -> None:
    """Place the result, behind a check of the places where segments begin."""
    x, places = node.arg("x"), node.arg("indices")
    size, count = _size(node), places.type.shape[0]
    guard(size, ">=", 1)
    for operand in (x, places):
        if context.is_work(operand):
            context.place_value(operand)

    def failed(body: Body, index: Idx) -> Atom:
        given = (body.value(places, index, I64), body.index(size, I64))
        is_high = body.compute("greater_equal", given, (I64, I64), BOOL)
        is_low = body.compute("less", (given[0], Const(0, I64)), (I64, I64), BOOL)
        return body.compute("logical_or", (is_low, is_high), (BOOL, BOOL), BOOL)

    check_none(context, node, places.type.shape, failed)
    name, here = context.new_buffer(node.output.type), context.loop_var()
    context.put(node.output, name)
    if count == 0:
        return
    segment = _combined(context, node, x, name, here)
    if segment is None:
        place_apart(context, x)
        segment = _combined(context, node, x, name, here)
    assert segment is not None
    number = Body(context)
    until = number.index(count, I64)
    for stmt in (*number.stmts, For(str(here), Const(0, I64), until, segment, node.loc)):
        context.emit(stmt)


def _size(node: Node) -> Dim:
    size: Dim = node.arg("x").type.shape[_axis(node)]
    return size


def _axis(node: Node) -> int:
    axis: int = node.arg("axis")
    return axis % node.output.type.rank


def _combined(
    context: Context, node: Node, x: Operand, name: str, here: Dim
) -> tuple[Stmt, ...] | None:
    """What makes the totals of segment ``here``; None if ``x`` has to be placed first."""
    axis, dtype, ufunc = _axis(node), node.output.type.dtype, node.arg("ufunc")
    shape = list(node.output.type.shape)
    shape[axis] = 1
    index, along = list(context.loop_vars(shape)), context.loop_var()
    bounds, around, inside = Body(context), Body(context), Body(context)
    start, size, bind = _bounds(bounds, node, here)
    index[axis] = start
    first = _element(around, ufunc, x, tuple(index), dtype)
    index[axis] = start + 1 + along
    value = _element(inside, ufunc, x, tuple(index), dtype)
    index[axis] = here
    order = _order(ufunc, dtype)
    is_run = order.endswith("pairwise")
    if is_run and not all(is_even(context, each, str(along)) for each in inside.stmts):
        return None
    part = PART_DTYPES.get(dtype, dtype)
    totals = [
        Accumulate(context.fresh(), part, ufunc, atom, begun, order, 1, None, node.quiet)
        for begun, atom in zip(atoms_of(first), atoms_of(value), strict=True)
    ]
    loop = Loop(str(along), size, (*inside.stmts, *totals), loc=node.loc)
    stores = context.cells(name, tuple(index), element_of([stmt.name for stmt in totals]))
    nest = nested(
        (*around.stmts, loop, *stores), (*index[:axis], 0, *index[axis + 1 :]), shape, node.loc
    )
    return (*bounds.stmts, bind, *nest)


def _order(ufunc: str, dtype: np.dtype) -> Order:
    """In which order what follows the first element is combined."""
    if ufunc == "add" and is_exact(ufunc, dtype):
        return "complex pairwise" if dtype in PART_DTYPES else "pairwise"
    has_order = is_exact(ufunc, dtype) or usual_start(ufunc, dtype) is None
    return "sequential" if has_order else "any"


def _element(body: Body, ufunc: str, x: Operand, index: Idx, dtype: np.dtype) -> Element:
    reducer = segmented(ufunc)
    assert reducer is not None
    return body.truth(x, index) if reducer.tests else body.element(x, index, dtype)


def _bounds(body: Body, node: Node, here: Dim) -> tuple[Dim, Dim, Bind]:
    """Where a segment begins, how many elements follow the first, and what binds that number."""
    places, size = node.arg("indices"), _size(node)
    last: Dim = places.type.shape[0] - 1
    both = (I64, I64)
    start = body.computed(places, (here,))
    following = body.value(places, (minimum(here + 1, last),), I64)
    is_last = body.compute("equal", (body.index(here, I64), body.index(last, I64)), both, BOOL)
    stop = body.compute("where", (is_last, body.index(size, I64), following), (BOOL, *both), I64)
    rest = body.compute("subtract", (stop, body.index(start + 1, I64)), both, I64)
    more = body.compute("maximum", (rest, Const(0, I64)), both, I64)
    name = body.context.fresh()
    guess = hint(size) // max(1, hint(last + 1))
    return start, counted_size(name, size, guess), Bind(name, more, size)
