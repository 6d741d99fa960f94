"""A functional graph in the operators that a target has, or one error for all that it has not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import numpy as np

from fxc.dispatch.backend import BackendIndex
from fxc.dispatch.default import default_dispatcher
from fxc.dispatch.keys import DispatchKey
from fxc.ir.boxed_dtypes import is_boxed
from fxc.ir.errors import ExportError
from fxc.ir.graph import Graph, Node, walk
from fxc.ops.operators import Operator
from fxc.passes.decompose import decompose
from fxc.passes.simplify import simplify

# Whether a target can say a node, with the types and attributes that it has: None, or why not.
Problem = Callable[[Node], str | None]


def legalize(
    graph: Graph,
    target: str,
    kernels: Callable[[Operator], Any | None],
    problem: Problem = lambda node: None,
    has_all_dtypes: bool = False,
    has_dtype: Callable[[np.dtype], bool] = lambda dtype: True,
) -> Graph:
    """The functional graph with only those operators that ``kernels`` knows for the target.

    ``problem`` says of a node with such an operator why the target still cannot have it: a dtype
    that it lacks, say. ``has_dtype`` tells of which dtypes arguments can be.

    Raises ``ExportError``, which names each operator that is left over and the lines of the
    program that it comes from.
    """
    if not has_all_dtypes:
        refuse_boxed(graph, target)
    index = BackendIndex(target, DispatchKey.CPU, functional=True, kernels=kernels)
    legal = simplify(decompose(graph, index, default_dispatcher()))
    kinds = {value.name: value.type.dtype for value in legal.inputs}
    found = {
        f"{name}: {target} has no dtype {kind}": None
        for name, kind in kinds.items()
        if not has_dtype(kind)
    }
    for node in walk(legal.body):
        if not index.has_kernel(default_dispatcher().table[node.op]):
            why: str | None = f"{target} has no operator for it"
        else:
            why = problem(node)
        if why is not None:
            found[f"{node.op} ({place_of(node)}): {why}"] = None
    if found:
        refuse(graph.name, target, found)
    return legal


def refuse_boxed(graph: Graph, target: str) -> None:
    """Raise ``ExportError`` if the graph has values of dtypes that no target has."""
    found: dict[str, None] = {}
    for value in graph.inputs:
        if is_boxed(value.type.dtype):
            found[f"{value.name}: {target} has no dtype {value.type.dtype}"] = None
    for node in walk(graph.body):
        for value in node.outputs:
            if is_boxed(value.type.dtype):
                dtype = value.type.dtype
                found[f"{node.op} ({place_of(node)}): {target} has no dtype {dtype}"] = None
    if found:
        refuse(graph.name, target, found)


def refuse(name: str, target: str, found: Iterable[str]) -> NoReturn:
    """Raise ``ExportError`` with all that a target cannot have."""
    raise ExportError(f"{name} cannot be exported to {target}:\n  " + "\n  ".join(found))


def place_of(node: Node) -> str:
    """The line of the program that a node comes from."""
    return str(node.loc) if node.loc is not None else "made by fxc"
