"""Compiled functions beside the functions themselves: ``same`` compares one call, ``check`` some."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

import fxc
from tests.outcomes import difference, run

Make = Callable[[], tuple[Any, ...]]
Given = tuple[Any, ...] | Make  # arguments, or what makes them


def own(given: Given) -> tuple[Any, ...]:
    """Arguments that nobody else has, views of memory that is theirs in the same way."""
    if callable(given):
        return given()
    memo: dict[int, Any] = {}
    for each in given:
        if isinstance(each, np.ndarray) and isinstance(each.base, np.ndarray):
            memo[id(each)] = _same_view(each, memo)
    return copy.deepcopy(given, memo)


def _same_view(x: np.ndarray, memo: dict[int, Any]) -> np.ndarray:
    """A view of a copy of the memory that ``x`` is a view of, which ``memo`` has then."""
    base = x
    while isinstance(base.base, np.ndarray):
        base = base.base
    if base.base is not None or base.dtype.hasobject or x.dtype.hasobject:
        return copy.deepcopy(x)
    memory = memo.setdefault(id(base), base.copy("K"))
    offset = x.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    found = np.ndarray(x.shape, x.dtype, memory.ravel("K").data, offset, x.strides).view(type(x))
    found.flags.writeable = x.flags.writeable
    return found


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
