"""Complex numbers in native code, against NumPy: bit for bit, over layouts and dtypes.

What NumPy computes otherwise by where the operands stand is in Note [Complex numbers]; where fxc
does not follow it the difference is held to its bound.
"""

from __future__ import annotations

import itertools
import operator
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.lowering.building.complex_floats import fused
from tests.covering import pairs
from tests.ops.test_differential import LAYOUTS
from tests.outcomes import agreement, difference, run, ulps_apart

DTYPES = ["c8", "c16"]


def numbers(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Random numbers of all magnitudes, some with equal parts, zeros and special values."""
    rng = np.random.default_rng(seed)
    limit = 60 if np.dtype(dtype) == np.complex64 else 500
    parts = rng.standard_normal((2, *shape)) * 2.0 ** rng.integers(-3, 4, (2, *shape))
    huge = rng.random((2, *shape)) < 0.2
    parts[huge] *= 2.0 ** rng.integers(-limit, limit, huge.sum())
    special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan])
    chosen = rng.random((2, *shape)) < 0.15
    parts[chosen] = rng.choice(special, chosen.sum())
    result = np.empty(shape, dtype)
    with np.errstate(all="ignore"):
        result.real, result.imag = parts
    return result


def check(
    fn: Callable[..., Any],
    make: Callable[[], Sequence[Any]],
    left: frozenset[str] = frozenset(),
    ulps: float = 0.0,
) -> None:
    """``fn`` compiled is ``fn``, at two calls, with no call of NumPy but of what is ``left``."""
    compiled = fxc.compile(fn, fullgraph=True)
    for _ in range(2):
        text = difference(run(fn, make()), run(compiled, make()), lambda where: (0.0, ulps))
        assert not text, text
    info = compiled.cache_info()
    assert info.eager_calls == 0, info
    assert set(info.fallbacks) <= left, info


ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "logical_and": np.logical_and,
    "logical_xor": np.logical_xor,
    "where": lambda x, y: np.where(y, x, y),
}
UNARY: dict[str, Callable[[Any], Any]] = {
    "negative": operator.neg,
    "conjugate": np.conjugate,
    "absolute": np.absolute,
    "square": np.square,
    "power_2": lambda x: x**2,
    "power_minus_1": lambda x: x**-1,
    "reciprocal": np.reciprocal,
    "rint": np.rint,
    **{name: getattr(np, name) for name in ("log10", "sin", "tan", "arcsin", "arctanh")},
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "logical_not": np.logical_not,
    "copy": lambda x: x.copy("K"),
    "real": lambda x: x.real + 0,
    "imag": lambda x: x.imag + 0,
    "parts": lambda x: x.real * x.imag - x.imag,
    "narrow": lambda x: x.astype("c8"),
    "wide": lambda x: x.astype("c16"),
    "bool": lambda x: x.astype(bool),
    "any": lambda x: x.any(axis=-1),
    "all": lambda x: x.all(),
    "concatenate": lambda x: np.concatenate([x, x.real], axis=-1),
    "reverse": lambda x: x[..., ::-1].copy(),
}

# Shapes: some vectors and a tail, less than a vector, one, none.
SHAPES = [(67,), (3,), (1,), (0,), (), (5, 33), (4, 1, 7)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ARITHMETIC)
def test_binary_operators(name: str, dtype: str) -> None:
    function = ARITHMETIC[name]

    def every(*xs: Any) -> list[Any]:
        return [function(x, y) for x, y in zip(xs[::2], xs[1::2], strict=True)]

    check(every, lambda: [numbers(dtype, s, i) for s in SHAPES for i in range(2)])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UNARY)
def test_unary_operators(name: str, dtype: str) -> None:
    function = UNARY[name]

    def every(*xs: Any) -> list[Any]:
        return [function(x) for x in xs]

    shapes = [shape for shape in SHAPES if shape]
    check(every, lambda: [numbers(dtype, shape) for shape in shapes])


# Of the binary operators: all read their operands in the same way.
BY_LAYOUT = ["multiply", "divide", "equal", "maximum"]


UNARY_BY_LAYOUT = pairs(LAYOUTS, UNARY, DTYPES)
BINARY_BY_LAYOUT = pairs(LAYOUTS, LAYOUTS, BY_LAYOUT, DTYPES)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str, dtype: str) -> None:
    """Operators on this layout, and on this one with every other."""
    unary = [name for *case, name, code in UNARY_BY_LAYOUT if [*case, code] == [layout, dtype]]
    binary = [row[1:3] for row in BINARY_BY_LAYOUT if (row[0], row[3]) == (layout, dtype)]

    def every(x: Any, *others: Any) -> list[Any]:
        results = [UNARY[name](x) for name in unary]
        return results + [
            ARITHMETIC[name](x, y) for y, (_, name) in zip(others, binary, strict=True)
        ]

    def make() -> list[np.ndarray]:
        base = [numbers(dtype, (3, 4, 5), seed) for seed in range(2)]
        chosen = [(0, layout), *((1, other) for other, _ in binary)]
        return [LAYOUTS[each](base[k].copy()) for k, each in chosen]

    check(every, make)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_real_totals_of_complex_numbers(dtype: str) -> None:
    """NumPy drops the imaginary parts, and warns: they were taken for native ones."""

    def every(x: Any) -> list[Any]:
        real = [x.sum(dtype=float), x.sum(0, "f4"), x.mean(dtype=float), x.cumsum(1, dtype=float)]
        return [*real, x.any(0)]

    check(every, lambda: [numbers(dtype, (5, 33))], frozenset({"sum", "cumsum"}))


def test_a_complex_condition_of_real_values() -> None:
    def program(x: Any, y: Any) -> Any:
        return np.where(x, 1.0, y), np.where(x[1], y[0], 2), x[0] and y[1] != 2

    compiled = fxc.compile(program, fullgraph=True)
    for x in (np.array([1j, 0, 2]), np.array([0j, 3, -0.0])):
        given = x, np.arange(3.0)
        assert difference(run(program, given), run(compiled, given)) == ""


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_walked_backwards(dtype: str) -> None:
    """NumPy rounds those of complex64 once more."""

    def every(x: Any, y: Any) -> Any:
        z = x[::-1]
        results = [z * y, y * z, z * z, z**2, z * 2j, z[::2] * y[::2], z * y[::-1], z[:1] * y]
        results += [z * y[:1], y[0] * z, np.multiply(z, y[0, ...])]
        x[::-1] *= y
        return results

    def make() -> list[np.ndarray]:
        rng = np.random.default_rng(1)
        parts = rng.standard_normal((2, 2, 17))
        return [(re + 1j * im).astype(dtype) for re, im in parts]

    check(every, make)


def test_bounds_of_products_walked_backwards() -> None:
    """Of several axes, NumPy rounds some of complex64 once more."""

    def every(x: Any, y: Any) -> Any:
        return x[:, ::-1] * y

    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((2, 9, 70, 2)).astype("f4").view("c8")[..., 0]
    found, expected = fxc.compile(every, fullgraph=True)(x, y[0]), every(x, y[0])
    x, y, eps = x[:, ::-1], y[0], np.finfo("f4").eps
    for part, given, sizes in (
        (found.real, expected.real, np.abs(x.real * y.real) + np.abs(x.imag * y.imag)),
        (found.imag, expected.imag, np.abs(x.real * y.imag) + np.abs(x.imag * y.real)),
    ):
        assert (np.abs(part - given) <= eps * sizes).all()


def _into(target: Callable[[Any], Any], other: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def program(z: Any) -> Any:
        into = target(z)
        into *= other(z)
        return z

    return program


def _each_column(z: Any) -> Any:
    for i in range(3):
        for j in range(z.shape[1] - 3):
            z[:, i] *= z[:, j]
    return z


def _each_window(z: Any) -> Any:
    for i in range(2):
        for j in range(3):
            z[0, i : i + 3] *= z[0, j : j + 3]
    return z


def _squares(z: Any) -> Any:
    np.square(z[:, 0], out=z[:, 1])
    np.square(z[0, ::2], out=z[1, ::2])
    np.square(z[2], out=z[2])
    z[3] **= 2
    z[4, ::3] **= 2
    return z


AMONG: dict[str, Callable[[Any], Any]] = {
    "columns": _into(lambda z: z[:, 1], lambda z: z[:, 0]),
    "columns before": _into(lambda z: z[:, 0], lambda z: z[:, 1]),
    "beside": _into(lambda z: z[0, :3], lambda z: z[0, 3:6]),
    "every other": _into(lambda z: z[0, :6:2], lambda z: z[0, 1::2][:3]),
    "read first": _into(lambda z: z[0, :-1], lambda z: z[0, 1:]),
    "read later": _into(lambda z: z[0, 1:], lambda z: z[0, :-1]),
    "rows read first": _into(lambda z: z[:-1], lambda z: z[1:]),
    "rows read later": _into(lambda z: z[1:], lambda z: z[:-1]),
    "itself": _into(lambda z: z, lambda z: z),
    "one": _into(lambda z: z[:1, :1], lambda z: z[1:2, 1:2]),
    "rank 0": _into(lambda z: z[0, 0, ...], lambda z: 2.3 + 1.7j),
    "gathered rows": _into(lambda z: z[:, :6:2], lambda z: z[:, 1::2][:, :3]),
    "rows": _into(lambda z: z[:2, :6:2], lambda z: z[:2, 1::2][:, :3]),
    "one column for all": _into(lambda z: z[:, ::2], lambda z: z[:, 1:2]),
    "each column": _each_column,
    "each window": _each_window,
    "squares": _squares,
}


# With symbolic sizes fxc does not follow NumPy in views of several axes with gaps.
@pytest.mark.bits
@pytest.mark.parametrize(
    ("name", "dynamic"),
    [*((name, False) for name in AMONG), *((n, True) for n in AMONG if n != "rows")],
)
def test_products_written_among_what_is_read(name: str, dynamic: bool) -> None:
    """NumPy rounds them once more, see Note [Products among what is read]."""
    rng = np.random.default_rng(3)
    for dtype in DTYPES:
        compiled = fxc.compile(AMONG[name], fullgraph=True, dynamic=dynamic)
        for shape in ((9, 7), (6, 9)):
            z = np.exp(2j * np.pi * rng.random(shape)) * (1 + rng.random(shape) / 16)
            found, expected = (fn(z.astype(dtype)) for fn in (compiled, AMONG[name]))
            assert np.array_equal(found, expected)


@pytest.mark.bits
def test_products_of_arguments_that_lie_among_each_other() -> None:
    @fxc.compile(fullgraph=True)
    def compiled(x: Any, y: Any) -> None:
        x *= y

    rng = np.random.default_rng(4)
    base = rng.standard_normal((9, 14)).view(complex)
    for column, other in ((0, 1), (3, 1), (2, 2)):
        for copies in (False, True):
            found, expected = base.copy(), base.copy()
            for z, multiply in ((found, compiled), (expected, compiled.__wrapped__)):
                multiply(z[:, column], z[:, other].copy() if copies else z[:, other])
            assert np.array_equal(found, expected)


def test_sizes_walked_backwards() -> None:
    """NumPy calls hypot; what is gathered first, it does not walk backwards."""

    def every(z: Any) -> list[Any]:
        sizes = [
            np.abs(z[::-1]),
            np.abs(z[::-3]),
            np.abs(z * 2)[::-1],
            np.abs(z[::-1] * 2),
            abs(z[1::-1]),
        ]
        return [*sizes, np.sqrt(np.abs(z[::-1])), np.abs(z[:1][::-1])]

    check(every, lambda: [numbers("c16", (500,))])


def test_bounds_of_sizes_walked_backwards() -> None:
    """Of complex64, and of several axes, NumPy calls hypot."""
    for z in (numbers("c8", (500,)), numbers("c16", (9, 70)), numbers("c8", (9, 70))):
        found = fxc.compile(lambda z: np.abs(z[..., ::-1]), fullgraph=True)(z)
        with np.errstate(all="ignore"):
            assert ulps_apart(np.abs(z[..., ::-1]), found) <= 2


def test_products_are_fused_as_numpys() -> None:
    """Otherwise the comparisons above would not tell."""
    for dtype in map(np.dtype, DTYPES):
        x, y = (numbers(dtype.str, (400,), seed) for seed in range(2))
        with np.errstate(all="ignore"):
            rounded = x.real * y.real - x.imag * y.imag
            assert agreement((x * y).real, rounded).all() == (not fused(dtype))


# ---------------------------------------------------------------- scalars


SCALARS = [2, 2.5, True, 1 - 2j, complex(-0.0, np.inf), np.complex64(0.1 + 3j), np.int8(-3)]
SCALARS += [np.complex128(0.1 - 3j), np.float32(0.1), np.float64(0.1), np.array(1 + 2j)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scalar", SCALARS, ids=repr)
def test_scalar_operands(scalar: Any, dtype: str) -> None:
    """As arguments and as constants: NEP 50 decides the dtype, the parts are NumPy's."""

    def every(x: Any, r: Any, k: Any) -> list[Any]:
        results = [x * k, k * x, x + k, k - x, x / k, k / x, x == k, np.where(x == x, k, x)]
        results += [r * k, r + k, x * scalar, scalar / x, r - scalar, np.full(3, k)]
        x[2:] = k
        x *= 1j
        return results

    check(every, lambda: [numbers(dtype, (19,)), np.arange(5, dtype="f4"), scalar])


@pytest.mark.parametrize("dtype", DTYPES)
def test_scalar_arithmetic(dtype: str) -> None:
    """Elements and arguments: the operators of Python round as C does, ufuncs as NumPy's loops."""

    def every(x: Any, k: Any, c: Any) -> list[Any]:
        a, b = x[0], x[1]
        results = [a * b, a + b, a - b, a / b, -a, a == b, a.conj(), abs(a), a.real * b.imag]
        results += [np.multiply(a, b), np.abs(a), np.add(a, b), x[0, ...] * x[1]]
        results += [a * k, k * a, k * k, k + k, k - 2.0, -k, k * 2.0, c * a, c * k, a**2, a * 3]
        return [*results, a * np.float32(0.1), a * True, 1 / a, np.conj(k), np.multiply(k, 1j)]

    def make() -> list[Any]:
        rng = np.random.default_rng(3)
        x = (rng.standard_normal(2) + 1j * rng.standard_normal(2)).astype(dtype)
        return [x, complex(*rng.standard_normal(2)), np.complex64(complex(*rng.standard_normal(2)))]

    check(every, make, frozenset({"py_absolute", "py_multiply", "power"}))


@pytest.mark.parametrize("dtype", [*DTYPES, "G"])
def test_order_of_scalars(dtype: str) -> None:
    """Python's operators do not look for nan in imaginary parts, where NumPy's scalars compare."""

    def every(x: Any, n: Any, k: Any, c: Any, r: Any) -> list[Any]:
        a, b, i = x[0], x[1], n[0]
        results = [a < b, b <= a, a > 1j, a >= 2, b > 0.5, a >= True, a > k, k >= b, c > a, b < c]
        results += [a < i, i < a, a > r, r <= b, x[0, ...] > b, np.greater(a, b), np.less(a, 1j)]
        count = 0
        for each in x:
            count = 2 * count + (each >= 1j)
        return [*results, count]

    special = [complex(np.inf, np.nan), complex(-np.inf, np.nan), complex(np.nan, 1), 1 + 2j]
    compiled = fxc.compile(every, fullgraph=True)
    for a, b in itertools.product([*special, complex(1, np.nan), complex(np.inf, -0.0)], special):
        args = [np.array([a, b], dtype), np.array([3]), complex(b), np.complex64(a), np.float32(2)]
        assert not difference(run(every, args), run(compiled, args))
    assert dtype == "G" or not compiled.cache_info().fallbacks


@pytest.mark.parametrize("exponent", [2, -1, 0.5, 1, 3, 0, 2.0, 2 + 0j, np.int64(2)], ids=repr)
def test_powers(exponent: Any) -> None:
    """The operator takes shortcuts that np.power does not, by the type of the exponent."""

    def every(x: Any, y: Any, k: Any) -> Any:
        y **= exponent
        return x**k, x**exponent, np.power(x, k), x[0] ** k, x[0, ...] ** k, k**x

    for dtype in DTYPES:
        left = frozenset({"power"})
        bound = 5.0 if exponent == 0.5 else 0.0  # a root
        given = lambda d=dtype: [*(numbers(d, (9,), s) for s in (1, 2)), exponent]  # noqa: E731
        check(every, given, left, bound)


# ---------------------------------------------------------------- sums, products of matrices


def plain(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Random numbers of one magnitude, so that every rounding of a sum shows."""
    parts = np.random.default_rng(seed).standard_normal((2, *shape))
    return (parts[0] + 1j * parts[1]).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0, 1, 3, 4, 7, 8, 31, 63, 64, 65, 128, 129, 1000, 8193, 20001])
def test_sums_of_runs(size: int, dtype: str) -> None:
    """In pairs of halves, with four lanes: lengths around every one that is special."""

    def sums(z: Any) -> list[Any]:
        results = [z.sum(), (z * z).sum(), z[::-1].sum(), z[::2].sum(), z.sum(dtype="c16")]
        results += [z.sum(dtype="c8"), z.sum(keepdims=True), z.cumsum(), z.real.sum()]
        return [*results, (z + 1).mean(), z.imag.sum(dtype="c16")] if size else results

    check(sums, lambda: [plain(dtype, (size,))])


SUMMED = [(3, 5), (40, 70), (5, 1, 9), (3, 4, 5), (130, 3), (3, 130), (2, 3, 4, 5), (9, 9000)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SUMMED, ids=str)
def test_sums_along_axes(shape: tuple[int, ...], dtype: str) -> None:
    def sums(z: Any) -> list[Any]:
        results = [z.sum(), z.T.sum(), z[::2].sum(), z[:, ::-2].sum(), z.mean()]
        for axis in range(z.ndim):
            results += [z.sum(axis=axis), z.cumsum(axis=axis), z.mean(axis=axis)]
            results += [z.T.sum(axis=axis), z[1:].sum(axis=axis), (z + z).sum(axis=axis)]
        if z.ndim > 2:
            results += [z.sum(axis=(0, 2)), z.sum(axis=(1, 2)), z[:, 1:].sum(axis=(1, 2))]
        return results

    check(sums, lambda: [plain(dtype, shape)])


@pytest.mark.parametrize("dtype", DTYPES)
def test_scans_and_sums_in_place(dtype: str) -> None:
    def sums(z: Any, out: Any) -> None:
        z.cumsum(axis=0, out=z)
        z.sum(axis=1, out=out)
        np.add.accumulate(z.T, out=z.T)
        out.real += z.sum(axis=1).imag

    check(sums, lambda: [plain(dtype, (6, 11)), np.zeros(6, dtype)])


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_of_matrices(dtype: str) -> None:
    def products(a: Any, b: Any, v: Any) -> list[Any]:
        results = [a @ b, a @ v, v @ v, a.T @ a, np.dot(a, b), np.dot(v, v), a[::2] @ b[:, ::2]]
        results += [np.vdot(v, v * 2), np.vdot(a, a.real), np.vdot(a.imag, a)]
        return [*results, a.conj() @ b, a.real @ b, b.T[None] @ v, v @ b.imag]

    check(products, lambda: [plain(dtype, s) for s in ((9, 7), (7, 5), (7,))])


# ---------------------------------------------------------------- writes


IN_PLACE = [operator.iadd, operator.isub, operator.imul, operator.itruediv]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("source", ["c16", "c8", "f8", "f4", "i4", "?"])
def test_in_place(source: str, dtype: str) -> None:
    """Operators with arrays of every kind, on arrays, views and themselves."""

    def every(x: Any, y: Any) -> None:
        for write in IN_PLACE:
            write(x, y)
            write(x[1:], y[:-1])
            write(x[::3], 2 - 1j)
            write(x.real, y.real)
        np.add(x, y, out=x)
        np.multiply(x, x, out=x)
        np.conjugate(x, out=x)
        x[3:7] = y[3:7]
        x.imag[...] = y.real
        x[-1] = 3j

    def make() -> list[np.ndarray]:
        y = (np.arange(21) * 7 % 11 + 1).astype(source)
        if y.dtype.kind == "c":
            y = y * (1 - 3j)
        return [numbers(dtype, (21,)), y]

    if np.can_cast(source, dtype, "same_kind"):
        check(every, make)


CASTING: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "add": (operator.iadd, "f8"),
    "multiply": (operator.imul, "i8"),
    "out": (lambda x, z: np.add(z, z, out=x), "f4"),
    "absolute": (lambda x, z: np.absolute(z, out=x), "i8"),
    "item": (lambda x, z: x.__setitem__(0, 1j), "f8"),
    "copyto": (lambda x, z: np.copyto(x, z), "f8"),
    "floor_divide": (lambda x, z: z // x, "f8"),
    "remainder": (lambda x, z: operator.imod(z, 2), "f8"),
    "invert": (lambda x, z: ~z, "f8"),
    "floor": (lambda x, z: np.floor(z), "f8"),
}


@pytest.mark.parametrize("name", CASTING)
def test_what_numpy_refuses(name: str) -> None:
    """The exception is NumPy's, and so is what was written before it."""
    function, dtype = CASTING[name]

    def fails(x: Any, z: Any) -> Any:
        z += 1
        return function(x, z)

    compiled = fxc.compile(fails, fullgraph=True)
    for _ in range(2):
        inputs = [[np.arange(4).astype(dtype), np.arange(4) * 1j] for _ in range(2)]
        expected = run(fails, inputs[0])
        assert isinstance(expected.error, TypeError)
        text = difference(expected, run(compiled, inputs[1]))
        assert not text, text


@pytest.mark.parametrize("dtype", DTYPES)
def test_overlapping_reads_and_writes(dtype: str) -> None:
    """As if all operands had been read first, the parts of a number among them."""

    def every(x: Any, y: Any, z: Any) -> None:
        x[1:] = x[:-1]
        x[:-2] += x[2:]
        x -= x[1]
        x[::-1] *= x
        x.real[1:] = x.imag[:-1]
        x.real = x.imag
        x.imag += x.real[::-1]
        swapped = x.imag + x.real * 1j
        x.real, x.imag = swapped.real, swapped.imag
        y += y.T
        y[0], y[1] = y[1], y[0]
        y.T.imag[...] = y.real
        z.real, z.imag = z.imag, z.real  # not a swap: both sides are views

    check(every, lambda: [numbers(dtype, s, 5) for s in ((23,), (5, 5), (9,))])


def test_a_part_is_written_alone() -> None:
    """Nothing else of the array is stored, and no copy of it is made."""

    def write(z: Any) -> None:
        z.imag += 1

    z = np.zeros(1000, complex)
    loops = fxc.compile(write, fullgraph=True).inspect(z).loops
    assert not loops.copies
    assert "z.parts[i0, 1] = add(z.parts[i0, 1], 1.0)" in str(loops)
    assert "bytes moved 16000" in str(loops)


def test_a_part_of_a_view_is_a_view_of_the_part() -> None:
    """The same memory: what is written to one is read from the other, and no copy is made."""

    def write(z: Any) -> Any:
        z[1:].real += 1
        z.real[1:] *= 2
        z[1:, ::2].T.real[...] -= 3
        return z.real[2:].T, z[2:].T.real

    loops = fxc.compile(write, fullgraph=True).inspect(np.zeros((30, 40), complex)).loops
    assert not loops.copies
    assert str(loops).count("for i0") == 1  # all updates in one pass
    check(write, lambda: [numbers("c16", (30, 40))])


# ---------------------------------------------------------------- programs


def mandelbrot(c: Any, steps: int) -> Any:
    z = np.zeros_like(c)
    count = np.zeros(c.shape, "i4")
    for _ in range(steps):
        inside = z.real * z.real + z.imag * z.imag <= 4
        z = np.where(inside, z * z + c, z)
        count += inside
    return count, z


def butterfly(x: Any, factors: Any) -> Any:
    """One transform of length 8 by halves, in place."""
    width = 1
    while width < x.shape[-1]:
        for start in range(width):
            low, high = x[..., start :: 2 * width], x[..., start + width :: 2 * width]
            turned = factors[width - 1 + start] * high
            high[...] = low - turned
            low += turned
        width *= 2


def normalised(z: Any) -> Any:
    """Views of views, a part of a row, and what reads them all."""
    rows = z[1:-1]
    rows.real -= rows.real.min()
    rows[:, ::2].imag *= -1
    size = np.abs(rows)
    z[1:-1] = np.where(size > 1, rows / size, rows)
    return z.T[2].conj(), (z == z.conj()).any(axis=0)


def rotated(z: Any, angle: complex) -> Any:
    def step(i: Any, state: Any) -> Any:
        (z,) = state
        return (z * angle + 1j,)

    (z,) = fxc.fori_loop(0, 5, step, (z,))
    return fxc.cond(z.real[0] > 0, lambda z: z.conj(), lambda z: z * 2, z)


@pytest.mark.parametrize("dtype", DTYPES)
def test_programs(dtype: str) -> None:
    grid = np.linspace(-2, 1, 30) + 1j * np.linspace(-1, 1, 21)[:, None]
    factors = np.exp(-1j * np.pi * np.concatenate([np.arange(w) / w for w in (1, 2, 4)]))
    check(mandelbrot, lambda: [grid.astype(dtype), 12])
    check(butterfly, lambda: [numbers(dtype, (5, 8)), factors.astype(dtype)])
    check(normalised, lambda: [numbers(dtype, (6, 9))])
    check(rotated, lambda: [numbers(dtype, (6,)), 0.6 + 0.8j])


def test_symbolic_sizes() -> None:
    def every(z: Any, w: Any) -> Any:
        z[1:] += w[:-1] * 2j
        z.real[::2] = 1
        return z.imag, np.abs(z) + w.real

    compiled = fxc.compile(every, fullgraph=True, dynamic=True)
    for size in (5, 8, 40, 33):
        x = [[numbers("c16", (size,), seed) for seed in range(2)] for _ in range(2)]
        text = difference(run(every, x[0]), run(compiled, x[1]))
        assert not text, text
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls, info.fallbacks) == (1, 0, {})


def _dropped(z, x):
    x[1:] = z[1:]
    for k in range(2):
        x[k] = z[k]
        y = z.astype("f4")
    return y, z.astype(int)


def test_casts_that_drop_an_imaginary_part_warn() -> None:
    """Each of them, at its line; they were at a line of fxc."""
    compiled = fxc.compile(_dropped, fullgraph=True)
    for _ in range(2):
        seen = []
        for function in (_dropped, compiled):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                function(np.ones(3, complex), np.ones(3))
            seen.append([(str(w.message), w.category, w.filename, w.lineno) for w in caught])
        assert seen[0] == seen[1]
        assert len(seen[0]) == 6
    assert compiled.cache_info().eager_calls == 0


def products_of_scalars(z, x):
    out = np.empty((len(z), len(x)), np.result_type(z, x))
    other = np.empty_like(out)
    for i in range(len(z)):
        for j in range(len(x)):
            out[i, j] = z[i] * x[j]
            other[i, j] = x[j] * z[i] * 2.5
    return out, other, z[3] * x[2], x[2] * z[3], z[0] * 2, 2.5 * z[1], z[1] * (1 - 2j)


@pytest.mark.parametrize(("dtype", "beside"), ["Dd", "Dl", "D?", "DF", "Fd", "Ff", "FB"])
def test_products_of_complex_scalars_with_others_are_native(dtype: str, beside: str) -> None:
    parts = np.array([0.0, -0.0, 1.0, -1.0, np.inf, np.nan, 1e20, 2.5])
    with np.errstate(all="ignore"):
        z = (parts[:, None] + np.array([0, -0.0, 1, np.inf]) * 1j).ravel().astype(dtype)
        x = parts.astype(beside)
    compiled = fxc.compile(products_of_scalars, fullgraph=True)
    expected = run(products_of_scalars, [z, x])
    assert difference(expected, run(compiled, [z, x])) == ""
    assert compiled.cache_info().fallbacks == {}
