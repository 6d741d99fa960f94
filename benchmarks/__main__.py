"""`python -m benchmarks`: what starting, compiling, splits, flags, draws and the like cost.

One table, every row measured side by side in this one run. Programs of users and how fast they are:
`python -m benchmarks.suites`.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from . import boxed, draws, flags, logs, packages, threads
from .contenders import compiled, installed, use_one_thread
from .loop_programs import PROGRAMS, LoopProgram
from .measure import CONTENDERS, Row, heading, samples_of, table_line
from .ratios import RATIOS, Ratio
from .suites.results import processor

COMPILING = "compiling"
GROUPS = (
    "import",
    "first-call",
    "memory",
    COMPILING,
    *dict.fromkeys(ratio.group for ratio in RATIOS),
    boxed.GROUP,
    flags.GROUP,
    draws.GROUP,
    logs.GROUP,
    packages.GROUP,
    threads.GROUP,
)


USUAL = 3000  # calls after which a function is what it stays,
SETTLED_SECONDS = 2.0  # or nearly so, where they take longer


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--only",
        nargs="+",
        default=GROUPS,
        metavar="GROUP[/NAME]",
        help=f"groups ({', '.join(GROUPS)}), or the rows of one that begin with a name",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers, too")
    parser.add_argument("--repeats", type=int, default=7, help="samples of each (at least 7)")
    options = parser.parse_args()
    unknown = {name.partition("/")[0] for name in options.only} - set(GROUPS)
    if unknown:
        parser.error(f"no such group: {', '.join(sorted(unknown))}")
    use_one_thread()
    present = [name for name in CONTENDERS if installed(name)]
    repeats = max(7, options.repeats)
    print(heading())
    rows: list[Row] = []
    for row in measure_all(options.only, present, repeats):
        print(table_line(row), flush=True)
        rows.append(row)
    print(footer(repeats))
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    return 0


def is_chosen(chosen: Sequence[str], group: str, name: str = "") -> bool:
    return any(only in (group, f"{group}/{name}"[: len(only)]) for only in chosen)


def measure_all(chosen: Sequence[str], present: list[str], repeats: int) -> Iterator[Row]:
    compilers = [name for name in present if name not in ("numpy", "numexpr")]
    if is_chosen(chosen, "import"):
        others = [name for name in present if name != "numpy"]
        yield from in_processes("import", ("import, over numpy's own",), "s", others, repeats)
    if is_chosen(chosen, "first-call"):
        names = ("first call, 20 operators, first in process", "first call, 20 operators, second")
        yield from in_processes("first-call", names, "s", compilers, repeats)
    for program in PROGRAMS:
        if is_chosen(chosen, COMPILING, program.function.__name__):
            yield from compile_times(program, repeats)
    for ratio in RATIOS:
        if is_chosen(chosen, ratio.group, ratio.name):
            yield from ratios(ratio, present, repeats)
    if is_chosen(chosen, boxed.GROUP):
        yield from boxed.rows(repeats)
    if is_chosen(chosen, flags.GROUP):
        yield from flags.rows(repeats)
    if is_chosen(chosen, draws.GROUP):
        yield from draws.rows(repeats)
    if is_chosen(chosen, logs.GROUP):
        yield from logs.rows(repeats)
    if is_chosen(chosen, packages.GROUP):
        yield from packages.rows(repeats)
    yield from threads.rows(repeats, partial(is_chosen, chosen, threads.GROUP))
    if is_chosen(chosen, "memory"):
        name = "peak memory, chain of 10 (result: 80 MB)"
        yield from in_processes("memory", (name,), "MB", present, repeats)


def in_processes(
    measure: str, names: tuple[str, ...], unit: str, contenders: list[str], repeats: int
) -> Iterator[Row]:
    """A row for each number that `benchmarks.child` prints: medians over processes, in turns."""
    samples: dict[str, list[list[float]]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name in contenders:
            command = [sys.executable, "-m", "benchmarks.child", measure, name]
            child = subprocess.run(command, check=True, stdout=subprocess.PIPE)
            samples[name].append(json.loads(child.stdout))
    for i, name in enumerate(names):
        medians = {
            contender: statistics.median(numbers[i] for numbers in lists)
            for contender, lists in samples.items()
        }
        yield Row(measure, name, unit, medians)


def compile_times(program: LoopProgram, repeats: int) -> Iterator[Row]:
    """Processor time of compiling the program for few and for many iterations; nothing is run."""
    sizes = (10, program.longest)
    given = [program.arguments(np.random.default_rng(0), size) for size in sizes]
    samples: list[list[float]] = [[], []]
    for turn in range(2 * repeats):
        place = turn % 2
        function: Any = compiled("fxc", program.function)
        start = time.thread_time()
        function.inspect(*given[place])
        samples[place].append(time.thread_time() - start)
    for size, times in zip(sizes, samples, strict=True):
        name = f"{program.function.__name__}, size {size:,}"
        yield Row(COMPILING, name, "s", {"fxc": statistics.median(times)})


def ratios(ratio: Ratio, present: list[str], repeats: int) -> Iterator[Row]:
    """How long one function takes, as part of the other's time; for fxc the bytes, too."""
    pair = (ratio.function, ratio.other)
    known = ("numpy", "fxc") if ratio.splits else ("numpy", "fxc", "numba")
    names = [name for name in present if name in known]
    runs = {
        (name, place): partial(
            compiled(name, function, fullgraph=not ratio.splits), *ratio.inputs()
        )
        for name in names
        for place, function in enumerate(pair)
    }
    for run in runs.values():
        settle(run, ratio.splits)
    times = samples_of(runs, 3 * repeats, time.thread_time)  # of a few per cent: no one else's
    # Those of one round: the clock of a processor and its caches are not steady.
    values = {
        name: statistics.median(a / b for a, b in zip(times[name, 0], times[name, 1], strict=True))
        for name in names
    }
    yield Row(ratio.group, ratio.name, "", values)
    if ratio.splits:
        return
    inputs = ratio.inputs()
    moved = [compiled("fxc", function).inspect(*inputs).bytes_moved for function in pair]
    yield Row(ratio.group, "  bytes that the loops move", "", {"fxc": moved[0] / moved[1]})


def settle(run: Callable[[], object], splits: bool) -> None:
    """Call a function; one that is split, until it is what it stays, or for two seconds."""
    start = time.thread_time()
    for _ in range(USUAL if splits else 1):
        run()
        if time.thread_time() - start > SETTLED_SECONDS:
            break


def footer(repeats: int) -> str:
    return (
        f"{'-' * 120}\nMedians of {repeats} samples taken in turns, one thread each; "
        "x: how many times less than NumPy; -: not taken by this contender;\n"
        "compiling: processor time; "
        "one over the other: the part of the second's processor time that the first takes.\n"
        "threads: the time on two over that on one.\n"
        f"NumPy {np.__version__}, Python {platform.python_version()}, {processor()}"
    )


if __name__ == "__main__":
    sys.exit(main())
