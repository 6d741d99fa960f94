"""A loop in lanes: whole vectors, and the iterations that do not fill one."""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.later import import_later
from fxc.ir.records import replace
from fxc.ir.symbols import counted_in

from ..nests.hoisting import hoist
from ..nests.statements import Accumulate, Loop, Stmt
from .emitter import Counting, Emitter
from .llvm_text import FunctionText, Lanes

# See Note [Rooms with one door].
aligned_access = import_later("fxc.lowering.emission.ends", "aligned_access")
ends_first = import_later("fxc.lowering.emission.ends", "ends_first")
past_line = import_later("fxc.lowering.emission.ends", "past_line")


def vector_loop(emitter: Emitter, loop: Loop, lanes: int, carried: Sequence[Accumulate]) -> None:
    """Whole vectors first, then the rest one by one."""
    f = emitter.function
    size = emitter.dim(loop.size)
    hoisted, body = hoist(emitter.program, loop)
    emitter.block(hoisted)
    rest = loop.size % lanes
    if isinstance(loop.size, int) and loop.size < lanes and not loop.behind:
        emitter.plain_loop(replace(loop, body=body), 1, "0", carried, size)
        return
    if loop.ends in ("overlapping", "reaching"):
        _overlapping(emitter, loop, lanes, body)
        return
    if loop.ends in ("end first", "ends first"):
        ends_first(emitter, loop, lanes, body)
        return
    is_known = isinstance(loop.size, int)
    if (loop.ends == "again" and not is_known) or (carried and counted_in(loop.size)):
        _totals_of_some(emitter, replace(loop, body=body), lanes, carried)
        return
    scalars = {key: emitter.regs.totals[key] for key, _ in emitter.keys(carried)}
    code, whole = Lanes(f, lanes), "0"
    if loop.size == lanes:
        _one_vector(emitter, loop.var, lanes, body, carried)
    else:
        whole = _whole(f, size, lanes)
        _vectors(emitter, Counting(loop.var, "0", whole, lanes, lanes), body, carried)
    if loop.ends == "again":
        emitter.regs.dims[loop.var] = emitter.dim(loop.size - lanes)
        emitter.block(body, lanes)
        del emitter.regs.dims[loop.var]
        rest = 0
    emitter.regs.vector = None
    vectors = {key: emitter.regs.totals[key] for key, _ in emitter.keys(carried)}
    emitter.regs.totals.update(scalars)
    for stmt in carried:
        emitter.join_lanes(stmt, vectors, code)
    if rest != 0:
        emitter.plain_loop(replace(loop, body=body), 1, whole, carried, size)


def _one_vector(
    emitter: Emitter, var: str, lanes: int, body: Sequence[Stmt], carried: Sequence[Accumulate]
) -> None:
    """All iterations at once."""
    for stmt in carried:
        emitter.start_lanes(stmt, Lanes(emitter.function, lanes))
    outer = emitter.regs.copy()
    emitter.regs.vector, emitter.regs.dims[var] = var, "0"
    emitter.block(body, lanes)
    outer.totals.update({key: emitter.regs.totals[key] for key, _ in emitter.keys(carried)})
    emitter.regs = outer


def _vectors(
    emitter: Emitter,
    counting: Counting,
    body: Sequence[Stmt],
    carried: Sequence[Accumulate],
    last: str = "",
) -> None:
    """Whole vectors, with totals of their own in each lane; none begins behind ``last``."""
    f, var = emitter.function, counting.var
    for stmt in carried:
        emitter.start_lanes(stmt, Lanes(f, counting.lanes))

    def block() -> None:
        if last:
            place = emitter.regs.dims[var]
            emitter.module.declare("declare i64 @llvm.smin.i64(i64, i64)")
            emitter.regs.dims[var] = f.op(f"call i64 @llvm.smin.i64(i64 {place}, i64 {last})")
        emitter.block(body, counting.lanes)

    emitter.regs.vector = var
    emitter.counted(counting, carried, block)


def _totals_of_some(
    emitter: Emitter, loop: Loop, lanes: int, carried: Sequence[Accumulate]
) -> None:
    """The totals of a run that may be short: in wide vectors, in narrow ones, one by one, each of
    them passed over if there is nothing for it. Where iterations may run again, the last narrow
    vector ends with the run.
    """
    f, size, start = emitter.function, emitter.dim(loop.size), "0"
    narrow = lanes // emitter.costs.lanes_totals
    widths = (lanes, narrow) if narrow > 1 else (lanes,)
    for width in widths:
        last = ""
        if loop.ends == "again" and width == widths[-1]:
            last = f.op(f"sub nsw i64 {size}, {width}")
            stop = f.op(f"select i1 {f.op(f'icmp sge i64 {last}, 0')}, i64 {size}, i64 {start}")
        else:
            whole = _whole(f, f.op(f"sub i64 {size}, {start}"), width)
            stop = f.op(f"add i64 {start}, {whole}")
        _some_vectors(emitter, Counting(loop.var, start, stop, width, width), loop, carried, last)
        start = stop
    emitter.plain_loop(loop, 1, start, carried, size)


def _some_vectors(
    emitter: Emitter, counting: Counting, loop: Loop, carried: Sequence[Accumulate], last: str
) -> None:
    """Whole vectors, if there are any, their totals joined; none begins behind ``last``."""
    f, keys = emitter.function, emitter.keys(carried)
    some, done = f.new_label("some"), f.new_label("none")
    before, scalars = f.block, {key: emitter.regs.totals[key] for key, _ in keys}
    is_any = f.op(f"icmp slt i64 {counting.start}, {counting.stop}")
    f.do(f"br i1 {is_any}, label %{some}, label %{done}")
    f.start(some)
    _vectors(emitter, counting, loop.body, carried, last)
    emitter.regs.vector = None
    vectors = {key: emitter.regs.totals[key] for key, _ in keys}
    emitter.regs.totals.update(scalars)
    for stmt in carried:
        emitter.join_lanes(stmt, vectors, Lanes(f, counting.lanes))
    behind = f.block
    f.do(f"br label %{done}")
    f.start(done)
    for key, dtype in keys:
        ways = f"[ {scalars[key]}, %{before} ], [ {emitter.regs.totals[key]}, %{behind} ]"
        emitter.regs.totals[key] = f.op(f"phi {Lanes(f, 1).type(dtype)} {ways}")


def _whole(f: FunctionText, size: str, lanes: int) -> str:
    """How many iterations fill vectors."""
    if lanes & (lanes - 1) == 0:
        return f.op(f"and i64 {size}, {-lanes}")
    return f.op(f"sub i64 {size}, {f.op(f'srem i64 {size}, {lanes}')}")


def _overlapping(emitter: Emitter, loop: Loop, lanes: int, body: tuple[Stmt, ...]) -> None:
    """Vectors only: the last one ends with the loop, and does some iterations once more.

    So does the first, where the others then store to whole cache lines. A loop that may have
    fewer iterations than lanes is run one by one if it has, but for one that is "reaching".
    """
    f, aligned = emitter.function, aligned_access(emitter.program, loop)
    size, last = emitter.dim(loop.size), emitter.dim(loop.size - lanes)
    shift = "0" if aligned is None else past_line(emitter, loop, aligned)
    stop = size if aligned is None else f.op(f"add nsw i64 {size}, {shift}")
    fills = isinstance(loop.size, int) or loop.ends == "reaching"
    if not fills:
        wide = f.op(f"icmp sge i64 {size}, {lanes}")
        stop = f.op(f"select i1 {wide}, i64 {stop}, i64 0")

    def block() -> None:
        place = emitter.regs.dims[loop.var]
        if aligned is not None:
            place = f.op(f"sub nsw i64 {place}, {shift}")
            place = f.op(f"call i64 @llvm.smax.i64(i64 {place}, i64 0)")
        emitter.regs.dims[loop.var] = f.op(f"call i64 @llvm.smin.i64(i64 {place}, i64 {last})")
        emitter.block(body, lanes)

    emitter.module.declare("declare i64 @llvm.smin.i64(i64, i64)")
    emitter.module.declare("declare i64 @llvm.smax.i64(i64, i64)")
    emitter.regs.vector = loop.var
    emitter.counted(Counting(loop.var, "0", stop, lanes, lanes), (), block)
    emitter.regs.vector = None
    if not fills:
        start = f.op(f"select i1 {wide}, i64 {size}, i64 0")
        emitter.plain_loop(replace(loop, body=body), 1, start, (), size)
