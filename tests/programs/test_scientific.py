"""Programs with loops as scientists write them: captured whole, equal to NumPy, for other sizes too."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run
from tests.scientific import dynamics, linear_algebra, numbers, searches, signals, statistics
from tests.scientific.registry import PROGRAMS, ScientificProgram

FIELDS = (dynamics, linear_algebra, numbers, searches, signals, statistics)


def test_every_field_has_programs() -> None:
    assert {case.function.__module__ for case in PROGRAMS} == {each.__name__ for each in FIELDS}


@pytest.mark.parametrize("case", PROGRAMS, ids=[each.function.__name__ for each in PROGRAMS])
def test_as_numpy(case: ScientificProgram) -> None:
    program = fxc.compile(case.function, fullgraph=True)
    for make in case.makes:
        args = make(np.random.default_rng(0))
        expected, found = run(case.function, copy.deepcopy(args)), run(program, copy.deepcopy(args))
        assert expected.error is None
        assert difference(expected, found, lambda where: case.ulps) == ""
    info = program.cache_info()
    assert (info.eager_calls, info.variants <= 2) == (0, True)
