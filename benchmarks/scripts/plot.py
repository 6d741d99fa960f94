"""A pattern of reaction and diffusion, drawn by matplotlib into a file."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np


def laplacian(a):
    return np.roll(a, 1, 0) + np.roll(a, -1, 0) + np.roll(a, 1, 1) + np.roll(a, -1, 1) - 4 * a


def react(u, v, feed, kill):
    """A step of Gray and Scott, in place."""
    uvv = u * v * v
    u += 0.16 * laplacian(u) - uvv + feed * (1 - u)
    v += 0.08 * laplacian(v) + uvv - (feed + kill) * v


def main(steps=5_000, n=160):
    u, v = np.ones((n, n)), np.zeros((n, n))
    u[n // 2 - 8 : n // 2 + 8, n // 2 - 8 : n // 2 + 8] = 0.5
    v[n // 2 - 8 : n // 2 + 8, n // 2 - 8 : n // 2 + 8] = 0.25
    for _ in range(steps):
        react(u, v, 0.035, 0.060)
    figure, axes = plt.subplots()
    axes.imshow(v, cmap="magma")
    axes.set_title(f"after {steps} steps")
    figure.savefig("pattern.png", metadata={"Software": None})
    print(v.sum(), figure)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
