"""Running captured graphs: what a captured function does, by the evaluator, before any pass."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.capture.capture import Terms, capture
from fxc.capture.captured import Captured
from fxc.capture.epilogue.leaves import ArrayLeaf, ScalarLeaf
from fxc.ir.evaluate import bind_symbols, evaluate
from fxc.ir.graph import Literal
from fxc.ir.signature import ConstantLeaf
from fxc.ir.size_functions import evaluate as number
from fxc.ir.verify import verify
from fxc.ops.kernels import kernel_of
from fxc.ops.table import TABLE


def schema_of(name: str) -> Any:
    """The schema of an operator."""
    return TABLE[name].schema


def text(captured: Captured) -> str:
    """The graph's text without the comments that hold line numbers."""
    return re.sub(r" +# .*", "", str(captured.graph))


def graph_of(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """The text of the graph of one call in static mode."""
    return text(capture(fn, args, kwargs))


def run_captured(captured: Captured, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the captured graph gives and does for these arguments."""
    given = captured.guards.check(args, kwargs)
    assert given is not None, captured.guards.why(args, kwargs)
    inputs, objects = given[: len(captured.inputs)], given[len(captured.inputs) :]
    graph = captured.graph
    results = iter(evaluate(graph, inputs, kernel_of))
    known = bind_symbols(graph.inputs, inputs)
    leaves: list[Any] = []
    for leaf in captured.outputs:
        match leaf:
            case ArrayLeaf() | ScalarLeaf(Literal()):
                leaves.append(next(results))
            case ScalarLeaf(operand):
                result = next(results)
                kind = operand.type
                weak = getattr(kind, "weak", False)
                leaves.append(kind.python_type(result) if weak else kind.dtype.type(result))
            case ConstantLeaf(value):
                leaves.append(value)
            case dim:
                leaves.append(number(dim.value, known))
    return captured.finish(leaves, objects)


def through_capture(fn: Callable[..., Any], *, dynamic: bool = False) -> Callable[..., Any]:
    """``fn`` by capture and evaluation of the graph at each call."""

    def call(*args: Any, **kwargs: Any) -> Any:
        captured = capture(fn, args, kwargs, Terms(dynamic))
        verify(captured.graph, table=schema_of, after="capture")
        return run_captured(captured, args, kwargs)

    return call


def array(*shape: int, dtype: Any = float, order: str = "C") -> np.ndarray:
    """Distinct small numbers."""
    size = int(np.prod(shape))
    values = (np.arange(size) * 7 % 13 - 4.5).reshape(shape)
    return np.array(values, dtype=dtype, order=order)  # type: ignore[call-overload]
