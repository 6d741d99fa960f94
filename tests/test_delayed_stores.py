"""Stores behind the loads they would spoil: stencils in place, without a temporary for the whole."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.lowering import delayed
from tests.outcomes import difference, run


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of four float64, and no array is too small."""
    monkeypatch.setattr(delayed, "BLOCK", 32)
    monkeypatch.setattr(delayed, "SMALL", 0)


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


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", range(40))
def test_stencils_in_place_are_as_numpy(seed: int, layout: str, small_blocks: None) -> None:
    rng = random.Random(seed)
    rank = rng.choice([1, 1, 2, 2, 3])
    margin = rng.choice([1, 1, 2])
    shape = tuple(rng.randint(9, 40 if rank < 3 else 14) for _ in range(rank))
    around = list(itertools.product(range(-margin, margin + 1), repeat=rank))
    update = stencil(rng.sample(around, rng.randint(1, 3)), shape, margin)
    make = LAYOUTS[layout]
    compiled = fxc.compile(update, fullgraph=True, dynamic=seed % 4 == 0)
    expected = run(update, [make(numbers(shape))])
    assert not difference(expected, run(compiled, [make(numbers(shape))]))
    assert compiled.cache_info().eager_calls == 0


def star(u):
    u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])


def line(u):
    u[1:-1] = 0.5 * (u[:-2] + u[2:])


@pytest.mark.parametrize(
    ("update", "shape", "waiting"),
    [(star, (300, 200), "b1: float64[2, 198]"), (line, (20_000,), "b1: float64[2, 1024]")],
)
def test_large_arrays_are_read_and_written_once(
    update: Callable[..., Any], shape: tuple[int, ...], waiting: str
) -> None:
    compiled = fxc.compile(update, fullgraph=True)
    stages = compiled.inspect(numbers(shape))
    assert f"temp {waiting}" in str(stages.loops)
    assert stages.copies == ()
    inside = np.prod([size - 2 for size in shape])
    assert stages.bytes_moved <= 8 * (2.02 * inside + 2 * 2048)
    assert not difference(run(update, [numbers(shape)]), run(compiled, [numbers(shape)]))


def test_one_compilation_serves_all_sizes(small_blocks: None) -> None:
    compiled = fxc.compile(line, fullgraph=True, dynamic=True)
    for size in (40, 5, 6, 17, 400, 401, 402, 403, 404):
        assert not difference(run(line, [numbers((size,))]), run(compiled, [numbers((size,))]))
    assert compiled.cache_info().variants == 1


def test_far_reads_take_a_temporary(small_blocks: None) -> None:
    def far(u):
        u[50:] = u[:-50] + u[50:][::-1]

    compiled = fxc.compile(far, fullgraph=True)
    assert not difference(run(far, [numbers((100,))]), run(compiled, [numbers((100,))]))
    assert compiled.inspect(numbers((100,))).copies
