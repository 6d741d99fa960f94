"""What this machine can do: bytes and operations a second, measured in a process of its own."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

ROWS = 10**7
SIZE = 1200


def roofs(*, all_threads: bool) -> dict[str, float]:
    from .__main__ import in_process

    found: dict[str, float] = next(in_process("roofs", {}, all_threads))
    return found


def triad(a: Any, b: Any, c: Any) -> None:
    a[:] = b + 0.5 * c


def least(call: Callable[..., object], *arguments: Any) -> float:
    times = []
    for _ in range(12):
        start = time.perf_counter()
        call(*arguments)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """By the triad of streams, and by products of matrices that BLAS makes."""
    import fxc

    streams = [np.ones(ROWS) for _ in range(3)]
    seconds = least(fxc.compile(triad), *streams)
    found = {"bytes_per_second": 24 * ROWS / seconds}
    for dtype in (np.float64, np.float32):
        a = np.ones((SIZE, SIZE), dtype)
        found[f"flops_{np.dtype(dtype).name}"] = 2 * SIZE**3 / least(np.matmul, a, a)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
