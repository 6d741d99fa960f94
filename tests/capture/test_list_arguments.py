"""Lists of numbers as arguments: one compilation for all lengths, see Note [Lists of numbers]."""

from __future__ import annotations

import random

import numpy as np
import pytest

import fxc
from tests.covering import in_turns, some
from tests.outcomes import difference, run

WEIGHTS = np.random.default_rng(0).random((200, 5))
SIZES = (10, 20, 7, 100, 33, 8, 50)


def ints(size):
    return [random.Random(size).randrange(100) for _ in range(size)]


def floats(size):
    return [random.Random(size).random() for _ in range(size)]


def summed(items):
    total = 0.0
    for item in items:
        total += item * item
    return total


def dotted(items, others):
    total = 0.0
    for item, other in zip(items, others):  # noqa: B905
        total += item * other
    return total


def by_places(items):
    total = 0.0
    for place in range(len(items)):
        total += items[place] * place
    return total


def steps(tokens):
    found = WEIGHTS[0].copy()
    for token in tokens[1:]:
        found = found * WEIGHTS[token]
    return found


ONE_FOR_ALL = {
    "an index": (lambda tokens: WEIGHTS[tokens].sum(0), ints),
    "np.array": (lambda items: np.array(items) * 2, floats),
    "a dtype": (lambda items: np.array(items, np.float32) * 2, floats),
    "a mean": (lambda items: np.mean(items), lambda n: floats(max(n, 1))),  # of none NumPy warns
    "its length": (lambda items: np.sum(items) / len(items), floats),
    "beside an array": (lambda items: np.concatenate([WEIGHTS[0], items]), floats),
    "a table": (lambda items: np.interp(WEIGHTS[0], items, items), lambda n: sorted(floats(n))),
    "membership": (lambda items: np.isin(WEIGHTS[:, 0], items), floats),
    "itself": (lambda items: (items, np.asarray(items)), floats),
    "a loop": (summed, floats),
    "a loop over ints": (summed, ints),
    "a comprehension": (lambda items: np.array([x * 2 for x in items]), floats),
    "sum": (lambda items: sum(items), floats),
    "max": (lambda items: max(items) - min(items), floats),
    "sorted": (lambda items: np.array(sorted(items)), floats),
    "a slice": (steps, ints),
    "two": (lambda items: dotted(items, items), floats),
}


@pytest.mark.parametrize("program, make", ONE_FOR_ALL.values(), ids=ONE_FOR_ALL)
def test_one_compilation_serves_all_lengths(program, make):
    compiled = fxc.compile(program, fullgraph=True)
    for size in SIZES:
        text = difference(run(program, [make(size)]), run(compiled, [make(size)]))
        assert not text, (size, text)
    assert compiled.cache_info().variants == 1
    for size in (0, 1, 3):
        text = difference(run(program, [make(size)]), run(compiled, [make(size)]))
        assert not text, (size, text)


def written(items):
    first, second = np.asarray(items), np.asarray(items)
    first[0] = 5
    return first, second, items


def appended(items):
    before = np.sum(items)
    items.append(3.0)
    return before, np.sum(items), len(items)


def stored(items):
    before = np.array(items).sum()
    items[0] = 3.0
    return before + np.array(items).sum()


def compared(items):
    return items == [1.0] * 5, 3.0 in items


ALSO = {
    "written": (written, floats),
    "appended": (appended, floats),
    "stored": (stored, floats),
    "compared": (compared, floats),
    "by places": (by_places, floats),
    "one": (lambda items: items[len(items) // 2], floats),
    "too large": (lambda items: np.array(items, np.int8), lambda n: [3 * x for x in ints(n)]),
    "ints as float32": (lambda items: np.array(items, np.float32), ints),
    "mixed": (lambda items: np.array(items) * 2, lambda n: [1, *floats(n)]),
    "bools": (lambda items: np.array(items) * 2, lambda n: [True, *ints(n)]),
    "other types": (lambda items: np.array(items) * 2, lambda n: ints(n) if n % 20 else floats(n)),
    "large ints": (lambda items: np.array(items) % 3, lambda n: [2**62 + x for x in ints(n)]),
    "beyond int64": (lambda items: np.array(items) % 3, lambda n: [2**63 + x for x in ints(n)]),
    "a shape": (lambda items: np.zeros(items).shape, lambda n: [1, 2, 1, 3, 1, 2][: n % 7]),
    "axes": (lambda items: WEIGHTS.reshape(1, 1, 5, 2, 10, 10).transpose(items).shape,
             lambda n: [3, 1, 0, 5, 4, 2]),
    "nested": (lambda items: np.array([items, items]), floats),
    "joined": (lambda items: items + items, floats),
    "NumPy's numbers": (lambda items: np.array(items) * 2, lambda n: list(np.arange(float(n)))),
}  # fmt: skip


@pytest.mark.parametrize(("name", "dynamic"), in_turns(ALSO, (None, True, False)))
@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_equal_to_numpy(name, dynamic):
    program, make = ALSO[name]
    compiled = fxc.compile(program, dynamic=dynamic)
    for size in some((*SIZES, 0, 1, 3), 5 if dynamic is None else 4, [*ALSO].index(name)):
        expected = run(program, [make(size)])
        for _ in range(2):
            text = difference(expected, run(compiled, [make(size)]))
            assert not text, (size, text)


def test_items_that_change_are_seen():
    compiled = fxc.compile(summed, fullgraph=True)
    items = floats(20)
    for place in range(5):
        items[place] = float(place)
        assert compiled(items) == summed(items)
    items[3] = 7
    assert compiled(items) == summed(items)
    assert compiled.cache_info().variants == 2


def test_a_list_beside_a_written_array() -> None:
    def spread(out, places, u):
        rows = [u * k for k in range(6)]
        for t in range(len(places)):
            out[places[t]] += rows[places[t]].sum()
        return out

    args = np.zeros(6), [1, 4, 2, 0, 1, 5, 3], np.arange(3.0)
    compiled = fxc.compile(spread, fullgraph=True)
    given = np.zeros(6), [1, 4, 2, 0, 1, 5, 3], np.arange(3.0)
    assert not difference(run(spread, args), run(compiled, given))
    assert compiled.cache_info().eager_calls == 0
