"""Bounds for random loops: programs that end soon, and whose ints stay short enough to print.

A loop that squares a Python int doubles its digits in each iteration, and ``range`` of such an int
does not end. ``bounded`` takes one factor of such products by a modulus, and the smaller of what
a range says and a constant; digits then grow by a few in each iteration, beyond 64 bits still. ::

    for m in range(n * n):        for m in range(min(n * n, 12)):
        t = t * t                     t = t * (t % 1009)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

_MODULUS, _LONGEST, _INNER = 1009, 12, 5  # of factors; iterations of a loop, of one in two others
_SAME = {"min", "max", "abs", "round", "pow", "divmod", "sum"}  # ints of ints
_FLOATS = {"float", "isinstance", "zip", "reversed"}


def bounded(body: str) -> str:
    """The body of a function, as it should be run."""
    tree = ast.parse(body)
    return ast.unparse(_Bounds(_Ints(tree)).visit(tree))


Binding = tuple[ast.expr, ast.expr | bool]  # a name or attribute; its value or whether it is an int


class _Ints:
    """Which variables may hold Python ints, wherever they are assigned; and which are small."""

    def __init__(self, tree: ast.Module) -> None:
        bindings = list(_bindings(tree))
        self.ints, self.lists = {"n"}, {"log"}
        for _ in range(len(bindings) + 1):
            before = len(self.ints) + len(self.lists)
            for target, value in bindings:
                name = ast.unparse(target)
                if value is True or (not isinstance(value, bool) and self.is_int(value)):
                    self.ints.add(name)
                if not isinstance(value, bool) and self.is_list(value):
                    self.lists.add(name)
            if before == len(self.ints) + len(self.lists):
                break
        names = {ast.unparse(target) for target, _ in bindings}
        self.small = names | {"n"}
        for _ in range(len(names) + 1):
            self.small -= {
                ast.unparse(target)
                for target, value in bindings
                if isinstance(value, bool) or not self._is_count(value)
            }

    def _is_count(self, value: ast.expr) -> bool:
        """Whether a counter that is bound to it is small: a plain number, or a range of them."""
        if isinstance(value, ast.Call) and ast.unparse(value.func) == "range":
            return all(self.is_small(each) for each in value.args)
        return isinstance(value, ast.Constant) or (
            isinstance(value, ast.Name) and value.id in self.small
        )

    def is_small(self, value: ast.expr) -> bool:
        match value:
            case ast.Constant():
                return True
            case ast.Name(id=name):
                return name in self.small
            case ast.UnaryOp(operand=inner):
                return self.is_small(inner)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.FloorDiv(), right=right):
                return self.is_small(left) and self.is_small(right)
            case ast.Call(func=ast.Name(id="min"), args=args):
                return any(self.is_small(each) for each in args)
            case ast.Call(func=ast.Name(id="len")):
                return True
        return isinstance(value, ast.Subscript) and ast.unparse(value).endswith(".shape[0]")

    def is_int(self, value: ast.expr) -> bool:
        match value:
            case ast.Constant(value=number):
                return isinstance(number, int)
            case ast.Name() | ast.Attribute():
                return ast.unparse(value) in self.ints
            case ast.BinOp(op=op, left=left, right=right):
                return not isinstance(op, ast.Div) and self.is_int(left) and self.is_int(right)
            case ast.UnaryOp(operand=inner):
                return self.is_int(inner)
            case ast.NamedExpr(value=inner):
                return self.is_int(inner)
            case ast.IfExp(body=left, orelse=right):
                return self.is_int(left) or self.is_int(right)
            case ast.BoolOp(values=values) | ast.List(elts=values) | ast.Tuple(elts=values):
                return any(self.is_int(each) for each in values)
            case ast.Call(func=ast.Name(id=name), args=args) if name in _SAME:
                return any(self.is_int(each) or self.is_list(each) for each in args)
            case ast.Call(func=ast.Name(id=name)):
                return name not in _FLOATS
            case ast.Subscript(value=inner):
                return self.is_list(inner)
        return isinstance(value, ast.Compare)

    def is_list(self, value: ast.expr) -> bool:
        """Whether its items may be Python ints."""
        match value:
            case ast.Name(id=name):
                return name in self.lists
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return not items or any(self.is_int(each) or self.is_list(each) for each in items)
            case ast.Subscript(value=inner):
                return self.is_list(inner)
            case ast.IfExp(body=left, orelse=right):
                return self.is_list(left) or self.is_list(right)
            case ast.Call(func=ast.Name(id=name)):
                return name not in _FLOATS
        return isinstance(value, ast.ListComp | ast.GeneratorExp | ast.Dict)


def _bindings(tree: ast.Module) -> Iterator[Binding]:
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _bound(target, value)
            case ast.AugAssign(target=target, op=op, value=value):
                left: ast.expr = ast.parse(ast.unparse(target), mode="eval").body
                yield target, ast.BinOp(left, op, value)
            case ast.NamedExpr(target=name, value=value):
                yield name, value
            case (
                ast.For(target=target, iter=values) | ast.comprehension(target=target, iter=values)
            ):
                yield from _items(target, values)
            case ast.arg(arg=name):
                yield ast.Name(name), True


def _bound(target: ast.expr, value: ast.expr) -> Iterator[Binding]:
    if not isinstance(target, ast.Tuple):
        yield target, value
    elif isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
        for part, each in zip(target.elts, value.elts, strict=True):
            yield from _bound(part, each)
    else:
        for part in target.elts:
            yield part, True


def _items(target: ast.expr, values: ast.expr) -> Iterator[Binding]:
    """What a loop over values binds."""
    match target, values:
        case _, ast.Call(func=ast.Name(id="range")):
            yield target, values
        case _, ast.Call(func=ast.Name(id="reversed"), args=[inner]):
            yield from _items(target, inner)
        case ast.Tuple(elts=[count, item]), ast.Call(func=ast.Name(id="enumerate"), args=args):
            yield count, ast.Constant(0)
            yield from _items(item, args[0])
        case ast.Tuple(elts=parts), ast.Call(func=ast.Name(id="zip"), args=args):
            for part, each in zip(parts, args, strict=True):
                yield from _items(part, each)
        case ast.Tuple(elts=parts), _:
            for part in parts:
                yield part, True
        case _:
            yield target, ast.Subscript(values, ast.Constant(0))


class _Bounds(ast.NodeTransformer):
    def __init__(self, known: _Ints) -> None:
        self.known = known
        self.loops = 0

    def _in_loop(self, node: ast.AST) -> ast.AST:
        self.loops += 1
        try:
            return self.generic_visit(node)
        finally:
            self.loops -= 1

    visit_For = visit_While = visit_FunctionDef = visit_ListComp = visit_GeneratorExp = _in_loop

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if self._grows(node.op, node.left, node.right):
            if isinstance(node.op, ast.Pow):
                node.left = _modulo(node.left)
            else:
                node.right = _modulo(node.right)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if self._grows(node.op, node.target, node.value):
            node.value = _modulo(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = ast.unparse(node.func)
        if name == "pow" and self._grows(ast.Pow(), *node.args):
            node.args[0] = _modulo(node.args[0])
        if name == "range":
            node.args = self._range(node.args)
        return node

    def _grows(self, op: ast.operator, left: ast.expr, right: ast.expr) -> bool:
        if not self.loops or not isinstance(op, ast.Mult | ast.Pow):
            return False
        ints = self.known.is_int(left) and self.known.is_int(right)
        return ints and (isinstance(op, ast.Pow) or not (_is_number(left) or _is_number(right)))

    def _range(self, args: list[ast.expr]) -> list[ast.expr]:
        # The head of a loop is visited inside of it.
        longest, deep = (_LONGEST, False) if self.loops <= 2 else (_INNER, True)
        ends = [*args[:2]]
        down = len(args) == 3 and ast.unparse(args[2]).startswith("-")
        for place, end in enumerate(ends):
            if self.known.is_small(end) and not (deep and "n" in _names(end)):
                continue
            lower = (len(ends) == 2 and place == 0) != down
            call = f"max(0, {-longest})" if lower else f"min(0, {longest})"
            wrapped = ast.parse(call, mode="eval").body
            assert isinstance(wrapped, ast.Call)
            wrapped.args[0] = end
            ends[place] = wrapped
        return [*ends, *args[2:]]


def _names(tree: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}


def _is_number(value: ast.expr) -> TypeGuard[ast.Constant | ast.UnaryOp]:
    inner = value.operand if isinstance(value, ast.UnaryOp) else value
    return isinstance(inner, ast.Constant)


def _modulo(value: ast.expr) -> ast.expr:
    return ast.BinOp(value, ast.Mod(), ast.Constant(_MODULUS))
