"""Lists that loops append to: Note [Lists of counted length]."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ir.graph import walk
from tests.outcomes import difference, run


def trajectory(x, n):
    position, speed, seen = x[0], 0.0, []
    for _ in range(n):
        speed -= position * 0.1
        position += speed * 0.1
        seen.append(position)
    return np.array(seen)


def of_python(x, n):
    halves, counts, flags = [], [], []
    for i in range(n):
        halves.append(i * 0.5)
        counts.append(i * i - 3)
        flags.append(i * 2 > n)
    return halves, counts, flags


def of_numpy(x, n):
    sums, tests = [], []
    s = np.float64(0)
    for i in range(n):
        s = s + x[i % len(x)]
        sums.append(s)
        tests.append(s > 1)
    return sums, tests


def states(x, n):
    history = []
    for _ in range(n):
        x = x * 0.5 + 1
        history.append(x.copy())
    return history, np.array(history), np.stack(history)


def of_complex_numbers(x, n):
    seen = []
    for i in range(n):
        seen.append(i * 1j)
    return seen[1], seen, len(seen)


def in_fortran_order(x, n):
    seen = []
    for i in range(n):
        seen.append(np.asfortranarray(np.outer(x, x)) * i)
    return seen, np.array(seen)


def behind_others(x, n):
    seen = [1.0]
    for i in range(n):
        seen.append(x[i % 3] + i)
    seen.append(2)
    return np.array(seen), seen, len(seen), seen[0], seen[-2], seen[3]


def in_two_loops(x, n):
    seen = []
    for i in range(n):
        seen.append(i)
    for i in range(n):
        seen.append(i * x[0])
    return seen


def items_are_used(x, n):
    seen = []
    for i in range(n):
        seen.append(x * i)
    seen[2][0] = 77
    total = seen[0] + seen[2]
    return seen, total, seen[1] is seen[1]


def items_are_run_over(x, n):
    seen, total = [], 0.0
    for i in range(n):
        seen.append(x[i % 3] * i)
    for value in seen:
        total += value
    return total, sum(seen), max(seen), sorted(len(seen) * [1])


def reads_the_list(x, n):
    seen = [1.0]
    for _ in range(n):
        seen.append(seen[-1] * 2 + x[0])
    return seen


def asks_its_length(x, n):
    seen = []
    for i in range(n):
        if len(seen) > 3:
            x[0] += 1
        seen.append(i)
    return seen


def reached_otherwise(x, n):
    seen = []
    box = {"seen": seen}
    for i in range(n):
        seen.append(i + len(box["seen"]))
    return seen


def by_another_name(x, n):
    seen = []
    other = seen
    for i in range(n):
        x[0] += len(other)
        seen.append(i)
    return seen, other is seen


def by_a_function(x, n):
    seen = []

    def last():
        return seen[-1] if seen else 0

    for i in range(n):
        x[0] += last()
        seen.append(i)
    return seen


def of_changing_kind(x, n):
    s, seen = 0, []
    for i in range(n):
        seen.append(s)
        s = s + x[i % 3]
    return seen


def twice(x, n):
    seen = []
    for i in range(n):
        seen.append(i)
        seen.append(-i)
    return seen


def sometimes(x, n):
    seen = []
    for i in range(n):
        if i % 2:
            seen.append(i)
    return seen


def rows(x, n):
    table = []
    for i in range(n):
        row = []
        for j in range(3):
            row.append(x[j] * i)
        table.append(row)
    return np.array(table)


def through_a_helper(x, n):
    seen = []
    for i in range(n):
        note(seen, i)
    return seen


def views(x, n):
    seen = []
    for i in range(n):
        x[0] += i
        seen.append(x[1:])
    return seen


def one_array_again(x, n):
    seen = []
    for _ in range(n):
        seen.append(x)
        x *= 0.5
    return seen


def named_and_written(x, n):
    seen = []
    for i in range(n):
        made = x * i
        seen.append(made)
        made += 1
    return seen


def kept_by_a_name(x, n):
    seen = []
    last = x
    for i in range(n):
        seen.append(kept := x + i)
        last = kept
    return seen, last


def note(seen, item):
    seen.append(item)


def returned_as_it_grows(x, n):
    seen = []
    for i in range(n):
        seen.append(x[i % 3])
        x[i % 3] += 1
    return tuple(seen), {"seen": seen}


def one_by_one(x, n):
    seen = []
    for i in range(n):
        seen.append(x[i % 3] * i)
    first, *others = seen
    return tuple(seen), max(*seen), first, others, seen * 2, [*seen, 1.0]


def arrays_one_by_one(x, n):
    seen = []
    for i in range(n):
        seen.append(x * i)
    seen.reverse()
    return tuple(seen)


def by_several(x, n):
    seen = [0.5]
    for i in range(n):
        seen.append(x[i % 3] * i)
        x[0] += len(seen) * seen[-1]
        note(seen, i * 0.5)
        seen[2 * i] = seen[-2] - 1
    return seen, len(seen)


def rows_of_a_table(x, n):
    table, totals = [], []
    for i in range(n):
        row = []
        for j in range(5):
            row.append(x[j % 3] * i)
        totals.append(sum(row))
        table.append(np.array(row))
    return table, totals


def looked_at_as_an_array(x, n):
    seen, total = [], 0.0
    for i in range(n):
        seen.append(x[i % 3])
        total += np.array(seen).sum() + max(seen)
    return seen, total


def some_more_at_the_end(x, n):
    seen = []
    for i in range(n):
        seen.append(i)
        if i == n - 1:
            seen.append(-i)
    return seen, len(seen)


def some_taken_away(x, n):
    seen = []
    for i in range(n):
        seen.append(i)
        seen.append(i + n)
        if x[i % 3] > 0:
            seen.pop()
    return seen, len(seen)


def until(x, n):
    seen, also = [], []
    for i in range(n):
        seen.append(i)
        if x[i % 3] < 0:
            break
        also.append(x[i % 3])
    return seen, also


def kept_and_written(x, n):
    seen = []
    for _ in range(n):
        x = x * 0.5
        seen.append(x)
    if n:
        seen[-1][0] = 7
    return x, seen


def exchanged(x, n):
    seen, a, b = [], x * 1, x * 2
    for i in range(n):
        a, b = b, a
        a[0] += i
        seen.append(a[0])
    return seen, a, b


def of_a_changing_number(x, n):
    seen = []
    for i in range(n):
        row = []
        for j in range(i):
            row.append(x[j % 3])
        seen.append(len(row))
    return seen


CAPTURED = [
    trajectory, of_python, of_numpy, states, behind_others, items_are_used, items_are_run_over,
    returned_as_it_grows, in_two_loops, of_changing_kind, one_by_one, arrays_one_by_one, by_several,
    rows_of_a_table,
]  # fmt: skip
OTHERS = [
    looked_at_as_an_array, some_more_at_the_end, some_taken_away, until, kept_and_written, exchanged,
    of_a_changing_number,
    reads_the_list, asks_its_length, reached_otherwise, by_another_name, by_a_function, twice,
    of_complex_numbers, in_fortran_order, sometimes, rows, through_a_helper, views, one_array_again, named_and_written, kept_by_a_name,
]  # fmt: skip


def called(fn: Callable[..., Any], compiled: Callable[..., Any], n: int) -> str:
    given = np.array([0.5, 1.25, -2.0]), np.array([0.5, 1.25, -2.0])
    return difference(run(fn, (given[0], n)), run(compiled, (given[1], n)))


@pytest.mark.parametrize("fn", CAPTURED)
def test_captured(fn) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for n in (6, 11, 6):
        assert not called(fn, compiled, n)
    text = str(compiled.inspect(np.ones(3), 11).captured)
    assert "fori_loop" in text
    assert compiled.cache_info().eager_calls == 0


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("fn", OTHERS + CAPTURED)
def test_as_numpy(fn) -> None:
    compiled = fxc.compile(fn)
    for n in (7, 0, 1, 3, 12):
        assert not called(fn, compiled, n)


def test_a_long_list_is_compiled_in_short_time() -> None:
    compiled = fxc.compile(trajectory, fullgraph=True)
    assert not called(trajectory, compiled, 20_000)
    assert str(compiled.inspect(np.ones(3), 20_000).captured).count("\n") < 40


# ------------------------------------------------------------------ of any length


def histories(u, n):
    """What the loop carries is what the list holds."""
    history, errors = [u.copy()], []
    for _ in range(n):
        new = 0.5 * (u + np.roll(u, 1))
        errors.append(float(np.abs(new - u).max()))
        u = new
        history.append(u)
        if errors[-1] < 1e-2:
            break
    return history, errors, len(history)


def run_over_afterwards(u, n):
    states = []
    for k in range(n):
        states.append(u * k)
    total = 0.0
    for state in states:
        total += state.sum()
    return total, [state.max() for state in states], np.array(states)


def the_one_before(u, n):
    before, kept = u, []
    for _ in range(n):
        before, u = u, u * 0.9 + 0.01 * before
        kept.append(u)
    return np.array(kept), before.sum()


@pytest.mark.parametrize("fn", [histories, run_over_afterwards, the_one_before])
def test_one_compilation_for_all_lengths(fn, caplog) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    with caplog.at_level("INFO", logger="fxc"):
        for n in (7, 2, 1, 40, 12):
            assert not called(fn, compiled, n)
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (1, 0)
    assert "unrolled" not in caplog.text


def returned_beside(u, n):
    kept = []
    for _ in range(n):
        u = u * 0.9
        kept.append(u)
    return u, kept


def written_later(u, n):
    kept = []
    for _ in range(n):
        u = u * 0.9
        kept.append(u)
        u += 1
    return kept


def written_in_the_next(u, n):
    kept = []
    for k in range(n):
        u += k
        u = u * 0.9
        kept.append(u)
    return kept


def a_view_written_in_the_next(u, n):
    kept = []
    for k in range(n):
        part = u[1:]
        part[0] = k
        u = u * 0.9
        kept.append(u)
    return kept


def written_behind(u, n):
    kept = []
    for _ in range(n):
        u = u * 0.9
        kept.append(u)
    u[0] = 99
    return kept


def in_two_lists(u, n):
    kept, also = [], []
    for _ in range(n):
        u = u * 0.9
        kept.append(u)
        also.append(u)
    return kept, also


@pytest.mark.parametrize(
    "fn",
    [
        *(returned_beside, written_later, written_in_the_next, a_view_written_in_the_next),
        *(written_behind, in_two_lists),
    ],
)
def test_one_object_in_a_list_and_a_variable(fn) -> None:
    """The list holds no copy that could be told from it; Python makes these lists."""
    compiled = fxc.compile(fn, fullgraph=True)
    for n in (5, 0, 2):
        assert not called(fn, compiled, n)
    assert compiled.cache_info().eager_calls == 0


def test_a_table_is_made_in_a_loop_of_known_length() -> None:
    """Its items were numbers one by one, which took half a second to compile."""

    def crc32(data):
        table = []
        for i in range(256):
            c = i
            for _ in range(8):
                c = 0xEDB88320 ^ (c >> 1) if c & 1 else c >> 1
            table.append(c)
        crc = 0xFFFFFFFF
        for byte in data:
            crc = table[(crc ^ int(byte)) & 255] ^ (crc >> 8)
        return crc ^ 0xFFFFFFFF

    data = np.frombuffer(b"123456789", dtype=np.uint8)
    compiled = fxc.compile(crc32, fullgraph=True)
    assert compiled(data) == crc32(data) == 0xCBF43926
    assert len(list(walk(compiled.inspect(data).captured.body))) < 100


def test_only_the_items_are_copied_to_a_longer_list():
    def below(x, limit):
        found = []
        while x[len(found)] < limit:
            found.append(len(found))
        if len(found) < 3:
            found.append(-1)
        return found

    compiled = fxc.compile(below, fullgraph=True)
    x = np.arange(6.0)
    for limit in (0.0, 1.5, 4.5):
        assert compiled(x, limit) == below(x, limit)
    assert "in 0:131" not in str(compiled.inspect(x, 1.5).loops)


@pytest.mark.parametrize("fn", [trajectory, of_python])
def test_no_object_of_the_process_is_looked_at(fn, monkeypatch) -> None:
    """Which takes the longer, the more there are: 50 ms for each million at each loop."""
    monkeypatch.setattr(gc, "get_referrers", None)
    assert not called(fn, fxc.compile(fn, fullgraph=True), 5)


def segments(x):
    found = []
    for i, v in enumerate(x):
        begin, middle, end = (i, v), (v, 2), (v * 0.5, i)
        if v > 1:
            found.extend([(begin, end), (begin, middle)])
        elif v > 0:
            found.append((middle, begin))
    return np.array(found)


def parts_of_rows(x):
    found = []
    for i, v in enumerate(x):
        if v > 0:
            found.append((x[:2] * v, (v > 1, i), x[1:3]))
    return np.array(found), np.asarray(found, np.float32)


def numbers_or_places(x):
    found = []
    for i, v in enumerate(x):
        found.append(((i, v), (i, i)) if v > 0 else ((i, i), (2, v)))
    return np.array(found)


@pytest.mark.parametrize("fn", [segments, parts_of_rows, numbers_or_places])
def test_arrays_of_tuples_of_tuples(fn: Callable[..., Any]) -> None:
    """Floats may be among any of the numbers: native code leaves where there are none at all."""
    compiled = fxc.compile(fn, fullgraph=True)
    for size in (9, 9, 14, 3):
        x = np.random.default_rng(size).normal(size=size)
        x[0] = 1.5
        assert difference(run(fn, (x,)), run(compiled, (x,))) == ""
    assert compiled.cache_info().eager_calls == 0
    assert difference(run(fn, (-np.ones(9),)), run(compiled, (-np.ones(9),))) == ""


def ints_before(b, kind):
    found = [int(each) * 3**30 for each in b if each > 1]
    found.append(b[0].astype(kind))
    return found


def floats_before(b, kind):
    found = [float(each) / 3 for each in b if each > 1]
    found.append(b[0].astype(kind))
    return found


def ints_in_tuples(b, kind):
    found = deque(maxlen=5)
    if b[0] > 1:
        found.append((1, int(b[0]) * 3**30))
    found.append((2, b[1].astype(kind)))
    return found.pop(), list(found)


def ints_as_values(b, kind):
    found = {}
    for each in b:
        found[int(each)] = each.astype(kind) if each > 2 else int(each) * 3**30
    return found


def ints_of_branches(b, kind):
    last = int(b[0]) * 3**30
    for each in b:
        if each > 2:
            last = each.astype(kind)
    return last


@pytest.mark.parametrize("kind", ["u4", "i1", "f4", "F"])
@pytest.mark.parametrize(
    "fn", [ints_before, floats_before, ints_in_tuples, ints_as_values, ints_of_branches]
)
def test_numbers_of_python_beside_those_of_a_narrower_dtype(
    fn: Callable[..., Any], kind: str
) -> None:
    compiled = fxc.compile(fn)
    for given in ([0, 3, 2], [3, 2, 1], [1, 1, 2]):
        args = np.array(given), kind
        assert difference(run(fn, args), run(compiled, args)) == ""
