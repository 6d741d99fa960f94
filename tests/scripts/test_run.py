"""``python -m fxc run``: the script and its output stay as they are, and its functions get faster."""

from __future__ import annotations

import functools
import gc
import inspect
import io
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback
import warnings
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fxc
from benchmarks.scripts.compared import difference, ran
from fxc.cache.digests import digest_of
from fxc.compilations.state import Options
from fxc.ir.errors import PutOff
from fxc.runtime.engine import llvm_lock
from fxc.scripts.hot import HotFunction
from fxc.scripts.reported import Reported
from fxc.scripts.swapping import NO_ANSWER, answering, asking, functions_of
from fxc.scripts.telling import say, summary
from fxc.scripts.verdicts import keep_seconds, seconds_before, too_long, verdict, verdict_now
from fxc.scripts.warnings_apart import warnings_apart
from fxc.scripts.watching import _leave_signals, _status, _Watch
from fxc.verifying.calls import VerifiedCall

ROOT = Path(__file__).resolve().parents[2]


# ---------------------------------------------------------------- functions that ask


def scaled(x: Any, k: Any = 2.0, *more: Any, shift: float = 1.0, **names: Any) -> Any:
    """What it says."""
    return x * k + shift + sum(more) + sum(names.values())


def raises(x: Any) -> Any:
    y = x + 1
    raise ValueError(y)


class Box:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __twice(self) -> Any:
        return __class__, self.x * 2  # type: ignore[name-defined]

    twice = __twice


def counter() -> Any:
    count = 0

    def count_up(x: Any) -> Any:
        nonlocal count
        count += 1
        return x + count

    return count_up


class Answers:
    """What a function may ask."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer


def asked(function: Any, answer: Any) -> Any:
    """The function, which asks; and what is to be done to have it as it was."""
    found = asking(function.__code__)
    assert found is not None
    before = function.__code__
    function.__code__ = answering(found, Answers(answer))
    return before


def test_a_function_that_asks_is_the_same_function() -> None:
    seen: list[Any] = []

    def answer(*args: Any, **kwargs: Any) -> Any:
        seen.append((args, kwargs))
        return NO_ANSWER

    signature, source = inspect.signature(scaled), inspect.getsource(scaled)
    before = asked(scaled, answer)
    try:
        assert scaled(3.0, 4.0, 5.0, shift=2.0, a=1.0) == 20.0
        assert seen == [((3.0, 4.0, 5.0), {"shift": 2.0, "a": 1.0})]
        assert scaled(1.0) == 3.0
        assert seen[1] == ((1.0, 2.0), {"shift": 1.0})
        assert inspect.signature(scaled) == signature
        assert inspect.getsource(scaled) == source
        assert scaled.__doc__ == "What it says."
        assert pickle.loads(pickle.dumps(scaled)) is scaled
        scaled.__code__ = answering(scaled.__code__, Answers(answer))
    finally:
        scaled.__code__ = before


def test_tracebacks_have_the_lines_of_the_function() -> None:
    def text() -> str:
        try:
            raises(1)
        except ValueError:
            return traceback.format_exc()
        return ""

    plain = text()
    before = asked(raises, lambda x: NO_ANSWER)
    try:
        assert text() == plain
    finally:
        raises.__code__ = before


def test_methods_and_closures_ask() -> None:
    before = asked(Box.twice, lambda self: NO_ANSWER)
    try:
        assert Box(2).twice() == (Box, 4)
    finally:
        Box.twice.__code__ = before
    one, other = counter(), counter()
    assert functions_of(one.__code__, globals()) in ([one, other], [other, one])
    asked(one, lambda x: NO_ANSWER)
    assert [one(1), one(1), other(1)] == [2, 3, 2]


class Wrapped:
    @property
    def value(self) -> Any:
        return 1

    @staticmethod
    @functools.wraps(scaled)
    def fixed(x: Any) -> Any:
        return x


def test_functions_are_found_by_name_if_they_have_one(monkeypatch: pytest.MonkeyPatch) -> None:
    value: Any = Wrapped.__dict__["value"].fget
    monkeypatch.setattr("gc.get_referrers", lambda *_: [])
    for function in (scaled, value, Box.twice, counter):
        found = functions_of(function.__code__, globals())
        assert found == ([] if function is Box.twice else [function])
    wrapping = Wrapped.__dict__["fixed"].__func__
    assert functions_of(wrapping.__code__, globals()) == []  # its name is that of another


def looks_at_its_variables(x: Any) -> Any:
    return sorted(locals())


def test_what_looks_at_its_variables_is_left_alone() -> None:
    assert asking(looks_at_its_variables.__code__) is None
    assert asking((lambda x: x).__code__) is None
    namespace: dict[str, Any] = {}
    exec("def made(x):\n    return x", namespace)
    assert asking(namespace["made"].__code__) is None


# ---------------------------------------------------------------- hot functions


def smoothed(x: Any, passes: int) -> Any:
    for _ in range(passes):
        x = np.concatenate((x[:1], 0.5 * (x[1:] + x[:-1])))
    return x


def walked(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += x[i] * 0.5
    return total


def hot(function: Any) -> HotFunction:
    found = asking(function.__code__)
    assert found is not None
    return HotFunction(function, found)


def test_a_hot_function_is_compiled_compared_and_used() -> None:
    plain, x = walked.__code__, np.linspace(0, 1, 5000)
    wanted = walked(x)
    one = hot(walked)
    try:
        assert [walked(x) for _ in range(3)] == [wanted] * 3
        assert one.stage == "asked"
        one.compile(10.0)
        assert one.stage == "trial"
        assert [walked(x) for _ in range(3)] == [wanted] * 3
        assert one.stage == "live"
        assert [walked(x) for _ in range(3)] == [wanted] * 3
        assert one.served >= 6
        assert one.lost > 0  # by comparing
        assert one.gained > -one.lost
        with pytest.raises(TypeError) as raised:
            walked(3)
        assert [each.name for each in traceback.extract_tb(raised.value.__traceback__)] == [
            "test_a_hot_function_is_compiled_compared_and_used",
            "walked",
        ]
        assert walked(np.arange(3)) == 1.5  # another dtype: the statements run
    finally:
        one.put_back("")
    assert walked.__code__ is plain


def calls_walked(x: Any) -> Any:
    return walked(x) + walked(x[::2])


def test_what_calls_a_function_that_asks_is_captured_as_without_that() -> None:
    plain, x = walked.__code__, np.linspace(0, 1, 50_000)
    wanted = calls_walked(x)
    one = hot(walked)
    try:
        caller = fxc.compile(calls_walked, fullgraph=True, math="exact")
        assert caller(x) == wanted  # its loops are loops: they are too long for anything else
        assert (one.stage, one.calls) == ("counting", 0)
        assert one.is_called_once  # as main is
        for _ in range(2):
            walked(x)
            assert not one.is_called_once
        one.compile(10.0)
        for _ in range(3):
            walked(x)
        assert one.stage == "live"
        assert caller(x) == wanted
        assert caller.cache_info().variants == 1  # as its code is the same
    finally:
        one.put_back("")
    assert walked.__code__ is plain


def test_what_an_earlier_run_has_compiled_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.linspace(0, 1, 5000)
    monkeypatch.setattr("fxc.cache.folder._failures", 0)  # of tests before
    monkeypatch.setattr("fxc.cache.entries._begun", float("inf"))  # this file may be a new one
    for run in range(2):
        one = hot(walked)
        try:
            for _ in range(2):
                walked(x)
            if run:
                monkeypatch.setattr("fxc.scripts.hot.new_variant", None)
            with fxc.config.override(cache=True, cache_dir=str(tmp_path)):
                one.compile(10.0)
            assert bool(one.unkept) is not bool(run)
            for _ in range(4):
                walked(x)
            assert (one.stage, one.served) == ("live", 4)
            with fxc.config.override(cache=True, cache_dir=str(tmp_path)):
                one.keep()
        finally:
            one.let_go()


class Scaled:
    def __init__(self, by: float) -> None:
        self.by = by

    def total(self, x: Any) -> Any:
        return (x * self.by).sum()


def test_the_cache_knows_a_class_whose_methods_are_taken_up() -> None:
    known = digest_of(Scaled), digest_of(Scaled.total)
    one = hot(Scaled.total)
    try:
        assert (digest_of(Scaled), digest_of(Scaled.total)) == known
    finally:
        one.put_back("")


def compiled(one: HotFunction, *args: Any) -> None:
    """Compile for such calls, and let them pass the trial."""
    for _ in range(3):
        one.function(*args)
    one.compile(10.0)
    for _ in range(3):
        one.function(*args)


def test_compiled_code_serves_while_code_for_other_calls_is_made_and_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, ints = np.linspace(0, 1, 5000), np.arange(5000)
    one = hot(walked)
    try:
        compiled(one, x)
        for _ in range(3):
            walked(ints)
        for stage in ("asked", "trial"):
            assert one.stage == stage
            served = one.served
            assert walked(x) == one._plain(x)
            assert one.served == served + 1
            if stage == "asked":
                one.compile(10.0)
        monkeypatch.setattr("fxc.scripts.hot._FASTER", 1e9)
        for _ in range(3):
            walked(ints)
        assert one.stage == "live"  # with the code for floats alone
        assert len(one._state.variants) == 1
        served = one.served
        for _ in range(9):
            walked(ints)
            walked(x)
        assert (one.stage, one.served) == ("live", served + 9)
    finally:
        one.put_back("")


def test_few_calls_of_other_types_do_not_ask_for_code() -> None:
    x, ints = np.linspace(0, 1, 500), np.arange(500)
    one = hot(walked)
    try:
        compiled(one, x)
        for _ in range(5):
            walked(ints)
            for _ in range(20):
                walked(x)
        assert one.stage == "live"
        for _ in range(3):
            walked(ints)
        assert one.stage == "asked"  # now there are none but them
        one.refuse("it cannot be captured")
        assert one.stage == "live"
    finally:
        one.put_back("")


def test_calls_that_code_is_not_for_cost_no_more_than_it_gains(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain, x, y = walked.__code__, np.linspace(0, 1, 5000), np.ones(3, np.float32)
    one = hot(walked)
    try:
        compiled(one, x)
        monkeypatch.setattr("fxc.scripts.hot._MOST_STRANGE", 5)
        one.refuse("")  # there is to be no more code for it
        for _ in range(30):
            walked(x)
            walked(y)
        assert one.stage == "live"  # many calls, and each gains much
        for _ in range(30):
            walked(y)
        assert one.stage == "live"
        monkeypatch.setattr("fxc.scripts.hot._MISS", 1000.0)
        walked(y)
        assert one.stage == "over"
        assert walked.__code__ is plain
    finally:
        one.put_back("")


def test_a_thread_that_captures_the_program_does_not_share_it() -> None:
    watch = _Watch()
    began, done = threading.Event(), threading.Event()

    def wait() -> None:
        began.set()
        done.wait()

    thread = threading.Thread(target=wait)
    thread.start()
    began.wait()
    watch.thread = thread.ident or 0
    assert not watch.is_shared()
    watch.thread = 0
    assert watch.is_shared()
    done.set()
    thread.join()


def test_what_is_not_faster_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fxc.scripts.hot._FASTER", 1e9)
    plain, x = smoothed.__code__, np.arange(4.0)
    one = hot(smoothed)
    for _ in range(2):
        smoothed(x, 2)
    one.compile(10.0)
    for _ in range(3):
        smoothed(x, 2)
    assert one.stage == "over"
    assert smoothed.__code__ is plain


def added(x: Any) -> Any:
    return x * 2 + x[::-1]


def summed(x: Any) -> Any:
    RUNS.append(len(x))
    return x if len(x) < 2 else summed(x[::2] * 1.0) + summed(x[1::2] * 1.0)


RUNS: list[int] = []


def test_what_calls_itself_is_compared_once() -> None:
    x = np.arange(8.0)
    one = hot(summed)
    try:
        variant = SimpleNamespace(
            captured=SimpleNamespace(guards=SimpleNamespace(check=lambda *_: ()))
        )
        one._state.variants.append(variant)  # type: ignore[arg-type]
        one.stage = "trial"
        one._is_comparing = True  # of the call around
        RUNS.clear()
        assert summed(x) == 28.0
        assert len(RUNS) == 15
    finally:
        one.put_back("")


class TooLong(Exception):
    """What a handler raises."""


def ticks(x: Any) -> Any:
    if SECONDS:
        signal.setitimer(signal.ITIMER_REAL, SECONDS.pop())
        while x[0] == 0.0:
            pass
    return x * 2 + x[::-1]


SECONDS: list[float] = []


def test_what_a_handler_raises_ends_a_call_on_trial() -> None:
    def handler(*_: object) -> None:
        raise TooLong

    x = np.zeros(100_000)
    one = hot(doubled_in_place)
    for _ in range(2):
        doubled_in_place(x)
    one.compile(10.0)
    one._plain = ticks  # type: ignore[assignment]  # which takes too long, once
    SECONDS.append(1e-3)
    before = signal.signal(signal.SIGALRM, handler)
    try:
        with pytest.raises(TooLong) as raised:
            doubled_in_place(x)
        names = [each.name for each in traceback.extract_tb(raised.value.__traceback__)]
        own = "test_what_a_handler_raises_ends_a_call_on_trial"
        assert names == [own, "doubled_in_place", "ticks", "handler"]
        assert one.stage == "trial"
    finally:
        signal.signal(signal.SIGALRM, before)
        one.put_back("")


def doubled_in_place(x: Any) -> Any:
    x *= 2
    return x


def test_what_others_may_use_is_not_changed_for_a_trial() -> None:
    x = np.arange(5.0)
    for function, stage in ((doubled_in_place, "over"), (added, "trial")):
        found = asking(function.__code__)
        assert found is not None
        one = HotFunction(function, found, is_shared=lambda: True)  # type: ignore[arg-type]
        for _ in range(2):
            function(x)
        one.compile(10.0)
        before = x.copy()
        function(x)
        assert one.stage == stage
        one.put_back("")
    assert x.tolist() == before.tolist() == (np.arange(5.0) * 8).tolist()


class Holder:
    def __init__(self) -> None:
        self.now, self.count = np.arange(3.0), 0
        self.others = [np.ones(3) for _ in range(100)]

    def go_on(self) -> None:
        self.now = self.now * 2
        self.count += 1


def test_a_trial_keeps_only_what_the_call_changes() -> None:
    holder = Holder()
    one = hot(Holder.go_on)
    for _ in range(2):
        holder.go_on()
    one.compile(10.0)
    call = VerifiedCall(
        one._plain, one._state.variants[0], Options(math="exact"), (holder,), {}, of_effects=True
    )
    assert len(call.before._kept) == 1
    for _ in range(4):
        holder.go_on()
    one.put_back("")
    assert holder.now.tolist() == [0.0, 64.0, 128.0]
    assert holder.count == 6
    assert not one.reason.startswith("its result")


def test_code_that_the_program_gives_a_function_stays() -> None:
    plain = added.__code__
    one = hot(added)
    added.__code__ = doubled_in_place.__code__
    one.put_back("")
    assert added.__code__ is doubled_in_place.__code__
    added.__code__ = plain


def adding(shift: Any) -> Any:
    def shifted(x: Any) -> Any:
        return x + shift

    return shifted


def test_a_function_that_is_let_go_is_freed() -> None:
    shift = np.ones(3)
    function, alive = adding(shift), weakref.ref(shift)
    one = hot(function)
    for _ in range(2):
        function(shift)
    one.compile(10.0)
    one.let_go()
    del function, shift
    gc.collect()
    assert alive() is None


def test_pickled_code_of_a_function_needs_no_fxc() -> None:
    one = hot(added)
    consts = added.__code__.co_consts
    one.put_back("")
    placed = [each for each in consts if each is one or each is NO_ANSWER]
    place, nothing = pickle.loads(pickle.dumps(placed))
    assert place.answer(1, a=2) is nothing is ...


def test_what_is_wrong_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.verifying.test_bisect import BUGS

    x = np.arange(5.0)
    wanted = added(x).tolist()
    one = hot(added)
    for _ in range(2):
        added(x)
    with monkeypatch.context() as patch:
        BUGS["functionalize"](patch)
        one.compile(10.0)
    assert added(x).tolist() == wanted
    assert one.stage == "over"


def test_warnings_of_the_thread_are_apart() -> None:
    told: list[Any] = []
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        filters = list(warnings.filters)

        def compile_beside() -> None:
            with warnings_apart():
                with warnings.catch_warnings(record=True) as own:
                    warnings.simplefilter("ignore")
                    warnings.warn("beside", stacklevel=1)
                    told.extend(own or ())
                assert warnings.filters == filters

        thread = threading.Thread(target=compile_beside)
        thread.start()
        thread.join()
        warnings.warn("here", stacklevel=1)
    assert [str(each.message) for each in told] == ["beside"]
    assert [str(each.message) for each in heard] == ["here"]
    assert warnings.catch_warnings.__module__ == "warnings"


def test_python_still_knows_which_warnings_it_has_shown() -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("default")
        watch = _Watch()
        for _ in range(2):
            warnings.warn("once", stacklevel=1)
            for one in watch.take_up(scaled.__code__, scaled.__globals__):
                one.asked = (np.ones(3),), {}
                watch.compile(one, PLACE)
                one.put_back("")
    assert watch.spent > 0
    assert [str(each.message) for each in heard] == ["once"]


# ---------------------------------------------------------------- what is compiled first


def timed(x: Any) -> Any:
    return inner(x)


def inner(x: Any) -> Any:
    return sys._getframe()


_TWO = ("twice_timed", "timed")


def twice_timed(x: Any) -> Any:
    return timed(x)


@pytest.fixture
def on_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What one run keeps on disk the next one finds."""
    monkeypatch.setattr(fxc.config, "cache", True)
    monkeypatch.setattr(fxc.config, "cache_dir", str(tmp_path))
    monkeypatch.setattr("fxc.cache.folder._failures", 0)  # of tests before


@pytest.mark.usefixtures("on_disk")
def test_what_an_earlier_run_has_put_back_is_left_for_some_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seconds = 2.0
    monkeypatch.setattr(_Watch, "elapsed", lambda _: seconds)
    frame = twice_timed(0)

    def run(stage: str, reason: str = "", lasts: float = 5.0) -> set[str]:
        """What is taken up in a run in which ``timed`` ends so, and ``twice_timed`` is not called."""
        nonlocal seconds
        began, watch = seconds, _Watch()
        watch.looks.count = 20
        for _ in range(20):
            watch.looks.note(watch.places(frame))
        watch.work()
        taken = {name for (*_, name) in watch.hot if name in _TWO}
        for (*_, name), some in watch.hot.items():
            for each in some:
                each.put_back(reason)
                each.stage = stage if name == "timed" else "counting"
        seconds = lasts * began
        watch.end()
        seconds = began
        for each in watch.all_hot():
            each.put_back("")
        return taken

    assert run("asked", lasts=1.5) == set(_TWO)
    assert run("asked") == set(_TWO)  # as nothing was known after so short a time
    assert run("over", "it is slow") == {"timed"}  # what was not decided is tried again
    assert run("over") == set()
    seconds = 11.0
    assert run("live") == set(_TWO)
    seconds = 2.0
    assert run("live") == {"timed"}
    day = time.time() + 90_000
    monkeypatch.setattr(time, "time", lambda: day)
    assert run("live") == set(_TWO)


def test_the_innermost_function_is_compiled_first(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = timed(0)
    watch = _Watch()
    monkeypatch.setattr(watch, "elapsed", lambda: 100.0)
    compiled: list[Any] = []
    monkeypatch.setattr(watch, "compile", lambda one, place: compiled.append((one, place[-1])))
    known = {
        "stage": "asked",
        "unkept": [],
        "gained": 0.0,
        "rate": 0.0,
        "was_in_vain": False,
        "needed": 0.0,
    }
    asks = {name: SimpleNamespace(**known) for name in ("timed", "inner")}
    some = {name: [one] for name, one in asks.items()}
    monkeypatch.setattr(watch, "take_up", lambda code, _: some.get(code.co_name, []))
    for _ in range(20):
        watch.work()
        assert not compiled
        watch.looks.count += 1
        watch.looks.note(watch.places(frame))
    watch.work()
    assert compiled == [(asks["inner"], "inner")]
    asks["inner"].stage = "live"
    watch.work()
    assert len(compiled) == 1  # what calls it was slow because of it
    for _ in range(20):
        watch.looks.count += 1
        watch.looks.note(watch.places(frame.f_back))
    watch.work()
    assert compiled[1:] == [(asks["timed"], "timed")]


PLACE = ("heat.py", 3, "added")


def test_what_takes_long_to_compile_is_compiled_later(monkeypatch: pytest.MonkeyPatch) -> None:
    watch, one = _Watch(), hot(added)
    seconds = [10.0]
    monkeypatch.setattr(watch, "elapsed", lambda: seconds[-1])

    def put_off(longest: float, share: float) -> None:
        assert (round(longest, 6), share) == (0.4, 0.0)
        raise PutOff(2.0)

    monkeypatch.setattr(one, "compile", put_off)
    watch.compile(one, PLACE)
    watch.hot = {PLACE: [one]}
    watch.looks.count = 20
    try:
        assert one.verdict == "compiling takes 2.00 s"  # later runs need not find that out
        for now, stage in ((49.9, "waiting"), (50.1, "counting")):
            seconds.append(now)
            watch.work()
            assert one.stage == stage
        assert one.answer is one
        watch.compiled, watch.verdicts[PLACE] = [0.1] * 9, None
        watch.looks.count, watch.looks.there[PLACE] = 10, 10
        for now, is_time in ((6.8, False), (7.0, True)):  # it is known to take two seconds
            seconds.append(now)
            assert watch.may_compile(PLACE) is is_time
        assert one.was_in_vain  # for what others may hope
    finally:
        one.put_back("")


def test_a_compilation_ends_soon_after_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    watch, one = _Watch(), hot(added)
    one.asked = (np.ones(3),), {}
    watch.is_over = True
    watch.compile(one, PLACE)
    try:
        assert (one.stage, one.verdict, one.served) == ("waiting", None, 0)
    finally:
        one.put_back("")


def test_what_is_spent_is_little_beside_what_has_passed_and_what_is_gained(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watch = _Watch()
    watch.compiled, watch.verdicts[PLACE] = [0.1] * 9, None
    monkeypatch.setattr(watch, "elapsed", lambda: 4.0)
    assert watch.room(PLACE) == pytest.approx(0.16)
    watch.looks.count, watch.looks.there[PLACE] = 10, 5
    assert watch.room(PLACE) == pytest.approx(0.16 + 4.0 * 0.5**2 * 0.25)
    watch.spent = 0.31
    assert watch.may_compile(PLACE)
    watch.spent = 0.32
    assert not watch.may_compile(PLACE)
    watch.verdicts[PLACE] = ""  # it is on disk
    assert watch.may_compile(PLACE)
    assert watch.room(PLACE) == pytest.approx(0.16 + 4.0 * 0.5 * 0.4 - 0.32)
    watch.last = 5.0  # of which one is left
    assert watch.room(PLACE) == pytest.approx(0.16 + 1.0 * 0.5 * 0.4 - 0.32)
    watch.last, watch.spent = 0.0, 0.0
    watch.verdicts = {PLACE: too_long(0.42)}  # not in vain: there is time for so much, or not
    assert watch.room(PLACE) == pytest.approx(0.16 + 4.0 * 0.5**2 * 0.25)
    assert not watch.may_compile(PLACE)
    watch.verdicts = {PLACE: too_long(0.40)}
    assert watch.may_compile(PLACE)
    watch.verdicts = {("", 0, ""): "it is slow"}
    assert watch.room(PLACE) == pytest.approx(0.16 + 4.0 * 0.5**2 * 0.25 * 0.33)
    other = SimpleNamespace(rate=0.5, gained=0.5, was_in_vain=True)
    watch.hot = {("other", 0, ""): [other]}  # type: ignore[list-item]
    hoped = 4.0 * (0.5**2 * 0.25 * 0.33**3 + 0.5 * 0.5)
    assert watch.room(PLACE) == pytest.approx(0.16 + 0.5 + hoped)


def test_what_takes_long_to_capture_is_put_off() -> None:
    one = hot(added)
    one.asked = (np.ones(3),), {}
    try:
        with pytest.raises(PutOff):
            one.compile(-1.0)
    finally:
        one.put_back("")


@pytest.mark.usefixtures("on_disk")
def test_the_next_run_knows_what_is_on_disk() -> None:
    known: dict[str, Any] = {"since": 0.0, "is_called_once": False, "is_on_disk": False}
    code = added.__code__
    for verdict_of, is_on_disk, wanted in (
        ("it is slow", False, "it is slow"),
        (None, False, "it is slow"),  # no news
        ("", False, None),
        ("", True, ""),
        (None, True, ""),
        ("it is slow", False, "it is slow"),
    ):
        found = SimpleNamespace(**{**known, "verdict": verdict_of, "is_on_disk": is_on_disk})
        verdict_now(code, verdict(code), [found], 5.0)
        assert verdict(code) == wanted


@pytest.mark.usefixtures("on_disk")
def test_the_next_run_knows_how_long_a_script_took(monkeypatch: pytest.MonkeyPatch) -> None:
    assert seconds_before() == 0
    keep_seconds(3.0, 0.0)
    assert seconds_before() == 3.0
    keep_seconds(3.1, 3.0)  # no news
    assert seconds_before() == 3.0
    monkeypatch.setattr(sys, "orig_argv", ["python", "other.py"])
    assert seconds_before() == 0


def test_a_function_that_waits_for_its_turn_asks_what_is_quickest() -> None:
    one = hot(added)
    try:
        for _ in range(3):
            added(np.ones(3))
        assert (one.stage, one.calls) == ("asked", 2)
        assert one.answer is not one
    finally:
        one.put_back("")


def test_a_fork_waits_for_what_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    watch, begun, ended = _Watch(), threading.Event(), []

    def work() -> None:
        begun.set()
        time.sleep(0.05)  # the fork has begun
        with llvm_lock:
            ended.append(time.monotonic())
        watch.is_over = True

    for name, answer in (("pause", 0.0), ("look", None), ("frequent", ["place"])):
        monkeypatch.setattr(watch, name, lambda answer=answer: answer)
    monkeypatch.setattr(watch, "work", work)
    thread = threading.Thread(target=watch.run)
    thread.start()
    assert begun.wait(10)
    start = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns of forks beside threads
        child = os.fork()
    if child == 0:
        os._exit(0 if ended else 1)
    assert os.waitpid(child, 0)[1] == 0
    thread.join()
    assert start < ended[0] < start + 10, "each waited for the other to lose patience"


def test_signals_are_left_to_the_program() -> None:
    found: list[Any] = []

    def run() -> None:
        _leave_signals()
        found.append(signal.pthread_sigmask(signal.SIG_BLOCK, ()))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert signal.SIGINT in found[0]


# ---------------------------------------------------------------- what is said


def test_the_line_says_what_was_gained_or_why_nothing() -> None:
    def seen(**what: Any) -> Any:
        known = {"gained": 0.0, "reason": "", "times": (2.0, 1.0), "is_called_once": False}
        return SimpleNamespace(function=added, **{**known, **what})

    place = ("/a/heat.py", 3, "main")
    top = ("/a/heat.py", 1, "<module>")
    gained = seen(gained=3.0)
    assert summary({place: [gained]}, {}, {}) == "about 3.0 s saved: added 2.0 times as fast"
    refused = {place: [seen(reason="1.1 times as fast")]}
    told = "nothing was gained; added was put back: 1.1 times as fast"
    assert summary(refused, {(place, 5): 90}, {}) == told
    told = "nothing was gained: most of the time was spent at the top level, at heat.py:9; "
    slow = {(top, 8): 20, (top, 9): 50, (place, 5): 30}
    assert summary({}, slow, {}) == f"{told}functions are compiled"
    told = "nothing was gained: most of the time was spent in one call of main, at heat.py:5; "
    once = {place: [seen(is_called_once=True)]}
    told += "functions that are called again are compiled"
    assert summary(once, {(place, 5): 90}, {}) == told
    told = "nothing was gained; main was left: it was called once in an earlier run"
    assert summary({}, {}, {place: "it was called once", top: ""}) == told
    told = "nothing was gained: the script ended before added had been compared"
    assert summary({place: [seen()]}, {}, {}) == told
    told = "nothing was gained: no function that uses NumPy took enough time"
    assert summary({}, {}, {}) == told


def test_a_line_that_code_has_not_is_not_named() -> None:
    top = ("/a/heat.py", 1, "<module>")
    assert "heat.py:9;" in summary({}, {(top, None): 60, (top, 9): 40}, {})
    assert "heat.py:1;" in summary({}, {(top, None): 60}, {})


def test_a_page_tells_of_what_was_compiled(tmp_path: Path) -> None:
    reported = Reported()
    with reported.compiling():
        fxc.compile(added, math="exact")(np.arange(3.0))
    out = tmp_path / "page.html"
    assert reported.write(str(out), "heat.py") == f"{out}: 1 compilation"
    assert "added" in out.read_text()
    assert not Path(reported.folder).exists()
    assert _Watch(str(out)).page() == f"{out} is not written: nothing was compiled"


def test_the_line_is_not_written_into_a_file_of_the_scripts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream, status = io.StringIO(), _status()
    assert status is not None
    monkeypatch.setattr(sys, "__stderr__", stream)
    say(["nothing"], os.stat(tmp_path))
    assert stream.getvalue() == ""
    say(["some", "more"], status)
    assert stream.getvalue() == "fxc run: some\nfxc run: more\n"
    monkeypatch.setattr(sys, "__stderr__", None)
    say(["nothing"], status)


# ---------------------------------------------------------------- the command


@pytest.mark.parametrize(
    ("script", "arguments"),
    [("errors", ["3"]), ("processes", ["5"]), ("files", ["20", "50"])],
)
def test_output_is_equal(script: str, arguments: list[str]) -> None:
    assert difference(ran(script, arguments, False), ran(script, arguments, True)) == ""


def test_the_process_is_as_with_python(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        textwrap.dedent("""
        import os, sys, threading, traceback
        print(sys.argv, sys.path[:2], __name__, __file__, __spec__ and __spec__.name)
        print(sys.orig_argv[1:])
        print("fxc" in sys.modules, getattr(sys.modules.get("sitecustomize"), "__file__", ""))
        print(threading.active_count(), threading.main_thread().name)
        print(sorted(name for name in os.environ if "FXC" in name), os.environ["PYTHONPATH"])
        traceback.print_stack()
        sys.exit(7)
        """)
    )
    env = {"PYTHONPATH": str(ROOT)}
    given = {"cwd": tmp_path, "capture_output": True, "text": True, "env": env}
    for way, last in (([], ""), (["-m"], "")):
        script = [*way, "script" if way else "script.py", "-m", "--steps"]
        plain = subprocess.run([sys.executable, *script], **given)  # type: ignore[call-overload]
        command = [sys.executable, "-m", "fxc", "run", "--quiet", *script]
        ours = subprocess.run(command, **given)  # type: ignore[call-overload]
        assert ours.stdout == plain.stdout
        assert ours.stderr == plain.stderr + last
        assert ours.returncode == plain.returncode == 7
    missing = subprocess.run(
        [sys.executable, "-m", "fxc", "run", "there_is_none.py"],
        **given,  # type: ignore[call-overload]
    )
    assert missing.returncode == 2
    assert "there is no file there_is_none.py" in missing.stderr


def test_what_cannot_be_is_said_before_the_script_runs(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("print('it runs')")
    for flags, options, told in (
        (
            [],
            ["-o", str(tmp_path / "none" / "page.html")],
            f"there is no folder {tmp_path / 'none'}",
        ),
        (["-E"], [], "Python's options -E, -I and -S leave out what watches a script"),
    ):
        command = [sys.executable, *flags, "-m", "fxc", "run", *options, str(script)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"fxc run: {told}\n")


def test_the_command_imports_no_numpy() -> None:
    program = "from fxc.cli.main import main\nassert main(['run', 'none.py']) == 2\n"
    program += "import sys\nprint('numpy' in sys.modules)\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "fxc run: there is no file none.py\n")
