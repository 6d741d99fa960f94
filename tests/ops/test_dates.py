"""Dates and durations in native code, as integers. See Note [Dates as integers]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ops.dates import _sums_wrap_around
from tests.outcomes import warnings_of
from tests.wild.seen import difference, watch

MOST = np.iinfo(np.int64).max
DAY, SECOND, SINCE = np.timedelta64(1, "D"), np.timedelta64(7, "s"), np.datetime64("1970-01-02")
PICK = np.arange(12) % 3 == 0


def elements(dtype: str, seed: int, most: int = 10**6) -> np.ndarray:
    """Twelve of them, NaT, 0 and the ends of what fits among them; scattered in memory."""
    rng = np.random.default_rng(seed)
    found = rng.integers(-most, most, 24)[::2]
    places = rng.permutation(12)
    found[places[:5]] = [-MOST - 1, 0, MOST, -MOST, MOST // 2]
    return found.astype(dtype)


def assert_same(program: Callable[..., Any], *dtypes: str, boxed: bool = False) -> None:
    """Compiled, it shows what it shows as it is, and no operator is NumPy's but ``boxed``."""
    compiled = fxc.compile(program, fullgraph=True)
    for seed in range(3):
        make = lambda: tuple(elements(d, 2 * seed + i) for i, d in enumerate(dtypes))  # noqa: B023, E731
        text = difference(watch(program, make()), watch(compiled, make()), 0.0)
        assert not text, text
    counts = compiled.cache_info()
    if _sums_wrap_around():  # from NumPy 2.5 on, calls raise for what overflows
        assert counts.eager_calls == 0
        assert bool(counts.fallbacks) == boxed, counts.fallbacks


def comparisons(a, b):
    return a < b, a <= b, a > b, a >= b, a == b, a != b, a[1] < b[2], a[3] == a[3], a[:1] != a[:1]


def missing(a, b):
    return np.isnat(a), np.isnan(b), np.isfinite(a), np.isnat(a[0]), a != a, np.isfinite(b[1:])


def extremes(a, b):
    m = a.reshape(3, 4)
    of_two = np.maximum(a, b), np.minimum(a, b), np.fmax(a, b), np.fmin(a, b)
    rows = m.max(axis=1), m.T.min(axis=1), m.argmax(axis=0), m.argmin(axis=1)
    return of_two, rows, (a.min(), b.max(), a.argmin(), b.argmax(), m.max(axis=0, keepdims=True))


def chosen(a, b):
    return np.where(a < b, a, b), a[a > b], np.clip(a, b, b), np.where(PICK, a, a[::-1])


def durations(a, b):
    made = (
        a + b,
        a - b,
        -a,
        abs(b),
        np.sign(a),
        +a,
        a * 3,
        2 * b,
        a * PICK,
        a[0] / b[b != -b],
        a / SECOND,
    )
    one = a[1] + b[2], a[1] - b[1], -a[4], abs(b[4]), a[0] * 3, a[0] / SECOND, +a[3]
    return made, one, a // 2, a / -7, a[2] // 3


def dates(a, b):
    return a + b, a - b, b + a[::-1], (a + b) - a, a[0] - b[1], a[2] + b[3], a - 5, a + np.int32(2)


def literals(a):
    return a > SINCE, a - SINCE, (a - SINCE) / DAY, a + DAY, np.minimum(a, SINCE), a[0] == SINCE


def as_numbers(a):
    kinds = ("i8", "i4", "u8", "f8", "f4", "?", "c16")
    return [a.astype(kind) for kind in kinds], a[3].astype("i8"), a.view("i8") + 1


def filled(a):
    first = np.full(4, a[0])
    made = np.zeros(3, a.dtype), np.full_like(a, a[1]), np.zeros_like(a[2:])
    return first, made, np.arange(5).astype(a.dtype), a.astype(a.dtype)


def crossed(a):
    """Dates and durations in one another's place, of other units: NumPy takes the integers."""
    other = np.dtype(f"{'m8' if a.dtype.kind == 'M' else 'M8'}[h]")
    spans = a.view(f"m8[{np.datetime_data(a.dtype)[0]}]")
    made = np.full(3, a[5], other), np.full_like(spans.astype("m8[W]"), spans[2])
    written = spans.astype(other)
    written[PICK] = a[5]
    return made, np.where(PICK, spans, spans.astype("M8[h]")), written, a.astype(other)


def gaps(a):
    steps, last = 0, a[0]
    for i in range(1, len(a)):
        if a[i] - last > np.timedelta64(5, "D"):
            steps += 1
        if not np.isnat(a[i]):
            last = a[i]
    return steps, last


@pytest.mark.parametrize("kinds", [("M8[s]", "M8[s]"), ("m8[D]", "m8[ms]"), ("M8[D]", "M8[7s]")])
@pytest.mark.parametrize("program", [comparisons, missing, extremes, chosen])
def test_both_kinds(program, kinds):
    assert_same(program, *kinds)


@pytest.mark.parametrize("kinds", [("m8[s]", "m8[s]"), ("m8[h]", "m8[us]")])
def test_durations(kinds):
    assert_same(durations, *kinds)


@pytest.mark.parametrize("kinds", [("M8[D]", "m8[D]"), ("M8[s]", "m8[W]"), ("M8[us]", "m8[s]")])
def test_dates(kinds):
    assert_same(dates, *kinds)


@pytest.mark.parametrize("unit", ["D", "ns", "s"])
@pytest.mark.parametrize("program", [literals, as_numbers, filled, crossed, gaps])
def test_one_array(program, unit):
    assert_same(program, f"M8[{unit}]")


@pytest.mark.parametrize("kind", ["M8", "m8"])
@pytest.mark.parametrize("units", [("s", "D"), ("D", "s"), ("7s", "5s"), ("ns", "W"), ("h", "ms")])
def test_units(kind, units):
    """Products wrap around, and quotients are cut off below, as NumPy does it."""
    given, wanted = (f"{kind}[{unit}]" for unit in units)
    other = f"{'m8' if kind == 'M8' else 'M8'}[{units[1]}]"
    assert_same(lambda a: (a.astype(wanted), a[5].astype(wanted), a.astype(other)), given)


@pytest.mark.parametrize(
    ("program", "dtypes"),
    [
        (lambda a: (a.astype("M8[M]"), a - np.datetime64("2020", "Y")), ("M8[D]",)),  # a calendar's
        (lambda a: (a > np.datetime64("NaT"), a - np.timedelta64("NaT", "s")), ("M8[s]",)),
        (lambda a, b: (a - b, a < b, a.min(), np.where(a < b, a, b)), (">M8[s]", "M8[s]")),
        (lambda a: (a * 2.5, a / 1.5, a % SECOND), ("m8[s]",)),  # NumPy warns
        (lambda a: (a.sum(), a.mean(), np.sort(a), a.cumsum()), ("m8[s]",)),
    ],
)
def test_what_stays_numpys(program, dtypes):
    assert_same(program, *dtypes, boxed=True)


def test_a_scalar_of_a_calendars_unit_cannot_be_written():
    def program(a, months):
        a[a > np.timedelta64(1, "h")] = months[0]
        return a

    args = np.arange(4).astype("m8[h]"), np.arange(3, 5).astype("m8[M]")
    with pytest.raises(TypeError, match=r"from metadata \[M\] to \[h\]"):
        program(*args)
    assert not difference(watch(program, args), watch(fxc.compile(program), args), 0.0)


def test_a_quotient_warns_as_numpy_does():
    program = lambda a, b: (a / b, a[0] / b[0])  # noqa: E731
    a, b = np.array([5, 0, 7], "m8[s]"), np.array([0, 0, 2], "m8[s]")
    assert not difference(watch(program, (a, b)), watch(fxc.compile(program), (a, b)), 0.0)


def test_an_element_of_dates_is_made_with_its_unit():
    """NumPy makes the dtypes of dates anew: native code keeps the one whose address it has."""
    for unit in ("D", "s", "3ms"):
        a = np.arange(4).astype(f"M8[{unit}]")
        compiled = fxc.compile(lambda a: (a[0], a[1:], a[3]), fullgraph=True)
        for _ in range(3):
            first, _, last = compiled(a)
            assert (first, last) == (a[0], a[3])
            assert first.dtype == last.dtype == a.dtype


def test_a_condition_on_durations_is_no_range_of_ints():
    def program(a):
        count = 0
        for i in range(len(a) - 1):
            if a[i + 1] - a[i] > np.timedelta64(0, "D"):
                count += 1
        return count

    assert_same(program, "M8[D]")


@pytest.mark.parametrize(
    "program",
    [
        lambda n: np.arange("2000-01", "2000-12", 2, dtype="M8[M]"),
        lambda n: np.arange("2000-01-05", 20, dtype="M8[W]"),
        lambda n: np.arange(n, dtype="m8[D]"),
        lambda n: np.arange(np.datetime64("2000-01-01"), np.datetime64("2000-03-01"), 3 * DAY),
    ],
)
def test_ranges_of_dates(program):
    compiled = fxc.compile(program, fullgraph=True)
    for n in (7, 8, 9):
        assert not difference(watch(program, (n,)), watch(compiled, (n,)), 0.0)
    assert compiled.cache_info().eager_calls == 0


def beside_ints(t, d, k):
    later = d + 1
    t[:2] -= k
    np.add(t, 3, out=t, where=t > 0)
    for i in range(3):
        later[i] = later[i] + i
    return later, 5 - t, t == k, np.maximum(t, 2), t * 2


def without_a_unit(t, d, k):
    e = d.copy()
    e[0] = np.datetime64("NaT")
    return d == np.datetime64("NaT"), t + np.timedelta64(k > 0), e


@pytest.mark.parametrize("program", [beside_ints, without_a_unit])
def test_durations_without_a_unit_of_which_newer_versions_of_numpy_warn(program):
    make = lambda: (np.arange(5).astype("m8[s]"), np.arange(5).astype("M8[D]"), 4)  # noqa: E731
    compiled = fxc.compile(program, fullgraph=True)
    for _ in range(2):
        assert warnings_of(compiled, *make()) == warnings_of(program, *make())
        assert not difference(watch(program, make()), watch(compiled, make()), 0.0)
    assert compiled.cache_info().eager_calls == 0
