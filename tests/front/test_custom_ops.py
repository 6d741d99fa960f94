"""Operators of the user's own: ``fxc.custom_op``. NumPy's run of the same function is the oracle."""

import pickle
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ir.errors import CaptureError, ParseError
from fxc.ir.parse import parse_graph
from fxc.ops.kernels.copies import strided_copy
from fxc.ops.table import TABLE
from tests.covering import pairs

made: list[Any] = []
NEARLY = -(1 + 2.0**-30)  # what multiplies to the negative, but for what looks like roundings


@pytest.fixture(autouse=True)
def _nothing_stays() -> Iterator[None]:
    yield
    while made:
        made.pop().remove()
    assert not [op.name for op in TABLE if op.name.startswith("test::")]


def custom(schema: str, *args: Any, **kwargs: Any) -> Any:
    """An operator that is gone when the test ends."""
    found = fxc.custom_op(f"test::{schema}", *args, **kwargs)
    if not isinstance(found, fxc.dispatch.custom_op.CustomOp):
        return lambda f: made.append(op := found(f)) or op
    made.append(found)
    return found


def agrees(function: Callable[..., Any], *args: Any, times: int = 3, **options: Any) -> Any:
    """The compiled function, which is the function itself in all that the caller sees."""
    compiled = fxc.compile(function, fullgraph=True, **options)
    for _ in range(times):
        mine, theirs = _copied(args), _copied(args)
        found, wanted = compiled(*mine), function(*theirs)
        for one, other in zip(_flat((found, mine)), _flat((wanted, theirs)), strict=True):
            assert type(one) is type(other)
            if isinstance(one, np.ndarray):
                assert (one.dtype, one.shape, one.strides) == (
                    other.dtype,
                    other.shape,
                    other.strides,
                )
                assert one.tobytes() == other.tobytes()
                assert [np.shares_memory(one, x) for x in mine if isinstance(x, np.ndarray)] == [
                    np.shares_memory(other, x) for x in theirs if isinstance(x, np.ndarray)
                ]
            else:
                assert repr(one) == repr(other)
    assert compiled.cache_info().eager_calls == 0
    return compiled


def _copied(x: Any) -> Any:
    """The same in new memory, gaps and all."""
    if isinstance(x, tuple):
        return tuple(map(_copied, x))
    return strided_copy(x) if isinstance(x, np.ndarray) else x


def _flat(x: Any) -> list[Any]:
    return [y for each in x for y in _flat(each)] if isinstance(x, tuple | list) else [x]


def shifted() -> Any:
    op = custom("shift(Array x, int axis) -> Array", lambda x, axis: np.fft.fftshift(x, axis))
    op.register_meta(lambda x, axis: x.new())
    return op


def clamping() -> Any:
    @custom("clamp_(Array(a!) x, float high) -> ()")
    def clamp_(x: Any, high: float) -> None:
        np.minimum(x, high, out=x)

    return clamp_


def evens() -> Any:
    op = custom("evens(Array(a) x) -> Array(a)", lambda x: x[::2])
    op.register_meta(_of_evens)
    return op


def _of_evens(x: Any) -> Any:
    return replace(
        x, shape=((x.shape[0] + 1) // 2, *x.shape[1:]), strides=(2 * x.strides[0], *x.strides[1:])
    )


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "C": lambda x: x,
    "F": np.asfortranarray,
    "gaps": lambda x: np.repeat(x, 2, -1)[..., ::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "transposed": lambda x: x.T.copy().T,
    "none": lambda x: x[:0],
    "one": lambda x: x[:1, :1],
}


@pytest.mark.parametrize(
    "layout, dtype, backend",
    pairs(LAYOUTS, ["f8", "f4", "i4", "c16", "?", "f2"], ["llvm", "numpy"]),
)
def test_all_that_the_caller_sees_is_numpys(layout: str, dtype: str, backend: str) -> None:
    shift, view = shifted(), evens()

    @custom("double_(Array(a!) x, Array y) -> ()")
    def double_(x: Any, y: Any) -> None:
        x[...] = x + x.sum().astype(x.dtype) + y.astype(x.dtype)

    def function(x: Any, y: Any) -> Any:
        z = shift(y, 0) + 1
        double_(x[1:], y[1:])
        part = view(x)
        part += x.dtype.type(1)
        double_(view(z), y[::2])
        return z, part, part[1:]

    x = LAYOUTS[layout]((np.arange(35).reshape(7, 5) % 11 - 5).astype(dtype))
    agrees(function, x, x.copy("K") + x.dtype.type(1), backend=backend)


def test_many_sizes_are_two_compilations() -> None:
    shift, clamp_ = shifted(), clamping()

    @fxc.compile(fullgraph=True)
    def function(x: Any, high: float) -> Any:
        y = shift(x, 0)
        clamp_(y[1:], high)
        return y

    for size in (5, 6, 7, 8, 40):
        x = np.arange(float(size))
        wanted = np.fft.fftshift(x)
        wanted[1:] = np.minimum(wanted[1:], 2.5)
        np.testing.assert_array_equal(function(x, 2.5), wanted)
    assert function.cache_info().variants == 2


def test_graphs_have_a_functional_partner_in_place_of_a_write() -> None:
    clamp_, view = clamping(), evens()

    def function(x: Any) -> Any:
        clamp_(view(x), 2.0)
        return x

    stages = agrees(function, np.arange(6.0)).inspect(np.arange(6.0))
    assert [node.op for node in stages.captured.nodes] == ["test::evens", "test::clamp_"]
    assert [node.op for node in stages.functional.nodes] == [
        "test::evens_copy",
        "test::clamp_.functional",
        "test::evens_scatter",
    ]
    text = str(stages.functional)
    assert str(parse_graph(text, TABLE.schema_of)) == text


def test_inside_of_loops_and_branches() -> None:
    clamp_ = clamping()
    soft = custom("soft(Array x) -> Array", lambda x: np.exp(x) / np.exp(x).sum())
    total = custom("total(Array x) -> Array", lambda x: x.sum())
    total.register_meta(lambda x: x.scalar())

    def function(x: Any, n: int) -> Any:
        s = 0.0
        for _ in range(n):
            x = soft(x * 2)
            clamp_(x[1:], 0.1)
            if x[0] > 0.5:
                s += total(x)
        return x, s

    for n in (3, 40, 41):
        agrees(function, np.linspace(0, 1, 9), n)


def test_several_results_and_writes() -> None:
    @custom("mix_(Array(a!) x, Array(b!) y, Array z) -> (Array, Array)")
    def mix_(x: Any, y: Any, z: Any) -> Any:
        x += z
        y -= x
        return x * y, (x * y).sum()

    mix_.register_meta(lambda x, y, z: (x.new(), x.scalar()))

    def function(x: Any, y: Any) -> Any:
        both, total = mix_(x[::2], y[1::2], y.sum())
        return both + 1, total

    agrees(function, np.arange(8.0), np.arange(8.0) ** 2)


def test_a_write_to_what_is_read_through_another_argument_is_left_to_python() -> None:
    @custom("add_(Array(a!) x, Array y) -> ()")
    def add_(x: Any, y: Any) -> None:
        for place in range(len(x)):
            x[place] += y[place]

    with pytest.raises(CaptureError, match="writes x, which shares memory with another argument"):
        fxc.compile(lambda x: add_(x[1:], x[:-1]), fullgraph=True)(np.arange(5.0))
    x = np.arange(5.0)
    with pytest.warns(fxc.CaptureWarning, match="shares memory"):
        fxc.compile(lambda x: add_(x[1:], x[:-1]))(x)
    assert x.tolist() == [0, 1, 3, 6, 10]
    mine, theirs = np.arange(5.0), np.arange(5.0)
    add_(theirs[1:], theirs[:-1])
    compiled = fxc.compile(lambda x, y: add_(x, y))
    compiled(np.arange(3.0), np.arange(3.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fxc.CaptureWarning)
        compiled(mine[1:], mine[:-1])  # other guards
    assert mine.tolist() == theirs.tolist()


def test_lists_and_optional_arguments() -> None:
    def cat(xs: Any, axes: Any, dtype: Any, y: Any = None) -> Any:
        found = np.ascontiguousarray(np.stack([x.transpose(axes) for x in xs]), dtype)
        return found if y is None else found + np.asarray(y, dtype)

    op = custom("cat(Array[] xs, int[] axes, DType dtype, Array? y) -> Array", cat)
    op.register_meta(
        lambda xs, axes, dtype, y: xs[0].new((len(xs), *(xs[0].shape[a] for a in axes)), dtype)
    )
    x = np.arange(6.0).reshape(2, 3)
    agrees(lambda x, y: op([x, x + y], (1, 0), np.float32), x, 2.0)
    agrees(lambda x, y: op((x, x, x), [1, 0], "i8", y=y), x, 2)


# ------------------------------------------------------------------ what has no meta


def test_types_are_learnt_from_samples() -> None:
    soft = custom("soft(Array x) -> Array", lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True))
    pair = custom("pair(Array x) -> (Array, Array)", lambda x: (x[1:] + 1, x.sum()))

    def function(x: Any) -> Any:
        first, second = pair(soft(x))
        return first, second

    compiled = fxc.compile(function, fullgraph=True)
    for size in (3, 4, 5, 9):
        for one, other in zip(compiled(x := np.arange(float(size))), function(x), strict=True):
            np.testing.assert_array_equal(one, other)
    assert compiled.cache_info().variants == 2
    assert compiled.cache_info().eager_calls == 0


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_are_learnt_each_by_itself(layout: str) -> None:
    square = custom("square(Array x) -> Array", lambda x: x * x)
    for x in (np.arange(35.0).reshape(7, 5), LAYOUTS[layout](np.arange(35.0).reshape(7, 5))):
        agrees(lambda x: square(x) + 1, x)
        agrees(lambda x: square(x) + 1, x, dynamic=True)


def test_what_was_learnt_wrongly_is_so_for_those_types_alone() -> None:
    def odd(x: Any) -> Any:
        return x[:2] + 1 if x.dtype == np.float64 and x.size and x.flat[0] == 77 else x + 1

    op = custom("odd(Array x) -> Array", odd)
    compiled = fxc.compile(lambda x: op(x))
    floats, ints = np.arange(4.0), np.arange(4)
    assert compiled(floats).tolist() == [1, 2, 3, 4]
    assert compiled(floats + 77).tolist() == [78, 79]
    with pytest.warns(fxc.CaptureWarning, match="depends on more than the types"):
        assert compiled(floats).tolist() == [1, 2, 3, 4]
    agrees(lambda x: op(x), ints)


def test_a_size_that_is_a_symbol_needs_a_meta() -> None:
    op = custom("first(Array x, Sym n) -> Array", lambda x, n: x[:n] + 1)
    assert fxc.compile(lambda x: op(x, 2), fullgraph=True)(np.arange(3.0)).tolist() == [1, 2]
    with pytest.raises(CaptureError, match="takes a size that is not known"):
        fxc.compile(lambda x, n: op(x, n), fullgraph=True)(np.arange(3.0), 2)
    op.register_meta(lambda x, n: x.new((n,)))
    agrees(lambda x, n: op(x, n), np.arange(9.0), 2)


@pytest.mark.parametrize(
    "function, text",
    [
        (lambda x: x, "shares memory"),
        (lambda x: x.__setitem__(0, 1.0), "read-only"),
        (lambda x: np.random.rand(3), "draws random numbers"),
        (lambda x: {}, "gives a dict"),
        (lambda x: (x + 1, x + 2), "gives 2 results, its schema says 1"),
    ],
)
def test_what_cannot_be_learnt_is_said(function: Callable[..., Any], text: str) -> None:
    op = custom("odd(Array x) -> Array", function)
    with pytest.raises(CaptureError, match=text) as error:
        fxc.compile(lambda x: op(x), fullgraph=True)(np.arange(3.0))
    assert "test::odd" in str(error.value)


def test_an_impl_that_calls_another_operator_is_learnt() -> None:
    inner = custom("inner(Array x) -> Array", lambda x: x + 1, meta=lambda x: x.new())
    outer = custom("outer(Array x) -> Array", lambda x: inner(x) * 2)
    agrees(lambda x: outer(x) + inner(x), np.arange(4.0))


def test_a_view_needs_a_meta() -> None:
    op = custom("tail(Array(a) x) -> Array(a)", lambda x: x[1:])
    with pytest.raises(CaptureError, match="test::tail has no meta"):
        fxc.compile(lambda x: op(x), fullgraph=True)(np.arange(3.0))


# ------------------------------------------------------------------ words that are wrong


@pytest.mark.parametrize(
    "schema, impl, meta, text",
    [
        ("a(Array x) -> Array", lambda x: x * 2, lambda x: x.new(dtype="f4"), "its meta says"),
        ("b(Array x) -> Array", lambda x: x[1:] * 2, lambda x: x.new(), "its meta says"),
        ("c(Array x) -> Array", lambda x: (x * 2).T, lambda x: x.new(), "with strides"),
        ("d(Array x) -> Array", lambda x: x.sum(), lambda x: x.new(()), "its meta says"),
        ("e(Array x) -> Array", lambda x: x, lambda x: x.new(), "shares memory"),
        ("f(Array x) -> Array", lambda x: np.negative(x, out=x) * 2, lambda x: x.new(), "writes"),
        ("g(Array(a) x) -> Array(a)", lambda x: x.copy(), lambda x: x, "of its own"),
        ("h_(Array(a!) x) -> ()", lambda x: x + 1, None, "its schema says nothing"),
        ("i(Array x) -> (Array, Array)", lambda x: [x * 2, x * 3],
         lambda x: (x.new(), x.new()), "a tuple of 2"),
    ],
)  # fmt: skip
def test_a_wrong_word_gives_no_wrong_result(
    schema: str, impl: Callable[..., Any], meta: Callable[..., Any] | None, text: str
) -> None:
    """Python runs the call, and the next capture says what is wrong."""
    op = custom(schema, impl)
    if meta is not None:
        op.register_meta(meta)
    function = lambda x: op(x + 0.0)  # noqa: E731
    compiled = fxc.compile(function)
    x = np.arange(6.0).reshape(2, 3) + 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            for one, other in zip(_flat(compiled(x)), _flat(function(x)), strict=True):
                np.testing.assert_array_equal(one, other)
    assert compiled.cache_info().eager_calls == 3
    assert [text in str(each.message) for each in caught] == [True]
    with pytest.raises(CaptureError, match=op.schema.name):
        fxc.compile(function, fullgraph=True)(x)


def test_an_argument_that_is_not_to_be_written_stays_for_python_to_write() -> None:
    op = custom("wr(Array x, Array y) -> Array", lambda x, y: np.add(x, y, out=x) * 1)
    op.register_meta(lambda x, y: x.new())
    function = lambda x, y: op(x, y)  # noqa: E731
    compiled, mine, theirs = fxc.compile(function), np.arange(3.0), np.arange(3.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            np.testing.assert_array_equal(compiled(mine, mine * 2), function(theirs, theirs * 2))
            np.testing.assert_array_equal(mine, theirs)
    assert ["does not let it write" in str(each.message) for each in caught] == [True]


def test_what_impl_keeps_is_not_given_away() -> None:
    kept = np.zeros(3)

    def impl(x: Any) -> Any:
        kept[...] = x
        return kept

    op = custom("kept(Array x) -> Array", impl, meta=lambda x: x.new())
    compiled = fxc.compile(lambda x: (op(x), op(x + 1)), fullgraph=True)
    for _ in range(3):
        first, second = compiled(np.arange(3.0))
        assert (first.tolist(), second.tolist()) == ([0, 1, 2], [1, 2, 3])


class OwnError(Exception):
    pass


@pytest.mark.parametrize("kind", [ValueError, KeyError, OwnError])
def test_what_impl_raises_is_raised(kind: type[Exception]) -> None:
    def impl(x: Any) -> Any:
        if x[0] > 2:
            raise kind("too large")
        return x + 1

    op = custom("rising(Array x) -> Array", impl, meta=lambda x: x.new())

    @fxc.compile(fullgraph=True)
    def function(x: Any) -> Any:
        x[1] = 7
        return op(x)

    assert function(np.zeros(3)).tolist() == [1, 8, 1]
    for _ in range(2):
        x = np.full(3, 5.0)
        with pytest.raises(kind, match="too large"):
            function(x)
        assert x.tolist() == [5, 7, 5]


# ------------------------------------------------------------------ decompositions


def _relu(ops: Any, x: Any, low: Any) -> Any:
    return ops.maximum(x, low)


def _relu_written(ops: Any, x: Any, low: Any) -> Any:
    found = ops.copy(x, "K")
    ops.maximum_(found, low)
    return found


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
@pytest.mark.parametrize(
    "kind, function",
    [("implicit", _relu), ("explicit", _relu), ("non_functional", _relu_written)],
)
@pytest.mark.parametrize("impl", [None, np.maximum])
def test_decompositions(kind: str, function: Any, impl: Any, backend: str) -> None:
    op = custom("relu(Array x, float low) -> Array", impl, decomposition=function, kind=kind)
    x = np.arange(-3.0, 3.0)
    assert op(x, 0.5).tolist() == np.maximum(x, 0.5).tolist()
    compiled = agrees(lambda x, low: op(x * 2, low), x, 0.5, backend=backend)
    stages = compiled.inspect(x, 0.5)
    assert ("test::relu" in str(stages.captured)) == (kind != "implicit")
    if backend == "llvm":
        assert compiled.cache_info().fallbacks == {}


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
@pytest.mark.parametrize("kind", ["implicit", "non_functional"])
def test_decompositions_of_writes_and_views(kind: str, backend: str) -> None:
    def clamp(ops: Any, x: Any, low: Any) -> None:
        ops.maximum_(x, low)

    def turned(ops: Any, x: Any) -> Any:
        return ops.transpose(x, (1, 0))

    clamp_ = custom("clamp_(Array(a!) x, float low) -> ()", decomposition=clamp, kind=kind)
    turn = custom("turn(Array(a) x) -> Array(a)", decomposition=turned, kind=kind)

    def function(x: Any, low: float) -> Any:
        y = turn(x)
        clamp_(y[1:], low)
        y[0] += 10
        return y, y + 1

    agrees(function, np.arange(12.0).reshape(3, 4), 5.5, backend=backend)


def test_a_functional_backend_gets_neither_views_nor_writes() -> None:
    seen: list[Any] = []

    def backend(graph: Any, index: Any, types: Any) -> Any:
        from fxc.dispatch.backend import BackendIndex
        from fxc.dispatch.default import default_dispatcher
        from fxc.dispatch.keys import DispatchKey
        from fxc.ir.evaluate import evaluate
        from fxc.ops.kernels import kernel_of
        from fxc.passes.decompose import decompose

        own = BackendIndex(
            "own", DispatchKey.CPU, True, lambda op: None if op.name.startswith("test") else op
        )
        graph = decompose(graph, own, default_dispatcher())
        seen.append(graph)
        return lambda *inputs: evaluate(graph, inputs, kernel_of)

    op = custom(
        "relu(Array x, float low) -> Array", decomposition=_relu_written, kind="non_functional"
    )
    agrees(lambda x: op(x[1:], 0.5) + 1, np.arange(-3.0, 3.0), backend=backend)
    assert seen
    assert all(node.schema.is_functional for node in seen[0].nodes)
    assert "maximum" in [node.op for node in seen[0].nodes]


def test_a_decomposition_may_decline() -> None:
    def halves(ops: Any, x: Any) -> Any:
        return NotImplemented if ops.type_of(x).rank != 1 else ops.multiply(x, 0.5)

    op = custom("half(Array x) -> Array", lambda x: x * 0.5, meta=lambda x: x.new())
    op.register_decomposition(halves)
    assert agrees(lambda x: op(x), np.arange(3.0)).cache_info().fallbacks == {}
    assert agrees(lambda x: op(x), np.ones((2, 3))).cache_info().fallbacks == {"test::half": 3}


@pytest.mark.parametrize("kind", ["implicit", "explicit"])
def test_a_decomposition_that_gives_other_types(kind: str) -> None:
    op = custom("half(Array x) -> Array", lambda x: x * 0.5, meta=lambda x: x.new())
    op.register_decomposition(lambda ops, x: ops.greater(x, 0.5), kind=kind)
    with pytest.raises(
        CaptureError, match=r"decomposition of test::half gives bool\[3\], its meta"
    ):
        fxc.compile(lambda x: op(x), fullgraph=True)(np.arange(3.0))


def test_cycles_are_found_at_registration() -> None:
    one = custom("one(Array x) -> Array", np.negative)
    two = custom("two(Array x) -> Array", np.negative)
    three = custom("three(Array x) -> Array", np.negative)
    helper = lambda ops, x: ops.call("test::three", x)  # noqa: E731
    one.register_decomposition(lambda ops, x: two(x))
    two.register_decomposition(lambda ops, x: helper(ops, x))
    with pytest.raises(ValueError, match="test::three → test::one → test::two → test::three"):
        three.register_decomposition(lambda ops, x: ops.call("test::one", x))
    with pytest.raises(ValueError, match="test::three → test::three"):
        three.register_decomposition(lambda ops, x: ops.call("test::three", x))
    three.register_decomposition(lambda ops, x: ops.negative(x))
    assert agrees(lambda x: one(x), np.arange(3.0)).cache_info().fallbacks == {}


def test_a_cycle_by_names_that_are_made_ends() -> None:
    op = custom("endless(Array x) -> Array", np.negative, meta=lambda x: x.new())
    op.register_decomposition(lambda ops, x: ops.call("test::" + "end" + "less"[:4], x))
    with pytest.raises(fxc.FxcError, match="terms of itself"):
        fxc.compile(lambda x: op(x), fullgraph=True)(np.arange(3.0))


# ------------------------------------------------------------------ registration


@pytest.mark.parametrize(
    "schema, text",
    [
        ("plain(Array x) -> Array", "namespace::name"),
        ("test::a(Array x)", "not a schema"),
        (
            "test::a(Tensor x) -> Array",
            "unknown kind 'Tensor' of parameter 'x'; there are Array, C",
        ),
        ("test::a(Array x, Array x) -> Array", "occurs twice"),
        ("test::a(Array(a!) x) -> ()", "writes, or its name says"),
        ("test::a_(Array x) -> Array", "writes, or its name says"),
        ("test::a(Array x) -> Array(a)", "aliases nothing"),
        ("test::a_(Array(a!) x) -> Array(a)", "a view of the first"),
        ("test::a(Array x, Array(a) y) -> Array(a)", "a view of the first"),
        ("test::a(Array(a) x) -> Array", "means nothing"),
        ("test::a(Array x) -> ()", "neither gives nor writes"),
        ("test::a(int n) -> Array", "takes an array or a number"),
        ("test::a(Array x, Region r) -> Array", "takes a Region"),
        ("test::a(Array x) -> Array[]", "a place of its own"),
    ],
)
def test_schemas_that_are_refused(schema: str, text: str) -> None:
    with pytest.raises(ParseError, match=text):
        fxc.custom_op(schema)


def test_errors_are_at_the_users_line() -> None:
    op = custom("once(Array x) -> Array", np.negative)
    with pytest.raises(ValueError, match="'test::once' exists already: take another name"):
        custom("once(Array x) -> Array", np.negative)
    with pytest.raises(TypeError, match="the impl of test::more is called with 2 arguments"):
        custom("more(Array x, int n) -> Array", lambda x: x)
    assert "test::more" not in TABLE
    with pytest.raises(TypeError, match="the meta of test::once is called with 1 argument"):
        op.register_meta(lambda x, y: x)
    with pytest.raises(TypeError, match="a decomposition of test::once is called with 2"):
        op.register_decomposition(lambda ops: ops)
    with pytest.raises(TypeError, match="must be a function, not an int"):
        op.register_lowering(3)
    with pytest.raises(ValueError, match=r"one of .*, not 'other'"):
        op.register_decomposition(lambda ops, x: x, kind="other")
    op.register_meta(lambda x: x.new())
    with pytest.raises(ValueError, match="has a meta already"):
        op.register_meta(lambda x: x.new())
    op.register_decomposition(lambda ops, x: ops.negative(x))
    with pytest.raises(ValueError, match="of the kind explicit already"):
        op.register_decomposition(lambda ops, x: ops.negative(x))


def test_a_part_that_fails_leaves_nothing() -> None:
    with pytest.raises(TypeError, match="the meta of test::half"):
        custom("half(Array x) -> Array", np.negative, meta=lambda: 0)
    assert "test::half" not in TABLE


def test_calls_that_do_not_fit() -> None:
    op = shifted()
    with pytest.raises(TypeError, match="argument 'axis' is missing"):
        op(np.arange(3))
    with pytest.raises(TypeError, match="'axes' is unknown"):
        op(np.arange(3), axes=0)
    assert op(np.arange(4), axis=0).tolist() == [2, 3, 0, 1]
    agrees(lambda x: op(axis=-1, x=x), np.arange(4.0))
    with pytest.raises(TypeError, match="argument 'axis' is missing"):
        fxc.compile(lambda x: op(x), fullgraph=True)(np.arange(3.0))


def test_registrations_are_undone_and_what_was_compiled_is_not_used() -> None:
    op = custom("f(Array x) -> Array", np.negative, meta=lambda x: x.new())
    compiled = fxc.compile(lambda x: op(x) + 1, fullgraph=True)
    x = np.arange(3.0)
    assert compiled(x).tolist() == [1, 0, -1]
    handle = op.register_decomposition(lambda ops, x: ops.multiply(x, NEARLY))
    assert compiled(x).tolist() == (x * NEARLY + 1).tolist()
    handle.remove()
    handle.remove()
    assert compiled(x).tolist() == [1, 0, -1]
    assert compiled.cache_info().variants == 3


def test_native_calls_are_not_used_afterwards() -> None:
    op = custom("f(Array x) -> Array", np.negative, meta=lambda x: x.new())
    handle = op.register_decomposition(lambda ops, x: ops.negative(x))
    compiled, x = fxc.compile(lambda x: op(x) + 1, fullgraph=True), np.arange(3.0)
    for _ in range(2100):
        assert compiled(x).tolist() == [1, 0, -1]
    assert compiled._state.variants[0].native is not None
    handle.remove()
    op.register_decomposition(lambda ops, x: ops.multiply(x, NEARLY))
    assert compiled(x).tolist() == (x * NEARLY + 1).tolist()


def test_what_raises_raises_where_nobody_reads_its_result() -> None:
    def impl(x: Any) -> Any:
        if x[0] > 0:
            raise ValueError("too large")
        return x + 1

    op = custom("rising(Array x) -> Array", impl, meta=lambda x: x.new())

    @fxc.compile(fullgraph=True)
    def function(x: Any) -> Any:
        op(x)
        return x * 2

    assert function(np.zeros(2)).tolist() == [0, 0]
    with pytest.raises(ValueError, match="too large"):
        function(np.ones(2))


def test_functionalize() -> None:
    clamp_ = clamping()

    def function(x: Any) -> Any:
        clamp_(x[1:], 1.0)
        return x[0]

    x = np.arange(4.0)
    result, changed = fxc.functionalize(function)(x)
    assert (result, changed["x"].tolist(), x.tolist()) == (0, [0, 1, 1, 1], [0, 1, 2, 3])


def test_an_operator_behind_a_decomposition_that_changes() -> None:
    inner = custom("inner(Array x) -> Array", np.negative, meta=lambda x: x.new())
    outer = custom("outer(Array x) -> Array", decomposition=lambda ops, x: inner(x))
    compiled = fxc.compile(lambda x: outer(x), fullgraph=True)
    assert compiled(np.arange(3.0)).tolist() == [0, -1, -2]
    inner.register_decomposition(lambda ops, x: ops.multiply(x, NEARLY))
    assert compiled(np.arange(3.0)).tolist() == (np.arange(3.0) * NEARLY).tolist()


def test_a_name_that_gets_another_operator() -> None:
    op = custom("f(Array x) -> Array", np.negative, meta=lambda x: x.new())
    name = op.schema.name

    @fxc.compile(fullgraph=True)
    def function(x: Any) -> Any:
        return held[0](x)

    held = (op,)
    assert function(np.arange(3.0)).tolist() == [0, -1, -2]
    op.remove()
    op.remove()
    assert name not in TABLE
    held = (custom("f(Array x) -> Array", np.square, meta=lambda x: x.new()),)
    assert function(np.arange(3.0)).tolist() == [0, 1, 4]


def test_a_new_operator_leaves_what_is_compiled() -> None:
    op = shifted()
    compiled = fxc.compile(lambda x: op(x, 0), fullgraph=True)
    compiled(np.arange(3.0))
    custom("new(Array x) -> Array", np.negative, meta=lambda x: x.new())
    compiled(np.arange(3.0))
    assert compiled.cache_info().variants == 1


def test_a_mended_meta() -> None:
    op = custom("f(Array x) -> Array", np.negative)
    handle = op.register_meta(lambda x: x.new(dtype="f4"))
    compiled = fxc.compile(lambda x: op(x))
    compiled(np.arange(3.0))
    with pytest.warns(fxc.CaptureWarning, match="its meta says"):
        compiled(np.arange(3.0))
    handle.remove()
    op.register_meta(lambda x: x.new())
    agrees(lambda x: op(x), np.arange(3.0))


def test_operators_are_found_by_name_when_they_are_pickled() -> None:
    op = shifted()
    assert pickle.loads(pickle.dumps(op)) is op
    data = pickle.dumps(op)
    op.remove()
    with pytest.raises(LookupError, match="'test::shift' is not registered here"):
        pickle.loads(data)


def test_threads_that_register_and_call() -> None:
    """Each call sees one state or the other, whatever is registered meanwhile."""
    op = custom("f(Array x) -> Array", np.negative, meta=lambda x: x.new())
    compiled = fxc.compile(lambda x: op(x) + 1, fullgraph=False)
    stop, wrong = threading.Event(), list[Any]()

    def calls() -> None:
        while not stop.is_set():
            found = compiled(np.arange(3.0)).tolist()
            if found not in ([1, 0, -1], [1, 2, 5]):
                wrong.append(found)

    def registers(number: int) -> None:
        for place in range(8):
            other = fxc.custom_op(f"test::g{number}_{place}(Array x) -> Array", np.negative)
            handle = op.register_decomposition(lambda ops, x: ops.square(x)) if not number else None
            if handle is not None:
                handle.remove()
            other.remove()

    callers = [threading.Thread(target=calls) for _ in range(2)]
    changing = [threading.Thread(target=registers, args=(n,)) for n in range(3)]
    for each in callers + changing:
        each.start()
    for each in changing:
        each.join()
    stop.set()
    for each in callers:
        each.join()
    assert not wrong
    assert compiled(np.arange(3.0)).tolist() == [1, 0, -1]


# ------------------------------------------------------------------ samples


def _leaky(x: Any, k: Any) -> Any:
    return np.maximum(x, k * x)


def _unused(context: Any, node: Any) -> None:
    raise AssertionError("the operator is refused before")


def _refused(op: Any, *args: Any) -> str:
    """Why compiled code does not use the operator; it gives what NumPy gives, with a warning."""
    with pytest.warns(fxc.CaptureWarning) as warned:
        found = fxc.compile(lambda *args: op(*args))(*args)
    wanted = op(*args)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)
    return str(warned[0].message)


@pytest.mark.parametrize("part", ["lowering", "explicit", "implicit"])
def test_a_meta_that_is_wrong_for_these_types(part: str) -> None:
    op = custom("leaky(Array x, float k) -> Array", _leaky, meta=lambda x, k: x.new())
    if part == "lowering":
        op.register_lowering(_unused)
    else:
        op.register_decomposition(lambda ops, x, k: ops.maximum(x, ops.multiply(k, x)), kind=part)
    text = "test::leaky: the meta says i64[6], the function gives f64[6]"
    assert text in _refused(op, np.arange(-3, 3), 0.1)
    with pytest.raises(CaptureError, match=r"the meta says i64\[6\], the function gives f64\[6\]"):
        fxc.compile(lambda x: op(x, 0.1), fullgraph=True)(np.arange(-3, 3))
    if part != "lowering":
        agrees(lambda x: op(x, 0.1), np.arange(-3.0, 3.0))  # others are not refused


def test_a_meta_that_is_wrong_for_other_sizes() -> None:
    op = custom("tail(Array x) -> Array", lambda x: x[1:].copy(), lowering=_unused)
    op.register_meta(lambda x: x.new((4,)))
    assert "the meta says f64[4], the function gives f64[5]" in _refused(op, np.arange(5.0))


@pytest.mark.parametrize("kind", ["explicit", "implicit"])
@pytest.mark.parametrize("has_meta", [True, False])
def test_a_decomposition_that_is_another_function(kind: str, has_meta: bool) -> None:
    op = custom("leaky(Array x, float k) -> Array", _leaky)
    if has_meta:
        op.register_meta(lambda x, k: x.new())
    op.register_decomposition(lambda ops, x, k: ops.minimum(x, ops.multiply(k, x)), kind=kind)
    text = "test::leaky: the decomposition gives 0.25, the function 0.5"
    assert text in _refused(op, np.arange(-3.0, 3.0), 0.1)


def test_a_decomposition_that_writes_something_else() -> None:
    def scale_(x: Any, k: Any) -> None:
        x *= k

    op = custom("scale_(Array(a!) x, float k) -> ()", scale_)
    op.register_decomposition(lambda ops, x, k: ops.add_(x, k))
    x = np.ones(3)
    with pytest.warns(fxc.CaptureWarning, match="the decomposition gives"):
        fxc.compile(lambda x: op(x, 3.0))(x)
    assert x.tolist() == [3, 3, 3]


def test_samples_are_copies_and_tried_once() -> None:
    seen: list[Any] = []

    def impl(x: Any) -> Any:
        seen.append(x)
        return x * 2

    op = custom("twice(Array x) -> Array", impl, meta=lambda x: x.new())
    op.register_decomposition(lambda ops, x: ops.multiply(x, 2))
    x = np.arange(4.0)
    fxc.compile(lambda x: op(x), fullgraph=True)(x)
    assert seen
    assert not any(np.shares_memory(x, each) for each in seen)
    count = len(seen)
    fxc.compile(lambda x: op(x) + 1, fullgraph=True)(x)
    assert len(seen) == count


def test_an_operator_that_is_removed_before_it_is_compiled() -> None:
    op = custom("half(Array x) -> Array", lambda x: x / 2, meta=lambda x: x.new())
    op.remove()
    text = "the operator test::half is not registered any more"
    with pytest.raises(CaptureError, match=text):
        fxc.compile(lambda x: op(x), fullgraph=True)(np.ones(3))
    assert text in _refused(op, np.ones(3))
