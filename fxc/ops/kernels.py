"""Eager NumPy kernels: what each operator does on real arrays.

``kernel_of(name)`` gives a callable that takes the canonical arguments of the schema as real
arrays, scalars and ints, regions as Python functions from a tuple of arrays to a tuple of arrays.
It returns what NumPy returns, scalars included; kernels that write return None.

Most kernels follow by rule from the row's NumPy callable and its schema; ``_KERNELS`` holds the
rest, by operator name.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from fxc.ir.errors import WouldRaise
from fxc.ir.graph import ArrayConstant, SliceSpec
from fxc.ir.types import strided_empty

from . import ufunc_methods
from .foreign_ufuncs import guarded, ufunc_named
from .library import plain
from .metas.views import rows_of
from .table import TABLE, Operator, Tag

Kernel = Callable[..., Any]


def kernel_of(name: str) -> Kernel:
    """The eager NumPy kernel of the operator ``name``.

    Raises ``KeyError`` if there is no such operator, or nothing says what it means in NumPy.

    >>> kernel_of("add")(np.arange(3), 1)
    array([1, 2, 3])
    """
    op = TABLE[name]
    found = _cache.get(name)
    if found is None or found[0] is not op:
        found = _cache[name] = (op, _make_kernel(op))
    return found[1]


_cache: dict[str, tuple[Operator, Kernel]] = {}


def writing_kernel_of(name: str) -> Kernel | None:
    """A kernel that takes the array for the result, or a tuple of those, too, as ``out``."""
    op = TABLE[name]
    if op.name == "ufunc_accumulate":
        return ufunc_methods.accumulate_into
    if op.name in _KERNELS or op.role or not isinstance(op.numpy, np.ufunc):
        return None
    return guarded(op.numpy)


def compiled_kernel_of(name: str) -> Kernel:
    """The kernel that compiled code calls: where NumPy would warn at the program's line, the call
    is left to it.
    """
    return (_warned if name in _WARNS else kernel_of)(name)


_WARNS = frozenset({"mean", "var", "std", "median", "nanmedian"})


def _warned(name: str) -> Kernel:
    kernel = kernel_of(name)

    def average(x: np.ndarray, axis: Any, *rest: Any) -> Any:
        if axis is None:
            count = x.size
        elif type(axis) is tuple:
            count = math.prod([x.shape[each] for each in axis])
        else:
            count = x.shape[axis]
        if count <= (rest[-1] if name in ("var", "std") else 0):
            raise WouldRaise(f"NumPy warns of the {name} of too few elements")
        if name == "nanmedian" and np.isnan(x).all(axis).any():
            raise WouldRaise("NumPy warns of the median of nothing but nans")
        return kernel(x, axis, *rest)

    return average


def called_by(name: str) -> tuple[Kernel, tuple[str, ...]]:
    """What ``kernel_of(name)`` calls for plain arrays, and the names of the last arguments."""
    op = TABLE[name]
    if name in _WARNS:
        return compiled_kernel_of(name), ()
    if op.name in _KERNELS or op.role or op.numpy is None:
        return kernel_of(name), ()
    names = tuple(param.name for param in op.schema.params[op.schema.positional :])
    return plain(guarded(op.numpy)), names


def _make_kernel(op: Operator) -> Kernel:
    if op.name in _KERNELS:
        return _KERNELS[op.name]
    match op.role:
        case "inplace":
            return _in_place(op)
        case "out":
            return _with_out(op)
        case "copy":
            return _copying(kernel_of(op.group))
        case "scatter":
            return _scattering(kernel_of(op.group))
    if op.numpy is None:
        raise KeyError(f"no eager kernel says what {op.name!r} means")
    return _by_name(op, guarded(op.numpy))


def _by_name(op: Operator, function: Kernel) -> Kernel:
    """Call ``function`` with the keyword parameters of the schema by name."""
    count = op.schema.positional
    names = tuple(param.name for param in op.schema.params[count:])
    if not names:
        return function

    first = [f"_{place}" for place in range(count)]
    given = ", ".join([*first, *(f"{name}={name}" for name in names)])
    source = f"lambda {', '.join([*first, *names])}: _function({given})"
    kernel: Kernel = eval(source, {"_function": function})  # a third of the time of **kwargs
    return kernel


# ---------------------------------------------------------------- writers

# Functions of C that take ``out`` and have no signature to say so in every NumPy 2.
_TAKE_OUT = frozenset({np.dot})


def _takes_out(function: Kernel | None) -> bool:
    if isinstance(function, np.ufunc) or function in _TAKE_OUT:
        return True
    try:
        return function is not None and "out" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _in_place(op: Operator) -> Kernel:
    function = op.numpy
    if isinstance(function, np.ufunc):

        def kernel(x: np.ndarray, *rest: object) -> None:
            function(x, *rest, out=x)

        return kernel
    compute = kernel_of(op.group)
    if op.tag is Tag.WRITE and op.schema.returns:

        def run(*args: object) -> Any:
            _, found = compute(*args)  # the first operand has been written
            return found

        return run

    def write_back(x: np.ndarray, *rest: object) -> None:
        np.copyto(x, compute(x, *rest), casting="same_kind")

    return write_back


def _with_out(op: Operator) -> Kernel:
    if op.group not in _KERNELS and _takes_out(op.numpy):
        call = _by_name(op, op.numpy)  # type: ignore[arg-type]

        def kernel(*args: object) -> None:
            call(*args)

        return kernel
    compute = kernel_of(op.group)

    def write_out(*args: Any) -> None:
        np.copyto(args[-1], compute(*args[:-1]), casting="same_kind")

    return write_out


def _copy_(x: np.ndarray, y: object, casting: str) -> None:
    # 'unsafe' is what an assignment does, and an assignment is not quite a copyto: it takes
    # sequences, and casts Python scalars as Python's item assignment does.
    if casting == "unsafe":
        x[...] = y
    else:
        np.copyto(x, y, casting=casting)  # type: ignore[arg-type]


# ---------------------------------------------------------------- views and their inverses


def strided_copy(array: object) -> np.ndarray:
    """A copy whose strides are those of the original, gaps and all.

    NumPy adds up a sum in an order that depends on strides; a functional graph evaluated with
    such copies therefore has the bits of the views it stands for.
    """
    array = np.asarray(array)
    if array.flags.c_contiguous:
        return np.array(array)
    copy = strided_empty(array.dtype, array.shape, array.strides)
    np.copyto(copy, array)
    return copy


def _unshared(x: np.ndarray) -> np.ndarray:
    """A copy to be written: elements that share memory with others get memory of their own."""
    shared = any(s == 0 and n > 1 for s, n in zip(x.strides, x.shape, strict=True))
    return np.array(x, order="C") if shared else strided_copy(x)


def _copying(view: Kernel) -> Kernel:
    def kernel(x: object, *rest: object) -> np.ndarray:
        return strided_copy(view(np.asarray(x), *rest))

    return kernel


def _scattering(view: Kernel) -> Kernel:
    def kernel(x: Any, source: object, *rest: object) -> np.ndarray:
        result = _unshared(x)
        region = view(result, *rest)
        if not region.flags.writeable:
            region.flags.writeable = True  # the inverse of a read-only view writes all the same
        region[...] = source
        return result

    return kernel


def _reshape_scatter(x: Any, source: Any, shape: Sequence[int]) -> np.ndarray:
    """Every element is replaced, also where the layout of ``x`` allows no view of this shape."""
    result = _unshared(x)
    result[...] = np.broadcast_to(source, shape).reshape(x.shape)
    return result


def _python_slice(spec: SliceSpec | Sequence[int]) -> slice:
    """The Python slice of one normalised axis."""
    if isinstance(spec, SliceSpec):
        start, stop, step = int(spec.start), int(spec.stop), int(spec.step)  # type: ignore[arg-type]
    else:
        start, stop, step = spec
    if step > 0:
        return slice(start, stop, step)
    if start < 0:  # a negative step that starts before the first element: nothing
        return slice(0, 0, step)
    return slice(start, stop if stop >= 0 else None, step)


def _bitcast(x: Any, dtype: np.dtype) -> Any:
    return x.view(dtype)


def _reinterpret(x: Any, dtype: np.dtype) -> Any:
    return strided_copy(x.view(dtype)) if isinstance(x, np.ndarray) else x.view(dtype)


def _regroup_bytes_copy(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Of an array that lies otherwise than NumPy's, too."""
    is_dense = x.shape[-1] == 1 or x.strides[-1] == x.itemsize
    return strided_copy((x if is_dense else np.array(x, order="C")).view(dtype))


def _regroup_bytes_scatter(x: np.ndarray, source: object, dtype: np.dtype) -> np.ndarray:
    result = _unshared(x)
    bytes_ = np.empty((*x.shape[:-1], x.shape[-1] * x.itemsize // dtype.itemsize), dtype)
    bytes_[...] = source
    result[...] = bytes_.view(x.dtype)
    return result


def _as_strided(
    x: np.ndarray, shape: Sequence[int], steps: Sequence[int], writeable: bool
) -> np.ndarray:
    rows = rows_of(steps, x.ndim, len(shape))
    strides = [
        sum(row[axis] * stride for row, stride in zip(rows, x.strides, strict=True))
        for axis in range(len(shape))
    ]
    return as_strided(x, shape, strides, writeable=writeable)


def _as_strided_scatter(
    x: np.ndarray, source: object, shape: Sequence[int], steps: Sequence[int], writeable: bool
) -> np.ndarray:
    result = _unshared(x)
    _as_strided(result, shape, steps, writeable=True)[...] = source
    return result


def _slice(x: np.ndarray, index: tuple[SliceSpec, ...]) -> Any:
    place: Any = (*map(_python_slice, index), Ellipsis)
    return x[place]


def _select(x: np.ndarray, axis: int, index: int) -> Any:
    # With the Ellipsis the element of a 1-d array is a rank-0 view and not a scalar.
    place: Any = (*(slice(None),) * axis, index, Ellipsis)
    return x[place]


def _dynamic_select(x: np.ndarray, index: Any, axis: int) -> Any:
    return _select(x, axis, int(index))


def _expand_dims(x: np.ndarray, axes: tuple[int, ...]) -> Any:
    # As x[None] does it, with strides of 0. np.expand_dims is a reshape.
    rank = np.ndim(x) + len(axes)
    new = {axis % rank for axis in axes}
    place: Any = tuple(None if axis in new else slice(None) for axis in range(rank))
    return np.asarray(x)[place]


def _transpose(x: np.ndarray, axes: tuple[int, ...]) -> Any:
    return np.transpose(x, axes)


def _reshape(x: np.ndarray, shape: tuple[int, ...]) -> Any:
    return np.reshape(x, shape)


# ---------------------------------------------------------------- index arrays


def _wrap_index(index: object, size: int, axis: int) -> Any:
    """The index counted from the front, as NumPy's own kind of index."""
    places = np.asarray(index).astype(np.intp)
    outside = (places < -size) | (places >= size)
    if outside.any():
        raise IndexError(
            f"index {places[outside].flat[0]} is out of bounds for axis {axis} with size {size}"
        )
    wrapped = np.where(places < 0, places + size, places)
    return wrapped if isinstance(index, np.ndarray) else wrapped[()]


Indices = tuple[Any, ...]


def _axes_first(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """The view of ``x`` with the indexed axes in front."""
    return np.moveaxis(x, axes, range(len(axes)))


def _gather(
    x: np.ndarray,
    indices: Indices,
    axes: tuple[int, ...],
    place: int,
    layout: tuple[int, ...] | None,
) -> np.ndarray:
    found = np.asarray(_axes_first(x, axes)[indices])
    count = np.broadcast(*indices).ndim
    moved = np.moveaxis(found, range(count), range(place, place + count))
    result: np.ndarray = _empty(moved.shape, x.dtype, layout)
    result[...] = moved
    return result


def _targets(
    x: np.ndarray, source: Any, indices: Indices, axes: tuple[int, ...], place: int
) -> tuple[np.ndarray, Indices, Any]:
    """A view of ``x``, flat indices into its first axes, and a source to match: for NumPy itself,
    whose order for index arrays of several axes depends on their strides.
    """
    view = _axes_first(x, axes)
    flat = tuple(np.ravel(each) for each in np.broadcast_arrays(*indices))
    if source is None or np.ndim(source) == 0:
        return view, flat, source
    shape = np.broadcast_shapes(*map(np.shape, indices))
    rest = view.shape[len(axes) :]
    count = len(shape)
    extra = max(0, np.ndim(source) - len(rest) - count)  # axes of size 1 that assignment drops
    source = np.reshape(source, np.shape(source)[extra:])
    whole = np.broadcast_to(source, (*rest[:place], *shape, *rest[place:]))
    moved = np.moveaxis(whole, range(place, place + count), range(count))
    return view, flat, moved.reshape((flat[0].size, *rest))


def _index_put(
    x: np.ndarray, source: object, indices: Indices, axes: tuple[int, ...], place: int
) -> np.ndarray:
    result = _unshared(x)
    view, flat, values = _targets(result, source, indices, axes, place)
    view[flat] = values
    return result


def _index_reduce(
    x: np.ndarray, source: object, indices: Indices, axes: tuple[int, ...], place: int, ufunc: str
) -> np.ndarray:
    result = _unshared(x)
    view, flat, values = _targets(result, source, indices, axes, place)
    operands = () if values is None else (values,)
    ufunc_named(ufunc).at(view, flat, *operands)
    return result


def _masked_put(x: np.ndarray, mask: Any, source: object) -> np.ndarray:
    result = _unshared(x)
    result[mask] = source
    return result


def _broadcast(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    model = np.broadcast_to(x, shape)  # raises if it does not fit
    found: np.ndarray = np.broadcast_arrays(x, model)[0]
    return found


# ---------------------------------------------------------------- factories


def _laid_out(make: Callable[[tuple[int, ...]], np.ndarray]) -> Kernel:
    def kernel(shape: tuple[int, ...], layout: tuple[int, ...] | None) -> np.ndarray:
        if layout is None:
            return make(shape)
        places = [layout.index(axis) for axis in range(len(shape))]
        return make(tuple(shape[axis] for axis in layout)).transpose(places)

    return kernel


def _zeros(shape: tuple[int, ...], dtype: np.dtype, layout: tuple[int, ...] | None) -> Any:
    return _laid_out(lambda sizes: np.zeros(sizes, dtype))(shape, layout)


def _ones(shape: tuple[int, ...], dtype: np.dtype, layout: tuple[int, ...] | None) -> Any:
    return _laid_out(lambda sizes: np.ones(sizes, dtype))(shape, layout)


def _empty(shape: tuple[int, ...], dtype: np.dtype, layout: tuple[int, ...] | None) -> Any:
    return _laid_out(lambda sizes: np.empty(sizes, dtype))(shape, layout)


def _full(
    shape: tuple[int, ...], value: object, dtype: np.dtype, layout: tuple[int, ...] | None
) -> Any:
    return _laid_out(lambda sizes: np.full(sizes, value, dtype))(shape, layout)


def _arange(start: object, step: Any, length: int, dtype: np.dtype) -> np.ndarray:
    """NumPy's recipe: the first two elements in Python, the rest as ``first + i * delta``.

    ``np.arange`` itself computes the length from a stop that is not known here.
    """
    result = np.empty(length, dtype)
    if length > 0:
        result[0] = start
    if length > 1:
        result[1] = start + step
    if length > 2:
        work = np.result_type(dtype, np.float32) if dtype == np.float16 else dtype
        first, second = result[:2].astype(work)
        with np.errstate(all="ignore"):
            result[2:] = _filled(first, second - first, np.arange(2, length), work)
    return result


def _filled(first: Any, delta: Any, places: np.ndarray, dtype: np.dtype) -> np.ndarray:
    if dtype.kind != "c":
        return first + places.astype(dtype) * delta  # type: ignore[no-any-return]
    result = np.empty(places.shape, dtype)
    steps = places.astype(result.real.dtype)
    result.real = first.real + steps * delta.real
    result.imag = first.imag + steps * delta.imag
    return result


def _constant(value: ArrayConstant) -> np.ndarray:
    return value.array()


# ---------------------------------------------------------------- casts, control flow


def _astype(x: Any, dtype: np.dtype, casting: str, order: str) -> Any:
    if not isinstance(x, np.ndarray | np.generic):
        x = np.asarray(x)[()]  # a Python scalar
    return x.astype(dtype, casting=casting, order=order)


Region = Callable[[tuple[Any, ...]], tuple[Any, ...]]


def _cond(
    pred: object, operands: tuple[Any, ...], on_true: Region, on_false: Region
) -> tuple[Any, ...]:
    return _apart(on_true(operands) if pred else on_false(operands), operands)


def _fori_loop(
    lo: Any, hi: Any, init: tuple[Any, ...], body: Region, stops: bool = False
) -> tuple[Any, ...]:
    state = tuple(init)
    for i in range(int(lo), int(hi)):
        state = body((i, *state))
        if stops:
            *kept, leave = state
            state = tuple(kept)
            if leave:
                break
    return _apart(state, init)


def _while_loop(init: tuple[Any, ...], test: Region, body: Region) -> tuple[Any, ...]:
    state = tuple(init)
    while test(state)[0]:
        state = body(state)
    return _apart(state, init)


def _apart(results: tuple[Any, ...], operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """The results with copies of those that are operands: an operator's results are its own."""
    return tuple(
        strided_copy(result)
        if isinstance(result, np.ndarray)
        and any(isinstance(x, np.ndarray) and np.may_share_memory(result, x) for x in operands)
        else result
        for result in results
    )


def _bind_size(number: Any, symbol: str, most: int) -> int:
    return int(number)


def _nonzero(mask: np.ndarray, count: int) -> np.ndarray:
    return np.stack(np.nonzero(mask), 1)


def _unique(
    x: np.ndarray,
    index: bool,
    inverse: bool,
    counts: bool,
    equal_nan: bool,
    symbol: str,
    most: int,
) -> tuple[np.ndarray, ...]:
    options = {"return_index": index, "return_inverse": inverse, "return_counts": counts}
    unique: Any = np.unique
    found = unique(x, equal_nan=equal_nan, **options)
    return found if isinstance(found, tuple) else (found,)


def _power(x: Any, y: Any) -> Any:
    """Of two scalars the operator: see Note [Powers that NumPy computes otherwise]."""
    kinds = type(x), type(y)
    if any(issubclass(kind, np.generic) for kind in kinds) and all(
        issubclass(kind, (np.generic, int, float, complex)) for kind in kinds
    ):
        return x**y
    return np.power(x, y)


_KERNELS: dict[str, Kernel] = {
    "power": _power,
    "slice": _slice,
    "select": _select,
    "dynamic_select": _dynamic_select,
    "transpose": _transpose,
    "expand_dims": _expand_dims,
    "reshape": _reshape,
    "reshape_scatter": _reshape_scatter,
    "wrap_index": _wrap_index,
    "gather": _gather,
    "index_put": _index_put,
    "index_reduce": _index_reduce,
    "masked_put": _masked_put,
    "bind_size": _bind_size,
    "nonzero": _nonzero,
    "unique": _unique,
    "broadcast": _broadcast,
    "bitcast": _bitcast,
    "regroup_bytes": _bitcast,
    "regroup_bytes_copy": _regroup_bytes_copy,
    "regroup_bytes_scatter": _regroup_bytes_scatter,
    "reinterpret": _reinterpret,
    "as_strided": _as_strided,
    "as_strided_scatter": _as_strided_scatter,
    "copy_": _copy_,
    "astype": _astype,
    "zeros": _zeros,
    "ones": _ones,
    "empty": _empty,
    "full": _full,
    "arange": _arange,
    "constant": _constant,
    "int_value": int,
    "cond": _cond,
    "fori_loop": _fori_loop,
    "while_loop": _while_loop,
    **ufunc_methods.KERNELS,
}
