"""Members of enums that a condition chooses and a loop carries. See Note [Several things]."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
import pytest

import fxc
from tests.compiling import check

X = np.random.default_rng(0).random(30)


class Colour(enum.IntEnum):
    RED = 1
    GREEN = 2
    BLUE = 4


class Gate(enum.StrEnum):
    OPEN = "open"
    SHUT = "shut"


class Bits(enum.Flag):
    ONE = 1
    TWO = 2


class Code(enum.Enum):
    GOOD = 0
    BAD = 1


def numbers(x: Any) -> Any:
    state, n, out, table = Colour.RED, 0, np.zeros(len(x)), [1.5, 2.5, 3.5, 4.5, 5.5]
    for i in range(len(x)):
        if state == Colour.RED and x[i] > 0.5:
            state = Colour.GREEN
        elif state is Colour.GREEN and x[i] < 0.3:
            state = Colour.BLUE
        elif state > 2:
            state = Colour.RED
        n += state
        out[i] = state
        out[state] += x[state] * int(state) + table[state]
    return state, n, out, state.name


def texts(x: Any) -> Any:
    state, n, counts = Gate.OPEN, 0, {"open": 0, "shut": 0}
    for v in x:
        if state == "open" and v > 0.5:
            state = Gate.SHUT
        elif state is Gate.SHUT and v < 0.3:
            state = Gate.OPEN
        counts[state] += 1
    return state, n, counts, state + "!"


def beside_what_they_equal(x: Any) -> Any:
    number, text, kept = 1, "open", []
    for v in x:
        number = Colour.RED if v > 0.5 else 1
        text = "open" if v < 0.7 else Gate.OPEN
        kept.append((number, text))
    return number, text, kept


def flags(x: Any) -> Any:
    state = Bits.ONE
    for v in x:
        if v > 0.6:
            state |= Bits.TWO
        elif v < 0.2:
            state &= ~Bits.TWO
    return state


def by_value(x: Any) -> Any:
    state, kept = Colour.RED, []
    for v in x:
        if v > 0.5:
            state = Colour(3 - state)
        kept.append((state, Code(int(v > 0.4))))
    return kept


@pytest.mark.parametrize("program", [numbers, texts, beside_what_they_equal, flags, by_value])
def test_a_state_is_carried(program: Any) -> None:
    compiled = check(program, (X,), (1 - X,), fullgraph=True)
    assert compiled.cache_info().eager_calls == 0


def test_a_number_that_no_member_has_raises_as_in_python() -> None:
    compiled = fxc.compile(lambda x: Code(int(x[0])), fullgraph=True)
    assert compiled(np.ones(3)) is Code.BAD
    with pytest.raises(ValueError, match="3 is not a valid Code"):
        compiled(np.full(3, 3.0))


class Mask(enum.IntFlag):
    ONE = 1
    TWO = 2


def one_or_another(x: Any) -> Any:
    state = Mask.ONE
    for v in x:
        state = Mask.TWO if v > 0.6 else Colour.RED
    return state


def test_a_name_that_one_of_several_has_not() -> None:
    """Python raises where it is the one without."""

    def program(x: Any) -> Any:
        state = Colour.RED if x[0] > 0.5 else 1
        return state.name

    check(program, (np.ones(3),), (np.zeros(3),))


def test_a_flag_that_is_an_int_keeps_its_operators() -> None:
    compiled = fxc.compile(lambda x: one_or_another(x) & 3)
    for x in (np.ones(9), np.zeros(9)):
        found = compiled(x)
        assert repr(found) == repr(one_or_another(x) & 3)


def beside_narrow_dtypes(x: Any, narrow: Any) -> Any:
    """NumPy takes a member for one of its own numbers, which decides the dtype."""
    state, either = Colour.RED, 1.5
    for v in x:
        state = Colour.BLUE if v > 0.5 else Colour.RED
        either = Colour.BLUE if v > 0.5 else 2
    total = narrow.copy()
    total += state
    return narrow * state, np.where(narrow > 0, state, narrow), narrow[0] + either, total


def test_a_member_decides_the_dtype_beside_narrow_numbers() -> None:
    small = np.arange(3, dtype=np.int8)
    check(beside_narrow_dtypes, (X, small), (1 - X, small), (X, small.astype(np.float32)))
    either = fxc.compile(lambda x, narrow: narrow + (Colour.RED if x[0] > 0.5 else 7))
    assert [either(np.full(1, v), small).dtype for v in (0.0, 1.0)] == [np.int8, np.int64]


class Backwards(enum.IntEnum):
    LOW = 1
    HIGH = 2

    def __radd__(self, other: Any) -> Any:
        return "sum", self.name

    def __gt__(self, other: Any) -> bool:
        return False


def test_operators_of_a_member_on_the_right_come_before_those_of_int() -> None:
    def operators(x: Any) -> Any:
        return int(x[0]) + Backwards.LOW, int(x[0]) < Backwards.HIGH, x[0] + Backwards.LOW

    def either(x: Any) -> Any:
        return (1 if x[0] > 1 else 2.5) + Backwards.LOW

    for program in (operators, either):
        check(program, (np.array([0, 3]),), (np.array([2, 3]),))
    masked = fxc.compile(lambda x: (int(x[0]) & Mask.TWO, len(x) | Mask.ONE))
    for value in (1, 2):
        assert repr(masked(np.full(2, value))) == repr((Mask(value & 2), Mask(3)))


def test_flags_are_asked_for_one_of_several() -> None:
    check(lambda x: (Mask.TWO if x[0] > 0.5 else Mask.ONE) in Mask.TWO, (X,), (1 - X,))
