"""Compiled code against Python: Note [Trials], Note [Turns]."""

from __future__ import annotations

import itertools
import math
import sys
import threading
import traceback
import types
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fxc
import fxc.compilations.native_calls
import fxc.compilations.variants
from fxc.calling import parts, taking_turns
from fxc.compilations import decisions, trials, turns
from fxc.compilations.of_objects import are_of_objects
from fxc.compilations.trials import (
    BRIEF,
    BRIEF_CALLS,
    CALLS,
    CLOSE_CALLS,
    LONG,
    LONG_DRIVER,
    LONG_LOOP,
    SETTLED,
    Trial,
)
from fxc.compilations.turns import FOR_EVER, LONGEST, MORE, Handed, Pace, Tried, Ways, key_of
from fxc.lowering.calling.guard_things import Untranslated
from fxc.split.splits import helpers

pytestmark = pytest.mark.usefixtures("as_users")


@pytest.fixture
def far_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls are taken for ones that do not follow each other closely: native code for them waits."""
    monkeypatch.setattr(fxc.compilations.variants, "CLOSE", 0.0)


@pytest.mark.parametrize(
    ("compiled", "python", "calls", "pays"),
    [
        (1e-5, 1e-2, CALLS, True),
        (1e-5, 2e-5, BRIEF_CALLS, True),
        (1e-5, 4.5e-5, CALLS, True),
        (1e-5, 1.15e-5, CLOSE_CALLS, True),
        (1e-5, 1.3e-5, BRIEF_CALLS, True),
        (2e-5, 1e-5, BRIEF_CALLS, False),
        (2e-4, 1e-4, CALLS, False),
        (1.1e-5, 1e-5, CLOSE_CALLS, False),
        (1e-5, 1e-5, CLOSE_CALLS, True),
        (1e-3, 5e-3, 1, True),
        (1e-3, 3e-3, CALLS, True),
        (1e-3, 1.3e-3, BRIEF_CALLS, True),
        (1.3e-3, 1e-3, BRIEF_CALLS, False),
        (1e-3, 1e-3, CLOSE_CALLS, True),
    ],
)
def test_verdicts(compiled: float, python: float, calls: int, pays: bool) -> None:
    trial = Trial()
    order = []
    while trial.pays is None:
        order.append(trial.is_pythons)
        trial.note(python if order[-1] else compiled, order[-1])
    assert trial.pays is pays
    assert sum(order) == calls
    assert order == [False, True] * calls  # in turn, as the clock of the processor may change


@pytest.mark.parametrize(("by_python", "pays"), [(1.95e-6, True), (1.85e-6, False)])
def test_what_is_handed_on_takes_longer(by_python: float, pays: bool) -> None:
    assert Trial(2e-6, by_python, CLOSE_CALLS, CLOSE_CALLS, saved=1e-7).pays is pays


def test_brief_calls_are_not_timed_by_the_slow_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[float] = []

    def clock() -> float:
        read.append(1.0)
        return 0.0

    monkeypatch.setattr(trials, "clock", clock)
    walls = iter([0.0, BRIEF / 2, 0.0, 2 * BRIEF])
    monkeypatch.setattr(trials.time, "perf_counter", lambda: next(walls))
    assert trials.since(trials.now()) == BRIEF / 2
    assert len(read) == 1
    assert trials.since(trials.now()) == 0.0  # others had the processor
    assert len(read) == 3


def test_long_calls_are_not_tried_in_python() -> None:
    trial = Trial()
    for _ in range(CALLS):
        assert trial.pays is None
        trial.note(2 * LONG, False)
    assert trial.pays is True


def first_of_many(table):
    total = 0.0
    for row in table:
        total = total + row["a"]
    return total


def test_drivers_of_some_milliseconds_are_tried_in_python() -> None:
    trial = Trial(longest=LONG_DRIVER)
    for seconds in (8e-3, 9e-3, 8e-3):
        assert trial.pays is None
        trial.note(seconds, False)
        assert trial.is_pythons
        trial.note(1e-3, True)
    assert trial.pays is False


@pytest.mark.usefixtures("far_apart")
def test_a_function_of_many_objects_is_left_to_python() -> None:
    """Its calls do hardly anything beside their guards."""
    table = [{"a": float(k)} for k in range(40)]
    compiled = fxc.compile(first_of_many)
    for k in range(200):
        table[3]["a"] = k / 2
        assert compiled(table) == first_of_many(table)
    info = compiled.cache_info()
    assert info.variants <= 2
    assert info.eager_calls > 100
    assert info.native_calls + info.eager_calls == 200
    (turn,) = compiled._state.turns.values()
    assert isinstance(turn, Handed)
    assert not turn.is_over


def test_who_looks_at_elementary_functions_sees_the_same_at_each_call() -> None:
    compiled = fxc.compile(lambda x: np.sin(x) + 1)
    for _ in range(SETTLED + 3 * CALLS):
        compiled(np.ones(3))
    assert compiled.cache_info().eager_calls == 0


def test_fullgraph_tries_nothing() -> None:
    compiled = fxc.compile(lambda x: x + 1, fullgraph=True)
    for k in range(SETTLED + 3 * CALLS):
        assert compiled(k) == k + 1
    assert compiled.cache_info().eager_calls == 0


@pytest.mark.usefixtures("far_apart")
@pytest.mark.parametrize("far", [False, True])
def test_trials_that_are_lost_come_again(far: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        Trial, "pays", property(lambda trial: False if trial.python_calls else None)
    )
    monkeypatch.setattr(Trial, "is_lost", property(lambda _: far))
    compiled = fxc.compile(lambda x: x + 1)
    turns = []
    for k in range(800):
        assert compiled(k) == k + 1
        turns += [turn for turn in compiled._state.turns.values() if turn not in turns]
    left = [turn.cells[MORE] + turn.taken for turn in turns if isinstance(turn, Handed)]
    last = left.pop()
    assert last + sum(left) == pytest.approx(
        fxc.compilations.variants.OFTEN, abs=30
    )  # then native calls pay
    assert left == ([] if far else [64, 512])
    info = compiled.cache_info()
    assert info.native_calls + info.eager_calls == 800


@pytest.mark.usefixtures("far_apart")
def test_what_wins_by_little_is_tried_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trial, "pays", property(lambda trial: trial.python_calls > 0 or None))
    monkeypatch.setattr(Trial, "is_won", property(lambda _: False))
    compiled = fxc.compile(lambda x: x + 1)
    by_python = set()
    for k in range(200):
        before = compiled.cache_info().eager_calls
        assert compiled(k) == k + 1
        if compiled.cache_info().eager_calls > before:
            by_python.add(k)
    first, *more = sorted(by_python)
    assert [k - first for k in more] == [trials.BY_LITTLE + 2]


def tried(
    ours: Callable[[], Any], python: Callable[[], Any], trial: Trial, end: Callable[[Trial], None]
) -> Tried:
    """The trial of a driver, whose calls Python hands on."""
    calls = itertools.count()
    ways = Ways(ours, python, lambda: (0, 0), True)
    return Tried(((), ()), ways, trial, Pace(lambda: next(calls)), end, lambda: None)


def test_a_driver_is_timed_when_its_parts_are_not_on_trial_any_more() -> None:
    trial = Trial(longest=LONG_DRIVER)
    part, ends = Trial(), []

    def driver() -> None:
        if part.pays is None:
            part.note(1e-5, part.is_pythons)

    turn = tried(driver, driver, trial, ends.append)
    while part.pays is None:
        turn()
        assert trial.compiled_calls == 0
    while not ends:
        turn()
    assert trial.compiled_calls >= CALLS


@pytest.mark.parametrize("is_late", [False, True])
def test_a_driver_is_tried_when_what_it_calls_is_captured(
    is_late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python's calls would let the captures wait longer; but no trial waits for ever."""
    monkeypatch.setattr(turns, "since", lambda start: 1e-3)
    trial, left = Trial(longest=LONG_DRIVER), [0.02]

    def driver() -> None:
        left[0] -= 0.0 if is_late else 1e-3

    turn = tried(driver, lambda: None, trial, lambda trial: None)
    turn.ways = replace(turn.ways, left=lambda: left[0])
    for _ in range(15):
        turn()
    assert trial.compiled_calls == trial.python_calls == 0
    for _ in range(100):
        turn()
    assert trial.python_calls > 0


def test_captures_that_wait_are_those_of_all_that_is_called() -> None:
    def called(*left: float, split: Any = None) -> Any:
        captures = dict(enumerate(decisions.Captures(left=each) for each in left))
        return types.SimpleNamespace(_state=types.SimpleNamespace(captures=captures, split=split))

    inner: Any = types.SimpleNamespace(called=[called(0.0, 3.0)])
    inner.called.append(called(-1.0, split=inner))  # it calls itself
    outer: Any = types.SimpleNamespace(called=[called(2.0), called(4.0, split=inner)])
    assert sorted(each.left for each in decisions.captures_left(outer)) == [2.0, 3.0, 4.0]
    assert decisions.seconds_awaited(outer) == 0.0
    inner.called[0]._state.captures[1].is_awaited = True
    assert decisions.seconds_awaited(outer) == 3.0


def test_what_is_called_is_decided_on_before_what_calls_it() -> None:
    """Python takes longer in calls of which a part is on trial; they do not count."""
    trial, called = Trial(longest=LONG_DRIVER), Trial()

    def python() -> None:
        if called.pays is None:
            called.note(1e-5, called.is_pythons)

    turn = tried(lambda: None, python, trial, lambda trial: None)
    while called.pays is None:
        turn()
        assert trial.python_calls == 0
    for _ in range(5000):  # Python has most of them, untimed
        turn()
    assert trial.python_calls > 0


@pytest.mark.parametrize("slower", [0.5, 1.02, 1.5, 4.0, 30.0])
@pytest.mark.parametrize("python", [1e-6, 1e-5, 3e-4])
def test_a_trial_costs_a_twentieth_after_some_calls(
    python: float, slower: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as nothing is decided, and however much slower than Python that is which is tried."""
    times = {"ours": slower * python, "python": python}
    ran: list[str] = []
    monkeypatch.setattr(turns, "since", lambda _: times[ran[-1]])
    monkeypatch.setattr(Trial, "pays", None)
    turn = tried(lambda: ran.append("ours"), lambda: ran.append("python"), Trial(), print)
    timed = Counter[str]()
    for call in range(20_000):
        is_timed = turn.between is None or turn.between.is_over
        turn()
        if call >= 10:
            timed[ran[-1]] += is_timed
    spent = sum(times[each] for each in ran[10:])
    spent += turns._TIMING * sum(timed.values())  # what it takes to look at the clocks
    assert spent <= 1.06 * python * len(ran[10:])
    assert min(timed.values()) >= 8


def test_a_trial_is_paced_by_what_python_takes_now() -> None:
    pace = Pace(lambda: 100)
    for seconds in (9e-5, 1e-5, 1e-5, 1e-5):  # the first finds nothing in caches
        pace.note(seconds)
    assert 1e-5 < pace.python < 2.1e-5
    pace.note(1.0)  # others had the processor
    assert pace.python < 1e-4


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_a_driver_is_not_written_again_while_it_is_on_trial() -> None:
    def program(x, seen):
        y = x * 2 + 1
        seen.append(id(y))
        z = np.sqrt(x * x + 1.0) + y
        seen.append(id(z))
        return z - y * y + 2

    compiled, x = fxc.compile(program), np.ones(3)
    for _ in range(3):
        compiled(x, [])
    split: Any = compiled._state.split
    (turn,) = compiled._state.turns.values()
    assert isinstance(turn, Tried)
    driver, (first, *others) = split.driver, split.driver.parts
    split.give_up(first.source)
    assert split.driver is driver
    assert compiled._state.turns == {turn.key: turn}
    turn._end(Trial(1e-5, 3e-5, CALLS, CALLS))  # a driver that pays is worth that
    assert [part.source for part in split.driver.parts] == [part.source for part in others]
    assert not compiled._state.turns
    for part in others:
        compiled(x, [])
        assert compiled._state.turns
        split.give_up(part.source)
    assert compiled._runner() is program
    assert not compiled._state.turns


def test_calls_with_copies_are_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fxc.compilations.variants, "CLOSE", float("inf"))

    def update(x):
        x += 1.0 / x

    compiled, x = fxc.compile(update), np.ones(100)
    for _ in range(trials.EARLY + 1):
        compiled(x)
    (variant,) = compiled._state.variants
    while variant.watch.copies:
        compiled(x)
        assert not any(turn._trial.compiled_calls for turn in compiled._state.turns.values())
    compiled(x)
    assert variant.native is not None
    assert compiled._state.turns  # the trial


@pytest.mark.parametrize("fullgraph", [False, True])
def test_native_code_has_calls_that_follow_each_other_from_the_third_on(
    fullgraph: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fxc.compilations.variants, "CLOSE", float("inf"))
    compiled = fxc.compile(lambda x: x * 2 + 1, fullgraph=fullgraph)
    for k in range(8):
        assert (compiled(np.ones(8)) == 3).all()
        (variant,) = compiled._state.variants
        assert (variant.native is not None) == (k > 0)
    assert variant.calls == 2  # Python's way has none of the others
    assert variant.native.calls + compiled.cache_info().eager_calls == 6


def test_what_native_code_cannot_call_is_tried_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def native_call(*given: object) -> None:
        asked.append(given)
        raise Untranslated("it is not")

    monkeypatch.setattr("fxc.compilations.native_texts.native_call", native_call)
    monkeypatch.setattr(fxc.compilations.variants, "CLOSE", float("inf"))
    compiled = fxc.compile(lambda x: x * 2 + 1)
    for _ in range(trials.EARLY):
        compiled(np.ones(8))
    (turn,) = compiled._state.turns.values()
    assert isinstance(turn, Tried)
    for _ in range(200):
        compiled(np.ones(8))
    assert len(asked) == 1


def test_calls_far_apart_are_looked_at_ever_less() -> None:
    fn = fxc.compile(lambda x: x * 2 + 1, fullgraph=True)
    looked, asked = [], fxc.compilations.variants.Variant.look

    def look(variant: Any) -> bool:
        looked.append(variant.calls)
        return asked(variant)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fxc.compilations.variants.Variant, "look", look)
        patch.setattr(fxc.compilations.variants, "CLOSE", 0.0)
        for _ in range(100):
            fn(np.ones(8))
    assert looked == [1, 2, 3, 6, 7, 14, 15, 30, 31, 62, 63]


def test_a_driver_of_long_calls_is_timed_sooner() -> None:
    trial, calls = Trial(longest=LONG_DRIVER), 0

    def driver() -> None:
        trials.note_call()  # as of a part that stays on trial
        start = trials.now()
        while trials.since(start) < 1.5 * LONG_LOOP:
            pass

    turn = tried(driver, driver, trial, lambda _: None)
    while not trial.compiled_calls:
        turn()
        calls += 1
    assert calls <= 11  # one of them is Python's


def test_after_three_captures_the_next_one_waits() -> None:
    compiled, x = fxc.compile(lambda x, f: f(x) + 1.0), np.ones(50)
    for k, f in enumerate([np.sqrt, np.floor, np.ceil]):
        compiled(x, f)
        assert len(compiled._state.variants) == k + 1
    calls = 0
    while len(compiled._state.variants) == 3:
        np.testing.assert_array_equal(compiled(x, np.square), x * x + 1.0)
        calls += 1
    assert calls > 1


def test_a_process_of_captures_in_vain_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "_FREE", 2.0)
    monkeypatch.setattr(decisions._Process, "wasted", 1e6)
    compiled = fxc.compile(lambda x, f: f(x) + 1.0)
    compiled(np.ones(50), np.sqrt)
    (captures,) = compiled._state.captures.values()
    assert captures.left == pytest.approx(0.5 * captures.seconds)
    while captures.count == 1:
        left = captures.left
        compiled(np.ones(50), np.floor)
    assert left <= 0.0
    assert len(compiled._state.variants) == 2


class Counting:
    """An object of a program that knows nothing of NumPy."""

    def __init__(self) -> None:
        self.count = 0


@pytest.fixture
def without_numpy(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Any]:
    """What lets something be of a module that does not know NumPy."""
    monkeypatch.setitem(sys.modules, "plain", types.ModuleType("plain"))

    def of_it(made: Any) -> Any:
        monkeypatch.setattr(made, "__module__", "plain")
        return made

    return of_it


def counted(counter: Any, by: Any) -> Any:
    counter.count += 1
    return by + counter.count


def test_functions_of_objects_rest_where_captures_were_in_vain(
    without_numpy: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decisions, "_WARY", 0.25)
    monkeypatch.setattr(decisions._Process, "wasted", 1e6)
    compiled, counter = fxc.compile(without_numpy(counted)), without_numpy(Counting)()
    for k in range(100):
        for by in (k, k / 2, str(k)) if k > 50 else (k,):
            if isinstance(by, str):
                with pytest.raises(TypeError, match="concatenate"):
                    compiled(counter, by)
            else:
                assert compiled(counter, by) == by + counter.count
    assert counter.count == compiled.cache_info().eager_calls == 100 + 2 * 49
    assert not compiled._state.variants
    rest = compiled._state.rest
    assert rest is not None
    before = rest.taken
    assert compiled(counter, by=1) == 1 + counter.count
    assert compiled._state.rest is rest
    assert rest.taken == before + (rest.taken > before)
    compiled.cache_clear()
    assert compiled(counter, 1) == 1 + counter.count
    assert compiled.cache_info().eager_calls == 1


@pytest.mark.parametrize("kind", ["array", "a module that knows NumPy"])
def test_what_may_handle_arrays_is_compiled_as_ever(
    kind: str, without_numpy: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decisions, "_WARY", 0.25)
    monkeypatch.setattr(decisions._Process, "wasted", 1e6)

    def program(x: Any) -> Any:
        return x * 2.0 + 1.0

    x: Any = np.ones(3) if kind == "array" else 1.5
    compiled = fxc.compile(without_numpy(program) if kind == "array" else program)
    np.testing.assert_array_equal(compiled(x), x * 2.0 + 1.0)
    assert compiled.cache_info().native_calls == 1


class Shelf:
    def __init__(self, held: Any) -> None:
        self.held = held

    def count(self, steps: int) -> Any:
        return self.held + steps

    def norms(self, steps: int) -> Any:
        return np.sqrt(steps), self.held


def shelves(held: int) -> Any:
    return [Shelf(held).count(k) for k in range(held)]


@pytest.mark.parametrize(
    ("function", "given", "is_of_objects"),
    [
        (Shelf.count, (Shelf(2), 1), False),  # another method of it names NumPy
        (counted, (Counting(), 1), True),
        (counted, (Counting(), np.float64(1.0)), False),
        (fxc.compile(counted), (Counting(), 1), True),
        (lambda held, by: counted(Counting(), by), (1, 2), True),
        (lambda held: shelves(held), (1,), False),
        (counted, ([[Counting(), {"held": np.ones(2)}]], 1), False),
        (lambda x: x * 2.0, (1.5,), False),  # of numbers alone
    ],
)
def test_what_functions_hold_and_name_says_whether_they_are_of_objects(
    function: Any, given: Any, is_of_objects: bool
) -> None:
    function = getattr(function, "__fxc_original__", function)
    kinds = decisions.kinds_of(given, {})
    may_be = not decisions.is_of_numpy(kinds)
    assert (may_be and are_of_objects(kinds, function, (given, {}))) == is_of_objects


def test_a_first_capture_of_objects_waits_for_python(
    without_numpy: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decisions, "_WARY", 0.25)
    monkeypatch.setattr(decisions, "_ALL", math.inf)
    monkeypatch.setattr(decisions._Process, "wasted", 1.0)

    def program(n: int) -> int:
        total = 0
        for k in range(n):
            total = (total + k * k) % 1000003
        return total

    compiled, calls = fxc.compile(without_numpy(program)), 0
    while not compiled._state.variants:
        assert compiled(20_000) == program(20_000)
        calls += 1
    assert calls > 1


def test_long_drivers_are_tried_where_python_cannot_take_far_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Their parts have been timed, and save little."""
    monkeypatch.setattr(taking_turns, "LONG_DRIVER", 0.0)

    def program(x: Any, seen: list[int]) -> Any:
        y = x * 2 + 1
        seen.append(id(y))
        return y * y + x

    compiled, x = fxc.compile(program), np.ones(3)
    compiled(x, [])
    split: Any = compiled._state.split
    for part in split.parts.values():
        part._trial = Trial(1e-5, 2e-5, CALLS, CALLS)
    compiled(x, [])
    (turn,) = compiled._state.turns.values()
    assert isinstance(turn, Tried)
    assert split.is_measured == (turn._trial.longest == math.inf)
    assert split.is_measured
    for part in split.parts.values():
        part._trial = Trial(1e-5, 1.0, CALLS, 1)
    assert split.is_measured == (not split.compiled)


def test_what_a_function_that_calls_itself_may_save_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is its own helper, where it is refused in what it calls: a tree that is grown."""

    def program(x: Any, seen: list[int]) -> Any:
        y = x * 2 + 1
        seen.append(id(y))
        return y * y + x

    compiled, x = fxc.compile(program), np.ones(3)
    for _ in range(2):
        compiled(x, [])
    split: Any = compiled._state.split
    monkeypatch.setitem(helpers, program, compiled)
    split.calls.add(program)
    for part in split.parts.values():
        part._trial = Trial(1e-5, 2e-5, CALLS, CALLS)
    assert split.is_measured
    for part in split.parts.values():
        part._trial = Trial(1e-5, 1.0, CALLS, 1)
    assert split.is_measured == (not split.compiled)


def test_a_driver_for_one_kind_of_calls_is_not_tried_by_those_of_a_variant() -> None:
    """A call with a wrong dtype is split: those that compiled code served remain its own."""

    def program(x: Any) -> Any:
        a, b = x.T
        return 0.5 * abs(np.dot(a, np.roll(b, -1)) - np.dot(b, np.roll(a, -1)))

    compiled, x = fxc.compile(program), np.linspace(0.0, 1.0, 60).reshape(30, 2) ** 2
    while sum(each.all_calls for each in compiled._state.variants) < 10:
        assert compiled(x) == program(x)
    wrong = x.astype("U8")
    with pytest.raises(Exception) as of_numpy:
        program(wrong)
    with pytest.raises(of_numpy.type) as found, pytest.warns(fxc.CaptureWarning):
        compiled(wrong)
    assert str(found.value) == str(of_numpy.value)
    assert compiled._state.split
    turns = compiled._state.turns.values()
    assert not any(isinstance(turn, Tried) and turn.ways.is_driver for turn in turns)


def test_a_capture_of_a_patient_process_is_put_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "_LONGEST", 0.0)
    compiled = fxc.compile(lambda x: sum_of([x + k for k in range(120)]))
    x = np.ones(3)
    assert compiled(x) == sum_of([x + k for k in range(120)])
    (captures,) = compiled._state.captures.values()
    assert captures.is_put_off
    assert not compiled._state.variants


def test_what_is_refused_when_there_is_no_time_left_is_put_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The refusal may be of an attempt that another one would have followed."""
    monkeypatch.setattr(decisions, "_LONGEST", 0.0)
    compiled, x = fxc.compile(lambda x: (x + 1.0, id(x))), np.ones(3)
    np.testing.assert_array_equal(compiled(x)[0], x + 1.0)
    (captures,) = compiled._state.captures.values()
    assert captures.is_put_off
    assert captures.refused is None


def sum_of(parts):
    return sum(float(part[0]) for part in parts)


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_a_refusal_puts_captures_of_other_calls_off() -> None:
    def program(x, kind):
        y = np.sqrt(x * x + 1.0) + x
        if kind == "keyed":
            return np.sqrt(y), id(y)
        return np.sqrt(y + 1.0), 0

    compiled, x = fxc.compile(program), np.linspace(0.0, 1.0, 200)
    compiled(x, "keyed")
    (captures,) = compiled._state.captures.values()
    refusing = captures.seconds
    assert captures.left == pytest.approx(decisions.AFTER_REFUSAL * refusing, rel=0.1)
    while captures.count == 1:
        compiled(x, "other")
        assert captures.count == 1 or captures.left <= 0.0
    assert compiled._state.variants
    strict = fxc.compile(program, fullgraph=True)
    with pytest.raises(fxc.CaptureError):
        strict(x, "keyed")
    strict(x, "other")
    assert strict.cache_info().variants == 1


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_a_driver_whose_part_waits_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or its calls would take longer than Python's for as long as that waits."""
    monkeypatch.setattr(decisions, "_LONGEST", 0.0)
    monkeypatch.setattr(Trial, "pays", property(lambda x: False if x.python_calls else None))
    compiled, x, seen = fxc.compile(_in_parts), np.ones(3), list[int]()
    while compiled._state.split is None or not compiled._state.split.parts:
        compiled(x, seen)
        for each in compiled._state.captures.values():
            each.left = 0.0
    waiting = compiled._state.split.captures
    for _ in range(2 * trials.UNUSUAL):
        for each in waiting:
            each.is_put_off, each.left = True, max(each.left, 10.0)
        compiled(x, seen)
        if any(isinstance(turn, Handed) for turn in compiled._state.turns.values()):
            break
    (left,) = compiled._state.turns.values()
    assert left.run is _in_parts
    assert all(each.left == 0.0 for each in compiled._state.split.captures)


def test_native_code_of_each_variant_waits_after_a_trial_that_is_lost(far_apart: None) -> None:
    compiled = fxc.compile(lambda x, flag: x + 1 if flag else x - 1)
    x = np.ones(3)
    for flag in [True, False] * 3:
        compiled(x, flag)
    first, second = compiled._state.variants
    second.try_later(fxc.compilations.variants.OFTEN)
    compiled._end_turns()
    key = key_of((x, True), {})
    compiled._try(first, key)
    turn = compiled._state.turns[key]
    turn._end(Trial(1.0, 0.1, CLOSE_CALLS, CLOSE_CALLS, 1.0))
    assert isinstance(compiled._state.turns[key], Handed)
    assert first.calls >= first.often
    assert second.calls >= second.often


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("pays", [True, False])
def test_a_driver_is_tried_where_a_variant_leaves_calls(
    pays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Trial, "pays", property(lambda trial: pays if trial.python_calls else None))

    def program(x, v):
        y = np.sqrt(x * x + 1.0) + x
        root = float(v[0]) ** 0.5
        z = np.sqrt(y + 1.0) + y
        return z, root

    compiled, x = fxc.compile(program), np.linspace(0.5, 2.0, 4000)
    compiled(x, np.array([4.0]))
    turns: list[Any] = []
    for _ in range(200):
        z, root = compiled(x, np.array([-4.0]))
        assert (root, z[0]) == (program(x, [-4.0])[1], program(x, [-4.0])[0][0])
        turns += [turn for turn in compiled._state.turns.values() if turn not in turns]
    assert compiled._state.split is not None
    assert [turn.ways.is_driver for turn in turns if isinstance(turn, Tried)] == [True]
    rests = [turn for turn in turns if isinstance(turn, Handed)]
    assert [turn.run is program for turn in rests][-1] is not pays


def test_a_loop_is_tried_for_long_if_each_iteration_has_an_effect(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def printing(x):
        for k, v in enumerate(x):
            print(f"{k:3d} {v:8.3f}")

    def summing(x):
        total = 0.0
        for v in x:
            if v > 5.0:
                print(v)
            total += v
        return total

    def both(x):
        printing(x)
        return summing(x)

    for program, longest in ((printing, LONG), (summing, LONG_LOOP), (both, LONG_LOOP)):
        compiled = fxc.compile(program)
        compiled(np.linspace(0.0, 1.0, 30))
        assert compiled._state.variants[0].longest_tried == longest


def test_a_loop_that_is_not_native_is_tried_however_long() -> None:
    def program(x, n):
        total = 0
        for k in range(n):
            total += len(np.unique(x[k:], axis=0))
        return total

    compiled = fxc.compile(program)
    compiled(np.ones((30, 2)), 20)
    assert "fori_loop" in compiled.cache_info().fallbacks
    assert compiled._state.variants[0].longest_tried == math.inf


def test_an_exception_ends_no_trial() -> None:
    table = [{"a": float(k)} for k in range(40)]

    def program(table, places):
        total = 0.0
        for row in table:
            total = total + row["a"]
        return total / places[0]

    compiled = fxc.compile(program)
    for k in range(3 * SETTLED):
        places = [k % 2]
        if k % 2:
            assert compiled(table, places) == program(table, places)
        else:
            with pytest.raises(ZeroDivisionError):
                compiled(table, places)


# ------------------------------------------------------------------ calls that are left to Python


def refused(x, y=1, *, z=0):
    """A call that fxc does not know."""
    if not y + 1:
        raise ValueError
    return id(x), y, z


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("known", [True, False])
def test_a_function_that_is_refused_is_called_as_it_is(
    known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fxc.compilations.native_calls, "objects_are_as_known", lambda: known)
    compiled: Any = fxc.compile(refused)
    x = np.ones(3)
    for k in range(10):
        for args, kwargs in (((x, k), {}), ((x,), {"y": k}), ((x, 1), {"z": k}), ((k,), {})):
            assert compiled(*args, **kwargs) == refused(*args, **kwargs)
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (0, 40)
    assert (type(compiled) is not fxc.Compiled) is known  # native code hands the calls on
    with pytest.raises(ValueError) as caught:
        compiled(x, -1)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert [frame.name for frame in frames][1:] == ["refused"]
    with pytest.raises(TypeError, match="unexpected keyword argument 'w'"):
        compiled(x, w=1)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        compiled()


def hand_on(function: Any, *args: Any, calls: int, seconds: float = 1e9) -> tuple[Handed, Any]:
    turn = Handed(function, key_of(args, {}), calls, seconds)
    return turn, fxc.compilations.native_calls.forward(turn, lambda *_: "other", lambda *_: "over")


def test_so_many_calls_are_left() -> None:
    turn, call = hand_on(lambda x: x + 1, 1, calls=3)
    assert [call(k) for k in range(5)] == [1, 2, 3, "over", "over"]
    assert [call(1.0), call(1, 2), call()] == ["other"] * 3
    assert (turn.taken, turn.is_over, turn.was_long) == (3, True, False)


def test_calls_of_another_size_end_it() -> None:
    x, y = np.ones(3), np.ones(300_000)
    turn, call = hand_on(lambda x: np.sin(x), x, calls=FOR_EVER, seconds=1e-6)
    assert isinstance(call(x), np.ndarray)
    for _ in range(3):
        call(y)
    assert call(x) == "over"
    assert (turn.taken, turn.was_long) == (4, True)


def test_long_calls_are_news_less_and_less() -> None:
    """In a recursion, the calls that are timed are mostly those inside, and so end soonest."""
    compiled: Any = fxc.compile(refused)
    state, key, longest = compiled._state, key_of((1,), {}), list[int]()
    ways = Ways(refused, refused, lambda: (0, 0))
    for _ in range(3):
        trial = Trial(1.0, 0.1, CLOSE_CALLS, CLOSE_CALLS, 1.0)
        turn = Tried(key, ways, trial, state.pace(key), lambda trial: None, lambda: None)
        state.turns[key] = turn
        compiled._lost(turn, trial)
        left = state.turns[key]
        longest.append(left.cells[LONGEST])
        left.end_if_long(1e9)
        state.end(left)
    assert [each // longest[0] for each in longest] == [1, 8, 64]


def test_threads_take_calls_that_are_left() -> None:
    turn, call = hand_on(lambda x: x + 1, 1, calls=FOR_EVER)
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.extend(call(k) for k in range(1000)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted([*range(1, 1001)] * 4)
    assert turn.taken == 4000


def test_what_python_took_in_vain_is_looked_at_less_and_less(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[Any] = []
    look = fxc.Compiled._miss
    monkeypatch.setattr(fxc.Compiled, "_miss", lambda *given: looks.append(0) or look(*given))
    calls = fxc.compile(lambda d, key: d[key])
    for k in range(400):
        with pytest.raises(KeyError, match=f"b{k}"):
            calls({"a": np.ones(3)}, f"b{k}")
    assert len(looks) <= 17  # or fewer, as these are so brief
    assert calls.cache_info().eager_calls == 400


@pytest.mark.parametrize(("seconds", "most"), [(1.0, 128), (2e-5, 500), (1e-6, 4096)])
def test_brief_calls_are_looked_at_less_often(seconds: float, most: int) -> None:
    calls = decisions.InVain(served=0, seconds=seconds)
    assert [calls.rest(0) for _ in range(5)] == [0, 0, 0, 0, 20]
    assert [calls.rest(0) for _ in range(8)][-1] == pytest.approx(most, rel=0.01)


@pytest.mark.parametrize(
    ("is_driver", "slower", "waits", "times"),
    [(0, 9, 0, 0), (1, 9, 0, 10), (1, 1.2, 0, 1), (1, 9, 0.25, 0)],
)
def test_how_long_a_driver_that_loses_waits(
    is_driver: int, slower: float, waits: float, times: int
) -> None:
    """For what its captures took, or until what it calls would have been captured."""
    compiled = fxc.compile(_in_parts)
    compiled(np.ones(3), [])
    parts = list(compiled._state.split.parts.values())
    captures = [each for x in (compiled, *parts) for each in x._state.captures.values()]
    for each in captures:
        each.left = 0.0
    captures[-1].left = waits
    seconds = waits or times * sum(each.seconds for each in captures)
    trial = Trial(slower * 1e-7, 1e-7, CALLS, CALLS, CALLS * 1e-7)
    key = key_of((np.ones(3), []), {})
    turn = tried(len, len, trial, print)
    turn.key, turn.ways = key, replace(turn.ways, is_driver=bool(is_driver))
    compiled._lost(turn, trial)
    (left,) = compiled._state.turns.values()
    calls = seconds / 1e-7 or fxc.compilations.variants.OFTEN
    assert left.cells[MORE] == pytest.approx(calls, rel=0.01)
    assert captures[-1].left == 0.0


def test_a_driver_that_wins_by_little_is_tried_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trial, "pays", property(lambda trial: trial.python_calls > 0 or None))
    monkeypatch.setattr(Trial, "is_won", property(lambda _: False))
    compiled, tried = fxc.compile(_in_parts), []
    for _ in range(400):
        compiled(np.ones(3), [])
        tried += [x for x in compiled._state.turns.values() if isinstance(x, Tried)]
    counts = Counter(map(id, tried))
    assert len(counts) == 2
    (left,) = compiled._state.turns.values()
    assert left.cells[MORE] > trials.BY_LITTLE


def test_calls_that_no_variant_fits_are_not_timed() -> None:
    """A function of which most calls are Python's would lose by what fxc does before."""
    compiled = fxc.compile(lambda x, k: x + k)
    x = np.ones(3)
    for _ in range(2 * trials.EARLY):
        compiled(x, 1)
    (turn,) = compiled._state.turns.values()
    before = turn.ways.work()
    compiled._eager((x, 1), {})
    assert turn.ways.work() > before


def _in_parts(x: np.ndarray, seen: list[int]) -> np.ndarray:
    y = x * 2 + 1
    seen.append(id(y))
    return y - 1


def test_a_part_may_be_given_up_while_it_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What Python ran for it led to a cut there, which gave it up: an AttributeError."""
    compiled = fxc.compile(_in_parts)
    compiled(np.ones(3), [])
    part = next(iter(compiled._state.split.parts.values()))
    part._become(parts.PartOnTrial)
    part._started = trials.now()
    monkeypatch.setattr(parts.Part, "replayed", lambda part: part._become(parts._GivenUp))
    part.replayed()
    assert type(part) is parts._GivenUp


def test_a_turn_goes_on_where_native_code_hands_calls_on() -> None:
    def divide(a: Any, b: Any) -> Any:
        return a / b

    compiled, ones, zeros = fxc.compile(divide), np.ones(3), np.zeros(3)
    kinds = set()
    with np.errstate(divide="raise"):
        for _ in range(3000):
            with pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
                compiled(ones, zeros)
            kinds.add(type(compiled))
        (turn,) = compiled._state.turns.values()
        assert turn.taken + compiled._state.eager_calls == 3000
        assert turn.taken > 2980
        assert len(kinds) <= 4  # native code was not made anew at each look
        for _ in range(2**fxc.compilations.variants.MOST_RESTS):
            assert compiled(ones, ones).tolist() == [1, 1, 1]
    assert compiled.cache_info().native_calls > 0
    assert compiled.cache_info().eager_calls < 3000 + 2**fxc.compilations.variants.MOST_RESTS
