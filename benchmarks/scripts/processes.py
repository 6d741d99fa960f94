"""Work in the processes of a pool, and a sum of it here."""

import multiprocessing
import sys

import numpy as np


def walk(seed):
    """The ends of random walks, in a process of the pool."""
    rng = np.random.default_rng(seed)
    return rng.choice((-1.0, 1.0), size=(200, 400)).sum(axis=1)


def spread(total, kernel):
    """Mix what has come together, here."""
    for _ in range(30):
        padded = np.concatenate((total[-1:], total, total[:1]))
        total = kernel[0] * padded[:-2] + kernel[1] * padded[1:-1] + kernel[2] * padded[2:]
    return total


def main(rounds=20_000):
    kernel = np.array([0.1, 0.8, 0.1])
    with multiprocessing.get_context("fork").Pool(2) as pool:
        ends = pool.map(walk, range(40))
    total = np.sum(ends, axis=0)
    for _ in range(rounds):
        total = spread(total, kernel)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        again = pool.map(walk, range(2))
    print(total[:4], [float(each.sum()) for each in again], multiprocessing.parent_process())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
