"""Forks while threads compile and call, some of it in parallel loops on memory that is kept.

    python -m tests.forking [seconds [threads]]

Each child calls what the parent has compiled, compiles for itself, also from several threads, and
says whether all is right. A child that hangs is ended by a signal, and counted.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import fxc

LIMIT = 60  # seconds that a child has


def program(k: int) -> Callable[[Any], Any]:
    """One of many functions: a loop nest, a call of NumPy, a product."""
    return lambda x: (np.sort(x * k + 1)[::-1].cumsum() @ x) + np.sqrt(np.abs(x - k)).sum()


def is_right(compiled: Callable[[Any], Any], plain: Callable[[Any], Any], size: int) -> bool:
    x = np.arange(float(size))
    return bool(compiled(x) == plain(x))


def smooth(x):
    """What takes long enough for threads, and gives a large array."""
    return np.sqrt(x[1:-1] * x[1:-1] + x[:-2] * x[2:]) * 0.5 + x[1:-1]


LARGE = np.linspace(0.5, 2.0, 600_000)
SMOOTHED = smooth(LARGE)


def is_smooth(compiled: Callable[[Any], Any]) -> bool:
    return bool(np.array_equal(compiled(LARGE), SMOOTHED))


def in_child(shared: Callable[[Any], Any], large: Callable[[Any], Any]) -> int:
    """0 if everything in a forked process is right."""
    signal.alarm(LIMIT)  # instead of hanging
    results = [is_right(shared, program(3), 5), is_right(shared, program(3), 6), is_smooth(large)]

    def work(k: int) -> None:
        results.append(is_right(fxc.compile(program(k)), program(k), 4) and is_smooth(large))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return 0 if len(results) == 5 and all(results) else 1


class Forking:
    """``threads`` compile and call without end, while the caller's forks, for some seconds."""

    def __init__(self, seconds: float, threads: int) -> None:
        self.shared, self.large = fxc.compile(program(3)), fxc.compile(smooth)
        before = fxc.get_num_threads()
        fxc.set_num_threads(max(2, before))
        self.until = time.monotonic() + seconds
        self.calls = [0] * threads
        self.wrong: list[str] = []
        self.children = 0
        self.slowest = 0.0  # seconds that a fork took
        workers = [threading.Thread(target=self.work, args=(n,)) for n in range(threads)]
        for each in workers:
            each.start()
        while time.monotonic() < self.until or not self.children:
            self.fork()
        for each in workers:
            each.join()
        fxc.set_num_threads(before)

    def work(self, number: int) -> None:
        k = number
        while time.monotonic() < self.until:
            k += len(self.calls)
            compiled = fxc.compile(program(k))
            for size in (3, 4, 4):
                if not (
                    is_right(compiled, program(k), size) and is_right(self.shared, program(3), 5)
                ):
                    self.wrong.append(f"thread {number}, function {k}")
                self.calls[number] += 2
            if not is_smooth(self.large):
                self.wrong.append(f"thread {number}, the large array")
            self.calls[number] += 1

    def fork(self) -> None:
        began = time.monotonic()
        child = os.fork()
        if child == 0:
            code = 2
            try:
                code = in_child(self.shared, self.large)
            finally:
                os._exit(code)
        self.slowest = max(self.slowest, time.monotonic() - began)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        self.children += 1
        if status:
            what = "hung" if status == -signal.SIGALRM else f"ended with {status}"
            self.wrong.append(f"child {self.children} {what}")


def main() -> int:
    seconds, threads = (*map(float, sys.argv[1:]), *(60.0, 8.0)[len(sys.argv) - 1 :])
    run = Forking(seconds, int(threads))
    print(
        f"{seconds:.0f} s, {int(threads)} threads: {run.children} forks, {sum(run.calls)} calls in "
        f"threads, the slowest fork took {run.slowest:.2f} s; wrong or hung: {len(run.wrong)}"
    )
    for each in run.wrong[:20]:
        print(" ", each)
    return 1 if run.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
