"""decompose: which composites each backend gets, what stays as it was, speed, cycles."""

from collections.abc import Callable
from typing import Any

import networkx
import numpy as np
import pytest
from expecttest import TestCase

from fxc.dispatch.backend import BackendIndex, numpy_index
from fxc.dispatch.default import default_dispatcher, make_dispatcher
from fxc.dispatch.dispatcher import Dispatcher
from fxc.dispatch.keys import AliasKey, DispatchKey
from fxc.dispatch.trace import recording_into
from fxc.ir.builder import GraphBuilder
from fxc.ir.errors import InternalError
from fxc.ir.evaluate import evaluate
from fxc.ir.graph import Graph, Node, Region, SliceSpec, walk
from fxc.ir.location import SourceLocation
from fxc.ir.symbols import symbol
from fxc.ir.types import ScalarType, Type, array_type
from fxc.ops.kernels import kernel_of
from fxc.ops.operators import Operator, Tag, row
from fxc.ops.samples import samples
from fxc.ops.table import TABLE
from fxc.passes.decompose import decompose
from tests.lowered import functional

F64 = np.dtype("f8")
DISPATCHER = default_dispatcher()


def native(op: Operator) -> str | None:
    """As a compiling backend: pure operators, of which no composite."""
    known = {
        Tag.POINTWISE,
        Tag.REDUCTION,
        Tag.VIEW,
        Tag.SCATTER,
        Tag.FACTORY,
        Tag.BRANCH,
        Tag.LOOP,
        Tag.JOIN,
    }
    row = TABLE[op.group]
    return "native" if row.tag in known and op.schema.is_functional else None


NATIVE: BackendIndex[str] = BackendIndex("native", DispatchKey.CPU, functional=True, kernels=native)
NUMPY = numpy_index()


def ops_of(graph: Graph) -> list[str]:
    return [node.op for node in walk(graph.body)]


def matrix(rows: int = 3, columns: int = 4) -> Type:
    return array_type(F64, (rows, columns))


class DecomposedText(TestCase):
    def test_variance_on_a_native_backend(self) -> None:
        graph = functional([matrix()], lambda ops, x: ops.var(x, axis=1))
        self.assertExpectedInline(
            str(decompose(graph, NATIVE, DISPATCHER)),
            """\
decomposed f(%x0: f64[3, 4])
  %1: f64[3, 1] = sum(%x0, axis=(1,), keepdims=True, dtype=None)
  %2: f64[3, 1] = divide(%1, i64(4))
  %3: f64[3, 4] = subtract(%x0, %2)
  %4: f64[3, 4] = square(%3)
  %5: f64[3] = sum(%4, axis=(1,), keepdims=False, dtype=None)
  %0: f64[3] = divide(%5, i64(4))
  return %0""",
        )

    def test_eye_without_views_and_writes(self) -> None:
        graph = functional([], lambda ops: ops.eye(3, 4, k=1, dtype=F64))
        self.assertExpectedInline(
            str(decompose(graph, NATIVE, DISPATCHER)),
            """\
decomposed f()
  %1: i64[3] = arange(0, 1, length=3, dtype=i64)
  %2: i64[3, 1] = expand_dims_copy(%1, (1,))
  %3: i64[4] = arange(0, 1, length=4, dtype=i64)
  %4: i64[1, 4] = expand_dims_copy(%3, (0,))
  %5: i64[3, 4] = subtract(%4, %2)
  %6: bool[3, 4] = equal(%5, i64(1))
  %0: f64[3, 4] = astype(%6, f64, casting='unsafe', order='K')
  return %0""",
        )

    def test_eye_with_views_and_writes(self) -> None:
        graph = functional([], lambda ops: ops.eye(3, 4, k=1, dtype=F64))
        self.assertExpectedInline(
            str(decompose(graph, NUMPY, DISPATCHER)),
            """\
decomposed f()
  %0: f64[3, 4] = zeros((3, 4), f64, layout=None)
  %2: f64[3, 4] = slice(%0, [0:3:1, 0:4:1])
  %3: f64[12] = reshape(%2, (12,))
  %4: f64[3]{40} = slice(%3, [1:12:5])
  copy_(%4, f64(1.0), casting='unsafe')
  return %0""",
        )


BOTH_KINDS: dict[str, Callable[..., Any]] = {
    "eye": lambda ops, x: ops.eye(3, 4, k=-1, dtype=F64),
    "linspace": lambda ops, x: ops.linspace(0.5, 2, num=7, dtype=F64),
    "stack": lambda ops, x: ops.stack((x, x), axis=1),
}


@pytest.mark.parametrize("name", BOTH_KINDS)
def test_native_backend_gets_pure_operators_and_numpy_the_in_place_ones(name: str) -> None:
    graph = functional([matrix()], BOTH_KINDS[name])
    pure, written = (decompose(graph, index, DISPATCHER) for index in (NATIVE, NUMPY))
    assert all(node.schema.is_functional for node in walk(pure.body))
    assert any(node.schema.writes for node in walk(written.body))
    x = np.arange(12.0).reshape(3, 4)
    (expected,) = evaluate(graph, [x], kernel_of)
    for found in (pure, written):
        assert found.stage == "decomposed"
        (result,) = evaluate(found, [x], kernel_of, check=True)
        assert result.tobytes() == expected.tobytes()


def test_decomposition_goes_on_in_what_a_composite_records() -> None:
    graph = functional([matrix()], lambda ops, x: ops.std(x))
    names = ops_of(decompose(graph, NATIVE, DISPATCHER))
    assert "var" not in names
    assert names[-1] == "sqrt"


def test_what_has_no_composite_stays() -> None:
    graph = functional([matrix()], lambda ops, x: ops.sort(ops.mean(x, axis=0)))
    assert ops_of(decompose(graph, NATIVE, DISPATCHER))[-1] == "sort"


def test_a_composite_that_declines_leaves_the_operator() -> None:
    complex_type = array_type(np.dtype("c16"), (3,))
    graph = functional([complex_type], lambda ops, x: ops.var(x))
    assert ops_of(decompose(graph, NATIVE, DISPATCHER)) == ["var"]


def test_nodes_that_stay_are_shared_and_results_keep_names_types_and_lines() -> None:
    def body(ops: Any, x: Any) -> Any:
        return ops.negative(ops.mean(ops.exp(x), axis=0))

    graph = functional([array_type(F64, (3, 4), (8, 24))], body)
    exp, mean, _ = graph.nodes
    located = SourceLocation("model.py", 7, "f")
    object.__setattr__(mean, "loc", located)
    found = decompose(graph, NATIVE, DISPATCHER)
    assert found.nodes[0] is exp
    last = found.nodes[-2]
    assert last.output.name == mean.output.name
    assert last.output.type == mean.output.type
    assert {node.loc for node in found.nodes[1:-1]} == {located}
    names = [value.name for node in found.nodes for value in node.outputs]
    assert len(set(names)) == len(names)
    assert ops_of(graph) == ["exp", "mean", "negative"]


def test_a_literal_may_stand_for_a_result() -> None:
    dispatcher = make_dispatcher()
    with dispatcher.scratch_operator(
        row("answer(Array x) -> Array", Tag.OPAQUE),
        {("answer", DispatchKey.META): lambda x: ScalarType(F64)},
    ):
        dispatcher.impl_composite("answer", AliasKey.EXPLICIT, lambda ops, x: np.float64(42))
        builder = GraphBuilder()
        x = builder.value(matrix(), "x")
        with recording_into(builder):
            y = dispatcher.ops.add(x, dispatcher.ops.answer(x))
        graph = Graph("f", "functional", builder.finish([x], [y]))
        (node,) = decompose(graph, NATIVE, dispatcher).nodes
        assert node.args[1].value == 42


def test_regions_are_decomposed() -> None:
    builder = GraphBuilder()
    x = builder.value(matrix(), "x")
    ops = DISPATCHER.ops

    def region(function: Callable[[Any], Any]) -> Region:
        with builder.region():
            param = builder.value(matrix(), "p")
            return builder.finish([param], [function(param)])

    with recording_into(builder):
        outer = ops.mean(x)
        regions = region(lambda p: ops.add(p, outer)), region(lambda p: ops.clip(p, 0.0, 1.0))
        (y,) = ops.cond(True, (x,), on_true=regions[0], on_false=regions[1])
    graph = Graph("f", "functional", builder.finish([x], [y]))
    found = decompose(graph, NATIVE, DISPATCHER)
    assert ops_of(found) == ["sum", "divide", "cond", "add", "maximum", "minimum"]
    array = np.arange(12.0).reshape(3, 4)
    for kernels in (graph, found):
        (result,) = evaluate(kernels, [array], kernel_of)
        assert np.array_equal(result, array + array.mean())


def test_symbolic_sizes_become_operands() -> None:
    n = symbol("x0.0", hint=5, lower=2)
    graph = functional([array_type(F64, (n, 3))], lambda ops, x: ops.mean(x, axis=0))
    found = decompose(graph, NATIVE, DISPATCHER)
    assert ops_of(found) == ["sum", "int_value", "astype", "divide"]
    for size in (2, 7):
        x = np.random.default_rng(0).standard_normal((size, 3))
        (result,) = evaluate(found, [x], kernel_of, check=True)
        assert result.tobytes() == x.mean(axis=0).tobytes()


# ---------------------------------------------------------------- composites that write


def negated(ops: Any, x: Any) -> Any:
    """``-x``, with views of a copy that are written and read in turns."""
    result = ops.copy(x)
    first, rest = ops.select(result, 0, 0), ops.slice(result, (SliceSpec(1, 3, 1), WHOLE))
    ops.negative_(rest)
    ops.copy_(first, ops.subtract(ops.subtract(first, first), first), "same_kind")
    return result


WHOLE = SliceSpec(0, 4, 1)
NEGATE = row("negate(Array x) -> Array", Tag.OPAQUE)
NEGATE_META = {("negate", DispatchKey.META): lambda x: x}


@pytest.mark.parametrize("index", [NATIVE, NUMPY], ids=["native", "numpy"])
def test_a_composite_that_writes_is_functionalized_for_functional_backends(index: Any) -> None:
    dispatcher = make_dispatcher()
    with dispatcher.scratch_operator(NEGATE, NEGATE_META):
        dispatcher.impl_composite("negate", AliasKey.NON_FUNCTIONAL, negated)
        builder = GraphBuilder()
        x = builder.value(matrix(), "x")
        with recording_into(builder):
            y = dispatcher.ops.add(dispatcher.ops.negate(x), x)
        graph = Graph("f", "functional", builder.finish([x], [y]))
        found = decompose(graph, index, dispatcher)
        assert any(node.schema.writes for node in walk(found.body)) != index.functional
        array = np.arange(12.0).reshape(3, 4)
        (result,) = evaluate(found, [array], kernel_of, check=True)
        assert not result.any()
        assert array[2, 3] == 11


def test_an_explicit_composite_that_writes_is_a_bug_of_ours() -> None:
    dispatcher = make_dispatcher()
    with dispatcher.scratch_operator(NEGATE, NEGATE_META):
        dispatcher.impl_composite("negate", AliasKey.EXPLICIT, negated)
        builder = GraphBuilder()
        x = builder.value(matrix(), "x")
        with recording_into(builder):
            y = dispatcher.ops.negate(x)
        graph = Graph("f", "functional", builder.finish([x], [y]))
        with pytest.raises(InternalError, match="a composite of 'negate' writes"):
            decompose(graph, NATIVE, dispatcher)


def test_a_composite_of_another_type_is_a_bug_of_ours() -> None:
    dispatcher = make_dispatcher()
    dispatcher.impl_composite("sort", AliasKey.EXPLICIT, lambda ops, x, axis, kind: ops.isnan(x))
    graph = functional([matrix()], lambda ops, x: ops.sort(x))
    with pytest.raises(InternalError, match=r"'sort' gave bool\[3, 4\], its type says f64"):
        decompose(graph, NATIVE, dispatcher)


# ---------------------------------------------------------------- size, cycles


def decomposition_cycles(dispatcher: Dispatcher) -> list[list[str]]:
    """The cycles among registered decompositions, each as operator names in order.

    An operator leads to those that its composites record on the operator's sample inputs.
    """
    calls = networkx.DiGraph()
    for name, _, function in dispatcher.composites():
        if name in dispatcher.table:
            calls.add_edges_from((name, called) for called in _called(dispatcher, name, function))
    return [list(cycle) for cycle in networkx.simple_cycles(calls)]


def _called(dispatcher: Dispatcher, name: str, function: Callable[..., Any]) -> set[str]:
    op = dispatcher.table[name]
    names: set[str] = set()
    for sample in samples(op):
        builder = GraphBuilder()
        args = [
            _traced(dispatcher, builder, arg) if param.is_value else arg
            for param, arg in zip(op.schema.params, sample.args, strict=True)
        ]
        with recording_into(builder):
            function(dispatcher.ops, *args)
        for node in builder.nodes:
            if node.op != name or not _is_left(dispatcher, op, function, node):
                names.add(node.op)
    return names


def _is_left(
    dispatcher: Dispatcher, op: Operator, function: Callable[..., Any], node: Node
) -> bool:
    """Whether a decomposition, which leads to its own operator, leaves that form as it is."""
    with recording_into(GraphBuilder()):
        args = [node.arg(param.name) for param in op.schema.params]
        return function(dispatcher.ops, *args) is NotImplemented


def _traced(dispatcher: Dispatcher, builder: GraphBuilder, arg: Any) -> Any:
    if arg is None:
        return None
    if isinstance(arg, tuple):
        return tuple(_traced(dispatcher, builder, item) for item in arg)
    return builder.value(dispatcher.ops.type_of(arg))


def test_registered_decompositions_have_no_cycles() -> None:
    assert decomposition_cycles(DISPATCHER) == []


def test_a_cycle_is_found_and_named() -> None:
    dispatcher = make_dispatcher()
    dispatcher.impl_composite("square", AliasKey.EXPLICIT, lambda ops, x: ops.multiply(x, x))
    dispatcher.impl_composite("multiply", AliasKey.EXPLICIT, lambda ops, x, y: ops.square(x))
    (cycle,) = decomposition_cycles(dispatcher)
    assert set(cycle) == {"square", "multiply"}
    graph = functional([matrix()], lambda ops, x: ops.square(x))
    none = BackendIndex("none", DispatchKey.CPU, functional=True, kernels=lambda op: None)
    with pytest.raises(InternalError, match="defined in terms of itself"):
        decompose(graph, none, dispatcher)
