"""Programs as people write them: equal to NumPy in all that can be seen, and most captured whole."""

from __future__ import annotations

import pytest

import fxc
from tests.covering import some
from tests.read_back import everything_is_read_back
from tests.wild.programs import CAPTURED, FIELDS, PROGRAMS
from tests.wild.registry import WildProgram
from tests.wild.seen import differs


def test_there_are_enough() -> None:
    names = {each.name for each in PROGRAMS}
    assert len(names) == len(PROGRAMS) >= 60
    assert names >= CAPTURED
    assert {case.function.__module__ for case in PROGRAMS} == {each.__name__ for each in FIELDS}


@pytest.mark.usefixtures("as_users")
@pytest.mark.parametrize("program", PROGRAMS, ids=[each.name for each in PROGRAMS])
def test_as_numpy(program: WildProgram, monkeypatch: pytest.MonkeyPatch) -> None:
    everything_is_read_back(monkeypatch)
    compiled = fxc.compile(program.function, fullgraph=program.name in CAPTURED)
    resized = program in some(PROGRAMS, len(PROGRAMS) // 3)
    assert differs(program, compiled, program.small, resized=resized) == ""
