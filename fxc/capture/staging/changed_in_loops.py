"""Loops that change what they run over, or what decides on their items; texts and arrays that they
make longer.

``for x in items`` where the body changes ``items`` goes by places, as long as there is one::

    over = __fxc__.list_to_change(items)
    place = 0
    while __fxc__.has_place(over, place):
        x = __fxc__.at_place(over, place)
        place += 1
        …

The body of a loop over a filter or a generator may change what the test reads, so an item is tested
when it comes up, in the loop itself. ``for x in filter(test, items)`` becomes::

    over, test = __fxc__.untested(filter, test, items)
    for item in over:
        if test(item):
            x = item
            …

and ``for x in (f(k) for k in items if test(k))``, with a ``k`` of its own::

    for k in items:
        if test(k):
            x = f(k)
            …

Before a loop that adds to ``s``, ``s = ""`` is ``s = __fxc__.growing("", 4, False)``, and before
one with ``a = np.append(a, x)``, ``a = np.array([])`` is
``a = __fxc__.growing_array(np.array([]), 4, np, "array")``, and ``a = b`` is
``a = __fxc__.growing_alias(b, 4)``.
See Notes [Texts of the graph] and [Arrays that grow].
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from fxc.ir.later import import_later

from .nodes import FUNCTIONS, all_names_in, door_call, name_of, own_statements, placed, walk

# See Note [Rooms with one door].
branches = import_later("fxc.capture.staging.patterns", "branches")

_CHANGES = frozenset({"append", "clear", "extend", "insert", "pop", "remove"})


def prepared(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements of a function, with what loops change, and such loops, in these forms; with
    branches in place of ``match``.
    """
    _mark_grown(body)
    return [each for statement in body for each in _Loops().of(statement)]


class _Loops(ast.NodeTransformer):
    def of(self, statement: ast.stmt) -> list[ast.stmt]:
        found = self.visit(statement)
        return found if isinstance(found, list) else [found]

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, (ast.expr, *FUNCTIONS)):
            return node
        return super().visit(node)

    def visit_Match(self, node: ast.Match) -> object:
        self.generic_visit(node)
        return branches(node)

    def visit_For(self, node: ast.For) -> list[Any]:
        self.generic_visit(node)
        match node.iter:
            case ast.Call(ast.Name("filter"), [test, items], []):
                if not (isinstance(test, ast.Starred) or isinstance(items, ast.Starred)):
                    return _over_filter(node, node.iter.func, test, items)
            case ast.GeneratorExp(_, [only]) if not only.is_async and _is_flat(node.iter, only):
                return _by_places(_over_generator(node, node.iter.elt, only))
        return _by_places(node)


# ------------------------------------------------------------------ lists that change meanwhile


def _by_places(node: ast.For) -> list[ast.stmt]:
    if not isinstance(node.iter, ast.Name) or not _is_changed(node.iter.id, node.body):
        return [node]
    number = f"{node.lineno}_{node.col_offset}"
    over, place = f"__fxc_over{number}__", f"__fxc_place{number}__"
    head: list[ast.stmt] = [
        ast.Assign([name_of(over, ast.Store())], door_call("list_to_change", node.iter)),
        ast.Assign([name_of(place, ast.Store())], ast.Constant(0)),
    ]
    item = ast.Assign([node.target], door_call("at_place", name_of(over), name_of(place)))
    step = ast.AugAssign(ast.Name(place, ast.Store()), ast.Add(), ast.Constant(1))
    test = door_call("has_place", name_of(over), name_of(place))
    loop = ast.While(test, [item, step, *node.body], node.orelse)
    return [placed(node, each) for each in (*head, loop)]


def _is_changed(name: str, body: list[ast.stmt]) -> bool:
    """Whether statements call a method of this variable that changes a list."""
    return any(
        isinstance(each, ast.Attribute)
        and each.attr in _CHANGES
        and isinstance(each.value, ast.Name)
        and each.value.id == name
        for each in walk(*body)
    )


# ------------------------------------------------------------------ items with a test


# What has variables of its own, or assigns variables of the function, or leaves it.
_SCOPES = (
    *(ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
    *(ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom),
)


def _over_filter(
    node: ast.For, function: ast.expr, test: ast.expr, items: ast.expr
) -> list[ast.stmt]:
    number = f"{node.lineno}_{node.col_offset}"
    over, holds, item = (f"__fxc_{part}{number}__" for part in ("over", "holds", "item"))
    parts = ast.Tuple([name_of(over, ast.Store()), name_of(holds, ast.Store())], ast.Store())
    begin = ast.Assign([parts], door_call("untested", function, test, items))
    asked = ast.Call(name_of(holds), [name_of(item)], [])
    loop = _tested(node, name_of(item, ast.Store()), name_of(over), asked, name_of(item))
    return [placed(node, begin), loop]


def _is_flat(made: ast.GeneratorExp, only: ast.comprehension) -> bool:
    """Whether the names in a generator are its own and those around it."""
    return not any(isinstance(each, _SCOPES) for each in walk(made.elt, only.target, *only.ifs))


def _over_generator(node: ast.For, value: ast.expr, only: ast.comprehension) -> ast.For:
    own = {each.id for each in walk(only.target) if isinstance(each, ast.Name)}
    number = f"{node.lineno}_{node.col_offset}"
    for each in walk(value, only.target, *only.ifs):
        if isinstance(each, ast.Name) and each.id in own:
            each.id = f"__fxc_{each.id}{number}__"
    tests = only.ifs
    asked = ast.BoolOp(ast.And(), tests) if len(tests) > 1 else tests[0] if tests else None
    return _tested(node, only.target, only.iter, asked, value)


def _tested(
    node: ast.For, target: ast.expr, over: ast.expr, asked: ast.expr | None, value: ast.expr
) -> ast.For:
    """The loop ``node`` over these items, those that are ``asked`` for."""
    body: list[ast.stmt] = [ast.Assign([node.target], value), *node.body]
    if asked is not None:
        body = [ast.If(asked, body, [])]
    return placed(node, ast.For(target, over, body, node.orelse))


# ------------------------------------------------------------------ lists that loops append to


def names_that_grow(body: Sequence[ast.stmt], besides: Sequence[ast.AST]) -> frozenset[str]:
    """The names of which a body says nothing but ``name.append(x)``, once, in any iteration."""
    calls = [each.value for each in body if isinstance(each, ast.Expr)]
    mentioned = [each.id for each in walk(*body, *besides) if isinstance(each, ast.Name)]
    methods = [each.func for each in calls if isinstance(each, ast.Call)]
    appends = [x.value for x in methods if isinstance(x, ast.Attribute) and x.attr == "append"]
    names = [each.id for each in appends if isinstance(each, ast.Name)]
    return frozenset(name for name in names if mentioned.count(name) == 1)


# ------------------------------------------------------------------ what loops make longer


_LOOPS = (ast.For, ast.While)


def _mark_grown(body: list[ast.stmt]) -> None:
    """Have the door make what variables begin with: texts and arrays that loops make longer."""
    loops = [each for each in own_statements(body) if isinstance(each, _LOOPS)]
    inside = [each for loop in loops for each in own_statements([loop])]
    texts = dict(side for statement in inside for side in _grown_by(statement))
    arrays = {name for statement in inside for name in _made_of_themselves(statement)}
    for statement in own_statements(body) if texts or arrays else ():
        if isinstance(statement, ast.Assign):
            begun: dict[int, list[str]] = {}
            for target in statement.targets:
                for variable, given in _pairs(target, statement.value):
                    begun.setdefault(id(given), []).append(variable.id)
            statement.value = _Begun(begun, texts, arrays).visit(statement.value)


class _Begun(ast.NodeTransformer):
    """The value of an assignment in which the door makes what variables begin with.

    ``begun`` has the variables by the id of what they are given; ``texts`` says which are texts
    that loops make longer, and whether at the start, ``arrays`` which are arrays.
    """

    def __init__(
        self, begun: dict[int, list[str]], texts: dict[str, bool], arrays: set[str]
    ) -> None:
        self._begun = begun
        self._texts = texts
        self._arrays = arrays

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        names = [name for name in self._begun.get(id(node), ()) if name in self._texts]
        if not names or type(node.value) is not str:
            return node
        given = ast.Constant(node.col_offset), ast.Constant(self._texts[names[0]])
        return placed(node, door_call("growing", node, *given))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        names = self._begun.get(id(node), ())
        if self._arrays.isdisjoint(names[:1]) or node.id in names:
            return node
        return placed(node, door_call("growing_alias", node, ast.Constant(node.col_offset)))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        names = self._begun.get(id(node), ())
        if self._arrays.isdisjoint(names[:1]) or self._arrays & all_names_in(node):
            return self.generic_visit(node)  # type: ignore[return-value]
        match node:  # what is made of a list, or of a size: of an array it could be that array
            case ast.Call(
                ast.Attribute(ast.Name(owner), name),
                [ast.Tuple() | ast.List() | ast.Constant(), *_],
            ):
                place, attr = ast.Constant(node.col_offset), ast.Constant(name)
                return placed(node, door_call("growing_array", node, place, name_of(owner), attr))
        return node


def _grown_by(statement: ast.stmt) -> Iterator[tuple[str, bool]]:
    """The names to which a statement adds, and whether at the start."""
    match statement:
        case ast.AugAssign(ast.Name(name), ast.Add()):
            yield name, False
        case ast.Assign(targets, value):
            for target in targets:
                for variable, given in _pairs(target, value):
                    for at_begin, end in enumerate(_ends(given)):
                        if isinstance(end, ast.Name) and end.id == variable.id:
                            yield variable.id, bool(at_begin)


def _ends(value: ast.expr) -> tuple[ast.expr, ...]:
    """The first and the last operand of a sum; nothing of what is none."""
    if not (isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add)):
        return ()
    first, last = value.left, value.right
    while isinstance(first, ast.BinOp) and isinstance(first.op, ast.Add):
        first = first.left
    return first, last


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.Name, ast.expr]]:
    """The variables of an assignment, and what each is given."""
    if isinstance(target, ast.Name):
        yield target, value
    elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        for one, other in zip(target.elts, value.elts, strict=False):
            yield from _pairs(one, other)


def _made_of_themselves(statement: ast.stmt) -> Iterator[str]:
    """The variables that a statement gives what a function makes of them, and of more."""
    if not isinstance(statement, ast.Assign):
        return
    for target in statement.targets:
        for variable, given in _pairs(target, statement.value):
            match given:
                case ast.Call(_, [first, *_]):
                    parts = first.elts if isinstance(first, ast.Tuple | ast.List) else [first]
                    if parts and isinstance(parts[0], ast.Name) and parts[0].id == variable.id:
                        yield variable.id
