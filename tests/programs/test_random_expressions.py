"""Random expressions with calls that no graph holds: Python's order, compiled around them.

``FXC_FUZZ_PROGRAMS`` sets how many there are (``make fuzz``).
"""

import os

import pytest

from fxc.split import taking_apart
from tests.conftest import FOUND_BY
from tests.random_expressions import failure

COUNT = int(os.environ.get("FXC_FUZZ_PROGRAMS", "0")) or 16
FIRST = int(os.environ.get("FXC_FUZZ_FIRST", "0"))


def test_random_expressions():
    for seed in range(FIRST, FIRST + COUNT):
        text = failure(seed)
        if text:
            pytest.fail(f"seed {seed}\n{text}", pytrace=False)


def all_is_still(patch):
    patch.setattr(taking_apart._Apart, "_is_still", lambda self, node: True)


def operands_are_taken_from_the_right(patch):
    original = taking_apart._operands
    patch.setattr(taking_apart, "_operands", lambda node: original(node)[::-1])


def the_call_is_made_first(patch):
    original = taking_apart._Apart._ended

    def ended(self):
        self._made.reverse()
        return original(self)

    patch.setattr(taking_apart._Apart, "_ended", ended)


@pytest.mark.parametrize(
    "plant", [all_is_still, operands_are_taken_from_the_right, the_call_is_made_first]
)
def test_a_planted_bug_is_found(plant, record_property):
    for seed in range(60):
        with pytest.MonkeyPatch.context() as patch:
            plant(patch)
            if failure(seed):
                record_property(FOUND_BY, seed + 1)
                return
    pytest.fail("60 programs pass with the bug")
