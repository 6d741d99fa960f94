"""The pipeline: one captured call through all stages to something that runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fxc.capture.captured import Captured
from fxc.capture.epilogue.leaves import ArrayLeaf, ScalarLeaf
from fxc.capture.outside.overlaps import ViewSteps
from fxc.capture.regions.loop_guards import without_counters
from fxc.dispatch.backend import BackendIndex, numpy_index
from fxc.dispatch.default import default_dispatcher
from fxc.dispatch.keys import DispatchKey
from fxc.ir.errors import ExtensionError, FxcError, PutOff, Unchecked
from fxc.ir.graph import Graph, Operand, Region, Value, walk
from fxc.ir.later import import_later
from fxc.ir.records import frozen, replace
from fxc.ir.settings import Math, config
from fxc.ir.signature import InputLeaf, OutputLeaf, ResultLeaf, ViewLeaf, ViewStep
from fxc.ir.size_guards import Guard, assuming, recording
from fxc.ir.steps import done
from fxc.ir.symbols import Dim, symbols_of
from fxc.ir.types import ArrayType
from fxc.ops.metas import types_of
from fxc.ops.table import TABLE
from fxc.passes.dates import in_integers
from fxc.passes.decompose import decompose
from fxc.passes.fills import fills_apart
from fxc.passes.functionalize import functionalize
from fxc.passes.low_bits import without_high_bits
from fxc.passes.ranges import prove_ranges
from fxc.passes.reinplace import reinplace
from fxc.passes.simplify import simplify

if TYPE_CHECKING:
    from fxc.dispatch.extensions import Backend, Pass
    from fxc.ir.evaluate import KernelOf
    from fxc.lowering.building.context import NativeKernel
    from fxc.lowering.emission.native_module import Module
    from fxc.ops.kernels.making import Kernel

    from .assemble import Assembled

# See Note [Rooms with one door].
call = import_later("fxc.ir.evaluate", "call")
deliver = import_later("fxc.ir.evaluate", "deliver")
dims_of = import_later("fxc.ir.text", "dims_of")
without_loose_bounds = import_later("fxc.passes.loose_bounds", "without_loose_bounds")


@frozen
class Compilation:
    """All stages of one captured call; ``run(*inputs)`` gives the leaves of the result.

    ``relations`` of symbols are what lowering relies on beyond what capture has checked.
    """

    captured: Graph
    functional: Graph
    decomposed: Graph
    assembled: Assembled | None
    fallbacks: tuple[str, ...]
    run: Callable[..., list[Any]]
    relations: tuple[Guard, ...] = ()


def llvm_index(math: Math = "default") -> BackendIndex[NativeKernel]:
    """The native backend: wants pure graphs, has kernels for what lowering covers."""
    from fxc.lowering.building.native_kernels import exact_kernel, native_kernel

    kernels = exact_kernel if math == "exact" else native_kernel
    return BackendIndex("llvm", DispatchKey.CPU, True, kernels, lambda kernel: kernel.last)


def result_leaves(captured: Captured) -> tuple[OutputLeaf, ...]:
    """The leaves of the caller's result; a ResultLeaf numbers a result of the captured graph."""
    leaves: list[OutputLeaf] = []
    place = 0
    known = _leaves_of_overlapping(captured) if captured.overlaps.inputs else {}
    for leaf in captured.outputs:
        if isinstance(leaf, ArrayLeaf | ScalarLeaf):
            operand = leaf.value if isinstance(leaf, ArrayLeaf) else leaf.operand
            leaves.append(known.get(operand) or ResultLeaf(place, operand.type))
            place += 1
        else:
            leaves.append(leaf)
    return tuple(leaves)


def _leaves_of_overlapping(captured: Captured) -> dict[Operand, OutputLeaf]:
    """What inputs that have a common base are in the result, and views of them: of the caller's
    object, not of the base. See Note [Overlapping inputs].
    """
    inputs = captured.overlaps.inputs
    origins: dict[Operand, tuple[Value, ViewSteps]] = {x: (x, ()) for x in inputs}
    leaves: dict[Operand, OutputLeaf] = {x: InputLeaf(place) for x, place in inputs.items()}
    # What functionalization numbers as views of its own is less than the number of results.
    identity = len(captured.outputs)
    for node in captured.graph.nodes:
        if node.schema.is_view and node.args[0] in origins and node.output not in origins:
            root, steps = origins[node.args[0]]
            steps = (*steps, ViewStep(node.op, node.args[1:]))
            origins[node.output] = root, steps
            leaves[node.output] = ViewLeaf(InputLeaf(inputs[root]), steps, identity)
            identity += 1
    return leaves


def verified(graph: Graph, after: str, before: Graph | None = None) -> Graph:
    """The graph, told to who listens to the step ``after`` which it has come; if
    ``fxc.config.verify_graphs`` is set, it is verified first.

    ``before`` is the graph, verified, that the pass has taken. Raises ``VerificationError``, which
    names the pass that has just run, if it has problems.
    """
    if config.verify_graphs:
        from fxc.ir.verify import verify

        verify(graph, table=TABLE.schema_of, meta=types_of, after=after, before=before)
    done(after, graph)
    return graph


def functional_graph(captured: Captured) -> Graph:
    """The captured graph without views and writes, simplified."""
    return functional_of(captured.graph, result_leaves(captured), captured.overlaps.regions)


def functional_of(
    graph: Graph,
    leaves: tuple[OutputLeaf, ...],
    regions: Mapping[int, tuple[ViewSteps, ...]] = MappingProxyType({}),
) -> Graph:
    """The same for a captured graph of which these are the leaves of the caller's result."""
    graph = verified(graph, "capture")
    with _assuming_no_more_than(graph):
        graph = functionalize(graph, leaves, default_dispatcher())
    graph = _within_regions(graph, regions)
    graph = verified(graph, "functionalize")
    return verified(simplify(graph), "simplify", graph)


def decomposed_graph(functional: Graph, index: BackendIndex[Any]) -> Graph:
    """The functional graph in operators that a backend has kernels for, simplified."""
    graph = verified(decompose(functional, index, default_dispatcher()), "decompose", functional)
    graph = verified(in_integers(graph, default_dispatcher()), "dates", graph)
    graph = verified(without_high_bits(graph), "low bits", graph)
    graph = verified(prove_ranges(graph), "ranges", graph)
    return verified(simplify(graph), "simplify after decompose", graph)


def _within_regions(graph: Graph, regions: Mapping[int, tuple[ViewSteps, ...]]) -> Graph:
    """The graph with these regions for mutations of inputs that have none."""
    assert graph.signature is not None
    mutations = tuple(
        replace(m, regions=m.regions or regions.get(m.input, ())) for m in graph.signature.mutations
    )
    return replace(graph, signature=replace(graph.signature, mutations=mutations))


def compile_captured(
    captured: Captured,
    backend: str | Backend | BackendIndex[Kernel],
    longest: float = inf,
    math: Math = "default",
    passes: Sequence[Pass | str] = (),
) -> Compilation:
    """Take a captured call through the stages for a backend: "llvm", "numpy" or another.

    Raises ``PutOff`` where native code is estimated to take more than ``longest`` seconds to make.
    """
    functional = functional_graph(captured)
    if passes:
        from .passing import passed

        functional = passed(functional, passes)
    if backend == "llvm":
        seconds = _seconds_to_compile(functional)
        if seconds > longest:
            raise PutOff(seconds)
        return _with_states(captured, _native(captured, functional, math))
    return _with_states(captured, _by_backend(captured, functional, backend))


def reassembled(
    captured: Captured,
    graphs: tuple[Graph, Graph],
    module: Module,
    relations: tuple[Guard, ...],
) -> Compilation:
    """The compilation that had these graphs, functional and decomposed, and this module."""
    from .assemble import assembled

    made = assembled(graphs[1], module)
    return _with_states(
        captured,
        Compilation(captured.graph, *graphs, made, made.fallbacks, made.plan.run, relations),
    )


def _with_states(captured: Captured, made: Compilation) -> Compilation:
    """The compilation such that a call which NumPy runs again draws the same numbers again."""
    if not captured.drawn or (made.assembled is not None and made.assembled.module.keeps_states):
        return made
    from fxc.runtime.generators import restoring

    return replace(made, run=restoring(made.run, captured.drawn))


def _by_backend(
    captured: Captured, functional: Graph, given: str | Backend | BackendIndex[Kernel]
) -> Compilation:
    index: BackendIndex[Kernel] = numpy_index()
    if given != "numpy":
        from fxc.dispatch.extensions import backend_of

        backend = backend_of(given)
        if not isinstance(backend, BackendIndex):
            sizes = _counted_outside(functional)
            graph = _with_results(functional, sizes.values())
            from .backend_results import checked

            inner = checked(graph, _made_by(backend, given, graph, index), _name_of(given))
            delivered = _delivering(functional, tuple(sizes), inner)
            return Compilation(captured.graph, functional, functional, None, (), delivered)
        index = backend
    decomposed = decompose(functional, index, default_dispatcher())
    if index.functional:
        verified(decomposed, "decompose", functional)
    kernels = _kernels_of(index)

    def run(*inputs: object) -> list[Any]:
        results: list[Any] = call(decomposed, inputs, kernels)
        return results

    return Compilation(captured.graph, functional, decomposed, None, (), run)


def _made_by(
    backend: Backend, given: object, functional: Graph, index: BackendIndex[Kernel]
) -> Callable[..., Sequence[Any]]:
    """What a backend makes of a graph. Raises ``ExtensionError``, which names it, if it fails."""
    try:
        return backend(functional, index, tuple(value.type for value in functional.inputs))
    except (FxcError, KeyboardInterrupt):
        raise
    except Exception as error:
        raise ExtensionError(f"the backend {_name_of(given)!r} raises {error!r}") from error


def _name_of(backend: object) -> str:
    return backend if isinstance(backend, str) else getattr(backend, "__name__", repr(backend))


def _kernels_of(index: BackendIndex[Kernel]) -> KernelOf:
    """A backend's kernel of each operator, or else the one of its column."""
    column = default_dispatcher().column(index.key)

    def kernel_of(name: str) -> Kernel:
        return index.get_kernel(TABLE[name]) or column(name)

    return kernel_of


def _seconds_to_compile(functional: Graph) -> float:
    """About how long native code takes to make: what most programs of a hundred take at most."""
    return sum(
        _ARRAY if any(isinstance(each.type, ArrayType) for each in node.outputs) else _NUMBER
        for node in walk(functional.body)
    )


_ARRAY, _NUMBER = 1e-3, 5e-4  # seconds for an operator that gives arrays, or numbers


def _counted_outside(graph: Graph) -> dict[str, Value]:
    """What counts the sizes that the signature speaks of, by symbol: for one who has no more than
    the results of the graph.
    """
    signature = graph.signature
    assert signature is not None
    regions = (steps for each in signature.mutations for steps in each.regions)
    written = tuple(step.args for steps in regions for step in steps)
    needed = {name for dim in dims_of((*signature.outputs, written)) for name in symbols_of(dim)}
    return {node.bound: node.outputs[0] for node in graph.nodes if node.bound in needed}


def _with_results(graph: Graph, more: Iterable[Value]) -> Graph:
    results = (*graph.outputs, *more)
    return graph.with_body(Region(graph.inputs, graph.nodes, results))


def _delivering(
    graph: Graph, counted: Sequence[str], inner: Callable[..., Sequence[Any]]
) -> Callable[..., list[Any]]:
    """What a backend's results are to the caller; those at the end count sizes."""
    kernels = default_dispatcher().column(DispatchKey.CPU)
    count = len(graph.outputs)

    def run(*inputs: object) -> list[Any]:
        results = inner(*inputs)
        found = zip(counted, results[count:], strict=True)
        sizes = {name: len(x) if isinstance(x, np.ndarray) else int(x) for name, x in found}
        given: list[Any] = deliver(graph, inputs, results[:count], kernels, sizes)
        return given

    return run


@frozen
class Native:
    """Native code of a functional graph, and the relations it relies on beyond the graph's."""

    decomposed: Graph
    assembled: Assembled
    guards: tuple[Guard, ...]


@contextmanager
def _assuming_no_more_than(graph: Graph) -> Iterator[None]:
    """Raise ``Unchecked`` if the block assumes what capture has no check of. See Note [Counted
    sizes].
    """
    assumed: dict[Guard, None] = {}
    with assuming(lambda guard: assumed.setdefault(guard)):
        yield
    checked = {each.normal for each in graph.guards}
    zeros: list[Dim] = [0]
    for each in graph.guards:
        if each.relation == "==":
            zeros += [each.left - each.right, each.right - each.left]

    def is_checked(relation: Guard) -> bool:
        difference, how = relation.normal
        return any((difference + zero, how) in checked for zero in zeros)

    unchecked = frozenset[object](each for each in assumed if not is_checked(each))
    if unchecked:
        raise Unchecked(unchecked)


def native(functional: Graph, drawn: Sequence[int] = (), math: Math = "default") -> Native:
    """Decompose, lower and assemble a functional graph; for ``drawn`` see ``assemble``."""
    from .assemble import assemble

    def made(graph: Graph, index: BackendIndex[NativeKernel]) -> Assembled:
        return assemble(graph, index.get_kernel, drawn, math=math)

    return Native(*lowered(functional, made, math))


Made = TypeVar("Made")


def lowered(
    functional: Graph,
    make: Callable[[Graph, BackendIndex[NativeKernel]], Made],
    math: Math = "default",
) -> tuple[Graph, Made, tuple[Guard, ...]]:
    """The decomposed graph, what ``make`` makes of it, and the relations that this relies on beyond
    the functional graph's.
    """
    taken: dict[Guard, None] = {}
    with recording(taken), _assuming_no_more_than(functional):
        index = llvm_index(math)
        decomposed = decomposed_graph(functional, index)
        decomposed = verified(fills_apart(decomposed), "fills", decomposed)
        decomposed = verified(reinplace(decomposed), "reinplace", decomposed)
        if any(node.op == "bind_size" for node in walk(decomposed.body)):
            decomposed = verified(without_loose_bounds(decomposed), "loose bounds", decomposed)
        made = make(decomposed, index)
    more = without_counters((*decomposed.guards, *taken), functional.body)
    known = frozenset(functional.guards)
    return decomposed, made, tuple(g for g in more if g not in known)


def _native(captured: Captured, functional: Graph, math: Math) -> Compilation:
    made = native(functional, captured.drawn, math)
    return Compilation(
        captured.graph,
        functional,
        made.decomposed,
        made.assembled,
        made.assembled.fallbacks,
        made.assembled.plan.run,
        made.guards,
    )
