"""Random programs of lists, dicts, sets and deques, compiled, and equal to Python in all that is seen.

``FXC_FUZZ_PROGRAMS`` sets how many there are (``make fuzz``); a failing one is shrunk and printed.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

from tests.programs.test_random_loops import failure
from tests.random_containers import random_containers
from tests.random_loops import shrink

COUNT = int(os.environ.get("FXC_FUZZ_PROGRAMS", "0")) // 10 or 12
FIRST = int(os.environ.get("FXC_FUZZ_FIRST", "100"))  # seeds from here on
CHUNKS = 2  # tests that share the programs


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_containers(chunk: int) -> None:
    counts = Counter[str]()
    for seed in range(FIRST + chunk, FIRST + COUNT, CHUNKS):
        program = random_containers(seed)
        text = failure(program, "native", counts)
        if text:
            kind = text.split(":")[0]
            small = shrink(program, lambda p, kind=kind: failure(p, "native").startswith(kind))
            pytest.fail(f"{failure(small, 'native')}\n\n{small}", pytrace=False)
    assert counts["native"]


def test_programs_depend_on_the_seed_alone() -> None:
    assert str(random_containers(3)) == str(random_containers(3)) != str(random_containers(4))
