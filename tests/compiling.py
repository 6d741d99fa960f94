"""Compiled functions beside the functions themselves."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import fxc
from tests.outcomes import difference, run


def check(fn: Callable[..., Any], *calls: tuple[Any, ...], eager: int = 0, **options: Any) -> Any:
    """``fn`` compiled, which does what ``fn`` does in each of the calls: ``eager`` of them as plain
    NumPy.
    """
    compiled = fxc.compile(fn, fullgraph=True, **options)
    for args in calls:
        expected, found = run(fn, copy.deepcopy(args)), run(compiled, copy.deepcopy(args))
        assert difference(expected, found) == "", args
    assert compiled.cache_info().eager_calls == eager
    return compiled
