"""A loop of the user's program that branches on its counter runs in pieces without the branch.

::

    loop i in 0:n                             i.stop = (min(w, n))
      t1 = (i)                                loop i in 0:i.stop
      t2 = (w)                                  out[i] = nan
      if py_less(t1, t2)                  →   loop i.1 in w:n
        out[i] = nan                            out[i.1] = subtract(x[i.1], x[i.1 - w])
      else
        out[i] = subtract(x[i], x[i - w])

So pieces may become nests, which have lanes. What the counter is compared with stays the same in
the loop: a number, a size, a counter of a loop around. Iterations run in the order that they had.
"""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.bounds import decide
from fxc.ir.records import frozen, replace
from fxc.ir.size_functions import hint, maximum, minimum, substitute
from fxc.ir.symbols import Dim, computed_in, symbol, symbols_of

from ..nests.accesses import Block, renamed
from ..nests.bounds import bounds, counter_bounds, ranges_within
from ..nests.buffers import BOOL, I64, Atom, Const
from ..nests.elsewhere import elsewhere
from ..nests.program import Program
from ..nests.rewriting import outermost_first
from ..nests.statements import (
    Accumulate,
    Allocate,
    Bind,
    Boxed,
    Compute,
    For,
    If,
    Index,
    Load,
    Loop,
    Stmt,
    Store,
    blocks_of,
    walk,
    with_blocks,
)
from .forward import forward

# Of ``gap < 0`` and the like, where the gap is the counter and a number: whether it holds below a
# threshold, and how far behind the place where the gap is 0 that is; and the same mirrored.
_BELOW = {
    "less": (True, 0),
    "less_equal": (True, 1),
    "greater": (False, 1),
    "greater_equal": (False, 0),
}
_MIRRORED = {
    "less": "greater",
    "less_equal": "greater_equal",
    "greater": "less",
    "greater_equal": "less_equal",
}


_WHOLE = Bind | Allocate | Boxed  # there is one of each


def index_sets(program: Program) -> Program:
    """The program with such loops in pieces.

    Ensures: the same results, bit for bit.
    """
    if not any(isinstance(stmt, If) for stmt in walk(program.body, into_loops=False)):
        return program
    forwarded = replace(program, body=forward(program, program.body))
    splitting = _Splitting(forwarded)
    body = outermost_first(forwarded.body, splitting.loop)
    return replace(program, body=body, buffers=splitting.buffers) if splitting.made else program


@frozen
class _Piece:
    """Some iterations: the counter is at least each of ``starts``, less than each of ``stops``."""

    starts: tuple[Dim, ...]
    stops: tuple[Dim, ...]


class _Splitting:
    def __init__(self, program: Program) -> None:
        self.buffers = dict(program.buffers)
        self.costs = program.target.costs
        self.counters = counter_bounds(program)
        self.ranges = ranges_within(self.counters)
        self.dims: dict[Atom, Dim] = {}
        self.made_by: dict[Atom, Compute] = {}
        self.learn(program.body)
        self.made = 0

    def learn(self, block: Block) -> None:
        for stmt in walk(block):
            if isinstance(stmt, Index):
                self.dims[stmt.name] = stmt.value
            elif isinstance(stmt, Compute):
                self.made_by[stmt.name] = stmt

    def loop(self, loop: For) -> list[Stmt] | None:
        """The loop in pieces; None if it stays as it is."""
        if loop.leave is not None or loop.var not in self.counters:
            return None
        between = self.counters[loop.var]
        inside = walk(loop.body)
        if any(map(computed_in, between)) or any(isinstance(s, _WHOLE) for s in inside):
            return None
        whole = _Piece((between[0],), (between[1],))
        for most in range(self.costs.index_sets_pieces, 0, -1):
            pieces = self.pieces(loop, whole, most)
            growth = sum(len(walk(body)) for _, body in pieces) - len(inside)
            if growth <= self.costs.index_sets_statements:
                break
        if pieces[0][1] == loop.body:
            return None
        self.made += 1
        loops = [replace(loop, body=pieces[0][1])]
        for piece, body in pieces[1:]:
            loops.append(self.with_names(replace(loop, body=body), self.largest(piece.starts)))
        found = [self.written(each, piece) for each, (piece, _) in zip(loops, pieces, strict=True)]
        return [stmt for stmts in found for stmt in stmts]

    def pieces(self, loop: For, whole: _Piece, most: int) -> list[tuple[_Piece, Block]]:
        """The pieces of a loop in order, so many at most, and an iteration of each."""
        left, done = [whole], list[tuple[_Piece, Block]]()
        while left:
            piece = left.pop()
            arms = _Arms(self, loop, piece)
            body = tuple(arms.block(loop.body, {}))
            if arms.cut is None or len(left) + len(done) + 1 >= most:
                done.append((piece, body))
                continue
            left.append(replace(piece, starts=(*piece.starts, arms.cut)))
            left.append(replace(piece, stops=(*piece.stops, arms.cut)))
        return done

    def written(self, loop: For, piece: _Piece) -> list[Stmt]:
        """A piece, whose loops inside are in pieces in turn."""
        start, stop = self.largest(piece.starts), self.smallest(piece.stops)
        self.counters[loop.var] = start, stop
        self.ranges[loop.var] = bounds(start, self.ranges)[0], bounds(stop - 1, self.ranges)[1]
        body = loop.body
        if hint(stop - start) >= self.costs.index_sets_many:
            body = outermost_first(body, self.loop)
        if stop - start == 1:
            self.made += 1
            return [*elsewhere(self.buffers, body, {loop.var: start}, f".{self.made}")]
        made: list[Stmt] = []
        ends: list[Atom] = []
        for name, dim in (("start", start), ("stop", stop)):
            if isinstance(dim, int):
                ends.append(Const(dim, I64))
            else:
                made.append(Index(f"{loop.var}.{name}", I64, dim))
                ends.append(f"{loop.var}.{name}")
        return [*made, replace(loop, lo=ends[0], hi=ends[1], body=body)]

    def with_names(self, loop: For, start: Dim) -> For:
        """The loop with scalars and counters of its own."""
        self.made += 1
        suffix = f".{self.made}"
        stmts = walk((loop,))
        made = (s.name for s in stmts if isinstance(s, Load | Compute | Index | Accumulate))
        names = {name: name + suffix for name in made}
        counters = [stmt.var for stmt in stmts if isinstance(stmt, For)]
        shift: dict[str, Dim] = {var: symbol(var + suffix, hint=0, lower=0) for var in counters}
        first = start if isinstance(start, int) and start > 0 else 0
        shift[loop.var] = symbol(loop.var + suffix, hint=hint(start), lower=first)
        for var in counters[1:]:
            if var in self.counters:
                low, high = (substitute(dim, shift) for dim in self.counters[var])
                self.counters[var + suffix] = low, high
                self.ranges[var + suffix] = self.ranges[var]
        (loop_of,) = elsewhere(self.buffers, (renamed(loop, names),), shift, suffix)
        assert isinstance(loop_of, For)
        self.learn(loop_of.body)
        return loop_of

    def largest(self, dims: Sequence[Dim]) -> Dim:
        found = dims[0]
        for dim in dims[1:]:
            if not self.is_no_more(dim, found):
                found = dim if self.is_no_more(found, dim) else maximum(found, dim)
        return found

    def smallest(self, dims: Sequence[Dim]) -> Dim:
        found = dims[0]
        for dim in dims[1:]:
            if not self.is_no_more(found, dim):
                found = dim if self.is_no_more(dim, found) else minimum(found, dim)
        return found

    def is_no_more(self, dim: Dim, other: Dim) -> bool:
        return decide(bounds(other - dim, self.ranges)[0], ">=", 0) is True


class _Arms:
    """Iterations of a piece: of branches on the counter only the arm that is taken.

    ``cut`` is a place where the piece may be cut, so that one more is known.
    """

    def __init__(self, splitting: _Splitting, loop: For, piece: _Piece) -> None:
        self.splitting, self.var, self.piece = splitting, loop.var, piece
        self.inner = {stmt.var for stmt in walk(loop.body) if isinstance(stmt, For | Loop)}
        self.known: dict[Atom, Atom] = {}  # bools that are others
        self.cut: Dim | None = None

    def block(self, block: Block, held: dict[str, Atom]) -> list[Stmt]:
        """The statements; ``held`` are bools in buffers of one element."""
        made: list[Stmt] = []
        for stmt in block:
            match stmt:
                case Compute(name=name, dtype=dtype) if dtype == BOOL:
                    self.compute(stmt)
                    made.append(stmt)
                case Load(name=name, buffer=buffer, index=()) if buffer in held:
                    self.known[name] = held[buffer]
                    made.append(stmt)
                case Store(buffer=buffer, value=value, dtype=dtype):
                    self.forget(held, {buffer})
                    if dtype == BOOL and self.is_alone(buffer):
                        held[buffer] = self.known.get(value, value)
                    made.append(stmt)
                case If():
                    made += self.branch(stmt, held)
                case _:
                    made.append(self.others(stmt, held))
        return made

    def compute(self, stmt: Compute) -> None:
        """Learn what a bool is, if it is known or another one."""
        args = [self.known.get(x, x) for x in stmt.args]
        op = stmt.op.removeprefix("py_")
        if op in ("astype", "bool") and stmt.arg_dtypes == (BOOL,):
            self.known[stmt.name] = args[0]
        elif op in ("logical_not", "not") and isinstance(args[0], Const):
            self.known[stmt.name] = Const(not args[0].value, BOOL)

    def branch(self, stmt: If, held: dict[str, Atom]) -> list[Stmt]:
        """The arm that is taken; the whole branch, if that is open."""
        holds = None if stmt.ends is not None else self.truth(stmt.condition)
        if holds is not None:
            return self.block(stmt.then if holds else stmt.orelse, held)
        arms = dict(held), dict(held)
        then = tuple(self.block(stmt.then, arms[0]))
        orelse = tuple(self.block(stmt.orelse, arms[1]))
        held.clear()
        held.update(arms[0].items() & arms[1].items())
        return [with_blocks(stmt, (then, orelse))]

    def others(self, stmt: Stmt, held: dict[str, Atom]) -> Stmt:
        blocks = blocks_of(stmt)
        if not blocks:
            return stmt
        self.forget(held, stmt.touched[1])  # type: ignore[union-attr]
        return with_blocks(stmt, tuple(tuple(self.block(each, dict(held))) for each in blocks))

    def is_alone(self, buffer: str) -> bool:
        """Whether a buffer is one number of the program's own."""
        found = self.splitting.buffers[buffer]
        return found.role == "temp" and not found.shape and found.storage == buffer

    def forget(self, held: dict[str, Atom], written: frozenset[str] | set[str]) -> None:
        for buffer in written & held.keys():
            del held[buffer]

    # -- conditions

    def truth(self, condition: Atom) -> bool | None:
        """Whether a condition holds in all iterations, or in none; else there may be a ``cut``."""
        condition = self.known.get(condition, condition)
        if isinstance(condition, Const):
            return bool(condition.value)
        stmt = self.splitting.made_by.get(condition)
        gap = None if stmt is None else self.gap(stmt)
        if stmt is None or gap is None:
            return None
        name = stmt.op.removeprefix("py_")
        if gap[1] < 0:
            name = _MIRRORED.get(name, name)
        if name in _BELOW:
            below, more = _BELOW[name]
            found = self.is_below(gap[0] + more)
            if found is None:
                self.cut = self.cut or gap[0] + more
            return None if found is None else found == below
        found = self.is_at(gap[0])
        return None if found is None else found == (name == "equal")

    def gap(self, stmt: Compute) -> tuple[Dim, int] | None:
        """Where the two numbers that are compared are equal, and by how much the first one grows
        with each iteration more than the second.
        """
        if stmt.op.removeprefix("py_") not in (*_BELOW, "equal", "not_equal"):
            return None
        left, right = map(self.dim, stmt.args)
        if left is None or right is None:
            return None
        counter, gap = symbol(self.var), left - right
        rest = substitute(gap, {self.var: 0})
        if computed_in(rest) or not self.inner.isdisjoint(symbols_of(rest)):
            return None
        if gap - rest == counter:
            return -rest, 1
        return (rest, -1) if rest - gap == counter else None

    def dim(self, atom: Atom) -> Dim | None:
        if isinstance(atom, Const):
            return atom.value if type(atom.value) is int else None
        return self.splitting.dims.get(atom)

    def is_below(self, place: Dim) -> bool | None:
        """Whether the counter is below a place in all iterations, or in none."""
        if any(self.splitting.is_no_more(stop, place) for stop in self.piece.stops):
            return True
        is_behind = any(self.splitting.is_no_more(place, start) for start in self.piece.starts)
        return False if is_behind else None

    def is_at(self, place: Dim) -> bool | None:
        """Whether the counter is a number in all iterations, or in none."""
        under, upto = self.is_below(place), self.is_below(place + 1)
        if under is True or upto is False:
            return False
        if under is False and upto is True:
            return True
        if under is False or upto is True:  # of the first or of the last one alone
            self.cut = self.cut or (place if upto else place + 1)
        return None
