"""Reading and writing by index arrays, ``x[i, :, j]``: checks, then a gather or an index_put.

See Note [Index arrays] and Note [Order of index arrays].
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from fxc.ir.error_kinds import OPERAND, OVERLAPPING_WRITE
from fxc.ir.graph import Literal, Operand, SliceSpec, Value
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, array_type
from fxc.ops.metas.layout import gathered_layout, writing_order
from fxc.ops.metas.probing import quietly
from fxc.ops.metas.shapes import broadcast_shapes, hints, is_known_one, is_one, is_zero

from ..numbers.traced_int import check_fits
from ..session.dropped_parts import drops_parts, warn_of_dropped_parts
from ..session.refusing import refuse
from ..session.session import current
from ..values.above import Later, above
from ..values.operands import Traced, constant, has_traced, kind_of, operand
from .dtypes import check_real
from .indexing import IndexArrays, as_stored, check_masked_source, check_without_gaps, checked
from .sequences import array_of

_INTP = np.dtype(np.intp)


def read(view: Value, arrays: IndexArrays) -> Value:
    """``x[i, :, j]``: a new array or a view of one, see Note [Order of index arrays]."""
    indices = _checked(view, arrays)
    layout = gathered_layout(_kinds(arrays.values), _subspace(view, arrays))
    session = current()
    found: Value = session.record("gather", view, indices, axes=arrays.axes, place=0, layout=layout)
    if not arrays.place:
        return found
    order = list(range(found.type.rank))
    count = found.type.rank - view.type.rank + len(arrays.axes)
    indexed, order = order[:count], order[count:]
    order[arrays.place : arrays.place] = indexed
    return session.value("transpose", found, tuple(order))


def write(view: Value, arrays: IndexArrays, source: object) -> None:
    """``x[i, :, j] = source``: casts as assignments do; of repeated places the last one stays."""
    check_without_gaps(view)
    indices = _checked(view, arrays)
    any_chosen = (lambda: not is_zero(kind_of(arrays.values[0]).size)) if arrays.is_mask else None
    given = in_dtype(source, view.type.dtype, any_chosen)
    if arrays.is_mask:
        check_masked_source(given.type.rank)
    given = fitted(given, len(_shape(view, arrays)))
    order, backwards = _order(
        view, arrays, source._operand() if isinstance(source, Traced) else given
    )
    if backwards or order != tuple(range(len(order))):
        indices, given = _reordered(view, arrays, indices, given, order, backwards)
    current().record(
        "index_put_", view, given, tuple(indices), axes=arrays.axes, place=arrays.place
    )


def update(view: Value, arrays: IndexArrays, ufunc: str, source: Operand | None) -> None:
    """``np.add.at(x, (i, ...), source)``: each place as often as it occurs; None for no operand."""
    if source is not None and source.type.rank > len(_shape(view, arrays)):
        raise ValueError("array is not broadcastable to correct shape")
    indices = _checked(view, arrays)
    axes, place = arrays.axes, arrays.place
    current().record("index_reduce_", view, source, indices, axes=axes, place=place, ufunc=ufunc)


# ------------------------------------------------------------------ index arrays


def _checked(view: Value, arrays: IndexArrays) -> tuple[Value, ...]:
    """The index arrays counted from the front; NumPy checks none if they broadcast to nothing."""
    session = current()
    kinds = _kinds(arrays.values)
    try:
        shape = broadcast_shapes(*(kind.shape for kind in kinds))
    except ValueError as error:
        raise IndexError(f"shape mismatch: indexing arrays: {error}") from None
    if 0 in shape:
        return tuple(
            session.record("astype", value, _INTP, casting="unsafe") for value in arrays.values
        )
    if arrays.in_bounds:
        return arrays.values
    return tuple(
        checked(value, view.type.shape[axis], axis)
        for value, axis in zip(arrays.values, arrays.axes, strict=True)
    )


def _kinds(values: Sequence[Value]) -> list[ArrayType]:
    return [kind_of(value) for value in values]


def _shape(view: Value, arrays: IndexArrays) -> tuple[Dim, ...]:
    """The shape of what the index arrays read or write."""
    rest = _subspace(view, arrays).shape
    indexed = broadcast_shapes(*(kind.shape for kind in _kinds(arrays.values)))
    return (*rest[: arrays.place], *indexed, *rest[arrays.place :])


def _subspace(view: Value, arrays: IndexArrays) -> ArrayType:
    """What is left of the array at one place of the index arrays."""
    kind = kind_of(view)
    kept = [axis for axis in range(kind.rank) if axis not in arrays.axes]
    return array_type(kind.dtype, [kind.shape[a] for a in kept], [kind.strides[a] for a in kept])


# ------------------------------------------------------------------ sources


def in_dtype(source: Any, dtype: np.dtype, any_chosen: Later | None = None) -> Operand:
    """What an assignment of ``source`` to elements of this dtype writes. If a mask chooses them,
    ``any_chosen`` tells whether it chooses any; if not, NumPy casts no array.
    """
    if not has_traced(source):
        cells = np.zeros(np.shape(source), dtype)
        quietly(operator.setitem, cells, ..., source)
        if isinstance(source, np.complexfloating) and dtype.kind in "iuf":
            warn_of_dropped_parts(current())
        return constant(cells) if cells.ndim else Literal(cells.reshape(1)[0])
    if isinstance(source, tuple | list) and dtype.kind in "iu":  # each Python int has to fit
        return operand(array_of(source, dtype))
    source = source._stored_as(dtype) if isinstance(source, Traced) else source
    check_fits(source, dtype)
    given = as_stored(operand(source), dtype, each=True)
    check_real(given, dtype)
    if given.type.dtype == dtype and not given.type.weak:
        return given
    if not given.type.rank and _is_unsafe_date(given.type.dtype, dtype):
        raise refuse(OPERAND, f"a {given.type.dtype} in an array of {dtype}")
    session = current()
    if any_chosen is not None and given.type.rank and drops_parts(given.type, dtype):
        warn = partial(warn_of_dropped_parts, session)
        above().chosen(session.door, any_chosen(), warn, lambda: None)
        given = session.record("real", given)
    return session.value("astype", given, dtype, casting="unsafe")


def _is_unsafe_date(given: np.dtype, dtype: np.dtype) -> bool:
    """Whether NumPy raises when a date or duration is written there; it asks this of scalars."""
    is_same = given.kind == dtype.kind and dtype.kind in "mM"
    return is_same and not np.can_cast(given, dtype, "same_kind")


def fitted(given: Operand, rank: int) -> Operand:
    """``given`` without the leading axes of size 1 that an assignment to that rank drops."""
    extra = given.type.rank - rank
    if extra > 0 and 0 in given.type.shape[extra:]:  # of nothing NumPy drops any leading axes
        return constant(np.zeros(hints(given.type.shape[extra:]), given.type.dtype))
    if extra > 0 and all(is_one(dim) for dim in given.type.shape[:extra]):
        return current().value("squeeze", given, tuple(range(extra)))
    return given


# ------------------------------------------------------------------ order


def _order(
    view: Value, arrays: IndexArrays, given: Operand
) -> tuple[tuple[int, ...], frozenset[int]]:
    """The axes of the index arrays as NumPy walks them, and those it walks backwards."""
    kinds = _kinds(arrays.values)
    rank = max(kind.rank for kind in kinds)
    plain = tuple(range(rank)), frozenset[int]()
    if not isinstance(given, Value) or not isinstance(given.type, ArrayType):
        return plain
    kind = given.type
    # The source along the axes of the index arrays, of which it may have none.
    axes = [axis + kind.rank - len(_shape(view, arrays)) for axis in range(arrays.place + rank)]
    axes = [axis for axis in axes[arrays.place :] if axis >= 0]
    dims = [kind.shape[axis] for axis in axes]
    if all(map(is_known_one, dims)):  # the same is written everywhere: no order shows
        return plain
    along = array_type(kind.dtype, dims, [kind.strides[axis] for axis in axes])
    found = writing_order(kinds, along, _subspace(view, arrays))
    session = current()
    if found != plain and any(
        session.aliases.may_share_memory(value, view) for value in (*arrays.values, given)
    ):
        raise refuse(  # NumPy walks copies of them
            OVERLAPPING_WRITE,
            "a write by index arrays in which an array that is not in C order shares memory with "
            "the target",
            "use a copy of it",
        )
    return found


def _reordered(
    view: Value,
    arrays: IndexArrays,
    indices: Sequence[Value],
    given: Operand,
    order: tuple[int, ...],
    backwards: frozenset[int],
) -> tuple[tuple[Value, ...], Operand]:
    """Indices and source whose C order is the order in which NumPy walks them."""
    shape = _shape(view, arrays)
    place = arrays.place
    rank = len(order)
    session = current()

    def walked(value: Operand, whole: tuple[Dim, ...], first: int) -> Value:
        spread = session.record("broadcast_to", value, whole)
        specs = tuple(
            SliceSpec(dim - 1, -1, -1) if axis - first in backwards else SliceSpec(0, dim, 1)
            for axis, dim in enumerate(whole)
        )
        turned = session.record("slice", spread, specs)
        axes = list(range(len(whole)))
        axes[first : first + rank] = [first + axis for axis in order]
        return session.value("transpose", turned, tuple(axes))

    indexed = shape[place : place + rank]
    return tuple(walked(each, indexed, 0) for each in indices), walked(given, shape, place)
