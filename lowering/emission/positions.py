"""Loops that find the position of an extreme, see ``nests/extremes``."""

from __future__ import annotations

from fxc.ir.records import replace
from fxc.ir.size_functions import floordiv, minimum
from fxc.ir.symbols import Dim, symbol

from ..nests.accesses import rename
from ..nests.buffers import BOOL, I64
from ..nests.extremes import without_position
from ..nests.hoisting import hoist
from ..nests.statements import Accumulate, Loop, Stmt
from .emitter import Counting, Emitter
from .llvm_text import Lanes


def find_extreme(emitter: Emitter, loop: Loop, stmt: Accumulate) -> None:
    """Write the loop; the total is the position."""
    most = emitter.costs.extreme_block
    start: str = "0"
    size = stop = emitter.dim(loop.size)
    if isinstance(loop.size, int) and loop.size <= 2 * most:
        emitter.loop(_plain(loop, stmt), 1)
    else:
        f = emitter.function
        emitter.module.declare("declare i64 @llvm.smin.i64(i64, i64)")
        block = _best_block(emitter, loop, stmt, most)
        start = f.op(f"mul nsw i64 {block}, {most}")
        end = f.op(f"add nsw i64 {start}, {most}")
        stop = f.op(f"call i64 @llvm.smin.i64(i64 {end}, i64 {size})")
    place = _search(emitter, loop, stmt, start, stop)
    assert stmt.position is not None
    outer = emitter.regs.dims.get(loop.var)
    emitter.regs.dims[loop.var] = place
    emitter.regs.atoms[stmt.name] = emitter.index(stmt.position, I64, Lanes(emitter.function, 1))
    if outer is None:
        del emitter.regs.dims[loop.var]


def _plain(loop: Loop, stmt: Accumulate) -> Loop:
    """The loop that finds the extreme alone."""
    is_cut = isinstance(loop.size, int) and loop.size > loop.lanes and loop.size % loop.lanes
    return replace(without_position(loop, stmt), searched=False, ends="again" if is_cut else "rest")


def _best_block(emitter: Emitter, loop: Loop, stmt: Accumulate, most: int) -> str:
    """The first block with the extreme, which is in a register from then on, too."""
    number = symbol(f"{loop.var}b", hint=0, lower=0)
    shift: dict[str, Dim] = {loop.var: symbol(loop.var, hint=0, lower=0) + number * most}
    plain = _plain(loop, stmt)
    inside = replace(
        plain,
        size=minimum(most, loop.size - number * most),
        body=tuple(rename(each, shift) for each in plain.body),
        ends="rest",
    )
    best = replace(stmt, name=f"{stmt.name}.best", value=stmt.name, position=number)
    count = floordiv(loop.size + (most - 1), most)
    emitter.start_total(best, 1)
    blocks = Loop(str(number), count, (inside, best), loc=loop.loc)
    emitter.plain_loop(blocks, 1, "0", [best])
    emitter.regs.atoms[stmt.name] = (emitter.regs.totals[best.name], 1)
    emitter.finish_total(best, 1)
    return emitter.regs.atoms[best.name][0]


def _search(emitter: Emitter, loop: Loop, stmt: Accumulate, start: str, stop: str) -> str:
    """The first iteration of these that has the extreme."""
    f = emitter.function
    hoisted, body = hoist(emitter.program, loop)
    emitter.block(hoisted)
    pure = tuple(each for each in body if not isinstance(each, Accumulate))
    lanes = loop.lanes
    slot = f.stack("i64", 1)
    f.do(f"store i64 -1, ptr {slot}, align 8")
    length = f.op(f"sub i64 {stop}, {start}")
    whole = f.op(f"add nsw i64 {start}, {f.op(f'and i64 {length}, {-lanes}')}")
    emitter.regs.vector = loop.var
    _look(emitter, Counting(loop.var, start, whole, lanes, lanes), stmt, pure, slot)
    emitter.regs.vector = None
    found = f.op(f"load i64, ptr {slot}, align 8")
    none = f.op(f"icmp slt i64 {found}, 0")
    if isinstance(loop.size, int) and stop == str(loop.size) and loop.size > lanes:
        # the last vector ends with the loop: those that it meets again have not had the extreme
        last = str(loop.size - lanes)
        end = f.op(f"select i1 {none}, i64 {stop}, i64 {last}")
        emitter.regs.vector = loop.var
        _look(emitter, Counting(loop.var, last, end, lanes, lanes), stmt, pure, slot)
        emitter.regs.vector = None
        return f.op(f"load i64, ptr {slot}, align 8")
    rest = f.op(f"select i1 {none}, i64 {whole}, i64 {stop}")
    _look(emitter, Counting(loop.var, rest, stop, rest=True), stmt, pure, slot)
    return f.op(f"load i64, ptr {slot}, align 8")


def _look(
    emitter: Emitter, counting: Counting, stmt: Accumulate, body: tuple[Stmt, ...], slot: str
) -> None:
    """A loop that ends where it has found the extreme, and stores where that is."""
    f, code = emitter.function, Lanes(emitter.function, counting.lanes)

    def look() -> str:
        emitter.block(body, counting.lanes)
        value = emitter.atom(stmt.value, stmt.dtype, code)
        extreme = emitter.atom(stmt.name, stmt.dtype, code)
        is_float = stmt.dtype.kind == "f"
        here = code.compare("oeq" if is_float else "eq", stmt.dtype, value, extreme)
        if is_float:
            is_nan = code.compare("uno", stmt.dtype, value, value)
            here = code.binary("or", BOOL, here, is_nan)
        some = here if code.count == 1 else code.reduced("or", here)
        emitter.either(some, lambda: found(here), lambda: None, seldom=True)
        return some

    def found(here: str) -> None:
        place = emitter.regs.dims[counting.var]
        if code.count > 1:
            bits = f"i{code.count}"
            emitter.module.declare(f"declare {bits} @llvm.cttz.{bits}({bits}, i1)")
            mask = f.op(f"bitcast {code.of('i1')} {here} to {bits}")
            lane = f.op(f"call {bits} @llvm.cttz.{bits}({bits} {mask}, i1 true)")
            wide = f.op(f"zext {bits} {lane} to i64")
            place = f.op(f"add nsw i64 {place}, {wide}")
        f.do(f"store i64 {place}, ptr {slot}, align 8")

    emitter.counted(counting, (), look)
