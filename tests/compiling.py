"""Compiled functions beside the functions themselves: ``same`` compares one call, ``check`` some."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import fxc
from tests.outcomes import difference, run

Make = Callable[[], tuple[Any, ...]]
Given = tuple[Any, ...] | Make  # arguments, or what makes them


def own(given: Given) -> tuple[Any, ...]:
    """Arguments that nobody else has."""
    return given() if callable(given) else copy.deepcopy(given)


def same(
    fn: Callable[..., Any],
    compiled: Callable[..., Any],
    given: Given,
    theirs: tuple[Any, ...] | None = None,
    *,
    ulps: float = 0.0,
) -> bool:
    """Compare a call of each in all that can be seen; gives whether it returns.

    Both get arguments of their own. With ``theirs``, which the compiled function gets, they are taken
    as they are, and left as the call leaves them.
    """
    mine = own(given) if theirs is None else given
    expected = run(fn, mine)
    found = run(compiled, own(given) if theirs is None else theirs)
    assert difference(expected, found, lambda where: ulps) == "", given
    return expected.error is None


def check(
    fn: Callable[..., Any],
    *calls: Given,
    times: int = 2,
    lasting: bool = False,
    eager: int | None = None,
    ulps: float = 0.0,
    **options: Any,
) -> Any:
    """``fn`` compiled, which does what ``fn`` does in all calls, each of them some ``times``.

    ``lasting`` arguments are those of the next time, as a call leaves them. ``eager`` of the calls run
    as plain NumPy: those that raise, unless it is said.
    """
    compiled = fxc.compile(fn, **{"fullgraph": True, **options})
    raising = 0
    for given in calls:
        kept = [own(given), own(given)] if lasting else [given]
        for _ in range(times):
            raising += not same(fn, compiled, *kept, ulps=ulps)
    assert compiled.cache_info().eager_calls == (raising if eager is None else eager)
    return compiled
