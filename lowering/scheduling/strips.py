"""Nests that follow each other run together, strip by strip of rows.

::

    for i in 0:n + 1                      for s in 0:(n + 2 + 15) // 16
      b[i, …] = f(u[i, …], u[i + 1, …])     for i in 0:min(16, n + 1 - 16*s)
    for i in 0:n                      →       b[(i + 16*s) mod 32, …] = f(…)
      v[i, …] = g(b[i, …], b[i + 1, …])     for i in …  # from max(0, 16*s - 1) on
                                              v[…] = g(…)

The second nest reads the row that the first stores one iteration later: it follows one row behind.
So a strip is still in the cache when the nests behind need it, and of a temporary that nobody else
reads there are only as many rows as are needed at a time. What is stored, and in which order the
nests meet each element, stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fxc.ir.later import import_class_later, import_later
from fxc.ir.records import computed_once, replace
from fxc.ir.size_functions import floordiv, hint, maximum, minimum, mod
from fxc.ir.symbols import Dim, product, symbol
from fxc.ir.types import ordered_strides

from ..nests.accesses import Block, rename, storages
from ..nests.addressing import byte_offset, step_of
from ..nests.buffers import Buffer
from ..nests.program import Program
from ..nests.statements import (
    Accumulate,
    Compute,
    For,
    If,
    Index,
    Load,
    Loop,
    Stmt,
    Store,
    While,
    blocks_of,
    walk,
    with_blocks,
)
from .cost import cost
from .fetch_ahead import fetching_ahead
from .shrink import is_made_in
from .strip_groups import StripGroup

if TYPE_CHECKING:
    from .row_blocks import Blocks, Nest
else:
    Nest = import_class_later("fxc.lowering.scheduling.row_blocks", "Nest")

counters = import_later("fxc.lowering.scheduling.row_blocks", "counters")
in_blocks = import_later("fxc.lowering.scheduling.row_blocks", "in_blocks")
row_blocks = import_later("fxc.lowering.scheduling.row_blocks", "row_blocks")
rows_behind = import_later("fxc.lowering.scheduling.row_blocks", "rows_behind")


def strips(program: Program) -> Program:
    """Let nests that share data run strip by strip, where they are larger than the cache.

    Requires: the program is fused. Ensures: the same results, bit for bit.
    """
    making = _Making(program)
    body = making.block(program.body, repeated=False)
    return replace(program, body=body, buffers=making.buffers)


def _in_strips(nests: Sequence[Nest], strip: Dim, rows: int) -> tuple[Dim, list[tuple[Dim, Dim]]]:
    """How many strips of so many rows there are, and from where to where each nest runs in one."""
    end: Dim = 0
    spans: list[tuple[Dim, Dim]] = []
    for nest in nests:
        size, late = nest.loop.size, nest.behind
        end = maximum(end, size + late)
        spans.append((maximum(0, strip * rows - late), minimum(size, strip * rows + (rows - late))))
    return floordiv(end + (rows - 1), rows), spans


class _Making:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.buffers = dict(program.buffers)

    def block(self, block: Block, *, repeated: bool) -> Block:
        """``repeated``: it may read what it has stored in the iteration before."""
        result: list[Stmt] = []
        group = StripGroup(self.program, repeated)
        for stmt in block:
            if isinstance(stmt, Loop) and is_plain(self.program, stmt):
                if not group.takes(stmt):
                    result += self.together(group)
                    group = StripGroup(self.program, repeated)
                    group.takes(stmt)
            elif not (isinstance(stmt, Load | Compute | Index) and group.lets_pass(stmt)):
                result += self.together(group)
                group = StripGroup(self.program, repeated)
                again = repeated or isinstance(stmt, For | While)
                inner = () if isinstance(stmt, Loop) else blocks_of(stmt)
                blocks = tuple(self.block(each, repeated=again) for each in inner)
                result.append(with_blocks(stmt, blocks) if blocks else stmt)
        return (*result, *self.together(group))

    def together(self, group: StripGroup) -> list[Stmt]:
        """The nests of a group as loops over strips, one for those that share data, or as they are
        where that does not pay.
        """
        made = [stmt for part in group.connected() for stmt in self.in_strips(part)]
        if set(map(id, made)) == set(map(id, group.loops)):
            return group.stmts
        return [*(stmt for stmt in group.stmts if not isinstance(stmt, Loop)), *made]

    def in_strips(self, group: StripGroup) -> Sequence[Stmt]:
        """Nests that share data as one loop over strips, or as they are where that does not pay;
        threads run as many of the first ones as they can, if those are most of the work.
        """
        rows = self.rows(group)
        if rows is None:
            return group.loops
        nests, windows = self.nests(group), self.windows(group, rows)
        own = {name: dim for name, (dim, _) in windows.items()}
        blocks = row_blocks(self.program.target, nests, own)
        if blocks is None and (number := self.for_threads(group)):
            parts = (range(number), range(number, len(group.loops)))
            groups = (each for part in parts for each in group.part(part).connected())
            return [stmt for each in groups for stmt in self.in_strips(each)]
        for name, (dim, need) in windows.items():
            self.buffers[name] = _with_rows(self.buffers[name], dim, need)
        return self.cut(nests, windows, blocks, rows)

    def rows(self, group: StripGroup) -> int | None:
        """How many rows a strip has; None if strips do not pay."""
        if len(group.loops) < 2:
            return None
        row_bytes, costs = self.row_bytes(group), self.program.target.costs
        if not row_bytes:  # all are parts of other buffers
            return None
        size = max(hint(loop.size) for loop in group.loops)
        held = self.program.target.cache // 4  # half of it for what is read ahead, and for others
        rows = 1 << (min(max(held // row_bytes, 1), costs.strips_rows).bit_length() - 1)
        is_long = row_bytes * size >= costs.strips_bytes and size >= 4 * (rows + max(group.behind))
        return rows if is_long else None

    def for_threads(self, group: StripGroup) -> int | None:
        """How many of the first nests blocks of rows can have, if they are most of the work."""
        target = self.program.target
        work = [cost(target, (loop,)) for loop in group.loops]
        if target.threads <= 1 or any(each is None for each in work):
            return None
        known = [hint(each) for each in work if each is not None]
        for number in range(len(work) - 1, 1, -1):
            if 2 * sum(known[:number]) < sum(known):
                return None
            part = group.part(range(number))
            rows = self.rows(part) if len(part.connected()) == 1 else None
            if rows is None:
                continue
            own = {name: dim for name, (dim, _) in self.windows(part, rows).items()}
            if row_blocks(target, self.nests(part), own) is not None:
                return number
        return None

    def cut(
        self,
        nests: Sequence[Nest],
        windows: Mapping[str, tuple[int, int]],
        blocks: Blocks | None,
        rows: int,
    ) -> Block:
        """Nests as one loop over strips of so many rows."""
        block, strip = counters(nests)
        nests = fetching_ahead(nests, windows.keys(), self.program.target.costs.strips_ahead)
        if blocks is None:
            first: Dim = 0
            count, spans = _in_strips(nests, strip, rows)
        else:
            first = block * blocks.rows
            count, spans = in_blocks(nests, blocks, rows)
        body: list[Stmt] = []
        for nest, (start, stop) in zip(nests, spans, strict=True):
            loop = nest.loop
            shift: dict[str, Dim] = {loop.var: symbol(loop.var, hint=0, lower=0) + first + start}
            inner = tuple(_in_windows(rename(s, shift), windows) for s in loop.body)
            body.append(replace(loop, size=maximum(0, stop - start), body=inner))
        made: Block = tuple(body)
        loc = nests[0].loop.loc
        if count != 1:
            made = (Loop(str(strip), count, made, ordered=True, loc=loc),)
        return made if blocks is None else (Loop(str(block), blocks.number, made, loc=loc),)

    def nests(self, group: StripGroup) -> list[Nest]:
        """The nests of a group, but for temporaries that each of their iterations fills anew."""
        found: list[Nest] = []
        for loop, behind, each in zip(group.loops, group.behind, group.accesses, strict=True):
            shared = {
                name: places
                for name, places in each.items()
                if not (
                    self.program.buffers[name].role == "temp"
                    and self.users[name] == 1
                    and self.is_own(name, group)
                    and is_made_in(loop, self.program.buffers[name], {})
                )
            }
            found.append(Nest(loop, behind, shared))
        return found

    def row_bytes(self, group: StripGroup) -> int:
        """The bytes of one row of all buffers together."""
        total = 0
        for name in group.storages:
            buffer = self.program.buffers[name]
            for dim in range(len(buffer.shape)):
                if any(rows_behind(at[dim], var) is not None for at, var, _ in group.places(name)):
                    rest = product(buffer.shape[:dim] + buffer.shape[dim + 1 :])
                    total += hint(rest) * buffer.dtype.itemsize
                    break
        return total

    def is_own(self, name: str, group: StripGroup) -> bool:
        """Whether only the nests of a group use a buffer, and no other buffer has its storage."""
        return self.users[name] == sum(name in each for each in group.accesses) and all(
            a.buffer == name and a.index is not None
            for each in group.accesses
            for a in each.get(name, ())
        )

    @computed_once
    def users(self) -> Counter[str]:
        """How many statements use each storage, of those that are in no nest and of whole nests."""
        found = Counter[str]()
        for stmt in walk(self.program.body, into_loops=False):
            if not isinstance(stmt, If | For | While):
                found.update(storages(self.program, (stmt,)))
        return found

    def windows(self, group: StripGroup, rows: int) -> dict[str, tuple[int, int]]:
        """The temporaries of which so many rows are enough, along which dim."""
        found: dict[str, tuple[int, int]] = {}
        for name in group.storages:
            buffer, places = self.buffers[name], group.places(name)
            if len(buffer.shape) < 2 or not (buffer.role == "temp" and self.is_own(name, group)):
                continue
            if group.repeated and not is_made_in(group.first(name), buffer, {}):
                continue
            for dim, size in enumerate(buffer.shape):
                ends = [rows_behind(index[dim], var) for index, var, _ in places]
                late = [shift for _, _, shift in places]
                at = [end - shift for end, shift in zip(ends, late, strict=True) if end is not None]
                if len(at) == len(places):
                    need = 1 << (rows + max(at) - min(at) - 1).bit_length()
                    need = max(need, 2 if self.program.target.threads > 1 else 1)  # see ``rings``
                    if need < hint(size):
                        found[name] = (dim, need)
                    break
        return found


def is_plain(program: Program, loop: Loop) -> bool:
    """Whether the iterations of a nest may run in any parts, in their order, and are long rows."""
    if loop.ordered or loop.chunk is not None or _sums_up(loop.body, 1):
        return False
    inner = [stmt for stmt in loop.body if isinstance(stmt, Loop)]
    long = program.target.costs.strips_row
    return not inner or (min(map(_elements, inner)) >= long and _is_along_rows(program, loop))


def _is_along_rows(program: Program, loop: Loop) -> bool:
    """Whether the inner loops move along memory at least as closely as the outermost: else that is
    the one that gets the lanes, and had better not be cut.
    """
    inner = [stmt.var for stmt in walk(loop.body) if isinstance(stmt, Loop)]
    for stmt in walk(loop.body):
        if isinstance(stmt, Load | Store):
            offset = byte_offset(program.buffers[stmt.buffer], stmt.index)
            outer = step_of(offset, loop.var)
            steps = [step_of(offset, var) for var in inner]
            if outer and any(s is not None and abs(hint(s)) > abs(hint(outer)) for s in steps):
                return False
    return True


def _elements(loop: Loop) -> int:
    """How many iterations the loops inside have, one in the other."""
    inner = [_elements(stmt) for stmt in loop.body if isinstance(stmt, Loop)]
    return hint(loop.size) * max(inner, default=1)


def _sums_up(block: Block, depth: int) -> bool:
    """Whether a total is carried through the outermost loop."""
    for stmt in block:
        if isinstance(stmt, Accumulate) and stmt.levels >= depth:
            return True
        if isinstance(stmt, Loop) and _sums_up(stmt.body, depth + 1):
            return True
    return False


def _with_rows(buffer: Buffer, dim: int, rows: int) -> Buffer:
    """The buffer with so many rows along a dim."""
    shape = (*buffer.shape[:dim], rows, *buffer.shape[dim + 1 :])
    order = sorted(range(len(shape)), key=lambda axis: -hint(buffer.strides[axis]))
    strides = ordered_strides(shape, order, buffer.dtype.itemsize)
    return replace(buffer, shape=shape, strides=strides)


def _in_windows(stmt: Stmt, windows: Mapping[str, tuple[int, int]]) -> Stmt:
    """The statement with the rows of the temporaries counted round and round."""
    match stmt:
        case Load(buffer=name, index=index) | Store(buffer=name, index=index):
            if name not in windows:
                return stmt
            dim, rows = windows[name]
            return replace(stmt, index=(*index[:dim], mod(index[dim], rows), *index[dim + 1 :]))
        case _:
            blocks = tuple(tuple(_in_windows(s, windows) for s in b) for b in blocks_of(stmt))
            return with_blocks(stmt, blocks)
