"""What two calls of one program do, compared: results, aliases, and what becomes of arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fxc.ir.tree import flatten, unflatten
from fxc.ir.types import normal_strides
from fxc.ops.kernels.copies import strided_copy


def differences(
    left: Callable[..., Any], right: Callable[..., Any], args: Sequence[Any]
) -> list[str]:
    """Where ``left(*args)`` and ``right(*args)``, on copies, differ by a bit or an alias."""
    seen = [_seen(function, _copied(args)) for function in (left, right)]
    names = sorted(seen[0].keys() | seen[1].keys())
    return [
        f"{name}: {seen[0].get(name)!r} and {seen[1].get(name)!r}"[:400]
        for name in names
        if seen[0].get(name) != seen[1].get(name)
    ]


def _copied(args: Sequence[Any]) -> tuple[Any, ...]:
    """Arguments like these, arrays in memory of their own and as they lay."""
    leaves, spec = flatten(tuple(args))
    made: dict[int, Any] = {}
    for leaf in leaves:
        if isinstance(leaf, np.ndarray):
            made.setdefault(id(leaf), strided_copy(leaf))
            made[id(leaf)].flags.writeable = leaf.flags.writeable
    return unflatten(spec, [made.get(id(leaf), leaf) for leaf in leaves])  # type: ignore[no-any-return]


def _seen(function: Callable[..., Any], args: tuple[Any, ...]) -> dict[str, Any]:
    with np.errstate(all="ignore"):
        try:
            result = function(*args)
        except (ValueError, TypeError, IndexError) as error:
            return {"raises": type(error)}
    leaves, spec = flatten(result)
    given, _ = flatten(args)
    found: dict[str, Any] = {"structure": spec}
    for place, leaf in enumerate(leaves):
        found[f"result {place}"] = _content(leaf)
        for kind, others in (("argument", given), ("result", leaves[:place])):
            for number, other in enumerate(others):
                found[f"result {place} and {kind} {number}"] = _relation(leaf, other)
    for place, value in enumerate(given):
        found[f"argument {place}"] = _content(value)
    return found


def _content(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        nan_bits = value.copy()
        if nan_bits.dtype.kind in "fc":  # of one kind, wherever they come from
            nan_bits[np.isnan(nan_bits)] = np.nan
        order = normal_strides(value.shape, value.strides, value.itemsize)
        return ("array", value.dtype, value.shape, order, nan_bits.tobytes(), value.flags.writeable)
    if isinstance(value, np.generic):
        return (type(value), "nan" if value != value else value.tobytes())
    if isinstance(value, float):
        return ("float", value.hex())
    return (type(value), value)


def _relation(left: Any, right: Any) -> Any:
    if not isinstance(left, np.ndarray) or not isinstance(right, np.ndarray):
        return None
    if left is right:
        return "one object"
    return np.shares_memory(left, right) if left.size < 5000 else np.may_share_memory(left, right)
