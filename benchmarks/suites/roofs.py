"""What this machine can do: bytes and operations a second, measured in a process of its own."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..measure import Clock

ROWS = 10**7
SIZE = 1200


def roofs(*, all_threads: bool) -> dict[str, float]:
    from .__main__ import in_process

    found: dict[str, float] = next(in_process("roofs", {"all": all_threads}, all_threads))
    return found


def triad(a: Any, b: Any, c: Any) -> None:
    a[:] = b + 0.5 * c


def least(clock: Clock, call: Callable[..., object], *arguments: Any) -> float:
    times = []
    for _ in range(12):
        start = clock()
        call(*arguments)
        times.append(clock() - start)
    return min(times)


def main() -> None:
    """By the triad of streams, and by products of matrices that BLAS makes."""
    import fxc

    clock = time.perf_counter if json.loads(sys.argv[1])["all"] else time.process_time
    streams = [np.ones(ROWS) for _ in range(3)]
    seconds = least(clock, fxc.compile(triad), *streams)
    found = {"bytes_per_second": 24 * ROWS / seconds}
    for dtype in (np.float64, np.float32):
        a = np.ones((SIZE, SIZE), dtype)
        found[f"flops_{np.dtype(dtype).name}"] = 2 * SIZE**3 / least(clock, np.matmul, a, a)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
