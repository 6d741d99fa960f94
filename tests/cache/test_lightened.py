"""What has become bytes again in the process that has made it: all is as before."""

import gc
import tracemalloc
import weakref
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.calling import remembering
from fxc.calling.compiling import captures_begun
from fxc.ir.graph import Graph
from fxc.pipeline.report import STAGES
from fxc.runtime import engine, kept_codes
from tests.outcomes import difference, run

pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture(autouse=True)
def only_the_last_one_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembering, "_WHOLE", 1)
    monkeypatch.setattr(remembering, "_last", type(remembering._last)())
    monkeypatch.setattr(engine, "codes", kept_codes.KeptCode(1 << 20))


def other(x):
    return x - 3


def light(function: Any, *args: Any) -> Any:
    """The function, compiled for these arguments, and another one after it."""
    compiled = fxc.compile(function)
    run(compiled, list(args))
    assert not is_light(compiled)
    fxc.compile(other)(np.ones(3))
    assert is_light(compiled)
    return compiled


def is_light(compiled: Any) -> bool:
    (variant,) = compiled._state.variants
    return not (_has(variant, "captured") or _has(variant, "compilation"))


def _has(variant: Any, name: str) -> bool:
    """Whether a slot has a value, without asking for one."""
    try:
        getattr(type(variant), name).__get__(variant)
    except AttributeError:
        return False
    return True


def smooth(u, k):
    for _ in range(3):
        u[1:-1] += k * (u[2:] + u[:-2])
    return np.sqrt(u), u[::2]


def test_all_stages_are_there() -> None:
    args = np.arange(1.0, 9.0), 0.5
    expected = fxc.compile(smooth).inspect(*args)
    compiled = light(smooth, *args)
    before = captures_begun()
    found = compiled.inspect(*args)
    assert captures_begun() == before
    for name in STAGES:
        assert found.text(name) == expected.text(name), name


def test_calls_and_guards_that_fail() -> None:
    compiled = light(smooth, np.ones(5), 0.5)
    for n in (6, 10):
        expected = run(smooth, [np.arange(1.0, n), 0.5])
        assert difference(expected, run(compiled, [np.arange(1.0, n), 0.5])) == ""
    assert compiled._state.variants[1].why == "u: shape was (5,), is (9,)"


def test_native_calls_are_made() -> None:
    def f(x, y):
        return x * y + 1

    args = np.arange(8.0), np.arange(8.0)
    compiled = light(f, *args)
    for _ in range(3000):
        found = compiled(*args)
    assert np.array_equal(found, f(*args))
    assert compiled._state.variants[0].native is not None


def test_flags_are_told_as_numpy_does() -> None:
    def f(x):
        x += np.log(x) / x

    x = np.array([0.0, 1.0, -1.0, 2.0])
    compiled = light(f, np.ones(4))
    with pytest.warns(RuntimeWarning) as expected:
        f(x.copy())
    with pytest.warns(RuntimeWarning) as found:
        compiled(x.copy())
    assert [str(each.message) for each in found] == [str(each.message) for each in expected]


def test_what_numpy_raises() -> None:
    def f(x, n):
        return x[n] + x[0]

    compiled = light(f, np.arange(4.0), 2)
    assert difference(run(f, [np.arange(4.0), 7]), run(compiled, [np.arange(4.0), 7])) == ""


def test_it_is_pickled_with_its_compilations() -> None:
    stored = light(smooth, np.ones(5), 0.5)._stored()
    assert stored
    again, before = fxc.compile(smooth), captures_begun()
    with fxc.config.override(cache=False):
        again._take_over(stored)
        again(np.ones(5), 0.5)
    assert captures_begun() == before


def test_what_was_restored_is_light_too() -> None:
    args = np.arange(1.0, 9.0), 0.5
    expected = light(smooth, *args).inspect(*args)
    before = captures_begun()
    compiled = light(smooth, *args)
    found = compiled.inspect(*args)
    assert captures_begun() == before
    for name in STAGES:
        assert found.text(name) == expected.text(name), name


def test_how_long_stages_took_is_known() -> None:
    compiled = fxc.compile(smooth)
    compiled(np.ones(5), 0.5)
    (variant,) = compiled._state.variants
    before = variant.seconds
    fxc.compile(other)(np.ones(3))
    assert is_light(compiled)
    assert variant.seconds == before
    assert len(before) > 1


def test_compilations_of_one_kind_share_what_they_can() -> None:
    """Of each there is little more than the machine code, two functions, and what is known of its
    calls: 6 kB, which were 25.
    """
    names: dict[str, Any] = {}
    exec("\n".join(f"def f{n}(x): return x * {n}.5 + 1" for n in range(24)), names)
    kept = []

    def compile_some(first: int, end: int) -> None:
        for n in range(first, end):
            kept.append(fxc.compile(names[f"f{n}"]))
            kept[-1](np.ones(8))
        gc.collect()

    compile_some(0, 8)
    tracemalloc.start()
    try:
        compile_some(8, 12)  # where the tables of others are larger at once
        before = tracemalloc.get_traced_memory()[0]
        compile_some(12, 24)
        each = (tracemalloc.get_traced_memory()[0] - before) / 12
    finally:
        tracemalloc.stop()
    assert each < 9_000
    calls = [compiled._state.variants[0].call for compiled in kept]
    assert len({id(call.__code__) for call in calls}) == 1
    engines = [c._state.variants[0].compilation.assembled.engine for c in kept[:3]]
    assert len({id(name) for engine in engines for name in engine.entries}) == 1
    assert all(each.functions[0].__module__ is each._kept for each in engines)
    assert [float(compiled(np.ones(1))[0]) for compiled in kept[:3]] == [1.5, 2.5, 3.5]


def test_graphs_are_gone() -> None:
    def graphs() -> int:
        gc.collect()
        return sum(type(each) is Graph for each in gc.get_objects())

    before, kept = graphs(), []
    for n in range(2, 6):
        names: dict[str, Any] = {}
        exec(f"def f(x): return x * {n}", names)
        kept.append(fxc.compile(names["f"]))
        kept[-1](np.ones(8))
    assert graphs() <= before + 3, "those of the last one"


def test_what_is_gone_is_not_kept() -> None:
    def f(x):
        return x + 2

    compiled = fxc.compile(f)
    compiled(np.ones(3))
    gone = weakref.ref(compiled)
    del compiled
    gc.collect()
    assert gone() is None
    fxc.compile(other)(np.ones(3))


def test_what_another_thread_is_busy_with_stays_whole() -> None:
    def f(x):
        return x + 2

    compiled = fxc.compile(f)
    compiled(np.ones(3))

    class Busy:
        def acquire(self, blocking: bool) -> bool:
            return False

    compiled._state.lock = Busy()  # type: ignore[assignment]
    fxc.compile(other)(np.ones(3))
    assert not is_light(compiled)
