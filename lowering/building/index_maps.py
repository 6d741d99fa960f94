"""Views as index arithmetic: from an index into the view to an index into what it is a view of.

One function for each view operator, over dims that may hold loop variables and symbols.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fxc.ir.bounds import decide
from fxc.ir.graph import Node, SliceSpec
from fxc.ir.later import import_later
from fxc.ir.symbols import Dim, product
from fxc.ir.types import ArrayType, Type
from fxc.ops.metas.shapes import goes_in, normalize_axis
from fxc.ops.operators import Tag
from fxc.ops.table import TABLE

from ..nests.buffers import Idx

# See Note [Rooms with one door].
rows_of = import_later("fxc.ops.metas.views", "rows_of")

# (type of the operand, static arguments after the array, index into the view) -> operand's index
IndexMap = Callable[[Type, tuple[Any, ...], Idx], Idx]


def is_view_copy(node: Node) -> bool:
    """Whether the node only rearranges its operand: index arithmetic."""
    return TABLE[node.op].tag is Tag.VIEW


def slice_index(operand: Type, args: tuple[Any, ...], index: Idx) -> Idx:
    specs: tuple[SliceSpec, ...] = args[0]
    return tuple(spec.start + i * spec.step for spec, i in zip(specs, index, strict=True))


def select_index(operand: Type, args: tuple[Any, ...], index: Idx) -> Idx:
    axis, at = args
    return (*index[:axis], at, *index[axis:])


def transpose_index(operand: Type, args: tuple[Any, ...], index: Idx) -> Idx:
    (axes,) = args
    result: list[Dim] = [0] * len(axes)
    for place, axis in enumerate(axes):
        result[axis] = index[place]
    return tuple(result)


def expand_dims_index(operand: Type, args: tuple[Any, ...], index: Idx) -> Idx:
    (axes,) = args
    return tuple(i for axis, i in enumerate(index) if axis not in axes)


def squeeze_index(operand: Type, args: tuple[Any, ...], index: Idx) -> Idx:
    (axes,) = args
    rest = iter(index)
    return tuple(0 if axis in axes else next(rest) for axis in range(operand.rank))


def broadcast_index(operand: Type, args: tuple[Any, ...], index: Idx) -> Idx:
    return broadcast(operand.shape, index, args[0])


def broadcast(shape: Idx, index: Idx, target: Idx) -> Idx:
    """The index of the element that an operand of ``shape``, broadcast to ``target``, has at
    ``index``. A symbolic dim that is not the target's is 1 or the target's by a guard.
    """
    skipped = len(index) - len(shape)
    result: list[Dim] = []
    for dim, i, whole in zip(shape, index[skipped:], target[skipped:], strict=True):
        result.append(0 if goes_in(dim, whole) else i)
    return tuple(result)


def diagonal_index(operand: Type, args: tuple[Any, ...], index: Idx) -> Idx:
    offset, *axes = args
    axis1, axis2 = (normalize_axis(axis, operand.rank) for axis in axes)
    along = index[-1]
    result: list[Dim] = list(index[:-1])
    at = {axis1: along + max(-offset, 0), axis2: along + max(offset, 0)}
    for axis in sorted(at):
        result.insert(axis, at[axis])
    return tuple(result)


def as_strided_index(operand: Type, args: tuple[Any, ...], index: Idx) -> Idx:
    rows = rows_of(args[1], operand.rank, len(index))
    return tuple(
        sum((step * i for step, i in zip(row, index, strict=True) if step != 0), start=0)
        for row in rows
    )


def reshape_index(operand: Type, args: tuple[Any, ...], index: Idx) -> Idx:
    """By matching groups of dims with equal products; inside a group by the linear position."""
    (shape,) = args
    return regroup(tuple(shape), operand.shape, index)


def regroup(source: tuple[Dim, ...], target: tuple[Dim, ...], index: Idx) -> Idx:
    """The index into ``target`` of the element at ``index`` of ``source`` (both in C order)."""
    result: list[Dim] = []
    i = j = 0
    while i < len(source) or j < len(target):
        start_i, start_j = i, j
        left: Dim = 1
        right: Dim = 1
        if i < len(source):
            left, i = source[i], i + 1
        if j < len(target):
            right, j = target[j], j + 1
        while left != right and (i < len(source) or j < len(target)):
            smaller = decide(left, "<", right)
            if (smaller or j >= len(target)) and i < len(source):
                left, i = left * source[i], i + 1
            elif j < len(target):
                right, j = right * target[j], j + 1
            else:
                break
        result += _within(source[start_i:i], target[start_j:j], index[start_i:i])
    return tuple(result)


def _within(source: Idx, target: Idx, index: Idx) -> list[Dim]:
    if len(target) == len(source) == 1:
        return list(index)
    linear: Dim = 0
    for dim, i in zip(source, index, strict=True):
        linear = linear * dim + i
    if 0 in target:
        return [0] * len(target)  # there is no element to find, but a number to divide by
    significant = [axis for axis, dim in enumerate(target) if dim != 1]
    result: list[Dim] = [0] * len(target)
    for place, axis in enumerate(significant):
        inner = product([target[a] for a in significant[place + 1 :]])
        part = linear // inner
        result[axis] = part if place == 0 else part % target[axis]
    return result


def same_index(operand: Type, args: tuple[Any, ...], index: Idx) -> Idx:
    return index


def records_index(operand: Type, args: tuple[Any, ...], index: Idx) -> Idx:
    """In front of the axes that each record has of its own."""
    assert isinstance(operand, ArrayType)
    return index[: operand.rank]


# What the last dim of the parts of a complex buffer is in these views; see Note [Complex numbers].
PART_VIEWS = {"real_copy": 0, "imag_copy": 1}

INDEX_MAPS: dict[str, IndexMap] = {
    "slice": slice_index,
    "select": select_index,
    "transpose": transpose_index,
    "reshape": reshape_index,
    "expand_dims": expand_dims_index,
    "squeeze": squeeze_index,
    "broadcast_to": broadcast_index,
    "broadcast": broadcast_index,
    "diagonal": diagonal_index,
    "real": same_index,
    "imag": same_index,
    "field": same_index,
    "array_field": records_index,
    "fields": same_index,
    "as_strided": as_strided_index,
}
