"""Arrays whose size is counted at run time: what a mask chooses. See Note [Counted sizes]."""

from __future__ import annotations

import numpy as np

from fxc.ir.boxed_dtypes import is_boxed
from fxc.ir.error_kinds import OPERAND
from fxc.ir.graph import Operand, Value
from fxc.ir.symbols import Dim
from fxc.ir.types import array_type
from fxc.ops.metas.layout import gathered_layout

from ..session.refusing import refuse
from ..session.session import current
from ..values.operands import array_value, constant, kind_of, wrap
from .history import hold_same, known_array
from .ufuncs import call_ufunc


def count(mask: Value) -> Dim:
    """How many elements of a mask are True."""
    session = current()
    for known in session.sizes.values():
        if known.mask is None or not session.is_alive(known.value):
            continue
        if hold_same(known.mask, known.at, mask, session.now):
            return known.dim
    if kind_of(mask).size == 0:
        return 0
    number = session.record("sum", mask, axis=None, keepdims=False, dtype=None)
    return session.bind_size(number, kind_of(mask).size, mask=mask, at=session.now)


def bound_size(number: Operand, most: Dim) -> Dim:
    """The size that a number from 0 to ``most`` is."""
    return current().bind_size(number, most)


def as_mask(x: object) -> Value:
    """The mask of the elements of an array that count as True."""
    value = array_value(x)
    if value.type.dtype == np.bool_:
        return value
    if value.type.dtype.kind in "mM":  # NaT counts
        return current().value("astype", value, np.dtype(bool), casting="unsafe")
    if is_boxed(value.type.dtype) and value.type.dtype.kind in "SUV":
        raise refuse(OPERAND, f"whether elements of dtype {value.type.dtype} are true")
    found: Value = array_value(call_ufunc("not_equal", wrap(value), value.type.dtype.type(0)))
    return found


def places(mask: Value) -> tuple[Value, ...]:
    """The indices of the elements of a mask that are True: an array for each axis."""
    known = known_array(mask)
    if known is not None:
        return tuple(constant(each) for each in known.nonzero())
    session = current()
    found = session.record("nonzero", mask, count=count(mask))
    return tuple(session.record("select", found, 1, axis) for axis in range(mask.type.rank))


def chosen(whole: Value, mask: Value, axis: int) -> Value:
    """The elements that a mask chooses of an array, from that axis on: a new array, where one axis
    stands for those of the mask.
    """
    indices, kind = places(mask), kind_of(whole)
    axes = tuple(range(axis, axis + mask.type.rank))
    kept = [each for each in range(kind.rank) if each not in axes]
    rest = array_type(kind.dtype, [kind.shape[a] for a in kept], [kind.strides[a] for a in kept])
    layout = gathered_layout([kind_of(index) for index in indices], rest)
    session = current()
    options = {"axes": axes, "place": 0, "layout": layout}
    found: Value = session.record("gather", whole, indices, **options)
    if axis:
        order = list(range(1, found.type.rank))
        order.insert(axis, 0)
        found = session.record("transpose", found, tuple(order))
    return found
