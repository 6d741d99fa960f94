"""Functions of ``np.linalg`` that give several arrays, or least squares: NumPy itself runs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.ir.error_kinds import NUMPY_OPTION
from fxc.ir.graph import Value
from fxc.ops.library import ALWAYS_COMPLEX
from fxc.ops.table import TABLE

from ..session.refusing import refuse
from ..values.operands import array_value, operand, record
from .listed import listed


def _named(function: Any, found: Any) -> Any:
    """The named tuple that a function of ``np.linalg`` gives."""
    return type(function(np.eye(1)))(*found)


def _with_names(function: object) -> Callable[..., Any]:
    """A function of which there is a row in the table that gives its named tuple."""
    op = TABLE.for_callable(function)
    assert op is not None
    call = listed(op)
    return lambda *args, **kwargs: _named(function, call(*args, **kwargs))


_svd, _qr = _with_names(np.linalg.svd), _with_names(np.linalg.qr)


def eig(a: object) -> Any:
    """As ``np.linalg.eig``, of a real matrix if its eigenvalues are real."""
    value = array_value(a)
    return _named(np.linalg.eig, [_real_if(value, each) for each in record("linalg_eig", value)])


def eigvals(a: object) -> Any:
    """As ``np.linalg.eigvals``, likewise."""
    value = array_value(a)
    return _real_if(value, record("linalg_eigvals", value))


def _real_if(given: Value, found: Any) -> Any:
    is_real = given.type.dtype.kind != "c" and not ALWAYS_COMPLEX
    return found.real if is_real and found.dtype.kind == "c" else found


def svd(
    a: object, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    if hermitian:
        raise refuse(
            NUMPY_OPTION, "np.linalg.svd with hermitian= cannot be captured; use np.linalg.eigh"
        )
    if not compute_uv:
        return record("linalg_svdvals", array_value(a))
    return _svd(a, full_matrices)


def qr(a: object, mode: str = "reduced") -> Any:
    if mode == "r":
        return record("linalg_qr_r", array_value(a))
    if mode not in ("reduced", "complete"):
        raise refuse(
            NUMPY_OPTION, f"np.linalg.qr with mode={mode!r} cannot be captured; use 'reduced'"
        )
    return _qr(a, mode)


def lstsq(a: object, b: object, rcond: object = None) -> Any:
    limit = None if rcond is None else operand(rcond)
    return record("linalg_lstsq", array_value(a), array_value(b), limit)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{function: _with_names(function) for function in (np.linalg.eigh, np.linalg.slogdet)},
    np.linalg.eig: eig,
    np.linalg.eigvals: eigvals,
    np.linalg.svd: svd,
    np.linalg.qr: qr,
    np.linalg.lstsq: lstsq,
}
