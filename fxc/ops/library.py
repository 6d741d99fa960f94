"""What operators that NumPy itself runs mean, where that is no function of NumPy's as it stands."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from fxc.ir.errors import WouldRaise


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy's without its search for operands that have ``__array_function__``."""
    found: Callable[..., Any] = getattr(function, "_implementation", function)
    return found


_bincount, _histogram = plain(np.bincount), plain(np.histogram)
_einsum = plain(np.einsum)
_eig, _eigvals = plain(np.linalg.eig), plain(np.linalg.eigvals)
_lstsq, _qr = plain(np.linalg.lstsq), plain(np.linalg.qr)


def bincount(x: np.ndarray, weights: np.ndarray | None, minlength: int) -> np.ndarray:
    """``np.bincount`` if there are no more bins than ``minlength`` says."""
    found: np.ndarray = _bincount(x, weights, minlength)
    if len(found) != minlength:
        raise WouldRaise(f"np.bincount gives {len(found)} bins, not {minlength}")
    return found


def bincount_all(
    x: np.ndarray, weights: np.ndarray | None, symbol: str, most: int
) -> tuple[np.ndarray]:
    """``np.bincount`` into as many bins as it takes, if that are no more than ``most``."""
    found: np.ndarray = _bincount(x, weights)
    if len(found) > most:
        raise WouldRaise(f"np.bincount gives {len(found)} bins")
    return (found,)


def cosine(x: np.ndarray) -> Any:
    """``np.cos`` to the last bit, for what NumPy makes of cosines that nearly cancel."""
    return np.cos(x)


def einsum(xs: tuple[Any, ...], subscripts: str) -> Any:
    """``np.einsum`` with the operands first."""
    return _einsum(subscripts, *xs)


def histogram(
    x: np.ndarray, weights: object, low: object, high: object, bins: int, density: bool
) -> tuple[np.ndarray, np.ndarray]:
    """``np.histogram`` with so many bins of one width."""
    limits = None if low is None else (low, high)
    return _histogram(x, bins, limits, density, weights)  # type: ignore[no-any-return]


def histogram_of_edges(x: np.ndarray, edges: object, weights: object, density: bool) -> np.ndarray:
    """The numbers that ``np.histogram`` counts between edges."""
    found: np.ndarray = _histogram(x, edges, None, density, weights)[0]
    return found


def eigenvalues(x: np.ndarray) -> np.ndarray:
    """``np.linalg.eigvals``, of a real matrix if they are real; see ``eigenvectors``."""
    return _with_imaginary_parts(x, _eigvals(x))


def eigenvectors(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``np.linalg.eig``, of a real matrix if its eigenvalues are real: what NumPy gives then are
    the real parts of complex numbers, which this gives.
    """
    values, vectors = _eig(x)
    if x.dtype.kind == "c":
        return values, vectors
    return _with_imaginary_parts(x, values), _with_imaginary_parts(x, vectors)


_FLOAT, _COMPLEX = np.dtype(np.float64), np.dtype(np.complex128)


@cache
def always_complex() -> bool:
    """Whether eigenvalues of a real matrix are complex in any case, as from NumPy 2.5 on."""
    return bool(np.linalg.eigvals(np.eye(1)).dtype.kind == "c")


def _with_imaginary_parts(x: np.ndarray, found: np.ndarray) -> np.ndarray:
    if always_complex():
        return found
    if found.dtype is not _FLOAT:
        if found.dtype.kind == "c" and x.dtype.kind != "c":
            raise WouldRaise("a real matrix has complex eigenvalues")
        return found
    whole = found.base  # what it is the real parts of, with imaginary parts that are zeros
    is_whole = type(whole) is np.ndarray and whole.dtype is _COMPLEX and whole.shape == found.shape
    return whole if is_whole else found.astype(np.complex128)  # type: ignore[return-value]


def triangle(x: np.ndarray) -> Any:
    """The triangle of ``np.linalg.qr`` alone."""
    return _qr(x, mode="r")


def least_squares(x: np.ndarray, y: np.ndarray, rcond: object) -> Any:
    """``np.linalg.lstsq`` of a matrix that has full rank if it has more rows than columns."""
    found = _lstsq(x, y, rcond)
    rows, columns = x.shape
    if rows > columns != found[2]:
        raise WouldRaise("np.linalg.lstsq gives no residuals")
    return found
