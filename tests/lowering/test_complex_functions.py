"""Vector math of complex numbers: each part against 80-bit references, and NumPy's special values.

Every function is compiled for one lane and for a full vector, for this processor and for lesser
ones: its bits are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fxc
from fxc.lowering import vector_math
from tests.lowering.test_vector_math import EXTENDED, any_bits, errors_in_ulps
from tests.outcomes import difference, run
from tests.vector_functions import (
    DTYPES,
    LANES,
    Floats,
    has_the_same_bits_everywhere,
    over_all_exponents,
    runner,
    same_bits,
    special_values,
)

COUNT = 4000
COMPLEX = {"f64": np.complex128, "f32": np.complex64}
# Of the real part and of the imaginary part, in ulps.
BOUNDS = {
    ("exp", "f64"): (2.5, 2.5), ("exp", "f32"): (0.6, 0.6), ("log", "f64"): (0.8, 2.0),
    ("log", "f32"): (0.8, 2.0), ("sqrt", "f64"): (2.2, 2.2), ("sqrt", "f32"): (2.2, 2.2),
}  # fmt: skip
CASES = list(BOUNDS)


def joined(kind: str, parts: Any) -> np.ndarray[Any, Any]:
    found = np.empty(len(parts[0]), COMPLEX[kind])
    found.real, found.imag = parts
    return found


def inputs(kind: str) -> tuple[Floats, Floats]:
    """The parts of numbers of all sizes and angles, of a length that is a multiple of the lanes."""
    dtype, rng = DTYPES[kind], np.random.default_rng(0)
    info = np.finfo(dtype)
    angle = rng.uniform(0, 2 * np.pi, COUNT)
    near = 1 + rng.integers(-3, 4, COUNT) * info.eps  # beside the unit circle
    high, low = info.maxexp * np.log(2), (info.minexp - info.nmant) * np.log(2)
    edge = np.float64(2.0) ** rng.choice([-401, -400, 499, 500, -41, -40, 59, 60], COUNT)
    pairs = [
        (rng.uniform(-3, 3, COUNT), rng.uniform(-7, 7, COUNT)),
        (over_all_exponents(dtype, rng, COUNT), over_all_exponents(dtype, rng, COUNT)),
        (any_bits(dtype, rng), any_bits(dtype, rng)),
        (rng.uniform(low - 2, high + 2, COUNT), rng.uniform(-1000, 1000, COUNT)),
        # Where e**x is infinite and a part is not, since the sine is small.
        (rng.uniform(high - 1, 2.2 * high, COUNT), over_all_exponents(dtype, rng, COUNT)),
        (np.cos(angle) * near, np.sin(angle) * near),
        (rng.choice([-1, 1], COUNT), over_all_exponents(dtype, rng, COUNT)),
        (edge * rng.uniform(0.5, 2, COUNT), edge * rng.uniform(-2, 2, COUNT)),
        tuple(each.ravel() for each in np.meshgrid(*[special_values(dtype)] * 2)),
    ]
    with np.errstate(over="ignore", under="ignore"):
        columns = [np.concatenate([np.asarray(pair[i], dtype) for pair in pairs]) for i in (0, 1)]
    extra = -len(columns[0]) % 16
    x, y = (np.concatenate([each, each[:extra]]) for each in columns)
    return x, y


def test_all_pairs_have_a_bound() -> None:
    assert {f"complex_{name}" for name, _ in BOUNDS} == vector_math.PAIRS
    assert len(BOUNDS) == 2 * len(vector_math.PAIRS)


@pytest.mark.skipif(not EXTENDED, reason="longdouble is no wider than float64")
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_error_of_each_part_stays_within_bound(name: str, kind: str) -> None:
    x, y = inputs(kind)
    z = np.empty(len(x), np.clongdouble)
    z.real, z.imag = x, y
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(z)
        found = runner(f"complex_{name}", kind, LANES[kind])(x, y)
        parts = zip(found, (exact.real, exact.imag), BOUNDS[name, kind], strict=True)
        for got, wanted, bound in parts:
            # Where the other part is nan, C leaves the sign of a zero or infinity open.
            finite = np.isfinite(wanted) & ~np.isnan(exact)
            errors = np.where(finite, errors_in_ulps(got, wanted), 0)
            worst = int(np.argmax(errors))
            assert errors[worst] <= bound, [float(each[worst]).hex() for each in (x, y)]


@pytest.mark.bits
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_specials_are_those_of_numpy(name: str, kind: str) -> None:
    x, y = inputs(kind)
    found = runner(f"complex_{name}", kind, LANES[kind])(x, y)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(joined(kind, (x, y)))
    tiny = 4 * np.finfo(DTYPES[kind]).smallest_subnormal
    for got, wanted in zip(found, (expected.real, expected.imag), strict=True):
        # The least numbers may be rounded to zero, or not; the largest to infinity.
        rounded = (np.abs(got) <= tiny) & (np.abs(wanted) <= tiny)
        special = ~np.isfinite(wanted) | ~np.isfinite(got) | (wanted == 0) | (got == 0)
        apart = special & ~same_bits(got, wanted)
        wrong = np.flatnonzero(apart & ~(rounded & (x != 0) & (y != 0)))
        assert not len(wrong), [(x[i], y[i], got[i], wanted[i]) for i in wrong[:5]]
        assert (np.isnan(got) | (np.signbit(got) == np.signbit(wanted))).all()


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_processors_and_lanes_do_not_matter(name: str, kind: str) -> None:
    x, y = (each[:: len(each) // 1600] for each in inputs(kind))
    x, y = (np.concatenate([each[-1200:], each])[: len(each) // 16 * 16] for each in (x, y))
    expected = runner(f"complex_{name}", kind, LANES[kind])(x, y)
    assert has_the_same_bits_everywhere(f"complex_{name}", kind, (x, y), expected)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_in_programs(dtype: str) -> None:
    """Layouts, tails, one part alone, scalars, in place and in loops: the same bits each."""
    rng = np.random.default_rng(1)
    z = (rng.standard_normal(71) + 1j * rng.standard_normal(71)).astype(dtype)

    def alone(z: Any) -> Any:
        return np.exp(z), np.log(z), np.sqrt(z)

    def often(z: Any, out: Any) -> Any:
        found = [
            np.exp(z).real + 0,
            np.log(z).imag + 0,
            np.sqrt(z[::-2]),
            np.exp(z.reshape(1, -1).T),
        ]
        found += [np.log(z[3:4]), np.sqrt(z[:0]), np.exp(z[5]), np.log(z[70]), np.sqrt(z[1, ...])]
        np.exp(z, out=out[::2])
        for k in range(3):
            out[k] = np.sqrt(z[k])
        np.log(z[:9], out=z[:9])
        return [*found, out, z]

    exp, log, sqrt = fxc.compile(alone, fullgraph=True)(z)
    compiled = fxc.compile(often, fullgraph=True)
    found = compiled(z.copy(), np.zeros(142, dtype))
    assert not compiled.cache_info().fallbacks
    out = np.zeros(142, dtype)
    out[::2], out[:3] = exp, sqrt[:3]
    parts = [exp.real, log.imag, sqrt[::-2], exp[:, None], log[3:4], sqrt[:0], exp[5], log[70]]
    expected = [*parts, sqrt[1], out, np.concatenate([log[:9], z[9:]])]
    for wanted, got in zip(expected, found, strict=True):
        assert np.array_equal(wanted, got), (wanted, got)
    with np.errstate(all="ignore"):
        for ours, ufunc in ((exp, np.exp), (log, np.log), (sqrt, np.sqrt)):
            np.testing.assert_allclose(ours, ufunc(z), rtol=4 * np.finfo(dtype).eps)


@pytest.mark.bits
@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_exact_is_numpys_bits(dtype: str) -> None:
    def every(z: Any) -> Any:
        found = [np.exp(z), np.log(z[::-1]), np.sqrt(z * 2), np.exp(z[:, None]), np.log(z[1])]
        return [*found, np.sqrt(z).real * 2]

    rng = np.random.default_rng(2)
    z = (rng.standard_normal(200) + 1j * rng.standard_normal(200)).astype(dtype)
    compiled = fxc.compile(every, fullgraph=True, math="exact")
    assert not difference(run(every, [z]), run(compiled, [z]))
