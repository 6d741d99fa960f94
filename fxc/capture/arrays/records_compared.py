"""``==`` and ``!=`` of records, and of arrays of them, field by field as NumPy compares them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

_HOW: dict[str, tuple[Callable[[Any, Any], Any], str, Callable[[Any, Any], Any]]] = {
    "equal": (operator.eq, "all", operator.and_),
    "not_equal": (operator.ne, "any", operator.or_),
}


def compared(name: str, x: Any, y: Any) -> object:
    """``x == y`` or ``x != y``, of arrays of records; of rank 0 for records."""
    compare, of_all, join = _HOW[name]
    rank, found = max(x.ndim, y.ndim), []
    for field in x.dtype.names:
        part = compare(x[field], y[field])
        own = part.ndim - rank  # axes of a field that has several elements
        found.append(getattr(part, of_all)(axis=tuple(range(-own, 0))) if own else part)
    return reduce(join, found)
