"""What programs show beside their results: texts, warnings, tracebacks; and what they leave behind."""

from __future__ import annotations

import gc
import inspect
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import fxc
from tests.wild.seen import difference, watch

Make = Callable[[], tuple[Any, ...]]


def assert_same(program: Callable[..., Any], makes: Sequence[Make], **options: Any) -> Any:
    """Compiled, the program shows what it shows as it is; the compiled function."""
    compiled = fxc.compile(program, **options)
    for make in makes:
        for call in range(2):
            text = difference(watch(program, make()), watch(compiled, make()), 0.0)
            assert not text, f"call {call}: {text}"
    return compiled


def test_texts_that_iterators_give_are_joined():
    def shows(x):
        for row in x:
            print(" ".join(f"{v:8.3f}" for v in row))
        print(", ".join(map(str, x[0])), f"{x[0, 0]:.2f}".join(str(k) for k in range(3)))
        return x.sum()

    def make():
        return (np.arange(6.0).reshape(3, 2),)

    assert assert_same(shows, [make], fullgraph=True).cache_info().native_calls == 2


_closed: list[int] = []


def _rows(x):
    try:
        yield from x
    finally:
        _closed.append(1)
        x[0] = -1


def test_a_capture_leaves_no_generator_that_fails_later(monkeypatch):
    """Their ``finally`` would run where garbage is collected, of arrays of no capture."""

    def first_two(x):
        rows = _rows(x)
        total = next(rows) + next(rows)
        return eval("total + 1", {"total": total})

    ignored: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    compiled = fxc.compile(first_two)
    x = np.arange(4.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fxc.CaptureWarning)
        assert compiled(x) == 2.0
    gc.collect()
    assert not ignored
    assert (_closed.pop(), _closed) == (1, [])
    assert x[0] == -1


def _noted(x):
    try:
        for k in range(3):
            yield x * k
    finally:
        x += 1
        eval("None")


def _begun(x):
    try:
        for k in range(3):
            yield x * k
    finally:
        x += 1


def by_zip(x):
    for y, _ in zip(_begun(x), range(2), strict=False):  # noqa: B007
        pass
    return y + x * 2


def by_enumerate(x):
    for k, y in enumerate(_begun(x)):  # noqa: B007
        if k == 1:
            break
    return y + x * 2


def by_an_expression(x):
    return next(y + 1 for y in _begun(x)) + x * 2


def by_a_loop(x):
    for y in _noted(x):  # noqa: B007
        break
    return y + x * 2


@pytest.mark.parametrize("program", [by_zip, by_enumerate, by_an_expression, by_a_loop])
@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_generators_that_are_left_are_closed_at_once(program, monkeypatch):
    """Whatever has taken their items."""
    ignored: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    assert_same(program, [lambda: (np.arange(3.0),)])
    assert not ignored


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_numpy_warns_of_nothing_that_the_program_has_not_written(dtype):
    def limited(x, n):
        y = np.clip(x, 0, 3)
        for i in range(n):
            y[i] = np.minimum(np.maximum(x[i], 0), 2) + np.modf(x[i])[0]
        return y

    assert_same(limited, [lambda: (np.arange(12, dtype=dtype).reshape(4, 3), 4)], fullgraph=True)


def test_every_warning_names_a_line_of_the_program():
    def opens_twice(x):
        y = x * 2
        first = open(__file__)  # noqa: SIM115
        first.close()
        return y.sum()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fxc.compile(opens_twice)(np.ones(3))
    assert {each.filename for each in caught if each.category is fxc.CaptureWarning} == {__file__}
    assert len(caught) >= 2


def test_tracebacks_of_what_runs_in_python_begin_in_the_program():
    def fails(x, names):
        file = open(__file__)  # noqa: SIM115
        file.close()
        return names.pop(x)

    compiled = fxc.compile(fails)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(4):
            with pytest.raises(KeyError) as raised:
                compiled(1, {})
            frames = traceback.extract_tb(raised.tb)
            assert [frame.name for frame in frames][1:] == ["fails"]


@dataclass(frozen=True)
class Scale:
    factor: float = 1.0

    def __post_init__(self):
        object.__setattr__(self, "twice", 2 * self.factor)

    def total(self, x):
        if not hasattr(self, "_total"):
            object.__setattr__(self, "_total", x.sum() * self.twice)
        return self._total


def test_frozen_objects_that_set_their_attributes():
    def scaled(x, scale, k):
        other = replace(scale, factor=k)
        return x * other.twice, scale.total(x), other.total(x + 1), other

    def make():
        return np.arange(3.0), Scale(0.5), 4.0

    assert assert_same(scaled, [make], fullgraph=True).cache_info().native_calls == 2


def test_frozen_objects_that_are_not_to_be_changed():
    def changed(x, k):
        made = Scale(k)
        x += made.twice
        made.factor = 3.0
        return x

    assert_same(changed, [lambda: (np.arange(3.0), 2.0)])


def test_a_call_that_raises_does_not_ask_for_all_signals(monkeypatch):
    """To ask takes a hundred microseconds."""

    def checked(x, low):
        if not low < 1:
            raise ValueError(f"{low} is too much")
        return x * low

    compiled = fxc.compile(checked)
    for low in (0.25, 0.5, 0.75):
        compiled(np.ones(2), low)
    with monkeypatch.context() as patched:
        patched.setattr(signal, "getsignal", None)
        for low in (1.5, 2.5):
            with pytest.raises(ValueError, match=f"{low} is too much"):
                compiled(np.ones(2), low)


def test_warnings_of_fxc_are_none_that_the_program_catches():
    def caught(x):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            y = 1 / x
            file = open(__file__)  # noqa: SIM115
            file.close()
            y = y + 1
        return y, [str(each.message) for each in found]

    compiled = fxc.compile(caught)
    for _ in range(3):
        with warnings.catch_warnings(record=True) as outside:
            warnings.simplefilter("always")
            _, texts = compiled(np.zeros(2))
        assert texts == ["divide by zero encountered in divide"]
        assert {each.category for each in outside} <= {fxc.CaptureWarning}


def test_warnings_of_fxc_may_be_errors():
    """They come when the function has ended, which then has done everything once."""

    def printed(x):
        file = open(__file__)  # noqa: SIM115
        x += 1
        file.close()

    compiled = fxc.compile(printed)
    x = np.zeros(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", fxc.CaptureWarning)
        with pytest.raises(fxc.CaptureWarning, match=r"io\.open"):
            compiled(x)
        assert x.tolist() == [0, 0]
        with pytest.raises(fxc.CaptureWarning, match="close"):
            compiled(x)
    assert x.tolist() == [1, 1]


def _warns(x, k):
    file = open(__file__)  # noqa: SIM115
    file.close()
    y = x * k
    warnings.warn(f"of {k}", UserWarning, stacklevel=2)
    return y + 1


def test_warnings_of_a_part_name_the_caller_of_the_function():
    compiled = fxc.compile(_warns)
    x = np.ones(2)
    for k in range(1, 6):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            compiled(x, k)
        places = [each.filename for each in caught if each.category is UserWarning]
        lines = {each.lineno for each in caught if each.category is UserWarning}
        assert places == [__file__]
        assert lines == {_line_of_call(compiled)}


def _line_of_call(compiled):
    source, first = inspect.getsourcelines(test_warnings_of_a_part_name_the_caller_of_the_function)
    return first + next(k for k, line in enumerate(source) if "compiled(x, k)" in line)


def test_what_is_refused_of_no_elements_is_captured_of_some():
    def checked(x):
        if len(x) == 0:
            file = open(__file__)  # noqa: SIM115
            file.close()
            return 0.0
        return (x * 2 + 1).sum()

    compiled = fxc.compile(checked)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fxc.CaptureWarning)
        for size in (0, 0, 3, 3, 5, 5, 0):
            assert compiled(np.ones(size)) == checked(np.ones(size))
    info = compiled.cache_info()
    assert (info.native_calls, info.eager_calls) == (4, 3)


class _LoaderOfMain:
    """As that of ``python -m package``: it knows the module by another name than ``__main__``."""

    def get_source(self, name: str) -> str:
        raise ImportError(f"loader for package.__main__ cannot handle {name}")


def test_warnings_in_a_package_that_is_run() -> None:
    names: dict[str, Any] = {"__name__": "__main__", "__loader__": _LoaderOfMain(), "fxc": fxc}
    exec("program = fxc.compile(lambda x: eval('x + 1'))", names)
    with pytest.warns(fxc.CaptureWarning, match="runs as plain NumPy"):
        exec("found = program(1.0)", names)
    assert names["found"] == 2.0
