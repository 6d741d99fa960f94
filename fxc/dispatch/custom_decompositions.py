"""Decompositions of the user's operators: which columns they serve, and what is checked of them."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FunctionType, MethodType
from typing import Any

from fxc.ir.builder import GraphBuilder
from fxc.ir.error_kinds import CUSTOM_OPERATOR
from fxc.ir.errors import UsageError, uncapturable
from fxc.ir.graph import Literal
from fxc.ir.schema import Schema
from fxc.ir.types import ArrayType, ScalarType, Type
from fxc.ops.custom import Definition, array_operands, check_values, definitions
from fxc.ops.foreign_results import Unlearnable
from fxc.ops.table import TABLE

from .dispatcher import Dispatcher
from .keys import AliasKey, DispatchKey, KeySet, above, with_keys
from .ops_handle import Ops, type_of
from .trace import recording_into

KINDS = {
    "implicit": AliasKey.IMPLICIT,
    "explicit": AliasKey.EXPLICIT,
    "non_functional": AliasKey.NON_FUNCTIONAL,
}
Composite = Callable[..., Any]
_MOST_NESTED = 64  # decompositions inside of one another: more are a cycle


def composites_for(
    definition: Definition, function: Composite, alias: AliasKey
) -> Iterator[tuple[str, AliasKey, Composite]]:
    """What a decomposition says of an operator, and of those that follow from it by rule."""
    schema = definition.schema
    composite = _Composite(definition, function, alias is AliasKey.IMPLICIT)
    yield schema.name, alias, composite
    if schema.writes:
        yield f"{schema.name}.functional", alias, _without_writes(schema, composite)
    if schema.is_view:
        yield f"{schema.name}_copy", _written(alias), composite
        yield f"{schema.name}_scatter", _written(alias), _scattered(composite)


def _written(alias: AliasKey) -> AliasKey:
    return AliasKey.NON_FUNCTIONAL if alias is AliasKey.IMPLICIT else alias


def _without_writes(schema: Schema, composite: Composite) -> Composite:
    """Gives what the decomposition writes into copies."""

    def made(ops: Ops, *args: object) -> object:
        given = list(args)
        for place in schema.written_params:
            given[place] = ops.copy(args[place], "K")
        found = composite(ops, *given)
        if found is NotImplemented:
            return found
        rest = () if found is None else found if isinstance(found, tuple) else (found,)
        results = (*(given[place] for place in schema.written_params), *rest)
        return results[0] if len(results) == 1 else results

    return made


def _scattered(composite: Composite) -> Composite:
    """Gives the array, written through the view."""

    def made(ops: Ops, x: object, source: object, *rest: object) -> object:
        result = ops.copy(x, "K")
        view = composite(ops, result, *rest)
        if view is NotImplemented:
            return view
        ops.copy_(view, source, "unsafe")
        return result

    return made


class _Nesting(threading.local):
    depth = 0


_nesting = _Nesting()


class _Composite:
    """A decomposition that gives the types which the operator's meta says; also as they lie in
    memory, if nothing but the decomposition ``is_seen`` in graphs.
    """

    def __init__(self, definition: Definition, function: Composite, is_seen: bool) -> None:
        self.definition = definition
        self.function = function
        self.is_seen = is_seen

    def __call__(self, ops: Ops, *args: object) -> object:
        definition, name = self.definition, self.definition.name
        definition.is_used = True
        if _nesting.depth > _MOST_NESTED:
            raise uncapturable(CUSTOM_OPERATOR, f"{name} is defined in terms of itself")
        _nesting.depth += 1
        try:
            found = self.function(ops, *args)
        finally:
            _nesting.depth -= 1
        if found is not NotImplemented and definition.meta is not None:
            said = ops.meta(name, *args)
            said = said if isinstance(said, tuple) else (said,)
            self.compare(said, results_of(definition.schema, found))
        if found is not NotImplemented and not array_operands(args):
            params = definition.schema.params
            given = [_types(x) if p.is_value else x for p, x in zip(params, args, strict=True)]
            check_values(definition, given, functools.partial(self.composed, ops))
        return found

    def composed(self, ops: Ops, *args: Any) -> tuple[Any, ...]:
        """What is written into arrays, and what is given for them."""
        schema = self.definition.schema
        with with_keys(0, above(DispatchKey.CPU)):
            found = self.function(ops, *args)
        if found is NotImplemented:
            raise Unlearnable("it serves other arguments")
        return (*(args[place] for place in schema.written_params), *results_of(schema, found))

    def compare(self, said: Sequence[Type], found: Sequence[Any]) -> None:
        """Raise if the results are none of these types."""
        name = self.definition.name
        if len(found) != len(said):
            raise uncapturable(
                CUSTOM_OPERATOR,
                f"the decomposition of {name} gives {len(found)} results, its meta says "
                f"{len(said)}",
            )
        for place, (kind, each) in enumerate(zip(said, found, strict=True)):
            given = type_of(each)
            if not _agree(kind, given, self.is_seen):
                which = f"result {place} " if len(said) > 1 else ""
                raise uncapturable(
                    CUSTOM_OPERATOR,
                    f"the decomposition of {name} gives {which}{given}, its meta says {kind}",
                )


def _types(x: object) -> Any:
    if isinstance(x, tuple):
        return tuple(map(_types, x))
    return None if x is None else type_of(x)


def _agree(said: Type, given: Type, with_strides: bool) -> bool:
    """Whether two types differ in no more than writeability, and maybe strides."""
    if isinstance(said, ScalarType) or isinstance(given, ScalarType):
        return said == given
    is_same = said.dtype == given.dtype and said.shape == given.shape
    return is_same and (said.strides == given.strides or not with_strides)


def results_of(schema: Schema, found: object) -> tuple[Any, ...]:
    """The results of an operator as a tuple."""
    if len(schema.returns) == 1:
        return (found,)
    return () if found is None else found if isinstance(found, tuple) else (found,)


# ------------------------------------------------------------------ types

_TRACE = KeySet.of(DispatchKey.TRACE)
_FUNCTIONALIZE = KeySet.of(DispatchKey.FUNCTIONALIZE)


def traced_types(
    dispatcher: Dispatcher, schema: Schema, function: Composite
) -> Callable[..., tuple[Type, ...]]:
    """What a decomposition gives for operands of types, seen where it is recorded."""

    def types(*given: object) -> tuple[Type, ...]:
        builder = GraphBuilder()

        def operand(x: object) -> object:
            if isinstance(x, tuple):
                return tuple(map(operand, x))
            return builder.value(x) if isinstance(x, ArrayType | ScalarType) else x

        args = tuple(map(operand, given))
        with recording_into(builder), with_keys(_TRACE, _FUNCTIONALIZE):
            found = function(dispatcher.ops, *args)
        if found is NotImplemented:
            raise uncapturable(
                CUSTOM_OPERATOR,
                f"{schema.name} has no meta, and its decomposition does not serve these arguments",
            )
        results = results_of(schema, found)
        return tuple(each.type if isinstance(each, Literal) else type_of(each) for each in results)

    return types


# ------------------------------------------------------------------ cycles


def check_cycles(name: str, calls: frozenset[str]) -> frozenset[str]:
    """The custom operators that a decomposition of ``name`` calls.

    Raises ``ValueError`` if one of these is made of ``name``, by way of others or itself.
    """
    known = definitions()
    paths: list[tuple[str, ...]] = [(name, each) for each in sorted(calls)]
    seen: set[str] = set()
    while paths:
        path = paths.pop()
        if path[-1] == name:
            raise UsageError(CUSTOM_OPERATOR, f"a cycle of decompositions: {' → '.join(path)}")
        if path[-1] in seen or path[-1] not in known:
            continue
        seen.add(path[-1])
        following = frozenset[str]().union(*known[path[-1]].calls)
        paths += [(*path, each) for each in sorted(following)]
    return calls


def mentioned(function: object) -> frozenset[str]:
    """The custom operators that a function names, in texts or as objects, and those that functions
    of Python name which it calls.
    """
    found: set[str] = set()
    waiting, seen = [function], set[int]()
    while waiting:
        each: Any = waiting.pop()
        if isinstance(each, str):
            if "::" in each:
                found.add(_row(each))
            continue
        if id(each) in seen:
            continue
        seen.add(id(each))
        schema = getattr(each, "schema", None)
        if isinstance(schema, Schema):
            found.add(schema.name)
        elif isinstance(each, functools.partial):
            waiting += [each.func, *each.args, *each.keywords.values()]
        elif isinstance(each, MethodType):
            waiting.append(each.__func__)
        elif isinstance(each, FunctionType) and _is_of_user(each):
            waiting += _held(each)
    return frozenset(found)


def _row(name: str) -> str:
    """The operator that another one follows from."""
    return TABLE[name].group if name in TABLE else name


def _is_of_user(function: FunctionType) -> bool:
    return (function.__module__ or "").partition(".")[0] not in ("numpy", "fxc")


def _held(function: FunctionType) -> Iterator[object]:
    """What a function gets at by its names."""
    yield from function.__defaults__ or ()
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not bound yet
            continue
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        codes += [each for each in code.co_consts if isinstance(each, CodeType)]
        yield from (each for each in code.co_consts if isinstance(each, str))
        yield from (
            function.__globals__[name] for name in code.co_names if name in function.__globals__
        )
