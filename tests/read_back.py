"""Texts of loop nests in tests: whatever is lowered is printed, read back, and printed alike."""

from __future__ import annotations

from typing import Any

import pytest

from fxc.lowering.nests.parse import parse_loops
from fxc.lowering.nests.program import Program
from fxc.pipeline import assemble

LONG = 400  # lines: more take too long to read for each test


def reads_back(program: Program) -> None:
    """Its text says what it is, but for the bytes that it moves: the printer counts those."""
    printed = str(program).splitlines()
    if len(printed) <= LONG:
        read = str(parse_loops("\n".join(printed))).splitlines()
        assert read[:-1] == printed[:-1]


def everything_is_read_back(patch: pytest.MonkeyPatch) -> None:
    """Let each program that is lowered be read back."""
    lower = assemble.lower

    def checked(*args: Any, **kwargs: Any) -> Any:
        made = lower(*args, **kwargs)
        reads_back(made.program)
        return made

    patch.setattr(assemble, "lower", checked)
