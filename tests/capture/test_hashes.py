"""``hash`` and ``frozenset`` of what is known while a function is captured."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

_X = np.arange(4.0)


class Key:
    def __init__(self, name: str, number: int) -> None:
        self.name = name
        self.number = number

    def __hash__(self) -> int:
        return hash(self.name) + self.number


@pytest.mark.parametrize(
    "fn",
    [
        lambda x, key: ({hash((x.dtype, "a")): 2}[hash((np.dtype("f8"), "a"))] * x, hash(None)),
        lambda x, key: hash((x.dtype.char, x.shape, len(x), x.dtype.type, np.float64, 1.5)),
        lambda x, key: (hash(key), x * (hash(key) % 7)),
        lambda x, key: hash((1, (key, "a"))) * x,
        lambda x, key: (hash(-1), hash(True), hash(2**70), hash(frozenset((1, 2)))),
        lambda x, key: hash((1, [2])),
    ],
)
def test_the_hash_of_what_is_known_is_a_constant_with_guards(fn: Any) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for x, number in ((_X, 3), (_X, -1), (_X[:2], 2**62), (np.arange(3), 3)):
        args = (x, Key("k", number))
        assert difference(run(fn, args), run(compiled, args)) == ""


def test_the_hash_of_data_needs_their_value() -> None:
    for fn in (lambda x: hash(x[0]), lambda x: hash((1, x[0])), lambda x: hash(object())):
        with pytest.raises(fxc.CaptureError):
            fxc.compile(fn, fullgraph=True)(_X)


@pytest.mark.parametrize(
    "fn",
    [
        lambda items, n: frozenset([n, 2]),
        lambda items, n: {frozenset([(1, n)]): [frozenset(), frozenset(frozenset((n,)))]},
        lambda items, n: {frozenset([i]) for i in items if i <= n},
        lambda items, n: (frozenset((n,)) | {n + 1}, frozenset((n, 1)) & {n}),
        lambda items, n: {s | t for s in map(frozenset, [items]) for t in [{n}]},
    ],
)
def test_frozen_sets_hold_numbers_as_python_has_them(fn: Any) -> None:
    compiled = fxc.compile(fn)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fxc.CaptureWarning)
        for args in (([1, 2], 3), ([3, 4], 3), ([5, 6], 7), ([5, 6], 8)):
            assert difference(run(fn, args), run(compiled, args)) == ""


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_the_hash_of_a_number_that_is_an_int_or_a_float() -> None:
    def fn(x: Any) -> Any:
        v = x[0] if x[0] > 2 else int(x[0])
        items = [w if w > 2 else int(w) for w in x.tolist()]
        return hash(v), hash((v, 1)), hash(items[0])

    compiled = fxc.compile(fn)
    for first in (1.5, 3.5, 2.0):
        x = np.array([first, 2.5, 4.0])
        assert difference(run(fn, [x]), run(compiled, [x])) == ""


@pytest.mark.parametrize(
    "fn",
    [
        lambda own, given: (own & given, own | given, own - given, own ^ given),
        lambda own, given: (own == given, own != given, own < given, own >= given),
        lambda own, given: own >= given,
        lambda own, given: len(own & given),
    ],
)
def test_operators_of_frozensets_look_into_sets_that_change(fn: Any) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for texts in (("bc", "b"), ("bc", ""), ("de", ""), ("de", "cd"), ("de", "de")):
        own, given = map(set, texts)
        assert compiled(frozenset(own), given) == fn(frozenset(own), given)
