"""``FXC_VERIFY=1``: what is compared, what is found, and that the program sees nothing of it."""

from __future__ import annotations

import io
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ir.errors import WrongResult
from fxc.ir.evaluate import evaluate
from fxc.native.filled_memory import new_memory_of
from fxc.ops.kernels import kernel_of
from fxc.verifying.bits import agreement
from fxc.verifying.calls import VerifiedCall
from fxc.verifying.counts import COMPARED, COUNTS, LEFT
from fxc.verifying.seen import seen
from fxc.verifying.undefined import difference
from tests import planted

ROOT = Path(__file__).resolve().parents[2]


mode, level = "off", 0.5


@pytest.fixture(autouse=True)
def _verifying() -> Iterator[None]:
    COUNTS.clear()
    with fxc.config.override(verify=True):
        yield
    COUNTS.clear()


def changed(change: Callable[[list[Any]], object]) -> Any:
    """A backend that runs the graph by NumPy, and then makes a mistake in the results."""

    def backend(graph: Any, index: Any, types: Any) -> Callable[..., list[Any]]:
        def run(*inputs: Any) -> list[Any]:
            results = [np.array(x) if np.ndim(x) else x for x in evaluate(graph, inputs, kernel_of)]
            change(results)
            return results

        return run

    return backend


def text_of(program: Callable[..., Any], *args: Any) -> str:
    with pytest.raises(WrongResult) as raised:
        program(*args)
    return str(raised.value)


# ---------------------------------------------------------------- what is found


def test_a_wrong_element_is_named():
    def wrong(results):
        results[0][1] += 1

    program = fxc.compile(lambda x: (x, x * 2), backend=changed(wrong))
    text = text_of(program, np.arange(3.0))
    assert "compiled code differs from NumPy: result[1]: is np.float64(3.0) at [1]" in text
    assert "with NumPy np.float64(2.0), 2.25e+15 ulps apart; 1 of 3 elements differ" in text
    assert "python -m fxc bisect" in text
    assert "test_calls.py" in text


def test_an_ulp_is_a_difference_where_nothing_approximates():
    def wrong(results):
        results[0][0] = np.nextafter(results[0][0], 9)

    program = fxc.compile(lambda x: x + 1, backend=changed(wrong))
    assert "1 ulps apart" in text_of(program, np.arange(3.0))


def test_a_wrong_mutation_is_named_and_undone():
    def update(x):
        x += 1

    def wrong(results):
        results[0][-1] = 7

    x = np.zeros(3)
    assert "x: is np.float64(7.0) at [2]" in text_of(fxc.compile(update, backend=changed(wrong)), x)
    assert x.tolist() == [0, 0, 0]


def test_a_wrong_object_is_named():
    class Sim:
        def __init__(self) -> None:
            self.parts = [np.ones(2)]

        def step(self) -> None:
            self.total = (self.parts[0] * 2).sum()

    def wrong(results):
        results[0] = results[0] + 1

    program = fxc.compile(Sim.step, backend=changed(wrong))
    sim = Sim()
    assert "argument 0.total: np.float64(5.0); with NumPy np.float64(4.0)" in text_of(program, sim)
    assert not hasattr(sim, "total")


@pytest.mark.parametrize(
    ("bug", "function", "says"),
    [
        (
            planted.a_mutation_is_dropped_from_the_signature,
            lambda x, y: (x.__iadd__(1), y.__iadd__(1))[:0],
            "y: is np.float64(1.0) at [0]; with NumPy np.float64(2.0)",
        ),
        (
            planted.a_returned_view_lacks_its_last_step,
            lambda x, y: x[1:][::2][:2],
            "result: shape is",
        ),
    ],
)
def test_planted_bugs_are_named(monkeypatch, bug, function, says):
    bug(monkeypatch)
    program, args = fxc.compile(function), (np.ones(8), np.ones(8))
    assert says in text_of(program, *args)


def test_what_raises_in_numpy_alone_is_named():
    def wrong(results):
        pass

    def f(x, k):
        return x[k]

    program = fxc.compile(f, backend=changed(wrong))
    assert program(np.arange(3.0), np.array([1])).tolist() == [1]
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        program(np.arange(3.0), np.array([5]))


# ---------------------------------------------------------------- what the program sees


def test_calls_are_as_without_it():
    class Sim:
        def __init__(self, rng: np.random.Generator) -> None:
            self.rng, self.history, self.table, self.out = rng, [], {}, io.StringIO()

        def step(self, x: Any) -> Any:
            x[1:] += x[:-1]
            self.history.append(x.copy())
            self.table["n"] = self.table.get("n", 0) + 1
            print("sum", x.sum(), file=self.out)
            return x, x[::2], self.rng.normal(size=3)

        def quiet(self, x: Any) -> Any:
            x *= 2
            self.history.append(x[0])
            self.last = x
            return x, x[1:], self.rng.normal(size=3)

    def told() -> list[Any]:
        sim, x = Sim(np.random.default_rng(3)), np.arange(4.0)
        steps = [fxc.compile(Sim.step), fxc.compile(Sim.quiet)]
        results = [step(sim, x) for _ in range(2) for step in steps]
        for given, view, _ in results:
            assert given is x
            assert view.base is x
        assert sim.last is x
        return [results, sim.history, sim.table, sim.out.getvalue(), sim.rng.random()]

    with fxc.config.override(verify=False):
        without = told()
    assert repr(told()) == repr(without)
    assert COUNTS == {COMPARED: 4}


def test_globals_closures_and_attributes_change_once():
    count, made = 0, {"a": np.zeros(2)}

    def f(x):
        nonlocal count
        count += 1
        made["a"][:] += x
        f.calls = getattr(f, "calls", 0) + 1
        return x * count

    program = fxc.compile(f)
    assert [program(np.ones(2))[0] for _ in range(3)] == [1, 2, 3]
    assert (count, made["a"].tolist(), f.calls) == (3, [3, 3], 3)
    assert COUNTS[COMPARED] == 3


def test_a_global_may_be_set_to_an_equal_text():
    def f(x):
        global mode, level
        mode, level = x.lower(), len(x) / 2

    program = fxc.compile(f)
    for text in ("Raise", "Raise", "OFF", "Raise"):
        program(text)
        assert (mode, level) == (text.lower(), len(text) / 2)


def test_warnings_are_those_of_numpy():
    program = fxc.compile(lambda x: np.log(x))
    for _ in range(2):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            program(np.array([-1.0, 1.0]))
        assert [str(each.message) for each in told] == ["invalid value encountered in log"]
    assert COUNTS[LEFT] >= 1


def test_what_numpy_calls_is_not_compared_inside(monkeypatch):
    runs, usual = [], VerifiedCall.expected
    monkeypatch.setattr(VerifiedCall, "expected", lambda call: runs.append(1) or usual(call))
    inner = fxc.compile(lambda x: x * 2)
    middle = fxc.compile(lambda x: inner(x) + inner(x + 1))
    outer = fxc.compile(lambda x: middle(x) - middle(x + 1))
    assert outer(np.ones(3)).tolist() == [-4.0] * 3
    assert (len(runs), inner.cache_info().variants, middle.cache_info().variants) == (1, 0, 0)
    middle(np.ones(3))
    assert (len(runs), middle.cache_info().variants) == (2, 1)


def test_nothing_is_said_of_arrays_that_have_been_broadcast(recwarn):
    x, _ = np.broadcast_arrays(np.arange(3.0), np.ones((2, 3)))
    program = fxc.compile(lambda x: (x + 1, x[0]))
    for _ in range(3):
        assert program(x)[0].tolist() == (x + 1).tolist()
    assert not recwarn.list
    with pytest.warns(FutureWarning, match="broadcast"):
        assert x.flags.writeable  # NumPy still warns the program


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="no device=")
def test_whose_view_a_capsule_gives_is_not_compared():
    x = np.arange(3.0)
    assert fxc.compile(lambda x: np.from_dlpack(x, device="cpu"))(x).tolist() == x.tolist()


def test_overlaps_are_kept():
    base = np.arange(8.0)
    program = fxc.compile(lambda x, y: x.__iadd__(y))
    wanted = np.arange(8.0)
    wanted[:6] += wanted[2:]
    assert program(base[:6], base[2:]).base is base
    assert base.tolist() == wanted.tolist()
    assert COUNTS[COMPARED] == 1


def test_native_calls_are_compared(as_users):
    program, x = fxc.compile(lambda x: x + 1), np.ones(3)
    for _ in range(2100):
        program(x)
    assert COUNTS == {COMPARED: 2100}


def test_what_is_clipped_may_lie_on_either_side_of_the_edge() -> None:
    x = np.linspace(0.1, 9, 20_000)
    program = fxc.compile(lambda x, y: np.maximum(np.tanh(x) - y, 0))
    program(x, np.tanh(x))
    assert COUNTS == {COMPARED: 1}


def test_functions_of_our_own_may_round_otherwise():
    x = np.linspace(0, 5, 2001)
    program = fxc.compile(lambda x: (np.exp(x) - np.exp(x * (1 + 1e-9)), np.tanh(x)))
    for _ in range(2):
        program(x)
    fast = fxc.compile(lambda x: (x - 0.5).sum() + np.exp(x), math="fast")
    fast(x)
    assert COUNTS == {COMPARED: 3}


def test_but_not_by_far(monkeypatch):
    from fxc.lowering import vector_math

    real = vector_math.definitions

    def wrong(*args: Any) -> Any:
        made = real(*args)
        text = made.text.replace("ret <8 x double> %", "ret <8 x double> splat (double 3.0) ;")
        text = text.replace("ret double %", "ret double 3.0 ;")
        return type(made)(**{**{k: getattr(made, k) for k in made.__slots__}, "text": text})

    monkeypatch.setattr("fxc.lowering.emission.entry.definitions", wrong)
    assert "np.float64(3.0)" in text_of(fxc.compile(lambda x: np.exp(x) + 0), np.linspace(0, 1, 9))


def _stores(x):
    global _stored
    _stored = np.exp(x) - np.exp(x * (1 + 1e-9))
    return _stored.sum()


def test_what_is_stored_stays_when_more_runs_decide(monkeypatch):
    monkeypatch.setitem(_stores.__globals__, "_stored", None)
    fxc.compile(_stores)(np.linspace(0, 5, 2001))
    assert _stored.shape == (2001,)
    assert COUNTS == {COMPARED: 1}


def test_a_clock_is_not_compared():
    import time

    program = fxc.compile(lambda x: (x + 1, time.perf_counter()))
    program(np.ones(2))
    assert COUNTS == {"not compared: they read a clock": 1}


def test_what_python_notes_of_ignored_warnings_is_not_compared():
    globals().pop("__warningregistry__", None)
    program = fxc.compile(lambda x: np.log(x) * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program(np.array([-1.0, 2.0]))
    assert COUNTS == {COMPARED: 1}


@pytest.mark.parametrize("name", ["default_rng", "RandomState"])
def test_what_is_drawn_without_a_seed_is_not_compared(name):
    program = fxc.compile(lambda x, *seed: getattr(np.random, name)(*seed).uniform(size=3) + x)
    program(np.ones(3))
    assert COUNTS == {"not compared: they draw without a seed": 1}
    program(np.ones(3), 5)
    assert COUNTS[COMPARED] == 1


def test_parts_of_a_split_function_are_compared():
    unknown = io.StringIO().seek  # what fxc knows nothing of

    def f(x):
        y = (x * 2 + 1).cumsum() - x
        unknown(0)
        return (y - y.mean()) / (1 + np.abs(y)).sum()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = fxc.compile(f)
        for _ in range(4):
            assert program(np.arange(50.0)).tobytes() == f(np.arange(50.0)).tobytes()
    assert program.cache_info().parts
    assert COUNTS[COMPARED] >= 2


# ---------------------------------------------------------------- undefined elements


def _of_empty(x):
    out = np.empty(6)
    out[:3] = x
    return out + 1


def _of_empty_where(x):
    out = np.empty_like(x, shape=6)
    return np.add(np.resize(x, 6), 1, out=out, where=np.arange(6) < 3) + 0


@pytest.mark.parametrize("function", [_of_empty, _of_empty_where])
def test_undefined_elements_alone_may_differ(function):
    def other(results):
        results[0][3:] = 1e5, np.nan, -2

    def wrong(results):
        other(results)
        results[0][2] += 1

    x = np.arange(3.0)
    assert fxc.compile(function, backend=changed(other))(x).tolist()[:4] == [1, 2, 3, 1e5]
    assert COUNTS == {COMPARED: 1}
    text = text_of(fxc.compile(function, backend=changed(wrong)), x)
    assert "result: is np.float64(4.0) at [2]; with NumPy np.float64(3.0)" in text
    assert "1 of 6 elements differ" in text


def test_what_is_computed_of_undefined_elements_may_be_anything():
    def program(x):
        out = np.empty(3, np.int64)
        return [out.max() > x.size, bool(out[0]), out[1].item(), x[out % 2 == 0], x.sum()]

    def other(results):
        results[:3] = [np.bool(not results[0]), not results[1], results[2] ^ 1]
        results[3] = np.arange(1.0)

    def wrong(results):
        other(results)
        results[4] += 1

    x = np.arange(3.0)
    assert fxc.compile(program, backend=changed(other))(x)[4] == 3
    assert "result[4]: np.float64(4.0)" in text_of(fxc.compile(program, backend=changed(wrong)), x)


def test_an_exception_by_an_undefined_element_is_none():
    fails, goes_on = seen([("result", None)], IndexError()), seen([("result", 5)])
    for runs, says in (([fails, goes_on], ""), ([fails, fails], "raises nothing")):
        assert says in difference(fails, goes_on, lambda *_: False, lambda runs=runs: runs)
        assert bool(says) == bool(
            difference(goes_on, fails, lambda *_: False, lambda runs=runs: runs)
        )


def test_arrays_in_filled_memory_live_on():
    """They grow, shrink, and are freed when NumPy has its own handler again."""
    with new_memory_of(0x7F):
        small, large, zeros = np.empty(3), np.empty(2**20), np.zeros(3)
        objects = np.empty(2, object)
        small.resize(100)
    assert (small[:3] == large[0]).all()
    assert not np.concatenate([small[3:], zeros]).any()
    assert objects.tolist() == [None, None]
    large.resize(2**12)
    assert large.min() > 1e300


def test_objects_that_hold_arrays_are_compared_by_their_numbers() -> None:
    zero, negative, nan, other_nan = (
        np.array([{"a": np.array([value, 1]), "of": [value]}, None])
        for value in (0.0, -0.0, float("nan"), float("nan"))
    )
    assert agreement(zero, negative).tolist() == [False, True]
    assert agreement(nan, other_nan).all()
    assert not agreement(zero, nan)[0]


# ---------------------------------------------------------------- pytest --fxc-verify


def test_the_plugin_counts_and_fails(tmp_path: Path) -> None:
    source = """
        import numpy as np, fxc
        from fxc.ir.evaluate import evaluate
        from fxc.ops.kernels import kernel_of

        def test_right():
            assert fxc.compile(lambda x: x + 1)(np.ones(3)).tolist() == [2, 2, 2]

        def backend(graph, index, types):
            return lambda *inputs: [x + 1 for x in evaluate(graph, inputs, kernel_of)]

        def test_wrong_but_hidden():
            try:
                fxc.compile(lambda x: x + 1, backend=backend)(np.ones(3))
            except Exception:
                pass
    """
    (tmp_path / "test_it.py").write_text(textwrap.dedent(source))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["-p", "fxc.verifying.pytest_plugin", "--fxc-verify", "test_it.py"]
    # Where fxc is installed, its entry point would load the plugin once more.
    env = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=env)
    assert "2 passed" in done.stdout, done.stdout + done.stderr
    assert "fxc: 1 calls compared with NumPy, 1 that differ" in done.stdout
    assert done.returncode == 1
