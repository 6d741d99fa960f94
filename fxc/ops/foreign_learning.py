"""Operators for functions that fxc knows nothing of, learnt from what these give for samples.

See Note [Foreign calls].
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from fxc.ir.size_functions import hint
from fxc.ir.size_guards import guard
from fxc.ir.symbols import SymExpr, counted_in
from fxc.ir.types import (
    PYTHON_KINDS,
    ArrayType,
    Type,
    known_dtype,
    stride_order,
)

from .foreign_calls import ForeignCall, operator_for
from .foreign_results import FIXED, Result, Unlearnable, has_gaps, is_like, order_of
from .foreign_samples import sampled
from .operators import Operator

Group = tuple[tuple[int, int], ...]  # operands and axes

_lock = threading.RLock()  # a function may call a compiled one
_known: dict[Any, ForeignCall | str] = {}  # or why not: an exception would hold all frames
_kept: list[Any] = []


def operator_of(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    kinds: Sequence[Type],
) -> tuple[Operator, ForeignCall]:
    """The operator that means a call; see ``learnt``."""
    known = learnt(function, args, kwargs, kinds)
    return operator_for(known, kinds), known


def learnt(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    kinds: Sequence[Type],
) -> ForeignCall:
    """What a call gives for operands of these types, of any sizes where these are symbols.

    Raises ``Unlearnable``.
    """
    groups = groups_of(kinds)
    try:
        return learnt_with(function, args, kwargs, kinds, groups)
    except Unlearnable:
        merged = _merged(kinds, groups)
        if len(merged) == len(groups):
            raise
    found = learnt_with(function, args, kwargs, kinds, merged)
    for group in merged:
        first, *others = (kinds[place].shape[axis] for place, axis in group)
        for other in others:
            guard(other, "==", first + (hint(other) - hint(first)))
    return found


def groups_of(kinds: Sequence[Type]) -> list[Group]:
    """The sizes that may change: those that differ by a number in one group."""
    groups: list[list[tuple[int, int]]] = []
    for place, kind in enumerate(kinds):
        for axis, dim in enumerate(kind.shape):
            if not isinstance(dim, SymExpr):
                continue
            if counted_in(dim):
                raise Unlearnable("it is not known what it gives for sizes that are counted")
            for group in groups:
                first_place, first_axis = group[0]
                if isinstance(dim - kinds[first_place].shape[first_axis], int):
                    group.append((place, axis))
                    break
            else:
                groups.append([(place, axis)])
    return [tuple(group) for group in groups]


def _merged(kinds: Sequence[Type], groups: Sequence[Group]) -> list[Group]:
    """The groups with those as one whose sizes were equal in this call."""
    found: dict[int, Group] = {}
    for group in groups:
        place, axis = group[0]
        size = hint(kinds[place].shape[axis])
        found[size] = (*found.get(size, ()), *group)
    return list(found.values())


def learnt_with(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    kinds: Sequence[Type],
    varying: Sequence[Group],
) -> ForeignCall:
    """The same for ``varying`` sizes, those of a group together.

    Raises ``Unlearnable``.
    """
    group_of = {each: number for number, group in enumerate(varying) for each in group}
    sizes = tuple(
        tuple(("size", group_of.get((place, axis), size)) for axis, size in enumerate(kind.shape))
        for place, kind in enumerate(kinds)
    )
    key = (id(function), tuple(map(len, varying)), sizes, looks_of(args, kwargs, kinds))
    with _lock:
        known = _known.get(key)
        if known is None:
            try:
                known = _learnt(function, args, kwargs, kinds, varying)
            except Unlearnable as reason:
                known = str(reason)
            _known[key] = known  # which keeps the function, and its id with it
            _kept.append(function)
    if isinstance(known, str):
        raise Unlearnable(known)
    if not known.holds:
        raise Unlearnable("what it gives depends on more than the types of its arguments")
    return known


def looks_of(args: tuple[Any, ...], kwargs: dict[str, Any], kinds: Sequence[Type]) -> Any:
    """A key for arguments, and dtypes and layouts of operands."""
    looks = tuple(
        (kind.dtype, stride_order(kind) if isinstance(kind, ArrayType) else kind.weak)
        for kind in kinds
    )
    return key_of((args, tuple(sorted(kwargs.items())))), looks


def key_of(x: Any) -> Any:
    """A key for arguments; numbers of several types, or signs of zero, have several."""
    if type(x) in (tuple, list):
        return (type(x), *map(key_of, x))
    if isinstance(x, np.generic):
        return (type(x), x.tobytes())
    if type(x) in PYTHON_KINDS:
        return (type(x), repr(x))
    return (type(x), x)


def _learnt(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    kinds: Sequence[Type],
    varying: Sequence[Group],
) -> ForeignCall:
    call = ForeignCall(function, args, kwargs)
    shapes = [tuple(hint(dim) for dim in kind.shape) for kind in kinds]
    orders = [stride_order(kind) if isinstance(kind, ArrayType) else () for kind in kinds]
    call.container, parts = sampled(call, kinds, shapes, orders)
    found = [_extent(part) for part in parts]
    multiples: list[list[dict[tuple[int, int], int]]] = [[{} for _ in extent] for extent in found]
    for group in varying:
        _, more = sampled(call, kinds, _longer(shapes, [group]), orders)
        if [np.ndim(part) for part in more] != [np.ndim(part) for part in parts]:
            raise Unlearnable("the rank of what it gives depends on sizes")
        for part, extent, counts in zip(more, found, multiples, strict=True):
            for place, number in enumerate(_extent(part)):
                if number != extent[place]:
                    counts[place][group[0]] = number - extent[place]
    if isinstance(function, FunctionType) and type(parts[0]) is bool and len(parts) == 1:
        raise Unlearnable("it gives a bool, by which Python code decides")
    call.results = tuple(
        Result("fixed", np.dtype(bool), (), (), part)
        if len(parts) > 1 and isinstance(part, FIXED)
        else _result(part, counts, shapes)
        for part, counts in zip(parts, multiples, strict=True)
    )
    if varying:  # are they multiples?
        longer = shapes
        for number, group in enumerate(varying):
            longer = _longer(longer, [group] * (number + 2))
        _, more = sampled(call, kinds, longer, orders)
        if len(more) != len(parts) or not all(
            is_like(part, result, longer) for part, result in zip(more, call.results, strict=True)
        ):
            raise Unlearnable("sizes of what it gives are no multiples of those of its operands")
    return call


def _longer(shapes: Sequence[tuple[int, ...]], groups: Sequence[Group]) -> list[tuple[int, ...]]:
    """Shapes in which each axis is longer by the number of groups that it is in."""
    return [
        tuple(
            size + sum((place, axis) in group for group in groups)
            for axis, size in enumerate(shape)
        )
        for place, shape in enumerate(shapes)
    ]


def _extent(part: object) -> tuple[int, ...]:
    """The sizes of an array and its strides."""
    return (*part.shape, *part.strides) if isinstance(part, np.ndarray) else ()


def _result(
    part: Any,
    multiples: Sequence[dict[tuple[int, int], int]],
    shapes: Sequence[tuple[int, ...]],
) -> Result:
    if type(part) in PYTHON_KINDS:
        return Result("python", np.dtype(PYTHON_KINDS[type(part)]), (), ())
    dtype = known_dtype(part.dtype)
    if isinstance(part, np.generic):
        return Result("scalar", dtype, (), ())
    sums = []
    for number, counts in zip(_extent(part), multiples, strict=True):
        rest = number - sum(times * shapes[place][axis] for (place, axis), times in counts.items())
        parts = tuple((place, axis, times) for (place, axis), times in counts.items())
        sums.append((rest, parts))
    sizes, strides = tuple(sums[: part.ndim]), tuple(sums[part.ndim :])
    gaps = strides if has_gaps(part) else ()
    return Result("array", dtype, sizes, order_of(part), strides=gaps)
