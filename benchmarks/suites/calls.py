"""Functions so short that the call is most of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .program import NO_JAX, Program, randoms


def multiply_add(a: Any, b: Any) -> Any:
    return a * b + 1


def added_to(y: Any, x: Any) -> None:
    y += 1e-3 * x


def twenty(x: Any, y: Any) -> Any:
    """Twenty operators, two of them transcendental."""
    s = x * x + y * y
    d = np.sqrt(s + 1) - np.abs(x - y)
    e = np.exp(-d) * x / (s + 2)
    t = np.tanh(e + 0.5 * d)
    return np.where(t > e, t - x, e) * y


def unit(v: Any) -> Any:
    return v / np.sqrt((v * v).sum())


def turned(q: Any, v: Any) -> Any:
    """A vector by a quaternion."""
    u, s = q[1:], q[0]
    return 2 * np.dot(u, v) * u + (s * s - np.dot(u, u)) * v + 2 * s * np.cross(u, v)


def filtered(x: Any, p: Any, a: Any, h: Any, z: float) -> Any:
    """A step of Kalman's filter with two states."""
    x = a @ x
    p = a @ p @ a.T + 0.01 * np.eye(2)
    gain = p @ h / (h @ p @ h + 0.1)
    return x + gain * (z - h @ x), p - np.outer(gain, h @ p)


def corner(x: Any) -> Any:
    """Nothing but a view."""
    return x[1:-1, 1:-1].T


def area(x: Any, y: Any) -> Any:
    """Of a polygon."""
    return 0.5 * np.abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))


def kalman(r: np.random.Generator) -> Any:
    return r.random(2), np.eye(2), np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([1.0, 0.0]), 0.7


_ALL = (
    *(
        Program(
            f"a * b + 1, {size:,}",
            multiply_add,
            randoms((size,), (size,)),
            size,
            2 * size,
            24 * size,
            peers={"numexpr": "a * b + 1"},
        )
        for size in (8, 100, 1000, 10_000)
    ),
    *(
        Program(
            f"y += a * x, {size:,}",
            added_to,
            randoms((size,), (size,)),
            size,
            2 * size,
            24 * size,
            writes=(0,),
            peers={"jax": lambda y, x: y + 1e-3 * x},
        )
        for size in (8, 1000)
    ),
    Program("twenty operators, 100", twenty, randoms((100,), (100,)), 100, 2000, 2400),
    Program("unit vector, 3", unit, randoms((3,)), 3, 7, 48),
    Program("rotation by a quaternion", turned, randoms((4,), (3,)), 3, 40, 80),
    Program("Kalman filter, two states", filtered, kalman, 4, 60, 120),
    Program("a view of 8 x 8", corner, randoms((8, 8)), 36, 0, 0, peers=NO_JAX),
    Program("area of a polygon, 50", area, randoms((50,), (50,)), 50, 200, 800),
)

PROGRAMS = tuple(replace(program, all_threads=False) for program in _ALL)
