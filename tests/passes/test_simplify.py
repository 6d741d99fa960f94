"""simplify: what is folded, shared, rewritten and dropped, and what is not."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from expecttest import TestCase

from fxc.dispatch.default import default_dispatcher
from fxc.dispatch.trace import recording_into
from fxc.ir.builder import GraphBuilder
from fxc.ir.errors import InternalError
from fxc.ir.evaluate import evaluate
from fxc.ir.graph import Graph, Literal, Region, SliceSpec, walk
from fxc.ir.types import ScalarType, Type, array_type
from fxc.ops.identities import power_takes_shortcuts
from fxc.ops.kernels import kernel_of
from fxc.ops.samples import samples
from fxc.ops.table import TABLE
from fxc.passes.simplify import simplify
from tests.lowered import functional

F64 = np.dtype("f8")
DISPATCHER = default_dispatcher()
FLOAT = ScalarType(F64)
BOOL = ScalarType(np.dtype(bool))
INNER = (SliceSpec(1, 3, 1), SliceSpec(0, 4, 1))
FIRST = (SliceSpec(0, 2, 1), SliceSpec(0, 4, 1))


def matrix(rows: int = 3, columns: int = 4) -> Type:
    return array_type(F64, (rows, columns))


def simplified(types: list[Type], body: Callable[..., Any]) -> Graph:
    """The function's graph, simplified; evaluated before and after on sample arrays."""
    graph = functional(types, body)
    text = str(graph)
    found = simplify(graph)
    assert str(graph) == text, "the input graph was changed"
    rng = np.random.default_rng(0)
    args = [
        rng.standard_normal(kind.shape) if kind.shape else kind.dtype.type(2.5) for kind in types
    ]
    for before, after in zip(
        *(evaluate(each, args, kernel_of) for each in (graph, found)), strict=True
    ):
        assert np.asarray(before).tobytes() == np.asarray(after).tobytes()
    return found


def ops_of(graph: Graph) -> list[str]:
    return [node.op for node in walk(graph.body)]


# ---------------------------------------------------------------- constants


def test_scalars_known_while_compiling_are_computed() -> None:
    def body(ops: Any, x: Any) -> Any:
        return ops.multiply(x, ops.add(ops.sqrt(4.0), np.float64(1)))

    (node,) = simplified([matrix()], body).nodes
    assert node.args[1] == Literal(np.float64(3))


def test_python_numbers_stay_python_numbers() -> None:
    (node,) = simplified([matrix()], lambda ops, x: ops.add(x, ops.py_multiply(2.0, 3.0))).nodes
    assert node.args[1] == Literal(6.0)


def test_a_known_dim_is_a_literal() -> None:
    (node,) = simplified([matrix()], lambda ops, x: ops.add(x, ops.int_value(5))).nodes
    assert node.args[1] == Literal(5)


@pytest.mark.parametrize(
    "body",
    [
        lambda ops, x: ops.py_divide(1.0, 0.0),
        lambda ops, x: ops.divide(np.float64(1), np.float64(0)),
        lambda ops, x: ops.exp(np.float64(1000)),
        lambda ops, x: ops.log(np.float64(-1)),
    ],
    ids=["raises", "divides by zero", "overflows", "is invalid"],
)
def test_what_raises_or_warns_is_left_to_run_time(body: Callable[..., Any]) -> None:
    graph = functional([matrix()], lambda ops, x: (x, body(ops, x)))
    assert ops_of(simplify(graph)) == ops_of(graph)


def test_arrays_are_not_folded() -> None:
    graph = functional([], lambda ops: ops.full((2,), 1.0, F64, None))
    assert ops_of(simplify(graph)) == ["full"]


# ---------------------------------------------------------------- common subexpressions


def test_equal_nodes_become_one() -> None:
    def body(ops: Any, x: Any) -> Any:
        return ops.add(ops.exp(ops.negative(x)), ops.exp(ops.negative(x)))

    assert ops_of(simplified([matrix()], body)) == ["negative", "exp", "add"]


@pytest.mark.parametrize(
    "left, right", [(0.0, -0.0), (1, 1.0), (1, True), (np.float64(1), 1.0)], ids=repr
)
def test_scalars_that_are_equal_but_not_the_same_are_kept_apart(left: Any, right: Any) -> None:
    def body(ops: Any, x: Any) -> Any:
        return ops.subtract(ops.multiply(x, left), ops.multiply(x, right))

    assert ops_of(simplified([matrix()], body)) == ["multiply", "multiply", "subtract"]


def test_nan_is_the_same_as_itself() -> None:
    def body(ops: Any, x: Any) -> Any:
        return ops.add(ops.maximum(x, np.nan), ops.maximum(x, np.nan))

    assert ops_of(simplified([matrix()], body)) == ["maximum", "add"]


def test_empty_arrays_are_never_shared() -> None:
    def body(ops: Any, x: Any) -> Any:
        parts = (ops.empty((3, 4), F64, None) for _ in range(2))
        left, right = (ops.slice_scatter(part, x, FULL) for part in parts)
        return ops.add(left, right)

    FULL = (SliceSpec(0, 3, 1), SliceSpec(0, 4, 1))
    assert ops_of(simplified([matrix()], body)).count("empty") == 2


def test_results_with_memory_of_their_own_stay_two() -> None:
    found = simplified([matrix()], lambda ops, x: (ops.exp(x), ops.exp(x)))
    assert ops_of(found) == ["exp", "exp"]
    assert found.outputs[0] is not found.outputs[1]


def test_fresh_arrays_that_are_filled_stay_two() -> None:
    def body(ops: Any, x: Any) -> Any:
        filled = [ops.zeros((3,), F64, None) for _ in range(3)]
        return ops.add(*(ops.select_scatter(y, x, 0, at) for at, y in enumerate(filled[:2])))

    assert ops_of(simplified([FLOAT], body)) == ["zeros", "zeros", *["select_scatter"] * 2, "add"]


def test_regions_use_values_from_outside_but_not_from_each_other() -> None:
    builder = GraphBuilder()
    x, flag = builder.value(matrix(), "x"), builder.value(BOOL, "flag")
    ops = DISPATCHER.ops

    def region() -> Region:
        with builder.region():
            param = builder.value(matrix(), "p")
            body = ops.add(ops.add(param, ops.exp(x)), ops.log(x))
            return builder.finish([param], [body])

    with recording_into(builder):
        outside = ops.exp(x)
        (y,) = ops.cond(flag, (outside,), on_true=region(), on_false=region())
    graph = Graph("f", "functional", builder.finish([x, flag], [y]))
    arm = ["add", "log", "add"]
    assert ops_of(simplify(graph)) == ["exp", "cond", *arm, *arm]


# ---------------------------------------------------------------- identities, dead nodes


@pytest.mark.skipif(not power_takes_shortcuts(), reason="np.power of NumPy 2.0 always calls pow")
def test_literal_exponents_become_cheaper_operators() -> None:
    def body(ops: Any, x: Any) -> Any:
        return ops.add(ops.power(x, 2), ops.power(ops.absolute(x), 0.5))

    assert ops_of(simplified([matrix()], body)) == ["square", "absolute", "sqrt", "add"]


def test_unread_nodes_are_dropped() -> None:
    def body(ops: Any, x: Any) -> Any:
        ops.exp(ops.negative(x))
        return ops.sin(x)

    assert ops_of(simplified([matrix()], body)) == ["sin"]


def test_unread_nodes_that_can_raise_stay() -> None:
    integers = array_type(np.dtype("i8"), (3,))

    def body(ops: Any, x: Any) -> Any:
        ops.power(x, ops.add(x, 1))
        return ops.negative(x)

    graph = functional([integers], body)
    assert ops_of(simplify(graph)) == ["add", "power", "negative"]


def test_unread_regions_that_can_raise_stay() -> None:
    builder = GraphBuilder()
    kind = array_type(np.dtype("i8"), (3,))
    x, flag = builder.value(kind, "x"), builder.value(BOOL, "flag")
    ops = DISPATCHER.ops

    def region(name: str) -> Region:
        with builder.region():
            param = builder.value(kind, "p")
            return builder.finish([param], [ops.call(name, param, param)])

    with recording_into(builder):
        for name in ("add", "power"):
            ops.cond(flag, (x,), on_true=region(name), on_false=region("add"))
    found = simplify(Graph("f", "functional", builder.finish([x, flag], [x])))
    assert ops_of(found) == ["cond", "power"]


def test_a_copy_is_never_dropped() -> None:
    found = simplified([matrix()], lambda ops, x: (ops.copy(x), ops.astype(x, F64, "safe", "K")))
    assert ops_of(found) == ["copy", "astype"]


def test_a_graph_with_writes_is_refused() -> None:
    def body(ops: Any, x: Any) -> Any:
        y = ops.copy(x)
        ops.add_(y, 1.0)
        return y

    with pytest.raises(InternalError, match="'add_' is not functional"):
        simplify(functional([matrix()], body))


# ---------------------------------------------------------------- views and scatters


def test_reading_back_what_was_scattered() -> None:
    def body(ops: Any, x: Any, y: Any) -> Any:
        written = ops.slice_scatter(x, ops.exp(y), INNER)
        return written, ops.sin(ops.slice_copy(written, INNER))

    found = simplified([matrix(), matrix(2)], body)
    assert ops_of(found) == ["exp", "slice_scatter", "sin"]


def test_reading_another_region_is_kept() -> None:
    def body(ops: Any, x: Any, y: Any) -> Any:
        written = ops.slice_scatter(x, ops.exp(y), INNER)
        return ops.sin(ops.slice_copy(written, FIRST))

    found = simplified([matrix(), matrix(2)], body)
    assert ops_of(found) == ["exp", "slice_scatter", "slice_copy", "sin"]


def test_a_scatter_over_the_same_region_hides_the_one_before() -> None:
    def body(ops: Any, x: Any, y: Any) -> Any:
        written = ops.select_scatter(x, ops.exp(y), 0, 1)
        return ops.select_scatter(written, ops.sin(y), 0, 1)

    found = simplified([matrix(), array_type(F64, (4,))], body)
    assert ops_of(found) == ["sin", "select_scatter"]


def test_scattering_a_region_to_where_it_came_from_is_nothing() -> None:
    def body(ops: Any, x: Any) -> Any:
        base = ops.exp(x)
        return ops.sin(ops.slice_scatter(base, ops.slice_copy(base, INNER), INNER))

    assert ops_of(simplified([matrix()], body)) == ["exp", "sin"]


def test_an_input_does_not_become_a_result_with_memory_of_its_own() -> None:
    def body(ops: Any, x: Any) -> Any:
        return ops.slice_scatter(x, ops.slice_copy(x, INNER), INNER)

    assert ops_of(simplified([matrix()], body)) == ["slice_copy", "slice_scatter"]


def test_a_source_of_another_layout_does_not_change_the_order_of_a_sum() -> None:
    source = array_type(F64, (2, 4), (8, 16))

    def body(ops: Any, x: Any, y: Any) -> Any:
        read = ops.slice_copy(ops.slice_scatter(x, y, INNER), INNER)
        return ops.sum(read), ops.negative(read)

    graph = functional([matrix(), source], body)
    assert "slice_copy" in ops_of(simplify(graph))


def read_back_graph(name: str, args: tuple[Any, ...]) -> Graph:
    """``-copy(scatter(x, +y))`` of one view."""
    x, source, *rest = args
    copy = TABLE.partner(name, "copy").name

    def body(ops: Any, x: Any, y: Any) -> Any:
        read = ops.call(copy, ops.call(name, x, ops.positive(y), *rest), *rest)
        return ops.negative(read)

    return functional([DISPATCHER.ops.type_of(each) for each in (x, source)], body)


SCATTERS = sorted(op.name for op in TABLE if op.role == "scatter")


@pytest.mark.parametrize("name", [name for name in SCATTERS if name != "fields_scatter"])
def test_every_view_group_follows_the_same_algebra(name: str) -> None:
    names = set()
    for sample in samples(TABLE[name]):
        graph = read_back_graph(name, sample.args)
        found = simplify(graph)
        names.add(tuple(ops_of(found)))
        results = [evaluate(each, sample.args[:2], kernel_of)[0] for each in (graph, found)]
        assert results[0].tobytes() == results[1].tobytes()
    assert ("positive", "negative") in names


def test_fields_follow_it_too() -> None:
    """Of records there are no negative ones."""
    (make, *_) = samples(TABLE["fields_scatter"])

    def body(ops: Any, x: Any, y: Any) -> Any:
        names = make.args[2]
        return ops.fields_copy(ops.fields_scatter(x, ops.copy(y, order="C"), names), names)

    graph = functional([DISPATCHER.ops.type_of(each) for each in make.args[:2]], body)
    found = simplify(graph)
    assert "fields_copy" not in ops_of(found)
    results = [evaluate(each, make.args[:2], kernel_of)[0] for each in (graph, found)]
    assert (results[0] == results[1]).all()


def test_reading_back_what_was_scattered_to_one_element_is_kept() -> None:
    args = (np.zeros(1), np.array([1.0, 2.0]), (2,))
    graph = simplify(read_back_graph("broadcast_to_scatter", args))
    assert "broadcast_to_copy" in ops_of(graph)
    (result,) = evaluate(graph, args[:2], kernel_of)
    assert result.tolist() == [-2, -2]


# ---------------------------------------------------------------- text


class SimplifiedText(TestCase):
    @pytest.mark.skipif(
        not power_takes_shortcuts(), reason="np.power of NumPy 2.0 always calls pow"
    )
    def test_a_step_of_a_stencil(self) -> None:
        def body(ops: Any, x: Any) -> Any:
            inner = ops.slice_copy(x, INNER)
            again = ops.slice_copy(x, INNER)
            new = ops.multiply(ops.add(inner, again), ops.divide(np.float64(1), 4))
            once = ops.slice_scatter(x, new, INNER)
            twice = ops.slice_scatter(once, ops.power(ops.slice_copy(once, INNER), 2), INNER)
            return twice

        self.assertExpectedInline(
            str(simplified([matrix()], body)),
            """\
functional f(%x0: f64[3, 4])
  %0: f64[2, 4] = slice_copy(%x0, [1:3:1, 0:4:1])
  %2: f64[2, 4] = add(%0, %0)
  %4: f64[2, 4] = multiply(%2, f64(0.25))
  %7: f64[2, 4] = square(%4)
  %8: f64[3, 4] = slice_scatter(%x0, %7, [1:3:1, 0:4:1])
  return %8""",
        )
