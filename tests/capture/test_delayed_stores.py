"""Stores behind the loads they would spoil: stencils in place, without a temporary for the whole."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.lowering.machine.costs import Costs
from fxc.lowering.machine.target import Target
from tests.covering import in_turns
from tests.outcomes import difference, run
from tests.parallel_loops import compiled_for

# The ways to wait, by the settings that lead there in small arrays.
WAYS: dict[str, dict[str, int]] = {
    "as it comes": {},
    "in registers": {"late_near": 64},
    "in rows and blocks": {"late_near": 0, "late_block": 32},
}


def any_size_waits(
    monkeypatch: pytest.MonkeyPatch, way: str = "in rows and blocks", **costs: int
) -> None:
    """No array is too small, and its elements wait in this way."""
    settings = {"late_worth": 1, "late_row": 0, **WAYS[way], **costs}
    compiled_for(monkeypatch, Target(threads=2, costs=Costs(**settings)))


def shifted(size: int, by: int, margin: int) -> slice:
    return slice(margin + by, size - margin + by)


def stencil(offsets: list[tuple[int, ...]], shape: tuple[int, ...], margin: int) -> Any:
    """An update of the inner part from elements at these offsets."""
    inside = tuple(shifted(size, 0, margin) for size in shape)
    reads = [
        tuple(shifted(size, by, margin) for size, by in zip(shape, offset, strict=True))
        for offset in offsets
    ]

    def update(u):
        total = 0.5 * u[inside]
        for weight, read in enumerate(reads):
            total = total * 0.75 + (weight + 1) * u[read]
        u[inside] = total

    return update


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "C": lambda x: x,
    "F": lambda x: np.asfortranarray(x),
    "reversed": lambda x: np.flip(x).copy()[(slice(None, None, -1),) * x.ndim],
    "strided": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
}


def numbers(shape: tuple[int, ...], dtype: str = "f8") -> np.ndarray:
    return (np.arange(np.prod(shape)) * 37 % 101).reshape(shape).astype(dtype)


@pytest.mark.parametrize("seed, layout", in_turns(range(80), [*LAYOUTS]))
def test_stencils_in_place_are_as_numpy(
    seed: int, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    any_size_waits(monkeypatch, rng.choice(list(WAYS)), ends_statements=rng.choice([0, 32]))
    dtype = rng.choice(["f8", "f4", "c16"])
    rank = rng.choice([1, 1, 2, 2, 3])
    margin = rng.choice([1, 1, 2])
    shape = tuple(rng.randint(9, 40 if rank < 3 else 14) for _ in range(rank))
    around = list(itertools.product(range(-margin, margin + 1), repeat=rank))
    update = stencil(rng.sample(around, rng.randint(1, 3)), shape, margin)
    make = LAYOUTS[layout]
    compiled = fxc.compile(update, fullgraph=True, dynamic=seed // len(LAYOUTS) % 4 == 0)
    expected = run(update, [make(numbers(shape, dtype))])
    assert not difference(expected, run(compiled, [make(numbers(shape, dtype))]))
    assert compiled.cache_info().eager_calls == 0


def star(u):
    u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])


def box(u):
    u[1:-1, 1:-1] = 0.5 * (u[:-2, :-2] + u[2:, 2:] + u[:-2, 2:] + u[2:, :-2] + u[1:-1, :-2])


def line(u):
    u[1:-1] = 0.5 * (u[:-2] + u[2:])


def far(u):
    u[100:-100] = 0.5 * (u[:-200] + u[200:])


@pytest.mark.parametrize(
    ("update", "shape", "waiting"),
    [
        (line, (1000,), []),
        (star, (300, 200), ["b1: float64[1, 198]"]),
        (box, (60, 50), ["b1: float64[1, 48]"]),
        (far, (20_000,), ["b1: float64[1, 1024]"]),
    ],
)
def test_an_array_is_read_and_written_once(
    update: Callable[..., Any], shape: tuple[int, ...], waiting: list[str]
) -> None:
    compiled = fxc.compile(update, fullgraph=True)
    stages = compiled.inspect(numbers(shape))
    assert re.findall("temp (.*)", str(stages.loops)) == waiting
    assert stages.copies == ()
    inside = np.prod([size - 2 for size in shape])
    assert stages.bytes_moved <= 8 * (2.1 * inside + 2 * 2048)
    assert not difference(run(update, [numbers(shape)]), run(compiled, [numbers(shape)]))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("update", [line, far, star, box], ids=lambda update: update.__name__)
def test_one_compilation_serves_all_sizes(
    update: Callable[..., Any], way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    any_size_waits(monkeypatch, way)
    compiled = fxc.compile(update, fullgraph=True, dynamic=True)
    sizes = (400, 205, 206, 217, 401, 403, 404) if update is far else (40, 5, 6, 9, 10, 11, 17, 90)
    for size in sizes:
        shape = (size,) if update in (line, far) else (size, 50 - size // 2)
        assert not difference(run(update, [numbers(shape)]), run(compiled, [numbers(shape)]))
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (1, 0)


@pytest.mark.parametrize("update", [line, star, box], ids=lambda update: update.__name__)
@pytest.mark.parametrize("dynamic", [False, True])
def test_nothing_around_is_read_into_the_result_or_written(
    update: Callable[..., Any], dynamic: bool
) -> None:
    compiled = fxc.compile(update, fullgraph=True, dynamic=dynamic)
    for size in (9, 25, 200):
        shape = (size + 14,) if update is line else (30, size + 14)
        ours, numpys = numbers(shape), numbers(shape)
        part = (..., slice(7, -7)) if update is line else (slice(7, -7), slice(7, -7))
        update(numpys[part])
        compiled(ours[part])
        np.testing.assert_array_equal(ours, numpys)


def test_too_far_reads_take_a_temporary() -> None:
    def turned(u):
        u[50:] = u[:-50] + u[50:][::-1]

    compiled = fxc.compile(turned, fullgraph=True)
    assert not difference(run(turned, [numbers((100,))]), run(compiled, [numbers((100,))]))
    assert compiled.inspect(numbers((100,))).copies


def test_small_temporaries_lie_in_the_stack_frame() -> None:
    stages = fxc.compile(star, fullgraph=True).inspect(numbers((60, 50)))
    assert "alloca [384 x i8], align 64" in str(stages.llvm)
    assert "empty" not in str(stages.plan)
    stages = fxc.compile(star, fullgraph=True).inspect(numbers((60, 5000)))
    assert "arena = empty(" in str(stages.plan)


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "i1", "?"])
@pytest.mark.parametrize("dynamic", [False, True])
def test_loops_in_place_of_every_length(dtype: str, dynamic: bool) -> None:
    def update(y, x):
        y += x
        y[1:] = y[:-1]

    compiled = fxc.compile(update, fullgraph=True, dynamic=dynamic)
    for size in (7, 8, 9, 17, 64, 129) if dynamic else (9, 64, 129):
        for start in (0, 1, 5):  # before a cache line
            arrays = [[numbers((size + start,), dtype)[start:] for _ in "yx"] for _ in "12"]
            assert not difference(run(update, arrays[0]), run(compiled, arrays[1])), size
    assert compiled.cache_info().eager_calls == 0
