"""Lists as arrays of a given dtype: NumPy converts each item to that dtype by itself.

That is not ``np.array(items).astype(dtype)``: there a Python int that the dtype cannot hold would
wrap around, and an int beside a float would be rounded first.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from fxc.ir.error_kinds import OPERAND
from fxc.ir.graph import Operand, Value
from fxc.ir.types import ArrayType, ScalarType

from ..numbers.python_numbers import arithmetic, to_int
from ..numbers.traced_int import check_fits
from ..session.refusing import refuse
from ..session.session import current
from ..values.operands import (
    Traced,
    TracedValue,
    constant,
    has_traced,
    of_list,
    operand,
    record,
    type_of,
    wrap,
)
from .dtypes import check_real
from .ufuncs import call_ufunc

_OF_PYTHON = {"greater": "gt", "less": "lt"}
_EXACT = 2**53  # up to which ints are float64s, too


def array_of(items: Any, dtype: np.dtype) -> Any:
    """The traced array of ``np.array(items, dtype)``; ``items`` is a list, a tuple or a scalar."""
    if not has_traced(items):
        return wrap(constant(np.array(items, dtype)))
    if dtype.names is not None and isinstance(items, tuple | list):
        return _records(items, dtype)
    found = of_list(items)
    if found is not items and is_stored(found.dtype, dtype):
        demand_cast(found, found.dtype, dtype)
        return found.astype(dtype, copy=False)
    return wrap(_joined(items, dtype) if isinstance(items, tuple | list) else _copied(items, dtype))


def source_of(items: object, target: ArrayType) -> object:
    """The array that ``x[i] = items`` copies into a region of ``target``'s type."""
    if isinstance(items, Traced) and hasattr(items, "as_array"):
        items = items.as_array(target.dtype)
    found: Any = items if isinstance(items, TracedValue) else array_of(items, target.dtype)
    if found.ndim > target.rank:
        raise ValueError(
            "setting an array element with a sequence. The requested array would exceed the "
            f"maximum number of dimension of {target.rank}."
        )
    return found


def _joined(items: Any, dtype: np.dtype) -> Value:
    if not has_traced(items):
        return constant(np.array(items, dtype))
    parts = tuple(
        _joined(item, dtype) if issubclass(type(item), tuple | list) else _item(item, dtype)
        for item in items
    )
    if not parts:  # a list of the program's that has no items yet
        return constant(np.array([], dtype))
    return current().value("stack", parts, axis=0)


def _records(items: Any, dtype: np.dtype) -> object:
    """New records: lists are axes, and each tuple in them has the fields of one."""
    rows, shape = [items], []
    while all(issubclass(type(row), list) for row in rows) and len({*map(len, rows)}) == 1:
        shape.append(len(rows[0]))
        rows = [each for row in rows for each in row]
    names = dtype.names or ()
    if not all(issubclass(type(row), tuple) and len(row) == len(names) for row in rows):
        return wrap(_joined(items, dtype))
    fields = [dtype[name] for name in names]
    columns = [
        array_of([row[place] for row in rows], field.base).reshape(*shape, *field.shape)
        for place, field in enumerate(fields)
    ]
    return records_of(tuple(shape), dtype, columns)


def records_of(shape: tuple[Any, ...], dtype: np.dtype, columns: Iterable[object]) -> Any:
    """New records with these fields."""
    made = record("zeros", shape, dtype, layout=None)
    for name, column in zip(dtype.names or (), columns, strict=True):
        made[name] = column
    return made


def _copied(x: Traced, dtype: np.dtype) -> Value:
    return current().value("copy", _item(x, dtype), order="K")


def _item(x: object, dtype: np.dtype) -> Operand:
    if dtype.names is not None and isinstance(x, Traced) and hasattr(x, "as_array"):
        return operand(x.as_array(dtype))  # of tuples it has a record of each
    x = x._stored_as(dtype) if isinstance(x, Traced) else x
    if not isinstance(x, Traced):
        return operand(np.array(x, dtype)[()])
    check_fits(x, dtype)
    value = operand(x)
    kind = type_of(value)
    check_real(value, dtype)
    if kind.dtype == dtype and not (isinstance(kind, ScalarType) and kind.weak):
        return value
    are_ints = kind.dtype.kind in "iu" and dtype.kind in "iu"
    if isinstance(value, Value) and isinstance(kind, ScalarType) and are_ints:
        value = operand(to_int(wrap(value)))
    elif isinstance(kind, ScalarType):
        if not is_stored(kind.dtype, dtype):
            raise refuse(
                OPERAND,
                f"a list that becomes an array of {dtype}, with a scalar of {kind.dtype} in it,",
                "use x.astype(dtype), or assign the elements",
            )
        demand_cast(x, kind.dtype, dtype)
    result: Operand = record("astype", value, dtype, casting="unsafe")._operand()
    return result


# ------------------------------------------------------------------ conversions

# NumPy casts some numbers that become items of an array, each by itself, and asks Python's ``int``
# or ``float`` for others, which may raise where a cast wraps around, or round twice. Native code
# casts, and leaves where that would make a difference.


def is_a_cast(source: np.dtype, target: np.dtype) -> bool:
    """Whether NumPy's conversion of such a number is the cast, whatever the number is."""
    if np.can_cast(source, target, "safe"):
        return True
    return source.kind in "fc" and target.kind in "fc"


def is_stored(source: np.dtype, target: np.dtype) -> bool:
    """Whether native code converts numbers of one dtype to the other."""
    return is_a_cast(source, target) or (source.kind in "iuf" and target.kind in "iuf")


def demand_cast(x: object, source: np.dtype, target: np.dtype) -> None:
    """Have native code leave where one of the elements, or the scalar, is not just cast."""
    if is_a_cast(source, target):
        return
    low, high = _bounds(source, target)
    kind = type_of(operand(x))
    is_pythons = isinstance(kind, ScalarType) and kind.weak and source.kind == "i"
    for name, bound in (("greater", low), ("less", high)):
        if bound is not None:
            compare = (
                partial(arithmetic, _OF_PYTHON[name]) if is_pythons else partial(call_ufunc, name)
            )
            fits = compare(x, bound)
            fits = fits.all() if getattr(fits, "ndim", 0) else fits
            current().record("try_demand", operand(fits))


def _bounds(source: np.dtype, target: np.dtype) -> tuple[Any, Any]:
    """Numbers between which both conversions are the same; None for an end without a bound."""
    if target.kind == "f":
        if source.itemsize < 8:
            return None, None
        return (-_EXACT if source.kind == "i" else None), _EXACT
    info = np.iinfo(target)
    if source.kind == "f":
        return source.type(info.min - 1), source.type(info.max + 1)
    have = np.iinfo(source)
    low = info.min - 1 if have.min < info.min else None
    return low, (info.max + 1 if have.max > info.max else None)
