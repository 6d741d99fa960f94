"""Expressions of which a part cannot be captured: that part runs in Python, the rest is compiled."""

import ast
import traceback
import warnings

import numpy as np
import pytest

import fxc
from fxc.split.function_plan import plan_of
from fxc.split.pieces import Pieces
from fxc.split.statement_syntax import span_of
from tests.splitting import SEEN, alike, compared, unknown


def mixed(a, x):
    return a + x * 2


def between_operands(u, n):
    y = np.sqrt(u * u + n) + unknown(u) * (u @ u * 2 + u)
    return y * 2 + u


def of_values(u, n):
    v = unknown(u * u + n, u[1:-1] * 2 + 1)
    return v * 2 + u


def as_an_argument(u, n):
    v = mixed(unknown(u), u * n + u * u)
    return mixed(u * u + 1, x=unknown(v))


def of_a_method(u, n):
    v = (u * 2 + n).clip(unknown(0.5), 1.0 + n)
    return v.reshape(unknown(-1), 2).sum(axis=unknown(0)) * 2 + 1


def in_a_return(u, n):
    return np.sqrt(u @ u + n) / unknown(n)


def in_a_head(u, n):
    for k in range(unknown(n)):
        u = u * 0.5 + k
    if unknown(u * 2 + n).sum() > 3.0:
        u = u * u + 1
    elif unknown(u * 3 + n).sum() > 1.0:
        u = u * u - 1
    while unknown(np.abs(u).sum() * 2) > 3.0 + n:
        u = u * 0.5 + 0.01
        n = n + 1
    with np.errstate(**{unknown("all"): "ignore"}):
        u = u / (u.sum() * 2 - n)
    return u, n


def in_targets(u, n):
    u[unknown(2)] = (u * n + u * u).sum()
    u[1 : unknown(4)] = (u * n + u)[1:4]
    table = {}
    table[unknown(n)] = u * 2 + 1
    u += unknown(u * 2) * n + 1
    return table, u


def raised(u, n):
    raise ValueError("sum", (u * u + n).sum(), unknown(n))


def of_containers(u, n):
    found = {"a": u * 2 + 1, unknown("b"): [u * 3 + n, unknown(n), (u + n) * 2]}
    return [unknown(v).sum() for v in found["b"][::2]], found, (u * 2 + 1, unknown(n))[0]


def by_conditions(u, n):
    v = unknown(u) * 2 + 1 if n > 3 else u * u + unknown(n)
    w = n > 2 and unknown(v * 2 + u).sum() > 1
    return v * 2 + u, w, 0 < unknown(n) < n * 2


def unbound_later(u, n):
    if n > 3:
        late = u * 2 + 1
    return unknown(u * n + 1) + late * 2 + unknown(n)


def rebinds(u, n):
    def more(x):
        nonlocal n
        n = n + 1
        return unknown(x)

    v = n * u + more(u * n + 1) * n + u * u
    return v * n + u


def slices(u, n):
    v = u.reshape(4, -1)
    return v[unknown(1) :, : n - 1] * 2 + v[1:, unknown(2) : n + 1] + (v * 2 + 1)[1:, 1:n]


def texts(u, n):
    text = f"{(u * 2 + n).sum():.3f} and {unknown(n)}"
    return unknown(f"{n * 2 + 1}") + text, u * 2 + n


def walrus(u, n):
    return (m := n * 2) + unknown(m) * (u * m + 1) + (m := unknown(m) + 1) * m


def stars(u, n):
    args = [u * 2 + n, unknown(n)]
    return mixed(*args) + mixed(*unknown([u, u * 2 + 1])), unknown(*args, u * n + 1)


PROGRAMS = [
    between_operands,
    of_values,
    as_an_argument,
    of_a_method,
    in_a_return,
    in_a_head,
    in_targets,
    raised,
    of_containers,
    by_conditions,
    unbound_later,
    rebinds,
    slices,
    texts,
    walrus,
    stars,
]
NO_PARTS = (unbound_later, rebinds, walrus)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_the_rest_of_an_expression_is_compiled(program):
    seen = []

    def counted(*args):
        SEEN.clear()
        try:
            return program(*args)
        finally:
            seen.append([*SEEN])

    compiled = fxc.compile(program)

    def called(*args):
        SEEN.clear()
        try:
            return compiled(*args)
        finally:
            seen.append([*SEEN])

    for n in (5, 5, 2, 5):
        outcomes = []
        for fn in (counted, called):
            u = np.linspace(0.0, 1.0, 40)
            try:
                outcomes.append((fn(u, n), u))
            except Exception as error:
                outcomes.append((type(error), error.args, u))
        alike(*outcomes)
        assert seen[-1] == seen[-2]
    assert compiled.cache_info().part_calls >= 3 * (program not in NO_PARTS)


def test_what_stands_left_of_a_call_is_evaluated_before_it():
    class Tracked:
        def __getattr__(self, name):
            SEEN.append((name,))
            return getattr(np, name)

    def f(tracked, u):
        return tracked.sqrt(u * u + 1) + unknown(u * 2) * tracked.add(
            unknown(u), tracked.cos(u) * 2
        )

    compiled = fxc.compile(f)
    for _ in range(3):
        found = []
        for fn in (f, compiled):
            SEEN.clear()
            found.append((fn(Tracked(), np.arange(4.0)), [*SEEN]))
        alike(*found)
    assert compiled.cache_info().part_calls


def test_a_name_that_a_call_binds_again():
    scope = {"np": np, "unknown": lambda x: eval("globals().update(scale=lambda v: v - 1)") or x}
    source = "def f(u, scale0):\n    global scale\n    scale = scale0\n"
    source += "    v = scale(u * 2 + 1) + unknown(u) * scale(u * 3 + 1)\n    return v * 2 + u\n"
    exec(source, scope)
    expected = scope["f"](np.arange(4.0), lambda v: v + 5)
    compiled = fxc.compile(scope["f"])
    for _ in range(3):
        alike(expected, compiled(np.arange(4.0), lambda v: v + 5))


def with_a_global(u, n):
    global kept
    kept, k = np.sqrt(u * u + n) + unknown(u) * (u @ u * 2 + u), u * 2
    y = unknown(k)
    return [v * y for v in kept], kept * 2 + np.sin(kept)


def test_a_global_of_a_statement_that_is_taken_apart():
    compiled = fxc.compile(with_a_global)
    for n in range(3):
        alike(*((fn(np.arange(4.0), n), kept) for fn in (with_a_global, compiled)))


def test_lines_of_exceptions_and_warnings():
    def f(u, n):
        v = (
            np.sqrt(u * u + n)
            + unknown(u)
            * np.ones(n).dot(u * 2 + 1)
        )  # fmt: skip
        return v * 2

    compiled = fxc.compile(f)
    for _ in range(3):
        compiled(np.ones(3), 3)
    lines = []
    for fn in (f, compiled):
        with pytest.raises(ValueError, match="aligned") as caught:
            fn(np.ones(3), 4)
        lines.append(traceback.extract_tb(caught.value.__traceback__)[-1].line)
    assert lines[0] == lines[1] == "* np.ones(n).dot(u * 2 + 1)"


def test_nothing_is_kept_behind_the_statement():
    import gc
    import weakref

    kept = []

    def make(u):
        found = unknown(u) * 2.0
        kept.append(weakref.ref(found))
        return found

    def f(u, n):
        v = make(u) + unknown(n) * (u * 2 + 1)
        unknown(kept[-1]() is None)
        return v * 2 + u

    gc.disable()
    try:
        compared(f, lambda: (np.arange(4.0), 3))
    finally:
        gc.enable()
    assert SEEN[-1] != ("False",)


def test_the_statement_counts_once_in_the_warning():
    compiled = fxc.compile(between_operands)
    with pytest.warns(fxc.CaptureWarning, match="1 of 2 statements"):
        compiled(np.ones(4), 3)
    assert "unknown(u)" in compiled.inspect(np.ones(4), 3).driver


# ------------------------------------------------------------------ inner functions


def runge(f, y, t):
    a = f(y, t) * 0.5 + y
    return a * 0.5 + f(a, t + 1) * 0.25


def with_a_closure(u, n):
    scale = u.sum() + 1

    def rhs(y, t, c=2.0):
        w = np.sqrt(y * y + 1) * scale
        unknown(t)
        return w * c + y * y

    for k in range(n):
        u = runge(rhs, u, k) / (u * u + scale)
    return u


def with_a_counter(u, n):
    count = 0

    def counted(y):
        nonlocal count
        w = y * y + 1
        count += 1
        unknown(count)
        return w * count + y * 2

    v = counted(u) * 2 + u
    return v + counted(v) * n, count


def with_cells_that_change(u, n):
    scale = 1.0

    def larger():
        nonlocal scale
        scale *= 2.0
        return scale

    def scaled(y):
        w = y * scale + larger() * y
        unknown(n)
        return w * scale + y * larger()

    return scaled(u) * 2 + scaled(u + 1)


def with_a_class(u, n):
    class Wave:
        def __init__(self, size):
            self.size = size

        def at(self, y):
            w = y * self.size + u
            unknown(n)
            return w * w + y * 2

    return Wave(2.0).at(u) * 2 + Wave(3.0).at(u) + u


def unbound_around(u, n):
    def scaled(y):
        w = y * 2 + 1
        unknown(n)
        return w * late + y * 2

    v = scaled(u) if n > 100 else u * 2
    if n > 3:
        late = 2.0
    return scaled(v) * 2 + v


def defined_again(u, n):
    def g(y):
        return y * 2 + 1

    v = g(u) * 2
    for k in range(n):
        unknown(k)

        def g(y):
            return unknown(y) * k + 1  # noqa: B023

        v = v * 0.5 + g(u)
    return v


def with_names(u, n):
    def scaled(q):
        class Scale:
            def by(self):
                return q

        names = [(lambda: q).__qualname__, scaled.__qualname__, Scale.__qualname__]
        return [*names, Scale.by.__qualname__]

    v = np.sqrt(u * u + 1.0)
    unknown(n)
    names = scaled(n)
    if n == 2:
        scaled()  # its qualified name is in the message
    return v, names


INNER = [
    with_names,
    with_a_closure,
    with_a_counter,
    with_cells_that_change,
    with_a_class,
    unbound_around,
    defined_again,
]


@pytest.mark.parametrize("program", INNER, ids=lambda each: each.__name__)
def test_inner_functions_are_split(program):
    compared(program, lambda: (np.linspace(0.0, 1.0, 40), 5), parts=0)
    compared(program, lambda: (np.linspace(0.0, 1.0, 40), 2), parts=0)


def bound_in_an_index(u, n):
    s = u.sum() * 0.5 + 1.0
    t = np.sqrt(u * u + 1.0).sum()
    unknown(n)
    u[u > (0.5 if n == 5 else (s := t))] = t
    return u, s


def bound_in_an_index_of_a_loop(u, n):
    s = u.sum() * 0.5 + 1.0
    for k in range(n):
        unknown(k)
        u[0 if k < n - 1 else (s := k)], v = s, u * s
    return u, s, v


@pytest.mark.parametrize("program", [bound_in_an_index, bound_in_an_index_of_a_loop])
@pytest.mark.parametrize("n", [5, 2])
def test_a_target_that_may_bind_another_variable(program, n):
    compared(program, lambda: (np.linspace(0.0, 1.0, 40), n), parts=0)


def test_an_inner_function_is_compiled_once(monkeypatch):
    from fxc.calling import called_functions

    def f(u, n):
        scale = u.sum() + 1

        def rhs(y, t):
            w = np.sqrt(y * y + 1) * scale
            unknown(t)
            return w * 2 + y * y

        for k in range(n):
            u = rhs(u, k) / (u * u + scale)
        return u

    monkeypatch.setattr(called_functions, "_inner", {})
    compared(f, lambda: (np.linspace(0.0, 1.0, 40), 5), calls=6)
    (split,) = called_functions._inner.values()
    found = [each for part in split.compiled for each in part._state.variants]
    assert [each.all_calls > 20 for each in found] == [True] * 2


# ------------------------------------------------------------------ arguments that no graph takes


def of_records(u, n, odd):
    v = np.sqrt(u * u + 1) * float(odd["name"][0]) + u * n
    odd["n"][0] = int((u * n + v).sum())
    if odd["n"][0] > n:
        v = v * 2 + u
    known = {"odd": odd, "v": v * 2 + u}
    return v * v + u * int(odd["n"][0]), known["v"], known["odd"]["n"][0], len([odd, u * 2 + 1])


def test_operations_on_an_argument_that_no_graph_takes():
    def make():
        table = np.array([("1.5", 1)], dtype=[("name", "U3"), ("n", "i4")])
        return np.linspace(0.0, 1.0, 40), 5, table

    compiled = compared(of_records, make)
    assert "np.sqrt(u * u + 1) *" not in compiled.inspect(*make()).driver


def test_a_warning_names_no_variable_of_fxcs():
    table = np.array([("1.5", 1)], dtype=[("name", "U3"), ("n", "i4")])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", fxc.CaptureWarning)
        fxc.compile(of_records)(np.linspace(0.0, 1.0, 40), 5, table)
    assert caught
    assert not [each for each in caught if "__fxc" in str(each.message)]


def test_an_inner_function_that_was_written_again(tmp_path):
    import importlib.util
    import linecache

    text = """
import numpy as np

def unknown(x):
    return eval("x")

def f(u, n):
    scale = n * 1.5
    def inner(y):
        w = y * y + 1
        unknown(n)
        return w * scale + y * y
    return inner(u) * 2 + u
"""
    path = tmp_path / "written_again.py"
    for source in (text, text.replace("w * scale + y * y", "w * scale - y * y")):
        path.write_text(source)
        linecache.checkcache(str(path))
        spec = importlib.util.spec_from_file_location("written_again", path)
        module = importlib.util.module_from_spec(spec)
        exec(compile(source, str(path), "exec"), module.__dict__)
        compared(module.f, lambda: (np.linspace(0.0, 1.0, 40), 5))


def coarser(u, n):
    v = u * u * 0.5 + n
    unknown(n)
    if n > 0:
        v = v * 0.5 + coarser(v * 0.1 + u, n - 1) * 2 + u
    return v * v * 0.1 + u


class Levels:
    def coarser(self, u, n):
        v = u * u * 0.5 + n
        unknown(n)
        if n > 0:
            v = v * 0.5 + self.coarser(v * 0.1 + u, n - 1) * 2 + u
        return v * v * 0.1 + u


def test_a_function_that_calls_itself_calls_its_own_driver():
    compiled = compared(coarser, lambda: (np.linspace(0.0, 1.0, 40), 4), calls=5)
    assert compiled.cache_info().part_calls > 4 * 5 * 3


def test_methods_that_call_themselves():
    levels = Levels()
    compared(levels.coarser, lambda: (np.linspace(0.0, 1.0, 40), 4))
    compared(Levels.coarser, lambda: (levels, np.linspace(0.0, 1.0, 40), 4), parts=0)


def test_an_inner_function_that_calls_itself():
    def f(u, n):
        def level(v, k):
            w = v * v * 0.5 + u
            unknown(k)
            return w if k == 0 else w * 0.5 + level(v * 0.1 + u, k - 1) * 2

        return level(u, n) * 2 + u

    compared(f, lambda: (np.linspace(0.0, 1.0, 40), 4), parts=0)


def test_a_branch_by_what_a_call_gives_is_compiled_for_true_and_false():
    def f(u, table):
        v = u * 2 + 1
        if unknown(table):
            v = v * v + u
        return v * 2 + u

    compiled = fxc.compile(f)
    for table in ([], [1], ["a", 2.5], {"a": 1}, "text", 7.5, 0, None, np.ones(1), (1, 2), 8, 9):
        alike(f(np.arange(4.0), table), compiled(np.arange(4.0), table))
    parts = compiled._state.split.compiled
    assert [len(each._state.variants) for each in parts] == [1, 2]


SOURCE = """
def f(u, n):
    total = u * f(n) + g(u, n + 1)
    for k in range(n):
        try:
            part = f(u * k) + total
            if k > 2:
                total = total + h(part * 2) * part
        finally:
            late = u
    with n:
        v = [k for k in u]
    return total / g(v) + late
"""


def test_a_plan_goes_on_where_a_statement_is_taken_apart():
    """It says what a new one would, and costs as much as the statement alone."""
    (node,) = ast.parse(SOURCE).body
    pieces = Pieces(node)
    planner = pieces._planner
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
    taken = 0
    for place in (span_of(each) for each in calls if each.func.id in "fgh"):
        before = pieces.plan.innermost(place[0], place)
        taken += pieces.alone(before, place) is not before
        made = plan_of(node)
        assert str(pieces.plan) == str(made)
        assert pieces.plan.variables == made.variables
    assert taken == 5
    assert pieces._planner is planner
