"""The rewriting of statements, see ``staging``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from fxc.ir.later import import_later

from .binding import flags_of_unset, give_flags
from .changed_in_loops import names_that_grow, prepared
from .comprehensions import Comprehensions
from .continuations import ended, note_choice, without_deep_branches
from .expressions import OF_SETS, note_held, note_made_of_item
from .jumps import RESULT, Raising, without_jumps
from .leaving import handles
from .liveness import Handed, handed_on
from .names import CapturedNode, FunctionNode, parameters, scope_of
from .nodes import at, call_of, door_part, held_in, later, loops_in, name_of, names_of, placed, walk

if TYPE_CHECKING:
    from .plans import LoopPlan

# See Note [Rooms with one door].
branch_plan = import_later("fxc.capture.staging.plans", "BranchPlan")
loop_plan: Callable[..., LoopPlan] = import_later("fxc.capture.staging.plans", "LoopPlan")

_Captured = TypeVar("_Captured", bound=CapturedNode)
Rewritten = ast.stmt | list[ast.stmt]


class Rewriter(Comprehensions):
    """Rewrites one function: its statements."""

    def function(self, node: FunctionNode) -> CapturedNode:
        """The outermost function, which is without decorators and defaults by now."""
        if isinstance(node, ast.AsyncFunctionDef):
            raise self._refuse(node, "a coroutine")
        return self._inside(node)

    def _inside(self, node: _Captured) -> _Captured:
        if isinstance(node, ast.FunctionDef):
            node.body = prepared(node.body)
            self._flagged.append(give_flags(node, parameters(node.args)))
            body = without_jumps(node, "__fxc_")
            node.body = without_deep_branches(body, partial(self._fresh, "due"))
        self._scopes.append(scope_of(node))
        if isinstance(node, ast.FunctionDef):
            self._note_taken(node.body)
            self._handed.update(handed_on(node.body))
        for arg in walk(node.args):
            if isinstance(arg, ast.arg):
                arg.annotation = None
        if isinstance(node, ast.Lambda):
            self._note_lists(node.body)
            node.body = self.visit(node.body)
        else:
            node.returns = None
            begin = [*flags_of_unset(node), *self._sharing(node), *self._keywords(node)]
            text = [] if ast.get_docstring(node, clean=False) is None else node.body[:1]
            node.body = [*text, *begin, *self._statements(node.body[len(text) :])]
            self._flagged.pop()
        self._scopes.pop()
        return node

    def _statements(self, body: Iterable[ast.stmt]) -> list[ast.stmt]:
        found = (self.visit(statement) for statement in body)
        return [each for made in found for each in (made if isinstance(made, list) else [made])]

    def _sharing(self, node: ast.FunctionDef) -> list[ast.stmt]:
        """At the start of a function: its variables that inner functions rebind."""
        scope = self._scopes[-1]
        variables = self._variables(node, scope.rebound & scope.bound)
        if variables is None:
            return []
        return [self._statement("sharing", node, self._text(node, node.name), variables)]

    def _keywords(self, node: ast.FunctionDef) -> list[ast.stmt]:
        """At the start of a function: ``**kwargs`` is a dict of its own."""
        if node.args.kwarg is None:
            return []
        return [self._statement("made", node, name_of(node.args.kwarg.arg))]

    # -------------------------------------------------------- scopes

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Rewritten:
        if self._place_of(node.name) != "local":
            raise self._refuse(node, f"{node.name}, a function that is a global,")
        before, names = [], []
        for decorator in node.decorator_list:
            names.append(self._fresh("decorator"))
            value, target = self.visit(decorator), ast.Name(names[-1], ast.Store())
            before.append(at(decorator, ast.Assign([target], value)))
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

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        self._visit_defaults(node.args)
        return self._inside(node)

    def _visit_defaults(self, args: ast.arguments) -> None:
        args.defaults = [self.visit(default) for default in args.defaults]
        args.kw_defaults = [None if d is None else self.visit(d) for d in args.kw_defaults]

    def visit_Global(self, node: ast.Global) -> ast.stmt:
        return at(node, ast.Pass())  # stores go through the door

    def visit_Nonlocal(self, node: ast.Nonlocal) -> Rewritten:
        """Variables of the rewritten function itself stay; others are stored by the door."""
        own = [name for name in node.names if self._place_of(name) == "local"]
        if not own:
            return at(node, ast.Pass())
        variables = self._variables(node, own)
        assert variables is not None
        rebinding = self._statement("rebinding", node, variables)
        return [at(node, ast.Nonlocal(own)), rebinding]

    # -------------------------------------------------------- doors

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id == RESULT:
            note_held(*held_in(node.value))
        note_made_of_item(node)
        self._note_lists(node.value)
        note_choice(node)
        self.generic_visit(node)
        match node.targets:
            case [ast.Tuple() | ast.List() as target]:
                self._spread(node, target)
        return node

    def _spread(self, node: ast.Assign, target: ast.Tuple | ast.List) -> None:
        """Let ``a, *b, c = x`` assign three values, and ``a, b = x`` know that it takes two."""
        targets = target.elts
        stars = [place for place, each in enumerate(targets) if isinstance(each, ast.Starred)]
        if len(stars) > 1 or (not stars and isinstance(node.value, ast.Tuple | ast.List)):
            return
        counts = (stars[0], len(targets) - stars[0] - 1) if stars else (len(targets),)
        target.elts = [each.value if isinstance(each, ast.Starred) else each for each in targets]
        given = (at(node.value, ast.Constant(count)) for count in counts)
        name = "starred" if stars else "unpacked"
        node.value = self._door(name, node.value, node.value, *given)

    def visit_AugAssign(self, node: ast.AugAssign) -> Rewritten:
        """Sets take in what a set from outside holds without asking it; lists and sets change."""
        variable = isinstance(node.target, ast.Name) and self._place_of(node.target.id) == "local"
        name = node.target.id if isinstance(node.target, ast.Name) else ""
        note_choice(node)
        node.target.stored_by = "augmented"  # type: ignore[union-attr]
        self.generic_visit(node)
        if isinstance(node.op, OF_SETS):
            node.value = self._door("settled", node.value, node.value)
        if not variable:
            return node
        return [self._statement("changing", node, name_of(name)), node]

    # -------------------------------------------------------- structured statements

    def visit_For(self, node: ast.For) -> Rewritten:
        handed = self._handed[node]
        iterable = self._door("iterable", node.iter, self.visit(node.iter))
        if getattr(node, "plain", False):
            node.iter = iterable
            node.target = self.visit(node.target)
            node.body, node.orelse = self._statements(node.body), self._statements(node.orelse)
            return node
        names = self._local(handed.at_head | handed.behind)
        part, item = self._fresh("loop"), self._fresh("item")
        grows = self._local(names_that_grow(node.body, (node.target, node.iter)))
        plan = self._loop_plan(node, names)._replace(grows=grows, deep=loops_in(node) > 2)
        begin = self._begin(node, part, "loop", [iterable], plan)
        target = at(node, ast.Assign([self.visit(node.target)], name_of(item)))
        body = [target, *self._statements(node.body)]
        return [begin, self._run(node, part, item, names, body), *self._resume(node, part, names)]

    def visit_While(self, node: ast.While) -> Rewritten:
        handed = self._handed[node]
        if getattr(node, "plain", False):
            return self.generic_visit(node)
        names = self._local(handed.at_head | handed.behind)
        part = self._fresh("loop")
        begin = self._begin(node, part, "while_loop", [], self._loop_plan(node, names))
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

    def visit_If(self, node: ast.If) -> Rewritten:
        handed = self._handed[node]
        if getattr(node, "plain", False) or not isinstance(node.test, _DECIDED_LATE):
            return self.generic_visit(node)
        names = self._local(handed.assigned)
        part, arm = self._fresh("branch"), self._fresh("arm")
        behind = tuple(name for name in names if name in handed.behind)
        renamed = self._local(handed.renamed)
        plan = branch_plan(self._line(node), names, behind, self._sure(handed), renamed)
        begin = self._begin(node, part, "branch", [self._test(node.test)], plan)
        body, orelse = self._statements(node.body), self._statements(node.orelse)
        both = [ast.If(name_of(arm), *(ended(node, part, each) for each in (body, orelse)))]
        return [begin, self._run(node, part, arm, names, both), *self._resume(node, part, names)]

    def _loop_plan(self, loop: Any, names: tuple[str, ...]) -> LoopPlan:
        handed, (alone, again) = self._handed[loop], map(self._local, loop.by_turns)
        read = self._local(handed.at_head), self._local(handed.behind)
        others = self._local(handed.assigned.difference(names))
        where, sure = self._line(loop), self._sure(handed)
        return loop_plan(where, names, *read, sure, (alone, again), loop.stop, overwritten=others)

    def _line(self, node: ast.stmt) -> str:
        return f"{self._code.co_filename}:{node.lineno}"

    def _sure(self, handed: Handed) -> tuple[str, ...]:
        return self._local(handed.assigned & self._flagged[-1])

    def _begin(
        self,
        node: ast.stmt,
        part: str,
        kind: str,
        first: list[ast.expr],
        plan: tuple[object, ...],
    ) -> ast.stmt:
        """``part = __fxc__.kind(first, plan, rebound, locals())``."""
        rebound = self._scopes[-1].rebound & self._handed[node].assigned
        own = [name for name in rebound if self._place_of(name) == "local"]
        cells = self._variables(node, own) or ast.Constant(None)
        variables = ast.Call(door_part("locals"), [], [])
        constants = self._text(node, tuple(plan))
        call = ast.Call(door_part(kind), [*first, constants, cells, variables], [])
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

    def visit_With(self, node: ast.With) -> ast.stmt:
        self.generic_visit(node)
        for item in node.items:
            item.context_expr = self._door("context", item.context_expr, item.context_expr)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        name = node.target.id if isinstance(node.target, ast.Name) else ""
        if node.value is None and name and self._place_of(name) != "local":
            return at(node, ast.Pass())
        node.annotation = self._text(node.annotation, None)
        node.target = self.visit(node.target)
        if node.value is not None:
            self._note_lists(node.value)
            node.value = self.visit(node.value)
        node.simple = int(isinstance(node.target, ast.Name))
        return node

    # -------------------------------------------------------- exceptions

    def visit_Try(self, node: ast.Try) -> Rewritten:
        """What is caught is looked at before a handler runs."""
        about = handles(node)
        self.generic_visit(node)
        around = self._fresh("try")
        for handler in node.handlers:
            named = ast.Constant(handler.name is not None)
            handler.body.insert(0, self._statement("caught", handler, name_of(around), named))
            if handler.name is not None and self._place_of(handler.name) != "local":
                raise self._refuse(handler, f"'as {handler.name}', a variable from outside,")
        if any(isinstance(each, _LEAVING) for part in node.finalbody for each in walk(part)):
            node.finalbody.insert(0, self._statement("caught", node.finalbody[0], name_of(around)))
        target = at(node, name_of(around, ast.Store()))
        return [at(node, ast.Assign([target], self._door("trying", node, about))), node]

    def _statement(self, method: str, place: ast.AST, *args: ast.expr) -> ast.stmt:
        return at(place, ast.Expr(self._door(method, place, *(at(place, each) for each in args))))

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        self.generic_visit(node)
        if node.exc is not None:
            node.exc = self._door("raising", node.exc, node.exc)
        return node

    def visit_Raising(self, node: Raising) -> ast.stmt:
        """A raise in a branch: what is raised is only computed if it is."""
        parts = (node.statement.exc, node.statement.cause)
        found = [later(self.visit(part)) for part in parts if part is not None]
        return placed(node, ast.Expr(self._door("raises", node, *found)))

    # -------------------------------------------------------- imports

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        checks: list[ast.stmt] = []
        for alias in node.names:
            name = (alias.asname or alias.name).split(".")[0]
            if self._place_of(name) != "local":
                raise self._refuse(node, f"an import of {name}, a variable from outside,")
            checks.append(self._statement("importing", node, self._text(node, alias.name)))
        return [*checks, node]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        found = list[ast.stmt]()
        for alias in node.names:
            parts = [self._text(node, part) for part in (node.module or "", node.level, alias.name)]
            target = self.visit(at(node, ast.Name(alias.asname or alias.name, ast.Store())))
            found.append(at(node, ast.Assign([target], self._door("imported", node, *parts))))
        return found

    # -------------------------------------------------------- patterns

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.pattern:
        parts = bool(node.patterns or node.kwd_patterns)
        node.cls = self._pattern(node.cls, "parts" if parts else "class")
        node.patterns = [self.visit(each) for each in node.patterns]
        node.kwd_patterns = [self.visit(each) for each in node.kwd_patterns]
        return node

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.pattern:
        if isinstance(node.value, ast.Attribute):
            node.value = self._pattern(node.value, "value")
        return node

    def visit_MatchMapping(self, node: ast.MatchMapping) -> ast.pattern:
        node.keys = [
            self._pattern(key, "value") if isinstance(key, ast.Attribute) else key
            for key in node.keys
        ]
        node.patterns = [self.visit(each) for each in node.patterns]
        return node

    def _pattern(self, node: ast.expr, use: str) -> ast.expr:
        """A dotted name, which a pattern wants to stay one: an attribute of a helper gets it."""
        names: list[str] = []
        inner = node
        while isinstance(inner, ast.Attribute):
            names.insert(0, inner.attr)
            inner = inner.value
        assert isinstance(inner, ast.Name)
        place = "local" if hasattr(node, "is_door") else self._place_of(inner.id)
        if place == "local":
            return node
        asked = ":".join((use, place, ".".join([inner.id, *names])))
        return at(node, ast.Attribute(door_part("patterns"), asked, ast.Load()))

    # -------------------------------------------------------- what is refused at sight

    def visit_TryStar(self, node: ast.TryStar) -> NoReturn:
        raise self._refuse(node, "a try statement with except*")

    def visit_ClassDef(self, node: ast.ClassDef) -> NoReturn:
        raise self._refuse(node, f"a class in a function ({node.name})")

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> NoReturn:
        raise self._refuse(node, f"a coroutine ({node.name})")


# Tests of other kinds are known while capturing.
_DECIDED_LATE = (
    *(ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Compare),
    *(ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.IfExp, ast.NamedExpr),
)
_LEAVING = (ast.Return, ast.Break, ast.Continue)
