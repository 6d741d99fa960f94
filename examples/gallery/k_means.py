"""k-means: colours of an image by few, found by Lloyd's iteration until no pixel changes sides."""

import numpy as np


def k_means(points, centres):
    """Move the centres, in place, to the means of the points that are nearest; which are whose."""
    nearest = np.zeros(len(points), np.int64)
    for _ in range(100):
        before = nearest
        distances = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        nearest = distances.argmin(axis=1)
        for k in range(len(centres)):
            mine = nearest == k
            count = mine.sum()
            if count > 0:
                centres[k] = np.where(mine[:, None], points, 0.0).sum(axis=0) / count
        if (nearest == before).all():
            break
    return nearest


PROGRAM, TOLERANCE = k_means, 0.0
SIZE, QUICK_SIZE = 160, 12
COLOURS = 6


def make_inputs(size):
    """A sunset: a point of three colours for each pixel, and some pixels as centres."""
    y, x = np.mgrid[:size, :size] / size
    sun = np.exp(-60 * ((x - 0.6) ** 2 + (y - 0.55) ** 2))
    waves = 0.08 * np.sin(90 * y**2 + 3 * x) * (y > 0.65)
    image = np.stack([0.9 - 0.5 * y + sun, 0.35 + 0.3 * y**2 + sun, 0.2 + 0.6 * y], 2)
    points = (image + waves[:, :, None]).reshape(-1, 3).clip(0, 1)
    return points, points[:: len(points) // COLOURS][:COLOURS].copy()


def picture(program, size):
    """The image in six colours."""
    points, centres = make_inputs(size)
    return centres[program(points, centres)].reshape(size, size, 3)
