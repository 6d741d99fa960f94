"""Truths that both arms of a branch store, one of them always the same, are made by logic.

::

    if c                                  inside[] = logical_and(logical_not(c), old)
      inside[] = False                    if c
      n[] = add(m, 1)                →      n[] = add(m, 1)
    else                                  else
      inside[] = old                        n[] = m
      n[] = m

Such a truth may also say which type a number has. When an arm leaves fewer numbers to choose from,
LLVM makes a ``select`` of them in place of a jump. What an iteration hands on to the next one is
then known before the branch, so the loop may get lanes. A condition with several parts, one of them
about the best number so far, is left as it is: most iterations need that part alone, and jump.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeGuard

from fxc.ir.records import replace

from ..nests.buffers import BOOL, Atom, Const
from ..nests.program import Program
from ..nests.statements import (
    Compute,
    If,
    Load,
    Stmt,
    Store,
    atoms_read,
    blocks_of,
    touched,
    walk,
    with_blocks,
)


def truths(program: Program) -> Program:
    """The program with such truths in front of branches.

    Requires: no scalar is named ``truth`` and a number. Ensures: the same results.
    """
    return replace(program, body=_Truths(program).block(program.body))


_OF_PARTS = ("logical_and", "logical_or")


class _Truths:
    def __init__(self, program: Program) -> None:
        self.buffers = program.buffers
        stmts = walk(program.body)
        self.made = {each.name: each for each in stmts if isinstance(each, Load | Compute)}
        self.count = 0

    def block(self, block: Sequence[Stmt]) -> tuple[Stmt, ...]:
        found: list[Stmt] = []
        for stmt in block:
            inner = blocks_of(stmt, into_loops=False)
            stmt = with_blocks(stmt, tuple([self.block(each) for each in inner]))
            if isinstance(stmt, If) and not self.is_left(stmt):
                found += self.in_front(stmt)
            else:
                found.append(stmt)
        return tuple(found)

    def is_left(self, stmt: If) -> bool:
        """Whether the condition has several parts, and one is about a number that is handed on."""
        condition = self.made.get(str(stmt.condition))
        has_parts = isinstance(condition, Compute) and condition.op in _OF_PARTS
        return has_parts and any(
            isinstance(each, Load) and not each.index and each.dtype != BOOL
            for each in self.behind(str(stmt.condition))
        )

    def behind(self, name: str) -> Iterator[Stmt]:
        """What a number is made of."""
        left, seen = [name], {name}
        while left:
            stmt = self.made.get(left.pop())
            if stmt is not None:
                yield stmt
                new = {str(atom) for atom in atoms_read(stmt)} - seen
                seen |= new
                left += new

    def in_front(self, stmt: If) -> list[Stmt]:
        """The branch, behind the truths that it need not store."""
        before: list[Stmt] = []
        others = {each.buffer: each for each in stmt.orelse if self.is_truth(each)}
        for store in stmt.then:
            if not self.is_truth(store) or (other := others.get(store.buffer)) is None:
                continue
            then = tuple([each for each in stmt.then if each is not store])
            orelse = tuple([each for each in stmt.orelse if each is not other])
            if any(self.meets(arm, store.buffer, by) for arm in (then, orelse) for by in (0, 1)):
                continue
            made: list[Stmt] = []
            left, right = self.early(store, then, made), self.early(other, orelse, made)
            truth = self.chosen(stmt.condition, left, right, made)
            if truth is not None:
                before += [*made, replace(store, value=truth)]
                stmt = replace(stmt, then=_read(then), orelse=_read(orelse))
        return [*before, stmt]

    def is_truth(self, stmt: Stmt) -> TypeGuard[Store]:
        """Whether it stores one truth of the program's own."""
        if not isinstance(stmt, Store) or stmt.index or stmt.dtype != BOOL:
            return False
        return self.buffers[stmt.buffer].role != "input"

    def meets(self, arm: Sequence[Stmt], buffer: str, place: int) -> bool:
        """Whether statements read (0) or write (1) what is in a buffer."""
        storages = {self.buffers[each].storage for each in touched(arm)[place]}
        return self.buffers[buffer].storage in storages

    def early(self, store: Store, arm: Sequence[Stmt], made: list[Stmt]) -> Atom | None:
        """What is stored, if that is known before the arm, where it may have to be ``made``."""
        value = store.value
        found = next((s for s in walk(tuple(arm)) if getattr(s, "name", None) == value), None)
        if found is None:
            return value
        if not isinstance(found, Load) or found.index or self.meets(arm, found.buffer, 1):
            return None
        name = self.name()
        made.append(replace(found, name=name))
        return name

    def chosen(
        self, condition: Atom, left: Atom | None, right: Atom | None, made: list[Stmt]
    ) -> Atom | None:
        """The one or the other, if both are known and one of them is always the same."""
        is_turned = not isinstance(left, Const)
        if is_turned:
            left, right = right, left
        if right is None or not isinstance(left, Const):
            return None
        if isinstance(right, Const) and left.value == right.value:
            return left
        if is_turned == bool(left.value):
            condition = self.logic("logical_not", (condition,), made)
        op = "logical_or" if left.value else "logical_and"
        return condition if isinstance(right, Const) else self.logic(op, (condition, right), made)

    def logic(self, op: str, args: tuple[Atom, ...], made: list[Stmt]) -> str:
        """A truth that follows from others."""
        name = self.name()
        made.append(Compute(name, BOOL, op, args, (BOOL,) * len(args)))
        return name

    def name(self) -> str:
        self.count += 1
        return f"truth{self.count}"


def _read(arm: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """An arm without the truths that it loads and does not read."""
    read = {atom for stmt in walk(tuple(arm)) for atom in atoms_read(stmt)}
    return tuple(
        [s for s in arm if not (isinstance(s, Load) and s.dtype == BOOL and s.name not in read)]
    )
