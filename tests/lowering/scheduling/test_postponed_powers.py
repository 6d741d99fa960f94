"""Powers of strips of iterations, of which the C library is asked for the last ones together."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from fxc.lowering.machine.costs import Costs
from fxc.lowering.machine.target import Target
from fxc.lowering.nests.parse import parse_loops
from tests.compiling import same
from tests.parallel_loops import compiled_for
from tests.scheduled import body

WIDE = Target()


def lengths(x: Any, y: Any, out: Any) -> None:
    """A power of powers; one base is used again."""
    for i in range(len(x)):
        dx = x[i] - y[0]
        out[i] = (dx**2 + y[i] ** 2) ** 0.5 + dx


def reacting(x: Any, y: Any, out: Any) -> None:
    """Neighbours, of which no power is taken."""
    for i in range(1, len(x) - 1):
        out[i] = x[i - 1] + x[i + 1] - y[i] ** 3


def in_place(x: Any, y: Any, out: Any) -> None:
    """Iterations that may not run twice."""
    for i in range(len(x)):
        out[i] += (x[i] - out[i]) ** 2


def stored_first(x: Any, y: Any, out: Any) -> None:
    """A base that is stored in the same iteration, at another place."""
    for i in range(len(x) // 2):
        out[2 * i] = x[i] + 1.0
        out[2 * i + 1] = out[2 * i] ** 2 + out[2 * i + 1] ** 2


def divided(x: Any, y: Any, out: Any) -> None:
    for i in range(len(x)):
        out[i] = x[i] ** 2 / y[i]


def scheduled(program: Any, n: int) -> str:
    loops = fxc.compile(program, fullgraph=True).inspect(*arguments(n)).loops
    assert str(parse_loops(str(loops))) == str(loops)
    return body(loops)


def arguments(n: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(n)
    return rng.uniform(0.5, 3, n), rng.uniform(0.5, 1, n), np.full(n, 1.5)


def test_powers_are_postponed(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled_for(monkeypatch, WIDE)
    assert_expected_inline(
        scheduled(lengths, 300),
        """\
t2 = item(y[0])
for i in 0:300 lanes 16 overlapping postponed
  t6 = subtract(item(x[i]), t2)
  out[i] = add(power_of_scalars(add(power_of_scalars(t6, 2.0), power_of_scalars(item(y[i]), 2.0)), 0.5), t6)""",
    )


def test_where_they_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few of them, too few lanes, what is read has been stored, or divisions take as long."""
    compiled_for(monkeypatch, WIDE)
    assert "lanes 16 overlapping postponed" in scheduled(reacting, 80)
    assert "lanes 16 postponed" in scheduled(in_place, 300)
    assert "postponed" not in scheduled(lengths, 60)
    assert "postponed" not in scheduled(stored_first, 300)
    assert "postponed" not in scheduled(divided, 300)
    compiled_for(monkeypatch, Target(vector=16))
    assert "postponed" not in scheduled(lengths, 300)


@pytest.mark.bits
@pytest.mark.parametrize("program", [lengths, reacting, in_place, stored_first, divided])
@pytest.mark.parametrize("dynamic", [False, True])
def test_they_have_pythons_bits(program: Any, dynamic: bool) -> None:
    compiled = fxc.compile(program, fullgraph=True, dynamic=dynamic)
    for n in (1500, *((3, 15, 16, 17, 256, 258, 271, 273) if dynamic else (264,))):
        assert same(program, compiled, arguments(n))


@pytest.mark.parametrize("chunk", [99, 300])
def test_chunks_of_threads(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled_for(monkeypatch, Target(threads=8, costs=Costs(chunk=chunk, least=0, multiple=1)))
    for dynamic in (False, True):
        for program in (in_place, lengths):
            compiled = fxc.compile(program, fullgraph=True, dynamic=dynamic)
            assert same(program, compiled, arguments(1000))
    assert re.search("parallel.*postponed", str(compiled.inspect(*arguments(1000)).loops))


def test_what_is_tiny_huge_or_no_number() -> None:
    """It is the C library's, in each place of a vector, and sets its flags."""
    compiled = fxc.compile(lengths, fullgraph=True)
    for number in (0.0, -0.0, 1e-170, 1e-200, 1e150, 1e200, np.inf, np.nan):
        x, y, out = arguments(300)
        x[y > 0.75] = number
        assert same(lengths, compiled, (x, y, out))
