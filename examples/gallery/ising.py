"""The Ising model: spins in a plane, cooled below the temperature at which they line up.

A sweep of Metropolis, the black squares of the chessboard first, then the white ones: neighbours
never change at the same time. The draws are those of the Generator that is passed.
"""

import numpy as np


def sweep(spins, rng, temperature):
    """Offer each spin a flip once; the magnetization afterwards."""
    rows, columns = np.indices(spins.shape)
    for colour in (0, 1):
        around = np.roll(spins, 1, 0) + np.roll(spins, -1, 0)
        around += np.roll(spins, 1, 1) + np.roll(spins, -1, 1)
        cost = 2 * spins * around
        taken = rng.random(spins.shape) < np.exp(-cost / temperature)
        spins[taken & ((rows + columns) % 2 == colour)] *= -1
    return spins.mean()


PROGRAM, TOLERANCE = sweep, 0.0
SIZE, QUICK_SIZE = 256, 24


def make_inputs(size):
    """Spins at random, of an even number in each direction."""
    rng = np.random.default_rng(5)
    return rng.choice([-1.0, 1.0], (size, size)), rng, 1.6


def picture(program, size):
    """Domains after 120 sweeps."""
    spins, rng, temperature = make_inputs(size)
    for _ in range(120):
        program(spins, rng, temperature)
    return spins
