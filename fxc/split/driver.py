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
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any

from fxc.capture.staging.names import FunctionNode, parameters
from fxc.capture.staging.nodes import (
    UNSET_NAME,
    copied,
    dropped_if_unset,
    name_of,
    placed,
    walk,
)
from fxc.capture.staging.staging import Named
from fxc.ir.records import frozen, mutable
from fxc.ir.replay import REPLAY, UNSET

from .driver_syntax import (
    ERROR_NAME,
    HELPER_NAME,
    REPLAY_NAME,
    RESULT_NAME,
    Moved,
    Returns,
    call_of,
    emptied,
    function_like,
    function_node,
    if_bound,
    let_go,
    or_unset,
    positional,
    rewrite_own,
    tagged,
    values_of,
)
from .function_plan import FunctionPlan, Statement, always_leaves
from .part_source import PartKey, PartSource, PartWriter
from .pieces import Pieces
from .program_calls import OF_NUMPY, OF_PYTHON, ProgramCalls
from .statement_syntax import TAKEN, Names, Span

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
# exceptions, tracebacks and handlers need no rules of their own. A variable that may be without a
# value goes in and out as ``UNSET`` then (Note [Variables without a value]): a part that reads it
# returns ``REPLAY``, others are not affected.
#
# A part that cannot be captured either is split in turn: at once for the calls that are under way,
# by a driver of its own, and in the next call of the function by a driver with all cuts so far.
# Parts with the same statements, parameters and results are one part in all drivers.

FEWEST = 2  # operations of a part that pays, see ``Statement.weight``

_ASYNC_GENERATOR = 0x200  # the flag of its code


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
        pieces: Pieces,
        cuts: Cuts,
        part_of: Callable[[PartSource], Any],
        helper: Callable[[Any], Any],
    ) -> None:
        self.function = function
        self.node = node
        self.pieces = pieces
        self.cuts = cuts
        self.part_of = part_of
        self.helper = helper

    @property
    def plan(self) -> FunctionPlan:
        """What is known of the statements, as they are now."""
        return self.pieces.plan

    @property
    def calls(self) -> ProgramCalls:
        """Which calls of the function may run more of the program."""
        return ProgramCalls(self.function, self.plan)

    def whole(self) -> Driver:
        """The driver of the whole function."""
        body = _Body(self, self.plan.body, kind=type(self.node))
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
        body = _Body(self, part.statements, part.key)
        return body.driver(positional(part.key.inputs))


class _Body:
    """The body of one driver while it is written: of a function, or of the part with a key."""

    def __init__(
        self,
        writer: DriverWriter,
        statements: Sequence[Statement],
        key: PartKey | None = None,
        kind: type[FunctionNode] = ast.FunctionDef,
    ) -> None:
        self.writer = writer
        self.plan = writer.plan
        self.parts = PartWriter(writer.function, writer.plan)
        self.key = key
        self.ending = "tail" if key is None else key.ending
        self.statements = statements
        self.cells: dict[str, Any] = {
            REPLAY_NAME: REPLAY,
            UNSET_NAME: UNSET,
            HELPER_NAME: writer.helper,
            ERROR_NAME: NameError,
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
        if self.key is not None:
            first, last = statements[0].node, statements[-1].node
            body[:0] = [dropped_if_unset(first, name) for name in self.key.unset]
            if self.ending != "tail" and not always_leaves(statements):
                body += [or_unset(last, name, name) for name in self.key.doubtful]
                value = values_of(self.key.outputs)
                value = tagged(0, value) if self.ending == "either" else value
                body.append(placed(last, ast.Return(value)))
        node = function_node(self.writer.function, args, body, self.is_asynchronous)
        made = function_like(self.writer.function, node, self.cells)
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
                made += self.run(run, False) + self.opened(each) + let_go([each])
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
            rewrite_own(made, _ByHelpers(self.writer.calls))
        if any(name.startswith(TAKEN) for name in statement.reads):
            rewrite_own(made, Moved())
        return [made]

    def returned(self, node: ast.Return) -> ast.Return:
        """A ``return`` in Python, of the function's own value."""
        if self.is_asynchronous_generator:  # whose ``return`` has no value
            node.value = None
        elif self.ending == "either":
            node.value = placed(node, tagged(1, node.value or ast.Constant(None)))
        return node

    # -------------------------------------------------------- parts

    def run(self, run: Sequence[Statement], at_end: bool) -> list[ast.stmt]:
        """Statements that may be a part: a call of it, and themselves in case it cannot go on."""
        if not run:
            return []
        plain = [Returns(self.returned).visit(copied(each.node)) for each in run]
        is_light = sum(each.weight for each in run) < FEWEST
        nodes = [each.node for each in run]
        if is_light and not self.writer.calls.may_run(nodes, OF_PYTHON | OF_NUMPY):
            return plain + let_go(run)
        source = self.parts.part(run, at_end, self.counting)
        part = self.writer.part_of(source)
        if part is None:
            return plain + let_go(run)
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
        result = name_of(RESULT_NAME)
        given = {each: f"__fxc_given{place}__" for place, each in enumerate(key.unset)}
        inputs = [given.get(each, each) for each in key.inputs]
        call = call_of(name, inputs)
        mark = f"{name}again__" if key.spent and self.counting else ""
        if mark:
            self.marks.append(mark)
            call = ast.If(name_of(mark), [call_of(name, (*inputs, *key.spent))], [call])
        maybe = first.unbound.intersection(key.inputs).difference(given)
        if maybe:
            call = if_bound(call, sorted(maybe))
        taken = [*self.taken(run, key)]
        taken += [self.marked(mark, True)] if mark else []
        replayed = ast.Compare(result, [ast.Is()], [name_of(REPLAY_NAME)])
        made = [or_unset(first.node, *each) for each in given.items()]
        made.append(placed(first.node, call))
        if given:
            made.append(emptied(first.node, given.values()))
        made.append(placed(first.node, ast.If(replayed, plain, taken)))
        return made + let_go(run)

    def taken(self, run: Sequence[Statement], key: PartKey) -> Iterator[ast.stmt]:
        """What is done with the result of a part."""
        result: ast.expr = name_of(RESULT_NAME)
        if key.ending == "tail":
            yield self.returned(placed(run[-1].node, ast.Return(result)))
            return
        if key.ending == "either":
            first = ast.Subscript(result, ast.Constant(0), ast.Load())
            result = ast.Subscript(result, ast.Constant(1), ast.Load())
            returned = placed(run[-1].node, ast.Return(result))
            yield ast.If(first, [self.returned(returned)], [])
        if key.outputs:
            yield ast.Assign([values_of(key.outputs, ast.Store())], result)
        for name in key.doubtful:
            yield dropped_if_unset(run[0].node, name)
        yield ast.Assign([name_of(RESULT_NAME, ast.Store())], ast.Constant(None))


def _leaves_unsaid(run: Sequence[Statement], last: Statement) -> bool:
    """Whether a ``finally`` around reads what a part would bind that returns: it hands on either
    the value of the function or those of its variables.
    """
    if not last.returns or not last.on_return:
        return False
    return any(not each.binds.isdisjoint(last.on_return) for each in run)


class _ByHelpers(ast.NodeTransformer):
    """Calls in an expression as calls of functions that may be split."""

    def __init__(self, calls: ProgramCalls) -> None:
        self._calls = calls

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if self._calls.is_of_program(node.func) or self._calls.hands_on(node):
            node.func = placed(node, ast.Call(name_of(HELPER_NAME), [node.func], []))
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return node
