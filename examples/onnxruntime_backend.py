"""A backend of one's own: run the functional graph in onnxruntime.

The graph becomes a model of ONNX, as `ExportedProgram.to_onnx` writes it. onnxruntime knows neither
views nor arrays that are written; that they are updated all the same is fxc's work. A graph with
something that ONNX has no operators for is evaluated with NumPy, operator by operator. Where the
model's flag says that Python would have raised, NumPy takes the call.

    step = fxc.compile(step, backend=onnxruntime_backend)
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import onnxruntime

from fxc.dispatch.backend import BackendIndex
from fxc.exporters.onnx.export import Names, onnx_model
from fxc.ir.errors import ExportError, WouldRaise
from fxc.ir.evaluate import evaluate
from fxc.ir.graph import Graph
from fxc.ir.signature import ResultLeaf, Signature
from fxc.ir.types import ArrayType, Type
from fxc.ops.kernels import kernel_of

_log = logging.getLogger("fxc")


def onnxruntime_backend(
    graph: Graph, index: BackendIndex[Any], types: Sequence[Type]
) -> Callable[..., Sequence[Any]]:
    """Return a function that runs `graph` in onnxruntime."""
    try:
        return Session(graph)
    except ExportError as error:
        _log.info("%s", error)
        return lambda *inputs: evaluate(graph, inputs, kernel_of)


class Session:
    """A graph as a model in onnxruntime; called with the graph's inputs it gives its results."""

    def __init__(self, graph: Graph) -> None:
        self.kinds = [operand.type for operand in graph.outputs]
        # The results of the graph alone: what the caller sees is made of them outside.
        leaves = tuple(ResultLeaf(place, kind) for place, kind in enumerate(self.kinds))
        plain = replace(graph, signature=Signature((), leaves))
        inputs = tuple(f"input {place}" for place in range(len(graph.inputs)))
        results = tuple(f"result {place}" for place in range(len(leaves)))
        model = onnx_model(plain, Names(inputs, results, ()), {})
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(
            model, options, providers=["CPUExecutionProvider"]
        )
        metadata = json.loads(self.session.get_modelmeta().custom_metadata_map["fxc"])
        self.inputs = [each["name"] for each in metadata["inputs"]]
        self.outputs = [each["output"] for each in metadata["results"]]
        self.valid = metadata["valid"]

    def __call__(self, *inputs: Any) -> Sequence[Any]:
        """The results, of the types that the graph claims."""
        feed = {name: np.asarray(x, order="C") for name, x in zip(self.inputs, inputs, strict=True)}
        names = [*self.outputs, self.valid] if self.valid else self.outputs
        try:
            found = self.session.run(names, feed)
        except Exception as error:  # shapes that do not fit: NumPy raises its own exception
            _log.warning("onnxruntime stops: %s", error)
            raise WouldRaise("onnxruntime stops") from error
        if self.valid and not found[-1]:
            raise WouldRaise("the model says that Python raises an exception, or counts further")
        return [_typed(x, kind) for x, kind in zip(found, self.kinds, strict=False)]


def _typed(x: np.ndarray, kind: Type) -> Any:
    """An array, a scalar of NumPy's, or a number of Python's."""
    if isinstance(kind, ArrayType):
        return np.asarray(x, kind.dtype)
    return kind.python_type(x) if kind.weak else np.asarray(x, kind.dtype)[()]


def decay(x: Any, rate: float, steps: int) -> Any:
    """Something to try it on: it writes into its argument, in a loop, and returns a view of it."""
    for _ in range(steps):
        x[1:-1] += rate * (x[:-2] - 2 * x[1:-1] + x[2:])
        x[x < 0] = 0
    return x[::2], x.max()
