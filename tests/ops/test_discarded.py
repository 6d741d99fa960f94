"""What NumPy warns of, or raises, where nobody reads what it computes, or a compiler knows it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc


def divides(x: Any) -> Any:
    x / 0
    return x + 1


def casts(x: Any) -> Any:
    np.log(x)
    (x * 1e300).astype("f4")
    return x


def quotient(x: Any) -> Any:
    return x / 0


def calls(x: Any) -> Any:
    quotient(x)
    return x


def tries(x: Any) -> Any:
    with np.errstate(all="raise"):
        try:
            x / 0
        except FloatingPointError as error:
            return str(error)
    return "nothing was raised"


def of_constants(x: Any) -> Any:
    return np.log(np.zeros(3)) + x[0], np.ones(2) / (np.arange(2) - 1.0)


def quietly_of_constants(x: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.log(np.zeros(3)) + x[0]


def of_what_was_in_memory(x: Any) -> Any:
    return (np.empty(3) / np.empty(3)).shape, x


def of_filled_constants(x: Any) -> Any:
    made = np.zeros(3)
    made[:] = x[:3] + 1
    return np.log(made)


def outcome(fn: Callable[[Any], Any], x: Any) -> tuple[str, list[tuple[str, int]]]:
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        found = repr(fn(x.copy()))
    told = [each for each in shown if not issubclass(each.category, fxc.CaptureWarning)]
    return found, [(str(each.message), each.lineno) for each in told]


PROGRAMS = (
    *(divides, casts, calls, tries),
    *(of_constants, quietly_of_constants, of_filled_constants),
)


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_nobody_reads_or_is_constant(program: Callable[[Any], Any]) -> None:
    compiled = fxc.compile(program)
    for x in (np.arange(3.0), np.arange(1.0, 40.0), np.arange(3.0)):
        assert outcome(program, x) == outcome(compiled, x)


def test_what_was_in_memory_decides_nothing() -> None:
    """``inspect`` runs nothing: NumPy may warn of these, or not."""
    for _ in range(20):
        compiled = fxc.compile(of_what_was_in_memory, fullgraph=True)
        assert compiled.inspect(np.zeros(3)).captured.nodes
