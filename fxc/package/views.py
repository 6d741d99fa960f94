"""Views of arrays by the operators that a manifest names. Needs only NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def _slice(x: np.ndarray, index: tuple[tuple[int, int, int], ...]) -> Any:
    place: Any = (*(_python_slice(*each) for each in index), Ellipsis)
    return x[place]


def _python_slice(start: int, stop: int, step: int) -> slice:
    if step > 0:
        return slice(start, stop, step)
    if start < 0:  # a negative step that starts before the first element: nothing
        return slice(0, 0, step)
    return slice(start, stop if stop >= 0 else None, step)


def _select(x: np.ndarray, axis: int, index: int) -> Any:
    place: Any = (*(slice(None),) * axis, index, Ellipsis)  # of rank 0: a view, and no scalar
    return x[place]


def _expand_dims(x: np.ndarray, axes: tuple[int, ...]) -> Any:
    rank = np.ndim(x) + len(axes)
    new = {axis % rank for axis in axes}
    place: Any = tuple(None if axis in new else slice(None) for axis in range(rank))
    return np.asarray(x)[place]


def _broadcast(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    found: np.ndarray = np.broadcast_arrays(x, np.broadcast_to(x, shape), 0)[0]
    return found


VIEWS: dict[str, Callable[..., Any]] = {
    "slice": _slice,
    "select": _select,
    "transpose": np.transpose,
    "expand_dims": _expand_dims,
    "squeeze": np.squeeze,
    "reshape": np.reshape,
    "broadcast_to": np.broadcast_to,
    "broadcast": _broadcast,
    "diagonal": np.diagonal,
    "real": np.real,
    "imag": np.imag,
    "bitcast": lambda x, dtype: x.view(dtype),
    "regroup_bytes": lambda x, dtype: x.view(dtype),
}
