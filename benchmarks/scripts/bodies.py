"""Bodies that attract each other: broadcasting, sums, functions in a list."""

import sys

import numpy as np


def forces(positions, masses):
    """The acceleration of each body."""
    apart = positions[None, :, :] - positions[:, None, :]
    square = (apart**2).sum(axis=2) + 1e-3
    return (apart * (masses[None, :] / (square * np.sqrt(square)))[:, :, None]).sum(axis=1)


def leapfrog(positions, speeds, masses, dt):
    """One step, in place."""
    speeds += 0.5 * dt * forces(positions, masses)
    positions += dt * speeds
    speeds += 0.5 * dt * forces(positions, masses)


STEPS = [leapfrog]


def main(steps=15_000, bodies=60):
    rng = np.random.default_rng(7)
    positions, speeds = rng.normal(size=(2, bodies, 3))
    masses = rng.uniform(0.1, 1.0, bodies)
    for number in range(steps):
        STEPS[0](positions, speeds, masses, 1e-3)
        if number % 1_000 == 0:
            print(number, repr((masses[:, None] * speeds).sum(axis=0)))
    print(positions[:3], STEPS[0].__name__, leapfrog.__doc__)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
