"""What can only be measured in a process of its own; prints numbers as JSON.

`python -m benchmarks.child import|first-call|memory CONTENDER`
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .contenders import Contestant, compiled, use_one_thread
from .measure import first_call
from .suites.calls import twenty
from .suites.pointwise import CHAIN, chain
from .suites.program import Program, randoms

ELEMENTS = 10_000_000


def another_twenty(x: Any, y: Any) -> Any:
    """Twenty operators in another order, so that nothing compiled before can be used again."""
    p = (x + y) * (x - y) + 3
    q = np.sqrt(np.abs(p)) / (y * y + 1)
    r = np.sin(q * 2) + np.log(p * p + 1)
    m = np.minimum(r, q) - 0.75 * x
    return m * (1 + q)


def import_seconds(name: str) -> list[float]:
    """NumPy is imported already, by the top of this module."""
    start = time.perf_counter()
    importlib.import_module(name)
    return [time.perf_counter() - start]


def first_call_seconds(name: str) -> list[float]:
    """The first call of a function of 20 operators in this process, and of a second function.

    Importing the contender and LLVM is not counted, starting LLVM is.
    """
    importlib.import_module(name)
    if name == "fxc":
        importlib.import_module("llvmlite.binding")
    x, y = np.linspace(0, 1, 1000), np.linspace(1, 2, 1000)

    def seconds(function: Callable[..., Any]) -> float:
        def run() -> object:
            result = compiled(name, function)(x, y)
            return result.block_until_ready() if name == "jax" else result

        return first_call(run)

    return [seconds(function) for function in (twenty, another_twenty)]


def peak_megabytes(name: str) -> list[float]:
    """Memory at its highest during a chain on 1e7 float64, above what the process had before.

    So the arguments are not in it. A first run on few elements keeps the compiler's own out, too.
    """
    program = Program("", chain, randoms((1000,), (1000,)), 1000, peers={"numexpr": CHAIN})
    Contestant(name, program, program.arguments(np.random.default_rng(0))).call()
    many = Contestant(name, program, (np.full(ELEMENTS, 0.5), np.full(ELEMENTS, 0.25)))
    before = memory_bytes("VmRSS")
    result = many.call()
    assert result.shape == (ELEMENTS,)
    return [(memory_bytes("VmHWM") - before) / 1e6]


def memory_bytes(field: str) -> int:
    """A line of Linux's account of this process; getrusage also counts what the parent had."""
    lines = Path("/proc/self/status").read_text().splitlines()
    line = next(line for line in lines if line.startswith(f"{field}:"))
    return 1024 * int(line.split()[1])


MEASURES = {"import": import_seconds, "first-call": first_call_seconds, "memory": peak_megabytes}

if __name__ == "__main__":
    use_one_thread()
    json.dump(MEASURES[sys.argv[1]](sys.argv[2]), sys.stdout)
