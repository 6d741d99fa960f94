"""A script by Python, and by `fxc run`: what both say and write, and how long they take."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SCRIPTS = (
    *("heat", "waves", "bodies", "seidel", "files"),
    *("plot", "frames", "processes", "errors", "options"),
)
NUMERICAL = tuple(name for name in SCRIPTS if name not in ("processes", "errors", "files"))
_LAST = re.compile(r"^fxc run: .*\n?\Z", re.MULTILINE)


@dataclass(frozen=True)
class Ran:
    """What a run has shown and written, its last line on stderr if it is fxc's, and its seconds:
    on the wall, and of processors.
    """

    status: int
    out: str
    err: str
    files: dict[str, bytes]
    told: str
    wall: float
    processor: float

    def seen(self) -> tuple[object, ...]:
        """What has to be equal."""
        return self.status, self.out, self.err, self.files


def ran(script: str, arguments: Sequence[str], by_fxc: bool) -> Ran:
    """Run a script in a folder of its own."""
    way = ["-m", "fxc", "run"] if by_fxc else []
    command = [sys.executable, *way, str(HERE / f"{script}.py"), *arguments]
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path, "FXC_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with (place / ".out").open("wb") as out, (place / ".err").open("wb") as err:
            start = time.perf_counter()
            process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=err, env=environment)
            _, status, used = os.wait4(process.pid, 0)
            wall = time.perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)
        texts = [(place / name).read_text() for name in (".out", ".err")]
        told = _LAST.search(texts[1])
        files = {
            each.name: each.read_bytes()
            for each in sorted(place.iterdir())
            if each.name not in (".out", ".err")
        }
    err_text = _LAST.sub("", texts[1])
    processor = used.ru_utime + used.ru_stime
    last = "" if told is None else told[0].strip()
    return Ran(process.returncode, texts[0], err_text, files, last, wall, processor)


def difference(one: Ran, other: Ran) -> str:
    """What is not equal, or ''."""
    names = ("status", "stdout", "stderr", "files")
    pairs = zip(names, one.seen(), other.seen(), strict=True)
    return ", ".join(f"{name}: {a!r} and {b!r}" for name, a, b in pairs if a != b)[:2000]
