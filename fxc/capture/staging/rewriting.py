"""The rewriting of a function's syntax tree, see staging.py."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any

from fxc.ir.location import SourceLocation
from fxc.ir.records import frozen

from ..session import refuse
from ..statements.growing import names_that_grow
from .binding import give_flags
from .jumps import assigns, without_jumps
from .liveness import Handed, assigned, handed_on
from .nodes import (
    at,
    bound,
    call_of,
    children,
    door_part,
    flag_name,
    function_of,
    is_flat,
    is_fold,
    is_single,
    later,
    loops_in,
    name_of,
    names_in,
    names_of,
    placed,
    rows_of,
    walk,
)

FunctionNode = ast.FunctionDef | ast.Lambda


@frozen
class _Scope:
    """The names that a function or comprehension binds, those it declares global, and those that
    this or an inner function declares nonlocal.
    """

    bound: frozenset[str]
    declared: frozenset[str] = frozenset()
    rebound: frozenset[str] = frozenset()


class Rewriter(ast.NodeTransformer):
    """Rewrites one function; knows which names are its own."""

    def __init__(self, code: CodeType) -> None:
        self._code = code
        self._scopes: list[_Scope] = []
        self._owner = _class_of(code)
        self._count = 0
        self._handed: dict[ast.stmt, Handed] = {}
        self._lists: set[ast.expr] = set()  # expressions whose values are kept
        self._parts: set[ast.expr] = set()  # of ``[0] * n``
        # Of each function: see Note [Variables without a value].
        self._flagged: list[frozenset[str]] = []

    def function(self, node: FunctionNode) -> Any:
        """The outermost function, which is without decorators and defaults by now."""
        return self._inside(node)

    def _inside(self, node: FunctionNode) -> Any:
        if isinstance(node, ast.FunctionDef):
            self._flagged.append(give_flags(node, parameters(node.args)))
            node.body = without_jumps(node, "__fxc_")
            self._handed.update(handed_on(node.body))
        self._scopes.append(_scope_of(node))
        for arg in walk(node.args):
            if isinstance(arg, ast.arg):
                arg.annotation = None
        if isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
        else:
            node.returns = None
            begin = [*self._sharing(node), *self._keywords(node)]
            node.body = begin + self._statements(node.body)
            self._flagged.pop()
        self._scopes.pop()
        return node

    def _statements(self, body: Iterable[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in body:
            made = self.visit(statement)
            found += made if isinstance(made, list) else [made]
        return found

    def _sharing(self, node: ast.FunctionDef) -> list[ast.stmt]:
        """At the begin of a function: its variables that inner functions rebind."""
        scope = self._scopes[-1]
        variables = self._variables(node, scope.rebound & scope.bound)
        if variables is None:
            return []
        sharing = self._door("sharing", node, self._text(node, node.name), variables)
        return [at(node, ast.Expr(sharing))]

    def _keywords(self, node: ast.FunctionDef) -> list[ast.stmt]:
        """At the begin of a function: ``**kwargs`` is a dict of its own."""
        if node.args.kwarg is None:
            return []
        given = at(node, ast.Name(node.args.kwarg.arg, ast.Load()))
        return [at(node, ast.Expr(self._door("made", node, given)))]

    def _variables(self, place: ast.AST, names: Iterable[str]) -> Any:
        """A function of variables, whose cells it has; None if there are none."""
        found = tuple(sorted(names))
        return placed(place, later(at(place, names_of(found, ast.Load())))) if found else None

    # -------------------------------------------------------- scopes

    def _place_of(self, name: str) -> str:
        """Where a name is found: ``local``, ``free`` (an enclosing function's) or ``outer``."""
        for scope in reversed(self._scopes):
            if name in scope.declared:
                return "outer"
            if name in scope.bound:
                return "local"
        return "free" if name in self._code.co_freevars else "outer"

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        if self._place_of(node.name) != "local":
            raise self._refuse(node, f"{node.name}, a function that is a global,")
        before, names = [], []
        for decorator in node.decorator_list:
            name = f"__fxc_decorator{self._count}__"
            self._count += 1
            names.append(name)
            value = self.visit(decorator)
            before.append(at(decorator, ast.Assign([ast.Name(name, ast.Store())], value)))
        self._visit_defaults(node.args)
        made = self._inside(node)
        if not names:
            return made
        value = ast.Name(node.name, ast.Load())
        for name in reversed(names):
            value = self._door("call", node, ast.Name(name, ast.Load()), value)
        node.decorator_list = []
        after = at(node, ast.Assign([ast.Name(node.name, ast.Store())], value))
        return [*before, made, after]

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        self._visit_defaults(node.args)
        return self._inside(node)

    def _visit_defaults(self, args: ast.arguments) -> None:
        args.defaults = [self.visit(default) for default in args.defaults]
        args.kw_defaults = [None if d is None else self.visit(d) for d in args.kw_defaults]

    def _comprehension(self, node: Any) -> Any:
        first = node.generators[0]
        first.iter = self._door("iterable", first.iter, self.visit(first.iter))
        names = {
            name.id
            for generator in node.generators
            for name in walk(generator.target)
            if isinstance(name, ast.Name)
        }
        self._scopes.append(_Scope(frozenset(names)))
        for place, generator in enumerate(node.generators):
            if place:
                generator.iter = self._door("iterable", generator.iter, self.visit(generator.iter))
            generator.target = self.visit(generator.target)
            generator.ifs = [self.visit(test) for test in generator.ifs]
        for field in ("elt", "key", "value"):
            if hasattr(node, field):
                setattr(node, field, self.visit(getattr(node, field)))
        self._scopes.pop()
        return node

    visit_SetComp = _comprehension

    def visit_DictComp(self, node: ast.DictComp) -> Any:
        return self._door("made", node, self._comprehension(node))

    def visit_Dict(self, node: ast.Dict) -> Any:
        self.generic_visit(node)
        return self._door("made", node, node)

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        if getattr(node, "is_row", False):
            return self._door("row", node, *self._of_items(node))
        if node.generators[0].ifs and is_single(node):
            items, over, each, test, unpacks = self._of_items(node)
            made = self._door("filtered", node, items, over, each, test, unpacks)
            return self._made_list(node, made)
        if is_single(node) and is_flat(node.elt):
            items, over, each, _, unpacks = self._of_items(node)
            return self._made_list(node, self._door("mapped", node, items, over, each, unpacks))
        return self._made_list(node, self._listed(node))

    def _listed(self, node: ast.ListComp) -> Any:
        self._comprehension(node)
        first = node.generators[0]
        first.iter = self._door("listed", first.iter, first.iter)
        return node

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        return self._door("made", node, self._comprehension(node))

    def visit_Global(self, node: ast.Global) -> Any:
        return at(node, ast.Pass())  # stores go through the door

    def visit_Nonlocal(self, node: ast.Nonlocal) -> Any:
        """Variables of the rewritten function itself stay; others are stored by the door."""
        own = [name for name in node.names if self._place_of(name) == "local"]
        if not own:
            return at(node, ast.Pass())
        rebinding = self._door("rebinding", node, self._variables(node, own))
        return [at(node, ast.Nonlocal(own)), at(node, ast.Expr(rebinding))]

    # -------------------------------------------------------- doors

    def _door(self, method: str, place: ast.AST, *args: ast.expr) -> Any:
        return at(place, ast.Call(door_part(method), list(args), []))

    def _text(self, node: ast.AST, text: Any) -> Any:
        return at(node, ast.Constant(text))

    def visit_Name(self, node: ast.Name) -> Any:
        node.id = self._mangled(node.id)
        if node.id == "__class__" or node.id.startswith("__fxc_"):
            return node
        place = self._place_of(node.id)
        if place == "local":
            if getattr(node, "unsure", False):
                flag = at(node, ast.Name(flag_name(node.id), ast.Load()))
                return self._door("bound", node, self._text(node, node.id), flag, later(node))
            return node
        if isinstance(node.ctx, ast.Load):
            return self._door(place, node, self._text(node, node.id))
        names = door_part("cells" if place == "free" else "globals")
        return at(node, ast.Attribute(names, node.id, node.ctx))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Any:
        if self._place_of(node.target.id) != "local":
            raise self._refuse(node, f"':=' of {node.target.id}, a variable from outside,")
        node.value = self.visit(node.value)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        node.value = self.visit(node.value)
        node.attr = self._mangled(node.attr)
        if isinstance(node.ctx, ast.Load):
            return self._door("attr", node, node.value, self._text(node, node.attr))
        node.value = self._door("owned", node.value, node.value)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        node.value = self.visit(node.value)
        node.slice = self.visit(node.slice)
        method = "indexed" if isinstance(node.ctx, ast.Load) else "stored"
        node.value = self._door(method, node.value, node.value)
        return node

    def _fold(self, node: ast.Call) -> Any:
        """A call of a function with one comprehension: it may be a loop of the graph."""
        value, made = self.visit(node.func), node.args[0]
        for row in rows_of(made):
            row.is_row = True  # type: ignore[attr-defined]
        items, over, *rest = self._of_items(made)
        if isinstance(made, ast.ListComp) and made.generators[0].ifs:
            name = "__fxc_items__"
            listed = self._door("filtered", made, name_of(name), over, *rest)
            over = function_of((name,), listed)
        fold = self._door("fold", node, value, items, over, *rest)
        fold.keywords = [self.visit(option) for option in node.keywords]
        return fold

    def _of_items(self, node: Any) -> Iterator[Any]:
        """The parts of a comprehension over one iterable: what it runs over, the comprehension as a
        function of that, item and condition as functions of the target, and whether that is a
        tuple.
        """
        (generator,) = node.generators
        names = names_in(generator.target)
        yield self._door("iterable", generator.iter, self.visit(generator.iter))
        each = self.visit(function_of(names, copy.deepcopy(node.elt)))
        test: ast.expr = at(node, ast.Constant(None))
        if generator.ifs:
            tests = [copy.deepcopy(test) for test in generator.ifs]
            holds = tests[0] if len(tests) == 1 else placed(node, ast.BoolOp(ast.And(), tests))
            test = self.visit(function_of(names, holds))
        generator.iter = at(generator.iter, ast.Name("__fxc_items__", ast.Load()))
        made = self._listed(node) if isinstance(node, ast.ListComp) else self.visit(node)
        yield function_of(("__fxc_items__",), made)
        yield each
        yield test
        yield at(node, ast.Constant(isinstance(generator.target, ast.Tuple)))

    def visit_Call(self, node: ast.Call) -> Any:
        if is_fold(node):
            return self._fold(node)
        is_new_list = self._is_list(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            first = given(self._code)[0] if given(self._code) else "self"
            node.args = [at(node, ast.Name(name, ast.Load())) for name in ("__class__", first)]
        self.generic_visit(node)
        call = self._door("call", node, node.func, *node.args)
        call.keywords = node.keywords
        return self._made_list(node, call) if is_new_list else call

    def visit_Compare(self, node: ast.Compare) -> Any:
        """What ``a is b`` gives depends on the objects of a call: the door guards it."""
        if len(node.ops) > 1:
            return self._chained(node)
        self.generic_visit(node)
        right = node.comparators[0]
        if isinstance(node.left, ast.Constant) and not isinstance(node.ops[0], ast.In | ast.NotIn):
            return node
        is_identity = isinstance(node.ops[0], ast.Is | ast.IsNot)
        plain = (
            right.value is not None or not is_identity if isinstance(right, ast.Constant) else False
        )
        if plain and not isinstance(right.value, bool):  # type: ignore[attr-defined]
            return node
        match node.ops[0]:
            case ast.Is():
                return self._door("same", node, node.left, right)
            case ast.IsNot():
                return self._door("negated", node, self._door("same", node, node.left, right))
            case ast.Eq():
                return self._door("equal", node, node.left, right)
            case ast.NotEq():
                return self._door("unequal", node, node.left, right)
            case ast.In():
                return self._door("contained", node, node.left, right)
            case ast.NotIn():
                return self._door("negated", node, self._door("contained", node, node.left, right))
            case _:
                return node

    def _chained(self, node: ast.Compare) -> Any:
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

    def visit_FormattedValue(self, node: ast.FormattedValue) -> Any:
        self.generic_visit(node)
        node.value = self._door("shown", node.value, node.value)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        is_list = self._is_list(node)
        self.generic_visit(node)
        if is_list:
            return self._made_list(node, node)
        if isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant | ast.JoinedStr):
            node.right = self._door("shown", node.right, node.right)
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        self._note_lists(node.value)
        return self.generic_visit(node)

    def _note_lists(self, value: ast.expr) -> None:
        """Note the lists that are made for a variable, or for what it holds."""
        for each in walk(value):  # from the outside in
            if isinstance(each, ast.BinOp) and self._is_list(each):
                self._lists |= {each}
                self._parts |= {each.left, each.right}
            elif isinstance(each, _LISTS) or self._is_list(each):
                self._lists |= {each} - self._parts  # type: ignore[arg-type]

    def _is_list(self, node: ast.AST) -> bool:
        """Whether a node is ``list(x)``, or ``[0] * n``."""
        match node:
            case ast.Call(ast.Name("list"), _, []):
                return self._place_of("list") == "outer"
            case ast.BinOp(ast.List(), ast.Mult(), _) | ast.BinOp(_, ast.Mult(), ast.List()):
                return True
            case _:
                return False

    def visit_List(self, node: ast.List) -> Any:
        self.generic_visit(node)
        return self._made_list(node, node)

    def _made_list(self, node: ast.expr, made: Any) -> Any:
        """A list that is kept: it may be one of the graph."""
        if node not in self._lists:
            return made
        place = f"{self._code.co_filename}:{node.lineno}:{node.col_offset}"
        return self._door("made_list", node, made, self._text(node, place))

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """Sets take in what a set from outside holds without asking it; lists and sets change."""
        variable = isinstance(node.target, ast.Name) and self._place_of(node.target.id) == "local"
        name = node.target.id if isinstance(node.target, ast.Name) else ""
        self.generic_visit(node)
        if isinstance(node.op, ast.BitOr | ast.BitAnd | ast.BitXor | ast.Sub):
            node.value = self._door("settled", node.value, node.value)
        if not variable:
            return node
        change = self._door("changing", node, at(node, ast.Name(name, ast.Load())))
        return [at(node, ast.Expr(change)), node]

    # -------------------------------------------------------- structured statements

    def visit_For(self, node: ast.For) -> Any:
        handed = self._handed[node]
        iterable = self._door("iterable", node.iter, self.visit(node.iter))
        if getattr(node, "plain", False):
            node.iter = iterable
            node.target = self.visit(node.target)
            node.body, node.orelse = self._statements(node.body), self._statements(node.orelse)
            return node
        names = self._local(handed.at_head | handed.behind)
        grows = names_that_grow(node.body, (node.target, node.iter))
        grows = tuple(each for each in grows if self._place_of(each[0]) == "local")
        part, item = self._fresh("loop"), self._fresh("item")
        begin = self._begin(
            node,
            part,
            "loop",
            [iterable],
            [names, *self._kept(handed)],
            node.stop,  # type: ignore[attr-defined]
            grows,
            loops_in(node) > 2,
        )
        target = at(node, ast.Assign([self.visit(node.target)], name_of(item)))
        body = [target, *self._statements(node.body)]
        return [begin, self._run(node, part, item, names, body), *self._resume(node, part, names)]

    def visit_While(self, node: ast.While) -> Any:
        handed = self._handed[node]
        if getattr(node, "plain", False):
            return self.generic_visit(node)
        if assigns(node.test):
            raise self._refuse(node, "':=' in the test of a while statement with else")
        names = self._local(handed.at_head | handed.behind)
        part = self._fresh("loop")
        begin = self._begin(
            node,
            part,
            "while_loop",
            [],
            [names, *self._kept(handed)],
            node.stop,  # type: ignore[attr-defined]
        )
        asks = [
            call_of(part, "enters"),
            call_of(part, "test", self._test(node.test)),
        ]
        inner = [*self._statements(node.body), self._step(node, part)]
        body = [ast.If(at(node, ast.BoolOp(ast.Or(), asks)), inner, [])]
        run = ast.For(
            names_of(names, ast.Store()), name_of(part), [*self._unbind(names), *body], []
        )
        return [begin, placed(node, run), *self._resume(node, part, names)]

    def visit_If(self, node: ast.If) -> Any:
        handed = self._handed[node]
        if getattr(node, "plain", False) or not isinstance(node.test, _DECIDED_LATE):
            return self.generic_visit(node)
        names = self._local(handed.assigned)
        part, arm = self._fresh("branch"), self._fresh("arm")
        behind = tuple(name for name in names if name in handed.behind)
        constants = [names, behind, self._sure(handed)]
        begin = self._begin(node, part, "branch", [self._test(node.test)], constants)
        body, orelse = self._statements(node.body), self._statements(node.orelse)
        both = [ast.If(name_of(arm), body, orelse)]
        return [begin, self._run(node, part, arm, names, both), *self._resume(node, part, names)]

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        return self._shortened(
            node, "both" if isinstance(node.op, ast.And) else "either", self.visit
        )

    def _test(self, node: ast.expr) -> Any:
        """An expression of which only the truth matters."""
        match node:
            case ast.BoolOp(ast.And()):
                return self._shortened(node, "both_true", self._test)
            case ast.BoolOp(ast.Or()):
                return self._shortened(node, "either_true", self._test)
            case ast.UnaryOp(ast.Not(), operand):
                return self._door("negated", node, self._test(operand))
            case _:
                return self.visit(node)

    def _shortened(self, node: ast.BoolOp, method: str, visit: Any) -> Any:
        """``__fxc__.both(a, lambda: b)`` for ``a and b``."""
        if assigns(node):
            return self.generic_visit(node)
        *first, made = [visit(value) for value in node.values]
        for value in reversed(first):
            made = self._door(method, node, value, later(made))
        return made

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return self._door("negated", node, self._test(node.operand))
        return self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        if assigns(node):
            return self.generic_visit(node)
        arms = [later(self.visit(each)) for each in (node.body, node.orelse)]
        return self._door("chosen", node, self._test(node.test), *arms)

    def _local(self, names: frozenset[str]) -> tuple[str, ...]:
        """The variables among names, without those that inner functions rebind."""
        own = names - self._scopes[-1].rebound
        return tuple(sorted(name for name in own if self._place_of(name) == "local"))

    def _kept(self, handed: Handed) -> tuple[tuple[str, ...], ...]:
        """Names that are live at the head of a loop, those behind it, and those with flags."""
        return (self._local(handed.at_head), self._local(handed.behind), self._sure(handed))

    def _sure(self, handed: Handed) -> tuple[str, ...]:
        return self._local(handed.assigned & self._flagged[-1])

    def _fresh(self, kind: str) -> str:
        self._count += 1
        return f"__fxc_{kind}{self._count}__"

    def _begin(
        self, node: ast.stmt, part: str, kind: str, first: list[ast.expr], names: Any, *rest: Any
    ) -> ast.stmt:
        """``part = __fxc__.kind(first, line, names, …, locals())``."""
        line = f"{self._code.co_filename}:{node.lineno}"
        constants = [ast.Constant(each) for each in (line, *names, *rest)]
        rebound = self._scopes[-1].rebound & self._handed[node].assigned
        own = [name for name in rebound if self._place_of(name) == "local"]
        cells = self._variables(node, own) or ast.Constant(None)
        variables = ast.Call(door_part("locals"), [], [])
        call = ast.Call(door_part(kind), [*first, *constants, cells, variables], [])
        return placed(node, ast.Assign([name_of(part, ast.Store())], call))

    def _run(
        self, node: ast.stmt, part: str, item: str, names: tuple[str, ...], body: list[Any]
    ) -> ast.stmt:
        """``for item, *names in part: body; part.step(locals())``."""
        target = names_of((item, *names), ast.Store())
        body = [*self._unbind(names), *body, self._step(node, part)]
        return placed(node, ast.For(target, name_of(part), body, []))

    def _step(self, node: ast.stmt, part: str) -> ast.stmt:
        return placed(node, ast.Expr(call_of(part, "step", ast.Call(door_part("locals"), [], []))))

    def _resume(self, node: ast.stmt, part: str, names: tuple[str, ...]) -> list[ast.stmt]:
        """``names = part.state``."""
        state = ast.Attribute(name_of(part), "state", ast.Load())
        if not names:
            return [placed(node, ast.Expr(state))]
        made = ast.Assign([names_of(names, ast.Store())], state)
        return [placed(node, each) for each in (made, *self._unbind(names))]

    def _unbind(self, names: tuple[str, ...]) -> list[ast.stmt]:
        """``if name is __fxc__.UNBOUND: del name``."""
        return [
            ast.If(
                ast.Compare(name_of(name), [ast.Is()], [door_part("UNBOUND")]),
                [ast.Delete([name_of(name, ast.Del())])],
                [],
            )
            for name in names
        ]

    def visit_YieldFrom(self, node: ast.YieldFrom) -> Any:
        self.generic_visit(node)
        node.value = self._door("iterable", node.value, node.value)
        return node

    def visit_With(self, node: ast.With) -> Any:
        self.generic_visit(node)
        for item in node.items:
            item.context_expr = self._door("context", item.context_expr, item.context_expr)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None and self._is_outside(node.target):
            return at(node, ast.Pass())
        node.annotation = self._text(node.annotation, None)
        node.target = self.visit(node.target)
        if node.value is not None:
            self._note_lists(node.value)
            node.value = self.visit(node.value)
        node.simple = int(isinstance(node.target, ast.Name))
        return node

    def _is_outside(self, target: ast.expr) -> bool:
        return isinstance(target, ast.Name) and self._place_of(target.id) != "local"

    # -------------------------------------------------------- exceptions

    def visit_Try(self, node: ast.Try) -> Any:
        """What is caught is looked at before a handler runs."""
        self.generic_visit(node)
        for handler in node.handlers:
            handler.body.insert(0, self._statement("caught", handler))
            if handler.name is not None and self._place_of(handler.name) != "local":
                raise self._refuse(handler, f"'as {handler.name}', a variable from outside,")
        if any(isinstance(each, _LEAVING) for part in node.finalbody for each in walk(part)):
            node.finalbody.insert(0, self._statement("caught", node.finalbody[0]))
        return [self._statement("trying", node), node]

    def _statement(self, method: str, place: ast.AST) -> Any:
        return at(place, ast.Expr(self._door(method, place)))

    def visit_Raise(self, node: ast.Raise) -> Any:
        self.generic_visit(node)
        if node.exc is not None:
            node.exc = self._door("raising", node.exc, node.exc)
        return node

    def visit_Raising(self, node: Any) -> Any:
        """A raise in a branch: what is raised is only computed if it is."""
        parts = (node.statement.exc, node.statement.cause)
        found = [later(self.visit(part)) for part in parts if part is not None]
        return placed(node, ast.Expr(self._door("raises", node, *found)))

    # -------------------------------------------------------- imports

    def visit_Import(self, node: ast.Import) -> Any:
        checks = []
        for alias in node.names:
            name = (alias.asname or alias.name).split(".")[0]
            if self._place_of(name) != "local":
                raise self._refuse(node, f"an import of {name}, a variable from outside,")
            check = self._door("importing", node, self._text(node, alias.name))
            checks.append(at(node, ast.Expr(check)))
        return [*checks, node]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        found = []
        for alias in node.names:
            parts = [self._text(node, part) for part in (node.module or "", node.level, alias.name)]
            target = self.visit(at(node, ast.Name(alias.asname or alias.name, ast.Store())))
            found.append(at(node, ast.Assign([target], self._door("imported", node, *parts))))
        return found

    # -------------------------------------------------------- patterns

    def visit_MatchClass(self, node: ast.MatchClass) -> Any:
        parts = bool(node.patterns or node.kwd_patterns)
        node.cls = self._pattern(node.cls, "parts" if parts else "class")
        node.patterns = [self.visit(each) for each in node.patterns]
        node.kwd_patterns = [self.visit(each) for each in node.kwd_patterns]
        return node

    def visit_MatchValue(self, node: ast.MatchValue) -> Any:
        if isinstance(node.value, ast.Attribute):
            node.value = self._pattern(node.value, "value")
        return node

    def visit_MatchMapping(self, node: ast.MatchMapping) -> Any:
        node.keys = [
            self._pattern(key, "value") if isinstance(key, ast.Attribute) else key
            for key in node.keys
        ]
        node.patterns = [self.visit(each) for each in node.patterns]
        return node

    def _pattern(self, node: ast.expr, use: str) -> Any:
        """A dotted name, which a pattern wants to stay one: an attribute of a helper gets it."""
        names: list[str] = []
        inner = node
        while isinstance(inner, ast.Attribute):
            names.insert(0, self._mangled(inner.attr))
            inner = inner.value
        assert isinstance(inner, ast.Name)
        place = self._place_of(inner.id)
        if place == "local":
            return node
        asked = ":".join((use, place, ".".join([inner.id, *names])))
        return at(node, ast.Attribute(door_part("patterns"), asked, ast.Load()))

    # -------------------------------------------------------- what is refused at sight

    def visit_TryStar(self, node: Any) -> Any:
        raise self._refuse(node, "a try statement with except*")

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        raise self._refuse(node, f"a class in a function ({node.name})")

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        raise self._refuse(node, f"a coroutine ({node.name})")

    def _refuse(self, node: Any, what: str) -> Exception:
        code = self._code
        location = SourceLocation(code.co_filename, node.lineno, code.co_name)
        return refuse(f"{what} cannot be captured", location)

    def _mangled(self, name: str) -> str:
        if self._owner and name.startswith("__") and not name.endswith("__"):
            return f"_{self._owner.lstrip('_')}{name}"
        return name


# Tests of other kinds are known while capturing.
_DECIDED_LATE = (
    *(ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Compare),
    *(ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.IfExp, ast.NamedExpr),
)
_LISTS = (ast.List, ast.ListComp)
_LEAVING = (ast.Return, ast.Break, ast.Continue)


def parameters(args: ast.arguments) -> list[str]:
    """The names of parameters in the order of a code object."""
    names = [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return names + [arg.arg for arg in (args.vararg, args.kwarg) if arg is not None]


def given(code: CodeType) -> list[str]:
    """The parameters of a code object."""
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return list(code.co_varnames[:count])


def _class_of(code: CodeType) -> str:
    """The class in whose body the function stands, for names that begin with two underscores."""
    parts = code.co_qualname.split(".")
    return parts[-2] if len(parts) > 1 and parts[-2] != "<locals>" else ""


_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def _scope_of(function: FunctionNode) -> _Scope:
    """The names that are local to a function, and those it declares global."""
    body = function.body if isinstance(function.body, list) else [function.body]
    declared: set[str] = set()
    elsewhere: set[str] = set()
    todo: list[ast.AST] = list(body)
    while todo:
        node = todo.pop()
        match node:
            case ast.Nonlocal(found):
                elsewhere.update(found)
            case ast.Global(found):
                declared.update(found)
        if not isinstance(node, _INNER):
            todo.extend(children(node))
    names = assigned(body).union(parameters(function.args))
    rebound = {
        name
        for statement in body
        for each in walk(statement)
        if isinstance(each, ast.Nonlocal)
        for name in each.names
    }
    return _Scope(names - declared - elsewhere, frozenset(declared), frozenset(rebound))
