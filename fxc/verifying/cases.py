"""A graph with inputs, of which compiled code gives something else than NumPy."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from fxc.ir.errors import FxcError
from fxc.ir.evaluate import call, deliver, evaluate
from fxc.ir.graph import Graph, Node, Value, walk
from fxc.ir.handles import handle, object_at
from fxc.ir.records import frozen, replace
from fxc.ir.settings import Math
from fxc.ir.signature import ResultLeaf, Signature
from fxc.ir.steps import done, listening
from fxc.ir.verify import verify
from fxc.ops.kernels import kernel_of
from fxc.ops.kernels.copies import strided_copy
from fxc.ops.metas import types_of
from fxc.ops.operators import EFFECTS
from fxc.ops.table import TABLE

from .bisect import NATIVE, StepRun, Verdict, first_wrong, step_runs
from .nearness import Nearness
from .seen import Seen, arrays_in, seen
from .stage_runs import Run
from .undefined import difference, in_filled_memory


class _Enough(FxcError):
    """The step that was waited for is done."""


@frozen(eq=False)
class Case:
    """A captured or functional graph and its inputs. Inputs that are handles stand as the objects
    that they are of, a random generator for one.
    """

    graph: Graph
    inputs: tuple[Any, ...]
    math: Math = "default"

    def verdict(self, last: str = "") -> Verdict | None:
        """Which step is wrong, if one is; ``last`` is one behind which none is looked at."""
        verify(self.graph, table=TABLE.schema_of, meta=types_of)
        by_numpy = _by_numpy(self.graph)
        expected = self._seen(by_numpy)
        accepts = Nearness(self._moved)
        made: list[Any] = []

        def compile_it() -> None:
            with listening(lambda step, _: _stop(step == last)):
                try:
                    made.append(_compiled(self.graph, self.math))
                except _Enough:
                    return

        def differs(run: Run) -> str:
            approximates = made and (made[0].module.approximates or self.math == "fast")
            near = accepts if approximates else lambda *_: False
            return difference(expected, self._seen(run), near, runs)

        @cache
        def runs() -> list[Seen]:
            return [*in_filled_memory(lambda: self._seen(by_numpy))]

        steps: list[StepRun] = list(step_runs(compile_it))
        native = made[0].plan.run if made and last in ("", NATIVE) else None
        return first_wrong(iter(steps), native, differs, self.graph)

    def _seen(self, run: Run) -> Seen:
        given = self.given()
        error: Exception | None = None
        leaves: list[Any] = []
        handles = [*given]  # they keep what they are of
        try:
            with np.errstate(all="ignore"):
                leaves = run(*handles)
        except NotImplementedError:
            raise
        except Exception as raised:
            error = raised
        names = [f"%{value.name}" for value in self.graph.inputs]
        for place in handles_of(self.graph):
            given[place] = object_at(given[place])
        results = [(f"result {place}", x) for place, x in enumerate(leaves)]
        return seen([*results, *zip(names, given, strict=True)], error)

    def _moved(self, kernels: Any) -> dict[str, Any] | None:
        found = self._seen(_by_numpy(self.graph, kernels))
        return None if found.error is not None else arrays_in(found)

    def given(self) -> list[Any]:
        """The inputs for one run, which may change them."""
        handles = handles_of(self.graph)
        return [
            handle(copy.deepcopy(x)) if place in handles else _own(x)
            for place, x in enumerate(self.inputs)
        ]


def case_of(graph: Graph, inputs: Sequence[Any], math: Math) -> Case:
    """A case of the inputs of a call, as they are now."""
    handles = handles_of(graph)
    kept = (
        copy.deepcopy(object_at(x)) if place in handles else _own(x)
        for place, x in enumerate(inputs)
    )
    return Case(graph, tuple(kept), math)


def handles_of(graph: Graph) -> set[int]:
    """The places of the inputs that are handles of objects."""
    states = {
        node.args[0]
        for node in walk(graph.body)
        if TABLE[TABLE[node.op].group].tag in EFFECTS and isinstance(node.args[0], Value)
    }
    return {place for place, value in enumerate(graph.inputs) if value in states}


def _own(x: Any) -> Any:
    return strided_copy(x) if isinstance(x, np.ndarray) else x


def _stop(is_last: bool) -> None:
    if is_last:
        raise _Enough


def _by_numpy(graph: Graph, kernels: Any = kernel_of) -> Run:
    if graph.stage != "captured":
        return lambda *inputs: call(graph, inputs, kernels)

    def run(*inputs: Any) -> list[Any]:
        sizes: dict[str, int] = {}
        results = evaluate(graph, inputs, kernels, sizes=sizes)
        signature = Signature((), results_of(graph))
        return deliver(replace(graph, signature=signature), inputs, results, kernels, sizes)

    return run


def results_of(graph: Graph) -> tuple[ResultLeaf, ...]:
    """Each result of a graph as a leaf of its own."""
    return tuple(ResultLeaf(place, x.type) for place, x in enumerate(graph.outputs))


def _compiled(graph: Graph, math: Math) -> Any:
    from fxc.pipeline.assemble import assemble
    from fxc.pipeline.stages import functional_of, lowered

    functional = graph
    if graph.stage == "captured":
        functional = functional_of(graph, results_of(graph))
    else:
        done("simplify", functional)
    drawn = tuple(sorted(handles_of(functional)))
    _, made, _ = lowered(
        functional, lambda graph, index: assemble(graph, index.get_kernel, drawn, math=math), math
    )
    return made


def smaller(case: Case) -> Iterator[Case]:
    """Cases of which a part is left out, those first that leave out most."""
    graph = case.graph
    values = [value for node in graph.nodes for value in node.outputs]
    mutated = graph.signature.mutations if graph.signature is not None else ()
    if mutated and graph.signature is not None and graph.signature.outputs:
        kept = tuple(graph.outputs[each.result] for each in mutated)
        numbered = tuple(replace(each, result=place) for place, each in enumerate(mutated))
        yield _of_results(case, kept, Signature(numbered, ()))
    if graph.stage == "captured" and graph.outputs:
        yield _of_results(case, (), None)
    if len(graph.outputs) != 1 or mutated:
        for value in values:
            yield _of_results(case, (value,), None)
    elif graph.stage != "captured":
        for value in values:
            if value is not graph.outputs[0]:
                yield _of_results(case, (value,), None)
    for place in reversed(range(len(graph.nodes))):
        yield _without(case, place)
    for place in reversed(range(len(graph.nodes))):
        if graph.nodes[place].outputs and graph.nodes[place].outputs[0] not in graph.outputs:
            yield _with_inputs(case, place)


def _of_results(case: Case, results: Sequence[Any], signature: Signature | None) -> Case:
    graph = case.graph
    body = replace(graph.body, results=tuple(results))
    made = replace(graph, body=body)
    if graph.stage != "captured":
        made = replace(made, signature=signature or Signature((), results_of(made)))
    return _needed(replace(case, graph=made))


def _without(case: Case, place: int) -> Case:
    nodes = case.graph.nodes
    body = replace(case.graph.body, nodes=(*nodes[:place], *nodes[place + 1 :]))
    return _needed(replace(case, graph=replace(case.graph, body=body)))


def _with_inputs(case: Case, place: int) -> Case:
    """The case with the results of a node as inputs."""
    graph = case.graph
    node = graph.nodes[place]
    ahead = replace(graph.body, nodes=graph.nodes[: place + 1], results=node.outputs)
    found = evaluate(replace(graph, body=ahead), case.given(), kernel_of)
    nodes = (*graph.nodes[:place], *graph.nodes[place + 1 :])
    body = replace(graph.body, params=(*graph.inputs, *node.outputs), nodes=nodes)
    inputs = (*case.inputs, *map(_own, found))
    return _needed(replace(case, graph=replace(graph, body=body), inputs=inputs))


def _read_by(node: Node) -> Iterator[Value]:
    yield from node.inputs
    for region in node.regions:
        yield from (value for value in region.results if isinstance(value, Value))
        for inner in walk(region):
            yield from inner.inputs


def _needed(case: Case) -> Case:
    """The case without nodes and inputs that nobody reads."""
    graph = case.graph
    wanted = {value for value in graph.outputs if isinstance(value, Value)}
    nodes = []
    for node in reversed(graph.nodes):
        if node.schema.writes or not wanted.isdisjoint(node.outputs):
            nodes.append(node)
            wanted.update(_read_by(node))
    signature = graph.signature
    used = set(signature.mutated_inputs) if signature is not None else set[int]()
    kept = [n for n, value in enumerate(graph.inputs) if value in wanted or n in used]
    params = tuple(graph.inputs[n] for n in kept)
    if signature is not None:
        moved = (replace(each, input=kept.index(each.input)) for each in signature.mutations)
        signature = replace(signature, mutations=tuple(moved))
    body = replace(graph.body, params=params, nodes=tuple(nodes[::-1]))
    made = replace(graph, body=body, signature=signature)
    return replace(case, graph=made, inputs=tuple(case.inputs[n] for n in kept))
