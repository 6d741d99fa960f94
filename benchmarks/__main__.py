"""`python -m benchmarks`: one table, every row measured side by side in this one run."""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from . import draws, flags, threads
from .cases import CASES, LOOPS, RATIOS, Case, Ratio
from .contenders import NotTaken, Run, compiled, copied, installed, prepare, use_one_thread
from .loop_programs import LoopProgram
from .measure import (
    CHECKED,
    CONTENDERS,
    Row,
    first_call,
    heading,
    samples_of,
    side_by_side,
    table_line,
)

GROUPS = (
    "import",
    "first-call",
    "memory",
    *dict.fromkeys(case.group for case in (*CASES, *LOOPS, *RATIOS)),
    flags.GROUP,
    draws.GROUP,
    threads.GROUP,
)


USUAL = 3000  # calls after which a function is what it stays,
SETTLED_SECONDS = 2.0  # or nearly so, where they take longer


class WrongResult(Exception):
    """A contender computes something else than NumPy."""


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
    for case in CASES:
        if is_chosen(chosen, case.group, case.name):
            yield from in_this_process(case, present, repeats)
    yield from loops(chosen, present, repeats)
    for ratio in RATIOS:
        if is_chosen(chosen, ratio.group, ratio.name):
            yield from ratios(ratio, present, repeats)
    if is_chosen(chosen, flags.GROUP):
        yield from flags.rows(repeats)
    if is_chosen(chosen, draws.GROUP):
        yield from draws.rows(repeats)
    yield from threads.rows(repeats, partial(is_chosen, chosen, threads.GROUP))
    if is_chosen(chosen, "memory"):
        name = "peak memory, chain of 10 (arrays: 240 MB)"
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


def loops(chosen: Sequence[str], present: list[str], repeats: int) -> Iterator[Row]:
    """The rows of each program with loops, and what they come to for those of a kind."""
    if "numba" in present:
        present = [*present, CHECKED]
    scalar: list[Row] = []
    array: list[Row] = []
    for case in LOOPS:
        if not is_chosen(chosen, case.group, case.name):
            continue
        assert case.program is not None
        row, first = in_this_process(case, present, repeats)
        (scalar if case.program.scalar else array).append(row)
        yield row
        if CHECKED in row.values:
            yield Row(case.group, f"  {CHECKED}", "s", {"numba": row.values[CHECKED]})
        yield first
        yield from compile_times(case.program, repeats)
    for kind, rows in (("elements", scalar), ("arrays", array)):
        for other in ("numpy", "numba", CHECKED):
            ratios = [row.values["fxc"] / row.values[other] for row in rows if other in row.values]
            if ratios:
                print(f"loops over {kind}, fxc over {other}:")
                yield Row("loops", "  mean", "", {"fxc": statistics.geometric_mean(ratios)})
                yield Row("loops", "  largest", "", {"fxc": max(ratios)})


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
        yield Row("loops", f"  compiling, size {size:,}", "s", {"fxc": statistics.median(times)})


def in_this_process(case: Case, present: list[str], repeats: int) -> Iterator[Row]:
    """The case's row and the one of its first calls."""
    inputs = case.inputs()
    runs: dict[str, Run] = {}
    first: dict[str, float] = {}
    for name in present:
        own = copied(inputs) if case.in_place else inputs
        results: list[Any] = []
        try:
            run = prepare(name, case, own)
            first[name] = first_call(lambda run=run, results=results: results.append(run()))  # type: ignore[misc]
            check(case, name, own[0] if case.in_place and name != "jax" else results[0], inputs)
            runs[name] = run
        except NotTaken:
            continue
        except Exception as error:  # each contender has its own kinds of refusal
            if name in ("numpy", "fxc"):
                raise
            first.pop(name, None)
            reason = str(error).splitlines()[0]
            print(f"  {name} is out for `{case.name}`: {reason}", file=sys.stderr)
    # Loops take milliseconds: too short to meet the others on a shared processor equally often.
    clock = time.perf_counter if case.program is None else time.thread_time
    yield Row(case.group, case.name, "s", side_by_side(runs, repeats, clock))
    del first["numpy"]
    yield Row(case.group, "  first call", "s", first)


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


def settle(run: Run, splits: bool) -> None:
    """Call a function; one that is split, until it is what it stays, or for two seconds."""
    start = time.thread_time()
    for _ in range(USUAL if splits else 1):
        run()
        if time.thread_time() - start > SETTLED_SECONDS:
            break


def check(case: Case, name: str, result: Any, inputs: tuple[Any, ...]) -> None:
    """A fast wrong answer is worth nothing."""
    own = copied(inputs) if case.in_place or case.copied else inputs
    expected = case.function(*own)
    if case.in_place:
        expected = own[0]
    pairs = zip(*(x if isinstance(x, tuple) else (x,) for x in (result, expected)), strict=True)
    for left, right in (map(np.asarray, pair) for pair in pairs):
        if left.dtype != right.dtype:
            raise WrongResult(f"gives {left.dtype}, NumPy {right.dtype}")
        if not np.allclose(left, right, rtol=1e-4, atol=1e-5):
            raise WrongResult("gives other values than NumPy")


def footer(repeats: int) -> str:
    return (
        f"{'-' * 120}\nMedians of {repeats} samples taken in turns, one thread each; "
        "x: how many times less than NumPy; -: not taken by this contender;\n"
        "loops, and compiling them: processor time; "
        "one over the other: the part of the second's processor time that the first takes.\n"
        "threads: the time on two over that on one.\n"
        f"NumPy {np.__version__}, Python {platform.python_version()}, {processor()}"
    )


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), "")


if __name__ == "__main__":
    sys.exit(main())
