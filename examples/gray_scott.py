"""Reaction and diffusion of two chemicals (the Gray-Scott model), stepped in place.

Two fields `u` and `v` diffuse, react (u + 2v -> 3v), and are fed and drained. The program is a time
step that writes its result into its arguments, called in a Python loop, as such codes are written:
five-point stencils by slices, `+=` on the inside of each field, then the periodic border.

Source: P. Gray and S. K. Scott, Chem. Eng. Sci. 39 (1984); the parameters and the pictures follow
J. E. Pearson, "Complex patterns in a simple system", Science 261 (1993). The form with slices is
the one of N. P. Rougier, "From Python to NumPy" (2017), chapter 4.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

DIFFUSION_U = 0.16
DIFFUSION_V = 0.08
FEED = 0.060
KILL = 0.062


def step(u: FloatArray, v: FloatArray, feed: float, kill: float) -> None:
    """Advance both fields by one unit of time, in place."""
    inner_u = u[1:-1, 1:-1]
    inner_v = v[1:-1, 1:-1]
    laplace_u = u[:-2, 1:-1] + u[1:-1, :-2] - 4 * inner_u + u[1:-1, 2:] + u[2:, 1:-1]
    laplace_v = v[:-2, 1:-1] + v[1:-1, :-2] - 4 * inner_v + v[1:-1, 2:] + v[2:, 1:-1]
    reaction = inner_u * inner_v * inner_v
    inner_u += DIFFUSION_U * laplace_u - reaction + feed * (1 - inner_u)
    inner_v += DIFFUSION_V * laplace_v + reaction - (feed + kill) * inner_v
    for field in (u, v):
        field[0, :] = field[-2, :]
        field[-1, :] = field[1, :]
        field[:, 0] = field[:, -2]
        field[:, -1] = field[:, 1]


PROGRAM = step
SIZE = 512
QUICK_SIZE = 34
CALLS = 10  # time steps in one timed run
MAX_ULPS = 0  # additions, subtractions and products only, in the user's order
FALLBACKS: tuple[str, ...] = ()


def describe(size: int) -> str:
    return f"{size} x {size} float64, {CALLS} steps"


def make_inputs(size: int) -> tuple[Any, ...]:
    """Fields at rest but for some noise and the squares, here and there, where it all starts."""
    random = np.random.default_rng(1984)
    u = 1 - 0.02 * random.random((size, size))
    v = 0.02 * random.random((size, size))
    for row, column in random.integers(2, size - 10, (size // 8, 2)):
        u[row : row + 8, column : column + 8] = 0.50
        v[row : row + 8, column : column + 8] = 0.25
    return u, v, FEED, KILL


def save_picture(path: Path, program: Any, size: int, steps: int = 4000) -> None:
    """Run `steps` time steps with `program` and write the field `v` as a picture."""
    from matplotlib.image import imsave  # so that the computation needs nothing but NumPy

    u, v, feed, kill = make_inputs(size)
    for _ in range(steps):
        program(u, v, feed, kill)
    imsave(path, v[1:-1, 1:-1], cmap="magma")
