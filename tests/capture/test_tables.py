"""Tuples and lists that Python knows, at places that it does not: Note [Tables]."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

KEYS = ["12A", "45B", "78C", "*0D"]
STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0))
ROWS = [[1, 2.5], [2, 3.5], [3, 4.5]]
WEIGHTS = [0.25, 0.5, 0.25]
EDGES = {0: [], 1: [(3, 2)], 2: [(2, 1), (0, 3)], 3: [(3, 1)]}
NEAR = [[1, 2], [0], [], [0, 1, 2]]
SIZES = ((0, 1), (), (2,), (3, 4, 5))


def walked(x, n):
    """Tuples of tuples from outside; ``d`` depends on data."""
    d = row = column = 0
    for k in range(n):
        if x[k] > 0.5:
            d = (d + 1) % 4
        row += STEPS[d][0]
        column += STEPS[d - 1][1]
    return row, column


def keys_of_a_pad(x, n):
    pressed = ""
    for k in range(n):
        pressed += KEYS[int(x[k] * 4)][k % 3 - 1]
    return KEYS[x[:4].argmax()][x[:3].argmin()], pressed


def weighted(x, n):
    """By the counter of the loop, and by its parity."""
    found, sign = 0.0, (1, -1)
    for k in range(n):
        found += WEIGHTS[k % 3] * x[k] * sign[k % 2]
    return found


def rows_of_lists(x, n):
    total = 0
    for k in range(n):
        factor, more = ROWS[int(x[k] * 3)]
        total += factor * x[k] + more + len(ROWS[k % 3])
    return total


def of_elements(x, n):
    """Items that the graph computes, of several kinds; another item each time."""
    total = 0
    for k in range(n):
        total += (x[k], 2 * x[k], x[k] ** 2)[k % 3]
        total += [7, x[0], k][k % 3]
    return total


def changed_between(x, n):
    table = [1, 2, 3]
    table[1] = 5
    first = sum([table[int(v * 3)] for v in x])
    table.append(9)
    for k in range(n):
        first += table[k % len(table)]
    return first, table


def outside_of_loops(x, n):
    best = int(np.argmax(x)) % 3
    return ("none", 1.5)[n > 0], (10, 20, 30)[best], [True, False, True][-best - 1]


def both_unknown(x, n):
    table = ((1, 2, 3), (4, 5, 6))
    return [table[int(v * 2)][int(v * 3)] for v in x]


def of_tuples_of_arrays(x, n):
    """The two take turns; the result is one of the caller's arrays."""
    y = x * 2
    buffers, now = (x, y), 0
    for _ in range(n):
        source, target = buffers[now], buffers[1 - now]
        target[1:-1] = 0.5 * (source[:-2] + source[2:])
        now = 1 - now
    return buffers[now], y


def of_lists_of_arrays(x, n):
    buffers = [x, x[::-1].copy()]
    for k in range(n):
        buffers[(k + 1) % 2][1:-1] = buffers[k % 2][:-2] - buffers[k % 2][2:]
    return buffers[0].sum(), x.sum()


def sums_of_rows(x, n):
    total = 0.0
    for k in range(n):
        place = int(x[k] * 3)
        both, more = ROWS[place] + ROWS[2 - place], [0, *ROWS[place]] + ROWS[place] * 2
        total += both[1] * both[2] + more[-1] + len([7] + ROWS[place])
    return total


def of_any_length(x, n):
    """Rows of several lengths: what a square of a contour, or a neighbourhood, consists of."""
    segments, total = [], 0
    for k in range(n):
        place = int(x[k] * 4)
        for a, b in EDGES[place]:
            segments.append((k, a, b))
        near = NEAR[place]
        if near:
            total += near[0] - near[-1] + max(near)
        total += sum(near) + sum(x[v] for v in near)
        for number, v in enumerate(SIZES[place - 1]):
            if v == 4:
                break
            total += number * v + len(near)
        else:
            total += 10
    return segments, total


PROGRAMS: list[Callable[..., Any]] = [
    of_any_length,
    sums_of_rows,
    walked,
    keys_of_a_pad,
    weighted,
    rows_of_lists,
    of_elements,
    changed_between,
    outside_of_loops,
    both_unknown,
    of_tuples_of_arrays,
    of_lists_of_arrays,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=[each.__name__ for each in PROGRAMS])
def test_items_at_unknown_places(program: Any) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    rng = np.random.default_rng(5)
    for n in (12, 3, 5, 12, 7):
        x = rng.random(13)
        expected, found = run(program, (x.copy(), n)), run(compiled, (x.copy(), n))
        assert difference(expected, found) == "", n
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (1, 0)


@pytest.mark.parametrize(
    "program", [of_any_length, walked, weighted, rows_of_lists, of_tuples_of_arrays]
)
def test_loops_stay_loops(program: Any) -> None:
    """There are as many nodes for nine iterations as for nine hundred."""
    compiled = fxc.compile(program, fullgraph=True)
    few, many = (compiled.inspect(np.zeros(n + 1), n).captured for n in (9, 900))
    assert str(few).count("\n") == str(many).count("\n")


@pytest.mark.parametrize("place", [-4, -3, 2, 3, 10**9])
def test_a_place_out_of_bounds(place: int) -> None:
    """Python raises its own exception, after the writes that came before."""

    def program(x, places):
        for k in range(len(places)):
            x[k] = (1.5, 2.5, 3.5)[places[k]]
        return x

    compiled = fxc.compile(program, fullgraph=True)
    calls = [(np.zeros(3), np.array([0, 1, place])) for _ in range(2)]
    assert difference(run(program, calls[0]), run(compiled, calls[1])) == ""


def test_the_list_changes_outside() -> None:
    table = [1, 2, 3]

    def program(x):
        total = 0
        for v in x:
            total += table[int(v)]
        return total

    compiled, x = fxc.compile(program, fullgraph=True), np.arange(3.0)
    for item in (2, 5, 2.5, 7):
        table[1] = item  # type: ignore[call-overload]
        assert difference(run(program, (x,)), run(compiled, (x,))) == ""


def test_bools_as_places() -> None:
    def fn(x: Any) -> Any:
        big = bool(x[0] > 2)
        return "abc"[big], ("no", "yes")[big], [1.5, 2.5][big], (STEPS[0], STEPS[1])[big]

    compiled = fxc.compile(fn, fullgraph=True)
    for x in (np.arange(3.0), np.arange(3.0) + 3, np.zeros(1)):
        assert difference(run(fn, [x]), run(compiled, [x])) == ""


def test_rows_of_any_length_that_change() -> None:
    def program(x, rows):
        total = 0
        for v in x:
            for k in rows[int(v)]:
                total += k
            rows[0].append(7)
        return total, rows[int(x[0])][0]

    compiled = fxc.compile(program)
    for x in (np.arange(3.0), np.zeros(2), np.array([2.0, 1.0, 1.0])):
        given = ((x, [[1], [2, 3], []]) for _ in range(2))
        assert difference(run(program, next(given)), run(compiled, next(given))) == ""


def longer_in_place(k, rows):
    row = rows[k[0]]
    row += [5]
    return row, rows


def repeated_in_place(k, rows):
    row = same = rows[k[0]]
    row *= 2
    return row, same, rows


@pytest.mark.parametrize("fn", [longer_in_place, repeated_in_place])
def test_a_row_that_changes_in_place_is_no_new_list(fn: Any) -> None:
    """To add to a row that was read made a new list of it."""

    def own(k):
        return fn(k, [[0, 1], [1, 2]])

    for k in (np.array([0]), np.array([1])):
        given = ((k, [[0, 1], [1, 2]]) for _ in range(2))
        assert difference(run(fn, next(given)), run(fxc.compile(fn), next(given))) == ""
        assert difference(run(own, (k,)), run(fxc.compile(own), (k,))) == ""


def test_rows_of_lists_from_outside_are_only_read() -> None:
    def program(x, rows):
        for k in range(len(x)):
            rows[int(x[k])][1] += 1
        return rows

    with pytest.raises(fxc.CaptureError, match="can only be read"):
        fxc.compile(program, fullgraph=True)(np.zeros(300), [[0.0, 0], [0.0, 0]])


@pytest.mark.parametrize("kind", ["f8", "i8"])
def test_rows_of_lists_that_the_function_makes(kind: str) -> None:
    """They are lists of the graph, which may be written at any place."""

    def program(x):
        rows = [[0.0, 0], [0.0, 0]]
        first = rows[0]
        for k in range(len(x)):
            rows[int(x[k])][1] += 1
            rows[int(x[k])][0] += x[k] / 2
        return rows, rows[0] is first, first

    compiled, rng = fxc.compile(program, fullgraph=True), np.random.default_rng(3)
    many = np.zeros(300), np.ones(300), rng.integers(-2, 2, 50)
    for places in (*many, [1], [], [0, 1, 2, 0], [-3]):
        x = np.array(places, kind)
        assert difference(run(program, (x,)), run(compiled, (x,))) == "", places
    assert compiled.cache_info().native_calls >= 4


def test_rows_that_are_written_are_pythons() -> None:
    """The loop that writes them is unrolled, as if they could not be read."""

    def program(x, n):
        table = [[0] * n for _ in range(n)]
        for i in range(1, n):
            for k in range(1, n):
                table[i][k] = max(table[i - 1][k], table[i][k - 1]) + (x[k] > 0.5)
        return table[n - 1]

    compiled, x = fxc.compile(program, fullgraph=True), np.linspace(0, 1, 4)
    assert difference(run(program, (x, 4)), run(compiled, (x, 4))) == ""


LOGS = [0, 0, 1, 4, 2, 7, 5, 3]


@pytest.mark.parametrize(
    "program",
    [
        lambda x, n, own: LOGS[(LOGS[n] + LOGS[n + 1]) % 7],
        lambda x, n, own: (own[n] * x, own[-n]),
        lambda x, n, own: STEPS[n][0] + x[STEPS[n - 1][1]],
        lambda x, n, own: x * [1, 2.5, 3, 4, 5][n],
    ],
)
def test_a_place_that_changes_is_compiled_for_all(program: Callable[..., Any]) -> None:
    """It was a constant, and each value of it was compiled anew."""
    compiled, x = fxc.compile(program, fullgraph=True), np.arange(3.0)
    for n in (1, 2, 3, 2, 3, 1):
        args = x, n, [4, 3, 2, 1, 0]
        assert difference(run(program, args), run(compiled, args)) == "", n
    assert compiled.cache_info().variants == 2


def test_a_place_that_changes_among_other_things_stays_a_constant() -> None:
    def program(x, n, arrays):
        arrays[n][0] = n
        return arrays[n] + x

    compiled, x = fxc.compile(program, fullgraph=True), np.arange(3.0)
    for n in (1, 2, 3, 2, 0):
        one, other = ([np.zeros(3), np.ones(3), x + 2, x - 1] for _ in range(2))
        assert difference(run(program, (x, n, one)), run(compiled, (x, n, other))) == "", n
