"""A ray marcher: rays go on by the distance to the nearest surface, until they are there.

A ring and a ball over a floor, by their distance functions. All rays of the image go together.
"""

import numpy as np


def distance(x, y, z):
    """How far a point is from the scene at least."""
    ring = np.hypot(np.hypot(x, z) - 1.0, y) - 0.35
    ball = np.sqrt(x * x + (y - 0.35) ** 2 + z * z) - 0.45
    return np.minimum(np.minimum(ring, ball), y + 0.5)


def render(size):
    """The light of each pixel."""
    v, u = np.mgrid[1 : -1 : size * 1j, -1 : 1 : size * 1j]
    length = np.sqrt(u * u + (v - 0.45) ** 2 + 2.25)
    dx, dy, dz = u / length, (v - 0.45) / length, 1.5 / length
    far = np.zeros_like(u)
    for _ in range(80):
        far += distance(far * dx, 1.4 + far * dy, -3.2 + far * dz)
    x, y, z = far * dx, 1.4 + far * dy, -3.2 + far * dz
    e = 1e-4
    here = distance(x, y, z)
    nx, ny = distance(x + e, y, z) - here, distance(x, y + e, z) - here
    nz = distance(x, y, z + e) - here
    light = (0.5 * nx + 0.7 * ny - 0.5 * nz) / e
    return np.where(far < 12.0, 0.15 + 0.85 * light.clip(0, 1), 0.0)


PROGRAM, TOLERANCE = render, 1e-10  # the slope is a small difference, over 1e-4
SIZE, QUICK_SIZE = 240, 24


def make_inputs(size):
    """The width and height of the image."""
    return (size,)


def picture(program, size):
    """The image."""
    return program(size)
