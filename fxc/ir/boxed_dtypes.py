"""Dtypes that graphs know, and of which native code computes nothing."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
from numpy.lib import format as npy

from .dtypes import same_dtype
from .records import frozen

# Note [Boxed dtypes]
# Native code computes with the dtypes of ``DTYPE_NAMES``. Graphs know others, too: long doubles,
# numbers in foreign byte order, dates and times with a unit, texts and bytes of a fixed length,
# and records of all of these. Their arrays are inputs, results, and what views are of; each
# operator on them is NumPy's, called from between or from inside of native code, so that promotion,
# elements, exceptions and warnings are NumPy's own. Nothing in fxc but views knows how they lie in
# memory; but dates that have a unit are int64 to native code, Note [Dates as integers], and texts
# of one character its code, Note [Characters as integers]. Elements of texts, bytes and records are
# no scalars of a graph: Python has a ``str``, or a view, for them. Bytes of a record that no field
# has, such as those between the fields of ``p[["x", "z"]]``, are kept where elements are stored.
# Not among these dtypes is what programs can tell from an equal one (``longlong``, dtypes with
# metadata), records of which two fields overlap, and objects, whose operators are functions of the
# program.

_NUMBERS = frozenset("biufc")
_MOST_BYTES = 256  # of an element: native code copies it in registers
_LEAST_NUMBER_OF_USERS = 24  # dtypes of other libraries have larger ones


def is_boxed(dtype: np.dtype) -> bool:
    """Whether graphs know the dtype, and native code does not compute with it."""
    if (
        not 0 < dtype.itemsize <= _MOST_BYTES
        or dtype.metadata is not None
        or dtype.num >= _LEAST_NUMBER_OF_USERS
    ):
        return False
    match dtype.kind:
        case "M" | "m" | "S" | "U":
            return True
        case "V":
            return _is_boxed_record(dtype)
        case kind if kind in _NUMBERS and dtype.char in "gG":
            return np.longdouble(0).itemsize > np.float64(0).itemsize
        case kind if kind in _NUMBERS:
            native = dtype.newbyteorder("=")
            return not dtype.isnative and native.num == np.dtype(native.str).num
    return False


def _is_boxed_record(dtype: np.dtype) -> bool:
    if dtype.names is None:
        return dtype.subdtype is None
    if dtype.fields is None or len(dtype.fields) != len(dtype.names):  # there are titles
        return False
    return all(_is_field(field[0]) for field in dtype.fields.values()) and _is_told(dtype)


def _is_field(dtype: np.dtype) -> bool:
    return is_boxed(dtype.base) or (
        dtype.base.kind in _NUMBERS
        and dtype.base.num == np.dtype(dtype.base.str).num
        and dtype.base.metadata is None
    )


def _is_told(dtype: np.dtype) -> bool:
    """Whether its text says all of it, and no two fields overlap."""
    try:
        return same_dtype(boxed_dtype(boxed_name(dtype)), dtype) and int(own_bytes(dtype).max()) < 2
    except ValueError:
        return False


def own_bytes(dtype: np.dtype) -> np.ndarray:
    """For each byte of an element how many fields of it have that byte: none in a gap."""
    found = np.zeros(dtype.itemsize, np.intp)
    if dtype.fields is None:
        found += 1
    for field, offset in (each[:2] for each in (dtype.fields or {}).values()):
        count = field.itemsize // field.base.itemsize
        found[offset : offset + field.itemsize] += np.tile(own_bytes(field.base), count)
    return found


def has_gaps(dtype: np.dtype) -> bool:
    """Whether there are bytes in an element that no field of it has."""
    return dtype.fields is not None and not own_bytes(dtype).all()


def boxed_name(dtype: np.dtype) -> str:
    """The text of such a dtype."""
    if dtype.names is None:
        return dtype.str
    return str(_fields_in_order(dtype) or _fields_at_places(dtype))


def _fields_in_order(dtype: np.dtype) -> object:
    """Fields as a list; None if that does not say where they lie."""
    try:
        found = npy.dtype_to_descr(dtype)
        return found if same_dtype(npy.descr_to_dtype(found), dtype) else None
    except ValueError:  # they lie in another order than they are named
        return None


def _fields_at_places(dtype: np.dtype) -> dict[str, object]:
    """What ``np.dtype`` makes the dtype of."""
    assert dtype.fields is not None
    fields = [dtype.fields[name] for name in dtype.names or ()]
    found: dict[str, object] = {
        "names": list(dtype.names or ()),
        "formats": [_format(field[0]) for field in fields],
        "offsets": [field[1] for field in fields],
        "itemsize": dtype.itemsize,
    }
    return {**found, "aligned": True} if dtype.isalignedstruct else found


def _format(dtype: np.dtype) -> object:
    base = dtype.base
    told: object = base.str if base.names is None else _fields_at_places(base)
    return (told, dtype.shape) if dtype.shape else told


def boxed_dtype(name: str) -> np.dtype:
    """The dtype of a text that ``boxed_name`` gives.

    Raises ``ValueError`` for others.
    """
    try:
        descr: Any = ast.literal_eval(name) if name.startswith(("[", "{")) else name
        if isinstance(descr, dict):
            return np.dtype(descr)  # type: ignore[call-overload,no-any-return]
        found: np.dtype = npy.descr_to_dtype(descr)
    except (ValueError, TypeError, KeyError, SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"{name!r} is no dtype") from error
    return found


@frozen
class Field:
    """A field of a record: between which of its bytes the elements lie, and how, if it has more
    than one.
    """

    dtype: np.dtype  # of an element
    begin: int
    end: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def field_of(dtype: np.dtype, names: tuple[str | tuple[str, ...], ...]) -> Field:
    """A field of a record, or of one that is a field of it and so on. Several names stand for a
    record of these fields.
    """
    begin, end = 0, dtype.itemsize
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    for name in names:
        if isinstance(name, tuple):
            dtype = dtype[list(name)]
            continue
        assert dtype.fields is not None
        whole, offset = dtype.fields[name][:2]
        begin += offset
        end = end if shape else begin + whole.itemsize  # each of several records has the field
        shown = np.ndarray((), dtype, bytes(dtype.itemsize))[name]
        dtype, shape, strides = whole.base, shape + shown.shape, strides + shown.strides
    return Field(dtype, begin, end, shape, strides)


def is_without_unit(dtype: np.dtype) -> bool:
    """Whether NumPy chooses the unit of dates or times by what it is given."""
    return dtype.kind in "mM" and np.datetime_data(dtype)[0] == "generic"


def is_date(dtype: np.dtype) -> bool:
    """Whether elements are int64 to native code: dates and durations that have a unit."""
    return dtype.kind in "mM" and dtype.isnative and not is_without_unit(dtype)


def is_character(dtype: np.dtype) -> bool:
    """Whether elements are uint32 to native code: texts of one character."""
    return dtype.kind == "U" and dtype.itemsize == 4 and dtype.isnative


def integer_of(dtype: np.dtype) -> np.dtype:
    """The integers as which native code computes with a boxed dtype; of others the dtype itself."""
    if is_date(dtype):
        return np.dtype(np.int64)
    return np.dtype(np.uint32) if is_character(dtype) else dtype


def element_dtype(dtype: np.dtype) -> np.dtype | None:
    """Of what an element is that NumPy gives of an array; None if it is no scalar of a graph."""
    if dtype.kind in "SUVO":
        return None
    return dtype if dtype.isnative else dtype.newbyteorder("=")  # which makes a new one
