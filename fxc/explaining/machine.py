"""How fast this machine moves memory and computes: the roof that no loop nest gets above."""

from __future__ import annotations

from functools import cache
from time import perf_counter

import numpy as np

from fxc.ir.records import frozen
from fxc.lowering.machine.target import Target

_FAR, _NEAR = 1 << 25, 1 << 17  # bytes of an array: more than most caches hold, and much less


@frozen
class Roof:
    """Bytes a second of memory and of the caches, and operations, for one thread."""

    memory: float
    cache: float
    operations: float

    def seconds(self, moved: int, operations: int, is_far: bool) -> tuple[float, bool]:
        """How long that takes at least, and whether it is moving that takes longer."""
        moving = moved / (self.memory if is_far else self.cache)
        computing = operations / self.operations
        return max(moving, computing), moving >= computing


def roof(target: Target) -> Roof:
    """That of this machine: bytes as measured now, operations as fxc estimates them."""
    return Roof(_rate(_FAR, 3), _rate(_NEAR, 300), 1e12 / target.costs.operation)


@cache
def _rate(size: int, times: int) -> float:
    """Bytes a second that are read and written, as a copy of so many does it."""
    given, taken = np.ones(size // 8), np.zeros(size // 8)
    best = float("inf")
    for _ in range(times):
        start = perf_counter()
        np.copyto(taken, given)
        best = min(best, perf_counter() - start)
    return 2 * size / best
