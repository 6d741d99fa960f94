"""Loops and branches that Python runs: other code comes in between, or a handler keeps their jumps."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def _states(x, n):
    y = x.copy()
    for _ in range(n):
        for i in range(1, len(y)):
            y[i] += y[i - 1] * 0.5
        yield y


def _picked(x, n):
    for k in range(n):
        if k == 5:
            break
        if k == 2:
            continue
        yield x[k % 6], k
    else:
        yield -1.0, n


def _sums(x):
    total = 0.0
    for v in x:
        total += v
        yield total


def _counted_down(n):
    k = n
    while True:
        if k <= 0:
            return
        yield k
        k -= 1
        yield from range(k % 2)


def _pieces(items, n):
    it = iter(items)
    while piece := list(itertools.islice(it, n)):
        yield sum(piece)


def _narrowed(n):
    for k in range(3):
        while (left := n - k) > 0:
            yield left
            n -= 1
            if left == 5:
                break
        else:
            yield -1
            if k == 1:
                continue
            yield left
        yield 100


def _by_assigning_tests(x, n):
    return [v * x[0] for v in _narrowed(n)], list(_pieces([x[0], 1.0, x[1], 2.0, 3.0], n + 1))


def _count(x, n):
    count = 0
    for _ in _states(x, n):
        count += 1
    return count, len(list(_states(x, n)))


def _by_place(x, n):
    for i, y in enumerate(_states(x, n)):
        x[i % 6] += i + y[2]
    return x


def _beside(x, n):
    for y, b in zip(_states(x, n), [1, 2, 3], strict=False):
        x[1] += b
        y *= 0.5
    return x


def _total(x, n):
    total = 0.0
    for v, k in _picked(x, n):
        total = total * 2 + k * v
    return total


def _taken(x, n):
    it = _sums(x)
    first, second = next(it), next(it)
    return first, second, sum(it), list(_counted_down(n))


def _found(x, n):
    count = 0
    for k in _counted_down(n):
        if k == 2:
            return k, x
        count += 1
    return count, x


def _breaks_beside_a_handler(x, n):
    for k in range(n):
        if k == 5:
            break
        try:
            if k == 7:
                break
            x[k] += 1
        except IndexError:
            pass
    return x


def _continues_beside_a_handler(x, n):
    for k in range(n):
        for j in range(3):
            if j == k:
                break
            x[j] += k
        if k == 1:
            continue
        try:
            if k == 4:
                return x[:k]
        finally:
            x[0] += 0.5
        x[k] *= 2
    else:
        x[1] = 9
    return x


@pytest.mark.parametrize(
    "program",
    [
        *(_count, _by_place, _beside, _total, _taken, _found, _by_assigning_tests),
        *(_breaks_beside_a_handler, _continues_beside_a_handler),
    ],
)
def test_what_python_runs_is_run_as_often(program: Callable[..., Any]) -> None:
    """The loops of generators became loops of the graph, with one turn of what uses them inside;
    a break in a branch did not leave a loop with a handler in it; what the test of a loop with a
    yield in it assigns had no value.
    """
    compiled = fxc.compile(program, fullgraph=True)
    for n in (10, 0, 1, 2, 3, 7):
        calls = [(np.linspace(0.0, 1.0, 12), n) for _ in range(2)]
        assert difference(run(program, calls[0]), run(compiled, calls[1])) == "", n
    assert compiled.cache_info().eager_calls == 0


def _left_in_a_branch(x, q):
    def some():
        if x[1] > x[-1]:
            return
        yield q

    y = x * 2.0
    for s in some():
        if q:
            return y + s
    return y


def test_a_generator_from_outside_is_not_closed() -> None:
    """A capture closes those that it leaves suspended: the caller's are none of them."""

    def handed_on(pairs: Any) -> Any:
        return pairs

    def program(x: Any, pairs: Any) -> Any:
        return x + 1, handed_on(pairs)

    compiled = fxc.compile(program)
    for _ in range(2):
        pairs = ((name, name * 2) for name in "ab")
        assert compiled(np.ones(2), pairs)[1] is pairs
        assert dict(pairs) == {"a": "aa", "b": "bb"}


def test_a_generator_that_is_left_in_a_branch() -> None:
    """It was left recording: what followed stood in the branch, and that was an InternalError."""
    x = np.linspace(0.0, 1.0, 12)
    with pytest.raises(fxc.CaptureError, match="left inside of a branch"):
        fxc.compile(_left_in_a_branch, fullgraph=True)(x, 1.5)
    compiled = fxc.compile(_left_in_a_branch)
    for q in (1.5, 2.5, 0.0):
        calls = [(x[:: 1 if q < 2 else -1], q) for _ in range(2)]
        assert difference(run(_left_in_a_branch, calls[0]), run(compiled, calls[1])) == "", q


class Counter:
    def __init__(self) -> None:
        self.count = 0.5


def counting(counter, n):
    for k in range(n):
        counter.count += k + 2.0
        yield k
    counter.count *= 2


def counted_and_set(x, counter, n):
    for k in counting(counter, n):
        x[k] += counter.count
    if x[0] > 2.6:
        counter.count = 7.0
    return counter.count, x


def test_a_loop_leaves_what_its_generator_assigns() -> None:
    compiled = fxc.compile(counted_and_set, fullgraph=True)
    for x in (np.zeros(4), np.arange(4.0), np.ones(4)):
        for n in (0, 1, 3):
            mine, theirs, x_of_mine, x_of_theirs = Counter(), Counter(), x.copy(), x.copy()
            expected = counted_and_set(x_of_mine, mine, n)[0]
            assert compiled(x_of_theirs, theirs, n)[0] == expected == mine.count == theirs.count
            np.testing.assert_array_equal(x_of_theirs, x_of_mine)


def test_what_a_generator_runs_over_is_read_at_once() -> None:
    """``near`` is gone behind the branch: it has another size in each iteration."""

    def grown(x):
        found, seen, k = [0], np.zeros(len(x), dtype=bool), 0
        while k < len(found):
            i = found[k]
            if not seen[i]:
                seen[i] = True
                near = np.where(abs(x - x[i]) < 0.3)[0]
                if len(near) > 2:
                    found.extend(j for j in near if j not in found)
            k += 1
        return found

    x, compiled = np.random.default_rng(3).normal(size=40), fxc.compile(grown, fullgraph=True)
    assert not difference(run(grown, (x,)), run(compiled, (x,)))
