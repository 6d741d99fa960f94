"""In which order NumPy adds up the products of one element of an einsum.

See Note [Sums of products].
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from fxc.ir.records import frozen
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim
from fxc.ir.types import PART_DTYPES
from fxc.ops.metas.einsums import Walk, coalesced

from ..nests.together import Sums, Way
from .dot_order import mixed
from .reduction_order import BUFFER_SIZE

# Note [Sums of products]
# NumPy calls a loop for the innermost axis of its iterator (Note [How NumPy walks an einsum]),
# which adds to a result that is 0 at first.
# - Is that axis one of the result, each element takes its products one after the other, over the
#   other axes in the order of the iterator.
# - Else the loop has a sum of its own for the axis, which is added to the result at its end; axes
#   further out are walked in turn. It adds one after the other, but for two operands of floats
#   without gaps. These it takes by vectors of 16 bytes, as NumPy is compiled for every x86-64: a
#   sum for each lane, of four vectors the last first. What is left goes into the lanes in order,
#   and the lanes are added as neighbours: l0 + l1, (l0 + l1) + (l2 + l3).
# - Two or three axes of one or two operands are plain loops. Others go through the buffered
#   iterator, which cuts a run of more than its buffer, and joins axes that are summed side by side
#   (``_joined``) by copies of them.
# The order of one operand alone without gaps, and of one beside another that stands still, which is
# taken out of the sum, is another one: left to NumPy, as are joined axes of two operands and cuts.
# The lanes are those of NumPy's own build, so it is asked once, see ``has_lanes``. On other
# processors products may be fused: there it is none of these orders. Products of complex numbers
# are added one after the other, too, each part by itself. Integers have no order.

BLOCK = 4  # of NumPy's vectors
VECTOR = 16  # bytes of one


@frozen
class SumOrder:
    """The axes of a walk that are summed, outermost first; ``inner`` have a sum of their own for
    each index of the outer ones, which ``is_onto`` what these have so far instead of from 0.
    """

    walked: Walk
    outer: tuple[int, ...]
    inner: tuple[int, ...]
    way: Way
    is_onto: bool


def einsum_order(walked: Walk, dtype: np.dtype, casts: Sequence[bool]) -> SumOrder | None:
    """The order of a sum, None if it is none that is known. Of the operands NumPy ``casts`` some to
    the dtype of the result, or copies them.
    """
    if not has_lanes(PART_DTYPES.get(dtype, dtype)):
        return None
    found = coalesced(walked)
    summed = tuple(axis for axis, kept in enumerate(found.kept) if not kept)
    is_kept_last = not summed or found.kept[-1]
    if is_kept_last or dtype.kind not in "fc":
        return SumOrder(found, summed[:-1], summed[-1:], "in turn", is_onto=True)
    is_plain = len(casts) <= 2 and len(found.labels) in (2, 3) and not any(casts)
    joined = 1 if is_plain else _joined(found, casts)
    if joined is None:
        return None
    way: Way | None = "in turn"
    if len(casts) == 1 or (len(casts) == 2 and dtype.kind == "f"):
        steps = [steps[-1] for steps in found.steps[:-1]]
        way = _way(steps, casts, dtype.itemsize) if joined == 1 else None
    if way is None:
        return None
    return SumOrder(found, summed[:-joined], summed[-joined:], way, is_onto=False)


def _joined(walked: Walk, casts: Sequence[bool]) -> int | None:
    """How many of the last axes the buffered iterator takes as one run, in one piece; None if that
    is not known. It goes on while that makes for fewer calls, although there is more to copy.
    """
    kept = walked.kept[::-1]
    if len(kept) == 1 or kept[1]:
        return 1 if guard(walked.sizes[-1], "<=", BUFFER_SIZE) else None
    sizes, columns = walked.sizes[::-1], [steps[::-1] for steps in walked.steps]
    size, cost = sizes[0], 1 + sum(casts)
    best, best_cost, best_size = 0, cost, size
    alike = [1] * len(columns)  # axes along which an operand moves as along one
    for axis in range(1, len(sizes)):
        if (axis > 1 and kept[axis - 1]) or guard(size, ">=", BUFFER_SIZE):
            break
        for number, (steps, is_cast) in enumerate(zip(columns, (*casts, False), strict=True)):
            if alike[number] == axis:
                if guard(steps[axis - 1] * sizes[axis - 1], "==", steps[axis]):
                    alike[number] += 1
                else:
                    cost += not is_cast
        size = size * sizes[axis]
        if all(guard(cost * best_size, "<=", best_cost * each) for each in (size, BUFFER_SIZE)):
            best, best_cost, best_size = axis, cost, size
    if kept[best]:
        return best
    return best + 1 if guard(best_size, "<=", BUFFER_SIZE) else None


def _way(steps: Sequence[Dim], casts: Sequence[bool], size: int) -> Way | None:
    moves = []
    for step, is_cast in zip(steps, casts, strict=True):
        if is_cast and step == 0:
            return None  # its copy may stand still, or not
        moves.append("still" if step == 0 else "dense" if is_cast or step == size else "gaps")
    if moves == ["dense", "dense"]:
        return "in lanes"
    return None if "dense" in moves and "gaps" not in moves else "in turn"


def added_up(sums: Sums, x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    """The products of two stacks of matrices in this order, in NumPy: what it means."""
    lanes = VECTOR // x.itemsize if sums.way == "in lanes" else 1
    for place in np.ndindex(out.shape[:-2]):
        left, right = x[place], y[place]
        start = out[place] if sums.onto else np.zeros(out.shape[-2:], out.dtype)
        totals = [start.copy() for _ in range(lanes)]
        for index in _places(x.shape[-1], lanes):
            totals[index % lanes] += left[:, index, None] * right[None, index]
        while len(totals) > 1:
            totals = [one + other for one, other in zip(totals[::2], totals[1::2], strict=True)]
        out[place] = totals[0] + out[place] if sums.adds and not sums.onto else totals[0]


def _places(count: int, lanes: int) -> list[int]:
    """In which order the indices are taken, as far as they meet in one lane."""
    if lanes == 1:
        return list(range(count))
    block = BLOCK * lanes
    whole = count - count % block
    places = [
        start + vector * lanes + lane
        for start in range(0, whole, block)
        for vector in reversed(range(BLOCK))
        for lane in range(lanes)
    ]
    return [*places, *range(whole, count)]


@cache
def has_lanes(dtype: np.dtype) -> bool:
    """Whether this process's NumPy adds up products of this dtype so."""
    if dtype.kind != "f":
        return True
    rows, count = 5, 61
    numbers = (mixed(1 << 23, (2, rows, count)) / (1 << 22) - 1).astype(dtype)
    numbers = np.ascontiguousarray(numbers)
    x, y = numbers
    ways: tuple[tuple[str, Way, np.ndarray], ...] = (
        ("ij,kj->ik", "in lanes", y.T),
        ("ij,jk->ik", "in turn", np.ascontiguousarray(y.T)),
    )
    for subscripts, way, right in ways:
        out = np.zeros((rows, rows), dtype)
        added_up(Sums(way), x, right, out)
        if not np.array_equal(np.einsum(subscripts, x, y if "kj" in subscripts else right), out):
            return False
    return True
