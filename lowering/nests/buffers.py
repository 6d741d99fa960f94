"""Memory that loop nests load from and store to, and the scalars between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal as OneOf

import numpy as np

from fxc.ir.records import computed_once, frozen
from fxc.ir.symbols import Dim

# Note [Computed indices]
# An index may hold a scalar of the loop around it: ``t3 = idx[i0]; t4 = x[t3, i1]``. In dims that
# is ``computed("t3", (i0,))``, of which nothing is known but that it is t3, and another one in each
# iteration of i0. It always points into the array: an index that is out of bounds, and for which a
# check fails, is replaced by 0 before it is used. What follows from it:
# - an access through it moves by no fixed step, and may meet any element of its buffer;
# - two iterations may store to one place, so such stores keep their order, also from lane to lane;
# - a load of what is stored through one is placed before the loop (``dependences``), except for
#   the one element that an update reads and writes. Loops with that never have lanes.

BOOL, I64, F64 = np.dtype(bool), np.dtype(np.int64), np.dtype(np.float64)
HALF, F32 = np.dtype(np.float16), np.dtype(np.float32)

Idx = tuple[Dim, ...]  # one for each axis of a buffer
Role = OneOf["input", "output", "temp", "constant"]


@frozen
class Buffer:
    """Memory that statements load from and store to. Strides are in bytes.

    ``storage`` names the allocation: several buffers may be different readings (reshapes) of one.
    ``parts`` marks the reading of complex numbers as pairs of floats: the last dim, of size 2,
    tells the real from the imaginary part. See Note [Complex numbers]. Of a temporary there are
    several ``copies``, one for each thread of a parallel loop: see Note [Parallel loops]. The
    reading of a field of records has the ``field``: where it begins and ends in each.
    """

    name: str
    dtype: np.dtype
    shape: tuple[Dim, ...]
    strides: tuple[Dim, ...]
    role: Role
    storage: str
    offset: Dim = 0  # in bytes, from the start of the storage
    data: bytes | None = None  # of a constant
    parts: bool = False
    copies: int = 1
    field: tuple[int, int] | None = None

    @property
    def alignment(self) -> int:
        """What multiples of bytes its elements are known to lie at."""
        return self.dtype.alignment if self.field is None else 1

    @computed_once
    def offsets(self) -> dict[tuple[Dim, ...], Dim]:
        """What ``addressing.byte_offset`` has found for an index."""
        return {}


def are_other_fields(one: Buffer, other: Buffer) -> bool:
    """Whether two readings of one storage show fields of its records that share no byte."""
    return one.storage == other.storage and have_no_byte_in_common(one.field, other.field)


def have_no_byte_in_common(one: tuple[int, int] | None, other: tuple[int, int] | None) -> bool:
    """Whether these are fields, and apart from each other in each record."""
    if one is None or other is None:
        return False
    return one[1] <= other[0] or other[1] <= one[0]


@frozen
class Const:
    """A scalar known now."""

    value: bool | int | float
    dtype: np.dtype


Atom = str | Const


@frozen
class Pair:
    """A complex scalar: its real and its imaginary part. See Note [Complex numbers]."""

    re: Atom
    im: Atom


Element = Atom | Pair


def atoms_of(element: Element) -> tuple[Atom, ...]:
    """The scalars that an element is made of."""
    return (element.re, element.im) if isinstance(element, Pair) else (element,)


def element_of(atoms: Sequence[Atom]) -> Element:
    """The element that is made of these scalars: the inverse of ``atoms_of``."""
    return Pair(*atoms) if len(atoms) == 2 else atoms[0]
