"""Sums, extremes, scans, and what people make of them: softmax, statistics, histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from .program import Goal, Program, normals, randoms


def total(x: Any) -> Any:
    return x.sum()


def column_sums(x: Any) -> Any:
    return x.sum(axis=0)


def column_means(x: Any) -> Any:
    return x.mean(axis=0)


def standardized(x: Any) -> Any:
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)


def standardized_columns(x: Any) -> Any:
    return (x - x.mean(axis=0)) / x.std(axis=0)


def layer_norm(x: Any, gain: Any, bias: Any) -> Any:
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5) * gain + bias


def batch_norm(x: Any, gain: Any, bias: Any) -> Any:
    """Over all but the channels, which are the second axis."""
    mean = x.mean(axis=(0, 2, 3), keepdims=True)
    variance = x.var(axis=(0, 2, 3), keepdims=True)
    return gain[:, None, None] * (x - mean) / np.sqrt(variance + 1e-5) + bias[:, None, None]


def softmax_of_rows(x: Any) -> Any:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def softmax(x: Any) -> Any:
    powers = np.exp(x - x.max())
    return powers / powers.sum()


def log_sum_exp(x: Any) -> Any:
    peak = x.max()
    return peak + np.log(np.exp(x - peak).sum())


def distances(x: Any, y: Any) -> Any:
    """Of all pairs of points."""
    return np.sqrt(((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=-1))


def nearest(x: Any, centres: Any) -> Any:
    return ((x[:, None, :] - centres[None, :, :]) ** 2).sum(axis=-1).argmin(axis=1)


def mean_of_positive(x: Any) -> Any:
    return x[x > 0].mean()


def sign_changes(x: Any) -> Any:
    return np.count_nonzero(np.diff(np.sign(x)))


def scaled_to_range(x: Any) -> Any:
    low, high = x.min(), x.max()
    return (x - low) / (high - low)


def moving_average(x: Any, width: int) -> Any:
    sums = np.cumsum(np.concatenate((np.zeros(1), x)))
    return (sums[width:] - sums[:-width]) / width


def price_paths(z: Any) -> Any:
    """Geometric Brownian motion of many assets."""
    return 100 * np.exp(np.cumsum(0.0001 + 0.0126 * z, axis=1))


def drawdown(x: Any) -> Any:
    """The largest loss since a peak."""
    peaks = np.maximum.accumulate(x)
    return ((peaks - x) / peaks).max()


def mean_without_nan(x: Any) -> Any:
    return np.nanmean(x), np.nanstd(x)


def radial_means(values: Any, radii: Any, bins: int) -> Any:
    """Mean of values by radius, with np.histogram."""
    count, _ = np.histogram(radii, bins)
    weight, _ = np.histogram(radii, bins, weights=values)
    return weight / count


def radial_means_of_jax(values: Any, radii: Any, bins: int) -> Any:
    return np.histogram(radii, bins, weights=values)[0] / np.histogram(radii, bins)[0]


def row_places(x: Any) -> Any:
    return x.argmax(axis=1)


def with_nans(r: np.random.Generator) -> Any:
    x = r.random(10**6)
    x[r.random(10**6) < 0.1] = np.nan
    return (x,)


M = 10**6
F32 = np.float32

PROGRAMS = (
    Program(
        "sum, 1e7",
        total,
        randoms((10 * M,)),
        10 * M,
        10 * M,
        80 * M,
        peers={"numexpr": "sum(x)"},
    ),
    Program(
        "sum over axis 0, 4096 x 4096 float32",
        column_sums,
        randoms((4096, 4096), dtype=F32),
        4096**2,
        4096**2,
        4 * 4096**2,
        goal=Goal(1.0),
    ),
    Program(
        "mean over axis 0, 4096 x 4096 float32",
        column_means,
        randoms((4096, 4096), dtype=F32),
        4096**2,
        4096**2,
        4 * 4096**2,
        goal=Goal(1.0),
    ),
    Program(
        "rows standardized, 2048 x 2048 float32",
        standardized,
        randoms((2048, 2048), dtype=F32),
        2048**2,
        7 * 2048**2,
        8 * 2048**2,
    ),
    Program(
        "columns standardized, 10000 x 50",
        standardized_columns,
        randoms((10000, 50)),
        500_000,
        7 * 500_000,
        16 * 500_000,
    ),
    Program(
        "layer norm, 512 x 768 float32",
        layer_norm,
        lambda r: tuple(r.random(s, F32) for s in ((512, 768), 768, 768)),
        512 * 768,
        8 * 512 * 768,
        8 * 512 * 768,
    ),
    Program(
        "batch norm, 32 x 16 x 32 x 32 float32",
        batch_norm,
        lambda r: tuple(r.random(s, F32) for s in ((32, 16, 32, 32), 16, 16)),
        2**19,
        8 * 2**19,
        8 * 2**19,
    ),
    Program(
        "softmax of rows, 2048 x 2048 float32",
        softmax_of_rows,
        randoms((2048, 2048), dtype=F32),
        2048**2,
        5 * 2048**2,
        8 * 2048**2,
    ),
    Program(
        "softmax, 1e7",
        softmax,
        randoms((10 * M,)),
        10 * M,
        50 * M,
        160 * M,
        goal=Goal(seconds=12e-3),
    ),
    Program(
        "log-sum-exp, 1e7",
        log_sum_exp,
        randoms((10 * M,)),
        10 * M,
        40 * M,
        80 * M,
        goal=Goal(seconds=6e-3),
    ),
    Program(
        "distances of all pairs, 500 x 500 x 3",
        distances,
        randoms((500, 3), (500, 3)),
        250_000,
        9 * 250_000,
        8 * 250_000,
    ),
    Program(
        "nearest of 8 centres, 5000 x 16",
        nearest,
        randoms((5000, 16), (8, 16)),
        5000 * 8 * 16,
        3 * 5000 * 8 * 16,
        8 * 5000 * 17,
    ),
    Program(
        "mean of the positive ones, 1e6",
        mean_of_positive,
        normals((M,)),
        M,
        2 * M,
        8 * M,
        peers={"jax": lambda x: np.mean(x, where=x > 0)},
    ),
    Program("changes of sign, 1e6", sign_changes, normals((M,)), M, 3 * M, 8 * M),
    Program("scaled to its range, 1e6", scaled_to_range, normals((M,)), M, 4 * M, 16 * M),
    Program(
        "moving average by np.cumsum, 1e6",
        moving_average,
        lambda r: (r.random(M), 50),
        M,
        3 * M,
        16 * M,
    ),
    Program(
        "price paths, 1000 x 252",
        price_paths,
        normals((1000, 252)),
        252_000,
        5 * 252_000,
        16 * 252_000,
    ),
    Program(
        "drawdown, 1e6",
        drawdown,
        lambda r: (r.random(M) + 10,),
        M,
        4 * M,
        8 * M,
        peers={"jax": None},
    ),
    Program("mean and deviation without nan, 1e6", mean_without_nan, with_nans, M, 6 * M, 8 * M),
    Program(
        "means by radius, np.histogram, 4e5",
        radial_means,
        lambda r: (r.random(400_000), r.random(400_000), 1000),
        400_000,
        8 * 400_000,
        16 * 400_000,
        goal=Goal(6),
        peers={"jax": radial_means_of_jax},
    ),
    Program("places of row maxima, 2000 x 500", row_places, randoms((2000, 500)), M, M, 8 * M),
)
