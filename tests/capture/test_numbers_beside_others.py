"""Operators of numbers with what is no number: text, lists, tuples, None."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.compiling import check, same

MAKES = {
    "numpy": "y[0]",
    "numpy or int": "y[0] if y[1] > 3 else n",
    "numpy or float": "y[0] if y[1] > 3 else 1.5",
    "numpy or bool": "y[0] and n > 5",
    "float": "y[0].item()",
    "array": "y",
}
ASKED = [
    *("z == 'a'", "z != 'a'", "'a' == z", "z == b'a'", "z == None", "z != None", "z == ()"),
    *("z == [1.0]", "[1.0, 2.0] != z", "z in [1, 2]", "z in ('a', 2)", "z == {}", "z < [1.0]"),
    *("z + [1.0]", "[1.0, 2.0] * z", "(z == 'a') + 1"),
    *("z == range(3)", "z + range(2)", "z != ...", "z == int", "z != {}"),
]


def written(number: str, asked: str) -> Callable[..., Any]:
    names: dict[str, Any] = {"np": np}
    exec(f"def f(y, n):\n    z = {number}\n    return {asked}", names)
    found: Callable[..., Any] = names["f"]
    return found


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("number", MAKES)
@pytest.mark.parametrize("asked", ASKED)
def test_beside_what_is_no_number(number: str, asked: str) -> None:
    fn = written(MAKES[number], asked)
    compiled = fxc.compile(fn)
    for first in (1.0, 0.0, 5.0):
        same(fn, compiled, (np.arange(9.0) + first, 7))


def test_a_test_that_one_case_does_not_have() -> None:
    """Of an empty array there is no truth: native code leaves where NumPy would raise."""

    def count(y: Any, n: int, items: list[Any]) -> int:
        found = 0
        for k in range(len(y)):
            if (y[k] and n % 2 == 0) == items:
                found += 1
        return found

    check(count, (np.arange(9.0) + 1, 7, []), (np.arange(9.0), 7, []))


def scaled_by_data(x: Any, y: Any, c: float) -> None:
    x[0] *= c if y[0] < 10 else 1


def scaled_by_an_element(x: Any, y: Any, c: float) -> None:
    x[1] = x[1] * (c if c > x[-1] else 2)


@pytest.mark.parametrize("dtype", ["i8", "f4"])
@pytest.mark.parametrize("fn", [scaled_by_data, scaled_by_an_element])
def test_a_float_or_an_int_goes_into_integers(fn: Callable[..., Any], dtype: str) -> None:
    """NumPy raises where the float fits in none; the int is stored in any case."""
    x, calls = np.arange(1, 4).astype(dtype), []
    for c in (2.5, 1e300, -1e300, float("nan"), 1e19):
        calls += [(x, np.array([first, 2.0]), c) for first in (1.0, 20.0)]
    compiled = fxc.compile(fn)
    for call in calls:
        same(fn, compiled, call)
    assert compiled.cache_info().native_calls


class Counting:
    """An object whose operators count how often they run."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self) -> None:
        self.calls = 0

    def __radd__(self, other: Any) -> Any:
        self.calls += 1
        return other * 2

    def __eq__(self, other: object) -> Any:
        self.calls += 1
        return bool(other != 1.0)

    def __gt__(self, other: Any) -> Any:
        self.calls += 1
        return other


class First(Counting):
    """Such an object to which NumPy leaves an operator."""

    __array_ufunc__ = None


def added(z: Any, one: Any) -> Any:
    return z + one, one.calls


def compared(z: Any, one: Any) -> Any:
    return z < one, one.calls


def equal(z: Any, one: Any) -> Any:
    return z == one, one.calls


def equal_from_the_right(z: Any, one: Any) -> Any:
    return one == z, one.calls


def unequal(z: Any, one: Any) -> Any:
    return z != one, one.calls


def numpy_or_int(y: Any, n: int) -> Any:
    return y[0] if y[1] > 3 else n


def numpy_or_float(y: Any, n: int) -> Any:
    return y[0] if y[1] > 3 else 1.5


def float_or_int(y: Any, n: int) -> Any:
    return 1.5 if y[1] > 3 else n


def numpy_or_bool(y: Any, n: int) -> Any:
    return y[0] and n > 5


def none_or_float(y: Any, n: int) -> Any:
    return None if y[1] > 3 else 1.5


NATIVE = [numpy_or_int, numpy_or_float, float_or_int, none_or_float]


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("kind", [Counting, First])
@pytest.mark.parametrize("asked", [added, compared, equal, equal_from_the_right, unequal])
@pytest.mark.parametrize("made", [*NATIVE, numpy_or_bool])
def test_code_of_the_program_runs_once(
    made: Callable[..., Any], asked: Callable[..., Any], kind: type
) -> None:
    """For a number that is of one type or another, too: it is called with that number."""

    def fn(y: Any, n: int, one: Any) -> Any:
        return asked(made(y, n), one)

    compiled = fxc.compile(fn)
    for first in (1.0, 0.0, 5.0):
        same(fn, compiled, lambda at=first: (np.arange(9.0) + at, 7, kind()))
    if kind is Counting and asked is equal and made in NATIVE:
        assert compiled.cache_info().native_calls == 3


class Colour(enum.IntEnum):
    RED = 1


class Named(float):
    """A float with a name."""


def compared_with_an_enum(z: Any) -> Any:
    return z == Colour.RED, z != Colour.RED, z in (Colour.RED,), z < Colour.RED, z + Colour.RED


def compared_with_its_own(z: Any, w: Any) -> Any:
    return z == w, w != z, z <= w, z in (w,)


def test_numbers_of_derived_classes() -> None:
    """Python's operators take them for what they are derived from."""
    check(compared_with_an_enum, (1,), (2,), (1.0,), (2.5,), (True,))
    fn, compiled = compared_with_its_own, fxc.compile(compared_with_its_own)
    for w in (Colour.RED, Named(1.0), Named(2.5)):
        for z in (1, 2, 1.0, 2.5):
            same(fn, compiled, (z, w))


def among_sequences(y: Any, items: list[float]) -> Any:
    return [1.0] in (y[0],), (y[0],) in (y[0],), items in [y[0], 3], [[1.0]].count(y[0])


def test_a_number_among_sequences() -> None:
    """``in`` asks a number of NumPy's about a list, of which it makes an array."""
    compiled = fxc.compile(among_sequences)
    for first in (0.0, 1.0):
        same(among_sequences, compiled, (np.arange(3.0) + first, [1.0]))
