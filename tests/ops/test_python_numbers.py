"""Python's numbers that are not known while capturing: every operator, on every kind of operand.

Results are Python's, of the same type and bits, and so are exceptions. Where Python gives a number
that native code can hold, native code gives it.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ops.python_numbers import PYTHON_OPERATORS
from tests.lowering.test_vector_math import BOUNDS

INTS = (0, 1, -1, 3, -7, 10, 2**53 + 1, -(2**53) - 1, 2**62, 3037000500, 2**63 - 1, -(2**63))
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e308, -1e308, 5e-324, math.inf, -math.inf)
FLOATS = (*FLOATS, math.nan, -(2.0**63))
BOOLS = (False, True)
GRID: dict[str, tuple[Any, ...]] = {"int": INTS, "float": FLOATS, "bool": BOOLS}
COUNTS = (-1, 0, 1, 2, 5, 31, 62, 63, 64, 65, 130)
POWERS = (-3, -1, 0, 1, 2, 3, 5, 31, 39, 62, 63, 64, 65)

DTYPES = {"int": np.int64, "float": np.float64, "bool": np.bool_}
# How a program gets a number that is not known while it is captured.
READ: dict[str, Callable[[Any], Any]] = {
    "int": lambda a: int(a[0]),
    "float": lambda a: float(a[0]),
    "bool": lambda a: bool(a[0]),
}


def outcome(fn: Callable[..., Any], args: Sequence[Any]) -> Any:
    """What a caller sees, nan being nan."""
    try:
        return shown(fn(*args))
    except Exception as error:
        return type(error), str(error)


def shown(x: Any) -> Any:
    if isinstance(x, tuple):
        return tuple(map(shown, x))
    return type(x), "nan" if x != x else repr(x)


def is_held(x: Any) -> bool:
    """Whether native code can hold a result."""
    if isinstance(x, tuple):
        return all(map(is_held, x))
    return type(x) is not int or -(2**63) <= x < 2**63


def check(
    fn: Callable[..., Any],
    grid: Sequence[Sequence[Any]],
    *,
    left: Callable[..., bool] | None = None,
) -> None:
    """Compare a program on every combination of numbers, each given in an array.

    ``left`` says where it is Python's although Python does not fail.
    """
    compiled = fxc.compile(fn, fullgraph=True)
    natively = 0
    for numbers in itertools.product(*grid):
        args = [np.array([x], DTYPES[type(x).__name__]) for x in numbers]
        before = compiled.cache_info().eager_calls
        expected, found = outcome(fn, args), outcome(compiled, args)
        assert found == expected, numbers
        failed = isinstance(expected[0], type) and issubclass(expected[0], Exception)
        if not failed and not (left is not None and left(*numbers)) and is_held(fn(*args)):
            assert compiled.cache_info().eager_calls == before, numbers
            natively += 1
    assert natively > 0
    assert compiled.cache_info().fallbacks == {}


def binary(function: Callable[..., Any], x: str, y: str) -> Callable[..., Any]:
    first, second = READ[x], READ[y]
    return lambda a, b: function(first(a), second(b))


NUMBERS = tuple(itertools.product(GRID, GRID))
REALS = [("int", "int"), ("int", "float"), ("float", "int"), ("float", "float"), ("bool", "int")]


def mixed(x: str, y: str) -> list[Sequence[Any]]:
    return [GRID[x], GRID[y]]


@pytest.mark.parametrize("name", ["add", "sub", "mul", "floordiv", "mod"])
@pytest.mark.parametrize(("x", "y"), REALS)
def test_arithmetic(name: str, x: str, y: str) -> None:
    check(binary(getattr(operator, name), x, y), mixed(x, y))


@pytest.mark.parametrize(("x", "y"), REALS)
def test_division(x: str, y: str) -> None:
    def beyond_floats(a: Any, b: Any) -> bool:
        return type(a) is not float is not type(b) and max(abs(a), abs(b)) > 2**53

    check(binary(operator.truediv, x, y), mixed(x, y), left=beyond_floats)


@pytest.mark.parametrize(("x", "y"), REALS)
def test_powers(x: str, y: str) -> None:
    def is_of_another_type(a: Any, b: Any) -> bool:
        return isinstance(a**b, complex) or (type(a) is not float is not type(b) and b < 0)

    powers = POWERS if y == "int" else GRID[y]
    check(binary(operator.pow, x, y), [GRID[x], powers], left=is_of_another_type)


@pytest.mark.parametrize("name", ["lshift", "rshift"])
def test_shifts(name: str) -> None:
    check(binary(getattr(operator, name), "int", "int"), [INTS, COUNTS])


def bits(x: Any, y: Any) -> Any:
    return x & y, x | y, x ^ y, ~x


def bits_of_bools(x: Any, y: Any) -> Any:
    return x & y, x | y, x ^ y  # of ~ Python warns from 3.12 on, see test_number_kinds.py


@pytest.mark.parametrize(("x", "y"), [("int", "int"), ("bool", "int"), ("bool", "bool")])
def test_bits(x: str, y: str) -> None:
    check(binary(bits if x == "int" else bits_of_bools, x, y), mixed(x, y))


def comparisons(x: Any, y: Any) -> Any:
    return x == y, x != y, x < y, x <= y, x > y, x >= y


NEAR = (2.0**53, 2.0**53 + 2, 2.0**62, 2.0**63, -(2.0**63), -(2.0**63) - 2048, 2.0**63 - 1024)


@pytest.mark.parametrize(("x", "y"), NUMBERS)
def test_comparisons_are_exact(x: str, y: str) -> None:
    check(binary(comparisons, x, y), [(*GRID[k], *(NEAR if k == "float" else ())) for k in (x, y)])


@pytest.mark.parametrize("kind", GRID)
@pytest.mark.parametrize(
    "function",
    [
        operator.neg, operator.pos, operator.abs, int, round, math.trunc, math.floor, math.ceil,
        lambda x: (float(x), bool(x), x == 3, x < 2),
        lambda x: (x * 2, x // 7, x % -5, x / 8),
        lambda x: (x**2, x**-1),
        lambda x: (max(x, x), min(-x, x * 1), divmod(x, 3)),
    ],
)  # fmt: skip
def test_of_one(function: Callable[..., Any], kind: str) -> None:
    read = READ[kind]
    fn = lambda a: function(read(a))  # noqa: E731

    def left(x: Any) -> bool:
        try:
            return not all(map(is_held, (x * x, x + x, x * 2)))
        except TypeError:
            return False

    check(fn, [GRID[kind]], left=left)


def test_bits_of_ints() -> None:
    read = READ["int"]

    def bits(a: Any) -> Any:
        x = read(a)
        return x.bit_length(), x.bit_count(), bin(x).count("1")

    check(bits, [GRID["int"]], left=lambda x: x == -(2**63))


COMPLEX = (0j, 1 + 2j, complex(1.5, -0.0), complex(math.inf, 1.0), 2j, complex(1.7e308, 1.7e308))


def test_complex_numbers() -> None:
    def fn(a: Any, z: complex) -> Any:
        return abs(z), abs(a[0]), z == 2j, z != 1.5, z == 0, z + a[0]

    compiled = fxc.compile(fn, fullgraph=True)
    for z, w in itertools.product(COMPLEX, COMPLEX):
        with np.errstate(all="ignore"):
            assert outcome(compiled, [np.array([w]), z]) == outcome(fn, [np.array([w]), z])
    assert compiled.cache_info().eager_calls == len(COMPLEX)  # the size of the last overflows
    assert compiled.cache_info().fallbacks == {}


# ---------------------------------------------------------------- functions of math

ONE = [n for n, (count, _, _) in PYTHON_OPERATORS.items() if n.startswith("math_") and count == 1]
ONE = [name.removeprefix("math_") for name in ONE if name not in ("math_isqrt",)]


ARGUMENTS = (*FLOATS, 0.75, -0.75, 30.0, 710.0, -745.0)


@pytest.mark.parametrize("name", ONE)
def test_functions(name: str) -> None:
    """They have the bits of CPython's: it is the same C library."""
    function = getattr(math, name)
    check(lambda a: function(a.item()), [ARGUMENTS])


@pytest.mark.parametrize("name", ["sqrt", "exp", "floor", "isnan"])
def test_functions_of_ints(name: str) -> None:
    function = getattr(math, name)
    check(lambda a: function(a.item()), [INTS])


@pytest.mark.parametrize("name", ["atan2", "copysign", "pow", "fmod"])
@pytest.mark.parametrize(("x", "y"), [("float", "float"), ("int", "float"), ("float", "int")])
def test_functions_of_two(name: str, x: str, y: str) -> None:
    check(binary(getattr(math, name), x, y), mixed(x, y))


def test_hypot_is_within_its_bound() -> None:
    fn = fxc.compile(lambda a, b: math.hypot(float(a), float(b)), fullgraph=True)
    for a, b in itertools.product(FLOATS, FLOATS):
        expected, found = math.hypot(a, b), fn(np.array(a), np.array(b))
        assert type(found) is float
        if math.isfinite(expected):
            assert abs(found - expected) <= (BOUNDS["hypot"] + 1.0) * math.ulp(expected)
        else:
            assert repr(found) == repr(expected)


def way(points: Any) -> Any:
    corner, length = points[0].tolist(), 0.0
    for i in range(1, len(points)):
        length += math.dist(points[i], points[i - 1])
    return length, math.dist((points[1, 0], 3), [*corner[:1], 0.5]), math.dist(corner, points[-1])


def test_distances_in_a_plane() -> None:
    fn = fxc.compile(way, fullgraph=True)
    for n, dtype in ((9, "f8"), (30, "f4"), (12, "i4")):
        points = (10 * np.random.default_rng(n).normal(size=(n, 2))).astype(dtype)
        assert fn(points) == pytest.approx(way(points), rel=1e-15)
        assert "call_dist" not in str(fn.inspect(points).captured)


def logarithms(a: Any) -> Any:
    x = a.item()
    return math.log(x, 2), math.log(x, x), math.log(8.0, x)


def test_logarithms_to_a_base() -> None:
    compiled = fxc.compile(logarithms, fullgraph=True)
    for x in (0.5, 3.0, 10.0, 1.0, 0.0, -1.0, math.inf):
        assert outcome(compiled, [np.array(x)]) == outcome(logarithms, [np.array(x)])


# ---------------------------------------------------------------- numbers of NumPy's


@pytest.mark.parametrize("code", "?bHilLfd")
def test_items_become_numbers(code: str) -> None:
    def fn(a: Any) -> Any:
        x = a[1]
        numbers = int(x), float(x), bool(x), a[0].item(), a.item(2), math.sqrt(a[2])
        return numbers if code == "?" else (*numbers, round(x))

    compiled = fxc.compile(fn, fullgraph=True)
    dtype = np.dtype(code)
    most = np.finfo(dtype).max if dtype.kind == "f" else 1 if code == "?" else np.iinfo(dtype).max
    held = True
    for numbers in ([0, 1, 2], [most, 1, 3], [1, most, 4], [5, 3, 100]):
        with np.errstate(all="ignore"):
            a = np.array(numbers).astype(dtype) if most not in numbers else np.array(numbers, dtype)
        before = compiled.cache_info().eager_calls
        assert outcome(compiled, [a]) == outcome(fn, [a])
        if is_held(fn(a)):
            assert compiled.cache_info().eager_calls == before
            held = False
    assert not held


@pytest.mark.parametrize("code", "bHIL")
def test_a_number_that_a_dtype_does_not_hold(code: str) -> None:
    """NumPy raises; native code must not wrap it."""

    def fn(x: Any, a: Any) -> Any:
        n = int(a[0])
        y = x + n
        x[1] = n
        return y, np.array(x.dtype.type(n) * x)

    def outcomes(run: Callable[..., Any], n: int) -> Any:
        x = np.array([1, 2, 3], code)
        try:
            y, z = run(x, np.array([n]))
        except OverflowError as error:
            return str(error), x.tolist()
        return y.tolist(), y.dtype, z.tolist(), z.dtype, x.tolist()

    compiled = fxc.compile(fn, fullgraph=True)
    info = np.iinfo(code)
    for n in (0, 5, 100, -1, int(info.max), int(info.min), int(info.max) + 1, int(info.min) - 1):
        if -(2**63) <= n < 2**63:
            assert outcomes(compiled, n) == outcomes(fn, n)
    assert compiled.cache_info().native_calls >= 4


# ---------------------------------------------------------------- in loops


def carrying(function: Callable[..., Any], kind: str, start: Any = None) -> Callable[..., Any]:
    """The function of what a loop of one iteration carries, and of a number from outside of it."""
    read = READ[kind]

    def fn(a: Any, b: Any) -> Any:
        x, y, once = read(a), read(b), int(a[0] == a[0]) | 1
        if start is None:
            return fxc.fori_loop(0, once, lambda i, s: function(s, y), x)
        return fxc.fori_loop(0, once, lambda i, s: function(x, y), start)

    return fn


@pytest.mark.parametrize("name", ["add", "sub", "mul", "floordiv", "mod", "and_", "or_", "xor"])
def test_ints_in_a_loop(name: str) -> None:
    check(carrying(getattr(operator, name), "int"), [INTS, INTS])


@pytest.mark.parametrize(
    ("name", "counts"), [("lshift", COUNTS), ("rshift", COUNTS), ("pow", POWERS)]
)
def test_shifts_and_powers_in_a_loop(name: str, counts: Sequence[Any]) -> None:
    left = (lambda a, b: b < 0) if name == "pow" else None
    check(carrying(getattr(operator, name), "int"), [INTS, counts], left=left)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"])
def test_floats_in_a_loop(name: str) -> None:
    left = (lambda a, b: isinstance(a**b, complex)) if name == "pow" else None
    check(carrying(getattr(operator, name), "float"), [FLOATS, FLOATS], left=left)


@pytest.mark.parametrize("kind", ["int", "float"])
def test_comparisons_in_a_loop(kind: str) -> None:
    check(carrying(comparisons, kind, (False,) * 6), mixed(kind, kind))


def crc(data: Any) -> Any:
    def step(i: Any, c: Any) -> Any:
        c ^= int(data[i])
        for _ in range(8):
            c = (c >> 1) ^ (0xEDB88320 & -(c & 1))
        return c

    return fxc.fori_loop(0, data.shape[0], step, 0xFFFFFFFF) ^ 0xFFFFFFFF


def collatz(start: Any) -> Any:
    def step(i: Any, state: Any) -> Any:
        n, steps = state
        return fxc.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1), steps + 1

    return fxc.fori_loop(0, int(start[1]), step, (int(start[0]), 0))


def newton(a: Any) -> Any:
    c = float(a[0])
    return fxc.fori_loop(0, int(a[1]), lambda i, x: 0.5 * (x + c / x), c)


def grows(a: Any) -> Any:
    return fxc.fori_loop(0, int(a[1]), lambda i, n: n * 3 + i, int(a[0]))


def finds(a: Any) -> Any:
    def step(i: Any, state: Any) -> Any:
        found, best = state
        return found | (a[i].item() == 3), max(best, a[i].item())

    return fxc.fori_loop(0, a.shape[0], step, (False, -1))


def counted(a: Any) -> Any:
    def step(i: Any, n: Any) -> Any:
        return fxc.cond(i % 3 == 1, lambda: n + i, lambda: n - 1)

    return fxc.fori_loop(0, int(a[1]), step, 0)


def divisors(a: Any) -> Any:
    """How many there are, and the sum of some quotients by and of the counter."""

    def step(i: Any, state: Any) -> Any:
        n, total = state
        return n + int(a.size % i == 0), total + i / 3 + 7 // i - 2 / i

    return fxc.fori_loop(1, int(a[0]), step, (0, 0.0))


@pytest.mark.parametrize(
    ("fn", "arrays", "native"),
    [
        (crc, [np.frombuffer(b"123456789", np.uint8), np.arange(256, dtype=np.uint8)], True),
        (collatz, [np.array([27, 111]), np.array([97, 5]), np.array([5, 0])], True),
        (newton, [np.array([2.0, 6.0]), np.array([9.0, 0.0])], True),
        (newton, [np.array([0.0, 3.0])], False),
        (grows, [np.array([1, 39]), np.array([-5, 0])], True),
        (grows, [np.array([1, 41]), np.array([7, 200])], False),
        (finds, [np.array([1, 2, 3, 2]), np.array([-4, 5, 1, 1])], True),
        (divisors, [np.full(12, 13), np.full(7, 20)], True),
        (counted, [np.array([0, 50]), np.array([0, 0])], True),
    ],
)
def test_carried_numbers(fn: Callable[..., Any], arrays: Sequence[Any], native: bool) -> None:
    compiled = fxc.compile(fn, fullgraph=True, dynamic=True)
    for array in arrays:
        assert outcome(compiled, [array]) == outcome(fn, [array])
    assert (compiled.cache_info().eager_calls == 0) == native
    assert compiled.cache_info().fallbacks == {}


def test_what_is_proven_is_not_checked() -> None:
    """A CRC and a hash modulo a power of two cannot overflow; a sum can."""
    data = np.arange(20, dtype=np.uint8)
    compiled = fxc.compile(crc, fullgraph=True, dynamic=True)
    assert "raise if" not in str(compiled.inspect(data).loops).replace("raise if out_of", "")

    def hashed(data: Any) -> Any:
        step = lambda i, h: (h * 33 + int(data[i])) & 0xFFFFFFFF  # noqa: E731
        return fxc.fori_loop(0, data.shape[0], step, 5381)

    def total(data: Any) -> Any:
        return fxc.fori_loop(0, data.shape[0], lambda i, n: n + int(data[i]), 0)

    for fn, checked in ((hashed, False), (total, True)):
        text = str(fxc.compile(fn, fullgraph=True, dynamic=True).inspect(data).loops)
        assert ("try_add fails" in text) is checked
        assert "try_multiply" not in text


def counts_up(data: Any) -> Any:
    """Elements before the first zero, and the last of them."""
    most = int(data.size)

    def body(state: Any) -> Any:
        i, last = state
        return i + 1, fxc.cond(last > 5, lambda: last - 1, lambda: last + data[i].item())

    return fxc.while_loop(lambda state: (state[0] < most) & (data[state[0]] != 0), body, (0, 0))


def counts_down(data: Any) -> Any:
    step = lambda n: fxc.cond(n >= 0, lambda: n - 3, lambda: n + 1)  # noqa: E731
    return fxc.while_loop(lambda n: n != -1, step, int(data[0]))


def grows_again(data: Any) -> Any:
    def body(state: Any) -> Any:
        i, n = state
        return i + 1, fxc.cond(n > 10, lambda: n * 1000, lambda: n + i)

    return fxc.while_loop(lambda state: state[0] < int(data[0]), body, (0, 1))


@pytest.mark.parametrize(
    ("fn", "checks"),
    [(counts_up, {"try_add"}), (counts_down, set()), (grows_again, {"try_multiply"})],
)
def test_what_conditions_prove(fn: Callable[..., Any], checks: set[str]) -> None:
    compiled = fxc.compile(fn, fullgraph=True, dynamic=True)
    for numbers in ([3, 1, 0, 2], [7, 4, 6, 5], [60, 1], [0, 0]):
        data = np.array(numbers, np.int32)
        if fn is not counts_up or 0 in numbers:
            assert outcome(compiled, [data]) == outcome(fn, [data])
    text = str(compiled.inspect(data).loops)
    assert {name for name in PYTHON_OPERATORS if f"{name} fails" in text} == checks


def runs_of_equals(data: Any) -> Any:
    count, longest, now = 1, 1, 1
    for i in range(1, len(data)):
        if data[i] == data[i - 1]:
            now += 1
            longest = max(longest, now)
        else:
            count += 1
            now = 1
    return count, longest


def steps_in_loops(data: Any) -> Any:
    steps, left = 0, 0
    for i in range(len(data)):
        for j in range(i):
            if data[j] > data[i]:
                steps += 1
            else:
                steps, left = left, steps + 2
        left -= int(data[i] > 5)
    return steps, left


def starts_anywhere(data: Any) -> Any:
    n = int(data[0])
    for x in data:
        n += int(x > 1)
    return n


def takes_turns(data: Any) -> Any:
    a, b = 0, int(data[0])
    for _ in range(len(data)):
        for _ in range(len(data)):
            a, b = b, a + 1
    return a, b


def doubles(data: Any) -> Any:
    n, i = 1, 0
    while i < data[1]:
        n, i = n + n, i + 1
    return n


@pytest.mark.parametrize(
    ("fn", "checked"),
    [
        (runs_of_equals, False),
        (steps_in_loops, False),
        (starts_anywhere, True),
        (takes_turns, True),
        (doubles, True),
    ],
)
def test_counters_are_not_checked(fn: Callable[..., Any], checked: bool) -> None:
    compiled = fxc.compile(fn, fullgraph=True, dynamic=True)
    for numbers in ([3, 3, 3, 2, 2], [7, 9, 1, 9, 9, 9], [1, 70], [-4, 0, 0]):
        data = np.array(numbers)
        assert outcome(compiled, [data]) == outcome(fn, [data])
    text = str(compiled.inspect(data).loops)
    assert ("try_add fails" in text or "try_subtract fails" in text) is checked
    most = np.array([2**63 - 2, 66, 66, 1])
    assert outcome(compiled, [most]) == outcome(fn, [most])


# ---------------------------------------------------------------- where the number itself is needed


def test_a_decision_about_an_argument_takes_its_number_until_that_changes() -> None:
    def fn(x: Any, a: float) -> Any:
        if a * a > 2.0 and not math.isnan(a):
            return x + round(a)
        return x * a

    compiled = fxc.compile(fn, fullgraph=True)
    x = np.arange(3.0)
    for a in (0.5, 2.5, 2.5, -7.0):
        np.testing.assert_array_equal(compiled(x, a), fn(x, a))
    assert compiled.cache_info().variants == 2
    assert compiled.cache_info().eager_calls == 0


@pytest.mark.parametrize(
    "fn",
    [
        lambda x, n: x[: 2**n],
        lambda x, n: np.zeros(n & 6),
        lambda x, n: [0] * (n ^ 1),
        lambda x, n: [n & 6, n >> 1, n << 2, n & 3, n | 8, 2**n, n**0.5],
        lambda x, n: (n < 2.5, n >= 2.5, n == 2.0, n != 2.5, n < math.inf, n == math.nan),
        lambda x, n: sum(range(int(n**0.5) + 1)),
        lambda x, n: x[n % 2] + x[int(x[0])],
        lambda x, n: "yes" if (n * 1.5 > 3) is True else "no",
    ],
)
def test_ints_that_are_arguments(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    x = np.array([2.0, 1.0, 3.0, 5.0, 7.0]).astype(np.int64)
    for n in (2, 3, 5, 2):
        assert repr(compiled(x, n)) == repr(fn(x, n))
    assert compiled.cache_info().eager_calls == 0


# ---------------------------------------------------------------- in Python's own statements


def toggles(a: Any) -> Any:
    found = True
    for each in a:
        if each.item() == 3:
            found = not found
    return found, not a[0].item(), not a[0], not found


def remainders(a: Any) -> Any:
    x, y = int(a[0]), int(a[1])
    while y:
        x, y = y, x % y
    return x


def steps(a: Any) -> Any:
    n, count = int(a[0]), 0
    while n > 1 and not count > 200:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count


def sums(a: Any) -> Any:
    x, y = 0, 1
    for _ in range(int(a[0])):
        x, y = y, x + y
    return x


def replaces(a: Any) -> Any:
    """What the loops assign without reading it, which is what it was if they do not run."""
    x, y, z, left = int(a[0]), float(a[1]), a * 2, int(a[1])
    for i in range(int(a[1])):
        x, z = i + 5, a + i
    while left > 10:
        y = 7.5
        left -= 10
    return x, y, z.sum().item()


@pytest.mark.parametrize("fn", [toggles, remainders, steps, sums, replaces])
def test_numbers_in_statements(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for numbers in ([27, 3], [84, 36], [0, 5], [91, 0]):
        array = np.array(numbers)
        assert outcome(compiled, [array]) == outcome(fn, [array])
    assert compiled.cache_info().eager_calls == 0
    assert compiled.cache_info().fallbacks == {}


# ---------------------------------------------------------------- indices that vary in loops


def summed(indices: Callable[..., Any], stop: Callable[..., Any]) -> Callable[..., Any]:
    """The sum over some elements of a vector; ``stop`` gives the number of iterations."""

    def fn(x: Any, k: Any) -> Any:
        step = lambda i, s: s + x[indices(i, x.shape[0])].item()  # noqa: E731
        return fxc.fori_loop(0, stop(x, k), step, 0)

    return fn


def triangle(x: Any, k: Any) -> Any:
    def row(i: Any, s: Any) -> Any:
        return fxc.fori_loop(0, i, lambda j, s: s + x[j].item() * x[i - j - 1].item(), s)

    return fxc.fori_loop(0, x.shape[0], row, 0)


def known(x: Any, k: Any) -> Any:
    return x.shape[0]


def unknown(x: Any, k: Any) -> Any:
    return int(k[0])


@pytest.mark.parametrize(
    ("fn", "checks"),
    [
        (summed(lambda i, n: i, known), 0),
        (summed(lambda i, n: n - 1 - i, known), 0),
        (summed(lambda i, n: -1 - i, known), 0),
        (summed(lambda i, n: (i + 1) % n, known), 0),
        (summed(lambda i, n: i // 2, known), 1),
        (triangle, 0),
        (summed(lambda i, n: i * i % n, known), 0),
        (summed(lambda i, n: i + 1, known), 1),
        (summed(lambda i, n: i - 2, known), 0),
        (summed(lambda i, n: i, unknown), 1),
        (summed(lambda i, n: 2 * i - n, unknown), 1),
        (summed(lambda i, n: i * i, unknown), 1),
    ],
)
def test_indices_that_vary(fn: Callable[..., Any], checks: int) -> None:
    """They are proven to be in bounds for all iterations, or else looked at in each."""
    compiled = fxc.compile(fn, fullgraph=True, dynamic=True)
    x = np.arange(10, 16)
    for k in (3, 2, 6, 7, 0):
        args = [x, np.array([k])]
        assert outcome(compiled, args) == outcome(fn, args)
    text = str(compiled.inspect(*args).loops)
    assert text.count("out_of_bounds") == checks


@pytest.mark.parametrize("place", [0, 4, -1, -6, 6, -7])
def test_an_item_by_its_place_in_all(place: int) -> None:
    def fn(x: Any) -> Any:
        return x.item(place), x.T.item(place)

    x = np.arange(6.0).reshape(2, 3)
    compiled = fxc.compile(fn)
    assert outcome(compiled, [x]) == outcome(fn, [x])
    assert compiled.cache_info().native_calls == (1 if -6 <= place < 6 else 0)


def test_the_item_of_an_array_without_axes() -> None:
    def fn(x: Any) -> Any:
        return np.array(x).item(0), np.array(x).item(-1), np.array(np.inf).item(0)

    compiled = fxc.compile(fn, fullgraph=True)
    assert outcome(compiled, [2.5]) == outcome(fn, [2.5])
