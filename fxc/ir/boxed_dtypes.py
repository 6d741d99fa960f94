"""Dtypes that graphs know, and of which native code computes nothing."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
from numpy.lib import format as npy

from .records import frozen

# Note [Boxed dtypes]
# Native code computes with the dtypes of ``DTYPE_NAMES``. Graphs know others, too: long doubles,
# numbers in foreign byte order, dates and times with a unit, texts and bytes of a fixed length,
# and records of all of these. Their arrays are inputs, results, and what views are of; each
# operator on them is NumPy's, called from between or from inside of native code, so that promotion,
# elements, exceptions and warnings are NumPy's own. Nothing in fxc but views knows how they lie in
# memory; but dates that have a unit are int64 to native code, Note [Dates as integers], and texts
# of one character its code, Note [Characters as integers]. Elements of texts, bytes and records are
# no scalars of a graph: Python has a ``str``, or a view, for them. Not
# among these dtypes is what programs can tell from an equal one (``longlong``, dtypes with
# metadata, records that are declared as aligned), and objects, whose operators are functions of the
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
    if dtype.isalignedstruct or dtype.fields is None:
        return False
    if len(dtype.fields) != len(dtype.names):  # there are titles
        return False
    return all(_is_field(field[0]) for field in dtype.fields.values()) and _is_told(dtype)


def _is_field(dtype: np.dtype) -> bool:
    return is_boxed(dtype.base) or (
        dtype.base.kind in _NUMBERS
        and dtype.base.num == np.dtype(dtype.base.str).num
        and dtype.base.metadata is None
    )


def _is_told(dtype: np.dtype) -> bool:
    """Whether its text says all of it."""
    try:
        return boxed_dtype(boxed_name(dtype)) == dtype
    except ValueError:
        return False


def boxed_name(dtype: np.dtype) -> str:
    """The text of such a dtype."""
    if dtype.names is None:
        return dtype.str
    return str(npy.dtype_to_descr(dtype))


def boxed_dtype(name: str) -> np.dtype:
    """The dtype of a text that ``boxed_name`` gives.

    Raises ``ValueError`` for others.
    """
    try:
        descr: Any = ast.literal_eval(name) if name.startswith("[") else name
        found: np.dtype = npy.descr_to_dtype(descr)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
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


def field_of(dtype: np.dtype, names: tuple[str, ...]) -> Field:
    """A field of a record, or of one that is a field of it and so on."""
    begin, end = 0, dtype.itemsize
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    for name in names:
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
