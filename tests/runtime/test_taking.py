"""What becomes of the results of calls, looked at by native code. See Note [Taken results]."""

from __future__ import annotations

import sys
import tracemalloc
from collections import namedtuple
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from fxc.ir.objects import C_ARRAY
from fxc.ir.taking import MOST_GIVEN, Looks, taker
from fxc.ir.types import ArrayType
from fxc.ops.foreign_calls import Hole
from fxc.ops.foreign_learning import learnt_with
from fxc.runtime.taking import Taken, Wanted, make_takers

F64 = np.dtype(float)
KEPT = np.arange(6.0)
Pair = namedtuple("Pair", "first second")


class _Array(np.ndarray):
    pass


def _said_no(*found: object) -> str:
    return "no"


@pytest.fixture(autouse=True)
def _by_native_code() -> None:
    make_takers()


def _taken(looks: Looks, make: Callable[[], object], *operands: object) -> Any:
    take = taker(looks, _said_no)
    assert take is not _said_no
    found = make()
    return take(found, *operands)


def _locked(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


@pytest.mark.parametrize(
    ("make", "is_taken"),
    [
        (lambda: np.ones((2, 3)), True),
        (lambda: np.arange(6.0).reshape(2, 3), True),
        (lambda: np.ones((2, 0)), True),
        (lambda: np.arange(6.0)[:3], False),  # it would keep more than it needs
        (lambda: KEPT, False),
        (lambda: KEPT.reshape(2, 3), False),
        (lambda: KEPT[...], False),
        (lambda: np.ones((2, 3)).view(_Array), False),
        (lambda: np.ones((2, 3), np.float32), False),
        (lambda: np.ones((2, 3), ">f8"), False),
        (lambda: np.ones((2, 3)).T, False),
        (lambda: _locked(np.ones(3)), False),
        (lambda: np.frombuffer(bytes(16)), False),
        (lambda: np.arange(6).view(float), False),
        (lambda: 1.0, False),
        (lambda: None, False),
        (lambda: [np.ones(3)], False),
    ],
)
@pytest.mark.parametrize("place", [-1, 0])
def test_an_array_that_nobody_else_has_is_taken(
    make: Callable[[], object], is_taken: bool, place: int
) -> None:
    looks = Looks()
    within = looks.container(None, 1) if place == 0 else 0
    looks.array(F64, C_ARRAY, within, place, whole=True)
    found = _taken(looks, (lambda: (make(),)) if place == 0 else make)
    assert (type(found) is np.ndarray and found.dtype is F64) == is_taken
    if is_taken:
        assert (found == Taken((Wanted("array", F64),), is_single=True)(make())).all()


def test_sizes_are_sums_of_those_of_operands() -> None:
    looks = Looks()
    twice_and_one = (1, ((1, 0, 2),))
    looks.array(F64, C_ARRAY, sizes=[(2, ()), twice_and_one])
    cases: tuple[tuple[int, tuple[int, ...], bool], ...] = (
        (3, (2, 7), True),
        (3, (2, 6), False),
        (3, (3, 7), False),
        (3, (2, 7, 1), False),
        (4, (2, 9), True),
    )
    for size, shape, is_taken in cases:
        found = _taken(looks, partial(np.ones, shape), 1.5, np.ones(size))
        assert (type(found) is np.ndarray) == is_taken


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[D]", "U5", "S3"])
def test_dtypes_that_are_made_anew_are_compared(dtype: str) -> None:
    looks = Looks()
    looks.array(np.dtype(dtype), C_ARRAY, whole=True)
    assert type(_taken(looks, lambda: np.ones(3, np.dtype(dtype)))) is np.ndarray
    told = np.dtype(np.dtype(dtype), metadata={"told": 1})
    for other in ("M8[ms]", "m8[s]", "U4", "S5", float, f">{dtype}", told):
        if np.dtype(other) != np.dtype(dtype) or other is told:
            assert _taken(looks, partial(np.empty, 3, other)) == "no"


def test_texts_are_compared() -> None:
    looks = Looks()
    within = looks.container(tuple, 2)
    looks.number(float, within, 0)
    looks.same("text", within, 1)
    texts: tuple[Any, ...] = ("text", "tex", b"text", None)
    for text in texts:
        made = [(float("2"), text and text[:2] + text[2:])]
        assert _taken(looks, made.pop) == (2.0 if text == "text" else "no")


def test_strides_are_those_that_are_known() -> None:
    looks = Looks()
    looks.array(F64, 0, sizes=[(3, ()), (2, ())], strides=[(8, ()), (24, ())])
    assert _taken(looks, lambda: np.ones((2, 3)).T).strides == (8, 24)
    assert _taken(looks, lambda: np.ones((3, 2))) == "no"


@pytest.mark.parametrize(
    ("kind", "make", "is_taken"),
    [
        (tuple, lambda: (int("1"), 2.5), True),
        (None, lambda: (int("1"), 2.5), True),
        (Pair, lambda: Pair(1, 2.5), True),
        (None, lambda: Pair(1, 2.5), True),
        (list, lambda: [1, 2.5], True),
        (tuple, lambda: Pair(1, 2.5), False),
        (None, lambda: [1, 2.5], False),
        (list, lambda: (1, 2.5), False),
        (list, lambda: [1, 2.5, 3], False),
        (tuple, lambda: (1,), False),
        (tuple, lambda: (2**63, 2.5), False),
        (tuple, lambda: (True, 2.5), False),
        (tuple, lambda: (1, np.float64(2.5)), False),
        (tuple, lambda: None, False),
    ],
)
def test_numbers_of_a_container(
    kind: type | None, make: Callable[[], object], is_taken: bool
) -> None:
    looks = Looks()
    within = looks.container(kind, 2)
    looks.number(int, within, 0)
    looks.number(float, within, 1)
    made = [make()]
    assert _taken(looks, make) == ((1, 2.5) if is_taken else "no")
    assert _taken(looks, lambda: made[0]) == "no"  # what somebody keeps


def test_containers_in_containers() -> None:
    looks = Looks()
    outer = looks.container(tuple, 3)
    looks.array(F64, C_ARRAY, outer, 0)
    inner = looks.container(list, 2, outer, 1)
    looks.array(F64, C_ARRAY, inner, 0)
    looks.array(F64, C_ARRAY, inner, 1)
    looks.same(None, outer, 2)
    found = _taken(looks, lambda: (np.ones(2), [np.ones(3), np.ones(4)], None))
    assert [part.shape for part in found] == [(2,), (3,), (4,)]
    assert [sys.getrefcount(part) for part in found] == [3, 3, 3]
    both = np.ones(3)
    assert _taken(looks, lambda: (np.ones(2), [both, both], None)) == "no"
    assert _taken(looks, lambda: (np.ones(2), [np.ones(3), np.ones(4)], False)) == "no"
    twice = np.ones(3)
    assert _taken(looks, lambda: (np.ones(2), [twice[:], twice[:]], None)) == "no"


def test_what_python_makes_of_other_results() -> None:
    taken = Taken(
        (Wanted("array", F64), Wanted("none"), Wanted("scalar", np.dtype("m8[s]")), Wanted("any")),
        is_single=False,
    )
    for take in (taken, taken.__fxc_native__()):
        array, moment, kept = take((KEPT, 1, np.timedelta64(2, "h"), KEPT), KEPT)
        assert array is not KEPT
        assert (array == KEPT).all()
        assert repr(moment) == repr(np.timedelta64(7200, "s"))
        assert kept is KEPT


def test_too_many_parts_are_left_to_python() -> None:
    looks = Looks()
    within = looks.container(None, MOST_GIVEN + 1)
    for place in range(MOST_GIVEN + 1):
        looks.anything(within, place)
    assert taker(looks, _said_no) is _said_no


def test_no_reference_is_lost_or_kept() -> None:
    looks = Looks()
    within = looks.container(None, 2)
    looks.array(F64, C_ARRAY, within, 0)
    looks.number(np.float64, within, 1)
    take, operand = taker(looks, _said_no), np.ones(3)

    def taken() -> Any:
        found = np.ones(30), np.float64(2.0)
        return take(found, operand)

    before = sys.getrefcount(operand)
    tracemalloc.start()
    for count in range(400):
        if count == 100:
            size, _ = tracemalloc.get_traced_memory()
        array, number = taken()
    more = tracemalloc.get_traced_memory()[0] - size
    tracemalloc.stop()
    assert more < 300 * 8
    assert sys.getrefcount(operand) == before
    assert (sys.getrefcount(array), sys.getrefcount(number)) == (2, 2)


def test_results_as_they_were_learnt_are_not_looked_at_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    array = ArrayType(F64, (6,), (8,))
    call = learnt_with(np.histogram2d, (Hole(0), Hole(1), 3), {}, [array, array], [])
    call.takes_arrays = (True, True)
    monkeypatch.setattr(type(call), "compared", _said_no)
    counts, edges, others = call(KEPT, KEPT[::-1])
    expected = np.histogram2d(KEPT, KEPT[::-1], 3)
    assert all(map(np.array_equal, (counts, edges, others), expected))
