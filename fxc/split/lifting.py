"""An expression of which parts are evaluated by a condition or repeatedly, as statements.

::

    y = np.array([f(v) for v in x if v])     kept1 = []
                                             for kept2 in x:
                                                 if kept2:
                                                     taken3 = f(kept2)
                                                     kept1.append(taken3)
                                             y = np.array(kept1)

See Note [Statements taken apart].
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping

from fxc.capture.staging.liveness import free_names, read
from fxc.capture.staging.nodes import children, copied, walk

from .inner_functions import closures_in
from .statement_syntax import COLLECTED, KEPT, TAKEN, Names, Span, span_of

Lifted = ast.ListComp | ast.SetComp | ast.DictComp | ast.IfExp
LIFTED = (ast.ListComp, ast.SetComp, ast.DictComp, ast.IfExp)
_OF_OWN_SCOPE = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
_NO_LOOPS = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
_MOST_BLOCKS = 3  # loops and conditions of one comprehension: each has a place of its own


def lifted(node: Lifted, fresh: Callable[[str], str]) -> tuple[list[ast.stmt], str] | None:
    """The statements of an expression, and the variable that has its value then; None if there are
    none. What it evaluates first (the test, what is iterated over) is there already.
    """
    if isinstance(node, ast.IfExp):
        name = fresh(TAKEN)
        arms = [[_assigned(name, arm)] for arm in (node.body, node.orelse)]
        return [_at(ast.If(node.test, *arms), span_of(node))], name
    return _Loop(node, fresh).statements()


def misses(node: ast.expr, unbound: Names) -> bool:
    """Whether it would miss variables by another exception than Python does, which runs
    comprehensions as functions before 3.12.
    """
    is_function = isinstance(node, LIFTED[:-1]) and sys.version_info < (3, 12)
    return is_function and not unbound.isdisjoint(read(node))


class _Loop:
    """The loop of a comprehension."""

    def __init__(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp, fresh: Callable[[str], str]
    ) -> None:
        self._node = node
        self._fresh = fresh
        self._span = span_of(node)

    def statements(self) -> tuple[list[ast.stmt], str] | None:
        node, first = self._node, self._node.generators[0]
        blocks = len(node.generators) + sum(bool(each.ifs) for each in node.generators)
        names = _targets(node.generators)
        if names is None or blocks > _MOST_BLOCKS or not _may_be_renamed(node, names):
            return None
        renamed = {name: self._fresh(KEPT) for name in sorted(names)}
        iterated, first.iter = first.iter, ast.Constant(None)
        _rename(node, renamed)
        first.iter = iterated
        name = self._fresh(COLLECTED)
        line, column, *_ = self._span
        empty: ast.expr = ast.List([], ast.Load())
        if isinstance(node, ast.DictComp):
            empty = ast.Dict([], [])
        elif isinstance(node, ast.SetComp):
            empty = ast.Set([ast.Starred(ast.Tuple([], ast.Load()), ast.Load())])
        made = _at(ast.Assign([_stored(name)], empty), (line, column, line, column))
        return [made, *self._blocks(self._stores(name))], name

    def _stores(self, name: str) -> list[ast.stmt]:
        """What is done for one item."""
        node, (_, _, line, column) = self._node, self._span
        found = ast.Name(name, ast.Load())
        if isinstance(node, ast.DictComp):
            key, value = self._fresh(TAKEN), self._fresh(TAKEN)
            made: list[ast.stmt] = [_assigned(key, node.key), _assigned(value, node.value)]
            place = ast.Subscript(found, ast.Name(key, ast.Load()), ast.Store())
            store: ast.stmt = ast.Assign([place], ast.Name(value, ast.Load()))
        else:
            item = self._fresh(TAKEN)
            made = [_assigned(item, node.elt)]
            method = "append" if isinstance(node, ast.ListComp) else "add"
            called = ast.Attribute(found, method, ast.Load())
            store = ast.Expr(ast.Call(called, [ast.Name(item, ast.Load())], []))
        return [*made, _at(store, (line, column, line, column))]

    def _blocks(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The loops and conditions around, from the inside out."""
        heads: list[ast.For | ast.If] = []
        for each in self._node.generators:
            heads.append(ast.For(each.target, each.iter, [], []))
            if each.ifs:
                heads.append(ast.If(_all_of(each.ifs), [], []))
        line, column, last, end = self._span
        for depth, head in reversed([*enumerate(heads)]):
            head.body = body
            body = [_at(head, (line, column + (depth + 1) // 2, last, end - depth // 2))]
        return body


def _all_of(tests: list[ast.expr]) -> ast.expr:
    """The conditions of one loop as one."""
    if len(tests) == 1:
        return tests[0]
    return ast.copy_location(ast.BoolOp(ast.And(), tests), tests[0])


def _targets(generators: list[ast.comprehension]) -> frozenset[str] | None:
    """The variables of a comprehension; None if it has others than names."""
    found: set[str] = set()
    for each in generators:
        for node in walk(each.target):
            if isinstance(node, ast.Name):
                found.add(node.id)
            elif not isinstance(node, ast.Tuple | ast.List | ast.Starred):
                return None
    return frozenset(found)


def _may_be_renamed(node: ast.expr, names: frozenset[str]) -> bool:
    """Whether the variables may be the function's: nothing keeps them, or has some of the same
    names.
    """
    inside = [each for part in children(node) for each in walk(part)]
    if any(isinstance(each, _NO_LOOPS) for each in inside):
        return False
    for each in inside:
        if isinstance(each, ast.comprehension) and each.is_async:
            return False
        if isinstance(each, ast.arg) and each.arg in names:
            return False
        if isinstance(each, _OF_OWN_SCOPE) and not isinstance(each, ast.Lambda):
            own = _targets(each.generators)
            if own is None or not own.isdisjoint(names):
                return False
    kept = [found for part in children(node) for found in closures_in(part)]
    return free_names(kept).isdisjoint(names)  # type: ignore[arg-type]


def _rename(node: ast.AST, names: Mapping[str, str]) -> None:
    for each in walk(node):
        if isinstance(each, ast.Name):
            each.id = names.get(each.id, each.id)


def _stored(name: str) -> ast.Name:
    return ast.Name(name, ast.Store())


def _assigned(name: str, value: ast.expr) -> ast.stmt:
    return _at(ast.Assign([_stored(name)], copied(value)), span_of(value))


def _at(node: ast.stmt, span: Span) -> ast.stmt:
    """A statement at a place, with all in it that has none yet."""
    for each in walk(node):
        if isinstance(each, ast.stmt | ast.expr) and not hasattr(each, "lineno"):
            each.lineno, each.col_offset, each.end_lineno, each.end_col_offset = span
    return node
