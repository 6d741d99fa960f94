"""Generators of the program as functions that hand on what they yield.

::

    def rises(x):                        def rises(x):
        for i in range(1, len(x)):           for i in range(1, len(x)):
            if x[i] > x[i - 1]:                  if x[i] > x[i - 1]:
                yield i                              __fxc__.took(i)

    for i in rises(x):                   def __fxc_body__(item):
        total += x[i]                        nonlocal total
                                             i = item
                                             total += x[i]
                                         __fxc__.driven(rises(x), __fxc_body__)

See Note [Generators that are driven].
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from .leaving import jumps_of_loop, yields
from .liveness import assigned, handed_on
from .nodes import (
    FUNCTIONS,
    assign,
    change_blocks,
    children,
    copied,
    door_call,
    name_of,
    not_name,
    own_statements,
    placed,
    set_flag,
    walk,
)

# Note [Generators that are driven]
# Python runs a generator of the program while a capture lasts, as long as its conditions and the
# lengths of its loops are known. Where a capture has failed that ran one in a ``for``, or gave one
# to a function that takes up all its items, the next one drives it: its code is a function that
# calls another one for each item that it yields, and the body of the loop is that function. Both
# run by turns as they do in Python, and the loops of the generator may be loops of the graph. A
# body that has ``break`` or ``return`` says so to the generator, which returns; flags say to the
# function around the loop. This is not done where more is told apart: a generator that may be asked
# again when it was left, what is sent to it or returned by it, and a ``yield`` within ``try`` or
# ``with``.

_ITEM = "__fxc_given__"


def hand_out(function: ast.AST, leaves: bool) -> bool:
    """Let a generator hand out what it yields, and return where what takes it says so if that
    ``leaves``; whether that says all that the generator does.
    """
    if not isinstance(function, ast.FunctionDef):
        return False
    function.body = _handing_out(function.body, leaves)
    own = list(own_statements(function.body))
    returns = (each.value for each in own if isinstance(each, ast.Return))
    return not any(map(yields, own)) and not any(value is not None for value in returns)


def _handing_out(block: list[ast.stmt], leaves: bool) -> list[ast.stmt]:
    made: list[ast.stmt] = []
    for each in block:
        match each:
            case ast.Expr(ast.Yield(value)):
                each = _taken(each, value or ast.Constant(None), leaves)
            case ast.Expr(ast.YieldFrom(value)):
                item = f"__fxc_yielded_{each.lineno}_{each.col_offset}__"
                body = [_taken(each, name_of(item), leaves)]
                each = placed(each, ast.For(name_of(item, ast.Store()), value, body, []))
            case ast.If() | ast.For() | ast.While() | ast.Match():
                change_blocks(each, partial(_handing_out, leaves=leaves))
        made.append(each)
    return made


def _taken(place: ast.stmt, value: ast.expr, leaves: bool) -> ast.stmt:
    took = door_call("took", value)
    return placed(place, ast.If(took, [ast.Return(None)], []) if leaves else ast.Expr(took))


def drive(node: ast.AST, lines: set[int]) -> None:
    """Make functions of the bodies of loops at these lines, where that says what they do."""
    functions = [each for each in walk(node) if isinstance(each, ast.FunctionDef)]
    for function in functions:
        loops = [each for each in own_statements(function.body) if isinstance(each, ast.For)]
        wanted = [(each, _shared(function, each)) for each in loops if each.lineno in lines]
        for loop, names in reversed(wanted):  # the inner ones first
            if names is not None:
                exits = _Exits(loop)
                _put_in_place(function, loop, _driven(function, loop, names, exits))
                function.body = [*exits.before, *function.body]  # in any arm there are the flags


def _shared(function: ast.FunctionDef, loop: ast.For) -> frozenset[str] | None:
    """The variables that a loop's body shares with its function; None if it can be no function."""
    inside = walk(loop.target, *loop.body)
    if (_leaves(loop) and not isinstance(loop.iter, ast.Call)) or any(
        isinstance(each, ast.Delete | ast.Import | ast.ImportFrom | ast.ClassDef) or yields(each)
        for each in inside
    ):
        return None
    if any(isinstance(each, ast.Name) and each.id == "super" for each in inside):
        return None
    own = assigned([loop.target, *loop.body])
    handed = handed_on(function.body)[loop]
    within = (each for each in inside if isinstance(each, FUNCTIONS))
    shared = own & frozenset[str](handed.at_head | handed.behind).union(*map(_names, within))
    rest = [each for each in own_statements(function.body) if each not in inside]
    bound = assigned(each for each in _without(rest, loop)) | _names(function.args)
    return shared if shared <= bound | _declared(function) else None


def _leaves(loop: ast.For) -> bool:
    """Whether the body of a loop may leave it."""
    return bool(_returns(loop)) or any(isinstance(x, ast.Break) for x in jumps_of_loop(loop))


def _returns(loop: ast.For) -> list[ast.Return]:
    return [each for each in own_statements(loop.body) if isinstance(each, ast.Return)]


def _without(statements: list[ast.stmt], loop: ast.For) -> Iterator[ast.AST]:
    """The parts that bind names of statements outside of a loop, without blocks."""
    for each in statements:
        if isinstance(each, FUNCTIONS):
            yield each
        elif each is not loop:
            yield from (part for part in children(each) if not isinstance(part, ast.stmt))


def _names(node: ast.AST) -> frozenset[str]:
    found = (getattr(each, "id", getattr(each, "arg", None)) for each in walk(node))
    return frozenset(name for name in found if isinstance(name, str))


def _declared(function: ast.FunctionDef) -> frozenset[str]:
    """The names that a function says to be of others."""
    own = own_statements(function.body)
    said = (each.names for each in own if isinstance(each, ast.Global | ast.Nonlocal))
    return frozenset(name for names in said for name in names)


def _driven(
    function: ast.FunctionDef, loop: ast.For, shared: frozenset[str], exits: _Exits
) -> list[ast.stmt]:
    """The body as a function, its call for each item, and what follows the loop."""
    name = f"__fxc_body_{loop.lineno}_{loop.col_offset}__"
    own = own_statements(function.body)
    of_all = {x for each in own if isinstance(each, ast.Global) for x in each.names}
    said: list[ast.stmt] = []
    own_names = (shared - of_all).union(exits.flags)
    for kind, names in ((ast.Global, shared & of_all), (ast.Nonlocal, own_names)):
        said += [kind(sorted(names))] if names else []
    bind = ast.Assign([loop.target], name_of(_ITEM))
    body = [*said, bind, *exits.replaced(loop.body), ast.Return(exits.goes_on)]
    args = ast.arguments([], [ast.arg(_ITEM)], None, [], [], None, [])
    made = ast.FunctionDef(name, args, body, [])
    if hasattr(made, "type_params"):
        made.type_params = []
    leaves = ast.Constant(_leaves(loop))
    call = ast.Expr(door_call("driven", loop.iter, name_of(name), leaves))
    return [*map(copied, exits.before), placed(loop, made), placed(loop, call), *exits.behind]


class _Exits:
    """What becomes of the jumps of a loop whose body is a function."""

    def __init__(self, loop: ast.For) -> None:
        number, returns = f"{loop.lineno}_{loop.col_offset}__", _returns(loop)
        self._left = f"__fxc_left_{number}" if loop.orelse and _leaves(loop) else ""
        self._returned = f"__fxc_returned_{number}" if returns else ""
        self._value = f"__fxc_value_{number}" if any(each.value for each in returns) else ""
        self.flags = tuple(filter(None, (self._left, self._returned, self._value)))
        self.goes_on = ast.Constant(False) if _leaves(loop) else None
        self.before = [set_flag(loop, name, False) for name in self.flags]
        self.behind = loop.orelse
        if self._left:
            self.behind = [placed(loop, ast.If(not_name(loop, self._left), loop.orelse, []))]
        if returns:
            result = ast.Return(name_of(self._value) if self._value else None)
            left = placed(loop, ast.If(name_of(self._returned), [result], []))
            self.behind = [left, *self.behind]

    def replaced(self, block: list[ast.stmt], own: bool = True) -> list[ast.stmt]:
        """A block of the body with returns in place of its jumps; ``continue`` and ``break`` are
        those of a loop inside where they are not its ``own``.
        """
        made: list[ast.stmt] = []
        for each in block:
            match each:
                case ast.Continue() if own:
                    made.append(placed(each, ast.Return(self.goes_on)))
                    continue
                case ast.Break() if own:
                    made += self._left_by(each, (self._left,))
                    continue
                case ast.Return(value):
                    if self._value:
                        made.append(assign(each, self._value, value or ast.Constant(None)))
                    made += self._left_by(each, (self._left, self._returned))
                    continue
                case ast.For() | ast.While():
                    each.body = self.replaced(each.body, own=False)
                    each.orelse = self.replaced(each.orelse, own)
                case _ if not isinstance(each, FUNCTIONS):
                    change_blocks(each, partial(self.replaced, own=own))
            made.append(each)
        return made

    def _left_by(self, jump: ast.stmt, flags: tuple[str, ...]) -> list[ast.stmt]:
        set_flags = [set_flag(jump, name, True) for name in flags if name]
        return [*set_flags, placed(jump, ast.Return(ast.Constant(True)))]


def _put_in_place(function: ast.FunctionDef, loop: ast.For, made: list[ast.stmt]) -> None:
    def changed(block: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for each in block:
            if not isinstance(each, FUNCTIONS):
                change_blocks(each, changed)
            found += made if each is loop else [each]
        return found

    function.body = changed(function.body)
