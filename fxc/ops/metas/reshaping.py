"""Shapes and strides of reshaped arrays: which runs of axes can be merged and split.

See Note [Layout in types].
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fxc.ir.errors import InternalError
from fxc.ir.size_functions import floordiv, hint, mod
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim, product
from fxc.ir.types import ArrayType, Type, normal_strides

from .layout import Strides, fresh_strides, is_c_ordered
from .probing import stand_in
from .shapes import Shape, has_hints, hints, is_one, is_zero, same_dim


def resolve_shape(kind: Type, shape: Sequence[Dim]) -> Shape:
    """``shape`` with the one -1 in it replaced by what the size of ``kind`` leaves.

    Raises ``ValueError`` with NumPy's text if the sizes do not fit.
    """
    wanted = tuple(shape)
    total = kind.size if isinstance(kind, ArrayType) else 1
    unknown = [place for place, dim in enumerate(wanted) if _is_negative(dim)]
    if len(unknown) > 1:
        raise ValueError("can only specify one unknown dimension")
    if not unknown:
        if not same_dim(product(wanted), total):
            raise _misfit(total, wanted)
        return wanted
    known = product([dim for place, dim in enumerate(wanted) if place != unknown[0]])
    if is_zero(known) or not same_dim(mod(total, known), 0):
        raise _misfit(total, wanted)
    (place,) = unknown
    return (*wanted[:place], floordiv(total, known), *wanted[place + 1 :])


def _is_negative(dim: Dim) -> bool:
    # Without a hint it is a symbol of a loop, which is never an unknown dimension.
    return dim < 0 if isinstance(dim, int) else has_hints(dim) and guard(dim, "<", 0)


def _misfit(total: Dim, shape: Shape) -> ValueError:
    """NumPy's own error for a reshape of ``total`` elements."""
    flat = stand_in(ArrayType(np.dtype("u1"), (total,), (1,)))
    try:
        flat.reshape(hints(shape))
    except ValueError as error:
        return ValueError(*error.args)
    raise InternalError(f"NumPy reshapes {hint(total)} elements to {hints(shape)}")


def reshape_strides(kind: Type, shape: Sequence[Dim]) -> Strides | None:
    """Strides of the view of ``kind`` in ``shape``; None if NumPy must copy.

    The sizes agree already (``resolve_shape``).
    """
    wanted = tuple(shape)
    if not isinstance(kind, ArrayType):
        return fresh_strides(wanted, kind.dtype.itemsize)
    return kind.strides if wanted == kind.shape else strides_anew(kind, wanted)


def strides_anew(kind: ArrayType, shape: Shape) -> Strides | None:
    """The same for an array that is not given back as it is, as where ``-1`` gives its shape."""
    if is_c_ordered(kind):
        return fresh_strides(shape, kind.dtype.itemsize)
    return _merge_and_split(kind, shape)


def _equal_sizes(left: Dim, right: Dim) -> bool:
    """Whether two sizes are equal; if one divides the other their quotient tells more surely."""
    if mod(left, right) == 0:
        return is_one(floordiv(left, right))
    if mod(right, left) == 0:
        return is_one(floordiv(right, left))
    return same_dim(left, right)


def _smaller(left: Dim, right: Dim) -> bool:
    """Whether one size is smaller than another, from which it differs."""
    if mod(left, right) == 0:
        return False
    return mod(right, left) == 0 or guard(left, "<", right)


def _merge_and_split(kind: ArrayType, wanted: Shape) -> Strides | None:
    """NumPy's ``_attempt_nocopy_reshape``: runs of old axes become runs of new ones."""
    kept = [axis for axis in range(kind.rank) if not is_one(kind.shape[axis])]
    dims = [kind.shape[axis] for axis in kept]
    steps = [kind.strides[axis] for axis in kept]
    strides: list[Dim] = [0] * len(wanted)
    old, new = 0, 0
    while new < len(wanted) and old < len(dims):
        old_end, new_end = old + 1, new + 1
        have, want = dims[old], wanted[new]
        while not _equal_sizes(have, want):
            if _smaller(want, have):
                want, new_end = want * wanted[new_end], new_end + 1
            else:
                have, old_end = have * dims[old_end], old_end + 1
        for axis in range(old, old_end - 1):
            if not same_dim(steps[axis], dims[axis + 1] * steps[axis + 1]):
                return None
        strides[new_end - 1] = steps[old_end - 1]
        for axis in range(new_end - 1, new, -1):
            strides[axis - 1] = strides[axis] * wanted[axis]
        old, new = old_end, new_end
    return normal_strides(wanted, strides, kind.dtype.itemsize)
