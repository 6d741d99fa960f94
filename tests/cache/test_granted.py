"""Functions of NumPy and Python that are other ones in the process that restores."""

import builtins
import collections
import functools
import math
import typing
import warnings
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.calling.compiling import captures_begun

pytestmark = pytest.mark.usefixtures("cache")
SUM = np.sum
X = np.arange(1.0, 5.0)


class Seven:
    def __call__(self, x):
        return 7.0


def f(x):
    return np.sum(x) + np.sin(x) * math.sqrt(4.0) + pow(x, 2) + np.linalg.norm(x) + np.pi


def g(x):
    return SUM(x) + 1


def of_typing(x):
    counts = collections.Counter([1, 2, 1])
    return x * counts[1] + collections.OrderedDict(a=x[0])["a"]


def is_captured(function: Any) -> bool:
    """Whether a call is captured, by a function that nothing was compiled of yet."""
    before = captures_begun()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fxc.CaptureWarning)
        assert np.array_equal(fxc.compile(function)(X), function(X))
    return captures_begun() > before


def test_names_that_typing_has_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """``typing`` has another ``Counter``, of a class of Python's: nothing was stored."""
    assert is_captured(of_typing)
    assert not is_captured(of_typing)
    monkeypatch.setattr(typing, "Counter", typing.OrderedDict)
    assert is_captured(of_typing)


def test_what_trusted_modules_have(monkeypatch: pytest.MonkeyPatch) -> None:
    replaced: Any = [
        (np, "sum", lambda x: 7.0),
        (np, "sum", np.prod),
        (np, "sum", functools.update_wrapper(Seven(), np.sum)),
        (np, "sin", np.cos),
        (np, "sin", np.frompyfunc(math.cos, 1, 1)),
        (math, "sqrt", math.exp),
        (builtins, "pow", lambda x, n: x * 3),
        (np.linalg, "norm", lambda x: 3.0),
        (np, "pi", 3.0),
    ]
    assert is_captured(f)
    for where, name, value in replaced:
        with monkeypatch.context() as patch:
            patch.setattr(where, name, value)
            is_captured(f)
    assert not is_captured(f)


def test_what_replaces_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    for k in (2.0, 3.0):
        monkeypatch.setattr(np, "sum", lambda x, k=k: k)
        assert is_captured(f)


def test_what_a_module_has_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_captured(g)
    assert not is_captured(g)
    for value in (np.prod, functools.update_wrapper(Seven(), np.sum), lambda x: 8.0):
        monkeypatch.setattr(np, "sum", value)
        monkeypatch.setitem(globals(), "SUM", value)
        is_captured(g)
