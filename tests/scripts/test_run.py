"""``python -m fxc run``: the script and its output stay as they are, and its functions get faster."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import textwrap
import threading
import traceback
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fxc
from benchmarks.scripts.compared import difference, ran
from fxc.scripts.hot import HotFunction
from fxc.scripts.swapping import answering, asking, functions_of
from fxc.scripts.warnings_apart import warnings_apart
from fxc.scripts.watching import _Watch

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
    from fxc.ir.errors import MISSED

    seen: list[Any] = []

    def answer(*args: Any, **kwargs: Any) -> Any:
        seen.append((args, kwargs))
        return MISSED

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
    from fxc.ir.errors import MISSED

    def text() -> str:
        try:
            raises(1)
        except ValueError:
            return traceback.format_exc()
        return ""

    plain = text()
    before = asked(raises, lambda x: MISSED)
    try:
        assert text() == plain
    finally:
        raises.__code__ = before


def test_methods_and_closures_ask() -> None:
    from fxc.ir.errors import MISSED

    before = asked(Box.twice, lambda self: MISSED)
    try:
        assert Box(2).twice() == (Box, 4)
    finally:
        Box.twice.__code__ = before
    one, other = counter(), counter()
    assert functions_of(one.__code__) in ([one, other], [other, one])
    asked(one, lambda x: MISSED)
    assert [one(1), one(1), other(1)] == [2, 3, 2]


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
        assert one.saved > 0
        with pytest.raises(TypeError) as raised:
            walked(3)
        assert [each.name for each in traceback.extract_tb(raised.value.__traceback__)] == [
            "test_a_hot_function_is_compiled_compared_and_used",
            "walked",
        ]
        assert walked(np.arange(3)) == 1.5  # another dtype: the statements run
    finally:
        one.put_back()
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
        for _ in range(2):
            walked(x)
        one.compile(10.0)
        for _ in range(3):
            walked(x)
        assert one.stage == "live"
        assert caller(x) == wanted
        assert caller.cache_info().variants == 1  # as its code is the same
    finally:
        one.put_back()
    assert walked.__code__ is plain


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


# ---------------------------------------------------------------- what is compiled first


def timed(x: Any) -> Any:
    return inner(x)


def inner(x: Any) -> Any:
    return sys._getframe()


def test_the_innermost_function_is_compiled_first(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = timed(0)
    watch = _Watch()
    monkeypatch.setattr(watch, "may_spend", lambda: True)
    compiled: list[Any] = []
    monkeypatch.setattr(watch, "compile", lambda one, share: compiled.append((one, share)))
    asks = {name: SimpleNamespace(stage="asked") for name in ("timed", "inner")}
    callers = {timed.__code__, inner.__code__}
    monkeypatch.setattr(watch, "is_programs", lambda code: code in callers)
    monkeypatch.setattr(watch, "take_up", lambda code: [asks[code.co_name]])
    for _ in range(20):
        watch.work()
        assert not compiled
        watch.looks.count += 1
        watch.looks.note(watch.places(frame))
    watch.work()
    assert compiled == [(asks["inner"], 1.0)]
    asks["inner"].stage = "live"
    watch.work()
    assert len(compiled) == 1  # what calls it was slow because of it
    for _ in range(20):
        watch.looks.count += 1
        watch.looks.note(watch.places(frame.f_back))
    watch.work()
    assert compiled[1:] == [(asks["timed"], 1.0)]


def test_half_a_second_and_a_share_of_the_time_may_be_spent() -> None:
    watch = _Watch()
    watch.start -= 4
    watch.spent = 0.65
    assert watch.may_spend()
    watch.spent = 0.75
    assert not watch.may_spend()


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
        print("fxc" in sys.modules, threading.active_count(), threading.main_thread().name)
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


def test_the_command_imports_no_numpy() -> None:
    program = "from fxc.cli.main import main\nassert main(['run', 'none.py']) == 2\n"
    program += "import sys\nprint('numpy' in sys.modules)\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "fxc run: there is no file none.py\n")
