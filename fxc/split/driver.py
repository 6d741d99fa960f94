"""The driver of a function that is split: its statements, with parts of them as calls.

::

    def f(u, steps, log):                   def f(u, steps, log):
        v = np.zeros_like(u)                    r = part1(u)
        dx = 1.0 / u.size                       if r is REPLAY:
        for k in range(steps):                      v = np.zeros_like(u)
            u += 0.1 * lap(u) * dx                  dx = 1.0 / u.size
            log.write(f"{k}")                   else:
        return v                                    v, dx = r
                                                for k in range(steps):
                                                    r = part2(u, dx)
                                                    if r is REPLAY:
                                                        u += 0.1 * lap(u) * dx
                                                    else:
                                                        u = r
                                                    log.write(f"{k}")
                                                return v

See Note [Splitting].
"""

from __future__ import annotations

import ast
import copy
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from fxc.capture.locations import is_of_program
from fxc.capture.staging.liveness import surely_bound
from fxc.capture.staging.names import FunctionNode, parameters
from fxc.capture.staging.nodes import copied, name_of, placed, walk
from fxc.capture.staging.staging import Named, code_like, keep_source
from fxc.ir.records import frozen, mutable
from fxc.ir.replay import REPLAY

from .function_plan import (
    KEPT,
    METHOD,
    TAKEN,
    FunctionPlan,
    Names,
    Span,
    Statement,
    always_leaves,
    live_before,
)
from .spent import spent

# Note [Splitting]
# A function with a statement that cannot be captured becomes a driver: its own body, run by Python,
# in which runs of other statements are calls of parts. A part is a function of its own: what the
# statements read before they bind it are its parameters, what they bind and somebody reads later is
# its result. It is captured and compiled like any function. A cut is a statement that Python
# runs. If it is a loop, a branch, a ``with`` or a ``try``, only its head is run by Python, and the
# statements in it become parts in turn.
#
# A part never half-happens: where it cannot go on, nothing that anybody sees has changed, it
# returns ``REPLAY``, and the driver runs the statements themselves, with the real variables. So
# exceptions, tracebacks, handlers and variables without a value need no rules of their own.
#
# A part that cannot be captured either is split in turn: at once for the calls that are under way,
# by a driver of its own, and in the next call of the function by a driver with all cuts so far.
# Parts with the same statements, parameters and results are one part in all drivers.

UNBOUND: Any = type("Unbound", (), {"__repr__": lambda self: "UNBOUND"})()
FEWEST = 2  # operations of a part that pays, see ``Statement.weight``

# Functions of these call what they are given many times, and neither keep nor compare it.
TAKING_CALLBACKS = "scipy."
# Methods of Python's and NumPy's types, which hardly are functions of the program.
OF_PYTHON = frozenset(name for kind in (list, dict, set, str, deque) for name in dir(kind))
OF_NUMPY = frozenset(name for kind in (np.ndarray, np.random.Generator) for name in dir(kind))

_ASYNC_GENERATOR = 0x200  # the flag of its code
_RESULT = "__fxc_result__"
_REPLAY = "__fxc_replay__"
_UNBOUND = "__fxc_unbound__"
_HELPER = "__fxc_helper__"
_NAME_ERROR = "__fxc_name_error__"


@frozen
class PartKey:
    """What makes a part: its first and last statement, its parameters and its results.

    It ends in one of three ways: with the ``values`` of its results, as the function itself does
    (``tail``), or with either, after a 0 or a 1 (``either``).
    """

    first: Span
    last: Span
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    ending: str
    spent: tuple[str, ...]  # see Note [Spent arrays]


@frozen(eq=False)
class PartSource:
    """The function of a part, and the statements that it consists of. ``counting`` are those of
    its parameters that change from one iteration of a loop around it to the next, ``inner`` the
    functions that it defines again.
    """

    key: PartKey
    statements: tuple[Statement, ...]
    function: FunctionType
    counting: Names
    inner: tuple[str, ...]


@frozen(eq=False)
class Driver:
    """A driver, the parts that it calls, and its syntax tree."""

    function: Any  # a FunctionType, which type checkers take for a method
    parts: tuple[Any, ...]
    node: Named

    @property
    def text(self) -> str:
        """Its Python source."""
        return ast.unparse(self.node)


@mutable
class Cuts:
    """Where a function is split: the statements that Python runs, those of them that call a
    function which is split itself, and those before which a part ends.
    """

    statements: set[Span]
    calling: set[Span]
    borders: set[Span]


class DriverWriter:
    """Writes drivers of one function; ``part_of`` gives the callable of a part."""

    def __init__(
        self,
        function: FunctionType,
        node: FunctionNode,
        plan: FunctionPlan,
        cuts: Cuts,
        part_of: Callable[[PartSource], Any],
        helper: Callable[[Any], Any],
    ) -> None:
        self.function = function
        self.node = node
        self.plan = plan
        self.cuts = cuts
        self.part_of = part_of
        self.helper = helper

    def whole(self) -> Driver:
        """The driver of the whole function."""
        body = _Body(self, self.plan.body, "tail", kind=type(self.node))
        args = copied(self.node.args)
        for arg in walk(args):
            if isinstance(arg, ast.arg):
                arg.annotation = None
        made = body.driver(args)
        made.function.__defaults__ = self.function.__defaults__
        made.function.__kwdefaults__ = self.function.__kwdefaults__
        return made

    def of_part(self, part: PartSource) -> Driver:
        """A driver for the statements of a part, with its parameters and results."""
        body = _Body(self, part.statements, part.key.ending, part.key.outputs)
        return body.driver(_positional(part.key.inputs))

    def may_call_program(
        self, nodes: Sequence[ast.AST], methods: Names, but: FunctionType | None = None
    ) -> bool:
        """Whether something in the nodes may call a function of the program, but for one. Those of
        these ``methods`` are taken for no functions of the program.
        """
        if self.plan.seen_by:
            return False
        calls = (each for each in walk(*nodes) if isinstance(each, ast.Call))
        return any(self.may_be_of_program(each.func, methods, but) for each in calls)

    def hands_on(self, call: ast.Call) -> bool:
        """Whether it may be a call of a library that is given a function of the program."""
        plan, known = self.plan, self.function.__globals__
        if not str(getattr(self.known(call.func), "__module__", "")).startswith(TAKING_CALLBACKS):
            return False
        for each in (*call.args, *(each.value for each in call.keywords)):
            match each:
                case ast.Lambda() | ast.Attribute():
                    return True
                case ast.Name(name) if name in plan.variables | plan.free:
                    if name in plan.defined or name.startswith(TAKEN):
                        return True
                case ast.Name(name) if is_of_program(known.get(name)):
                    return True
        return False

    def known(self, called: ast.expr) -> Any:
        """What an expression gives, as far as the function's globals say; else None."""
        variables, known = self.plan.variables | self.plan.free, self.function.__globals__
        match called:
            case ast.Name(name) if name not in variables:
                return known.get(name)
            case ast.Attribute(value, name):
                module = self.known(value)
                return vars(module).get(name) if isinstance(module, ModuleType) else None
            case _:
                return None

    def may_be_of_program(
        self, called: ast.expr, methods: Names = OF_PYTHON, but: FunctionType | None = None
    ) -> bool:
        """Whether what is called may be a function of the program's own."""
        found = self.known(called)
        match called:
            case ast.Name(name) if name in self.plan.variables | self.plan.free:
                return not name.startswith(TAKEN) or name.startswith((METHOD, KEPT))
            case ast.Attribute(value, name) if not isinstance(self.known(value), ModuleType):
                return name not in methods
            case ast.Subscript():
                return True
        return found is not but and is_of_program(_run_by(found))


class _Body:
    """The body of one driver while it is written."""

    def __init__(
        self,
        writer: DriverWriter,
        statements: Sequence[Statement],
        ending: str,
        outputs: tuple[str, ...] = (),
        kind: type[FunctionNode] = ast.FunctionDef,
    ) -> None:
        self.writer = writer
        self.plan = writer.plan
        self.ending = ending
        self.outputs = outputs
        self.statements = statements
        self.cells: dict[str, Any] = {
            _REPLAY: REPLAY,
            _UNBOUND: UNBOUND,
            _HELPER: writer.helper,
            _NAME_ERROR: NameError,
        }
        self.used: list[Any] = []
        self.marks: list[str] = []  # variables that say that a part has run in this call
        self.is_asynchronous = kind is ast.AsyncFunctionDef
        flags = writer.function.__code__.co_flags
        self.is_asynchronous_generator = self.is_asynchronous and bool(flags & _ASYNC_GENERATOR)
        self.counting: Names = frozenset()  # what the loops around bind

    def driver(self, args: ast.arguments) -> Driver:
        """The driver with these parameters."""
        statements = self.statements
        block = self.block(statements, self.ending == "tail")
        local = self.locals_beside(args)
        marks = (self.marked(each, False) for each in self.marks)
        body = [*self.declarations(), *local, *marks, *block]
        if self.ending != "tail" and not always_leaves(statements):
            last = statements[-1].node
            maybe = sorted(set(self.outputs) & _unbound_behind(statements))
            for name in maybe:
                body.append(_marked(last, name))
            value = _values(self.outputs)
            value = _either(0, value) if self.ending == "either" else value
            body.append(placed(last, ast.Return(value)))
        node = _function_node(self.writer.function, args, body, self.is_asynchronous)
        made = _function(self.writer.function, node, self.cells)
        return Driver(made, tuple(self.used), node)

    def locals_beside(self, args: ast.arguments) -> Iterator[ast.stmt]:
        """Let variables that have no value here, and that other statements bind, be none of the
        module's: a name with an annotation is local.
        """
        read = frozenset[str]().union(*(each.reads for each in self.statements))
        bound = {*parameters(args)}.union(*(each.binds for each in self.statements))
        for name in sorted(read & self.plan.variables - bound):
            made = ast.AnnAssign(ast.Name(name, ast.Store()), ast.Constant(None), None, 1)
            yield placed(self.statements[0].node, made)

    def marked(self, mark: str, value: bool) -> ast.stmt:
        made = ast.Assign([name_of(mark, ast.Store())], ast.Constant(value))
        return placed(self.statements[0].node, made)

    def declarations(self) -> list[ast.stmt]:
        return [copy.copy(each) for each in self.plan.declarations]

    # -------------------------------------------------------- statements

    def block(self, block: Sequence[Statement], at_end: bool = False) -> list[ast.stmt]:
        """The statements of a block; behind those ``at_end`` the function ends."""
        made: list[ast.stmt] = []
        run: list[Statement] = []
        for each in block:
            if run and (each.span in self.writer.cuts.borders or _leaves_unsaid(run, each)):
                made += self.run(run, False)
                run = []
            if self.is_open(each):
                made += self.run(run, False) + self.opened(each) + _dropped([each])
                run = []
            else:
                run.append(each)
        return made + self.run(run, at_end)

    def is_open(self, statement: Statement) -> bool:
        """Whether Python runs a statement, or at least its head."""
        if statement.pinned or statement.leaves:
            return True
        if statement.blocks and _leaves_unsaid([statement], statement):
            return True
        cuts = self.writer.cuts
        if cuts.borders and any(
            each.span in cuts.borders and each is not statement for each in statement.inside()
        ):
            return True
        return any(
            each.span in cuts.statements or each.span in cuts.calling for each in statement.inside()
        )

    def opened(self, statement: Statement) -> list[ast.stmt]:
        """A statement that Python runs, with parts in it."""
        node = statement.node
        if isinstance(node, ast.Global | ast.Nonlocal):
            return []  # they stand at the start of the driver
        made = copy.copy(node)
        around = self.counting
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            self.counting |= statement.binds
        blocks = [self.block(each) for each in statement.blocks]
        self.counting = around
        match made:
            case ast.If() | ast.For() | ast.AsyncFor() | ast.While():
                made.body, made.orelse = blocks
            case ast.With() | ast.AsyncWith():
                (made.body,) = blocks
            case ast.Try() | ast.TryStar():
                made.body, *handled, made.orelse, made.finalbody = blocks
                made.handlers = [copy.copy(each) for each in made.handlers]
                for handler, body in zip(made.handlers, handled, strict=True):
                    handler.body = body
            case ast.Match():
                made.cases = [copy.copy(each) for each in made.cases]
                for case, body in zip(made.cases, blocks, strict=True):
                    case.body = body
            case ast.Return():
                made = self.returned(copied(made))
            case _:
                made = copied(made)
        if statement.span in self.writer.cuts.calling:
            _rewrite_own(made, _ByHelpers(self.writer))
        if any(name.startswith(TAKEN) for name in statement.reads):
            _rewrite_own(made, _Moved())
        return [made]

    def returned(self, node: ast.Return) -> ast.Return:
        """A ``return`` in Python, of the function's own value."""
        if self.is_asynchronous_generator:  # whose ``return`` has no value
            node.value = None
        elif self.ending == "either":
            node.value = placed(node, _either(1, node.value or ast.Constant(None)))
        return node

    # -------------------------------------------------------- parts

    def run(self, run: Sequence[Statement], at_end: bool) -> list[ast.stmt]:
        """Statements that may be a part: a call of it, and themselves in case it cannot go on."""
        if not run:
            return []
        plain = [_Returns(self).visit(copied(each.node)) for each in run]
        is_light = sum(each.weight for each in run) < FEWEST
        nodes = [each.node for each in run]
        if is_light and not self.writer.may_call_program(nodes, OF_PYTHON | OF_NUMPY):
            return plain + _dropped(run)
        source = self.part(run, at_end)
        part = self.writer.part_of(source)
        if part is None:
            return plain + _dropped(run)
        self.used.append(part)
        name, owner = f"__fxc_part{len(self.used)}__", f"__fxc_owner{len(self.used)}__"
        self.cells |= {name: part.cell, owner: part}
        replayed = ast.Expr(ast.Call(ast.Attribute(name_of(owner), "replayed", ast.Load()), [], []))
        plain = [placed(run[0].node, ast.Try(plain, [], [], [replayed]))]
        return self.call(run, name, source.key, plain)

    def call(
        self, run: Sequence[Statement], name: str, key: PartKey, plain: list[ast.stmt]
    ) -> list[ast.stmt]:
        first = run[0]
        result = name_of(_RESULT)
        call = _called(name, key.inputs)
        mark = f"{name}again__" if key.spent and self.counting else ""
        if mark:
            self.marks.append(mark)
            call = ast.If(name_of(mark), [_called(name, (*key.inputs, *key.spent))], [call])
        if not first.unbound.isdisjoint(key.inputs):
            call = _if_bound(call, key.inputs)
        taken = [*self.taken(run, key)]
        taken += [self.marked(mark, True)] if mark else []
        replayed = ast.Compare(result, [ast.Is()], [name_of(_REPLAY)])
        made = [placed(first.node, each) for each in (call, ast.If(replayed, plain, taken))]
        return made + _dropped(run)

    def taken(self, run: Sequence[Statement], key: PartKey) -> Iterator[ast.stmt]:
        """What is done with the result of a part."""
        result: ast.expr = name_of(_RESULT)
        if key.ending == "tail":
            yield self.returned(placed(run[-1].node, ast.Return(result)))
            return
        if key.ending == "either":
            first = ast.Subscript(result, ast.Constant(0), ast.Load())
            result = ast.Subscript(result, ast.Constant(1), ast.Load())
            returned = placed(run[-1].node, ast.Return(result))
            yield ast.If(first, [self.returned(returned)], [])
        if key.outputs:
            yield ast.Assign([_values(key.outputs, ast.Store())], result)
        unbound = _unbound_behind(run)
        for name in key.outputs:
            if name in unbound:
                mark = ast.Compare(name_of(name), [ast.Is()], [name_of(_UNBOUND)])
                yield ast.If(mark, [ast.Delete([name_of(name, ast.Del())])], [])
        yield ast.Assign([name_of(_RESULT, ast.Store())], ast.Constant(None))

    def part(self, run: Sequence[Statement], at_end: bool) -> PartSource:
        """The function of a run of statements."""
        binds = frozenset[str]().union(*(each.binds for each in run))
        returns = any(each.returns for each in run)
        is_tail = always_leaves(run) or (at_end and returns)
        outputs = tuple(sorted(binds & run[-1].after)) if not is_tail else ()
        ending = "tail" if is_tail else "either" if returns else "values"
        reads = self.reads(run)
        inputs = live = live_before([*reads, *run], frozenset(outputs))
        used = binds.union(*(each.reads for each in (*reads, *run)))
        inputs &= used & (self.plan.variables | self.plan.free)
        inputs -= self.plan.bound_later(run[0], inputs)
        inner = self.inner(run)
        names = tuple(sorted(inputs - set(inner)))
        old = spent(self.plan, run, outputs, live | _unbound_behind(run))
        key = PartKey(run[0].span, run[-1].span, names, outputs, ending, old)
        return self.source(key, run, inner)

    def inner(self, run: Sequence[Statement]) -> list[str]:
        """The inner functions that the statements call, and those that these call."""
        found: list[str] = []
        todo = sorted(frozenset[str]().union(*(each.reads for each in run)))
        definitions = {each.node: each for each in self.plan.statements()}
        while todo:
            name = todo.pop()
            if name in self.plan.inner and name not in found:
                found.append(name)
                todo += sorted(definitions[self.plan.inner[name]].reads)
        return sorted(found, key=lambda name: self.plan.inner[name].lineno)

    def reads(self, run: Sequence[Statement]) -> list[Statement]:
        """The definitions of the inner functions that the statements call."""
        nodes = {self.plan.inner[name] for name in self.inner(run)}
        return [each for each in self.plan.statements() if each.node in nodes]

    def source(self, key: PartKey, run: Sequence[Statement], inner: list[str]) -> PartSource:
        statements = [copied(each.node) for each in run]
        if key.ending == "either":
            statements = [_Tagged().visit(each) for each in statements]
        definitions = [copied(self.plan.inner[name]) for name in inner]
        declared = self.declarations()
        if self.plan.free:  # no part binds variables of other functions
            declared = [each for each in declared if isinstance(each, ast.Global)]
        body = [*declared, *definitions, *statements]
        if key.ending != "tail":
            value = _values(key.outputs)
            value = _either(0, value) if key.ending == "either" else value
            body.append(placed(run[-1].node, ast.Return(value)))
        function = self.writer.function
        node = _function_node(function, _positional(key.inputs), body)
        made = _function(function, node, {})
        keep_source(made.__code__, node)
        counting = self.counting.intersection(key.inputs)
        return PartSource(key, tuple(run), made, counting, tuple(inner))


# ------------------------------------------------------------------ nodes


def _values(names: Sequence[str], context: ast.expr_context | None = None) -> ast.expr:
    """One variable, or a tuple of several; None if there are none."""
    context = context or ast.Load()
    if len(names) == 1:
        return name_of(names[0], context)
    if not names:
        return ast.Constant(None)
    return ast.Tuple([name_of(name, context) for name in names], context)


def _either(tag: int, value: ast.expr) -> ast.expr:
    return ast.Tuple([ast.Constant(tag), value], ast.Load())


def _positional(names: Sequence[str]) -> ast.arguments:
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])


def _called(name: str, given: Sequence[str]) -> ast.stmt:
    call = ast.Call(name_of(name), [name_of(each) for each in given], [])
    return ast.Assign([name_of(_RESULT, ast.Store())], call)


def _if_bound(call: ast.stmt, names: Sequence[str]) -> ast.stmt:
    """The call, if all its arguments have a value; else the statements are to be run."""
    values = ast.Expr(ast.Tuple([name_of(name) for name in names], ast.Load()))
    given = ast.Assign([name_of(_RESULT, ast.Store())], name_of(_REPLAY))
    handler = ast.ExceptHandler(name_of(_NAME_ERROR), None, [given])
    return ast.Try([values], [handler], [call], [])


def _marked(place: ast.stmt, name: str) -> ast.stmt:
    """A variable without a value becomes ``UNBOUND``."""
    mark = ast.Assign([name_of(name, ast.Store())], name_of(_UNBOUND))
    handler = ast.ExceptHandler(name_of(_NAME_ERROR), None, [mark])
    return placed(place, ast.Try([ast.Expr(name_of(name))], [handler], [], []))


def _run_by(called: object) -> Any:
    return vars(called).get("__init__") if isinstance(called, type) else called


def _unbound_behind(run: Sequence[Statement]) -> Names:
    """What may be without a value behind statements: what one of them may bind, or not."""
    last = run[-1]
    unbound = run[0].unbound
    for each in run:
        if not each.blocks:
            unbound -= surely_bound(each.node)
    return unbound & last.after


def _leaves_unsaid(run: Sequence[Statement], last: Statement) -> bool:
    """Whether a ``finally`` around reads what a part would bind that returns: it hands on either
    the value of the function or those of its variables.
    """
    if not last.returns or not last.on_return:
        return False
    return any(not each.binds.isdisjoint(last.on_return) for each in run)


def _dropped(run: Sequence[Statement]) -> list[ast.stmt]:
    """Let go of what was taken out of expressions once it has been used; what a loop or a branch
    takes is let go of in it.
    """
    read = frozenset[str]().union(*(each.reads for each in run)) - run[-1].after
    read -= frozenset[str]().union(*(each.binds for each in run if each.blocks))
    names = sorted(name for name in read if name.startswith(TAKEN))
    if not names or always_leaves(run):
        return []
    made = ast.Assign([name_of(name, ast.Store()) for name in names], ast.Constant(None))
    return [placed(run[-1].node, made)]


class _Returns(ast.NodeTransformer):
    """Statements that Python runs, whose ``return`` is that of the driver."""

    def __init__(self, body: _Body) -> None:
        self._body = body

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        return self._body.returned(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef  # type: ignore[assignment]


class _Tagged(_Returns):
    """Statements of a part whose ``return`` is that of the function."""

    def __init__(self) -> None:
        pass

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        node.value = placed(node, _either(1, node.value or ast.Constant(None)))
        return node


class _ByHelpers(ast.NodeTransformer):
    """Calls in an expression as calls of functions that may be split."""

    def __init__(self, writer: DriverWriter) -> None:
        self._writer = writer

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if self._writer.may_be_of_program(node.func) or self._writer.hands_on(node):
            node.func = placed(node, ast.Call(name_of(_HELPER), [node.func], []))
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return node


class _Moved(ast.NodeTransformer):
    """What was taken out of an expression is let go of where it is read, as Python does.

    That is ``(taken, taken := None)[0]``.
    """

    def visit_Name(self, node: ast.Name) -> ast.expr:
        is_taken = node.id.startswith(TAKEN) and not node.id.startswith((METHOD, KEPT))
        if not is_taken or not isinstance(node.ctx, ast.Load):
            return node
        empty = ast.NamedExpr(ast.Name(node.id, ast.Store()), ast.Constant(None))
        both = ast.Tuple([node, empty], ast.Load())
        return placed(node, ast.Subscript(both, ast.Constant(0), ast.Load()))

    def visit_ListComp(self, node: ast.expr) -> Any:
        return node  # where nothing may be assigned

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_Lambda = visit_ListComp


def _rewrite_own(node: ast.stmt, rewrite: ast.NodeTransformer) -> None:
    """Rewrite the expressions of a statement, but for those in its blocks."""
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.expr):
            setattr(node, name, rewrite.visit(copied(value)))
        elif isinstance(value, list) and all(isinstance(x, ast.expr | ast.withitem) for x in value):
            setattr(node, name, [rewrite.visit(copied(each)) for each in value])


# ------------------------------------------------------------------ functions


def _function_node(
    function: FunctionType,
    args: ast.arguments,
    body: list[ast.stmt],
    is_asynchronous: bool = False,
) -> Any:
    kind: Any = ast.AsyncFunctionDef if is_asynchronous else ast.FunctionDef
    node = kind(function.__name__, args, body or [ast.Pass()], [])
    node.lineno = node.end_lineno = function.__code__.co_firstlineno
    node.col_offset = node.end_col_offset = 0
    placed(node, args)
    return node


def _function(function: FunctionType, node: Named, cells: dict[str, Any]) -> FunctionType:
    """A function in place of another one: with its globals and the variables of functions around
    it, and besides ``cells``, or what is in them.
    """
    code = function.__code__
    made = code_like(node, cells, code)
    own = {
        name: each if isinstance(each, CellType) else CellType(each) for name, each in cells.items()
    }
    known = own | dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    closure = tuple(known[name] for name in made.co_freevars)
    found = FunctionType(made, function.__globals__, function.__name__, None, closure)
    found.__qualname__ = function.__qualname__
    found.__module__ = function.__module__
    return found
