"""Reductions with ``where=`` and ``initial=`` in terms of those without, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from fxc.ir.bounds import decide
from fxc.ir.graph import Literal
from fxc.ir.size_guards import guard
from fxc.ir.symbols import product
from fxc.ir.types import ArrayType, ScalarType, Type, is_c_contiguous

from .composites import OpsHandle

# By ufunc: the operator that reduces with it, and what changes nothing.
_OPERATORS: dict[str, tuple[str, Any]] = {
    "add": ("sum", 0),
    "multiply": ("prod", 1),
    "minimum": ("min", None),
    "maximum": ("max", None),
    "logical_and": ("all", True),
    "logical_or": ("any", False),
}
_TAKES_RUNS_WHOLE = np.lib.NumpyVersion(np.__version__) < "2.3.0"  # and cuts them into pieces


def ufunc_reduce(
    ops: OpsHandle,
    x: object,
    initial: object,
    where: object,
    ufunc: str,
    axis: tuple[int, ...] | None,
    keepdims: bool,
    dtype: np.dtype | None,
    result: np.dtype | None,
) -> Any:
    """Elements that are not chosen become one that changes nothing, ``initial`` comes in front.

    That is right where the order does not show in the result; for floats, see ``_keeps_order``.
    There are so many parameters because they are those of the operator.
    """
    kind = ops.type_of(x)
    wanted = ops.meta("ufunc_reduce", x, initial, where, ufunc, axis, keepdims, dtype, result).dtype
    if ufunc not in _OPERATORS or not isinstance(kind, ArrayType) or not kind.rank:
        return NotImplemented
    if result is not None:  # into an array, of another dtype perhaps
        return NotImplemented
    name, neutral = _OPERATORS[ufunc]
    sums = name in ("sum", "prod")
    axes = tuple(range(kind.rank)) if axis is None else tuple(a % kind.rank for a in axis)
    if sums and wanted.kind in "fc":
        mask = None if where is None else ops.type_of(where)
        if kind.dtype != wanted or not _keeps_order(name, kind, axes, mask, initial):
            return _of_rows(ops, x, initial, where, (ufunc, axes, keepdims, dtype))
        neutral = -0.0 if name == "sum" else 1.0
    if not sums and dtype not in (None, kind.dtype, np.dtype(bool)):
        return NotImplemented
    count = product([kind.shape[a] for a in axes])
    if neutral is None and (initial is None or decide(count, ">", 0) is not True):
        return NotImplemented  # NumPy raises, or there is nothing but ``initial``
    start = None if initial is None else _start(ops, initial, wanted)
    if start is NotImplemented:
        return NotImplemented
    if where is not None:
        chosen = ops.broadcast_to_copy(where, kind.shape)
        x = ops.where(chosen, x, start if neutral is None else kind.dtype.type(neutral))
    total = ops.call(name, x, axis, keepdims, *([wanted] if sums else []))
    return total if start is None else ops.call(ufunc, start, total)


def _of_rows(
    ops: OpsHandle, x: object, initial: object, where: object, rest: tuple[Any, ...]
) -> Any:
    """The sum over the last axes of arrays in C order as one over a single axis, which is native.

    ``rest``: the ufunc, the axes, ``keepdims`` and the dtype.
    """
    ufunc, axes, keepdims, dtype = rest
    kind, mask = ops.type_of(x), None if where is None else ops.type_of(where)
    assert isinstance(kind, ArrayType)
    kept = kind.shape[: kind.rank - len(axes)]
    is_last = sorted(axes) == list(range(len(kept), kind.rank))
    if not is_last or not (keepdims or len(axes) > 1) or not isinstance(mask, ArrayType):
        return NotImplemented
    if len(axes) > 1:
        if mask.rank != kind.rank or not (is_c_contiguous(kind) and is_c_contiguous(mask)):
            return NotImplemented
        if not all(guard(a, "==", b) for a, b in zip(mask.shape, kind.shape, strict=True)):
            return NotImplemented
        shape = (*kept, product(kind.shape[len(kept) :]))
        x, where = (ops.reshape_copy(each, shape) for each in (x, where))
    rows = (ufunc, (len(kept),), False, dtype, None)
    total = ops.call("ufunc_reduce", x, initial, where, *rows)
    if not keepdims:
        return total
    shape = (*kept, *(1 for _ in axes))
    return ops.reshape_copy(total, shape) if kept else ops.broadcast_to_copy(total, shape)


def _keeps_order(
    name: str, kind: ArrayType, axes: tuple[int, ...], mask: Type | None, initial: object
) -> bool:
    """Whether floats are added up, or multiplied, in NumPy's order.

    See ``lowering/operators/reduction_order.py``. NumPy adds the sum of a run of memory to what
    comes in front, so ``initial`` may be added behind. Of elements that are chosen it adds each
    run by itself; but one by one where the axis whose elements lie together is kept, and
    it multiplies one by one. There -0.0, or 1.0, in the place of the others changes nothing.
    """
    if kind.dtype.kind != "f" or kind.dtype == np.float16:
        return False
    if not (kind.aligned and is_c_contiguous(kind)):
        return False
    if mask is None:
        last = tuple(range(kind.rank - len(axes), kind.rank))
        is_run = tuple(sorted(axes)) == last and not _TAKES_RUNS_WHOLE
        return name == "sum" and is_run and isinstance(initial, Literal) and _counts(initial)
    is_kept = kind.rank - 1 not in axes and decide(kind.shape[-1], ">", 1) is True
    in_order = not isinstance(mask, ArrayType) or is_c_contiguous(mask)
    return initial is None and in_order and (name == "prod" or is_kept)


def _counts(initial: Literal) -> bool:
    """Whether it is no zero below zero: 0.0 in front of the sum changes nothing then."""
    return not (initial.value == 0 and np.signbit(np.real(initial.value)))


def _start(ops: OpsHandle, initial: object, wanted: np.dtype) -> Any:
    """``initial`` as a number of that dtype; NotImplemented where NumPy may cut something off."""
    kind = ops.type_of(initial)
    if isinstance(initial, Literal):
        fits = np.can_cast(np.min_scalar_type(initial.value), wanted, "same_kind")
        in_range = wanted.kind not in "iu" or _is_in_range(initial.value, wanted)
        return wanted.type(initial.value) if fits and in_range else NotImplemented
    is_known = isinstance(kind, ScalarType) and np.can_cast(kind.dtype, wanted)
    return ops.astype(initial, wanted, "unsafe", "K") if is_known else NotImplemented


def _is_in_range(value: Any, dtype: np.dtype) -> bool:
    limits = np.iinfo(dtype)
    return bool(limits.min <= value <= limits.max)
