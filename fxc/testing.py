"""Checks of what others add to fxc; imported only when asked for: ``import fxc.testing``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from fxc.dispatch.backend import BackendIndex
from fxc.dispatch.bind import bind
from fxc.dispatch.custom_op import CustomOp
from fxc.dispatch.default import default_dispatcher
from fxc.dispatch.keys import AliasKey, DispatchKey
from fxc.dispatch.trace import recording_into
from fxc.ir.builder import GraphBuilder
from fxc.ir.error_kinds import ARGUMENT
from fxc.ir.errors import FxcError, UsageTypeError, WouldRaise, a_kind
from fxc.ir.evaluate import call
from fxc.ir.graph import Graph, Literal, Value
from fxc.ir.records import frozen
from fxc.ir.signature import OutputLeaf, ResultLeaf
from fxc.ir.size_guards import recording
from fxc.ir.types import Type
from fxc.ops.custom import definition_of
from fxc.ops.kernels import kernel_of
from fxc.ops.operators import Operator
from fxc.ops.table import TABLE
from fxc.passes.decompose import decompose
from fxc.passes.functionalize import functionalize

from .ir.tracebacks import folded
from .pipeline.stages import native
from .verifying.sample_values import (
    CheckFailed,
    arrays_in,
    bits_of,
    check_agreement,
    copied,
    difference,
    in_layout_of,
    is_literal,
    opened,
    type_of_argument,
    type_of_result,
)


@folded
def check_op(op: CustomOp, samples: Iterable[Sequence[Any]], *, rtol: float = 0.0) -> None:
    """Compare all that is registered of a custom operator with what its function does.

    ``samples`` are tuples of arguments. On each one is looked at: which arguments change and which
    results share memory, beside the schema; dtypes, shapes and strides, beside the meta, also with
    sizes as symbols; what each decomposition and the native code give, bit by bit unless ``rtol``
    says how far they may be off. Arguments are copied.

    Raises ``CheckFailed``, which names the sample and what differs.

    >>> import numpy as np, fxc
    >>> op = fxc.custom_op("doc::twice(Array x) -> Array", lambda x: x * 2)
    >>> handle = op.register_meta(lambda x: x.new(dtype="f4"))
    >>> try:
    ...     check_op(op, [(np.ones(3),)])
    ... except AssertionError as error:
    ...     print(error)
    FXC0202: doc::twice, sample 0: the meta says f32[3], the function gives f64[3]
    >>> handle.remove()
    >>> handle = op.register_meta(lambda x: x.new())
    >>> check_op(op, [(np.ones(3),), (np.ones((2, 3), "f4").T,)])
    >>> op.remove()
    """
    if not isinstance(op, CustomOp):
        raise UsageTypeError(ARGUMENT, f"check_op takes what fxc.custom_op gives, not {a_kind(op)}")
    changed: set[str] = set()
    count = 0
    for number, given in enumerate(samples):
        args = bind(TABLE[op.schema.name], tuple(given), {})
        with _named(f"{op.schema.name}, sample {number}: "):
            changed |= _Check(op, args, rtol).run()
        count += 1
    if not count:
        raise CheckFailed(f"{op.schema.name}: there are no samples to check it with")
    for place in op.schema.written_params:
        name = op.schema.params[place].name
        if name not in changed:
            text = f"the schema says that {name} is written, and no sample changes it"
            raise CheckFailed(f"{op.schema.name}: {text}")


@contextmanager
def _named(where: str) -> Iterator[None]:
    try:
        yield
    except CheckFailed as error:
        raise CheckFailed(f"{where}{error.text}") from error.__cause__


@frozen
class _Seen:
    """What a call has given, and its arguments afterwards."""

    results: tuple[Any, ...]
    args: tuple[Any, ...]


class _Check:
    """The checks of one sample."""

    def __init__(self, op: CustomOp, args: tuple[Any, ...], rtol: float) -> None:
        self.op = op
        self.schema = op.schema
        self.definition = definition_of(op.schema.name)
        self.args = args
        self.rtol = rtol

    def run(self) -> set[str]:
        """Make all checks; the names of the arguments that have changed."""
        wanted, again = (self.seen("it", self.definition.impl) for _ in range(2))
        if wanted is None or again is None:
            raise CheckFailed("it gives NotImplemented")
        changed = self.check_arguments(wanted)
        self.check_memory(wanted)
        self.compare("a second call", again, wanted)
        self.check_meta(wanted)
        for alias, function in self.decompositions():
            name = f"the decomposition (kind {alias.name.lower()})"
            found = self.seen(name, partial(function, default_dispatcher().ops))
            if found is None:
                continue
            self.check_memory(found, name)
            if alias is not AliasKey.IMPLICIT and not self.schema.is_view:
                results = tuple(map(in_layout_of, found.results, wanted.results))
                found = _Seen(results, found.args)  # the meta says how they lie in memory
            self.compare(name, found, wanted)
        self.check_graphs(wanted)
        return changed

    def decompositions(self) -> list[tuple[AliasKey, Callable[..., Any]]]:
        composites = default_dispatcher().composites_of(self.schema.name, DispatchKey.CPU)
        return list(composites)

    def seen(self, what: str, function: Callable[..., Any]) -> _Seen | None:
        """What a function does with copies of the arguments; None if it does not serve them."""
        args = copied(self.args)
        try:
            found = function(*args)
        except Exception as error:
            raise CheckFailed(f"{what} raises {error!r}") from error
        if found is NotImplemented:
            return None
        return _Seen(self.results(what, found), args)

    def results(self, what: str, found: object) -> tuple[Any, ...]:
        count = len(self.schema.returns)
        if count == 1:
            return (found,)
        results = () if found is None else found
        if type(results) is not tuple or len(results) != count:
            wanted = f"a tuple of {count}" if count else "nothing"
            raise CheckFailed(f"{what} gives {a_kind(found)}, the schema says {wanted}")
        return results

    # -- the schema

    def check_arguments(self, wanted: _Seen) -> set[str]:
        """Which arguments have changed; only those that are written may."""
        changed = set()
        for param, before, after in zip(self.schema.params, self.args, wanted.args, strict=True):
            if bits_of(before) != bits_of(after):
                if not param.is_written:
                    raise CheckFailed(f"it writes {param.name}, the schema does not say so")
                changed.add(param.name)
        return changed

    def check_memory(self, found: _Seen, what: str = "it") -> None:
        """Results share memory with what the schema says, and with nothing else."""
        operands = [
            (param.name, array)
            for param, arg in zip(self.schema.params, found.args, strict=True)
            for array in arrays_in(arg)
        ]
        for place, (result, said) in enumerate(
            zip(found.results, self.schema.returns, strict=True)
        ):
            which = f"result {place}" if len(found.results) > 1 else "the result"
            if not isinstance(result, np.ndarray) or not result.size:
                continue
            for name, array in operands:
                shares = bool(np.may_share_memory(result, array))
                is_view = said.alias is not None and name == self.schema.params[0].name
                if shares and not is_view:
                    raise CheckFailed(
                        f"{which} of {what} shares memory with {name}, the schema does not say so"
                    )
                if is_view and not shares:
                    raise CheckFailed(
                        f"{which} of {what} is an array of its own, the schema says that it is a "
                        f"view of {name}"
                    )
            for other in found.results[:place]:
                if isinstance(other, np.ndarray) and np.may_share_memory(result, other):
                    raise CheckFailed(f"{which} of {what} shares memory with another result")

    # -- the meta

    def check_meta(self, wanted: _Seen) -> None:
        """The meta says what there is, for these sizes and where they are symbols."""
        name, types = self.schema.name, tuple(map(type_of_result, wanted.results))
        kinds = [
            type_of_argument(p.is_value, x)
            for p, x in zip(self.schema.params, self.args, strict=True)
        ]
        said = self.asked(name, kinds)
        for kind, found in zip(said, types, strict=True):
            check_agreement("the meta", kind, found, {})
        if self.definition.meta is None:
            return
        known: dict[str, int] = {}
        open_kinds = [opened(kind, f"s{place}", known) for place, kind in enumerate(kinds)]
        for kind, found in zip(self.asked(name, open_kinds), types, strict=True):
            check_agreement("the meta, with sizes as symbols,", kind, found, known)

    def asked(self, name: str, kinds: Sequence[Any]) -> tuple[Type, ...]:
        try:
            with recording({}):
                found = default_dispatcher().redispatch(DispatchKey.META, name, tuple(kinds))
        except Exception as error:
            raise CheckFailed(f"the meta raises {error!r}") from error
        return found if isinstance(found, tuple) else (found,)

    # -- graphs

    def check_graphs(self, wanted: _Seen) -> None:
        """The operator in a functional graph, decomposed without views and writes, and natively."""
        graph = self.graph()
        self.compare("a functional graph of it", self.called(graph), wanted)
        if self.decompositions():
            without = BackendIndex("check", DispatchKey.CPU, functional=True, kernels=self.others)
            try:
                graph = decompose(graph, without, default_dispatcher())
            except FxcError as error:
                raise CheckFailed(f"the decomposition fails: {error}") from error
            self.compare("the decomposition without writes", self.called(graph), wanted)
        if self.definition.lowering is not None:
            self.check_lowering(wanted)

    def others(self, op: Operator) -> Operator | None:
        return None if op.group == self.schema.name else op

    def check_lowering(self, wanted: _Seen) -> None:
        graph = self.graph()
        try:
            made = native(graph)
        except Exception as error:
            raise CheckFailed(f"the lowering raises {error!r}") from error
        names = {op.name for op in TABLE.group(self.schema.name)}
        nodes = [node for node in made.decomposed.nodes if node.op in names]
        if not nodes or not names.isdisjoint(made.assembled.fallbacks):
            return  # it does not cover these
        args = copied(self.args)
        try:
            results = made.assembled.plan.run(*(args[place] for place in self.inputs()))
        except WouldRaise:
            return  # the operator itself runs again
        self.compare("the native code", _Seen(tuple(results), args), wanted)

    def inputs(self) -> list[int]:
        """The arguments that are inputs of graphs: arrays, and numbers."""
        params = zip(self.schema.params, self.args, strict=True)
        return [
            place
            for place, (param, arg) in enumerate(params)
            if param.is_value and not param.is_list and not is_literal(arg)
        ]

    def graph(self) -> Graph:
        """The functional graph of a call of the operator."""
        builder, dispatcher = GraphBuilder(), default_dispatcher()
        places = self.inputs()
        args, inputs = [], []
        with recording_into(builder):
            for place, (param, arg) in enumerate(zip(self.schema.params, self.args, strict=True)):
                if place in places:
                    arg = builder.value(type_of_argument(True, arg), param.name)
                    inputs.append(arg)
                elif param.is_value and param.is_list:
                    arg = tuple(builder.value(type_of_argument(True, each)) for each in arg)
                    inputs += arg
                args.append(arg)
            found = dispatcher.call(self.schema.name, *args)
        results = found if isinstance(found, tuple) else () if found is None else (found,)
        leaves: list[OutputLeaf] = [
            ResultLeaf(place, each.type) for place, each in enumerate(results)
        ]
        operands = tuple(
            each if isinstance(each, Value | Literal) else Literal(each) for each in results
        )
        captured = Graph("check", "captured", builder.finish(inputs, operands))
        return functionalize(captured, leaves, dispatcher)

    def called(self, graph: Graph) -> _Seen:
        args = copied(self.args)
        given: list[Any] = []
        for param, arg in zip(self.schema.params, args, strict=True):
            if param.is_value and param.is_list:
                given += arg
            elif param.is_value and not is_literal(arg):
                given.append(arg)
        try:
            found = call(graph, given, kernel_of)
        except Exception as error:
            raise CheckFailed(f"a functional graph of it raises {error!r}") from error
        return _Seen(tuple(found), args)

    # -- comparing

    def compare(self, what: str, found: _Seen, wanted: _Seen) -> None:
        """Raise where two calls differ in results or in arguments afterwards."""
        for place, (one, other) in enumerate(zip(found.results, wanted.results, strict=True)):
            which = f"result {place}" if len(wanted.results) > 1 else "the result"
            found_out = difference(one, other, self.rtol)
            if found_out:
                raise CheckFailed(f"{which} of {what} {found_out}")
        for param, one, other in zip(self.schema.params, found.args, wanted.args, strict=True):
            for mine, theirs in zip(arrays_in(one), arrays_in(other), strict=True):
                found_out = difference(mine, theirs, self.rtol)
                if found_out:
                    raise CheckFailed(f"after {what} {param.name} {found_out}")
