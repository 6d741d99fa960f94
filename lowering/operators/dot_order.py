"""In which order this process's BLAS adds up the products of two vectors.

See Note [Dot products].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar
from typing import Literal as OneOf

import numpy as np

from fxc.ir.records import frozen

# Note [Dot products]
# NumPy's ``dot`` and ``matmul`` of two vectors call BLAS, whose order of additions depends on the
# processor it finds. Of short vectors the call takes longer than the work, and it is for one pair
# of vectors at a time. So native code adds by itself where it knows the order.
# - NumPy is asked, once in a process, when the first graph with such a product is compiled: of some
#   orders that are common the one is taken that gives its numbers for many lengths. Where none
#   does, native code calls NumPy's inner loop, as it does for all other products.
# - The numbers are such that each step of an order is exact here, up to its one rounding, so that
#   it is known what a fused multiply-add gives.
# - What holds for up to ``LONGEST`` elements is used for no more: BLAS has threads for long ones.
# - There are two orders: ``Adjacent`` for vectors without gaps, ``Apart`` for those with other
#   positive strides. For the others NumPy does not call BLAS.
# An order stands in the text of the code that is made for it, so code is shared by what has it.

LONGEST = 1024  # elements

Fold = OneOf["halves", "neighbours", "pairs", "chain"]


@frozen
class Adjacent:
    """Four accumulators of ``lanes`` elements take block after block, of as many elements as there
    are whole ``multiple``s; what is left goes one by one to their sum, or, ``apart``, to one of its
    own in float64, which is added at the end.

    ``fold`` says how accumulators become one number: of each the upper half is added to the lower,
    or each odd lane to the one before; they are added up as ``(a + b) + (c + d)`` or as a chain.
    If they are ``wide``, they have twice as many lanes first, and are halved where less than such
    a block is left. Products are not rounded where they are ``fused``.
    """

    multiple: int
    lanes: int
    wide: bool
    fold: tuple[Fold, ...]
    fused: bool
    fused_rest: bool
    apart: bool


@frozen
class Apart:
    """Each accumulator, in float64, takes the sum of two products in turn, which are as many
    elements apart as there are accumulators. What is left goes to the first one.

    ``exact``: which one of the two products is not rounded, if any.
    """

    accumulators: int
    exact: int | None
    fused_rest: bool


@frozen
class DotOrder:
    """The orders for a dtype; None where that of this BLAS is none that is known."""

    adjacent: Adjacent | None
    apart: Apart | None


_HALVED: tuple[Fold, ...] = ("halves", "pairs", "neighbours")
_CHAINED: tuple[Fold, ...] = ("chain", "halves", "neighbours")
_PAIRED: tuple[Fold, ...] = ("pairs", "neighbours")


def _adjacent_orders(dtype: np.dtype) -> list[Adjacent]:
    single = dtype.itemsize == 4
    rest: tuple[Fold, ...] = ("neighbours",) if single else ()
    multiple, lanes = (32, 8) if single else (16, 4)
    found = []
    for fused_rest in (False,) if single else (True, False):
        for wide, fold, fused in (
            (False, _HALVED, True),
            (True, _CHAINED, True),
            (False, _CHAINED, True),
            (False, _HALVED, False),
        ):
            found.append(Adjacent(multiple, lanes, wide, (*fold, *rest), fused, fused_rest, single))
        narrow = lanes // 2
        found.append(
            Adjacent(multiple, narrow, False, (*_PAIRED, *rest), False, fused_rest, single)
        )
    return found


def _apart_orders(dtype: np.dtype) -> list[Apart]:
    accumulators = 1 if dtype.itemsize == 4 else 2
    return [
        Apart(accumulators, exact, fused_rest)
        for exact in (0, 1, None)
        for fused_rest in ((False,) if accumulators == 1 else (True, False))
    ]


_LENGTHS = ((3, 19, 31, 94), tuple(range(1, 72)), (127, 200, 511, LONGEST))
BITS = {4: 14, 8: 28}  # of each number, so that products are not numbers of the dtype


@cache
def dot_order(dtype: np.dtype) -> DotOrder:
    """The orders of this process's BLAS for float32 or float64."""
    return DotOrder(
        _found(_adjacent_orders(dtype), _sum_adjacent, dtype, 1),
        _found(_apart_orders(dtype), _sum_apart, dtype, 3),
    )


_Order = TypeVar("_Order", Adjacent, Apart)
_Summing = Callable[[Any, "_Products"], np.ndarray]


def _found(
    orders: Sequence[_Order], summing: _Summing, dtype: np.dtype, step: int
) -> _Order | None:
    """The one of the orders that gives NumPy's numbers."""
    asked = cache(lambda lengths: _Products(dtype, lengths, step))
    for order in orders:
        if all(np.array_equal(summing(order, asked(each)), asked(each).sums) for each in _LENGTHS):
            return order
    return None


class _Products:
    """Vectors of some lengths: their exact products, zeros behind them, and NumPy's sums."""

    def __init__(self, dtype: np.dtype, lengths: Sequence[int], step: int) -> None:
        self.dtype = dtype
        # Products, and their sums up to 2**7 and more, have no more bits than this has.
        self.exactly = np.dtype(np.float64 if dtype.itemsize == 4 else np.longdouble)
        self.lengths = np.array(lengths)
        room = -(-max(lengths) // 64) * 64 + 64 * (max(lengths) % 64 == 0)
        one = 1 << BITS[dtype.itemsize]
        numbers = mixed(2 * one, (2, len(lengths), room)) / one - 1
        numbers *= np.arange(room) < self.lengths[:, None]
        x, y = numbers.astype(self.exactly)
        self.exact: np.ndarray = x * y
        self.rounded: np.ndarray = self.exact.astype(dtype).astype(self.exactly)
        self.sums = np.array(
            [self._sum(numbers[:, row, :n], step) for row, n in enumerate(lengths)]
        )

    def _sum(self, pair: np.ndarray, step: int) -> Any:
        """NumPy's sum, of vectors that begin anywhere in memory; each third one has no gaps."""
        length, sides = pair.shape[1], []
        for place, numbers in enumerate(pair):
            by = 1 if (length + place) % 3 == 0 else step
            side = np.zeros(by * length + 1, self.dtype)[length % 2 :: by][:length]
            side[:] = numbers
            sides.append(side)
        return np.dot(sides[0], sides[1])

    def products(self, *, exact: bool) -> np.ndarray:
        return self.exact if exact else self.rounded

    def plus(self, total: np.ndarray, products: np.ndarray) -> np.ndarray:
        """Their sum, rounded once."""
        exact: np.ndarray = total + products
        return exact.astype(self.dtype)


def mixed(below: int, shape: tuple[int, ...]) -> np.ndarray:
    """Integers without a pattern. (To import NumPy's generators takes longer than all of this.)"""
    mixed = np.arange(np.prod(shape), dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers: np.ndarray = ((mixed >> np.uint64(32)) % np.uint64(below)).astype(np.int64)
    return numbers.reshape(shape)


def _sum_adjacent(order: Adjacent, given: _Products) -> np.ndarray:
    place = np.arange(given.exact.shape[1])
    whole = given.lengths & -order.multiple
    products = given.products(exact=order.fused)
    parts = np.zeros((len(whole), 4, order.lanes), given.dtype)
    start = np.zeros_like(whole)
    if order.wide:
        start = whole & -8 * order.lanes
        both = np.zeros((len(whole), 4, 2 * order.lanes), given.dtype)
        both = _blocks(given, both, products * (place < start[:, None]))
        parts = both[..., : order.lanes] + both[..., order.lanes :]
    is_inside = (place >= start[:, None]) & (place < whole[:, None])
    parts = _blocks(given, parts, products * is_inside)
    for step in order.fold:
        parts = _folded(step, parts)
    return _with_rest(order, given, parts[:, 0, 0], whole)


def _blocks(given: _Products, parts: np.ndarray, products: np.ndarray) -> np.ndarray:
    count = parts.shape[1] * parts.shape[2]
    for at in range(0, products.shape[1], count):
        block = products[:, at : at + count]
        if block.any():
            parts = given.plus(parts, block.reshape(parts.shape))
    return parts


def _folded(step: Fold, parts: np.ndarray) -> np.ndarray:
    half = parts.shape[2] // 2
    folded: np.ndarray
    match step:
        case "halves":
            folded = parts[..., :half] + parts[..., half:]
        case "neighbours":
            folded = parts[..., ::2] + parts[..., 1::2]
        case "pairs":
            folded = (parts[:, :1] + parts[:, 1:2]) + (parts[:, 2:3] + parts[:, 3:])
        case "chain":
            folded = ((parts[:, :1] + parts[:, 1:2]) + parts[:, 2:3]) + parts[:, 3:]
    return folded


def _with_rest(
    order: Adjacent, given: _Products, total: np.ndarray, whole: np.ndarray
) -> np.ndarray:
    """The sum of the blocks and of what is left."""
    products = given.products(exact=order.fused_rest)
    rest = np.zeros(len(total))
    for at in range(order.multiple - 1):
        place = np.minimum(whole + at, given.exact.shape[1] - 1)
        product = products[np.arange(len(place)), place] * (whole + at < given.lengths)
        if order.apart:
            rest = rest + product
        else:
            total = given.plus(total, product)
    return (rest + total).astype(given.dtype) if order.apart else total


def _sum_apart(order: Apart, given: _Products) -> np.ndarray:
    count = order.accumulators
    rows = np.arange(len(given.lengths))
    whole = given.lengths & -2 * count
    is_inside = np.arange(given.exact.shape[1]) < whole[:, None]
    first, second = (
        (given.products(exact=order.exact == which) * is_inside)
        .reshape(len(rows), -1, 2, count)[:, :, which]
        for which in (0, 1)
    )  # fmt: skip
    pairs = given.plus(first, second).astype(np.float64)
    totals = np.add.accumulate(pairs, axis=1)[:, -1]
    total = totals[:, 0]
    products = given.products(exact=order.fused_rest)
    for at in range(2 * count - 1):
        place = np.minimum(whole + at, given.exact.shape[1] - 1)
        total = (total + products[rows, place] * (whole + at < given.lengths)).astype(np.float64)
    return (total + totals[:, 1] if count == 2 else total).astype(given.dtype)
