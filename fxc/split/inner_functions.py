"""What the inner functions of a function see and change of its variables."""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from types import FunctionType

from fxc.capture.outside.purity import CONTAINER_WRITES, OF_OWN_FUNCTIONS
from fxc.capture.staging.liveness import assigned, free_names
from fxc.capture.staging.names import FunctionNode, parameters
from fxc.capture.staging.nodes import TAKING, children, walk

from .statement_syntax import (
    FUNCTIONS,
    LOOPS,
    NO_NAMES,
    Names,
    blocks_in,
    bodies_of,
    deleted_in,
    outside_functions,
    targets_of,
)

CLOSURES = (*FUNCTIONS, ast.GeneratorExp)
# Calls that see the variables of the function that makes them, all of which are to be there.
OF_FRAMES = frozenset({"locals", "vars", "dir", "eval", "exec", "breakpoint"})


def shared_by(body: Sequence[ast.stmt]) -> Names:
    """The variables that inner functions see, which may run later."""
    return NO_NAMES.union(*map(_seen_by_closures, body))


def _seen_by_closures(node: ast.stmt | ast.expr) -> Names:
    return free_names([*closures_in(node)])  # type: ignore[list-item]


def closures_in(node: ast.AST) -> Iterator[ast.AST]:
    """The inner functions and generators in a node that may be called behind it."""
    if isinstance(node, (*CLOSURES, ast.ClassDef)):
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


def steady(function: FunctionNode, shared: Names) -> Names:
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
                for name in assigned(targets_of(node)):
                    times[name] = times.get(name, 0) + 2
            inner = (
                [*closures_in(node)] if isinstance(node, ast.stmt) and not bodies_of(node) else []
            )
            for each in inner:
                own = {getattr(each, "name", "")}
                for name in free_names([each]) - own:  # type: ignore[list-item]
                    seen_at.setdefault(name, getattr(each, "lineno", 0))
            if isinstance(node, ast.stmt) and bodies_of(node):
                inside = repeated or isinstance(node, LOOPS)
                header = [each for each in children(node) if isinstance(each, ast.expr)]
                for each in (found for part in header for found in closures_in(part)):
                    for name in free_names([each]):  # type: ignore[list-item]
                        seen_at.setdefault(name, 0)
                for block in bodies_of(node):
                    note(block, inside)

    note(body, False)
    rebound = rebound_in(body)
    return frozenset(
        name
        for name in shared
        if times.get(name) == 1
        and name not in rebound
        and bound_at.get(name, 0) <= seen_at.get(name, bound_at.get(name, 0))
    )


def defined_again(
    function: FunctionNode, body: Sequence[ast.stmt], unsteady: Names
) -> dict[str, ast.stmt]:
    """The inner functions that may be defined again: nothing else is bound to their names, nothing
    that they see is rebound, they have no decorators, no defaults but constants, and nobody tells
    one of them from another.
    """
    times = Counter(parameters(function.args))
    for block in blocks_in(function):
        for node in block:
            times.update(assigned([*targets_of(node)] if bodies_of(node) else [node]))
            times.update(deleted_in([node]))
    found: dict[str, ast.stmt] = {}
    for node in body:
        match node:
            case ast.FunctionDef(name, args, _, []) if _has_plain_defaults(args):
                found[name] = node
            case ast.Assign([ast.Name(name)], ast.Lambda(args)) if _has_plain_defaults(args):
                found[name] = node
    told_apart = frozenset(name for node in walk(*body) for name in _objects_in(node))
    return {
        name: node
        for name, node in found.items()
        if times[name] == 1
        and name not in unsteady | told_apart
        and free_names([node]).isdisjoint(unsteady)
    }


def _objects_in(node: ast.AST) -> Iterator[str]:
    """The variables that a node takes for objects, if they are functions: it reads or sets their
    attributes, asks for their identity, or puts them into a container where they may be looked for.
    """
    match node:
        case ast.Attribute(ast.Name(name), attribute, ctx):
            if attribute not in _OF_ANY_FUNCTION or not isinstance(ctx, ast.Load):
                yield name
        case ast.Compare(left, operators, others):
            for operator, pair in zip(operators, itertools.pairwise([left, *others]), strict=True):
                if isinstance(operator, ast.Is | ast.IsNot | ast.In | ast.NotIn):
                    yield from (each.id for each in pair if isinstance(each, ast.Name))
        case ast.Call(ast.Name(called) | ast.Attribute(_, called), args) if called in _OF_OBJECTS:
            yield from (each.id for each in args if isinstance(each, ast.Name))


_OF_ANY_FUNCTION = frozenset(vars(FunctionType)) - {"__dict__"}
# Calls that see of which object an argument is.
_OF_OBJECTS = (
    frozenset({"setattr", "getattr", "hasattr", "delattr", "vars", "id", "index", "count"})
    | CONTAINER_WRITES
    | frozenset(each.__name__ for each in OF_OWN_FUNCTIONS)
)


def rebound_in(body: Sequence[ast.stmt]) -> Names:
    """The variables that inner functions bind."""
    inner = (each for each in walk(*body) if isinstance(each, (*FUNCTIONS, ast.ClassDef)))
    found = (node for each in inner for node in walk(each) if isinstance(node, ast.Nonlocal))
    return frozenset(name for node in found for name in node.names)


def defined_in(body: Sequence[ast.stmt]) -> Names:
    """The variables that hold inner functions, as far as the source says."""
    found: set[str] = set()
    for node in walk(*body):
        match node:
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                found.add(name)
            case ast.Assign([ast.Name(name)], ast.Lambda()):
                found.add(name)
    return frozenset(found)


def call_that_sees(names: Names, body: Sequence[ast.stmt]) -> str:
    """One of the names that are called outside of inner functions so that it sees all variables; ''
    if there is none.
    """
    for each in outside_functions(body):
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
