"""The programs that tests export to each target: loops, branches, writes, aliases, linear algebra.

Some stand here, most are those that other tests run as whole programs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import fxc
from fxc.exported.program import ExportedProgram
from tests.scientific import dynamics, linear_algebra, numbers, searches, signals, statistics
from tests.scientific.registry import PROGRAMS as SCIENTIFIC
from tests.wild.programs import PROGRAMS as WILD

_SCIENTIFIC = (dynamics, linear_algebra, numbers, searches, signals, statistics)

# Of the programs of `tests/wild`, with their small sizes.
FROM_WILD = [
    "around.finals",
    "around.muscl",
    "astronomy.radial_velocity",
    "astronomy.orbital_elements",
    "astronomy.lomb_scargle",
    "biology.life_by_slices",
    "chemistry.reactor",
    "columns.book_risk",
    "earth.geodetic_ecef_roundtrip",
    "filters.ekf_landmarks",
    "filters.lms",
    "finance.rolling_beta",
    "finance.greeks",
    "images.canny",
    "images.flood_fill",
    "images.rgb_to_hsv",
    "learning.hmm_forward",
    "learning.viterbi",
    "oceans.tidal_basis",
    "oceans.perez_sky",
    "oceans.energy_balance",
    "optimisation.conjugate_gradient",
    "particles.lbm_cavity",
    "physics.heat_implicit",
    "physics.mass_properties",
    "robots.rotations",
    "simulations.queue_sim",
    "simulations.pid_sim",
    "statistics.kernel_density",
    "texts.modpow",
]

FROM_SCIENTIFIC = [
    "ising",
    "cellular_automaton_rule",
    "gaussian_elimination",
    "givens_qr",
    "sor",
    "power_iteration_to_tolerance",
    "coo_to_csr",
    "kalman_filter",
    "brent",
    "primes_by_trial",
    "union_find",
    "bubble_sort",
    "matrix_chain",
    "walsh_hadamard_with_reshapes",
    "sphere_marching",
    "mandelbrot_with_masks",
    "box_filter_with_cut_windows",
    "american_put",
    "lasso_coordinate_descent",
    "value_iteration",
]


@dataclass(frozen=True)
class Example:
    """A function, and what makes arguments for it: of the types that are exported, other values.

    ``rtol`` bounds the difference from NumPy where elementary functions are called, relative to the
    largest element of an array; without it every bit has to agree.
    """

    name: str
    function: Callable[..., Any]
    arguments: Callable[[int], tuple[Any, ...]]
    rtol: float


def relax(u, f):
    v = u[1:-1]
    new = 0.5 * (u[:-2] + u[2:]) - f
    err = np.abs(new - v).mean()
    v += 0.5 * (new - v)
    return err, u[0]


def heat(u, steps):
    old = u
    for _ in range(steps):
        new = old.copy()
        new[1:-1, 1:-1] += 0.1 * (old[2:, 1:-1] + old[:-2, 1:-1] - 2 * old[1:-1, 1:-1])
        new[1:-1, 1:-1] += 0.1 * (old[1:-1, 2:] + old[1:-1, :-2] - 2 * old[1:-1, 1:-1])
        old, new = new, old
    u[...] = old


def views_of_the_argument(a):
    row = a[1]
    a.T[0] *= 2.0
    row += 1.0
    return row, a.T, a


def the_same_array_twice(x, y):
    x -= y
    y *= x
    total = x + y
    return total, total, total[::2]


def clamp_in_place(x, low, high):
    x[x < low] = low
    np.minimum(x, high, out=x)
    return np.count_nonzero(x == high)


def adam_step(w, g, m, v, t):
    m += 0.1 * (g - m)
    v += 0.001 * (g * g - v)
    step = m / (1 - 0.9**t)
    w -= 1e-2 * step / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)


def histogram_by_loop(x, bins):
    counts = np.zeros(bins, dtype=np.int64)
    for value in x:
        counts[min(int(value * bins), bins - 1)] += 1
    return counts


def collatz(n):
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def mlp(x, w1, b1, w2, b2):
    hidden = np.maximum(x @ w1 + b1, np.float32(0))
    scores = hidden @ w2 + b2
    scores -= scores.max(axis=1, keepdims=True)
    e = np.exp(scores)
    return e / e.sum(axis=1, keepdims=True)


def moving_mean(x, width):
    total = np.cumsum(x)
    total[width:] = total[width:] - total[:-width]
    return total[width - 1 :] / width


def _own(name: str, make: Callable[[np.random.Generator], tuple[Any, ...]], rtol: float) -> Example:
    return Example(name, globals()[name], lambda seed: make(np.random.default_rng(seed)), rtol)


def _f32(r: np.random.Generator, *shape: int) -> np.ndarray:
    return r.standard_normal(shape, dtype=np.float32)


OWN = (
    _own("relax", lambda r: (r.random(30), r.random(28)), 0),
    _own("heat", lambda r: (r.random((9, 11)), 7), 0),
    _own("views_of_the_argument", lambda r: (r.random((4, 5)),), 0),
    _own("the_same_array_twice", lambda r: (r.random(9), r.random(9)), 0),
    _own("clamp_in_place", lambda r: (r.random(40), 0.25, 0.75), 0),
    _own("adam_step", lambda r: (*(r.random(50) for _ in range(4)), 3), 1e-12),
    _own("histogram_by_loop", lambda r: (r.random(60), 8), 0),
    _own("collatz", lambda r: (int(r.integers(2, 1000)),), 0),
    _own(
        "mlp",
        lambda r: (_f32(r, 6, 8), _f32(r, 8, 16), _f32(r, 16), _f32(r, 16, 4), _f32(r, 4)),
        1e-5,
    ),
    _own("moving_mean", lambda r: (r.random(50), 7), 0),
)


def _from_wild() -> list[Example]:
    known = {each.name: each for each in WILD}
    return [
        Example(
            name,
            known[name].function,
            lambda seed, p=known[name]: p.arguments(seed, p.small),
            known[name].rtol,
        )
        for name in FROM_WILD
    ]


def _from_scientific() -> list[Example]:
    known = {each.function.__name__: each for each in SCIENTIFIC}
    return [
        Example(
            name,
            known[name].function,
            lambda seed, p=known[name]: p.makes[0](np.random.default_rng(seed)),
            known[name].ulps * 2.0**-52,
        )
        for name in FROM_SCIENTIFIC
    ]


EXAMPLES: tuple[Example, ...] = (*OWN, *_from_wild(), *_from_scientific())


@cache
def exported(example: Example) -> ExportedProgram:
    """The program for the first arguments: one for the tests of all targets."""
    return fxc.export(example.function, *example.arguments(0))
