"""Split functions beside the functions themselves: ``compared`` calls both with equal arguments.

They call ``unknown``, which fxc cannot capture.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import fxc

SEEN: list[tuple[str, ...]] = []  # what ``unknown`` was given


def unknown(x: Any, *others: Any) -> Any:
    """What fxc cannot capture: it runs source that is only known then."""
    names = {"SEEN": SEEN, "others": (repr(x), *map(repr, others))}
    eval("SEEN.append(others)", names)
    return x


def outcome(fn: Callable[..., Any], *args: Any) -> tuple[Any, tuple[Any, ...], int]:
    """Result or exception of a call, the arguments afterwards, and how often ``unknown`` ran."""
    SEEN.clear()
    try:
        result = fn(*args)
        result = list(result) if hasattr(result, "send") else result
        found = ("returned", result)
    except Exception as error:
        found = (type(error).__name__, str(error))
    return found, args, len(SEEN)


def alike(a: Any, b: Any) -> None:
    """Fail unless these are equal in type, order and elements; strides and bases are left open."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    elif isinstance(a, tuple | list):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            alike(x, y)
    elif isinstance(a, dict):
        assert [*a] == [*b]
        alike([*a.values()], [*b.values()])
    else:
        assert a == b or a != a


def compared(
    fn: Callable[..., Any], make: Callable[[], tuple[Any, ...]], calls: int = 4, parts: int = 1
) -> Any:
    """``fn`` compiled, which does what ``fn`` does, call by call; ``parts`` are compiled at least."""
    compiled = fxc.compile(fn)
    for _ in range(calls):
        alike(outcome(fn, *make()), outcome(compiled, *make()))
    info = compiled.cache_info()
    assert info.parts >= parts, info
    assert info.part_calls >= parts, info
    return compiled
