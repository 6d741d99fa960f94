"""One suite in a process of its own, on one thread or on all: prints a row a line, as JSON.

`python -m benchmarks.suites.worker '{"names": …, "peers": …, "repeats": …, "all": …}'`
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from ..contenders import Contestant, NotTaken, compiled
from ..measure import first_call, samples_of
from . import chosen
from .program import Program
from .results import Result

SETTLED = 60  # calls after which fxc has decided what to run
MOST_SETTLED = 3000  # calls after which a short function is what it stays
SECONDS = 0.1  # that are spent on it, if it is settled
MOST_SECONDS = 0.6
TOLERANCE = {"f": 1e-4, "d": 1e-8, "F": 1e-4, "D": 1e-8}


class WrongResult(Exception):
    """A contender computes something else than NumPy."""


def main() -> int:
    failed = False
    options = json.loads(sys.argv[1])
    warnings.simplefilter("ignore")
    for name in ("fxc", *options["peers"]):
        start(name)
    for suite, programs in chosen(options["names"]).items():
        for program in programs:
            if program.all_threads or not options["all"]:
                try:
                    row = measured(suite, program, options)
                except Exception:
                    traceback.print_exc()
                    failed = True
                else:
                    print(json.dumps(asdict(row)), flush=True)
    return 1 if failed else 0


def start(name: str) -> None:
    """What a process pays once is not part of any row."""
    if name != "numexpr":
        np.asarray(compiled(name, _half)(np.ones(8)))


def _half(x: Any) -> Any:
    return x * 0.5


def measured(suite: str, program: Program, options: dict[str, Any]) -> Result:
    # Where there are others on the processors, only their time is not counted on one thread.
    clock = time.perf_counter if options["all"] else time.process_time
    arguments = program.arguments(np.random.default_rng(0))
    contestants: dict[str, Contestant] = {}
    first: dict[str, float] = {}
    left_out: dict[str, str] = {}
    expected = Contestant("numpy", program, arguments).outcome()
    for name in ("numpy", "fxc", *options["peers"]):
        try:
            entrant = Contestant(name, program, arguments)
            outcome: list[Any] = []
            first[name] = first_call(lambda: outcome.extend(entrant.outcome()), clock)  # noqa: B023
            check(name, outcome, expected)
            settle(entrant, clock, SETTLED if name == "fxc" else 2)
            contestants[name] = entrant
        except NotTaken:
            continue
        except Exception as error:  # each contender has its own kinds of refusal
            if name in ("numpy", "fxc"):
                raise
            first.pop(name, None)
            reason = next((x for x in map(str.strip, str(error).splitlines()) if x), "")
            left_out[name] = f"{type(error).__name__}: {reason}"[:120]
    samples = samples_of(
        {name: each.call for name, each in contestants.items()},
        options["repeats"],
        clock,
        {name: each.before for name, each in contestants.items() if each.before is not None},
    )
    return Result(
        suite,
        program.name,
        threads=len(os.sched_getaffinity(0)) if options["all"] else 1,
        seconds={name: statistics.median(times) for name, times in samples.items()},
        least={name: min(times) for name, times in samples.items()},
        first_call=first,
        left_out=left_out,
        elements=program.elements,
        flops=program.flops,
        bytes=program.bytes,
        goal=asdict(program.goal) if program.goal and program.goal.all == options["all"] else None,
    )


def settle(entrant: Contestant, clock: Callable[[], float], fewest: int) -> None:
    spent = 0.0
    for calls in range(1, MOST_SETTLED + 1):
        if entrant.before is not None:
            entrant.before()
        start = clock()
        entrant.call()
        spent += clock() - start
        if spent > MOST_SECONDS or (spent > SECONDS and calls >= fewest):
            break


def check(name: str, outcome: list[Any], expected: list[Any]) -> None:
    """A fast wrong answer is worth nothing. Dtypes are those of NumPy in what fxc gives."""
    if len(outcome) != len(expected):
        raise WrongResult(f"gives {len(outcome)} arrays, NumPy {len(expected)}")
    for left, right in zip(map(np.asarray, outcome), map(np.asarray, expected), strict=True):
        if left.shape != right.shape:
            raise WrongResult(f"gives the shape {left.shape}, NumPy {right.shape}")
        if name == "fxc" and left.dtype != right.dtype:
            raise WrongResult(f"gives {left.dtype}, NumPy {right.dtype}")
        near = TOLERANCE.get(right.dtype.char, 0.0)
        scale = float(np.nanmax(np.abs(right), initial=0.0)) if near else 0.0
        rounds = 1.0 if not near and name != "fxc" and right.dtype.kind in "iu" else 0.0
        if not np.allclose(left, right, rtol=near, atol=near * scale + rounds, equal_nan=True):
            raise WrongResult("gives other values than NumPy")


if __name__ == "__main__":
    sys.exit(main())
