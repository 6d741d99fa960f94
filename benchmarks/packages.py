"""What object packages cost: to load, with nothing imported but NumPy, and to call."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import fxc
from fxc.package import load

from .measure import Row, side_by_side

GROUP = "objects"
_LIMIT = 5e-3  # seconds that a package may take to load
_LOAD = """
import sys, time
sys.path[:0] = {path!r}
import numpy
first = time.process_time()
from benchmarked import load
load()
print(time.process_time() - first)
times = []
for _ in range(20):
    start = time.process_time()
    load()
    times.append(time.process_time() - start)
print(min(times))
"""


def multiply_add(a: Any, b: Any) -> Any:
    return a * b + 1


def smooth(u: Any, f: Any) -> Any:
    v = u[1:-1]
    new = 0.5 * (u[:-2] + u[2:]) - f[1:-1]
    err = np.abs(new - v).mean()
    v += 0.5 * (new - v)
    return err


def softened(a: Any, b: Any) -> Any:
    return np.exp(-a) * np.sin(b) / (1 + np.sqrt(a))


def sweeps(u: Any, f: Any) -> None:
    for i in range(1, len(u) - 1):
        u[i] = 0.5 * (u[i - 1] + u[i + 1]) - f[i]


def rows(repeats: int) -> Iterator[Row]:
    """Calls over those of compiled code on one thread, and loading over five milliseconds."""
    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        for function in (multiply_add, smooth, softened, sweeps):
            for size in (100, 10_000, 1_000_000):
                inputs = random.random(size), random.random(size)
                fxc.export(function, *inputs).to_object(f"{folder}/benchmarked")
                runs: dict[str, Callable[[], object]] = {
                    "fxc": _call(load(f"{folder}/benchmarked"), inputs),
                    "compiled": _call(fxc.compile(function, fullgraph=True), inputs),
                    "numpy": _call(function, inputs),
                }
                times = side_by_side(runs, 3 * repeats)
                name = f"{function.__name__}, {size:,}, over compiled code"
                values = {each: times[each] / times["compiled"] for each in ("fxc", "numpy")}
                yield Row(GROUP, name, "", values)
        for name, seconds in zip(("first", "again"), _seconds_to_load(Path(folder)), strict=True):
            yield Row(GROUP, f"load, {name}, over 5 ms", "", {"fxc": seconds / _LIMIT})


def _call(function: Callable[..., Any], inputs: tuple[Any, ...]) -> Callable[[], object]:
    copies = tuple(each.copy() for each in inputs)
    return lambda: function(*copies)


def _seconds_to_load(folder: Path) -> tuple[float, float]:
    """Seconds of processor time for the first load in a process, modules and all, and the next."""
    path = [str(Path(np.__file__).parents[1]), str(folder)]
    command = [sys.executable, "-I", "-S", "-c", _LOAD.format(path=path)]
    found = []
    for _ in range(5):
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        first, again = map(float, ran.stdout.split())
        found.append((first, again))
    return min(first for first, _ in found), min(again for _, again in found)
