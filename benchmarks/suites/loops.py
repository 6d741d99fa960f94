"""Loops of the user, over array statements and over elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..loop_programs import PROGRAMS as LOOP_PROGRAMS
from ..loop_programs import LoopProgram
from .program import NO_JAX, Arguments, Goal, Program, randoms


def go_fast(a: Any) -> Any:
    """A matrix and the sum of tanh along its diagonal."""
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


def go_fast_of_jax(a: Any) -> Any:
    return a + np.tanh(np.diag(a)).sum()


def rings(values: Any, radii: Any, bins: int) -> Any:
    """Means of rings: a mask for each."""
    largest = radii.max()
    means = np.zeros(bins)
    for i in range(bins):
        inside = (radii >= largest * i / bins) & (radii < largest * (i + 1) / bins)
        means[i] = values[inside].mean()
    return means


def rings_of_jax(values: Any, radii: Any, bins: int) -> Any:
    import jax

    def mean(i: Any) -> Any:
        inside = (radii >= radii.max() * i / bins) & (radii < radii.max() * (i + 1) / bins)
        return np.mean(values, where=inside)

    return jax.lax.map(mean, np.arange(bins))


def radix_fft(x: Any, radix: int) -> Any:
    """Stockham's by reshapes: no bit reversal, one small transform for each digit."""
    digits = np.arange(radix)
    small = np.exp(-2j * np.pi * np.outer(digits, digits) / radix)
    done, left = 1, x.size
    while left > 1:
        left //= radix
        parts = x.reshape(radix, left, done)
        turns = np.exp(-2j * np.pi * np.outer(digits, np.arange(done)) / (radix * done))
        parts = parts * turns[:, None, :]
        mixed = small @ parts.reshape(radix, left * done)
        x = mixed.reshape(radix, left, done).transpose(1, 0, 2).reshape(-1)
        done *= radix
    return x


def escapes(c: Any, steps: int) -> Any:
    """The set of Mandelbrot by arrays and a mask."""
    z = np.zeros_like(c)
    count = np.zeros(c.shape, dtype=np.int64)
    for k in range(steps):
        inside = np.abs(z) < 2.0
        count[inside] = k
        z[inside] = z[inside] ** 2 + c[inside]
    return count


def bodies(mass: Any, position: Any, velocity: Any, steps: int) -> Any:
    """Gravity of all upon all, by leapfrog."""
    for _ in range(steps):
        apart = position[None, :, :] - position[:, None, :]
        cubed = ((apart**2).sum(axis=-1) + 0.01) ** -1.5
        pull = (apart * (mass * cubed)[:, :, None]).sum(axis=1)
        velocity = velocity + 0.01 * pull
        position = position + 0.01 * velocity
    return position, velocity


def smoothed(x: Any) -> Any:
    """An exponential moving average."""
    y = np.empty_like(x)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = 0.9 * y[i - 1] + 0.1 * x[i]
    return y


def integrals(f: Any, steps: int) -> Any:
    """Runge and Kutta's method for many pendulums at once."""
    angle, speed = f.copy(), np.zeros_like(f)
    h = 0.01
    for _ in range(steps):
        a1, s1 = speed, -np.sin(angle)
        a2, s2 = speed + 0.5 * h * s1, -np.sin(angle + 0.5 * h * a1)
        a3, s3 = speed + 0.5 * h * s2, -np.sin(angle + 0.5 * h * a2)
        a4, s4 = speed + h * s3, -np.sin(angle + h * a3)
        angle = angle + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        speed = speed + h / 6 * (s1 + 2 * s2 + 2 * s3 + s4)
    return angle, speed


def seidel(a: Any, sweeps: int) -> None:
    """Rows by array statements as far as that goes, the rest element by element."""
    for _ in range(sweeps):
        for i in range(1, a.shape[0] - 1):
            a[i, 1:-1] += a[i - 1, :-2] + a[i - 1, 1:-1] + a[i - 1, 2:]
            a[i, 1:-1] += a[i, 2:] + a[i + 1, :-2] + a[i + 1, 1:-1] + a[i + 1, 2:]
            for j in range(1, a.shape[1] - 1):
                a[i, j] = (a[i, j] + a[i, j - 1]) / 9.0


def plane(r: np.random.Generator) -> Arguments:
    y, x = np.mgrid[-1:1:200j, -1.75:0.25:200j]
    return x + 1j * y, 30


def galaxy(r: np.random.Generator) -> Arguments:
    return (*randoms((100,), (100, 3), (100, 3))(r), 10)


def signal(r: np.random.Generator) -> Arguments:
    return r.random(4**6) + 1j * r.random(4**6), 4


def textbook(program: LoopProgram) -> Program:
    """One of those that tests run, too."""
    writes = {"heat_1d": (0,), "jacobi_2d": (0, 1), "heat_3d": (0,), "double_buffer": (0, 1)}
    writes |= {"gauss_seidel": (0,), "lu": (0,), "floyd_warshall": (0,), "fft_in_place": (0,)}
    writes |= {"k_means": (1,)}
    name = program.function.__name__

    def arguments(r: np.random.Generator) -> Arguments:
        return program.arguments(r, program.large)

    return Program(
        f"{name.replace('_', ' ')}, {program.large:,}",
        program.function,
        arguments,
        program.large,
        writes=writes.get(name, ()),
        fresh=name in writes,
        all_threads=False,
        peers=NO_JAX,
    )


M = 10**6

PROGRAMS = (
    Program(
        "trace of tanh, 1000 x 1000",
        go_fast,
        randoms((1000, 1000)),
        M,
        M,
        16 * M,
        goal=Goal(4),
        peers={"jax": go_fast_of_jax},
    ),
    Program(
        "means of 100 rings, a mask each, 1e5",
        rings,
        lambda r: (r.random(10**5), r.random(10**5), 100),
        100 * 10**5,
        5 * 100 * 10**5,
        100 * 16 * 10**5,
        goal=Goal(6),
        peers={"jax": rings_of_jax},
    ),
    Program(
        "radix-4 FFT by reshapes, 4096",
        radix_fft,
        signal,
        4096,
        8.5 * 4096 * 6,
        32 * 4096,
        goal=Goal(3),
        peers={"jax": radix_fft},
    ),
    Program(
        "set of Mandelbrot by masks, 200 x 200",
        escapes,
        plane,
        30 * 40_000,
        30 * 11 * 40_000,
        30 * 40 * 40_000,
        peers=NO_JAX,
    ),
    Program(
        "100 bodies, 10 steps",
        bodies,
        galaxy,
        10 * 10_000,
        10 * 20 * 10_000,
        10 * 100 * 7 * 16,
    ),
    Program(
        "exponential average, 1e5", smoothed, randoms((10**5,)), 10**5, 3e5, 16e5, peers=NO_JAX
    ),
    Program(
        "10,000 pendulums, 100 steps",
        integrals,
        lambda r: (3 * r.random(10_000), 100),
        M,
        38 * M,
        32 * M,
        peers=NO_JAX,
    ),
    Program(
        "sweeps by rows and elements, 100 x 100",
        seidel,
        lambda r: (r.random((100, 100)), 9),
        9 * 10_000,
        9 * 9 * 10_000,
        9 * 16 * 10_000,
        writes=(0,),
        fresh=True,
        peers=NO_JAX,
    ),
    *map(textbook, LOOP_PROGRAMS),
)
