"""What loops and branches assign that is no variable of theirs: items of dicts, ``nonlocal`` and
global variables, attributes of objects in lists. See Note [Assigned places].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


@dataclass
class Body:
    x: Any = 0.0
    v: Any = 0.5

    def move(self, dt):
        self.x = self.x + self.v * dt

    def goes_on(self, n):
        self.x += 1
        return self.x < n


calls = 0

# ------------------------------------------------------------------ nonlocal and global variables


def counts_calls(u, n):
    count, total = 0, 0

    def step(i):
        nonlocal count, total
        count += 1
        if u[i % 5] > 0:
            total += u[i % 5]
        u[i % 5] *= 0.5

    for i in range(n):
        step(i)
    return count, total


def _by_steps(rhs, y, n):
    for _ in range(n):
        y = y + 0.001 * rhs(y)
    return y


def evaluations_of_a_callback(u, n):
    count = 0

    def rhs(y):
        nonlocal count
        count += 1
        return -y

    return _by_steps(rhs, u, n), count


def arrays_by_two_hands(u, n):
    w = u

    def damp():
        nonlocal w
        w = w * 0.99

    for _ in range(n):
        damp()
        w = w + 0.001
        w[0] = 1
    return w


def exchanged_inside(u, n):
    a, b = u, u * 2

    def swap():
        nonlocal a, b
        a, b = b, a
        a[0] += 1

    for _ in range(n):
        swap()
    return a, b


def until_enough(u, n):
    t, k = 0.0, 0

    def advance():
        nonlocal t, k
        t += 0.25
        k += 1

    while t < n and u[0] < 5:
        advance()
        if k > 300:
            break
    return t, k


def through_two_functions(u, n):
    count = 0

    def note():
        nonlocal count
        count += 1

    def look(v):
        for _ in range(5):
            if v > 0:
                note()

    for i in range(n):
        look(u[i % 5])
    return count


def anew_in_each_iteration(u, n):
    total = 0.0
    for _ in range(n):
        part = 0.0

        def add(v):
            nonlocal part
            part += v

        for v in u:
            add(v)
        total += part
    return total


def one_inside_of_another(u, n):
    total = 0

    def outer(i):
        count = 0

        def inner():
            nonlocal count, total
            count += 1
            total += 1

        for _ in range(i % 7 + 5):
            inner()
        return count

    found = 0
    for i in range(min(n, 50)):
        found += outer(i)
    return found, total


def best_so_far(u, n):
    best, at = None, -1

    def look(i):
        nonlocal best, at
        if best is None or u[i % 5] > best:
            best, at = u[i % 5], i

    for i in range(n):
        look(i)
    return best, at


def without_a_value(u, n):
    def note(i):
        nonlocal last
        last = u[i % 5]

    for i in range(n + 1):
        note(i)
    if n < 0:
        last = 3
    return last


def summed(u, n):
    count = 0

    def twice(v):
        nonlocal count
        count += 1
        return 2 * v

    return sum(twice(v) for v in u), count


def a_global(u, n):
    global calls
    calls = 0
    for i in range(n):
        if u[i % 5] > 0:
            calls += 1
    return calls


# ------------------------------------------------------------------ items of dicts


def a_state(u, n):
    state = {"t": 0.0, "u": u, "k": 0}
    for _ in range(n):
        state["t"] += 0.01
        state["u"] = state["u"] * 0.9
        state.update(k=state["k"] + 1)
    return state


def in_place(u, n):
    state = {"t": 0.0, "u": u}
    for _ in range(n):
        state["t"] += 0.01
        state["u"] *= 0.9
    return state


def by_branches(u, n):
    counts = {"high": 0, "low": 0, "kind": "none", "best": 0}
    for i in range(n):
        if u[i % 5] > 0.5:
            counts["high"] += 1
            counts["kind"] = "high"
        else:
            counts["low"] += 1
        if u[i % 5] > counts["best"]:
            counts["best"] = u[i % 5]
    if u[0] > 0.5:
        counts["kind"] = "some"
    else:
        counts["kind"] = "some"
    return counts


def every_parameter(u, n):
    params = {"W": np.ones((3, 3)), "b": u[:3].copy()}
    for _ in range(n):
        grads = {"W": params["W"] * 0.1, "b": params["b"] + 0.1}
        for k in params:
            params[k] = params[k] - 0.01 * grads[k]
        for k in params:
            params[k] -= 0.01 * grads[k]
    return params


def one_array_twice(u, n):
    state = {"a": u, "b": u}
    for _ in range(n):
        state["a"] += 1
        state["b"] = state["b"] * 0.9
    return state


def exchanged_items(u, n):
    state = {"a": u, "b": u * 2}
    for _ in range(n):
        state["a"], state["b"] = state["b"], state["a"]
        state["a"][0] += 1
    return state


def nested(u, n):
    state = {"p": {"x": 0.0, "v": 1.0}, 3: 0}
    for i in range(n):
        state["p"]["x"] += state["p"]["v"] * u[i % 5]
        state[3] += 1
    return state


def made_in_each_iteration(u, n):
    total = 0.0
    for i in range(n):
        row = {"a": 0.0, "b": 1}
        if u[i % 5] > 0:
            row["a"] = u[i % 5]
        else:
            row["b"] = 2
        for _ in range(5):
            row["a"] += row["b"]
        total += row["a"]
    return total


# ------------------------------------------------------------------ items of lists


def arrays_of_a_list(u, n):
    y = [u.copy(), u * 2]
    for _ in range(n):
        y[0] = y[0] * 0.99
        y[-1] += y[0]
        y[-1] = y[1] * 0.5
    return y


def descent(u, n):
    weights = [u * 1, u * 2, u * 3]
    moments = [np.zeros(5) for _ in weights]
    for _ in range(n):
        for k in range(3):
            moments[k] = 0.9 * moments[k] + 0.1 * weights[k]
            weights[k] = weights[k] - 0.01 * moments[k]
    return weights, moments


def one_list_twice(u, n):
    y = [u, u]
    z = y
    for _ in range(n):
        y[0] = y[0] * 0.99
        z[1] = z[0] + 1
    return z


# ------------------------------------------------------------------ attributes


def of_a_list(u, n):
    bodies = [Body(u[0]), Body(u[1], u[2]), Body(u)]
    for _ in range(n):
        for b in bodies:
            b.move(0.01)
    return [b.x for b in bodies]


def counted_in_a_list(u, n):
    calls, extremes = [0], [u[0], None, "none"]

    def f(v):
        calls[0] += 1
        if v > extremes[0]:
            extremes[0] = v
            extremes[-1] = "some"
        return v * 0.5

    for i in range(n):
        u[i % 5] = f(u[i % 5])
        if u[0] > 0.1:
            f(u[1])
    return calls[0], extremes, len(calls)


def counted_by_a_comprehension(u, n):
    calls = [0]

    def f(v):
        calls[0] += 1
        return v * calls[0]

    found = np.array([f(v) for v in u])
    for i in range(n):
        u[i % 5] = f(u[i % 5])
    return found, calls


def an_object_in_each_iteration(u, n):
    total = 0.0
    for i in range(n):
        b = Body(0.0, i)
        if u[i % 5] > 0:
            b.x = u[i % 5]
        for _ in range(5):
            b.x += b.v
        total += b.x
    return total


def by_the_test(u, n):
    b, steps = Body(0), 0
    while b.goes_on(n):
        steps += 1
    return steps, b


PROGRAMS: list[Callable[..., Any]] = [
    counts_calls, evaluations_of_a_callback, arrays_by_two_hands, exchanged_inside, until_enough,
    through_two_functions, anew_in_each_iteration, one_inside_of_another, best_so_far,
    without_a_value, summed, a_global, a_state, in_place, by_branches, every_parameter,
    one_array_twice, exchanged_items, nested, made_in_each_iteration, of_a_list, arrays_of_a_list,
    descent, one_list_twice,
    an_object_in_each_iteration, by_the_test, counted_in_a_list, counted_by_a_comprehension,
]  # fmt: skip


def _numbers() -> Any:
    return np.random.default_rng(3).standard_normal(5)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_as_python(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for n in (30, 7, 0, 1, 200, 31):
        expected = run(program, (_numbers(), n))
        assert difference(expected, run(compiled, (_numbers(), n))) == ""
    assert compiled.cache_info().eager_calls == 0
    assert compiled.cache_info().variants <= 4
    assert len(compiled.inspect(_numbers(), 200).captured.nodes) < 30


# ------------------------------------------------------------------ of arguments


def a_state_from_outside(s, other, n):
    for i in range(n):
        s["x"] = s["x"] + 0.01 * s["v"]
        s["v"] -= 0.01 * s["x"]
        s["n"] += 1
        if s["x"][i % 3] > 0:
            s["kind"] = "some"
        else:
            s["kind"] = "some"
    return s["n"]


def two_names_of_a_state(s, other, n):
    for _ in range(n):
        s["n"] += 1
        other["n"] += 2
    return other


def bodies_of_a_state(s, other, n):
    for _ in range(n):
        for b in s["bodies"]:
            b.move(0.01)
        for b in s["bodies"]:
            b.v = b.v - 0.01 * b.x
        s["bodies"][0].x += 1
    return s["bodies"][1].x


def rows_of_a_state(s, other, n):
    for _ in range(n):
        for row in s["rows"]:
            row["t"] += row["dt"]


def lists_of_a_state(s, other, n):
    for i in range(n):
        s["parts"][0], s["parts"][1] = s["parts"][1], s["parts"][0]
        s["parts"][2] = s["parts"][2] * 0.9
        s["parts"][-1][0] += 1
        other["counts"][0] += 1
        if s["x"][i % 3] > 1:
            other["counts"][-1] = s["x"][2]
    return s["counts"]


def too_far(s, other, n):
    for i in range(n):
        s["n"] += 1
        s["x"][i] = 1


def _state() -> dict[str, Any]:
    x = np.arange(60.0)
    first = Body(1.0)
    return {
        "x": x, "v": x * 2, "n": 0, "kind": "none", "bodies": [first, Body(x[:3]), first],
        "parts": [x[:2] + 1, x[:2] * 3, x[:3] + 2], "counts": [0, 1],
        "rows": [{"t": 0.0, "dt": 0.1}, {"t": 1.0, "dt": 0.2}],
    }  # fmt: skip


def _parts(s: dict[str, Any]) -> tuple[Any, ...]:
    return s, s["x"], s["v"]


@pytest.mark.parametrize(
    "program",
    [
        a_state_from_outside,
        two_names_of_a_state,
        bodies_of_a_state,
        rows_of_a_state,
        lists_of_a_state,
        too_far,
    ],
    ids=lambda each: each.__name__,
)
def test_arguments(program: Callable[..., Any]) -> None:
    def seen(function: Any, n: int) -> Any:
        s = _state()
        outcome = run(function, (s, s, n))
        result = "itself" if outcome.result is s else outcome.result
        return type(outcome)(result, outcome.error, _parts(s)), list(s)

    compiled = fxc.compile(program, fullgraph=True)
    for n in (30, 0, 1, 70, 31):
        (expected, keys), (found, found_keys) = seen(program, n), seen(compiled, n)
        assert difference(expected, found) == ""
        assert keys == found_keys
    assert compiled.cache_info().eager_calls == (program is too_far)
    assert compiled.cache_info().variants <= 4


def _counter() -> tuple[Any, Any]:
    count = 0

    def tick(x):
        nonlocal count
        count += 1
        return x * count

    def get():
        return count

    return tick, get


def _ticking(tick: Any, other: Any) -> Any:
    def program(u):
        total = 0.0
        for v in u:
            total += tick(v)
            if v > 0:
                other(v)
        return total

    return program


def test_variables_of_functions_around() -> None:
    results = []
    for compiles in (lambda f: f, lambda f: fxc.compile(f, fullgraph=True)):
        (tick, get), (other, get_other) = _counter(), _counter()
        program = compiles(_ticking(tick, other))
        results.append([(program(_numbers()), get(), get_other()) for _ in range(3)])
    assert results[0] == results[1]


def test_what_is_refused() -> None:
    def made_by_a_read(u, n):
        from collections import defaultdict

        found = defaultdict(float)
        for i in range(n):
            u[0] += found[i > 3]
        return found

    def in_an_expression(u, n):
        count = 0

        def note():
            nonlocal count
            count += 1
            return 1.0

        return sum(note() if v > 0 else 0.0 for v in u), count

    for program in (made_by_a_read, in_an_expression):
        with pytest.raises(fxc.CaptureError):
            fxc.compile(program, fullgraph=True)(_numbers(), 9000)


def popped_behind_a_loop(u, n):
    found = {0: 0.5, 1: 2.0}
    for i in range(n):
        found[0] = found[0] + u[i % 5]
    for _ in range(n):
        found.pop(0, None)
        u[0] += len(found)
    return found


def popped_until_there_is_none(u, n):
    found = {0: 0.5}
    for _ in range(n):
        found[max(found)] = 1
    for _ in range(n):
        found.pop(max(found), None)
    return found, u


def deleted_by_a_condition(u, n):
    state = Body(u.copy())
    for i in range(n):
        state.x[i % 5] += 1.0
    for i in range(n):
        if u[i % 5] > 100:
            del state.x
    return state


@pytest.mark.parametrize(
    "program", [popped_behind_a_loop, popped_until_there_is_none, deleted_by_a_condition]
)
@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_what_a_loop_deletes(program: Callable[..., Any]) -> None:
    """That is refused where it cannot be a loop of the graph; nothing stays that is not there."""
    compiled = fxc.compile(program)
    for n in (30, 7, 0, 1, 200, 31):
        expected = run(program, (_numbers(), n))
        assert difference(expected, run(compiled, (_numbers(), n))) == ""
