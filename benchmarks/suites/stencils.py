"""Values by their neighbours: slices that are shifted, np.roll, boundaries, time steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import ocean
from .program import NO_JAX, Arguments, Goal, Program, randoms


def jacobi(a: Any, b: Any, steps: int) -> None:
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (
            a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1]
        )
        a[1:-1, 1:-1] = 0.2 * (
            b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1]
        )


def jacobi_of_jax(a: Any, b: Any, steps: int) -> Any:
    import jax

    def sweep(x: Any, y: Any) -> Any:
        inner = x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1]
        return y.at[1:-1, 1:-1].set(0.2 * inner)

    def step(_: Any, pair: Any) -> Any:
        b = sweep(pair[0], pair[1])
        return sweep(b, pair[0]), b

    return jax.lax.fori_loop(0, steps, step, (a, b))


def five_points(a: Any, b: Any) -> None:
    b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    a[...] = b


def five_points_of_jax(a: Any, b: Any) -> Any:
    inner = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    b = b.at[1:-1, 1:-1].set(inner)
    return b, b


def five_points_in_one(a: Any) -> None:
    a[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])


def five_points_in_one_of_jax(a: Any) -> Any:
    inner = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    return a.at[1:-1, 1:-1].set(inner)


def limited_diffusion(u: Any, k: Any) -> Any:
    """A second difference of what a limiter leaves of the first ones, by four stages."""
    second = 4.0 * u[1:-1, 1:-1] - (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    down = second[1:, 1:-1] - second[:-1, 1:-1]
    down = np.where(down * (u[2:-1, 2:-2] - u[1:-2, 2:-2]) > 0, 0.0, down)
    along = second[1:-1, 1:] - second[1:-1, :-1]
    along = np.where(along * (u[2:-2, 2:-1] - u[2:-2, 1:-2]) > 0, 0.0, along)
    change = down[1:] - down[:-1] + along[:, 1:] - along[:, :-1]
    return u[2:-2, 2:-2] - k * change


def vertical_advection(u: Any, w: Any, tendency: Any, dt: float) -> Any:
    """Implicit in the vertical: for each column a tridiagonal system, by levels."""
    levels = u.shape[2]
    upper = np.zeros_like(u)
    right = np.zeros_like(u)
    for k in range(levels):
        above = 0.25 * dt * (w[1:, :, k + 1] + w[:-1, :, k + 1])
        below = 0.25 * dt * (w[1:, :, k] + w[:-1, :, k])
        value = u[:, :, k] + dt * tendency[:, :, k]
        if k == 0:
            pivot = 1.0 / (1.0 + above)
            upper[:, :, k] = above * pivot
            right[:, :, k] = value * pivot
        else:
            pivot = 1.0 / (1.0 + above - below + below * upper[:, :, k - 1])
            upper[:, :, k] = above * pivot
            right[:, :, k] = (value + below * right[:, :, k - 1]) * pivot
    new = np.empty_like(u)
    new[:, :, levels - 1] = right[:, :, levels - 1]
    for k in range(levels - 2, -1, -1):
        new[:, :, k] = right[:, :, k] - upper[:, :, k] * new[:, :, k + 1]
    return new


def maxwell(ex: Any, ey: Any, hz: Any, steps: int) -> None:
    """Finite differences in time (FDTD), with a source in the middle."""
    for t in range(steps):
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] += 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ey[1:, :-1] - ey[:-1, :-1] - ex[:-1, 1:] + ex[:-1, :-1])
        hz[hz.shape[0] // 2, hz.shape[1] // 2] += np.sin(0.1 * t)


def maxwell_of_jax(ex: Any, ey: Any, hz: Any, steps: int) -> Any:
    import jax

    def step(t: Any, fields: Any) -> Any:
        ex, ey, hz = fields
        ey = ey.at[1:, :].add(-0.5 * (hz[1:, :] - hz[:-1, :]))
        ex = ex.at[:, 1:].add(0.5 * (hz[:, 1:] - hz[:, :-1]))
        change = ey[1:, :-1] - ey[:-1, :-1] - ex[:-1, 1:] + ex[:-1, :-1]
        hz = hz.at[:-1, :-1].add(-0.7 * change)
        return ex, ey, hz.at[hz.shape[0] // 2, hz.shape[1] // 2].add(np.sin(0.1 * t))

    return jax.lax.fori_loop(0, steps, step, (ex, ey, hz))


def reaction(u: Any, v: Any) -> Any:
    """A step of Gray and Scott's reaction and diffusion on a torus."""
    around_u = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u
    around_v = np.roll(v, 1, 0) + np.roll(v, -1, 0) + np.roll(v, 1, 1) + np.roll(v, -1, 1) - 4 * v
    eaten = u * v * v
    return u + 0.16 * around_u - eaten + 0.035 * (1 - u), v + 0.08 * around_v + eaten - 0.095 * v


def life(g: Any) -> Any:
    """A generation of the game of life inside of a dead border."""
    n = (
        g[:-2, :-2] + g[:-2, 1:-1] + g[:-2, 2:] + g[1:-1, :-2]
        + g[1:-1, 2:] + g[2:, :-2] + g[2:, 1:-1] + g[2:, 2:]
    )  # fmt: skip
    new = np.zeros_like(g)
    new[1:-1, 1:-1] = (n == 3) | ((n == 2) & (g[1:-1, 1:-1] == 1))
    return new


def life_of_jax(g: Any) -> Any:
    n = (
        g[:-2, :-2] + g[:-2, 1:-1] + g[:-2, 2:] + g[1:-1, :-2]
        + g[1:-1, 2:] + g[2:, :-2] + g[2:, 1:-1] + g[2:, 2:]
    )  # fmt: skip
    alive = (n == 3) | ((n == 2) & (g[1:-1, 1:-1] == 1))
    return np.zeros_like(g).at[1:-1, 1:-1].set(alive.astype(g.dtype))


def edges(x: Any) -> Any:
    """Sobel's filter of an image."""
    across = x[:-2, 2:] - x[:-2, :-2] + 2 * (x[1:-1, 2:] - x[1:-1, :-2]) + x[2:, 2:] - x[2:, :-2]
    down = x[2:, :-2] - x[:-2, :-2] + 2 * (x[2:, 1:-1] - x[:-2, 1:-1]) + x[2:, 2:] - x[:-2, 2:]
    return np.sqrt(across * across + down * down)


def blurred(x: Any, weights: Any) -> Any:
    """A separable filter: rows first, then columns."""
    radius = weights.shape[0] // 2
    padded = np.pad(x, radius, mode="edge")
    rows = np.zeros_like(padded[:, : x.shape[1]])
    for i in range(weights.shape[0]):
        rows = rows + weights[i] * padded[:, i : i + x.shape[1]]
    columns = np.zeros_like(x)
    for i in range(weights.shape[0]):
        columns = columns + weights[i] * rows[i : i + x.shape[0], :]
    return columns


def filtered(x: Any, kernel: Any) -> Any:
    """A filter of 5 x 5 by shifted slices."""
    out = np.zeros((x.shape[0] - 4, x.shape[1] - 4))
    for i in range(5):
        for j in range(5):
            out += kernel[i, j] * x[i : i + out.shape[0], j : j + out.shape[1]]
    return out


def tracer_step(c: Any, u: Any, dt: float) -> Any:
    """Upwind advection with a minmod limiter along the last axis."""
    left = c[:, 1:-1] - c[:, :-2]
    right = c[:, 2:] - c[:, 1:-1]
    smaller = np.where(np.abs(left) < np.abs(right), left, right)
    slope = np.where(left * right > 0, smaller, 0.0)
    face = c[:, 1:-1] + 0.5 * (1 - u[:, 1:-1] * dt) * slope
    flux = u[:, 1:-1] * face
    return c[:, 2:-1] - dt * (flux[:, 1:] - flux[:, :-1])


def columns(r: np.random.Generator) -> Arguments:
    return r.random((64, 64, 40)), r.random((65, 64, 41)), r.random((64, 64, 40)), 0.1


def gaussian(r: np.random.Generator) -> Arguments:
    weights = np.exp(-0.5 * (np.arange(-4, 5) / 1.5) ** 2)
    return r.random((512, 512)), weights / weights.sum()


M = 10**6
CELLS = 128 * 128 * 80

PROGRAMS = (
    Program(
        "jacobi, 1000 x 1000, 50 steps",
        jacobi,
        lambda r: (*randoms((1000, 1000), (1000, 1000))(r), 50),
        100 * M,
        500 * M,
        50 * 32 * M,
        writes=(0, 1),
        goal=Goal(seconds=45e-3),
        peers={"jax": jacobi_of_jax},
    ),
    Program(
        "5 points and back, 2048 x 2048",
        five_points,
        randoms((2048, 2048), (2048, 2048)),
        2048**2,
        4 * 2048**2,
        24 * 2048**2,
        writes=(0, 1),
        peers={"jax": five_points_of_jax},
    ),
    Program(
        "5 points in one array, 2048 x 2048",
        five_points_in_one,
        randoms((2048, 2048)),
        2048**2,
        4 * 2048**2,
        16 * 2048**2,
        writes=(0,),
        peers={"jax": five_points_in_one_of_jax},
    ),
    Program(
        "diffusion with limiters, 128 x 128 x 80",
        limited_diffusion,
        randoms((132, 132, 80), (128, 128, 80)),
        CELLS,
        19 * CELLS,
        24 * CELLS,
        goal=Goal(20, all=True),
    ),
    Program(
        "vertical advection, 64 x 64 x 40",
        vertical_advection,
        columns,
        64 * 64 * 40,
        18 * 64 * 64 * 40,
        32 * 64 * 64 * 40,
        peers=NO_JAX,
    ),
    *(
        Program(
            f"mixing of an ocean, {name}",
            ocean.mixing,
            ocean.basin(rows, 16),
            rows * rows * 16,
            80 * rows * rows * 16,
            8 * 14 * rows * rows * 16,
            writes=(1, 3, 4, 5, 6, 7),
            fresh=True,
            goal=Goal(times, all=True),
            peers={"jax": ocean.mixing_of_jax},
        )
        for name, rows, times in (("4 Ki", 16, 10), ("64 Ki", 64, 8), ("1 Mi", 256, 8))
    ),
    Program(
        "Maxwell's equations, 400 x 500, 5 steps",
        maxwell,
        lambda r: (*randoms((400, 500), (400, 500), (400, 500))(r), 5),
        5 * 200_000,
        5 * 11 * 200_000,
        5 * 48 * 200_000,
        writes=(0, 1, 2),
        fresh=True,
        peers={"jax": maxwell_of_jax},
    ),
    Program(
        "reaction and diffusion by np.roll, 512 x 512",
        reaction,
        randoms((512, 512), (512, 512)),
        2**18,
        25 * 2**18,
        32 * 2**18,
    ),
    Program(
        "game of life, 1024 x 1024 bytes",
        life,
        lambda r: (r.integers(0, 2, (1024, 1024)).astype(np.uint8),),
        2**20,
        12 * 2**20,
        2 * 2**20,
        peers={"jax": life_of_jax},
    ),
    Program(
        "edges of an image, 1024 x 1024 float32",
        edges,
        randoms((1024, 1024), dtype=np.float32),
        2**20,
        16 * 2**20,
        8 * 2**20,
    ),
    Program(
        "blurred by 9 + 9 weights, 512 x 512",
        blurred,
        gaussian,
        2**18,
        36 * 2**18,
        16 * 2**18,
    ),
    Program(
        "filter of 5 x 5 by slices, 512 x 512",
        filtered,
        randoms((512, 512), (5, 5)),
        2**18,
        50 * 2**18,
        16 * 2**18,
    ),
    Program(
        "advection with minmod, 1000 x 1000",
        tracer_step,
        lambda r: (*randoms((1000, 1000), (1000, 1000))(r), 0.1),
        M,
        14 * M,
        24 * M,
    ),
)
