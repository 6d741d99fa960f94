"""Stores that run behind the loads they would spoil.

::

    u[1:-1] = f(u[:-2], u[2:])        for s in 0:rows + 1 ordered
                                        for j in …: row[s % 2, j] = f(u[s, j], u[s + 2, j])
                                        for j in …: u[s, j] = row[(s - 1) % 2, j]

Each row of the result is kept until the rows that still read what it overwrites are computed. A
temporary for the whole array would be written and read once more. One long row is cut into blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from fxc.ir.location import SourceLocation
from fxc.ir.records import frozen
from fxc.ir.symbols import Dim, floordiv, hint, maximum, minimum, mod, product
from fxc.ir.types import c_strides

from .addressing import byte_offset, step_of
from .context import Context
from .index_maps import Idx
from .loops import Element, Load, Loop, Stmt

SMALL = 1 << 16  # bytes of a temporary that stays in the cache
BLOCK = 8192  # bytes of a block of a row
MOST_ROWS = 4  # that may wait
WORTH = 4  # times as many rows or blocks as may wait: else a temporary is as good

# For an index of the result: the statements that compute the element, it, and where it goes.
Compute = Callable[[Idx], tuple[Sequence[Stmt], Element, Idx]]
# For a load: by how many iterations of each loop its element is written later (or earlier).
Distances = Mapping[str, int]


@frozen
class _Pace:
    """How the outermost loop goes: ``count`` steps with results, ``behind`` of which wait."""

    axis: int
    count: Dim
    behind: int
    block: int | None  # elements of a step, where there is but one loop


def store_behind(
    context: Context,
    name: str,
    index: Idx,
    shape: Sequence[Dim],
    compute: Compute,
    distances: Sequence[Distances],
    loc: SourceLocation | None,
) -> bool:
    """Emit loops that store each element of ``index`` once no load needs what it overwrites.

    ``distances`` has those of all loads that meet elements which the loops store. False, and
    nothing emitted, if too many rows would have to wait.
    """
    axes = _order(context, name, index, compute(index)[2])
    pace = _pace(context, name, index, shape, axes, distances)
    if pace is None:
        return False
    step = context.loop_var()
    rest = [axis for axis in axes if axis != pace.axis]
    row: tuple[Dim, ...] = tuple(shape[axis] for axis in rest)
    if pace.block is not None:
        row = (pace.block,)
    dtype = context.buffers[name].dtype
    waiting = (pace.behind + 1, *row)
    ring = context.add_buffer(dtype, waiting, c_strides(waiting, dtype.itemsize))

    def nest(here: Dim, runs: Dim, *, computes: bool) -> Loop:
        """The loops over the row or block number ``here``; none if ``runs`` is 0."""
        at: list[Dim] = [0 if isinstance(i, int) else context.loop_var() for i in index]
        if pace.block is not None:
            inner = context.loop_var()
            variables, sizes = [inner], [minimum(pace.block, shape[pace.axis] - here * pace.block)]
            at[pace.axis] = here * pace.block + inner
        else:
            variables, sizes = [at[axis] for axis in rest], list(row)
            at[pace.axis] = here
        stmts, element, target = compute(tuple(at))
        place = (mod(here, pace.behind + 1) if pace.behind else 0, *variables)
        kept = context.cells(ring, place, element)
        body: tuple[Stmt, ...] = (*stmts, *kept)
        if not computes:
            loads = [Load(context.fresh(), s.dtype, s.buffer, s.index) for s in kept]
            stores = zip(context.cells(name, target, element), loads, strict=True)
            body = (*loads, *(replace(s, value=load.name) for s, load in stores))
        sizes[0] = sizes[0] * runs
        for variable, size in reversed(list(zip(variables, sizes, strict=True))):
            body = (Loop(str(variable), size, body, loc=loc),)
        (loop,) = body
        assert isinstance(loop, Loop)
        return loop

    left = maximum(0, pace.count - step)
    started = maximum(0, step - (pace.behind - 1))
    always = pace.behind == 0
    computed = nest(step, 1 if always else minimum(1, left), computes=True)
    stored = nest(step - pace.behind, 1 if always else minimum(1, started), computes=False)
    note = f"stored {pace.behind} behind" if pace.behind else "stored row by row"
    steps = pace.count + pace.behind
    context.emit(Loop(str(step), steps, (computed, stored), ordered=True, loc=loc, note=note))
    return True


def _order(context: Context, name: str, index: Idx, target: Idx) -> list[int]:
    """The axes that have loops, by decreasing step in memory where the steps are known."""
    axes = [axis for axis, i in enumerate(index) if not isinstance(i, int)]
    offset = byte_offset(context.buffers[name], target)
    steps = {axis: step_of(offset, str(index[axis])) for axis in axes}
    known = {axis: abs(step) for axis, step in steps.items() if isinstance(step, int)}
    return sorted(axes, key=lambda axis: -known[axis]) if len(known) == len(axes) else axes


def _pace(
    context: Context,
    name: str,
    index: Idx,
    shape: Sequence[Dim],
    axes: Sequence[int],
    distances: Sequence[Distances],
) -> _Pace | None:
    outer = axes[0]
    size, var = shape[outer], str(index[outer])
    back = max(0, *(-each.get(var, 0) for each in distances))
    block = None
    count = size
    if len(axes) == 1:
        block = BLOCK // context.buffers[name].dtype.itemsize
        count = floordiv(size + (block - 1), block)
        back = -(-back // block)
    if back > MOST_ROWS or hint(count) < WORTH * (back + 1):
        return None
    if hint(product(tuple(shape))) * context.buffers[name].dtype.itemsize < SMALL:
        return None
    return _Pace(outer, count, back, block)
