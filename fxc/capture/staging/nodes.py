"""Making nodes of a syntax tree at the line of another."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterable, Iterator
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)
DOOR = "__fxc__"  # the name by which staged code knows its door
KEEPERS = frozenset({"append", "appendleft", "insert"})  # methods that keep an argument as it is
# Builtins that are done with a generator, or a function, before they return.
TAKING = frozenset(
    {"all", "any", "bytes", "dict", "list", "max", "min", "next", "set", "sorted", "sum", "tuple"}
)
TAKING_METHODS = frozenset({"extend", "extendleft", "join", "update"})  # of builtin classes


def children(node: ast.AST) -> list[ast.AST]:
    """As ``ast.iter_child_nodes`` gives them, but for nodes without parts: what says which operator
    it is, or that a name is read. It is most of the time that staging takes.
    """
    kind = type(node)
    names = _PARTS.get(kind)
    if names is None:
        _PARTS[kind] = names = tuple(name for name in kind._fields if name not in _NO_PARTS)
    found: list[ast.AST] = []
    if not names:
        return found
    values = node.__dict__
    for name in names:
        part = values.get(name)
        if part.__class__ is list:
            found += (
                [each for each in part if isinstance(each, ast.AST)] if name in _MIXED else part
            )
        elif isinstance(part, ast.AST) and part._fields:
            found.append(part)
    return found


def evaluated_in_any_case(node: ast.AST) -> list[ast.AST]:
    """The parts of a node that are evaluated whenever the node is and nothing raises."""
    match node:
        case ast.IfExp(test):
            return [test]
        case ast.BoolOp(values=[first, *_]):
            return [first]
        case ast.Compare(left, _, [first, *_]):
            return [left, first]
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return [node.generators[0].iter]
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            return run_where_it_stands(node)
        case ast.ClassDef():
            return [*node.decorator_list, *node.bases, *node.keywords]
        case ast.Assert():
            return []  # Python without assertions leaves it out
        case _:
            return children(node)


def run_where_it_stands(function: ast.AST) -> list[ast.AST]:
    """What of an inner function the function around it runs: decorators and defaults."""
    args: ast.arguments | None = getattr(function, "args", None)
    defaults = [] if args is None else [*args.defaults, *filter(None, args.kw_defaults)]
    return [*getattr(function, "decorator_list", ()), *defaults]


_NO_PARTS = frozenset({"arg", "attr", "ctx", "id", "kind", "op", "ops", "type_comment"})
_MIXED = frozenset({"keys", "kw_defaults", "kwd_attrs", "names"})  # not of nodes alone
_PARTS: dict[type[ast.AST], tuple[str, ...]] = {ast.Constant: ()}  # fields that hold nodes
LEAVES = frozenset({ast.Constant, ast.Name})  # they hold none: half of all nodes


def copied(node: Node, shared: Container[ast.AST] = ()) -> Node:
    """A copy of a node and of what is in it, but for nodes without parts, and for ``shared`` ones.
    It takes a tenth of the time of ``copy.deepcopy``.
    """
    kind = type(node)
    made = kind.__new__(kind)
    values = vars(made)
    for name, part in vars(node).items():
        if isinstance(part, list):
            values[name] = [
                copied(each, shared) if isinstance(each, ast.AST) and each not in shared else each
                for each in part
            ]
        elif isinstance(part, ast.AST) and part._fields and part not in shared:
            values[name] = copied(part, shared)
        else:
            values[name] = part
    return made


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_BLOCKS = ("body", "orelse", "finalbody")


def blocks_of(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for holder, name in _block_fields(statement):
        yield getattr(holder, name)


def change_blocks(statement: ast.stmt, change: Callable[[list[ast.stmt]], list[ast.stmt]]) -> None:
    """Put what ``change`` makes of each block of a statement in its place."""
    for holder, name in _block_fields(statement):
        setattr(holder, name, change(getattr(holder, name)))


def _block_fields(statement: ast.stmt) -> Iterator[tuple[ast.AST, str]]:
    parts = (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ()))
    for holder in (statement, *parts):
        for name in _BLOCKS:
            if getattr(holder, name, None):
                yield holder, name


def own_statements(nodes: Iterable[ast.AST]) -> Iterator[ast.stmt]:
    """The statements among nodes and in them, but for those of inner functions."""
    for node in nodes:
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, (*FUNCTIONS, ast.expr)):
            yield from own_statements(children(node))


def is_endless(loop: ast.For | ast.While) -> bool:
    """Whether a loop ends by a jump only."""
    match loop:
        case ast.While(ast.Constant(value)):
            return bool(value)
        case _:
            return False


def loops_in(node: ast.AST) -> int:
    """How deep loops stand in each other, this node included."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.expr):
        return 0
    inside = max(map(loops_in, children(node)), default=0)
    return inside + isinstance(node, ast.For | ast.While)


def walk(*nodes: ast.AST) -> list[ast.AST]:
    """The nodes and all in them, from the outside in, without what ``children`` leaves out."""
    found = [*nodes]
    for each in found:
        if each.__class__ not in LEAVES:
            found += children(each)
    return found


def walk_statements(*nodes: ast.AST) -> list[ast.AST]:
    """As ``walk``, but without expressions and what is in them."""
    found = [each for each in nodes if not isinstance(each, ast.expr)]
    for each in found:
        found += [child for child in children(each) if not isinstance(child, ast.expr)]
    return found


def _put(place: ast.AST, node: ast.AST) -> None:
    """As ``ast.copy_location`` does, which takes four times as long."""
    lines = [place.__dict__.get(each) for each in _LINES]
    if None in lines or node._attributes != _LINES:
        ast.copy_location(node, place)
    else:
        node.__dict__.update(zip(_LINES, lines, strict=True))


_LINES = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def at(place: ast.AST, node: Node) -> Node:
    """A new node at the line of another, and what is in it."""
    _put(place, node)
    for child in children(node):
        if isinstance(child, ast.expr) and not hasattr(child, "lineno"):
            at(place, child)
    return node


def bound(place: ast.AST, name: str, value: ast.expr, made: ast.expr) -> ast.expr:
    """``(lambda name: made)(value)``."""
    args = ast.arguments([], [ast.arg(name)], None, [], [], None, [])
    found: ast.expr = placed(place, ast.Call(ast.Lambda(args, made), [value], []))
    return found


def flag_name(name: str) -> str:
    """The variable that says whether another one has a value, see binding.py."""
    return f"__fxc_bound_{name}__"


UNSET_NAME = "__fxc_unset__"


def held_name(name: str) -> str:
    """What stands for a variable, or ``UNSET`` if it has no value, in the part of a function."""
    return f"__fxc_held_{name}__"


def dropped_if_unset(place: ast.stmt, name: str) -> ast.stmt:
    """``if name is UNSET: del name``."""
    test = ast.Compare(name_of(name), [ast.Is()], [name_of(UNSET_NAME)])
    return placed(place, ast.If(test, [ast.Delete([name_of(name, ast.Del())])], []))


def later(value: ast.expr) -> ast.expr:
    """``lambda: value``."""
    made = ast.Lambda(ast.arguments([], [], None, [], [], None, []), value)
    return ast.copy_location(made, value)


_WITH_LINES = (ast.stmt, ast.expr, ast.arg, ast.excepthandler)


def placed(place: ast.AST, node: Node) -> Node:
    """A new statement, and all new in it, at the line of another; what has a line keeps it."""
    todo: list[ast.AST] = [node]
    for each in todo:
        has_line = hasattr(each, "lineno")
        if not has_line and isinstance(each, _WITH_LINES):
            _put(place, each)
        if not has_line or not isinstance(each, ast.stmt):
            todo += children(each)
    return node


def assign(place: ast.AST, name: str, value: ast.expr) -> ast.stmt:
    return placed(place, ast.Assign([name_of(name, ast.Store())], value))


def set_flag(place: ast.AST, name: str, value: bool) -> ast.stmt:
    """``name = value``, a constant."""
    return assign(place, name, ast.Constant(value))


def set_flags(place: ast.AST, names: Iterable[str]) -> list[ast.stmt]:
    return [set_flag(place, name, True) for name in dict.fromkeys(names)]


def not_name(place: ast.AST, name: str) -> ast.expr:
    return placed(place, ast.UnaryOp(ast.Not(), name_of(name)))


def name_of(name: str, context: ast.expr_context | None = None) -> ast.expr:
    return ast.Name(name, context or ast.Load())


def names_of(names: tuple[str, ...], context: ast.expr_context) -> ast.expr:
    return ast.Tuple([name_of(name, context) for name in names], context)


def call_of(owner: str, method: str, *args: ast.expr) -> ast.expr:
    """``owner.method(*args)``."""
    return ast.Call(ast.Attribute(name_of(owner), method, ast.Load()), list(args), [])


def door_part(name: str) -> ast.expr:
    """``__fxc__.name``."""
    return ast.Attribute(ast.Name(DOOR, ast.Load()), name, ast.Load())


def door_call(method: str, *args: ast.expr) -> ast.expr:
    """``__fxc__.method(*args)``, which is no call of the program's."""
    made = ast.Call(door_part(method), list(args), [])
    made.is_door = True  # type: ignore[attr-defined]
    return made


def function_of(names: tuple[str, ...], value: ast.expr) -> ast.expr:
    """``lambda *names: value``."""
    args = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    return placed(value, ast.copy_location(ast.Lambda(args, value), value))


def function_of_target(target: ast.expr, value: ast.expr, *first: str) -> ast.expr:
    """``lambda *first, *names: value`` for the variables of a target, of which a part that is a
    tuple itself is taken apart inside.
    """
    parts = zip(names_in(target), _held_in(target), strict=True)
    for name, part in reversed(list(parts)):
        if isinstance(part, ast.Tuple):
            given = ast.Starred(ast.Name(name, ast.Load()), ast.Load())
            call = ast.Call(function_of_target(part, value), [given], [])
            value = placed(value, ast.copy_location(call, value))
    return function_of((*first, *names_in(target)), value)


def names_in(target: ast.expr) -> tuple[str, ...]:
    """What the parts of a target are called, which is a variable, or a tuple of some and of such
    tuples; none for another target.
    """
    parts = _held_in(target)
    names = [_name_of_part(place, part, parts[place + 1 :]) for place, part in enumerate(parts)]
    return tuple(name for name in names if name) if all(names) else ()


def _held_in(target: ast.expr) -> list[ast.expr]:
    return target.elts if isinstance(target, ast.Tuple) else [target]


def _name_of_part(place: int, part: ast.expr, later: list[ast.expr]) -> str | None:
    """What a part of a target is called; None for what is no such part. Of a name that stands there
    again the last one counts.
    """
    of_later = {name for each in later for name in all_names_in(each)}
    match part:
        case ast.Name(name):
            return f"__fxc_unread_{place}__" if name in of_later else name
        case ast.Tuple() if names_in(part) and not of_later & all_names_in(part):
            return f"__fxc_part_{place}__"
    return None


def all_names_in(node: ast.expr) -> set[str]:
    """The names that an expression has anywhere."""
    return {each.id for each in walk(node) if isinstance(each, ast.Name)}


def is_sober(made: ast.expr) -> bool:
    """Whether an expression assigns nothing and is not left in between."""
    kinds = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
    return not any(isinstance(each, kinds) for each in walk(made))


def held_in(node: ast.expr) -> list[ast.expr]:
    """What is put into a tuple that is written here, or into one in it; else the expression."""
    items = node.elts if isinstance(node, ast.Tuple) else []
    return [part for each in items for part in held_in(each)] if items else [node]


def is_text(node: ast.expr) -> bool:
    """Whether this is a text, or bytes."""
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )
