"""Which variables are live where in a function, and which may have no value."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from fxc.capture.staging.liveness import assigned, read, surely_bound
from fxc.ir.records import frozen, replace

from .statement_syntax import NO_NAMES, Names, bodies_of, bound_by, deleted_in, own_reads


@frozen
class Flow:
    """What is live where the control may go from a statement, besides to the next one."""

    on_break: Names = NO_NAMES
    on_continue: Names = NO_NAMES
    on_return: Names = NO_NAMES
    on_error: Names = NO_NAMES


def live_at_start(body: Sequence[ast.stmt], after: Names, flow: Flow) -> Names:
    """What is live before the statements, where ``after`` is behind them."""
    for node in reversed(body):
        after = live_before_statement(node, after, flow)
    return after


def live_before_statement(node: ast.stmt, after: Names, flow: Flow) -> Names:
    """The same of one statement."""
    parts = frozenset[str]().union(
        *(
            live_at_start(block, then, inner)
            for block, then, inner in blocks_with_flow(node, after, flow)
        )
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
            return (after - bound_by(*targets)) | found
        case ast.AnnAssign(target, _, value) if value is not None:
            return (after - bound_by(target)) | found
        case _:
            return after | found


def _head(loop: ast.For | ast.AsyncFor | ast.While, after: Names, flow: Flow) -> Names:
    """What is live at the head of a loop, before an item is taken or its test computed."""
    own, each_time = NO_NAMES, read(loop.test if isinstance(loop, ast.While) else loop.target)
    if not isinstance(loop, ast.While):
        own = bound_by(loop.target)
    head = live_at_start(loop.orelse, after, flow) | flow.on_error | each_time
    while True:
        inner = replace(flow, on_break=after, on_continue=head)
        again = head | (live_at_start(loop.body, head, inner) - own)
        if again == head:
            return head
        head = again


def blocks_with_flow(
    node: ast.stmt, after: Names, flow: Flow
) -> Iterator[tuple[list[ast.stmt], Names, Flow]]:
    """The blocks of a statement, what is live behind each, and where else they may go."""
    match node:
        case ast.For() | ast.AsyncFor() | ast.While():
            head = _head(node, after, flow)
            yield node.body, head, replace(flow, on_break=after, on_continue=head)
            yield node.orelse, after, flow
        case ast.With() | ast.AsyncWith():  # which may swallow exceptions, or raise one at its end
            on_error = flow.on_error
            left = Flow(*(names | on_error for names in _exits(flow)))
            yield node.body, after | on_error, replace(left, on_error=on_error | after)
        case ast.Try() | ast.TryStar():
            yield from _blocks_of_try(node, after, flow)
        case _:
            for body in bodies_of(node):
                yield body, after, flow


def _blocks_of_try(
    node: ast.Try | ast.TryStar, after: Names, flow: Flow
) -> Iterator[tuple[list[ast.stmt], Names, Flow]]:
    final = node.finalbody
    if final:
        exits = after.union(flow.on_break, flow.on_continue, flow.on_return, flow.on_error)
        ends = live_at_start(final, after, flow)
        outer = Flow(*(live_at_start(final, names, flow) for names in _exits(flow)))
    else:
        exits, ends, outer = after, after, flow
    handled, afters, left = NO_NAMES, [], ends
    if isinstance(node, ast.TryStar):  # other handlers may follow one, and what none has handled
        left |= outer.on_error
    for each in reversed(node.handlers):
        afters.append(left)
        handled |= live_at_start(each.body, left, outer)
        if isinstance(node, ast.TryStar):
            left |= handled
    inner = replace(outer, on_error=outer.on_error | handled)
    yield node.body, live_at_start(node.orelse, ends, outer), inner
    for each, after_it in zip(node.handlers, reversed(afters), strict=True):
        yield each.body, after_it, outer
    yield node.orelse, ends, outer
    yield final, exits, flow


def _exits(flow: Flow) -> tuple[Names, ...]:
    return flow.on_break, flow.on_continue, flow.on_return, flow.on_error


def note_unbound(body: Sequence[ast.stmt], unbound: Names, found: dict[ast.stmt, Names]) -> Names:
    """Note what may be without a value before each statement; returns what may be so at the end."""
    for node in body:
        found[node] = found.get(node, NO_NAMES) | unbound
        unbound = _unbound_after(node, unbound, found)
    return unbound


def _unbound_after(node: ast.stmt, unbound: Names, found: dict[ast.stmt, Names]) -> Names:
    deleted = deleted_in([node])
    match node:
        case ast.If(_, body, orelse):
            arms = [(note_unbound(arm, unbound, found), arm) for arm in (body, orelse)]
            return NO_NAMES.union(*(end for end, arm in arms if not _ends(arm)))
        case ast.For() | ast.AsyncFor() | ast.While():
            before = unbound | deleted
            inside = before - (NO_NAMES if isinstance(node, ast.While) else bound_by(node.target))
            note_unbound(node.body, inside, found)
            note_unbound(node.orelse, before, found)
            return before
        case ast.Try() | ast.TryStar():
            before = unbound | deleted
            ends = note_unbound([*node.body, *node.orelse], unbound, found)
            for handler in node.handlers:
                own = {handler.name} if handler.name else set()
                end = note_unbound(handler.body, before - own, found)
                ends |= NO_NAMES if _ends(handler.body) else end | own
            note_unbound(node.finalbody, before, found)
            return note_unbound(node.finalbody, ends, found)
        case ast.Match(_, cases):
            for case in cases:
                note_unbound(case.body, unbound - assigned([case.pattern]), found)
            return unbound | deleted
        case ast.With(items, body) | ast.AsyncWith(items, body):
            bound = bound_by(*(each.optional_vars for each in items if each.optional_vars))
            return (unbound - bound) | deleted | note_unbound(body, unbound - bound, found)
        case ast.Delete():
            return unbound | deleted
        case _:
            return unbound - surely_bound(node)


def _ends(body: Sequence[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Return | ast.Raise | ast.Break | ast.Continue)
