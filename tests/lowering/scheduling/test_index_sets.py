"""Loops that branch on their counters run in pieces: loops → loops without the branches."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from fxc.lowering.machine.costs import Costs
from fxc.lowering.machine.target import Target
from fxc.lowering.scheduling.fuse import fuse
from fxc.lowering.scheduling.index_sets import index_sets
from tests.compiling import same
from tests.scheduled import after_building, body

RELATIONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
PLACES = ("0", "1", "8", "9", "10", "-3", "w", "w - 1", "-w + 10", "i", "j", "i + 1", "2*i", "i*j")


class Written:
    """The text of a random graph: two loops around branches that compare their counters."""

    def __init__(self, seed: int) -> None:
        self.random, self.numbers = random.Random(seed), count(10)
        lines = [
            "functional f(%w: py.int)",
            "  symbols w = 4 (>= 1), i = 5 (>= 0), j = 5 (>= 0)",
            "  %0: py.int = fori_loop(0, 10, (1,), body={",
            "    (%i: py.int, %1: py.int)",
            *self.branches("%1", "%2", ("i", "w"), 1),
            f"    %4: py.int = fori_loop({self.random.choice((0, 2))}, 9, (%2,), body={{",
            "      (%j: py.int, %3: py.int)",
            *self.branches("%3", "%5", ("i", "j", "w"), self.random.choice((1, 2, 3))),
            "      yield %5",
            "    }, stops=False)",
            "    yield %4",
            "  }, stops=False)",
            "  return %0",
        ]
        self.text = "\n".join(lines) + "\n"

    def new(self) -> str:
        return f"%{next(self.numbers)}"

    def branches(self, old: str, last: str, known: tuple[str, ...], many: int) -> Iterator[str]:
        """One branch behind the other, each of which changes a number in one of two ways."""
        for number in range(many):
            new = last if number == many - 1 else self.new()
            test = self.new()
            yield from self.condition(test, known)
            arms = self.new(), self.new(), self.new(), self.new()
            yield f"{new}: py.int = cond({test}, (), on_true={{"
            yield "()"
            yield f"{arms[0]}: py.int = py_multiply({old}, {self.random.choice((3, 5, 7))})"
            yield f"{arms[1]}: py.int = py_remainder({arms[0]}, 1000003)"
            yield f"yield {arms[1]}"
            yield "}, on_false={"
            yield "()"
            yield f"{arms[2]}: py.int = py_add({old}, {self.random.choice((1, 2, 11))})"
            yield f"{arms[3]}: py.int = py_remainder({arms[2]}, 1000003)"
            yield f"yield {arms[3]}"
            yield "})"
            old = new

    def condition(self, name: str, known: tuple[str, ...]) -> Iterator[str]:
        """A comparison, or two: both hold, or one of them does."""
        kind = self.random.choice(("one", "one", "and", "or"))
        if kind == "one":
            yield from self.comparison(name, known)
            return
        first, second = self.new(), self.new()
        yield from self.comparison(first, known)
        yield f"{name}: py.bool = cond({first}, (), on_true={{"
        yield "()"
        yield from self.comparison(second, known) if kind == "and" else ()
        yield f"yield {second}" if kind == "and" else "yield True"
        yield "}, on_false={"
        yield "()"
        yield from self.comparison(second, known) if kind == "or" else ()
        yield f"yield {second}" if kind == "or" else "yield False"
        yield "})"

    def comparison(self, name: str, known: tuple[str, ...]) -> Iterator[str]:
        places = [p for p in PLACES if all(x in known for x in p if x.isalpha())]
        left, right = self.new(), self.new()
        sides = [self.random.choice(known), self.random.choice(places)]
        self.random.shuffle(sides)
        yield f"{left}: py.int = int_value({sides[0]})"
        yield f"{right}: py.int = int_value({sides[1]})"
        yield f"{name}: py.bool = py_{self.random.choice(RELATIONS)}({left}, {right})"


@pytest.mark.parametrize("seed", range(16))
def test_random_branches_do_the_same(seed: int) -> None:
    text = Written(seed).text
    pieces = seed % 4 + 2
    target = Target(costs=Costs(index_sets_pieces=pieces, index_sets_many=seed % 3))
    for w in (1, 4, 9, 30):
        after_building(lambda program: fuse(index_sets(program)), text, w, target=target)


def test_some_of_them_are_in_pieces() -> None:
    made = [after_building(index_sets, Written(seed).text, 4) for seed in range(16)]
    assert sum(str(program).count("  loop ") > 2 for program in made) > 6


WINDOW = """\
functional f(%x: f64[20], %w: py.int)
  symbols w = 7 (>= 1), i = 10 (>= 0)
  %0: f64[20] = empty((20,), f64, layout=None)
  %1: f64[20] = fori_loop(0, 20, (%0,), body={
    (%i: py.int, %a: f64[20])
    %2: py.int = int_value(i)
    %3: py.int = int_value(w)
    %4: py.bool = py_less(%2, %3)
    %5: f64[20] = cond(%4, (%a,), on_true={
      (%b: f64[20])
      %6: f64[] = broadcast_to_copy(nan, ())
      %7: f64[20] = select_scatter(%b, %6, 0, i)
      yield %7
    }, on_false={
      (%c: f64[20])
      %8: f64[] = select_copy(%x, 0, i)
      %9: f64[] = select_copy(%x, 0, i - w)
      %10: f64 = subtract(%8, %9)
      %12: f64[] = broadcast_to_copy(%10, ())
      %11: f64[20] = select_scatter(%c, %12, 0, i)
      yield %11
    })
    yield %5
  }, stops=False)
  return %1
"""


def test_a_piece_for_each_arm() -> None:
    made = after_building(lambda program: fuse(index_sets(program)), WINDOW, np.arange(20.0), 7)
    assert_expected_inline(
        body(made),
        """\
for i0 in 0:20
  b1[i0] = 0.0
loop i in 0:(min(20, w))
  b1[i] = nan
loop i.2 in (w):20
  b1[i.2] = subtract(x[i.2], x[i.2 - w])""",
    )


def test_of_an_equality_the_first_or_last_iteration_is_apart() -> None:
    for place, cut in (("0", True), ("19", True), ("7", False)):
        source = WINDOW.replace("int_value(w)", f"int_value({place})").replace(
            "py_less", "py_equal"
        )
        made = after_building(index_sets, source.replace("i - w", "i"), np.arange(20.0), 7)
        assert ("if " not in str(made)) is cut


def edges(x: Any, y: Any) -> Any:
    """A stencil with other values outside of the array."""
    n, m = x.shape
    out = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            left = x[i, j - 1] if j > 0 else y[i]
            right = x[i, j + 1] if j < m - 1 else x[i, 0]
            if i == 0 or i == n - 1:
                out[i, j] = left - right
            else:
                out[i, j] = left * x[i - 1, j] - right * x[i + 1, j]
    return out


def windows(x: Any, y: Any) -> Any:
    """A total in order, over a window that is still growing at first, or never full."""
    w = y.shape[0]
    out = np.empty(x.shape)
    for k in range(x.shape[0]):
        s = 0.0
        for i in range(x.shape[1]):
            s += x[k, i]
            if i >= w:
                s -= x[k, i - w]
            out[k, i] = s / w if i >= w - 1 else np.nan
    return out


def triangles(x: Any, y: Any) -> Any:
    """The counter of one loop beside that of the other."""
    s = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if j < i:
                s = s * 0.5 + x[i, j]
            elif i == j:
                s = s * 0.75 - x[i, j]
            else:
                s -= x[i, j] * y[i]
    return s


@pytest.mark.parametrize("program", [edges, windows, triangles])
@pytest.mark.parametrize("dynamic", [False, True])
def test_they_have_numpys_bits(program: Any, dynamic: bool) -> None:
    compiled = fxc.compile(program, fullgraph=True, dynamic=dynamic)
    for n, m in ((9, 40), (40, 9), (3, 3), (1, 2), (2, 1)):
        rng = np.random.default_rng(n)
        assert same(program, compiled, (rng.uniform(-1, 1, (n, m)), rng.uniform(-1, 1, n)))
    loops = str(compiled.inspect(np.ones((30, 40)), np.ones(30)).loops)
    assert re.search(r"loop i\w*\.\d in", loops)


def factor(x: Any) -> Any:
    """Products of rows that grow with the counter, on the diagonal others than beside it."""
    out = np.zeros(x.shape)
    for i in range(len(x)):
        for j in range(i + 1):
            s = x[i, j] - out[i, :j] @ out[j, :j]
            if i == j:
                out[i, i] = np.sqrt(abs(s)) + 1.0
            else:
                out[i, j] = s / out[j, j]
    return out


def heads(x: Any) -> Any:
    """Rows up to the counter: sums, updates, sorted copies."""
    out = np.zeros(x.shape)
    for i in range(len(x)):
        for j in range(len(x)):
            if j < i:
                out[i, :j] += x[j, :j] * x[i, :j].sum()
            elif j == i:
                out[i, :j] -= np.sort(x[:j, j])
            else:
                out[i, j] = x[i, :j] @ x[j, :j]
    return out


@pytest.mark.parametrize("program", [factor, heads])
@pytest.mark.parametrize("dynamic", [False, True])
def test_operands_that_the_counter_sizes(program: Any, dynamic: bool) -> None:
    compiled = fxc.compile(program, fullgraph=True, dynamic=dynamic)
    for n in (9, 40, 1, 2):
        assert same(program, compiled, (np.random.default_rng(n).uniform(-1, 1, (n, n)),))
    assert "if " not in str(compiled.inspect(np.ones((30, 30))).loops)
