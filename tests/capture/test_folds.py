"""Comprehensions and generators that ``sum``, ``np.array`` and their like take up: as loops."""

import copy
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ir.errors import CaptureError
from tests.outcomes import difference, run, warnings_of

X = np.random.default_rng(1).normal(size=400)


def _nested(x):
    return sum(x[i] * sum(x[j] for j in range(i)) for i in range(len(x)))


def _once(x):
    taken = []
    return sum(v * len(taken) for v in x), taken


LOOPS: list[Callable[[Any], Any]] = [
    lambda x: np.array([x[i] * 2 for i in range(len(x))]),
    lambda x: np.array([[v, 2 * v] for v in x]),
    lambda x: np.array([int(10 * v) for v in x]),
    lambda x: np.array([math.sin(0.1 * i) for i in range(len(x))]),
    lambda x: np.array([x[i] if i % 2 else -x[i] for i in range(len(x))]),
    lambda x: np.array([x[: i + 1].sum() for i in range(len(x))]),
    lambda x: (sum(v * v for v in x), sum([v * v for v in x]), np.mean([v * v for v in x])),
    lambda x: (sum(v for v in x if v > 0), sum(1 for v in x if v > 0), sum(v > 0 for v in x)),
    lambda x: (any(v > 2 for v in x), any(v > 100 for v in x), all(v > -100 for v in x)),
    lambda x: (max(abs(v) for v in x), min([v * v for v in x])),
    lambda x: (sum(a * b for a, b in zip(x, x[::-1], strict=False)), sum(k * v for k, v in enumerate(x))),
    lambda x: (sum(x), max(x), min(x), any(x > 1), all(x > 1)),
    lambda x: sum(x[x > v].sum() for v in x[:40]),
    lambda x: sum(x[x > 0]),
    _nested, _once,
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(LOOPS)))
@pytest.mark.parametrize("size", [3, 400])
def test_loops(number: int, size: int) -> None:
    program = LOOPS[number]
    compiled = fxc.compile(program, fullgraph=True)
    for x in (X[:size], -X[:size]):
        assert difference(run(program, [x]), run(compiled, [x])) == ""
    assert compiled.cache_info().eager_calls == 0


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: np.sum(v for v in x),
        lambda x: np.sum(v * w for v in x for w in x[:2]),
        lambda x: np.all(v > 0 for v in x),
        lambda x: np.any(v > 0 for v in x),
        lambda x: np.mean(v for v in x),
        lambda x: np.std(v for v in x),
        lambda x: type(np.max(v for v in x)).__name__,
        lambda x: np.array(v for v in x).shape,
        lambda x: np.cumsum(v for v in x).dtype == object,
    ],
)
def test_to_numpy_a_generator_is_one_object(fn: Callable[..., Any]) -> None:
    """Its items were taken. ``np.sum`` is Python's ``sum`` then, with a warning, until NumPy 2.5."""
    compiled = fxc.compile(fn)
    for x in (X[:3], X, -abs(X)):
        expected = run(fn, [x])
        assert difference(expected, run(compiled, [x])) == ""
        if expected.error is None:
            assert warnings_of(compiled, x) == warnings_of(fn, x)
    with pytest.raises(CaptureError, match="of a generator, which is one object to it"):
        fxc.compile(fn, fullgraph=True)(X)


def test_the_graph_does_not_grow_with_the_list() -> None:
    def squares(x):
        return np.array([v * v + 1 for v in x])

    stages = [fxc.compile(squares, fullgraph=True).inspect(x) for x in (X, X[:40])]
    assert all(len(each.functional.nodes) < 5 for each in stages)
    assert len(stages[0].captured.nodes) == len(stages[1].captured.nodes)


def _third(rows):
    return rows[1][2] + len(rows)


TABLES: list[Callable[[Any], Any]] = [
    lambda x: np.array([[v * w for v in x] for w in x[:9]]),
    lambda x: np.array([[abs(x[i] - x[j]) for j in range(len(x))] for i in range(7)]),
    lambda x: np.array([[[a * b + c for a in x] for b in x[:5]] for c in x[:6]]),
    lambda x: np.array([[x[i] if i < j else 0.0 for j in range(9)] for i in range(9)]),
    lambda x: np.array([[sum(v * w for v in x[:8]) for w in x] for _ in range(6)]),
    lambda x: np.array([[int(10 * v) for v in x] for w in x[:9]]),
    lambda x: (np.sum([[v * w for v in x] for w in x[:9]]), np.max([[v - w for v in x] for w in x])),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(TABLES)))
def test_comprehensions_in_comprehensions(number: int) -> None:
    program = TABLES[number]
    compiled = fxc.compile(program, fullgraph=True)
    x = X[:40]
    assert len(compiled.inspect(x).captured.nodes) < 30
    for each in (x, -x):
        assert difference(run(program, [each]), run(compiled, [each])) == ""
    assert compiled.cache_info().eager_calls == 0


def _kept(x):
    taken = []
    return np.array([taken.append(v) or v for v in x[:12]]), taken


def _seconds(arrays):
    for each in arrays:
        yield each[1]


OTHERS: list[Callable[[Any], Any]] = [
    _kept,
    lambda x: np.array([[x[i] * j for j in range(3)] for i in range(4)]),
    lambda x: np.array([[1 if i else 0.5 * x[i] for j in range(9)] for i in range(9)]),
    lambda x: np.array(
        [[_third([[a * b for a in x[:4]] for b in x[:3]]) + c for c in x[:6]] for _ in x[:6]]
    ),
    lambda x: np.concatenate([[v * w for v in x[:6]] for w in x[:6]]),
    lambda x: [[v * w for v in x[:3]] for w in x[:6]],
    lambda x: np.array([[(v, w) for v in x[:6]] for w in x[:6]]),
    lambda x: np.array([[i * j for j in range(6)] for i in range(6)])[2, 3] * x,
    lambda x: np.array([i * i for i in range(8)]),
    lambda x: x[np.array([i % 3 for i in range(8)])],
    lambda x: np.concatenate([x[:i] for i in range(7)]),
    lambda x: np.array([0 if i == 0 else 0.5 * i for i in range(9)]) + x[0],
    lambda x: 1 if any(k == 3 for k in range(9)) else x,
    lambda x: np.array([k + 1 for k in (2.5, 1, 7)]) * x[0],
    lambda x: [v * 2 for v in x[:6]],
    lambda x: sum(x * v for v in x[:6]),
    lambda x: sum(len(x[:i]) for i in range(9)),
    lambda x: [{"value": v} for v in x],
    lambda x: (max(v[1] for v in (x, -x)), min(map(np.sum, (x, x[:9]))), max(iter([x[0], x[1]]))),
    lambda x: (max({0: x[0], 1: x[1]}.values()), min(_seconds((x, -x)), default=0.0)),
    lambda x: (any(v[1] > 2 for v in (x, -x)), all(v[0] < 9 for v in {0: x, 1: -x}.values())),
    lambda x: any(a[k] > 0 for k, a in {1: x, 3: -x}.items() if a[0] > 0),
]


@pytest.mark.parametrize("number", range(len(OTHERS)))
def test_what_is_no_loop(number: int) -> None:
    program = OTHERS[number]
    compiled = fxc.compile(program, fullgraph=True)
    assert difference(run(program, [X]), run(compiled, [X])) == ""
    assert compiled.cache_info().eager_calls == 0


def test_a_name_that_is_not_the_builtin() -> None:
    def sum(items):
        return list(items)

    def program(x):
        return sum(v + 1 for v in x[:3])

    compiled = fxc.compile(program, fullgraph=True)
    assert difference(run(program, [X]), run(compiled, [X])) == ""


def test_empty() -> None:
    compiled = fxc.compile(lambda x: (sum(v for v in x), any(v > 0 for v in x)), fullgraph=True)
    assert compiled(X[:0]) == (0, False)


def known_one_by_one(x):
    made = [v * 2 for v in x]
    places = [int(v) % 10 for v in made]
    return made.index(min(made)), sorted(made)[:3], np.zeros(places[0]), places


def test_lists_of_numbers_are_loops_from_some_length_on() -> None:
    """The number of operations does not grow with a length, also where that is a constant."""
    sizes = set()
    for size in (40, 60):
        compiled = fxc.compile(known_one_by_one, fullgraph=True)
        x = np.arange(size) % 11.0
        assert difference(run(known_one_by_one, [x]), run(compiled, [x])) == ""
        sizes.add(len(str(compiled.inspect(x).captured).splitlines()))
    assert len(sizes) == 1


def test_many_items() -> None:
    def program(x):
        doubled = [v * 2 for v in x]
        rows = [x[i : i + 3] * v for i, v in enumerate(x[:-3])]
        return doubled, rows, [row.max() for row in rows], np.stack([row + 1 for row in rows], 1)

    compiled = fxc.compile(program, fullgraph=True)
    for x in (X, X[:50], X[:5]):
        assert difference(run(program, [x]), run(compiled, [x])) == ""
    assert compiled.cache_info().eager_calls == 0
    assert max(len(each.captured.graph.nodes) for each in compiled._state.variants) < 300


# ------------------------------------------------------------------ several for


def of_pairs(a, x):
    n = len(a)
    below = sum(a[i, j] for i in range(n) for j in range(i))
    apart = sum(a[i, j] * x[j] for i in range(n) for j in range(n) if i != j)
    rising = sum(i * j for i, u in enumerate(x) if u > 0 for j, v in enumerate(x) if v > u)
    return below, apart, rising


def of_conditions(a, x):
    n = len(a)
    large = any(a[i, j] > 2 for i in range(n) for j in range(i) if x[i] > 0)
    return large, all(v < 3 for row in a for v in row), any(u > v for u in x for v in x)


def of_extremes(a, x):
    return max(v for row in a for v in row), min(abs(a[i, j]) for i in range(2) for j in range(2))


def of_three(a, x):
    s = 0.0
    for k in range(3):
        s += sum(u * v * w + k for u in a[k] for v in x[:3] for w in (1, 2.5))
    return s, sorted(p * q for p in (1, 2) for q in (3, 1))


@pytest.mark.parametrize("fn", [of_pairs, of_conditions, of_extremes, of_three])
def test_loops_in_loops(fn, caplog) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    r = np.random.default_rng(3)
    with caplog.at_level("INFO", logger="fxc"):
        for n in (6, 30, 9, 60):
            args = (r.standard_normal((n, n)), r.standard_normal(n))
            assert difference(run(fn, args), run(compiled, args)) == ""
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (2, 0)
    assert "unrolled" not in caplog.text
    empty = np.zeros((0, 0)), np.zeros(0)
    assert difference(run(fn, empty), run(compiled, empty)) == ""


# ------------------------------------------------------------------ bounds that vary


def chain(d):
    n = len(d) - 1
    cost = np.zeros((n, n))
    for size in range(2, n + 1):
        for i in range(n - size + 1):
            j = i + size - 1
            cost[i, j] = min(
                cost[i, k] + cost[k + 1, j] + d[i] * d[k + 1] * d[j + 1] for k in range(i, j)
            )
    return cost


def of_ranges(x):
    y = np.zeros((len(x), 5))
    for i in range(len(x)):
        for j in range(i, len(x)):
            y[i, 0] += sum(x[k] * j for k in range(i, j))
            y[i, 1] += any(x[k] > 1 for k in range(i, j))
            y[i, 2] += all(x[k] < 1 for k in range(i, j))
            y[i, 3] += max(x[k] - i for k in range(i, j + 1))
            y[i, 4] += min((x[k] for k in range(i, j)), default=0.5)
    return y


def where_there_are_some(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        if i > 2:
            y[i] = max(x[k] for k in range(2, i)) - min([x[k] for k in range(i)])
    return y


def by_elements(x, counts):
    y, kinds = np.zeros(len(x)), []
    for i in range(len(x)):
        if counts[i] > 0:
            y[i] = max(x[k] for k in range(counts[i])) + min(x[k] for k in range(counts[i]))
            kinds.append(max(k for k in range(counts[i])))
        y[i] += sum(x[k] for k in range(counts[i])) + min(range(counts[i]), default=3)
        kinds.append(sum(k for k in range(counts[i]) if x[k] > 0))
        kinds.append(max((k for k in range(counts[i]) if x[k] > 0), default=-1))
    return y, kinds


def in_tests(x, counts):
    i = n = 0
    while i < len(x) and not any(x[k] > 2 for k in range(counts[i])):
        if all(x[k] > -1 for k in range(i)) or max(x[k] for k in range(i + 1)) > 1.5:
            n += 1
        i += 1
    return i, n


def of_a_list(x):
    found, total = [], 0.0
    for v in x:
        if not any(abs(v - w) < 0.5 for w in found):
            found.append(v)
        total += max(found) - sum(w * w for w in found)
    return found, total


def queens(n):
    columns = np.full(n, -1)
    row, column, count = 0, 0, 0
    while row >= 0:
        while column < n and any(
            columns[k] == column or abs(columns[k] - column) == row - k for k in range(row)
        ):
            column += 1
        if column < n:
            columns[row] = column
            count += row == n - 1
            row, column = (row, column + 1) if row == n - 1 else (row + 1, 0)
        else:
            row -= 1
            if row >= 0:
                column = columns[row] + 1
                columns[row] = -1
    return count


VARYING = [chain, of_ranges, where_there_are_some, by_elements, in_tests, of_a_list]


@pytest.mark.parametrize("fn", VARYING, ids=[fn.__name__ for fn in VARYING])
def test_bounds_that_vary(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    r = np.random.default_rng(5)
    for n in (7, 20, 21, 9):
        args = (r.normal(size=n), r.integers(0, n + 1, n))[: fn.__code__.co_argcount]
        assert difference(run(fn, args), run(compiled, args)) == ""
    assert compiled.cache_info().eager_calls == 0
    assert compiled.cache_info().variants == 2


def test_an_any_in_the_test_of_a_loop() -> None:
    compiled = fxc.compile(queens, fullgraph=True)
    assert [compiled(n) for n in (6, 5, 7, 2, 3)] == [4, 10, 40, 0, 0]
    assert compiled.cache_info().eager_calls == 0


def of_none(x, counts):
    s = 0.0
    for count in counts:
        s += max(x[k] for k in range(count))
        x[0] += 1
    return s


def test_the_largest_of_none() -> None:
    compiled = fxc.compile(of_none, fullgraph=True)
    for counts, left in (([3, 1, 2], 0), ([3, 0, 2], 1), ([0], 2), ([5, 5], 2)):
        mine, given = ((X[:5].copy(), np.array(counts)) for _ in range(2))
        assert difference(run(of_none, mine), run(compiled, given)) == ""
        assert compiled.cache_info().eager_calls == left


STAGES = [[], [0.2], [0.1, 0.3]]


def steps(x, end):
    """The variables of a generator that is summed up are its own, beside a start, too."""
    t, h, kept, y = 0.0, 0.1, [0.0], x * 1.0
    while t < end:
        h = min(h, end - t)
        slopes = np.zeros((3, len(x)))
        for s in range(3):
            more = sum((a * slopes[i] for i, a in enumerate(STAGES[s])), np.zeros_like(y))
            slopes[s] = np.cos(y + h * more)
        ranked = sorted((v + t for v in slopes[0]), reverse=True)
        y = y + h * slopes.mean(axis=0)
        t += h
        kept.append(t)
        h *= min(1.1, max(0.9, np.sqrt(np.mean(y**2)) - ranked[0]))
    return y, kept


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: max(*x),
        lambda x: min(*x.tolist()),
        lambda x: max(x[0]),
        lambda x: min(len(x)),
        lambda x: max(x[0] if x[0] > 0 else 1),
    ],
)
def test_one_number_has_no_items(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn)
    for x in (np.arange(3.0), np.ones(1), -np.ones(1)):
        assert difference(run(fn, [x]), run(compiled, [x])) == ""


def test_a_generator_and_more_arguments() -> None:
    compiled = fxc.compile(steps, fullgraph=True)
    for end in (1.0, 0.5, -1.0):
        mine, given = ((X[:5].copy(), end) for _ in range(2))
        assert difference(run(steps, mine), run(compiled, given)) == ""
    assert compiled.cache_info().variants == 1  # the loop is none for which an iteration is known


def orthonormal(vectors):
    """Each vector without its parts along the others before."""
    basis = []
    for v in vectors:
        w = v - sum((np.dot(v, b) * b for b in basis), np.zeros_like(v))
        if np.linalg.norm(w) > 1e-10:
            basis.append(w / np.linalg.norm(w))
    return np.array(basis), sum(basis, start=np.zeros(vectors.shape[1]))


def of_what_is_there(rows):
    found = [row * 2 for row in rows if row[0] > 0.3]
    total = sum(found, np.ones(rows.shape[1]))
    return total, sum((row[0] for row in rows if row[1] > 0), rows[0]), sum(rows[:, 0], 2.5)


def start_itself(rows):
    """Without items the sum is the start, which is written."""
    start = np.zeros(rows.shape[1])
    total = sum([row for row in rows if row[0] > 2], start)
    total += 1
    return total, start, total is start


@pytest.mark.parametrize("fn", [orthonormal, of_what_is_there])
def test_an_array_to_start_a_sum_with(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for rows in (X[:12].reshape(4, 3), X[:21].reshape(7, 3), X[:12].reshape(4, 3) * 0):
        assert difference(run(fn, [rows]), run(compiled, [rows])) == ""


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_a_sum_of_no_arrays_is_its_start() -> None:
    compiled = fxc.compile(start_itself)
    for scale in (0, 1, 9):
        rows = X[:12].reshape(4, 3) * scale
        assert difference(run(start_itself, [rows]), run(compiled, [rows])) == ""


def sum_of_own(items):
    return list(items)


def test_a_global_by_the_name_of_a_builtin(monkeypatch) -> None:
    def program(x):
        kept = []
        for i in range(len(x)):
            kept.append(sum(x[i] + k for k in range(3)))
        return kept

    monkeypatch.setitem(globals(), "sum", sum_of_own)
    with pytest.raises(CaptureError, match="a function by the name of a builtin"):
        fxc.compile(program, fullgraph=True)(X)


def sums_in_a_list(x):
    return [sum(v * w for w in x) for v in x], [max(w - v for w in x if w >= v) for v in x]


class _Keeper:
    def update(self, items):
        self.items = items


def _longer_by_others(x):
    """The variables that the generators read are no longer live where a loop goes on."""
    total, counts = 0, Counter()
    for i in range(len(x)):
        if x[i] < 0:
            continue
        near, seen = [j for j in range(len(x)) if x[j] > x[i]], set()
        near.extend(j for j in range(i) if j not in near)
        seen.update(j // 2 for j in near)
        counts.update(j // 3 for j in near)
        total += len(near) + sum(near) + len(seen) + counts[0] - len(counts)
    return total


def _kept(x):
    keeper, y = _Keeper(), 1.0
    for i in range(len(x)):
        if x[i] < 0:
            y = x[i]
            keeper.update(y * j for j in range(3))
            y = y + 1
    return sum(keeper.items), y


def test_methods_that_take_up_a_generator() -> None:
    compiled = fxc.compile(_longer_by_others, fullgraph=True)
    assert difference(run(_longer_by_others, [X[:20]]), run(compiled, [X[:20]])) == ""
    assert difference(run(_kept, [X[:20]]), run(fxc.compile(_kept), [X[:20]])) == ""


def _among(x, found):
    found.extend(int(9 * v) for v in x if v not in found)
    found += (len(found) + k for k in range(3))
    return found


def _counted(x):
    found = [k for k in range(len(x)) if x[k] > 0]
    found += (len(found) + k for k in range(3))
    return found


def _mapped(x, found, seen, ranks):
    if x[0] > -9:
        ranks.update((k + len(seen), k) for k in range(5))
    found.extend(map(lambda k: len(found) + k, range(4)))  # noqa: C417
    seen.update(k + len(seen) for k in range(5))
    ranks.update((k + len(ranks), k) for k in range(5))
    return [*found, *found], found.extend(found), seen.update(seen)


@pytest.mark.parametrize(
    ("fn", "others"),
    [
        (lambda x: _among(x, [1]), ()),
        (lambda x: _among(x, list(x[:2])), ()),
        (lambda x: _among(x[:3], [2]), ()),
        (_counted, ()),
        (_mapped, ([1], {1}, {1: 1})),
        (lambda x: _mapped(x, [1], {1}, {1: 1}), ()),
    ],
)
def test_items_that_read_what_they_go_into(fn: Callable[..., Any], others: Any) -> None:
    compiled = fxc.compile(fn)
    for k in range(2):
        inputs = ([X[k : k + 20], *copy.deepcopy(others)] for _ in range(2))
        assert difference(run(fn, next(inputs)), run(compiled, next(inputs))) == ""


def test_folds_in_a_list_are_one_compilation_for_all_sizes() -> None:
    compiled = fxc.compile(sums_in_a_list, fullgraph=True)
    for n in (20, 30, 45, 60):
        x = np.random.default_rng(n).random(n)
        assert difference(run(sums_in_a_list, [x]), run(compiled, [x])) == ""
    assert compiled.cache_info().variants == 2
