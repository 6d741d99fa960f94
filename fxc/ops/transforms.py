"""The transforms of ``np.fft``, by NumPy's loops without the Python code that finds them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

# Of which dtypes each function takes its loop as it stands, and the dtype of what it gives.
_GIVEN = {
    "fft": {"F": "F", "D": "D", "f": "F", "d": "D"},
    "ifft": {"F": "F", "D": "D", "f": "F", "d": "D"},
    "rfft": {"f": "F", "d": "D"},
    "irfft": {"F": "f", "D": "d"},
}


def fourier(x: np.ndarray, kind: str, axis: int, norm: object, n: int | None) -> np.ndarray:
    """The transform of ``np.fft`` of that name, of ``n`` points along one axis."""
    flags = x.flags
    in_one_order = flags.c_contiguous and (x.ndim == 1 or not flags.f_contiguous)
    if norm is not None or not in_one_order or axis not in (-1, x.ndim - 1):
        return _by_numpy(kind)(x, n, axis, norm)  # type: ignore[no-any-return]
    given = x.shape[-1]
    if n is None:
        n = 2 * (given - 1) if kind == "irfft" else given
    loop, factor, dtype = _loop(kind, x.dtype.char, n)
    if loop is None:
        return _by_numpy(kind)(x, n, axis, norm)  # type: ignore[no-any-return]
    out = np.empty((*x.shape[:-1], n // 2 + 1 if kind == "rfft" else n), dtype)
    return loop(x, factor, out)  # type: ignore[no-any-return]


def _by_numpy(kind: str) -> Callable[..., Any]:
    function = getattr(np.fft, kind)
    return getattr(function, "_implementation", function)  # type: ignore[no-any-return]


@lru_cache(maxsize=256)
def _loop(kind: str, char: str, n: int) -> tuple[Callable[..., Any] | None, Any, Any]:
    """The ufunc that NumPy calls, its factor, and the dtype of the result.

    None if it is not where it was from NumPy 2.0 to 2.5, or has other operands there.
    """
    dtype = _GIVEN.get(kind, {}).get(char)
    if dtype is None or n < 1:
        return None, None, None
    try:
        loops = import_module("numpy.fft._pocketfft_umath")
        name = ("rfft_n_odd" if n % 2 else "rfft_n_even") if kind == "rfft" else kind
        found = getattr(loops, name)
    except (ImportError, AttributeError):
        return None, None, None
    if getattr(found, "signature", None) not in ("(n),()->(m)", "(m),()->(n)"):
        return None, None, None
    is_forward = kind in ("fft", "rfft")
    real = np.dtype(dtype.lower())
    return found, 1 if is_forward else np.reciprocal(n, dtype=real), np.dtype(dtype)
