"""About how long statements take on a machine."""

from __future__ import annotations

from fxc.ir.later import import_later
from fxc.ir.symbols import Dim, computed_in, symbols_of

from ..machine.target import Target
from ..nests.statements import Accumulate, Compute, Load, Loop, Stmt, Store
from ..operators.python_rules import SCALAR_RULES

# See Note [Rooms with one door].
most = import_later("fxc.lowering.nests.alternatives", "most")


def cost(target: Target, block: tuple[Stmt, ...]) -> Dim | None:
    """About how long it takes to run statements once, in picoseconds, in terms of sizes; None if
    it depends on more. What is loaded from a buffer again, as by a stencil, is at hand.
    """
    total: Dim = 0
    loaded: set[str] = set()
    costs = target.costs
    for stmt in block:
        match stmt:
            case Compute(op=op, dtype=dtype, arg_dtypes=dtypes):
                widest = max(dtype.itemsize, *(each.itemsize for each in dtypes))
                total = total + costs.operation * SCALAR_RULES[op].cost * widest // 8
            case Accumulate(dtype=dtype):
                total = total + costs.operation * dtype.itemsize // 8
            case Load(buffer=buffer, dtype=dtype):
                total = total + costs.byte * dtype.itemsize * (buffer not in loaded)
                loaded.add(buffer)
            case Store(dtype=dtype):
                total = total + costs.byte * dtype.itemsize
            case Loop(size=size, body=body):
                inside = cost(target, body)
                if inside is None or computed_in(size):
                    return None
                total = total + most(size) * inside
            case _:
                pass
    inner = {stmt.var for stmt in block if isinstance(stmt, Loop)}
    return None if not inner.isdisjoint(symbols_of(total)) else total
