"""`python -m benchmarks.scaling`: a stencil over chunks, by NumPy and by fxc, on Dask's workers.

The same cluster of processes runs both, in turns; the throughput is that of the whole
`map_overlap`, what Dask itself takes included.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import dask.array
import numpy as np
from dask.distributed import Client, LocalCluster

import fxc

STEPS = 8


@fxc.compile(dynamic=True)
def gray_scott(both: Any) -> Any:
    """Steps of two substances that react and diffuse, `both` of shape (2, n, m)."""
    u, v = both.copy()
    for _ in range(STEPS):
        inner_u, inner_v = u[1:-1, 1:-1], v[1:-1, 1:-1]
        spread_u = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * inner_u
        spread_v = v[2:, 1:-1] + v[:-2, 1:-1] + v[1:-1, 2:] + v[1:-1, :-2] - 4 * inner_v
        reaction = inner_u * inner_v * inner_v
        inner_u += 0.16 * spread_u - reaction + 0.035 * (1 - inner_u)
        inner_v += 0.08 * spread_v + reaction - 0.1 * inner_v
    return np.stack((u, v))


def plain(both: Any) -> Any:
    """The same in NumPy."""
    return gray_scott.__fxc_original__(both)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="processes")
    parser.add_argument("--chunks", type=int, default=200)
    parser.add_argument("--size", type=int, default=512, help="rows and columns of a chunk")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    size = options.size
    gray_scott.inspect(np.ones((2, size, size)))  # compiled once, here; nothing is run
    print(f"{options.chunks} chunks of 2 x {size} x {size} float64, {STEPS} steps a chunk\n")
    print("workers   NumPy, chunks/s   fxc, chunks/s   ratio   compiled in workers")
    for workers in options.workers:
        with (
            LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None, memory_limit=0
            ) as cluster,
            Client(cluster) as client,
        ):
            shape = (2, size * options.chunks, size)
            data = dask.array.random.random(shape, chunks=(2, size, size)).persist()
            per_second: dict[Any, list[float]] = {plain: [], gray_scott: []}
            for _ in range(options.repeats):
                for function, found in per_second.items():
                    begun = time.perf_counter()
                    blocks = data.map_overlap(
                        function,
                        depth=(0, STEPS, 0),
                        boundary="none",
                        dtype=data.dtype,
                        meta=np.empty((0, 0, 0)),
                    )
                    blocks.sum().compute()
                    found.append(options.chunks / (time.perf_counter() - begun))
            numpys, ours = map(statistics.median, per_second.values())
            captures = sum(client.run(_captures).values())
            print(
                f"{workers:7}   {numpys:15.1f}   {ours:13.1f}   {ours / numpys:4.2f}x   {captures}"
            )


def _captures() -> int:
    from fxc.calling.compiling import captures_begun

    return captures_begun()


if __name__ == "__main__":
    main()
