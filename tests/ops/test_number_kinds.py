"""Numbers of the program beside ints that are arguments, and what elements take of NumPy's ints."""

from __future__ import annotations

import enum
import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run, warnings_of

NUMBERS = [np.int64(7), np.int64(0), np.int32(-7), np.uint8(3), np.bool_(True), np.float32(1.5)]


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_known_numbers_of_numpy_on_the_left_of_ints(number: Any) -> None:
    """They were taken for Python's: the results were Python's, too."""

    def program(n):
        found = [number + n, number - n, number * n, number // n, number % n, number / n]
        found += [number < n, number == n, number >= n, divmod(number, n), max(number, n)]
        for i in range(2, n):
            found[0] = number + i
        return found

    compiled = fxc.compile(program, fullgraph=True)
    for n in (2, 3, 5, 7):
        assert difference(run(program, [n]), run(compiled, [n])) == ""
    assert compiled.cache_info().eager_calls == 0


def test_bits_of_known_numbers() -> None:
    def program(n):
        one = np.int64(9)
        return one & n, one | n, one ^ n, one << n, one >> n, n & one, n << one

    compiled = fxc.compile(program, fullgraph=True)
    for n in (2, 3, 5):
        assert difference(run(program, [n]), run(compiled, [n])) == ""


@pytest.mark.parametrize("expression", ["n + k", "n // k", "n & k", "k - n", "k / n", "n / k"])
def test_an_int_that_the_other_number_cannot_hold(expression: str) -> None:
    """On the left it was wrapped around; division makes floats of both."""
    program = eval(f"lambda k, n: {expression}")
    compiled = fxc.compile(program)
    for number in (np.uint8(3), np.array([3, 5], np.uint8)):
        for n in (2, 3, -2, 300, 5):
            assert difference(run(program, [number, n]), run(compiled, [number, n])) == ""


def _slice(y, s):
    y[0:] = s[0]


def _element(y, s):
    for i in range(len(y)):
        y[i] = s[0]


def _fill(y, s):
    y.fill(s[0])


def _each(y, s):
    y[[0, 1]] = s[0]


def _mask(y, s):
    y[y > 0] = s[0]


@pytest.mark.parametrize("write", [_slice, _element, _fill, _each, _mask])
@pytest.mark.parametrize("kinds", [("i8", "i4"), ("u8", "i1"), ("i4", "i1"), ("i8", "u1")])
def test_ints_of_numpy_that_elements_cannot_hold(
    write: Callable[..., None], kinds: tuple[str, str]
) -> None:
    """They were wrapped around, where NumPy raises OverflowError."""
    compiled = fxc.compile(write, fullgraph=True)
    for number in (5, 300, 2**31 - 1, 2**31 + 5):
        s = np.array([number], np.int64).astype(kinds[0])
        expected, found = (run(fn, [np.arange(3).astype(kinds[1]), s]) for fn in (write, compiled))
        assert difference(expected, found) == ""
    assert compiled.cache_info().native_calls


OF_PYTHONS_NUMBERS: list[Callable[..., Any]] = [
    lambda k, u: np.uint8(k),
    lambda k, u: u.dtype.type(k + 1),
    lambda k, u: np.uint8(k * 0.5),
    lambda k, u: np.int64(k * 1e18),
    lambda k, u: np.int16(k) + sum(int(np.uint8(i * k)) for i in range(3)),
    lambda k, u: np.where(u > 2, u, k),
    lambda k, u: np.where(u > 2, k * 3, u),
]


@pytest.mark.parametrize("options", [{"fullgraph": True}, {"fullgraph": True, "dynamic": True}])
@pytest.mark.parametrize("place", range(len(OF_PYTHONS_NUMBERS)))
def test_numbers_of_python_that_a_dtype_cannot_hold(place: int, options: dict[str, Any]) -> None:
    """``np.uint8(k)`` raises, ``np.where(m, u, k)`` takes the low bits before NumPy 2.5."""
    program = OF_PYTHONS_NUMBERS[place]
    compiled = fxc.compile(program, **options)
    for number in (5, 100, 300, -3, -300, 2**33):
        inputs = [number, np.arange(6, dtype="u1")]
        assert difference(run(program, inputs), run(compiled, inputs)) == ""


def test_a_list_from_outside_and_a_number() -> None:
    def program(log, x):
        return log + x[0], log + np.any(x > 1), [*log, 1]

    compiled = fxc.compile(program, fullgraph=True)
    for log in ([], [1.0, 2.0]):
        assert (
            difference(run(program, [log, np.arange(3.0)]), run(compiled, [log, np.arange(3.0)]))
            == ""
        )


POWERS = [2, 2.0, 0.5, -1.0, 1, 0, True, np.float64(2), np.float32(0.5), np.int64(2), np.int8(0)]


@pytest.mark.parametrize("exponent", POWERS, ids=repr)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "i4", "u1", "?"])
def test_powers_by_numbers_of_either_kind(dtype: str, exponent: Any) -> None:
    """NumPy takes shortcuts, in 2.0 for other numbers than later, and with another dtype."""

    def power(x, k):
        return x**k, np.power(x, k)

    def in_place(x, k):
        x **= k
        return x

    def of_some(x, k):
        y = x[x == x]
        y **= k
        return y, x[x == x] ** k

    # Of shortcuts each bit counts: pow of these numbers is as exact but for the roots.
    ulps = 0.0 if dtype in ("f2", "c8") or exponent not in (0.5, -1.0) else 1.0
    for fn in (power, in_place, of_some):
        compiled = fxc.compile(fn)
        for _ in range(2):
            x, y = (np.array([3, 1, 0, 5, 2, 7, 4]).astype(dtype) for _ in range(2))
            assert not difference(
                run(fn, [x, exponent]), run(compiled, [y, exponent]), lambda _: ulps
            )


def test_inverted_number_of_either_kind() -> None:
    def program(x, n):
        m = n
        if x[0] > 1:
            m = x[1]
        return ~m, ~min(m, 3)

    for dtype in ("i8", "i4", "u1", "?"):
        compiled = fxc.compile(program, fullgraph=True)
        for first in (0, 5):
            x = np.array([first, 5], dtype)
            assert difference(run(program, [x, 7]), run(compiled, [x, 7])) == ""
        assert compiled.cache_info().eager_calls == 0


def test_inverted_bools_of_python_warn_where_python_does() -> None:
    """From Python 3.12 on it warns, of those that are not known until the call, too."""

    def program(x):
        found = ~bool(x[0] > 0)
        return x * found

    compiled = fxc.compile(program, fullgraph=True)
    for x in (np.arange(3.0), np.ones(3)) * 2:
        assert warnings_of(compiled, x) == warnings_of(program, x)
        assert not difference(run(program, [x]), run(compiled, [x]))


@pytest.mark.parametrize("options", [{}, {"backend": "numpy"}])
def test_an_int_of_more_than_64_bits_that_meets_a_number_of_numpy(options: dict[str, Any]) -> None:
    """NumPy's own evaluation went on with it, where nobody reads the sum."""

    def program(x, v):
        n = 5
        for i in [j for j in range(len(x)) if x[j] > 0]:
            n = i * 6364136223846793005 + i
        n += v.argmax()

    compiled = fxc.compile(program, **options)
    x, v = np.array([-3, -1, 4]), np.arange(3)
    assert difference(run(program, [x, v]), run(compiled, [x, v])) == ""


def put_each(x: Any, y: Any) -> Any:
    for i in range(len(x)):
        x[i] = y[i % 2]


def put_more(x: Any, y: Any) -> Any:
    x[1] += y[0] * 2


@pytest.mark.parametrize("number", [2.75 + 1j, -3.5j, complex(np.inf), complex(np.nan, 1)])
@pytest.mark.parametrize("dtype", ["i4", "i8", "u1", "f4"])
@pytest.mark.parametrize("program", [put_each, put_more])
def test_complex_numbers_go_into_elements(program: Any, dtype: str, number: complex) -> None:
    """Those that make no int were stored in signed integers."""
    given = [(np.zeros(3, dtype), np.array([number, 1.0])) for _ in range(2)]
    assert difference(run(program, given[0]), run(fxc.compile(program), given[1])) == ""


def test_numbers_of_numpy_where_nothing_is_rounded_or_replaced() -> None:
    def fn(x: Any, i: Any, n: int, s: float) -> Any:
        of_ints = np.round(n), np.round(i[0]), np.round(i[0, ...]), np.round(int(i[0]), 1)
        floats = np.nan_to_num(x[0]), np.nan_to_num(x[0, ...], copy=False), np.nan_to_num(s)
        return of_ints, floats, np.nan_to_num(x[1:2])

    x, i = np.array([np.nan, np.inf, 2.0]), np.arange(3, dtype="i4")
    expected, found = (run(each, [x.copy(), i, 5, 2.5]) for each in (fn, fxc.compile(fn)))
    assert difference(expected, found) == ""


COMPLEX = [
    lambda x, v: np.array(v, float),
    lambda x, v: np.array([v, 1], int),
    lambda x, v: np.float64(v),
    lambda x, v: np.put(x, 0, v),
    lambda x, v: x.__setitem__(slice(None), [v, v, v]),
    lambda x, v: np.insert(x, 0, v),
    lambda x, v: int(v),
]


@pytest.mark.parametrize("kind", [complex, np.complex128, np.array, lambda x: x])
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_complex_numbers_as_real_ones(kind: Callable[[Any], Any]) -> None:
    """Python's raise, NumPy's lose their imaginary part."""
    for use in COMPLEX:

        def fn(x: Any, use: Callable[..., Any] = use) -> Any:
            return use(x, kind(x[1] * 1j)), x

        expected, found = (run(each, [np.arange(1.0, 4.0)]) for each in (fn, fxc.compile(fn)))
        assert difference(expected, found) == ""


Z = np.complex128(2.5 + 1j)
OF_COMPLEX = [
    lambda x: math.fabs(x[0]),
    lambda x: math.sqrt(1.0 - x[1:].max()),
    lambda x: math.acos(x[0]),
    lambda x: math.atanh(x[0]),
    lambda x: math.log(2, x[1]),
    lambda x: math.hypot(x[0, ...], 1),
    lambda x: math.floor(x[0]),
    lambda x: math.gamma(x[0]),
    lambda x: math.fsum([x[0], 1]),
    lambda x: float(x.sum()),
    lambda x: "%.2f" % x[0],  # noqa: UP031
    lambda x: [math.fabs(each) for each in x],
    lambda x: x + math.fabs(Z),
    lambda x: x + float(Z),
    lambda x: x + int(Z),
    lambda x: x + math.isclose(Z, 1),
    lambda x: "%.2f" % Z,  # noqa: UP031
    lambda x: float(np.complex64(2)) + x,
]


@pytest.mark.parametrize("place", range(len(OF_COMPLEX)))
def test_numpy_warns_of_an_imaginary_part_once_in_each_call(place: int) -> None:
    fn = OF_COMPLEX[place]
    compiled = fxc.compile(fn)
    for _ in range(3):
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            expected = run_loudly(fn)
            before = len(shown)
            found = run_loudly(compiled)
        texts = [str(each.message) for each in shown if each.category is not fxc.CaptureWarning]
        assert found == expected
        assert texts[before:] == texts[:before]


def run_loudly(fn: Callable[..., Any]) -> str:
    try:
        return repr(fn(np.array([2.5 + 1j, 1.0])))
    except (TypeError, ValueError, ZeroDivisionError) as error:
        return repr(error)


def test_code_points_and_indices_of_arrays_that_are_no_ints() -> None:
    """NumPy makes ints of numbers only where they are ints."""
    for use in (chr, operator.index):
        for dtype in (bool, np.int8, np.uint64, np.float64, np.complex128):

            def fn(x: Any, use: Any = use) -> Any:
                return use(x[1, ...])

            x = np.array([0, 1]).astype(dtype)
            assert difference(run(fn, [x]), run(fxc.compile(fn), [x])) == ""


def test_an_array_has_no_integral_part() -> None:
    def fn(x: Any) -> Any:
        return math.trunc(x[0]), math.trunc(x[1, ...])

    x = np.array([2.5, -1.5])
    assert difference(run(fn, [x]), run(fxc.compile(fn), [x])) == ""


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="NumPy wraps around, too")
@pytest.mark.parametrize("dtype", ["u1", "u8", "i1", "i8", "?"])
def test_rolled_by_ints_of_numpy(dtype: str) -> None:
    """The negative of an unsigned one is no number of places."""
    known = np.array([1]).astype(dtype)[0]

    def fn(x: Any, by: Any) -> Any:
        return np.roll(x, by[0]), np.roll(x, (by[0], by[1]), (0, 0)), np.roll(x, known), x

    compiled = fxc.compile(fn, fullgraph=True)
    for size in (3, 3, 5, 6):
        x, by = np.arange(size) + 0.5, np.array([1, 100]).astype(dtype)
        assert difference(run(fn, [x, by]), run(compiled, [x, by])) == ""
    assert compiled.cache_info().eager_calls == 0


def test_parts_of_bools_and_elements_as_bounds() -> None:
    def fn(x: Any) -> Any:
        s, t = bool(x[1]), x[1] > 1
        parts = s.real, s.imag, t.real, t.imag, t.conjugate(), np.real(s), np.conj(t)
        return parts, np.linspace(0, x[1, ...], 3), np.linspace(x[2, ...], x[0], 3)

    x = np.arange(3.0)
    assert difference(run(fn, [x]), run(fxc.compile(fn, fullgraph=True), [x])) == ""


def test_numbers_of_numpy_have_shapes_of_their_own() -> None:
    def fn(x: Any) -> Any:
        s, one, i = x[1], x[1, ...], float(x[1])
        of_numpy = (
            np.squeeze(s),
            np.squeeze(s, 0),
            np.transpose(s),
            np.reshape(s, ()),
            np.squeeze(x > 1),
        )
        return of_numpy, np.squeeze(one), np.transpose(one), np.squeeze(i), np.reshape(i, ())

    x = np.arange(3.0)
    assert difference(run(fn, [x]), run(fxc.compile(fn, fullgraph=True), [x])) == ""


@pytest.mark.parametrize("number", [1.5, 3, True], ids=repr)
@pytest.mark.parametrize("dtype", ["f2", "i1", "u8"])
def test_a_number_of_pythons_that_is_clipped(number: Any, dtype: str) -> None:
    """It gets the dtype of an array, and keeps it beside the bounds."""

    def program(k, x):
        return (
            np.clip(k, x, x + x),
            np.clip(k, x[0], None),
            np.clip(k, None, x[1]),
            np.clip(k, 0, 2),
        )

    compiled = fxc.compile(program, fullgraph=True)
    x = np.arange(3).astype(dtype)
    assert difference(run(program, [number, x]), run(compiled, [number, x])) == ""


def test_a_bound_that_only_the_dtype_of_the_other_bound_holds() -> None:
    def program(x, high):
        return np.clip(x, 300, high), np.clip(x, high, 300), np.clip(x, -1, high)

    compiled = fxc.compile(program, fullgraph=True)
    for dtype in ("i1", "u1"):
        x = np.arange(4).astype(dtype)
        assert difference(run(program, [x, 2.5]), run(compiled, [x, 2.5])) == ""


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Length(float):
    pass


@pytest.mark.parametrize("number", [Level.HIGH, Length(2.5)], ids=repr)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "u1"])
def test_numbers_of_derived_classes(number: Any, dtype: str) -> None:
    """NumPy takes them for numbers of its own, Python for its own."""

    def program(x):
        y = [x * number, x[0] * number, number + x[:2], np.array([number, x[0]]), x.sum() / number]
        y += [np.maximum(x, number), np.clip(x, 0, number), np.where(x > 2, number, x)]
        return y, number * int(x[0]), len(x) + number, 2 * number

    compiled = fxc.compile(program, fullgraph=True)
    x = np.arange(1, 5).astype(dtype)
    for _ in range(2):
        assert difference(run(program, [x]), run(compiled, [x])) == ""
    assert compiled.cache_info().eager_calls == 0
