"""Elementary functions, and those of scipy.special where it is installed."""

from __future__ import annotations

import importlib.util
import math
from typing import Any

import numpy as np

from .program import Arguments, Goal, Peer, Program, normals, randoms

HAS_SCIPY = importlib.util.find_spec("scipy") is not None

if HAS_SCIPY:
    from scipy import special


def black_scholes(price: Any, strike: Any, years: Any) -> Any:
    """What a call option is worth; the rate and the volatility are the dtype's own."""
    rate, volatility, half = price.dtype.type(0.02), price.dtype.type(0.3), price.dtype.type(0.5)
    spread = volatility * np.sqrt(years)
    up = (np.log(price / strike) + (rate + half * volatility * volatility) * years) / spread
    down = up - spread
    root = np.sqrt(price.dtype.type(2))
    upper = half + half * special.erf(up / root)
    lower = half + half * special.erf(down / root)
    return price * upper - strike * np.exp(-rate * years) * lower


def black_scholes_of_numba(price: Any, strike: Any, years: Any) -> Any:
    """Numba knows nothing of scipy: elements one by one."""
    out = np.empty_like(price)
    for i in range(price.shape[0]):
        spread = 0.3 * math.sqrt(years[i])
        up = (math.log(price[i] / strike[i]) + (0.02 + 0.045) * years[i]) / spread
        down = up - spread
        upper = 0.5 + 0.5 * math.erf(up / math.sqrt(2.0))
        lower = 0.5 + 0.5 * math.erf(down / math.sqrt(2.0))
        out[i] = price[i] * upper - strike[i] * math.exp(-0.02 * years[i]) * lower
    return out


def normal_losses(x: Any, y: Any) -> Any:
    """Log-likelihood of a probit."""
    return -(y * special.log_ndtr(x) + (1 - y) * special.log_ndtr(-x)).mean()


def exact_gelu(x: Any) -> Any:
    return x * special.ndtr(x)


def log_beta(a: Any, b: Any) -> Any:
    return special.gammaln(a) + special.gammaln(b) - special.gammaln(a + b)


def entropy(x: Any) -> Any:
    return special.entr(special.expit(x)).sum()


def exponential(x: Any) -> Any:
    return np.exp(x)


def hyperbolic(x: Any) -> Any:
    return np.tanh(x)


def logarithm(x: Any) -> Any:
    return np.log(x)


def binary_logarithm(x: Any) -> Any:
    return np.log2(x)


def decimal_logarithm(x: Any) -> Any:
    return np.log10(x)


def power(x: Any, y: Any) -> Any:
    return x**y


def turns(x: Any) -> Any:
    return np.sin(x) * np.cos(x)


def polar(x: Any, y: Any) -> Any:
    return np.hypot(x, y), np.arctan2(y, x)


def inverse_turns(x: Any) -> Any:
    return np.arcsin(x) + np.arctan(x)


def soft_plus(x: Any) -> Any:
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def complex_exponential(z: Any) -> Any:
    return np.exp(z) + np.sqrt(z)


def market(dtype: Any) -> Any:
    def make(r: np.random.Generator) -> Arguments:
        arrays = 10 + 50 * r.random(10**5), 10 + 50 * r.random(10**5), 0.1 + r.random(10**5)
        return tuple(x.astype(dtype) for x in arrays)

    return make


def labels(r: np.random.Generator) -> Arguments:
    return r.standard_normal(10**5), (r.random(10**5) > 0.5).astype(np.float64)


def complexes(r: np.random.Generator) -> Arguments:
    return (r.random(10**5) + 1j * r.random(10**5),)


M, K = 10**6, 10**5
OWN: dict[str, Peer] = {"numba": black_scholes_of_numba, "numba-parallel": None}

OF_SCIPY = (
    Program(
        "Black–Scholes with erf, 1e5 float64",
        black_scholes,
        market(np.float64),
        K,
        22 * K,
        32 * K,
        goal=Goal(seconds=8e-9 * K),
        peers=OWN,
    ),
    Program(
        "Black–Scholes with erf, 1e5 float32",
        black_scholes,
        market(np.float32),
        K,
        22 * K,
        16 * K,
        goal=Goal(seconds=1.5e-9 * K),
        peers=OWN,
    ),
    Program("probit losses with log_ndtr, 1e5", normal_losses, labels, K, 9 * K, 16 * K),
    Program("gelu with ndtr, 1e6", exact_gelu, normals((M,)), M, 2 * M, 16 * M),
    Program("log beta with gammaln, 1e5", log_beta, randoms((K,), (K,)), K, 6 * K, 24 * K),
    Program("entropy with entr and expit, 1e5", entropy, normals((K,)), K, 3 * K, 8 * K),
)

ELEMENTARY = (
    (exponential, "exp", normals, 1),
    (hyperbolic, "tanh", normals, 1),
    (logarithm, "log", randoms, 1),
    (binary_logarithm, "log2", randoms, 1),
    (decimal_logarithm, "log10", randoms, 1),
    (power, "power", randoms, 2),
    (turns, "sin times cos", normals, 1),
    (polar, "hypot and arctan2", normals, 2),
    (inverse_turns, "arcsin and arctan", randoms, 1),
    (soft_plus, "log1p of exp", normals, 1),
)

PROGRAMS = (
    *(OF_SCIPY if HAS_SCIPY else ()),
    *(
        Program(
            f"{name}, 1e6 {np.dtype(dtype).name}",
            function,
            maker(*((M,),) * count, dtype=dtype),
            M,
            0,
            np.dtype(dtype).itemsize * (count + 1) * M,
        )
        for function, name, maker, count in ELEMENTARY
        for dtype in (np.float64, np.float32)
    ),
    Program("exp and sqrt of complex, 1e5", complex_exponential, complexes, K, 0, 32 * K),
)
