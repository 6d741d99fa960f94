"""Variables that are a window of what they were after each iteration of a loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.capture.capture import capture
from fxc.ir.graph import walk
from tests.compiling import check
from tests.outcomes import difference, run


def folded(x, n):
    s = 0.0
    while len(x) > 1:
        s += x[0] * x[-1]
        x = x[1:]
    return s, x


def written_through(x, n):
    for i in range(n):
        x[0] += i
        x = x[1:]
    return x


def shrinking_stencil(x, n):
    for _ in range(n):
        x[1:-1] = 0.5 * (x[2:] + x[:-2])
        x = x[1:-1]
    x += 1
    return x


def elimination(x, n):
    A = np.outer(x, x) + np.eye(len(x)) * len(x)
    M = A
    while M.shape[0] > 1:
        M[1:, 0] /= M[0, 0]
        M[1:, 1:] -= np.outer(M[1:, 0], M[0, 1:])
        M = M[1:, 1:]
    return A, M


def by_two(x, n):
    y, s = x, 0.0
    while len(y) >= 3:
        s += y.sum()
        y = y[2:]
    return s, y, x


def from_behind(x, n):
    while len(x):
        x[0] *= 2
        x = x[:-1]
    return x


def both_ways(x, n):
    low = high = x
    k = 0
    while len(low) > 2:
        low = low[1:]
        high = high[:-1]
        k += low @ high > 3
    return low, high, k


def stopped(x, n):
    t = 0.0
    for _ in range(n):
        x = x[1:]
        if x[0] > 3:
            break
        t += x[0]
    return t


def in_a_loop(x, n):
    for k in range(2):
        y = x
        for _ in range(n):
            y = y[1:]
            y[0] += 1 + k
    return y


def in_a_counted_loop(x, n):
    s = 0.0
    for k in range(n + 3):
        y = x[:8]
        for _ in range(n):
            y = y[1:]
            y[0] += 1 + k
            s += y[-1]
    return s


def rows(x, n):
    c = x[:6].reshape(2, 3).repeat(4, axis=1)
    s = 0.0
    while c.shape[1] > 2:
        s += c[0] @ c[1]
        c = c[:, 1:-1]
    return s, c


def beside_others(x, n):
    a, b = x * 1, x * 2
    for i in range(n + 4):
        if a[0] > i:
            a, b = b, a
        a[1] += i
        x[0] += b[1]
        x = x[:-1]
    return a, b, x


CASES = [
    *(folded, written_through, shrinking_stencil, elimination, by_two, from_behind, both_ways),
    *(stopped, in_a_loop, in_a_counted_loop, rows, beside_others),
]


@pytest.mark.parametrize("fn", CASES, ids=[each.__name__ for each in CASES])
def test_windows(fn: Any) -> None:
    x = np.arange(12.0) / 3
    program = check(fn, (x, 5), (x[:11], 5))
    assert program.cache_info().variants == 2
    check(fn, (x, 1))
    ops = [node.op for node in walk(capture(fn, (x, 5), {}).graph.body)]
    assert "fori_loop" in ops
    assert len(ops) == len([*walk(capture(fn, (np.arange(400.0), 5), {}).graph.body)])


def test_no_iterations() -> None:
    x = np.arange(5.0)
    check(written_through, (x, 0))
    check(from_behind, (x[:0], 0), (x[:1], 0))


def until_large(x, n):
    while x.size > 0 and x[0] < 2:
        x = x[1:]
    return x


def broken(x, n):
    for _ in range(n):
        x = x[1:]
        if x[0] > 3:
            break
    return x


@pytest.mark.parametrize("fn", [until_large, broken])
def test_windows_that_depend_on_data(fn: Any) -> None:
    check(fn, (np.arange(40.0), 10**4), (np.arange(4.5, 9), 3))


def reversed_each_time(x, n):
    for _ in range(n):
        x = x[::-1][1:]
    return x


def differences(x, n):
    for _ in range(n):
        x = x[1:] - x[:-1]
    return x


def growing(x, n):
    t = np.empty(0)
    for i in range(n):
        t = np.concatenate([t, x[i : i + 1]])
    return t


def past_the_end(x, n):
    while len(x) > 0:
        x[0] += 1
        x = x[2:]
    return x


@pytest.mark.parametrize("fn", [reversed_each_time, differences, growing, past_the_end])
def test_what_python_runs(fn: Any) -> None:
    check(fn, (np.arange(7.0), 6))


def with_outer_products(A, n):
    for i in range(n):
        A[i + 1 :, i + 1 :] -= np.outer(A[i + 1 :, i], A[i, i + 1 :])
    return A


def test_temporaries_that_shrink() -> None:
    A = np.random.default_rng(0).random((9, 9))
    program = check(with_outer_products, (A, 7), (A, 6), (A[:8, :8].copy(), 6))
    assert program.cache_info().variants == 2


# ------------------------------------------------------------------ parts that a loop leaves behind


def up_to_the_first(x, n):
    for i in range(n):
        if x[i] > 1.0:
            return x[:i]
    return x


def from_the_last(x, n):
    for i in range(n):
        if x[-1 - i] > 1.0:
            return x[-1 - i :], x[: -1 - i]
    return x[::2]


def a_written_part(x, n):
    i = 0
    while i < n:
        if x[i] > 1.0:
            part = x[max(i - 2, 0) : i + 1]
            part *= 2
            return part, i
        i += 1
    return None


def a_row_of_a_reversed(x, n):
    a = x.reshape(4, 5)[::-1]
    for i in range(n):
        if a[i % 4, 0] > 0.5:
            a[i % 4] += 1
            return a[i % 4], a
    return a


def the_last_row(x, n):
    a = x.reshape(4, 5)
    row = a[0]
    for k in range(n):
        row = a[k % 4]
        row += 1
    return row, a


def by_a_count(x, n):
    k = 0
    for i in range(n):
        if x[i] > 0:
            k += 1
    if k > 2:
        return x[:k]
    return x[k:], k


def of_a_new_array(x, n):
    y = x * 2
    for i in range(n):
        if y[i] > 1.0:
            break
    else:
        return y
    return y[:i]


def the_first_three(x, n):
    for i in range(n - 3):
        w = x[i : i + 3]
        if w.sum() > 2:
            break
    w += np.arange(3.0)
    return w, w[1:] * 2


def a_part_of_two_axes(x, n):
    a = x.reshape(4, 5)
    for k in range(n):
        w = a[k % 3 : k % 3 + 2, ::2][:, 1:]
    w *= 2
    return w, a


@pytest.mark.parametrize(
    "fn",
    [
        *(up_to_the_first, from_the_last, a_written_part, a_row_of_a_reversed, the_last_row),
        *(by_a_count, of_a_new_array, the_first_three, a_part_of_two_axes),
    ],
)
def test_parts_behind_loops(fn: Any) -> None:
    """The caller gets views of its own array; one compilation for all places."""
    arrays = (np.random.default_rng(seed).standard_normal(20) for seed in range(5))
    calls = [(x, n) for x in arrays for n in (10, 19, 6)] + [(np.zeros(20), 6)]
    assert check(fn, *calls).cache_info().variants == 1


def returned_twice(a, n):
    for row in a:
        if row[0] > n:
            return [row, (row, row[1:]), row]
    return [a[0], (a[0], a[0, 1:]), a[0]]


def two_names(a, n):
    first = second = a[0]
    for i in range(n):
        first = second = a[i]
    second[0] = -1.0
    return first, second, a


def a_name_of_the_row_before(a, n):
    row = other = a[0]
    for i in range(n):
        other = row
        row = a[i]
    return row, other


def rows_that_go_round(a, n):
    x, y, k = a[0] + 1, a[1] + 2, 0
    while k < n:
        k += 1
        for row in a:
            x, row, y = row, y, x
        x, y = x, x
    return x, y


def a_window_of_two_names(a, n):
    x = y = a
    while len(x) > 1 and x[0, 0] < n:
        x = x[1:]
        y = x
    return x, y


@pytest.mark.parametrize(
    "fn",
    [
        *(returned_twice, two_names, a_name_of_the_row_before, rows_that_go_round),
        a_window_of_two_names,
    ],
)
def test_one_part_of_two_names_is_one_object(fn: Any) -> None:
    a = np.random.default_rng(3).random((9, 9))
    assert check(fn, (a[::-1], 4), (a, 0), (a, 9)).cache_info().native_calls


def the_first_or_another(a):
    row = first = a[0]
    k = 0
    while a[k, 0] < 0 and k < 5:
        k += 1
        row = a[k]
    return first, row


def one_window_or_two(a):
    x, y, k = a, a, 1
    while a[k, 0] < 1 and k < 5:
        k += 1
        if a[k, 0] > 0:
            x = y = a[k:]
        else:
            x, y = a[1:], a[2:]
    return x, y


@pytest.mark.parametrize("fn", [the_first_or_another, one_window_or_two])
def test_parts_that_may_be_one_object(fn: Any) -> None:
    for seed in range(8):
        a = np.random.default_rng(seed).normal(size=(6, 4))
        assert difference(run(fn, (a,)), run(fxc.compile(fn), (a,))) == ""


def test_rows_at_places_that_data_say() -> None:
    def rows(a):
        k = np.argmax(a[:, 0])
        row = a[k]
        row[0] = 9.0
        return row, row, a[-k], a[1:, np.argmin(a[0])]

    for seed in range(4):
        check(rows, (np.random.default_rng(seed).random((5, 7)),))
    check(rows, (np.asfortranarray(np.random.default_rng(9).random((5, 7))),))


def test_a_part_that_moves_keeps_its_size() -> None:
    """It was counted anew."""
    graph = fxc.compile(the_first_three, fullgraph=True).inspect(np.arange(9.0), 9).captured
    assert not any("[count" in str(x.type) for node in graph.nodes for x in node.outputs)


# ------------------------------------------------------------------ parts that an iteration reads


@dataclass
class Layer:
    input: Any = None


def kept_for_later(layers, a, n):
    total = 0.0
    for _ in range(2):
        for row in a[:n]:
            out = row
            for layer in layers:
                layer.input = out
                out = np.abs(out - 0.25)
            total += out.sum()
            for layer in reversed(layers):
                total += layer.input[0]
                layer.input[1:] += 0.5
    return total


def under_a_key(known, a, n):
    for k in range(n):
        known["row"] = a[k]
        known["rows"] = a[k : k + 2], k
    return known


def the_row_before(a, n):
    last, total = a[-1], 0.0
    for k in range(n):
        total += last @ a[k]
        last[0] += k
        last = a[k]
    return last, total


def none_before(a, n):
    last = None
    for k in range(n):
        if last is not None:
            a[k, 1:] += last[:-1]
        last = a[k]
    return last


def another_before(a, n):
    last, other = np.ones(12), a[0] * 2
    for k in range(n):
        a[-1 - k] -= last
        other, last = last, a[k]
    return last, other


def a_part_of_two_rows(a, n):
    part, k = a[:2, ::2], 0
    while k < n - 1:
        part += a[k, :6]
        part = a[k : k + 2, 1::2]
        k += 1
    return part


def of_another_kind_later(a, n):
    last = a[0]
    for k in range(n):
        last = a[k] if k < 5 else a[k] * 2
    return last


def at_places_of_the_data(a, n):
    last = a[0]
    for _ in range(n):
        where = int(last[1] * 9)
        last = a[where]
        last[1] *= 0.9
    return last, a


def the_largest_row(a, n):
    best = a[0]
    for row in a[1:]:
        if row.sum() > best.sum():
            best = row
    best += 1
    return best, a


def a_row_of_rows(a, n):
    rows = a[n % 3 :]
    best = rows[0]
    for row in rows[1::2]:
        if row[0] > best[0]:
            best = row
    return best


def the_largest_column(a, n):
    best = a[:, -1]
    for column in a[:, ::-1].T:
        if column.max() > best.max():
            best = column
    return best


READ = [
    *(the_row_before, none_before, another_before, a_part_of_two_rows, at_places_of_the_data),
    *(the_largest_row, a_row_of_rows, the_largest_column),
]


@pytest.mark.parametrize("fn", READ)
def test_parts_of_the_iteration_before(fn: Any) -> None:
    a = np.random.default_rng(1).random((12, 12))
    check(fn, (a, 12), (a[::-1], 8), (np.asfortranarray(a), 9))
    sizes = [len([*walk(capture(fn, (a, n), {}).graph.body)]) for n in (12, 9)]
    assert sizes[0] == sizes[1] < 200


def test_parts_that_objects_hold() -> None:
    a = np.random.default_rng(2).random((30, 4))
    program = check(kept_for_later, ([Layer(), Layer()], a, 30), ([Layer(), Layer()], a[:20], 18))
    assert program.cache_info().variants == 2
    check(under_a_key, ({}, a, 9), ({"row": None, "rows": 1}, a, 8), ({"row": a}, a, 0))


def names_that_go_round(a, n):
    x, y = a[0] * 2, a[1] * 3
    for e in a[2:]:
        e, y, x = y, x, e
    y[::-1] += y
    return e, y, x


def of_the_callers_at_first(a, n):
    k, row = 0, a[0] * 1
    while k < n:
        row = a[0]
        a = a.copy()
        k += 1
    return row


@pytest.mark.parametrize(
    "fn", [of_another_kind_later, names_that_go_round, of_the_callers_at_first]
)
def test_parts_of_the_iteration_before_that_python_runs(fn: Any) -> None:
    a = np.random.default_rng(3).random((9, 9))
    check(fn, (a, 9), (a, 1), (a, 2), fullgraph=False)
