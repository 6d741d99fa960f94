"""What is bound by memory: streams, copies, gathers, scatters, layouts, large temporaries."""

from __future__ import annotations

from typing import Any

import numpy as np

from .program import Arguments, Program, randoms


def added_to(y: Any, x: Any) -> None:
    y += 1e-3 * x


def triad(a: Any, b: Any, c: Any) -> None:
    a[:] = b + 0.5 * c


def triad_of_jax(a: Any, b: Any, c: Any) -> Any:
    return b + 0.5 * c


def multiply_add(a: Any, b: Any) -> Any:
    return a * b + 1


def with_transposed(x: Any) -> Any:
    return x + x.T


def reordered(x: Any) -> Any:
    """Images with channels last to channels first."""
    return x.transpose(0, 3, 1, 2).copy()


def joined(x: Any, y: Any) -> Any:
    return np.concatenate((x * 2, y + 1))


def stacked(x: Any, y: Any) -> Any:
    return np.stack((np.sqrt(x), x * y, y * y), axis=-1)


def padded(x: Any) -> Any:
    return np.pad(x * 2, 2)


def gathered(x: Any, places: Any) -> Any:
    return x[places] * 2 + 1


def scattered(out: Any, places: Any, values: Any) -> None:
    np.add.at(out, places, values)


def scattered_of_jax(out: Any, places: Any, values: Any) -> Any:
    return out.at[places].add(values)


def counted(places: Any, weights: Any) -> Any:
    return np.bincount(places, weights=weights, minlength=1000)


def compressed(x: Any) -> Any:
    return x[(x > 0.25) & (x < 0.75)] * 2


def many_temporaries(x: Any) -> Any:
    a = x + 1
    b = a * x
    c = b - a
    d = c * c + b
    return d / (a + 2)


def gray(image: Any) -> Any:
    return 0.299 * image[..., 0] + 0.587 * image[..., 1] + 0.114 * image[..., 2]


def every_other(x: Any) -> Any:
    return x[::2] + x[1::2]


def masked_write(x: Any) -> None:
    x[x > 0.5] = 0.5


def masked_write_of_jax(x: Any) -> Any:
    return np.where(x > 0.5, 0.5, x)


def rows_by_index(table: Any, rows: Any) -> Any:
    """An embedding: rows of a table, and their mean."""
    return table[rows].mean(axis=1)


def places(r: np.random.Generator) -> Arguments:
    return r.random(10**6), r.integers(0, 10**6, 10**6)


M = 10**6

PROGRAMS = (
    Program(
        "y += a * x, 1e7 float32",
        added_to,
        randoms((10 * M,), (10 * M,), dtype=np.float32),
        10 * M,
        20 * M,
        120 * M,
        writes=(0,),
        peers={"jax": lambda y, x: y + 1e-3 * x},
    ),
    Program(
        "a[:] = b + c / 2, 1e7",
        triad,
        randoms((10 * M,), (10 * M,), (10 * M,)),
        10 * M,
        20 * M,
        240 * M,
        writes=(0,),
        peers={"jax": triad_of_jax},
    ),
    Program(
        "a * b + 1, 1e7",
        multiply_add,
        randoms((10 * M,), (10 * M,)),
        10 * M,
        20 * M,
        240 * M,
        peers={"numexpr": "a * b + 1"},
    ),
    Program(
        "five statements, 1e7",
        many_temporaries,
        randoms((10 * M,)),
        10 * M,
        70 * M,
        160 * M,
        peers={"numexpr": "(((x + 1) * x - (x + 1)) ** 2 + (x + 1) * x) / (x + 3)"},
    ),
    Program("x + x.T, 1000 x 1000", with_transposed, randoms((1000, 1000)), M, M, 16 * M),
    Program(
        "channels first, 8 x 256 x 256 x 3 float32",
        reordered,
        randoms((8, 256, 256, 3), dtype=np.float32),
        8 * 3 * 2**16,
        0,
        64 * 3 * 2**16,
    ),
    Program("np.concatenate of two, 1e6", joined, randoms((M,), (M,)), 2 * M, 2 * M, 32 * M),
    Program("np.stack of three, 1e6", stacked, randoms((M,), (M,)), 3 * M, 3 * M, 40 * M),
    Program("np.pad by zeros, 1000 x 1000", padded, randoms((1000, 1000)), M, M, 16 * M),
    Program("gather and scale, 1e6", gathered, places, M, 2 * M, 24 * M),
    Program(
        "np.add.at, 1e6 into 1000",
        scattered,
        lambda r: (np.zeros(1000), r.integers(0, 1000, M), r.random(M)),
        M,
        M,
        16 * M,
        writes=(0,),
        fresh=True,
        peers={"jax": scattered_of_jax},
    ),
    Program(
        "np.bincount with weights, 1e6",
        counted,
        lambda r: (r.integers(0, 1000, M), r.random(M)),
        M,
        M,
        16 * M,
        peers={"jax": lambda i, w: np.bincount(i, weights=w, length=1000)},
    ),
    Program(
        "those between two bounds, 1e6",
        compressed,
        randoms((M,)),
        M,
        4 * M,
        12 * M,
        peers={"jax": None},
    ),
    Program("gray of colours, 1000 x 1000 x 3", gray, randoms((1000, 1000, 3)), M, 5 * M, 32 * M),
    Program("sum of neighbours, 1e6", every_other, randoms((M,)), M // 2, M // 2, 12 * M),
    Program(
        "x[x > a] = a, 1e6",
        masked_write,
        randoms((M,)),
        M,
        M,
        16 * M,
        writes=(0,),
        fresh=True,
        peers={"jax": masked_write_of_jax},
    ),
    Program(
        "mean of 8 rows of a table, 10000 x 64 float32",
        rows_by_index,
        lambda r: (r.random((10_000, 64), np.float32), r.integers(0, 10_000, (4096, 8))),
        4096 * 8 * 64,
        4096 * 8 * 64,
        4 * 4096 * 9 * 64,
    ),
)
