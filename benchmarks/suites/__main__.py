"""`python -m benchmarks.suites [SUITE[/NAME]…]`: programs of users, by NumPy, fxc and its peers.

Each suite runs in a process of its own, first on one thread, then on all. What one thread takes is
processor time, so that other processes hardly count.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..contenders import PARALLEL, PEERS, installed, one_thread
from ..measure import quantity
from . import SUITES, chosen
from .results import Result, RunOfSuites, about, mean
from .roofs import roofs

USUAL_PEERS = ("numba", "numba-parallel", "numexpr", "jax")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.suites", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="SUITE[/NAME]", help=", ".join(SUITES))
    usual = [name for name in USUAL_PEERS if installed(name)]
    parser.add_argument(
        "--peers",
        default=",".join(usual),
        help=f"of {', '.join(PEERS)}; those of them that are installed: %(default)s",
    )
    parser.add_argument("--threads", choices=("one", "all", "both"), default="both")
    parser.add_argument("--repeats", type=int, default=7, help="samples of each (%(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers, too")
    options = parser.parse_args()
    peers = [name for name in options.peers.split(",") if name]
    if unknown := set(peers) - set(PEERS):
        parser.error(f"no such peer: {', '.join(sorted(unknown))}")
    if not chosen(options.names):
        parser.error("no such program")
    found = about(peers, options.repeats)
    if options.json:
        found["roofs"] = {"one": roofs(all_threads=False), "all": roofs(all_threads=True)}
    rows: list[Result] = []
    failed: list[str] = []
    for all_threads in {"one": [False], "all": [True], "both": [False, True]}[options.threads]:
        taken = [name for name in peers if all_threads or name != PARALLEL]
        print(heading(all_threads, taken))
        settings = {"peers": taken, "repeats": options.repeats, "all": all_threads}
        for row in measure_all(options.names, settings, failed):
            print(line(row, taken), flush=True)
            rows.append(row)
            if options.json:  # each time, lest an end half-way leaves nothing
                RunOfSuites(found, tuple(rows)).write(options.json)
    print(summary(rows))
    return 1 if failed else 0


def measure_all(
    names: Sequence[str], settings: dict[str, Any], failed: list[str]
) -> Iterator[Result]:
    """The rows suite by suite; suites in which a program failed are added to the list."""
    for suite in chosen(names):
        own = [name for name in names if name.partition("/")[0] == suite] or [suite]
        try:
            rows = in_process("worker", {"names": own, **settings}, settings["all"])
            yield from (Result(**row) for row in rows)
        except subprocess.CalledProcessError:
            failed.append(suite)


def in_process(module: str, options: Any, all_threads: bool) -> Iterator[Any]:
    """What a module of this package prints, line by line."""
    environment = {**os.environ}
    if not all_threads:
        one_thread(environment)
    command = [sys.executable, "-m", f"{__package__}.{module}", json.dumps(options)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for text in child.stdout:
            yield json.loads(text)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, command)


def heading(all_threads: bool, peers: Sequence[str]) -> str:
    columns = "".join(f"{name:>15}" for name in ("fxc", *peers))
    title = "all threads" if all_threads else "one thread"
    return f"{title:<54}{'numpy':>10}{columns}{'first call':>12}{'of goal':>9}"


def line(row: Result, peers: Sequence[str]) -> str:
    """Times, and how many times less than NumPy's each is."""
    cells = [f"{quantity(row.seconds['numpy'], 's'):>10}"]
    for name in ("fxc", *peers):
        value = row.seconds.get(name)
        times = "" if value is None else f"{row.seconds['numpy'] / value:.2f}x"
        cells.append(f"{'-' if value is None else times:>15}")
    goal = row.over_goal()
    cells.append(f"{quantity(row.first_call['fxc'], 's'):>12}")
    cells.append(f"{'' if goal is None else f'{goal:.2f}':>9}")
    return f"{row.suite[:8] + '/' + row.name:<54}{''.join(cells)}"


def summary(rows: Sequence[Result]) -> str:
    """Geometric means by suite, and for all rows."""
    lines = ["", f"{'geometric means of fxc':<32}{'threads':>9}{'over numpy':>12}{'best peer':>12}"]
    for threads in dict.fromkeys(row.threads for row in rows):
        for suite in (*SUITES, "all"):
            own = [row for row in rows if row.threads == threads and suite in (row.suite, "all")]
            if own:
                means = [mean(own, Result.over_numpy), mean(own, Result.over_best_peer)]
                cells = "".join(f"{'-' if x is None else f'{x:.2f}':>12}" for x in means)
                lines.append(f"{suite:<32}{threads:>9}{cells}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
