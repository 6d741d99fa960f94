"""Random programs that print, log, write and draw, plain and compiled: all is shown and drawn once,
in order, and generators end as they would.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import random
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import Outcome, difference, run
from tests.random_effects import random_effects
from tests.random_loops import LoopProgram, shrink

COUNT = int(os.environ.get("FXC_FUZZ_PROGRAMS", "0")) // 10 or 24
FIRST = int(os.environ.get("FXC_FUZZ_FIRST", "0"))
LOG = logging.getLogger("tests.random_effects")
LOG.propagate = False


class _World:
    """What a program sees besides its arguments, and what is left there."""

    def __init__(self) -> None:
        self.out = io.StringIO()
        self.rng = np.random.default_rng(5)
        self.python = random.Random(6)
        np.random.seed(7)
        self.records: list[str] = []

    def left(self) -> tuple[Any, ...]:
        legacy = np.random.get_state()
        states = self.rng.bit_generator.state, self.python.getstate(), legacy[2:]
        return self.out.getvalue(), self.records, repr(states), legacy[1].tobytes()


class _Records(logging.Handler):
    def __init__(self, records: list[str]) -> None:
        super().__init__()
        self.records = records

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record.getMessage())


def observed(fn: Any, call: Any, space: dict[str, Any]) -> tuple[Outcome, tuple[Any, ...], str]:
    """What a call does, what it leaves, and the warnings that ask for a report."""
    world = _World()
    space.update(OUT=world.out, RNG=world.rng, PY=world.python, LOG=LOG)
    handler = _Records(world.records)
    LOG.addHandler(handler)
    reports: list[str] = []

    def called(*args: Any) -> Any:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", fxc.CaptureWarning)
            try:
                return fn(*args)
            finally:
                texts = (str(each.message) for each in caught)
                reports.extend(text for text in texts if "please report" in text)

    try:
        with contextlib.redirect_stdout(world.out):
            outcome = run(called, call())
    finally:
        LOG.removeHandler(handler)
    return outcome, world.left(), next(iter(reports), "")


def failure(program: LoopProgram, counts: Counter[str] | None = None) -> str:
    """How the compiled program differs from plain NumPy, or ''."""
    try:
        fn, calls = program.load()
    except SyntaxError:
        return ""
    space = fn.__globals__  # type: ignore[attr-defined]
    compiled = fxc.compile(fn)
    for place, call in enumerate(calls):
        expected, wanted, _ = observed(fn, call, space)
        if type(expected.error) in (NameError, UnboundLocalError):
            return ""
        found, left, report = observed(compiled, call, space)
        text = report or difference(expected, found, lambda _: 0.25)
        if not text and left != wanted:
            text = f"shown {left[:2]} {left[2] == wanted[2]}, plain {wanted[:2]}"
        if text:
            return f"{text.split()[0][:6]}: call {place}: {text}"
    if counts is not None:
        info = compiled.cache_info()
        counts.update(native=info.native_calls, eager=info.eager_calls)
    return ""


@pytest.mark.parametrize("chunk", range(4))
def test_random_effects(chunk: int) -> None:
    counts: Counter[str] = Counter()
    for seed in range(FIRST + chunk, FIRST + 4 * COUNT, 4):
        program = random_effects(seed)
        text = failure(program, counts)
        if text:
            kind = text.split(":")[0]
            small = shrink(program, lambda p, kind=kind: failure(p).startswith(kind))
            pytest.fail(f"{failure(small)}\n\n{small}", pytrace=False)
    assert counts["native"]
