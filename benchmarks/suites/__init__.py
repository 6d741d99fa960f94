"""Programs as users write them, by suite: `python -m benchmarks.suites`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import (
    calls,
    linear_algebra,
    loops,
    memory,
    pointwise,
    reductions,
    special_functions,
    stencils,
)
from .program import Program

SUITES: Mapping[str, tuple[Program, ...]] = {
    "pointwise": pointwise.PROGRAMS,
    "reductions": reductions.PROGRAMS,
    "stencils": stencils.PROGRAMS,
    "linear-algebra": linear_algebra.PROGRAMS,
    "loops": loops.PROGRAMS,
    "special-functions": special_functions.PROGRAMS,
    "memory": memory.PROGRAMS,
    "calls": calls.PROGRAMS,
}


def chosen(names: Sequence[str]) -> dict[str, tuple[Program, ...]]:
    """Programs by suite, of whole suites or (`loops/thomas`) those whose names begin so.

    >>> [program.name for program in chosen(["calls/unit"])["calls"]]
    ['unit vector, 3']
    """
    found: dict[str, tuple[Program, ...]] = {}
    for suite, programs in SUITES.items():
        taken = tuple(p for p in programs if not names or _is_chosen(names, suite, p.name))
        if taken:
            found[suite] = taken
    return found


def _is_chosen(names: Sequence[str], suite: str, name: str) -> bool:
    return any(
        only == suite or ("/" in only and f"{suite}/{name}".startswith(only)) for only in names
    )
