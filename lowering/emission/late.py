"""Checks of a loop that are looked at behind it.

::

    for i in lo:hi                          lost = False
      t = try_int(x[i])                     for i in lo:hi
      raise if try_int fails(x[i], t)   →     t = try_int(x[i]); lost |= try_int fails(x[i], t)
      b[i] = t                                b[i] = t
                                            raise if lost

Without a jump out of it LLVM writes the loop with vectors. So it is for ints of floats in loops
that hand on no numbers. A wrong int must be no index; nothing else relies on it that the check has
passed.
"""

from __future__ import annotations

from fxc.ir.symbols import computed_in

from ..nests.accesses import read_early
from ..nests.program import Program
from ..nests.statements import Check, Compute, For, If, Index, Load, Stmt, Store, walk
from .emitter import Emitter
from .python_failures import ROUNDINGS


def checks_late(emitter: Emitter, stmt: For) -> bool:
    """Whether the checks of a loop may as well fail behind it."""
    if stmt.leave is not None or emitter.undo is not None or not emitter.regs.marks:
        return False
    body = walk(stmt.body)
    made = {each.name: each for each in body if isinstance(each, Compute)}
    checks = [made.get(str(each.failed)) for each in body if isinstance(each, Check)]
    return (
        bool(checks)
        and all(each is not None and each.op in ROUNDINGS for each in checks)
        and all(map(_is_plain, body))
        and not _hands_on(emitter.program, stmt.body)
    )


def _is_plain(stmt: Stmt) -> bool:
    """Whether a statement does the same to memory whatever the numbers are."""
    if isinstance(stmt, Load | Store):
        return not any(computed_in(dim) for dim in stmt.index)
    return isinstance(stmt, Compute | Index | If | Check)


def _hands_on(program: Program, body: tuple[Stmt, ...]) -> bool:
    """Whether a number is read that an earlier iteration may have stored."""
    stored = {_storage(program, s) for s in walk(body) if isinstance(s, Store) and not s.index}
    return not stored.isdisjoint(read_early(program, body, set()))


def _storage(program: Program, stmt: Load | Store) -> str:
    return program.buffers[stmt.buffer].storage
