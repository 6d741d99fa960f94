"""How NumPy lays out the results of operators, on strides that may be symbolic.

NumPy has three rules. An iterator (ufuncs, ``where``, reductions, scans) sorts axes by the strides
of all operands, where an axis that an operand does not have, or has with size 1, says nothing.
A copy sorts the axes of one array. ``concatenate`` sorts them by the strides of all arrays, but a
stride of 0 counts. For ``reshape`` see ``reshaping``.
See Note [Layout in types].
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from fxc.ir.size_functions import hint
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, Type, c_strides, ordered_strides

from .shapes import Shape, hints, is_known_one, is_large, is_one, is_zero, same_dim

Strides = tuple[Dim, ...]


@lru_cache(maxsize=4096)
def _static_c_strides(shape: Shape, itemsize: int) -> Strides:
    return c_strides(shape, itemsize)


def fresh_strides(shape: Shape, itemsize: int) -> Strides:
    """Strides of a fresh array in C order."""
    for dim in shape:
        if not isinstance(dim, int):
            # Not from the cache: equal symbols of another capture have other hints.
            return c_strides(shape, itemsize)
    return _static_c_strides(shape, itemsize)


def is_c_ordered(kind: ArrayType) -> bool:
    """NumPy's ``flags.c_contiguous``; unknown strides are compared by guards."""
    expected = fresh_strides(kind.shape, kind.dtype.itemsize)
    if kind.strides == expected:
        return True
    return _is_packed(kind, tuple(range(kind.rank))[::-1])


def is_f_ordered(kind: ArrayType) -> bool:
    """NumPy's ``flags.f_contiguous``."""
    return _is_packed(kind, tuple(range(kind.rank)))


def is_by_columns(kind: ArrayType) -> bool:
    """Whether the strides are those of a fresh array in Fortran order, and not in C order; nothing
    is guarded.
    """
    columns = fresh_strides(kind.shape[::-1], kind.dtype.itemsize)[::-1]
    return kind.strides == columns != fresh_strides(kind.shape, kind.dtype.itemsize)


def _is_packed(kind: ArrayType, inner_first: Sequence[int]) -> bool:
    if any(map(is_zero, kind.shape)):
        return True
    step: Dim = kind.dtype.itemsize
    for axis in inner_first:
        dim = kind.shape[axis]
        if is_one(dim):
            continue
        if not same_dim(kind.strides[axis], step):
            return False
        step = step * dim
    return True


def overlaps_itself(kind: ArrayType) -> bool:
    """Whether several elements may share memory: of a broadcast array, of windows."""
    if kind.rank == 0 or kind.strides == fresh_strides(kind.shape, kind.dtype.itemsize):
        return False
    sizes = hints(kind.shape)
    reach = 0  # of the axes that move by less
    for stride, size in sorted(zip(map(abs, hints(kind.strides)), sizes, strict=True)):
        if size > 1 and 0 not in sizes:
            if stride <= reach:
                return True
            reach += stride * (size - 1)
    return False


def _magnitude(stride: Dim) -> Dim:
    if isinstance(stride, int):
        return abs(stride)
    if is_large(stride):
        return stride
    return -stride if guard(stride, "<", 0) else stride


# ---------------------------------------------------------------- iterators


def _steps(kind: ArrayType, rank: int) -> list[Dim]:
    """The distances by which an operand moves along each axis; 0 where it does not."""
    steps: list[Dim] = [0] * (rank - kind.rank)
    for dim, stride in zip(kind.shape, kind.strides, strict=True):
        if is_one(dim) or is_zero(stride):
            steps.append(0)
        else:
            steps.append(_magnitude(stride))
    return steps


def _swaps(steps: Sequence[Sequence[Dim]], axis: int, other: int) -> bool | None:
    """Whether ``axis`` goes inside ``other``; None if no operand moves along both."""
    verdict: bool | None = None
    for step in steps:
        mine, theirs = step[axis], step[other]
        if mine == 0 or theirs == 0:
            continue
        if mine == theirs or guard(theirs, "<=", mine):
            verdict = False  # where operands disagree, C order wins
        elif verdict is None:
            verdict = True
    return verdict


def iteration_order(rank: int, operands: Sequence[ArrayType]) -> tuple[int, ...]:
    """The axes from the outermost to the innermost, as NumPy's iterator goes in K order.

    This is ``npyiter_find_best_axis_ordering``: an insertion sort, which matters because the
    comparison is not transitive where operands say nothing.
    """
    steps = [_steps(kind, rank) for kind in operands]
    inner_first: list[int] = []
    for axis in range(rank - 1, -1, -1):
        place = len(inner_first)
        for at in range(len(inner_first) - 1, -1, -1):
            swaps = _swaps(steps, axis, inner_first[at])
            if swaps is False:
                break
            if swaps:
                place = at
        inner_first.insert(place, axis)
    return tuple(reversed(inner_first))


def _descends(kind: ArrayType) -> bool:
    """Whether no axis moves by more than those before it: C order is NumPy's then, also where some
    sizes are 1. The order of an array without elements does not matter.
    """
    moving = [each for each in zip(kind.strides, kind.shape, strict=True) if each[0] != 0]
    pairs = zip(moving, [*moving, (0, 0)][1:], strict=True)
    return all(
        left == right * dim or (hint(left) >= hint(right) and guard(left, ">=", right))
        for (left, _), (right, dim) in pairs
    )


def pointwise_strides(shape: Shape, operands: Sequence[ArrayType], itemsize: int) -> Strides:
    """Strides of what a pointwise operator allocates for operands of these types."""
    if len(shape) < 2:
        return (itemsize,) * len(shape)
    for kind in operands:
        if kind.strides != fresh_strides(kind.shape, kind.dtype.itemsize):
            break
    else:
        return fresh_strides(shape, itemsize)
    distinct = tuple({(kind.shape, kind.strides): kind for kind in operands}.values())
    for kind in distinct:
        for dim in (*kind.shape, *kind.strides):
            if not isinstance(dim, int):
                if all(map(_descends, distinct)):
                    return fresh_strides(shape, itemsize)
                order = iteration_order(len(shape), distinct)
                return ordered_strides(shape, order, itemsize)
    return _static_strides(shape, distinct, itemsize)


@lru_cache(maxsize=4096)
def _static_strides(shape: Shape, operands: tuple[ArrayType, ...], itemsize: int) -> Strides:
    return ordered_strides(shape, iteration_order(len(shape), operands), itemsize)


# ---------------------------------------------------------------- copies


def _copy_order(kind: ArrayType) -> list[int]:
    """The axes that move, outermost first, by stride; those that agree are as in C order."""
    sizes = [_magnitude(stride) for stride in kind.strides]
    order: list[int] = []
    for axis in range(kind.rank):
        if kind.shape[axis] == 1:
            continue
        place = len(order)
        while place > 0 and _is_less(sizes[order[place - 1]], sizes[axis]):
            place -= 1
        order.insert(place, axis)
    return order


def _is_less(left: Dim, right: Dim) -> bool:
    return left != right and guard(left, "<", right)


def layout_of(kind: Type) -> tuple[int, ...] | None:
    """The ``layout`` of a fresh array like ``kind`` in K order; None for C order.

    >>> import numpy as np
    >>> from fxc.ir.types import array_type
    >>> layout_of(array_type(np.dtype("f8"), (2, 3), (8, 16)))
    (1, 0)
    """
    if not isinstance(kind, ArrayType) or kind.rank < 2:
        return None
    if kind.strides == fresh_strides(kind.shape, kind.dtype.itemsize):
        return None
    order = _copy_order(kind)
    if order == sorted(order):
        return None
    still = [axis for axis in range(kind.rank) if kind.shape[axis] == 1]
    return (*still, *order)


def copied_strides(kind: ArrayType, order: str, itemsize: int) -> Strides:
    """Strides of a copy of ``kind`` in order ``"K"``, ``"C"``, ``"F"`` or ``"A"``.

    Raises ``ValueError`` for another order.
    """
    axes = tuple(range(kind.rank))
    match order:
        case "C":
            layout: tuple[int, ...] | None = None
        case "F":
            layout = axes[::-1]
        case "A":
            layout = axes[::-1] if is_f_ordered(kind) and not is_c_ordered(kind) else None
        case "K":
            layout = layout_of(kind)
        case _:
            raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got '{order}')")
    if layout is None:
        return fresh_strides(kind.shape, itemsize)
    return ordered_strides(kind.shape, layout, itemsize)


# ---------------------------------------------------------------- index arrays


# Note [Order of index arrays]
# ``x[i, :, j]`` walks the index arrays in an outer loop and what is left of ``x`` (the subspace) in
# an inner one. If the subspace has one element there is no inner loop, and the outer one goes in K
# order: of the index arrays in reading, of the index arrays and the source in writing; else it goes
# in C order. What is read lies in memory in the order of the outer loop, inside of it the subspace
# in the order of its strides; where the axes of the index arrays belong behind others, the result
# is a view of that. What is written several times has the last value of the outer loop, which may
# go backwards along an axis where no operand goes forwards, unless the only index array is of
# rank 1. ``ufunc.at`` goes in C order.


def gathered_layout(arrays: Sequence[ArrayType], subspace: ArrayType) -> tuple[int, ...] | None:
    """The ``layout`` of what index arrays read, their axes in front of those of the subspace.

    See Note [Order of index arrays].
    """
    rank = max(kind.rank for kind in arrays)
    outer = tuple(range(rank))
    if rank > 1 and is_one(subspace.size) and not all(map(_descends, arrays)):
        outer = iteration_order(rank, arrays)
    inner = layout_of(subspace) or tuple(range(subspace.rank))
    order = (*outer, *(rank + axis for axis in inner))
    return None if order == tuple(range(len(order))) else order


def writing_order(
    arrays: Sequence[ArrayType], source: ArrayType, subspace: ArrayType
) -> tuple[tuple[int, ...], frozenset[int]]:
    """The axes of the index arrays as NumPy walks them in writing, outermost first, and those it
    walks backwards. See Note [Order of index arrays].

    ``source`` is what is written, as far as it goes along the axes of the index arrays.
    """
    rank = max(kind.rank for kind in arrays)
    if not is_one(subspace.size) or (len(arrays) == 1 and rank == 1):
        return tuple(range(rank)), frozenset()
    operands = (*arrays, source)
    return iteration_order(rank, operands), frozenset(
        axis for axis in range(rank) if _goes_backwards(operands, axis - rank)
    )


def _goes_backwards(operands: Sequence[ArrayType], axis: int) -> bool:
    """Whether some operand goes backwards along the axis (counted from the back), none forwards."""
    moving = [
        kind.strides[axis]
        for kind in operands
        if -axis <= kind.rank and not is_one(kind.shape[axis]) and not is_zero(kind.strides[axis])
    ]
    return bool(moving) and all(_magnitude(stride) != stride for stride in moving)


# ---------------------------------------------------------------- joins


def joined_strides(shape: Shape, parts: Sequence[ArrayType], itemsize: int) -> Strides:
    """Strides of the concatenation ``shape`` of ``parts``, which have its rank."""
    if all(p.strides == fresh_strides(p.shape, p.dtype.itemsize) for p in parts):
        return fresh_strides(shape, itemsize)
    sizes = [[_magnitude(stride) for stride in part.strides] for part in parts]
    ones = [[is_known_one(dim) for dim in part.shape] for part in parts]
    order: list[int] = []
    for axis in range(len(shape)):
        place = len(order)
        for at in range(len(order) - 1, -1, -1):
            swaps = _goes_before(sizes, ones, axis, order[at])
            if swaps is False:
                break
            if swaps:
                place = at
        order.insert(place, axis)
    return ordered_strides(shape, order, itemsize)


def _goes_before(
    sizes: Sequence[Sequence[Dim]], ones: Sequence[Sequence[bool]], axis: int, other: int
) -> bool | None:
    verdict: bool | None = None
    for size, one in zip(sizes, ones, strict=True):
        if one[axis] or one[other]:
            continue
        if size[axis] == size[other] or guard(size[axis], "<=", size[other]):
            verdict = False
        elif verdict is None:
            verdict = True
    return verdict
