"""Functions of ``np.linalg`` that give several arrays, or least squares: NumPy itself runs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.ir.graph import Value
from fxc.ops.library import ALWAYS_COMPLEX

from ..refusing import refuse
from ..values.operands import array_value, operand, record


def _named(name: str, parts: Any) -> Any:
    """The named tuple that a function of ``np.linalg`` gives."""
    kind = type(getattr(np.linalg, name)(np.eye(1)))
    return kind(*parts)


def eigh(a: object, UPLO: str = "L") -> Any:
    """As ``np.linalg.eigh``."""
    return _named("eigh", record("linalg_eigh", array_value(a), UPLO=UPLO))


def eig(a: object) -> Any:
    """As ``np.linalg.eig``, of a real matrix if its eigenvalues are real."""
    value = array_value(a)
    return _named("eig", [_real_if(value, each) for each in record("linalg_eig", value)])


def eigvals(a: object) -> Any:
    """As ``np.linalg.eigvals``, likewise."""
    value = array_value(a)
    return _real_if(value, record("linalg_eigvals", value))


def _real_if(given: Value, found: Any) -> Any:
    is_real = given.type.dtype.kind != "c" and not ALWAYS_COMPLEX
    return found.real if is_real and found.dtype.kind == "c" else found


def slogdet(a: object) -> Any:
    """As ``np.linalg.slogdet``."""
    return _named("slogdet", record("linalg_slogdet", array_value(a)))


def svd(
    a: object, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """As ``np.linalg.svd``."""
    if hermitian:
        raise refuse("np.linalg.svd with hermitian= cannot be captured; use np.linalg.eigh")
    value = array_value(a)
    if not compute_uv:
        return record("linalg_svdvals", value)
    return _named("svd", record("linalg_svd", value, full_matrices=bool(full_matrices)))


def qr(a: object, mode: str = "reduced") -> Any:
    """As ``np.linalg.qr``."""
    if mode == "r":
        return record("linalg_qr_r", array_value(a))
    if mode not in ("reduced", "complete"):
        raise refuse(f"np.linalg.qr with mode={mode!r} cannot be captured; use 'reduced'")
    return _named("qr", record("linalg_qr", array_value(a), mode=mode))


def lstsq(a: object, b: object, rcond: object = None) -> Any:
    """As ``np.linalg.lstsq``."""
    limit = None if rcond is None else operand(rcond)
    return record("linalg_lstsq", array_value(a), array_value(b), limit)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.linalg.eigh: eigh,
    np.linalg.eig: eig,
    np.linalg.eigvals: eigvals,
    np.linalg.slogdet: slogdet,
    np.linalg.svd: svd,
    np.linalg.qr: qr,
    np.linalg.lstsq: lstsq,
}
