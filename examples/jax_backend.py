"""A backend outside of fxc: XLA, by way of StableHLO and jaxlib.

The functional graph becomes the text of a module, and XLA makes machine code of it. What the caller
sees beyond that, arrays that are written in place and results that are views of arguments, is fxc's
work, as for all backends.

    step = fxc.compile(step, backend=jax_backend)

XLA's arrays have sizes that are numbers: where the graph has symbols for sizes, there is a module
for each set of numbers that calls come with. Last bits are XLA's: see docs/export.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.backend import get_backend, get_compile_options

import fxc
from fxc.dispatch.backend import BackendIndex
from fxc.exporters.legalize import legalize
from fxc.exporters.stablehlo.module import has_words, size_symbols, stablehlo_module
from fxc.exporters.stablehlo.results import results_of
from fxc.ir.evaluate import bind_symbols
from fxc.ir.graph import Graph
from fxc.ir.types import Type

jax.config.update("jax_enable_x64", True)


def jax_backend(
    graph: Graph, index: BackendIndex[Any], types: Sequence[Type]
) -> Callable[..., list[Any]]:
    """Return the function that XLA makes of `graph`.

    A graph with operators that StableHLO has no words for is left to NumPy, with a warning that
    names them; under `fullgraph=True` that is an exception.
    """
    try:
        legalize(graph, "StableHLO", has_words)
    except fxc.ExportError as refusal:
        raise fxc.CaptureError(refusal.text) from refusal
    names = size_symbols(graph)
    made: dict[tuple[int, ...], tuple[str, Any]] = {}  # by the numbers for these names

    def run(*inputs: Any) -> list[Any]:
        known = bind_symbols(graph.inputs, inputs)
        sizes = {name: known[name] for name in sorted(names)}
        key = tuple(sizes.values())
        if key not in made:
            text = stablehlo_module(graph, sizes)
            made[key] = (text, executable(text))
        text, code = made[key]
        given = [
            jax.device_put(np.array(x, value.type.dtype))  # a copy: XLA may write it
            for x, value in zip(inputs, graph.inputs, strict=True)
        ]
        return results_of(graph, text, code.execute(given))

    return run


def executable(text: str) -> Any:
    """XLA's machine code for the first device."""
    backend = get_backend()
    return backend.compile_and_load(
        text,
        executable_devices=backend.local_devices()[:1],
        compile_options=get_compile_options(num_replicas=1, num_partitions=1),
    )
