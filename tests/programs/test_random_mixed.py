"""Random programs of Python's constructs around arrays, compiled, and equal to Python in all that is seen.

``FXC_FUZZ_PROGRAMS`` sets how many there are; a failing one is shrunk and printed.
"""

from __future__ import annotations

import functools
import os
import resource
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import fxc
from tests import parallel_loops
from tests.programs.test_random_loops import observed
from tests.random_mixed import MixedProgram, arguments, random_mixed, shrink
from tests.worlds import seen
from tests.written_programs import defined

COUNT = int(os.environ.get("FXC_FUZZ_PROGRAMS", "0")) // 2 or 40
FIRST = int(os.environ.get("FXC_FUZZ_FIRST", "0"))  # seeds from here on
CHUNKS = 4  # tests that share the programs
# Arrays so large that NumPy refuses to make them, which nobody reads.
_OF_SIZE = ("too big", "allocate")


_MOST = 12 << 30  # bytes of memory: programs draw sizes of 2**31, which some machines would grant


@pytest.fixture(autouse=True)
def _limited() -> Iterator[None]:
    """Let NumPy refuse what would take all memory of the machine."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_MOST if soft < 0 else min(soft, _MOST), hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def load(program: MixedProgram) -> dict[str, Any]:
    """The globals of a program, with the function."""
    space: dict[str, Any] = {"np": np, "functools": functools, "__name__": "mixed"}
    return defined(f"mixed {program.seed}", program.source, space)


def outcome(function: Callable[..., Any], args: Any, space: dict[str, Any]) -> list[str]:
    """All that can be seen of a call."""
    given, options = args
    found, reports = observed(functools.partial(function, **options), given)
    made = [space["Base"].made, space["Box"].made, space["logged"].__defaults__]
    left = [space[name] for name in ("G", "TOTAL", "LOG", "STORE")]
    bases = [x.base for x in given if isinstance(x, np.ndarray) and x.dtype.kind not in "fc"]
    kept = [x for x in bases if isinstance(x, np.ndarray)]
    return [*reports, repr(found.error), seen((found.result, args, left, made, kept))]


def failure(program: MixedProgram) -> str:
    """How the compiled program differs from Python, or ''."""
    try:
        plain, other = load(program), load(program)
    except SyntaxError:
        return ""  # no program: one that is being shrunk, or that assigns to what cannot be
    compiled = fxc.compile(other["program"], dynamic=program.seed % 4 == 3)
    made: dict[int, Any] = {}  # the arguments are those of an earlier call, or made anew
    for place, seed in enumerate(program.seeds):
        if seed not in made or program.seed % 3:
            made[seed] = arguments(seed, plain), arguments(seed, other)
        wanted = outcome(plain["program"], made[seed][0], plain)
        if "NameError" in wanted[0] or any(text in wanted[0] for text in _OF_SIZE):
            return ""
        found = outcome(compiled, made[seed][1], other)
        if wanted != found:
            return f"call {place}:\n{found}\nPython:\n{wanted}"
    return ""


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_mixed(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if chunk == CHUNKS - 1:
        parallel_loops.everywhere(monkeypatch)
    for seed in range(FIRST + chunk, FIRST + COUNT, CHUNKS):
        program = random_mixed(seed)
        if failure(program):
            small = shrink(program, lambda each: bool(failure(each)))
            pytest.fail(f"{failure(small)}\n\n{small}", pytrace=False)


def test_programs_depend_on_the_seed_alone() -> None:
    assert str(random_mixed(3)) == str(random_mixed(3)) != str(random_mixed(4))
