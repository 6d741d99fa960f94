"""Random programs as machines of odd sizes would run them: every path of scheduling is taken.

Registers hold 1, 3, 5 or 16 numbers, caches a few rows; chunks of parallel loops are an iteration or a few,
and run in a random order.
"""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest

import fxc
from fxc.lowering.machine.costs import Costs
from fxc.lowering.machine.target import Target
from tests.bodies import function
from tests.covering import some
from tests.levels import natively, shrunk_failure, symbolically
from tests.lowering.scheduling.test_strips import chain
from tests.outcomes import difference, run
from tests.parallel_loops import FEW, SMALL, compiled_for, everywhere
from tests.programs.test_random_loops import failure as loops_failure
from tests.random_loops import random_loops
from tests.random_programs import random_program

COUNT = int(os.environ.get("FXC_FUZZ_PROGRAMS", "0")) // 50 or 12
FIRST = int(os.environ.get("FXC_FUZZ_FIRST", "0"))
EAGER = Costs(
    strips_bytes=0, strips_row=1, parts_bytes=0, parts_steps=1, columns_step=0, columns_bytes=0,
    wraps_inside=2, fused_apart=1, lanes_short=2, ends_vectors=1,
    apart_strip=3, apart_steps=1, apart_work=0, apart_number=0, apart_gathered=0, apart_few=0,
    choice_guarded=0,
)  # fmt: skip
RELUCTANT = replace(EAGER, fused_statements=8, ends_statements=1, inline_weight=2, late_near=0)
TARGETS = {
    "a lane": Target(costs=replace(EAGER, lanes=1), nearest=64, cache=256),
    "three lanes": Target(vector=24, nearest=128, cache=1024, costs=EAGER),
    "five lanes": Target(vector=40, line=8, nearest=64, cache=512, costs=RELUCTANT),
    "sixteen lanes": Target(vector=128, line=128, nearest=32, cache=128, costs=RELUCTANT, frame=0),
}
THREADS = {"one": None, "two": replace(SMALL, threads=2), "eight": FEW}


@pytest.fixture(params=THREADS)
def threads(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(params=TARGETS)
def turn(request: pytest.FixtureRequest, threads: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Which programs are for the machine that everything is compiled for from now on, see ``seeds``."""
    target, chunks = TARGETS[request.param], THREADS[threads]
    turn = list(TARGETS).index(request.param) + list(THREADS).index(threads)
    if chunks is None:
        compiled_for(monkeypatch, target)
        return turn
    limits = {key: getattr(chunks.costs, key) for key in ("chunk", "least", "multiple")}
    costs = replace(target.costs, **limits)
    everywhere(monkeypatch, replace(target, threads=chunks.threads, costs=costs))
    return turn


def seeds(count: int, turn: int) -> list[int]:
    """A third of the programs for each machine and number of threads: any machine has all of them,
    and any number of threads.
    """
    return some(range(FIRST, FIRST + count), -(-count // len(THREADS)), turn)


def test_programs_of_views_and_writes(turn: int) -> None:
    for seed in seeds(COUNT, turn):
        for level in (natively, symbolically):
            text = shrunk_failure(random_program(seed), level)
            if text:
                pytest.fail(text, pytrace=False)


def test_programs_of_loops(turn: int) -> None:
    for seed in seeds(COUNT // 3, turn):
        text = loops_failure(random_loops(seed), "native")
        if text:
            pytest.fail(f"seed {seed}: {text}", pytrace=False)


def test_single_numbers_of_complex_columns_are_gathered(turn: int) -> None:
    def program(y, a):
        for v in a.T.ravel():
            y[0] += v.real * v.imag

    compiled = fxc.compile(program, fullgraph=True)
    for n in (6, 7, 9):
        given = [[np.zeros(1), np.arange(n * n).reshape(n, n) * (1 + 2j)] for _ in "12"]
        assert not difference(run(program, given[0]), run(compiled, given[1]))


def test_chains_of_stencils(turn: int) -> None:
    for seed in seeds(COUNT // 3, turn):
        source = chain(seed)
        program, rows, columns = function(source), 12 + seed % 21, 5 + seed % 9
        given = [np.arange(rows * columns * 1.0).reshape(rows, columns) % 11 + 1 for _ in "12"]
        with np.errstate(all="ignore"):
            wanted = run(program, given[:1])
            found = run(fxc.compile(program, fullgraph=True), given[1:])
        assert not difference(wanted, found), source
