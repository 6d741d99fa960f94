"""Which variables a branch or a loop has to hand on: those that are read afterwards.

A statement list is looked at from its end to its start, loops until nothing changes: a variable is
live where its value may still be read. What cannot be followed (``try``, ``match``, inner
functions) counts as reading all that it names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from fxc.ir.records import frozen

from .nodes import (
    blocks_of,
    children,
    evaluated_in_any_case,
    flag_name,
    run_where_it_stands,
    walk,
    walk_statements,
)

Names = frozenset[str]
_NONE: Names = frozenset()
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@frozen
class Handed:
    """The variables that a statement assigns: all, those live behind it, those live at its head;
    and those that are given another name in it, and not read behind it.
    """

    assigned: Names
    behind: Names
    at_head: Names = _NONE
    renamed: Names = _NONE


def handed_on(body: list[ast.stmt]) -> dict[ast.stmt, Handed]:
    """What each branch and loop among the statements of a function hands on."""
    liveness = _Liveness(free_names(body))
    liveness.before(body, _NONE)
    return liveness.found


class _Liveness:
    def __init__(self, captured: Names) -> None:
        self._captured = captured  # by inner functions, which may run at any time
        self.found: dict[ast.stmt, Handed] = {}
        self._reads: dict[ast.AST, Names] = {}  # loops are looked at again and again
        self._assigned: dict[ast.AST, Names] = {}
        self._in_try = False

    def before(self, body: list[ast.stmt], live: Names) -> Names:
        """What is live before the statements, if ``live`` is behind them."""
        for statement in reversed(body):
            live = self._before(statement, live)
        return live

    def _before(self, statement: ast.stmt, live: Names) -> Names:
        match statement:
            case ast.If(test, body, orelse):
                renamed = _renamed((*body, *orelse))
                self._note(statement, live, renamed=renamed - live)
                arms = self.before(body, live) | self.before(orelse, live)
                return arms | self._read(test)
            case ast.For() | ast.While():
                return self._before_loop(statement, live)
            case ast.With(items, body):
                inner = self.before(body, live)
                return inner.union(*(self._read(item) for item in items))
            case ast.Return(value):
                return self._read(value) if value is not None else _NONE
            case ast.Try():
                return self._before_try(statement, live)
            case ast.Match():
                return self._before_unknown(statement, live)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return (live - {statement.name}) | self._read(statement)
            case ast.Assign(targets):
                kills = frozenset[str]().union(*(stored(target) for target in targets))
                return (live - kills) | self._read(statement)
            case ast.AnnAssign(target, _, value) if value is not None:
                return (live - stored(target)) | self._read(statement)
            case _:
                return live | self._read(statement)

    def _before_unknown(self, statement: ast.stmt, live: Names) -> Names:
        """Of a statement whose parts may run one after the other, in some order."""
        live = live | self._read(statement)
        for part in blocks_of(statement):
            self.before(part, live)
        return live

    def _before_try(self, statement: ast.Try, live: Names) -> Names:
        """Its body may end anywhere, so in it all is live that the statement names. Before it, what
        body and handlers assign is not, if nothing outside catches what they raise.
        """
        is_followed = not (self._in_try or statement.finalbody or _leaves_loop(statement))
        outer, self._in_try = self._in_try, True
        found = live | self._read(statement)
        if is_followed:
            found = self.before(statement.body, self.before(statement.orelse, live))
            for handler in statement.handlers:
                kinds = self._read(handler.type) if handler.type is not None else _NONE
                found |= self.before(handler.body, live) | kinds
        self._before_unknown(statement, live)
        self._in_try = outer
        return found

    def _before_loop(self, loop: ast.For | ast.While, live: Names) -> Names:
        behind, own, once = self.before(loop.orelse, live), _NONE, _NONE
        if isinstance(loop, ast.For):
            own, once, each_time = stored(loop.target), self._read(loop.iter), loop.target
        else:
            each_time = loop.test
        read_each_time, stop = self._read(each_time), getattr(loop, "stop", None)
        flag = frozenset((stop,)) if stop else _NONE
        head = behind | read_each_time
        while True:
            again = self.before(loop.body, head | flag) - own | read_each_time
            if again <= head:
                break
            head |= again
        self._note(loop, behind, again)
        return head | once

    def _note(
        self,
        statement: ast.stmt,
        behind: Names,
        at_head: Names = _NONE,
        renamed: Names = _NONE,
    ) -> None:
        names = self._assigned.get(statement)
        if names is None:
            names = self._assigned[statement] = assigned([statement])
        captured = self._captured
        self.found[statement] = Handed(
            names,
            names & (behind | captured),
            names & (at_head | captured),
            renamed - captured,
        )

    def _read(self, node: ast.AST) -> Names:
        found = self._reads.get(node)
        if found is None:
            found = self._reads[node] = read(node)
        return found


def _leaves_loop(statement: ast.stmt) -> bool:
    """Whether there are jumps in a statement that nothing has replaced."""
    return any(isinstance(each, ast.Break | ast.Continue) for each in walk_statements(statement))


def _renamed(body: Iterable[ast.stmt]) -> Names:
    """The variables that statements give another name."""
    found: Names = _NONE
    for statement in body:
        match statement:
            case ast.Assign([ast.Name()], ast.Name(name)):
                found |= {name}
            case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if len(targets) == len(values):
                for target, value in zip(targets, values, strict=True):
                    if isinstance(target, ast.Name) and isinstance(value, ast.Name):
                        found |= {value.id}
    return found


def read(node: ast.AST) -> Names:
    """The names that are read somewhere in a node; ``x += 1`` and ``del x`` read x. The parameters
    of lambdas and the variables of comprehensions are others.
    """
    found: set[str] = set()
    todo = [node]
    for each in todo:
        if isinstance(each, ast.Name):
            if not isinstance(each.ctx, ast.Store):
                found.add(each.id)
                if getattr(each, "unsure", False):
                    found.add(flag_name(each.id))
        elif isinstance(each, ast.Lambda):
            given = (*each.args.defaults, *filter(None, each.args.kw_defaults))
            found |= _free(each) | read_of(given)
        elif isinstance(each, _COMPREHENSIONS):
            inside = read_of(children(each))
            own = _NONE.union(*(stored(part.target) for part in each.generators))
            found |= (inside - own) | read(each.generators[0].iter)
        else:
            if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name):
                found.add(each.target.id)
            todo += children(each)
    return frozenset(found)


def read_of(nodes: Iterable[ast.AST]) -> Names:
    """The names that are read somewhere in these nodes."""
    return _NONE.union(*map(read, nodes))


def stored(target: ast.AST) -> Names:
    """The names that a target of an assignment binds, but for those in the expressions that say
    where to store: ``x[(s := 1) if c else 2] = …`` may leave ``s`` as it is.
    """
    match target:
        case ast.Name(id):
            return frozenset((id,))
        case ast.Tuple(targets) | ast.List(targets):
            return _NONE.union(*map(stored, targets))
        case ast.Starred(value):
            return stored(value)
        case _:
            return _NONE


def assigned(nodes: Iterable[ast.AST]) -> Names:
    """The names that nodes may bind or delete, but for those of inner functions."""
    found: set[str] = set()
    todo = [(node, False) for node in nodes]
    while todo:
        node, comprehended = todo.pop()
        if isinstance(node, ast.Name):
            if not (comprehended or isinstance(node.ctx, ast.Load)):
                found.add(node.id)
            continue
        if isinstance(node, _BINDING):
            found.update(bound_by(node))
        inside = comprehended or isinstance(node, _COMPREHENSIONS)
        parts = run_where_it_stands(node) if isinstance(node, _FUNCTIONS) else children(node)
        todo += [(child, inside) for child in parts]
    return frozenset(found)


def bound_by(node: ast.AST) -> Iterable[str]:
    """The names that a node itself binds which is no variable."""
    match node:
        case ast.NamedExpr(ast.Name(name)):
            return (name,)
        case ast.Import(aliases) | ast.ImportFrom(_, aliases):
            return {(each.asname or each.name).split(".")[0] for each in aliases}
        case ast.MatchAs(_, str(name)) | ast.MatchStar(str(name)):
            return (name,)
        case ast.MatchMapping(_, _, str(name)) | ast.ExceptHandler(_, str(name)):
            return (name,)
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
            return (name,)
        case _:
            return ()


_BINDING = (
    *(ast.NamedExpr, ast.Import, ast.ImportFrom, ast.ExceptHandler),
    *(ast.MatchAs, ast.MatchStar, ast.MatchMapping),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
)


def surely_bound(statement: ast.AST) -> Names:
    """The names that have a value behind a statement without blocks, if nothing deletes them."""
    found: set[str] = set()
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        match node:
            case ast.AnnAssign(value=None):
                continue
            case ast.Name(id, ast.Store()):
                found.add(id)
            case ast.Import() | ast.ImportFrom():
                found |= assigned([node])
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                found.add(name)
        todo += evaluated_in_any_case(node)
    return frozenset(found)


def free_names(body: list[ast.stmt]) -> Names:
    """The names that inner functions share with the function around: always live."""
    found: Names = _NONE
    for each in walk(*body):
        if isinstance(each, _SHARING):
            if isinstance(each, ast.Nonlocal):
                found |= frozenset(each.names)
            elif not isinstance(each, ast.GeneratorExp):
                found |= _free(each)
            elif not getattr(each, "is_taken", False):
                found |= _read_later(each) | assigned([each])
    return found


def _read_later(made: ast.GeneratorExp) -> Names:
    """The names that a generator reads when it is taken up: what it runs over is found at once."""
    first, *others = made.generators
    own = _NONE.union(*(stored(part.target) for part in made.generators))
    return read_of([made.elt, first.target, *first.ifs, *others]) - own


_SHARING = (*_FUNCTIONS, ast.Nonlocal, ast.GeneratorExp)


def _free(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Names:
    """The names of a function that are not its own."""
    body = function.body if isinstance(function.body, list) else [function.body]
    used, own = read_of(children(function)), assigned(body)
    for each in walk(function.args):
        if isinstance(each, ast.arg):
            own |= {each.arg}
    for each in walk(*body):
        if isinstance(each, (*_FUNCTIONS, ast.ClassDef)):
            return used | own  # whose names may be those of functions around this one
        if isinstance(each, ast.Nonlocal | ast.Global):
            own -= frozenset(each.names)
    return used - own
