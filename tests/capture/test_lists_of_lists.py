"""Lists of lists of numbers: Note [Lists of lists]."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def longest_common(a, b):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            if a[i - 1] == b[j - 1]:
                table[i][j] = table[i - 1][j - 1] + 1
            else:
                table[i][j] = max(table[i - 1][j], table[i][j - 1])
    return table[len(a)][len(b)]


def edits(a, b):
    """The borders are written by loops of their own, at a row that is known."""
    table = [[0 for _ in range(len(b) + 1)] for _ in range(len(a) + 1)]
    for i in range(len(a) + 1):
        table[i][0] = i
    for j in range(len(b) + 1):
        table[0][j] = j
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + cost)
    return table[-1][-1], len(table), len(table[0])


def cheapest_path(a, b):
    """NumPy's floats are stored where there were Python's: another kind of number."""
    cost = np.abs(a[:, None] * 0.5 - b)
    n, m = cost.shape
    table = [[0.0] * m for _ in range(n)]
    for i in range(n):
        row = table[i]
        for j in range(m):
            before = 0.0
            if i and j:
                before = min(table[i - 1][j], row[j - 1])
            row[j] = before + cost[i, j]
    return table[n - 1][m - 1], table[0][-1], len(table[0])


def counted(a, b):
    """Rows that depend on data; the table as an array behind."""
    table = [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    for k in range(min(len(a), len(b))):
        table[a[k]][b[k] % 3] += 1
    return np.array(table), table[1][-1]


def summed(a, b):
    """A loop over rows and one over their numbers."""
    table = [[i * j for j in range(4)] for i in range(3)]
    for k in range(len(a)):
        table[a[k] % 3][b[k % len(b)]] -= k
    total = 0
    for row in table:
        for number in row:
            total = total * 3 + number
    return total


def visited(a, b):
    """A walk over a grid that marks where it was."""
    marks = [[False] * 5 for _ in range(5)]
    row = column = steps = 0
    for k in range(len(a)):
        marks[row][column] = True
        row = (row + a[k]) % 5
        column = (column + 1) % 5
        if marks[row][column]:
            steps += 1
    return steps, row, column


PROGRAMS: list[Callable[..., Any]] = [
    longest_common,
    edits,
    cheapest_path,
    counted,
    summed,
    visited,
]


def inputs(n: int, m: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(n)
    return rng.integers(0, 4, n), rng.integers(0, 4, m)


@pytest.mark.parametrize("program", PROGRAMS, ids=[each.__name__ for each in PROGRAMS])
def test_tables_of_lists(program: Any) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for n, m in ((9, 7), (2, 3), (1, 1), (5, 8)):
        expected, found = run(program, inputs(n, m)), run(compiled, inputs(n, m))
        assert difference(expected, found) == "", (n, m)
    assert compiled.cache_info().eager_calls == 0


@pytest.mark.parametrize("program", [longest_common, edits, cheapest_path])
def test_one_compilation_for_all_sizes(program: Any) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for n, m in ((9, 7), (6, 5), (12, 11), (5, 8), (31, 17), (3, 3), (2, 9)):
        assert difference(run(program, inputs(n, m)), run(compiled, inputs(n, m))) == "", (n, m)
    assert compiled.cache_info().variants == 2  # the first size as it is, then all


def test_tables_do_not_grow_the_graph() -> None:
    few, many = (
        str(fxc.compile(longest_common, fullgraph=True).inspect(*inputs(n, n)).captured)
        for n in (8, 80)
    )
    assert few.count("\n") == many.count("\n")


@pytest.mark.parametrize("row, column", [(3, 0), (0, 3), (-4, 1), (1, -4), (-3, -3)])
def test_places_out_of_bounds(row: int, column: int) -> None:
    def program(x, row, column):
        table = [[0] * 3 for _ in range(3)]
        for k in range(len(x)):
            table[k][k] = k
            x[k] = table[row[k]][column[k]]
        return x

    compiled = fxc.compile(program, fullgraph=True)
    calls = [(np.ones(2), np.array([0, row]), np.array([1, column])) for _ in range(2)]
    assert difference(run(program, calls[0]), run(compiled, calls[1])) == ""


def table_of(x):
    table = [[0] * 3 for _ in range(3)]
    for k in range(len(x)):
        table[k % 3][x[k]] = k
    return table


def with_its_rows(x):
    """Which list is which is the caller's to see."""
    table = table_of(x)
    last, mean = table[-1], [[0.0] * 2 for _ in range(len(x))]
    for k in range(len(x)):
        mean[k][k % 2] = x[k] / 2
    last[0] = 5
    return table, last, table[len(x) % 3], {"mean": mean}, mean[1:2]


def of_two_kinds(x):
    table = [[0] * 3 for _ in range(len(x))]
    for k in range(len(x)):
        table[k][x[k]] = k / 2 if k % 2 else k
    return table


def shown_and_changed(x):
    table = table_of(x)
    print(table, table[1])
    for k in range(len(x)):
        table[x[k]][0] -= k
    return table


def kept(x):
    holder = Holder(table_of(x))
    holder.table[x[0]][1] += 4
    return holder


class Holder:
    def __init__(self, table):
        self.table = table

    def __eq__(self, other):
        return self.table == other.table


@pytest.mark.parametrize(
    "program", [table_of, with_its_rows, of_two_kinds, shown_and_changed, kept]
)
def test_tables_as_results(program: Any, capsys: pytest.CaptureFixture[str]) -> None:
    compiled = fxc.compile(program, fullgraph=program is not with_its_rows)
    for x in ([0, 2, 1, 1], [2, 2, 0], [1, 0, 0, 2, 1, 2]):
        expected = run(program, (np.array(x),))
        text = capsys.readouterr().out
        assert difference(expected, run(compiled, (np.array(x),))) == ""
        assert capsys.readouterr().out == text


def relaxed(d):
    for k in range(len(d)):
        for i in range(len(d)):
            for j in range(len(d)):
                if d[i][k] + d[k][j] < d[i][j]:
                    d[i][j] = d[i][k] + d[k][j]
    return d


@pytest.mark.parametrize(
    "copied",
    [
        lambda w: [row[:] for row in w],
        lambda w: [row.copy() for row in w],
        lambda w: [row[1:] + [9] for row in w],  # noqa: RUF005
        lambda w: [row + [9] for row in w],  # noqa: RUF005
    ],
)
def test_copies_of_the_callers_rows(copied: Any) -> None:
    def program(w):
        return relaxed(copied(w))

    compiled = fxc.compile(program, fullgraph=True)
    for n in (9, 12, 17):
        w = np.random.default_rng(n).integers(1, 99, (n, n)).tolist()
        assert difference(run(program, (w,)), run(compiled, (w,))) == ""
    assert compiled.cache_info().variants == 1


class Sliced:
    """What gives the same list again."""

    def __init__(self, held):
        self.held = held

    def __getitem__(self, place):
        return self.held

    __add__ = __getitem__

    def copy(self):
        return self.held


@pytest.mark.parametrize(
    "rows",
    [
        lambda x: [each[:] for each in x],
        lambda x: [each.copy() for each in x],
        lambda x: [each + [1] for each in x],  # noqa: RUF005
    ],
)
def test_objects_that_give_a_list_again(rows: Any) -> None:
    def program(x):
        held = [1, 2, 3]
        found = rows([Sliced(held), Sliced(held)])
        for k in range(len(x)):
            found[0][x[k]] = k
        return found, held

    compiled = fxc.compile(program)
    x = np.array([0, 2, 1, 1])
    assert difference(run(program, (x,)), run(compiled, (x,))) == ""


def with_a_row_replaced(x):
    table = [[0] * 3 for _ in range(3)]
    for k in range(len(x)):
        table[k % 3][x[k]] = k
    table[1] = [7, 8, 9]
    return table[1][0], table[0][0]


def of_one_row(x):
    """The rows are one list."""
    table = [[0] * 3] * 3
    for k in range(len(x)):
        table[k % 3][x[k]] = k
    return table[0][0], table[1][1]


def with_an_append(x):
    table = [[0] * 3 for _ in range(3)]
    for k in range(len(x)):
        table[k % 3][x[k]] = k
    table[0].append(4)
    return len(table[0]), table[0][3], table[1][1]


@pytest.mark.parametrize("program", [with_a_row_replaced, of_one_row, with_an_append])
def test_what_stays_pythons(program: Any) -> None:
    """The loop is unrolled then, or NumPy runs it."""
    compiled, x = fxc.compile(program), np.array([0, 2, 1, 1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *args, **kwargs: None)
        assert difference(run(program, (x,)), run(compiled, (x,))) == ""


def pairs_of_an_array(x):
    first, total = {}, 0
    for i, (a, b) in enumerate(x.tolist()):
        total += a * b
        if (a, b) not in first:
            first[a, b] = i
    rows = x.tolist()
    rows[1][0] = total
    flags = (x > 2).tolist()
    return first, total, rows, [row[1] for row in x.tolist()], flags, x.T.tolist()[1][2]


def a_list_of_pairs_that_changes(x):
    rows = x.tolist()
    rows.append([7, 8])
    return rows, x.T.tolist(), sorted(x[:, 0].tolist())


def test_rows_of_an_array() -> None:
    for dynamic in (False, True):
        compiled = fxc.compile(pairs_of_an_array, fullgraph=True, dynamic=dynamic)
        for n in (9, 300) if dynamic else (300,):
            x = np.random.default_rng(n).integers(-3, 4, (n, 2))
            assert not difference(run(pairs_of_an_array, (x,)), run(compiled, (x,)))
        assert compiled.cache_info().native_calls
    x = np.random.default_rng(3).integers(-3, 4, (20, 2))
    compiled = fxc.compile(a_list_of_pairs_that_changes, fullgraph=True)
    assert not difference(run(a_list_of_pairs_that_changes, (x,)), run(compiled, (x,)))


FIFTH = np.array([16 / 135, 0, 6656 / 12825, 28561 / 56430, -9 / 50, 2 / 55])
FOURTH = np.array([25 / 216, 0, 1408 / 2565, 2197 / 4104, -1 / 5, 0])


def embedded(f, y, end):
    """The method of Fehlberg, with one list of coefficients for each stage."""
    tableau = [
        *([], [1 / 4], [3 / 32, 9 / 32], [1932 / 2197, -7200 / 2197, 7296 / 2197]),
        *(
            [439 / 216, -8, 3680 / 513, -845 / 4104],
            [-8 / 27, 2, -3544 / 2565, 1859 / 4104, -11 / 40],
        ),
    ]
    t, h, ts, ys = 0.0, 0.1, [0.0], [y]
    while t < end:
        h = min(h, end - t)
        stages = []
        for i in range(6):
            terms = (a * k for a, k in zip(tableau[i], stages))  # noqa: B905
            stages.append(f(y + h * sum(terms, np.zeros_like(y))))
        k = np.array(stages)
        other = y + h * (FIFTH @ k)
        error = np.max(np.abs(h * ((FIFTH - FOURTH) @ k)) / (1e-8 + 1e-6 * np.abs(other)))
        if error <= 1:
            t += h
            y = other
            ts.append(t)
            ys.append(y)
        h *= min(5.0, max(0.2, 0.9 * (1 / error) ** 0.2)) if error > 0 else 5.0
    return np.array(ts), np.array(ys)


def test_lists_at_places_that_an_unrolled_loop_knows() -> None:
    def f(y: np.ndarray) -> np.ndarray:
        return np.array([y[1], -y[0]])

    compiled = fxc.compile(embedded, fullgraph=True)
    for end in (1.0, 2.0):
        args = f, np.array([1.0, 0.5]), end
        assert difference(run(embedded, args), run(compiled, args)) == ""
