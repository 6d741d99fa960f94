"""The rewriting of expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from .jumps import assigns
from .names import Names, given
from .nodes import (
    KEEPERS,
    TAKING,
    TAKING_METHODS,
    at,
    bound,
    door_part,
    flag_name,
    is_sober,
    is_text,
    later,
    name_of,
    placed,
    walk,
)

OF_SETS = (ast.BitOr, ast.BitAnd, ast.BitXor, ast.Sub)
_LISTS = (ast.List, ast.ListComp)
_Visit = Callable[[ast.expr], ast.expr]
_WITH_DEFAULT = ("get", "pop", "setdefault")  # methods

# The functions in ``operator``.
_ORDERS: dict[type, str] = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}
# What the door is asked for other comparisons, and whether for the opposite.
_ASKED: dict[type, tuple[str, bool]] = {
    ast.Is: ("same", False),
    ast.IsNot: ("same", True),
    ast.Eq: ("equal", False),
    ast.NotEq: ("unequal", False),
    ast.In: ("contained", False),
    ast.NotIn: ("contained", True),
}


class Expressions(Names):
    """Rewrites expressions."""

    def visit_Set(self, node: ast.Set) -> ast.expr:
        self.generic_visit(node)
        for each in node.elts:
            if isinstance(each, ast.Starred):  # C adds the elements of a set without iterating
                each.value = self._door("settled", each.value, each.value)
        if all(isinstance(each, ast.Constant | ast.Starred) for each in node.elts):
            return self._door("made", node, node)
        return self._door("set_of", node, *node.elts)

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        keys = [key for key in node.keys if key is not None]
        if len(keys) < len(node.keys) or all(isinstance(key, ast.Constant) for key in keys):
            self.generic_visit(node)
            return self._door("made", node, node)
        note_held(*node.values)
        pairs = zip(keys, node.values, strict=True)
        return self._door("dict_of", node, *(self.visit(part) for pair in pairs for part in pair))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id == "__class__" or node.id.startswith("__fxc_"):
            return node
        place = self._place_of(node.id)
        if place == "local":
            if method := getattr(node, "unsure", ""):
                flag = at(node, ast.Name(flag_name(node.id), ast.Load()))
                return self._door(method, node, self._text(node, node.id), flag, later(node))
            return node
        if isinstance(node.ctx, ast.Load):
            return self._door(place, node, self._text(node, node.id))
        names = door_part("cells" if place == "free" else "globals")
        return at(node, ast.Attribute(names, node.id, node.ctx))

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        """What nobody reads may still be something to warn of, or raise."""
        computes = isinstance(node.value, ast.BinOp | ast.Call)
        self.generic_visit(node)
        if computes:
            node.value = self._door("discarded", node, node.value)
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        if self._place_of(node.target.id) != "local":
            raise self._refuse(node, f"':=' of {node.target.id}, a variable from outside,")
        node.value = self.visit(node.value)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        node.value = self.visit(node.value)
        if isinstance(node.ctx, ast.Load):
            return self._door("attr", node, node.value, self._text(node, node.attr))
        node.value = self._door("owned", node.value, node.value)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if getattr(node, "is_item", ""):
            return self._new_item(node, node.value)
        node.value = self.visit(node.value)
        node.slice = self.visit(node.slice)
        stores = getattr(node, "stored_by", "stored")
        method = "indexed" if isinstance(node.ctx, ast.Load) else stores
        node.value = self._door(method, node.value, node.value)
        return node

    def _note_taken(self, body: list[ast.stmt]) -> None:
        """Note the generators that builtins take up at once: of these nothing is left behind."""
        for node in walk(*body):
            match node:
                case ast.Call(ast.Name(name), [ast.GeneratorExp() as made, *_]):
                    taken = name in TAKING and self._place_of(name) == "outer"
                    made.is_taken = taken  # type: ignore[attr-defined]
                case ast.Call(ast.Attribute(_, name), [ast.GeneratorExp() as made]):
                    made.is_taken = name in TAKING_METHODS  # type: ignore[attr-defined]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if getattr(node, "is_door", False):
            node.args = [self.visit(arg) for arg in node.args]
            return node
        if getattr(node, "is_item", "") and _makes_list(node):
            return self._new_item(node, node.func.value)  # type: ignore[attr-defined]
        if isinstance(node.func, ast.Attribute) and node.func.attr in KEEPERS:
            for arg in node.args:
                note_kept(arg)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _WITH_DEFAULT:
            note_held(*node.args)
        is_new_list = self._is_list(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            first = given(self._code)[0] if given(self._code) else "self"
            node.args = [at(node, ast.Name(name, ast.Load())) for name in ("__class__", first)]
        takes_up, method = is_taken(node), node.func
        self.generic_visit(node)
        if takes_up:
            node.func = self._door("taking", node.func, node.func)
        match node.args, node.keywords:
            case [ast.Starred(items)], []:
                call = self._door("call_with", node, node.func, items)
            case _:
                call = self._door("call", node, node.func, *node.args)
        if isinstance(method, ast.Attribute):
            ast.copy_location(call.func, method)
        call.keywords = node.keywords
        return self._made_list(node, call) if is_new_list else call

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """What ``a is b`` gives depends on the objects of a call: the door guards it."""
        if len(node.ops) > 1:
            return self._chained(node)
        self.generic_visit(node)
        left, operator, right = node.left, node.ops[0], node.comparators[0]
        by_value = not isinstance(operator, ast.In | ast.NotIn | ast.Is | ast.IsNot)
        if by_value and (isinstance(left, ast.Constant) or _is_plain(right)):
            return node
        if type(operator) in _ORDERS:
            name = self._text(node, _ORDERS[type(operator)])
            return self._door("compared", node, name, left, right)
        asked, is_negated = _ASKED[type(operator)]
        found = self._door(asked, node, left, right)
        return self._door("negated", node, found) if is_negated else found

    def _chained(self, node: ast.Compare) -> ast.expr:
        """``a < b < c`` as ``a < b and b < c``, with each operand computed once."""
        if assigns(node):
            return self.generic_visit(node)
        first = self._fresh("left")
        return bound(node, first, self.visit(node.left), self._chain(node, 0, first))

    def _chain(self, node: ast.Compare, place: int, left: str) -> ast.expr:
        """The comparisons from one on; ``left`` names its first operand."""
        operator, right = node.ops[place], self.visit(node.comparators[place])
        name = self._fresh("left")
        made = self.visit(placed(node, ast.Compare(name_of(left), [operator], [name_of(name)])))
        if place + 1 < len(node.ops):
            made = self._door("both", node, made, later(self._chain(node, place + 1, name)))
        return bound(node, name, right, made)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        """A call with the parts of the text: see Note [Late effects]."""
        parts: list[ast.expr] = []
        for each in node.values:
            if not isinstance(each, ast.FormattedValue):
                parts.append(each)
                continue
            spec = self.visit(each.format_spec or self._text(each, ""))
            conversion = placed(each, ast.Constant(each.conversion))
            part = ast.Tuple([self.visit(each.value), conversion, spec], ast.Load())
            parts.append(placed(each, part))
        return self._door("text", node, *parts)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        if getattr(node, "is_item", ""):
            return self._new_item(node, node.left)
        is_list, is_plain = self._is_list(node), self._is_plain(node)
        sums = [node]  # within one another: as many as there are terms, more than calls may be
        while isinstance(sums[-1].left, ast.BinOp) and self._is_plain(sums[-1].left):
            sums.append(sums[-1].left)
        sums[-1].left = self.visit(sums[-1].left)
        for each in reversed(sums):
            each.right = self.visit(each.right)
            if isinstance(each.op, OF_SETS):
                each.right = self._door("set_operand", each.right, each.right)
        if is_list:
            return self._made_list(node, node)
        return node if is_plain else self._door("percent", node, node.left, node.right)

    def _is_plain(self, node: ast.BinOp) -> bool:
        """Whether only the operands of an operator are rewritten."""
        formats = isinstance(node.op, ast.Mod) and is_text(node.left)
        return not (getattr(node, "is_item", "") or self._is_list(node) or formats)

    def _note_lists(self, value: ast.expr) -> None:
        """Note the lists that are made for a variable, or for what it holds."""
        for each in walk(value):  # from the outside in
            if isinstance(each, ast.BinOp) and self._is_list(each):
                self._lists |= {each}
                self._parts |= {each.left, each.right}
            elif isinstance(each, _LISTS) or self._is_list(each):
                self._lists |= {each} - self._parts  # type: ignore[arg-type]

    def _is_list(self, node: ast.AST) -> bool:
        """Whether a node is ``list(x)``, ``sorted(x)``, ``deque(x)`` or ``[0] * n``."""
        match node:
            case ast.Call(ast.Name("sorted"), _, _):
                return self._place_of("sorted") == "outer"
            case ast.Call(ast.Name("list" | "deque" | "bytearray" as name), _, []):
                return self._place_of(name) == "outer"
            case ast.Call(ast.Name("deque"), _, [ast.keyword("maxlen")]) | ast.Call(
                ast.Attribute(ast.Name("collections"), "deque"), _, [] | [ast.keyword("maxlen")]
            ):
                return True
            case ast.BinOp(ast.List(), ast.Mult(), _) | ast.BinOp(_, ast.Mult(), ast.List()):
                return True
            case _:
                return False

    def visit_List(self, node: ast.List) -> ast.expr:
        """``[a, *xs, b]`` is ``[a] + list(xs) + [b]``."""
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Store):
            return node
        parts: list[Any] = []
        for each in node.elts:
            if isinstance(each, ast.Starred):
                parts.append(self._door("call", node, at(node, door_part("list")), each.value))
            elif parts and isinstance(parts[-1], ast.List):
                parts[-1].elts.append(each)
            else:
                parts.append(at(node, ast.List([each], ast.Load())))
        for part in parts[1:]:
            parts[0] = at(node, ast.BinOp(parts[0], ast.Add(), part))
        return self._made_list(node, parts[0] if parts else node)

    def _new_item(self, node: Any, owner: ast.expr) -> ast.expr:
        """What is made of ``owner``: a new list if that is one."""
        name, how, node.is_item = self._fresh("owner"), node.is_item, ""
        value = self.visit(owner)
        match node:
            case ast.Subscript():
                node.value = name_of(name)
            case ast.BinOp():
                node.left = name_of(name)
            case ast.Call(ast.Attribute() as method):
                method.value = name_of(name)
        found, place = self.visit(placed(node, node)), self._text(node, self._place_in_text(node))
        item = self._door("new_item", node, name_of(name), found, self._text(node, how), place)
        return bound(node, name, value, item)

    def _place_in_text(self, node: ast.expr) -> str:
        return f"{self._code.co_filename}:{node.lineno}:{node.col_offset}"

    def _made_list(self, node: ast.expr, made: ast.expr) -> ast.expr:
        """A list that is kept: it may be one of the graph."""
        held = getattr(node, "is_item", "")
        if node not in self._lists and not held:
            return made
        name = "made_list" if node in self._lists else held
        return self._door(name, node, made, self._text(node, self._place_in_text(node)))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        if getattr(node, "is_test", False):
            node.is_test = False  # type: ignore[attr-defined]
            return self._test(node)
        method = "both" if isinstance(node.op, ast.And) else "either"
        return self._shortened(node, method, self.visit)

    def _test(self, node: ast.expr) -> ast.expr:
        """An expression of which only the truth matters."""
        match node:
            case ast.BoolOp(ast.And()):
                return self._shortened(node, "both_true", self._test)
            case ast.BoolOp(ast.Or()):
                return self._shortened(node, "either_true", self._test)
            case ast.UnaryOp(ast.Not(), operand):
                return self._door("negated", node, self._test(operand))
            case _:
                found: ast.expr = self.visit(node)
                return found

    def _shortened(self, node: ast.BoolOp, method: str, visit: _Visit) -> ast.expr:
        """``__fxc__.both(a, lambda: b)`` for ``a and b``."""
        if assigns(node):
            return self.generic_visit(node)
        note_held(*node.values)
        *first, made = map(visit, node.values)
        for value in reversed(first):
            made = self._door(method, node, value, later(made))
        return made

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not):
            return self._door("negated", node, self._test(node.operand))
        return self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        if assigns(node):
            return self.generic_visit(node)
        note_held(node.body, node.orelse)
        arms = [later(self.visit(each)) for each in (node.body, node.orelse)]
        if getattr(node, "is_assigned", False):
            arms.append(at(node, ast.Constant(node.lineno)))
        return self._door("chosen", node, self._test(node.test), *arms)

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.expr:
        self.generic_visit(node)
        node.value = self._door("iterable", node.value, node.value)
        return node


def note_item(node: ast.expr) -> None:
    """Note a list that nobody has but the list that it becomes an item of."""
    if isinstance(node, ast.Tuple):
        note_held(*node.elts)
    elif _is_new(node):
        node.is_item = "item_list"  # type: ignore[attr-defined]


def note_kept(node: ast.expr) -> None:
    """Note what becomes an item of a list: also the sum of two, if these are lists."""
    note_item(node)
    match node:
        case ast.BinOp(left, ast.Add(), right) if all(map(_is_place, (left, right))):
            node.is_item = "item_list"  # type: ignore[attr-defined]


def note_made_of_item(node: ast.Assign) -> None:
    """Note what is made of an item of a list and becomes one: ``xs[i] = xs[i] + xs[j]``."""
    match node:
        case ast.Assign(
            [ast.Subscript(owner)],
            ast.BinOp(ast.Subscript(other)) | ast.Subscript(ast.Subscript(other)) as found,
        ) if ast.dump(owner) == ast.dump(other):
            note_kept(found)


def _is_place(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Subscript | ast.Attribute) and is_sober(node)


def note_held(*nodes: ast.expr) -> None:
    """Note the lists among these that others may hold, or that may stand where another one does."""
    for node in filter(_is_new, nodes):
        node.is_item = "held_list"  # type: ignore[attr-defined]


def _is_new(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.ListComp | ast.Call) or _makes_list(node)


def flag(node: ast.AST, value: bool) -> ast.expr:
    found: ast.expr = at(node, ast.Constant(value))
    return found


def is_taken(node: ast.Call) -> bool:
    """Whether a call takes up the generator that is its first argument at once."""
    return bool(node.args) and getattr(node.args[0], "is_taken", False)


def _is_plain(right: ast.expr) -> bool:
    """Whether what an operand is compared with is a constant of which Python knows the answer."""
    return isinstance(right, ast.Constant) and not isinstance(right.value, bool)


def _makes_list(node: ast.expr) -> bool:
    """Whether this may make a new list of another one: a part, a copy, one with more items."""
    match node:
        case (
            ast.Subscript(_, ast.Slice())
            | ast.BinOp(_, ast.Add(), ast.List())
            | ast.Call(ast.Attribute(_, "copy"), [], [])
        ):
            return is_sober(node)
        case _:
            return False
