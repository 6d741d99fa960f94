"""The call door: what is staged and captured, and what is refused before it happens."""

import ast
import dataclasses
import functools
import math
import os
import random
import time
import warnings
from collections.abc import Mapping
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy import arange, zeros

import fxc
from fxc.capture.capture import capture
from fxc.capture.staging import staging
from fxc.ir.errors import CaptureError
from tests.bodies import function
from tests.capturing import array, graph_of, run_captured, text, through_capture

GAIN = 2.5
TABLE = np.arange(3.0)
WEIGHTS = [0.25, 0.5]
LOG: list[Any] = []
NAMES = bytearray([1, 2])
RNG = np.random.default_rng(0)
ARRAYS = {"bias": np.ones(3), "parts": [np.zeros(3), np.full(3, 2.0)]}


def ops(fn, *args, **kwargs):
    """The operators of the captured graph, in order."""
    return [node.op for node in capture(fn, args, kwargs).graph.nodes]


# ------------------------------------------------------------------ what is captured


def test_creation_functions_however_imported():
    make = np.ones

    def f(x):
        return x + zeros(3) + arange(3) + make(3) + np.full(3, 1)

    assert ops(f, array(3)) == ["zeros", "add", "arange", "add", "ones", "add", "full", "add"]


def scaled(x, by=GAIN):
    return x * by


def twice(x):
    return scaled(scaled(x), by=3)


def test_helpers_are_staged_in_turn():
    assert ops(lambda x: twice(x), array(3)) == ["multiply", "multiply"]


def test_a_helper_writes_to_its_argument():
    def bump(a):
        a[0] += zeros(1)[0] + 1

    def f(x):
        bump(x)

    x = array(3)
    through_capture(f)(x)
    assert x[0] == array(3)[0] + 1


def test_defaults_keywords_and_stars():
    def g(a, *rest, b=1, **more):
        return a + sum(rest) * b + more["c"]

    def f(x):
        parts = [x, x + 1]
        return g(*parts, b=2, **{"c": x})

    x = array(3)
    assert (through_capture(f)(x) == f(x)).all()


def test_lambdas_partials_and_functions_in_functions():
    def f(x):
        def inner(a):
            return a + zeros(3) + x

        plus = functools.partial(scaled, by=4)
        return [g(x) for g in (inner, plus, lambda a: a - 1)]

    x = array(3)
    for found, expected in zip(through_capture(f)(x), f(x), strict=True):
        assert (found == expected).all()


def test_a_decorated_function_is_captured_as_it_is_given():
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args):
            return function(*args) + 1

        return wrapper

    @decorate
    def f(x):
        return x * 2

    assert ops(f, array(3)) == ["multiply", "add"]


def test_what_wraps_an_object_is_left_to_python():
    class Held:
        def __init__(self, f):
            self.f = f
            functools.update_wrapper(self, f)

    made = fxc.compile(Held)
    with pytest.warns(fxc.CaptureWarning, match="update_wrapper"):
        assert vars(made(scaled)).keys() == vars(Held(scaled)).keys()
    with pytest.raises(CaptureError, match="update_wrapper"):
        fxc.compile(lambda: functools.update_wrapper(scaled, Held), fullgraph=True)()
    assert scaled.__name__ == "scaled"


def test_a_compiled_function_is_inlined():
    inner = fxc.compile(scaled)

    def f(x):
        return inner(x) + 1

    assert ops(f, array(3)) == ["multiply", "add"]


class Model:
    gain = 3.0

    def __init__(self, size):
        self.u = np.zeros(size)
        self.dt = 0.5
        self.steps = 0

    @property
    def half(self):
        return self.dt / 2

    @staticmethod
    def clipped(x):
        return np.clip(x, 0, 1)

    @classmethod
    def scaled(cls, x):
        return x * cls.gain

    def step(self, x):
        self.u[1:] += self.half * x[:-1]
        self.u += 1
        return self.scaled(self.clipped(self.u))

    def __secret(self, x):
        return x + 1

    def public(self, x):
        return self.__secret(x)


def test_methods_read_and_write_arrays_of_self():
    captured = capture(Model.step, (Model(3), array(3)), {})
    assert text(captured) == (
        """\
captured step(%x: f64[3], %self.u: f64[3])
  %0: f64[2] = slice(%self.u, [1:3:1])
  %1: f64[2] = slice(%x, [0:2:1])
  %2: f64[2] = multiply(0.25, %1)
  add_(%0, %2)
  add_(%self.u, 1)
  %3: f64[3] = clip(%self.u, 0, 1)
  %4: f64[3] = multiply(%3, 3.0)
  return %4"""
    )
    assert [i.text for i in captured.inputs] == ["x", "self.u"]


def test_a_method_runs_on_other_instances_and_writes_them():
    captured = capture(Model.step, (Model(3), array(3)), {})
    other, plain, x = Model(3), Model(3), array(3)
    other.u[:] = plain.u[:] = 0.125
    expected = plain.step(x)
    assert (run_captured(captured, (other, x), {}) == expected).all()
    assert (other.u == plain.u).all()


def test_names_that_begin_with_two_underscores():
    assert ops(Model.public, Model(3), array(3)) == ["add"]


class Derived(Model):
    def step(self, x):
        return super().step(x) + 1


def test_super():
    assert ops(Derived.step, Derived(3), array(3))[-1] == "add"


@dataclasses.dataclass
class State:
    a: Any
    b: Any
    scale: float = 2.0

    def total(self):
        return (self.a + self.b) * self.scale


def test_objects_made_inside():
    def f(x):
        state = State(x, x + 1)
        state.a = state.a * 2
        model = Model(3)
        model.u += state.total()
        model.steps += 1
        return model.u, model.steps, State(model.u, None)

    x = array(3)
    found, expected = through_capture(f)(x), f(x)
    assert (found[0] == expected[0]).all()
    assert found[1] == 1
    assert isinstance(found[2], State)
    assert found[2].a is found[0]


def test_dataclasses_as_arguments():
    x = array(3)
    found = through_capture(lambda s: s.total())(State(x, x))
    assert (found == State(x, x).total()).all()


def test_arrays_of_globals_and_closures_are_hidden_inputs():
    bias = np.ones(3)

    def f(x):
        bias[0] += 1
        TABLE[1:] = x[1:]
        return x + ARRAYS["parts"][1]

    captured = capture(f, (array(3),), {})
    assert [i.text for i in captured.inputs[1:]] == ["bias", "TABLE", "ARRAYS['parts'][1]"]
    assert (bias == 1).all()
    assert (TABLE == [0, 1, 2]).all()


def test_own_containers_may_be_changed():
    def f(x):
        parts, table, seen = [], {}, set()
        for k in range(3):
            parts.append(x + k)
            table[k] = parts[-1]
            seen.add(k)
        parts[0] = parts.pop()
        table.update({5: x})
        del table[0]
        return parts, sorted(table), len(seen)

    x = array(3)
    found, expected = through_capture(f)(x), f(x)
    assert found[1:] == expected[1:]
    assert all((a == b).all() for a, b in zip(found[0], expected[0], strict=True))


def test_pure_functions_without_arrays_run_at_once():
    def f(x):
        scale = sqrt(4) + math.pi + np.sin(0.0) + len(WEIGHTS) + max(WEIGHTS) + np.float64(1)
        window = np.hanning(3)
        return x * scale + window

    captured = capture(f, (array(3),), {})
    assert [node.op for node in captured.graph.nodes] == ["constant", "multiply", "add"]


def test_a_constant_array_is_fresh_at_each_call():
    def f():
        a = np.array([1.0, 2.0])
        a += 1
        return a

    captured = capture(f, (), {})
    first, second = run_captured(captured, (), {}), run_captured(captured, (), {})
    assert first is not second
    assert (first == second).all()


def test_errstate_that_ignores_is_allowed():
    def f(x):
        with np.errstate(divide="ignore"):
            return 1 / x

    assert ops(f, array(3)) == ["divide"]


def test_without_source_plain_tracing_works():
    space: dict[str, Any] = {"np": np}
    exec("def f(x, n):\n    return np.sin(x) * n + x.sum()", space)
    assert ops(space["f"], array(3), 2.0) == ["sin", "multiply", "sum", "add"]


def test_a_file_that_has_changed_is_no_source(tmp_path):
    path = tmp_path / "changing.py"
    path.write_text("def f(x):\n    return x + 1.5\n")
    space: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    path.write_text("def f(x):\n    return x - 2.5\n")
    assert "add(%x, 1.5)" in graph_of(space["f"], array(3))


def test_tracebacks_show_the_users_lines():
    def f(x):
        y = x + 1
        return np.ones((2, 4)) + y

    with pytest.raises(ValueError, match="could not be broadcast") as caught:
        capture(f, (array(3),), {})
    lines = [entry.lineno for entry in caught.traceback if str(entry.path) == __file__]
    assert f.__code__.co_firstlineno in [line - 1 for line in lines]


# ------------------------------------------------------------------ refused before it happens


def draws(x):
    return x + RNG.normal() + len(RNG.bytes(3))


def prints(x):
    print("never", file=LOG)
    return x


def iterates(x, items):
    return [x + item for item in items]


class Operators:
    def __add__(self, other):
        NAMES.append(3)
        return other


def tries(x):
    try:
        return x[0] + "a"
    except TypeError:
        return x


def generates(x):
    yield x


def defines(x):
    class Inner:
        pass

    return x


def decorates(x):
    @functools.cache
    def g():
        return 1

    return x + g()


def manages(x):
    with open("/nonexistent") as file:
        return x + len(file.read())


def deep(x, n):
    return x if n == 0 else deep(x + 1, n - 1)


def loops(x):
    for _ in [None, 0] * 15000:
        x = x + 1
    return x


class Lazy:
    def __getattr__(self, name):
        NAMES.extend(name.encode())
        return 1.0


CALL = "cannot be captured: fxc does not know what it does besides returning a value"
REFUSED = [
    (draws, (array(3),), "bytes of a random generator cannot be captured"),
    (prints, (array(3),), "print to this kind of file cannot be captured"),
    (lambda x: x * len(time.ctime()), (array(3),), f"a call of time.ctime {CALL}"),
    (lambda x: random.getstate(), (array(3),), "getstate of a random generator cannot be"),
    (lambda x: np.random.bytes(3), (array(3),), "bytes of a random generator cannot be captured"),
    (lambda x: NAMES.append(4), (array(3),), "a bytearray from outside cannot be captured; pass"),
    (lambda x: x.tofile("x.bin"), (array(3),), "x.tofile cannot be captured; write files"),
    (lambda x: np.save("x.npy", x), (array(3),), "np.save cannot be captured"),
    (lambda x: np.save("x.npy", 1.0), (array(3),), "a call of np.save cannot be captured"),
    (iterates, (array(3), iter([1])), "iterating over a list_iterator from outside"),
    (lambda x, i: next(i), (array(3), iter([1])), "iterating over a list_iterator from outside"),
    (lambda x, o: o + x, (array(3), Operators()), "a bytearray from outside cannot be captured"),
    (lambda x, o: o.u * x, (array(3), Lazy()), "a bytearray from outside cannot be captured"),
    (lambda x: setattr(Model, "loss", 1), (array(3),), "an assignment to .loss of a Model"),
    (tries, (array(3),), "a handler for a TypeError of an operation that is being captured"),
    (deep, (array(3), 2000), "a recursion this deep cannot be captured; use a loop"),
    (generates, (array(3),), "generates is a generator or a coroutine and cannot be captured"),
    (defines, (array(3),), "a class in a function (Inner) cannot be captured"),
    (decorates, (array(3),), "a call of functools.cache cannot be captured: fxc does not"),
    (manages, (array(3),), "a call of "),
    (loops, (array(3),), "a program of more than 20000 operations is not captured"),
    (lambda x: np.errstate(all="raise"), (array(3),), "np.errstate with anything but 'ignore'"),
    (lambda x: type("T", (), {}), (array(3),), "making a class with type() cannot be captured"),
]


@pytest.mark.parametrize(
    "program, args, message", REFUSED, ids=[f"{n}-{case[2][:30]}" for n, case in enumerate(REFUSED)]
)
def test_refused_before_it_happens(program, args, message, capsys):
    before = (list(LOG), list(NAMES), RNG.bit_generator.state, Model.gain)
    with pytest.raises(CaptureError) as caught:
        capture(program, args, {})
    assert caught.value.text.startswith(message)
    assert (list(LOG), list(NAMES)) == before[:2]
    assert before[2:] == (RNG.bit_generator.state, Model.gain)
    assert capsys.readouterr().out == ""
    assert "test_staging.py:" in caught.value.__notes__[0]


def marked_line(function):
    """The line of the test's file that is marked, as a note shows it."""
    import inspect

    lines, first = inspect.getsourcelines(function)
    (place,) = (n for n, line in enumerate(lines) if "# here" in line)
    return f"  test_staging.py:{first + place} in {function.__name__}:  {lines[place].strip()}"


def test_a_refusal_points_to_the_line():
    def f(x):
        y = x + 1
        NAMES.append(len(y))  # here
        return y

    with pytest.raises(CaptureError) as caught:
        capture(f, (array(3),), {})
    (note,) = caught.value.__notes__
    assert note.splitlines()[0] == marked_line(f)
    assert caught.value.location.function == "f"


def test_a_refusal_at_sight_points_to_the_statement():
    def f(x):
        y = x + 1

        class Inner:  # here
            pass

        return y

    with pytest.raises(CaptureError) as caught:
        capture(f, (array(3),), {})
    assert caught.value.__notes__ == [marked_line(f)]


def test_a_refusal_in_a_helper_points_into_the_helper():
    def helper(y):
        return np.trim_zeros(y)  # here

    def outer(x):
        return helper(x)

    with pytest.raises(CaptureError, match=r"np\.trim_zeros cannot be captured") as caught:
        capture(outer, (array(3),), {})
    inner, around = caught.value.__notes__
    assert inner.splitlines()[0] == marked_line(helper)
    assert "called at test_staging.py" in around
    assert around.endswith("in outer:  return helper(x)")


BRACKETED = {
    "plain": lambda x: x + 1,
    "é": lambda x: x * (2 + (1)),
    "two": [lambda x: x - 1, lambda x, y=(1): (x - y)],
    "lines": lambda x: x[
        1:2
    ],
    "inner": lambda x: sorted(x, key=lambda y: y + x[0]),
}  # fmt: skip


def test_a_lambda_in_brackets_is_found_by_its_own_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ast.parse(Path(__file__).read_text(encoding="utf-8"))
    every = [ast.dump(x, include_attributes=True) for x in ast.walk(whole)]
    parsed = staging._parsed

    def brief(source: str, offset: int) -> ast.Module:
        assert source.count("\n") < 8
        return parsed(source, offset)

    monkeypatch.setattr(staging, "_parsed", brief)
    for name, given in BRACKETED.items():
        for fn in given if isinstance(given, list) else [given]:
            found = staging.source_of(fn)
            assert found is not None, name
            assert ast.dump(found.body, include_attributes=True) in every, name


@pytest.mark.parametrize("action", ["always", "error"])
def test_python_warns_of_a_source_once(tmp_path, action):
    """Not again when fxc parses and compiles it, which fails where warnings are errors."""
    path = tmp_path / "doubtful.py"
    source = 'def f(x, n):\n    "\\d"\n    assert (n, "n")\n    return x + 1 if n is 3 else x\n'
    path.write_text(source, encoding="utf-8")
    space: dict[str, Any] = {}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        exec(compile(source, str(path), "exec"), space)
    assert len(told) == 3
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter(action)  # type: ignore[arg-type]
        compiled = fxc.compile(space["f"], fullgraph=True)
        assert compiled(np.zeros(2), 3).tolist() == [1.0, 1.0]
        assert compiled(np.zeros(2), 4).tolist() == [0.0, 0.0]
    assert not told


def test_code_without_source_may_not_have_effects():
    space: dict[str, Any] = {"LOG": LOG, "np": np}
    exec("def f(x):\n    LOG.append(1)\n    return x", space)
    with pytest.raises(CaptureError, match="the source of f cannot be read, and it uses LOG"):
        capture(space["f"], (array(3),), {})
    exec("def g(x):\n    return x + np.random.rand(3)", space)
    with pytest.raises(CaptureError, match="the source of g cannot be read, and it uses random"):
        capture(space["g"], (array(3),), {})
    assert LOG == []


@pytest.mark.parametrize(
    "body",
    [
        "object.__setattr__(o, 'k', 9)",
        "o.__dict__['k'] = 4",
        "x = len(o.__dict__)",
        "o.count(x)",
        "try: x = o.k\n    except AttributeError: pass",
        "l.reverse()",
    ],
)
def test_code_without_source_is_given_no_objects(body):
    """What stands for them has neither attributes nor methods that go through the door."""

    class Counter:
        k = 1

        def count(self, x):
            self.k += x

    def after(compile_it):
        space: dict[str, Any] = {}
        exec(f"def f(o, x, l=[1, 2]):\n    {body}\n    return x, l", space)
        o, f = Counter(), compile_it(space["f"])
        return f(o, 1), f(o, 2), vars(o)

    with pytest.warns(fxc.CaptureWarning, match="the source of f cannot be read, and it is given"):
        assert after(fxc.compile) == after(lambda f: f)


def test_code_without_source_may_hand_objects_on():
    """As the functions that scipy.stats makes by ``exec`` do."""
    space: dict[str, Any] = {}
    exec("def parts(self, a, b=1, *rest):\n    return (self, a), b, rest", space)

    class Scale:
        factor = 2.0
        parts = space["parts"]

        def __call__(self, x):
            (me, a), b, _ = self.parts(x, 3)
            return me.factor * a + b

    scale, x = Scale(), np.arange(3.0)
    compiled = fxc.compile(lambda scale, x: scale(x), fullgraph=True)
    for scale.factor in (2.0, 5.0):
        assert np.array_equal(compiled(scale, x), scale(x))


def test_code_without_source_reads_no_arrays_from_outside():
    space: dict[str, Any] = {"TABLE": TABLE}
    exec("def f(x):\n    return x + TABLE", space)
    with pytest.raises(CaptureError, match="the source of f cannot be read, and it uses TABLE"):
        capture(space["f"], (array(3),), {})
    exec("def outer(t):\n    return lambda x: x + t", space)
    with pytest.raises(CaptureError, match="cannot be read, and it uses t"):
        capture(space["outer"](TABLE), (array(3),), {})


def test_a_sum_has_as_many_terms_as_python_compiles() -> None:
    program = function(" + ".join(f"x * {n}" for n in range(600)))
    compiled = fxc.compile(program, fullgraph=True)
    np.testing.assert_array_equal(compiled(array(3)), program(array(3)))


class Settings(Mapping):
    def __init__(self, held):
        self.held = held

    def __getitem__(self, key):
        return self.held[key]

    def __iter__(self):
        return iter(self.held)

    def __len__(self):
        return len(self.held)


def of_a_mapping(x, settings):
    scale = settings.get("scale", 1.0) + settings.get("none", 2.0)
    return x * scale + sum(settings.values()), "scale" in settings, [*settings.items()]


def of_paths(x, settings):
    return x * 2, os.path.join("a", *settings), os.path.splitext(f"{len(x)}.txt")


def of_the_environment(x, settings):
    return x * 2, os.environ.get("FXC_OF_A_TEST", "none"), "FXC_OF_A_TEST" in os.environ


@pytest.mark.parametrize("program", [of_a_mapping, of_paths, of_the_environment])
def test_code_that_is_frozen_into_python(program, monkeypatch):
    compiled = fxc.compile(program, fullgraph=True)
    for each in ("1", "2"):
        monkeypatch.setenv("FXC_OF_A_TEST", each)
        given = np.arange(3.0), Settings({"scale": 2.0, "b": 3.0})
        assert repr(compiled(*given)) == repr(program(*given))
