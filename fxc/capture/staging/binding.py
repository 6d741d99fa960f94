"""Which variables may be read before they have a value.

A variable that one arm of a branch assigns, or an iteration that need not come, may be without a
value behind it. Most are read only where they have one, which shows from the statements; the
others get a flag beside them, which says whether they have: see Note [Variables without a value].
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from fxc.ir.records import mutable

from .liveness import assigned, bound_by, free_names, stored
from .nodes import (
    assign,
    at,
    change_blocks,
    children,
    door_call,
    evaluated_in_any_case,
    flag_name,
    held_name,
    is_endless,
    name_of,
    not_name,
    placed,
    set_flag,
    set_flags,
    walk,
    walk_statements,
)

# Note [Variables without a value]
# After ``if x[i] > t: found = i`` the node of the branch gives a number for ``found`` in any case;
# where the branch was not taken nobody may read it. Reads behind which that is not certain become
# ``__fxc__.bound(flag, lambda: found)``: where the flag does not hold, the call goes back to
# Python, which raises UnboundLocalError. The flag is a variable like others: False at the start of
# the function, True from each assignment on. What a loop assigns has a value behind it: without an
# iteration capture finds that it has none, or begins again with flags for what loops assign
# (``How.WITHOUT_ONE``). That holds for variables which have no value there because nothing else has
# assigned them: those that a branch may have assigned before, or assigns afterwards, have something
# in the graph in any case, and their flags say what it is.
#
# A part of a function that is split (Note [Splitting]) may be given a variable without a value, and
# may leave one so: ``UNSET`` (fxc/ir/replay.py) stands for it on the way. Such a parameter is
# deleted at the start if it is that, and its flag is False then; ``unset`` of the syntax tree names
# them. ``__fxc_held_late__`` is the variable, or ``UNSET`` where its flag does not hold.

_State = set[str]  # a new one for each way that is taken


def give_flags(function: ast.FunctionDef, parameters: Iterable[str]) -> frozenset[str]:
    """Mark the reads that may come before an assignment, and set their flags in the function.

    Gives the variables that this can be said of: no inner function sees them, and nothing but
    assignments and loops binds them.
    """
    unset = frozenset(vars(function).get("unset", ()))
    known = plain_names(function.body, unset) - frozenset(parameters).difference(unset)
    held = _take_held(function.body, known)
    loads: dict[ast.AST, list[ast.Name]] = {}
    all_loops, reads = _Reads(known, loads, known), _Reads(known, loads)
    for each in (all_loops, reads):
        each.block(function.body, set())
    found = reads.unsure | reads.torn | all_loops.torn | {node.id for node in held}
    if careful := known if vars(function).get("without_one") else found:
        reads = _Reads(known, loads, careful)
        reads.block(function.body, set())
    for node in reads.found:
        vars(node)["unsure"] = "held" if node in held else "bound"
    if reads.unsure:
        for node in walk(*function.body):
            if isinstance(node, ast.NamedExpr) and node.target.id in reads.unsure:
                vars(node)["flag"] = flag_name(node.target.id)
        first = function.body[0]
        begin = [set_flag(first, flag_name(x), False) for x in sorted(reads.unsure - unset)]
        function.body = [*begin, *_with_flags(function.body, reads.unsure)]
    return known


def flags_of_unset(function: ast.FunctionDef) -> Iterator[ast.stmt]:
    """The start of the staged part of a function: whether its parameters have a value."""
    for name in vars(function).get("unset", ()):
        yield assign(function, flag_name(name), door_call("is_set", name_of(name)))
        dropped = ast.Delete([name_of(name, ast.Del())])
        yield placed(function, ast.If(not_name(function, flag_name(name)), [dropped], []))


def _take_held(body: list[ast.stmt], names: frozenset[str]) -> set[ast.Name]:
    """Let ``__fxc_held_late__`` read ``late``; gives the nodes that do."""
    found = set[ast.Name]()
    by_held = {held_name(name): name for name in names}
    for node in walk(*body) if names else ():
        if isinstance(node, ast.Name) and node.id in by_held:
            node.id = by_held[node.id]
            found.add(node)
    return found


def plain_names(body: Sequence[ast.stmt], given: frozenset[str] = frozenset()) -> frozenset[str]:
    """The variables of a function that no inner function sees, and that nothing but assignments
    and loops binds; parameters that are ``given`` among them.
    """
    names, others = set(given), set[str](free_names([*body]))
    nodes = walk(*body)
    tests = [node.test for node in nodes if isinstance(node, ast.If | ast.While)]
    in_tests = {each for test in tests for leaf in _leaves(test) for each in _named(leaf)}
    for node in nodes:
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Del):
                others.add(node.id)
            continue
        match node:
            case ast.Assign(targets=targets):
                names.update(*map(stored, targets))
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                names |= stored(target)
            case ast.For(target=target):
                names |= stored(target)
            case ast.comprehension(target=target):
                others |= stored(target)
            case ast.NamedExpr(target=target):
                (names if node in in_tests else others).update(stored(target))
    return frozenset((names & assigned(body) | given) - others - _bound_otherwise(body))


def _bound_otherwise(body: Sequence[ast.stmt]) -> frozenset[str]:
    """What statements bind that are no assignments."""
    found = set[str]()
    for node in walk_statements(*body):
        match node:
            case ast.With(items=items):
                found.update(*(stored(x.optional_vars) for x in items if x.optional_vars))
            case ast.Global(names) | ast.Nonlocal(names):
                found |= set(names)
            case _:
                found.update(bound_by(node))
    return frozenset(found)


def _loads(node: ast.AST) -> Iterator[ast.Name]:
    """The names that are read somewhere in a node, but not in functions."""
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load):
            yield node
        return
    for child in [node.args] if isinstance(node, ast.Lambda) else children(node):
        yield from _loads(child)


def _leaves(test: ast.expr) -> Iterator[ast.expr]:
    """The parts of a test that its ``and``, ``or`` and ``not`` decide on."""
    match test:
        case ast.BoolOp(_, values):
            for value in values:
                yield from _leaves(value)
        case ast.UnaryOp(ast.Not(), operand):
            yield from _leaves(operand)
        case _:
            yield test


def _named(node: ast.AST) -> Iterator[ast.NamedExpr]:
    """The ``:=`` in an expression that are come to in any case."""
    if isinstance(node, ast.NamedExpr):
        yield node
    for part in evaluated_in_any_case(node):
        yield from _named(part)


def _ends_before(node: ast.expr, other: ast.expr) -> bool:
    """Whether the text of an expression ends before that of another."""
    end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return end <= (other.lineno, other.col_offset)


@mutable
class _Loop:
    """The variables that have a value where a loop is left, or an iteration ends early."""

    left: _State | None = None
    ended: _State | None = None


class _Reads:
    """Goes through statements in their order; ``state`` is what has a value for certain, None where
    nothing comes to. A loop has an iteration, but for the variables that are ``careful``. ``loads``
    keeps what nodes read, for others that go through the same statements.
    """

    def __init__(
        self,
        names: frozenset[str],
        loads: dict[ast.AST, list[ast.Name]],
        careful: Iterable[str] = (),
    ) -> None:
        self._names = names
        self._loads = loads
        self._by_loops = names.difference(careful)  # have a value behind a loop that assigns them
        self._loops: list[_Loop] = []
        self._by_turns: frozenset[str] = frozenset()  # of the loops so far
        self.found: list[ast.AST] = []  # reads that may come before an assignment
        self.unsure: set[str] = set()  # their variables
        self.torn: set[str] = set()  # have a value on one way to a statement, not on another

    def block(self, body: list[ast.stmt], state: _State | None) -> _State | None:
        """The state behind statements; the one before them, which is given, is changed."""
        for statement in body:
            state = self._after(statement, state)
        return state

    def _read(self, node: ast.AST | None, state: _State | None) -> None:
        if node is None or state is None:
            return
        if node not in self._loads:
            self._loads[node] = list(_loads(node))
        for name in self._loads[node]:
            self._look(name, name.id, state)

    def _test(self, test: ast.expr, state: _State) -> tuple[_State, _State]:
        """The states where a test holds, and where it does not."""
        match test:
            case ast.UnaryOp(ast.Not(), operand):
                holds, fails = self._test(operand, state)
                return fails, holds
            case ast.BoolOp(operator, values):
                ends: _State | None = None
                goes_on = state
                is_and = isinstance(operator, ast.And)
                for value in values:
                    holds, fails = self._test(value, goes_on)
                    goes_on, end = (holds, fails) if is_and else (fails, holds)
                    ends = self._either(ends, end)
                assert ends is not None
                return (goes_on, ends) if is_and else (ends, goes_on)
            case _:
                named = list(_named(test))
                for node in _loads(test):
                    before = {each.target.id for each in named if _ends_before(each, node)}
                    self._look(node, node.id, state | before)
                return state, state  # behind it flags say what it has bound

    def _look(self, node: ast.AST, name: str, state: _State) -> None:
        if name in self._names and name not in state:
            self.found.append(node)
            self.unsure.add(name)

    def _after(self, statement: ast.stmt, state: _State | None) -> _State | None:
        """The state behind a statement, of which the one before it may have become a part."""
        if state is None:
            return None
        match statement:
            case ast.If(test, body, orelse):
                then, other = self._test(test, state)
                return self._either(self.block(body, {*then}), self.block(orelse, {*other}))
            case ast.For() | ast.While():
                return self._after_loop(statement, state)
            case ast.Break():
                self._loops[-1].left = self._either(self._loops[-1].left, state)
                return None
            case ast.Continue():
                self._loops[-1].ended = self._either(self._loops[-1].ended, state)
                return None
            case ast.Return() | ast.Raise():
                self._read(statement, state)
                return None
            case ast.With(items, body):
                for item in items:
                    self._read(item, state)
                return self.block(body, state)
            case ast.Assign(targets):
                self._read(statement, state)
                state.update(*map(stored, targets))
                return state
            case ast.AugAssign(target):
                self._read(statement, state)
                if isinstance(target, ast.Name):
                    self._look(statement, target.id, state)
                return state | stored(target)
            case ast.AnnAssign(target, _, value):
                self._read(value, state)
                return state | stored(target) if value is not None else state
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                for part in statement.decorator_list:
                    self._read(part, state)
                self._read(getattr(statement, "args", None), state)
                return state
            case ast.Try() | ast.Match():
                return self._tried(statement, state)
            case _:
                self._read(statement, state)
                return state

    def _after_loop(self, loop: ast.For | ast.While, state: _State) -> _State | None:
        if isinstance(loop, ast.For):
            self._read(loop.iter, state)
            self._read(loop.target, state)
            inside = state | stored(loop.target)
        else:
            holds, state = self._test(loop.test, state)
            inside = {*holds}
        done, left = self._loop(loop.body, inside)
        self._note_by_turns(loop, done, state)
        if is_endless(loop):
            return left
        return self._either(self.block(loop.orelse, self._ended(done, state)), left)

    def _loop(self, body: list[ast.stmt], state: _State) -> tuple[_State | None, _State | None]:
        """The states at the end of the last iteration, and where the loop is left before."""
        self._loops.append(_Loop())
        end = self.block(body, state)
        loop = self._loops.pop()
        return self._either(end, loop.ended), loop.left

    def _note_by_turns(self, loop: ast.stmt, done: _State | None, before: _State) -> None:
        """Mark a loop with the variables that are taken to have a value behind it for that there
        is an iteration; and those of them that are taken to have one before it for the same.
        """
        ended = self._ended(done, before)
        again = frozenset(ended & before & self._by_turns)
        vars(loop)["by_turns"] = frozenset(ended - before), again
        self._by_turns |= ended - before

    def _ended(self, done: _State | None, before: _State) -> _State:
        """The state behind a loop that has been run to its end, or had no iteration."""
        certain = before | self._by_loops
        return certain if done is None else done & certain

    def _either(self, left: _State | None, right: _State | None) -> _State | None:
        if left is None or right is None:
            return right if left is None else left
        self.torn |= left ^ right
        return left & right

    def _tried(self, statement: ast.stmt, state: _State) -> _State:
        """A statement whose parts may run or not: nothing is certain but what was before."""
        for field in ("body", "orelse", "finalbody"):
            self.block(getattr(statement, field, []), {*state})
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            self._read(getattr(part, "guard", None), state)
            self._read(getattr(part, "type", None), state)
            self.block(part.body, {*state})
        for field in ("subject", "iter"):
            self._read(getattr(statement, field, None), state)
        return state


def _with_flags(body: list[ast.stmt], names: set[str]) -> list[ast.stmt]:
    """The statements, with the flags set behind each assignment."""
    found: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.append(statement)
            continue
        change_blocks(statement, lambda body: _with_flags(body, names))
        targets: list[ast.expr] = []
        match statement:
            case ast.AnnAssign(value=None):
                pass
            case ast.For(target, _, inner):
                new = sorted(stored(target) & names)
                statement.body = [*set_flags(statement, map(flag_name, new)), *inner]
            case ast.Assign(targets):
                pass
            case ast.AugAssign(target) | ast.AnnAssign(target):
                targets = [target]
                if getattr(statement, "unsure", False):
                    assert isinstance(target, ast.Name)
                    read = at(statement, ast.Name(target.id, ast.Load()))
                    vars(read)["unsure"] = "bound"
                    found.append(at(statement, ast.Expr(read)))
        found.append(statement)
        bound = frozenset[str]().union(*map(stored, targets)) & names
        found += set_flags(statement, map(flag_name, sorted(bound)))
    return found
