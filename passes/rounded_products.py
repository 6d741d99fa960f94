"""Which loop NumPy takes where it writes a product of complex numbers among what it reads.

::

    %0 = select(%z, 1, 1)                    %0 = select_copy(%z, 1, 1)
    %1 = select(%z, 1, 0)             →      %1 = select_copy(%z, 1, 0)
    multiply_(%0, %1)                        %2 … = products of their parts, each rounded
                                             %3 = select_scatter(%z, %2, 1, 1)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial, reduce
from itertools import pairwise
from typing import Any

import numpy as np

from fxc.ir.bounds import decide
from fxc.ir.graph import Literal, Operand
from fxc.ir.objects import address_of
from fxc.ir.records import frozen
from fxc.ir.signature import ViewStep
from fxc.ir.symbols import Dim, product
from fxc.ir.types import ArrayType, Type
from fxc.ops.metas.layout import fresh_strides, iteration_order

from .bases import FunctionalArray

# Note [Products among what is read]
# NumPy's loops on complex numbers fuse a product, see Note [Complex numbers], but where the range
# of addresses that a loop writes and one that it reads have something in common and are not the
# same: there it rounds each product. ``z[:, 1] *= z[:, 0]`` does so. A range goes from the first
# element to the last, whatever lies between. Where elements themselves are shared NumPy writes into
# a copy, which is apart from everything, unless a plain walk reads each element before it writes
# there. A loop goes along what an iterator makes of the axes: one axis, where all operands allow
# it; else a row, or many rows that are gathered in buffers, which are apart, too. One element that
# is overwritten is no plain walk, and is rounded. ``square`` takes the other loop also where
# neither the operand nor the result has its elements side by side.
#
# This is followed where the layouts are numbers. With symbolic ones it is for operands that move
# along one axis, by equal strides, or that have no gaps; what their places decide at run time is
# computed then.

_WORK: Any = 1  # that NumPy takes upon itself to find out what overlaps
_BUFFER = 8192  # elements: np.getbufsize(), unless somebody has changed it


@frozen
class Standing:
    """An array, by how many bytes it begins behind the first element of its memory.

    What is not ``near`` is in another memory than what is written.
    """

    offset: Dim
    type: ArrayType
    near: bool = True


# A dim that is compared with 0, and alternatives of which one has to hold, all of it.
Condition = tuple[Dim, str]
Conditions = tuple[tuple[Condition, ...], ...]
ALWAYS: Conditions = ((),)

Trace = Callable[..., Operand]  # records a call of a pure operator


def shift(step: ViewStep, kind: ArrayType) -> Dim | None:
    """How many bytes a view of an array of this type begins behind it, if the step tells."""
    match step.op, step.args:
        case "slice", (specs,):
            total: Dim = 0
            for spec, stride in zip(specs, kind.strides, strict=False):
                total = total + spec.start * stride
            return total
        case "select", (axis, index):
            return index * kind.strides[axis]  # type: ignore[no-any-return]
        case (("transpose" | "reshape" | "expand_dims" | "squeeze" | "broadcast_to"), _):
            return 0
    return None


def rounds(name: str, target: Standing, operands: Sequence[Standing]) -> Conditions:
    """When NumPy rounds each product of complex numbers that it writes to ``target``.

    ``operands`` are the arrays of the same dtype that the ufunc reads.
    """
    places = (target, *operands)
    if all(isinstance(dim, int) for place in places for dim in _dims(place)):
        return ALWAYS if _rounds(name, target, operands) else ()
    in_place = any(_is_target(target, place) for place in operands)
    alternatives: list[tuple[Condition, ...]] = []
    for place in operands:
        alternatives += _along_one_axis(name, target, place, in_place=in_place)
    return _simplified(dict.fromkeys(alternatives))


def _dims(place: Standing) -> tuple[Dim, ...]:
    return (place.offset, *place.type.shape, *place.type.strides)


# ---------------------------------------------------------------- layouts that are numbers


_Axis = tuple[int, list[int]]  # its size, and the stride of each array


class _Memory:
    """An array of this layout that is nowhere: nothing reads it, NumPy answers questions on it."""

    def __init__(self, place: Standing) -> None:
        offset: Any = place.offset
        self.__array_interface__ = {
            "data": (offset + (2**40 if place.near else 2**45), False),
            "shape": place.type.shape,
            "strides": place.type.strides,
            "typestr": place.type.dtype.str,
            "version": 3,
        }


def _rounds(name: str, target: Standing, operands: Sequence[Standing]) -> bool:
    into, *read = (np.asarray(_Memory(place)) for place in (target, *operands))
    if into.size == 0:
        return False
    if not _is_plain(read, into):
        if any(
            np.may_share_memory(x, into, max_work=_WORK) and not _is_same(x, into) for x in read
        ):
            return False  # it writes into a copy
        if into.size == 1:
            return True
    starts, axes = _walks([*read, into])
    if len(axes) > 1 and _gathers(axes):
        return False
    (size, steps), *outer = axes
    for number, start in enumerate(starts[:-1]):
        alike = all(more[number] == more[-1] for _, more in outer)
        ranges = (start, steps[number]), (starts[-1], steps[-1])
        if alike and _overlap(*(sorted((at, at + step * (size - 1))) for at, step in ranges)):
            return True
    return name == "square" and into.itemsize not in steps


def _is_same(x: np.ndarray, into: np.ndarray) -> bool:
    layouts = [(address_of(each), each.shape, each.strides) for each in (x, into)]
    return layouts[0] == layouts[1]


def _is_plain(read: Sequence[np.ndarray], into: np.ndarray) -> bool:
    """Whether NumPy runs one loop at once (``try_trivial_single_output_loop``)."""
    every = [*(x for x in read if x.ndim), into]
    if any(x.shape != into.shape for x in every):
        return False
    if into.ndim == 1:
        whole = into.strides[0] >= into.itemsize
    else:
        flags = [x.flags for x in every]
        whole = all(f.c_contiguous for f in flags) or all(f.f_contiguous for f in flags)
    return whole and all(_is_ahead(x, into) for x in read)


def _is_ahead(x: np.ndarray, into: np.ndarray) -> bool:
    """Whether a walk reads each element before it writes there."""
    if not np.may_share_memory(x, into, max_work=_WORK):
        return True
    mine, theirs = (
        0 if each.size == 1 else each.strides[0] if each.ndim == 1 else each.itemsize
        for each in (x, into)
    )
    if mine > 0:
        return mine >= theirs and address_of(x) >= address_of(into)
    return mine < 0 and mine <= theirs and address_of(x) <= address_of(into)


def _walks(arrays: Sequence[np.ndarray]) -> tuple[list[int], list[_Axis]]:
    """Where an iterator begins in each array, and the axes it goes along, the innermost first."""
    into = arrays[-1]
    starts = list(map(address_of, arrays))
    found: list[_Axis] = []
    for axis in reversed(iteration_order(into.ndim, list(map(_type_of, arrays)))):
        size, steps = into.shape[axis], []
        for x in arrays:
            own = axis - (into.ndim - x.ndim)
            steps.append(0 if own < 0 or x.shape[own] == 1 else x.strides[own])
        if size == 1:
            continue
        if max(steps) <= 0:  # it turns them around
            starts = [at + step * (size - 1) for at, step in zip(starts, steps, strict=True)]
            steps = [-step for step in steps]
        if found and [found[-1][0] * step for step in found[-1][1]] == steps:
            found[-1] = (found[-1][0] * size, found[-1][1])
        else:
            found.append((size, steps))
    return starts, found or [(1, [into.itemsize] * len(arrays))]


def _type_of(x: np.ndarray) -> ArrayType:
    return ArrayType(x.dtype, x.shape, x.strides)


def _overlap(first: list[int], second: list[int]) -> bool:
    """Whether two ranges have something in common but are not the same."""
    return first != second and first[0] <= second[1] and second[0] <= first[1]


def _gathers(axes: Sequence[_Axis]) -> bool:
    """Whether an iterator gathers rows (``npyiter_find_buffering_setup``), as that costs less."""
    best = size = axes[0][0]
    if _gathers_few():
        return size < _BUFFER
    single = [True] * len(axes[0][1])
    cost = least = 1
    gathers = False
    for (length, steps), (more, others) in pairwise(axes):
        if size >= _BUFFER and cost > 1:
            break
        for number, (step, other) in enumerate(zip(steps, others, strict=True)):
            if single[number] and step * length != other:
                single[number] = False
                cost += 1
        size *= more
        reached = min(size, _BUFFER) if cost > 1 else size
        if cost * best <= least * reached:
            least, best, gathers = cost, size, True
    return gathers


@cache
def _gathers_few() -> bool:
    """Whether this NumPy gathers as few as two rows, as before 2.3."""
    tiny = 2.0**-27
    x = np.full((2, 9), complex(1 + tiny, 1))
    x[:, 1::2] = complex(1 + tiny, 1 + 2 * tiny)
    x[:, :6:2] *= x[:, 1:6:2]
    return bool((x[:, :6:2].real != 0).all())  # rounded, they vanish


# ---------------------------------------------------------------- symbolic layouts


def _is_target(target: Standing, place: Standing) -> bool:
    return place.near and (place.offset, place.type) == (target.offset, target.type)


def _along_one_axis(
    name: str, target: Standing, place: Standing, *, in_place: bool
) -> Sequence[tuple[Condition, ...]]:
    """Of arrays that move along one axis by equal strides, or have no gaps."""
    kind, item = target.type, target.type.dtype.itemsize
    if place.type.shape != kind.shape or place.type.strides != kind.strides:
        return ()
    moving = [axis for axis, size in enumerate(kind.shape) if size != 1]
    size: Dim = product(kind.shape)
    step: Dim = item
    whole = not moving or kind.strides == fresh_strides(kind.shape, item)
    if not whole:
        if len(moving) > 1:
            return ()
        step = kind.strides[moving[0]]
    if decide(step, ">=", item) is not True:
        return ()
    found: list[tuple[Condition, ...]] = []
    if place.near:
        ahead, reach = place.offset - target.offset, (size - 1) * step
        found.append(((ahead % step, "!="), (reach - ahead, ">="), (reach + ahead, ">=")))
        if whole or kind.rank == 1:  # a plain walk
            found.append(((ahead, ">"), (reach - ahead, ">=")))
    if in_place:
        found.append(((1 - size, ">="),))
    if name == "square":
        found.append(((step - item, ">"),))
    return found


def _simplified(alternatives: Iterable[Sequence[Condition]]) -> Conditions:
    found = []
    for conditions in alternatives:
        known = [decide(dim, relation, 0) for dim, relation in conditions]
        if False not in known:
            pairs = zip(conditions, known, strict=True)
            found.append(tuple(each for each, answer in pairs if answer is None))
    return ALWAYS if () in found else tuple(found)


# ---------------------------------------------------------------- what is computed


def as_numpy_rounds(
    trace: Trace,
    name: str,
    target: FunctionalArray,
    args: Sequence[Any],
    values: Sequence[Operand],
    fused: Operand,
) -> Operand:
    """What NumPy writes into ``target``.

    ``args`` are what the ufunc reads, ``values`` hold their content, and ``fused`` are the products
    as NumPy's loops fuse them.
    """
    if fused.type.dtype != target.type.dtype:
        return fused
    views = [each for each in args if isinstance(each, FunctionalArray)]
    same = [x for x in views if x.type.dtype == target.type.dtype]
    places = [_place(each, target) for each in (target, *same)]
    known = [place for place in places if place is not None]
    conditions = rounds(name, known[0], known[1:]) if known == places else ()
    if not conditions:
        return fused
    x, y = values if len(values) == 2 else (*values, *values)
    rounded = _rounded(trace, x, y, fused.type)
    if conditions == ALWAYS:
        return rounded
    return trace("where", _holds(trace, conditions), rounded, fused)


def _place(array: FunctionalArray, target: FunctionalArray) -> Standing | None:
    """Where an array lies to what is written; None if the views that lead to it do not tell."""
    if array.base is not target.base:
        return Standing(0, array.type, near=False)
    offset: Dim = 0
    at = array
    while at.viewed is not None:
        moved = shift(at.steps[-1], at.viewed.type)
        if moved is None:
            return None
        offset, at = offset + moved, at.viewed
    return Standing(offset, array.type)


def _rounded(trace: Trace, x: Operand, y: Operand, like: Type) -> Operand:
    """The products with each product of parts rounded, as C multiplies."""
    dtype, shape = like.dtype, like.shape if isinstance(like, ArrayType) else ()
    (xr, xi), (yr, yi) = (_parts(trace, each, dtype) for each in (x, y))
    re = trace("subtract", trace("multiply", xr, yr), trace("multiply", xi, yi))
    im = trace("add", trace("multiply", xr, yi), trace("multiply", xi, yr))
    whole = trace("real_scatter", trace("empty", shape, dtype, None), re)
    return trace("imag_scatter", whole, im)


def _parts(trace: Trace, x: Operand, dtype: np.dtype) -> tuple[Operand, Operand]:
    if x.type.dtype != dtype:
        x = trace("astype", x, dtype, "unsafe", "K")
    names = ("real_copy", "imag_copy")
    if not isinstance(x.type, ArrayType):
        names = ("real_number", "imaginary_number")
    return trace(names[0], x), trace(names[1], x)


def _holds(trace: Trace, conditions: Conditions) -> Operand:
    """Whether one of the alternatives holds, all of it, at run time."""
    names = {"!=": "py_not_equal", ">": "py_greater", ">=": "py_greater_equal"}
    alternatives = []
    for each in conditions:
        tests = [trace(names[rel], trace("int_value", dim), Literal(0)) for dim, rel in each]
        alternatives.append(reduce(partial(trace, "py_and"), tests))
    return reduce(partial(trace, "py_or"), alternatives)
