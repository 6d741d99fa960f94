"""Linear equations by Gauss's elimination with pivots, as functions of the module.

NumPy raises for matrices that are singular, or that no root of is real; here they give infinities
and nan.
"""

from __future__ import annotations

from fxc.ir.graph import Node
from fxc.ir.types import PART_DTYPES

from .builder import I64, Val
from .casts import cast
from .emission import Emission
from .problems import Unsayable, no_number
from .reductions import first_place
from .signs import absolute


def solve(e: Emission, node: Node) -> list[Val]:
    kind = node.output.type
    a, b = _square(e, node), e.cast(node.args[1], kind.dtype)
    columns = b.shape[1] if b.rank == 2 else 1
    if b.rank > 2:
        raise Unsayable("several systems of equations at once")
    found = _solution(e, a, e.reshape(b, (a.shape[0], columns)))
    return [e.reshape(found, e.held(kind))]


def inv(e: Emission, node: Node) -> list[Val]:
    a = _square(e, node)
    rows, columns = e.iota(a.shape, 0), e.iota(a.shape, 1)
    identity = cast(e, e.b.compare("EQ", rows, columns), a.dtype)
    return [_solution(e, a, identity)]


def det(e: Emission, node: Node) -> list[Val]:
    """The product of the pivots, with the sign of the permutation."""
    a = _square(e, node)
    column = e.full(1, a.dtype, (a.shape[0], 1))
    _, reduced, sign = _eliminated(e, a, column)
    rows, columns = e.iota(a.shape, 0), e.iota(a.shape, 1)
    pivots = e.b.select(e.b.compare("EQ", rows, columns), reduced, e.like(a, 1))
    product = e.b.reduce(pivots, e.b.scalar(1, a.dtype), "multiply", [0, 1])
    return [e.b.same("multiply", product, sign)]


def cholesky(e: Emission, node: Node) -> list[Val]:
    kind = node.output.type
    _check_whole(e, node)
    a = e.cast(node.args[0], kind.dtype)
    if a.dtype in PART_DTYPES:
        raise Unsayable("a root of a complex matrix")
    upper = node.arg("upper")
    axes = [*range(a.rank - 2), a.rank - 1, a.rank - 2]
    a = e.transpose(a, axes) if upper else a
    root = e.b.same("cholesky", a, rest="lower = true")
    below = e.b.compare("GE", e.iota(a.shape, a.rank - 2), e.iota(a.shape, a.rank - 1))
    root = e.b.select(below, root, e.like(root, 0))
    return [e.transpose(root, axes) if upper else root]


def _check_whole(e: Emission, node: Node) -> None:
    """What is nobody's is no part of a matrix. See Note [Held sizes]."""
    if e.changing(node.args[0].type):
        raise Unsayable("a matrix of a size that changes")


def _square(e: Emission, node: Node) -> Val:
    a = e.cast(node.args[0], node.output.type.dtype)
    _check_whole(e, node)
    if a.rank != 2 or not isinstance(a.shape[0], int) or not a.shape[0]:
        raise no_number("several matrices at once, or one")
    return a


def _solution(e: Emission, a: Val, b: Val) -> Val:
    (x,) = e.call("solve", [a, b], [b], lambda a, b: [_substituted(e, *_eliminated(e, a, b)[:2])])
    return x


def _row(e: Emission, x: Val, place: Val) -> Val:
    zero = e.b.scalar(0, I64)
    size = (1, x.shape[1])
    return e.b.op("dynamic_slice", [x, place, zero], x.dtype, size, f"sizes = {list(size)}")


def _column(e: Emission, x: Val, place: Val) -> Val:
    zero = e.b.scalar(0, I64)
    size = (x.shape[0], 1)
    return e.b.op("dynamic_slice", [x, zero, place], x.dtype, size, f"sizes = {list(size)}")


def _with_row(e: Emission, x: Val, row: Val, place: Val) -> Val:
    zero = e.b.scalar(0, I64)
    return e.b.op("dynamic_update_slice", [x, row, place, zero], x.dtype, x.shape)


def _swapped(e: Emission, x: Val, i: Val, j: Val) -> Val:
    one, other = _row(e, x, i), _row(e, x, j)
    return _with_row(e, _with_row(e, x, other, i), one, j)


def _less(e: Emission, x: Val, column: Val, row: Val) -> Val:
    """``x`` less a column times a row."""
    wide = e.broadcast(column, x.shape)
    return e.b.same("subtract", x, e.b.same("multiply", wide, e.broadcast(row, x.shape)))


def _eliminated(e: Emission, a: Val, b: Val) -> tuple[Val, Val, Val]:
    """``b`` and ``a`` after the rows above have been subtracted, and the sign of the swaps."""
    count = e.b.scalar(a.shape[0], I64)
    one = e.b.scalar(1, I64)

    def test(k: Val, *state: Val) -> Val:
        return e.b.compare("LT", k, count)

    def step(k: Val, a: Val, b: Val, sign: Val) -> list[Val]:
        column = _column(e, a, k)
        rows = e.iota(column.shape, 0)
        place = e.broadcast(k, column.shape)
        size = absolute(e, column)
        size = e.b.select(e.b.compare("GE", rows, place), size, e.like(size, -1))
        pivot = e.reshape(first_place(e, size, 0, True), ())
        moved = e.b.compare("NE", pivot, k)
        sign = e.b.select(moved, e.b.same("negate", sign), sign)
        a, b = _swapped(e, a, k, pivot), _swapped(e, b, k, pivot)
        row, column = _row(e, a, k), _column(e, a, k)
        head = e.b.op(
            "dynamic_slice", [row, e.b.scalar(0, I64), k], a.dtype, (1, 1), "sizes = [1, 1]"
        )
        factor = e.b.same("divide", column, e.broadcast(head, column.shape))
        factor = e.b.select(e.b.compare("GT", rows, place), factor, e.like(factor, 0))
        b = _less(e, b, factor, _row(e, b, k))
        return [e.b.same("add", k, one), _less(e, a, factor, row), b, sign]

    sign = e.b.scalar(1, a.dtype)
    _, a, b, sign = e.b.loop([e.b.scalar(0, I64), a, b, sign], test, step)
    return b, a, sign


def _substituted(e: Emission, b: Val, a: Val) -> Val:
    """The solution, from the last row to the first."""
    zero, one = e.b.scalar(0, I64), e.b.scalar(1, I64)

    def test(k: Val, *state: Val) -> Val:
        return e.b.compare("GE", k, zero)

    def step(k: Val, b: Val) -> list[Val]:
        column = _column(e, a, k)
        pivot = e.b.op("dynamic_slice", [a, k, k], a.dtype, (1, 1), "sizes = [1, 1]")
        row = _row(e, b, k)
        found = e.b.same("divide", row, e.broadcast(pivot, row.shape))
        above = e.b.compare("LT", e.iota(column.shape, 0), e.broadcast(k, column.shape))
        factor = e.b.select(above, column, e.like(column, 0))
        return [e.b.same("subtract", k, one), _with_row(e, _less(e, b, factor, found), found, k)]

    last = e.b.scalar(int(a.shape[0]) - 1, I64)  # type: ignore[arg-type]
    return e.b.loop([last, b], test, step)[1]


EMITTERS = {
    "linalg_solve": solve,
    "linalg_inv": inv,
    "linalg_det": det,
    "linalg_cholesky": cholesky,
}
