"""In which order this process's BLAS adds up the products of a vector and a matrix.

See Note [Products of a vector and a matrix].
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache

import numpy as np

from fxc.ir.records import frozen

from .dot_order import BITS, mixed

# Note [Products of a vector and a matrix]
# ``v @ A``, where the elements of a row of ``A`` lie side by side, is a call of BLAS's ``gemv``. A
# loop that calls it again and again reads the same matrix each time. Native code reads it once for
# some vectors, where it knows in which order BLAS adds up: that is found as for two vectors, see
# Note [Dot products].
# - Each column has a total, which begins with 0.0. In all columns but the last ones (``m & 3``)
#   it takes the sums of some products in turn: first as many as there are whole first ``Step``s,
#   then what is left by the others, which are shorter. The last columns add product by product,
#   and the sum to 0.0: products that are not rounded may add up to -0.0.
# - It depends on the vector alone which steps these are: whether its elements have gaps.
# - Less than ``LEAST`` columns may be in another order, and more than ``MOST`` products may be
#   shared by BLAS's threads: both are left to NumPy. That the order is the same up to that size is
#   asked, too: of a matrix of this size, whose columns are compared with those of small ones.

LEAST = 4  # columns
MOST = 7 << 16  # elements of the matrix


@frozen
class Step:
    """One sum of products, which is added to the total: that of its chains, from left to right.

    ``chains`` say which products they take, in turn. The first one of each is rounded, the others
    are if they are not ``fused``. A single product that is fused is added to the total unrounded.
    """

    chains: tuple[tuple[int, ...], ...]
    fused: bool

    @property
    def size(self) -> int:
        """The number of products."""
        return sum(map(len, self.chains))

    @property
    def is_onto(self) -> bool:
        """Whether its one product is added to the total as it is."""
        return self.fused and self.size == 1


Steps = tuple[Step, ...]


@frozen
class MatrixOrder:
    """The steps for a vector without gaps, those for another one, and whether products of the last
    columns are not rounded.
    """

    adjacent: Steps
    apart: Steps
    fused_last: bool

    def steps(self, *, is_adjacent: bool) -> Steps:
        return self.adjacent if is_adjacent else self.apart

    @property
    def is_fused(self) -> bool:
        """Whether any product is not rounded."""
        return self.fused_last or any(step.fused for step in (*self.adjacent, *self.apart))


_ONE, _ONE_FUSED = Step(((0,),), fused=False), Step(((0,),), fused=True)
_PAIR, _PAIR_FUSED = Step(((0,), (1,)), fused=False), Step(((1, 0),), fused=True)
_ALTERNATING = Step(((0, 2), (1, 3)), fused=True)
_SECOND_FIRST = Step(((1, 0, 2, 3),), fused=True)
_IN_TURN = Step(((0, 1, 2, 3),), fused=False)
_HALVES, _THREE_FUSED = Step(((0, 2), (1, 3)), fused=False), Step(((1, 0, 2),), fused=True)

STEPS: tuple[Steps, ...] = (
    (_ALTERNATING, _PAIR, _ONE),
    (_ALTERNATING, _ONE),
    (_SECOND_FIRST, _PAIR_FUSED, _ONE),
    (_SECOND_FIRST, _ONE),
    (_HALVES, _THREE_FUSED, _PAIR_FUSED, _ONE_FUSED),
    (_IN_TURN, _ONE),
    (_ONE,),
    (_ONE_FUSED,),
)


@cache
def matrix_order(dtype: np.dtype) -> MatrixOrder | None:
    """The order of this process's BLAS for float32 or float64, if it is one that is known."""
    return _found(dtype, _product)


Asked = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _product(vector: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    found: np.ndarray = vector @ matrix
    return found


_SHORT = (4, 7, 8, 3, 2, 1, 5, 6, 15, 14, 13, 24, 31)  # vectors, for a matrix of 71 columns
_LONG = (126, 1023)  # for one of 23
_LARGE = ((64, 7165), (1023, 447))  # lengths and columns
_PRIME = 1009  # numbers, which are repeated
_TINY = {4: 2.0**-90, 8: 2.0**-600}  # by size: its square is nothing, and that of 64 bits of it


def _found(dtype: np.dtype, asked: Asked) -> MatrixOrder | None:
    """The order that gives the numbers of ``asked``."""
    found = [
        next((each for each in STEPS if _is(each, dtype, asked, step)), None) for step in (1, 3)
    ]
    adjacent, apart = found
    if adjacent is None or apart is None:
        return None
    for fused_last in (False, True):
        order = MatrixOrder(adjacent, apart, fused_last)
        if _is_of_last(order, dtype, asked) and _is_of_large(dtype, asked):
            return order
    return None


def _is(steps: Steps, dtype: np.dtype, asked: Asked, step: int) -> bool:
    """Whether all but the last columns are added up so, for a vector with this step."""
    shapes = (*((n, 71) for n in _SHORT), *((n, 23) for n in _LONG))
    tiny = (_Products(dtype, n, 71, is_tiny=True) for n in _SHORT[:4])
    return all(
        _are_alike(summed(steps, each)[:-last], each.asked(asked, step)[:-last])
        for each in (*(_Products(dtype, *shape) for shape in shapes), *tiny)
        for last in (each.columns & 3,)
    )


def _is_of_last(order: MatrixOrder, dtype: np.dtype, asked: Asked) -> bool:
    shapes = ((5, 71, 1), (41, 71, 3), (300, 70, 1), (77, 5, 3), (76, 7, 1))
    for (n, columns, step), is_tiny in itertools.product(shapes, (False, True)):
        given, last = _Products(dtype, n, columns, is_tiny=is_tiny), columns & 3
        totals = product_by_product(given, fused=order.fused_last)
        if not _are_alike(totals[-last:], given.asked(asked, step)[-last:]):
            return False
    return True


def product_by_product(given: Exact, *, fused: bool) -> np.ndarray:
    """The totals as of the last columns."""
    totals = np.zeros(given.columns, given.dtype)
    for exact in given.exact:
        totals = given.plus(totals, exact if fused else exact.astype(given.dtype))
    totals += given.dtype.type(0.0)
    return totals


def _are_alike(some: np.ndarray, others: np.ndarray) -> bool:
    is_negative = np.signbit(some) == np.signbit(others)
    return np.array_equal(some, others) and bool(is_negative.all())


def _is_of_large(dtype: np.dtype, asked: Asked) -> bool:
    """Whether the columns of large matrices are added up as those of their parts are."""
    numbers = numbers_of(dtype, _PRIME).astype(dtype)
    for n, columns in _LARGE:
        vector, block = np.resize(numbers, n), np.resize(numbers[::-1], (n, LEAST))
        matrix = np.tile(block, -(-columns // LEAST))[:, :columns]
        some = columns & -LEAST
        few = np.tile(asked(vector, block), some // LEAST)
        if not np.array_equal(asked(vector, np.ascontiguousarray(matrix))[:some], few):
            return False
    return True


class Exact:
    """Exact products: a row for each that a total takes, in turn, and a column for each total."""

    def __init__(self, dtype: np.dtype, exact: np.ndarray) -> None:
        self.dtype, self.exact = dtype, exact
        self.length, self.columns = exact.shape

    def plus(self, total: np.ndarray, other: np.ndarray) -> np.ndarray:
        """The sum, rounded once."""
        exact: np.ndarray = total.astype(self.exact.dtype) + other
        return exact.astype(self.dtype)


def exactly(dtype: np.dtype) -> np.dtype:
    """The dtype that holds products of the numbers of ``numbers_of``."""
    return np.dtype(np.float64 if dtype.itemsize == 4 else np.longdouble)


class _Products(Exact):
    """A vector and a matrix, and their exact products: ``is_tiny`` ones are rounded to zeros."""

    def __init__(
        self, dtype: np.dtype, length: int, columns: int, *, is_tiny: bool = False
    ) -> None:
        numbers = numbers_of(dtype, length * (columns + 1))
        if is_tiny:
            numbers = numbers * _TINY[dtype.itemsize]
        self.vector, self.matrix = numbers[:length], numbers[length:].reshape(length, columns)
        super().__init__(dtype, self.vector.astype(exactly(dtype))[:, None] * self.matrix)

    def asked(self, asked: Asked, step: int) -> np.ndarray:
        """The sums, of a vector with this step and a matrix that is a window of a larger one."""
        vector = np.zeros(self.length * step, self.dtype)[::step]
        matrix = np.zeros((self.length, self.columns + 9), self.dtype)[:, 5:-4]
        vector[:], matrix[:] = self.vector, self.matrix
        return asked(vector, matrix)


def numbers_of(dtype: np.dtype, count: int) -> np.ndarray:
    """Numbers with so few bits that each sum of products is exact, up to its rounding."""
    one = 1 << BITS[dtype.itemsize]
    return mixed(2 * one, (count,)) / one - 1


def summed(steps: Steps, given: Exact) -> np.ndarray:
    """The totals."""
    totals = np.zeros(given.columns, given.dtype)
    place, end = 0, given.length
    for step in steps:
        stop = end - (end - place) % step.size
        if step.is_onto:
            for each in range(place, stop):
                totals = given.plus(totals, given.exact[each])
        else:
            sums = _sums(step, given, slice(place, stop))
            totals = np.add.accumulate(np.concatenate((totals[None], sums)))[-1]
        place = stop
    return totals


def _sums(step: Step, given: Exact, places: slice) -> np.ndarray:
    """Those of all steps at these places."""
    exact = given.exact[places].reshape(-1, step.size, given.columns)
    rounded = exact.astype(given.dtype)
    sums = []
    for head, *others in step.chains:
        chain = rounded[:, head]
        for each in others:
            chain = given.plus(chain, (exact if step.fused else rounded)[:, each])
        sums.append(chain)
    found: np.ndarray = sums[0]
    for other in sums[1:]:
        found = given.plus(found, other)
    return found
