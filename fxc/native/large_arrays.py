"""Large arrays of compiled code, in memory that is kept. See Note [Kept memory]."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import cache
from importlib import import_module

import numpy as np

from fxc.ir.settings import Config, config
from fxc.ir.tracebacks import folded
from fxc.package.builtins import NEW_ARRAY, numpy_function
from fxc.runtime.kept_memory import KeptMemory, NumpyMemory, usual_limit
from fxc.runtime.recipe import LARGE

from .numpy_slots import SET_HANDLER, usual_handler


@cache
def memory() -> KeptMemory:
    """That of this process."""
    takes = getattr(import_module("numpy._core.multiarray"), "_get_madvise_hugepage", bool)
    numpy = NumpyMemory(
        numpy_function(SET_HANDLER), numpy_function(NEW_ARRAY), usual_handler(), takes()
    )
    return KeptMemory(numpy, get_kept_memory())


def new_array_function() -> int:
    """The address of what makes arrays: as NumPy's does, but for the memory of large ones."""
    return memory().new_array if os.name == "posix" else numpy_function(NEW_ARRAY)


def _is_large(shape: tuple[int, ...], dtype: np.dtype) -> bool:
    return os.name == "posix" and math.prod(shape) * dtype.itemsize >= LARGE


def _empty(shape: int | tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """``np.empty``, of memory that is kept if it is large."""
    sizes = (shape,) if isinstance(shape, int) else shape
    if _is_large(sizes, dtype):
        found: np.ndarray = memory().made(np.empty, shape, dtype)
        return found
    return np.empty(shape, dtype)


def _empty_like(like: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """``np.empty_like``, of memory that is kept if it is large."""
    if _is_large(shape, like.dtype):
        found: np.ndarray = memory().made(np.empty_like, like, shape=shape)
        return found
    return np.empty_like(like, shape=shape)


_MAKERS: dict[str, Callable[..., np.ndarray]] = {"empty": _empty, "empty_like": _empty_like}


def maker(name: str) -> Callable[..., np.ndarray]:
    """What makes arrays as this function of NumPy does, but for the memory of large ones."""
    return _MAKERS[name]


def get_kept_memory() -> int:
    """How many bytes of memory fxc keeps at most when large arrays that it made are gone.

    It is ``fxc.config.kept_memory``, which ``fxc.set_kept_memory`` and the environment variable
    ``FXC_KEPT_MEMORY`` set, or else an eighth of the machine's memory, 1 GiB at most.

    >>> import fxc
    >>> fxc.get_kept_memory() >= 0
    True
    """
    limit = config.kept_memory
    return usual_limit() if limit is None else limit


@folded
def set_kept_memory(n: int | None) -> None:
    """Keep up to ``n`` bytes of memory of large arrays that are gone, for those that come.

    If more is kept when this is called, the rest is given back to the system at once. ``n = 0``
    turns it off, None lets it be what it is by default.

    Raises ``ValueError`` if ``n`` is negative, ``TypeError`` if it is no int.

    >>> import fxc
    >>> before = fxc.get_kept_memory()
    >>> fxc.set_kept_memory(0)
    >>> fxc.get_kept_memory()
    0
    >>> fxc.set_kept_memory(before)
    """
    config.kept_memory = n


def _limit() -> None:
    if memory.cache_info().currsize:
        memory().limit = get_kept_memory()


Config.kept_memory.watch(_limit)
