"""Totals of parallel loops: threads add up the pieces, one adds up those, always in the same order.

Pieces of a pairwise sum are those of the tree that halves it: with their totals it goes on as if
nothing had happened. Those of a total whose order does not show are equally long. See Note
[Parallel loops].
"""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.records import frozen, replace

from ..nests.hoisting import hoist
from ..nests.neutral import neutral
from ..nests.statements import Accumulate, Loop, Stmt
from ..operators.reduction_order import PAIRWISE_LANES
from .emitter import Counting, Emitter
from .llvm_text import Lanes, scalar_type
from .outside import FromOutside
from .pairwise import PairwiseTree
from .parallel import chunk_function, chunk_of
from .totals import combined

_LEVELS = 6  # how often a sum is halved, at most
_MOST = 1 << _LEVELS  # pieces
_MULTIPLE = 64  # of iterations in a piece
_START, _LENGTH, _PIECE = "piece.start", "piece.length", "piece"


@frozen
class _Pieces:
    """The pieces of a loop, in registers: how many; how often it is halved, or how long they are.

    ``places`` are arrays in the stack frame with a total of each piece.
    """

    loop: Loop
    totals: tuple[Accumulate, ...]
    count: str
    measure: str
    places: tuple[str, ...]

    @property
    def lanes(self) -> int:
        """Those of a pairwise sum, whose halves are multiples of so many elements; else 0."""
        return max((PAIRWISE_LANES[s.order] for s in self.totals if s.is_pairwise), default=0)


def parallel_totals(emitter: Emitter, loop: Loop) -> None:
    """Run a loop that carries totals by threads, if it has more than one piece."""
    hoisted, body = hoist(emitter.program, loop)
    emitter.block(hoisted)
    pieces = _pieces(emitter, replace(loop, body=body))
    f, size = emitter.function, emitter.dim(loop.size)
    for stmt in pieces.totals:
        emitter.start_total(stmt, 1)
    given = [FromOutside("size", "", "i64", size), FromOutside("size", "", "i64", pieces.measure)]
    given += [FromOutside("place", "", "ptr", place) for place in pieces.places]

    def write(inner: Emitter, registers: Sequence[str]) -> None:
        _write_pieces(inner, pieces, registers)

    function = chunk_function(emitter, pieces.loop, given, write)
    several = f.op(f"icmp sgt i64 {pieces.count}, 1")
    function.run(emitter, pieces.count, "1", several)
    if pieces.lanes:
        _join_halves(emitter, pieces)
    else:
        _join_in_order(emitter, pieces)
    for stmt in pieces.totals:
        emitter.finish_total(stmt, 1)


def _pieces(emitter: Emitter, loop: Loop) -> _Pieces:
    f, size, least = emitter.function, emitter.dim(loop.size), emitter.dim(loop.parallel or 1)
    totals = tuple(s for s in loop.body if isinstance(s, Accumulate))
    places = tuple(f.stack(scalar_type(s.dtype), _MOST) for s in totals)
    for name in ("smax", "smin"):
        emitter.module.declare(f"declare i64 @llvm.{name}.i64(i64, i64)")
    if any(s.is_pairwise for s in totals):
        emitter.module.declare("declare i64 @llvm.ctlz.i64(i64, i1 immarg)")
        times = f.op(f"udiv i64 {size}, {least}")
        times = f.op(f"call i64 @llvm.smax.i64(i64 {times}, i64 1)")
        zeros = f.op(f"call i64 @llvm.ctlz.i64(i64 {times}, i1 true)")
        levels = f.op(f"sub i64 63, {zeros}")
        levels = f.op(f"call i64 @llvm.smin.i64(i64 {levels}, i64 {_LEVELS})")
        return _Pieces(loop, totals, f.op(f"shl i64 1, {levels}"), levels, places)
    share = f.op(f"udiv i64 {f.op(f'add i64 {size}, {_MOST - 1}')}, {_MOST}")
    share = f.op(f"call i64 @llvm.smax.i64(i64 {share}, i64 {least})")
    length = f.op(f"and i64 {f.op(f'add i64 {share}, {_MULTIPLE - 1}')}, {-_MULTIPLE}")
    up = f.op(f"sub i64 {f.op(f'add i64 {size}, {length}')}, 1")
    return _Pieces(loop, totals, f.op(f"udiv i64 {up}, {length}"), length, places)


def _write_pieces(inner: Emitter, pieces: _Pieces, registers: Sequence[str]) -> None:
    """The totals of the pieces ``%first`` and following."""
    f, loop, totals = inner.function, pieces.loop, pieces.totals
    size, measure, *places = registers
    tree = PairwiseTree(inner, loop, loop.body, totals) if pieces.lanes else None

    def one() -> None:
        if tree is not None:
            sums = tree.call(*_half(inner, pieces, size, measure))
        else:
            first = f.op(f"mul i64 {inner.regs.dims[_PIECE]}, {measure}")
            left = f.op(f"sub i64 {size}, {first}")
            count = f.op(f"call i64 @llvm.smin.i64(i64 {left}, i64 {measure})")
            part = chunk_of(inner, loop, first, count)
            inner.loop(replace(part, body=tuple(_from_nothing(s) for s in part.body)), 1)
            sums = [inner.regs.atoms[s.name][0] for s in totals]
        for stmt, place, value in zip(totals, places, sums, strict=True):
            kind = scalar_type(stmt.dtype)
            f.do(f"store {kind} {value}, ptr {_at(inner, stmt, place, inner.regs.dims[_PIECE])}")

    stop = f.op("add i64 %first, %count")
    inner.counted(Counting(_PIECE, "%first", stop), (), one)


def _from_nothing(stmt: Stmt) -> Stmt:
    if isinstance(stmt, Accumulate):
        return replace(stmt, init=neutral(stmt.combine, stmt.dtype))
    return stmt


def _half(inner: Emitter, pieces: _Pieces, size: str, levels: str) -> tuple[str, str]:
    """The start and the length of a piece: each bit of its number says which half it is in."""
    f, totals = inner.function, inner.regs.totals
    totals[_START], totals[_LENGTH] = "0", size
    number = inner.regs.dims[_PIECE]

    def halve() -> None:
        now = inner.regs.totals
        place = f.op(f"sub i64 {f.op(f'sub i64 {levels}, 1')}, {inner.regs.dims['level']}")
        bit = f.op(f"trunc i64 {f.op(f'lshr i64 {number}, {place}')} to i1")
        half = f.op(f"and i64 {f.op(f'lshr i64 {now[_LENGTH]}, 1')}, {-pieces.lanes}")
        rest = f.op(f"sub i64 {now[_LENGTH]}, {half}")
        middle = f.op(f"add i64 {now[_START]}, {half}")
        now[_START] = f.op(f"select i1 {bit}, i64 {middle}, i64 {now[_START]}")
        now[_LENGTH] = f.op(f"select i1 {bit}, i64 {rest}, i64 {half}")

    others = [(_START, "i64"), (_LENGTH, "i64")]
    inner.counted(Counting("level", "0", levels), (), halve, others)
    return inner.regs.totals.pop(_START), inner.regs.totals.pop(_LENGTH)


def _join_halves(emitter: Emitter, pieces: _Pieces) -> None:
    """Two halves become one, level by level; the last one is added to what was there before."""
    f = emitter.function

    def level() -> None:
        place = f.op(f"add i64 {emitter.regs.dims['level']}, 1")
        width = f.op(f"lshr i64 {pieces.count}, {place}")
        emitter.counted(Counting(_PIECE, "0", width), (), pair)

    def pair() -> None:
        number = emitter.regs.dims[_PIECE]
        left = f.op(f"shl i64 {number}, 1")
        right = f.op(f"or i64 {left}, 1")
        for stmt, place in zip(pieces.totals, pieces.places, strict=True):
            first, second = (_load(emitter, stmt, place, side) for side in (left, right))
            value = combined(stmt, first, second, Lanes(f, 1))
            target = _at(emitter, stmt, place, number)
            f.do(f"store {scalar_type(stmt.dtype)} {value}, ptr {target}")

    emitter.counted(Counting("level", "0", pieces.measure), (), level)
    for stmt, place in zip(pieces.totals, pieces.places, strict=True):
        total, whole = emitter.regs.totals[stmt.name], _load(emitter, stmt, place, "0")
        emitter.regs.totals[stmt.name] = combined(stmt, total, whole, Lanes(f, 1))


def _join_in_order(emitter: Emitter, pieces: _Pieces) -> None:
    def add() -> None:
        for stmt, place in zip(pieces.totals, pieces.places, strict=True):
            total = emitter.regs.totals[stmt.name]
            value = _load(emitter, stmt, place, emitter.regs.dims[_PIECE])
            code = Lanes(emitter.function, 1)
            emitter.regs.totals[stmt.name] = combined(stmt, total, value, code)

    emitter.counted(Counting(_PIECE, "0", pieces.count), pieces.totals, add)


def _at(emitter: Emitter, stmt: Accumulate, place: str, number: str) -> str:
    kind = scalar_type(stmt.dtype)
    return emitter.function.op(f"getelementptr {kind}, ptr {place}, i64 {number}")


def _load(emitter: Emitter, stmt: Accumulate, place: str, number: str) -> str:
    kind, at = scalar_type(stmt.dtype), _at(emitter, stmt, place, number)
    return emitter.function.op(f"load {kind}, ptr {at}")
