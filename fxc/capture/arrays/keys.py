"""What the entries of a key ``x[key]`` mean: slices, new axes, integers, index arrays, masks."""

from __future__ import annotations

from types import EllipsisType
from typing import Any, NoReturn

import numpy as np

from fxc.ir.graph import Value
from fxc.ir.later import import_later
from fxc.ir.records import frozen
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.metas.probing import fail_in_numpy

from ..numbers.traced_int import TracedInt, exact
from ..session.session import current
from ..values.operands import Traced, TracedValue, array_value, has_traced, of_list

# See Note [Rooms with one door].
derived = import_later("fxc.capture.numbers.derived", "derived")
known_array = import_later("fxc.capture.arrays.history", "known_array")

# Note [Entries of a key]
# NumPy takes an entry that is no slice, None or Ellipsis for an integer if Python does (bools are
# none), else for an array: one of integers indexes one axis, one of bools as many axes as it has
# and stands for its nonzero(). Of rank 0 the former is an integer again, though ``x[i]`` is then a
# copy and no view, and the latter indexes a new axis of size 1. Index arrays are broadcast
# together. Their axes stand in the result where they do in the key if nothing but integers stands
# between them, else in front; an Ellipsis that stands for no axis counts.


@frozen
class At:
    """One index of an axis: an int, or a scalar of the graph; ``from_array`` if of rank 0."""

    index: Any
    from_array: bool = False


@frozen
class ArrayEntry:
    """An index array or a mask, with its elements if they are known."""

    value: Value
    known: np.ndarray | None

    @property
    def is_mask(self) -> bool:
        return self.value.type.dtype == np.bool_

    @property
    def axes(self) -> int:
        return self.value.type.rank if self.is_mask else 1


Entry = slice | EllipsisType | At | ArrayEntry | None


def entries_of(key: object, kind: ArrayType) -> list[Entry]:
    """The entries of a key, with the slices that the Ellipsis, or the end, stands for.

    Raises NumPy's IndexError for a bad one.
    """
    key = key._as_places() if isinstance(key, Traced) else key
    given = key if isinstance(key, tuple) else (key,)
    return _with_all_axes(kind, [_parsed(each) for each in given])


def _parsed(entry: object) -> object:
    """One entry, see Note [Entries of a key]."""
    if entry is None or entry is Ellipsis or isinstance(entry, slice):
        return entry
    entry = exact(entry._plain()) if isinstance(entry, Traced) else of_list(entry)
    if type(entry) is int or type(entry) is TracedInt:
        return At(entry)
    if isinstance(entry, TracedValue) and isinstance(entry._value.type, ScalarType):
        return _parsed_scalar(entry)
    if isinstance(entry, Traced | np.ndarray | list | tuple | range | bool | np.bool_):
        return _parsed_array(entry)
    if not hasattr(entry, "__index__"):
        _fail_of_kind()
    return At(entry.__index__())


def _parsed_scalar(entry: TracedValue) -> At | ArrayEntry:
    kind = entry._value.type
    if kind.dtype == np.bool_:
        return ArrayEntry(array_value(entry), None)
    if kind.dtype.kind not in "iu":
        _fail_of_kind()
    session = current()
    is_open = bool(session.region) and session.stays_open(entry._value)  # it may be out of bounds
    if not is_open and session.origins.get(entry._value):
        place = derived(int, entry._value)
        return At(int(session.specialise(entry._value, "an index")) if place is None else place)
    known = known_array(entry._value)
    return At(entry._value if known is None else int(known))


def _parsed_array(entry: Any) -> At | ArrayEntry:
    entry = entry._as_places() if isinstance(entry, Traced) else entry
    if not has_traced(entry) and not isinstance(entry, np.ndarray) and not np.size(entry):
        entry = np.zeros(np.shape(entry), np.intp)  # an empty list is of no dtype
    value = array_value(entry)
    known = known_array(value)
    kind = value.type
    if kind.dtype == np.bool_ or kind.rank:
        if kind.dtype.kind not in "biu":
            raise IndexError("arrays used as indices must be of integer (or boolean) type")
        return ArrayEntry(value, known)
    if kind.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    index = current().record("item", value) if known is None else int(known)
    return At(index, from_array=True)


def _fail_of_kind() -> NoReturn:
    """Raise what NumPy raises for what is no index of any kind."""
    fail_in_numpy(np.zeros(1).__getitem__, "")


def _with_all_axes(kind: ArrayType, entries: list[Any]) -> list[Entry]:
    """The entries with the slices that the Ellipsis, or the end, stands for."""
    places = [place for place, entry in enumerate(entries) if entry is Ellipsis]
    if len(places) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    used = sum(map(_axes_used, entries))
    if used > kind.rank:
        fail_in_numpy(np.zeros((1,) * kind.rank).__getitem__, (0,) * used)
    at = places[0] + 1 if places else len(entries)
    return [*entries[:at], *[slice(None)] * (kind.rank - used), *entries[at:]]


def _axes_used(entry: object) -> int:
    if isinstance(entry, ArrayEntry):
        return entry.axes
    return 0 if entry is None or entry is Ellipsis else 1
