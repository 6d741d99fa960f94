"""Gravity among N bodies: all pairs by broadcasting, positions and velocities changed in place.

Every pair's difference is an (N, 1) array minus a (1, N) array. Plain NumPy fills some twenty
arrays of N x N for it; not one of them is needed. The force is softened at short distance, so that
a body's pull on itself is zero without a special case. A step is a kick followed by a drift
(symplectic Euler).

Sources: S. J. Aarseth, "Gravitational N-Body Simulations" (2003), chapter 2, for the softened
force; the initial state, two discs on a passing orbit, follows A. and J. Toomre, "Galactic bridges
and tails", Astrophysical Journal 178 (1972).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

SOFTENING = 0.05
TIME_STEP = 0.01


def step(positions: FloatArray, velocities: FloatArray, masses: FloatArray, dt: float) -> None:
    """Advance by `dt`; positions and velocities are (3, N)."""
    x, y, z = positions[0], positions[1], positions[2]
    dx = x[None, :] - x[:, None]
    dy = y[None, :] - y[:, None]
    dz = z[None, :] - z[:, None]
    squared = dx * dx + dy * dy + dz * dz + SOFTENING**2
    pull = masses / (squared * np.sqrt(squared))
    velocities[0] += dt * (pull * dx).sum(axis=1)
    velocities[1] += dt * (pull * dy).sum(axis=1)
    velocities[2] += dt * (pull * dz).sum(axis=1)
    positions += dt * velocities


PROGRAM = step
SIZE = 1024
QUICK_SIZE = 60
CALLS = 1
MAX_ULPS = 0  # arithmetic and square roots, and sums in NumPy's own order
FALLBACKS: tuple[str, ...] = ()


def describe(size: int) -> str:
    return f"{size} bodies, float64"


def disc(
    size: int, centre: tuple[float, float, float], drift: tuple[float, float, float], seed: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A heavy body with `size - 1` light ones on circular orbits around it."""
    random = np.random.default_rng(seed)
    radius = np.sqrt(random.uniform(0.05, 1, size))
    angle = random.uniform(0, 2 * np.pi, size)
    speed = radius / (radius**2 + SOFTENING**2) ** 0.75
    positions = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros(size)])
    velocities = np.stack([-speed * np.sin(angle), speed * np.cos(angle), np.zeros(size)])
    masses = np.full(size, 0.02 / size)
    positions[:, 0], velocities[:, 0], masses[0] = 0, 0, 1
    return positions + np.array(centre)[:, None], velocities + np.array(drift)[:, None], masses


def make_inputs(size: int) -> tuple[Any, ...]:
    first = disc(size // 2, (-1.6, -0.7, 0.0), (0.45, 0.0, 0.1), seed=1972)
    second = disc(size - size // 2, (1.6, 0.7, 0.0), (-0.45, 0.0, -0.1), seed=1973)
    positions, velocities, masses = (
        np.concatenate(pair, axis=-1) for pair in zip(first, second, strict=True)
    )
    return positions, velocities, masses, TIME_STEP


def save_picture(path: Path, program: Any, size: int, steps: int = 400) -> None:
    """Run `steps` time steps with `program` and write where the bodies are, before and after."""
    from matplotlib.figure import Figure  # so that the computation needs nothing but NumPy

    positions, velocities, masses, dt = make_inputs(size)
    before = positions.copy()
    for _ in range(steps):
        program(positions, velocities, masses, dt)
    figure = Figure(figsize=(10, 5), facecolor="black", layout="constrained")
    for axes, (x, y, _) in zip(figure.subplots(1, 2), (before, positions), strict=True):
        axes.scatter(x, y, s=2, c=np.arange(size) < size // 2, cmap="coolwarm")
        axes.set(xlim=(-3.5, 3.5), ylim=(-3.5, 3.5), aspect="equal")
        axes.set_axis_off()
    figure.savefig(path, dpi=100)
