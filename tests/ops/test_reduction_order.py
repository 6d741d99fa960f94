"""`reduction_order` against NumPy itself: a slow executor of orders gives NumPy's very bits."""

import functools
import itertools
import math
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pytest

import fxc
from fxc.lowering.operators.reduction_order import (
    PAIRWISE_GROUPS,
    PAIRWISE_LANES,
    TAKES_RUNS_WHOLE,
    ReductionOrder,
    axes_by_stride,
    reduction_order,
)
from tests import covering
from tests.outcomes import warnings_of

pytestmark = [pytest.mark.bits, pytest.mark.products]
since_2_3 = pytest.mark.skipif(TAKES_RUNS_WHOLE, reason="orders of NumPy 2.3 and later")

# Sizes at which something changes: lanes, blocks, halves of the buffer, the buffer.
CORNERS = (7, 8, 9, 15, 16, 17, 100, 127, 128, 129, 130, 136, 257, 1000, 2730, 2731)
CORNERS_OF_THE_BUFFER = (4095, 4096, 4097, 5461, 5462, 8191, 8192, 8193, 9000, 16384, 20001)


# --- The executor: what the native loops have to do, in NumPy's elementwise arithmetic ---


def pairwise(x: np.ndarray) -> np.ndarray:
    """The pairwise sum over the last axis. See Note [Pairwise sums]."""
    n, wide = x.shape[-1], PAIRWISE_LANES[f"{'complex ' * (x.dtype.kind == 'c')}pairwise"]
    if n < wide:
        return running(np.full(x.shape[:-1], -0.0, x.dtype), x)
    if n > PAIRWISE_GROUPS * wide:
        half = n // 2 - n // 2 % wide
        return pairwise(x[..., :half]) + pairwise(x[..., half:])
    whole = n - n % wide
    lanes = x[..., :wide]
    for start in range(wide, whole, wide):
        lanes = lanes + x[..., start : start + wide]
    while lanes.shape[-1] > 1:
        lanes = lanes[..., 0::2] + lanes[..., 1::2]
    return running(lanes[..., 0], x[..., whole:])


def running(start: np.ndarray, x: np.ndarray) -> np.ndarray:
    for position in range(x.shape[-1]):
        start = start + x[..., position]
    return start


def run(
    order: ReductionOrder,
    a: np.ndarray,
    axes: Sequence[int],
    dtype: np.dtype,
    op: np.ufunc = np.add,
    initial: float | None = None,
) -> np.ndarray:
    """The program in the docstring of reduction_order, for all elements of the result at once."""
    kept = [axis for axis in range(a.ndim) if axis not in axes]
    ones = [axis for axis in axes if axis not in order.outer + order.inner]
    assert all(a.shape[axis] == 1 for axis in ones) or a.size == 0
    shape = tuple(a.shape[axis] for axis in kept)
    outer = math.prod(a.shape[axis] for axis in order.outer)
    length = math.prod(a.shape[axis] for axis in order.inner)
    acc = np.full(math.prod(shape), op.identity if initial is None else initial, dtype)
    if a.size == 0:
        return acc.reshape(shape)
    elements = a.astype(dtype).transpose(*kept, *ones, *order.outer, *order.inner)
    elements = elements.reshape(acc.size, outer, length)
    chunk = order.chunk or length
    parts = [pairwise(elements[..., at : at + chunk]) for at in range(0, length, chunk)]
    for index in range(outer):
        for part in parts:
            acc = op(acc, part[:, index])
    return acc.reshape(shape)


def same_bits(x: object, y: object) -> bool:
    return np.ascontiguousarray(x).tobytes() == np.ascontiguousarray(y).tobytes()


def check(a: np.ndarray, axes: Sequence[int], dtype: str | None = None) -> ReductionOrder:
    """Compare the sum of `a` with the executed order; return the order."""
    accumulate = np.dtype(dtype or a.dtype)
    order = reduction_order(
        a.shape, a.strides, axes, buffered=accumulate != a.dtype or not a.flags.aligned
    )
    expected = np.add.reduce(a, axis=tuple(axes), dtype=accumulate)
    assert same_bits(run(order, a, axes, accumulate), expected), (
        f"shape {a.shape}, strides {a.strides}, {a.dtype} in {accumulate}, axes {axes}: {order}"
    )
    if a.flags.c_contiguous and a.size:
        assert order == reduction_order(
            a.shape, None, axes, buffered=accumulate != a.dtype or not a.flags.aligned
        )
    return order


# --- Samples ---


def numbers(rng: np.random.Generator, shape: Sequence[int], dtype: str = "f8") -> np.ndarray:
    """Values of many magnitudes, so that any other order shows in the last bits."""
    if np.dtype(dtype).kind in "iu":
        return rng.integers(0, 2**7, shape).astype(dtype) * np.array(2**17 + 1).astype(dtype)
    found = rng.standard_normal(shape) * 10.0 ** rng.uniform(-3, 3, shape)
    if np.dtype(dtype).kind == "c":
        found = found + 1j * rng.standard_normal(shape)
    return found.astype(dtype)


def some_shape(pick: random.Random, most: int = 30_000) -> list[int]:
    while True:
        shape = [pick.randint(1, pick.choice((4, 9, 20))) for _ in range(pick.randint(1, 5))]
        if pick.random() < 0.5:
            corners = CORNERS if pick.random() < 0.7 else CORNERS_OF_THE_BUFFER
            shape[pick.randrange(len(shape))] = pick.choice(corners)
        if math.prod(shape) <= most:
            return shape


def some_axes(pick: random.Random, rank: int) -> tuple[int, ...]:
    if pick.random() < 0.25:
        return tuple(range(rank))
    return tuple(axis for axis in range(rank) if pick.random() < 0.55)


def contiguous(pick: random.Random, rng: np.random.Generator, dtype: str) -> np.ndarray:
    return numbers(rng, some_shape(pick), dtype)


def transposed(pick: random.Random, rng: np.random.Generator, dtype: str) -> np.ndarray:
    a = numbers(rng, some_shape(pick), dtype)
    return a.T if pick.random() < 0.4 else a.transpose(pick.sample(range(a.ndim), a.ndim))


def interior(pick: random.Random, rng: np.random.Generator, dtype: str) -> np.ndarray:
    shape = some_shape(pick)
    pads = [pick.choice((0, 1, 2)) for _ in shape]
    a = numbers(rng, [size + pad for size, pad in zip(shape, pads, strict=True)], dtype)
    return a[tuple(slice(pad // 2, pad // 2 + n) for n, pad in zip(shape, pads, strict=True))]


def stepped(pick: random.Random, rng: np.random.Generator, dtype: str) -> np.ndarray:
    shape = some_shape(pick, most=10_000)
    steps = [pick.choice((1, 1, 2, 3, -1, -2)) for _ in shape]
    whole = [n * abs(step) for n, step in zip(shape, steps, strict=True)]
    if math.prod(whole) > 200_000:
        return contiguous(pick, rng, dtype)[..., ::-1]
    a = numbers(rng, whole, dtype)[tuple(slice(None, None, step) for step in steps)]
    return a if pick.random() < 0.6 else a.transpose(pick.sample(range(a.ndim), a.ndim))


def broadcast(pick: random.Random, rng: np.random.Generator, dtype: str) -> np.ndarray:
    shape = some_shape(pick, most=10_000)
    small = [1 if pick.random() < 0.4 else size for size in shape]
    a = numbers(rng, small, dtype)
    order = pick.sample(range(a.ndim), a.ndim)
    return np.broadcast_to(a, shape).transpose(order)


def windows(pick: random.Random, rng: np.random.Generator, dtype: str) -> np.ndarray:
    """Overlapping elements: axes with equal strides."""
    rank = pick.randint(1, 2)
    a = numbers(rng, [pick.randint(6, 30) for _ in range(rank)], dtype)
    a = np.lib.stride_tricks.sliding_window_view(a, [pick.randint(1, 6) for _ in range(rank)])
    return a.transpose(pick.sample(range(a.ndim), a.ndim))


LAYOUTS = (contiguous, transposed, interior, stepped, broadcast, windows)


@contextmanager
def buffer_of(size: int) -> Iterator[None]:
    """With a small buffer, small arrays meet every case of long ones."""
    before = np.setbufsize(size)
    try:
        yield
    finally:
        np.setbufsize(before)


# --- Sums ---


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_sums_have_numpys_bits(layout, seed):
    pick, rng = random.Random(seed), np.random.default_rng(seed)
    for _ in range(60):
        a = layout(pick, rng, pick.choice(("f4", "f8", "c8", "c16")))
        for _ in range(3):
            check(a, some_axes(pick, a.ndim))


@pytest.mark.parametrize(
    "dtype, accumulate",
    [("f4", "f8"), ("f8", "f4"), ("i8", "f8"), ("i4", "f8"), ("u1", "f8"), (">f8", "f8")],
)
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_sums_that_cast_have_numpys_bits(layout, dtype, accumulate):
    pick, rng = random.Random(dtype), np.random.default_rng(5)
    for _ in range(25):
        a = layout(pick, rng, dtype)
        for _ in range(2):
            check(a, some_axes(pick, a.ndim), accumulate)


def test_sums_of_unaligned_operands_have_numpys_bits():
    pick, rng = random.Random(1), np.random.default_rng(1)
    for _ in range(120):
        a = contiguous(pick, rng, pick.choice(("f4", "f8")))
        memory = np.zeros(a.nbytes + 1, np.uint8)[1:].view(a.dtype).reshape(a.shape)
        memory[...] = a
        check(memory.T if pick.random() < 0.3 else memory, some_axes(pick, a.ndim))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_long_rows_of_slices(dtype):
    """Every way of gathering: inner and middle axis below, at and above the buffer's size."""
    rng = np.random.default_rng(2)
    pieces = (1, 2, 3, 90, 91, 2730, 2731, 4095, 4096, 4097, 8191, 8192, 8193)
    for inner, middle in itertools.product(pieces, (1, 2, 3, 90, 91)):
        if inner * middle <= 30_000:
            a = numbers(rng, (4, middle + 1, inner + 1), dtype)
            for view in (a[:3, :middle, :inner], a[:3, :, :inner], a[:3, :middle]):
                for axes in ((0, 1, 2), (1, 2), (0, 2)):
                    check(view, axes, "f8")


@pytest.mark.parametrize("size", [16, 32, 128])
def test_the_buffers_size_is_a_parameter(size):
    pick, rng = random.Random(size), np.random.default_rng(size)
    with buffer_of(size):
        for _ in range(300):
            dtype = pick.choice(("f4", "f8", "i4"))
            a = pick.choice(LAYOUTS)(pick, rng, dtype)
            axes = some_axes(pick, a.ndim)
            order = reduction_order(
                a.shape, a.strides, axes, buffered=dtype == "i4", buffer_size=size
            )
            accumulate = np.dtype("f8" if dtype == "i4" else dtype)
            expected = np.add.reduce(a, axis=axes, dtype=accumulate)
            assert same_bits(run(order, a, axes, accumulate), expected), (a.shape, axes, order)


def test_an_initial_value_replaces_the_zero():
    pick, rng = random.Random(3), np.random.default_rng(3)
    for _ in range(100):
        a = pick.choice(LAYOUTS)(pick, rng, "f8")
        axes = some_axes(pick, a.ndim)
        order = reduction_order(a.shape, a.strides, axes)
        expected = np.add.reduce(a, axis=axes, initial=0.1)
        assert same_bits(run(order, a, axes, a.dtype, initial=0.1), expected)


def some_out(pick: random.Random, a: np.ndarray, kept: Sequence[int]) -> np.ndarray:
    """An array for the sums of ``a``, in any memory order."""
    places = pick.sample(range(len(kept)), len(kept))
    out = np.empty([a.shape[kept[place]] for place in places], a.dtype)
    out = out.transpose(np.argsort(places))
    return out[(*(slice(None, None, pick.choice((1, -1))) for _ in kept), ...)]


@since_2_3
def test_the_layout_of_out_has_a_vote():
    pick, rng = random.Random(4), np.random.default_rng(4)
    moved = 0
    for _ in range(400):
        a = pick.choice(LAYOUTS)(pick, rng, pick.choice(("f4", "f8")))
        axes = some_axes(pick, a.ndim)
        kept = [axis for axis in range(a.ndim) if axis not in axes]
        out = some_out(pick, a, kept)
        votes = [0] * a.ndim
        for axis, stride in zip(kept, out.strides, strict=True):
            votes[axis] = stride
        order = reduction_order(a.shape, a.strides, axes, out_strides=votes)
        moved += order != reduction_order(a.shape, a.strides, axes)
        np.add.reduce(a, axis=axes, out=out)
        assert same_bits(run(order, a, axes, a.dtype), out), (a.shape, a.strides, votes, axes)
    assert moved


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("function", [np.sum, np.mean, np.var])
def test_compiled_sums_into_out_have_numpys_bits(function):
    """Those for which ``out`` has a vote are not captured."""
    pick, rng = random.Random(function.__name__), np.random.default_rng(4)
    captured, count = 0, 60 if covering.thorough else 24
    for _ in range(count):
        a = pick.choice(LAYOUTS)(pick, rng, pick.choice(("f4", "f8")))
        axes = some_axes(pick, a.ndim)
        out = some_out(pick, a, [axis for axis in range(a.ndim) if axis not in axes])
        expected = function(a, axis=axes, out=out).copy()
        compiled = fxc.compile(functools.partial(function, axis=axes))
        assert same_bits(compiled(a, out=out), expected), (a.shape, a.strides, out.strides, axes)
        captured += compiled.cache_info().native_calls
    assert count // 3 < captured < count


@pytest.mark.parametrize("places", list(itertools.permutations(range(3))))
def test_an_out_that_disagrees_keeps_the_axes_in_c_order(places):
    """Two kept axes that are not swapped hold a reduced axis back, or let it pass."""
    rng = np.random.default_rng(9)
    for axes, order in itertools.product(
        ((0,), (1,), (2,), (1, 3)), itertools.permutations(range(4))
    ):
        a = numbers(rng, (3, 40, 5, 29)).transpose(order)
        kept = [axis for axis in range(4) if axis not in axes]
        chosen = [place for place in places if place < len(kept)]
        out = np.empty([a.shape[kept[place]] for place in chosen]).transpose(np.argsort(chosen))
        votes = [0] * 4
        for axis, stride in zip(kept, out.strides, strict=True):
            votes[axis] = stride
        np.add.reduce(a, axis=axes, out=out)
        found = reduction_order(a.shape, a.strides, axes, out_strides=votes)
        assert same_bits(run(found, a, axes, a.dtype), out), (a.shape, a.strides, votes, axes)


def test_sums_start_at_plus_zero():
    for a in (np.array(-0.0), np.array([-0.0]), np.full((3, 20), -0.0)):
        for axes in ((), tuple(range(a.ndim))):
            check(a, axes)
    for shape in ((0,), (0, 3), (3, 0), (2, 0, 3)):
        for axes in itertools.combinations(range(len(shape)), len(shape) - 1):
            check(np.zeros(shape), axes)
    for a in (np.zeros((4, 10))[:, 5:5], np.zeros((4, 6, 8))[:, 2:2, 1:], np.zeros((4, 6))[:0, :3]):
        check(a, range(a.ndim))
        check(a.T, range(a.ndim), "f4")


# --- What is built on sums, and the other reductions ---


def test_products_have_numpys_bits():
    pick, rng = random.Random(6), np.random.default_rng(6)
    for layout in LAYOUTS * 12:
        a = np.exp(layout(pick, rng, "f8") % 0.125 - 0.0625).astype(pick.choice(("f4", "f8")))
        axes = some_axes(pick, a.ndim)
        order = reduction_order(a.shape, a.strides, axes, pairwise=False)
        assert order.inner == ()
        if math.prod(a.shape[axis] for axis in axes) < 3000:
            expected = np.multiply.reduce(a, axis=axes)
            assert same_bits(run(order, a, axes, a.dtype, np.multiply), expected)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
def test_mean_and_var_are_two_sums(dtype):
    """The recipe in docs/numerics.md; the second sum is over a fresh array in K order."""
    pick, rng = random.Random(dtype), np.random.default_rng(7)
    for _ in range(100):
        a = pick.choice(LAYOUTS)(pick, rng, dtype)
        axes = some_axes(pick, a.ndim)
        result = np.dtype("f8") if dtype == "i8" else a.dtype
        count = np.float64(math.prod(a.shape[axis] for axis in axes))
        order = reduction_order(a.shape, a.strides, axes, buffered=dtype == "i8")
        mean = (run(order, a, axes, result).astype("f8") / count).astype(result)
        assert same_bits(a.mean(axis=axes), mean)

        fresh = [0] * a.ndim
        step = result.itemsize
        for axis in reversed(axes_by_stride(without_ones(a.shape), [a.strides])):
            fresh[axis], step = step, step * a.shape[axis]
        deviation = (a - np.expand_dims(mean, axes)).astype(result)
        order = reduction_order(a.shape, fresh, axes)
        squares = run(order, deviation * deviation, axes, result).astype("f8")
        for ddof in (0, 1):
            with np.errstate(all="ignore"):
                var = (squares / max(count - ddof, 0)).astype(result)
                if count > ddof:
                    assert same_bits(a.var(axis=axes, ddof=ddof), var)
                    assert same_bits(a.std(axis=axes, ddof=ddof), np.sqrt(var))


def without_ones(shape: Sequence[int]) -> list[int]:
    return [axis for axis, size in enumerate(shape) if size != 1]


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_scans_run_from_the_first_element(name):
    pick, rng = random.Random(name), np.random.default_rng(8)
    op = np.add if name == "cumsum" else np.multiply
    for _ in range(100):
        a = pick.choice(LAYOUTS)(pick, rng, pick.choice(("f4", "f8", "i4")))
        axis = pick.randrange(a.ndim)
        dtype = "f8" if a.dtype.kind == "i" else pick.choice((None, "f4", "f8"))
        with np.errstate(all="ignore"):
            result = getattr(np, name)(a, axis=axis, dtype=dtype)
            lines = np.moveaxis(a, axis, 0).astype(result.dtype)
            for position in range(1, len(lines)):
                lines[position] = op(lines[position - 1], lines[position])
        assert same_bits(np.moveaxis(result, axis, 0), lines)


# --- The orders themselves ---


@pytest.mark.parametrize(
    "shape, axes, outer, inner",
    [
        ((6, 7), (1,), (), (1,)),
        ((6, 7), (0,), (0,), ()),
        ((6, 7), (0, 1), (), (0, 1)),
        ((5, 6, 7), (0, 2), (0,), (2,)),
        ((5, 6, 7), (0, 1), (0, 1), ()),
        ((5, 6, 7), (1, 2), (), (1, 2)),
        ((5, 1, 7), (0, 2), (), (0, 2)),
        ((5, 1), (0,), (), (0,)),
        ((5, 6), (), (), ()),
        ((), (), (), ()),
    ],
)
def test_orders_of_contiguous_arrays(shape, axes, outer, inner):
    cast = ReductionOrder(outer, inner, 8192 if inner else None)
    plain = cast if TAKES_RUNS_WHOLE else ReductionOrder(outer, inner)
    assert reduction_order(shape, None, axes) == plain
    assert reduction_order(shape, None, axes, buffered=True) == cast


@since_2_3
def test_orders_of_views():
    a = np.zeros((102, 202))
    assert check(a.T, (0, 1)) == ReductionOrder((), (1, 0))
    assert check(a.T, (0,)) == ReductionOrder((), (0,))
    assert check(a[1:-1, 1:-1], (0, 1)) == ReductionOrder((), (0, 1), 8000)
    assert check(np.zeros((3, 9001))[:, :9000], (0, 1)) == ReductionOrder((0,), (1,))
    assert check(np.zeros(20)[::-2], (0,)) == ReductionOrder((), (0,))


class Unknown(int):
    """A size greater than 1 that nobody may ask for."""

    def __eq__(self, other: object) -> bool:
        if other == 1:
            return False
        raise AssertionError("the order must not depend on sizes")

    __hash__ = int.__hash__
    __lt__ = __gt__ = __le__ = __ge__ = __ne__ = __eq__

    def __mul__(self, other: object) -> "Unknown":
        return self


@pytest.mark.parametrize("buffered", [False, True])
def test_contiguous_orders_do_not_ask_for_sizes(buffered):
    for rank in range(5):
        for count in range(rank + 1):
            for axes in itertools.combinations(range(rank), count):
                order = reduction_order((Unknown(),) * rank, None, axes, buffered=buffered)
                assert order == reduction_order((5,) * rank, None, axes, buffered=buffered)


@pytest.mark.parametrize("axes", [(0,), (0, 1), (0, 2), (1, 2)])
def test_sizes_that_are_python_ints_may_be_one(axes):
    """A sum down a single column is pairwise, down two it is not."""
    x = np.random.default_rng(5).normal(scale=99, size=480)

    def program(x, rows, columns):
        y = x.reshape(-1, rows, columns)
        return y.sum(axis=axes), y.mean(axis=axes)

    sizes = [(rows, columns) for rows in (1, 2, 5) for columns in (1, 3)]
    for first in sizes:
        compiled = fxc.compile(program, fullgraph=True)
        for rows, columns in (first, *sizes):
            found = compiled(x, rows, columns)
            for mine, numpys in zip(found, program(x, rows, columns), strict=True):
                assert same_bits(mine, numpys), (rows, columns)


WINDOWED = [
    "v.sum(axis=1), v.mean(axis=1), v.std(axis=1)",
    "v.sum(axis=0), v.prod(axis=0)",
    "v.T.sum(axis=0), v.T.sum(axis=1)",
    "v[::2].sum(axis=1), v[:, ::-1].sum(axis=0)",
    "v.sum(axis=1, dtype=np.float32), v.sum(axis=0, dtype=np.float32)",
]


@pytest.mark.parametrize("program", WINDOWED)
def test_windows_of_any_width_are_added_up_natively(program):
    scope = {"np": np}
    source = f"def f(x, w):\n    v = np.lib.stride_tricks.sliding_window_view(x, w)\n    return {program}"
    exec(source, scope)
    compiled = fxc.compile(scope["f"], fullgraph=True)
    x = np.random.default_rng(3).standard_normal(300)
    for w in (30, 40, 299, 2, 300, 1):
        for found, expected in zip(compiled(x, w), scope["f"](x, w), strict=True):
            assert found.tobytes() == expected.tobytes(), w
    assert not compiled.cache_info().fallbacks


def test_sizes_that_are_computed_or_may_be_none():
    """The inner axes were not seen to lie as one in memory, even in a copy."""

    def program(x, heads, stride):
        n = int((x.shape[2] - 1) / stride) + 1
        y = np.zeros((x.shape[0], heads, n, n)) + x[:, :1, :n, :n]
        return np.mean(y**2), y.sum((1, 2, 3)), y.sum((2, 3), keepdims=True), y.sum((0, 2, 3))

    compiled = fxc.compile(program, fullgraph=True)
    for size, heads in ((6, 3), (7, 3), (5, 4)):
        x = np.random.default_rng(size).normal(scale=99, size=(size, 2, size, size))
        found = compiled(x, heads, 1)
        for mine, numpys in zip(found, program(x, heads, 1), strict=True):
            assert same_bits(mine, numpys), size


@since_2_3
def test_comparisons_go_through_decide():
    asked = []
    a = np.zeros((12, 22))[1:-1, 1:-1]
    reduction_order(a.shape, a.strides, (0, 1), decide=lambda fact: asked.append(fact) or fact)
    # Two sizes against 1; two strides against 0 and one against the other; whether the rows
    # touch; whether a row is empty, and whether it fills the buffer.
    assert asked == [False, False, True, True, False, False, True, True]


def test_an_order_is_checked_when_it_is_made():
    with pytest.raises(ValueError, match="both outer and inner"):
        ReductionOrder((0,), (0, 1))
    with pytest.raises(ValueError, match="nothing to cut"):
        ReductionOrder((0,), (), 8192)


# --- Of elements that are chosen, and with a number in front ---


def _of_some(x, m, i):
    rows = x.sum(axis=0, where=m), x.prod(axis=0, where=m[0]), x.mean(axis=0, where=m)
    ints = i.sum(where=m), i.prod(axis=1, where=m, initial=3), (i > 0).sum(axis=0, initial=2)
    least = x.min(axis=1, where=m, initial=2.5), i.max(where=m, initial=i[0, 0])
    truths = np.any(x > 1, axis=0, where=m), np.all(i, axis=1, where=m[0], keepdims=True)
    return rows, ints, least, truths


def _from_a_number(x, m, i):
    return x.sum(axis=1, initial=0.3), x.sum(initial=-2), np.add.reduce(x, axis=1, initial=1e300)


@since_2_3
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("program", [_of_some, _from_a_number])
def test_chosen_elements_are_reduced_natively(program, dynamic):
    rng = np.random.default_rng(3)
    compiled = fxc.compile(program, fullgraph=True, dynamic=dynamic)
    for shape in ((6, 7), (40, 300)):
        x, m = rng.normal(size=shape), rng.random(shape) > 0.4
        m[0] = True
        args = x, m, rng.integers(-5, 5, shape)
        assert repr(compiled(*args)) == repr(program(*args))
        assert all(
            found.tobytes() == expected.tobytes()
            for found, expected in zip(_flat(compiled(*args)), _flat(program(*args)), strict=True)
        )
    assert not compiled.cache_info().fallbacks


def _of_runs(x, m):
    rows = x.sum(axis=-1, where=m), (x * 2).sum(axis=2, where=m[0, 0]), x.sum(-1, where=x > 0)
    whole = x.sum(where=m), x.sum(where=m, keepdims=True), x.sum(axis=(2, 1), where=m)
    begun = np.add.reduce(x, axis=2, where=m, initial=3.5), x.sum(where=m, initial=-2)
    return *rows, *whole, *begun, x.sum(axis=(1, 2), where=m, keepdims=True)


def _averages(x, m):
    return x.mean(axis=2, where=m), x.std(axis=2, where=m), x.var(where=m), x.prod(2, where=m)


def _in_a_loop(x, m):
    total = x.dtype.type(0)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            total += x[i, j].sum(where=m[i, j])
            x[i, j, 0] = total
    return total, x


@since_2_3
@pytest.mark.bits
@pytest.mark.parametrize("program", [_of_runs, _averages, _in_a_loop])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_each_run_of_chosen_elements_is_added_up_by_itself(program, dtype):
    rng = np.random.default_rng(3)
    compiled = fxc.compile(program, fullgraph=True)
    for shape in ((2, 3, 1), (3, 4, 2), (2, 5, 70), (4, 3, 1000)):
        for part in (0.0, 0.4, 0.95, 1.0):
            x, m = rng.normal(size=shape).astype(dtype), rng.random(shape) < part
            m[..., 0] = True
            pairs = zip(compiled(x.copy(), m), program(x.copy(), m), strict=True)
            for found, expected in pairs:
                assert found.tobytes() == expected.tobytes()
                assert (found.shape, found.strides) == (expected.shape, expected.strides)
    assert not compiled.cache_info().fallbacks


@since_2_3
def test_elements_that_are_not_chosen_are_computed_and_warned_of():
    def program(x):
        return np.log(x).sum(where=x > 0)

    assert warnings_of(fxc.compile(program, fullgraph=True), np.arange(-2.0, 3)) == warnings_of(
        program, np.arange(-2.0, 3)
    )


def _of_rows(x, m):
    return x.T.sum(axis=0, where=m.T), x[:, :1].sum(axis=0, where=m[:, :1])


def _in_front(x, m):
    zeros = np.zeros(x.shape) * -1
    return x.sum(axis=0, initial=0.3), x.prod(initial=0.3), zeros.sum(axis=1, initial=-0.0)


@pytest.mark.parametrize("program", [_of_rows, _in_front])
def test_where_the_order_shows_numpy_adds(program):
    """NumPy adds up each run of elements that are chosen by itself."""
    x = np.random.default_rng(3).normal(size=(60, 70))
    compiled = fxc.compile(program, fullgraph=True)
    for m in (x > 0, x > -1):
        for found, expected in zip(compiled(x, m), program(x, m), strict=True):
            assert found.tobytes() == expected.tobytes()
    assert "ufunc_reduce" in compiled.cache_info().fallbacks


def _flat(x):
    return [each for item in x for each in _flat(item)] if isinstance(x, tuple) else [x]
