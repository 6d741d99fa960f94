"""In which order NumPy adds up (or multiplies) the elements of one reduction.

Floating-point addition is not associative, so a compiler that promises NumPy's bits has to add in
NumPy's order. `reduction_order` answers with a `ReductionOrder`, which reads as this program,
run once for each element of the result:

    acc = initial                                   # +0.0 for add, 1.0 for multiply
    for index in every index of order.outer:        # first axis outermost, each from 0 upwards
        run = the elements over order.inner         # flattened, first axis outermost
        for part in run cut into order.chunk:       # consecutive; the last one may be shorter
            acc = acc + pairwise(part)              # See Note [Pairwise sums].

With an empty `inner` the run is one element and the loop is `acc = acc + element`. Axes of size 1
stand in neither tuple. Only floats and complex numbers need this; integers are associative.
(float16 has another inner loop: do not ask. Complex products neither.)

    (n, m) C order, axis=1              outer=()    inner=(1,)
    (n, m) C order, axis=0              outer=(0,)  inner=()
    (n, m) C order, axis=None           outer=()    inner=(0, 1)
    the same transposed, axis=None      outer=()    inner=(1, 0)
    (n, m, k) C order, axis=(0, 2)      outer=(0,)  inner=(2,)
    (n, m) C order, axis=1, casting     outer=()    inner=(1,)  chunk=8192
    (n, 200) sliced rows, axis=None     outer=()    inner=(0, 1)  chunk=8000
    (n, 9000) sliced rows, axis=None    outer=(0,)  inner=(1,)

What leads to it is in Note [How NumPy walks a reduction].
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import prod
from typing import Any

import numpy as np

from fxc.ir.records import frozen

# Note [Pairwise sums]
# pairwise(x) of n elements, in NumPy and here:
#   n < 8      x[0] + x[1] + ..., from the left
#   n <= 128   eight lanes r[k] = x[k] + x[k + 8] + x[k + 16] + ... over the first n - n % 8; then
#              ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7])); then the n % 8
#              elements left, one after another
#   else       pairwise(x[:h]) + pairwise(x[h:]) with h = n // 2, rounded down to a multiple of 8
# The stride of x makes no difference. The sum of no elements is -0.0, which adds nothing. The real
# and the imaginary parts of complex numbers are added apart, with half of each of these numbers:
# four lanes, up to 64 elements, halves that are multiples of 4.

PAIRWISE_LANES = {"pairwise": 8, "complex pairwise": 4}  # by the order of an Accumulate
PAIRWISE_GROUPS = 16  # of so many elements at once

# Note [How NumPy walks a reduction]
# NumPy gives the operand and a fresh result to one buffered iterator.
# 1. Axes are sorted by |stride| of the operand, in a stable insertion sort; an axis of stride 0 has
#    no opinion. Nothing is walked backwards: a negative stride keeps the logical order.
# 2. If the fastest axis is kept, the inner loop is result[i] += operand[i]: each result is a
#    running sum over the reduced axes in that order.
# 3. If it is reduced, the inner loop adds pairwise(run) to one element of the result. The run is
#    the fastest axis, with its neighbours as long as these are reduced too and all of them lie in
#    memory as one long axis would (its stride == stride * size of the next faster one).
# 4. Reduced axes further out that do not continue the run are still taken into it, one by one,
#    while it is shorter than the buffer: NumPy gathers elements rather than make many short calls.
#    A gathered run goes through the buffer, so it is cut to the buffer's size, rounded down to a
#    whole number of `core`, which is the run without its outermost member.
# 5. A cast, byte-swapped or unaligned operand always goes through the buffer, so even the run of 3
#    is cut to its size.
# Before NumPy 2.3 all that is reduced of the fastest axes is one run, and each run is cut to the
# buffer's size, whatever its parts: instead of 4 and 5.
# Kept axes have no part in 3 to 5 except by standing between the reduced ones. An array given as
# out= votes on the order, see `axes_by_stride`; result and operand have to agree to leave C order.
# An operand in C order always insists on it.
#
# Not covered: where= has another loop; an out= of another dtype rounds at each call of the inner
# loop; an out= that overlaps the operand makes NumPy copy the operand first. Leave these to NumPy.

BUFFER_SIZE = 8192  # np.getbufsize(), unless the user has called np.setbufsize

TAKES_RUNS_WHOLE = np.lib.NumpyVersion(np.__version__) < "2.3.0"

Dim = int  # becomes int | symbol; all arithmetic below is +, *, //, abs and comparisons
Decide = Callable[[bool], bool]


@frozen
class ReductionOrder:
    """The order of one reduction; the module's docstring says how to read it.

    `chunk` counts elements of the flattened inner axes; None takes them in one piece. It can exceed
    their number, because the caller need not know sizes to build it.
    """

    outer: tuple[int, ...]
    inner: tuple[int, ...]
    chunk: Dim | None = None

    def __post_init__(self) -> None:
        if set(self.outer) & set(self.inner):
            raise ValueError(f"an axis is both outer and inner: {self}")
        if self.chunk is not None and not self.inner:
            raise ValueError(f"nothing to cut into chunks: {self}")

    def cut(self, shape: Sequence[Any]) -> Dim | None:
        """The chunk for an operand of this shape; None if one is known to hold all of a run."""
        size = prod(shape[axis] for axis in self.inner)
        is_whole = self.chunk is not None and isinstance(size, int) and size <= self.chunk
        return None if is_whole else self.chunk


def reduction_order(
    shape: Sequence[Dim],
    strides: Sequence[Dim] | None,
    axes: Collection[int],
    *,
    buffered: bool = False,
    pairwise: bool = True,
    out_strides: Sequence[Dim] | None = None,
    buffer_size: int = BUFFER_SIZE,
    decide: Decide = bool,
) -> ReductionOrder:
    """The order in which NumPy reduces an operand of this layout over `axes`.

    `strides` are in bytes, or None for a C-contiguous operand, which asks nothing of the sizes but
    whether each is 1. `axes` are normalized (0 <= axis < rank). `buffered` says that the operand is
    cast to the accumulation dtype, byte-swapped, or not aligned. `pairwise` is true for np.add and
    false for np.multiply, which multiplies one by one. `out_strides` are those of an array given
    as out=, one for each axis of the operand, 0 at reduced ones. Each comparison of sizes or
    strides goes through `decide`. There are so many parameters because NumPy's choice depends on
    each of these facts.
    """
    ranked = [axis for axis in range(len(shape)) if not decide(shape[axis] == 1)]
    if strides is not None:
        voters = (strides,) if out_strides is None else (out_strides, strides)
        ranked = axes_by_stride(ranked, voters, decide)
    reduced = tuple(axis for axis in ranked if axis in axes)
    if not pairwise or not reduced or ranked[-1] not in axes:
        return ReductionOrder(outer=reduced, inner=())
    stretches = _merged(ranked, shape, strides, axes, decide)
    count, chunk = _gathered([size for _, size in stretches], buffered, buffer_size, decide)
    inner = tuple(axis for merged, _ in reversed(stretches[:count]) for axis in merged)
    return ReductionOrder(tuple(axis for axis in reduced if axis not in inner), inner, chunk)


def axes_by_stride(
    axes: Sequence[int], voters: Sequence[Sequence[Dim]], decide: Decide = bool
) -> list[int]:
    """`axes` in the order NumPy's iterator walks them (K order), slowest first.

    `voters` are the strides of the operands. Of two axes the one with the larger |stride| is
    slower; operands with stride 0 on either abstain; if operands disagree, C order wins; if all
    abstain, the axis is compared with the next. Axes of size 1 must have been left out.
    """
    fastest_first: list[int] = []
    for axis in reversed(axes):
        place = len(fastest_first)
        for position in range(len(fastest_first) - 1, -1, -1):
            faster = _is_faster(axis, fastest_first[position], voters, decide)
            if faster is False:
                break
            if faster:
                place = position
        fastest_first.insert(place, axis)
    return fastest_first[::-1]


def _is_faster(
    axis: int, other: int, voters: Sequence[Sequence[Dim]], decide: Decide
) -> bool | None:
    """Whether `axis` must move inside `other`, which C order has further in; None: no opinion."""
    votes = [
        decide(abs(strides[axis]) < abs(strides[other]))
        for strides in voters
        if decide(strides[axis] != 0) and decide(strides[other] != 0)
    ]
    return all(votes) if votes else None


def _merged(
    ranked: Sequence[int],
    shape: Sequence[Dim],
    strides: Sequence[Dim] | None,
    axes: Collection[int],
    decide: Decide,
) -> list[tuple[list[int], Dim]]:
    """The reduced axes that are fastest, as stretches of memory with one stride, fastest first.

    A stretch is its axes, slowest first, and the product of their sizes.
    """
    stretches: list[tuple[list[int], Dim]] = []
    for position in range(len(ranked) - 1, -1, -1):
        axis = ranked[position]
        if axis not in axes:
            break
        if stretches and _continues(axis, ranked[position + 1], shape, strides, decide):
            merged, size = stretches[-1]
            stretches[-1] = ([axis, *merged], size * shape[axis])
        else:
            stretches.append(([axis], shape[axis]))
    return stretches


def _continues(
    axis: int, faster: int, shape: Sequence[Dim], strides: Sequence[Dim] | None, decide: Decide
) -> bool:
    """Whether a step along `axis` is the step after the last one along `faster`."""
    return strides is None or decide(strides[axis] == strides[faster] * shape[faster])


def _gathered(
    sizes: Sequence[Dim], buffered: bool, buffer_size: int, decide: Decide
) -> tuple[int, Dim | None]:
    """How many stretches, of these `sizes`, one run covers, and into what chunks it is cut."""
    if TAKES_RUNS_WHOLE:
        return len(sizes), buffer_size
    count, core, total = 1, 1, sizes[0]
    while count < len(sizes) and decide(total != 0) and decide(total < buffer_size):
        core, total = total, total * sizes[count]
        count += 1
    if count == 1 and not buffered:
        return count, None
    return count, core * (buffer_size // core)
