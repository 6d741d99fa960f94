"""`python -m benchmarks.compare REVISION`: what the working tree does to speed, row by row.

The suites of this tree run with the fxc of a commit, checked out in a temporary folder, and with
this tree's, in turns, both by the Python that runs this. Of each row the least of all rounds
counts, as part of NumPy's time in the same tree. The exit code is 1 if a row has become slower by
more than the limit.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from .suites.results import Result, read

Row = tuple[str, str, int]  # its suite, its name, and on how many threads
Times = dict[Row, dict[str, float]]  # by contender

HERE = Path(__file__).resolve().parents[1]
LIMIT = 1.1


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    parser.add_argument("revision", help="a commit, a branch, a tag")
    parser.add_argument("names", nargs="*", metavar="SUITE[/NAME]", help="of all suites if none")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", choices=("one", "all", "both"), default="both")
    parser.add_argument("--limit", type=float, default=LIMIT, help="new over old (%(default)s)")
    options = parser.parse_args()
    arguments = [*options.names, "--threads", options.threads, "--peers", ""]
    old: Times = {}
    new: Times = {}
    with checked_out(options.revision) as tree:
        for _ in range(options.rounds):
            take_least(old, run(tree, arguments))
            take_least(new, run(HERE, arguments))
    found = changes(old, new)
    for (suite, name, threads), change in sorted(found.items(), key=lambda item: -item[1]):
        print(f"{change:6.3f}  {threads} thread{'s' * (threads > 1):1}  {suite}/{name}")
    slower = sum(change > options.limit for change in found.values())
    print(f"{len(found)} rows, {slower} of them slower by more than {options.limit - 1:.0%}")
    return 1 if slower else 0


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """A folder with fxc as it was and the benchmarks as they are."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        git = ["git", "-C", str(HERE), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", tree, revision], check=True)
        try:
            both = Path(folder, "both")
            both.mkdir()
            (both / "fxc").symlink_to(tree / "fxc")
            (both / "benchmarks").symlink_to(HERE / "benchmarks")
            yield both
        finally:
            subprocess.run([*git, "remove", "--force", tree], check=True)


def run(tree: Path, arguments: Sequence[str]) -> tuple[Result, ...]:
    """The rows of the suites with the fxc of a tree."""
    with tempfile.TemporaryDirectory() as folder:
        numbers = Path(folder, "rows.json")
        command = [sys.executable, "-m", "benchmarks.suites", *arguments, "--json", str(numbers)]
        environment = {**os.environ, "PYTHONPATH": str(tree)}
        subprocess.run(command, cwd=tree, env=environment, check=True, stdout=subprocess.DEVNULL)
        return read(numbers).rows


def take_least(times: Times, rows: Sequence[Result]) -> None:
    for row in rows:
        found = times.setdefault((row.suite, row.name, row.threads), {})
        for name, seconds in row.least.items():
            found[name] = min(seconds, found.get(name, seconds))


def changes(old: Mapping[Row, Mapping[str, float]], new: Times) -> dict[Row, float]:
    """How many times as long each row takes, measured by NumPy."""

    def share(times: Mapping[str, float]) -> float:
        return times["fxc"] / times["numpy"]

    return {row: share(new[row]) / share(old[row]) for row in old if row in new}


if __name__ == "__main__":
    sys.exit(main())
