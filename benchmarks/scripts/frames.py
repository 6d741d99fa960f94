"""A generator of frames of Conway's game of life, consumed by another one."""

import sys

import numpy as np


def live(cells):
    """The next frame."""
    padded = np.pad(cells, 1, mode="wrap")
    around = np.zeros_like(cells)
    for i in (0, 1, 2):
        for j in (0, 1, 2):
            if (i, j) != (1, 1):
                around += padded[i : i + cells.shape[0], j : j + cells.shape[1]]
    return ((around == 3) | ((cells == 1) & (around == 2))).astype(cells.dtype)


def frames(cells, count):
    for _ in range(count):
        cells = live(cells)
        yield cells


def counted(found, every):
    for number, cells in enumerate(found):
        if number % every == 0:
            yield number, int(cells.sum())


def main(count=50_000, n=200):
    cells = (np.random.default_rng(1).random((n, n)) < 0.3).astype(np.uint8)
    for number, alive in counted(frames(cells, count), max(count // 10, 1)):
        print(f"{number}: {alive}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
