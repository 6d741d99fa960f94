"""A backend of one's own: run the functional graph operator by operator with NumPy.

A backend is a function. It gets the functional graph (no views, no writes), the index of the
operators that a backend may choose from, and the types of the inputs, and gives a callable from
input values to result values. What the caller sees on top of that (inputs that are updated, results
that are views of inputs) is fxc's work, not the backend's.

    step = fxc.compile(step, backend=numpy_backend)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fxc.dispatch.backend import BackendIndex
from fxc.ir.evaluate import evaluate
from fxc.ir.graph import Graph
from fxc.ir.types import Type
from fxc.ops.table import TABLE


def numpy_backend(
    graph: Graph, index: BackendIndex[Callable[..., Any]], example_types: Sequence[Type]
) -> Callable[..., tuple[Any, ...]]:
    """Return a function that evaluates `graph` with the kernels of `index`."""

    def kernel(op: str) -> Callable[..., Any]:
        found = index.get_kernel(TABLE[op])
        if found is None:
            raise NotImplementedError(f"no kernel for {op}")
        return found

    def run(*inputs: Any) -> tuple[Any, ...]:
        return evaluate(graph, inputs, kernel)

    return run


def smooth(a: Any, b: Any) -> None:
    """Something to try it on: one step of Jacobi's method, in place."""
    b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    a[...] = b
