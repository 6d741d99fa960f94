"""Histograms and counts in native code: bits, exceptions and warnings of NumPy's."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.covering import in_turns
from tests.outcomes import difference, run

RNG = np.random.default_rng(66)


def _counts(x: Any, w: Any) -> Any:
    return np.histogram(x, 10), np.histogram(x, 7)[0]


def _sums(x: Any, w: Any) -> Any:
    return np.histogram(x, 11, weights=w), np.histogram(x, 11, weights=w)[0] / len(x)


def _in_a_range(x: Any, w: Any) -> Any:
    return (
        np.histogram(x, 13, range=(0.25, 3)),
        np.histogram(x, 13, range=(-0.5, 2.0), weights=w)[0],
        np.histogram(x, 5, (1, 1)),
    )


def _ends_of_the_data(x: Any, w: Any) -> Any:
    return np.histogram(x, 9, (x.min(), x.mean()), weights=w)


PROGRAMS = (_counts, _sums, _in_a_range, _ends_of_the_data)


def _values(size: int) -> dict[str, np.ndarray]:
    """Elements of many kinds: near and on the edges, far apart, all alike."""
    steps = np.linspace(0.0, 3.0, size)
    return {
        "random": RNG.random(size) * 4 - 0.5,
        "on edges": np.round(RNG.random(size) * 10) / 10,
        "beside edges": np.nextafter(steps, RNG.choice([-1.0, 9.0], size)),
        "alike": np.full(size, 2.5),
        "far": RNG.standard_normal(size) * 1e300,
        "near": 1 + RNG.random(size) * 1e-14,
        "integers": RNG.integers(-100, 100, size),
        "large integers": RNG.integers(-(2**62), 2**62, size),
        "exact integers": RNG.integers(-(2**53), 2**53, size),
        "bytes": RNG.integers(0, 255, size).astype(np.uint8),
        "float32": RNG.random(size, dtype=np.float32),
        "nan": np.where(np.arange(size) == size // 2, np.nan, steps),
        "inf": np.where(np.arange(size) == 0, np.inf, steps),
        "rows": RNG.random((2, size)) * 3,
    }


@pytest.mark.parametrize("program", PROGRAMS)
def test_histograms(program: Callable[..., Any]) -> None:
    """Elements of each kind with weights of one dtype, of others for the next kind and program."""
    kinds = deque(("f8", "f4", "i8"))
    kinds.rotate(PROGRAMS.index(program))
    compiled = fxc.compile(program)
    for place, kind in in_turns(range(len(_values(1))), kinds):
        for size in (0, 1, 2, 7, 64, 1000):
            name, values = [*_values(size).items()][place]
            weights = (RNG.random(values.shape) * 9 - 2).astype(kind)
            for _ in range(2):
                expected, found = (run(f, (values, weights)) for f in (program, compiled))
                assert difference(expected, found) == "", (name, size, kind)


def test_weights_are_added_up_in_blocks() -> None:
    """Of more elements than NumPy takes at once, the last bits depend on that."""

    def program(x: Any, w: Any) -> Any:
        return np.histogram(x, 3, weights=w)[0], np.histogram(x, 4, (0.1, 0.8), weights=w)[0]

    compiled = fxc.compile(program, fullgraph=True)
    for size in (65535, 65536, 65537, 200_000):
        given = RNG.random(size), RNG.standard_normal(size)
        assert difference(run(program, given), run(compiled, given)) == "", size
    assert compiled.cache_info().fallbacks == {}


def test_numbers_of_bins_may_change() -> None:
    def program(x: Any, w: Any, n: int) -> Any:
        return np.histogram(x, n), np.histogram(x, n, weights=w)[0], np.histogram(x, n, (0, 2))[0]

    compiled = fxc.compile(program, fullgraph=True)
    for size, number in ((100, 10), (101, 3), (999, 100), (70_000, 2), (5, 1), (64, 64)):
        given = RNG.random(size), RNG.random(size), number
        assert difference(run(program, given), run(compiled, given)) == "", (size, number)
    assert compiled.cache_info().variants <= 4


@pytest.mark.parametrize("kind", ["i8", "i4", "u1", "u8", "i2"])
def test_counts_of_integers(kind: str) -> None:
    def program(i: Any, w: Any, n: int) -> Any:
        return (
            np.bincount(i, minlength=n),
            np.bincount(i, w, n),
            np.bincount(i, w * 2, minlength=40),
        )

    compiled = fxc.compile(program)
    for size in (0, 1, 5, 64, 3000):
        for top in (1, 7, 39, 41):
            for weights in (RNG.random(size), RNG.integers(0, 9, size)):
                given = RNG.integers(0, top, size).astype(kind), weights, 39
                assert difference(run(program, given), run(compiled, given)) == "", (size, top)


def test_what_numpy_raises_for() -> None:
    def counted(i: Any, w: Any) -> Any:
        return np.bincount(i, w, minlength=5)

    def summed(x: Any, w: Any) -> Any:
        return np.histogram(x, 3, weights=w)[0]

    places, numbers = np.array([1, 2, 3]), np.array([1.0, 2.0, 3.0])
    for program, first, others in (
        (counted, (places, numbers), ((places - 2, numbers), (places, numbers[:2]))),
        (summed, (numbers, numbers), ((numbers * np.nan, numbers), (numbers, numbers[:2]))),
    ):
        compiled = fxc.compile(program)
        for given in (first, *others, first):
            assert difference(run(program, given), run(compiled, given)) == ""


def test_histograms_are_native() -> None:
    def program(x: Any, w: Any, i: Any) -> Any:
        return np.histogram(x, 9), np.histogram(x, 9, weights=w)[0], np.bincount(i, w, 20)

    x = RNG.random(500)
    compiled = fxc.compile(program, fullgraph=True)
    compiled(x, x, (x * 20).astype(int))
    assert compiled.cache_info().fallbacks == {}


def test_updates_at_computed_places_are_made_in_turn() -> None:
    """Places are computed in lanes; of equal ones each update sees the one before."""

    def program(x: Any, w: Any, h: Any) -> Any:
        found = np.zeros(10)
        np.add.at(found, (x * 3 + 1.5).astype(np.int64), w)
        np.multiply.at(h, (x * x * 4).astype(np.int64), w)
        return found, h

    compiled = fxc.compile(program, fullgraph=True)
    for size in (0, 1, 7, 8, 9, 65, 1000):
        given = RNG.random(size), RNG.random(size) + 0.5, np.ones(4)
        expected, found = (run(f, tuple(x.copy() for x in given)) for f in (program, compiled))
        assert difference(expected, found) == "", size
    assert "extractelement" in compiled.inspect(RNG.random(99), RNG.random(99), np.ones(4)).llvm


def test_sums_of_what_a_mask_chooses_have_the_dtype_of_numpys() -> None:
    """Of nothing ``np.bincount`` gives numbers of elements, whatever the weights are."""

    def program(i: Any, w: Any) -> Any:
        return np.bincount(i[w > 0], w[w > 0], 4)

    compiled = fxc.compile(program)
    for weights in (np.array([1.0, 2, -1]), np.array([-1.0, -2, -1]), np.array([1.0, 2, 3])):
        given = np.array([0, 3, 3]), weights
        assert difference(run(program, given), run(compiled, given)) == ""


@pytest.mark.parametrize("kind", ["u1", "i1", "u2"])
def test_many_numbers_of_a_narrow_dtype(kind: str) -> None:
    """Each number is counted once; those that do not occur may be anywhere."""

    def program(x: Any, low: float, high: float) -> Any:
        return (
            np.histogram(x, 7),
            np.histogram(x, 256, (0, 256))[0],
            np.histogram(x, 9, (low, high)),
        )

    compiled = fxc.compile(program, fullgraph=True)
    size = 2000 if kind != "u2" else 300_000
    for least, most in ((0, 127), (100, 104), (5, 6)):
        given = RNG.integers(least, most, size).astype(kind).reshape(2, -1), 3.5, 101.0
        assert difference(run(program, given), run(compiled, given)) == "", (least, most)
    if kind == "i1":
        given = RNG.integers(-128, 128, size).astype(kind).reshape(2, -1), -60.0, -3.0
        assert difference(run(program, given), run(compiled, given)) == ""
    loops = fxc.compile(lambda x: np.histogram(x, 7)[0]).inspect(given[0]).loops
    assert f"int64[{256 ** given[0].itemsize}]" in str(loops)
