"""``fxc.testing.check_op``: each part of an operator that is wrong is found, and said."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.lowering.building.elementwise import elementwise
from fxc.testing import CheckFailed, check_op

made: list[Any] = []
SAMPLES = [
    (np.arange(12.0).reshape(3, 4) - 5,),
    (np.arange(12.0).reshape(3, 4).T - 5,),
    (np.zeros((0, 4)),),
    (np.ones((1, 4)),),
    (np.array([[np.nan, -0.0], [np.inf, 1.0]]),),
]


@pytest.fixture(autouse=True)
def _nothing_stays() -> Iterator[None]:
    yield
    while made:
        made.pop().remove()


def custom(schema: str, *args: Any, **kwargs: Any) -> Any:
    made.append(fxc.custom_op(f"test::{schema}", *args, **kwargs))
    return made[-1]


def fails(op: Any, text: str, samples: Any = SAMPLES) -> None:
    before = [[np.array(x) for x in sample] for sample in samples]
    with pytest.raises(CheckFailed, match=text) as error:
        check_op(op, samples)
    assert error.value.text.startswith(op.schema.name)
    for one, other in zip(before, samples, strict=True):
        for x, y in zip(one, other, strict=True):
            np.testing.assert_array_equal(x, y)


def negated(context: Any, node: Any) -> None:
    kind = node.output.type.dtype

    def element(body: Any, index: Any) -> Any:
        return body.compute("negative", (body.element(node.args[0], index),), (kind,), kind)

    elementwise(context, node, element)


def absolute(context: Any, node: Any) -> None:
    kind = node.output.type.dtype

    def element(body: Any, index: Any) -> Any:
        return body.compute("absolute", (body.element(node.args[0], index),), (kind,), kind)

    elementwise(context, node, element)


def _negate_written(ops: Any, x: Any) -> Any:
    found = ops.copy(x, "K")
    ops.negative_(found)
    return found


def test_an_operator_with_all_its_parts() -> None:
    op = custom("neg(Array x) -> Array", np.negative, meta=lambda x: x.new(), lowering=negated)
    op.register_decomposition(lambda ops, x: ops.negative(x))
    op.register_decomposition(_negate_written, kind="non_functional")
    check_op(op, SAMPLES)


def test_operators_that_write_and_give_views() -> None:
    def clamp(x: Any, high: Any) -> None:
        np.minimum(x, high, out=x)

    clamp_ = custom("clamp_(Array(a!) x, float high) -> ()", clamp)
    clamp_.register_decomposition(lambda ops, x, high: ops.minimum_(x, high))
    check_op(clamp_, [(*sample, 0.5) for sample in SAMPLES])
    turn = custom("turn(Array(a) x) -> Array(a)", np.transpose)
    turn.register_meta(lambda x: replace(x, shape=x.shape[::-1], strides=x.strides[::-1]))
    turn.register_decomposition(lambda ops, x: ops.transpose(x, (1, 0)))
    check_op(turn, SAMPLES)


def test_many_kinds_of_arguments() -> None:
    def mix(xs: Any, y: Any, axis: Any, keep: Any, name: Any, dtype: Any) -> Any:
        total = sum(x.sum(axis, keepdims=keep) for x in xs) + y
        return total.astype(dtype), total.max()

    op = custom(
        "mix(Array[] xs, float y, int axis, bool keep, str name, DType? dtype) -> (Array, Array)",
        mix,
    )
    x = np.arange(12.0).reshape(3, 4)
    check_op(
        op, [([x, x + 1], 2.5, 1, True, "a", np.dtype("f4")), ((x,), 1.5, 0, False, "b", "i8")]
    )


@pytest.mark.parametrize(
    "schema, impl, meta, text",
    [
        ("a(Array x) -> Array", lambda x: np.negative(x, out=x) + 1, None, "it writes x, the schema"),
        ("b_(Array(a!) x) -> ()", lambda x: None, None, "x is written, and no sample changes it"),
        ("c(Array x) -> Array", lambda x: x.T, lambda x: x.new(), "shares memory with x, the schema"),
        ("d(Array(a) x) -> Array(a)", lambda x: x.copy(), lambda x: x, "is a view of x"),
        ("e(Array x) -> (Array, Array)", lambda x: (y := x + 1, y[1:]),
         lambda x: (x.new(), x.new()), "result 1 of it shares memory with another result"),
        ("f(Array x) -> (Array, Array)", lambda x: [x + 1, x], None, "gives a list, .*a tuple of 2"),
        ("g_(Array(a!) x) -> ()", lambda x: x.fill(1) or 3, None, "gives an int, .*says nothing"),
        ("h(Array x) -> Array", lambda x: x + 1, lambda x: x.new(dtype="f4"), "the meta says f32"),
        ("i(Array x) -> Array", lambda x: x + 1, lambda x: x.new(x.shape[1:]), "the meta says f64"),
        ("j(Array x) -> Array", lambda x: x + 1, lambda x: x.scalar(), "the meta says f64, the function gives"),
        ("k(Array x) -> Array", lambda x: np.asfortranarray(x + 1), lambda x: x.new(),
         r"the meta says f64\[3, 4\], the function gives f64\[3, 4\]\{8, 24\}"),
        ("l(Array x) -> Array", lambda x: x + 1, lambda x: x.new((3, 4)), "the meta says f64"),
        ("q(Array x) -> Array", lambda x: x + 1,
         lambda x: x.new(x.shape if isinstance(x.shape[0], int) else x.shape[1:]),
         "with sizes as symbols, says"),
        ("m(Array x) -> Array", lambda x: x + 1, lambda x: 1 // 0, "the meta raises"),
        ("n(Array x) -> Array", lambda x: x + np.random.rand(), lambda x: x.new(), "a second call"),
        ("o(Array x) -> Array", lambda x: None, lambda x: x.new(), "a NoneType, which is neither"),
        ("p(Array x) -> Array", lambda x: x.missing, lambda x: x.new(), "it raises AttributeError"),
    ],
)  # fmt: skip
def test_a_wrong_schema_or_meta(
    schema: str, impl: Callable[..., Any], meta: Callable[..., Any] | None, text: str
) -> None:
    op = custom(schema, impl)
    if meta is not None:
        op.register_meta(meta)
    fails(op, text)


def wrong_at_one(ops: Any, x: Any) -> Any:
    found = ops.negative(x)
    return ops.where(ops.equal(x, 1.0), 1.0, found)


def wrong_zero(ops: Any, x: Any) -> Any:
    return ops.subtract(0.0, x)


@pytest.mark.parametrize(
    "function, text",
    [
        (lambda ops, x: ops.negative(ops.negative(x)), "has .* at .*, it should be"),
        (lambda ops, x: ops.greater(x, 0.5), "decomposition"),
        (wrong_at_one, r"at \(1, 2\), it should be"),
        (wrong_zero, r"has np.float64\(0\.0\) at .* should be np.float64\(-0\.0\)"),
        (lambda ops, x: x, "has|shares memory"),
        (lambda ops, x: ops.negative_(x) or ops.copy(x, "K"), "x has .* it should be"),
        (lambda ops, x: ops.nothing(x), "the decomposition .* raises AttributeError"),
    ],
)
@pytest.mark.parametrize("kind", ["implicit", "explicit", "non_functional"])
def test_a_wrong_decomposition(function: Callable[..., Any], text: str, kind: str) -> None:
    op = custom("neg(Array x) -> Array", np.negative, meta=lambda x: x.new())
    op.register_decomposition(function, kind=kind)
    fails(op, text)


def test_an_explicit_decomposition_that_writes() -> None:
    op = custom("neg(Array x) -> Array", np.negative, meta=lambda x: x.new())
    op.register_decomposition(_negate_written, kind="explicit")
    fails(op, "writes, as none may")


def test_a_wrong_lowering() -> None:
    op = custom("neg(Array x) -> Array", np.negative, meta=lambda x: x.new(), lowering=absolute)
    fails(op, r"of the native code has .* it should be")
    op.remove()
    op = custom("neg(Array x) -> Array", np.negative, meta=lambda x: x.new())
    op.register_lowering(absolute, covers=lambda node: False)
    check_op(op, SAMPLES)
    op.remove()
    broken = lambda context, node: context.nothing  # noqa: E731
    op = custom("neg(Array x) -> Array", np.negative, meta=lambda x: x.new(), lowering=broken)
    fails(op, "the lowering raises AttributeError")


def test_the_meta_says_how_the_results_of_a_decomposition_lie() -> None:
    def squared(ops: Any, x: Any) -> Any:
        return ops.copy(ops.square(x), "C")

    op = custom("square(Array x) -> Array", np.square, meta=lambda x: x.new())
    op.register_decomposition(squared)
    check_op(op, SAMPLES)
    x = np.arange(12.0).reshape(3, 4).T
    assert fxc.compile(lambda x: op(x), fullgraph=True)(x).strides == np.square(x).strides
    op.register_decomposition(squared, kind="implicit")
    fails(op, r"gives f64\[4, 3\], its meta says f64\[4, 3\]\{8, 32\}")
    with pytest.raises(fxc.CaptureError, match=r"its meta says f64\[4, 3\]\{8, 32\}"):
        fxc.compile(lambda x: op(x), fullgraph=True)(x)


def test_native_code_of_an_operator_that_writes() -> None:
    op = custom("neg_(Array(a!) x) -> ()", lambda x: np.negative(x, out=x) is None or None)
    handle = op.register_lowering(absolute)
    fails(op, r"after the native code x has .* it should be")
    handle.remove()
    op.register_lowering(negated)
    check_op(op, SAMPLES)
    compiled = fxc.compile(lambda x: op(x[::2]), fullgraph=True)
    for size in (1, 2, 7, 9):
        x, y = np.arange(float(size)), np.arange(float(size))
        compiled(x)
        op(y[::2])
        assert x.tobytes() == y.tobytes()
    assert compiled.cache_info().fallbacks == {}


def test_a_view_has_no_native_code() -> None:
    op = custom("tail(Array(a) x) -> Array(a)", lambda x: x[1:])
    with pytest.raises(ValueError, match="test::tail gives a view"):
        op.register_lowering(negated)


def test_a_tolerance() -> None:
    op = custom("third(Array x) -> Array", lambda x: x / 3, meta=lambda x: x.new())
    op.register_decomposition(lambda ops, x: ops.multiply(x, 1 / 3))
    fails(op, "it should be")
    check_op(op, SAMPLES, rtol=1e-15)


def test_without_samples_nothing_is_checked() -> None:
    op = custom("neg(Array x) -> Array", np.negative)
    fails(op, "there are no samples", [])


def test_native_code_of_ones_own_is_used() -> None:
    op = custom("neg(Array x) -> Array", np.negative, meta=lambda x: x.new(), lowering=negated)
    compiled = fxc.compile(lambda x: op(x + 1) * 2, fullgraph=True)
    for shape in ((3,), (5,), (2, 7), (0,), (1, 1)):
        x = np.arange(float(np.prod(shape))).reshape(shape)
        assert compiled(x).tobytes() == (-(x + 1) * 2).tobytes()
    assert compiled.cache_info().fallbacks == {}
    assert compiled(np.ones(3, np.float16)).tolist() == [-4, -4, -4]  # which has no native code


def test_what_is_no_operator() -> None:
    with pytest.raises(TypeError, match=r"takes what fxc\.custom_op gives, not a ufunc"):
        check_op(np.add, [(1, 2)])  # type: ignore[arg-type]
