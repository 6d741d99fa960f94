"""Objects whose class derives from one of C, a number or a tuple, with special methods in Python."""

from __future__ import annotations

import enum
import functools
import operator
import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest

import fxc
from tests.compiling import check

_seen: list[str] = []


class Counted(int):
    def __add__(self, other: Any) -> Any:
        _seen.append("add")
        return int(self) + len(_seen) * other

    def __lt__(self, other: Any) -> Any:
        _seen.append("lt")
        return NotImplemented


class Level(enum.Enum):
    LOW = 1
    HIGH = 2

    def __add__(self, other: Any) -> Any:
        _seen.append("add")
        return len(_seen)

    def __lt__(self, other: Any) -> Any:
        return self._rank() < other._rank()

    def _rank(self) -> int:
        _seen.append("rank")
        return len(_seen) + self.value


class Ordered(enum.Enum):
    LOW = 1
    HIGH = 2

    def __lt__(self, other: Any) -> Any:
        return self.value < other.value if self.__class__ is other.__class__ else NotImplemented


class Failed(Exception):
    def __lt__(self, other: Any) -> Any:
        _seen.append("lt")
        return len(_seen) > 3


class Pair(NamedTuple):
    a: Any
    b: Any

    def __add__(self, other: Any) -> Any:
        _seen.append("add")
        return Pair(self.a + other.a, self.b + len(_seen))

    def __eq__(self, other: object) -> Any:
        _seen.append("eq")
        return len(_seen) > 2


class Vector(NamedTuple):
    x: Any
    y: Any

    def __add__(self, other: Any) -> Any:
        return Vector(self.x + other.x, self.y - other.y if self.y > 0 else other.y)

    def __neg__(self) -> Any:
        return self._replace(x=-self.x)

    def __abs__(self) -> Any:
        return np.hypot(*self)


class Short(NamedTuple):
    a: Any
    b: Any

    def __len__(self) -> int:
        _seen.append("len")
        return 1

    def __iter__(self) -> Any:
        _seen.append("iter")
        return iter((self.a,))


FOUR, ONE, SOMETHING = Counted(4), Pair(1, 2), Short(1, 2)

PROGRAMS = {
    "operator": lambda x: (FOUR + 3, x + 1),
    "comparison": lambda x: (FOUR < 3, x + 1),
    "member": lambda x: (Level.LOW + 1, x + 1),
    "members": lambda x: (Level.HIGH < Level.LOW, x + 1),
    "member by its value": lambda x: (Level(2) + 1, x + 1),
    "made": lambda x: (Counted(3) + 1, x + 1),
    "exception": lambda x: (Failed(3) < Failed(4), x + 1),
    "tuple": lambda x: Pair(x, 1) + Pair(x, 2),
    "tuple from outside": lambda x: (ONE + ONE, x + 1),
    "equal tuples": lambda x: (ONE == (1, 2), Pair(x, 3) == 4, Pair(x, 3) != 4),
    "its length": lambda x: (len(SOMETHING), list(SOMETHING), len(Short(x, 2))),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_methods_are_called_as_often_as_python_calls_them(name: str) -> None:
    program = PROGRAMS[name]
    compiled = fxc.compile(program)
    for _ in range(3):
        seen = []
        for each in (program, compiled):
            _seen.clear()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", fxc.CaptureWarning)
                found = [each(np.arange(3.0)) for _ in range(3)]
            seen.append((repr(found), list(_seen)))
        assert seen[0] == seen[1]


def adds(v: Any, w: Any) -> Any:
    return v + w, -v, abs(w), type(v + w) is Vector, isinstance(v, Vector)


def adds_in_loops(x: Any) -> Any:
    v = Vector(x[0], 1.0)
    for each in x:
        v += Vector(each, 2.0)
    return v


def chooses(x: Any) -> Any:
    v = Vector(x[0], 1.0) if x[1] > 0 else Vector(x[2], 2.0)
    return v + v


def test_operators_of_named_tuples_are_captured() -> None:
    check(adds, (Vector(1.0, 2.0), Vector(3.0, 4.0)), (Vector(1.0, -2.0), Vector(3.0, 4.0)))
    check(adds_in_loops, (np.arange(9.0),))
    check(chooses, (np.arange(3.0),), (-np.arange(3.0),))


FLOATS = np.float32 | np.float64


def converts(x: Any, kind: Any = None) -> Any:
    kind = np.float64 if kind is None else kind
    if kind not in FLOATS.__args__:
        raise TypeError(kind)
    return x.astype(kind) * len(FLOATS.__args__) + isinstance(x[0], FLOATS)


def test_a_union_of_classes_is_read() -> None:
    x = np.arange(3.0)
    check(converts, (x,), lasting=True)
    check(converts, (x, np.float32), lasting=True)
    check(lambda x, kinds: x.astype(kinds.__args__[0]), (x, np.int64 | np.bool_), lasting=True)


def orders(x: Any) -> Any:
    return x + 1 if Ordered.LOW < Ordered.HIGH else x


def test_methods_that_only_look_are_captured() -> None:
    check(orders, (np.arange(3.0),))


class Label(str):
    size: Any
    inner: Any


def reads_attributes(label: Any, x: Any) -> Any:
    size = operator.attrgetter("size")
    both = operator.attrgetter("size", "inner.size")
    return size(label) + x, both(label), list(map(size, [label, label.inner])), label.size


def test_attributes_that_an_attrgetter_reads_are_guarded() -> None:
    label = Label("a")
    label.inner = Label("b")
    compiled = fxc.compile(reads_attributes, fullgraph=True)
    for size in (1.0, 2.0, 2.5, 1.0):
        label.size, label.inner.size = size, size + 1
        x = np.arange(3.0)
        assert repr(compiled(label, x)) == repr(reads_attributes(label, x))


class FilledByC:
    """A class as those of Cython are: no Python code fills its objects."""

    __init__ = functools.partialmethod(setattr, "held")  # type: ignore[assignment]


def filled(x):
    return FilledByC(x * 2).held + 1


def test_an_object_that_is_not_filled_by_python_code_is_made_by_python():
    with pytest.raises(fxc.CaptureError, match="FilledByC cannot be captured"):
        fxc.compile(filled, fullgraph=True)(np.ones(3))
    with pytest.warns(fxc.CaptureWarning, match="FilledByC cannot be captured"):
        assert fxc.compile(filled)(np.ones(3)).tolist() == [3.0] * 3
