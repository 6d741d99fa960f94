"""What operators that NumPy itself runs mean, where that is no function of NumPy's as it stands."""

from __future__ import annotations

from typing import Any

import numpy as np

from fxc.ir.errors import WouldRaise


def bincount(x: np.ndarray, weights: np.ndarray | None, minlength: int) -> np.ndarray:
    """``np.bincount`` if there are no more bins than ``minlength`` says."""
    found = np.bincount(x, weights, minlength)
    if len(found) != minlength:
        raise WouldRaise(f"np.bincount gives {len(found)} bins, not {minlength}")
    return found


def fourier(x: np.ndarray, kind: str, axis: int, norm: Any) -> np.ndarray:
    """The transform of ``np.fft`` of that name, along one axis."""
    found: np.ndarray = getattr(np.fft, kind)(x, axis=axis, norm=norm)
    return found


def einsum(xs: tuple[Any, ...], subscripts: str, optimize: bool) -> Any:
    """``np.einsum`` with the operands first."""
    return np.einsum(subscripts, *xs, optimize=optimize)
