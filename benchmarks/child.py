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

from .cases import (
    CHAIN_EXPRESSION,
    Case,
    another_chain_of_twenty,
    chain,
    chain_of_twenty,
    random_arrays,
)
from .contenders import compiled, prepare, use_one_thread
from .measure import first_call

ELEMENTS = 10_000_000


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

    return [seconds(function) for function in (chain_of_twenty, another_chain_of_twenty)]


def peak_megabytes(name: str) -> list[float]:
    """Memory at its highest during a chain on 1e7 float64, above what the process had before.

    A first run on few elements keeps the compiler's own memory out of it.
    """
    few = Case("", "", chain, random_arrays((1000,), (1000,)), expression=CHAIN_EXPRESSION)
    prepare(name, few, few.inputs())()
    before = memory_bytes("VmRSS")
    many = (np.full(ELEMENTS, 0.5), np.full(ELEMENTS, 0.25))
    result = prepare(name, few, many)()
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
