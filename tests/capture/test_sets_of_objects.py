"""Sets of objects from outside: the objects themselves leave, not what stands for them."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc


class Plain:
    def __init__(self) -> None:
        self.v = 3


class Equal(Plain):
    def __hash__(self) -> int:
        return hash(self.v)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Equal) and self.v == other.v


class Member(enum.Enum):
    X = 1


def added(o: Any, s: Any) -> Any:
    s.add((o, 1))
    return s


def joined(o: Any, s: Any) -> Any:
    s |= {o}
    return s | {o, 7}, {o} ^ {1}, {o} - {1}


def of_all_kinds(o: Any, s: Any) -> Any:
    return {o, 1, None, Member.X, int, np.float64(2), "a", (1, o), frozenset([o, frozenset([o])])}


def stored(o: Any, s: Any) -> Any:
    o.seen = {o}
    return o.seen


def in_a_dict(o: Any, s: Any) -> Any:
    d = {o: {o}}
    d[o].add(2)
    return d


def seen_on_the_way(o: Any, s: Any) -> Any:
    seen: set[Any] = set()
    waiting = [o]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting.append(node)
    return seen, frozenset(seen)


def by_comprehension(o: Any, s: Any) -> Any:
    return {v for v in [o]}, set(map(lambda v: v, [o])), {"k": ({o}, [{o}])}  # noqa: C416, C417


PROGRAMS = [added, joined, of_all_kinds, stored, in_a_dict, seen_on_the_way, by_comprehension]


def shown(x: Any, o: Any) -> Any:
    """``x`` with a name in place of the object ``o``, and with sets in order."""
    if x is o:
        return "the object"
    if isinstance(x, set | frozenset):
        return type(x).__name__, sorted(repr(shown(each, o)) for each in x)
    if isinstance(x, dict):
        return [(shown(key, o), shown(value, o)) for key, value in x.items()]
    return [shown(each, o) for each in x] if isinstance(x, list | tuple) else repr(x)


@pytest.mark.filterwarnings("ignore:.*run.* as plain NumPy")
@pytest.mark.parametrize("kind", [Plain, Equal])
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_set_has_the_objects_themselves(program: Callable[..., Any], kind: type) -> None:
    compiled = fxc.compile(program)
    for _ in range(2):
        found = []
        for each in (program, compiled):
            o, s = kind(), {5}
            found.append((shown(each(o, s), o), shown(s, o), shown(vars(o), o)))
        assert found[0] == found[1]


def _copied(x: Any) -> Any:
    found = {*x.seen}
    found.discard("b")
    return sorted(found), len({"c", *x.seen}), len({len(found), *x.seen})


def test_a_display_has_all_elements_of_a_set_that_another_call_has_with_others() -> None:
    """Code of C adds them without iterating, when nothing has read the set yet."""
    compiled, x = fxc.compile(_copied, fullgraph=True), Plain()
    for seen in ({"b"}, {"a", "b"}, {"a", "c", "d"}, set(), {"b"}):
        x.seen = seen  # type: ignore[attr-defined]
        assert compiled(x) == _copied(x)
