"""What each statement of a function reads, binds and leaves, as far as its source says."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fxc.capture.staging.liveness import (
    assigned,
    free_names,
    read,
    read_of,
    stored,
    surely_bound,
)
from fxc.capture.staging.names import FunctionNode, parameters, scope_of
from fxc.capture.staging.nodes import TAKING, children, run_where_it_stands, walk
from fxc.ir.records import frozen

Names = frozenset[str]
Span = tuple[int, int, int, int]
TAKEN = "__fxc_taken"  # how the variables of Note [Statements taken apart] begin
METHOD = f"{TAKEN}_method"  # and those that hold what is called,
KEPT = f"{TAKEN}_kept"  # that are read more than once,
COLLECTED = f"{KEPT}_all"  # and those of what a comprehension gives
_NONE: Names = frozenset()
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_CLOSURES = (*_FUNCTIONS, ast.GeneratorExp)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_REPEATED = (*_LOOPS, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LOOP_WEIGHT = 100  # more than the operations of statements without a loop, mostly
# Calls that see the variables of the function that makes them, all of which are to be there.
_OF_FRAMES = frozenset({"locals", "vars", "dir", "eval", "exec", "breakpoint"})


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
            if isinstance(each.node, _LOOPS) and inside and each.node is not statement.node:
                return _NONE
            if each.span[:2] < statement.span[:2]:
                names -= _own_binds(each.node)
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


def span_of(node: ast.stmt | ast.expr) -> Span:
    """The first line and column of a node, and its last ones."""
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


def is_within(inner: Span, outer: Span) -> bool:
    """Whether one part of a source is in another."""
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]


def plan_of(function: FunctionNode, free: Names = _NONE, rebound: Names = _NONE) -> FunctionPlan:
    """The plan of a function, whose syntax tree stays as it is. ``free`` are variables of functions
    around it that parts shall take as arguments, ``rebound`` those that others bind meanwhile.
    """
    return _Planner(function, free, rebound).plan()


def live_before(statements: Sequence[Statement], after: Names) -> Names:
    """What the statements read before they bind it, and what of ``after`` they may leave as it is,
    if no exception is raised and no loop around them is left.
    """
    return _live([each.node for each in statements], after, _Flow())


def always_leaves(statements: Sequence[Statement]) -> bool:
    """Whether the control never reaches the end of the statements."""
    match statements[-1].node if statements else None:
        case ast.Return() | ast.Raise():
            return True
        case ast.If(_, _, [_, *_]):
            return all(map(always_leaves, statements[-1].blocks))
        case _:
            return False


# ------------------------------------------------------------------ what is live


@frozen
class _Flow:
    """What is live where the control may go from a statement, besides to the next one."""

    on_break: Names = _NONE
    on_continue: Names = _NONE
    on_return: Names = _NONE
    on_error: Names = _NONE


def _live(body: Sequence[ast.stmt], after: Names, flow: _Flow) -> Names:
    for node in reversed(body):
        after = _live_before(node, after, flow)
    return after


def _live_before(node: ast.stmt, after: Names, flow: _Flow) -> Names:
    parts = frozenset[str]().union(
        *(_live(block, then, inner) for block, then, inner in _blocks(node, after, flow))
    )
    found = own_reads(node) | flow.on_error
    match node:
        case ast.Return():
            return found | flow.on_return
        case ast.Raise():
            return found
        case ast.Break():
            return flow.on_break
        case ast.Continue():
            return flow.on_continue
        case ast.If() | ast.Match():
            return found | parts
        case ast.For() | ast.AsyncFor() | ast.While():
            return found | _head(node, after, flow)
        case ast.Try() | ast.TryStar():
            return found | parts
        case ast.With() | ast.AsyncWith():
            return found | parts | after
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
            return (after - {name}) | found
        case ast.Assign(targets):
            return (after - _bound_by(*targets)) | found
        case ast.AnnAssign(target, _, value) if value is not None:
            return (after - _bound_by(target)) | found
        case _:
            return after | found


def _own_binds(node: ast.stmt) -> Names:
    """What a statement binds, but for the blocks in it."""
    if not bodies_of(node):
        return assigned([node])
    header = [each for each in children(node) if isinstance(each, ast.expr)]
    return assigned([*_targets(node), *header])


def _bound_by(*targets: ast.expr) -> Names:
    return _NONE.union(*map(stored, targets))


def own_reads(node: ast.stmt) -> Names:
    """What a statement reads, but for the blocks in it."""
    inside = {id(each) for block in bodies_of(node) for each in block}
    names = read_of(each for each in children(node) if id(each) not in inside)
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        names |= {node.target.id}
    if isinstance(node, ast.Try | ast.TryStar):
        names = read_of(each.type for each in node.handlers if each.type is not None)
    if isinstance(node, ast.Match):
        patterns = [part for case in node.cases for part in (case.pattern, case.guard) if part]
        names = read(node.subject) | read_of(patterns)
    return names


def bodies_of(node: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a compound statement; none of a function or a class."""
    match node:
        case ast.If(_, body, orelse) | ast.While(_, body, orelse):
            return [body, orelse]
        case ast.For(_, _, body, orelse) | ast.AsyncFor(_, _, body, orelse):
            return [body, orelse]
        case ast.With(_, body) | ast.AsyncWith(_, body):
            return [body]
        case ast.Try(body, handlers, orelse, final) | ast.TryStar(body, handlers, orelse, final):
            return [body, *(each.body for each in handlers), orelse, final]
        case ast.Match(_, cases):
            return [each.body for each in cases]
        case _:
            return []


def blocks_in(function: FunctionNode) -> Iterator[list[ast.stmt]]:
    """All blocks of a function, but for those of inner functions; a lambda has none."""
    todo = [function.body] if isinstance(function.body, list) else []
    while todo:
        block = todo.pop()
        yield block
        todo += [inner for each in block for inner in bodies_of(each)]


def _head(loop: ast.For | ast.AsyncFor | ast.While, after: Names, flow: _Flow) -> Names:
    """What is live at the head of a loop, before an item is taken or its test computed."""
    own, each_time = _NONE, read(loop.test if isinstance(loop, ast.While) else loop.target)
    if not isinstance(loop, ast.While):
        own = _bound_by(loop.target)
    head = _live(loop.orelse, after, flow) | flow.on_error | each_time
    while True:
        inner = replace(flow, on_break=after, on_continue=head)
        again = head | (_live(loop.body, head, inner) - own)
        if again == head:
            return head
        head = again


def _blocks(
    node: ast.stmt, after: Names, flow: _Flow
) -> Iterator[tuple[list[ast.stmt], Names, _Flow]]:
    """The blocks of a statement, what is live behind each, and where else they may go."""
    match node:
        case ast.For() | ast.AsyncFor() | ast.While():
            head = _head(node, after, flow)
            yield node.body, head, replace(flow, on_break=after, on_continue=head)
            yield node.orelse, after, flow
        case ast.With() | ast.AsyncWith():  # which may swallow exceptions, or raise one at its end
            on_error = flow.on_error
            left = _Flow(*(names | on_error for names in _exits(flow)))
            yield node.body, after | on_error, replace(left, on_error=on_error | after)
        case ast.Try() | ast.TryStar():
            yield from _blocks_of_try(node, after, flow)
        case _:
            for body in bodies_of(node):
                yield body, after, flow


def _blocks_of_try(
    node: ast.Try | ast.TryStar, after: Names, flow: _Flow
) -> Iterator[tuple[list[ast.stmt], Names, _Flow]]:
    final = node.finalbody
    if final:
        exits = after.union(flow.on_break, flow.on_continue, flow.on_return, flow.on_error)
        ends = _live(final, after, flow)
        outer = _Flow(*(_live(final, names, flow) for names in _exits(flow)))
    else:
        exits, ends, outer = after, after, flow
    handled = [_live(each.body, ends, outer) for each in node.handlers]
    inner = replace(outer, on_error=outer.on_error.union(*handled))
    yield node.body, _live(node.orelse, ends, outer), inner
    for each in node.handlers:
        yield each.body, ends, outer
    yield node.orelse, ends, outer
    yield final, exits, flow


def _exits(flow: _Flow) -> tuple[Names, ...]:
    return flow.on_break, flow.on_continue, flow.on_return, flow.on_error


# ------------------------------------------------------------------ what may have no value


def _note_unbound(body: Sequence[ast.stmt], unbound: Names, found: dict[ast.stmt, Names]) -> Names:
    """Note what may be without a value before each statement; returns what may be so at the end."""
    for node in body:
        found[node] = found.get(node, _NONE) | unbound
        unbound = _unbound_after(node, unbound, found)
    return unbound


def _unbound_after(node: ast.stmt, unbound: Names, found: dict[ast.stmt, Names]) -> Names:
    deleted = _deleted_in([node])
    match node:
        case ast.If(_, body, orelse):
            arms = [(_note_unbound(arm, unbound, found), arm) for arm in (body, orelse)]
            return _NONE.union(*(end for end, arm in arms if not _ends(arm)))
        case ast.For() | ast.AsyncFor() | ast.While():
            before = unbound | deleted
            inside = before - (_NONE if isinstance(node, ast.While) else _bound_by(node.target))
            _note_unbound(node.body, inside, found)
            _note_unbound(node.orelse, before, found)
            return before
        case ast.Try() | ast.TryStar():
            before = unbound | deleted
            ends = _note_unbound([*node.body, *node.orelse], unbound, found)
            for handler in node.handlers:
                own = {handler.name} if handler.name else set()
                end = _note_unbound(handler.body, before - own, found)
                ends |= _NONE if _ends(handler.body) else end | own
            _note_unbound(node.finalbody, before, found)
            return _note_unbound(node.finalbody, ends, found)
        case ast.Match(_, cases):
            for case in cases:
                _note_unbound(case.body, unbound - assigned([case.pattern]), found)
            return unbound | deleted
        case ast.With(items, body) | ast.AsyncWith(items, body):
            bound = _bound_by(*(each.optional_vars for each in items if each.optional_vars))
            return (unbound - bound) | deleted | _note_unbound(body, unbound - bound, found)
        case ast.Delete():
            return unbound | deleted
        case _:
            return unbound - surely_bound(node)


def _ends(body: Sequence[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Return | ast.Raise | ast.Break | ast.Continue)


def _deleted_in(body: Sequence[ast.stmt]) -> Names:
    """The variables that are deleted in a block."""
    found = (each for node in body for each in walk(node) if isinstance(each, ast.Delete))
    return frozenset(x.id for each in found for x in each.targets if isinstance(x, ast.Name))


# ------------------------------------------------------------------ inner functions


def _shared(body: Sequence[ast.stmt]) -> Names:
    """The variables that inner functions see, which may run later."""
    return _NONE.union(*map(_seen_by_closures, body))


def _seen_by_closures(node: ast.stmt | ast.expr) -> Names:
    return free_names([*closures_in(node)])  # type: ignore[list-item]


def closures_in(node: ast.AST) -> Iterator[ast.AST]:
    """The inner functions and generators in a node that may be called behind it."""
    if isinstance(node, (*_CLOSURES, ast.ClassDef)):
        yield node
        return
    match node:
        case ast.Call(ast.Name(name), args, keywords) if name in TAKING:
            for part in (*args, *(each.value for each in keywords)):
                taken = isinstance(part, ast.GeneratorExp | ast.Lambda)
                for each in children(part) if taken else [part]:
                    yield from closures_in(each)
            return
    for each in children(node):
        yield from closures_in(each)


def _steady(function: FunctionNode, shared: Names) -> Names:
    """The shared variables that are bound once, before anything sees them, and not in a loop."""
    body = function.body if isinstance(function.body, list) else []
    times = dict.fromkeys(parameters(function.args), 1)
    bound_at: dict[str, int] = dict.fromkeys(times, 0)
    seen_at: dict[str, int] = {}

    def note(nodes: Sequence[ast.AST], repeated: bool) -> None:
        for node in nodes:
            if isinstance(node, ast.stmt) and not bodies_of(node):
                for name in assigned([node]):
                    times[name] = times.get(name, 0) + (2 if repeated else 1)
                    bound_at[name] = node.lineno
            else:
                for name in assigned(_targets(node)):
                    times[name] = times.get(name, 0) + 2
            inner = (
                [*closures_in(node)] if isinstance(node, ast.stmt) and not bodies_of(node) else []
            )
            for each in inner:
                own = {getattr(each, "name", "")}
                for name in free_names([each]) - own:  # type: ignore[list-item]
                    seen_at.setdefault(name, getattr(each, "lineno", 0))
            if isinstance(node, ast.stmt) and bodies_of(node):
                inside = repeated or isinstance(node, _LOOPS)
                header = [each for each in children(node) if isinstance(each, ast.expr)]
                for each in (found for part in header for found in closures_in(part)):
                    for name in free_names([each]):  # type: ignore[list-item]
                        seen_at.setdefault(name, 0)
                for block in bodies_of(node):
                    note(block, inside)

    note(body, False)
    rebound = _rebound(body)
    return frozenset(
        name
        for name in shared
        if times.get(name) == 1
        and name not in rebound
        and bound_at.get(name, 0) <= seen_at.get(name, bound_at.get(name, 0))
    )


def _targets(node: ast.AST) -> list[ast.AST]:
    """What the header of a compound statement binds."""
    match node:
        case ast.For(target) | ast.AsyncFor(target):
            return [target]
        case ast.With(items) | ast.AsyncWith(items):
            return [each.optional_vars for each in items if each.optional_vars]
        case ast.Try(_, handlers) | ast.TryStar(_, handlers):
            return [ast.Name(each.name, ast.Store()) for each in handlers if each.name]
        case ast.Match(_, cases):
            return [each.pattern for each in cases]
        case ast.If(test) | ast.While(test):
            return [test]
        case _:
            return []


def _inner_functions(
    function: FunctionNode, body: Sequence[ast.stmt], unsteady: Names
) -> dict[str, ast.stmt]:
    """The inner functions that may be defined again: nothing else is bound to their names, nothing
    that they see is rebound, they have no decorators, and no defaults but constants.
    """
    times = Counter(parameters(function.args))
    for block in blocks_in(function):
        for node in block:
            times.update(assigned([*_targets(node)] if bodies_of(node) else [node]))
            times.update(_deleted_in([node]))
    found: dict[str, ast.stmt] = {}
    for node in body:
        match node:
            case ast.FunctionDef(name, args, _, []) if _has_plain_defaults(args):
                found[name] = node
            case ast.Assign([ast.Name(name)], ast.Lambda(args)) if _has_plain_defaults(args):
                found[name] = node
    return {
        name: node
        for name, node in found.items()
        if times[name] == 1 and name not in unsteady and free_names([node]).isdisjoint(unsteady)
    }


def _rebound(body: Sequence[ast.stmt]) -> Names:
    """The variables that inner functions bind."""
    inner = (each for each in walk(*body) if isinstance(each, (*_FUNCTIONS, ast.ClassDef)))
    found = (node for each in inner for node in walk(each) if isinstance(node, ast.Nonlocal))
    return frozenset(name for node in found for name in node.names)


def _defined(body: Sequence[ast.stmt]) -> Names:
    """The variables that hold inner functions, as far as the source says."""
    found: set[str] = set()
    for node in walk(*body):
        match node:
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                found.add(name)
            case ast.Assign([ast.Name(name)], ast.Lambda()):
                found.add(name)
    return frozenset(found)


def _call_that_sees(names: Names, body: Sequence[ast.stmt]) -> str:
    """One of the names that are called outside of inner functions so that it sees all variables; ''
    if there is none.
    """
    for each in _outside_functions(body):
        match each:
            case ast.Call(ast.Name("vars" | "dir"), [arg]) if not isinstance(arg, ast.Starred):
                continue
            case ast.Call(
                ast.Name("eval" | "exec"),
                [_, ast.Dict() | ast.Call(ast.Name("globals" | "vars")), *_],
            ):
                continue
            case ast.Call(ast.Name(name)) if name in names:
                return name
    return ""


def _has_plain_defaults(args: ast.arguments) -> bool:
    given = (*args.defaults, *filter(None, args.kw_defaults))
    return all(isinstance(each, ast.Constant) for each in given)


# ------------------------------------------------------------------ the plan


class _Planner:
    def __init__(self, function: FunctionNode, free: Names, rebound: Names) -> None:
        self.free = free
        self.rebound = rebound
        self.name = getattr(function, "name", "<lambda>")
        self.body = body_of(function)
        self.variables = scope_of(function).bound
        self.parameters = tuple(parameters(function.args))
        self.shared = _shared(self.body) & self.variables
        self.unsteady = self.shared - _steady(function, self.shared)
        self.inner = _inner_functions(function, self.body, self.unsteady)
        # What inner functions rebind, and inner functions that are others in each call.
        self.moving = _rebound(self.body) | (_defined(self.body) - set(self.inner)) | rebound
        self.seen_by = _call_that_sees(_OF_FRAMES - self.variables, self.body)
        self.unbound: dict[ast.stmt, Names] = {}
        _note_unbound(self.body, self.variables - set(self.parameters), self.unbound)

    def plan(self) -> FunctionPlan:
        return FunctionPlan(
            self.name,
            self.parameters,
            self.variables,
            self.shared,
            self.block(self.body, _NONE, _Flow()),
            tuple(each for each in _outside_functions(self.body) if isinstance(each, _DECLARING)),
            _defined(self.body),
            self.inner,
            self.seen_by,
            self.free,
        )

    def block(self, body: Sequence[ast.stmt], after: Names, flow: _Flow) -> tuple[Statement, ...]:
        found: list[Statement] = []
        for node in reversed(body):
            found.append(self.statement(node, after, flow))
            after = _live_before(node, after, flow)
        return tuple(reversed(found))

    def statement(self, node: ast.stmt, after: Names, flow: _Flow) -> Statement:
        blocks = tuple(self.block(*each) for each in _blocks(node, after, flow))
        inside = [each for block in blocks for each in block]
        binds = assigned([node]) & self.variables
        is_loop = isinstance(node, _LOOPS)
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
            case ast.Delete() if _deleted_in([node]):
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
        binds = assigned([*_targets(node)] if bodies_of(node) else [node])
        if not self.rebound.isdisjoint(binds):
            return "other functions see how the variable changes"
        if not self.unsteady.isdisjoint(binds):
            return "an inner function sees how the variable changes"
        seen = _NONE.union(*(free_names([x]) for x in own if isinstance(x, _CLOSURES)))  # type: ignore[list-item]
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
            if not isinstance(each, _FUNCTIONS):
                todo += [child for child in children(each) if id(child) not in skipped]


_DECLARING = (ast.Global, ast.Nonlocal)


def body_of(function: FunctionNode) -> list[ast.stmt]:
    """The statements of a function; a lambda returns its expression."""
    if not isinstance(function, ast.Lambda):
        return function.body
    return [ast.copy_location(ast.Return(function.body), function.body)]


def _outside_functions(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a function that are in no inner one."""
    for node in body:
        yield node
        if isinstance(node, _FUNCTIONS):
            yield from _outside_functions(run_where_it_stands(node))
        elif not isinstance(node, ast.ClassDef):
            yield from _outside_functions(children(node))


def weight_of(node: ast.AST, of_loop: int = LOOP_WEIGHT) -> int:
    """The number of operations of a statement, apart from its blocks, or of an expression."""
    blocks = bodies_of(node) if isinstance(node, ast.stmt) else []
    skipped = {id(each) for block in blocks for each in block}
    counted = 0
    todo: list[ast.AST] = [node]
    while todo:
        each = todo.pop()
        counted += isinstance(each, ast.BinOp | ast.Call | ast.Compare | ast.AugAssign)
        counted += of_loop * isinstance(each, _REPEATED)
        todo += [child for child in children(each) if id(child) not in skipped]
    return counted
