"""Expensive numbers that stay the same in a loop of the user's program are made in front of it.

::

    loop i in 0:n                          t4 = math_exp(t2)
      t4 = math_exp(t2)                    loop i in 0:n
      raise if math_exp fails(t2, t4)  →     raise if math_exp fails(t2, t4)
      s[] = add(s[], multiply(x[i], t4))     s[] = add(s[], multiply(x[i], t4))

The loop may have no iterations, or none that comes to it: so the check stays. What cannot fail,
``passes/hoisting`` has moved in the graph.
"""

from __future__ import annotations

from collections.abc import Collection

from fxc.ir.graph import OF_PYTHON
from fxc.ir.records import replace
from fxc.ir.symbols import Dim, computed_in, symbols_of
from fxc.ops.python_numbers import SETTLED

from ..nests.accesses import Block
from ..nests.buffers import Const
from ..nests.program import Program
from ..nests.statements import (
    Accumulate,
    Bind,
    Compute,
    For,
    Index,
    Load,
    Loop,
    Stmt,
    While,
    blocks_of,
    walk,
    with_blocks,
)
from ..operators.python_rules import SCALAR_RULES

_PLACES = frozenset({"out_of_bounds", "wrap_index"})  # see ``Emitter.check``
_Number = Load | Compute | Index


def fixed_numbers(program: Program) -> Program:
    """The program with such numbers of Python's, which set no flag that NumPy would tell of.

    Requires: stored values are forwarded. Ensures: the same results, bit for bit.
    """
    return replace(program, body=_block(program, program.body))


def _block(program: Program, block: Block) -> Block:
    made: list[Stmt] = []
    for stmt in block:
        if isinstance(stmt, For | While):
            early = _early(program, stmt)
            made += early
            stmt = _without(stmt, {id(each) for each in early})
        inner = blocks_of(stmt, into_loops=False)
        made.append(with_blocks(stmt, tuple(_block(program, each) for each in inner)))
    return tuple(made)


def _without(stmt: Stmt, taken: Collection[int]) -> Stmt:
    """A statement without some of those inside, by ``id``."""
    blocks = (
        tuple(_without(each, taken) for each in block if id(each) not in taken)
        for block in blocks_of(stmt, into_loops=False)
    )
    return with_blocks(stmt, tuple(blocks))


def _early(program: Program, loop: For | While) -> list[_Number]:
    """What to make in front of a loop, in order."""
    fixed: dict[str, _Number] = {}
    inside = names_inside(loop)
    _, written = loop.touched
    stored = {program.buffers[name].storage for name in written}
    for stmt in walk((loop,), into_loops=False):
        if isinstance(stmt, _Number) and stmt.name not in fixed:
            is_kept = not isinstance(stmt, Load) or (
                program.buffers[stmt.buffer].storage not in stored
            )
            if is_kept and _is_fixed(stmt, inside - fixed.keys()):
                fixed[stmt.name] = stmt
    needed: set[str] = set()
    for stmt in reversed(fixed.values()):
        is_dear = isinstance(stmt, Compute) and _cost(stmt) >= program.target.costs.fixed
        if is_dear or stmt.name in needed:
            needed |= {stmt.name, *(map(str, stmt.args) if isinstance(stmt, Compute) else ())}
    return [stmt for stmt in fixed.values() if stmt.name in needed]


def names_inside(loop: For | While) -> set[str]:
    """The names of numbers and counters that mean something inside of a loop alone."""
    found: set[str] = set()
    for stmt in walk((loop,)):
        match stmt:
            case Load() | Compute() | Index() | Accumulate() | Bind():
                found.add(stmt.name)
            case For() | Loop():
                found.add(stmt.var)
            case _:
                pass
    return found


def _is_fixed(stmt: _Number, inside: Collection[str]) -> bool:
    """Whether a number can be made without those of the loop, and is as well made in vain."""
    match stmt:
        case Load(index=index):
            return not index
        case Index(value=value):
            return not any(name in inside for name in _mentioned(value))
        case Compute(args=args):
            return is_made_anywhere(stmt) and all(
                isinstance(arg, Const) or arg not in inside for arg in args
            )


def is_made_anywhere(stmt: Compute) -> bool:
    """Whether a number can be made where nobody may need it: it sets no flags, and stands on no
    check in front of it.
    """
    if stmt.op in SETTLED | _PLACES:
        return False
    is_cast = stmt.op == "astype" and stmt.arg_dtypes[0].kind != "f"
    return stmt.op == "item" or is_cast or stmt.quiet >= OF_PYTHON


def _mentioned(dim: Dim) -> set[str]:
    return {*symbols_of(dim), *computed_in(dim)}


def _cost(stmt: Compute) -> int:
    return SCALAR_RULES[stmt.op].cost
