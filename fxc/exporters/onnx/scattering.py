"""Rows of an array that are replaced, in order: the last one to be written stays."""

from __future__ import annotations

from .kernels import INT64
from .tensors import Tensor
from .writer import ModelWriter

# Note [Rows that are written twice]
# ONNX leaves open which of several rows for one place stays. So it is looked for first who comes
# last at each place (the largest number of a row, by a scatter that takes the larger), and the row
# is fetched from there.


def put_rows(w: ModelWriter, x: Tensor, places: Tensor, rows: Tensor) -> Tensor:
    """``x`` with ``rows`` at ``places`` (a list) of its first axis.

    See Note [Rows that are written twice].
    """
    length, count = w.size_of(x, 0), w.size_of(places, 0)
    zero, one = w.constant(0, INT64), w.constant(1, INT64)
    none = w.op("Expand", (w.constant(-1, INT64), w.listed(length)), INT64)
    numbers = w.op("Range", (zero, count, one), INT64)
    last = w.op("ScatterElements", (none, places, numbers), INT64, axis=0, reduction="max")
    own = w.op("Range", (zero, length, one), INT64)
    return from_either(w, x, rows, last >= 0, (own, last))


def from_either(
    w: ModelWriter, x: Tensor, rows: Tensor, chosen: Tensor, places: tuple[Tensor, Tensor]
) -> Tensor:
    """Rows of ``rows`` where ``chosen`` holds, of ``x`` where not, each at its place."""
    own, other = places
    place = w.where(chosen, other + w.size_of(x, 0), own)
    return w.op("Gather", (w.joined([x, rows]), place), x.dtype, axis=0)
