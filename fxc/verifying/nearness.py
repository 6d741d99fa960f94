"""How far results may be apart where native code has functions that may round otherwise.

See Note [Nearness].
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from fxc.ir.evaluate import KernelOf
from fxc.ir.objects import is_writeable
from fxc.ops.kernels import kernel_of
from fxc.ops.operators import COMPUTING
from fxc.ops.table import TABLE

from .bits import ulps_apart

# Note [Nearness]
# Elementary functions have bounds (docs/numerics.md), and what is computed of them has none:
# ``exp(x) - exp(y)`` may be wrong in all of its bits. So what differs by more than a few ulps is
# evaluated again from the captured graph, by NumPy, some times, the result of each operator moved
# at random by a few ulps. An element may be off by some times as much as it has moved then. Where
# none of native code's functions is its own, nothing may be off. Each second run moves against the
# one before: what is clipped at 0, say, may move one way alone, and many elements may lie there.

_FREELY = 16.0  # ulps that are near in any case: twice what two libraries may err by
_MOVED = 8.0  # ulps, at most, half of it at least
_TIMES = 4.0  # as far as elements have moved
_RUNS, _LEAST, _SECONDS = 12, 6, 2.0  # the least if they take longer

Arrays = Mapping[str, np.ndarray]


class Nearness:
    """Whether arrays are near to NumPy's; ``moved`` runs the call with some kernels, and gives what
    is seen then by place, or None where that fails.
    """

    def __init__(self, moved: Callable[[KernelOf], Arrays | None]) -> None:
        self._moved = moved
        self._runs: list[Arrays | None] | None = None

    def __call__(self, where: str, a: np.ndarray, b: np.ndarray) -> bool:
        """Whether ``b`` is near enough to what NumPy has."""
        if a.dtype.kind in "fc" and ulps_apart(a, b) <= _FREELY:
            return True
        if a.dtype.kind not in "fciub":
            return False
        if self._runs is None:
            self._runs = list(self._made())
        wide = np.clongdouble if a.dtype.kind == "c" else np.longdouble
        spread = np.zeros(a.shape, np.longdouble)
        with np.errstate(all="ignore"):
            for run in self._runs:
                found = None if run is None else run.get(where)
                if found is None or found.shape != a.shape:
                    return True  # it may go another way, and so may native code
                spread = np.fmax(spread, np.abs(found.astype(wide) - a.astype(wide)))
            gap = np.abs(a.astype(wide) - b.astype(wide))
            least = _FREELY * np.spacing(np.abs(a)) if a.dtype.kind == "f" else 0.0
            near = (a == b) | (gap <= np.fmax(_TIMES * spread, least))
        if a.dtype.kind in "fc":
            near |= np.isnan(a) & np.isnan(b)
        return bool(near.all())

    def _made(self) -> Iterator[Arrays | None]:
        start = time.perf_counter()
        for seed in range(_RUNS):
            yield self._moved(_moving(seed))
            if time.perf_counter() - start > _SECONDS and seed + 1 >= _LEAST:
                return


def _moving(seed: int) -> KernelOf:
    """NumPy's kernels, with results moved a little: an odd seed against the one before."""
    rng = np.random.default_rng(seed // 2)
    signs = (-1.0, 1.0) if seed % 2 else (1.0, -1.0)

    def moved(x: Any) -> Any:
        if isinstance(x, tuple | list):
            return type(x)(map(moved, x))
        is_array, dtype = isinstance(x, np.ndarray), getattr(x, "dtype", None)
        if isinstance(x, float | complex) and dtype is None:
            return type(x)(moved(np.asarray(x)).item())
        if dtype is None or dtype.kind not in "fc":
            return x
        by = rng.uniform(_MOVED / 2, _MOVED, np.shape(x)) * rng.choice(signs, np.shape(x))
        with np.errstate(all="ignore"):
            eps = np.finfo(dtype).eps
            found = np.asarray(x * (1 + by * eps)).astype(dtype)
            found = np.where(np.isfinite(x), found, x).astype(dtype)
        if not is_array:
            return dtype.type(found)
        if not is_writeable(x):
            return x
        x[...] = found  # in place: it may be a result that is written into
        return x

    def kernels(name: str) -> Callable[..., Any]:
        kernel = kernel_of(name)
        if TABLE[name].tag not in COMPUTING:
            return kernel
        return lambda *args: moved(kernel(*args))

    return kernels
