"""Vector math against correctly rounded references and against NumPy's special values.

Every function is compiled for one lane and for a full vector and run on the same inputs. The
reference is x86's 80-bit `longdouble`, whose library functions err by less than 1/1000 ulp of a
float64; where `longdouble` is only a float64, a sample is compared with mpmath instead.
"""

import time
from typing import Any

import mpmath
import numpy as np
import pytest

import fxc
from fxc.lowering import vector_math
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

EXTENDED = np.finfo(np.longdouble).nmant >= 63
COUNT = 4000

# The largest error in ulps. One or less is what NumPy itself promises for most of them.
BOUNDS = {
    "exp": 1.1, "exp2": 1.1, "expm1": 1.3, "log": 0.75, "log2": 0.75, "log10": 0.75,
    "log1p": 0.9, "sin": 0.9, "cos": 0.9, "tan": 2.2, "sinh": 2.0, "cosh": 2.0, "tanh": 2.0,
    "arcsin": 2.2, "arccos": 1.5, "arctan": 2.0, "arctan2": 2.0, "arcsinh": 2.0, "arccosh": 2.5,
    "arctanh": 2.0, "cbrt": 0.75, "hypot": 1.1, "pow": 1.3,
    "fmod": 0.0,
}  # fmt: skip
# Where float32 takes a shorter way.
BOUNDS_F32 = {"expm1": 1.6, "log": 1.3, "log2": 1.3, "log10": 1.3, "pow": 0.6}
NAMES = sorted(BOUNDS)
CASES = [(name, kind) for name in NAMES for kind in LANES]
NUMPY_NAMES = {"pow": "power"}


def any_bits(dtype: Any, rng: np.random.Generator) -> Floats:
    integer = np.uint64 if dtype is np.float64 else np.uint32
    return rng.integers(0, np.iinfo(integer).max, COUNT, integer, endpoint=True).view(dtype)


def near_one(dtype: Any, rng: np.random.Generator) -> Floats:
    info = np.finfo(dtype)
    distance = 2.0 ** rng.uniform(-info.nmant - 1, 0, COUNT) * rng.choice([-1, 1], COUNT)
    return np.asarray(1 + distance, dtype)


def unary_inputs(name: str, dtype: Any) -> Floats:
    rng = np.random.default_rng(NAMES.index(name))
    info = np.finfo(dtype)
    parts = [
        over_all_exponents(dtype, rng, COUNT),
        any_bits(dtype, rng),
        rng.uniform(-1, 1, COUNT),
        rng.uniform(-10, 10, COUNT),
        special_values(dtype),
    ]
    if name in ("exp", "exp2", "expm1", "sinh", "cosh", "tanh"):
        scale = 1.0 if name == "exp2" else np.log(2)
        high, low = info.maxexp * scale, (info.minexp - info.nmant) * scale
        parts += [rng.uniform(low - 2, high + 2, COUNT), rng.uniform(high - 1, high + 1, COUNT)]
        parts += [rng.uniform(low - 2, low + 40, COUNT), rng.uniform(-40, 40, COUNT)]
    if name in ("sin", "cos", "tan"):
        quarters = np.rint(2.0 ** rng.uniform(0, 40, COUNT)).astype(np.longdouble)
        near = quarters * np.longdouble(np.pi / 2) + quarters * 6.123233995736766e-17
        near = near.astype(dtype)
        parts += [near, np.nextafter(near, dtype(np.inf)), 2.0 ** rng.uniform(15, 60, COUNT)]
        # The hardest float64 there is (Kahan), and the neighbours of the switch to cold code.
        hard = [6381956970095103.0 * 2.0**797, 1e300, 1e22] if dtype is np.float64 else [1e30]
        parts += [hard, 2.0**30 * (1 + np.arange(-8, 8) * 2.0**-50), 2.0**40 + np.arange(-8, 8)]
    if name.startswith(("log", "arc")):
        parts += [near_one(dtype, rng), -near_one(dtype, rng), rng.uniform(0.4, 2.2, COUNT)]
    return np.concatenate([np.asarray(part, dtype) for part in parts])


def binary_inputs(name: str, dtype: Any) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(NAMES.index(name))
    info = np.finfo(dtype)
    every = special_values(dtype)
    left, right = (each.ravel() for each in np.meshgrid(every, every))
    pairs = [
        (left, right),
        (over_all_exponents(dtype, rng, COUNT), over_all_exponents(dtype, rng, COUNT)),
        (any_bits(dtype, rng), any_bits(dtype, rng)),
        (rng.uniform(-5, 5, COUNT), rng.uniform(-5, 5, COUNT)),
    ]
    if name == "pow":
        pairs.append((rng.uniform(-10, 10, COUNT), rng.integers(-20, 20, COUNT)))
        pairs.append(([1.0332581775987317], [-21483.453972842522]))  # 1.51 ulp with a rounded cube
        bases = (
            np.abs(over_all_exponents(dtype, rng, COUNT)),
            np.abs(near_one(dtype, rng)),
            rng.uniform(0.96, 1.045, COUNT).astype(dtype),  # where the series counts most
        )
        for base in bases:
            # Exponents that spread the results over the whole range and a little beyond.
            wanted = rng.uniform(info.minexp - info.nmant - 2, info.maxexp + 1, COUNT)
            with np.errstate(all="ignore"):
                pairs.append((base, (wanted / np.log2(base.astype(np.longdouble))).astype(dtype)))
    elif name == "fmod":
        base = over_all_exponents(dtype, rng, COUNT)
        whole = np.rint(2.0 ** rng.uniform(0, info.nmant + 2, COUNT))
        pairs.append((rng.integers(-50, 50, COUNT), rng.integers(-6, 6, COUNT)))
        tiny = info.smallest_subnormal * rng.integers(1, 2**12, (2, COUNT)).astype(dtype)
        with np.errstate(over="ignore", under="ignore"):
            multiple = (base * whole).astype(dtype)  # at and next to the jumps
            pairs += [(multiple, base), (np.nextafter(multiple, dtype(0)), base), tuple(tiny)]
            pairs.append((np.nextafter(multiple, dtype(np.inf)), base))
            pairs.append(((base * 2.0 ** rng.uniform(-3, info.nmant + 4, COUNT)), base))
    else:
        base = over_all_exponents(dtype, rng, COUNT)
        with np.errstate(over="ignore", under="ignore"):
            pairs.append((base, (base * rng.uniform(0.3, 3, COUNT)).astype(dtype)))
            pairs.append((base, (base * 2.0 ** rng.uniform(-60, 60, COUNT)).astype(dtype)))
    first = np.concatenate([np.asarray(pair[0], dtype) for pair in pairs])
    return first, np.concatenate([np.asarray(pair[1], dtype) for pair in pairs])


def inputs(name: str, kind: str) -> tuple[Floats, ...]:
    """The arguments of the test, of a length that is a multiple of every lane count."""
    dtype = DTYPES[kind]
    unary = vector_math.FUNCTIONS[name] == 1
    with np.errstate(over="ignore", under="ignore"):
        columns = (unary_inputs(name, dtype),) if unary else binary_inputs(name, dtype)
    extra = -len(columns[0]) % 16
    return tuple(np.concatenate([each, each[:extra]]) for each in columns)


def errors_in_ulps(got: Floats, exact: Floats) -> Floats:
    """The distance to the exact value, in units of the last place of the rounded exact value."""
    rounded = exact.astype(got.dtype)
    place = np.spacing(np.minimum(np.abs(rounded), np.finfo(got.dtype).max))
    error = np.abs(got.astype(exact.dtype) - exact) / place.astype(exact.dtype)
    equal = (np.isnan(got) & np.isnan(rounded)) | ((got == rounded) & np.isinf(rounded))
    return np.nan_to_num(np.where(equal, 0, error).astype(float), nan=np.inf)


def bound(name: str, kind: str) -> float:
    return BOUNDS_F32.get(name, BOUNDS[name]) if kind == "f32" else BOUNDS[name]


def shortest(function: Any, argument: Floats) -> float:
    """The least time of some calls."""
    times = []
    for _ in range(20):
        before = time.perf_counter()
        function(argument)
        times.append(time.perf_counter() - before)
    return min(times)


@pytest.mark.parametrize("kind", LANES)
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_that_are_missing_take_no_longer(name: str, kind: str) -> None:
    function = runner(name, kind, LANES[kind])
    numbers = np.linspace(0.0, 1.0, COUNT, dtype=DTYPES[kind])
    missing = numbers.copy()
    missing[::10] = np.nan
    assert shortest(function, missing) < 5 * shortest(function, numbers)


def numpy_function(name: str) -> Any:
    return getattr(np, NUMPY_NAMES.get(name, name))


def test_the_table_of_bounds_is_complete() -> None:
    """The others are those of tests/lowering/test_special_functions.py."""
    of_numpy = {name for name in vector_math.FUNCTIONS if hasattr(np, NUMPY_NAMES.get(name, name))}
    assert of_numpy == set(BOUNDS)


@pytest.mark.skipif(not EXTENDED, reason="longdouble is no wider than float64")
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_error_stays_within_bound(name: str, kind: str) -> None:
    arguments = inputs(name, kind)
    got = runner(name, kind, LANES[kind])(*arguments)
    with np.errstate(all="ignore"):
        exact = numpy_function(name)(*(each.astype(np.longdouble) for each in arguments))
        errors = errors_in_ulps(got, exact)
    worst = int(np.argmax(errors))
    assert errors[worst] <= bound(name, kind), [float(each[worst]).hex() for each in arguments]


@pytest.mark.parametrize("kind", LANES)
@pytest.mark.parametrize("name", ["sin", "cos", "tan", "pow", "log", "exp", "tanh"])
def test_error_against_arbitrary_precision(name: str, kind: str) -> None:
    names = {"pow": "power", "log": "ln"}
    reference = getattr(mpmath, names.get(name, name))
    everything = inputs(name, kind)
    chosen = np.random.default_rng(0).choice(len(everything[0]), 480, replace=False)
    arguments = tuple(each[chosen] for each in everything)
    got = runner(name, kind, LANES[kind])(*arguments)
    with mpmath.workprec(1200 if name in ("sin", "cos", "tan") else 200):
        for index, value in enumerate(got):
            row = [float(each[index]) for each in arguments]
            if value == 0 or not np.isfinite([*row, value]).all():
                continue
            exact = reference(*map(mpmath.mpf, row))
            place = mpmath.mpf(float(np.spacing(np.abs(value))))
            assert abs(mpmath.mpf(float(value)) - exact) <= bound(name, kind) * place, row


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_processors_and_lanes_do_not_matter(name: str, kind: str) -> None:
    arguments = inputs(name, kind)
    expected = runner(name, kind, LANES[kind])(*arguments)
    assert has_the_same_bits_everywhere(name, kind, arguments, expected)


@pytest.mark.bits
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_specials_are_those_of_numpy(name: str, kind: str) -> None:
    dtype = DTYPES[kind]
    every = special_values(dtype)
    arguments = (every,)
    if vector_math.FUNCTIONS[name] == 2:
        arguments = tuple(each.ravel() for each in np.meshgrid(every, every))
    extra = -len(arguments[0]) % LANES[kind]
    arguments = tuple(np.concatenate([each, each[:extra]]) for each in arguments)
    got = runner(name, kind, LANES[kind])(*arguments)
    with np.errstate(all="ignore"):
        expected = numpy_function(name)(*arguments)
    special = ~np.isfinite(expected) | (expected == 0) | ~np.isfinite(got) | (got == 0)
    wrong = np.flatnonzero(special & ~same_bits(got, expected))
    assert not len(wrong), [
        (*(float(each[i]) for each in arguments), float(got[i]), float(expected[i])) for i in wrong
    ]
    assert (np.isnan(got) | (np.signbit(got) == np.signbit(expected))).all()


_WHOLE = [
    (exponent, kind)
    for exponent in vector_math.WHOLE_POWERS
    for kind in LANES
    if kind == "f64" or abs(exponent) <= vector_math.MOST_OF_SINGLES
]


def _bases(exponent: int, kind: str) -> Floats:
    """Those with results of all sizes, a little beyond what there is, and special ones."""
    dtype, rng = DTYPES[kind], np.random.default_rng(exponent + 10)
    info = np.finfo(dtype)
    sizes = rng.uniform(info.minexp - info.nmant - 2, info.maxexp + 1, COUNT) / exponent
    with np.errstate(over="ignore"):
        bases = (2.0**sizes * rng.choice([-1, 1], COUNT)).astype(dtype)
    every = np.concatenate(
        [bases, rng.uniform(-10, 10, COUNT).astype(dtype), special_values(dtype)]
    )
    return np.concatenate([every, every[: -len(every) % 16]])


@pytest.mark.bits
@pytest.mark.skipif(not EXTENDED, reason="longdouble is no wider than float64")
@pytest.mark.parametrize(("exponent", "kind"), _WHOLE)
def test_whole_powers_are_nearly_exact(exponent: int, kind: str) -> None:
    x = _bases(exponent, kind)
    got = runner(vector_math.WHOLE_POWERS[exponent], kind, LANES[kind])(x)
    with np.errstate(all="ignore"):
        expected = np.power(x, exponent, dtype=x.dtype)
        errors = errors_in_ulps(got, x.astype(np.longdouble) ** exponent)
        size = np.abs(np.log2(np.abs(x))) * abs(exponent)
    assert errors.max() <= bound("pow", kind), float(x[np.argmax(errors)]).hex()
    assert errors[(size < 880) | (kind == "f32")].max() <= 0.51
    special = ~np.isfinite(expected) | (expected == 0)
    assert (special == (~np.isfinite(got) | (got == 0))).all()
    assert same_bits(got[special], expected[special]).all()


@pytest.mark.parametrize(("exponent", "kind"), [(-3, "f64"), (7, "f64"), (5, "f32")])
def test_whole_powers_have_the_same_bits_everywhere(exponent: int, kind: str) -> None:
    name, x = vector_math.WHOLE_POWERS[exponent], _bases(exponent, kind)
    expected = runner(name, kind, LANES[kind])(x)
    assert has_the_same_bits_everywhere(name, kind, (x,), expected)


@pytest.mark.parametrize("exponent", [3, 4, -2])
def test_whole_powers_report_what_numpy_reports(exponent: int) -> None:
    """Zeros, infinities and nan among others set no flags but that of a division by zero."""
    compiled = fxc.compile(lambda x: x**exponent, fullgraph=True)
    usual = np.array([1.5, np.inf, -np.inf, np.nan, -2.0, 0.0, -0.0])[: 7 if exponent > 0 else 5]
    for x in (np.linspace(1, 9, 40), np.tile(usual, 6)):
        with np.errstate(all="raise"):
            assert_array_equal_within_an_ulp(compiled(x), x**exponent)
    kind = "overflow" if exponent > 0 else "divide by zero"
    with pytest.warns(RuntimeWarning, match=kind):
        compiled(np.array([1.0, 1e200, 0.0]))


def assert_array_equal_within_an_ulp(found: Floats, expected: Floats) -> None:
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_array_max_ulp(np.nan_to_num(found), np.nan_to_num(expected), 1)


@pytest.mark.bits
@pytest.mark.parametrize("kind", LANES)
def test_fmod_is_exact(kind: str) -> None:
    arguments = inputs("fmod", kind)
    with np.errstate(all="ignore"):
        expected = np.fmod(*arguments)
    for lanes in (1, LANES[kind]):
        assert same_bits(runner("fmod", kind, lanes)(*arguments), expected).all()


def test_definitions_come_once_each() -> None:
    built = vector_math.definitions({("sin", "f64", 8): 1, ("cos", "f64", 8): 2})
    defined = [line.split("(")[0] for line in built.text.splitlines() if line.startswith("define")]
    assert len(defined) == len(set(defined)) == 4
    assert all(line.startswith("declare ") and "\n" not in line for line in built.declares)


@pytest.mark.bits
@pytest.mark.parametrize("kind", ["f8", "f4"])
def test_what_is_called_often_is_compiled_once(kind: str) -> None:
    """No matter how often: code grows by a call each. The bits are those of few calls."""

    def often(x: Any) -> Any:
        for k in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19):  # no loop
            x = x + np.sin(x * k) + np.log(np.abs(x) + k)
        return x

    def once(x: Any, k: int) -> Any:
        return x + np.sin(x * k) + np.log(np.abs(x) + k)

    x = np.linspace(-3, 3, 37).astype(kind)
    compiled, one = fxc.compile(often, fullgraph=True), fxc.compile(once, fullgraph=True)
    found = compiled(x)
    for k in range(1, 20):
        x = one(x, k)
    assert same_bits(found, x).all()
    lines = compiled.inspect(x).llvm.splitlines()
    heads = [line for line in lines if line.startswith("define") and "@fxc.sin" in line]
    assert any(" noinline " in head and " cold " not in head for head in heads)


@pytest.mark.bits
def test_what_is_long_is_compiled_once_for_few_calls() -> None:
    """The bits are those of single calls."""
    special = pytest.importorskip("scipy.special")

    def beta(x: Any, y: Any) -> Any:
        return special.gammaln(x) + special.gammaln(y) - special.gammaln(x + y)

    x, y = np.linspace(0.1, 900, 37), np.linspace(-3.3, 40, 37)
    compiled = fxc.compile(beta, fullgraph=True)
    one = fxc.compile(lambda x: special.gammaln(x), fullgraph=True)
    with np.errstate(all="ignore"):  # else SciPy takes calls that set flags
        assert same_bits(compiled(x, y), one(x) + one(y) - one(x + y)).all()
    assert " alwaysinline " in one.inspect(x).llvm
    assert " alwaysinline " not in compiled.inspect(x, y).llvm


@pytest.mark.bits
@pytest.mark.skipif(not EXTENDED, reason="longdouble is no wider than float64")
@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
@pytest.mark.parametrize("kind", LANES)
def test_logarithms_of_sums(name: str, kind: str) -> None:
    """They add to the larger operand: the error is one of what is added, or of the result."""
    ufunc, dtype = getattr(np, name), DTYPES[kind]
    compiled = fxc.compile(lambda x, y: ufunc(x, y), fullgraph=True)
    rng = np.random.default_rng(5)
    least = dtype(np.log(2) if name == "logaddexp" else 1)
    for scale in (0.1, 1.0, 10.0, 100.0):
        x, y = (np.asarray(rng.standard_normal(COUNT) * scale, dtype) for _ in range(2))
        expected = ufunc(x.astype(np.longdouble), y.astype(np.longdouble))
        unit = np.spacing(np.maximum(np.abs(expected).astype(dtype), least))
        assert np.max(np.abs(compiled(x, y) - expected) / unit) < 2.0
    x, y = (each.ravel() for each in np.meshgrid(special_values(dtype), special_values(dtype)))
    with np.errstate(all="ignore"):
        found, expected = compiled(x, y), ufunc(x, y)
    assert not compiled.cache_info().fallbacks
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    error = 4 * np.finfo(dtype).eps
    np.testing.assert_allclose(found, expected, rtol=error, atol=error)


def test_processors_find_entries_of_tables_as_they_can() -> None:
    """In registers by AVX-512 and AVX2, for any number of lanes, else in memory."""
    wanted = {("pow", kind, lanes): 1 for kind in LANES for lanes in (1, 3, 16, 24)}
    texts = {size: vector_math.definitions(wanted, size).text for size in (0, 32, 64)}
    assert "permps" not in texts[0]
    assert "avx2.permps" in texts[32]
    assert "gather" in texts[32]  # AVX2 has no permutation of doubles by places that are computed
    assert "vpermi2var.pd" in texts[64]
    assert "gather" not in texts[64]


@pytest.mark.parametrize("lanes", [3, 24])
@pytest.mark.parametrize("kind", LANES)
def test_lanes_that_fill_no_register(kind: str, lanes: int) -> None:
    x = np.linspace(0.7, 1.45, 48 * 16).astype(DTYPES[kind])
    y = np.full_like(x, 31.5)
    expected = runner("pow", kind, 1)(x, y)
    for processor in ("", "SSE2"):
        assert same_bits(runner("pow", kind, lanes, processor)(x, y), expected).all()


def test_no_fast_math() -> None:
    names = {(name, kind, LANES[kind]): 1 for name, kind in CASES}
    words = set(vector_math.definitions(names).text.split())
    assert not words & {"fast", "contract", "reassoc", "nnan", "ninf", "nsz", "arcp", "afn"}


@pytest.mark.parametrize(
    ("name", "kind", "lanes", "symbol"),
    [("exp", "f64", 8, "fxc.exp.f64x8"), ("exp", "f32", 1, "fxc.exp.f32")],
)
def test_symbols(name: str, kind: str, lanes: int, symbol: str) -> None:
    assert vector_math.symbol(name, kind, lanes) == symbol
    assert f"@{symbol}(" in vector_math.definitions({(name, kind, lanes): 1}).text
