"""First calls of processes that find what earlier ones have compiled.

``python -m benchmarks.warm``: each measurement is one of a process of its own, which imports NumPy
before; the least of many counts, of the time of its thread and of the clock. ``programs`` times
first calls of whole programs, ``many`` fills a cache with compilations and says what they take of
disk and of memory.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

from fxc.ir.version import __version__

ROOT = Path(__file__).resolve().parents[1]

FIRST = """
import json, time
import numpy as np
a = np.arange(8.0)
def clocks(): return time.perf_counter(), time.thread_time()
start = clocks()
import fxc
imported = clocks()
def f(x, y): return x * y + 1
f = fxc.compile(f)
f(a, a)
end = clocks()
print(json.dumps([[1e3 * (t - s) for s, t in zip(start, each)] for each in (imported, end)]))
"""

PROGRAMS = """
import json, os, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np, fxc, fxc.compiled
from tests.exporters.corpus import EXAMPLES
warm = fxc.compile(lambda x: x + 1)
warm(np.ones(3))
found = {}
for each in EXAMPLES[::2]:
    compiled, args = fxc.compile(each.function), each.arguments(0)
    before = time.thread_time()
    try:
        compiled(*args)
    except Exception:
        pass
    took, args = time.thread_time() - before, each.arguments(0)
    before = time.thread_time()
    try:
        each.function(*args)
    except Exception:
        pass
    found[each.name] = 1e3 * (took - (time.thread_time() - before))
print(json.dumps(found))
"""

MANY = """
import gc, json, os, sys, time
import numpy as np, fxc
count, x = int(sys.argv[1]), np.arange(8.0)
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
names, kept = {}, []
exec("\\n".join(f"def f{n}(x): return x * {n}.5 + {n % 7}.25" for n in range(count)), names)
for n in range(min(count, 50)):
    kept.append(fxc.compile(names[f"f{n}"])); kept[-1](x)
gc.collect()
before, start = resident(), time.thread_time()
for n in range(50, count):
    kept.append(fxc.compile(names[f"f{n}"])); kept[-1](x)
took = time.thread_time() - start
gc.collect()
print(json.dumps([(resident() - before) / (count - 50), 1e3 * took / (count - 50)]))
"""


def ran(text: str, folder: str, *arguments: str) -> Any:
    """What a process prints that has its cache in this folder."""
    environment = {**os.environ, "FXC_CACHE_DIR": folder, "FXC_CACHE": "1"}
    installed = Path(folder) / "installed"
    environment["PYTHONPATH"] = str(installed if installed.exists() else ROOT)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    path = Path(folder) / "program.py"
    path.write_text(text)
    os.utime(path, (0, 0))  # older than the process: else it is taken for edited
    done = subprocess.run(
        [sys.executable, path, *arguments], env=environment, stdout=subprocess.PIPE, check=True
    )
    return json.loads(done.stdout)


def install(folder: str) -> None:
    """Put fxc into a folder as a wheel would: its files are known by a list of digests, and not
    looked at one by one.
    """
    place = Path(folder) / "installed"
    shutil.copytree(ROOT / "fxc", place / "fxc", ignore=shutil.ignore_patterns("__pycache__"))
    told = place / f"fxc-{__version__}.dist-info"
    told.mkdir()
    files = sorted((place / "fxc").rglob("*.py"))
    lines = [f"{path},sha256={sha256(path.read_bytes()).hexdigest()},\n" for path in files]
    (told / "RECORD").write_text("".join(lines))


def first(folder: str, times: int) -> None:
    """The first ``a * b + 1`` of a process, fxc's import included."""
    ran(FIRST, folder)
    found: list[list[list[float]]] = [ran(FIRST, folder) for _ in range(times)]
    for place, what in enumerate(("import fxc", "import and first call")):
        clock, thread = (min(each[place][n] for each in found) for n in (0, 1))
        print(f"{what:24} {clock:6.2f} ms by the clock, {thread:6.2f} ms of the thread")


def programs(folder: str, times: int) -> None:
    """First calls of every second program of the exporters' tests, less a call of Python."""
    ran(PROGRAMS, folder)
    runs: list[dict[str, float]] = [ran(PROGRAMS, folder) for _ in range(times)]
    least = {name: min(each[name] for each in runs) for name in runs[0]}
    for name, took in least.items():
        print(f"{name:32} {took:8.2f} ms")
    print(f"{len(least)} programs, median {statistics.median(least.values()):.2f} ms")


def many(folder: str, count: int) -> None:
    """Different compilations: bytes of memory and of disk, and milliseconds for each."""
    for what in ("made", "restored"):
        memory, took = ran(MANY, folder, str(count))
        print(f"{what:9} {memory / 1e3:6.1f} kB of memory and {took:6.2f} ms for each of {count}")
    files = [path.stat() for path in Path(folder, "fxc").rglob("*") if path.is_file()]
    size, blocks = sum(each.st_size for each in files), sum(each.st_blocks for each in files) * 512
    print(
        f"disk      {size / count / 1e3:.1f} kB, {blocks / count / 1e3:.1f} kB of blocks for each"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("first", "programs", "many"), nargs="?", default="first")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--installed", action="store_true", help="as a wheel, not a checkout")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.installed:
            install(folder)
        if options.what == "first":
            first(folder, options.times)
        elif options.what == "programs":
            programs(folder, min(options.times, 5))
        else:
            many(folder, options.count)


if __name__ == "__main__":
    main()
