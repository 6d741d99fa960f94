"""Attributes that loops and branches assign: of objects from outside, and of those made here."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc


class Part:
    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0

    def add(self, x):
        self.count += 1
        self.total += x

    @property
    def mean(self):
        return self.total / self.count


class Model:
    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.u, self.v = rng.random(6), rng.random(6)
        self.t, self.dt, self.k = 0.0, 0.01, 0
        self.best = (0.0, 0)
        self.part = Part()

    def step(self):
        self.u = self.u + self.dt * self.v
        self.t += self.dt
        self.k += 1

    def exchange(self):
        self.v[1:-1] = 0.5 * (self.u[2:] + self.u[:-2])
        self.u, self.v = self.v, self.u


def stepped(m, n):
    for _ in range(n):
        m.step()
    return m.t


def in_an_arm_of_an_expression(m, n):
    """A loop in it carries what has been assigned before, and does not assign it."""
    if m.u[0] > 0.1:
        m.step()
        return m.t * (m.u if m.u[n % 3] > 0.5 else np.array([v * m.dt for v in m.v]))
    return m.u


def under_a_condition(m, n):
    for i in range(n):
        if m.u[i % 3] > 0.5:
            m.k += 2
            m.best = (m.u[i % 3], i)
        m.u[i % 3] *= 0.9
    if m.u[1] > 0.3:
        m.t = m.u[1]
    return m.k


def until_late(m, n):
    while m.t < 0.5 and m.u.sum() < n:
        m.step()
    return m.u


def exchanged(m, n):
    for _ in range(n):
        m.exchange()
    return m.u


def in_two_loops(m, n):
    for _ in range(n):
        for j in range(3):
            m.t += m.u[j]
            if m.t > 4:
                break
    return m.t


def of_a_part(m, n):
    for x in m.u:
        m.part.add(x)
    return m.part.mean


def of_objects_made_here(m, n):
    high, low = Part(), Part()
    for x in m.u:
        if x > 0.5:
            high.add(x)
        else:
            low.add(x)
    return high.count, high.total, low.count, low.total, m.part is high


def until_many_of_known_numbers(m, n):
    found = 0
    for i, weight in ((5, 2), (1, 3), (4, 1), (0, 5), (2, 2), (3, 4)):
        if m.u[i] > 0.5:
            m.part.count += weight
            found += 1
        if found == 2:
            break
    return found


def until_many_of_a_list(m, n):
    found, pairs = 0, [(u * n, i) for i, u in enumerate(m.u[:4].tolist() * 3)]
    pairs.sort()
    for number, i in pairs:
        if number > 3.0:
            m.part.count += i
            found += 1
        if found == 2:
            break
    return found


def element_too_far(m, n):
    for i in range(n):
        m.k += 1
        m.t = m.u[i]
    return m.k


PROGRAMS: list[Callable[..., Any]] = [
    stepped, under_a_condition, until_late, exchanged, in_two_loops, of_a_part,
    of_objects_made_here, until_many_of_known_numbers, element_too_far,
    in_an_arm_of_an_expression,
]  # fmt: skip


def _state(m: Any) -> list[Any]:
    parts = {**vars(m), **vars(m.part)}
    return [
        (name, type(x), x.tolist() if isinstance(x, np.ndarray) else x)
        for name, x in parts.items()
        if x is not m.part
    ]


def _run(program: Any, m: Any, n: int) -> Any:
    before = m.u, m.v
    try:
        result = program(m, n)
    except IndexError as error:
        return str(error), _state(m)
    ours = [[x is y for y in before] for x in (m.u, m.v, result)]
    shown = result.tolist() if isinstance(result, np.ndarray) else result
    return type(result), shown, ours, _state(m)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_as_python(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for seed, n in enumerate((30, 7, 0, 1, 200, 31)):
        found = _run(compiled, Model(seed), n)
        assert found == _run(program, Model(seed), n)
    raising = program is element_too_far
    assert compiled.cache_info().eager_calls == (4 if raising else 0)
    assert compiled.cache_info().variants <= 4
    assert len(compiled.inspect(Model(0), 30).captured.nodes) < 30


def test_a_list_that_python_made() -> None:
    compiled = fxc.compile(until_many_of_a_list, fullgraph=True)
    for seed, n in enumerate((30, 7, 3)):
        model = Model(seed)
        assert _run(compiled, Model(seed), n) == _run(until_many_of_a_list, model, n)
    assert compiled.cache_info().eager_calls == 0


def _marker(part: Part) -> Callable[[int], None]:
    def mark(number):
        part.count = number

    return mark


def test_objects_whose_names_are_alike() -> None:
    """Each is itself, or the program is refused."""
    parts = Part(), Part(), Part(), Part()
    first, second = _marker(parts[0]), _marker(parts[1])

    def both(x, first, second):
        first(1)
        second(2)
        for v in x:
            first(3)
            if v > 0.5:
                second(4)
        return x

    x = np.random.default_rng(2).random(20)
    both(x, _marker(parts[2]), _marker(parts[3]))
    try:
        fxc.compile(both, fullgraph=True)(x, first, second)
    except fxc.CaptureError:
        assert [vars(part) for part in parts[:2]] == [vars(Part())] * 2
    else:
        assert [vars(part) for part in parts[:2]] == [vars(part) for part in parts[2:]]


def test_what_no_statement_carries_is_refused() -> None:
    def in_a_choice(m, n):
        return sum((m.step() or m.t) if m.u[0] > x else 1.0 for x in m.v)

    def of_an_item(m, n):
        parts = [Part(), Part()]
        for i in range(n):
            parts[i % 2].add(m.u[0])
        return parts[0].total

    for program in (in_a_choice, of_an_item):
        with pytest.raises(fxc.CaptureError):
            fxc.compile(program, fullgraph=True)(Model(0), 5000)
