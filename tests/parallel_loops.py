"""Parallel loops in tests: of any size, and in an order that the tests choose.

``--threads`` compiles all that tests compile so. Then a loop of more than one chunk is parallel however
short it is, and its chunks are run in a random order, each as if by a random thread: a temporary
that all iterations share, or a total that goes through them, shows in the results.
"""

from __future__ import annotations

import ctypes
import random

import pytest

from fxc.lowering.machine.costs import Costs
from fxc.lowering.machine.target import Target
from fxc.pipeline import assemble
from fxc.runtime import pool

THREADS = 8
# A chunk is one iteration, or a few.
SMALL = Target(threads=THREADS, costs=Costs(chunk=1, least=0, multiple=1))
FEW = Target(threads=THREADS, costs=Costs(chunk=400, least=0, multiple=1))

_RUN = ctypes.CFUNCTYPE(
    ctypes.c_bool,
    *3 * [ctypes.c_void_p],
    *3 * [ctypes.c_int64],
    *2 * [ctypes.c_void_p],
    ctypes.c_int64,
)
_BODY = ctypes.PYFUNCTYPE(None, *3 * [ctypes.c_int64], ctypes.c_void_p)
_MOST = 200  # chunks of a loop: each is a call from Python
_random = random.Random(0)


@_RUN
def _in_some_order(
    pool: int, body: int, context: int, size: int, chunk: int, most: int, *_: object
) -> bool:
    chunk = max(chunk, size // _MOST)
    run, chunks = _BODY(body), list(range(0, size, chunk))
    _random.shuffle(chunks)
    for first in chunks:
        number = _random.randrange(min(most, THREADS))
        run(first, min(chunk, size - first), number, context)
    return False


def in_some_order() -> tuple[int, int]:
    """What stands for the pool: it runs chunks in a random order."""
    return ctypes.cast(_in_some_order, ctypes.c_void_p).value or 0, 0


def compiled_for(patch: pytest.MonkeyPatch, target: Target) -> None:
    """Let code be made for this target."""
    patch.setattr(assemble, "target", lambda: target)


def for_two(patch: pytest.MonkeyPatch) -> None:
    """Let code be made for two processors, however many this machine has: texts are the same."""
    compiled_for(patch, Target(threads=2))


def everywhere(patch: pytest.MonkeyPatch, target: Target = SMALL) -> None:
    """Let code be made for this target, and run in a random order."""
    compiled_for(patch, target)
    patch.setattr(pool, "parallel", in_some_order)
