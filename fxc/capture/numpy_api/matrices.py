"""Products, traces and decompositions of matrices: ``np.dot``, ``np.linalg.svd``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.ir.error_kinds import NUMPY_OPTION
from fxc.ir.graph import Operand, Value
from fxc.ir.types import ArrayType
from fxc.ops.library import always_complex
from fxc.ops.table import TABLE

from ..arrays import creation, shaping
from ..arrays.reductions import Asked, reduce
from ..arrays.shaping import assign_part
from ..arrays.ufuncs import call_ufunc, writable
from ..session.refusing import refuse
from ..session.session import current
from ..values.operands import array_value, operand, record, wrap
from .library import listed


def dot(a: object, b: object, out: Any = None) -> object:
    left, right = operand(a), operand(b)
    product = None
    if _is_product_of_ones(left, right):
        shape = (*left.type.shape[:-1], *right.type.shape[:-2], *right.type.shape[1:][-1:])
        product = _product_of_ones(*(shaping.ravel(wrap(array_value(x))) for x in (a, b)))
        product = product.reshape(shape) if shape else product[0]
    if out is None:
        return record("dot", left, right) if product is None else product
    current().record("dot.out", left, right, out=writable(out))
    if product is not None:
        out[...] = product
    return out if out.ndim else out[()]  # of rank 0 its element, as NumPy


def _is_product_of_ones(*operands: Operand) -> bool:
    """Whether NumPy takes two arrays of one number each, cast or not, for BLAS."""
    kinds = [each.type for each in operands if isinstance(each, Value)]
    if [isinstance(x, ArrayType) and x.shape in ((1,), (1, 1)) for x in kinds] != [True, True]:
        return False
    dtypes = [kind.dtype for kind in kinds]
    return all(dtype.kind in "biufc" for dtype in dtypes) and np.result_type(*dtypes).char in "fdFD"


def _product_of_ones(x: Any, y: Any) -> Any:
    """As NumPy multiplies two floats for BLAS: it adds no zero, which shows in -0.0, and rounds
    each product, also where its own ``multiply`` of complex numbers does not.
    """
    dtype = np.result_type(x.dtype, y.dtype)
    x, y = x.astype(dtype), y.astype(dtype)
    if dtype.kind == "f":
        return call_ufunc("multiply", x, y)
    found = record("zeros", (1,), dtype, layout=None)
    assign_part(found, "real", x.real * y.real - x.imag * y.imag)
    assign_part(found, "imag", x.real * y.imag + x.imag * y.real)
    return found


def inner(a: object, b: object, /) -> object:
    """As ``np.inner``: the product with the last two axes of ``b`` swapped."""
    left, right = operand(a), operand(b)
    if left.type.rank and right.type.rank > 1:
        return dot(a, shaping.swapaxes(b, -1, -2))
    return dot(a, b)


def outer(a: object, b: object, out: object = None) -> object:
    left, right = array_value(a), array_value(b)
    if out is not None:
        current().record("outer.out", left, right, out=writable(out))
        return out
    return record("outer", left, right)


def vdot(a: object, b: object) -> object:
    """As ``np.vdot``, which copies neither: BLAS's order of additions depends on the strides, and
    there is no ``matmul`` of times.
    """
    left, right = (shaping.reshape(wrap(array_value(x)), -1) for x in (a, b))
    if left.dtype.kind == "c" and not shaping.is_in_order(left._type, "C"):
        # The conjugate is a copy without gaps.
        raise refuse(NUMPY_OPTION, "np.vdot of complex numbers with gaps")
    name = "dot" if "m" in (left.dtype.kind, right.dtype.kind) else "matmul"
    return record(name, operand(left.conj()), operand(right))


def trace(
    a: object,
    offset: object = 0,
    axis1: object = 0,
    axis2: object = 1,
    dtype: object = None,
    out: object = None,
) -> object:
    view = shaping.diagonal(a, offset, axis1, axis2)
    return reduce("sum", view, Asked(-1, dtype, out))


def kron(a: object, b: object) -> object:
    """As ``np.kron``, whose own code finds the sizes of the result as elements of an array."""
    right = creation.asarray(b)
    left = creation.array(a, copy=None, ndmin=right.ndim)
    rank = left.ndim
    if not right.ndim:
        return np.multiply(left, right)
    sizes = (1,) * (rank - right.ndim) + right.shape
    whole = tuple(m * n for m, n in zip(left.shape, sizes, strict=True))
    left = np.expand_dims(left, tuple(range(1, 2 * rank, 2)))
    right = np.expand_dims(right, tuple(range(rank - right.ndim)))
    right = np.expand_dims(right, tuple(range(0, 2 * rank, 2)))
    return np.multiply(left, right).reshape(whole)


# ------------------------------------------------------------------ decompositions


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
eigh, slogdet = _with_names(np.linalg.eigh), _with_names(np.linalg.slogdet)


def eig(a: object) -> Any:
    """As ``np.linalg.eig``, of a real matrix if its eigenvalues are real."""
    value = array_value(a)
    return _named(np.linalg.eig, [_real_if(value, each) for each in record("linalg_eig", value)])


def eigvals(a: object) -> object:
    """As ``np.linalg.eigvals``, likewise."""
    value = array_value(a)
    return _real_if(value, record("linalg_eigvals", value))


def _real_if(given: Value, found: Any) -> Any:
    is_real = given.type.dtype.kind != "c" and not always_complex()
    return found.real if is_real and found.dtype.kind == "c" else found


def svd(
    a: object, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> object:
    if hermitian:
        raise refuse(NUMPY_OPTION, "np.linalg.svd with hermitian=", "use np.linalg.eigh")
    if not compute_uv:
        return record("linalg_svdvals", array_value(a))
    return _svd(a, full_matrices)


def qr(a: object, mode: str = "reduced") -> object:
    if mode == "r":
        return record("linalg_qr_r", array_value(a))
    if mode not in ("reduced", "complete"):
        raise refuse(NUMPY_OPTION, f"np.linalg.qr with mode={mode!r}", "use 'reduced'")
    return _qr(a, mode)


def lstsq(a: object, b: object, rcond: object = None) -> object:
    limit = None if rcond is None else operand(rcond)
    return record("linalg_lstsq", array_value(a), array_value(b), limit)
