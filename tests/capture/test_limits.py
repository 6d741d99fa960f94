"""Each row of the table in docs/limits.md: refused as a whole, and the rest of the function compiled."""

from __future__ import annotations

import copy
import math
import re
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

PAGE = Path(__file__).parents[2] / "docs" / "limits.md"
V = np.linspace(-1, 2, 24)
M = np.linspace(-1, 2, 12).reshape(3, 4)
N = np.arange(4)


def two_types(x):
    found: Any = None
    for v in x:
        found = [v] if v > 1 else {"v": v}
        found[0 if v > 1 else "v"] = 2.0
    return type(found).__name__, len(found)


def a_part_or_the_whole(x):
    y = x
    for i in range(9):
        if x[i % 3] > 0:
            y = x[i % 3 :]
    return y


def two_of_an_iteration(x, n):
    best = last = x
    for i in range(n):
        y = x + i
        if y[0] > 2:
            best = y
        last = y
        best[1] = i
    return best, last


def effects_in_a_long_loop(x, kept):
    for i in range(6000):
        kept[i % 3, "key"] = x[i % 4]
    return len(kept)


def waiting(x):
    try:
        yield from x
    finally:
        x[0] = 7


def lists_that_change(x):
    found: list[list[float]] = []
    for v in x:
        if v > 0:
            found.append([v])
            found[-1][:] = [v, v]
    return found


def members_in_their_order(x):
    seen = set()
    for v in x:
        seen.add(int(v) % 3)
    seen.discard(1)
    return [k for k in seen]  # noqa: C416


def run_over_twice(x):
    pairs = zip(x, x, strict=True)
    first = [a for a, _ in pairs if a > 0]
    return first, list(pairs)


def mask_read_and_written(x):
    m = x > 0
    y = x[m]
    m[0] = not m[0]
    return y, m


def masked_by_itself(m):
    m[1:][m[:-1]] = True
    return m


def written_by_itself(x):
    places = x.reshape(2, 2).T
    x[places] = places
    return x


def type_error_handled(x, y):
    try:
        return x[0] + y
    except TypeError:
        return -1.0


class Marked(np.ndarray):
    """A subclass that does nothing of its own."""


class Watched:
    limit = 1.0


def stored_to_a_class(x):
    Watched.limit = lambda self: 2.0
    return x * Watched().limit()


class Wrapped:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.x, dtype)


WRAPPED = Wrapped(3)


def deep(n, x):
    return x + 1 if n == 0 else deep(n - 1, x)


def unrolled(x, items):
    for item in items:
        x = x + item["weight"] * len(item)
    return x


def class_inside(x):
    class Inside:
        value = 2.0

    return x * Inside.value


def shown(x):
    return str(Wrapped(1))[:10], x


def with_errstate(x):
    with np.errstate(divide="raise"):
        try:
            return 1 / x
        except FloatingPointError:
            return x


def masked_onto_itself(x, y):
    np.add(x, y, out=x[::-1], where=x > 1, casting="unsafe")
    return x


def mask_of_a_loop(x):
    m, total = x > 0, 0.0
    for i in range(4):
        y = x[m]
        m[i] = False
        total = total + y.sum()
    return total


def broadcast_written(x):
    y = np.broadcast_arrays(x, np.zeros((2, 4)))[0]
    return y.flags.writeable


def flagged_in_a_branch(x):
    y = x.copy()
    if x[0] > -5:
        y.flags.writeable = False
    return y.flags.writeable


def windows_written(x):
    np.lib.stride_tricks.sliding_window_view(x, 2, writeable=True)[0] += 1
    return x


def resized(x):
    y = x.copy()
    y.resize(7)
    return y


def flat_of_itself(x):
    x.flat = x[::-1]
    return x


# By the words with which a row begins: a program and its arguments beside the vector.
ROWS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "what a helper function returns": (two_types, (N * 1.0,)),
    "an array that a loop carries": (a_part_or_the_whole, (N * 1.0,)),
    "a write to, or two results of": (two_of_an_iteration, (N * 1.0, 7)),
    "a loop of more than 5,000": (effects_in_a_long_loop, (N * 1.0, {})),
    "a list whose length depends on data": (lists_that_change, (N - 1.5,)),
    "a tuple whose length depends": (
        lambda x: tuple([v for v in x.tolist() if v > 0]) < (1.0,),
        (V,),
    ),
    "a dict or a set with keys": (members_in_their_order, (N * 1.0,)),
    "a list of some thousand items": (lambda x: [{1} for v in np.resize(x, 6000)][7], (N,)),
    "formatting a number": (lambda x: float(f"{x[1]:.2f}"), (N * 1.0,)),
    "a range of elements": (run_over_twice, (N - 1.5,)),
    "a mask beside an index array": (mask_read_and_written, (N - 1.5,)),
    "a write by a mask that shares": (masked_by_itself, (np.array([1, 0, 0, 1, 0]) > 0,)),
    "a write by index arrays": (written_by_itself, (N % 2,)),
    "`out=` of `mean`": (lambda x, y: np.mean(x, out=y), (N * 1.0, np.zeros((), np.float32))),
    "`open`, `eval`": (lambda x: eval("x.sum() + 1"), (N,)),
    "stores that somebody watches": (stored_to_a_class, (N,)),
    "of a `bytearray`": (lambda x: bytearray(b"abc").pop() + x, (N,)),
    "a `bytearray`": (lambda x, q: (q.rotate(1), x * q[-1])[1], (N, deque([1.0]))),
    "NumPy's functions of an object": (lambda x: np.add(x, WRAPPED), (N,)),
    "a handler of a `TypeError`": (type_error_handled, (N, "text")),
    "generators and coroutines": (class_inside, (N,)),
    "a generator that waits inside": (lambda x: [*zip(waiting(x), "ab", strict=False)], (N,)),
    "`int`, `float` and functions of `math` of a complex": (lambda x: int(x[0] * 1j), (N,)),
    "the text (`str`": (shown, (N,)),
    "`np.errstate` and": (with_errstate, (N * 1.0,)),
    "recursion of some hundred": (lambda x: deep(700, x), (N,)),
    "more than 20,000 operations": (unrolled, (N, [{"weight": k, k: k} for k in range(2000)])),
    "a write, in a loop, to a mask": (mask_of_a_loop, (N - 1.5,)),
    "`np.argmax` and `np.argmin`": (lambda x: np.argmax(x[None], axis=1, out=x[1:2]), (N * 1,)),
    "a ufunc with `where=`": (masked_onto_itself, (N * 1, N * 1.0)),
    "an assignment from a vector": (lambda x: x.__setitem__(slice(0, 16, 2), x[:8]), (V * 1,)),
    "Python ints beyond 64 bits": (lambda x: x + 2**70, (N * 1.0,)),
    "object and `longlong` arrays": (lambda x: np.array([x, None], object)[1], (N,)),
    "an element of an array of bytes": (lambda x: x[1], (np.array([b"a", b"b"]),)),
    "whether an element of texts": (lambda x: np.nonzero(x), (np.array(["a", ""]),)),
    "a write to, or the flags of": (broadcast_written, (N,)),
    "of an `np.memmap`": (lambda x, m: m.flush(), (N, np.ones(3).view(np.memmap))),
    "of other subclasses": (lambda x, m: m.sum(), (N, np.ones(3).view(Marked))),
    "subclasses": (lambda x: np.ma.masked_less(x, 1).sum(), (N,)),
    "`x.flags.writeable = …`": (flagged_in_a_branch, (N,)),
    "`x.view` of floats": (windows_written, (N,)),
    "`x.resize` but": (resized, (N,)),
    "`x.flat = y`": (flat_of_itself, (N,)),
    "NumPy's functions of a generator": (lambda x: np.all(v > 1 for v in x), (N,)),
    "`histogram` into": (lambda x: np.histogram(x, bins="fd")[0], (N * 1.0,)),
}


def leaves_in_finally(x):
    for v in x:
        try:
            found = v * 2
        finally:
            break  # noqa: B012
    return found


def call_of_python_handled(x, length=3):
    try:
        return x * len(length)  # type: ignore[arg-type]
    except TypeError:
        return x * length


def held_with_del(x, held):
    return held.u * x


class WithDel:
    def __init__(self):
        self.u = np.arange(4)

    def __del__(self):
        pass


CAPTURED: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (lambda x: np.vecdot(x, x) + np.bitwise_count(x), (N,)),
    (lambda x, k: x[1 :: k[0]] * 2, (V, np.array([3]))),
    (lambda x: math.lgamma(x[3]) + math.comb(x[3], 2), (N,)),
    (lambda x: str([v for v in x if v > 1]) + str({int(v): 1.5 for v in x}), (N,)),
    (lambda x: np.vectorize(math.floor)(x * 1.5), (N,)),
    (lambda x: np.median(x, axis=0), (M,)),
    (leaves_in_finally, (N,)),
    (call_of_python_handled, (N,)),
    (held_with_del, (N, WithDel())),
]


@pytest.mark.parametrize("program, args", CAPTURED)
def test_what_the_page_says_is_captured(program: Callable[..., Any], args: tuple[Any, ...]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    assert difference(run(program, args), run(compiled, args)) == ""
    assert compiled.cache_info().eager_calls == 0


def _rows() -> list[str]:
    page = PAGE.read_text(encoding="utf-8")
    table = re.split(r"\n## ", page[page.index("## Run by Python, with a warning") :])[0]
    rows = [line[2:] for line in table.splitlines() if line.startswith("| ")]
    return [row for row in rows if not row.startswith("what | instead")]


def test_each_row_has_a_program() -> None:
    rows = _rows()
    without = [row[:60] for row in rows if not any(row.startswith(words) for words in ROWS)]
    gone = [words for words in ROWS if not any(row.startswith(words) for row in rows)]
    assert (without, gone) == ([], [])


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("words", ROWS)
def test_the_rest_is_compiled(words: str) -> None:
    program, args = ROWS[words]

    def around(u, *args):
        before = u * 2 + 1
        found = program(*args)
        after = before * before - u
        return before, found, after

    compiled = fxc.compile(around)
    for calls in (1, 2):
        copies = [(V.copy(), *copy.deepcopy(args)) for _ in range(2)]
        expected, found = run(around, copies[0]), run(compiled, copies[1])
        assert difference(expected, found) == ""
        info = compiled.cache_info()
        assert info.native_calls + info.part_calls >= calls


@pytest.mark.parametrize("words", ROWS)
def test_the_whole_is_refused(words: str) -> None:
    program, args = ROWS[words]
    compiled = fxc.compile(program, fullgraph=True)
    with pytest.raises(fxc.CaptureError):
        compiled(*copy.deepcopy(args))


def way_from(x, start):
    path = [start]
    for i in range(len(x)):
        if x[i] > 1:
            path.append((i, start[1]))
    return path[::-1], path[0]


def best_of(x, points):
    best = None
    for i in range(len(x)):
        if x[i] > 1:
            best = points[i]
    return [best]


def test_a_tuple_in_a_list_is_equal_to_what_was_put_there() -> None:
    start = (300, 1.5)
    for fn in (way_from, fxc.compile(way_from, fullgraph=True)):
        (*_, found), _ = fn(N * 1.0, start)
        assert found == start
        assert type(found) is tuple
        assert (found is start) == (fn is way_from)


def test_a_tuple_of_numbers_is_equal_to_the_one_in_a_list_from_outside() -> None:
    points = [(300 + place, 1.5) for place in N.tolist()]
    (found,) = fxc.compile(best_of, fullgraph=True)(N * 1.0, points)
    assert best_of(N * 1.0, points)[0] is points[-1]
    assert found == points[-1]
    assert found is not points[-1]
