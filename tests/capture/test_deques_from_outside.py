"""Deques of the caller's: read, appended to and shortened in order with everything else."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


class Window:
    def __init__(self, most, items):
        self.frames = deque(items, maxlen=most)
        self.count = 0


def appends(w, x):
    w.frames.append(x * 2)
    w.count += 1
    return w.count


def averages(w, x):
    w.frames.append(x[0])
    d = w.frames
    return sum(d) / len(d), max(d), d[0], d[-1], list(d), np.mean(d), len(d) == d.maxlen


def both_ends(w, x):
    w.frames.appendleft(x[0])
    if len(w.frames) > 2:
        return w.frames.pop(), w.frames.popleft(), len(w.frames)
    return list(w.frames)


def filled(w, x):
    w.frames.extend([1.0, x[0]])
    w.frames += [x[1]]
    doubled = [v * 2 for v in w.frames]
    return doubled, bool(w.frames), isinstance(w.frames, deque), isinstance(w.frames, list)


def read_before(w, x):
    before = w.frames[0] if w.frames else x
    w.frames.append(x)
    w.frames.append(x)
    return before * 2, w.frames[-1] is w.frames[-2], w.frames[-1] is x


def copies(w, x):
    d = deque(w.frames)
    d.append(x[0])
    return list(d), list(deque(w.frames, 2)), list(w.frames + d)


def cleared(w, x):
    w.frames.clear()
    w.frames.append(x[0])
    return len(w.frames), [*w.frames]


PROGRAMS = [appends, averages, both_ends, filled, read_before, copies, cleared]


@pytest.mark.parametrize("fn", PROGRAMS, ids=[fn.__name__ for fn in PROGRAMS])
@pytest.mark.parametrize("most, items", [(3, []), (4, [1.0, 2.0])])
def test_as_python(fn: Callable[..., Any], most: int, items: list[float]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    left, right = Window(most, items), Window(most, items)
    for k in range(5):
        x = np.arange(3.0) + k
        expected = run(lambda x: (fn(left, x), list(left.frames), left.count), (x.copy(),))
        found = run(lambda x: (compiled(right, x), list(right.frames), right.count), (x.copy(),))
        assert not difference(expected, found)
    assert compiled.cache_info().eager_calls == 0


SEEN: deque[Any] = deque()


class Operators:
    def __add__(self, other):
        SEEN.append("added")
        return other


class Lazy:
    def __getattr__(self, name):
        SEEN.append(name)
        return 1.5


@pytest.mark.parametrize(
    "fn",
    [
        lambda d, x: d.append(x),
        lambda d, x: d.append([x * 2, x]),
        lambda d, x: SEEN.append(x),
        lambda d, x: SEEN.extend([x, x + 1]),
        lambda d, x: (Operators() + x) * 2,
        lambda d, x: Lazy().gain * x + Lazy().u,
        lambda d, x: (d.append(x), SEEN.append(x), d is SEEN)[2],
    ],
)
@pytest.mark.parametrize("before", [(), (1, 2.5)])
def test_what_is_appended(fn: Callable[..., Any], before: tuple[float, ...]) -> None:
    """Also by helpers; the arrays are the caller's own, and the deque the same object."""
    compiled, ends = fxc.compile(fn, fullgraph=True), []
    for called in (fn, compiled):
        SEEN.clear()
        SEEN.extend(before)
        queue = deque(before)
        for n in (3, 5, 3):
            x = np.arange(float(n))
            outcome = run(lambda x, f=called, d=queue: f(d, x), (x,))
            held = [*queue, *SEEN]
            outcome = replace(outcome, result=(outcome.result, held))
            ends.append((outcome, [y is x for y in held]))
    for (expected, same), (found, also) in zip(ends[:3], ends[3:], strict=True):
        assert same == also
        assert not difference(expected, found)
    assert compiled.cache_info().eager_calls == 0


def test_refused() -> None:
    """What moves items, and deques of many items, which would be compiled for each length."""

    def turned(d: Any, x: Any) -> Any:
        d.rotate(1)
        return x

    def in_a_loop(d: Any, x: Any) -> Any:
        for v in x:
            if v > 1:
                d.append(v)
        return x

    def summed(d: Any, x: Any) -> Any:
        return sum(d) + x

    x = np.arange(3.0)
    for fn, text in ((turned, "rotate of a deque"), (in_a_loop, "a change to a deque")):
        with pytest.raises(fxc.CaptureError, match=text):
            fxc.compile(fn, fullgraph=True)(deque([1.0]), x)
    compiled = fxc.compile(summed, fullgraph=True)
    with pytest.raises(fxc.CaptureError, match="a deque from outside of 20 items"):
        compiled(deque(range(20)), x)
    assert compiled(deque(range(20), maxlen=20), x)[0] == 190
