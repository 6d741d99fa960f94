"""Comprehensions and conditional expressions of which a part cannot be captured."""

import gc
import weakref

import numpy as np
import pytest

import fxc
from tests.splitting import SEEN, alike, compared, outcome, unknown


def smooth(row):
    return np.sqrt(row * row + 1) - row * 0.5


def of_rows(u, n):
    rows = u.reshape(-1, 8)
    return [smooth(row) * unknown(n) + row * 2 for row in rows]


def of_pairs(u, n):
    found = {
        unknown(k): smooth(u) * k + unknown(j) for k in range(n) if k % 2 for j in range(2) if j < n
    }
    return found, np.sqrt(u) * 2


def of_sets(u, n):
    return {float(unknown((u * k + 1).sum())) for k in range(n)}, u * 2 + 1


def nested(u, n):
    rows = u.reshape(-1, 8)
    return [
        [(np.sqrt(row) * k + unknown(k)).sum() for k in range(n)] for row in rows if row.sum() > 1
    ]


def names_of_the_function(u, n):
    k, row = n * 2, u * 3
    found = [smooth(u * k) + unknown(k) for k in range(k) for row in [u * k] if unknown(row.size)]
    return found, k, row


def raises_in_the_middle(u, n):
    found = []
    try:
        found = [smooth(u[k:]) / unknown(u[40 - n + k]) for k in range(n + 3)]
    except IndexError as error:
        return str(error), found, u * 2
    return found


def with_closures(u, n):
    made = [lambda: unknown(k) + u.sum() * 2 for k in range(n)]  # noqa: B023
    v = np.sqrt(u * u + 1)
    return (
        [each() for each in made],
        [sorted([2, 1], key=lambda x: unknown(x) * k) for k in range(n)],
        v,
    )


def among_operands(u, n):
    return (
        np.sqrt(u * 2 + 1) * np.array([unknown(k) + smooth(u).sum() for k in range(n)]).sum()
        + u @ u
    )


def in_heads(u, n):
    while len([k for k in range(n) if smooth(u).sum() + unknown(k) > 0]) > 1:
        n -= 1
        u = u * 0.5 + n
    for w in [smooth(u) * unknown(k) for k in range(3)]:
        u = u * 2 + w
    return u


def as_arms(u, n):
    v = smooth(unknown(u) * 2) if n > 3 else np.sqrt(u) * unknown(n)
    return v + (u * 2 if unknown(n) > 2 else u * 3), (unknown(1) if u.sum() > 1 else 2) * u


def in_other_conditions(u, n):
    found = np.sqrt(u + 1) * (n > 3 and unknown(n) + 1) + (n or unknown(3))
    return found * 2, sum(smooth(u).sum() * unknown(k) for k in range(n)) + u * 2


def of_tuples_and_stars(u, n):
    pairs = [(u * 2, k, k + 1) for k in range(n)]
    return [smooth(first) * unknown(len(rest)) for first, *rest in pairs]


def with_nothing_to_run_over(u, n):
    return (
        [smooth(u) * unknown(k) for k in range(n - 5)],
        {k: unknown(k) for k in ()},
        u * unknown(2) + 1,
    )


def before_and_behind(u, n):
    return unknown("first"), [smooth(u) + unknown(k) for k in range(n)], unknown("last")


PROGRAMS = [
    of_rows,
    of_pairs,
    of_sets,
    nested,
    names_of_the_function,
    raises_in_the_middle,
    with_closures,
    among_operands,
    in_heads,
    as_arms,
    in_other_conditions,
    of_tuples_and_stars,
    with_nothing_to_run_over,
    before_and_behind,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_what_is_computed_for_each_item_is_compiled(program):
    compiled = fxc.compile(program)
    for n in (5, 5, 2, 5):
        found = []
        for fn in (program, compiled):
            SEEN.clear()
            found.append((outcome(fn, np.linspace(0.0, 1.0, 40), n), [*SEEN]))
        alike(*found)
    assert compiled.cache_info().part_calls


def test_an_item_is_let_go_of_as_soon_as_in_python():
    class Held:
        pass

    def f(u, n, kept):
        def make(k):
            held = Held()
            kept.append(weakref.ref(held))
            return held

        found = [unknown(smooth(u).sum() * k + (make(k) is None)) for k in range(n)]
        gone = [each() is None for each in kept]
        kept.clear()
        return found, gone, u * 2

    gc.disable()
    try:
        compared(f, lambda: (np.linspace(0.0, 1.0, 40), 3, []))
    finally:
        gc.enable()


def test_a_variable_without_a_value_is_missed_as_in_python():
    def program(x, c):
        if unknown(x) is None:
            s = c
        y = np.array([v * (s if x[0] > 0.0 else c) for v in x])
        s = y * 2.0
        return s + y

    compiled = fxc.compile(program)
    for _ in range(2):
        raised = []
        for each in (program, compiled):
            with pytest.raises(NameError) as caught:
                each(np.ones(3), 2.0)
            raised.append((type(caught.value), str(caught.value)))
        assert raised[0] == raised[1]
