"""Variables that are None or a number, a number of several types: Note [Several things]."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
import pytest

import fxc
from tests.compiling import check
from tests.outcomes import difference, run


def found(x, k):
    for i in range(len(x)):
        if x[i] > k:
            return i
    return None


def helper_that_may_find_nothing(x):
    i, j = found(x, 1), found(x, 100)
    if i is not None and j is None:
        return x[i] + i, j
    return -1.0, i


def first_and_last(x):
    first = last = None
    for i in range(len(x)):
        if x[i] > 0:
            if first is None:
                first = i
            last = i
    return first, last, 0 if first is None or last is None else last - first


def until_hit(x):
    i, hit = 0, None
    while i < len(x) and hit is None:
        if x[i] > 2:
            hit = x[i]
        i += 1
    return hit, i


def rises(x):
    before, count, i = None, 0, 0
    while i < len(x):
        if x[i] > 0:
            if before is not None and x[i] > before:
                count += 1
            before = x[i]
        i += 1
    return count, before


def nearest_pair(x):
    best = None
    for i in range(len(x)):
        for j in range(i):
            d = abs(x[i] - x[j])
            if d > 0.1 and (best is None or d < best[0]):
                best = (d, i, j)
    if best is None:
        return None
    d, i, j = best
    return d * 2, i + j, best


def mode(x):
    best, most = None, 0
    for v in x:
        count = 0
        for u in x:
            if u == v:
                count += 1
        if count > most:
            best, most = v, count
    return best, most


def position_in_matrix(x):
    a = np.outer(x, x)
    position = None
    for i in range(len(x)):
        for j in range(len(x)):
            if a[i, j] > 4:
                position = (i, j)
                break
        if position is not None:
            break
    return position


def longest_gap(x):
    last, best = None, 0
    for i in range(len(x)):
        if x[i] > 0:
            if last is not None:
                best = max(best, i - last)
            last = i
    return best


def mean_or_none(x):
    s = n = 0
    for v in x:
        if v > 0:
            s += v
            n += 1
    return s / n if n > 0 else None


def mean_or_zero(x):
    s, n = 0.0, 0
    for v in x:
        if v > 0:
            s += v
            n += 1
    return s / n if n else 0


def three_types(x):
    s = 0
    for v in x:
        if v > 2:
            s = v
        elif v > 1:
            s = 0.5
    first = s, s + 1, s * 2.5, -s, abs(s), s == 0, s < 1, s > x[0], s / 2, s // 2, s % 2, 1 - s
    return *first, float(s), bool(s), max(s, 1), min(s, 0.25), s and 1, s or 2, not s, s**2


def three_types_of_numpy(x):
    y, s = x.astype(int), 0.0
    for i in range(len(x)):
        if x[i] > 1:
            s = y[i]
        elif x[i] > 0:
            s = x[i]
    return s, s + 1, s * 0.5, s // 2, s == 3, s * s, s - x[0], np.sqrt(s * s)


def carried_with_three_types(x):
    s = 0
    for v in x:
        if v > 2:
            s = s + v
        elif v > 1:
            s = s * 0.5
        else:
            s = s + 1
    return s


def smallest_of_ints(x):
    best = np.inf
    for v in x.astype(int):
        if v != 0 and v < best:
            best = v
    return best, best * 2


def smallest_place(x):
    best = float("inf")
    for i in range(len(x)):
        if x[i] > 0:
            best = min(best, i)
    return best


def clipped_below(x):
    s = 0
    for v in x.astype(int):
        s += v
    return max(s, 0.1), min(s, 0.5, 7)


def stored(x):
    out, y = np.zeros(len(x)), x.astype(int)
    for i in range(len(x)):
        out[i] = y[i] or 1.0
    return out


def branches_within(x):
    s = 0.0
    for v in x:
        s += v if v > 1 else -1 if v < -1 else 0.5
    return s


def states(x):
    state, changes = "low", 0
    for v in x:
        if state == "low" and v > 1:
            state = "high"
            changes += 1
        elif state == "high" and v < 0.5:
            state = "low"
    return state, changes, state == "low"


def answer_of_three(x):
    answer = None
    for v in x:
        if v > 2:
            answer = True
        elif v < -1:
            answer = False
    if answer is None:
        return 0
    return 1 if answer else -1


def results_of_all_kinds(x):
    for i in range(len(x)):
        if x[i] > 2.7:
            return i
        if x[i] < -3:
            return "negative"
        if x[i] < -1:
            return x[i]
    return None


def compared_with_none(x):
    last = None
    for v in x:
        if v > 2:
            last = v
    return last == 3, last != 3, last is None, last is not None


def listed_with_best(x):
    best, history = None, []
    for v in x:
        if best is None or v > best:
            best = v
            history.append(best)
    return best, history


def singles(x):
    y = x.astype(np.float32)
    s, n = 0.0, 0
    for v in y:
        if v > 0:
            s += v
            n += 1
    return s / n if n else 0.0


def as_a_key(x):
    state = "low"
    if x[0] > 0:
        state = "high"
    return {"low": 0, "high": 1}[state]


def texts(x):
    kind = "odd" if x[0] > 0 else "even"
    if x[1] > 1:
        kind = "none"
    table = {"odd": {"k": 1, "v": 2.5}, "even": {"k": 3, "v": 4.5}, "none": {"k": 5, "v": x[0]}}
    counts = {"odd": 0, "even": 0, "none": 0}
    for i in range(len(x)):
        counts["odd" if x[i] > 0 else "even"] += i
    if x[0] > 1e9:
        raise ValueError("bad " + kind)
    found = table[kind]["k"] + table[kind]["v"], counts, kind[0], kind[-1:], "got " + kind + "!"
    return found, len(kind), kind.upper(), kind.startswith("o"), kind in ("odd", "x"), kind in table


def known_numbers_of_two_types(x):
    s = np.float64(2.5) if x[0] > 1 else 2.5
    r = 1 if x[1] > 1 else 2.0
    return s + r, ~(np.int64(3) if x[0] > 1 else 3)


def truth_of_one_element(x):
    return (1 if x[:1] > 0 else 2), (3 if x[:1, None] > 1 else 4), not x[1:2]


# Of one length, for one compilation.
VALUES = (
    np.array([0.5, -1.25, 3.0, 0.25, -0.0, 2.5]),
    -np.ones(6),
    np.arange(1.0, 7.0),
    np.array([0.5, 1.5, 0.1, 0.2, 0.3, 0.4]),
    np.array([0.5, 1.5, 0.1, 2.5, 1.5, 0.4]),
    np.zeros(6),
    np.array([-5.0, 3, 1, 1, 1, 1]),
)
NAN = (np.array([0.5, np.nan, 2.25, np.nan, 1.75, 1]),)


def stored_as_complex(x):
    out = np.zeros(len(x), complex)
    for i, v in enumerate(x):
        total = 0
        if v > 1:
            total += v * 1j
        out[i] = total
    return out


def of_several_lengths(x):
    total = 0.0
    for i, v in enumerate(x):
        step = ("by", (2, 1.5)) if v > 1 else ("to", (3,))
        if step[0] == "by":
            total += step[1][1]
        else:
            total = total * 0.5 + step[1][0] + i
    return total


class Mode(Enum):
    LOW = 0.5
    HIGH = "high"
    OUT = None

    @property
    def is_out(self):
        return self is Mode.OUT


NEXT = {Mode.LOW: Mode.HIGH, Mode.HIGH: Mode.LOW, Mode.OUT: Mode.LOW}


def members(x):
    mode, best, seen, turns = Mode.LOW, None, [], 0
    for i, v in enumerate(x):
        before = mode
        if v > 2:
            mode = Mode.OUT
        elif v > 1 and mode == Mode.LOW:
            mode = NEXT[mode]
        elif mode in (Mode.HIGH, Mode.OUT) and v < 0:
            mode = Mode.LOW
        turns += before is not mode if mode is Mode.HIGH else 2 * (mode != before)
        best = (i, mode) if v > 2.5 else best
        seen.append(mode)
    name = mode.name if seen else "none"
    return mode, best, seen, turns, name, seen.count(Mode.LOW), Mode.OUT in seen


def attributes_of_members(x):
    mode = Mode.LOW if x[0] > 1 else Mode.HIGH
    return mode.name.lower(), mode.value, NEXT[mode].value


def words(x):
    words, n = "", 0
    for v in x:
        word = "one " if v > 1 else "Two"
        n += word.isspace() + word.find("w") + len(word.swapcase()) + word.islower()
        words = word.center(8, "*")
    return n, words


def unpacked(x):
    pair = (2, 1.5) if x[0] > 1 else (3,)
    if x[0] > 1:
        a, b = pair
        return a + b
    return pair[0] + 0.5


def farthest_apart(x):
    widest, places = 0.5, ()
    for i in range(len(x)):
        for k in range(i):
            if x[i] == x[k]:
                continue
            if abs(x[i] - x[k]) > widest:
                widest, places = abs(x[i] - x[k]), (k, i)
    if places:
        k, i = places
        widest += x[i] * k
    return widest, places, len(places)


def empty_again(x):
    run = ()
    for i in range(len(x)):
        if x[i] > 2:
            if run and run[0] < 2:
                run = (i, i + 1)
            elif not run:
                run = (i, 0)
            else:
                run = ()
    return run, sum(run)


OF_ALL = [
    *(helper_that_may_find_nothing, first_and_last, until_hit, rises, nearest_pair, mode),
    *(position_in_matrix, longest_gap, mean_or_none, mean_or_zero, three_types, branches_within),
    *(carried_with_three_types, smallest_place, states, answer_of_three, results_of_all_kinds),
    *(compared_with_none, listed_with_best, singles, as_a_key, texts, truth_of_one_element),
    *(known_numbers_of_two_types, stored_as_complex, of_several_lengths, unpacked),
    *(farthest_apart, empty_again, members, attributes_of_members, words),
]
PROGRAMS: list[tuple[Callable[..., Any], Any]] = [
    *((fn, VALUES + NAN) for fn in OF_ALL),
    *((fn, VALUES) for fn in (three_types_of_numpy, smallest_of_ints, clipped_below, stored)),
]


@pytest.mark.parametrize("fn, values", PROGRAMS, ids=[fn.__name__ for fn, _ in PROGRAMS])
def test_as_numpy(fn: Callable[..., Any], values: Any) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for x in values:
        assert not difference(run(fn, (x,)), run(compiled, (x.copy(),)))
    info = compiled.cache_info()
    assert (info.eager_calls, info.variants) == (0, 1)


def used_as_a_number(x):
    last = None
    for i in range(len(x)):
        if x[i] > 2:
            last = i
    return last + 1, x[last]


def test_none_where_a_number_is_needed() -> None:
    """NumPy raises, in a call that goes back to it."""
    compiled = fxc.compile(used_as_a_number, fullgraph=True)
    for x in VALUES:
        assert not difference(run(used_as_a_number, (x,)), run(compiled, (x.copy(),)))
    assert compiled.cache_info().eager_calls == sum(x.max() <= 2 for x in VALUES)


def beside_an_array(x):
    s = 0
    for v in x.astype(int):
        if v > 2:
            s = v
        elif v > 1:
            s = 0.5
    return s * np.ones(2, np.int64)


def keys(x):
    counts = {}
    for v in x:
        counts[v] = counts.get(v, 0) + 1
    return counts


def as_text(x):
    state = "low"
    if x[0] > 0:
        state = "high"
    return f"{state}"


def added_up(x):
    some, total = (2, 1.5) if x[0] > 1 else (3,), 0
    for v in some:
        total += v
    return total


REFUSED = {
    added_up: "what is a tuple by a condition, and else a tuple",
    beside_an_array: "a number that is of several types by conditions",
    keys: "value of an array's element",
}


@pytest.mark.parametrize("fn", REFUSED, ids=[each.__name__ for each in REFUSED])
def test_refused(fn: Callable[..., Any]) -> None:
    with pytest.raises(fxc.CaptureError, match=REFUSED[fn]) as caught:
        fxc.compile(fn, fullgraph=True)(VALUES[0])
    assert fn.__name__ in caught.value.__notes__[0]


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_whether_one_of_several_things_is_a_scalar() -> None:
    def fn(x: Any) -> Any:
        one, text = None if x[0] > 2 else 1, "a" if x[0] > 2 else None
        return np.isscalar(one), np.isscalar(text), x * 2

    compiled = fxc.compile(fn)
    for x in (np.arange(3.0), np.arange(3.0) + 3):
        assert difference(run(fn, [x]), run(compiled, [x])) == ""


def returns_twice(x, y):
    for _ in x:
        return None
    for q in x:
        if q > 0.5:
            return y * 2, y.sum()


def keeps_one_of_two(x, y):
    found = None
    for q in x:
        if q > 0.7:
            found = (y * 2, q)
        elif q > 0.3:
            found = (y + 1, q)
    return found


@pytest.mark.parametrize("fn", [returns_twice, keeps_one_of_two])
def test_none_or_a_tuple_with_one_array_or_another(fn: Callable[..., Any]) -> None:
    """A loop carries what the array holds: of one or another there is no value in a graph."""
    arrays = [np.array(x) for x in ([0.1, 0.4], [0.9, 0.1], [0.4, 0.9, 0.2], [0.1], [])]
    check(fn, *((x, np.arange(3.0)) for x in arrays))


def to_negative_powers(x, k):
    s = x[1] if x[0] > 0 else k[1]
    return s**-1, s // -2, np.power(s, np.int64(-1))


def test_negative_powers_of_an_int_or_a_float() -> None:
    """NumPy raises for an int in any case: not where the number is a float."""
    compiled = fxc.compile(to_negative_powers)
    for first in (1.0, -1.0):
        inputs = [np.array([first, 8.0]), np.arange(3)]
        assert difference(run(to_negative_powers, inputs), run(compiled, inputs)) == ""
    fxc.compile(to_negative_powers, fullgraph=True)(np.ones(2), np.arange(3))


def by_none_or_a_number(x, n):
    least, place = np.inf, None
    for i in range(len(x)):
        if x[i] < least:
            least, place = x[i], i
    doubles = {i: (i * 2.0, 1) for i in range(n)}
    doubles[place] = doubles[place][0], 2
    return doubles, place


def test_a_key_that_is_none_or_a_number() -> None:
    """It is a number where native code has it; by None Python goes on."""
    compiled = fxc.compile(by_none_or_a_number, fullgraph=True)
    for x in ([0.3, 0.1], [0.2, 0.4], [np.inf, np.inf], [0.5, 0.3]):
        inputs = np.array(x), 3
        assert difference(run(by_none_or_a_number, inputs), run(compiled, inputs)) == ""
    assert compiled.cache_info().eager_calls == 1
