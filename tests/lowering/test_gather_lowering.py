"""Index arrays in native code: the loops they become, and what those do, against NumPy's kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from expecttest import TestCase

import fxc
from fxc.ir.graph import SliceSpec, Value
from fxc.ir.symbols import Dim
from fxc.pipeline.assemble import target
from fxc.pipeline.report import Stages
from tests.covering import pairs
from tests.lowered import OPS, check_native, check_raises, filled, loops


def wrap(index: Value, size: Dim) -> Value:
    return OPS.wrap_index(index, size, axis=0)  # type: ignore[no-any-return]


def take(x: Value, *indices: Any, axes: tuple[int, ...] = (0,), place: int = 0) -> Value:
    """``x`` at index arrays that may be negative."""
    wrapped = tuple(wrap(i, x.type.shape[a]) for i, a in zip(indices, axes, strict=True))
    return OPS.gather(x, wrapped, axes=axes, place=place, layout=None)  # type: ignore[no-any-return]


def put(
    x: Value, source: Any, *indices: Any, axes: tuple[int, ...] = (0,), place: int = 0
) -> Value:
    wrapped = tuple(wrap(i, x.type.shape[a]) for i, a in zip(indices, axes, strict=True))
    return OPS.index_put(x, source, wrapped, axes=axes, place=place)  # type: ignore[no-any-return]


def reduce_at(ufunc: str, x: Value, source: Any, *indices: Any, axes: Any = (0,)) -> Value:
    wrapped = tuple(wrap(i, x.type.shape[a]) for i, a in zip(indices, axes, strict=True))
    return OPS.index_reduce(x, source, wrapped, axes=axes, place=0, ufunc=ufunc)  # type: ignore[no-any-return]


RNG = np.random.default_rng(3)
ROW = RNG.random(10)
PLACES = np.array([3, -1, 0, 3, 9, -10, 2, 2, 1, 0, 5])
MORE = RNG.random(11)


class Loops(TestCase):
    maxDiff = None

    def test_a_gather_is_read_in_the_loop_that_uses_it(self) -> None:
        def build(x: Value, y: Value, z: Value) -> Value:
            return OPS.add(OPS.multiply(take(x, y), 2.0), z)  # type: ignore[no-any-return]

        self.assertExpectedInline(
            loops(build, ROW, PLACES, MORE),
            """\
loops f
  input x: float64[10]
  input y: int64[11]
  input z: float64[11]
  output b3: float64[11]
  for i0 in 0:11 lanes 8 again
    t1 = y[i0]
    t3 = logical_or out_of_bounds(t1, 10)  [any]
    b3[i0] = add(multiply(x[wrap_index(t1, 10)], 2.0), z[i0])
  raise if t3
  bytes moved 344; copies 0""",
        )

    def test_a_put_stores_the_indexed_elements_alone(self) -> None:
        self.assertExpectedInline(
            loops(lambda x, y: {"x": put(x, 1.0, y)}, np.zeros(1000), PLACES),
            """\
loops f
  input x: float64[1000]
  input y: int64[11]
  for i0 in 0:11 lanes 8 again
    t3 = logical_or out_of_bounds(y[i0], 1000)  [any]
  raise if t3
  for i1 in 0:11 lanes 8 overlapping
    x[count_from_front(y[i1], 1000)] = 1.0
  bytes moved 264; copies 0""",
        )

    def test_what_is_put_is_read_before(self) -> None:
        """``x[y] += z``: equal places do not add up, so nothing may be stored meanwhile."""

        def build(x: Value, y: Value, z: Value) -> dict[str, Value]:
            return {"x": put(x, OPS.add(take(x, y), z), y)}

        self.assertExpectedInline(
            loops(build, ROW, PLACES, MORE),
            """\
loops f
  input x: float64[10]
  input y: int64[11]
  input z: float64[11]
  temp b3: float64[11]
  for i0 in 0:11 lanes 8 again
    t1 = y[i0]
    t3 = logical_or out_of_bounds(t1, 10)  [any]
    b3[i0] = add(x[wrap_index(t1, 10)], z[i0])
  raise if t3
  for i3 in 0:11 lanes 8 overlapping
    x[count_from_front(y[i3], 10)] = b3[i3]
  copy: read before it is overwritten in x
  bytes moved 600; copies 1""",
        )

    def test_an_update_reads_what_it_writes(self) -> None:
        self.assertExpectedInline(
            loops(lambda x, y, z: {"x": reduce_at("add", x, z, y)}, ROW, PLACES, MORE),
            """\
loops f
  input x: float64[10]
  input y: int64[11]
  input z: float64[11]
  for i0 in 0:11 lanes 8 again
    t3 = logical_or out_of_bounds(y[i0], 10)  [any]
  raise if t3
  for i1 in 0:11
    t6 = count_from_front(y[i1], 10)
    x[t6] = add(x[t6], z[i1])
  bytes moved 424; copies 0""",
        )

    def test_rows(self) -> None:
        self.assertExpectedInline(
            loops(lambda x, y: take(x, y), np.zeros((10, 40)), PLACES),
            """\
loops f
  input x: float64[10, 40]
  input y: int64[11]
  output b2: float64[11, 40]
  for i0 in 0:11 lanes 8 again
    t3 = logical_or out_of_bounds(y[i0], 10)  [any]
  raise if t3
  for i1 in 0:11
    for i2 in 0:40 lanes 8 ends first
      b2[i1, i2] = x[count_from_front(y[i1], 10), i2]
  bytes moved 6896; copies 0""",
        )

    def test_symbolic_sizes(self) -> None:
        self.assertExpectedInline(
            loops(lambda x, y: take(x, y), ROW, PLACES, dynamic=True),
            """\
loops f
  symbols x.0 = 10 (>= 2), y.0 = 11 (>= 2)
  input x: float64[x.0]
  input y: int64[y.0]
  output b2: float64[y.0]
  for i0 in 0:y.0 parallel 14912 lanes 8 again
    t1 = y[i0]
    t2 = (x.0)
    t4 = logical_or out_of_bounds(t1, t2)  [any]
    b2[i0] = x[wrap_index(t1, t2)]
  raise if t4
  bytes moved 8*x.0 + 16*y.0; copies 0""",
        )

    def test_a_put_into_a_view_is_one_store(self) -> None:
        """``x[2:8][y] = 1``."""

        def build(x: Value, y: Value) -> dict[str, Value]:
            spec = (SliceSpec(2, 8, 1),)
            part = put(OPS.slice_copy(x, spec), 1.0, y)
            return {"x": OPS.slice_scatter(x, part, spec)}

        self.assertExpectedInline(
            loops(build, ROW, PLACES[2:4]),
            """\
loops f
  input x: float64[10]
  input y: int64[2]
  for i0 in 0:2
    t3 = logical_or out_of_bounds(y[i0], 6)  [any]
  raise if t3
  for i1 in 0:2
    x[count_from_front(y[i1], 6) + 2] = 1.0
  bytes moved 48; copies 0""",
        )

    def test_checks_come_before_writes(self) -> None:
        """``x += 1; return x[y]``: nothing has to wait in a temporary."""

        def build(x: Value, y: Value) -> dict[str, Value]:
            more = OPS.add(x, 1.0)
            return {"x": more, "result": take(more, y)}

        self.assertExpectedInline(
            loops(build, ROW, PLACES),
            """\
loops f
  input x: float64[10]
  input y: int64[11]
  output b2: float64[11]
  results x, b2
  for i0 in 0:11 lanes 8 again
    t3 = logical_or out_of_bounds(y[i0], 10)  [any]
  raise if t3
  for i1 in 0:10 lanes 8 ends first
    x[i1] = add(x[i1], 1.0)
  for i2 in 0:11 lanes 8 overlapping
    b2[i2] = x[count_from_front(y[i2], 10)]
  bytes moved 504; copies 0""",
        )

    def test_an_index_that_depends_on_data(self) -> None:
        """``x[x.argmax(), 1:] += x[-1, 1:]``."""

        def build(x: Value) -> dict[str, Value]:
            at = wrap(OPS.argmax(x, axis=None, keepdims=False), 4)
            spec = (SliceSpec(1, 5, 1),)
            row = OPS.dynamic_select_copy(x, at, axis=0)
            part = OPS.add(
                OPS.slice_copy(row, spec), OPS.slice_copy(OPS.select_copy(x, 0, 3), spec)
            )
            row = OPS.slice_scatter(row, part, spec)
            return {"x": OPS.dynamic_select_scatter(x, row, at, axis=0)}

        self.assertExpectedInline(
            loops(build, np.eye(4, 5)),
            """\
loops f
  input x: float64[4, 5]
  for i0 in 0:20 lanes 16 searched
    t2 = maximum x[floordiv(i0, 5), mod(i0, 5)]  [any at i0]
  raise if out_of_bounds(t2, 4)
  for i2 in 0:4 lanes 4
    t6 = wrap_index(t2, 4)
    x[t6, i2 + 1] = add(x[t6, i2 + 1], x[3, i2 + 1])
  bytes moved 224; copies 0""",
        )

    def test_a_base_that_is_read_again_is_copied(self) -> None:
        def build(x: Value, y: Value) -> dict[str, Value]:
            return {"result": put(x, 1.0, y)}

        self.assertExpectedInline(
            loops(build, ROW, PLACES),
            """\
loops f
  input x: float64[10]
  input y: int64[11]
  output b2: float64[10]
  for i0 in 0:11 lanes 8 again
    t3 = logical_or out_of_bounds(y[i0], 10)  [any]
  raise if t3
  for i1 in 0:10 moved
    b2[i1] = x[i1]
  for i2 in 0:11 lanes 8 overlapping
    b2[count_from_front(y[i2], 10)] = 1.0
  copy: %x is read again after it
  bytes moved 416; copies 1""",
        )


# -- values, against NumPy's kernels

DTYPES = ("?", "i1", "i8", "u2", "u8", "f4", "f8")
CUBE = (4, 3, 5)


def layouts(array: np.ndarray) -> Iterator[np.ndarray]:
    """The same elements in other layouts."""
    yield array
    yield np.asfortranarray(array)
    yield array[::-1].copy()[::-1]
    spread = np.zeros((*array.shape, 2), array.dtype)
    spread[..., 0] = array
    yield spread[..., 0]


def indices(size: int, shape: tuple[int, ...], dtype: str = "i8", seed: int = 1) -> np.ndarray:
    low = 0 if dtype[0] == "u" else -size
    return np.random.default_rng(seed).integers(low, size, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["i8", "i4", "u1", "i2", "u8"])
def test_dtypes_of_elements_and_indices(dtype: str, kind: str) -> None:
    x, y = filled(dtype, (50,)), indices(50, (37,), kind)
    check_native(lambda x, y: take(x, y), x, y)
    check_native(lambda x, y, z: {"x": put(x, z, y)}, x, y, filled("f4", (37,), 5))
    check_native(lambda x, y: {"x": put(x, OPS.add(take(x, y), take(x, y)), y)}, x, y)


@pytest.mark.parametrize("kind", ["i8", "u8", "i4", "u2", "u1"])
def test_places_that_memory_holds(kind: str) -> None:
    """In whole vectors of them none, one or all count from the end."""
    x, low = filled("f8", (200,)), np.random.default_rng(2).integers(0, 100, 64).astype(kind)
    for from_end in ([], [3], [8, 63], range(64)):
        y = low.copy()
        if y.dtype.kind == "i":
            y[[*from_end]] -= 200
        check_native(lambda x, y: take(x, y), x, y)
        check_native(lambda x, y: take(x, y, y, axes=(0, 1)), x.reshape(100, 2), y % 2)
        check_native(lambda x, y: OPS.add(take(x, OPS.add(y, y)), take(x, y)), x, y // 2)
        for wrong in (200, -201)[: 2 if kind[0] == "i" else kind != "u1"]:
            y[30] = wrong
            check_raises(lambda x, y: take(x, y), x, y)
            y[30] = 5


def test_places_that_are_made_of_places() -> None:
    """Inside of the array, when memory has what they are made of."""
    x, y = filled("f8", (50,)), np.arange(-100, -60)
    check_native(lambda x, y: take(x, wrap(y, 100)), x, y)


def replaced(table: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Places that are stored to meanwhile are not loaded once more."""
    found = np.empty(len(places))
    for i in range(len(places)):
        place = places[i]
        places[i] = 0
        found[i] = table[place]
    return found


def test_places_that_change() -> None:
    table, compiled = np.arange(50) * 3.0, fxc.compile(replaced, fullgraph=True)
    for low in (0, -7):
        places = np.random.default_rng(3).integers(low, 8, 40)
        mine = places.copy()
        assert np.array_equal(compiled(table, mine), table[places])
        assert not mine.any()


def test_places_are_loaded_one_by_one() -> None:
    """Where a register has many of them; those that are computed are taken out of it."""
    rows, places = np.arange(60.0).reshape(6, 10), np.arange(48) % 6
    for fn, are_loaded in ((lambda x, y: x[y, y], True), (lambda x, y: x[y + 1, y], False)):
        compiled = fxc.compile(fn, fullgraph=True)
        assert np.array_equal(compiled(rows, places - 1), fn(rows, places - 1))
        stages = compiled.inspect(rows, places - 1)
        assert isinstance(stages, Stages)
        text = str(stages.llvm)
        has_many = "<8 x i64>" in text and target().vector == 64
        assert ("looked" in text) == (are_loaded and has_many)


@pytest.mark.parametrize("number", range(4))
def test_layouts(number: int) -> None:
    x = list(layouts(filled("f8", CUBE)))[number]
    for y in layouts(indices(3, (2, 6))):
        for axis, place in ((0, 0), (1, 1), (2, 0), (2, 2), (1, 0)):
            y = y % x.shape[axis]

            def get(x: Value, y: Value, a: int = axis, p: int = place) -> Value:
                return take(x, y, axes=(a,), place=p)

            def write(x: Value, y: Value, a: int = axis, p: int = place) -> dict[str, Value]:
                return {"x": put(x, 7.0, y, axes=(a,), place=p)}

            check_native(get, x, y)
            check_native(write, x, y)


@pytest.mark.parametrize(
    ("axes", "place", "shapes"),
    [
        ((0, 1), 0, ((6,), (6,))),
        ((0, 2), 0, ((2, 1), (3,))),
        ((2, 0), 1, ((6,), (1,))),
        ((0, 1, 2), 0, ((2, 3), (3,), ())),
        ((1, 2), 1, ((), ())),
        ((0,), 0, ((0,),)),
        ((0,), 0, ((1, 1),)),
    ],
)
def test_several_index_arrays(axes: Any, place: int, shapes: Any) -> None:
    x = filled("f8", CUBE)
    given = [indices(CUBE[a], s, seed=a) for a, s in zip(axes, shapes, strict=True)]
    found = check_native(lambda x, *y: take(x, *y, axes=axes, place=place), x, *given)
    shape = found.decomposed.outputs[0].type.shape
    check_native(lambda x, *y: {"x": put(x, 7.0, *y, axes=axes, place=place)}, x, *given)
    for source in (filled("f4", shape), filled("f8", shape[1:], 2), filled("f8", (1, *shape), 2)):

        def write(x: Value, z: Value, *y: Value) -> dict[str, Value]:
            return {"x": put(x, z, *y, axes=axes, place=place)}

        check_native(write, x, source, *given)


@pytest.mark.parametrize("shape", [(40,), (3, 16, 2), (2, 5, 9), (64, 3)])
@pytest.mark.parametrize("rest", [(), (3,), (20,)])
def test_of_equal_places_the_last_one_stays(shape: tuple[int, ...], rest: tuple[int, ...]) -> None:
    """Also where a loop around a short one has the lanes."""
    x, y = filled("f8", (4, *rest)), indices(4, shape)
    source = np.arange(float(np.prod((*shape, *rest)))).reshape(*shape, *rest)
    check_native(lambda x, y, z: {"x": put(x, z, y)}, x, y, source)
    check_native(lambda x, y, z: {"x": put(x, OPS.sqrt(OPS.multiply(z, 3.0)), y)}, x, y, source)
    check_native(lambda x, y, z: {"x": reduce_at("subtract", x, z, y)}, x, y, source)


@pytest.mark.parametrize(
    "ufunc, dtype, given",
    pairs(
        ["add", "multiply", "maximum", "divide", "logical_or", "fmod"],
        ["f4", "f8"],
        ["f8", "i2", "f4"],
    ),
)
def test_updates(ufunc: str, dtype: str, given: str) -> None:
    x, y, z = filled(dtype, (9,)), indices(9, (50,)), filled(given, (50,), 3)
    check_native(lambda x, y, z: {"x": reduce_at(ufunc, x, z, y)}, x, y, z)
    check_native(lambda x, y: {"x": reduce_at(ufunc, x, 2.0, y)}, x, y)


def test_updates_without_native_code_are_left_to_numpy() -> None:
    def build(x: Value, y: Value) -> dict[str, Value]:
        return {"x": reduce_at("negative", x, None, y)}

    check_native(build, filled("f8", (9,)), indices(9, (5,)), boxed=("index_reduce",))


def test_source_and_target_overlap() -> None:
    x, y, z = filled("f8", (30,)), indices(30, (20,)), indices(30, (20,), seed=4)
    check_native(lambda x, y, z: {"x": put(x, take(x, z), y)}, x, y, z)
    check_native(lambda x, y, z: {"x": reduce_at("add", x, take(x, z), y)}, x, y, z)
    check_native(lambda x, y: {"x": OPS.add(take(x, y), 1.0)}, x[:20], y % 20)
    spec = (SliceSpec(3, 23, 1),)
    check_native(lambda x, y: {"x": OPS.slice_scatter(x, take(x, y), spec)}, x, y)
    check_native(lambda x, y: {"x": put(x, OPS.slice_copy(x, spec), y)}, x, y)


def test_the_index_is_the_target() -> None:
    """``y[y] = 3``: the old values say where."""
    y = indices(20, (20,))
    check_native(lambda x: {"x": put(x, 3, x)}, y)
    check_native(lambda x: {"x": put(x, OPS.add(x, 1), x)}, y)
    check_native(lambda x: {"x": reduce_at("add", x, 0, x)}, y)


def test_gathers_of_gathers() -> None:
    x, y, z = filled("f8", (30,)), indices(30, (12, 2)), indices(12, (7,))
    check_native(lambda x, y, z: take(x, take(y, z)), x, y, z)
    check_native(lambda x, y, z: take(take(x, y), z), x, y, z)
    check_native(lambda x, y, z: {"x": put(x, 1.0, take(y, z))}, x, y, z)
    check_native(lambda x, y: take(x, OPS.floor_divide(OPS.multiply(y, y), 31)), x, y)


@pytest.mark.parametrize("axis", [None, (0,), (1,)])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
def test_reductions_of_gathers(axis: Any, dtype: str) -> None:
    x, y = filled(dtype, (60, 33)), indices(60, (300,))

    def build(x: Value, y: Value) -> Value:
        return OPS.sum(take(x, y), axis=axis, keepdims=False, dtype=None)  # type: ignore[no-any-return]

    check_native(build, x, y)
    check_native(lambda x, y: OPS.max(take(x, y), axis=axis, keepdims=False), x, y)
    check_native(lambda x, y: OPS.argmax(take(x, y), axis=None, keepdims=False), x, y)
    check_native(lambda x, y: OPS.cumsum(take(x, y), axis=0, dtype=None), x, y)


@pytest.mark.parametrize("size", [1, 3, 4, 5, 8, 11, 16, 31, 33, 100])
def test_lanes_and_the_rest(size: int) -> None:
    x, y, z = filled("f8", (50,)), indices(50, (size,)), filled("f8", (size,), 2)
    for dynamic in (False, True):
        check_native(lambda x, y, z: OPS.add(take(x, y), z), x, y, z, dynamic=dynamic)
        check_native(lambda x, y, z: {"x": put(x, z, y)}, x, y, z, dynamic=dynamic)
        check_native(lambda x, y: take(OPS.square(x), y), x, y, dynamic=dynamic)


@pytest.mark.parametrize("place", [0, 7, 8, 20, 36])
@pytest.mark.parametrize("index", [50, -51, 2**62, -(2**63)])
def test_out_of_bounds(place: int, index: int) -> None:
    x, y = filled("f8", (50,)), indices(50, (37,))
    y[place] = index
    check_raises(lambda x, y: take(x, y), x, y)
    check_raises(lambda x, y: {"x": put(x, 1.0, y)}, x, y)
    check_raises(lambda x, y: {"x": put(OPS.add(x, 1.0), 1.0, y)}, x, y)
    check_raises(lambda x, y: {"x": OPS.add(x, 1.0), "result": take(x, y)}, x, y)
    check_raises(lambda x, y: {"x": reduce_at("add", x, 1.0, y)}, x, y)
    check_raises(lambda x, y: take(OPS.reshape_copy(x, (10, 5)), OPS.floor_divide(y, 5)), x, y)


def test_one_index() -> None:
    x, y = filled("f8", (5, 4)), np.array(-2)
    check_native(lambda x, y: take(x, y), x, y)
    check_native(lambda x, y: {"x": put(x, 1.0, y)}, x, y)
    check_native(lambda x, y: {"x": put(x, OPS.square(take(x, y)), y)}, x, y)
    check_raises(lambda x, y: take(x, y), x, np.array(5))
    check_raises(lambda x, y: {"x": put(x, 1.0, y)}, x, np.array([-6]))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("at", [0, 2, -1, 3])
def test_an_index_as_a_view(axis: int, at: int) -> None:
    x, y, z = filled("f8", (4, 5, 6)), np.array(at), np.array(1)

    def read(x: Value, y: Value) -> Value:
        at = wrap(y, x.type.shape[axis])
        return OPS.sum(
            OPS.dynamic_select_copy(x, at, axis=axis), axis=None, keepdims=False, dtype=None
        )  # type: ignore[no-any-return]

    def shift(x: Value, y: Value, z: Value) -> dict[str, Value]:
        """``x[y] = x[y - z] * 2``."""
        before = wrap(OPS.subtract(y, z), x.type.shape[axis])
        part = OPS.dynamic_select_copy(x, before, axis=axis)
        at = wrap(y, x.type.shape[axis])
        return {"x": OPS.dynamic_select_scatter(x, OPS.multiply(part, 2.0), at, axis=axis)}

    check_native(read, x, y)
    check_native(shift, x, y, z)
    check_raises(read, x, np.array(6))
    check_raises(shift, x, np.array(6), z)


def test_nothing_to_index() -> None:
    empty, some = np.zeros((0, 3)), np.zeros((4,), np.int64)
    none = np.zeros((0,), np.int64)
    check_raises(lambda x, y: take(x, y), empty, some)
    check_raises(lambda x, y: {"x": put(x, 1.0, y)}, empty, some)
    check_native(lambda x, y: {"x": put(x, 1.0, y)}, np.ones(3), none)
    check_native(lambda x, y: take(x, y), np.ones(3), none)


def test_a_put_touches_what_it_writes_alone() -> None:
    """100 elements of a large input."""
    found = check_native(
        lambda x, y: {"x": put(x, 1.0, y)}, np.zeros(200_000), indices(200_000, (100,))
    )
    assert "bytes moved 2400; copies 0" in str(found.assembled.module.program)


@pytest.mark.parametrize(
    "kind, dtype, width", pairs(["i8", "i4", "u2"], ["f4", "f8", "i2"], [1, 3, 8, 33, 64])
)
def test_an_index_that_is_the_same_in_all_lanes(kind: str, dtype: str, width: int) -> None:
    """Rows that an index says are read as vectors, not element by element."""
    table = np.arange(50.0 * width).reshape(50, width).astype(dtype)
    least = 0 if kind[0] == "u" else -50
    rows = np.random.default_rng(width).integers(least, 50, (9, 5)).astype(kind)
    for step in (
        lambda table, rows: table[rows].sum(axis=1),
        lambda table, rows: table[rows[:, 0]] * 2 + table[rows[:, 1]],
        lambda table, rows: np.maximum(table[rows], 3).max(axis=1),
    ):
        compiled = fxc.compile(step, fullgraph=True)
        expected, found = step(table, rows), compiled(table, rows)
        assert found.dtype == expected.dtype
        assert found.tobytes() == expected.tobytes()
        if width == 64:
            assert "extractelement" not in compiled.inspect(table, rows).llvm
    rows[4, 1] = 50
    with pytest.raises(IndexError):
        fxc.compile(step)(table, rows)


def test_what_is_gathered_often_is_computed_once() -> None:
    """A cheap operation is one on each element of the table, not on each that is read."""

    def looked_up(image: Any, levels: Any) -> Any:
        return (levels * 1.5).astype(np.uint8)[image], (levels + 1)[image[:10, 0]]

    image, levels = np.arange(5000).reshape(50, 100).astype(np.uint8), np.arange(256) / 2
    compiled = fxc.compile(looked_up, fullgraph=True)
    for mine, numpys in zip(compiled(image, levels), looked_up(image, levels), strict=True):
        assert mine.dtype == numpys.dtype
        assert np.array_equal(mine, numpys)
    loops = str(compiled.inspect(image, levels).loops)
    assert "temp b" in loops
    assert "uint8[256]" in loops
    assert "float64[256]\n" not in loops.split("input levels: float64[256]\n")[1]
