"""What masks choose, in native code: places stored by the bits of masks, against NumPy."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.ops.test_advanced_indexing import fresh
from tests.outcomes import difference, run

RNG = np.random.default_rng(16)


def _sum(x: Any, m: Any) -> Any:
    return x[m].sum(), x[m].mean() if m.any() else 0.0


def _places(x: Any, m: Any) -> Any:
    return np.flatnonzero(m), np.nonzero(x > 0.5)[0] * 2, np.argwhere(m)


def _in_bins(x: Any, m: Any) -> Any:
    found = np.zeros(7)
    for i in range(7):
        inside = np.logical_and(i / 7 <= x, x < (i + 1) / 7)
        found[i] = x[inside].sum() + x[m].size
    return found


def _chosen_of_chosen(x: Any, m: Any) -> Any:
    y = x[m]
    z = y[y > 0.3]
    return z[z < 0.9] * 2, z.size


def _of_measured_size(x: Any, m: Any) -> Any:
    taken = []
    for value in x:
        if value > 0.1:
            taken.append(value)
    y = np.array(taken)
    return y[y > 0.4].sum(), np.flatnonzero(y > 0.4)


def _in_turn(x: Any, m: Any) -> Any:
    total = 0.0
    for place in np.flatnonzero(x > 0.6):
        total += x[place]
    return total


def _of_long_work(x: Any, m: Any) -> Any:
    """The mask takes so many operations that it is found out for a few elements at a time."""
    much = np.sqrt(x * x + 1) / (x + 2) - (x + 3) / (x * x + 4) / (x + 1) / (x * 3 + 2)
    return x[much * much > 0.05].sum(), x[
        (1 / (x + 1) / (x + 2) / (x + 3) / (x + 4) > 0.03) | m
    ].mean() if len(x) else 0.0


def _written(x: Any, m: Any) -> Any:
    x[np.flatnonzero(m)] *= 2.0
    x[x > 1.5] = 0.0
    return x


PROGRAMS = (
    _sum,
    _places,
    _in_bins,
    _chosen_of_chosen,
    _of_measured_size,
    _in_turn,
    _of_long_work,
    _written,
)
SIZES = (0, 1, 3, 63, 64, 65, 127, 128, 200, 1000, 4099)
PARTS = (0.0, 0.01, 0.06, 0.2, 0.5, 0.97, 1.0)


@pytest.mark.parametrize("program", PROGRAMS)
def test_chosen(program: Callable[..., Any]) -> None:
    """Sparse and dense masks, sizes around those of blocks; sizes become symbols on the way."""
    compiled = fxc.compile(program)
    for size in SIZES:
        for part in PARTS:
            given = (RNG.random(size), RNG.random(size) < part)
            expected, found = run(program, fresh(given)), run(compiled, fresh(given))
            assert difference(expected, found) == "", (size, part)


@pytest.mark.parametrize("shape", [(3, 64), (5, 130), (64, 1), (2, 3, 70), (1, 200)])
def test_places_of_several_axes(shape: tuple[int, ...]) -> None:
    def program(x: Any, m: Any) -> Any:
        return np.nonzero(m), x[m], x[x > 0.5].sum(), np.argwhere(x < 0.1)

    compiled = fxc.compile(program, fullgraph=True)
    for part in PARTS:
        given = (RNG.random(shape), RNG.random(shape) < part)
        expected, found = run(program, fresh(given)), run(compiled, fresh(given))
        assert difference(expected, found) == "", part


def test_places_of_a_known_mask_are_views_of_one_array() -> None:
    def program(x: Any) -> Any:
        mask = np.triu(np.ones((4, 4)), 1) > 0
        rows, columns = np.nonzero(mask)
        return rows, columns, x[rows, columns], np.where(np.arange(4) > 1), np.nonzero(mask[:0])

    compiled = fxc.compile(program, fullgraph=True)
    expected, found = (run(each, (np.arange(16.0).reshape(4, 4),)) for each in (program, compiled))
    assert difference(expected, found) == ""


def test_a_mask_is_read_once() -> None:
    """Where the places stay inside, what is chosen is counted and found in one loop."""

    def program(x: Any) -> Any:
        return x[np.logical_and(x > 0.25, x < 0.5)].sum()

    stages = fxc.compile(program, fullgraph=True).inspect(RNG.random(1000))
    assert str(stages.loops).count("for ") == 2
    assert "fxc.places" in stages.llvm or "llvm.cttz.i64" in stages.llvm


def test_what_leaves_is_counted_first() -> None:
    """The caller allocates an array of places when it knows how many there are."""

    def program(x: Any) -> Any:
        return np.flatnonzero(x > 0.5)

    stages = fxc.compile(program, fullgraph=True).inspect(RNG.random(1000))
    text = str(stages.loops)
    assert text.index("size count") < text.index("ordered")


@pytest.mark.parametrize("taken", ["-avx512f", "-sse3"])
def test_on_lesser_processors(taken: str) -> None:
    """Places are stored by bits alone where there is no instruction that compresses."""
    lines = (
        "import numpy as np, fxc",
        "from tests.lowering.test_chosen import PARTS, PROGRAMS, RNG",
        "from tests.ops.test_advanced_indexing import fresh",
        "from tests.outcomes import difference, run",
        "for program in PROGRAMS:",
        "    for part in PARTS:",
        "        given = RNG.random(300), RNG.random(300) < part",
        "        compiled = fxc.compile(program)",
        "        found = difference(run(program, fresh(given)), run(compiled, fresh(given)))",
        "        assert found == '', (program, part, found)",
        "def places(x): return np.flatnonzero(x)",
        "stages = fxc.compile(places).inspect(RNG.random(300) < 0.5)",
        "assert 'fxc.places' not in stages.llvm",
    )
    environment = {**os.environ, "FXC_CPU_FEATURES": taken}
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True, env=environment)
