"""`python -m tests.wild`: what becomes of each program, one line each."""

from __future__ import annotations

import argparse
import logging
import statistics
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import fxc
from tests.wild.largest import largest_array
from tests.wild.programs import PROGRAMS
from tests.wild.registry import WildProgram
from tests.wild.seen import differs, watch
from tests.wild.share import share_in_parts

CALLS = 10  # before anything is timed
ROW = 5e-4  # seconds of calls in a row: what is brief is called often, and finds its code in caches
MOST_IN_A_ROW = 50
LARGE = 10_000  # elements of an array from which on most of the time is to be in compiled parts
ENOUGH = 0.8


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.wild", description=__doc__)
    parser.add_argument("only", nargs="*", help="the programs whose names begin so")
    parser.add_argument("--small", action="store_true", help="of the sizes of the tests")
    parser.add_argument("--seconds", type=float, default=0.5, help="to time each")
    parser.add_argument("--no-times", action="store_true")
    options = parser.parse_args()
    logging.getLogger("fxc").setLevel(logging.ERROR)
    rows = []
    for program in PROGRAMS:
        if not options.only or any(program.name.startswith(each) for each in options.only):
            size = program.small if options.small else program.large
            row = Row(program, size, 0.0 if options.no_times else options.seconds)
            print(row.line(), flush=True)
            rows.append(row)
    print(footer(rows))
    return 0


class Row:
    """One program: captured or why not, equal or how not, and how fast after some calls."""

    def __init__(self, program: WildProgram, size: int, seconds: float) -> None:
        self.program = program
        self.compiled = fxc.compile(program.function)
        args = program.arguments(0, size)
        start = time.perf_counter()
        self.refusal = refusal(program, args)
        self.first = time.perf_counter() - start
        self.differs = differs(program, self.compiled, size)
        self.ratio = ratio(program, self.compiled, size, seconds) if seconds else float("nan")
        self.info = self.compiled.cache_info()
        self.share = share(program, self.compiled, size) if seconds and self.refusal else 1.0
        self.largest = largest_array(program, size) if self.refusal else 0

    def line(self) -> str:
        verdict = "captured" if not self.refusal else "split" if self.info.parts else "refused"
        equal = "equal" if not self.differs else "DIFFERS"
        text = f"{self.program.name:42} {verdict:9} {equal:8} {self.ratio:6.2f} {self.first:5.1f} s"
        text += f"  {self.info.variants} variants, {self.info.eager_calls} eager"
        if self.info.parts:
            text += f", {self.info.parts} parts called {self.info.part_calls} times"
        if self.refusal:
            text += f", {self.share:.0%} of NumPy's time in parts"
            text += f", arrays of up to {self.largest} elements"
        for note in (self.refusal, self.differs):
            text += f"\n    {note}" if note else ""
        return text


def refusal(program: WildProgram, args: tuple[Any, ...]) -> str:
    """Why the program is not captured with ``fullgraph=True``, or ''."""
    compiled = fxc.compile(program.function, fullgraph=True)
    reasons: list[str] = []

    def call(*args: Any) -> None:
        try:
            compiled(*args)
        except fxc.FxcError as error:
            text = "\n".join((str(error), *getattr(error, "__notes__", ())))
            reasons.append(" | ".join(line.strip() for line in text.splitlines() if line.strip()))

    seen = watch(call, args)
    if not reasons and not seen.error and compiled.cache_info().eager_calls:
        reasons.append("eager, in spite of fullgraph=True")
    return "".join(reasons)


def ratio(program: WildProgram, compiled: Any, size: int, seconds: float) -> float:
    """The time of NumPy over that of fxc, after ten calls: the median of what rows of calls with new
    arguments give, those of one round compared, as others have the machine, too.
    """
    for k in range(CALLS):
        watch(compiled, program.arguments(k, size))
    brief = min(timed(program.function, [program.arguments(0, size)]) for _ in range(3))
    in_a_row = min(max(1, int(ROW / brief)), MOST_IN_A_ROW)
    times: tuple[list[float], list[float]] = ([], [])
    end = time.process_time() + seconds
    seed = 100
    while time.process_time() < end or len(times[0]) < 5:
        seeds = range(seed, seed + in_a_row)
        for fn, found in zip((program.function, compiled), times, strict=True):
            found.append(timed(fn, [program.arguments(each, size) for each in seeds]))
        seed += in_a_row
    return statistics.median(a / b for a, b in zip(*times, strict=True))


def share(program: WildProgram, compiled: Any, size: int) -> float:
    """How much of NumPy's time is spent in compiled parts: the median of some calls."""
    args = (program.arguments(seed, size) for seed in range(5))
    return statistics.median(share_in_parts(compiled, partial(timed, compiled, [x])) for x in args)


def timed(fn: Any, calls: Sequence[tuple[Any, ...]]) -> float:
    """The processor time that calls with these arguments take, one after the other."""
    taken = 0.0

    def call() -> None:
        nonlocal taken
        start = time.process_time()
        for args in calls:
            with suppress(Exception):
                fn(*args)
        taken = time.process_time() - start

    watch(call, ())
    return taken


def footer(rows: list[Row]) -> str:
    captured = sum(not row.refusal for row in rows)
    equal = sum(not row.differs for row in rows)
    split = [row for row in rows if row.refusal and row.info.parts]
    large = [row for row in split if row.largest >= LARGE]
    enough = sum(row.share >= ENOUGH for row in large)
    ratios = sorted(row.ratio for row in rows) or [float("nan")]
    slow = sum(each < 0.95 for each in ratios)
    return (
        f"{len(rows)} programs: {captured} captured with fullgraph=True ({captured / len(rows):.0%}), "
        f"{len(split)} split, {len(large)} of them with arrays of {LARGE} elements ({enough} with "
        f"{ENOUGH:.0%} of NumPy's time in parts), {equal} equal; NumPy's time over fxc's: "
        f"median {statistics.median(ratios):.2f}, least {ratios[0]:.2f}, {slow} below 0.95"
    )


if __name__ == "__main__":
    sys.exit(main())
