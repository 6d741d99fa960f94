"""Runs of many short random programs, in processes of their own: a crash is noticed, too.

    python -m tests.short_runs FIRST COUNT [SECONDS]

prints a line for each chunk: its seeds, how many programs were split, native or eager, the time, and the
seeds that differ from Python.
"""

from __future__ import annotations

import faulthandler
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

CHUNK = 500  # programs of one process
LONGEST = 120  # seconds that one program may take


@dataclass
class Ran:
    """What became of the programs of some seeds."""

    seeds: range
    counts: Counter[str] = field(default_factory=Counter)
    failures: dict[int, str] = field(default_factory=dict)
    seconds: float = 0.0

    def __str__(self) -> str:
        counts = " ".join(f"{name} {self.counts[name]}" for name in ("split", "native", "eager"))
        counts += f", {self.counts['parts']} parts"
        line = f"{self.seeds.start} to {self.seeds.stop - 1}: {counts}, {self.seconds:.0f} s"
        return "\n".join([line, *(f"  {seed}: {text}" for seed, text in self.failures.items())])


def runs(seeds: range, chunk: int = CHUNK) -> Iterator[Ran]:
    """Run the programs of these seeds, so many in one process; where it ends early another goes on."""
    while seeds:
        part = seeds[:chunk]
        found = _in_a_process(part)
        yield found
        seeds = seeds[len(found.seeds) :]


def _in_a_process(seeds: range) -> Ran:
    command = [sys.executable, "-m", "tests.short_runs", "chunk", str(seeds.start), str(seeds.stop)]
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    ran, last = Ran(seeds), seeds.start
    for line in done.stdout.splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "seed":
            last = int(rest)
        elif kind == "differs":
            ran.failures[last] = rest
        elif kind == "counts":
            ran.counts.update({name: int(count) for name, _, count in _pairs(rest)})
    if done.returncode:
        ran.failures[last] = f"the process ended with {done.returncode}: {done.stderr[-600:]}"
        ran.seeds = range(seeds.start, last + 1)
    ran.seconds = time.monotonic() - start
    return ran


def _pairs(text: str) -> list[tuple[str, str, str]]:
    return [each.partition("=") for each in text.split()]


def run_here(seeds: range) -> Ran:
    """Run the programs of these seeds in this process."""
    ran = Ran(seeds)
    for seed in seeds:
        text = _run(seed, ran.counts)
        if text:
            ran.failures[seed] = text
    return ran


def _run(seed: int, counts: Counter[str]) -> str:
    """How the program of a seed differs; what is drawn and run is imported by processes that run it."""
    from tests.random_short import random_short
    from tests.short_failures import failure

    return failure(random_short(seed), counts)


def _chunk(seeds: range) -> None:
    """Run programs here, and say after each line what is known so far."""
    told = sys.stdout
    sys.stdout = sys.stderr
    for seed in seeds:
        print("seed", seed, file=told, flush=True)
        faulthandler.dump_traceback_later(LONGEST, exit=True)
        counts = Counter[str]()
        text = _run(seed, counts)
        if text:
            print("differs", text.replace("\n", " | "), file=told)
        print("counts", *(f"{k}={v}" for k, v in counts.items()), file=told)
    faulthandler.cancel_dump_traceback_later()
    told.flush()


def main(arguments: list[str]) -> None:
    if arguments[0] == "chunk":
        _chunk(range(int(arguments[1]), int(arguments[2])))
        return
    first, count, *most = map(int, arguments)
    end = time.monotonic() + most[0] if most else float("inf")
    for ran in runs(range(first, first + count)):
        print(ran, flush=True)
        if time.monotonic() > end:
            return


if __name__ == "__main__":
    os.environ.setdefault("FXC_VERIFY_GRAPHS", "")
    main(sys.argv[1:])
