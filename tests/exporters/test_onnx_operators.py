"""Every operator that ONNX can say, on its samples: onnxruntime against NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime
import pytest

from fxc.dispatch.default import default_dispatcher
from fxc.dispatch.trace import recording_into
from fxc.exporters.onnx import arithmetic, elementary
from fxc.exporters.onnx.export import Names, legal_graph, onnx_model
from fxc.exporters.onnx.nodes import emitters
from fxc.ir.builder import GraphBuilder
from fxc.ir.errors import ExportError
from fxc.ir.graph import Graph, Region, Value
from fxc.ir.records import frozen
from fxc.ir.signature import ResultLeaf, Signature
from fxc.ir.types import DTYPE_NAMES, array_type, scalar_type_of
from fxc.ops.kernels import kernel_of
from fxc.ops.operators import CONTROL, Operator
from fxc.ops.samples import samples
from fxc.ops.table import TABLE
from tests import covering
from tests.exporters.onnx_runs import apart

ULPS = 32  # of elementary functions
LARGEST = 60  # as many samples of an operator

# NumPy leaves open which of 0.0 and -0.0 it gives (by the place of an element in the array).
ANY_ZERO = {"maximum", "minimum", "fmax", "fmin", "max", "min", "sort"}
# NumPy rounds each sum to float16, or adds in an order of its own.
HALVES = {"cumsum", "cumprod"}
# They cancel near zero.
CANCELLING = {"logaddexp", "logaddexp2"}
# Near their zeros by an absolute error.
ABSOLUTE = {"sin", "cos", "tan", "cosine"}
# What is in an empty array nobody knows.
SHAPES = {"empty"}
# Operators whose samples ask for more than one model can say: control flow is in test_onnx.py, and
# a number alone has no size to bind.
OTHERWISE = {name for name in emitters() if TABLE[name].tag in CONTROL} | {"bind_size", "nonzero"}
OPERATORS = sorted(emitters().keys() - OTHERWISE)


@frozen
class Made:
    """Calls of an operator as one graph, what it is fed with, and what NumPy gives for which call."""

    graph: Graph
    feed: dict[str, Any]
    expected: list[tuple[Sequence[Any], Any]]


def made_of(op: Operator, calls: Sequence[Sequence[Any]]) -> Made:
    builder = GraphBuilder()
    inputs: list[Value] = []
    feed: dict[str, Any] = {}
    results: list[Any] = []
    expected: list[tuple[Sequence[Any], Any]] = []

    def given(x: Any) -> Any:
        is_array = isinstance(x, np.ndarray)
        kind = array_type(x.dtype, x.shape, x.strides) if is_array else scalar_type_of(x)
        inputs.append(builder.value(kind, f"x{len(inputs)}"))
        feed[inputs[-1].name] = np.array(x, order="C")
        return inputs[-1]

    for args in calls:
        found = kernel_of_quietly(op, args)
        call = [
            x
            if param.kind != "Array" or x is None
            else tuple(map(given, x))
            if param.is_list
            else given(x)
            for param, x in zip(op.schema.params, args, strict=True)
        ]
        with recording_into(builder):
            values = default_dispatcher().call(op.name, *call)
        results += values if isinstance(values, tuple) else [values]
        expected += [(args, x) for x in (found if isinstance(found, tuple) else [found])]
    leaves = tuple(ResultLeaf(number, x.type) for number, x in enumerate(results))
    body = Region(tuple(inputs), builder.nodes, tuple(results))
    graph = Graph(op.name, "functional", body, signature=Signature((), leaves))
    return Made(graph, feed, expected)


def is_said(op: Operator, args: Sequence[Any]) -> bool:
    """Whether the exporter takes the call; see test_refusals_give_a_reason."""
    try:
        legal_graph(made_of(op, [args]).graph)
    except ExportError:
        return False
    return True


def run(made: Made) -> list[np.ndarray]:
    """What the model gives; its flag holds."""
    texts = tuple(f"result[{number}]" for number in range(len(made.graph.outputs)))
    data = onnx_model(made.graph, Names(tuple(made.feed), texts, ()), {})
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    outputs = [each.name for each in session.get_outputs()]
    found = dict(zip(outputs, session.run(outputs, made.feed), strict=True))
    assert found.get("valid", True)
    return [found[f"result_{number}"] for number in range(len(texts))]


def is_known(x: Any) -> bool:
    """Whether it is of a dtype that ONNX knows."""
    if isinstance(x, tuple):
        return all(map(is_known, x))
    if isinstance(x, np.ndarray | np.generic):
        return x.dtype in DTYPE_NAMES and x.dtype.kind != "c"
    if isinstance(x, np.dtype):
        return x.kind != "c"
    return not isinstance(x, complex) and not (type(x) is int and not -(2**63) <= x < 2**63)


def taken(op: Operator) -> list[tuple[Any, ...]]:
    """Samples of an operator, from all over their list."""
    every = [each.args for each in samples(op) if is_known(each.args)]
    every = [args for args in every if is_known(kernel_of_quietly(op, args))]
    step = 1 if covering.thorough else max(1, len(every) // LARGEST)
    return every[::step]


def kernel_of_quietly(op: Operator, args: Sequence[Any]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return kernel_of(op.name)(*args)


def in_ulps(expected: np.ndarray, found: np.ndarray) -> float:
    """How far floats are apart, in units of the last place of what is expected."""
    with np.errstate(all="ignore"):
        same = (expected == found) | (np.isnan(expected) & np.isnan(found))
        gaps = np.abs(expected.astype(float) - found) / np.spacing(np.abs(expected)).astype(float)
        return float(np.max(np.where(same, 0.0, gaps), initial=0.0))


def differs(name: str, args: Sequence[Any], expected: Any, found: np.ndarray) -> str:
    """How a result is not what NumPy gives; '' if it is."""
    wanted = np.asarray(expected)
    if wanted.dtype == bool and found.dtype == np.int64:
        wanted = wanted.astype(found.dtype)  # Python's True is the int 1 where the type says int
    exact = emitters()[name].exact and not (name in HALVES and wanted.dtype == np.float16)
    if name in SHAPES:
        return "" if (wanted.dtype, wanted.shape) == (found.dtype, found.shape) else "the shape"
    if name == "argsort" and args[-1] is None and wanted.dtype == found.dtype:
        x, axis = np.asarray(args[0]), args[1]  # the order of what is equal is not NumPy's to say
        x, axis = (x.ravel(), 0) if axis is None else (x, axis)
        wanted, found = (np.take_along_axis(x, each, axis) for each in (wanted, found))
        return apart(wanted, found, 0.0, is_rounded=True)
    if (
        exact
        or name not in elementary.ROUNDED
        or name in CANCELLING | ABSOLUTE
        or wanted.dtype.kind != "f"
    ):
        return apart(wanted, found, 0.0, not exact or name in ANY_ZERO)
    text = apart(np.zeros_like(wanted), np.zeros_like(found), 0.0, is_rounded=False)
    ulps = in_ulps(wanted, found)
    return text or (f"{ulps} ulps" if ulps > ULPS else "")


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_equal_numpy(name: str) -> None:
    op = TABLE[name]
    calls = [args for args in taken(op) if is_said(op, args)]
    assert calls, f"no sample of {name} was run"
    made = made_of(op, calls)
    for (args, expected), result in zip(made.expected, run(made), strict=True):
        text = differs(name, args, expected, result)
        assert not text, f"{name}{args}: {text}"


def test_the_table_of_pointwise_operators_is_covered() -> None:
    names = {*arithmetic.EXACT, *elementary.ROUNDED}
    assert names <= set(OPERATORS)
