"""Loops that do the same to both parts of complex numbers: one more loop, over the parts.

::

    for i in 0:n                                     for i in 0:n
      z[i, 0] = add(x[i, 0], y[i, 0])         →        for ip in 0:2
      z[i, 1] = add(x[i, 1], y[i, 1])                    z[i, ip] = add(x[i, ip], y[i, ip])

Where memory has no gaps both loops are one over floats, with no parts to be told apart. A part
never lies where the other one does, so their order does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.records import replace
from fxc.ir.symbols import Dim, symbol

from ..nests.buffers import Atom, Const
from ..nests.program import Program
from ..nests.statements import Compute, Load, Loop, Stmt, Store


def over_parts(program: Program, loop: Loop) -> tuple[Loop, ...]:
    """The loop with one over the parts inside, if that does the same; none if it does not."""
    parts = _by_part(program, loop.body)
    if parts is None or not _are_alike(*parts):
        return ()
    which = symbol(f"{loop.var}p", hint=0, lower=0)
    body = tuple(_of_part(stmt, which) for stmt in parts[0])
    inner = Loop(str(which), 2, body, loop.ordered, loop.descending)
    return (replace(loop, body=(inner,)),)


def _by_part(program: Program, block: Sequence[Stmt]) -> tuple[list[Stmt], list[Stmt]] | None:
    """The statements that have to do with the real parts and those with the imaginary ones; None
    if there are others.
    """
    found: tuple[list[Stmt], list[Stmt]] = ([], [])
    part_of: dict[Atom, Dim] = {}
    for stmt in block:
        match stmt:
            case Load(name=name, buffer=buffer, index=index) if program.buffers[buffer].parts:
                part_of[name] = part = index[-1]
            case Compute(name=name, args=args):
                given = {part_of[a] for a in args if isinstance(a, str) and a in part_of}
                if len(given) != 1 or any(isinstance(a, str) and a not in part_of for a in args):
                    return None
                (part,) = given
                part_of[name] = part
            case Store(buffer=buffer, index=index, value=value) if program.buffers[buffer].parts:
                part = index[-1]
                if not isinstance(value, Const) and part_of.get(value) != part:
                    return None
            case _:
                return None
        if part not in (0, 1):
            return None
        found[0 if part == 0 else 1].append(stmt)
    return found


def _are_alike(first: Sequence[Stmt], second: Sequence[Stmt]) -> bool:
    """Whether the statements are the same but for the part that they are of."""
    names: dict[Atom, Atom] = {}

    def same(atom: Atom, other: Atom) -> bool:
        if isinstance(atom, Const) or isinstance(other, Const):
            return repr(atom) == repr(other)
        return names.get(atom) == other

    if len(first) != len(second):
        return False
    for stmt, other in zip(first, second, strict=True):
        match stmt, other:
            case Load(index=(*place, _)), Load(index=(*again, _)):
                if (stmt.buffer, place) != (other.buffer, again):
                    return False
                names[stmt.name] = other.name
            case Compute(), Compute():
                if (stmt.op, stmt.dtype, stmt.arg_dtypes) != (
                    other.op,
                    other.dtype,
                    other.arg_dtypes,
                ):
                    return False
                if not all(map(same, stmt.args, other.args)):
                    return False
                names[stmt.name] = other.name
            case Store(index=(*place, _)), Store(index=(*again, _)):
                if (stmt.buffer, place) != (other.buffer, again) or not same(
                    stmt.value, other.value
                ):
                    return False
            case _:
                return False
    return bool(first)


def _of_part(stmt: Stmt, which: Dim) -> Stmt:
    if isinstance(stmt, Load | Store):
        return replace(stmt, index=(*stmt.index[:-1], which))
    return stmt
