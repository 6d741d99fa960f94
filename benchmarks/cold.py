"""`python -m benchmarks.cold`: first calls, in processes of their own, and calls from the third on.

Nothing is in a cache but what Python keeps of modules, and NumPy is imported before. Rows with the
disk cache are of the second of two processes, which reads what the first has written.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

PROGRAMS = 30  # of the suites, one after another by name
LARGEST = 1_000_000  # elements of such a program
FUNCTIONS = 1000
BLOCK = 1000  # calls
CLOCKS = {"wall": time.perf_counter, "processor": time.thread_time}
_clock = CLOCKS["wall"]


def small(a: Any, b: Any) -> Any:
    return a * b + 1


def in_place(a: Any, b: Any) -> None:
    a += b


class Body:
    """A method with six arrays and four numbers."""

    def __init__(self) -> None:
        self.a, self.b, self.c, self.d, self.e, self.f = (np.ones(8) for _ in range(6))
        self.w, self.x, self.y, self.z = 0.5, 0.25, 0.125, 2.0

    def step(self) -> None:
        self.a[...] = self.b * self.w + self.c * self.x + self.d * self.y + self.e * self.z + self.f


# -- what is measured in a process of its own: milliseconds


def process() -> float:
    """The first call of a process, and importing fxc."""
    x = np.arange(8.0)
    start = _clock()
    import fxc

    fxc.compile(small)(x, x)
    return 1e3 * (_clock() - start)


def program(number: int, is_first: bool) -> float:
    """The first call of a program beyond NumPy's, in a process where it is the first or second."""
    from .suites import SUITES

    every = [p for programs in SUITES.values() for p in programs if p.elements <= LARGEST]
    chosen = every[number * len(every) // PROGRAMS]
    random = np.random.default_rng
    with np.errstate(all="ignore"):
        args = chosen.arguments(random(0))
        start = _clock()
        chosen.function(*args)
        python = _clock() - start
        args = chosen.arguments(random(0))
        if not is_first:
            process()
        start = _clock()
        import fxc

        fxc.compile(chosen.function)(*args)
        return 1e3 * (_clock() - start - python)


def many() -> float:
    """One of the last of so many small functions, each another one."""
    import fxc

    x, took = np.arange(8.0), []
    for k in range(FUNCTIONS):
        names: dict[str, Any] = {}
        exec(f"def f(a, b): return a * {k + 2} + b / {k % 7 + 1}.5 - {k}", names)
        start = _clock()
        fxc.compile(names["f"])(x, x)
        took.append(1e3 * (_clock() - start))
    return statistics.median(took[-FUNCTIONS // 20 :])


def calls(name: str) -> tuple[float, float]:
    """Microseconds of a call: of the first so many from the third on, and of later ones."""
    import fxc

    a, b = np.ones(8), np.full(8, 0.5)
    own = {"small": fxc.compile(small), "in_place": fxc.compile(in_place)}
    body = SimpleNamespace(**vars(Body()))
    step = fxc.compile(Body.step)
    run: Callable[[], object] = {
        "small": lambda: own["small"](a, b),
        "in_place": lambda: own["in_place"](a, b),
        "method": lambda: step(body),
    }[name]

    def empty() -> None:
        pass

    def block(call: Callable[[], object]) -> float:
        start = _clock()
        for _ in range(BLOCK):
            call()
        return 1e6 * (_clock() - start) / BLOCK

    run()
    run()
    first = block(run)
    cost = min(block(empty) for _ in range(20))
    return first - cost, min(block(run) for _ in range(50)) - cost


MEASURES: dict[str, Callable[..., Any]] = {
    "process": process,
    "first": lambda number: program(int(number), True),
    "second": lambda number: program(int(number), False),
    "many": many,
    "calls": calls,
}


def child(*words: str, folder: str = "") -> Any:
    """What another process measures, by this one's clock, with its disk cache in a folder."""
    by = next(name for name, clock in CLOCKS.items() if clock is _clock)
    command = [sys.executable, "-m", "benchmarks.cold", "--clock", by, "--cache", folder]
    command += ["--child", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def from_disk(kind: str, words: list[list[str]]) -> list[float]:
    """What later processes measure of what earlier ones have put on disk."""
    with tempfile.TemporaryDirectory() as folder:
        for each in words:
            child(kind, *each, folder=folder)
        return [child(kind, *each, folder=folder) for each in words]


def lines(repeats: int) -> Iterator[str]:
    """The table."""
    times = [child("process") for _ in range(repeats)]
    yield f"first call of a process, import included: {shown(times)} ms (goal 60)"
    times = from_disk("process", [[]] * repeats)
    yield f"first call of a process, from the disk cache: {shown(times)} ms (goal 12)"
    numbers = [[str(k)] for k in range(PROGRAMS)]
    for kind in ("first", "second"):
        times = [child(kind, *each) for each in numbers]
        yield f"{PROGRAMS} programs, each the {kind} of its process: {shown(times)} ms (goal 60)"
    times = from_disk("second", numbers)
    yield f"{PROGRAMS} programs, each the second, from the disk cache: {shown(times)} ms (goal 6)"
    yield f"the {FUNCTIONS}th small function: {child('many'):.1f} ms (goal 15)"
    for name, goal in (("small", 0.12), ("in_place", 0.08), ("method", 0.4)):
        pairs = [child("calls", name) for _ in range(min(repeats, 5))]
        first, later = (min(each) for each in zip(*pairs, strict=True))
        times = f"calls 3 to {BLOCK + 2} {first:.2f} us, then {later:.3f} us (goal {goal})"
        yield f"call of {name}: {times}"


def shown(times: list[float]) -> str:
    return f"{min(times):.1f} to {max(times):.1f}, median {statistics.median(times):.1f}"


def main() -> int:
    global _clock
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cold", description=__doc__)
    parser.add_argument("--repeats", type=int, default=9, help="processes of each kind")
    parser.add_argument(
        "--clock",
        choices=CLOCKS,
        default="wall",
        help="processor: of the thread, on a busy machine",
    )
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--cache", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    _clock = CLOCKS[options.clock]
    if options.cache:  # before fxc is imported
        os.environ.update(FXC_CACHE="1", FXC_CACHE_DIR=options.cache)
    if options.child:
        name, *words = options.child
        print(json.dumps(MEASURES[name](*words)))
        return 0
    for line in lines(options.repeats):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
