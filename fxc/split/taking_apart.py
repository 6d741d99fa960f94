"""A statement as several, so that one of its expressions stands alone.

::

    y = a @ b + unknown(u * 2, n) * c        h1 = a @ b
                                             h2 = unknown
                                             h3 = u * 2
                                             h4 = h2(h3, n)
                                             y = h1 + h4 * c

See Note [Statements taken apart].
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from fxc.capture.staging.nodes import children, copied, walk

from .lifting import LIFTED, lifted, misses
from .statement_syntax import (
    LOOP_WEIGHT,
    METHOD,
    NO_NAMES,
    TAKEN,
    Names,
    Span,
    bodies_of,
    span_of,
    weight_of,
)

# Note [Statements taken apart]
# Python evaluates the operands of an expression from left to right. What it evaluates before the
# expression that stands alone becomes a variable, in this order; what it evaluates later stays in
# the statement. An operand stays in its place if nothing can change what it gives: constants, and
# variables of the function that have a value and that no inner function binds. What evaluates the
# expression by a condition, repeatedly or later, stands alone instead, but for comprehensions and
# ``x if c else y``, which become loops and branches first (lifting.py). Where an operand before it
# is no value (``*x``), the statement is not taken apart.
#
# All nodes keep their places in the source, so tracebacks and warnings do. A new statement has the
# place of the expression whose value it takes, the rest has that of the statement.

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_NO_VALUES = (ast.Lambda, ast.GeneratorExp, ast.Starred)
_WITH_OPERANDS = (
    *(ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Attribute),
    *(ast.Yield, ast.YieldFrom, ast.Await),
)
_CHAINED = (ast.Call, ast.Attribute, ast.Subscript)
Slot = tuple[Any, Any]  # an object and an attribute, or a list and an index


class _Fixed(Exception):
    """The statement cannot be taken apart."""


def taken_apart(
    node: ast.stmt,
    place: Span,
    is_steady: Callable[[str], bool],
    fresh: Callable[[str], str],
    unbound: Names = NO_NAMES,
) -> list[ast.stmt] | None:
    """The statements of one whose expression at ``place`` stands alone; None if there are none,
    or none that would be worth it. The last one is the rest of the statement.

    ``is_steady`` says which variables keep their values while the statement runs; ``fresh`` gives
    names that begin as it is told; ``unbound`` are variables that may have no value. The statement
    stays as it is; what it has in blocks is shared.
    """
    made = _Apart(_shell(node), place, is_steady, fresh, unbound)
    try:
        return made.statements()
    except _Fixed:
        return None


def waits(node: ast.stmt) -> ast.expr | None:
    """The first expression of a statement at which the function is left and entered again."""
    own = [each for each in children(node) if isinstance(each, ast.expr)]
    return next((found for each in own for found in _waits(each)), None)


def use_of(node: ast.stmt, name: str) -> ast.expr | None:
    """The first operation of a statement that is given the value of a variable, or of a place such
    as ``self.name``, and those on what it gives that stand in one chain with it, such as
    ``name.table["x"].find(u)``.
    """
    own = [each for each in children(node) if isinstance(each, ast.expr)]
    return next((found for each in own for found in _uses(each, name)), None)


class _Apart:
    def __init__(
        self,
        node: ast.stmt,
        place: Span,
        is_steady: Callable[[str], bool],
        fresh: Callable[[str], str],
        unbound: Names,
    ) -> None:
        self._unbound = unbound
        self._node = node
        self._place = place
        self._is_steady = is_steady
        self._fresh = fresh
        self._made: list[ast.stmt] = []

    def statements(self) -> list[ast.stmt]:
        root = self._root()
        path = self._path(root)
        target = _get(path[-1])
        if any(isinstance(each, ast.NamedExpr) for each in walk(_get(root))):
            raise _Fixed
        is_lifted = isinstance(target, LIFTED) and self._lifting_pays(target)
        if not is_lifted and not self._pays(target, len(path) == 1):
            raise _Fixed
        if isinstance(self._node, ast.Assign) and root[0] is not self._node:
            self._take((self._node, "value"))  # it is evaluated before the targets
        for outer, inner in itertools.pairwise(path):
            for slot in _operands(_get(outer)):
                if slot == inner:
                    break
                self._take(slot)
        if is_lifted and self._lift(path[-1]):
            return self._ended()
        self._take_operands(target)
        is_stored = isinstance(getattr(target, "ctx", None), ast.Store)
        if not is_stored and (len(path) > 1 or self._is_apart_whole()):
            self._take(path[-1], always=True)
            if len(path) == 1 and isinstance(self._node, ast.If):
                self._take_truth()
        if not self._made:
            raise _Fixed
        return self._ended()

    def _root(self) -> Slot:
        """The expression of the statement in which the place is."""
        node = self._node
        match node:
            case ast.Assign([ast.Subscript() | ast.Attribute() as target]):
                found = [(node, "value"), (node.targets, 0)]
                if self._place == span_of(node):  # the store itself
                    self._place = span_of(target)
            case ast.Assign() | ast.Return() | ast.Expr() | ast.AnnAssign(ast.Name()):
                found = [(node, "value")]
            case ast.AugAssign(ast.Name(name)) if self._is_steady(name):
                found = [(node, "value")]
            case ast.Raise():
                found = [(node, "exc")]
            case ast.If() | ast.While(_, _, []):
                found = [(node, "test")]
            case ast.For():
                found = [(node, "iter")]
            case ast.Match():
                found = [(node, "subject")]
            case ast.With([item, *_]):
                found = [(item, "context_expr")]
            case _:
                found = []
        for slot in found:
            at = [x for x in walk(_get(slot) or ast.Pass()) if _is_at(x, self._place)]
            if len(at) == 1:
                return slot
        raise _Fixed

    def _path(self, root: Slot) -> list[Slot]:
        """The slots from the root to the expression at the place, or to one around it which does
        not evaluate it just once, or later.
        """
        path = [root]
        while not _is_at(_get(path[-1]), self._place):
            for slot in _operands(_get(path[-1])):
                if any(_is_at(each, self._place) for each in walk(_get(slot))):
                    path.append(slot)
                    break
            else:
                break
        while isinstance(_get(path[-1]), _NO_VALUES) and len(path) > 1:
            path.pop()
        return path

    def _pays(self, target: ast.expr, is_whole: bool) -> bool:
        """Whether anything is left if the expression stands alone."""
        node = self._node
        rest = weight_of(node) - weight_of(target)
        rest += sum(weight_of(_get(each)) for each in _own_operands(target))
        if isinstance(node, ast.While):
            return rest > LOOP_WEIGHT + 1
        if isinstance(node, ast.For) and is_whole:
            return rest > LOOP_WEIGHT
        return rest > 0 or (is_whole and isinstance(node, ast.If))

    def _lifting_pays(self, target: ast.expr) -> bool:
        """Whether anything is left of what is lifted but the expression at the place."""
        if misses(target, self._unbound):
            return False
        alone = next(x for x in _expressions(target) if _is_at(x, self._place))
        rest = weight_of(target, 0) - weight_of(alone, 0)
        rest += sum(weight_of(_get(each), 0) for each in _own_operands(alone))
        return alone is not target and rest > 0

    def _lift(self, slot: Slot) -> bool:
        """Let an expression be a variable that statements assign; whether it can be."""
        node = _get(slot)
        self._take(_operands(node)[0], isinstance(node, ast.IfExp))
        found = lifted(node, self._fresh)
        if found is not None:
            made, name = found
            self._made += made
            _set(slot, ast.copy_location(ast.Name(name, ast.Load()), node))
        return found is not None

    def _is_apart_whole(self) -> bool:
        """Whether the value of the statement is taken even if it is the expression itself."""
        match self._node:
            case ast.If() | ast.AugAssign():
                return True
            case ast.Assign(targets):
                return any(weight_of(each) for each in targets)
            case _:
                return False

    def _take_operands(self, target: ast.expr) -> None:
        """Take the operands of the expression up to the last one with operations in it."""
        slots = _own_operands(target)
        heavy = [place for place, slot in enumerate(slots) if weight_of(_get(slot))]
        taken = slots[: heavy[-1] + 1] if heavy else []
        if any(isinstance(_get(slot), _NO_VALUES) or _is_doubly_starred(slot) for slot in taken):
            return
        for slot in taken:
            self._take(slot)

    def _take(self, slot: Slot, always: bool = False) -> None:
        """Let an operand be a variable."""
        node = _get(slot)
        if not always:
            if self._is_still(node):
                return
            if isinstance(node, ast.Slice) or _has_slices(node):
                for each in _operands(node):
                    self._take(each)
                return
            if isinstance(node, _NO_VALUES) or _is_doubly_starred(slot):
                raise _Fixed
        is_called = isinstance(slot[0], ast.Call) and slot[1] == "func"
        name = self._fresh(METHOD if is_called else TAKEN)
        made = ast.Assign([ast.copy_location(ast.Name(name, ast.Store()), node)], node)
        self._made.append(ast.copy_location(made, node))
        _set(slot, ast.copy_location(ast.Name(name, ast.Load()), node))

    def _take_truth(self) -> None:
        """Let what was taken last be a bool: an ``if`` asks for no more."""
        made = self._made[-1]
        assert isinstance(made, ast.Assign)
        opposite = ast.copy_location(ast.UnaryOp(ast.Not(), made.value), made.value)
        made.value = ast.copy_location(ast.UnaryOp(ast.Not(), opposite), made.value)

    def _is_still(self, node: ast.expr) -> bool:
        """Whether nothing can change what an operand gives, and nobody sees when it is made."""
        match node:
            case ast.Constant():
                return True
            case ast.Name(name):
                return self._is_steady(name)
            case ast.UnaryOp(ast.USub(), ast.Constant()):
                return True
            case ast.Tuple() | ast.List() | ast.Slice():
                return all(map(self._is_still, children(node)))  # type: ignore[arg-type]
            case _:
                return False

    def _ended(self) -> list[ast.stmt]:
        """What was taken, and the rest of the statement."""
        node = self._node
        if not isinstance(node, ast.While):
            return [*self._made, node]
        test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
        leave = ast.copy_location(ast.If(test, [ast.Break()], []), node.test)
        ast.copy_location(leave.body[0], node.test)
        node.body = [*self._made, leave, *node.body]
        node.test = ast.copy_location(ast.Constant(True), node.test)
        return [node]


# ------------------------------------------------------------------ nodes


def _shell(node: ast.stmt) -> Any:
    """A copy of a statement that shares its blocks."""
    return copied(node, {each for block in bodies_of(node) for each in block})


def _get(slot: Slot) -> Any:
    holder, place = slot
    return holder[place] if isinstance(holder, list) else getattr(holder, place)


def _set(slot: Slot, node: ast.expr) -> None:
    holder, place = slot
    if isinstance(holder, list):
        holder[place] = node
    else:
        setattr(holder, place, node)


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
    return (each for each in walk(node) if isinstance(each, ast.expr))


def _is_at(node: ast.AST, place: Span) -> bool:
    return isinstance(node, ast.expr) and span_of(node) == place


def _operands(node: ast.AST) -> list[Slot]:
    """The operands of an expression that are evaluated whenever it is, in order."""
    match node:
        case ast.Call():
            args = [(node.args, place) for place in range(len(node.args))]
            return [(node, "func"), *args, *((each, "value") for each in node.keywords)]
        case ast.BinOp():
            return [(node, "left"), (node, "right")]
        case ast.UnaryOp():
            return [(node, "operand")]
        case ast.Compare(_, _, [_]):
            return [(node, "left"), (node.comparators, 0)]
        case ast.Compare():
            return [(node, "left")]
        case ast.Subscript():
            return [(node, "value"), (node, "slice")]
        case ast.Slice():
            return [(node, name) for name in ("lower", "upper", "step") if getattr(node, name)]
        case ast.Tuple() | ast.List() | ast.Set():
            return [(node.elts, place) for place in range(len(node.elts))]
        case ast.Dict() if all(node.keys):
            places = range(len(node.keys))
            return [slot for k in places for slot in ((node.keys, k), (node.values, k))]
        case ast.BoolOp():
            return [(node.values, 0)]
        case ast.IfExp():
            return [(node, "test")]
        case ast.Attribute() | ast.Starred() | ast.Await() | ast.YieldFrom():
            return [(node, "value")]
        case ast.Yield(value) if value is not None:
            return [(node, "value")]
    return [(node.generators[0], "iter")] if isinstance(node, _COMPREHENSIONS) else []


def _own_operands(node: ast.expr) -> list[Slot]:
    """The operands that an expression which stands alone is given as values."""
    if isinstance(node, ast.Await) and isinstance(node.value, ast.Call):
        return _operands(node.value)
    if not isinstance(node, _WITH_OPERANDS):
        return []
    return _operands(node)


def _has_slices(node: ast.expr) -> bool:
    return isinstance(node, ast.Tuple) and any(isinstance(x, ast.Slice) for x in node.elts)


def _is_doubly_starred(slot: Slot) -> bool:
    return isinstance(slot[0], ast.keyword) and slot[0].arg is None


def _uses(node: ast.AST, name: str, around: tuple[ast.expr, ...] = ()) -> Iterator[ast.expr | None]:
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and ast.unparse(node) == name:
        yield _operation_on(node, around)
    around = (*around, node) if isinstance(node, ast.expr) else around
    for each in children(node):
        yield from _uses(each, name, around)


def _operation_on(node: ast.expr, around: tuple[ast.expr, ...]) -> ast.expr | None:
    """The operation on a value, with those on its result in one chain; None if there is none."""
    found, inner = None, node
    for outer in reversed(around):
        in_chain = isinstance(outer, _CHAINED) and _get(_operands(outer)[0]) is inner
        if found is not None and not in_chain:
            break
        found = outer if isinstance(outer, _WITH_OPERANDS) else found
        inner = outer
    return found


def _waits(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Lambda):
        return
    for each in children(node):
        yield from _waits(each)
    if isinstance(node, ast.Yield | ast.YieldFrom | ast.Await):
        yield node
