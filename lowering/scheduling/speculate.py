"""Checks of short arms are made before the branch.

::

    if c                                  t = try_multiply(3, x)
      t = try_multiply(3, x)              raise if c and try_multiply fails(3, x, t)
      raise if try_multiply fails(3, x, t)  →  if c
      y[] = t                               y[] = t
    else                                  else
      y[] = x                               y[] = x

What is left of such a branch needs no jump: LLVM takes one of two numbers. Where a processor cannot
guess the outcome that takes half of the time. What fails is lost anyway: see Note [Raising ops].
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from fxc.ir.records import replace

from ..machine.costs import Costs
from ..nests.buffers import BOOL, Atom
from ..nests.program import Program
from ..nests.statements import Check, Compute, If, Load, Stmt, Store, blocks_of, with_blocks
from ..operators.python_rules import SCALAR_RULES

_PLACES = frozenset({"out_of_bounds", "wrap_index"})  # see ``Emitter.check``


def speculate(program: Program) -> Program:
    return replace(program, body=_block(program.body, program.target.costs))


def _block(block: Sequence[Stmt], costs: Costs) -> tuple[Stmt, ...]:
    found: list[Stmt] = []
    for stmt in block:
        stmt = with_blocks(stmt, tuple(_block(each, costs) for each in blocks_of(stmt)))
        found += _earlier(stmt, costs) if isinstance(stmt, If) and stmt.ends is None else [stmt]
    return tuple(found)


def _earlier(stmt: If, costs: Costs) -> list[Stmt]:
    """The branch, behind the checks of its arms if these are short."""
    before: list[Stmt] = []
    arms: list[tuple[Stmt, ...]] = []
    for arm, holds in ((stmt.then, True), (stmt.orelse, False)):
        if not all(map(_is_of_numbers, arm)):
            return [stmt]
        made = [each for each in arm if isinstance(each, Load | Compute)]
        failing = [each for each in arm if isinstance(each, Check)]
        stored = {each.buffer for each in arm if isinstance(each, Store)}
        is_free = len(made) <= costs.vain_operations and all(
            _is_free(each, stored, costs.vain_cost) for each in made
        )
        if failing and not is_free:
            return [stmt]
        arms.append(tuple(each for each in arm if not failing or isinstance(each, Store)))
        if failing:
            before += [*made, *_checked(stmt.condition, holds, failing)]
    return [*before, replace(stmt, then=arms[0], orelse=arms[1])] if before else [stmt]


def _is_of_numbers(stmt: Stmt) -> bool:
    match stmt:
        case Load(index=index) | Store(index=index):
            return not index
        case _:
            return isinstance(stmt, Compute | Check)


def _is_free(stmt: Load | Compute, stored: Collection[str], most: int) -> bool:
    """Whether a number may as well be made where it is not needed."""
    if isinstance(stmt, Load):
        return stmt.buffer not in stored
    return SCALAR_RULES[stmt.op].cost <= most and stmt.op not in _PLACES


def _checked(condition: Atom, holds: bool, failing: Sequence[Check]) -> list[Stmt]:
    """Leave if the condition holds, or does not, and one of these does."""
    first, *others = (each.failed for each in failing)
    assert isinstance(first, str)
    found: list[Stmt] = []

    def compute(op: str, *args: Atom) -> Atom:
        name = f"{first}.{len(found)}"
        found.append(Compute(name, BOOL, op, args, (BOOL,) * len(args)))
        return name

    failed: Atom = first
    for other in others:
        failed = compute("logical_or", failed, other)
    chosen = condition if holds else compute("logical_not", condition)
    found.append(Check(compute("logical_and", chosen, failed), failing[0].site))
    return found
