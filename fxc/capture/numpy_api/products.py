"""Products and traces of matrices: ``np.dot``, ``np.outer``, ``np.trace``."""

from __future__ import annotations

from typing import Any

from ..session import current
from ..values.operands import array_value, operand, record, wrap
from . import shaping
from .reductions import reduce as reduction
from .ufuncs import writable


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """As ``np.dot``."""
    left, right = operand(a), operand(b)
    if out is not None:
        current().record("dot.out", left, right, out=writable(out))
        return out if out.ndim else out[()]  # of rank 0 its element, as NumPy
    return record("dot", left, right)


def inner(a: Any, b: Any, /) -> Any:
    """As ``np.inner``: the product with the last two axes of ``b`` swapped."""
    left, right = operand(a), operand(b)
    if left.type.rank and right.type.rank > 1:
        return dot(a, shaping.swapaxes(b, -1, -2))
    return dot(a, b)


def outer(a: Any, b: Any, out: Any = None) -> Any:
    """As ``np.outer``."""
    left, right = array_value(a), array_value(b)
    if out is not None:
        current().record("outer.out", left, right, out=writable(out))
        return out
    return record("outer", left, right)


def vdot(a: Any, b: Any) -> Any:
    """As ``np.vdot``."""
    left, right = wrap(array_value(a)), wrap(array_value(b))
    return dot(shaping.ravel(left).conj(), shaping.ravel(right))


def trace(
    a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None
) -> Any:
    """As ``np.trace``."""
    view = shaping.diagonal(a, offset, axis1, axis2)
    return reduction("sum", view, -1, dtype, out)
