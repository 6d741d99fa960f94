"""Arrays that guard programs make of lists of numbers, of arrays that are alike, and of tuples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from fxc.ir.records import frozen

from .program import Source

# See Note [Lists of numbers].
FEW_NUMBERS = 4  # items of a list that are read one by one in any case
FEW_ARRAYS = 16  # the same of arrays
_MOST_COPIED = 1 << 26  # bytes of all arrays in a list that are copied at each call
_MOST_COLUMNS = 8
_CODES: dict[type, tuple[str, np.dtype]] = {
    int: ("q", np.dtype(np.int64)),
    float: ("d", np.dtype(np.float64)),
}
Arrays = tuple[np.ndarray | None, ...]


@frozen
class Numbers:
    """Items that are all numbers of this type. The first ``alike`` arrays are of one size."""

    kind: type
    alike = 1

    def arrays(self, items: Sequence[object]) -> Arrays:
        """A new array of the items; None if they are others, or few."""
        if set(map(type, items)) != {self.kind} or len(items) <= FEW_NUMBERS:
            return (None,)
        return (_array(items, self.kind),)


@frozen
class OneShape:
    """Items that are arrays of this dtype, and of one shape of so many axes, in C order."""

    dtype: np.dtype
    rank: int
    alike = 1

    def arrays(self, items: Sequence[Any]) -> Arrays:
        """A new array of them all; None if they are others, few, or too large to copy."""
        if not self.fits(items):
            return (None,)
        return (np.concatenate(items).reshape(len(items), *items[0].shape),)

    def fits(self, items: Sequence[Any]) -> bool:
        """Whether the items are such, and may be copied at each call."""
        if len(items) <= FEW_ARRAYS or set(map(type, items)) != {np.ndarray}:
            return False
        shape, size = items[0].shape, items[0].nbytes
        if len(shape) != self.rank or len(items) * size > _MOST_COPIED:
            return False
        return all(
            x.dtype == self.dtype and x.shape == shape and x.flags.c_contiguous for x in items
        )


@frozen
class Columns:
    """Items that are tuples of as many numbers, and arrays, as these forms say."""

    columns: tuple[Numbers | OneShape, ...]

    @property
    def alike(self) -> int:
        """All arrays have as many rows."""
        return len(self.columns)

    @property
    def has_arrays(self) -> bool:
        """Whether there are arrays in the tuples."""
        return any(type(column) is OneShape for column in self.columns)

    def arrays(self, items: Sequence[Any]) -> Arrays:
        """A new array for each place of the tuples; Nones if they are others, or few."""
        width = len(self.columns)
        if set(map(type, items)) == {tuple} and set(map(len, items)) == {width}:
            parts = zip(*items, strict=True)
            found = [form.arrays(x)[0] for form, x in zip(self.columns, parts, strict=True)]
            if all(x is not None for x in found):
                return tuple(found)
        return (None,) * width


@frozen
class Ragged:
    """Items that are lists of any length, of numbers of one type. As many arrays are ``alike``."""

    kind: type
    alike = 2

    def arrays(self, items: Sequence[Any]) -> Arrays:
        """Arrays of where each list begins, of lengths, and of all numbers; Nones for others."""
        if set(map(type, items)) != {list} or len(items) <= FEW_NUMBERS:
            return (None,) * 3
        flat = list(chain.from_iterable(items))
        if set(map(type, flat)) != {self.kind} or len(flat) < 2:
            return (None,) * 3
        counts = np.array(list(map(len, items)))
        return np.cumsum(counts) - counts, counts, _array(flat, self.kind)


def form_of_items(items: Sequence[Any]) -> Numbers | Columns | Ragged | OneShape | None:
    """What the items of a list are, if ``arrays`` takes them."""
    kinds = set(map(type, items)) if len(items) > FEW_NUMBERS else set()
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    if kind is list:
        flat = list(chain.from_iterable(items))
        found = _kind_of(flat) if len(flat) > 1 else None
        return None if found is None else Ragged(found)
    if kind is tuple:
        widths = set(map(len, items))
        if len(widths) > 1 or not 0 < min(widths) <= _MOST_COLUMNS:
            return None
        columns = [_form_of_column(column) for column in zip(*items, strict=True)]
        known = tuple(column for column in columns if column is not None)
        return Columns(known) if len(known) == len(columns) else None
    return _form_of_column(items)


def _form_of_column(items: Sequence[Any]) -> Numbers | OneShape | None:
    if type(items[0]) is np.ndarray:
        first = items[0]
        if first.dtype.kind not in "biufc" or first.size < 2:
            return None
        made = OneShape(first.dtype, first.ndim)
        return made if made.fits(items) else None
    found = _kind_of(items)
    return None if found is None else Numbers(found)


def copied(
    form: object, items: Sequence[Any], source: Source
) -> Iterator[tuple[Sequence[np.ndarray], Source]]:
    """The arrays in a list that are copied, and how to get at them."""
    if type(form) is OneShape:
        yield items, source
    elif type(form) is Columns:
        for place, column in enumerate(form.columns):
            if type(column) is OneShape:
                rows = Source(f"[each[{place}] for each in {source.var}]", source.text)
                yield [each[place] for each in items], rows


def _kind_of(items: Sequence[Any]) -> type | None:
    kinds = set(map(type, items))
    kind = kinds.pop() if len(kinds) == 1 else None
    if kind not in _CODES or (kind is int and not -(2**63) <= min(items) <= max(items) < 2**63):
        return None
    return kind


def _array(items: Sequence[Any], kind: type) -> np.ndarray | None:
    from array import array  # few programs have lists of numbers

    code, dtype = _CODES[kind]
    try:
        return np.frombuffer(array(code, items), dtype)
    except OverflowError:  # an int of more than 64 bits
        return None
