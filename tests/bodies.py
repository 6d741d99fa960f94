"""Programs given as text, run on arrays in every layout: compiled code against plain NumPy.

A program is the body of ``f(x)``. ``check_body`` compares everything a caller sees (see ``outcomes``),
in two calls, the second on what the first left behind: in C order, and in some other layouts, not
the same ones for each program (``tests/scenarios`` has each kind of view and write in every layout).
"""

from __future__ import annotations

import linecache
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import fxc
from tests.covering import some
from tests.outcomes import difference, is_left_to_python, run

Make = Callable[[], np.ndarray]
_SHAPES = {0: (), 1: (6,), 2: (4, 6), 3: (2, 4, 6)}
_NAMES = {"np": np, "as_strided": as_strided, "sliding_window_view": sliding_window_view}


def function(text: str) -> Callable[..., Any]:
    """The function of ``x`` whose body is ``text``; an expression is what it returns.

    >>> function("y = x + 1; return y[0]")(np.arange(3))
    np.int64(1)
    """
    lines = [line for part in text.split("\n") for line in part.split("; ")]
    if len(lines) == 1 and _is_expression(text):
        lines = [f"return {text}"]
    source = "".join(f"    {line}\n" for line in lines)
    file = f"<statements {text}>"
    whole = f"def f(x):\n{source}"
    linecache.cache[file] = (len(whole), None, whole.splitlines(keepends=True), file)
    space = dict(_NAMES)
    exec(compile(whole, file, "exec"), space)
    return space["f"]  # type: ignore[return-value]


def _is_expression(text: str) -> bool:
    try:
        compile(text, "<expression>", "eval")
    except SyntaxError:
        return False
    return True


def values(shape: tuple[int, ...], dtype: Any = "f8") -> np.ndarray:
    """Small numbers of both signs, some of them equal, with fractions where there are any."""
    places = np.arange(int(np.prod(shape)))
    return (places * 7 % 13 - 4.5).astype(dtype).reshape(shape)


def layouts(rank: int, dtype: Any = "f8") -> Iterator[tuple[str, Make]]:
    """Arrays of one rank: C, F, strided, reversed, of size 0, broadcast and read-only."""
    shape = _SHAPES[rank]
    yield "C", lambda: values(shape, dtype)
    yield "read-only", lambda: _frozen(values(shape, dtype))
    if rank == 0:
        yield "view", lambda: values((3,), dtype)[1, ...]
        return
    if rank > 1:
        yield "F", lambda: np.asfortranarray(values(shape, dtype))
    spread = tuple(2 * size for size in shape)
    yield "strided", lambda: values(spread, dtype)[(slice(None, None, 2),) * rank]
    yield "reversed", lambda: values(shape, dtype)[(slice(None, None, -1),) * rank]
    yield "empty", lambda: values((0, *shape[1:]), dtype)
    yield "broadcast", lambda: np.broadcast_to(values(shape[1:], dtype), shape)


def _frozen(x: np.ndarray) -> np.ndarray:
    x.flags.writeable = False
    return x


def check_body(text: str, rank: int, dtype: Any = "f8", *, eager: bool = False) -> None:
    """Compare a program on several layouts. ``eager`` says that NumPy does without an error what fxc
    takes for one, which it then leaves to NumPy; with ``fullgraph=True`` that is an error.
    """
    plain = function(text)
    contiguous, *others = layouts(rank, dtype)
    for name, make in (contiguous, *some(others, 3, zlib.crc32(text.encode()))):
        compiled = fxc.compile(function(text), fullgraph=not eager)
        mine, theirs = make(), make()
        for call in ("first", "second"):
            expected, found = run(plain, (mine,)), run(compiled, (theirs,))
            problem = difference(expected, found)
            assert not problem, f"{text!r} on {name}, {call} call: {problem}"
        if expected.error is None and not eager and not is_left_to_python(plain, (make(),)):
            assert compiled.cache_info().eager_calls == 0, f"{text!r} on {name} ran as plain NumPy"
