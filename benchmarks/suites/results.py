"""What was measured: rows, and the file with those of one run."""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

OURS = ("numpy", "fxc")


@dataclass(frozen=True)
class Result:
    """Of one program on so many threads: seconds a call by contender.

    ``seconds`` are medians; ``left_out`` says why a peer is not among them.
    """

    suite: str
    name: str
    threads: int
    seconds: Mapping[str, float]
    least: Mapping[str, float]
    first_call: Mapping[str, float]
    left_out: Mapping[str, str]
    elements: int
    flops: float
    bytes: float
    goal: Mapping[str, Any] | None

    def over_numpy(self) -> float:
        """How many times as fast as NumPy fxc is."""
        return self.seconds["numpy"] / self.seconds["fxc"]

    def best_peer(self) -> str | None:
        peers = [name for name in self.seconds if name not in OURS]
        return min(peers, key=self.seconds.__getitem__, default=None)

    def over_best_peer(self) -> float | None:
        peer = self.best_peer()
        return None if peer is None else self.seconds[peer] / self.seconds["fxc"]

    def over_goal(self) -> float | None:
        """Below 1: the goal is missed."""
        if self.goal is None:
            return None
        if self.goal["seconds"] is not None:
            return float(self.goal["seconds"]) / self.seconds["fxc"]
        return self.over_numpy() / float(self.goal["times"])


@dataclass(frozen=True)
class RunOfSuites:
    """All rows of one run; ``about`` says when, of which commit, where and with what."""

    about: Mapping[str, Any]
    rows: tuple[Result, ...]

    def write(self, path: Path) -> None:
        """One line a row, so that two files can be compared."""
        lines = ",\n".join(json.dumps(asdict(row)) for row in self.rows)
        about = json.dumps(self.about, indent=1)
        path.write_text(f'{{"about": {about},\n"rows": [\n{lines}\n]}}\n', encoding="utf-8")


def read(path: Path) -> RunOfSuites:
    found = json.loads(path.read_text(encoding="utf-8"))
    return RunOfSuites(found["about"], tuple(Result(**row) for row in found["rows"]))


def mean(rows: Iterable[Result], ratio: Callable[[Result], float | None]) -> float | None:
    """The geometric mean of a ratio over the rows that have it."""
    logs = [math.log(value) for row in rows if (value := ratio(row)) is not None]
    return math.exp(sum(logs) / len(logs)) if logs else None


def about(peers: Iterable[str], repeats: int) -> dict[str, Any]:
    packages = dict.fromkeys(name.partition("-")[0] for name in ("numpy", "llvmlite", *peers))
    return {
        "date": datetime.now(UTC).isoformat(timespec="minutes"),
        "commit": commit(),
        "processor": processor(),
        "processors": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {
            "python": platform.python_version(),
            **{name: metadata.version(name) for name in packages},
        },
        "repeats": repeats,
        "load": round(os.getloadavg()[0], 1),
    }


def commit() -> str:
    """What is checked out; with a plus where files have been changed since."""
    where = Path(__file__).resolve().parent
    command = ["git", "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*"]
    found = subprocess.run(command, cwd=where, capture_output=True, text=True, check=False)
    return found.stdout.strip()


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), "")
