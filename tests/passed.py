"""Passes: graphs before and after one, as text, and what both mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fxc.ir.evaluate import call, evaluate
from fxc.ir.graph import Graph
from fxc.ir.parse import parse_graph
from fxc.ir.signature import ResultLeaf, Signature
from fxc.ir.verify import verify
from fxc.ops.kernels import kernel_of
from fxc.ops.metas import types_of
from fxc.ops.table import TABLE
from tests.lowered import same_layout

Pass = Callable[[Graph], Graph]


def parsed(source: str) -> Graph:
    """The graph of a text. A functional one without a signature returns all its results."""
    graph = parse_graph(source, TABLE.schema_of)
    if graph.stage == "captured" or graph.signature is not None:
        return graph
    leaves = tuple(ResultLeaf(place, value.type) for place, value in enumerate(graph.outputs))
    return replace(graph, signature=Signature((), leaves))


def text(graph: Graph) -> str:
    """The text without its first line, the user's lines and a signature that only names results."""
    whole = re.sub(r" +# .*", "", str(graph))
    lines = whole.removesuffix("\n").split("\n")[1:]
    if "  signature" in lines:
        place = lines.index("  signature")
        if all(re.match(r" +output (\d+) = result \1:", line) for line in lines[place + 1 :]):
            lines = lines[:place]
    return "\n".join(lines)


def own(inputs: Sequence[Any]) -> list[Any]:
    """Inputs that nobody else has, laid out as these are."""
    return [same_layout(x) if isinstance(x, np.ndarray) else x for x in inputs]


def meaning(graph: Graph, inputs: Sequence[Any]) -> list[Any]:
    """What the graph gives its caller, and the inputs afterwards."""
    given = own(inputs)
    run = evaluate if graph.stage == "captured" else call
    with np.errstate(all="ignore"):
        return [*run(graph, given, kernel_of), *given]


def after(step: Pass, source: str, *calls: Sequence[Any]) -> str:
    """The text that a pass makes of a graph's; both are valid, and mean the same in all calls."""
    before = parsed(source)
    verify(before, table=TABLE.schema_of, meta=types_of)
    made = step(before)
    verify(made, table=TABLE.schema_of, meta=types_of)
    for inputs in calls:
        wanted, found = meaning(before, inputs), meaning(made, inputs)
        for expected, result in zip(wanted, found, strict=True):
            assert type(result) is type(expected)
            np.testing.assert_array_equal(result, expected)
    return text(made)
