"""NumPy's functions that find elements: ``nonzero``, ``argwhere``, ``compress`` and their kin.

What they give has a size that is counted at run time. See Note [Counted sizes].
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from fxc.ir.error_kinds import NUMPY_OPTION
from fxc.ir.size_guards import guard
from fxc.ops.metas.probing import fail_in_numpy
from fxc.ops.metas.shapes import normalize_axis

from ..arrays import shaping
from ..arrays.counting import as_mask, count, places
from ..arrays.creation import empty, ones
from ..arrays.history import known_array
from ..arrays.indexing import checked
from ..arrays.reductions import Asked, reduce
from ..arrays.sorting import argsort, sort
from ..arrays.ufuncs import call_ufunc
from ..numbers.dims import axis_number
from ..numbers.traced_int import TracedInt, check_fits, wrap_dim
from ..session.refusing import refuse
from ..session.session import current
from ..session.sizes import CountedSize
from ..values.operands import array_value, constant, kind_of, operand, record, wrap, wrap_all
from .picking import take


def nonzero(a: object) -> tuple[Any, ...]:
    """As ``np.nonzero``: views of one array, a column for each axis."""
    mask = as_mask(a)
    if not mask.type.rank:
        fail_in_numpy(np.nonzero, mask.type)
    known = known_array(mask)
    if known is None:
        return tuple(map(wrap, places(mask)))
    found: Any = wrap(constant(np.stack(known.nonzero(), axis=1)))
    return tuple(found[:, axis] for axis in range(known.ndim))


def where(condition: object, /, *given: object) -> object:
    if not given:
        return nonzero(condition)
    if len(given) != 2:
        raise ValueError("either both or neither of x and y should be given")
    ints = [x for x in given if type(x) is TracedInt]
    if ints and _where_checks_ints():
        kinds = [operand(x).type for x in given if type(x) is not TracedInt]
        strong = [kind.dtype for kind in kinds if not kind.weak]
        for x in ints if strong else ():
            check_fits(x, np.result_type(*strong))
    return call_ufunc("where", condition, *given)


@cache
def _where_checks_ints() -> bool:
    """Whether ``np.where`` refuses ints that do not fit, as from 2.5 on, or takes low bits."""
    try:
        np.where([True], np.uint8(0), 256)
    except OverflowError:
        return True
    return False


def count_nonzero(a: object, axis: object = None, *, keepdims: object = False) -> Any:
    """As ``np.count_nonzero``: of a whole array a number, Python's before NumPy 2.4."""
    mask = as_mask(a)
    if axis is None and not keepdims and _COUNTS_IN_PYTHON:
        known = known_array(mask)
        return int(np.count_nonzero(known)) if known is not None else wrap_dim(count(mask))
    return reduce("sum", wrap(mask), Asked(axis, np.intp, keepdims=keepdims))


_COUNTS_IN_PYTHON = not isinstance(np.count_nonzero(np.ones(1, bool)), np.generic)


def compress(condition: object, a: object, axis: object = None, out: object = None) -> object:
    mask = as_mask(condition)
    if mask.type.rank != 1:
        raise ValueError("condition must be a 1-d array")
    known = known_array(mask)
    if known is not None:
        return take(a, known.nonzero()[0], axis, out)
    if out is not None:
        raise refuse(NUMPY_OPTION, "np.compress with out=", "assign the result")
    array = _array(a)
    if axis is None or not array.ndim:
        array, place = shaping.ravel(array), 0
    else:
        place = normalize_axis(axis_number(axis), array.ndim)
    (index,) = places(mask)
    if not guard(mask.type.shape[0], "<=", array._type.shape[place]):
        index = checked(index, array._type.shape[place], place)
    return record("gather", array._value, (index,), axes=(place,), place=place, layout=None)


def unique(
    ar: object,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: object = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> object:
    """As ``np.unique``: of real numbers by sorting, else by NumPy itself. There are so many
    parameters because they are NumPy's.
    """
    asked = {"index": return_index, "inverse": return_inverse, "counts": return_counts}
    asked = {name: bool(x) for name, x in {**asked, "equal_nan": equal_nan}.items()}
    array = _array(ar)
    if axis is not None:
        along = normalize_axis(axis_number(axis), array.ndim)
        if array.ndim > 1:
            return _unique_along(array, along, {**asked, "ordered": bool(sorted)})
    kinds = "biuf"
    if current().region:  # native code calls NumPy for what has a size that is known before
        kinds = "biufSUmM" if equal_nan else "biufSU"  # NumPy takes NaT for equal in any case
    if sorted and array.dtype.kind in kinds:
        return _firsts(array, **asked)
    results = _unique_by_numpy(array._value, {**asked, "ordered": bool(sorted), "rows": False})
    if return_inverse:  # which NumPy gives the shape of the array
        place = 1 + asked["index"]
        results[place] = shaping.reshape(results[place], array.shape)
    return tuple(results) if len(results) > 1 else results[0]


# Before NumPy 2.1 the inverse along an axis has as many axes as the array.
_INVERSE_IS_FLAT = np.unique(np.eye(2), return_inverse=True, axis=0)[1].ndim == 1


def _unique_along(x: Any, axis: int, asked: dict[str, bool]) -> object:
    """The parts along an axis, each once."""
    if asked["inverse"] and not _INVERSE_IS_FLAT:
        raise refuse(NUMPY_OPTION, "np.unique with axis= and return_inverse=")
    value = np.moveaxis(x, axis, 0)._value
    first, *rest = _unique_by_numpy(value, {**asked, "rows": True})
    first = np.moveaxis(first, 0, axis)
    return (first, *rest) if rest else first


def _unique_by_numpy(value: Any, asked: dict[str, bool]) -> list[Any]:
    """The results of the operator, which is called so."""
    session, kind = current(), kind_of(value)
    name, most = session.new_size_name(), kind.shape[0] if asked["rows"] else kind.size
    found = session.record("unique", value, **asked, symbol=name, most=most)
    session.counted(CountedSize(name, most, found[0]))
    return list(wrap_all(found))


def _firsts(x: Any, index: bool, inverse: bool, counts: bool, equal_nan: bool) -> object:
    """The first of equal numbers in order, where they stand, which of them each number is, and how
    many are equal to each; all nan are last.
    """
    flat, order = shaping.ravel(x), None
    if index or inverse:
        order = argsort(flat, kind="stable" if index else None)
        ordered = take(flat, order)
    else:
        ordered = sort(flat)
    is_first = ones(ordered.shape, bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    if equal_nan and ordered.dtype.kind in "fmM":
        is_first[1:] &= ordered[:-1] == ordered[:-1]
    if not (index or inverse or counts):
        return ordered[is_first]
    places = nonzero(is_first)[0]
    found = [take(ordered, places)]
    if index:
        found.append(take(order, places))
    if inverse:
        numbers = empty(ordered.shape, np.intp)
        numbers[order] = is_first.cumsum() - 1
        found.append(shaping.reshape(numbers, x.shape))
    if counts:
        ends = empty(places.shape, np.intp)
        ends[:-1], ends[-1:] = places[1:], ordered.shape[0]
        found.append(ends - places)
    return tuple(found)


def _array(x: object) -> Any:
    return wrap(array_value(x))
