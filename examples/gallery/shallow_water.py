"""Shallow water: a drop falls into a square basin, and its waves are thrown back by the walls.

The linear equations on a staggered grid: heights in the middles of cells, speeds on their edges.
All three arrays are changed in place; at the walls the speeds stay zero.
"""

import numpy as np

GRAVITY, DEPTH = 9.81, 1.0


def step(h, u, v, dt):
    """Advance by ``dt``: speeds by slopes, then heights by what flows in and out."""
    u[1:-1] -= dt * GRAVITY * (h[1:] - h[:-1])
    v[:, 1:-1] -= dt * GRAVITY * (h[:, 1:] - h[:, :-1])
    h -= dt * DEPTH * (u[1:] - u[:-1] + v[:, 1:] - v[:, :-1])


PROGRAM, TOLERANCE = step, 0.0
SIZE, QUICK_SIZE = 300, 30


def make_inputs(size):
    """A drop beside the middle, and water at rest."""
    x, y = np.mgrid[:size, :size] / size
    h = np.exp(-400 * ((x - 0.4) ** 2 + (y - 0.3) ** 2))
    return h, np.zeros((size + 1, size)), np.zeros((size, size + 1)), 0.2


def picture(program, size):
    """The heights after a while."""
    h, u, v, dt = make_inputs(size)
    for _ in range(size):
        program(h, u, v, dt)
    return h
