"""``np.hanning`` and its kin, of sizes that are not known while capturing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.ir.error_kinds import NUMPY_OPTION

from ..arrays import creation
from ..arrays.ufuncs import call_ufunc
from ..numbers.traced_int import TracedInt
from ..session.refusing import refuse
from ..values.operands import operand, record


def _taper(name: str, compute: Callable[..., object]) -> Callable[..., Any]:
    """A window of NumPy's. ``compute`` gets the places of the elements, one less than their number,
    as floats, and what follows in the call.
    """

    def call(M: Any, *more: object) -> object:
        if type(M) not in (int, TracedInt):
            raise refuse(NUMPY_OPTION, f"np.{name} of a number that depends on data")
        if M < 1 and not more:
            return creation.zeros(0)
        if M == 1:
            return creation.ones(1)
        return compute(M, M - 1, *more)

    return call


def _steps(count: Any) -> Any:
    """``1 - M``, ``3 - M``, … ``M - 1`` as floats."""
    return creation.arange(1 - count, count, 2).astype(float)


def _hanning(count: object, last: object) -> object:
    return 0.5 + 0.5 * _cos(np.pi * _steps(count) / last)


def _hamming(count: object, last: object) -> object:
    return 0.54 + 0.46 * _cos(np.pi * _steps(count) / last)


def _blackman(count: object, last: object) -> object:
    n = _steps(count)
    return 0.42 + 0.5 * _cos(np.pi * n / last) + 0.08 * _cos(2.0 * np.pi * n / last)


def _bartlett(count: object, last: object) -> object:
    n = _steps(count)
    return call_ufunc("where", np.less_equal(n, 0), 1 + n / last, 1 - n / last)


def _kaiser(count: object, last: Any, beta: object) -> object:
    n = creation.arange(0, count).astype(float)
    half = last / 2.0
    shape = np.sqrt(1 - ((n - half) / half) ** 2.0)
    return _bessel(beta * shape) / _bessel(creation.asarray(beta).astype(float))


def _cos(x: object) -> Any:
    """NumPy's own: next to zero a window has 128 times the error of a cosine."""
    return record("cosine", operand(x))


def _bessel(x: object) -> Any:
    return record("i0", operand(x))


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.hanning: _taper("hanning", _hanning),
    np.hamming: _taper("hamming", _hamming),
    np.blackman: _taper("blackman", _blackman),
    np.bartlett: _taper("bartlett", _bartlett),
    np.kaiser: _taper("kaiser", _kaiser),
}
