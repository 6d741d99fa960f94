"""Arrays of variables that a part binds anew: native code may write its results into them."""

import gc
import threading
import weakref

import numpy as np
import pytest

import fxc
from fxc.compilations import trials, variants
from tests.splitting import alike, compared, outcome


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(variants, "OFTEN", 10)
    monkeypatch.setattr(trials, "_HARDLY", 1e9)  # however little a part does, it stays


def objects(u, n, seen):
    for _ in range(n):
        w = np.sqrt(u * u + 1.0)
        seen.append(id(w))
        u[1:] += 0.1 * (u[1:] - u[:-1]) / w[1:]
    return u.sum()


def test_an_array_that_nobody_reads_is_written_into():
    compiled, seen = fxc.compile(objects), []
    for _ in range(3):
        seen.clear()
        compiled(np.linspace(0.0, 1.0, 400), 20, seen)
    assert len(set(seen)) == 1
    objects(np.linspace(0.0, 1.0, 400), 20, seen := [])
    assert len(set(seen)) > 1


def kept_in_a_list(u, n):
    kept = []
    for _ in range(n):
        w = u * u + 1.0
        gc.get_count()
        kept.append(w)
        u += w * 0.125
    return kept


def kept_by_a_view(u, n):
    total = np.zeros_like(u)
    part = total[1:]
    for _ in range(n):
        total[1:] += part
        w = u * u + 1.0
        part = w[1:] if n % 2 else w[:-1]
        gc.get_count()
        u += w * 0.125
    return total, part, w


def kept_by_another_name(u, n):
    old = u
    for _ in range(n):
        w = u * u + 1.0
        gc.get_count()
        u += (w - old) * 0.125
        old = w
    return u, old


def several(u, n):
    a = b = c = u
    for _ in range(n):
        a, b = u + 1.0, u - 1.0
        c = a
        gc.get_count()
        u += (a * b - c) * 0.0625
    return a, b, c


def handled(u, n):
    w, k = u + 2.0, 0
    for k in range(n):
        try:
            w = u * u + 1.0
            w[int(u[0] * 6.0)] = 0.0
            w = u - w
        except IndexError:
            return w + k
        gc.get_count()
        u += 0.25
    return w


def handled_by_the_caller_of_a_loop(u, n):
    w, at = u + 2.0, 0
    try:
        for _ in range(n):
            v = np.cumsum(u)
            at = int(v[3] * 2.0)
            w = u * u + v[at]
            gc.get_count()
            u += 0.25
    except IndexError:
        return w, v, at


def changed(u, n):
    for k in range(n):
        w = np.stack((u, u + 1.0))
        gc.get_count()
        u += w[1] * 0.0625
        if k % 5 == 1:
            w.shape = (-1,)
        if k % 5 == 2:
            w.flags.writeable = False
        if k % 5 == 3:
            del w
    return w.flags.writeable, w.shape, w


def other_sizes(u, n):
    for k in range(n):
        w = u[k % 2 :] * 2.0
        gc.get_count()
        u[k % 2 :] += w * 0.0625
    return w


def in_while(u, n):
    while n > 0:
        w = u.T * 2.0
        gc.get_count()
        u += w.T * 0.0625
        n -= 1
        if n == 3:
            return w
    return u


@pytest.mark.parametrize(
    "program",
    [
        *(kept_in_a_list, kept_by_a_view, kept_by_another_name, several, handled),
        *(handled_by_the_caller_of_a_loop, changed),
        *(other_sizes, in_while),
    ],
)
def test_nothing_else_sees_it(program):
    for n in (30, 17, 0):
        compared(program, lambda n=n: (np.linspace(0.0, 1.0, 40), n), parts=0 if n == 0 else 1)


def weak(u, n, seen):
    dead = []
    for _ in range(n):
        w = u * u + 1.0
        seen.append(weakref.ref(w))
        dead.append(seen[0]() is None)
        u += w * 0.0625
    return dead


def test_one_with_weak_references_is_left_alone():
    compiled = fxc.compile(weak)
    for _ in range(5):
        assert compiled(np.linspace(0.0, 1.0, 40), 12, []) == [False] + [True] * 11


def test_calls_in_threads_have_their_own():
    compiled, found = fxc.compile(kept_by_another_name), []
    expected = kept_by_another_name(np.linspace(0.0, 1.0, 40), 300)

    def run():
        found.extend(compiled(np.linspace(0.0, 1.0, 40), 300) for _ in range(3))

    threads = [threading.Thread(target=run) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for each in found:
        alike(each, expected)


def test_calls_within_calls_have_their_own():
    def nested(u, n, depth):
        for _ in range(n):
            w = u * u + 1.0
            gc.get_count()
            if depth:
                compiled(u * 0.5, n, depth - 1)
            u += w * 0.0625
        return u, w

    compiled = fxc.compile(nested)
    for _ in range(3):
        given = np.linspace(0.0, 1.0, 40)
        alike(outcome(compiled, given.copy(), 5, 2), outcome(nested, given.copy(), 5, 2))
