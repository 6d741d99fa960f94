"""What the stages of a compilation give, evaluated by NumPy, in the place of native code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from fxc.ir.evaluate import KernelOf, call, deliver, evaluate
from fxc.ir.graph import Graph
from fxc.ir.records import replace
from fxc.ir.signature import Signature
from fxc.ir.types import ScalarType
from fxc.lowering.nests.program import Program
from fxc.ops.kernels import kernel_of

from .in_place import in_place, updating_kernel_of

if TYPE_CHECKING:
    from fxc.ir.signature import OutputLeaf

Run = Callable[..., list[Any]]
"""From the inputs of a graph to the leaves of the caller's result."""

SECONDS = 10.0
"""How long loop nests may take, which Python runs element by element."""


def captured_run(graph: Graph, leaves: Sequence[OutputLeaf], kernels: KernelOf = kernel_of) -> Run:
    """A captured graph as a run. The leaves are copies where they are views of inputs."""
    with_leaves = replace(graph, signature=Signature((), tuple(leaves)))

    def run(*inputs: Any) -> list[Any]:
        sizes: dict[str, int] = {}
        results = evaluate(graph, inputs, kernels, sizes=sizes)
        return deliver(with_leaves, inputs, results, kernels, sizes)

    return run


def functional_run(graph: Graph) -> Run:
    """A functional or decomposed graph as a run; what is marked to be made in place is."""
    marked = in_place(graph)
    return lambda *inputs: call(marked, inputs, updating_kernel_of)


def loops_run(graph: Graph, program: Program) -> Run:
    """The loop nests of a decomposed graph as a run: what is stored to inputs is there then.

    The run raises ``NotImplementedError`` if it is too much for the evaluator.
    """
    from .loop_evaluator import evaluate as evaluate_loops

    signature = graph.signature
    assert signature is not None
    stored = replace(graph, signature=Signature((), signature.outputs))

    def run(*inputs: Any) -> list[Any]:
        try:
            found = evaluate_loops(program, inputs, seconds=SECONDS)
        except Exception as error:
            raise NotImplementedError from error
        results = [
            _scalar(value, operand.type) if isinstance(operand.type, ScalarType) else value
            for value, operand in zip(found, graph.outputs, strict=True)
        ]
        return deliver(stored, inputs, results, kernel_of)

    return run


def _scalar(value: Any, kind: ScalarType) -> Any:
    return kind.python_type(value[()]) if kind.weak else value[()]
