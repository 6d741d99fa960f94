"""Operations on elements, many a statement and many statements a function."""

from __future__ import annotations

from typing import Any

import numpy as np

from .program import Arguments, Goal, Program, normals, randoms
from .sea_water import sea_water


def sea(*shape: int) -> Any:
    def make(r: np.random.Generator) -> Arguments:
        return 33 + 4 * r.random(shape), 25 * r.random(shape), 4000 * r.random(shape)

    return make


def chain(x: Any, y: Any) -> Any:
    """Ten operators, two of them transcendental."""
    u = x * y + 0.5 * x
    bell = np.exp(-u * u)
    return (np.sin(bell) + y) * 2 - x


CHAIN = "(sin(exp(-(x * y + 0.5 * x) * (x * y + 0.5 * x))) + y) * 2 - x"


def clip_multiply_add(u: Any, v: Any, w: Any) -> Any:
    return np.clip(u, 3, 12) * 4 + v * 3 + w


def gelu(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def rainbow(x: Any) -> Any:
    """Colours of numbers in [0, 1): a chain of np.where."""
    red = np.where(x < 0.35, 0.0, np.where(x < 0.66, (x - 0.35) / 0.31, 1.0))
    green = np.where(x < 0.125, 0.0, np.where(x < 0.64, (x - 0.125) / 0.515, 1.0 - x))
    blue = np.where(x < 0.34, 0.5 + x, np.where(x < 0.65, (0.65 - x) / 0.31, 0.0))
    return 0.299 * red + 0.587 * green + 0.114 * blue


def rotated(z: Any, w: Any) -> Any:
    """Complex numbers, scaled, turned and reflected."""
    turned = z * np.exp(0.3j) + w.conj() * 0.5
    return turned * turned - 2j * z.real


def quantized(x: Any, scale: float) -> Any:
    """Float32 to int8, as for the weights of a network."""
    return np.clip(np.round(x / scale), -128, 127).astype(np.int8)


def dequantized(q: Any, scale: float, zero: int) -> Any:
    return (q.astype(np.float32) - zero) * np.float32(scale)


def brighter(image: Any) -> Any:
    """Contrast and brightness of an image of bytes."""
    return np.clip(image.astype(np.float32) * 1.2 - 10, 0, 255).astype(np.uint8)


def blended(a: Any, b: Any, alpha: Any) -> Any:
    """Two images of bytes by integers alone."""
    wide = a.astype(np.uint16) * alpha + b.astype(np.uint16) * (255 - alpha)
    return ((wide + 127) // 255).astype(np.uint8)


def great_circle(lat: Any, lon: Any, lat0: float, lon0: float) -> Any:
    """Distances from one place, by haversines."""
    a = np.radians(lat - lat0)
    b = np.radians(lon - lon0)
    h = np.sin(a / 2) ** 2 + np.cos(np.radians(lat)) * np.cos(np.radians(lat0)) * np.sin(b / 2) ** 2
    return 2 * 6371.0 * np.arcsin(np.sqrt(h))


def scrambled(x: Any) -> Any:
    """Integer hash by shifts and products."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def integers(r: np.random.Generator) -> Arguments:
    return tuple(r.integers(0, 1000, (1000, 1000)) for _ in range(3))


def complexes(r: np.random.Generator) -> Arguments:
    return tuple(r.random(10**6) + 1j * r.random(10**6) for _ in range(2))


def bytes_of(*shapes: tuple[int, ...]) -> Any:
    return lambda r: tuple(r.integers(0, 256, shape).astype(np.uint8) for shape in shapes)


M = 10**6
IMAGE = (1000, 1000, 3)

PROGRAMS = (
    Program(
        "sea water, 340 operations, 32 x 32 x 4",
        sea_water,
        sea(32, 32, 4),
        4096,
        340 * 4096,
        6 * 8 * 4096,
        goal=Goal(15, all=True),
    ),
    Program(
        "sea water, 340 operations, 1e6",
        sea_water,
        sea(M),
        M,
        340 * M,
        6 * 8 * M,
        goal=Goal(40, all=True),
    ),
    Program(
        "chain of 10, 1e7 float64",
        chain,
        randoms((10 * M,), (10 * M,)),
        10 * M,
        100 * M,
        240 * M,
        peers={"numexpr": CHAIN},
    ),
    Program(
        "chain of 10, 1e7 float32",
        chain,
        randoms((10 * M,), (10 * M,), dtype=np.float32),
        10 * M,
        100 * M,
        120 * M,
    ),
    Program(
        "clip, multiply, add of int64, 1000 x 1000",
        clip_multiply_add,
        integers,
        M,
        6 * M,
        32 * M,
        goal=Goal(7),
        peers={"numexpr": "where(u < 3, 3, where(u > 12, 12, u)) * 4 + v * 3 + w"},
    ),
    Program("gelu, 1e6 float32", gelu, normals((M,), dtype=np.float32), M, 8 * M, 8 * M),
    Program("rainbow by np.where, 1e6", rainbow, randoms((M,)), M, 25 * M, 16 * M),
    Program("complex numbers turned, 1e6", rotated, complexes, M, 25 * M, 48 * M),
    Program(
        "quantize to int8, 1e6",
        quantized,
        lambda r: (r.standard_normal(M).astype(np.float32), 0.03),
        M,
        4 * M,
        5 * M,
    ),
    Program(
        "dequantize int8, 1e6",
        dequantized,
        lambda r: (r.integers(-128, 128, M).astype(np.int8), 0.03, 3),
        M,
        2 * M,
        5 * M,
    ),
    Program("contrast of bytes, 1000 x 1000 x 3", brighter, bytes_of(IMAGE), 3 * M, 12 * M, 6 * M),
    Program(
        "two images blended by integers",
        blended,
        bytes_of(IMAGE, IMAGE, IMAGE),
        3 * M,
        18 * M,
        12 * M,
    ),
    Program(
        "great-circle distances, 1e6",
        great_circle,
        lambda r: (180 * r.random(M) - 90, 360 * r.random(M) - 180, 52.5, 13.4),
        M,
        18 * M,
        24 * M,
    ),
    Program(
        "integer hash, 1e6 uint64",
        scrambled,
        lambda r: (r.integers(0, 2**63, M, dtype=np.uint64),),
        M,
        8 * M,
        16 * M,
    ),
)
