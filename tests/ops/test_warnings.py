"""What NumPy tells the user: floating-point warnings, and ``np.errstate``, as plain NumPy has them.

A case runs as plain NumPy and compiled, with all warnings let through. Categories, texts and lines, what
is printed, exceptions and the contents of the arguments have to be the same. Where NumPy has nothing to
tell, native code serves the call: flags that it sets by itself would cost time.
"""

from __future__ import annotations

import copy
import io
import itertools
import linecache
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from typing import Any

import numpy as np
import pytest

import fxc
import fxc.compilations.variants
import fxc.native.flagged
from fxc.ir.flag_bits import HAS_FLAGS
from fxc.ops.table import TABLE
from tests.covering import pairs, some

pytestmark = pytest.mark.skipif(not HAS_FLAGS, reason="this processor's flags are not looked at")

Outcome = tuple[Any, ...]
_numbers = itertools.count()


def function(source: str, **names: Any) -> Callable[..., Any]:
    """The function ``f`` of a source text that has lines."""
    file = f"<warnings {next(_numbers)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space = {"np": np, "warnings": warnings, **names}
    exec(compile(source, file, "exec"), space)
    made: Callable[..., Any] = space["f"]
    return made


def outcome(f: Callable[..., Any], args: Sequence[Any], action: Any = "always") -> Outcome:
    """Warnings, printed text, exception, result and what the arguments are then."""
    args = copy.deepcopy(args)
    printed = io.StringIO()
    result, error = None, None
    with warnings.catch_warnings(record=True) as caught, redirect_stdout(printed):
        warnings.simplefilter(action)
        try:
            result = f(*args)
        except Exception as raised:
            error = type(raised), str(raised)
    told = [(w.category, str(w.message), w.filename, w.lineno) for w in caught]
    return told, printed.getvalue(), error, _plain(result), _plain(args)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, np.ndarray | np.generic):  # elementary functions may differ in last bits
        found = np.asarray(value)
        numbers = found.ravel().tolist()
        shown = [f"{x:.4e}" if found.dtype.kind in "fc" else repr(x) for x in numbers]
        return (type(value), found.dtype, found.shape, shown)
    return repr(value)


def check(source: str, *calls: tuple[Any, ...], **names: Any) -> fxc.Compiled[..., Any]:
    """Each call tells the same, compiled or not; nothing is told of one that is served natively."""
    f = function(source, **names)
    compiled = fxc.compile(f, fullgraph=True)
    for args in calls:
        wake(compiled)
        before = compiled.cache_info().eager_calls
        expected, found = outcome(f, args), outcome(compiled, args)
        assert found == expected, (source, args)
        if not expected[0]:
            assert compiled.cache_info().eager_calls == before, (source, args)
    return compiled


def wake(compiled: Any) -> None:
    """Let the next call be a native one, whatever was told before."""
    for variant in compiled._state.variants:
        variant.replays, variant.last_replay = 0, -100


def told(source: str, *args: Any) -> list[str]:
    """What NumPy has to say, for tests that rely on it."""
    return [each[1] for each in outcome(function(source), args)[0]]


# ------------------------------------------------------------------ operators

FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.7, 1e5, -1e5, 88.8, -104.0, 710.0, -750.0]
HUGE = [1e38, -1e38, 1e-38, 1e-45, 1e308, -1e308, 1e-308, 1e-320, np.inf, -np.inf, np.nan]
INTS = [0, 1, -1, 2, 7, 100, -128, -(2**31), -(2**63), 2**31 - 1, 2**63 - 1]
# Native code sets a flag where NumPy does not, for these operands: infinities, nans, and numbers
# that become infinite in float32. They cost time.
LOUD = {
    *("maximum", "minimum", "fmax", "fmin", "sign", "heaviside", "fmod", "remainder", "divmod"),
    *("floor_divide", "power", "float_power", "arctan2", "arcsinh", "arccosh", "cbrt", "log1p"),
    *("sinh", "cosh", "tanh", "tan", "expm1", "absolute"),
}


def _has_loop(ufunc: np.ufunc, kind: str) -> bool:
    code = np.dtype(kind).char
    return ufunc.signature is None and any(t.startswith(code * ufunc.nin) for t in ufunc.types)


def _cases() -> Iterator[tuple[str, np.ufunc]]:
    """Each ufunc of the table with floats and with integers of some dtypes, others for the next one."""
    seen = {row.numpy for row in TABLE if isinstance(row.numpy, np.ufunc)}
    for turn, ufunc in enumerate(sorted(seen, key=lambda each: each.__name__)):
        for kinds in (("f8", "f4"), ("i8", "u1", "i4")):
            for kind in some([kind for kind in kinds if _has_loop(ufunc, kind)], 1, turn):
                yield kind, ufunc


def _with(place: int, value: Any, size: int, dtype: str, usual: float) -> np.ndarray:
    with np.errstate(all="ignore"):
        made = np.full(size, usual)
        made = made.astype(dtype)
        made[place] = np.array(value).astype(dtype)
    return made


_USUAL = {"arccosh": 2.0, "arctanh": 0.5}
CASES = list(_cases())


@pytest.mark.parametrize(("kind", "ufunc"), CASES, ids=[f"{u.__name__}-{k}" for k, u in CASES])
def test_each_ufunc(kind: str, ufunc: np.ufunc) -> None:
    """One special element among usual ones: in a vector, at its end, in the rest of a loop."""
    names = ["a", "b"][: ufunc.nin]
    f = function(
        f"def f({', '.join(names)}):\n    return np.{ufunc.__name__}({', '.join(names)})\n"
    )
    compiled = fxc.compile(f)
    numbers = FLOATS + HUGE if kind[0] == "f" else [n for n in INTS if _fits(n, kind)]
    usual = _USUAL.get(ufunc.__name__, 1.0)
    for special in _specials(numbers, ufunc.nin):
        for size, place in ((37, 7), (37, 36), (1, 0)) if ufunc.nin == 1 else ((37, 36),):
            args = [_with(place, each, size, kind, usual) for each in special]
            wake(compiled)
            before = compiled.cache_info().eager_calls
            expected, found = outcome(f, args)[0], outcome(compiled, args)[0]
            assert found == expected, special
            ordinary = all(x == 0 or 1e-30 < abs(x) < 1e30 for x in map(float, special))
            if not expected and (ordinary or ufunc.__name__ not in LOUD) and kind[0] == "f":
                assert compiled.cache_info().eager_calls == before, special


@pytest.mark.parametrize("kind", ["c16", "c8"])
@pytest.mark.parametrize("name", ["exp", "log", "sqrt"])
def test_functions_of_complex_numbers(name: str, kind: str) -> None:
    """Flags that NumPy's do not set: of what is infinite or nan, and of what is rounded to 0."""
    parts = [0.0, -0.0, 1.0, -2.5, 88.8, -104.0, 710.0, -750.0, 1e30, -1e-30, 1e308, 1e-320]
    parts += [np.inf, -np.inf, np.nan]
    f = function(f"def f(a):\n    return np.{name}(a)\n")
    compiled = fxc.compile(f, fullgraph=True)
    for turn, (x, y) in enumerate(itertools.product(parts, repeat=2)):
        size, place = ((19, 7), (19, 18), (1, 0))[turn % 3]
        args = [_with(place, complex(x, y), size, kind, 1.0)]
        for modes in ({}, {"under": "warn"}):
            wake(compiled)
            before = compiled.cache_info().eager_calls
            with np.errstate(**modes):
                expected, found = outcome(f, args)[0], outcome(compiled, args)[0]
            assert found == expected, (x, y)
            if not expected and all(1e-25 < abs(each) < 30 for each in (x, y)):
                assert compiled.cache_info().eager_calls == before, (x, y)


@pytest.mark.parametrize("kind", ["c16", "c8"])
@pytest.mark.parametrize(
    "name", ["less", "less_equal", "greater", "greater_equal", "equal", "maximum", "divide"]
)
def test_complex_numbers_in_order(name: str, kind: str) -> None:
    """What has no order is invalid to comparisons, and to divisions by it, which compare parts."""
    parts = [1.0, np.inf, np.nan]
    numbers = [complex(x, y) for x, y in itertools.product(parts, repeat=2)]
    f = function(f"def f(a, b):\n    return np.{name}(a, b)\n")
    compiled = fxc.compile(f, fullgraph=True)
    for x, y in itertools.product(numbers, repeat=2):
        args = [_with(18, each, 19, kind, 1.0) for each in (x, y)]
        wake(compiled)
        assert outcome(f, args)[0] == outcome(compiled, args)[0], (x, y)


@pytest.mark.parametrize("kind", ["c16", "c8"])
def test_complex_divisors_without_a_size(kind: str) -> None:
    f = function("def f(a):\n    return 1 / a[0], np.reciprocal(a), a[0] / a[1]\n")
    compiled = fxc.compile(f, fullgraph=True)
    for x, y in itertools.product([1 + 1j, complex(1, NAN), complex(NAN, INF)], repeat=2):
        args = (np.array([x, y], kind),)
        wake(compiled)
        assert outcome(f, args)[0] == outcome(compiled, args)[0], (x, y)


def _specials(numbers: list[Any], count: int) -> list[tuple[Any, ...]]:
    """Each number in each place, beside a few of the others."""
    every = list(itertools.product(numbers, repeat=count))
    return every if count == 1 else some(every, 150)  # a step that divides no row


def _fits(number: int, kind: str) -> bool:
    return np.iinfo(kind).min <= number <= np.iinfo(kind).max


OPERATORS = ["+", "-", "*", "/", "//", "%", "**"]


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("kind", ["f8", "f4", "c16"])
def test_scalars(kind: str, operator: str) -> None:
    if kind == "c16" and operator in ("//", "%"):
        return
    numbers = [0.0, -0.0, 1.0, -2.5, 1e30] if kind != "c16" else [0.0, 1.0, -2.5, 1e200]
    with np.errstate(all="ignore"):
        pairs = [np.array(p).astype(kind) for p in itertools.product(numbers, repeat=2)]
    check(f"def f(a):\n    x = a[0] {operator} a[1]\n    return x\n", *((p,) for p in pairs))


@pytest.mark.parametrize("operator", ["//", "%", "/"])
def test_scalars_that_are_integers(operator: str) -> None:
    pairs = [np.array(pair) for pair in itertools.product([0, 1, -1, 7, -9], repeat=2)]
    check(f"def f(a):\n    x = a[0] {operator} a[1]\n    return x\n", *((p,) for p in pairs))


@pytest.mark.parametrize("kind", ["i8", "i4", "i1", "u8", "u1"])
@pytest.mark.parametrize("operator", ["+", "-", "*"])
def test_scalars_that_are_integers_and_overflow(operator: str, kind: str) -> None:
    limits = np.iinfo(kind)
    numbers = sorted({0, 1, 5, limits.max, limits.min, limits.max // 2 + 1, max(-1, limits.min)})
    pairs = [np.array(pair, kind) for pair in itertools.product(numbers, repeat=2)]
    check(f"def f(a):\n    x = a[0] {operator} a[1]\n    return x\n", *((p,) for p in pairs))
    check("def f(a):\n    return -a[0]\n", *((p,) for p in pairs))


@pytest.mark.parametrize("target", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "?"])
@pytest.mark.parametrize("kind", ["f8", "f4"])
def test_casts(kind: str, target: str) -> None:
    numbers = [
        1.5,
        np.nan,
        np.inf,
        300.0,
        -3.0,
        3e9,
        -3e9,
        1e19,
        1e30,
        2.0**31,
        -(2.0**63),
        2.0**63,
    ]
    if target == "u4":  # where NumPy warns depends on the processor, as its results do
        numbers = [number for number in numbers if not abs(number) >= 2.0**32 and number >= 0]
    f = function(f"def f(a):\n    return a.astype('{target}')\n")
    compiled = fxc.compile(f, fullgraph=True)
    for number, size in itertools.product(numbers, (5, 40)):
        args = (_with(3, number, size, kind, 1.0),)
        wake(compiled)
        # What numbers out of range become is another matter, see docs/numerics.md.
        assert outcome(compiled, args)[0] == outcome(f, args)[0], number


# ------------------------------------------------------------------ programs

INF, NAN = np.inf, np.nan
A, B = (
    np.array([5.0, 1, 0, -2, 3, 0, 4, 5, -6, 7, 2]),
    np.array([1.0, 0, 0, 2, 3, 4, 5, 6, 0, 9, 1]),
)
PROGRAMS: list[tuple[str, tuple[Any, ...]]] = [
    ("return a.sum(), a.mean(), a.std()", (np.array([INF, -INF, 2]),)),
    ("return a.sum(0), a.sum(1)", (np.array([[1e308, 2], [1e308, 3]]),)),
    ("return a.prod(), a.cumsum(), a.cumprod()", (np.array([1e308, 1e308, 2]),)),
    ("return np.where(b != 0, a / b, 0)", (A, B)),
    ("x = 1 / a\n    x[a == 0] = 0\n    return x", (A,)),
    ("x = 1 / a\n    y = 1 / a\n    return x, y", (A,)),
    ("x = a / 0\n    y = a * np.inf\n    return x, y, np.exp(a * 1e4)", (A,)),
    ("return a @ b", (np.array([[INF, 1], [1, 2]]), np.array([[1, -INF], [-INF, 2]]))),
    ("return np.sqrt(a[3]), np.log(a[2])", (A,)),
    ("return np.logaddexp(a, b), np.log(np.abs(a))", (np.array([1, NAN]), np.array([NAN, 0.0]))),
    ("return np.spacing(a), np.log(np.abs(b))", (np.array([1, INF]), np.array([NAN, 0.0]))),
    ("return np.linalg.inv(a), np.linalg.det(a * 1e308)", (np.array([[5.0, 1], [1, 3]]),)),
    ("s = 0.0\n    for i in range(len(a)):\n        s += 1 / a[i]\n    return s", (A,)),
    ("for i in range(len(a)):\n        a[i] = np.sqrt(a[i])\n    return a", (A,)),
    ("for i in range(20):\n        a *= a\n    return a", (A,)),
    ("i = 0\n    while i < 11:\n        a[i] /= b[i]\n        i += 1\n    return a", (A, B)),
    ("if a[0] > 3:\n        a = a / 0\n    return a", (A,)),
    ("a /= b\n    a -= b", (A, B)),
    ("a[:] = 1 / b\n    b[:] = 0", (A, B)),
    ("a[1:] += a[:-1] / b[1:]\n    return a.sum()", (A, B)),
    ("return a // b, a % b, np.fmod(a, b)", (A.astype(int), B.astype(int))),
    ("a //= b\n    return a", (A.astype(int), B.astype(int))),
    ("return (a + 1j * b) / (b * 1j)", (A, B)),
    ("return np.outer(a, 1 / b), np.interp(a, b, b)", (A, B)),
    ("return 0.0**a, np.power(-0.0, a)", (np.array([-7.0, 1, 2, 0, 3]),)),
]


@pytest.mark.parametrize(("body", "args"), PROGRAMS, ids=[body for body, _ in PROGRAMS])
def test_programs(body: str, args: tuple[Any, ...]) -> None:
    names = ", ".join(("a", "b")[: len(args)])
    source = f"def f({names}):\n    {body}\n"
    assert told(source, *copy.deepcopy(args))
    check(source, args, args, args)


CONSTANTS = [
    "np.zeros(n) / 0.0",
    "np.zeros(n)[0] / 0.0, np.ones(n)[1] / np.zeros(n)[1]",
    "np.full(n, 1e308) * 10, np.zeros(n) * np.inf",
    "np.log(np.zeros(n)), np.exp(np.full(n, 1e4))",
    "np.full(n, 1e300).astype('f4'), np.full(n, 1e5).astype('f2')",
    "np.where(np.zeros(n) > 0, 1 / np.zeros(n), 0)",
    "1 / np.concatenate([[0.0], np.ones(n)[n:]])",
    "1 / np.concatenate([[0], np.arange(n)[n:]])",
]


@pytest.mark.parametrize("expression", CONSTANTS)
def test_constants(expression: str) -> None:
    """LLVM is not to compute with them, as it would set no flags."""
    source = f"def f(n):\n    return {expression}\n"
    assert told(source, 5)
    check(source, (3,), (4,), (20,))


NUMBERS_OUT_OF_RANGE = [
    "a + 1e300, a[0] * -1e300",
    "np.minimum(a, 1e300)",
    "a < 1e300",
    "np.where(a > 0, a, 1e39)",
    "np.maximum(a[0], 1e300 + 1j), a.sum()",
    "a.real[0].astype('f2') + 70000, a != 1e300",
]


@pytest.mark.parametrize("kind", ["f4", "f2"])
@pytest.mark.parametrize("expression", NUMBERS_OUT_OF_RANGE)
def test_numbers_that_are_too_large_for_a_dtype(expression: str, kind: str) -> None:
    """NumPy casts them first, and tells of it."""
    source = f"def f(a):\n    return {expression}\n"
    args = (np.arange(5.0).astype(kind),)
    if (kind, "j" in expression) != ("f2", True):
        assert told(source, *args)
    check(source, args, args)


@pytest.mark.parametrize("kind", ["i4", "u2", "i8"])
def test_integers_that_are_too_large_for_float16(kind: str) -> None:
    source = "def f(a):\n    return np.float16(a[0]), a.astype('f2')\n"
    args = (np.array([np.iinfo(kind).max, 3], kind),)
    assert told(source, *args)
    check(source, args, (np.array([5, 3], kind),), args)


def test_parts_that_are_too_large() -> None:
    args = (np.ones(3, "c8"),)
    assert told("def f(a):\n    return a != 1e300\n", *args)
    check("def f(a):\n    return a != 1e300\n", args, args)


def test_the_other_way_round() -> None:
    """Python's numbers leave a comparison to NumPy's scalar, which turns it round."""
    source = "def f(a, k):\n    return k < a, k + 0 >= a\n"
    args = (np.longdouble(NAN), 2j)
    assert [text.split()[-1] for text in told(source, *args)] == ["greater", "less_equal"]
    check(source, args, args)


@pytest.mark.parametrize("given", ["a, b", "a, b, None", "a, b, out=None", "a, b, out=(None,)"])
def test_a_mask_without_an_output(given: str) -> None:
    """NumPy warns of that from 2.4 on, unless the program says that there is none."""
    check(
        f"def f(a, b):\n    c = np.add({given}, where=b > 1)\n    return c[b > 1]\n", *[(A, B)] * 3
    )


SILENT: list[tuple[str, tuple[Any, ...]]] = [
    ("return a < b, a >= 0, (a > b) & (b > 1)", (np.resize([1, NAN, 3], 40), np.ones(40))),
    ("return np.where(a > 0, a, b), np.nansum(a)", (np.resize([1, NAN, 3], 40), np.ones(40))),
    ("return np.exp(a), np.exp2(a), np.abs(a + 0j)", (np.resize([-INF, NAN, 3, 0], 40),)),
    ("return np.exp(-a * a), a**3, a**2.5", (np.linspace(0, 50, 40),)),
    ("return np.divide(a, b, out=np.zeros(11), where=b != 0)", (A, B)),
    (
        "for i in range(11):\n        if b[i] != 0:\n            a[i] = a[i] / b[i]\n    return a",
        (A, B),
    ),
    (
        "for i in range(11):\n        if b[i] != 0:\n            a[i] = a[i] // b[i]\n    return a",
        (A.astype(int), B.astype(int)),
    ),
    (  # of few iterations: LLVM would run it with lanes past its end
        "c = np.zeros((3, 6))\n    c[:, 0] = np.log(a[:3]) + np.log(b[:3])\n"
        "    for t in range(1, 6):\n        c[0, t] = np.log(a[3 * t])\n    return c",
        (np.linspace(1, 2, 40), np.ones(40)),
    ),
    ("return x * x - x * x, x * 1e300 * 1e300", (INF, 1e300)),
    ("return np.tanh(a), np.sin(a), np.cbrt(a), np.arctan2(a, b), np.hypot(a, b)", (A, B)),
    ("return a.astype(int), (a * 100).astype('i1'), a.astype('f4')", (A,)),
]


@pytest.mark.parametrize(("body", "args"), SILENT, ids=[body for body, _ in SILENT])
def test_flags_that_numpy_does_not_set(body: str, args: tuple[Any, ...]) -> None:
    """nan and infinities among the data, lanes and arms that are not taken, Python's numbers."""
    names = ", ".join(("x", "y") if type(args[0]) is float else ("a", "b")[: len(args)])
    source = f"def f({names}):\n    {body}\n"
    assert not told(source, *copy.deepcopy(args))
    assert check(source, args, args).cache_info().eager_calls == 0


def test_arms_that_are_run_in_lanes() -> None:
    """Both arms of a branch in a loop are computed, until that has set a flag: once. From then on
    they are branches, and zeros among the numbers are told of.
    """
    source = (
        "def f(a):\n    c = np.zeros(len(a))\n    for i in range(len(a)):\n        if a[i] >= 0:\n"
        "            c[i] = 1 / (a[i] + 1) + np.sqrt(a[i]) + np.log(a[i])\n"
        "        if a[i] < 1e200:\n            c[i] += a[i] * a[i]\n    return c\n"
    )
    clean, zero = (np.resize([-1.0, x, 1e300], 100) for x in (2.0, 0.0))
    f = function(source)
    compiled = fxc.compile(f, fullgraph=True)
    for args, tells in (
        (clean, False),
        (clean, False),
        (clean, False),
        (zero, True),
        (clean, False),
    ):
        wake(compiled)
        expected = outcome(f, (args,))
        assert outcome(compiled, (args,)) == expected
        assert bool(expected[0]) is tells
    assert compiled.cache_info().eager_calls <= 2  # some processors have no lanes for it
    assert compiled.cache_info().variants == 1


def test_a_power_that_is_known_late() -> None:
    check("def f(a, p):\n    return a**p\n", *((A, p) for p in (2.0, 3.0, 0.5, -1.0, 1.0, -0.5)))


# ------------------------------------------------------------------ in place, and often


def test_inputs_that_are_updated_are_as_they_were() -> None:
    """For the warnings NumPy runs the call once more; what was overwritten comes back first."""
    source = "def f(a, b, c):\n    a *= 2\n    c += a\n    a /= b\n    return np.log(c)\n"
    args = (A.copy(), B.copy(), np.zeros(11))
    check(source, *[args] * 4)


@pytest.mark.parametrize("clean", [0, 3, 40])
def test_a_warning_after_many_calls_without(clean: int) -> None:
    f = function("def f(a, b):\n    a /= b\n")
    compiled = fxc.compile(f, fullgraph=True)
    calls = [(A, np.ones(11))] * clean + [(A, B)] * 3 + [(A, np.ones(11))] * 3
    for args in calls:
        assert outcome(compiled, args) == outcome(f, args)


def test_native_calls_warn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fxc.compilations.variants, "OFTEN", 1)
    f = function("def f(a, b):\n    return a / b, (a * b).sum()\n")
    compiled = fxc.compile(f, fullgraph=True)
    ones = np.ones(11)
    for args in [(A, ones)] * 4 + [(A, B)] * 9 + [(A, ones)] * 9:
        assert outcome(compiled, args) == outcome(f, args)


# What NumPy computes of chosen elements only: 0 / 0, the logarithm of 0, inf - inf are left out.
CHOSEN = [
    "a[m] /= b[m]",
    "a[m] = a[m] / b[m]",
    "a[b > 0] /= b[b > 0]",
    "a[m] = np.log(b[m]) * a[m] - b[m] ** -0.5",
    "a[m] = np.sqrt(b[m] - 0.5) / (b[m] + a[m]) + (b[m] - a[m])",
    "a[m] -= 1 / b[m]",
    "a[m] = (a[m] / b[m].astype(int)).round(2)",
    "np.power(b, -0.5, out=a, where=m)",
    "c = np.tile(b, (2, 1)).T * 1j; a[m] = (a[:, None] / c)[m].imag.sum(-1)"
    "; c[m] /= c[m].conj(); a[m] += c[m, 0].real",
]


class _Interrupts:
    """NumPy's errstate; the handler of a signal raises as soon as it is set for the first time."""

    def __init__(self, state: Any) -> None:
        self.get, self.reset, self.is_new = state.get, state.reset, True
        self._set = state.set

    def set(self, value: object) -> Any:
        token = self._set(value)
        if self.is_new:
            self.is_new = False
            raise KeyboardInterrupt
        return token


def test_errstate_is_as_it_was_after_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    state = _Interrupts(fxc.native.flagged.ERRSTATE)
    monkeypatch.setattr(fxc.native.flagged, "ERRSTATE", state)
    program = fxc.compile(lambda x: np.linalg.inv(x) / 2, fullgraph=True)
    with np.errstate(all="raise"):
        before = np.geterr()
        with pytest.raises(KeyboardInterrupt):
            program(np.eye(2))
        assert not state.is_new
        assert np.geterr() == before
        assert program(np.eye(2)).tolist() == [[0.5, 0], [0, 0.5]]


@pytest.mark.parametrize("statement", CHOSEN)
def test_what_a_mask_leaves_out_sets_no_flags(statement: str) -> None:
    """It is computed with the rest, and took every call back to NumPy."""
    f = function(f"def f(a, b):\n    m = b > 0.6\n    {statement}\n    return a\n")
    compiled = fxc.compile(f, fullgraph=True)
    x, y = np.linspace(0, 4, 41), np.linspace(1, 3, 41)
    y[::3] = x[::3] = 0
    y[4] = x[4] = -np.inf
    whole = "[:, None]" in statement  # is divided wholly, before the mask chooses
    for value in (2.5, 1.5):
        y[7] = value
        assert outcome(compiled, (x, y)) == outcome(f, (x, y))
    assert compiled.cache_info().native_calls == (0 if whole else 2)
    y[7], x[7] = np.nan, np.inf  # these are chosen
    x[10] = y[10] = 1e308
    assert outcome(compiled, (x, y)) == outcome(f, (x, y))


def test_a_function_that_warns_at_each_call_becomes_plain_numpy() -> None:
    f = function("def f(a, b):\n    return a / b\n")
    compiled = fxc.compile(f)
    for _ in range(300):
        assert outcome(compiled, (A, B)) == outcome(f, (A, B))
    tried = sum(v.replays for v in compiled._state.variants)
    assert compiled.cache_info().eager_calls == 300
    assert tried <= fxc.compilations.variants.MOST_RESTS
    for _ in range(2**fxc.compilations.variants.MOST_RESTS):
        compiled(A, np.ones(11))
    assert compiled.cache_info().native_calls > 100  # native code has it back


def test_a_function_that_raises_at_each_call_becomes_plain_numpy() -> None:
    def program(x: Any) -> Any:
        for i in range(len(x)):
            if x[i] > 1:
                raise ValueError(f"{i} is too large")
        return x * 2

    compiled = fxc.compile(program)
    for k in range(100):
        x = np.zeros(50)
        x[k % 7] = k % 2 + 2
        with pytest.raises(ValueError, match=f"{k % 7} is too large"):
            compiled(x)
    assert compiled.cache_info().eager_calls == 100
    assert sum(v.replays for v in compiled._state.variants) <= fxc.compilations.variants.MOST_RESTS
    for _ in range(2**fxc.compilations.variants.MOST_RESTS):
        assert not compiled(np.zeros(50)).any()
    assert compiled.cache_info().native_calls > 100


DRAWING = (
    "return g.normal(size=11) / b",
    # NumPy sorts inside of native code that draws.
    "y = np.stack([b, b])\n"
    "    for _ in range(len(b)): y = np.sort(y, axis=0) / 0.0 + g.random()\n    return y",
)


@pytest.mark.parametrize("body", DRAWING)
def test_draws_are_made_once(body: str) -> None:
    f = function(f"def f(g, b):\n    {body}\n")
    compiled = fxc.compile(f, dynamic=True)
    for _ in range(3):
        ours, numpys = np.random.default_rng(1), np.random.default_rng(1)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            expected = f(numpys, B)
            of_numpy = [str(w.message) for w in caught]
            caught.clear()
            found = compiled(ours, B)
        assert [str(w.message) for w in caught] == of_numpy != []
        np.testing.assert_array_equal(found, expected)
        assert ours.bit_generator.state == numpys.bit_generator.state


# ------------------------------------------------------------------ filters


def test_filters_of_warnings() -> None:
    f = function("def f(a, b):\n    c = a / b\n    a += 1\n    return c\n")
    for action in ("error", "ignore", "default", "once", "module"):
        compiled = fxc.compile(f, fullgraph=True)
        for _ in range(3):
            f.__globals__.pop("__warningregistry__", None)
            expected = outcome(f, (A, B), action)
            f.__globals__.pop("__warningregistry__", None)
            assert outcome(compiled, (A, B), action) == expected, action


OVERWRITES = ["out[...] = 3.0", "np.add(a, 1.0, out=out)", "out[1:] = a[1:] * 2"]


@pytest.mark.parametrize("body", OVERWRITES)
def test_what_is_overwritten_behind_a_warning_that_raises(body: str) -> None:
    """NumPy raises before it writes: also where native code has served calls without."""
    f = function(f"def f(a, out):\n    c = np.sqrt(a - 5)\n    {body}\n    return c\n")
    fine, raises = (np.full(3, 9.0), np.zeros(3)), (np.full(3, 3.0), np.zeros(3))
    for errors in ({}, {"invalid": "raise"}):
        compiled = fxc.compile(f, fullgraph=True)
        action = "ignore" if errors else "error"
        with np.errstate(**errors):
            for given in (fine, raises, fine, fine, raises, raises):
                assert outcome(compiled, given, action) == outcome(f, given, action)


def test_where_filters_make_errors_native_code_copies_from_then_on() -> None:
    f = function("def f(a, out):\n    c = np.sqrt(a - 5)\n    out[...] = 3.0\n    return c\n")
    compiled = fxc.compile(f, fullgraph=True)
    fine, raises = (np.full(3, 9.0), np.zeros(3)), (np.full(3, 3.0), np.zeros(3))
    for _ in range(50):
        compiled(*copy.deepcopy(fine))
    native = compiled.cache_info().native_calls
    outcome(compiled, raises, "error")  # looks at the filters when the flag has been set
    for given in (raises, fine, raises):
        assert outcome(compiled, given, "error") == outcome(f, given, "error")
    for _ in range(50):
        compiled(*copy.deepcopy(fine))
    assert compiled.cache_info().native_calls > native


def test_where_warnings_are_ignored_native_code_serves() -> None:
    compiled = fxc.compile(function("def f(a, b):\n    return a / b\n"), fullgraph=True)
    for _ in range(20):
        outcome(compiled, (A, B), "ignore")
    assert compiled.cache_info().eager_calls == 0


# ------------------------------------------------------------------ np.errstate around

AROUND = [
    "return a / b",
    "c = a / b\n    return np.log(c * 0) + np.sqrt(a)",
    "a /= b\n    a += np.exp(b * 1e4)\n    return a",
    "for i in range(11):\n        a[i] = a[i] / b[i]\n    return a",
    "return a * 1e-300 * 1e-300",
    "return (a / b).sum(), np.spacing(b / 0)",
    "return np.logaddexp(a, b / 0)",
]


@pytest.mark.parametrize(
    "body, kinds, mode",
    pairs(
        AROUND,
        ["all", "divide", "invalid", "over", "under"],
        ["ignore", "warn", "raise", "call", "print", "log"],
    ),
)
def test_errstate_around_a_call(body: str, kinds: str, mode: str) -> None:
    f = function(f"def f(a, b):\n    {body}\n")
    compiled = fxc.compile(f, fullgraph=True)

    def around(run: Callable[..., Any], heard: list[Any]) -> Callable[..., Any]:
        class Log:
            def write(self, text: str) -> None:
                heard.append(text)

        def hear(text: str, flag: int) -> None:
            heard.append((text, flag))

        def call(*args: Any) -> Any:
            options: dict[str, Any] = {kinds: mode}
            with np.errstate(**options, call=Log() if mode == "log" else hear):
                return run(*args)

        return call

    for _ in range(3):
        ours: list[Any] = []
        numpys: list[Any] = []
        expected = outcome(around(f, numpys), (A, B))
        assert outcome(around(compiled, ours), (A, B)) == expected
        assert ours == numpys


def test_where_errors_are_ignored_native_code_serves() -> None:
    compiled = fxc.compile(function("def f(a, b):\n    a /= b\n    return a\n"), fullgraph=True)
    for _ in range(40):
        with np.errstate(all="ignore"):
            assert not outcome(compiled, (A, B))[0]
    assert compiled.cache_info().eager_calls == 0


# ------------------------------------------------------------------ np.errstate inside

INSIDE = [
    "c = a / b\n    return c",
    "c = a / b\n        c[~np.isfinite(c)] = 0\n    return c",
    "c = a / b\n    return c[np.isfinite(c)].sum()",
    "c = np.log(a)\n    return np.where(a > 0, c, 0)",
    "c = np.sqrt(a)\n    return np.isnan(c).sum()",
    "c = np.where(b > 0, a / b, 0)\n    return c.mean()",
    "c = 1 / b\n    return c * 1.5",
    "c = a[0] / b[1]\n    return c",
    "c = a[0] / b[2]\n    return c + 1",
    "c = a.astype(int) // b.astype(int)\n    return c",
    "c = np.power(b, -1.5)\n    return c",
    "c = np.exp(a * 1e4)\n    return c",
]


KINDS = ["divide", "invalid", "over", "divide,invalid", "all"]


@pytest.mark.parametrize("body, size, kinds", pairs(INSIDE, [11, 60], KINDS))
def test_errstate_that_ignores_inside(body: str, size: int, kinds: str) -> None:
    options = ", ".join(f"{kind}='ignore'" for kind in kinds.split(","))
    source = f"def f(a, b):\n    with np.errstate({options}):\n        {body}\n"
    args = (np.resize(A, size), np.resize(B, size))
    check(source, args, args)


BEHIND = [  # what follows reads what the lines under np.errstate have computed, or the other way
    "c = a / b\n    return c + 1",
    "c = np.log(a - 1)\n    c[~np.isfinite(c)] = 0\n    return c * 2 + a",
    "c = (np.log(a * b) * 2)[1:]\n    return c[::2] * 3",
    "c = np.sum(a / b)\n    return c * 3 + a",
]


@pytest.mark.parametrize("body", BEHIND)
@pytest.mark.parametrize("before", ["", "b = b * 2 - 1\n    "])
def test_what_errstate_ignores_in_a_nest_of_its_own_is_no_replay(body: str, before: str) -> None:
    source = f"def f(a, b):\n    {before}with np.errstate(all='ignore'):\n        {body}\n"
    f = function(source)
    compiled = fxc.compile(f, fullgraph=True)
    for size in (11, 60):
        args = (np.resize(A, size), np.resize(B, size))
        assert outcome(compiled, args) == outcome(f, args)
    assert compiled.cache_info().eager_calls == 0


def test_what_stands_behind_errstate_is_told() -> None:
    source = "def f(a, b):\n    with np.errstate(all='ignore'):\n        c = a / b\n    return c + b / a\n"
    assert told(source, A, B) == [
        "divide by zero encountered in divide",
        "invalid value encountered in divide",
    ]
    check(source, (A, B), (A, B))
    nested = (
        "def f(a, b):\n    with np.errstate(divide='ignore'):\n"
        "        with np.errstate(invalid='ignore'):\n            c = a / b\n"
        "        d = b / a\n    return c, d\n"
    )
    assert told(nested, A, B) == ["invalid value encountered in divide"]
    check(nested, (A, B), (A, B))


# ------------------------------------------------------------------ filters of warnings inside

FILTERS = [
    "with warnings.catch_warnings():\n        warnings.simplefilter('ignore')",
    "with warnings.catch_warnings():\n        warnings.simplefilter('ignore', RuntimeWarning)",
    "with warnings.catch_warnings(action='ignore'):\n        pass",
    "with warnings.catch_warnings():\n        warnings.filterwarnings('ignore', category=Warning)",
]
FILTERED = [
    "c = a / b\n        return c",
    "c = np.nanmean(a * np.nan)\n        return c",
    "c = np.polyfit(b * 0, a, 2)\n        return c",
    "c = np.median(a[a > 99])\n        return c",
    "c = np.log(a[0] - a[0])\n    return c + np.sqrt(-a)",
]


@pytest.mark.parametrize("filter_, body", pairs(FILTERS, FILTERED))
def test_filters_that_ignore_inside(filter_: str, body: str) -> None:
    source = f"import warnings\ndef f(a, b):\n    {filter_}\n        {body}\n"
    f = function(source)
    compiled = fxc.compile(f, fullgraph=True)
    for _ in range(3):
        assert outcome(compiled, (A, B)) == outcome(f, (A, B))


def _warns(a: Any) -> Any:
    with warnings.catch_warnings():
        if a.size:
            warnings.simplefilter("ignore", UserWarning)
        warnings.warn("never")  # noqa: B028
        warnings.warn("shown", RuntimeWarning)  # noqa: B028
        a = np.sqrt(a)
    warnings.warn("shown, too")  # noqa: B028
    return a


def _by_data(a: Any) -> Any:
    with warnings.catch_warnings():
        if a[0] > 0:
            warnings.simplefilter("ignore")
        return np.log(-a)


def _records(a: Any) -> Any:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        a = np.log(-a)
    return a, len(found)


def _by_text(a: Any) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="divide")
        return np.log(a * 0) + np.log(-a - 1)


@pytest.mark.parametrize("f", [_warns, _by_data, _records, _by_text])
@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_other_filters_inside(f: Any) -> None:
    compiled = fxc.compile(f)
    outcome(compiled, (np.ones(11),))
    for a in (A, B, -A):
        assert outcome(compiled, (a,)) == outcome(f, (a,))
    is_captured = compiled.cache_info().parts == 0 and compiled.cache_info().variants > 0
    assert is_captured == (f is _warns)


@pytest.mark.parametrize("mode", ["raise", "print"])
def test_filters_where_errors_are_no_warnings(mode: str) -> None:
    f = function(
        "import warnings\ndef f(a, b):\n    with warnings.catch_warnings(action='ignore'):\n"
        "        return a / b\n"
    )
    compiled = fxc.compile(f)
    with np.errstate(divide=mode):  # type: ignore[call-overload]
        outcome(compiled, (A, B))  # says that it is not captured
    for _ in range(2):
        assert outcome(compiled, (A, B)) == outcome(f, (A, B))
        with np.errstate(divide=mode):  # type: ignore[call-overload]
            assert outcome(compiled, (A, B)) == outcome(f, (A, B))


@pytest.mark.parametrize("mode", ["warn", "raise", "print"])
def test_errstate_in_other_modes_inside(mode: str) -> None:
    f = function(
        f"def f(a, b):\n    with np.errstate(all='{mode}'):\n        c = a / b\n    return c\n"
    )
    compiled = fxc.compile(f)
    outcome(compiled, (A, np.ones(11)))
    for _ in range(3):
        assert outcome(compiled, (A, B)) == outcome(f, (A, B))


OF_NOTHING = [
    "return a[:0].mean()",
    "b = a[:0].mean()\n    return a",
    "return a[a > 99].mean(), np.median(a[a > 99])",
    "return [a[:k].mean() for k in range(len(a))]",
    "s = 0.0\n    for k in range(len(a)):\n        s += a[k:].std(ddof=2)\n    return s",
    "return np.median(a[:0])",
    "return np.nanmedian(a * np.nan)",
]


KNOWN = [
    "return a * np.log(0.0)",
    "b = np.float64(1) / np.float64(0)\n    return a + 1",
    "return a[0] + np.exp(1000)",
]


@pytest.mark.parametrize(
    ("body", "mode"),
    [*((body, mode) for body in OF_NOTHING for mode in ("warn", "ignore")),
     *((body, "warn") for body in KNOWN)],
)  # fmt: skip
def test_averages_of_nothing_and_known_numbers(body: str, mode: str) -> None:
    """They warned at a line of NumPy's or fxc's, twice, or only while the function was captured."""
    f = function(f"def f(a):\n    {body}\n")
    compiled = fxc.compile(f)
    with np.errstate(all=mode):
        for _ in range(4):
            seen = []
            for each in (f, compiled):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    each(np.arange(5.0))
                own = (w for w in caught if w.category is RuntimeWarning)
                seen.append([(str(w.message), w.filename, w.lineno) for w in own])
            assert seen[0] == seen[1]
            assert seen[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "program",
    [
        lambda x: np.maximum(x, 0.25) * 2.5,
        lambda x: np.clip(x, -np.inf, 0.0) * x,
        lambda x: x.max() * x,
        lambda x: np.minimum(x[:, None], x[::-1]).sum(0),
        lambda x: [max(np.minimum(v, x[3]) * 2, v) for v in x],
    ],
)
def test_nans_are_compared_in_silence(program: Callable[..., Any], dtype: Any) -> None:
    """A processor's maximum and minimum call a nan invalid: each such call was replayed."""
    compiled = fxc.compile(program, fullgraph=True)
    for size in (5, 5, 5, 5, 16, 37, 37, 37):
        x = np.linspace(-1, 1, size, dtype=dtype)
        x[size // 2] = x[3] = np.nan
        assert outcome(compiled, (x,)) == outcome(program, (x,))
    assert compiled.cache_info().eager_calls == 0


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_numpy_code_that_warns_while_it_is_captured() -> None:
    def smooth(x: np.ndarray, half: int) -> np.ndarray:
        powers = np.asmatrix([[k**i for i in range(3)] for k in range(-half, half + 1)])
        return np.convolve(np.linalg.pinv(powers).A[0], x, mode="valid")

    compiled, x = fxc.compile(smooth), np.linspace(0.0, 1.0, 20)
    for half in (2, 2, 3):
        shown = []
        for function in (smooth, compiled):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                np.testing.assert_array_equal(function(x, half), smooth(x, half))
            shown.append([w.category for w in caught if w.category is not fxc.CaptureWarning])
        assert shown[0] == shown[1]


def test_numpy_code_that_asks_how_errors_are_handled() -> None:
    """From NumPy 2.3 on it warns, or raises, of a tolerance that is no number."""

    def close(x: np.ndarray, rtol: float) -> Any:
        return np.isclose(x, 1.0, rtol=rtol), np.allclose(x, 1.0, atol=np.inf)

    compiled, x = fxc.compile(close), np.linspace(0.0, 2.0, 5)
    for rtol, mode in (np.nan, "warn"), (0.5, "warn"), (np.nan, "raise"), (np.nan, "warn"):
        with np.errstate(invalid=mode):
            told, *others = outcome(compiled, (x, rtol))
            told = [warning for warning in told if warning[0] is not fxc.CaptureWarning]
            assert (told, *others) == outcome(close, (x, rtol))


def test_tolerances_in_arrays_are_looked_at() -> None:
    compiled = fxc.compile(lambda x, r: np.isclose(x, 1.0, rtol=r), fullgraph=True)
    plain = compiled.__wrapped__
    x = np.linspace(0.0, 2.0, 5)
    for rtol, mode in (0.5, "warn"), (np.nan, "warn"), (np.inf, "raise"), (0.1, "warn"):
        with np.errstate(invalid=mode):
            given = x, np.array([0.5, 0.0, rtol, 1.0, 0.1])
            assert outcome(compiled, given) == outcome(plain, given)
    assert compiled.cache_info().native_calls


def _total_from_nan(x: Any) -> Any:
    total = np.nan
    for v in x:
        total += v * 0.0
    return total


@pytest.mark.parametrize(
    "program",
    [
        lambda x: x * 0.0 + np.nan,
        lambda x: x[0] * 0.0 - np.nan,
        lambda x: (x * 0.0 > np.nan, x * 0.0 == np.nan),
        lambda x: np.isnan(np.nan / (x * 0.0)),
        lambda x: x.astype(complex)[0] * np.nan,
        _total_from_nan,
    ],
)
@pytest.mark.parametrize("size", [1, 20])
def test_a_nan_does_not_hide_a_warning(program: Any, size: int) -> None:
    """LLVM left out the other operand, and with it the flags that it sets."""
    x = np.full(size, np.inf)
    with pytest.warns(RuntimeWarning) as expected:
        program(x)
    with pytest.warns(RuntimeWarning) as found:
        fxc.compile(program, fullgraph=True)(x)
    assert {str(each.message) for each in found} == {str(each.message) for each in expected}
