"""What scheduling knows of the machine, and what work costs on it: one place for such constants."""

from __future__ import annotations

from fxc.ir.records import frozen
from fxc.ir.symbols import Dim, computed_in, symbols_of

from ..nests.statements import Accumulate, Compute, Load, Loop, Stmt, Store
from ..operators.python_rules import SCALAR_RULES

PICOSECONDS = 10**12


@frozen
class Target:
    """A machine, and when threads pay on it. Times are in picoseconds; they are rough, and need be
    no better: an estimate that is half of the truth makes chunks that take twice as long.

    An ``operation`` is one of the cost of an addition on eight bytes, in lanes. A ``byte`` is one
    that is loaded or stored, in the caches. A chunk should take so long that to take it costs
    nothing beside it: a thread does so in some ten nanoseconds. In a loop that takes less than
    ``least`` there is nothing to gain from threads that may have to be woken up. Chunks that run in
    lanes are multiples of so many iterations, and so are long ones: whole cache lines.
    """

    threads: int = 1
    operation: int = 40
    byte: int = 25
    chunk: int = 12_000_000
    least: int = 24_000_000
    multiple: int = 64


SERIAL = Target()


def cost(target: Target, block: tuple[Stmt, ...]) -> Dim | None:
    """About how long it takes to run statements once, in picoseconds, in terms of sizes; None if
    it depends on more. What is loaded from a buffer again, as by a stencil, is at hand.
    """
    total: Dim = 0
    loaded: set[str] = set()
    for stmt in block:
        match stmt:
            case Compute(op=op, dtype=dtype, arg_dtypes=dtypes):
                widest = max(dtype.itemsize, *(each.itemsize for each in dtypes))
                total = total + target.operation * SCALAR_RULES[op].cost * widest // 8
            case Accumulate(dtype=dtype):
                total = total + target.operation * dtype.itemsize // 8
            case Load(buffer=buffer, dtype=dtype):
                total = total + target.byte * dtype.itemsize * (buffer not in loaded)
                loaded.add(buffer)
            case Store(dtype=dtype):
                total = total + target.byte * dtype.itemsize
            case Loop(size=size, body=body):
                inside = cost(target, body)
                if inside is None or computed_in(size):
                    return None
                total = total + size * inside
            case _:
                pass
    inner = {stmt.var for stmt in block if isinstance(stmt, Loop)}
    return None if not inner.isdisjoint(symbols_of(total)) else total
