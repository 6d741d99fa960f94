"""What one statement reads and binds, how much it computes, and the blocks in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from fxc.capture.staging.liveness import assigned, read, read_of, stored
from fxc.capture.staging.names import FunctionNode
from fxc.capture.staging.nodes import children, run_where_it_stands, walk

Names = frozenset[str]
Span = tuple[int, int, int, int]
TAKEN = "__fxc_taken"  # how the variables of Note [Statements taken apart] begin
METHOD = f"{TAKEN}_method"  # and those that hold what is called,
KEPT = f"{TAKEN}_kept"  # that are read more than once,
COLLECTED = f"{KEPT}_all"  # and those of what a comprehension gives
NO_NAMES: Names = frozenset()
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
_REPEATED = (*LOOPS, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LOOP_WEIGHT = 100  # more than the operations of statements without a loop, mostly


def span_of(node: ast.stmt | ast.expr) -> Span:
    """The first line and column of a node, and its last ones."""
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


def is_within(inner: Span, outer: Span) -> bool:
    """Whether one part of a source is in another."""
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]


def own_binds(node: ast.stmt) -> Names:
    """What a statement binds, but for the blocks in it."""
    if not bodies_of(node):
        return assigned([node])
    header = [each for each in children(node) if isinstance(each, ast.expr)]
    return assigned([*targets_of(node), *header])


def bound_by(*targets: ast.expr) -> Names:
    """What an assignment to these targets binds."""
    return NO_NAMES.union(*map(stored, targets))


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


def deleted_in(body: Sequence[ast.stmt]) -> Names:
    """The variables that are deleted in a block; a handler deletes that of its exception."""
    found = [each for node in body for each in walk(node)]
    targets = (x for each in found if isinstance(each, ast.Delete) for x in each.targets)
    caught = (each.name for each in found if isinstance(each, ast.ExceptHandler) and each.name)
    return frozenset(caught).union(x.id for x in targets if isinstance(x, ast.Name))


def targets_of(node: ast.AST) -> list[ast.AST]:
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


def body_of(function: FunctionNode) -> list[ast.stmt]:
    """The statements of a function; a lambda returns its expression."""
    if not isinstance(function, ast.Lambda):
        return function.body
    return [ast.copy_location(ast.Return(function.body), function.body)]


def outside_functions(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a function that are in no inner one."""
    for node in body:
        yield node
        if isinstance(node, FUNCTIONS):
            yield from outside_functions(run_where_it_stands(node))
        elif not isinstance(node, ast.ClassDef):
            yield from outside_functions(children(node))


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
