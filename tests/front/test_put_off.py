"""What takes long to compile waits for Python: Note [Captures that pay]."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest

import fxc
import fxc.compilations.decisions
from fxc.calling.compiling import captures_begun
from fxc.capture.capture import capture as capture_call
from fxc.compilations.decisions import Captures
from tests.outcomes import difference, run


def settle(x, mode="mean"):
    for _ in range(20):
        x = x - x / (2 + x * x)
    return x - x.mean() if mode == "mean" else x / np.abs(x).max()


def settle_and_count(x):
    y = settle(x)
    sys.getrefcount(y)
    return y.cumsum() + settle(y)


def compiled_calls(compiled, args) -> int:
    """How many calls Python takes before native code takes one; each gives what Python gives."""
    original = compiled.__fxc_original__
    for calls in range(3_000):
        assert difference(run(compiled, args), run(original, args)) == ""
        info = compiled.cache_info()
        if info.native_calls or info.part_calls:
            return calls
    raise AssertionError("it is never compiled")


@pytest.fixture
def expensive(as_users: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every compilation is one that takes long."""
    monkeypatch.setattr(fxc.compilations.decisions, "_LONGEST", 1e-4)
    monkeypatch.setattr(fxc.compilations.decisions, "SHARE", 1.0)


@pytest.mark.usefixtures("expensive")
@pytest.mark.parametrize("program", [settle, settle_and_count])
def test_it_waits_until_python_has_spent_as_much(program) -> None:
    assert compiled_calls(fxc.compile(program), (np.linspace(0.5, 3.0, 7),)) > 1


@pytest.mark.usefixtures("expensive")
def test_the_next_one_waits_without_a_capture() -> None:
    compiled, x = fxc.compile(settle), np.linspace(0.5, 3.0, 7)
    compiled_calls(compiled, (x, "mean"))
    begun, seen = captures_begun(), compiled.cache_info()
    assert difference(run(compiled, (x, "most")), run(settle, (x, "most"))) == ""
    assert captures_begun() == begun
    assert compiled.cache_info().eager_calls == seen.eager_calls + 1


@pytest.mark.usefixtures("expensive")
def test_nobody_looks_for_what_varies_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fxc.compilations.decisions, "_DEAR", 0.0)
    compiled, x = fxc.compile(settle), np.linspace(0.5, 3.0, 7)
    compiled_calls(compiled, (x, "mean"))
    compiled(x, "most")
    looked = []
    monkeypatch.setattr(fxc.Compiled, "_other_values", lambda *args: looked.append(1) or set())
    (captures,) = compiled._state.captures.values()
    captures.left = 100.0
    for _ in range(3):
        assert difference(run(compiled, (x, "most")), run(settle, (x, "most"))) == ""
    assert looked == []


@pytest.mark.usefixtures("expensive")
def test_fullgraph_does_not_wait() -> None:
    compiled = fxc.compile(settle, fullgraph=True)
    assert compiled_calls(compiled, (np.linspace(0.5, 3.0, 7),)) == 0


def spread(x):
    low = settle(x)
    sys.getrefcount(low)
    high = settle(low + 1) * low
    sys.getrefcount(high)
    return high.cumsum() + settle(high)


def test_parts_have_some_time_together(as_users: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes behind the first one waits, and is compiled where the function is called often."""
    monkeypatch.setattr(fxc.compilations.decisions, "_TOGETHER", 0.0)
    compiled, x = fxc.compile(spread), np.linspace(0.5, 3.0, 7)
    assert difference(run(compiled, (x,)), run(spread, (x,))) == ""
    assert compiled.cache_info().parts == 1
    for part in compiled._state.split.called:
        for captures in part._state.captures.values():
            captures.left = min(captures.left, 1e-4)
    for _ in range(20_000):  # on a busy machine, captures take longer than on another
        assert difference(run(compiled, (x,)), run(spread, (x,))) == ""
        if compiled.cache_info().parts > 1:
            return
    raise AssertionError("the other parts are never compiled")


def counted(x):
    y = settle(x)
    sys.getrefcount(y)
    return y.cumsum()


def counted_once_more(x):
    y = settle(x)
    sys.getrefcount(y)
    return y.cumsum() + 1


def counted_alone(x):
    return counted(x) * 2 + settle(x)


def counted_if_large(x):
    y = x - 1
    if x[0] > 0:
        y = counted_once_more(x)
    return y * 2 + settle(x)


@pytest.mark.parametrize(
    "program, called, waits",
    [(counted_alone, counted, True), (counted_if_large, counted_once_more, False)],
)
def test_a_function_that_its_caller_was_refused_for_waits(
    program, called, waits: bool, as_users: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless that was in a branch: by itself it is captured as if there was none."""
    captured = []

    def noted(function, *args):
        captured.append(function)
        return capture_call(function, *args)

    monkeypatch.setattr(fxc.capture.capture, "capture", noted)
    compiled, x = fxc.compile(program), np.linspace(0.5, 3.0, 7)
    for calls in range(3000):
        assert difference(run(compiled, (x,)), run(program, (x,))) == ""
        assert waits or called in captured
        if called in captured:
            assert not waits or calls > 0
            return
    raise AssertionError("it is never captured")


def test_what_a_call_imports_is_there_when_it_is_captured_again(tmp_path, monkeypatch) -> None:
    (tmp_path / "late_module_of_this_test.py").write_text("TWO = 2")
    monkeypatch.syspath_prepend(tmp_path)

    def doubled(x):
        import late_module_of_this_test

        return x * late_module_of_this_test.TWO

    compiled = fxc.compile(doubled)
    try:
        for _ in range(3):
            assert np.array_equal(compiled(np.arange(3.0)), [0, 2, 4])
    finally:
        sys.modules.pop("late_module_of_this_test", None)
    info = compiled.cache_info()
    assert (info.native_calls, info.eager_calls, info.part_calls) == (2, 1, 0)


def test_dicts_by_words_are_of_one_kind(as_users: None) -> None:
    """Each order of the words was another kind, with captures of its own, which never paid."""

    def found(places: dict[str, list[int]]) -> list[int]:
        kept = set(places["a"])
        return sorted(kept & set(places["b"]))

    compiled, rng = fxc.compile(found), np.random.default_rng(0)
    for _ in range(30):
        words = rng.permutation(list("abcdefgh")).tolist()
        places = {word: rng.permutation(20)[: rng.integers(4, 9)].tolist() for word in words}
        assert compiled(places) == found(places)
    assert compiled.cache_info().variants < 10


def test_brief_calls_that_wait_are_seldom_measured_by_the_slow_clock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    captures, looks = Captures(left=1.0), []
    thread_time = time.thread_time
    monkeypatch.setattr(time, "thread_time", lambda: looks.append(1) or thread_time())
    for _ in range(50):
        captures.ended(captures.begun())
    assert len(looks) == 2
    captures.usual = 1e-12
    captures.ended(captures.begun())  # far longer than the one that was measured
    assert len(looks) == 2
    captures.ended(captures.begun())
    assert len(looks) == 4
    assert 0.0 < captures.left < 1.0


@pytest.mark.usefixtures("expensive")
def test_no_more_calls_are_left_to_python_than_it_takes() -> None:
    """Four times as many as before were, whatever time was left."""
    compiled, x = fxc.compile(settle), np.linspace(0.5, 3.0, 7)
    compiled(x, "mean")
    (captures,) = compiled._state.captures.values()
    captures.left = 100.0
    for _ in range(40):
        compiled(x, "mean")
    (known,), (turn,) = compiled._state.in_vain.values(), compiled._state.turns.values()
    captures.left = 2.5 * known.seconds
    turn.renew(0)
    for _ in range(20):
        compiled(x, "mean")
    assert compiled.cache_info().native_calls > 0
