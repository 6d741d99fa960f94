"""Variables that may have no value where a function is cut: parts hand them on, and read or leave
them as Python does.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

import fxc
from fxc.ir.replay import UNSET
from tests.splitting import alike, outcome, unknown

late = 5.0  # nothing that a function with a variable of that name may read


def by_a_branch(u, n):
    v = u * 3 + 1
    if n > 3:
        late = u * 2 + 1
        v = v + late
    unknown(u)
    w = v * 2 + u
    if n > 3:
        w = w + late * 2
    return w


def read_behind(u, n):
    if n > 3:
        late = u * 2 + 1
    unknown(u)
    u += 1.0
    w = u * 2 + u
    return w + late * 2


def by_a_loop(u, n):
    total = 0.0
    for k in range(n):
        last = u * k + 1
        total = total + last.sum()
    unknown(total)
    v = u * 2 + total
    if n:
        v = v + last * k
    return v


def by_a_loop_of_python(u, n):
    total = 0.0
    for k in range(n):
        last = u * k + 1
        total = total + last.sum()
        unknown(k)
    v = u * 2 + total
    return v + last * 3


def from_one_iteration_to_the_next(u, n):
    total = 0.0
    for k in range(n):
        unknown(k)
        if k > 0:
            total = total + (before * u).sum()  # noqa: F821
        before = u * k + 1
    return total, before * 2


def by_data(u, n):
    v = u * 2 + n
    for i in range(len(u)):
        if u[i] * 5 > n:
            found = i
            row = v * i
            break
    unknown(v)
    w = v * 2 + u
    if n < 2:
        w += row * found
    return w


def read_by_data(u, n):
    v = u * 2 + n
    for i in range(len(u)):
        if u[i] * 5 > n:
            found = u[i] * 2
    unknown(v)
    return v * 2 + found, found


def by_a_while(u, n):
    x, i = u.sum(), 0
    while x > n * 4:
        x, half = x * 0.5, u * x
        i += 1
    unknown(x)
    w = u * x + i
    if n < 3:
        w += half
    return w


def an_argument_itself(u, n):
    v = u * 2 + 1
    if n > 3:
        same, view = u, v[1:]
    unknown(v)
    v += u * 2
    if n > 4:
        same *= 2.0
        view += 1.0
        return v * 1, same, same is u
    return v * 1, u


def an_argument_by_data(u, n):
    v = u * 2 + 1
    if u[-1] * 4 > n:
        same = u
    unknown(v)
    w = v * u + 1
    if n < 4:
        same += w
        return same is u, same, w
    return w


def several_kinds(u, n):
    v = u * 2 + n
    if n > 3:
        text, count, items, table = f"{n}", n * 2, [v, n], {"v": v}
    elif n > 1:
        text, nothing = None, None
    unknown(n)
    w = v * v + u
    if n > 3:
        return text, count + 1, [each * 2 for each in items], w + table["v"]
    return w, (text, nothing)


def a_list_by_data(u, n):
    v = u * 2 + n
    if u[-1] * 4 > n:
        items = [v, u * 3]
    unknown(v)
    w = v + u * 2
    return (w, items) if n < 4 else w


def bound_anew_behind(u, n):
    if n > 3:
        late = u * 2 + 1
    unknown(u)
    v = u * 3 + n
    for k in range(n - 2):
        late = v * k
    unknown(v)
    return late + v * 2


def in_handlers(u, n):
    try:
        if n > 3:
            late = u * 2 + n
        unknown(u)
        v = u * 2 + late * n
    except UnboundLocalError as error:
        v = u * 5 + len(str(error))
    return v * 2 + u


def deleted_by_a_condition(u, n):
    late = u * 2 + 1
    if n > 3:
        del late
    unknown(u)
    v = u * 3 + n
    if n > 4:
        v += late
    return v * late if n < 4 else v * 2


def seen_by_an_inner_function(u, n):
    if n > 3:
        late = u * 2 + 1

    def g(x):
        return x * late + n

    v = u * 2 + 1
    unknown(v)
    w = v * 3 + u
    return g(w) * 2 if n != 2 else w


def in_comprehensions(u, n):
    if n > 3:
        late = u * 2 + 1
    unknown(u)
    v = [late * k + u for k in range(n - 1)]
    return v, u * 2 + n


def added_to(u, n):
    v = u * 2 + n
    if n > 3:
        late = u.sum() * 2
    unknown(v)
    w = v * 2 + u
    if n != 2:
        late += w
    return (late if n != 2 else u), w


def bound_by_a_context(u, n):
    v = u * 2 + n
    if n > 3:
        with np.errstate(over="ignore") as state:
            v = v + u * 2
    unknown(v)
    w = v * 2 + u
    return (w, state) if n != 2 else w


def of_a_generator(u, n):
    if n > 3:
        late = u * 2 + 1
    got = yield u * 3 + 1
    v = u * 2 + n
    if got is None and n > 3:
        v = v + late
    yield v
    yield late * v + u


def before_a_branch_with_its_rest(u, n):
    a, v = 1.5, u * 2 + n
    if n > 1:
        late = v * 3
    unknown(v)
    if u[-1] * 4 > n:
        a = late * u + 1.5 * u
    return v, a


def never_bound_before(u, n):
    unknown(u)
    w = u * 2 + 1
    if n > 3:
        w = w * late  # noqa: F823
    unknown(w)
    late = w
    return late * 2


PROGRAMS = [
    by_a_branch,
    read_behind,
    by_a_loop,
    by_a_loop_of_python,
    from_one_iteration_to_the_next,
    by_data,
    read_by_data,
    by_a_while,
    an_argument_itself,
    an_argument_by_data,
    several_kinds,
    a_list_by_data,
    bound_anew_behind,
    in_handlers,
    deleted_by_a_condition,
    seen_by_an_inner_function,
    in_comprehensions,
    added_to,
    bound_by_a_context,
    of_a_generator,
    before_a_branch_with_its_rest,
    never_bound_before,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_what_has_no_value_behind_a_cut_has_none_in_parts(program):
    compiled = fxc.compile(program)
    for n in (5, 2, 5, 0, 4, 1, 2, 7, 5, 0, 2):
        expected = outcome(program, np.linspace(0.0, 1.0, 40), n)
        alike(expected, outcome(compiled, np.linspace(0.0, 1.0, 40), n))
    assert compiled.cache_info().part_calls > 1


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_parts_do_in_python_what_they_do_compiled(program):
    compiled = fxc.compile(program)
    with fxc.config.override(verify=True):
        for n in (5, 2, 0, 4):
            expected = outcome(program, np.linspace(0.0, 1.0, 40), n)
            alike(expected, outcome(compiled, np.linspace(0.0, 1.0, 40), n))


@pytest.mark.parametrize("program", [by_a_branch, by_a_loop, by_data, added_to])
def test_parts_run_where_a_variable_has_no_value(program):
    compiled = fxc.compile(program)
    for _ in range(4):
        before = compiled.cache_info().part_calls
        compiled(np.linspace(0.0, 1.0, 40), 2)
    assert compiled.cache_info().part_calls == before + 2


def test_frames_and_results_show_no_mark():
    seen = []

    def watch(u, n):
        v = u * 2 + 1
        if n > 3:
            late = v * 2  # noqa: F841
        for k in range(3):
            if k == 1:
                again = v * k  # noqa: F841
            v = v * 2 + k
            seen.append({**sys._getframe(0).f_back.f_locals})
            unknown(k)
        return v

    def caller(u, n):
        return compiled(u, n)

    compiled = fxc.compile(watch)
    for n in (2, 5, 2, 5):
        alike(caller(np.ones(20), n), watch(np.ones(20), n))
    assert all(each is not UNSET for found in seen for each in found.values())


def root(x):
    if x < 0:
        raise ValueError(x)
    return np.sqrt(x)


def deleted_by_a_handler(x):
    error = 3.0
    v, z = x[0], 0
    for _ in range(2):
        try:
            z += root(v)
        except ValueError as error:  # noqa: F841
            z = 1
    if v > -10:
        return z
    return z, error


def test_a_handler_deletes_its_variable() -> None:
    compiled = fxc.compile(deleted_by_a_handler)
    for first in (-1.0, 1.0, -2.0):
        x = np.array([first])
        assert compiled(x) == deleted_by_a_handler(x)
