"""`python -m benchmarks.compare OLD`: what a change does to speed, row by row.

The benchmarks run in the tree OLD and in this one in turns, both by the Python that runs this. Of
each row the least of all rounds counts, as part of NumPy's time in the same run where it has one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

Times = dict[tuple[str, str], float]  # by group and name of a row

HERE = Path(__file__).resolve().parents[1]
SLOWER = 1.03


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    parser.add_argument("old", type=Path, help="a checkout of the project as it was")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=[], metavar="GROUP[/NAME]")
    options = parser.parse_args()
    if not (options.old / "benchmarks" / "__main__.py").is_file():
        parser.error(f"there are no benchmarks in {options.old}")
    least: tuple[Times, Times] = ({}, {})
    for _ in range(options.rounds):
        for tree, found in zip((options.old, HERE), least, strict=True):
            for row, time in run(tree, options.only).items():
                found[row] = min(time, found.get(row, time))
    rows = [(least[1][row] / least[0][row], row) for row in least[0] if row in least[1]]
    for change, (group, name) in sorted(rows, reverse=True):
        print(f"{change:6.3f}  {group:14} {name}")
    slower = sum(change > SLOWER for change, _ in rows)
    print(f"{len(rows)} rows, {slower} of them slower by more than {SLOWER - 1:.0%}")
    return 0


def run(tree: Path, only: Sequence[str]) -> Times:
    """The time of each row of the benchmarks of a tree."""
    with tempfile.TemporaryDirectory() as folder:
        numbers = Path(folder) / "rows.json"
        command = [sys.executable, "-m", "benchmarks", "--json", str(numbers)]
        command += ["--only", *only] if only else []
        environment = {**os.environ, "PYTHONPATH": str(tree.resolve())}
        subprocess.run(command, cwd=tree, env=environment, check=True, stdout=subprocess.DEVNULL)
        rows = json.loads(numbers.read_text())
    times: Times = {}
    above = ""
    for row in rows:
        name = row["name"]
        above, name = (above, f"{above}: {name.strip()}") if name.startswith(" ") else (name, name)
        values = row["values"]
        if values.get("fxc"):
            times[row["group"], name] = values["fxc"] / values.get("numpy", 1.0)
    return times


if __name__ == "__main__":
    sys.exit(main())
