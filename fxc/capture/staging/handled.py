"""Statements whose exceptions are handled in the graph, as branches.

::

    try:                                 try:
        y = f(x)                             made = __fxc__.checked(__fxc__.checking(), f(x))
        z = y * 2                            if __fxc__.has_raised(ValueError):
    except ValueError:                           z = 0.0
        z = 0.0                              else:
                                                 y = made
                                                 z = y * 2
                                         except ValueError: …  # what is raised while capturing

See Note [Handled in the graph].
"""

from __future__ import annotations

import ast
from collections.abc import Container
from typing import Any

from fxc.ir.records import mutable

from .leaving import yields
from .nodes import (
    FUNCTIONS,
    KEEPERS,
    assign,
    change_blocks,
    copied,
    door_call,
    door_part,
    later,
    name_of,
    placed,
    set_flag,
    walk,
)

_NOT_TAKEN_APART = (
    *(ast.Lambda, ast.IfExp, ast.BoolOp, ast.NamedExpr, ast.Starred),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
# What an exception is made of: nothing of it is computed.
_SAID = (
    *(ast.Constant, ast.Name, ast.Attribute, ast.expr_context, ast.Tuple),
    *(ast.JoinedStr, ast.FormattedValue, ast.keyword, ast.UnaryOp, ast.USub),
    *(ast.BinOp, ast.Add, ast.Sub, ast.Mult),
)
_INERT = (ast.Subscript, ast.Name, ast.Constant, ast.Tuple, ast.expr_context)
_SIMPLE = (ast.Assign, ast.AugAssign, ast.Return, ast.Expr, ast.If)
Block = list[ast.stmt]
_Step = tuple[Block, list[tuple[ast.expr, Block]]]  # and what is done by tests behind it


@mutable
class _Out:
    """Where an exception goes: to the handlers of a ``try`` statement, or else out of the function
    if there is none.
    """

    handlers: list[ast.ExceptHandler]
    flags: list[str]  # for each handler: it is to run
    around: _Out | None = None
    is_nested: bool = False  # within a statement of the body
    in_loop: bool = False  # of the body

    def inside(self, in_loop: bool) -> _Out:
        """The same within a statement of the body."""
        around = self.around and self.around.inside(in_loop)
        return _Out(self.handlers, self.flags, around, True, self.in_loop or in_loop)


def handle_in_graph(node: ast.AST, lines: Container[int]) -> None:
    """Write the statements at these lines, in a function and in those inside of it, as branches."""
    for each in walk(node):
        if isinstance(each, ast.FunctionDef) and not any(map(yields, each.body)):
            _Handling(each, lines).rewrite()


class _Handling:
    def __init__(self, node: ast.FunctionDef, lines: Container[int]) -> None:
        self._node = node
        self._lines = lines
        self._raised: dict[int, str] = {}
        self._count = 0

    def rewrite(self) -> None:
        body, _ = self._block(self._node.body, _Out([], []))
        flags = [set_flag(body[0], name, False) for name in self._raised.values()]
        text = 1 if ast.get_docstring(self._node, clean=False) is not None else 0
        self._node.body = [*body[:text], *flags, *body[text:]]
        vars(self._node)["raised"] = self._raised

    def _fresh(self, kind: str) -> str:
        self._count += 1
        return f"__fxc_{kind}_{self._node.lineno}_{self._count}__"

    def _block(self, statements: Block, out: _Out) -> tuple[Block, set[str]]:
        """A block, and the flags of handlers that are to run behind it."""
        made: Block = []
        for place, statement in enumerate(statements):
            rest = statements[place + 1 :]
            found = self._statement(statement, out)
            if found is None:
                made.append(statement)
                continue
            steps, flags = found
            end, more = self._block(rest, out) if rest else (Block(), set[str]())
            for before, arms in reversed(steps):
                for test, leave in reversed(arms):
                    end = [placed(before[-1], ast.If(test, leave, end))]
                end = [*before, *end]
            return [*made, *end], flags | more
        return made, set()

    # ------------------------------------------------------------ statements

    def _statement(self, node: ast.stmt, out: _Out) -> tuple[list[_Step], set[str]] | None:
        """The steps of a statement that is written otherwise, and the flags that it may set; None
        of another one.
        """
        if isinstance(node, FUNCTIONS):
            return None
        if isinstance(node, ast.Raise):
            steps = self._raise(node, out) if node.lineno in self._lines else []
            return (steps, self._set_by(steps, out)) if steps else None
        steps = self._taken_apart(node, out) if isinstance(node, _SIMPLE) else []
        flags = self._set_by(steps, out)
        last = [node]
        if isinstance(node, ast.Try):
            last, found = self._try(node, out)
        else:
            found = self._blocks_of(node, out.inside(isinstance(node, ast.For | ast.While)))
        if not steps and not found and last == [node]:
            return None
        names = sorted(found)
        before = [set_flag(node, name, False) for name in names]
        if (target := vars(node).pop("stored", None)) is not None:
            held = placed(node, name_of(node.target.id))  # type: ignore[attr-defined]
            last = [node, placed(node, ast.Assign([target], held))]
        steps.append(([*before, *last], [self._behind(node, name, out) for name in names]))
        return steps, flags | {name for name in names if out.is_nested or name not in out.flags}

    def _blocks_of(self, node: ast.stmt, inside: _Out) -> set[str]:
        """Write what stands in a statement otherwise; gives the flags that it may set."""
        found = set[str]()

        def change(body: Block) -> Block:
            made, flags = self._block(body, inside)
            found.update(flags)
            return made

        change_blocks(node, change)
        return found

    def _set_by(self, steps: list[_Step], out: _Out) -> set[str]:
        made = [each for _, arms in steps for _, leave in arms for each in leave]
        made += [each for before, _ in steps for each in before if isinstance(each, ast.If)]
        names = {each.id for each in walk(*made) if isinstance(each, ast.Name)}
        known, each = set[str](), out if out.is_nested else out.around
        while each is not None:
            known.update(each.flags)
            each = each.around
        return names & known

    def _behind(self, place: ast.stmt, name: str, out: _Out) -> tuple[ast.expr, Block]:
        """What is done behind a statement that has set the flag of a handler."""
        if name in out.flags and not out.is_nested:
            return name_of(name), self._handler(out, out.flags.index(name))
        leave = ast.Break() if out.in_loop else ast.Pass()
        return name_of(name), [placed(place, leave)]

    def _handler(self, out: _Out, which: int) -> Block:
        """A copy of a handler's statements, which do not look at its variable: that is unbound
        behind them, also if it was bound before.
        """
        handler = out.handlers[which]
        made = [copied(each) for each in handler.body]
        if handler.name is None:
            return made
        return [assign(made[0], handler.name, door_part("UNBOUND")), *made]

    def _arms(self, place: ast.stmt, out: _Out) -> list[tuple[ast.expr, Block]]:
        """What is done for each kind of exception that an expression may have raised."""
        arms = list[tuple[ast.expr, Block]]()
        around: _Out | None = out
        while around is not None:
            for which, handler in enumerate(around.handlers):
                kinds = [copied(handler.type)] if handler.type is not None else []
                test = door_call("has_raised", ast.Constant(False), *kinds)
                arms.append((test, self._leave(place, around, which)))
            around = around.around
        arms.append((door_call("has_raised", ast.Constant(True)), self._return(place)))
        return arms

    def _leave(self, place: ast.stmt, out: _Out, which: int) -> Block:
        if not out.is_nested:
            return self._handler(out, which)
        end: Block = [placed(place, ast.Break())] if out.in_loop else []
        return [set_flag(place, out.flags[which], True), *end]

    def _return(self, place: ast.stmt) -> Block:
        name = self._raised.setdefault(place.lineno, f"__fxc_raised_{place.lineno}__")
        noted = placed(place, ast.Expr(door_call("leaves", ast.Constant(place.lineno))))
        left = placed(place, ast.Return(door_part("UNBOUND")))
        return [noted, set_flag(place, name, True), left]

    def _raise(self, node: ast.Raise, out: _Out) -> list[_Step]:
        """A raise in a branch: the exception is known by its class."""
        made = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        said = [*node.exc.args, *node.exc.keywords] if isinstance(node.exc, ast.Call) else []
        is_said = all(isinstance(part, _SAID) for part in walk(*said))
        if not isinstance(made, ast.Name | ast.Attribute) or not is_said:
            return []
        end: Block = []
        for test, leave in reversed(self._arms(node, out)):
            end = [placed(node, ast.If(test, leave, end))]
        test = door_call("signals", later(copied(made)))
        return [([placed(node, ast.If(test, end, [node]))], [])]

    def _try(self, node: ast.Try, out: _Out) -> tuple[Block, set[str]]:
        """A ``try`` statement, and the flags for statements around that it may set."""
        if node.finalbody:
            inner = placed(node, ast.Try(node.body, node.handlers, node.orelse, []))
            made, flags = self._try(inner, out) if node.handlers else (node.body, set[str]())
            more = self._blocks_of(node, out.inside(False)) if not node.handlers else set[str]()
            node.body = made if node.handlers else node.body
            node.handlers, node.orelse = [], []
            return [node], flags | more
        around = out.inside(False)
        flags = set[str]()
        for handler in node.handlers:
            handler.body, found = self._block(handler.body, around)
            flags |= found
        if any(_is_named_in(handler) for handler in node.handlers):
            return [node], flags
        names = [self._fresh("left") for _ in node.handlers]
        own = _Out(node.handlers, names, around if out.handlers else None, bool(node.orelse))
        node.body, found = self._block(node.body, own)
        flags |= found - {*names}
        if not (node.orelse and found):
            return [node], flags
        node.orelse, found_there = self._block(node.orelse, around)
        for name in sorted(found):
            node.orelse = [placed(node, ast.If(name_of(name), [ast.Pass()], node.orelse))]
        unset = [set_flag(node, name, False) for name in sorted(found)]
        behind: Block = []
        for which, name in enumerate(names):
            behind.append(placed(node, ast.If(name_of(name), self._handler(own, which), [])))
        return [*unset, node, *behind], flags | found_there

    # ------------------------------------------------------------ expressions

    def _taken_apart(self, node: Any, out: _Out) -> list[_Step]:
        """The steps that compute what a statement needs, one operation after the other."""
        field = "test" if isinstance(node, ast.If) else "value"
        value = getattr(node, field)
        if value is None or not any(each in self._lines for each in _lines_of(value)):
            return []
        if any(isinstance(each, _NOT_TAKEN_APART) for each in walk(value)) or yields(value):
            return []
        steps = list[_Step]()
        target = node.target if isinstance(node, ast.AugAssign) else name_of("")
        if isinstance(target, ast.Subscript) and all(isinstance(x, _INERT) for x in walk(target)):
            steps = self._read_first(node, out)
            vars(node)["stored"] = target
        elif not isinstance(target, ast.Name):
            return []
        made = self._computed(value, node, out, steps)
        if isinstance(node, ast.Expr) and made is not value:
            (computed,), arms = steps.pop()
            if _keeps(value):
                return steps
            step: Any = placed(node, ast.Expr(computed.value))  # type: ignore[attr-defined]
            made = placed(node, ast.Constant(None))
            steps.append(([step], arms))
        setattr(node, field, made)
        return steps

    def _read_first(self, node: Any, out: _Out) -> list[_Step]:
        """``held = x[key]``, before ``x[key] += …``, which changes ``held`` and stores it."""
        read = copied(node.target)
        for each in walk(read):
            if hasattr(each, "ctx"):
                each.ctx = ast.Load()
        steps = list[_Step]()
        held = self._computed(read, node, out, steps)
        node.target = placed(node, name_of(held.id, ast.Store()))
        return steps

    def _computed(self, value: Any, place: ast.stmt, out: _Out, steps: list[_Step]) -> Any:
        """What stands for an expression behind the steps that it takes."""
        parts = _parts_of(value)
        for at, (holder, field) in enumerate(parts):
            part = _get(holder, field)
            part = self._computed(part, place, out, steps)
            if any(_may_raise(_get(*each)) for each in parts[at + 1 :]):
                part = self._kept(part, place, steps)
            _set(holder, field, part)
        if not _raises_itself(value):
            return value
        if isinstance(value, ast.Call) and not _is_dotted(value.func):
            return value
        name = self._fresh("made")
        called = [copied(value.func)] if isinstance(value, ast.Call) else []
        made = door_call("checked", door_call("checking", *called), value)
        steps.append(([assign(place, name, made)], self._arms(place, out)))
        return placed(place, name_of(name))

    def _kept(self, part: ast.expr, place: ast.stmt, steps: list[_Step]) -> ast.expr:
        if isinstance(part, ast.Constant):
            return part
        name = self._fresh("kept")
        steps.append(([assign(place, name, part)], []))
        return placed(place, name_of(name))


_DIVIDING = (ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)


def _raises_itself(node: ast.AST) -> bool:
    match node:
        case ast.BinOp(op=operator):
            return isinstance(operator, _DIVIDING)
        case ast.Subscript(slice=key, ctx=ast.Load()):
            return not any(isinstance(each, ast.Slice) for each in walk(key))
    return isinstance(node, ast.Call)


def _is_dotted(node: ast.expr) -> bool:
    return all(isinstance(each, ast.Name | ast.Attribute | ast.Load) for each in walk(node))


def _may_raise(node: ast.AST) -> bool:
    return any(map(_raises_itself, walk(node)))


def _keeps(call: ast.expr) -> bool:
    """Whether a method keeps what it is given, as those of lists do, which raises nothing."""
    is_method = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
    return is_method and call.func.attr in KEEPERS  # type: ignore[attr-defined]


def _parts_of(value: Any) -> list[tuple[Any, str | int]]:
    """Where the parts of an expression are, in the order in which they are evaluated."""
    match value:
        case ast.BinOp():
            return [(value, "left"), (value, "right")]
        case ast.UnaryOp():
            return [(value, "operand")]
        case ast.Compare() if len(value.ops) == 1:
            return [(value, "left"), (value.comparators, 0)]
        case ast.Subscript() if not isinstance(value.slice, ast.Slice):
            return [(value, "value"), (value, "slice")]
        case ast.Attribute():
            return [(value, "value")]
        case ast.Tuple() | ast.List():
            return [(value.elts, at) for at in range(len(value.elts))]
        case ast.Call():
            args = [(value.args, at) for at in range(len(value.args))]
            named = [(each, "value") for each in value.keywords if each.arg]
            return [*args, *named]
    return []


def _get(holder: Any, field: str | int) -> Any:
    return holder[field] if isinstance(field, int) else getattr(holder, field)


def _set(holder: Any, field: str | int, value: ast.expr) -> None:
    if isinstance(field, int):
        holder[field] = value
    else:
        setattr(holder, field, value)


def _lines_of(node: ast.expr) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _is_named_in(handler: ast.ExceptHandler) -> bool:
    """Whether a handler looks at the exception."""
    names = (each.id for each in walk(*handler.body) if isinstance(each, ast.Name))
    bare = (each for each in walk(*handler.body) if isinstance(each, ast.Raise) and not each.exc)
    return (handler.name is not None and handler.name in names) or any(bare)
