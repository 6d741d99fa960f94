"""NumPy's functions that write by index arrays and masks: ``put``, ``place``, ``np.add.at``, …"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.ir.error_kinds import NUMPY_CALL, NUMPY_OPTION, OVERLAPPING_WRITE
from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.size_functions import minimum
from fxc.ir.symbols import Dim, counted_in, product
from fxc.ops.metas.layout import is_c_ordered
from fxc.ops.metas.probing import key_of, quietly, sample
from fxc.ops.metas.shapes import is_one, is_zero, same_dim
from fxc.ops.table import TABLE

from ..arrays import advanced, creation, masked, shaping
from ..arrays.indexing import IndexArrays, apply_steps, assign, locate
from ..arrays.ufuncs import call_ufunc, writable
from ..numbers.traced_int import wrap_dim
from ..session.refusing import refuse
from ..session.session import current
from ..values.operands import Traced, array_value, kind_of, operand, wrap
from .numpy_source import run_source
from .picking import bounded, positions


def _target(x: object, name: str) -> Value:
    """The array to write; raises NumPy's errors for what is none or is read-only."""
    if not isinstance(x, Traced):
        raise TypeError(f"{name}: argument 1 must be numpy.ndarray, not {type(x)}")
    value = writable(x)
    if not kind_of(value).writeable:
        raise ValueError("assignment destination is read-only")
    return value


def _flat(source: object, dtype: np.dtype, writer: Callable[..., object] | None = None) -> Any:
    """The values to write, one after the other, in the dtype of the target.

    Raises what NumPy's ``writer`` raises for arrays that it does not cast.
    """
    if writer is not None and isinstance(source, Traced):
        quietly(writer, np.zeros(1, dtype), [True], sample(key_of(source._operand().type)))
    given: Operand = advanced.in_dtype(source, dtype)
    return shaping.ravel(wrap(given) if isinstance(given, Value) else creation.asarray(given.value))


def _repeated(values: Any, count: Dim) -> Any:
    """So many of the values, beginning again when they are used up; one for all is of rank 0."""
    size = values._type.shape[0]
    if is_one(size):
        return values.reshape(())
    if same_dim(size, count):
        return values
    places = call_ufunc("remainder", creation.arange(wrap_dim(count)), wrap_dim(size))
    return _chosen(values, places)


def _chosen(values: Any, places: object) -> object:
    """The values at places that are known to be in bounds."""
    index = array_value(places)
    found: Value = current().record(
        "gather", values._value, (index,), axes=(0,), place=0, layout=None
    )
    return wrap(found)


def _write_flat(target: Value, index: Value, source: Any) -> None:
    """``target.ravel()[index] = source``, where the index is in bounds; in place in any layout."""
    kind = kind_of(target)
    indices: list[Value] = []
    for axis, size in enumerate(kind.shape):
        inner = product(kind.shape[axis + 1 :])
        along = wrap(index)
        if not is_one(inner):
            along = call_ufunc("floor_divide", along, wrap_dim(inner))
        if axis:
            along = call_ufunc("remainder", along, wrap_dim(size))
        indices.append(array_value(along))
    if not indices:
        assign(target, source if source.ndim == 0 else source[-1])
        return
    current().record(
        "index_put_", target, operand(source), tuple(indices),
        axes=tuple(range(kind.rank)), place=0,
    )  # fmt: skip


def put(a: object, ind: object, v: object, mode: str = "raise") -> None:
    """As ``np.put``: places of the flat array, values that repeat. Of NumPy's scalars, whose method
    it calls, a copy is written.
    """
    if isinstance(a, np.generic):
        a = wrap(array_value(a)).copy()
    target = _target(a, "put")
    index = array_value(shaping.ravel(wrap(positions(ind))))
    values = _flat(v, target.type.dtype)
    count, size = index.type.shape[0], kind_of(target).size
    if is_zero(count):
        return
    if is_zero(size):
        raise IndexError("cannot replace elements of an empty array")
    if not is_zero(values._type.shape[0]):
        _write_flat(target, bounded(index, size, 0, mode), _repeated(values, count))


def putmask(a: object, mask: object, values: object) -> None:
    """As ``np.putmask``: values are chosen by place, and repeat."""
    target = _target(a, "putmask")
    chosen = _same_size(target, mask, "putmask")
    given = _flat(values, target.type.dtype, np.putmask)
    if is_zero(given._type.shape[0]):
        return
    _write_where(target, chosen, _repeated(given, kind_of(target).size))


def place(arr: object, mask: object, vals: object) -> None:
    """As ``np.place``: values are used one after the other, and repeat."""
    target = _target(arr, "place")
    masked.check_apart(target, mask, vals)
    chosen = _same_size(target, mask, "place")
    given = _flat(vals, target.type.dtype, np.place)
    size = given._type.shape[0]
    if is_zero(size):
        raise refuse(NUMPY_OPTION, "np.place of no values", "it raises if the mask has any True")
    if not counted_in(size) and is_one(size):
        _write_where(target, chosen, given.reshape(()))
        return
    number = shaping.ravel(chosen).cumsum(dtype=np.intp) - 1
    _write_where(target, chosen, _chosen(given, call_ufunc("remainder", number, wrap_dim(size))))


def _same_size(target: Value, mask: object, name: str) -> Any:
    """The mask as bools in the shape of the target."""
    value = array_value(mask)
    kind = kind_of(target)
    if not same_dim(kind_of(value).size, kind.size):
        raise ValueError(f"{name}: mask and data must be the same size")
    array = wrap(value)
    if array.dtype != np.bool_:
        array = array.astype(np.bool_)
    return shaping.reshape(array, shaping.wrap_dims(kind.shape))


def _write_where(target: Value, chosen: object, source: Any) -> None:
    """``target[chosen] = source`` for a source of one element, or of one for each place."""
    if source.ndim:
        source = shaping.reshape(source, shaping.wrap_dims(target.type.shape))
    assign(target, call_ufunc("where", chosen, source, wrap(target)))


def put_along_axis(arr: object, indices: object, values: object, axis: object) -> object:
    """As ``np.put_along_axis`` of one axis."""
    if axis is None:
        raise refuse(
            NUMPY_OPTION, "np.put_along_axis without an axis, which may write a copy,", "use np.put"
        )
    return run_source(np.put_along_axis, (arr, indices, values, axis), {})


def fill_diagonal(a: object, val: object, wrap: bool = False) -> None:
    """As ``np.fill_diagonal``: values repeat."""
    _fill_diagonal(_target(a, "fill_diagonal"), val, wrap)


def _fill_diagonal(target: Value, val: object, wraps: bool) -> None:
    kind = kind_of(target)
    if kind.rank < 2:
        raise ValueError("array must be at least 2-d")
    step: Dim
    end: Dim = kind.size
    if kind.rank == 2:
        columns = kind.shape[1]
        step = columns + 1
        if not wraps:
            end = minimum(end, columns * columns)
    else:
        if not all(same_dim(size, kind.shape[0]) for size in kind.shape):
            raise ValueError("All dimensions of input must be of equal length")
        step = 1
        for place in range(1, kind.rank):
            step = step + product(kind.shape[:place])
    if isinstance(val, Traced) and current().aliases.may_share_memory(array_value(val), target):
        raise refuse(
            OVERLAPPING_WRITE, "np.fill_diagonal of an array with elements of its own", "use a copy"
        )
    values = _flat(val, kind.dtype)
    count = (end + step - 1) // step
    if is_zero(values._type.shape[0]) or is_zero(count):
        return
    source = _repeated(values, count)
    if is_c_ordered(kind):
        flat = shaping.reshape(wrap(target), -1)
        flat[: wrap_dim(end) : wrap_dim(step)] = source
        return
    places = creation.arange(wrap_dim(count)) * wrap_dim(step)
    _write_flat(target, array_value(places), source)


def at(ufunc: np.ufunc, name: str, a: object, indices: object, *source: object) -> None:
    """As ``np.add.at``: each place is updated as often as it occurs."""
    target = writable(a)
    if not kind_of(target).writeable:
        raise refuse(NUMPY_OPTION, f"np.{ufunc.__name__}.at of a read-only array")  # it writes
    if ufunc.nout != 1 or ufunc.signature or len(source) > 1:
        raise refuse(NUMPY_CALL, f"np.{ufunc.__name__}.at")
    if ufunc.nin != len(source) + 1:
        raise ValueError("second operand needed for ufunc")
    given = [_strong(each) for each in source]
    operands = (target, *given)
    if TABLE[name].raises and all(x.type.dtype.kind in "biu" for x in operands):
        raise refuse(NUMPY_OPTION, f"np.{ufunc.__name__}.at of integers")
    place = locate(kind_of(target), indices)
    view = apply_steps(target, place.steps)
    if isinstance(place.arrays, IndexArrays):
        advanced.update(view, place.arrays, name, given[0] if given else None)
        return
    others = [x.value if isinstance(x, Literal) else wrap(x) for x in given]
    if place.arrays is not None:  # a mask chooses each place once
        read = masked.read(view, place.arrays)
        masked.write(view, place.arrays, call_ufunc(name, read, *others))
    else:
        assign(view, call_ufunc(name, wrap(view), *others))


def _strong(source: Any) -> Operand:
    """The operand, an array or a scalar of NumPy's: Python's scalars are none to ``ufunc.at``."""
    if isinstance(source, Traced) or np.ndim(source):
        return array_value(source)
    return operand(np.asarray(source).reshape(1)[0])
