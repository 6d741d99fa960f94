"""Control flow: regions become blocks of native statements around their own loop nests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from fxc.ir.graph import Literal, Node, Operand, Region, Value
from fxc.ir.symbols import symbol
from fxc.ops.table import TABLE
from fxc.ops.updates import updated_by

from ..nests.buffers import Atom
from ..nests.statements import For, If, Stmt, While
from .body import INTP, Body
from .brief import is_brief
from .context import Context
from .index_maps import INDEX_MAPS, is_view_copy
from .leaving import last_arms
from .scope import Scope, free_values, new_scope
from .stores import place_apart, store, whole
from .undone import is_sparse
from .writes import aim, uncopied

Visit = Callable[[Context, Node], None]


def _bound(context: Context, operand: Operand) -> Atom:
    """The value of a bound of a loop, computed by statements of the current block."""
    body = Body(context)
    atom = body.value(operand, (), INTP)
    for stmt in body.stmts:
        context.emit(stmt)
    return atom


def truth(context: Context, operand: Operand) -> Atom:
    """Whether a rank-0 operand counts as true."""
    body = Body(context)
    atom = body.truth(operand, ())
    for stmt in body.stmts:
        context.emit(stmt)
    return atom


def _settle(context: Context, operands: Iterable[Operand]) -> None:
    """Place what regions read from outside: they may run many times."""
    for operand in operands:
        if isinstance(operand, Literal):
            continue
        if operand not in context.param_of and operand not in context.dim_of:
            context.place_value(operand)


def _settle_free(context: Context, node: Node, given: Iterable[Operand]) -> None:
    """Place the values from outside that the regions of ``node`` read.

    A view of what is none of the ``given`` values, which the regions may update, stays a view.
    """
    values = free_values(node)
    bases = [uncopied(context, value) for value in given]
    changing = {context.storage_of(base) for base in bases if isinstance(base, Value)}
    _settle(context, (v for v in values if not _is_view_of_others(context, v, changing)))


def _read_inside(context: Context, node: Node) -> set[str | None]:
    """The storages of the values from outside that the regions of ``node`` read."""
    return {storage for value in free_values(node) for storage in context.reads_of(value)}


def _is_view_of_others(context: Context, value: Value, storages: set[str | None]) -> bool:
    """Whether ``value`` is a view of what lives in another storage than these."""
    made: Operand = value
    while isinstance(made, Value) and made not in context.place:
        node = context.node_of.get(made)
        if node is None or not is_view_copy(node) or TABLE[node.op].group not in INDEX_MAPS:
            return False
        made = node.args[0]
    return isinstance(made, Value) and context.storage_of(made) not in storages


def cond(context: Context, node: Node, visit: Visit) -> None:
    """``If`` with both arms storing into the same result buffers.

    Where an operand dies here and an arm gives it back, or an update of it, that is its own.
    """
    operands: Sequence[Operand] = node.arg("operands")
    _settle_free(context, node, operands)
    _settle(context, node.inputs)
    busy = _read_inside(context, node)
    condition = truth(context, node.arg("pred"))
    regions: list[Region] = [node.arg("on_true"), node.arg("on_false")]
    outs: list[str] = []
    for output in node.outputs:
        given = updated_by(node, output)
        taken = None if given is None else _taken_over(context, given, output, busy)
        outs.append(taken or context.new_buffer(output.type))
        busy.add(outs[-1])
    arms: list[tuple[Stmt, ...]] = []
    for region in regions:
        for param, operand in zip(region.params, operands, strict=True):
            _bind(context, param, operand)
        for result, out in zip(region.results, outs, strict=True):
            aim(context, region, result, out)
        scope = _enter(context, region, visit, set(outs))
        _carry(context, region.results, outs, node)
        context.leave()
        arms.append(tuple(scope.statements))
    context.emit(If(condition, arms[0], arms[1], context.last_arms.get(node)))
    for value, out in zip(node.outputs, outs, strict=True):
        context.put(value, out)


def fori_loop(context: Context, node: Node, visit: Visit) -> None:
    """``For`` around the body; carried values live in buffers that the body updates."""
    body: Region = node.arg("body")
    lo, hi = _bound(context, node.arg("lo")), _bound(context, node.arg("hi"))
    carried = _start(context, node)
    counter, *params = body.params
    context.dim_of[counter] = symbol(counter.name, hint=0)
    if len(body.results) > len(carried):
        context.last_arms |= last_arms(body, body.results[-1], ends=True)
    stmts, leave = _body(context, node, params, carried, visit)
    context.emit(For(counter.name, lo, hi, stmts, node.loc, leave))
    for output, name in zip(node.outputs, carried, strict=True):
        context.put(output, name)


def while_loop(context: Context, node: Node, visit: Visit) -> None:
    """``While`` around the test and the body; both read the buffers of the carried values."""
    test: Region = node.arg("test")
    body: Region = node.arg("body")
    carried = _start(context, node)
    for param, name in zip(test.params, carried, strict=True):
        context.put(param, name)
    scope = _enter(context, test, visit, set())
    condition = truth(context, test.results[0])
    context.leave()
    if test.results[0] in test.params:
        going = body.results[test.params.index(test.results[0])]
        context.last_arms |= last_arms(body, going, ends=False)
    stmts, _ = _body(context, node, body.params, carried, visit)
    brief = is_brief(node)
    context.emit(While(tuple(scope.statements), condition, stmts, node.loc, brief))
    for output, name in zip(node.outputs, carried, strict=True):
        context.put(output, name)


def _start(context: Context, node: Node) -> list[str]:
    """The buffers of what a loop carries, with the initial values."""
    _settle_free(context, node, node.arg("init"))
    _settle(context, (v for v in node.arg("init") if uncopied(context, v) is v))
    busy = _read_inside(context, node)
    carried: list[str] = []
    for value, output in zip(node.arg("init"), node.outputs, strict=True):
        carried.append(_carried(context, value, output, busy))
        busy.add(carried[-1])
    return carried


def _body(
    context: Context, node: Node, params: Sequence[Value], carried: Sequence[str], visit: Visit
) -> tuple[tuple[Stmt, ...], Atom | None]:
    """The statements of an iteration, and the scalar in them that says to leave the loop."""
    body: Region = node.arg("body")
    results, flags = body.results[: len(carried)], body.results[len(carried) :]
    for param, name in zip(params, carried, strict=True):
        context.put(param, name)
    for result, name in zip(results, carried, strict=True):
        aim(context, body, result, name)
    scope = _enter(context, body, visit, set(carried))
    leave = truth(context, flags[0]) if flags else None
    _carry(context, results, carried, node)
    context.leave()
    return tuple(scope.statements), leave


def _bind(context: Context, param: Value, operand: Operand) -> None:
    if isinstance(operand, Literal):
        context.literal_of[param] = operand
    elif operand in context.place:
        context.put(param, context.place[operand])
    elif operand in context.param_of:
        context.param_of[param] = context.param_of[operand]
    else:
        context.dim_of[param] = context.dim_of[operand]


def _enter(context: Context, region: Region, visit: Visit, owned: set[str]) -> Scope:
    """Visit the nodes of a region in a scope of their own; the caller leaves it."""
    scope = new_scope(region)
    scope.owned |= owned
    context.scopes.append(scope)
    commits_from, context.commits_from = context.commits_from, 0
    for position, inner in enumerate(region.nodes):
        scope.position = position
        visit(context, inner)
    scope.position = len(region.nodes)
    context.commits_from = commits_from
    return scope


def _carried(context: Context, value: Operand, output: Value, busy: set[str | None]) -> str:
    """The buffer of a carried value, holding the initial one; none of the ``busy`` storages."""
    value = uncopied(context, value)
    name = _taken_over(context, value, output, busy)
    if name is None:
        name = context.new_buffer(output.type)
        store(context, value, name, whole, None)
    return name


def _taken_over(
    context: Context, value: Operand, output: Value, busy: set[str | None]
) -> str | None:
    """The buffer that ``value`` fills, if nothing else needs what stands there, for ``output``."""
    name = context.place.get(value) if isinstance(value, Value) else None
    if name is None or name in busy or context.buffers[name].storage != name:
        return None
    # In a region anything may: what it ends with is stored whole.
    way = context.way_of.get(name) if len(context.scopes) == 1 else None
    undo = context.can_undo and context.is_early(name) and is_sparse(context, value, output)
    if not context.may_overwrite(name, undo=undo) or (way is not None and output not in way):
        return None
    if undo:
        context.undone.add(name)
    context.place_readers(name)
    return name


def _carry(
    context: Context, results: Sequence[Operand], carried: Sequence[str], node: Node
) -> None:
    """Bring the results of one iteration into the carried buffers, as if all at once."""
    moved = [
        (result, name)
        for result, name in zip(results, carried, strict=True)
        if not (isinstance(result, Value) and context.place.get(result) == name)
    ]
    targets = {name for _, name in moved}
    for result, name in moved:
        if isinstance(result, Value) and context.reads_of(result) & (targets - {name}):
            place_apart(context, result)
    for result, name in moved:
        store(context, result, name, whole, node.loc)
