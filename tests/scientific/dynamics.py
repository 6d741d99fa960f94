"""Time steps: particles, ordinary and partial differential equations."""

from __future__ import annotations

import numpy as np

from .registry import program


@program(
    lambda r: (r.choice([-1, 1], (6, 6)), r.integers(0, 6, (40, 2)), r.random(40), 0.4),
    lambda r: (r.choice([-1, 1], (9, 9)), r.integers(0, 9, (25, 2)), r.random(25), 1.4),
)
def ising(s, sites, u, beta):
    n = s.shape[0]
    accepted = 0
    for k in range(len(u)):
        i, j = sites[k]
        nb = s[(i + 1) % n, j] + s[(i - 1) % n, j] + s[i, (j + 1) % n] + s[i, (j - 1) % n]
        dE = 2 * s[i, j] * nb
        if dE <= 0 or u[k] < np.exp(-beta * dE):
            s[i, j] *= -1
            accepted += 1
    return s, accepted


@program(lambda r: (np.arange(0, 1, 0.1), 5), lambda r: (np.linspace(0, 2, 17), 9))
def cellular_automaton_rule(x, steps):
    rule = 110
    cells = (x * 10).astype(np.uint8) % 2
    n = len(cells)
    history = np.zeros((steps, n), dtype=np.uint8)
    for t in range(steps):
        history[t] = cells
        new = np.zeros_like(cells)
        for i in range(n):
            pattern = (cells[i - 1] << 2) | (cells[i] << 1) | cells[(i + 1) % n]
            new[i] = (rule >> pattern) & 1
        cells = new
    return history
