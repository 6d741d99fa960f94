"""Rows of an array that are replaced, in order: the last one to be written stays."""

from __future__ import annotations

import numpy as np

from .kernels import INT64
from .tensors import Tensor
from .writer import Writer

# Note [Rows that are written twice]
# ONNX leaves open which of several rows for one place stays. So it is looked for first who comes
# last at each place (the largest number of a row, by a scatter that takes the larger), and the row
# is fetched from there.


def put_rows(w: Writer, x: Tensor, places: Tensor, rows: Tensor, rank: int) -> Tensor:
    """``x``, of this rank, with ``rows`` at ``places`` (a list) of its first axis.

    See Note [Rows that are written twice].
    """
    length, count = w.size_of(x, 0), w.size_of(places, 0)
    zero, one = w.constant(0, INT64), w.constant(1, INT64)
    none = w.op("Expand", (w.constant(-1, INT64), w.listed(length)), INT64)
    numbers = w.op("Range", (zero, count, one), INT64)
    last = w.op("ScatterElements", (none, places, numbers), INT64, axis=0, reduction="max")
    chosen = last >= 0
    spare = row_of_zeros(w, x)
    found = w.op("Gather", (w.joined([rows, spare]), w.where(chosen, last, count)), x.dtype, axis=0)
    if rank > 1:
        chosen = w.op("Unsqueeze", (chosen, w.ints(*range(1, rank))), chosen.dtype)
    return w.where(chosen, found, x)


def row_of_zeros(w: Writer, x: Tensor) -> Tensor:
    """One more row of the same shape, for what has no row."""
    shape = w.op("Shape", (x,), INT64, start=1)
    zero = np.zeros(1, x.dtype)
    return w.op("ConstantOfShape", (w.joined([w.ints(1), shape]),), x.dtype, value=zero)
