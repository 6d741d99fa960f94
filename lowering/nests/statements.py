"""The loop IR: loop nests over buffers, as data.

A program is a list of statements over named buffers. Scalars are SSA names; an index is a tuple of
dims over loop variables and integer scalars, one for each dim of the buffer. As text::

    for i in 0:n                                     # heat.py:6
      for j in 0:m
        new[i, j] = multiply(0.25, add(u[i, j + 1], u[i + 2, j + 1]))
        err = maximum over j of absolute(…)

Views are gone into indices. See Note [Writes in place].
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Literal as OneOf

import numpy as np

from fxc.ir.graph import Graph
from fxc.ir.location import Site, SourceLocation
from fxc.ir.records import computed_once, field, frozen, replace
from fxc.ir.symbols import Dim, computed_in

from .boxed_args import boxed_buffers
from .buffers import Atom
from .together import Sums, Together

Order = OneOf["any", "sequential", "pairwise", "complex pairwise"]
Ends = OneOf["rest", "again", "overlapping", "reaching", "end first", "ends first"]


@frozen
class Load:
    """``name = buffer[index]``; what lies so many bytes ``ahead`` is fetched into the cache."""

    name: str
    dtype: np.dtype
    buffer: str
    index: tuple[Dim, ...]
    ahead: int = 0
    node: str = field(default="", compare=False)


@frozen
class Compute:
    """``name = op(args)``; every argument has the dtype that the operation's loop takes.

    For ``quiet`` see ``SourceLocation``. ``node``, here and elsewhere, names the value of the graph
    that it is for, to those who show both; nothing depends on it.
    """

    name: str
    dtype: np.dtype
    op: str
    args: tuple[Atom, ...]
    arg_dtypes: tuple[np.dtype, ...]
    quiet: frozenset[str] = frozenset()
    node: str = field(default="", compare=False)


@frozen
class Index:
    """``name`` = an integer expression over loop variables and sizes."""

    name: str
    dtype: np.dtype
    value: Dim


@frozen
class Store:
    buffer: str
    index: tuple[Dim, ...]
    value: Atom
    dtype: np.dtype
    ahead: int = 0


@frozen
class Accumulate:
    """``name = combine(name, value)``, carried through the ``levels`` loops around it.

    It starts from ``init``, a constant or a scalar of the block around. After those loops ``name``
    is the total; in a ``sequential`` one, later statements of the body may read the running total.
    With ``position`` (argmin, argmax) the total is the position of the first extreme. A ``complex
    pairwise`` one is that of a part of complex numbers, see Note [Pairwise sums].
    """

    name: str
    dtype: np.dtype
    combine: str
    value: Atom
    init: Atom
    order: Order
    levels: int = 1
    position: Dim | None = None
    quiet: frozenset[str] = frozenset()
    node: str = field(default="", compare=False)

    @property
    def is_pairwise(self) -> bool:
        return self.order in ("pairwise", "complex pairwise")


@frozen
class Check:
    """The call goes back to NumPy, which raises, if ``failed`` (a bool scalar) holds.

    It stands outside loops. No input has been stored to before it, see Note [Raising ops]. The
    operator at ``site`` is what it is for, see Note [Leaves].
    """

    failed: Atom
    site: Site | None = None


@frozen
class Bind:
    """The symbol ``name`` is ``value`` from here on, at most ``most``. See Note [Counted sizes].

    ``cuts``: native code ends here, and begins anew when the caller has allocated what it needs.
    """

    name: str
    value: Atom
    most: Dim
    cuts: bool = False


@frozen
class Allocate:
    """``storage`` has memory from here on, of its present size. See ``scratch``."""

    storage: str


class _Nested:
    """A statement with others inside."""

    __slots__ = ()

    @computed_once
    def touched(self) -> Touched:
        """The buffers that statements inside read, and those that they write."""
        assert isinstance(self, Loop | If | For | While)
        return touched([stmt for block in blocks_of(self) for stmt in block])


@frozen
class Loop(_Nested):
    """``for var in 0:size``.

    ``ordered`` loops must run in their order (upwards, or downwards if ``descending``): an
    iteration may read what a later one overwrites. With ``behind`` it may also read what one of so
    many iterations before overwrites: that waits for it. ``chunk`` cuts a pairwise sum, see
    ``reduction_order``. One that is ``parallel`` is run by threads in chunks of so many iterations,
    see Note [Parallel loops].

    So many ``lanes`` run at once, see Note [Loops in lanes]. A ``moved`` one fills or copies
    elements in a row by the C library. A ``packed`` one stores places by the bits of masks, see
    ``compaction``; one ``in_turn`` updates lane by lane, see ``turns``; a ``searched`` one finds an
    extreme before its position, see ``extremes``; of ``postponed`` ones see ``postponed_powers``.
    """

    var: str
    size: Dim
    body: tuple[Stmt, ...]
    ordered: bool = False
    descending: bool = False
    chunk: Dim | None = None
    loc: SourceLocation | None = None
    note: str = ""
    behind: int = 0
    parallel: Dim | None = None
    lanes: int = 1
    ends: Ends = "rest"
    aligned: str = ""
    moved: bool = False
    packed: bool = False
    in_turn: bool = False
    searched: bool = False
    postponed: bool = False


@frozen
class If(_Nested):
    """Run ``then`` if ``condition`` (a bool scalar) holds, else ``orelse``.

    ``ends``: the truth of the condition with which the loop around ends after this iteration.
    """

    condition: Atom
    then: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]
    ends: bool | None = None


@frozen
class For(_Nested):
    """``for var in lo:hi``: a loop of the user's program, with integer scalars as bounds.

    It ends after an iteration in which ``leave``, a bool scalar of the body, holds.
    """

    var: str
    lo: Atom
    hi: Atom
    body: tuple[Stmt, ...]
    loc: SourceLocation | None = None
    leave: Atom | None = None


@frozen
class While(_Nested):
    """Run ``test``, which computes ``condition``, and while that holds, ``body`` and ``test``.

    ``brief``: it ends after about a hundred iterations.
    """

    test: tuple[Stmt, ...]
    condition: Atom
    body: tuple[Stmt, ...]
    loc: SourceLocation | None = None
    brief: bool = False


@frozen
class Matmul:
    """``out = x @ y`` as NumPy does it; operands are whole buffers of rank >= 2 or 1.

    A product of two vectors may be made in two parts: of its first ``done`` elements one with
    ``begun`` has the accumulators, in the column ``place`` of that buffer. One that has ``done``
    alone fills such a buffer, for the vectors of a batch. See ``growing_products``, ``Together``.
    With ``sums`` it is a part of an einsum: stacks of matrices, whose strides may be anything.
    """

    out: str
    x: str
    y: str
    loc: SourceLocation | None = None
    done: Dim | None = None
    begun: str | None = None
    place: Dim = 0
    together: Together | None = None
    sums: Sums | None = None


@frozen
class Apply:
    """NumPy's own function on a whole buffer, in place: ``sort``, of the rows along the last axis,
    ``argsort`` of those of ``keys``, or the inner loop of a ufunc of one operand.
    """

    function: str
    out: str
    loc: SourceLocation | None = None
    keys: str | None = None


@frozen
class Boxed:
    """A call of the eager NumPy kernel of ``op``; arrays among ``args`` are BufferArgs.

    For control flow around operators without native code ``graph`` is what is evaluated instead,
    with ``args`` as its inputs. ``size`` names a symbol, which is the size of the first result, and
    the buffer that takes it. A call that native code makes, see Note [Calls of NumPy], has a flag
    ``failed``: whether NumPy has raised. It is ``brief`` if native code does the work itself as a
    rule. See Note [Native draws].
    """

    op: str
    args: tuple[object, ...]
    outs: tuple[str, ...]
    loc: SourceLocation | None = None
    graph: Graph | None = None
    size: tuple[str, str] | None = None
    failed: str = ""
    brief: bool = False


Nested = Loop | If | For | While
Call = Matmul | Apply | Boxed
Stmt = Load | Compute | Index | Store | Accumulate | Check | Bind | Allocate | Nested | Call


def walk(body: tuple[Stmt, ...], *, into_loops: bool = True) -> list[Stmt]:
    """Every statement, outer ones first."""
    found: list[Stmt] = []
    _walk_into(found, body, into_loops)
    return found


def _walk_into(found: list[Stmt], body: tuple[Stmt, ...], into_loops: bool) -> None:
    for stmt in body:
        found.append(stmt)
        if type(stmt) in _BLOCKS:
            for inner in blocks_of(stmt, into_loops=into_loops):
                _walk_into(found, inner, into_loops)


_BLOCKS: dict[type, tuple[str, ...]] = {
    **dict.fromkeys((Loop, For), ("body",)),
    If: ("then", "orelse"),
    While: ("test", "body"),
}


def blocks_of(stmt: Stmt, *, into_loops: bool = True) -> tuple[tuple[Stmt, ...], ...]:
    """The blocks inside a statement."""
    kind = type(stmt)
    if kind not in _BLOCKS or (kind is Loop and not into_loops):
        return ()
    return tuple([getattr(stmt, name) for name in _BLOCKS[kind]])


Touched = tuple[frozenset[str], frozenset[str]]


def touched(block: Sequence[Stmt]) -> Touched:
    """The buffers that statements read, and those that they write."""
    read, written = set[str](), set[str]()
    for stmt in block:
        if type(stmt) not in _TOUCHING:
            continue
        match stmt:
            case Load():
                read.add(stmt.buffer)
            case Store():
                written.add(stmt.buffer)
            case Loop() | If() | For() | While():
                read |= stmt.touched[0]
                written |= stmt.touched[1]
            case Matmul() | Apply() | Boxed():
                for name, is_written in whole_buffers(stmt):
                    (written if is_written else read).add(name)
    return frozenset(read), frozenset(written)


_TOUCHING = frozenset({Load, Store, *_BLOCKS, Matmul, Apply, Boxed})


def whole_buffers(stmt: Call) -> Iterator[tuple[str, bool]]:
    """The buffers that a call is given, and whether it writes them."""
    match stmt:
        case Matmul(out, x, y, begun=begun, sums=sums):
            yield from ((out, True), (x, False), (y, False))
            if sums is not None and sums.adds:
                yield out, False
            if begun is not None:
                yield begun, False
        case Apply(out=out, keys=keys):
            yield from ((out, True), (out, False))
            if keys is not None:
                yield keys, False
        case Boxed(args=args, outs=outs, size=size):
            yield from ((name, True) for name in (*outs, *((size[1],) if size else ())))
            yield from ((name, False) for name in boxed_buffers(args))


def with_blocks(stmt: Stmt, blocks: tuple[tuple[Stmt, ...], ...]) -> Stmt:
    """The statement with its blocks (as of ``blocks_of``) replaced."""
    if not blocks or all(map(_is_same, blocks, blocks_of(stmt))):
        return stmt
    return replace(stmt, **dict(zip(_BLOCKS[type(stmt)], blocks, strict=True)))


def _is_same(block: tuple[Stmt, ...], other: tuple[Stmt, ...]) -> bool:
    return len(block) == len(other) and all(map(operator.is_, block, other))


def atoms_read(stmt: Stmt) -> tuple[Atom, ...]:
    """The scalars that a statement reads itself."""
    match stmt:
        case Load(index=index):
            return _computed(*index)
        case Compute(args=args):
            return args
        case Index(value=dim):
            return _computed(dim)
        case Store(index=index, value=value):
            return (*_computed(*index), value)
        case Accumulate(value=value, init=init, position=position):
            return (value, init) if position is None else (value, init, *_computed(position))
        case Check(failed):
            return (failed,)
        case Bind(value=value):
            return (value,)
        case If(condition=condition) | While(condition=condition):
            return (condition,)
        case For(lo=lo, hi=hi, leave=leave):
            return (lo, hi) if leave is None else (lo, hi, leave)
        case _:
            return ()


def _computed(*dims: Dim) -> tuple[str, ...]:
    return tuple(name for dim in dims for name in computed_in(dim))
