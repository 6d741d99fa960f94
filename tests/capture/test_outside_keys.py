"""Keys of dicts and sets from outside: members of enums, and tuples with numbers of the call."""

from __future__ import annotations

import copy
import enum
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

_X = np.arange(5.0)


class State(enum.Enum):
    IDLE = 1
    BUSY = 2
    DONE = 3


class Side(enum.IntEnum):
    LEFT = 0
    RIGHT = 1


class Loose(enum.Enum):
    A = 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loose) or other == 1

    def __hash__(self) -> int:
        return 1


_NEXT = {(State.IDLE, "go"): State.BUSY, (State.BUSY, "go"): State.DONE}
_RATE = {State.IDLE: 0.5, State.BUSY: 2.0}


def next_state(x: Any, found: Any, state: State, i: int) -> Any:
    return x * _RATE[state], _NEXT[state, "go"], _NEXT.get((state, "stop")), (state, i) in found


def counted(x: Any, found: Any, state: State, i: int) -> Any:
    found[state] = found.get(state, 0) + 1
    return x * found[state], {state: x.sum(), State.DONE: i}


def remembered(x: Any, found: Any, state: State, i: int) -> Any:
    if (i, i + 1) not in found:
        found[i, i + 1] = float(i) * x[0]
    return x * found[i, i + 1], list(found)


def taken_out(x: Any, found: Any, state: State, i: int) -> Any:
    found[i, state] = x.sum()
    old = found.pop((i - 1, state), None)
    del found[i, state]
    return old, x + i


def in_a_set(x: Any, found: Any, state: State, i: int) -> Any:
    seen, n = found["seen"], len(found["seen"])
    seen.add((i, state))
    seen.discard((0, State.IDLE))
    return x * n, (i, state) in seen, (i, State.DONE) in seen


def numbers_or_members(x: Any, found: Any, state: State, i: int) -> Any:
    found[Side.RIGHT] = found.get(1, 0) + i
    return x * found[1], found.get(Side.LEFT, -1), (1.0, True) in found


@pytest.mark.parametrize(
    "fn", [next_state, counted, remembered, taken_out, in_a_set, numbers_or_members]
)
def test_keys_are_members_of_enums_and_tuples_of_numbers(fn: Any) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    state = State.IDLE
    found: dict[Any, Any]
    for found in ({}, {State.BUSY: 2, (2, 3): 4.0, 1: 3}, {(1, State.BUSY): 2.5, (1, True): 0}):
        found["seen"] = {(0, State.IDLE)}
        for i, state in ((2, State.IDLE), (2, State.BUSY), (1, State.BUSY)):
            expected, got = copy.deepcopy(found), copy.deepcopy(found)
            wanted = run(fn, (_X, expected, state, i))
            assert difference(wanted, run(compiled, (_X, got, state, i))) == ""
            assert list(map(repr, got.items())) == list(map(repr, expected.items()))


class Level(enum.Enum):
    LOW, HIGH = 1, 2

    def __lt__(self, other: object) -> bool:
        return self is LEAST


LEAST = Level.LOW


def test_methods_that_read_members_of_their_own_class_are_pythons() -> None:
    def rate(x: Any, level: Level) -> Any:
        return x * (2.0 if level is Level.LOW else 3.0)

    with pytest.raises(
        fxc.CaptureError, match=r"Level\.__lt__ is called by Python, and it uses LEAST"
    ):
        fxc.compile(rate, fullgraph=True)(_X, Level.HIGH)


def test_a_key_whose_class_compares_in_its_own_way_is_pythons() -> None:
    def rate(x: Any, rates: Any) -> Any:
        return x * rates[Loose.A]

    with pytest.raises(fxc.CaptureError, match=r"Loose\.__eq__ is called by Python"):
        fxc.compile(rate, fullgraph=True)(_X, {1: 2.0})


def by_labels(x: Any, labels: Any, means: Any) -> Any:
    found = {}
    for label, mean in means.items():
        found[label] = mean - (x - label) ** 2
        means[label] = mean + 1
    means[np.int64(9)] = means[labels[0]] + labels[-1]
    best = max(found, key=lambda each: found[each].sum())
    total = sum(means.get(label, 0.5) for label in labels)
    return found, best, [type(each) for each in means], 4 in means, total


@pytest.mark.parametrize("kind", [np.int64, np.uint8, int])
def test_keys_are_ints_of_numpy(kind: type) -> None:
    compiled = fxc.compile(by_labels, fullgraph=True)
    for labels in ([0, 1, 4], [4, 0, 1], [1, 1, 0], [7, 1, 4]):
        expected, got = ({kind(each): each / 4 for each in (0, 1, 4)} for _ in range(2))
        wanted = run(by_labels, (_X, np.array(labels), expected))
        assert difference(wanted, run(compiled, (_X, np.array(labels), got))) == ""
        assert list(map(repr, got.items())) == list(map(repr, expected.items()))
    other = {np.int16(each): 1.0 for each in (0, 1, 4)}
    wanted = run(by_labels, (_X, np.array([0, 1]), dict(other)))
    assert difference(wanted, run(compiled, (_X, np.array([0, 1]), other))) == ""


RANGES = {bool: (0, 1), np.float32: (-1, 1), np.float64: (-2, 2), np.dtype("f4"): (3, 4), "x": 0}


def scaled(x: Any, seen: Any) -> Any:
    low, high = RANGES[x.dtype.type]
    seen[type(x)] = seen.get(x.dtype, 1) + len(RANGES)
    seen[x.dtype] = x * high
    return x * high - low + RANGES.get(x.dtype, (5,))[0], [*RANGES][3], int in {int, np.int64}


def test_keys_are_classes_and_data_types() -> None:
    compiled = fxc.compile(scaled, fullgraph=True)
    for x in (_X, _X.astype("f4"), np.ones((2, 2))):
        expected: dict[Any, Any] = {}
        got: dict[Any, Any] = {}
        assert difference(run(scaled, (x, expected)), run(compiled, (x, got))) == ""
        assert list(map(repr, got.items())) == list(map(repr, expected.items()))


SCORES = {("A", "A"): 4, ("A", "R"): -1, ("R", "R"): 5, ("N", "N"): 6, ("A", "N"): -2}
RATES = {("A", 1): 2.5, ("R", 0): 3.5}
PLACES = {"A": 0, "R": 1}


def get_either_way(a: Any, b: Any) -> Any:
    return SCORES.get((a, b), SCORES.get((b, a), -1 if a != b else 4))


def get_or_none(a: Any, b: Any) -> Any:
    found = SCORES.get((a, "A"))
    return SCORES.get((b, a), 2) if found is None else found


def there_or_not(a: Any, b: Any) -> Any:
    return SCORES[a, b] if (a, b) in SCORES else PLACES.get(a, 2)


def beside_ints(a: Any, b: Any) -> Any:
    return RATES.get((a, PLACES.get(b, 7)), 0.5)


@pytest.mark.parametrize("score", [get_either_way, get_or_none, there_or_not, beside_ints])
def test_keys_are_characters_that_depend_on_data(score: Any) -> None:
    def walk(s: str, t: str) -> Any:
        i, j, total = 0, 0, 0.0
        while i < len(s) and j < len(t):
            total += score(s[i], t[j]) * (i + 2 * j)
            if total > 9:
                i += 1
            else:
                j += 1
        return total, i, j

    compiled = fxc.compile(walk, fullgraph=True)
    for texts in (("ARN", "NNRA"), ("ARNRARA", "NRAAANN"), ("NARAAAR", "RRNAAR"), ("", "A")):
        assert difference(run(walk, texts), run(compiled, texts)) == ""
    SCORES["N", "R"] = 11
    try:
        assert difference(run(walk, ("NRNN", "RARAN")), run(compiled, ("NRNN", "RARAN"))) == ""
    finally:
        del SCORES["N", "R"]


def member_of_value(x: Any) -> Any:
    names = [State(k).name for k in x]
    try:
        return names, State(x[0] + 1).value, _RATE[State(x[1])]
    except ValueError as error:
        return names, str(error)


def test_members_of_enums_by_values_of_the_data() -> None:
    compiled = fxc.compile(member_of_value, fullgraph=True)
    for values in ([1, 2, 3], [2, 2, 1], [3, 1, 1], [1, 4, 2]):
        args = (np.array(values),)
        assert difference(run(member_of_value, args), run(compiled, args)) == ""
    assert compiled.cache_info().native_calls == 2


_WALLS = frozenset({(1, 1), (2, 3)})


def met(x: Any, seen: Any) -> Any:
    counts = [0, 0]
    for i in range(len(x)):
        counts[0] += (x[i], x[i - 1]) in seen
        counts[1] += (int(x[i]), x[i - 1]) not in _WALLS
    return counts, (x[0], 1) in seen


def test_tuples_of_the_data_in_sets() -> None:
    x = np.array([1, 1, 3, 2, 1, 4])
    compiled = fxc.compile(met, fullgraph=True)
    for seen in ({(1, 1), (3, 1)}, frozenset({(2, 3), (1, 4)})):
        assert difference(run(met, (x, seen)), run(compiled, (x, seen))) == ""
    assert compiled.cache_info().eager_calls == 0
    for seen in ({(1, 1), "a"}, {(1.5, 1)}, {(True, 1), (3, 1)}, set(), {(1, 1, 1)}):
        other = fxc.compile(met)
        assert difference(run(met, (x, seen)), run(other, (x, seen))) == ""
