"""A backend that has few operators: it writes a graph as a function in Python, and runs that.

What NumPy has a ufunc for is written as a call of it. Other operators are replaced by what they are
made of (``mean`` by ``sum`` and ``divide``), or else called by fxc's own NumPy kernels.

    step = fxc.compile(step, backend=source_backend)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fxc.dispatch.backend import BackendIndex
from fxc.dispatch.default import default_dispatcher
from fxc.dispatch.keys import DispatchKey
from fxc.ir.evaluate import bind_symbols, evaluate, with_symbols
from fxc.ir.graph import Graph, Literal, Value
from fxc.ir.types import Type
from fxc.ops.kernels import kernel_of
from fxc.ops.table import Operator
from fxc.passes.decompose import decompose


def _written(op: Operator) -> str | None:
    """How an operator is written, if it is one of the few."""
    name = getattr(op.numpy, "__name__", "")
    is_ufunc = isinstance(op.numpy, np.ufunc) and getattr(np, name, None) is op.numpy
    return f"np.{name}" if is_ufunc and not op.role else None


OWN = BackendIndex("source", DispatchKey.CPU, functional=True, kernels=_written)


def source_backend(
    graph: Graph, index: BackendIndex[Any], types: Sequence[Type]
) -> Callable[..., Sequence[Any]]:
    """Return the function that is written for ``graph``."""
    graph = decompose(graph, OWN, default_dispatcher())
    if any(node.regions or node.bound is not None for node in graph.nodes):
        return lambda *inputs: evaluate(graph, inputs, kernel_of)  # loops, and sizes of the data
    held: dict[str, Any] = {"np": np, "sizes": bind_symbols, "sized": with_symbols}
    exec(text_of(graph, held), held)
    function: Callable[..., Sequence[Any]] = held["run"]
    return function


def text_of(graph: Graph, held: dict[str, Any]) -> str:
    """The text of the function; ``held`` takes what stands in it by name."""

    def hold(stem: str, thing: object) -> str:
        name = f"{stem}_{len(held)}"
        held[name] = thing
        return name

    def argument(arg: Any) -> str:
        match arg:
            case Value():
                return f"v_{arg.name.replace('.', '_')}"
            case Literal():
                return hold("number", arg.value)
            case tuple() if any(isinstance(each, Value | Literal) for each in arg):
                return f"({''.join(argument(each) + ', ' for each in arg)})"
            case _:
                return f"sized({hold('static', arg)}, known)"

    inputs = ", ".join(map(argument, graph.inputs))
    known = f"sizes({hold('inputs', graph.inputs)}, [{inputs}])"
    lines = [f"def run({inputs}):", f"    known = {known}"]
    for node in graph.nodes:
        function = OWN.get_kernel(default_dispatcher().table[node.op]) or hold(
            node.op, kernel_of(node.op)
        )
        call = f"{function}({', '.join(map(argument, node.args))})"
        lines.append(f"    {', '.join(map(argument, node.outputs))} = {call}")
    results = "".join(f"{argument(result)}, " for result in graph.outputs)
    return "\n".join([*lines, f"    return ({results})", ""])
