"""Generators of the program whose conditions and loops depend on data: they are driven."""

# ruff: noqa: B905, RUF007, RUF058

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable
from itertools import accumulate, chain, compress, dropwhile, filterfalse, starmap, takewhile
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def windows(x, size):
    for i in range(len(x) - size + 1):
        yield i, x[i : i + size]


def peaks(x):
    for i, part in windows(x, 3):
        if part.argmax() == 1:
            yield i + 1


def above(x, k):
    for i in range(len(x)):
        if x[i] > k:
            yield i


def halves(n):
    while n > 1:
        yield n
        n = n // 2 if n % 2 == 0 else n - 1


def on_both_sides(x):
    yield from peaks(x)
    yield from peaks(-x)
    yield -1


def beside(x, i):
    if i > 0:
        yield i - 1
    if i < len(x) - 1:
        yield i + 1


def writing(x, out):
    for i in range(len(x)):
        out[i] += 1
        if out[i] > 1.5:
            yield out[i]


def stopped(x):
    for i in range(len(x)):
        if x[i] > 0.3:
            yield i
        if x[i] > 0.9:
            return


class Line:
    def __init__(self, x):
        self.x = x

    def neighbours(self, i):
        for step in (-1, 1):
            if 0 <= i + step < len(self.x):
                yield self.x[i + step]


def listed(x):
    return list(peaks(x)), sorted(peaks(x))[::-1], list(stopped(x)), deque(above(x, 0.5))


def folded(x):
    best = max((x[i] for i in peaks(x)), default=None)
    return sum(peaks(x)), sum(x[i] for i in above(x, 0.2) if i % 2), best, set(above(x, 0.8))


def comprehended(x):
    return [x[i] for i in peaks(x)], [i for i in above(x, 0.5) if i % 2], [*above(x, 0.1)][:0]


def in_a_loop(x):
    total, last = 0.0, None
    for i in peaks(x):
        if x[i] < 0.8:
            continue
        total += x[i]
        last = i
    else:
        total *= 2
    return total, last


def by_number(x):
    total = 0
    for k, i in enumerate(above(x, 0.4), start=1):
        total += k * i
    return total


def in_a_loop_inside(x):
    out, total = np.zeros(len(x)), 0
    for i in range(len(x)):
        for j in beside(x, i):
            out[i] += x[j]
            if out[i] > 1:
                continue
            out[j] -= 0.1
    for i in above(x, 0.4):
        for j in above(x, 0.6):
            if j > i:
                total += i * j
    return out, total


def of_whiles(x):
    return [sum(halves(int(v * 20))) for v in x], len(list(halves(len(x) + int(x.sum()))))


def from_others(x):
    n = 0
    for i in on_both_sides(x):
        n = n * 3 + i
    return n, len(list(on_both_sides(x)))


def by_turns(x):
    y, total = x.copy(), 0.0
    for v in writing(x, y):
        total += v
        y *= 0.9
    return total, y


def used_up(x):
    steps, n = above(x, 0.3), 0
    for i in steps:
        n += i
    again = above(x, 0.3)
    return n, list(steps), list(again), list(again)


def of_methods(x):
    line, total = Line(x), 0.0
    for i in range(len(x)):
        total += sum(v - x[i] for v in line.neighbours(i)) + len(list(line.neighbours(i)))
    return total


def so_far(x):
    numbers, tens = x.tolist(), (x * 10).astype(int).tolist()
    faded = list(accumulate(numbers, lambda a, b: a * 0.5 + b))
    for v in accumulate(tens, max):
        tens[-1] += v % 2  # what is read later
    return list(accumulate(x, max)), faded, list(accumulate(tens, initial=3)), tens


def of_itertools(x):
    total = 0.0
    for v in chain(x[:3], x[x > 0.5].tolist(), [1.0, 2.0]):
        total = total * 0.5 + v
    low, rest = takewhile(lambda v: v < 0.9, x), dropwhile(lambda v: v < 0.9, x.tolist())
    return total, list(low), list(rest), list(starmap(lambda a, b: a * b, zip(x, x[1:])))


def chosen(x):
    large = x > 0.5
    whole = (10 * x).astype(int).tolist()
    found = [v * k for k, v in enumerate(compress(x, large))]
    rest, known = sum(filterfalse(lambda v: v > 0.5, x)), list(compress("abc", [1, 0, 1]))
    falsy = len(list(filterfalse(None, whole)))
    total = sum(compress(data=whole, selectors=large.tolist()))
    return (
        found,
        rest,
        known,
        falsy,
        total,
        operator.countOf(whole, 3),
        operator.countOf(large, True),
    )


def left_early(x):
    total, i = 0.0, -1
    for i in above(x, 0.5):
        total += x[i]
        if i > 3:
            break
    return total, i


def left_by_return(x):
    for k, i in enumerate(peaks(x)):
        if x[i] > 0.95:
            return k, float(x[i])
        if k > 7:
            return None
    return "none"


def left_or_not(x):
    count = 0
    for i in stopped(x):
        if x[i] > 0.97:
            break
        if x[i] < 0.6:
            continue
        count += 1
    else:
        count = -count
        for i in range(3):
            count *= 2
            if i == count:
                break
    return count


def left_inside_of_loops(x):
    out = np.zeros(6)
    for k in range(6):
        for i in above(x, 0.1 * k):
            for j in beside(x, i):
                if x[j] > 0.8:
                    break
                out[k] += x[j]
            else:
                continue
            if out[k] > 2:
                break
    return out


def found_in_loops(x, least=0.9):
    for i in peaks(x):
        for j in range(i):
            if x[j] > least:
                return i, j
    else:
        return len(x)


def left_by_others(x):
    total = 0
    for i in on_both_sides(x):
        if i > 20:
            break
        total += i
    found = [found_in_loops(x[k:]) for k in (0, len(x) // 2)]
    return total, found[0], found_in_loops(x[1:], 0.99), halved(x)


def endless(v):
    while True:
        v = 0.5 * (v + 2 / v)
        yield v


def halved(x):
    last = 0.0
    for v in endless(x[0] + 1):
        if abs(v - last) < 1e-9:
            break
        last = v
    return last


WHOLE = (
    *(left_early, left_by_return, left_or_not, left_inside_of_loops, found_in_loops),
    left_by_others,
    *(listed, folded, comprehended, in_a_loop, by_number, in_a_loop_inside, of_whiles),
    *(from_others, by_turns, used_up, of_methods, so_far, of_itertools, chosen),
)


def compared(program: Callable[..., Any], compiled: Any) -> None:
    for n in (40, 2, 1, 50):
        x = np.random.default_rng(n).random(n)
        assert difference(run(program, (x.copy(),)), run(compiled, (x.copy(),))) == "", n


@pytest.mark.parametrize("program", WHOLE, ids=lambda program: program.__name__)
def test_equals_python(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    compared(program, compiled)
    assert compiled.cache_info().eager_calls == 0


def sent_to(x):
    total = 0
    for i in range(len(x)):
        if x[i] > 0.3:
            total += (yield i + total) or 1


def in_a_handler(x):
    try:
        yield from above(x, 0.3)
    finally:
        x[0] = 5


def running_out(x):
    yield from above(x, 0.3)
    next(iter(()))


def asked_again(x):
    steps, n = above(x, 0.5), 0
    for i in steps:
        n += i
        if i > 3:
            break
    for i in steps:
        n += 2 * i
    return n, list(steps)


def asked_again_by_a_holder(x):
    held = {"steps": above(x, 0.5)}
    steps, n = (lambda: held["steps"]), 0
    for i in steps():
        n += i
        if i > 3:
            break
    return n, [*zip(held["steps"], x)], list(steps())


def asked_in_between(x):
    steps, n = above(x, 0.3), 0
    for i in steps:
        n += i * next(steps, -1)
    return n


def with_functions(x):
    later = []
    for i in above(x, 0.5):
        later.append(lambda: i)  # noqa: B023
    return [f() for f in later]


def never_bound(x):
    for i in above(x, 2.0):
        last = i
    return last


def caught(x):
    try:
        return list(running_out(x))
    except RuntimeError as error:
        return str(error)


LEFT_TO_PYTHON = (
    *(asked_again, asked_again_by_a_holder, asked_in_between, with_functions, never_bound, caught),
    *(lambda x: list(sent_to(x)), lambda x: (list(in_a_handler(x)), x[0])),
)


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("program", LEFT_TO_PYTHON)
def test_what_is_told_apart_is_left_to_python(program: Callable[..., Any]) -> None:
    compared(program, fxc.compile(program))
