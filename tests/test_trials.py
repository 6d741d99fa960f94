"""Compiled code against Python: Note [Trials]."""

from __future__ import annotations

import numpy as np
import pytest

import fxc
from fxc.trials import BRIEF, CALLS, LONG, SETTLED, Trial


@pytest.mark.parametrize(
    ("compiled", "python", "pays"),
    [(1e-5, 2e-5, True), (2e-5, 1e-5, False), (1e-5, 1e-5, True), (1e-3, 2e-3, True)],
)
def test_verdicts(compiled: float, python: float, pays: bool) -> None:
    trial = Trial()
    for _ in range(CALLS):
        assert not trial.is_pythons
        assert trial.pays is None
        trial.note(compiled)
    for _ in range(CALLS if compiled < BRIEF else 1):
        assert trial.is_pythons
        assert trial.pays is None
        trial.note(python)
    assert trial.pays is pays


def test_long_calls_are_not_tried_in_python() -> None:
    trial = Trial()
    trial.note(2 * LONG)
    assert trial.pays is True


def first_of_many(table):
    total = 0.0
    for row in table:
        total = total + row["a"]
    return total


def test_a_function_of_many_objects_is_left_to_python() -> None:
    """Its calls do hardly anything beside their guards."""
    table = [{"a": float(k)} for k in range(40)]
    compiled = fxc.compile(first_of_many)
    (variant,) = (compiled(table), compiled._state.variants)[1]
    assert not variant.is_tried
    for k in range(200):
        table[3]["a"] = k / 2
        assert compiled(table) == first_of_many(table)
    info = compiled.cache_info()
    assert variant.is_tried
    assert info.variants <= 2
    assert info.native_calls + info.eager_calls == 201


def test_a_function_of_arrays_is_not_tried() -> None:
    compiled = fxc.compile(lambda x: np.sin(x) + 1)
    for _ in range(SETTLED + 3 * CALLS):
        compiled(np.ones(3))
    assert compiled.cache_info().eager_calls == 0


def test_an_exception_ends_no_trial() -> None:
    table = [{"a": float(k)} for k in range(40)]

    def program(table, places):
        total = 0.0
        for row in table:
            total = total + row["a"]
        return total / places[0]

    compiled = fxc.compile(program)
    for k in range(3 * SETTLED):
        places = [k % 2]
        if k % 2:
            assert compiled(table, places) == program(table, places)
        else:
            with pytest.raises(ZeroDivisionError):
                compiled(table, places)
