"""Machine code that is made in a hurry, for tests of what is computed, not of how.

LLVM takes more than a third of the time of these tests where nothing is kept from an earlier run, and
a third of that without its optimisations. What it makes of loops is for the tests of other folders,
and for every third of these: which one, its name says. ``--thorough`` has all code optimised.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from zlib import crc32

import pytest

from fxc.pipeline import assemble
from fxc.runtime.engine import Engine
from tests import covering


class Hurried(Engine):
    """The machine code of a module, as LLVM makes it without any optimisation."""

    __slots__ = ()

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options, quick=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """No fixture, as in ``tests/conftest.py``."""
    with pytest.MonkeyPatch.context() as patch:
        if not covering.thorough and crc32(item.nodeid.encode()) % 3:
            patch.setattr(assemble, "Engine", Hurried)
        yield
