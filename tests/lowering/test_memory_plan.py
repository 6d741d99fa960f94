"""Where temporaries lie, and what ``inspect().memory`` tells of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc


def told(function: Callable[..., Any], *args: Any, dynamic: bool = False) -> str:
    compiled = fxc.compile(function, dynamic=dynamic, fullgraph=True)
    return str(compiled.inspect(*args).memory)


def chain(x):
    a = np.cumsum(x)
    b = a[::-1] + a
    c = np.cumsum(b)
    d = c[::-1] + c
    e = np.cumsum(d)
    return (e[::-1] + e)[:7], d * 2


def test_known_sizes() -> None:
    assert_expected_inline(
        told(chain, np.arange(2000.0)),
        """\
memory 64000: arrays 32000, temporaries 32000
  output b4: 16000
  output b5: 16000
  temp b1: 16000 at 0, statements 0 to 1
  temp b2: 16000 at 16000, statements 1 to 4
  temp b3: 16000 at 0, statements 2 to 3
  statement 0: temporaries 16000
  statements 1 to 3: temporaries 32000  peak
  statement 4: temporaries 16000""",
    )


def test_symbolic_sizes() -> None:
    """Those that do not live at the same time share a place if they are sure to fit."""
    assert_expected_inline(
        told(chain, np.arange(2000.0), dynamic=True),
        """\
memory 16*x.0 + 128*floordiv(8*x.0 + 63, 64): arrays 16*x.0, temporaries 128*floordiv(8*x.0 + 63, 64)
  output b4: 8*x.0
  output b5: 8*x.0
  temp b1: 64*floordiv(8*x.0 + 63, 64) at 0, statements 0 to 1
  temp b2: 64*floordiv(8*x.0 + 63, 64) at 64*floordiv(8*x.0 + 63, 64), statements 1 to 4
  temp b3: 64*floordiv(8*x.0 + 63, 64) at 0, statements 2 to 3
  statement 0: temporaries 64*floordiv(8*x.0 + 63, 64)
  statements 1 to 3: temporaries 128*floordiv(8*x.0 + 63, 64)  peak
  statement 4: temporaries 64*floordiv(8*x.0 + 63, 64)""",
    )


def test_few_temporaries_and_none() -> None:
    assert_expected_inline(
        told(lambda x: np.cumsum(x)[::-1][:5] * 2, np.arange(10.0)),
        """\
memory 168: arrays 40, temporaries 128, in the stack frame
  output b2: 40
  temp b1: 128 at 0, statements 0 to 1
  statements 0 to 1: temporaries 128  peak""",
    )
    assert_expected_inline(
        told(lambda x: x + 1, np.arange(10.0)),
        """\
memory 80: arrays 80, temporaries 0
  output b1: 80
  statement 0: temporaries 0""",
    )


def test_a_size_that_only_the_running_program_knows() -> None:
    def program(x):
        y = np.arange(int(x[0])) * 0.5
        return (np.cumsum(y)[::-1] + y).sum()

    assert "of a size that is known when it runs" in told(program, np.full(9, 3.0))


@pytest.mark.parametrize("size", [0, 1, 2, 7, 8, 9, 63, 64, 65, 1000])
def test_places_that_are_shared_hold_one_array_at_a_time(size: int) -> None:
    def loops(x, y):
        a = np.cumsum(x)
        b = np.cumsum(a[::-1] * 2)
        for k in range(3):
            a = np.cumsum(b[::-1] + a + k)
            b = np.cumsum(a[::-1] - b)
        z = np.cumsum(y[::-1].astype(np.float32))
        w = np.cumsum(z[::-1] + np.float32(1))
        return b[::-1] + a, (w[::-1] + z)[:3]

    compiled = fxc.compile(loops, dynamic=True, fullgraph=True)
    for other in (size, size + 1, 3):
        x, y = np.arange(float(size)) - 3.5, np.arange(float(other)) * 0.25
        for found, expected in zip(compiled(x, y), loops(x, y), strict=True):
            assert found.tobytes() == expected.tobytes()
    assert compiled.cache_info().eager_calls == 0


def test_what_is_not_set_is_filled_for_no_reader() -> None:
    """Each set of an iteration began with zeros in all of the room that there is for members."""

    def distinct(x):
        found = []
        for i in range(3, len(x)):
            found.append(len({int(v) for v in x[i - 3 : i]}))
        return found

    compiled = fxc.compile(distinct, fullgraph=True)
    x = np.array([1.0, 2.0, 2.0, 2.0, 5.0, 2.0, 1.0])
    assert compiled(x) == distinct(x)
    loops = str(compiled.inspect(x).loops)
    (room,) = set(re.findall(r"temp \w+: int64\[(\d{4,})\]", loops))
    assert f"in 0:{room}" not in loops
