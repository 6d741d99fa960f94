"""The rewriting of comprehensions, and of calls that take one up."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, TypeVar

from .expressions import Expressions, flag, is_taken, note_item
from .names import Scope
from .nodes import (
    all_names_in,
    at,
    copied,
    door_part,
    function_of,
    function_of_target,
    is_sober,
    name_of,
    names_in,
    placed,
    walk,
)

_FOLDING = ("sum", "any", "all", "max", "min")
_ITEMS = "__fxc_items__"
_OF_LEVELS = ("__fxc_way__", "__fxc_so_far__")  # see ``nests.Way``


_Comprehension = TypeVar(
    "_Comprehension", bound=ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
)


class Comprehensions(Expressions):
    """Rewrites comprehensions, and what takes one up."""

    def _comprehension(self, node: _Comprehension) -> _Comprehension:
        first = node.generators[0]
        first.iter = self._door("iterable", first.iter, self.visit(first.iter))
        targets = (generator.target for generator in node.generators)
        self._scopes.append(Scope(frozenset[str]().union(*map(all_names_in, targets))))
        for place, generator in enumerate(node.generators):
            if place:
                generator.iter = self._door("iterable", generator.iter, self.visit(generator.iter))
            generator.target = self.visit(generator.target)
            generator.ifs = [self._test(test) for test in generator.ifs]
        for field in ("elt", "key", "value"):
            if hasattr(node, field):
                setattr(node, field, self.visit(getattr(node, field)))
        self._scopes.pop()
        return node

    def visit_SetComp(self, node: ast.SetComp) -> ast.expr:
        if _is_single(node):
            return self._taken_up(node, "set", node.elt)
        return self._door("made", node, self._comprehension(node))

    def visit_DictComp(self, node: ast.DictComp) -> ast.expr:
        if _is_single(node):
            return self._taken_up(node, "dict", ast.Tuple([node.key, node.value], ast.Load()))
        return self._door("made", node, self._comprehension(node))

    def _taken_up(self, node: ast.SetComp | ast.DictComp, name: str, item: ast.expr) -> ast.expr:
        """A comprehension as what a class makes of a generator: it may be a loop of the graph."""
        made = at(node, ast.GeneratorExp(at(node, item), node.generators))
        taker = at(node, door_part(name))
        return self._door("fold", node, taker, flag(node, False), self._of_items(made))

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        if getattr(node, "is_row", False):
            return self._door("row", node, self._of_items(node))
        if node.generators[0].ifs and _is_single(node):
            filtered = self._door("filtered", node, self._of_items(node))
            return self._made_list(node, filtered)
        repeats = _is_single(node) and _is_repeated(node)
        if _is_single(node) and (_is_flat(node.elt) or repeats or _is_of_lists(node)):
            mapped = self._door("mapped", node, flag(node, repeats), self._of_items(node))
            return self._made_list(node, mapped)
        if _is_nested(node):
            return self._made_list(node, self._door("nested", node, self._of_levels(node)))
        return self._made_list(node, self._listed(node))

    def _listed(self, node: ast.ListComp) -> ast.expr:
        note_item(node.elt)
        self._comprehension(node)
        first = node.generators[0]
        first.iter = self._door("listed", first.iter, first.iter)
        return node

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        return self._door("made", node, self._comprehension(node))

    def _taking(self, node: ast.Call) -> ast.expr:
        """The function of a call with a comprehension."""
        function = self.visit(node.func)
        return self._door("taking", node.func, function) if is_taken(node) else function

    def _fold(self, node: ast.Call) -> ast.expr:
        """A call of a function with one comprehension: it may be a loop of the graph."""
        value, made = self._taking(node), node.args[0]
        is_list = isinstance(made, ast.ListComp) and _is_flat(made.elt)
        for row in _rows_of(made):
            row.is_row = True  # type: ignore[attr-defined]
        filters = isinstance(made, ast.ListComp) and bool(made.generators[0].ifs)
        of_items = self._of_items(made)
        if filters:
            _, over, *rest = of_items.args
            again = self._door("comprehension", made, name_of(_ITEMS), over, *rest)
            of_items.args[1] = function_of((_ITEMS,), self._door("filtered", made, again))
        fold = self._door("fold", node, value, flag(node, is_list), of_items)
        fold.args += [self.visit(default) for default in node.args[1:]]
        fold.keywords = [self.visit(option) for option in node.keywords]
        return fold

    def _nest(self, node: ast.Call) -> ast.expr:
        """A call of a function with a comprehension of several ``for``: loops in loops, perhaps."""
        return self._door("nest", node, self._taking(node), self._of_levels(node.args[0]))

    def _of_levels(self, over: Any) -> Any:
        """A comprehension of several ``for`` as the door takes it: what the outermost runs over,
        the whole as a function of that, and the parts of its first level.
        """
        note_item(over.elt)
        made = copied(over)
        iterable = made.generators[0].iter
        items = self._door("iterable", iterable, self.visit(copied(iterable)))
        level = [self.visit(part) for part in _level(made, 0)]
        is_lazy = flag(over, isinstance(over, ast.GeneratorExp))
        return self._door("comprehension", over, items, self._over_items(over), *level, is_lazy)

    def _over_items(self, node: ast.ListComp | ast.GeneratorExp) -> ast.expr:
        """A comprehension as a function of what it runs over."""
        first = node.generators[0]
        first.iter = at(first.iter, name_of(_ITEMS))
        made = self._listed(node) if isinstance(node, ast.ListComp) else self.visit(node)
        return function_of((_ITEMS,), made)

    def _of_items(self, node: Any) -> Any:
        """A comprehension over one iterable as the door takes it: what it runs over, the
        comprehension as a function of that, item and condition as functions of the target,
        whether that is a tuple, and whether it is a generator.
        """
        (generator,) = node.generators
        target = generator.target
        note_item(node.elt)
        items = self._door("iterable", generator.iter, self.visit(generator.iter))
        each = self.visit(function_of_target(target, copied(node.elt)))
        test: ast.expr = at(node, ast.Constant(None))
        if generator.ifs:
            tests = [copied(test) for test in generator.ifs]
            holds: Any = tests[0] if len(tests) == 1 else placed(node, ast.BoolOp(ast.And(), tests))
            holds.is_test = True
            test = self.visit(function_of_target(target, holds))
        unpacks = flag(node, isinstance(target, ast.Tuple))
        is_lazy = flag(node, isinstance(node, ast.GeneratorExp))
        over = self._over_items(node)
        return self._door("comprehension", node, items, over, each, test, unpacks, is_lazy)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node:
            case ast.Call(
                func=ast.Attribute(ast.Constant(str() | bytes()), "join"),
                args=[ast.GeneratorExp() as made],
            ):
                node.args = [at(made, ast.ListComp(made.elt, made.generators))]  # as Python does
            case ast.Call(
                func=ast.Name("bytes" | "list" | "sorted" | "tuple"),
                args=[ast.GeneratorExp() as made],
            ) if is_taken(node) and (_is_single(made) or _is_nested(made)):
                # Of as many items as the data say: a list can be one of the graph.
                listed: Any = at(made, ast.ListComp(made.elt, made.generators))
                listed.is_taken = True
                node.args[0] = listed
        if _is_fold(node):
            return self._fold(node)
        if _is_nest(node):
            return self._nest(node)
        return super().visit_Call(node)


def _level(made: ast.ListComp | ast.GeneratorExp, depth: int) -> tuple[ast.expr, ...]:
    """What takes in an item of the loop at this depth of a comprehension, the condition on it, and
    whether it is a tuple. See ``nests.nest``.
    """
    generator, (way, so_far) = made.generators[depth], map(name_of, _OF_LEVELS)
    target, is_last = generator.target, depth + 1 == len(made.generators)
    part = ast.Subscript(way, ast.Constant(int(is_last)), ast.Load())
    if is_last:
        taken = ast.Call(part, [so_far, made.elt], [])
    else:
        inner = made.generators[depth + 1].iter, *_level(made, depth + 1)
        taken = ast.Call(part, [way, *inner, so_far], [])
    test: ast.expr = ast.Constant(None)
    if generator.ifs:
        several = len(generator.ifs) > 1
        test = ast.BoolOp(ast.And(), generator.ifs) if several else generator.ifs[0]
        test.is_test = True  # type: ignore[attr-defined]
        test = function_of_target(target, placed(made, test))
    level = function_of_target(target, placed(made, taken), *_OF_LEVELS)
    unpacks = ast.Constant(isinstance(target, ast.Tuple))
    return level, placed(made, test), placed(made, unpacks)


# ------------------------------------------------------------------ kinds of comprehensions


def _is_of_lists(node: ast.ListComp) -> bool:
    """Whether the items are comprehensions themselves, and hold no further ones."""
    inner = node.elt
    return isinstance(inner, ast.ListComp) and _is_single(inner) and _is_flat(inner.elt)


def _is_fold(node: ast.Call) -> bool:
    """Whether a call's first argument is a comprehension over one iterable, without ``:=``; beside
    a list there are at most the options of ``max`` and ``min``.
    """
    options = {option.arg for option in node.keywords}
    match node.args:
        case [ast.GeneratorExp() as made, *rest]:
            is_plain = not any(isinstance(x, ast.Starred) for x in rest) and None not in options
            return is_plain and _is_single(made)
        case [ast.ListComp() as listed]:
            return options <= {"key", "default"} and _is_single(listed)
    return False


def _is_nest(node: ast.Call) -> bool:
    """Whether a call's argument is a comprehension over several iterables, without ``:=``."""
    if len(node.args) != 1 or node.keywords:
        return False
    return isinstance(node.args[0], ast.ListComp | ast.GeneratorExp) and _is_nested(node.args[0])


def _is_nested(made: ast.ListComp | ast.GeneratorExp) -> bool:
    """Whether a comprehension is over several iterables, without ``:=``."""
    if len(made.generators) < 2:
        return False
    plain = all(names_in(each.target) and not each.is_async for each in made.generators)
    return plain and is_sober(made)


def _rows_of(made: ast.expr) -> Iterator[ast.ListComp]:
    """The lists in a list that a comprehension makes: those of its items, of their items, …"""
    while isinstance(made, ast.ListComp):
        made = made.elt
        if not isinstance(made, ast.ListComp) or not _is_single(made) or made.generators[0].ifs:
            return
        yield made


def _is_flat(node: ast.expr) -> bool:
    """Whether an expression holds no comprehension but what a builtin makes a number of."""
    inside = walk(node)
    calls = [each for each in inside if isinstance(each, ast.Call) and is_taken(each)]
    builtins = [each for each in calls if isinstance(each.func, ast.Name)]  # others join texts
    folded = [each.args[0] for each in builtins if each.func.id in _FOLDING]  # type: ignore[attr-defined]
    comprehensions = (ast.ListComp, ast.GeneratorExp)
    return all(each in folded for each in inside if isinstance(each, comprehensions))


def _is_repeated(made: ast.ListComp) -> bool:
    """Whether each item of a comprehension is the same constant, or a new list of the same."""
    names, elt = all_names_in(made.generators[0].target), made.elt
    makes_list = isinstance(elt, ast.ListComp | ast.Constant) or (
        isinstance(elt, ast.BinOp)
        and isinstance(elt.op, ast.Mult)
        and any(isinstance(each, ast.List) for each in (elt.left, elt.right))
    )
    return makes_list and not any(
        (isinstance(each, ast.Name) and each.id in names and isinstance(each.ctx, ast.Load))
        or (isinstance(each, ast.Call) and not _asks_for_size(each.func))
        for each in walk(elt)
    )


def _asks_for_size(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("len", "range", "int", "float")


def _is_single(made: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp) -> bool:
    """Whether a comprehension is over one iterable, without ``:=``."""
    if len(made.generators) != 1:
        return False
    (generator,) = made.generators
    return not generator.is_async and bool(names_in(generator.target)) and is_sober(made)
