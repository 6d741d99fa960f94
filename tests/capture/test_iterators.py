"""Loops over NumPy's iterators and those of ``itertools``: one compilation for all sizes."""

from __future__ import annotations

import copy
import functools
import gc
import itertools
import operator
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def places(a):
    total = 0.0
    for i, j in np.ndindex(a.shape):
        a[i, j] += i - 2 * j
        total += a[i, j - 1]
    return total


def places_and_elements(a):
    at, least = (0, 0), np.inf
    for place, x in np.ndenumerate(a):
        if x < least:
            at, least = place, x
    return at, least


def flat(a):
    total = 0.0
    for x in a.flat:
        if x > 0.9:
            break
        total += x
    for x, y in zip(a.T.flat, a.flat, strict=True):
        total += x * y
    for k, x in enumerate(a[::2, ::-1].flat):
        total += k * x
    return total


def flat_elements_are_read_when_they_come(a):
    for k, x in enumerate(a.flat, 1):
        if k < a.size:
            a[k // a.shape[1], k % a.shape[1]] += x
    return a


def product(a):
    total = 0.0
    for i, j in itertools.product(range(a.shape[0]), range(1, a.shape[1])):
        total += a[i, j] * a[i, j - 1]
    for x, i, y in itertools.product(a[0], range(2), a[:, 0]):
        total += x * y + i
    for i, j in itertools.product(range(len(a)), repeat=2):
        a[i] -= a[j, 0]
    return total


def product_takes_the_elements_first(a):
    row, total = a[0], 0.0
    for x, y in itertools.product(row, repeat=2):
        total += x - 2 * y
        row[:] = row[::-1] + 1
    return total


def small_product(a):
    b = np.zeros_like(a)
    for i, j in itertools.product((-1, 0, 1), range(3)):
        b[1:-1, 1:-1] += a[1 + i : a.shape[0] - 1 + i, j : a.shape[1] - 2 + j]
    return b


def combinations(a):
    x, total = a[:, 0], 0.0
    for i, j in itertools.combinations(range(len(a)), 2):
        total += abs(a[i, 0] - a[j, -1])
    for p, q in itertools.combinations(x, 2):
        total = total * 0.5 + p - q
        x[0] = total
    for p, q, r in itertools.combinations(range(4), 3):
        total += p * q - r
    return total, x


def count(a):
    row = a.ravel()
    for k in itertools.count():
        if k == len(row) or row[k] > 0.8:
            break
    for down in itertools.count(k, -2):
        if down < 0 or row[down % len(row)] < 0.3:
            return k, down


def count_zipped(a):
    total = 0.0
    for k, x in zip(itertools.count(3, 2), a[0], strict=False):
        total += k * x
    return total


def reduced(a):
    row, found = a[0], []
    for i in range(len(row)):
        if row[i] > 0.5:
            found.append(i)
    least = functools.reduce(np.minimum, [a, a[::-1], a * 2])
    known = functools.reduce(operator.add, [1, 2, 3])
    horner = functools.reduce(lambda x, y: x * 0.5 + y, row)
    return horner, functools.reduce(lambda x, y: x + y, found, 0), least, known


PROGRAMS = [
    *(places, places_and_elements, flat, flat_elements_are_read_when_they_come, product),
    *(product_takes_the_elements_first, small_product, combinations, count, count_zipped),
    reduced,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_equals_numpy(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    rng = np.random.default_rng(1)
    for shape in ((6, 7), (9, 8), (5, 6), (12, 5), (30, 21), (2, 3), (1, 1), (3, 1), (4, 4)):
        for order in "CF":
            a = np.asarray(rng.random(shape), order=order)
            mine, numpys = (a.copy(order="K"),), (a.copy(order="K"),)
            assert not difference(run(program, numpys), run(compiled, mine)), (shape, order)
    compiled.cache_clear()
    for n in range(7, 40, 3):
        compiled(rng.random((n, n + 1)))
    assert compiled.cache_info().variants <= 3


def test_an_iterator_is_empty_behind_a_loop() -> None:
    def twice(a):
        elements, total = a.flat, 0.0
        for x in elements:
            total += x
        return total, next(elements, None)

    a = np.random.default_rng(2).random((4, 5))
    with pytest.raises(fxc.CaptureError, match=r"x\.flat behind a loop over it"):
        fxc.compile(twice, fullgraph=True)(a)
    with pytest.warns(fxc.CaptureWarning):
        assert fxc.compile(twice)(a) == twice(a)


def permuted(x, r):
    return [x[np.array(places)].sum() for places in itertools.permutations(range(4), r)]


def test_permutations_take_the_length_that_is_given() -> None:
    compiled, x = fxc.compile(permuted, fullgraph=True), np.random.default_rng(3).random(4)
    for r in (1, 2, 3, None, 2):
        assert difference(run(permuted, (x, r)), run(compiled, (x, r))) == ""
    assert compiled.cache_info().eager_calls == 0


def added_up(x):
    out = []
    for i, a in enumerate(itertools.accumulate(x)):
        if a > 1:
            out.append((a, i))
    return out, list(itertools.accumulate(x)), list(itertools.accumulate(x, max))[-1]


def test_accumulate_of_a_list_is_one_compilation() -> None:
    compiled = fxc.compile(added_up, fullgraph=True)
    for n in (20, 25, 30):
        x = np.random.default_rng(n).normal(size=n).tolist()
        assert difference(run(added_up, (x,)), run(compiled, (x,))) == ""
    assert compiled.cache_info().eager_calls == 0


# What takes an iterator up: the next one finds nothing in it, or what is left.
TAKERS = [
    "[v for v in e]",
    "[0 for v in e]",
    "[v for v in e if v > 0]",
    "sum(v for v in e)",
    "max((v for v in e), default=0.0)",
    "max([v for v in e] or [0.0])",
    "min((v for v in e if v > 0), default=0.0)",
    "any(v > 1 for v in e)",
    "next((v for v in e if v > 0), 0.0)",
    "np.array([v for v in e])",
    "{int(v): v for v in e}",
    "[v * w for v in e for w in (1.0, 2.0)]",
    "list(e)",
    "sorted(e)",
    "sum(e)",
    "taken(e)",
]


@pytest.mark.parametrize("first", TAKERS)
@pytest.mark.parametrize("iterator", ["map(abs, x)", "reversed(x)"])
def test_what_is_taken_from_an_iterator_is_gone(iterator: str, first: str) -> None:
    def taken(items: Any) -> Any:
        total = 0.0
        for item in items:
            total += item
        return total

    x = np.linspace(-2, 2, 40)
    for second in TAKERS:
        space: dict[str, Any] = {"np": np, "taken": taken}
        exec(f"def f(x):\n    e = {iterator}\n    return {first}, {second}\n", space)
        f = space["f"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fxc.CaptureWarning)
            text = difference(run(f, (x.copy(),)), run(fxc.compile(f), (x.copy(),)))
        assert not text, (second, text)


def of_ranges_without_a_length(x: Any) -> Any:
    wide, found = range(-(2**64), 2**64), []
    for k in wide:
        found.append(k)
        if len(found) > 3:
            break
    return found, next(reversed(wide)), [a for a, _ in zip(wide, x)], x + 1  # noqa: B905


def test_ranges_that_are_longer_than_any_list() -> None:
    compiled = fxc.compile(of_ranges_without_a_length, fullgraph=True)
    for _ in range(2):
        x = np.arange(3.0)
        assert not difference(run(of_ranges_without_a_length, (x,)), run(compiled, (x,)))


def _taken(*args: Any) -> int:
    return len(args)


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize(
    "program",
    [
        lambda it, x: (_taken(*it), gc.isenabled(), x * 2),
        lambda it, x: ((*it, 1.0), gc.isenabled(), x * 2),
        lambda it, x: (len({*it}), gc.isenabled(), x * 2),
        lambda it, x: (2.0 in it, gc.isenabled(), x * 2),
        lambda it, x: (dict.fromkeys(it), gc.isenabled(), x * 2),
        lambda it, x: ([a - b for a, b in [it]], gc.isenabled(), x * 2),
        lambda it, x: (repr(it)[:5], type(it), isinstance(it, Iterator), it is None, x * 2),
    ],
)
@pytest.mark.parametrize(
    "made", [lambda: iter([1.0, 2.0]), lambda: (v for v in (1.0, 2.0)), lambda: map(float, "12")]
)
def test_no_capture_takes_items_of_an_iterator_from_outside(
    program: Callable[..., Any], made: Callable[[], Any]
) -> None:
    compiled, x = fxc.compile(program), np.ones(2)
    for _ in range(2):
        ours, its = made(), made()
        assert repr(compiled(ours, x)) == repr(program(its, x))
        assert list(ours) == list(its)


class Holder:
    last = 0


def mapped_with_effects(n):
    """The functions assign attributes and variables that the body reads."""
    held, last, found = Holder(), 0, np.zeros((3, n))

    def at(k):
        nonlocal last
        held.last, last = k, last + k
        return k * 2

    for x in map(at, range(n)):
        found[0, held.last] = x
    for x in filter(at, range(n)):
        found[1, held.last] = x + last
    for k, x in enumerate(map(at, range(n))):
        found[2, k] = x + last
    return found, held.last, last


def sieved(n):
    """What the body does decides which items come up."""
    sieve = np.ones(n, bool)
    sieve[:2] = False
    listed, total = sieve.tolist(), 0
    for p in filter(lambda k: sieve[k], range(n)):
        total += p
        sieve[p * p :: p] = False
    for p in filter(listed.__getitem__, range(n)):
        total += p
        for q in range(p * p, n, p):
            listed[q] = False
    return total, sieve, listed


def generated(n):
    a = np.arange(n) % 4
    k = total = 0
    for k in (k * a[k] for k in range(n) if a[k] > 0 if a[k] < 3):
        if k > 60:
            break
        a[(k + 1) % n] = 0
        total += k
    else:
        total = -total
    return a, k, total


@pytest.mark.parametrize("program", [mapped_with_effects, sieved, generated])
def test_items_are_made_and_tested_when_they_come_up(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for n in (5, 12, 40, 61):
        assert not difference(run(program, (n,)), run(compiled, (n,))), n


def test_filters_may_be_the_programs_own() -> None:
    def filter(test, items):
        return [test(x) for x in items]

    def program(x):
        total = 0.0
        for y in filter(lambda v: v * 2, [x[0], x[1]]):
            total += y
        return total

    x = np.arange(1.0, 4.0)
    assert fxc.compile(program, fullgraph=True)(x) == program(x) == 6.0


# ---------------------------------------------------------------- np.nditer


def elements_in_turn(a):
    total, squares = 0.0, np.nditer([a, None])
    total += isinstance(squares, np.nditer)
    for x in np.nditer(a):
        total += x
    for x, y in np.nditer([a, a[0]]):
        total += x * y
    for x, y in squares:
        y[...] = x * x
    with np.nditer(a, op_flags=["readwrite"]) as it:
        for x in it:
            x[...] = 2 * x
    return total, squares.operands[1], [float(x) for x in np.nditer(a[:2]) if x > 1]


def places_in_turn(a):
    it, found = np.nditer(a, flags=["multi_index", "c_index"], op_flags=["readwrite"]), []
    while not it.finished:
        i, j = it.multi_index
        it[0] = it[0] * i + j - it.index
        if not it.iternext():
            break
    it = np.nditer(a, flags=["multi_index"])
    for x in it:
        if it.multi_index[1] == 1:
            continue
        if x > 50:
            break
        found.append(float(x) * it.multi_index[0])
    for x in it:
        found.append(-float(x))
    it.reset()
    return found, len(it), it.itersize, sum(float(x) for x in it)


def gradient(a):
    it, made = np.nditer(a, flags=["multi_index"]), np.zeros_like(a)
    while not it.finished:
        at = it.multi_index
        old = a[at]
        a[at] = old + 1e-4
        above = np.sum(a**2)
        a[at] = old - 1e-4
        made[at] = (above - np.sum(a**2)) / 2e-4
        a[at] = old
        it.iternext()
    return made


@pytest.mark.parametrize("program", [elements_in_turn, places_in_turn, gradient])
def test_elements_of_nditer(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    rng = np.random.default_rng(3)
    for shape in ((20, 30), (9, 40), (40, 21)):
        a = rng.random(shape)
        mine, numpys = (a.copy(),), (a.copy(),)
        assert not difference(run(program, numpys), run(compiled, mine)), shape


NOT_CAPTURED = {
    "a chunk": lambda a: [x.sum() for x in np.nditer(a, flags=["external_loop"])],
    "columns": lambda a: [float(x) for x in np.nditer(a.T)],
    "the columns first": lambda a: [float(x) for x in np.nditer(a, order="F")],
    "no elements": lambda a: list(np.nditer(a[:0], flags=["zerosize_ok"])),
    "itself": lambda a: type(np.nditer(a)).__name__,
    "what it has besides": lambda a: np.nditer(a).nop,
    "places without the flag": lambda a: np.nditer(a, flags=["c_index"]).multi_index,
    "numbers without the flag": lambda a: np.nditer(a, flags=["multi_index"]).index,
    "what is broadcast": lambda a: np.nditer([a, a[0]], op_flags=[["readonly"], ["readwrite"]]),
}


@pytest.mark.parametrize("program", NOT_CAPTURED.values(), ids=NOT_CAPTURED.keys())
@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_other_uses_of_nditer_are_numpys(program: Callable[..., Any]) -> None:
    a = np.random.default_rng(4).random((3, 4))
    assert not difference(run(program, (a,)), run(fxc.compile(program), (a,)))


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_an_nditer_that_leaves_the_function_is_numpys() -> None:
    def made(a):
        it = np.nditer(a)
        for _ in it:
            pass
        return it, it.finished

    it, is_finished = fxc.compile(made)(np.arange(3))
    assert (type(it), is_finished) == (np.nditer, True)


def test_the_shape_in_which_arrays_meet() -> None:
    def program(a: Any, x: Any) -> Any:
        both = np.broadcast(a, x[:, None], 2.0)
        for _ in range(3):
            x = x + np.zeros(np.broadcast(x, 1.0).shape)
        found = [isinstance(both, np.broadcast), both.nd, both.ndim, both.numiter, both.size]
        return np.ones(both.shape) * both.size, found, x

    compiled = fxc.compile(program, fullgraph=True)
    for n in (2, 5, 7):
        given = (np.arange(3.0), np.arange(float(n)))
        assert not difference(run(program, given), run(compiled, given))
    assert compiled.cache_info().variants == 2


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize(
    "program",
    [
        lambda a: [float(x * y) for x, y in np.broadcast(a, a[0])],
        lambda a: np.broadcast(a, 1).index,
        lambda a: np.broadcast(a, a[0, :3]).shape,
        lambda a: (next(np.broadcast(a, 1)), type(np.broadcast(a, 1)).__name__),
    ],
)
def test_other_uses_of_broadcast_are_numpys(program: Callable[..., Any]) -> None:
    a = np.random.default_rng(4).random((3, 4))
    assert not difference(run(program, (a,)), run(fxc.compile(program), (a,)))


MADE = [zip, enumerate, reversed, lambda x: map(abs, x), np.ndenumerate]


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize(
    "use",
    [
        len,
        lambda it: it.__class__,
        lambda it: list(reversed(it)),
        lambda it: copy.copy(range(3 if isinstance(it, Iterator) else 2)),
    ],
)
def test_an_iterator_can_do_what_pythons_can(use: Callable[..., Any]) -> None:
    for made in MADE:

        def program(x: Any) -> Any:
            return x * 2, use(made(x))  # noqa: B023

        x = np.arange(3.0)
        assert difference(run(program, (x,)), run(fxc.compile(program), (x,))) == ""


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_a_range_of_numbers_of_data_leaves_as_one() -> None:
    def program(x: Any) -> Any:
        r = range(int(x[1]) + 2)
        return copy.copy(r), r.__class__, len(r), x * 2

    x = np.ones(3)
    assert difference(run(program, (x,)), run(fxc.compile(program), (x,))) == ""


def test_what_has_no_hash_or_no_way_back_raises() -> None:
    for program in (
        lambda x: (x * 2, hash(x[x > 0])),
        lambda x: (x * 2, list(reversed({int(v) for v in x}))),
    ):
        compiled = fxc.compile(program)
        assert difference(run(program, (np.ones(3),)), run(compiled, (np.ones(3),))) == ""


@pytest.mark.parametrize("more", [0, 1])
def test_lengths_found_at_run_time_are_compared(more: int) -> None:
    def f(x):
        found, places, total = [], [0] * more, 0.0
        for k, v in enumerate(x):
            if v > 0:
                found.append(v)
                places.append(k)
        for v, k in zip(found, places, strict=True):
            total += v * k
        return total

    x = np.random.default_rng(1).normal(size=30)
    compiled = fxc.compile(f)
    for _ in range(3):
        assert not difference(run(f, (x,)), run(compiled, (x,)))
    assert more or compiled.cache_info().native_calls
