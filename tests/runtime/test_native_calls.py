"""Calls that native code takes whole: what they give, and when they leave it to Python."""

from __future__ import annotations

import copy
import ctypes
import functools
import gc
import inspect
import logging
import math
import operator
import pickle
import signal
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import fxc
import fxc.compilations.native_calls
import fxc.compilations.native_texts
import fxc.compilations.state
import fxc.compilations.variants
import fxc.native.flagged
from fxc.calling import hot_sizes as calling_hot_sizes
from fxc.compilations import hot_sizes
from fxc.ir.errors import InternalError
from fxc.ir.objects import HAS_VECTORCALL, IS_METHOD, types_are_as_known
from fxc.native.large_arrays import new_array_function
from fxc.runtime.engine import Engine
from fxc.runtime.notice import ERRSTATE

Call = tuple[Any, ...]


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Native calls are made after the second call, not after thousands."""
    monkeypatch.setattr(fxc.compilations.variants, "OFTEN", 1)
    monkeypatch.setattr(fxc.native.flagged, "YOUNG", 0)  # what is updated is not copied


def is_native(program: Any) -> bool:
    """Whether native code has taken a call of each variant."""
    variants = program._state.variants
    return bool(variants) and all(v.native is not None and v.native.calls for v in variants)


def seen(x: Any) -> Any:
    """What shows of a result, or of an argument."""
    if isinstance(x, tuple | list):
        return type(x), [seen(item) for item in x]
    if isinstance(x, dict):
        return [(key, seen(item)) for key, item in x.items()]
    if isinstance(x, np.ndarray):
        return type(x), x.dtype.str, x.shape, x.strides, x.tobytes("A"), x.flags.num & 0x507
    if isinstance(x, np.generic):
        return type(x), x.tobytes()
    return type(x), repr(x)


def outcome(function: Callable[..., Any], args: Call, kwargs: dict[str, Any]) -> Any:
    """What comes out of a call, of its arguments too, and which of them it gives back.

    An only argument may be a function that makes them all.
    """
    args = args[0]() if callable(args[0]) else copy.deepcopy(args)
    try:
        result = function(*args, **kwargs)
    except Exception as error:
        return type(error), str(error), seen(args)
    parts = result if isinstance(result, tuple) else (result,)
    same = [[part is given for given in args] for part in parts if isinstance(part, np.ndarray)]
    return seen(result), seen(args), same


def agrees(program: Any, *args: Any, **kwargs: Any) -> None:
    """The compiled function does what the plain one does."""
    expected = outcome(program.__wrapped__, args, kwargs)
    assert outcome(program, args, kwargs) == expected


def become_native(
    function: Callable[..., Any], *args: Any, fullgraph: bool = True, **kwargs: Any
) -> Any:
    """Compiled, and called until native code takes the calls."""
    program = fxc.compile(function, fullgraph=fullgraph)
    for number in range(4):
        agrees(program, *args, **kwargs)
        assert program.cache_info().native_calls == number + 1
    assert program.cache_info().eager_calls == 0
    assert is_native(program)
    return program


def a(*shape: int, dtype: Any = np.float64, order: Any = "C") -> np.ndarray:
    return np.asarray(np.arange(math.prod(shape)).reshape(shape) + 1, dtype=dtype, order=order)


# ------------------------------------------------------------------ what calls give


def bisection(x):
    lo, hi = 0.0, 2.0
    for _ in range(30):
        mid = 0.5 * (lo + hi)
        if mid * mid > x:
            hi = mid
        else:
            lo = mid
    return lo


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def add_one(x):
    return x + 1


def add_into(x, y):
    x += 2 * y


def sum_and_more(x):
    return x.sum(), None, (x, x * 2), 3


def write_and_give(x, y):
    x[1:] = y[:-1]
    return x


def count_positive(x):
    n = 0
    for v in x:
        if v > 0:
            n += 1
    return n


def elements(x, n):
    for i in range(n):
        x[i] = x[i] * n
    return n, x.size + n, x


def many_temporaries(x):
    return np.sort(x * 2)[::-1] + x.cumsum()


def outer(x, y):
    return x[:, None] * y + 1


def with_options(x, *, scale, shift=2.0):
    return x * scale + shift


def root(x, y):
    return math.sqrt(x) + y


def lists(x):
    return [x + 1, {"a": x * 2}]


def views(x):
    y = x * 2
    x += 1
    return x[1:], y.T, y[:, None], y[::-1, 1:], y[:, 0] if y.size else None, x.reshape(-1), y


def positive(x):
    return x[x > 0]


def positive_rows(x):
    return x[x[:, 0] > 0], x


def listed(x):
    found = []
    for v in x:
        if v > 0:
            found.append(v * 2)
    return found, len(found)


def warns(x, n):
    if n < 1:
        warnings.warn("less than 1")  # noqa: B028
    return x * n


def two_sizes(x):
    above = np.sort(x[x > 0])
    small = above[above < 4]
    return small, above.cumsum(), np.outer(small, above)


CALLS: list[tuple[Callable[..., Any], Call]] = [
    (bisection, (1.5,)),
    (bisection, (np.float64(1.5),)),
    (bisection, (np.float32(1.5),)),
    (collatz, (27,)),
    (add_one, (2.5,)),
    (add_one, (7,)),
    *((add_one, (kind(3),)) for kind in (np.int8, np.uint8, np.int64, np.uint64, np.int16)),
    (add_one, (np.bool_(True),)),
    (add_one, (True,)),
    (add_one, (1.5 - 2j,)),
    (add_one, (np.complex64(1 - 2j),)),
    (add_one, (np.complex128(1 - 2j),)),
    *((add_one, (a(3, 4, dtype=kind),)) for kind in "?bhilBHILfdFD"),
    (add_one, (a(3, 4, order="F"),)),
    (add_one, (a(6, 4)[::2, ::-1],)),
    (add_one, (a(0, 3),)),
    (add_one, (np.array(2.0),)),
    (add_one, (a(2, 3, 4).transpose(2, 1, 0),)),
    (add_into, (a(5), a(5))),
    (add_into, (a(3, 4, order="F"), a(4))),
    (sum_and_more, (a(4),)),
    (write_and_give, (a(5), -a(5))),
    (count_positive, (a(9) - 4,)),
    (elements, (a(5), 3)),
    (many_temporaries, (a(3000),)),
    (outer, (a(3), a(4))),
    (root, (2.0, a(3))),
    (lists, (a(3),)),
    (lambda x: x * 2, (a(2, 3, 4).transpose(2, 0, 1),)),
    (lambda x: x * 2, (a(2, 0, 4).transpose(2, 0, 1),)),
    (views, (a(3, 4),)),
    (views, (a(3, 0),)),
    (lambda x, n: (x[n:], x[:n:-1], x[n]), (a(5, 2), 2)),
    (lambda x, n: (x[n:], x[:n:-1]), (a(5), 0)),
    *((lambda x, n: (x[n::-2], x[:n:-2], x[n:0:-1]), (a(5), n)) for n in (1, -1, -5, -6, -9)),
    *((positive, (array,)) for array in (a(5) - 3, -a(5), a(0), a(1000) - 3, -a(1000))),
    *((positive_rows, (array,)) for array in (a(5, 3) - 6, -a(5, 3), a(0, 3), a(700, 3))),
    *((np.nonzero, (array,)) for array in (a(5) - 3, np.zeros((2, 3)), a(40, 50) % 3)),
    *((listed, (array,)) for array in (a(5) - 3, -a(5), a(9, dtype="i2") - 3)),
    (two_sizes, (a(9) - 4,)),
    (warns, (a(3), 2)),
]


@pytest.mark.parametrize(("function", "args"), CALLS, ids=lambda x: getattr(x, "__name__", ""))
def test_native_calls_do_what_numpy_does(function: Callable[..., Any], args: Call) -> None:
    become_native(function, *args)


VIEWS: list[Callable[..., Any]] = [
    lambda x, n: x[1:-1, 1:-1].T,
    lambda x, n: x[n:, ::-1],
    lambda x, n: x[::-n, n - 9 :: 3],
    lambda x, n: x[-1:n:-2, 4:2:2],
    lambda x, n: x[n],
    lambda x, n: x[-n, 1:, None],
    lambda x, n: x[n, 2, ...],
    lambda x, n: x[None, :, 2::2, None].transpose(1, 3, 0, 2),
    lambda x, n: np.squeeze(x[n : n + 1, 1:], 0)[::-1],
    lambda x, n: x[n:].reshape(x.shape[0] - n, 1, x.shape[1])[..., ::2],
]


def shown(view: np.ndarray, base: np.ndarray) -> Any:
    """All that a program may see of a view, and whom it keeps."""
    place = view.ctypes.data - base.ctypes.data
    return type(view), view.dtype, view.shape, view.strides, view.flags.num, place


@pytest.mark.parametrize("function", VIEWS)
def test_views_lie_as_numpy_says_and_keep_what_numpy_keeps(function: Callable[..., Any]) -> None:
    memory = a(9, 10)
    read_only = a(5, 6)
    read_only.flags.writeable = False
    records = np.zeros((4, 5), "i4, i4")
    arrays = [
        a(5, 6),
        memory[1:6, ::2],
        memory.T[:4],
        read_only,
        records,
        records["f1"],
        a(4, 5, dtype="U"),
    ]
    arrays += [
        a(3, 4, dtype="?"),
        a(6, 5, order="F"),
        np.lib.stride_tricks.as_strided(a(5), (4, 3)),
    ]
    for x in arrays:
        program = fxc.compile(function, fullgraph=True)
        for _ in range(4):
            made, expected = program(x, 1), function(x, 1)
            assert shown(made, x) == shown(expected, x)
            assert made.dtype is expected.dtype
            assert made.base is expected.base
        assert is_native(program), x


def test_views_keep_one_reference_of_what_they_need() -> None:
    x = np.zeros((4, 5), np.dtype([("a", "i4")]))
    program = become_native(lambda x: x[1:].T, x)
    count = sys.getrefcount(x), sys.getrefcount(x.dtype)
    made = program(x)
    assert (sys.getrefcount(x), sys.getrefcount(x.dtype)) == (count[0] + 1, count[1] + 1)
    del made
    assert (sys.getrefcount(x), sys.getrefcount(x.dtype)) == count


GUARDED: list[tuple[Callable[..., Any], Call]] = [
    (lambda x: np.argsort(x, kind="stable") + 1, (a(5),)),
    (lambda x: (np.argsort(x, kind="stable"), x[1:]), (a(5),)),
]


@pytest.mark.parametrize(("function", "args"), GUARDED)
def test_all_but_the_plan_is_native(function: Callable[..., Any], args: Call) -> None:
    program = fxc.compile(function, fullgraph=True)
    for _ in range(3):
        agrees(program, *args)
    (variant,) = program._state.variants
    assert (variant.native.calls, variant.all_calls) == (1, 3)
    variant.call = None  # Python's way
    for number in range(4, 7):
        agrees(program, *args)
        assert program.cache_info().native_calls == number


@pytest.mark.parametrize(("function", "args"), [*GUARDED, (np.linalg.svd, (np.eye(2),))])
def test_the_plan_is_the_only_function_of_python(function: Callable[..., Any], args: Call) -> None:
    program = fxc.compile(function, fullgraph=True)
    for _ in range(4):
        agrees(program, *args)
    files: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            files.append(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        program(*args)
    finally:
        sys.setprofile(None)
    assert [file for file in files if file.startswith("<fxc")] == ["<fxc plan>"]


def test_what_numpy_says_of_flags_is_heard_by_native_code() -> None:
    def work(x):
        return np.linalg.det(x), x[1:]

    program = fxc.compile(work, fullgraph=True)
    for how in ("warn", "ignore", "raise"):
        with np.errstate(all=how):
            before = ERRSTATE.get()
            for x in (np.eye(2), np.eye(2) * 1e200, np.eye(2), np.eye(2) + 1, np.eye(2) * 1e200):
                outcomes = []
                for each in (program, work):
                    with warnings.catch_warnings(record=True) as told:
                        warnings.simplefilter("always")
                        try:
                            outcome = seen(each(x))
                        except FloatingPointError as error:
                            outcome = str(error)
                    outcomes.append((outcome, [(str(w.message), w.lineno) for w in told]))
                    assert ERRSTATE.get() is before
                assert outcomes[0] == outcomes[1]
    assert program.cache_info().native_calls >= 9
    assert program._state.variants[0].native.calls >= 5


def test_arrays_that_share_memory_become_native() -> None:
    def shift(x, y):
        x[:] = y + 1
        return x, y

    program = fxc.compile(shift, fullgraph=True)
    for number in range(6):
        if number == 3:
            program._state.variants[0].call = None
        memory, expected = a(6), a(6)
        first, second = program(memory[:4], memory[2:])
        shift(expected[:4], expected[2:])
        assert memory.tolist() == expected.tolist()
        assert np.shares_memory(first, second)
        assert first.base is memory


def test_what_the_rest_of_a_call_raises_is_replayed() -> None:
    program = fxc.compile(lambda x, i: (np.argsort(x)[i], x[1:]))
    for _ in range(4):
        agrees(program, a(3), np.array([1]))
    assert program.cache_info().eager_calls == 0
    agrees(program, a(3), np.array([3]))
    assert program.cache_info().eager_calls == 1
    assert program.cache_info().native_calls == 4


def test_keywords() -> None:
    program = become_native(with_options, a(3), scale=2.0)
    other = become_native(with_options, a(3), shift=1.0, scale=2.0)
    for each in (program, other):
        agrees(each, a(3), scale=2.0)
        agrees(each, a(3), scale=3.0, shift=1.0)
        agrees(each, a(3), shift=1.0, scale=3.0)
        agrees(each, a(3), 2.0)
        agrees(each, a(3), wrong=1)


def test_sizes_that_are_symbols() -> None:
    program = fxc.compile(add_into, fullgraph=True, dynamic=True)
    for n in range(2, 9):
        agrees(program, a(n), a(n))
        agrees(program, a(3, n), a(n))
    agrees(program, a(5), a(4))
    assert is_native(program)
    assert program.cache_info().variants == 2
    table = fxc.compile(lambda x, n: np.zeros((n, 2 * n + 1)) + x.sum(), fullgraph=True)
    for n in range(2, 9):
        agrees(table, a(3), n)
    assert is_native(table)


def test_results_are_the_objects_that_they_are() -> None:
    program = become_native(lambda x, n: (x, n), a(3), 10**9)
    x, n = a(3), int("1000000000")
    found = program(x, n)
    assert found[0] is x
    assert found[1] is n
    fresh = become_native(add_one, a(3))
    first, second = fresh(x), fresh(x)
    assert first is not second
    assert not np.shares_memory(first, second)
    assert first.flags.owndata
    assert first.base is None


# ------------------------------------------------------------------ when calls are another's

FACTOR = 2.0


def scaled(x):
    return abs(x * FACTOR)


class Model:
    def __init__(self) -> None:
        self.gain = 2.0
        self.seen: list[Any] = []

    @fxc.compile
    def apply(self, x):
        return x * self.gain

    @fxc.compile
    def keep(self, x):
        self.seen.append(x * 2)
        return x.sum()


def test_a_global_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    program = become_native(scaled, a(3) - 2)
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    agrees(program, a(3) - 2)
    monkeypatch.setitem(globals(), "abs", lambda x: x + 100)
    agrees(program, a(3) - 2)
    monkeypatch.delitem(globals(), "abs")
    monkeypatch.delitem(globals(), "FACTOR")
    agrees(program, a(3) - 2)


def test_a_function_of_a_module_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    import colorsys

    monkeypatch.setattr(colorsys, "gain", lambda x: x * 2, raising=False)
    program = become_native(lambda x: colorsys.gain(x), a(3))  # type: ignore[attr-defined]
    monkeypatch.setattr(colorsys, "gain", lambda x: x * 3)
    agrees(program, a(3))
    monkeypatch.delattr(colorsys, "gain")
    agrees(program, a(3))


def test_a_closure_and_code_that_change() -> None:
    gain = 2.0

    def helper(x):
        return x * gain

    program = become_native(lambda x: helper(x) + 1, a(3))
    gain = 5.0
    agrees(program, a(3))
    helper.__code__ = (lambda x: x - gain).__code__
    agrees(program, a(3))


def test_methods_and_attributes() -> None:
    model = Model()
    for gain in (2.0, 2.0, 2.0, 2.0, 3.0, 3.0, 4):
        model.gain = gain
        assert model.apply(a(3)).tolist() == (a(3) * gain).tolist()
    model.seen = []
    for number in range(6):
        assert model.keep(a(3)) == 6
        assert len(model.seen) == number + 1
    assert Model.keep._state.variants[0].native.calls  # type: ignore[attr-defined]
    assert [x.tolist() for x in model.seen] == [[2, 4, 6]] * 6


OTHERS: dict[str, Callable[[], Call]] = {
    "dtype": lambda: (a(3), a(3, dtype=np.float32)),
    "size": lambda: (a(3), a(4)),
    "ndim": lambda: (a(3), a(3, 1)),
    "strides of the written": lambda: (a(6)[::2], a(3)),
    "strides of the read": lambda: (a(3), a(6)[::2]),
    "no strides": lambda: (a(3), np.broadcast_to(np.array(1.0), (3,))),
    "recarray": lambda: (a(3), a(3).view(np.recarray)),
    "masked": lambda: (np.ma.masked_array(a(3)), a(3)),
    "bytes swapped": lambda: (a(3), a(3).astype(">f8")),
    "not aligned": lambda: (a(3), np.frombuffer(bytes(25), np.float64, offset=1, count=3)),
    "read-only": lambda: (np.frombuffer(bytes(24)), a(3)),
    "float": lambda: (a(3), 2.0),
    "None": lambda: (a(3), None),
    "list": lambda: (a(3), [1, 2, 3]),
    "fewer": lambda: (a(3),),
    "more": lambda: (a(3), a(3), a(3)),
}


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS.keys())
@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_arguments_of_another_kind(make: Callable[[], Call]) -> None:
    program = become_native(add_into, a(3), a(3), fullgraph=False)
    (variant,) = program._state.variants
    calls = variant.all_calls
    agrees(program, make)
    assert variant.all_calls == calls


def test_an_array_that_is_read_only() -> None:
    program = become_native(add_into, a(3), a(3))
    x = a(3)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        program(x, a(3))
    assert x.tolist() == a(3).tolist()


def test_arrays_that_overlap() -> None:
    program = become_native(write_and_give, a(5), a(5))

    def lies(function: Callable[..., Any], first: slice, second: slice) -> list[float]:
        memory = a(10)
        function(memory[first], memory[second])
        return list(memory)

    for lie in [
        (slice(0, 5), slice(1, 6)),
        (slice(1, 6), slice(0, 5)),
        (slice(0, 5), slice(5, 10)),
    ]:
        assert lies(program, *lie) == lies(write_and_give, *lie)
    x = a(5)
    assert program(x, x) is x
    assert x.tolist() == [1, 1, 2, 3, 4]


def test_a_dtype_that_is_another_object() -> None:
    program = become_native(add_one, a(3))
    x = a(3).view(np.dtype(np.float64).newbyteorder("="))
    assert x.dtype is not a(3).dtype
    assert program(x).tolist() == [2, 3, 4]


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_ints_that_do_not_fit() -> None:
    program = become_native(add_one, 7, fullgraph=False)
    for value in (2**63 - 2, 2**63 - 1, 2**63, 2**64 + 7, -(2**63), -1, 0, True):
        agrees(program, value)


# ------------------------------------------------------------------ what goes wrong


def test_what_raises_is_replayed() -> None:
    def pick(x, i, y):
        y += 1
        return x[i] + y

    program = become_native(pick, a(5), np.array([1, 2]), a(2))
    native = program._state.variants[0].native.calls
    for _ in range(2):
        agrees(program, a(5), np.array([1, 7]), a(2))
    assert program.cache_info().eager_calls == 2
    assert program._state.variants[0].native.calls == native
    agrees(program, a(5), np.array([-1, 4]), a(2))
    assert program._state.variants[0].native.calls == native + 1


_FAILS = """declare ptr @PyErr_NoMemory()
define ptr @make(ptr %t, ptr %d, i32 %n, ptr %s, ptr %w, ptr %m, i32 %f, ptr %o) nounwind {{
  %more = load i64, ptr inttoptr (i64 {more} to ptr)
  %rest = sub i64 %more, 1
  store i64 %rest, ptr inttoptr (i64 {more} to ptr)
  %none = icmp eq i64 %rest, 0
  br i1 %none, label %fails, label %makes
fails:
  %raised = call ptr @PyErr_NoMemory()
  ret ptr null
makes:
  %new = inttoptr i64 {new} to ptr
  %made = call ptr %new(ptr %t, ptr %d, i32 %n, ptr %s, ptr %w, ptr %m, i32 %f, ptr %o)
  ret ptr %made
}}
"""


def test_no_memory_behind_an_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy does not redo what has changed an argument: that would change it twice."""

    def shift(x):
        x += 1
        return x[x > 3], x[::-1]

    more = ctypes.c_int64(0)
    new = new_array_function()
    text = _FAILS.format(more=ctypes.addressof(more), new=new)
    fails = Engine(text, b"", (), quick=True)
    module = fxc.compilations.native_calls
    monkeypatch.setattr(module, "new_array_function", lambda: fails.address("make"))
    program = become_native(shift, a(5))
    outcomes = []
    for number in range(1, 5):
        more.value, x = number, a(5)
        try:
            program(x)
        except MemoryError:
            outcomes.append("raises")
        else:
            outcomes.append("gives")
        assert x.tolist() == [2, 3, 4, 5, 6]
    more.value = 0
    assert outcomes == ["gives", "gives", "raises", "gives"]


def test_no_memory_behind_an_effect_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    def shift(x):
        x += 1
        return x[x > 9]

    def empty(shape: Any, dtype: Any) -> np.ndarray:
        if shape == (0,):
            raise MemoryError
        return new(shape, dtype)

    new = np.empty
    monkeypatch.setattr(np, "empty", empty)
    program = fxc.compile(shift, fullgraph=True)
    x = a(5)
    with pytest.raises(MemoryError):
        program(x)
    assert x.tolist() == [2, 3, 4, 5, 6]


def test_no_memory_where_numpy_does_with_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """A buffer has room for the most that there may be."""

    def empty(shape: Any, dtype: Any) -> np.ndarray:
        if shape == (5,):
            raise MemoryError
        return new(shape, dtype)

    new = np.empty
    monkeypatch.setattr(np, "empty", empty)
    program = fxc.compile(lambda x: x * 2, fullgraph=True)
    for _ in range(3):
        assert program(a(5)).tolist() == [2, 4, 6, 8, 10]


def test_a_relation_that_lowering_takes() -> None:
    @fxc.compile(dynamic=True)
    def program(x, y):
        return (x[: y.size] * y).sum() + x[-1]

    for n in (5, 6, 7, 8):
        for m in (2, 5, n):
            agrees(program, a(n), a(m)[: min(n, m)])
    assert is_native(program)


def test_a_handler_of_a_signal_ends_a_native_call() -> None:
    def climb(x, n):
        for i in range(n):
            x[i & 3] += 1
        return x

    program = become_native(climb, np.zeros(4), 5)
    x = np.zeros(4)

    def run() -> None:
        program(x, 10**11)

    def handle(_: int, frame: FrameType | None) -> None:
        if frame is not None and frame.f_code is run.__code__ and x[0] > 0:
            raise KeyboardInterrupt
        signal.setitimer(signal.ITIMER_REAL, 0.005)

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.005)
    try:
        with pytest.raises(KeyboardInterrupt):
            run()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert x[0] > 1000
    assert program.cache_info().native_calls == 4
    assert program.cache_info().eager_calls == 0
    agrees(program, x, 7)


# ------------------------------------------------------------------ the public object


@fxc.compile
def module_level(x, y=2.0):
    """Adds."""
    return x + y


def test_the_public_object_stays_what_it_is() -> None:
    known = weakref.ref(module_level)
    module_level.note = 1  # type: ignore[attr-defined]
    for _ in range(4):
        assert module_level(a(2)).tolist() == [3, 4]
    assert is_native(module_level)
    assert isinstance(module_level, fxc.Compiled)
    assert known() is module_level
    assert module_level.note == 1  # type: ignore[attr-defined]
    assert module_level.__doc__ == "Adds."
    assert str(inspect.signature(module_level)) == "(x, y=2.0)"
    assert pickle.loads(pickle.dumps(module_level)) is module_level
    assert copy.deepcopy(module_level) is copy.copy(module_level) is module_level
    assert repr(module_level) == "<fxc.Compiled module_level>"
    assert module_level.__call__(a(2)).tolist() == [3, 4]
    assert fxc.Compiled.__call__(module_level, a(2)).tolist() == [3, 4]
    assert callable(module_level)

    @functools.wraps(module_level)
    def wrapper(x):
        return -module_level(x)

    assert wrapper(a(2)).tolist() == [-3, -4]
    assert module_level.cache_info().native_calls == 7
    module_level.cache_clear()
    assert type(module_level) is fxc.Compiled
    assert module_level(a(2)).tolist() == [3, 4]
    assert module_level.cache_info() == fxc.CacheInfo(1, 1, 0, {})


def test_variants_make_a_chain() -> None:
    program = fxc.compile(add_one, fullgraph=True)
    given = [2.5, 7, a(3), np.float32(2), a(2, 2)]
    for round_ in range(1, 9):
        for each in given:
            agrees(program, each)
        assert program.cache_info().native_calls == round_ * len(given)
    assert program.cache_info().variants == len(given)
    assert is_native(program)


def test_a_subclass_with_calls_of_its_own_keeps_them() -> None:
    class Logged(fxc.Compiled[Any, Any]):
        count = 0

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            self.count += 1
            return super().__call__(*args, **kwargs)

    program = Logged(add_one, fxc.compilations.state.Options())
    for _ in range(5):
        assert program(2.0) == 3.0
    assert program.count == 5
    assert type(program) is Logged


def test_calls_become_native_when_there_are_many(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(fxc.compilations.variants, "OFTEN", 10)
    monkeypatch.setattr(fxc.native.flagged, "YOUNG", 0)  # what is updated is not copied
    program = fxc.compile(add_one, fullgraph=True)
    for _ in range(10):
        assert type(program) is fxc.Compiled
        program(2.0)
    program(2.0)
    assert type(program) is not fxc.Compiled
    caplog.set_level(logging.DEBUG, "fxc.perf")
    plain = fxc.compile(lambda x: x + 1, backend="numpy")
    for _ in range(14):
        assert plain(a(3)).tolist() == [2, 3, 4]
    assert type(plain) is fxc.Compiled
    assert [r.getMessage() for r in caplog.records] == [
        "<lambda>: its calls stay Python: no native code"
    ]


def test_a_python_with_other_objects_keeps_its_own_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fxc.compilations.native_texts, "objects_are_as_known", lambda: False)
    program = fxc.compile(add_one, fullgraph=True)
    for _ in range(5):
        assert program(2.0) == 3.0
    assert type(program) is fxc.Compiled


def test_the_class_of_native_calls_is_for_one_object() -> None:
    program = become_native(add_one, 2.0)
    kind: Any = type(program)
    other = kind(lambda x: x * 3, fxc.compilations.state.Options())
    assert type(other) is fxc.Compiled
    assert (other(2.0), program(2.0)) == (6.0, 3.0)
    if types_are_as_known():
        with pytest.raises(TypeError, match="not an acceptable base type"):
            type("Another", (kind,), {})


def test_calls_of_all_forms_reach_the_builtin() -> None:
    def f(x, y=1.0, *, z=0.0):
        return x - y * z

    program = become_native(f, 2.0, 3.0, z=4.0)
    before = program.cache_info().native_calls
    args, names = (2.0, 3.0), {"z": 4.0}
    given = partial(program, 2.0)
    results = [
        program(2.0, 3.0, z=4.0),
        program(*args, **names),
        program(*args, z=4.0),
        given(3.0, z=4.0),
        operator.call(program, *args, **names),
        next(program(x, 3.0, z=4.0) for x in [2.0]),
        program.__call__(2.0, 3.0, z=4.0),
    ]
    assert results == [-10.0] * len(results)
    assert program.cache_info().native_calls == before + len(results)


class Scaled:
    def __init__(self, factor: float) -> None:
        self.factor = factor

    @fxc.compile
    def times(self, x):
        return x * 2.0 + 1.0

    @fxc.compile
    def __getitem__(self, x):
        return x - 1.0


def test_a_method_is_called_without_being_bound() -> None:
    scaled = Scaled(3.0)
    for _ in range(8):
        assert (scaled.times(2.0), scaled[2.0]) == (5.0, 1.0)
    program = vars(Scaled)["times"]
    assert is_native(program)
    if types_are_as_known():
        assert type(program).__flags__ & IS_METHOD
    assert Scaled.times is program
    bound = scaled.times
    assert (bound.__self__, bound.__func__) == (scaled, program)
    assert program.__get__(None, Scaled) is program
    assert program.__get__(scaled)(2.0) == bound(2.0) == Scaled.times(scaled, 2.0) == 5.0
    scaled.times = lambda x: -x  # type: ignore[method-assign]
    assert scaled.times(2.0) == -2.0
    before = sys.getrefcount(program), sys.getrefcount(scaled)
    for _ in range(100):
        Scaled.times, program.__get__(scaled), Scaled(1.0).times
    assert (sys.getrefcount(program), sys.getrefcount(scaled)) == before


@pytest.mark.parametrize(
    ("known", "others"),
    [
        (0.0, [-0.0, 0, False]),
        (1000, [1000.0, 1001, True]),
        ("long name", ["another", b"long name"]),
        (math.nan, [1.0, None]),
    ],
)
def test_constants_are_compared_by_type_and_bits(known: Any, others: list[Any]) -> None:
    def shown(x, option):
        return [x + 1.0, option]

    program = fxc.compile(shown, dynamic=False)
    for _ in range(8):
        assert repr(program(2.0, known)) == repr(shown(2.0, known))
    assert is_native(program)
    again = copy.deepcopy([known, "x"])[0]
    for option in (again, *others, known):
        assert repr(program(2.0, option)) == repr(shown(2.0, option))
    assert program.cache_info().eager_calls == 0


def test_a_python_with_other_types_calls_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fxc.compilations.native_calls, "types_are_as_known", lambda: False)
    program = become_native(add_one, 2.0)
    assert not type(program).__flags__ & HAS_VECTORCALL
    assert program(2.0) == 3.0


def test_a_call_may_take_the_class_away_that_it_came_by() -> None:
    """The builtin and its machine code live until the call ends."""

    class Clears:
        def __add__(self, other: object) -> str:
            program.cache_clear()
            gc.collect()
            return "added"

    # What other tests have left takes long to go through, each time: here, and where it is thawed again.
    gc.freeze()
    program: Any = fxc.compile(add_one)
    for _ in range(40):
        for _ in range(3):
            assert program(2.0) == 3.0
        assert is_native(program)
        assert program(Clears()) == "added"


def test_a_bug_costs_speed_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fxc.compilations.native_texts, "emit_call", lambda *_: 1 / 0)
    program = fxc.compile(add_one, fullgraph=True)
    program(2.0)
    with pytest.warns(fxc.CaptureWarning, match="ZeroDivisionError"):
        assert program(2.0) == 3.0
    assert program(2.0) == 3.0


# ------------------------------------------------------------------ memory


def kept(*objects: Any) -> Iterator[int]:
    for each in objects:
        yield sys.getrefcount(each)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (sum_and_more, (a(4),)),
        (lists, (a(4),)),
        (elements, (a(4), 3)),
        (add_into, (a(4), a(4))),
        (root, (2.0, a(3))),
        (scaled, (a(3),)),
        (collatz, (27,)),
        (many_temporaries, (a(3000),)),
        (add_one, (np.complex64(1j),)),
        (lambda x: (np.argsort(x), x[1:]), (a(3),)),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_references_are_given_back(function: Callable[..., Any], args: Call) -> None:
    program = fxc.compile(function, fullgraph=True)
    for _ in range(3):
        program(*args)
    objects = (*args, np.float64, np.dtype(np.float64), None, np, math, FACTOR, program)
    more = [x for v in program._state.variants for x in v.native.objects]
    program(*args)
    before = list(kept(*objects, *more))
    for _ in range(200):
        program(*args)
    assert max(abs(x - y) for x, y in zip(before, kept(*objects, *more), strict=True)) < 50


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads Linux' /proc")
def test_many_calls_take_no_memory() -> None:
    programs = [
        (become_native(f, *x), x) for f, x in [(sum_and_more, (a(99),)), (root, (2.0, 3.0))]
    ]

    def pages() -> int:
        gc.collect()
        return int(Path("/proc/self/statm").read_text().split()[1])

    for program, args in programs:
        before = pages()
        for _ in range(100_000):
            program(*args)
        assert pages() - before < 100  # a byte a call would be 25


def test_a_dropped_function_drops_its_native_calls() -> None:
    program = become_native(lambda x: x + 1, a(3))
    native = weakref.ref(program._state.variants[0].native.engine)
    kind = weakref.ref(type(program))
    call = program.__call__
    del program
    gc.collect()
    assert call(a(3)).tolist() == [2, 3, 4]
    del call
    gc.collect()
    assert native() is None
    assert kind() is None


def test_clearing_and_compiling_during_native_calls() -> None:
    program = fxc.compile(add_one, fullgraph=True)
    wrong: list[Any] = []
    done = threading.Event()

    def call(given: Any, expected: Any) -> None:
        while not done.is_set():
            result = program(given)
            if seen(result) != seen(expected):
                wrong.append(result)

    given = [2.5, a(3), a(2, 2), np.float32(1)]
    threads = [threading.Thread(target=call, args=(x, add_one(x))) for x in given]
    for thread in threads:
        thread.start()
    for _ in range(3):
        program.cache_clear()
        gc.collect()
        program(7)
    done.set()
    for thread in threads:
        thread.join()
    assert wrong == []


def _with_hot_size(
    monkeypatch: pytest.MonkeyPatch, seconds: Callable[[int], float]
) -> fxc.Compiled[..., Any]:
    """A function of which one size is hot, if a call takes so many seconds with so many variants."""

    @fxc.compile
    def totals(x: np.ndarray) -> np.ndarray:
        out = np.zeros(len(x))
        for i in range(len(x)):
            for j in range(x.shape[1]):
                out[i] += x[i, j]
        return out

    monkeypatch.setattr(hot_sizes, "since", lambda start: seconds(len(totals._state.variants)))
    for shape in ((3, 9), (7, 11), *50 * ((5, 6),), *20 * ((8, 7),)):
        x = np.arange(float(np.prod(shape))).reshape(shape)
        np.testing.assert_array_equal(totals(x), x.sum(1))
    return totals


def test_a_size_of_many_calls_gets_code_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    made = _with_hot_size(monkeypatch, lambda variants: 300.0 / variants)
    shapes = [str(each.captured.graph.inputs[0].type) for each in made._state.variants]
    assert shapes == ["f64[3, 9]", "f64[5, 6]", "f64[8, 7]", "f64[x.0, x.1]"]
    assert made.cache_info().eager_calls == 0
    hot = made._state.variants[1]
    assert hot.why == "many calls have these sizes"
    assert hot.native is not None
    assert hot.native.calls > 20


def test_code_for_one_size_goes_if_it_is_no_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    made = _with_hot_size(monkeypatch, lambda variants: 100.0 * variants)
    assert len(made._state.variants) == 2
    assert made.cache_info().native_calls == 72


def test_sizes_of_no_more_time_than_compiling_stay_symbols(monkeypatch: pytest.MonkeyPatch) -> None:
    made = _with_hot_size(monkeypatch, lambda variants: 1e-4)
    assert len(made._state.variants) == 2


def test_a_bug_met_for_one_size_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise InternalError("no code")

    monkeypatch.setattr(calling_hot_sizes, "new_variant", fail)
    with pytest.warns(fxc.CaptureWarning, match="no code for one size"):
        made = _with_hot_size(monkeypatch, lambda variants: 300.0 / variants)
    assert len(made._state.variants) == 2
    assert made.cache_info().native_calls == 72
