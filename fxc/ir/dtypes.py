"""What NumPy's dtypes are like."""

from __future__ import annotations

import numpy as np


def same_dtype(left: np.dtype, right: np.dtype) -> bool:
    """Whether nothing tells two dtypes apart."""
    if left.num != right.num or left != right or left.metadata != right.metadata:
        return False
    if left.names is None:
        return True
    fields = zip(left.fields.values(), right.fields.values(), strict=True)  # type: ignore[union-attr]
    are_same = all(same_dtype(one[0].base, other[0].base) for one, other in fields)
    return are_same and left.isalignedstruct == right.isalignedstruct


def alignment(dtype: np.dtype) -> int:
    """The multiple of bytes that an element lies at if it and its fields are aligned."""
    if dtype.fields is None:
        return dtype.base.alignment
    return max(alignment(field[0]) for field in dtype.fields.values())
