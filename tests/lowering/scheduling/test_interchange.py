"""Steps of which each meets only the element itself: all steps for one part of the elements."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from fxc.lowering.machine.costs import Costs
from fxc.lowering.machine.target import Target
from tests.bodies import function
from tests.nests_of import nests_of
from tests.parallel_loops import compiled_for

X = np.linspace(0.1, 0.9, 40)


TINY = Target(nearest=200, costs=Costs(parts_bytes=64))


@pytest.fixture(autouse=True)
def any_array_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled_for(monkeypatch, TINY)


def test_steps_along_the_lines_of_memory() -> None:
    """Each step meets other elements, of the same cache lines."""

    def along_rows(x: Any, c: Any) -> Any:
        done = np.zeros_like(x)
        for k in range(1, x.shape[1]):
            done[:, k] = done[:, k - 1] * c[:, k] + x[:, k]
        return (done,)

    x = np.arange(60.0 * 30).reshape(60, 30) % 7
    made = nests_of(along_rows, x, x % 3)
    assert "loop i2p in 0:(60)" in made
    across = nests_of(along_rows, np.asfortranarray(x), np.asfortranarray(x % 3))
    assert "p in 0" not in across


def test_all_steps_for_one_part_of_the_elements() -> None:
    def program(x: Any, c: Any, steps: int) -> Any:
        for _ in range(steps):
            x = c * x * (1.0 - x)
        return (x,)

    assert_expected_inline(
        nests_of(program, X, X * 3, 9),
        """\
t1 = (steps)
for i0 in 0:40 moved
  b2[i0] = x[i0]
loop i1p in 0:(5)
  loop i_1 in 0:t1
    for i1 in 0:min(-8*i1p + 40, 8) lanes 8 end first
      t4 = b2[i1 + 8*i1p]
      b2[i1 + 8*i1p] = multiply(multiply(c[i1 + 8*i1p], t4), subtract(1.0, t4))""",
    )


REFUSED = [
    # Each step reads what its neighbours were.
    "y = x.copy()\nfor k in range(9):\n    y[1:] = y[1:] * 0.5 + y[:-1]\nreturn (y,)",
    # What a step adds up is read by the next one.
    "y, s = x.copy(), 0.0\nfor k in range(9):\n    y = y * 0.5 + s\n    s = y.sum()\nreturn (y,)",
    # An interrupt would leave the caller's elements at different steps.
    "for k in range(9):\n    x *= 0.5\nreturn (x,)",
    "y = x.copy()\nfor k in range(9):\n    y = y * 0.5\n    if y[0] < 0.05:\n        break\nreturn (y,)",
    # Most of what is read is new in each step.
    "y, c = x.copy(), np.ones((9, 3, 40))\nfor k in range(9):\n"
    "    y = y * c[k, 0] + c[k, 1] - c[k, 2]\nreturn (y,)",
    "y = x.copy()\nfor k in range(3):\n    y = y * 0.5\nreturn (y,)",
    "y, h = x.copy(), np.zeros((9, 40))\nfor k in range(9):\n    y = y * y\n    h[k] = y\nreturn (h,)",
    "y = x.copy()\nfor k in range(9):\n    y = y * y[3]\nreturn (y,)",
    "y = x.copy()\nfor k in range(9):\n    y[: 40 - k] = y[: 40 - k] * 0.5\nreturn (y,)",
    "y, z = x.copy(), x * 0\nfor k in range(9):\n    y = y * 2\n    z += float(y[3])\nreturn (y, z)",
]


@pytest.mark.parametrize("text", REFUSED)
def test_steps_that_stay_outside(text: str) -> None:
    assert "p in " not in nests_of(function(text), X)


TAKEN = [
    "y, v = x.copy(), x * 0\nfor k in range(9):\n    v -= 0.1 * y\n    y += 0.1 * v\nreturn (y, v)",
    "y, s = x.copy(), x * 2\nfor k in range(9):\n    y = y * s + k\nreturn (y, s)",
    "y = x.reshape(20, 2) * 1\nfor k in range(9):\n    y[:, 1:] = y[:, 1:] + y[:, :-1]\nreturn (y,)",
    "y = x.astype('f4')\nfor k in range(9):\n    for j in range(5):\n        y = np.sqrt(y + j)\nreturn (y,)",
]


@pytest.mark.parametrize("text", TAKEN)
def test_steps_that_go_inside(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled_for(monkeypatch, replace(TINY, nearest=100))
    assert "p in " in nests_of(function(text), X)


def test_the_number_of_elements_may_be_a_symbol() -> None:
    def program(x: Any, steps: int) -> Any:
        for _ in range(steps):
            x = x * x - 0.5
        return (x,)

    compiled = fxc.compile(program, fullgraph=True, dynamic=True)
    for size in (40, 41, 7, 200, 0):
        given = np.linspace(0.0, 1.0, size)
        np.testing.assert_array_equal(compiled(given, 5)[0], program(given, 5)[0])


def test_random_steps() -> None:
    inside = 0
    for seed in range(40):
        rng = random.Random(seed)
        names = ["y", "z", "x"]
        lines = ["y, z = x.copy(), x * 2.0", "for k in range(5):"]
        for _ in range(rng.randint(1, 4)):
            left, right = rng.choice(names), rng.choice(names)
            if rng.random() < 0.2:
                left = f"np.roll({left}, 1)"
            value = (
                f"{left} {rng.choice('+-*')} {right} * {rng.choice(['0.5', 'k', 'y[0]', 'x[3]'])}"
            )
            target = rng.choice(["y", "z", "y[:]", "z[5:]"])
            lines.append(f"    {target} = ({value}){'[5:]' if target == 'z[5:]' else ''}")
        inside += "p in " in nests_of(function("\n".join([*lines, "return y, z"])), X)
    assert inside > 8
