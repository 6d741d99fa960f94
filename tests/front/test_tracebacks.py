"""An error of the program shows the program: its frames, and what it was handling."""

from __future__ import annotations

import contextlib
import gc
import math
import subprocess
import sys
import traceback
import warnings
import weakref

import numpy as np
import pytest
from scipy import fft, linalg, signal

import fxc
from fxc.ops import foreign_learning
from fxc.ops.metas import reductions


def shown(call):
    """The frames of what a call raises, below this file's own, and the exceptions it handled."""
    try:
        call()
    except Exception as error:
        frames = [(each.name, each.lineno) for each in traceback.extract_tb(error.__traceback__)]
        contexts, seen = [], error.__context__
        while seen is not None:
            lines = [each.lineno for each in traceback.extract_tb(seen.__traceback__)]
            contexts.append((repr(seen), lines))
            seen = seen.__context__
        return frames[2:], repr(error), contexts, error.__suppress_context__
    raise AssertionError("nothing was raised")


def by_hand(x, n):
    y = x + 1
    if n > 3:
        raise ValueError("no")
    return y[n]


def in_a_helper(x, n):
    return by_hand(x * 2, n) + 1


def while_handling(x, n):
    try:
        return by_hand(x, n)
    except LookupError:
        raise RuntimeError("again") from None


def raised_in_a_handler(x, n):
    try:
        return x.reshape(n + 1)
    except ValueError as error:
        raise KeyError(n) from error


def raised_again(x, n):
    try:
        eval("by_hand(x, n)", {"by_hand": by_hand, "x": x, "n": n})
    except LookupError:
        x = x * 2 + n
        raise


def unknown(*x):
    eval("x", {"x": x})


def failing(x, k):
    unknown(k)
    if eval("k == 0", {"k": k}):
        raise ValueError(f"of {k}")
    return x


def raised_behind_parts(x, n):
    t = 0.0
    try:
        failing(math.sqrt(abs(n)), int(t) % 5)
    except ValueError:
        return later  # noqa: F821


def of_numpy(x, n):
    return np.linalg.inv(x * np.zeros((3, 1))) + n


@pytest.mark.parametrize(
    "program",
    [
        by_hand,
        in_a_helper,
        while_handling,
        raised_in_a_handler,
        raised_again,
        raised_behind_parts,
        of_numpy,
    ],
)
@pytest.mark.parametrize("n", [3, 5])
@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_frames_and_contexts(program, n):
    compiled = fxc.compile(program)
    expected = shown(lambda: program(np.ones(3), n))
    for _ in range(3):
        assert shown(lambda: compiled(np.ones(3), n)) == expected


def test_what_the_caller_handles_stays():
    compiled = fxc.compile(by_hand)

    def handling(fn):
        try:
            raise OSError("mine")
        except OSError:
            fn(np.ones(3), 5)

    *_, contexts, _ = shown(lambda: handling(compiled))
    assert [text for text, _ in contexts] == ["OSError('mine')"]


@pytest.mark.parametrize("given", [(), (1, 2, 3)])
def test_a_call_with_wrong_arguments_shows_no_frames_of_fxc(given):
    frames, text, *_ = shown(lambda: fxc.compile(by_hand)(*given))
    assert frames == []
    assert "by_hand() " in text


def test_an_unknown_option_shows_no_frames_of_fxc():
    frames, text, *_ = shown(lambda: fxc.compile(by_hand, quick=True))
    assert frames == []
    assert "unexpected keyword argument 'quick'" in text


@pytest.mark.parametrize(
    "shows",
    [lambda f, *x: fxc.compile(f).inspect(*x), lambda f, *x: fxc.explain(f)(*x), fxc.export],
)
def test_what_looks_at_a_call_that_raises_shows_one_frame_of_fxc(shows):
    def adds(x, y):
        return x + y

    shown_frames = shown(lambda: shows(adds, np.ones(3), np.ones(4)))[0]
    names = [name for name, _ in shown_frames]
    assert names[-2] == "adds"
    assert len(names) == 2 + ("<lambda>" in names)


LINES = """
import linecache
import fxc
for function in (fxc.compile, fxc.Compiled._eager, fxc.Compiled._take):
    code = function.__code__
    linecache.lazycache(code.co_filename, function.__globals__)
    found = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    print(next(line for line in found if "def " in line).split("(")[0].strip())
"""


def test_frames_of_what_callers_look_past_show_lines_of_their_own_modules():
    # In a process of its own: pytest, which has fxc as a plugin, loads it without its lines.
    found = subprocess.run([sys.executable, "-c", LINES], capture_output=True, text=True)
    assert found.stdout.splitlines() == ["def run", "def _eager", "def _take"], found.stderr


def test_errors_of_fxc_have_no_frames_of_it():
    compiled = fxc.compile(lambda x: input(x), fullgraph=True)
    frames, *_ = shown(lambda: compiled(np.ones(3)))
    assert frames == []


def test_an_exception_that_holds_values_of_the_capture_is_logged(caplog, capsys):
    def program(x):
        y = x * 2
        if x.shape[0] == 3:
            raise ValueError("bad", y, y.sum())
        return y

    caplog.set_level("INFO", "fxc")
    compiled = fxc.compile(program)
    for _ in range(2):
        with pytest.raises(ValueError, match="bad") as caught:
            compiled(np.ones(3))
        assert caught.value.args[2] == 6.0
    assert "program: runs as plain NumPy: ValueError" in caplog.text
    assert "Logging error" not in capsys.readouterr().err


# ---------------------------------------------------------------- what they hold


def least(x):
    return np.argmax(x, axis=0) + 1


def inverse_of_ones(x):
    return np.linalg.inv(np.ones((2, 2)) * x[0])


def factor_of_ones(x):
    return linalg.cholesky(x[None] * x[:, None])


def peaks(x):
    return signal.find_peaks(x)[0]


def transform_of_nothing(x):
    return fft.fft(x[:0]) * 2


def beyond_handled(x):
    try:
        return x[100]
    except IndexError:
        return x[0]


@pytest.mark.parametrize(
    "function",
    [least, inverse_of_ones, factor_of_ones, peaks, transform_of_nothing, beyond_handled],
)
def test_no_exception_keeps_what_its_callers_hold(function, monkeypatch):
    compiled = fxc.compile(function)
    reductions._failure_of_nothing.cache_clear()
    monkeypatch.setattr(foreign_learning, "_known", {})

    def called() -> weakref.ref:
        x = np.ones(5)
        for _ in range(2):
            with contextlib.suppress(ValueError, np.linalg.LinAlgError), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compiled(x)
        return weakref.ref(x)

    gc.collect()
    gc.disable()  # nor until garbage is next looked for
    try:
        assert called()() is None
    finally:
        gc.enable()
