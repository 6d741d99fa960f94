"""What each statement of a function reads, binds and leaves, as far as its source says."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from fxc.capture.staging.liveness import assigned, free_names
from fxc.capture.staging.names import FunctionNode, parameters, scope_of
from fxc.capture.staging.nodes import children, walk
from fxc.ir.records import frozen, replace

from .flow import Flow, blocks_with_flow, live_at_start, live_before_statement, note_unbound
from .inner_functions import (
    CLOSURES,
    OF_FRAMES,
    call_that_sees,
    closures_in,
    defined_again,
    defined_in,
    rebound_in,
    shared_by,
    steady,
)
from .statement_syntax import (
    COLLECTED,
    FUNCTIONS,
    LOOPS,
    METHOD,
    NO_NAMES,
    TAKEN,
    Names,
    Span,
    bodies_of,
    body_of,
    deleted_in,
    is_within,
    outside_functions,
    own_binds,
    own_reads,
    span_of,
    targets_of,
    weight_of,
)


@frozen(eq=False)
class Statement:
    """One statement of a function, with all that is in it.

    ``after`` is what may be read behind it before it is bound again, ``on_error`` what is read
    where an exception that it raises is handled, ``on_return`` what is read where it returns (in
    ``finally``), ``unbound`` what may have no value before it.
    ``leaves`` says that a ``break`` or ``continue`` in it belongs to a loop around it. ``pinned``
    says why only Python can run it, or something in it. ``weight`` is the number of its operations,
    more if it has a loop.
    """

    node: ast.stmt
    reads: Names
    binds: Names
    after: Names
    on_error: Names
    on_return: Names
    unbound: Names
    returns: bool
    leaves: bool
    pinned: str
    weight: int
    blocks: tuple[tuple[Statement, ...], ...]

    @property
    def span(self) -> Span:
        """Its first line and column, and its last ones."""
        return span_of(self.node)

    def inside(self) -> Iterator[Statement]:
        """The statement, and all in it."""
        yield self
        for block in self.blocks:
            for each in block:
                yield from each.inside()


@frozen(eq=False)
class FunctionPlan:
    """A function: its variables, its statements, and the functions that it defines.

    ``shared`` are the variables that inner functions see, ``seen_by`` is a function that it calls
    and that sees all of them. ``free`` are variables of functions around it which are arguments
    of its parts. ``defined`` are variables that hold inner functions, ``inner`` the statements that
    define functions which can be defined again where they are called, by name: what these see does
    not change once they are there.

    >>> source = "def f(u, n):\\n  v = u * n\\n  for k in range(n):\\n    v += k\\n  return v"
    >>> print(plan_of(ast.parse(source).body[0]))
    f(u, n)
      2 Assign: reads n u; binds v; after n v
      3 For: reads k n range v; binds k v; after v; unbound k
      4 AugAssign: reads k v; binds v; after v
      5 Return: reads v; returns
    """

    name: str
    parameters: tuple[str, ...]
    variables: Names
    shared: Names
    body: tuple[Statement, ...]
    declarations: tuple[ast.Global | ast.Nonlocal, ...]
    defined: Names
    inner: Mapping[str, ast.stmt]
    seen_by: str
    free: Names

    def statements(self) -> Iterator[Statement]:
        """All statements, from the outside in."""
        for each in self.body:
            yield from each.inside()

    def bound_later(self, statement: Statement, names: Names) -> Names:
        """Those of the names that have no value before a statement, whatever has run."""
        names = frozenset(name for name in names if not name.startswith(TAKEN))
        names &= statement.unbound - self.shared - self.free - {*self.parameters}
        for each in self.statements() if names else ():
            inside = any(inner.node is statement.node for inner in each.inside())
            if isinstance(each.node, LOOPS) and inside and each.node is not statement.node:
                return NO_NAMES
            if each.span[:2] < statement.span[:2]:
                names -= own_binds(each.node)
        return names

    def innermost(self, line: int, place: Span | None) -> Statement | None:
        """The smallest statement with a place of the source, the last one if only the line is
        known.
        """
        found = None
        for each in self.statements():
            if place is None:
                inside = each.span[0] <= line <= each.span[2]
            else:
                inside = is_within(place, each.span)
                inside &= found is None or is_within(each.span, found.span)
            found = each if inside else found
        return found

    def __str__(self) -> str:
        lines = [f"{self.name}({', '.join(self.parameters)})"]
        for each in self.statements():
            sets = {
                "reads": each.reads,
                "binds": each.binds,
                "after": each.after,
                "on error": each.on_error,
                "unbound": each.unbound & each.reads & self.variables,
            }
            parts = [f"{what} {' '.join(sorted(names))}" for what, names in sets.items() if names]
            parts += ["returns"] * each.returns + ["leaves"] * each.leaves
            parts += [f"in Python: {each.pinned}"] if each.pinned else []
            lines.append(f"  {each.node.lineno} {type(each.node).__name__}: {'; '.join(parts)}")
        return "\n".join(lines)


def plan_of(
    function: FunctionNode, free: Names = NO_NAMES, rebound: Names = NO_NAMES
) -> FunctionPlan:
    """The plan of a function, whose syntax tree stays as it is. ``free`` are variables of functions
    around it that parts shall take as arguments, ``rebound`` those that others bind meanwhile.
    """
    return Planner(function, free, rebound).plan


def live_before(statements: Sequence[Statement], after: Names) -> Names:
    """What the statements read before they bind it, and what of ``after`` they may leave as it is,
    if no exception is raised and no loop around them is left.
    """
    return live_at_start([each.node for each in statements], after, Flow())


def always_leaves(statements: Sequence[Statement]) -> bool:
    """Whether the control never reaches the end of the statements."""
    match statements[-1].node if statements else None:
        case ast.Return() | ast.Raise():
            return True
        case ast.If(_, _, [_, *_]):
            return all(map(always_leaves, statements[-1].blocks))
        case _:
            return False


class Planner:
    """What makes the plan of a function, and goes on from there as statements are taken apart."""

    def __init__(self, function: FunctionNode, free: Names, rebound: Names) -> None:
        self.free = free
        self.rebound = rebound
        self.name = getattr(function, "name", "<lambda>")
        self.body = body_of(function)
        self.variables = scope_of(function).bound
        self.parameters = tuple(parameters(function.args))
        self.shared = shared_by(self.body) & self.variables
        self.unsteady = self.shared - steady(function, self.shared)
        self.inner = defined_again(function, self.body, self.unsteady)
        # What inner functions rebind, and inner functions that are others in each call.
        self.moving = rebound_in(self.body) | (defined_in(self.body) - set(self.inner)) | rebound
        self.seen_by = call_that_sees(OF_FRAMES - self.variables, self.body)
        self.unbound: dict[ast.stmt, Names] = {}
        note_unbound(self.body, self.variables - set(self.parameters), self.unbound)
        self.given: dict[ast.stmt, tuple[Names, Flow]] = {}  # what is live behind each statement
        self.plan = FunctionPlan(
            self.name,
            self.parameters,
            self.variables,
            self.shared,
            self.block(self.body, NO_NAMES, Flow()),
            tuple(each for each in outside_functions(self.body) if isinstance(each, _DECLARING)),
            defined_in(self.body),
            self.inner,
            self.seen_by,
            self.free,
        )

    def take_apart(self, node: ast.stmt, made: Sequence[ast.stmt]) -> bool:
        """Go on with a plan in which others stand in the place of a statement, with variables of
        their own. False if that is one with blocks or inner functions, which takes a new plan.
        """
        if any(bodies_of(each) for each in (node, *made)) or self.makes_functions(node, *made):
            return False
        added = assigned(made) - assigned([node]) - self.variables  # but for globals
        self.variables |= added
        note_unbound(made, self.unbound[node] | added, self.unbound)
        instead = self.block(made, *self.given[node])
        body = self.with_instead(self.plan.body, node, instead, added)
        self.plan = replace(self.plan, variables=self.variables, body=body)
        return True

    def makes_functions(self, *nodes: ast.stmt) -> bool:
        """Whether inner functions, which see variables, are made in statements."""
        return any(isinstance(each, CLOSURES) for each in walk(*nodes))

    def with_instead(
        self,
        body: tuple[Statement, ...],
        node: ast.stmt,
        instead: tuple[Statement, ...],
        added: Names,
    ) -> tuple[Statement, ...]:
        """A block, or one in which others stand in the place of one of its statements."""
        found: list[Statement] = []
        for each in body:
            blocks = [self.with_instead(block, node, instead, added) for block in each.blocks]
            if each.node is node:
                found += instead
            elif any(new is not old for new, old in zip(blocks, each.blocks, strict=True)):
                self.unbound[each.node] |= added
                found.append(self.around(each.node, tuple(blocks)))
            else:
                found.append(each)
        return body if found == [*body] else tuple(found)

    def block(self, body: Sequence[ast.stmt], after: Names, flow: Flow) -> tuple[Statement, ...]:
        found: list[Statement] = []
        for node in reversed(body):
            found.append(self.statement(node, after, flow))
            after = live_before_statement(node, after, flow)
        return tuple(reversed(found))

    def statement(self, node: ast.stmt, after: Names, flow: Flow) -> Statement:
        self.given[node] = after, flow
        blocks = tuple(self.block(*each) for each in blocks_with_flow(node, after, flow))
        return self.around(node, blocks)

    def around(self, node: ast.stmt, blocks: tuple[tuple[Statement, ...], ...]) -> Statement:
        """The statement that has these blocks."""
        after, flow = self.given[node]
        inside = [each for block in blocks for each in block]
        binds = assigned([node]) & self.variables
        is_loop = isinstance(node, LOOPS)
        return Statement(
            node=node,
            reads=own_reads(node).union(*(each.reads for each in inside)),
            binds=binds,
            after=(after | self.shared) & self.variables,
            on_error=flow.on_error & self.variables,
            on_return=flow.on_return & self.variables,
            unbound=(self.unbound.get(node, self.variables) & self.variables) | self.free,
            returns=isinstance(node, ast.Return) or any(each.returns for each in inside),
            leaves=isinstance(node, ast.Break | ast.Continue)
            or any(each.leaves for block in (blocks[1:] if is_loop else blocks) for each in block),
            pinned=self.pinned(node) or next((x.pinned for x in inside if x.pinned), ""),
            weight=weight_of(node) + sum(each.weight for each in inside),
            blocks=blocks,
        )

    def pinned(self, node: ast.stmt) -> str:
        """Why Python has to run a statement, apart from its blocks."""
        if self.seen_by:
            return f"{self.seen_by} sees all variables"
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return "it defines a function or a class"
            case ast.Global() | ast.Nonlocal() | ast.Import() | ast.ImportFrom():
                return "it declares or imports names"
            case ast.AsyncFor() | ast.AsyncWith():
                return "it waits"
            case ast.Delete() if deleted_in([node]):
                return "it deletes a variable"
            case ast.Assign([ast.Name(name)], ast.Lambda()) if name in self.inner:
                return "it defines a function or a class"
            case ast.Assign([ast.Name(name)], ast.Attribute()) if name.startswith(METHOD):
                return "it looks up a method"
            case ast.Assign([ast.Name(name) | ast.Subscript(ast.Name(name))]) | ast.Expr(
                ast.Call(ast.Attribute(ast.Name(name)))
            ) if name.startswith(COLLECTED):
                return "it collects what a comprehension gives"
        own = list(self.own_nodes(node))
        for each in own:
            match each:
                case ast.Yield() | ast.YieldFrom() | ast.Await() | ast.comprehension(is_async=1):
                    return "the function is left and entered again"
                case ast.Name("super" | "__class__"):
                    return "super belongs to the function"
        if not self.moving.isdisjoint(own_reads(node)):
            return "an inner function changes what it reads"
        binds = assigned([*targets_of(node)] if bodies_of(node) else [node])
        if not self.rebound.isdisjoint(binds):
            return "other functions see how the variable changes"
        if not self.unsteady.isdisjoint(binds):
            return "an inner function sees how the variable changes"
        seen = NO_NAMES.union(*(free_names([x]) for x in own if isinstance(x, CLOSURES)))  # type: ignore[list-item]
        if not self.unsteady.isdisjoint(seen) and any(self.closes(each) for each in children(node)):
            return "an inner function sees how a variable changes"
        return ""

    def closes(self, node: ast.AST) -> bool:
        """Whether a node makes a function that sees a variable which changes."""
        found = [*closures_in(node)]
        return any(not free_names([each]).isdisjoint(self.unsteady) for each in found)  # type: ignore[list-item]

    def own_nodes(self, node: ast.stmt) -> Iterator[ast.AST]:
        """The nodes of a statement, but for those of its blocks and of inner functions."""
        skipped = {id(each) for block in bodies_of(node) for each in block}
        todo: list[ast.AST] = [node]
        while todo:
            each = todo.pop()
            yield each
            if not isinstance(each, FUNCTIONS):
                todo += [child for child in children(each) if id(child) not in skipped]


_DECLARING = (ast.Global, ast.Nonlocal)
