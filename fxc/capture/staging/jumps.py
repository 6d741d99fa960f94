"""``break``, ``continue``, ``return`` and ``raise`` inside branches and loops, as flags and nested
branches.

::

    for i in range(n):            for i in range(n):
        if x[i] < 0:                  stop = False
            break                     if x[i] < 0:
        y[i] = x[i]                       stop = True
                                      else:
                                          y[i] = x[i]

What follows a jump becomes the other branch where the branch always jumps, and is put under a
flag where it sometimes does. Afterwards each branch and each loop that capture may turn into a
node of the graph is entered and left in one place. See Note [Structured statements].
"""

from __future__ import annotations

import ast
from typing import Any

from fxc.ir.records import mutable

from .leaving import (
    Returned,
    always_jumps,
    is_kept,
    is_plain,
    jumps_behind_exits,
    jumps_in,
    jumps_of_loop,
    mark_plain,
)
from .nodes import (
    FUNCTIONS,
    assign,
    at,
    change_blocks,
    door_call,
    is_endless,
    name_of,
    not_name,
    placed,
    set_flag,
    set_flags,
    walk,
)

RESULT = "__fxc_result__"  # what the function returns


def without_jumps(node: ast.FunctionDef, prefix: str) -> list[ast.stmt]:
    """The statements of a function, its jumps out of branches and loops replaced.

    Loops that may be left early get an attribute ``stop``: the name of a flag. Statements that
    keep their jumps, such as those of a ``finally``, have a true attribute ``plain``.
    """
    return _Jumps(prefix).function(node)


@mutable
class _Around:
    """What is around a statement: flags that a jump sets, the innermost loop's flag."""

    skips: tuple[str, ...] = ()  # set by each jump: what is behind it is skipped
    stop: str | None = None  # set by a break
    of_return: tuple[str, ...] = ()  # set by a return
    raises: bool = False  # within a branch that is taken apart

    def marked(self, flag: str) -> _Around:
        """The same with one more flag that each jump sets."""
        return _Around((*self.skips, flag), self.stop, (*self.of_return, flag), self.raises)

    @property
    def flags(self) -> list[str]:
        """All flags that a jump may set; none is set where no jump was made."""
        stop = () if self.stop is None else (self.stop,)
        return list(dict.fromkeys((*self.skips, *stop, *self.of_return)))

    def in_branch(self) -> _Around:
        """The same within a branch."""
        return _Around(self.skips, self.stop, self.of_return, True)


@mutable
class _Block:
    """Statements, and whether they end with a jump in any case."""

    body: list[ast.stmt]
    always: bool = False


class _Jumps:
    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._count = 0
        self._returns = False

    def function(self, node: ast.FunctionDef) -> list[ast.stmt]:
        body = node.body
        self._returns = mark_plain(body)
        if self._returns:
            body = [*body, at(body[-1], ast.Return(value=None))]
        block = self._block(body, _Around())
        if self._returns:
            result = _handed(node, at(body[-1], ast.Name(RESULT, ast.Load())))
            block.body.append(at(body[-1], ast.Return(value=result)))
        return block.body

    def _flag(self, kind: str) -> str:
        self._count += 1
        return f"{self._prefix}{kind}{self._count}__"

    def _block(self, statements: list[ast.stmt], around: _Around) -> _Block:
        body: list[ast.stmt] = []
        for place, statement in enumerate(statements):
            rest = statements[place + 1 :]
            if isinstance(statement, ast.For | ast.While):
                loop = self._kept_loop if is_plain(statement) else self._loop
                before, after = loop(statement)
                body += before
                if not after:
                    continue
                end: _Block | None = self._block([*after, *rest], around)
            else:
                end = self._with_rest(statement, rest, around)
            if end is not None:
                return _Block([*body, *end.body], end.always)
            body.append(self._inside(statement))
        return _Block(body)

    def _with_rest(
        self, statement: ast.stmt, rest: list[ast.stmt], around: _Around
    ) -> _Block | None:
        """A statement and the rest of its block; None if the rest does not depend on it."""
        match statement:
            case ast.Return() if self._returns:
                value = statement.value or at(statement, ast.Constant(None))
                result = assign(statement, RESULT, value)
                return _Block([result, *set_flags(statement, around.of_return)], True)
            case Returned():
                return _Block(set_flags(statement, around.of_return), True)
            case ast.Break() if around.stop is not None:
                return _Block(set_flags(statement, (*around.skips, around.stop)), True)
            case ast.Continue() if around.stop is not None:
                return _Block(set_flags(statement, around.skips), True)
            case ast.Raise() if around.raises and statement.exc is not None:
                return _Block([at(statement, Raising(statement))], True)
            case ast.Assert() if __debug__:
                return self._block([_raising_if_not(statement), *rest], around)
            case ast.If(test=test) if _decides(test):
                before, statement.test = self._spelled_out(test)
                return self._block([*before, statement, *rest], around)
            case ast.If() if not is_plain(statement) and self._jumps(statement, around):
                return self._branch(statement, rest, around)
            case ast.With() if self._jumps(statement, around):
                return self._with(statement, rest, around)
            case ast.Try() if not is_kept(statement) and self._leaves(statement, around):
                return self._try(statement, rest, around)
            case _:
                return None

    def _spelled_out(self, test: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
        """Statements that make the decisions of a test one by one, and what is left of it."""
        match test:
            case ast.UnaryOp(ast.Not(), operand):
                before, operand = self._spelled_out(operand)
                return before, at(test, ast.UnaryOp(ast.Not(), operand))
            case ast.BoolOp(operator, (first, *others)) if assigns(test):
                holds = self._flag("holds")
                asked: ast.expr = at(test, ast.Name(holds, ast.Load()))
                goes_on = asked if isinstance(operator, ast.And) else not_name(test, holds)
                found = self._decision(first, holds)
                for other in others:
                    decision = self._decision(other, holds)
                    found.append(at(test, ast.If(goes_on, decision, [])))
                return found, asked
            case _ if flags_in(test):
                holds = self._flag("holds")
                return self._decision(test, holds), at(test, ast.Name(holds, ast.Load()))
            case _:
                return [], test

    def _decision(self, test: ast.expr, name: str) -> list[ast.stmt]:
        """``name = bool(test)`` with flags: see Note [Variables without a value]."""
        before, value, flags = list[ast.stmt](), test, flags_in(test)
        if not flags:
            before, value = self._spelled_out(test)
        for _ in range(2):
            value = at(test, ast.UnaryOp(ast.Not(), value))
        return [*before, assign(test, name, value), *set_flags(test, flags)]

    def _inside(self, statement: ast.stmt) -> ast.stmt:
        """A statement without jumps of ours, but perhaps with loops in it that have some."""
        if not isinstance(statement, FUNCTIONS):
            change_blocks(statement, lambda body: self._block(body, _Around()).body)
        return statement

    def _jumps(self, statement: ast.stmt, around: _Around) -> bool:
        """Whether a statement has jumps that are replaced."""
        raising = (each.exc for each in jumps_in(statement) if isinstance(each, ast.Raise))
        return self._leaves(statement, around) or any(exc is not None for exc in raising)

    def _leaves(self, statement: ast.stmt, around: _Around) -> bool:
        """The same without ``raise``."""
        return any(
            self._returns if isinstance(each, ast.Return | Returned) else around.stop is not None
            for each in jumps_in(statement)
            if not isinstance(each, ast.Raise)
        )

    def _branch(self, node: ast.If, rest: list[ast.stmt], around: _Around) -> _Block:
        outer, around = around, around.in_branch()
        then, orelse = node.body, node.orelse
        if all(isinstance(each, ast.Raise) for each in jumps_in(node)):
            made = self._arms(node, then, orelse, around)
            behind = _Block([], True) if made.always else self._block(rest, outer)
            return _Block([*made.body, *behind.body], behind.always)
        ends = always_jumps(then), always_jumps(orelse)
        if any(ends):
            then = then if ends[0] else [*then, *rest]
            orelse = orelse if ends[1] else [*orelse, *rest]
            return self._arms(node, then, orelse, around)
        flag = self._flag("skip")
        (branch,) = self._arms(node, then, orelse, around.marked(flag)).body
        return self._under(flag, [branch], False, rest, around)

    def _arms(
        self, node: ast.If, then: list[ast.stmt], orelse: list[ast.stmt], around: _Around
    ) -> _Block:
        """A branch with these arms."""
        one, other = self._block(then, around), self._block(orelse, around)
        body = one.body or [at(node, ast.Pass())]
        return _Block([at(node, ast.If(node.test, body, other.body))], one.always and other.always)

    def _with(self, node: ast.With, rest: list[ast.stmt], around: _Around) -> _Block:
        """What follows may be come to in any case: a context manager may swallow an exception."""
        flag = self._flag("skip")
        marked = around.marked(flag)
        item, *others = node.items
        body: list[ast.stmt] = node.body
        if others:
            body = [at(node, ast.With(others, body))]
        before: list[ast.stmt] = []
        ends: list[ast.stmt] = []
        behind: list[ast.stmt] = []
        if jumps_behind_exits(body):
            ended = self._flag("ended")
            before, ends = [set_flag(node, ended, False)], [set_flag(node, ended, True)]
            behind = [at(node, ast.If(not_name(node, ended), _unset(node, marked.flags), []))]
        inside = [*self._block(body, marked).body, *ends]
        made = [*before, at(node, ast.With([item], inside)), *behind]
        return self._under(flag, made, False, rest, around)

    def _try(self, node: ast.Try, rest: list[ast.stmt], around: _Around) -> _Block:
        """``else`` is for a body that ends without an exception and without a jump."""
        flag = self._flag("skip")
        inner = around.marked(flag)
        inner.raises = False  # what is raised here may be handled here
        dropped = _unset(node, inner.flags) if jumps_behind_exits(node.body) else []
        body = self._block(node.body, inner)
        handlers = [self._block(handler.body, inner) for handler in node.handlers]
        orelse = self._block(node.orelse, inner)
        otherwise = list[ast.stmt]()
        if orelse.body:
            otherwise = [at(node, ast.If(not_name(node, flag), orelse.body, []))]
        for handler, block in zip(node.handlers, handlers, strict=True):
            handler.body = [*dropped, *block.body]
        final = self._block(node.finalbody, _Around()).body
        made: list[ast.stmt] = [at(node, ast.Try(body.body, node.handlers, otherwise, final))]
        always = (body.always or orelse.always) and all(block.always for block in handlers)
        return self._under(flag, made, always, rest, around)

    def _under(
        self, flag: str, made: list[ast.stmt], always: bool, rest: list[ast.stmt], around: _Around
    ) -> _Block:
        """Statements, and what follows unless they set the flag, as ``always`` says."""
        body = [set_flag(made[0], flag, False), *made]
        under = _Block([], True) if always else self._block(rest, around)
        if under.body:
            body.append(at(made[0], ast.If(not_name(made[0], flag), under.body, [])))
        return _Block(body, under.always)

    def _kept_loop(self, node: ast.For | ast.While) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """The same as ``_loop`` of a loop that keeps its jumps."""
        before, ends = list[ast.stmt](), list[ast.stmt]()
        if isinstance(node, ast.While) and assigns(node.test):
            before, node, ends = self._asked_inside(node)
        return [*before, self._inside(node)], ends

    def _asked_inside(self, node: ast.While) -> tuple[list[ast.stmt], ast.While, list[ast.stmt]]:
        """A loop whose test, which assigns, is a branch in it; with what is before and behind."""
        before, ends = list[ast.stmt](), list[ast.stmt]()
        leave: list[ast.stmt] = [at(node, ast.Break())]
        if node.orelse:
            ended = self._flag("ended")
            before, leave = [set_flag(node, ended, False)], [set_flag(node, ended, True), *leave]
            ends = [at(node, ast.If(at(node, ast.Name(ended, ast.Load())), node.orelse, []))]
        test = at(node, ast.If(ast.UnaryOp(ast.Not(), node.test), leave, []))
        made = at(node, ast.While(ast.Constant(True), [test, *node.body], []))
        for each in (test, made, *ends):
            vars(each)["plain"] = is_plain(node)
        return before, made, ends

    def _loop(self, node: ast.For | ast.While) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """The loop with what is before it, and statements for behind it."""
        by_turns = vars(node).get("by_turns", (frozenset(), frozenset()))
        ends: list[ast.stmt] = []  # behind a loop that its test has ended
        before: list[ast.stmt] = []
        if isinstance(node, ast.While) and assigns(node.test):
            before, node, ends = self._asked_inside(node)
        breaks = any(isinstance(each, ast.Break) for each in jumps_of_loop(node))
        returns = self._returns and any(isinstance(each, ast.Return) for each in jumps_in(node))
        stop, returned = self._flag("stop"), self._flag("returned")
        flags = [stop] * (breaks or returns) + [returned] * returns
        around = _Around(stop=stop, of_return=tuple(flags))
        block = self._block(node.body, around)
        unset = [set_flag(node, flag, False) for flag in flags]
        body = [*unset, *block.body] or [at(node, ast.Pass())]
        after: list[ast.stmt] = []
        if returns and not breaks and is_endless(node):
            after.append(at(node, Returned()))
        elif returns:
            test = at(node, ast.Name(returned, ast.Load()))
            after.append(at(node, ast.If(test, [at(node, Returned())], [])))
        if node.orelse and flags:
            after.append(at(node, ast.If(not_name(node, stop), node.orelse, [])))
        else:
            after += node.orelse
        made: Any
        if isinstance(node, ast.For):
            made = ast.For(node.target, node.iter, body, [])
        else:
            made = ast.While(node.test, body, [])
        made.stop = stop if flags else None
        made.by_turns = by_turns
        return [*before, *unset, at(node, made)], [*after, *ends]


def _handed(node: ast.AST, result: ast.expr) -> ast.expr:
    """What a function returns, beside what it raises: Note [Handled in the graph]."""
    raised = vars(node).get("raised", {})
    parts = [part for at, name in raised.items() for part in (ast.Constant(at), name_of(name))]
    return placed(result, door_call("handed", result, *parts)) if parts else result


class Raising(ast.stmt):
    """A raise in a branch, which may be one of two that are captured."""

    _fields = ("statement",)

    def __init__(self, statement: ast.Raise) -> None:
        super().__init__()
        self.statement = statement


def _raising_if_not(node: ast.Assert) -> ast.stmt:
    """``if not test: raise AssertionError(message)`` for an assert statement."""
    name = ast.Name("AssertionError", ast.Load())
    error = ast.Call(name, [node.msg], []) if node.msg is not None else name
    raising = ast.Raise(error, None)
    test = ast.UnaryOp(ast.Not(), node.test)
    made: ast.stmt = at(node, ast.If(test, [at(node, raising)], []))
    return made


def _unset(place: ast.stmt, names: list[str]) -> list[ast.stmt]:
    """Drop the jump that was under way when an exception was raised behind it."""
    return [set_flag(place, name, False) for name in names]


def assigns(test: ast.expr) -> bool:
    return any(isinstance(each, ast.NamedExpr) for each in walk(test))


def _decides(test: ast.expr) -> bool:
    """Whether a test has ``:=`` behind an ``and`` or ``or``, or one that sets a flag."""
    if isinstance(test, ast.UnaryOp):
        return isinstance(test.op, ast.Not) and _decides(test.operand)
    return bool(flags_in(test)) or (isinstance(test, ast.BoolOp) and assigns(test))


def flags_in(test: ast.expr) -> list[str]:
    """The flags of what a test assigns, if no ``and``, ``or`` or ``not`` decides on it."""
    if isinstance(test, ast.BoolOp | ast.UnaryOp):
        return []
    found = {vars(each).get("flag") for each in walk(test) if isinstance(each, ast.NamedExpr)}
    return sorted(each for each in found if each)
