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
from collections.abc import Iterable
from typing import Any

from fxc.ir.records import mutable

from .nodes import at, children, walk

RESULT = "__fxc_result__"  # what the function returns


def without_jumps(node: ast.FunctionDef, prefix: str) -> list[ast.stmt]:
    """The statements of a function, its jumps out of branches and loops replaced.

    Loops that may be left early get an attribute ``stop``: the name of a flag. Statements that
    keep their jumps, such as those of a ``finally``, have a true attribute ``plain``.
    """
    return _Jumps(prefix).function(node.body)


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

    def function(self, body: list[ast.stmt]) -> list[ast.stmt]:
        self._returns = _mark_plain(body)
        if self._returns:
            body = [*body, at(body[-1], ast.Return(value=None))]
        block = self._block(body, _Around())
        if self._returns:
            result = ast.Name(RESULT, ast.Load())
            block.body.append(at(body[-1], ast.Return(value=result)))
        return block.body

    def _flag(self, kind: str) -> str:
        self._count += 1
        return f"{self._prefix}{kind}{self._count}__"

    def _block(self, statements: list[ast.stmt], around: _Around) -> _Block:
        made = _Block([])
        for place, statement in enumerate(statements):
            rest = statements[place + 1 :]
            match statement:
                case ast.Return() if self._returns:
                    value = statement.value or at(statement, ast.Constant(None))
                    made.body.append(_assign(statement, RESULT, value))
                    return self._leave(made, statement, around.of_return)
                case _Returned():
                    return self._leave(made, statement, around.of_return)
                case ast.Break() if around.stop is not None:
                    return self._leave(made, statement, (*around.skips, around.stop))
                case ast.Continue() if around.stop is not None:
                    return self._leave(made, statement, around.skips)
                case ast.Raise() if around.raises and statement.exc is not None:
                    made.body.append(at(statement, Raising(statement)))
                    made.always = True
                    return made
                case ast.Assert() if __debug__:
                    return self._append(made, [_raising_if_not(statement), *rest], around)
                case ast.If(test=test) if _decides(test):
                    before, statement.test = self._spelled_out(test)
                    return self._append(made, [*before, statement, *rest], around)
                case ast.If() if not _is_plain(statement) and self._jumps(statement, around):
                    return self._branch(made, statement, rest, around)
                case ast.With() if self._jumps(statement, around):
                    return self._with(made, statement, rest, around)
                case ast.Try() if not _is_kept(statement) and self._leaves(statement, around):
                    return self._try(made, statement, rest, around)
                case ast.For() | ast.While() if not _is_plain(statement):
                    before, after = self._loop(statement)
                    made.body += before
                    if after:
                        return self._append(made, [*after, *rest], around)
                case _:
                    made.body.append(self._inside(statement))
        return made

    def _spelled_out(self, test: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
        """Statements that make the decisions of a test one by one, and what is left of it."""
        match test:
            case ast.UnaryOp(ast.Not(), operand):
                before, operand = self._spelled_out(operand)
                return before, at(test, ast.UnaryOp(ast.Not(), operand))
            case ast.BoolOp(operator, (first, *others)) if assigns(test):
                holds = self._flag("holds")
                asked: ast.expr = at(test, ast.Name(holds, ast.Load()))
                goes_on = asked if isinstance(operator, ast.And) else _not(test, holds)
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
        """``name = bool(test)``, and the flags of what it assigns: see Note [Variables without a
        value].
        """
        before, value, flags = list[ast.stmt](), test, flags_in(test)
        if not flags:
            before, value = self._spelled_out(test)
        for _ in range(2):
            value = at(test, ast.UnaryOp(ast.Not(), value))
        return [*before, _assign(test, name, value), *(_set(test, flag, True) for flag in flags)]

    def _inside(self, statement: ast.stmt) -> ast.stmt:
        """A statement without jumps of ours, but perhaps with loops in it that have some."""
        if isinstance(statement, _FUNCTIONS):
            return statement
        holders = [statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]
        for holder in holders:
            for name in ("body", "orelse", "finalbody"):
                if getattr(holder, name, None):
                    setattr(holder, name, self._block(getattr(holder, name), _Around()).body)
        return statement

    def _jumps(self, statement: ast.stmt, around: _Around) -> bool:
        """Whether a statement has jumps that are replaced."""
        for each in _jumps_in(statement):
            if isinstance(each, ast.Raise):
                if each.exc is not None:
                    return True
            elif isinstance(each, ast.Return | _Returned):
                if self._returns:
                    return True
            elif around.stop is not None:
                return True
        return False

    def _leaves(self, statement: ast.stmt, around: _Around) -> bool:
        """Whether a statement has jumps that are replaced, besides ``raise``."""
        jumps = [each for each in _jumps_in(statement) if not isinstance(each, ast.Raise)]
        return any(
            self._returns if isinstance(each, ast.Return | _Returned) else around.stop is not None
            for each in jumps
        )

    def _append(self, made: _Block, rest: list[ast.stmt], around: _Around) -> _Block:
        block = self._block(rest, around)
        return _Block(made.body + block.body, block.always)

    def _leave(self, made: _Block, place: ast.stmt, flags: Iterable[str]) -> _Block:
        made.body += [_set(place, name, True) for name in dict.fromkeys(flags)]
        made.always = True
        return made

    def _branch(self, made: _Block, node: ast.If, rest: list[ast.stmt], around: _Around) -> _Block:
        outer, around = around, around.in_branch()
        if all(isinstance(each, ast.Raise) for each in _jumps_in(node)):
            blocks = self._block(node.body, around), self._block(node.orelse, around)
            made.body.append(_branch_of(node, *blocks))
            made.always = blocks[0].always and blocks[1].always
            return made if made.always else self._append(made, rest, outer)
        if _always(node.body) or _always(node.orelse):
            then, orelse = node.body, node.orelse
            if not _always(then):
                then = [*then, *rest]
            elif not _always(orelse):
                orelse = [*orelse, *rest]
            blocks = self._block(then, around), self._block(orelse, around)
            made.body.append(_branch_of(node, *blocks))
            made.always = blocks[0].always and blocks[1].always
            return made
        flag = self._flag("skip")
        inner = around.marked(flag)
        blocks = self._block(node.body, inner), self._block(node.orelse, inner)
        made.body += [_set(node, flag, False), _branch_of(node, *blocks)]
        return self._under(flag, made, node, rest, around)

    def _with(self, made: _Block, node: ast.With, rest: list[ast.stmt], around: _Around) -> _Block:
        flag = self._flag("skip")
        inner = self._block(node.body, around.marked(flag))
        made.body += [_set(node, flag, False), at(node, ast.With(node.items, inner.body))]
        if inner.always:
            made.always = True
            return made
        return self._under(flag, made, node, rest, around)

    def _try(self, made: _Block, node: ast.Try, rest: list[ast.stmt], around: _Around) -> _Block:
        """``else`` is for a body that ends without an exception and without a jump."""
        flag = self._flag("skip")
        inner = around.marked(flag)
        inner.raises = False  # what is raised here may be handled here
        body = self._block(node.body, inner)
        handlers = [self._block(handler.body, inner) for handler in node.handlers]
        orelse = self._block(node.orelse, inner)
        otherwise = [at(node, ast.If(_not(node, flag), orelse.body, []))] if orelse.body else []
        for handler, block in zip(node.handlers, handlers, strict=True):
            handler.body = block.body
        final = self._block(node.finalbody, _Around()).body
        made.body += [
            _set(node, flag, False),
            at(node, ast.Try(body.body, node.handlers, otherwise, final)),
        ]
        if (body.always or orelse.always) and all(block.always for block in handlers):
            made.always = True
            return made
        return self._under(flag, made, node, rest, around)

    def _under(
        self, flag: str, made: _Block, node: ast.stmt, rest: list[ast.stmt], around: _Around
    ) -> _Block:
        """What follows a statement, to be run unless the flag is set."""
        under = self._block(rest, around)
        if under.body:
            made.body.append(at(node, ast.If(_not(node, flag), under.body, [])))
        made.always = under.always
        return made

    def _loop(self, node: ast.For | ast.While) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """The loop with what is before it, and statements for behind it."""
        by_turns = vars(node).get("by_turns", (frozenset(), frozenset()))
        ends: list[ast.stmt] = []  # behind a loop that its test has ended
        before: list[ast.stmt] = []
        if isinstance(node, ast.While) and assigns(node.test):
            leave: list[ast.stmt] = [at(node, ast.Break())]
            if node.orelse:
                ended = self._flag("ended")
                before, leave = [_set(node, ended, False)], [_set(node, ended, True), *leave]
                ends = [at(node, ast.If(at(node, ast.Name(ended, ast.Load())), node.orelse, []))]
            test = at(node, ast.If(ast.UnaryOp(ast.Not(), node.test), leave, []))
            node = at(node, ast.While(ast.Constant(True), [test, *node.body], []))
        breaks = any(isinstance(each, ast.Break) for each in _jumps_of_loop(node))
        returns = self._returns and any(isinstance(each, ast.Return) for each in _jumps_in(node))
        stop, returned = self._flag("stop"), self._flag("returned")
        flags = [stop] * (breaks or returns) + [returned] * returns
        around = _Around(stop=stop, of_return=tuple(flags))
        block = self._block(node.body, around)
        unset = [_set(node, flag, False) for flag in flags]
        body = [*unset, *block.body] or [at(node, ast.Pass())]
        after: list[ast.stmt] = []
        if returns and not breaks and _is_endless(node):
            after.append(at(node, _Returned()))
        elif returns:
            test = at(node, ast.Name(returned, ast.Load()))
            after.append(at(node, ast.If(test, [at(node, _Returned())], [])))
        if node.orelse and flags:
            after.append(at(node, ast.If(_not(node, stop), node.orelse, [])))
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


class _Returned(ast.stmt):
    """A return whose value is known already: behind a loop that was left by one."""

    _fields = ()


class Raising(ast.stmt):
    """A raise in a branch, which may be one of two that are captured."""

    _fields = ("statement",)

    def __init__(self, statement: ast.Raise) -> None:
        super().__init__()
        self.statement = statement


def _is_endless(node: ast.For | ast.While) -> bool:
    """Whether a loop ends by a jump only."""
    if not isinstance(node, ast.While):
        return False
    return isinstance(node.test, ast.Constant) and bool(node.test.value)


def _raising_if_not(node: ast.Assert) -> ast.stmt:
    """``if not test: raise AssertionError(message)`` for an assert statement."""
    name = ast.Name("AssertionError", ast.Load())
    error = ast.Call(name, [node.msg], []) if node.msg is not None else name
    raising = ast.Raise(error, None)
    test = ast.UnaryOp(ast.Not(), node.test)
    made: ast.stmt = at(node, ast.If(test, [at(node, raising)], []))
    return made


def _branch_of(node: ast.If, then: _Block, orelse: _Block) -> ast.stmt:
    body = then.body or [at(node, ast.Pass())]
    made: ast.stmt = at(node, ast.If(node.test, body, orelse.body))
    return made


def _set(place: ast.AST, name: str, value: bool) -> ast.stmt:
    return _assign(place, name, at(place, ast.Constant(value)))


def _not(place: ast.AST, name: str) -> ast.expr:
    made: ast.expr = at(place, ast.UnaryOp(ast.Not(), ast.Name(name, ast.Load())))
    return made


def _assign(place: ast.AST, name: str, value: ast.expr) -> ast.stmt:
    target = at(place, ast.Name(name, ast.Store()))
    made: ast.stmt = at(place, ast.Assign([target], value))
    return made


def assigns(test: ast.expr) -> bool:
    """Whether there is ``:=`` in an expression."""
    return any(isinstance(each, ast.NamedExpr) for each in walk(test))


def _decides(test: ast.expr) -> bool:
    """Whether a test has ``:=`` where an ``and`` or ``or`` decides if it is come to, or that sets a
    flag.
    """
    if isinstance(test, ast.UnaryOp):
        return isinstance(test.op, ast.Not) and _decides(test.operand)
    return bool(flags_in(test)) or (isinstance(test, ast.BoolOp) and assigns(test))


def flags_in(test: ast.expr) -> list[str]:
    """The flags of what a test assigns, if no ``and``, ``or`` or ``not`` decides on it."""
    if isinstance(test, ast.BoolOp | ast.UnaryOp):
        return []
    found = {vars(each).get("flag") for each in walk(test) if isinstance(each, ast.NamedExpr)}
    return sorted(each for each in found if each)


# ------------------------------------------------------------------ where jumps are


def leaves_loop(node: ast.If) -> bool:
    """Whether a branch has a ``break`` or ``continue`` of a loop around it."""
    return any(isinstance(each, ast.Break | ast.Continue) for each in _jumps_in(node))


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_JUMPS = (ast.Return, ast.Break, ast.Continue, ast.Raise, _Returned)
_YIELDS = (ast.Yield, ast.YieldFrom, ast.Await)
_KEEPING = (ast.Match, ast.AsyncWith, ast.AsyncFor) + (
    (ast.TryStar,) if hasattr(ast, "TryStar") else ()
)


def _own(nodes: Iterable[ast.AST]) -> Iterable[ast.stmt]:
    """Statements among the nodes and in them, but for those of inner functions."""
    for node in nodes:
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, (*_FUNCTIONS, ast.expr)):
            yield from _own(children(node))


def _is_kept(node: ast.stmt) -> bool:
    """Whether the jumps of a ``try`` statement stay: one out of ``finally`` drops an exception."""
    if not isinstance(node, ast.Try):
        return False
    jumps = [each for part in node.finalbody for each in (part, *_jumps_in(part))]
    return any(isinstance(each, ast.Return | ast.Break | ast.Continue) for each in jumps)


def _parts(node: ast.AST) -> list[ast.AST]:
    return [] if isinstance(node, _FUNCTIONS) else children(node)


def _jumps_in(node: ast.AST) -> list[ast.stmt]:
    """The jumps inside a statement that lead out of it."""
    found: list[ast.stmt] = []
    inner = isinstance(node, _LOOPS)
    for child in _parts(node):
        if isinstance(child, _JUMPS):
            found.append(child)
        elif not isinstance(child, ast.expr):
            found += _jumps_in(child)
    if inner:
        assert isinstance(node, _LOOPS)
        of_else = {id(each) for part in node.orelse for each in (part, *_jumps_in(part))}
        found = [
            each
            for each in found
            if isinstance(each, ast.Return | ast.Raise | _Returned) or id(each) in of_else
        ]
    return found


def _jumps_of_loop(node: ast.For | ast.While) -> list[ast.stmt]:
    """The ``break`` and ``continue`` statements that belong to a loop."""
    found: list[ast.stmt] = []
    for statement in node.body:
        inside = [statement] if isinstance(statement, _JUMPS) else _jumps_in(statement)
        found += [each for each in inside if isinstance(each, ast.Break | ast.Continue)]
    return found


def _always(statements: list[ast.stmt]) -> bool:
    """Whether the statements end with a jump in any case."""
    for each in statements:
        if isinstance(each, _JUMPS):
            return True
        if isinstance(each, ast.If) and _always(each.body) and _always(each.orelse):
            return True
    return False


def _yields(node: ast.AST) -> bool:
    return any(isinstance(x, _YIELDS) or _yields(x) for x in _parts(node))


def _mark_plain(body: list[ast.stmt]) -> bool:
    """Mark the branches and loops around jumps that are kept, and those that other code runs in
    between, which is no part of them.

    Gives whether there are returns in branches or loops that can be replaced.
    """
    around = [each for each in _own(body) if isinstance(each, ast.If | ast.For | ast.While)]
    kept = {
        id(jump)
        for each in _own(body)
        if isinstance(each, _KEEPING) or _is_kept(each)
        for jump in _jumps_in(each)
        if not isinstance(jump, ast.Raise)
    }
    inside = {id(each): _jumps_in(each) for each in around}
    for each in around:
        jumps = inside[id(each)] + (_jumps_of_loop(each) if not isinstance(each, ast.If) else [])
        vars(each)["plain"] = any(id(jump) in kept for jump in jumps) or _yields(each)
    returns = [each for each in _own(body) if isinstance(each, ast.Return)]
    stay = any(id(each) in kept for each in returns) or any(
        _is_plain(each) and any(isinstance(jump, ast.Return) for jump in inside[id(each)])
        for each in around
    )
    if stay:
        for each in around:
            if any(isinstance(jump, ast.Return) for jump in inside[id(each)]):
                vars(each)["plain"] = True
    ends = {
        id(jump)
        for each in around
        if not isinstance(each, ast.If) and _is_plain(each)
        for jump in _jumps_of_loop(each)
    }
    for each in around:
        if any(id(jump) in ends for jump in inside[id(each)]):
            vars(each)["plain"] = True
    return not stay and any(
        isinstance(jump, ast.Return) for each in around for jump in inside[id(each)]
    )


def _is_plain(statement: ast.stmt) -> bool:
    return bool(getattr(statement, "plain", False))
