"""In which order NumPy adds up the products of two small matrices of one shape.

See Note [Small products].
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from fxc.ir.records import frozen

from .dot_order import BITS, mixed
from .matrix_order import STEPS, Exact, Steps, exactly, summed

# Note [Small products]
# Of two small matrices a call of BLAS takes longer than the work. Native code multiplies them by
# itself where it knows in which order NumPy does, whether that calls BLAS's ``gemm``, ``gemv`` or
# ``syrk`` or has a loop of its own.
# - The order depends on the shape and, in some versions of NumPy, on the strides. So NumPy is asked
#   about exactly these, once in a process for each ``Question``. All elements must have one order,
#   which is one of ``STEPS``: most often each takes its products in turn, unrounded. To tell the
#   orders apart takes some stacked products, for the last rows may be in another one; and numbers
#   whose products are none of the dtype, for a vector may have two of them in all.
# - Of a matrix and itself transposed the order is another one, and often none of these. Where two
#   arrays may be one, a test of their addresses tells whether NumPy is called.
# - Of products that are all too small to be numbers the total may be a zero of either sign: some
#   routines add it to 0.0 at the end. And 0 times infinity must be nan: some skip zeros.

_TOTALS = 96  # at least, from which orders are told apart
_STACKS = 32  # to see each place often, the last rows, too
_PRODUCTS = 1 << 17  # at most, for that
_ROOM = 1 << 16  # bytes of an operand and its gaps


@frozen
class Question:
    """Two matrices and their product: ``rows``, ``inner``, ``columns``; strides in bytes."""

    dtype: np.dtype
    sizes: tuple[int, int, int]
    x_steps: tuple[int, int]
    y_steps: tuple[int, int]
    out_steps: tuple[int, int]

    @property
    def may_be_one(self) -> bool:
        """Whether the second matrix may be the first one transposed."""
        return self.sizes[0] == self.sizes[2] and self.x_steps == self.y_steps[::-1]


@frozen
class SmallOrder:
    """The steps of each total, and whether 0.0 is added to it behind them."""

    steps: Steps
    adds_zero: bool

    @property
    def is_fused(self) -> bool:
        return any(step.fused for step in self.steps)


Asked = Callable[[np.ndarray, np.ndarray, np.ndarray], object]


@cache
def small_order(question: Question, *, same: bool) -> SmallOrder | None:
    """The order of this process's NumPy, if it is one that is known."""
    return found_by(question, lambda x, y, out: np.matmul(x, y, out=out), same=same)


def found_by(question: Question, asked: Asked, *, same: bool = False) -> SmallOrder | None:
    """The order that gives the numbers of ``asked``, of two matrices or of the ``same`` one and
    itself transposed.
    """
    return _Asking(question, asked, same=same).order() if _is_plain(question) else None


def _is_plain(question: Question) -> bool:
    """Whether no two elements of a matrix lie at one place, and the matrices are small."""
    rows, inner, columns = question.sizes
    sides = (
        ((rows, inner), question.x_steps),
        ((inner, columns), question.y_steps),
        ((rows, columns), question.out_steps),
    )
    for shape, steps in sides:
        room = question.dtype.itemsize
        for step, size in sorted(zip(steps, shape, strict=True)):
            if size > 1:
                if step < room:
                    return False
                room = step * (size - 1) + room
        if room > _ROOM:
            return False
    return True


def _gives(steps: Steps, exact: np.ndarray, sums: np.ndarray) -> bool:
    """Whether these are the totals: some are looked at first."""
    return all(
        np.array_equal(summed(steps, Exact(sums.dtype, exact[:, some])), sums[some])
        for some in (slice(_TOTALS), slice(None))
    )


class _Asking:
    """What NumPy says of stacked products, of other matrices or of the ``same`` one transposed."""

    def __init__(self, question: Question, asked: Asked, *, same: bool) -> None:
        self.question, self.asked, self.same = question, asked, same
        rows, inner, columns = question.sizes
        seen_often = min(_STACKS, _PRODUCTS // (rows * inner * columns))
        count = max(-(-_TOTALS // (rows * columns)), seen_often)
        first = count * rows * inner
        numbers = _numbers(question.dtype, first + count * inner * columns)
        self.x = numbers[:first].reshape(count, rows, inner)
        y = numbers[first:].reshape(count, inner, columns)
        self.y = self.x.swapaxes(1, 2) if same else y

    def order(self) -> SmallOrder | None:
        wide, totals = exactly(self.question.dtype), self.sums(self.x, self.y).reshape(-1)
        left, right = self.x.astype(wide).transpose(2, 0, 1), self.y.astype(wide).transpose(1, 0, 2)
        exact = (left[..., None] * right[:, :, None]).reshape(self.question.sizes[1], -1)
        steps = next((each for each in reversed(STEPS) if _gives(each, exact, totals)), None)
        if steps is None or not self.has_nan():
            return None
        tiny = np.finfo(self.question.dtype).tiny
        zeros = self.between(slice(None), tiny, -tiny)
        are_negative = np.signbit(zeros)
        may_be_negative = all(step.is_onto for step in steps)  # others are added to 0.0
        if may_be_negative and not are_negative.any():
            return SmallOrder(steps, adds_zero=True)
        known = are_negative.all() if may_be_negative else not are_negative.any()
        return SmallOrder(steps, adds_zero=False) if known else None

    def has_nan(self) -> bool:
        """Whether zero times infinity is nan, at each place of a total."""
        places = range(self.question.sizes[1])
        return all(np.isnan(self.between(place, 0.0, np.inf)).all() for place in places)

    def between(self, place: int | slice, even: float, odd: float) -> np.ndarray:
        """The totals where two numbers meet, which stand at a place in rows, and in columns, in
        turn.
        """
        x, y = self.x.copy(), self.y.copy()
        for first, number in enumerate((even, odd)):
            x[:, first::2, place] = number
            y[:, place, first::2] = number
        totals = self.sums(x, y)
        rows, _, columns = self.question.sizes
        return totals[:, (np.arange(rows)[:, None] + np.arange(columns)) % 2 == 1]

    def sums(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The totals of matrices that lie in memory as those of the question do."""
        left = _placed(x, self.question.x_steps)
        right = left.swapaxes(1, 2) if self.same else _placed(y, self.question.y_steps)
        rows, _, columns = self.question.sizes
        out = _placed(np.zeros((len(x), rows, columns), x.dtype), self.question.out_steps)
        with np.errstate(all="ignore"):
            self.asked(left, right, out)
        return out


def _numbers(dtype: np.dtype, count: int) -> np.ndarray:
    """Numbers of which each product has to be rounded, while sums of products are exact."""
    half = 1 << BITS[dtype.itemsize] - 1
    given = mixed(2 * half, (count,))
    sizes = (half + (given | 1) % half) / (2 * half)  # odd ones: they have all bits
    return np.where(given < half, sizes, -sizes).astype(dtype)


def _placed(matrices: np.ndarray, steps: tuple[int, int]) -> np.ndarray:
    count, *shape = matrices.shape
    size = matrices.itemsize
    room = sum(step * (length - 1) for step, length in zip(steps, shape, strict=True)) + size
    memory = np.zeros(count * room // size, matrices.dtype)
    placed = np.ndarray(matrices.shape, matrices.dtype, memory, strides=(room, *steps))
    placed[...] = matrices
    return placed
