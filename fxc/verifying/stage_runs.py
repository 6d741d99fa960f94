"""What the graphs of a compilation give, evaluated by NumPy, in the place of native code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fxc.ir.evaluate import KernelOf, deliver, evaluate
from fxc.ir.graph import Graph
from fxc.ir.signature import Signature
from fxc.ops.kernels import kernel_of

if TYPE_CHECKING:
    from fxc.ir.signature import OutputLeaf

Run = Callable[..., list[Any]]
"""From the inputs of a graph to the leaves of the caller's result."""


def captured_run(graph: Graph, leaves: Sequence[OutputLeaf], kernels: KernelOf = kernel_of) -> Run:
    """A captured graph as a run. The leaves are copies where they are views of inputs."""
    with_leaves = replace(graph, signature=Signature((), tuple(leaves)))

    def run(*inputs: Any) -> list[Any]:
        sizes: dict[str, int] = {}
        results = evaluate(graph, inputs, kernels, sizes=sizes)
        return deliver(with_leaves, inputs, results, kernels, sizes)

    return run
