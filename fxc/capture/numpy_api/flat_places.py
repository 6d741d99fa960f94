"""Places in arrays as one number and as one number an axis: ``unravel_index`` and its inverse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fxc.ir.error_kinds import NUMPY_OPTION
from fxc.ir.types import ArrayType

from ..arrays.creation import is_array
from ..numbers.dims import dims_of
from ..numbers.traced_int import wrap_dim
from ..session.refusing import refuse
from ..session.session import current
from ..values.operands import array_value, operand, record, wrap


def _demand(holds: Any) -> None:
    """Check at run time that a condition holds of all places; NumPy raises where it does not."""
    holds = np.all(holds) if is_array(holds) else holds
    current().record("try_demand", operand(holds))


def _places(x: Any, name: str) -> Any:
    """Indices as NumPy's ints."""
    if isinstance(x, tuple | list):
        x = wrap(array_value(x))
    kind = operand(x).type
    if kind.dtype.kind not in "iu" or kind.dtype == np.uint64:
        raise refuse(NUMPY_OPTION, f"np.{name} of {kind.dtype} cannot be captured; use ints")
    if isinstance(kind, ArrayType) and not kind.rank:
        x = x[()]
    found = record("astype", operand(x), np.dtype(np.intp), casting="unsafe")
    return found


def _sizes(shape: object, order: str, name: str) -> list[Any]:
    """The sizes of an array, the one that moves fastest first."""
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    sizes = [wrap_dim(dim) for dim in dims_of(shape)]
    if not sizes:
        raise refuse(NUMPY_OPTION, f"np.{name} of an array without axes cannot be captured")
    return sizes[::-1] if order == "C" else sizes


def unravel_index(indices: object, shape: object, order: str = "C") -> Any:
    """As ``np.unravel_index``: views of one array, a column for each axis."""
    rest = _places(indices, "unravel_index")
    sizes = _sizes(shape, order, "unravel_index")
    count: Any = 1
    for size in sizes:
        count = count * size
    _demand((rest >= 0) & (rest < count))
    parts = []
    for size in sizes[:-1]:
        parts.append(rest % size)
        rest = rest // size
    parts.append(rest)
    parts = parts[::-1] if order == "C" else parts
    if not is_array(rest):
        return tuple(parts)
    session = current()
    whole = session.record("stack", tuple(map(operand, parts)), axis=rest.ndim)
    return tuple(wrap(session.record("select", whole, rest.ndim, k)) for k in range(len(parts)))


def ravel_multi_index(
    multi_index: object, dims: object, mode: object = "raise", order: str = "C"
) -> Any:
    """As ``np.ravel_multi_index`` of places that are in the array."""
    if mode != "raise":
        raise refuse(
            NUMPY_OPTION, f"np.ravel_multi_index with mode={mode!r} cannot be captured; use np.clip"
        )
    sizes = _sizes(dims, order, "ravel_multi_index")
    given = [_places(x, "ravel_multi_index") for x in _in_order(multi_index, order)]
    if len(given) != len(sizes):
        raise ValueError("parameter multi_index must be a sequence of length " + str(len(sizes)))
    found, step = given[0], sizes[0]
    for place, size in zip(given, sizes, strict=True):
        _demand((place >= 0) & (place < size))
    for place, size in zip(given[1:], sizes[1:], strict=True):
        found = found + place * step
        step = step * size
    _demand(step <= np.iinfo(np.intp).max)
    return found


def _in_order(places: object, order: str) -> Sequence[Any]:
    if not isinstance(places, tuple | list):
        places = tuple(wrap(array_value(places)))
    return tuple(places[::-1] if order == "C" else places)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.unravel_index: unravel_index,
    np.ravel_multi_index: ravel_multi_index,
}
