"""Prices of European call and put options by the formula of Black and Scholes.

One long chain of elementwise operations over a million options. NumPy has no normal distribution
function, so the program brings its own in plain NumPy, with an error below 3e-16.

Sources: F. Black and M. Scholes, J. Political Economy 81 (1973); the distribution function is the
algorithm of J. F. Hart, "Computer Approximations" (1968), no. 5666, as given by G. West, "Better
approximations to cumulative normal functions", Wilmott Magazine, May 2005. The ranges of the
inputs are those of the Black-Scholes benchmark that Numba and NumExpr use.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

RATE = 0.02
VOLATILITY = 0.30

NUMERATOR = (
    3.52624965998911e-02,
    0.700383064443688,
    6.37396220353165,
    33.912866078383,
    112.079291497871,
    221.213596169931,
    220.206867912376,
)
DENOMINATOR = (
    8.83883476483184e-02,
    1.75566716318264,
    16.064177579207,
    86.7807322029461,
    296.564248779674,
    637.333633378831,
    793.826512519948,
    440.413735824752,
)
WHERE_THE_TAIL_BEGINS = 7.07106781186547
ROOT_OF_TWO_PI = 2.506628274631


def polynomial(coefficients: tuple[float, ...], x: FloatArray) -> FloatArray:
    """Horner's rule, the highest power first."""
    total = coefficients[0] * x + coefficients[1]
    for coefficient in coefficients[2:]:
        total = total * x + coefficient
    return total


def normal_cdf(x: FloatArray) -> FloatArray:
    """Probability that a standard normal variable is at most `x`."""
    distance = np.abs(x)
    bell = np.exp(-0.5 * distance * distance)
    middle = bell * polynomial(NUMERATOR, distance) / polynomial(DENOMINATOR, distance)
    fraction = distance + 0.65
    for k in (4, 3, 2, 1):
        fraction = distance + k / fraction
    tail = bell / fraction / ROOT_OF_TWO_PI
    below = np.where(distance < WHERE_THE_TAIL_BEGINS, middle, tail)
    return np.where(x > 0, 1 - below, below)


def black_scholes(
    spot: FloatArray, strike: FloatArray, years: FloatArray, rate: float, volatility: float
) -> tuple[FloatArray, FloatArray]:
    """Return the prices of the calls and of the puts."""
    deviation = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / deviation
    d2 = d1 - deviation
    discounted = strike * np.exp(-rate * years)
    at_d1 = normal_cdf(d1)
    at_d2 = normal_cdf(d2)
    call = spot * at_d1 - discounted * at_d2
    put = discounted * (1 - at_d2) - spot * (1 - at_d1)
    return call, put


PROGRAM = black_scholes
SIZE = 1_000_000
QUICK_SIZE = 1000
CALLS = 1
# exp and log may differ from NumPy's by 2 ulp; a price is a difference of two terms that are as
# large as the largest strike, so an error is counted in ulps of the largest price.
MAX_ULPS = 16
FALLBACKS: tuple[str, ...] = ()


def describe(size: int) -> str:
    return f"{size:,} options, float64"


def make_inputs(size: int) -> tuple[Any, ...]:
    random = np.random.default_rng(1973)
    spot = random.uniform(5, 30, size)
    strike = random.uniform(1, 100, size)
    years = random.uniform(0.25, 10, size)
    return spot, strike, years, RATE, VOLATILITY


def save_picture(path: Path, program: Any, size: int) -> None:
    """Write the price of a call with strike 100 over spot price and time to maturity."""
    from matplotlib.figure import Figure  # so that the computation needs nothing but NumPy

    side = 200
    spot, years = np.meshgrid(np.linspace(50, 150, side), np.linspace(0.02, 2, side))
    strike = np.full(side * side, 100.0)
    call, _ = program(spot.ravel(), strike, years.ravel(), RATE, VOLATILITY)
    figure = Figure(figsize=(6, 4.5), layout="constrained")
    axes = figure.subplots()
    filled = axes.contourf(spot, years, call.reshape(side, side), levels=24, cmap="viridis")
    figure.colorbar(filled, label="price of the call, strike 100")
    axes.set_xlabel("spot price")
    axes.set_ylabel("years to maturity")
    figure.savefig(path, dpi=100)
