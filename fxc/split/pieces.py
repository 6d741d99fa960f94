"""The statements of one function, some of them taken apart, and which one each was made of.

See Note [Statements taken apart].
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CodeType

from fxc.capture.staging.names import FunctionNode
from fxc.capture.staging.staging import rebound_around

from .function_plan import FunctionPlan, Planner, Statement
from .statement_syntax import Names, Span, blocks_in, span_of
from .taking_apart import taken_apart, waits

_MOST_PIECES = 40  # statements that one is taken apart into


class Pieces:
    """The plan of a function, which changes where a statement is taken apart. The variables of
    functions around it are those of the ``inner`` code, if it is given.
    """

    def __init__(self, node: FunctionNode, inner: CodeType | None = None) -> None:
        self._node = node
        self._taken = 0  # variables made where statements were taken apart
        self._origins: dict[Span, Span] = {}  # of the statements made there: which one it was
        self._apart: dict[ast.stmt, list[ast.stmt]] = {}
        self._around: tuple[Names, Names] = (frozenset(), frozenset())
        if inner is not None:
            self._around = _variables_around(inner)
        self._planner = Planner(node, *self._around)

    @property
    def plan(self) -> FunctionPlan:
        """What is known of the statements, as they are now."""
        return self._planner.plan

    def alone(self, statement: Statement, place: Span | None) -> Statement:
        """The statement of the expression at a place alone, if that leaves something to compile."""
        whole = self.chain(statement.span)[-1]
        count = sum(self.chain(each)[-1] == whole for each in self._origins)
        if place is None or count > _MOST_PIECES or not self._take_apart(statement, place):
            return statement
        found = self.plan.innermost(place[0], place)
        if found is None or found.node is statement.node:
            return statement
        return self.alone(found, place)  # of an expression that is a loop or a branch now

    def _take_apart(self, statement: Statement, place: Span) -> bool:
        """Let the expression at a place stand alone; whether the statement was taken apart."""
        plan = self.plan
        if plan.seen_by:
            return False

        def is_steady(name: str) -> bool:
            is_own = (name in plan.variables and name not in plan.shared) or name in plan.inner
            return is_own and name not in statement.unbound

        made = taken_apart(
            statement.node, place, is_steady, self._fresh, statement.unbound - plan.free
        )
        if made is None:
            return False
        self._apart[statement.node] = made
        before = {each.span for each in plan.statements()}
        for block in blocks_in(self._node):
            if statement.node in block:
                at = block.index(statement.node)
                block[at : at + 1] = made
        if not self._planner.take_apart(statement.node, made):
            self._planner = Planner(self._node, *self._around)
        added = {each.span for each in self.plan.statements()} - before
        self._origins.update(dict.fromkeys(added, statement.span))
        return True

    def take_waits_apart(self) -> None:
        """Let what is computed around each place where the function is left be a statement."""
        todo = [each.node for each in self.plan.statements()]
        while todo:
            node = todo.pop()
            left = waits(node)
            (statement,) = (each for each in self.plan.statements() if each.node is node)
            if left is not None and self._take_apart(statement, span_of(left)):
                todo += self._apart[node][-1:]

    def _fresh(self, begin: str) -> str:
        self._taken += 1
        return f"{begin}{self._taken}__"

    def chain(self, span: Span) -> list[Span]:
        """A statement and those that it was made of."""
        found = [span]
        while found[-1] in self._origins:
            found.append(self._origins[found[-1]])
        return found

    def current(self, statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
        """The statements as they are now, if some of them were taken apart meanwhile."""
        known = {each.node: each for each in self.plan.statements()}
        nodes = [node for each in statements for node in self.made_of(each.node)]
        return tuple(known[node] for node in nodes)

    def made_of(self, node: ast.stmt) -> Iterator[ast.stmt]:
        """The statements that one was taken apart into, which may have been so again."""
        for each in self._apart.get(node, ()):
            yield from self.made_of(each)
        if node not in self._apart:
            yield node


def _variables_around(code: CodeType) -> tuple[Names, Names]:
    """The variables of functions around one that its parts take as arguments, and those that other
    functions bind.
    """
    names, rebound = frozenset(code.co_freevars), rebound_around(code)
    if rebound is None:
        rebound = names
    return names - rebound - {"__class__"}, rebound
