"""Products that are not made as ``matmul`` makes them, as fields of the loop IR."""

from __future__ import annotations

from typing import Literal

from fxc.ir.records import frozen


@frozen
class Together:
    """``x`` has one vector for each place of a batch, ``most`` at most, and ``y`` is a matrix for
    all of them: products of so many ``vectors`` with so many ``columns`` are made at once. The
    matrix has so many columns ``fewer`` for each vector than for the one before: it is without its
    first ones, and the result is anything there. See ``vectors_together``.
    """

    most: int
    vectors: int
    columns: int
    fewer: int = 0

    def __str__(self) -> str:
        fewer = f", each {self.fewer} fewer" if self.fewer else ""
        return f"of up to {self.most} vectors, {self.vectors} x {self.columns} at once{fewer}"


Way = Literal["in turn", "in lanes"]


@frozen
class Sums:
    """Products are added one after the other from 0.0, or ``in lanes``: those of NumPy's vectors
    of 16 bytes, see ``einsum_order``. A batch may move along axes that the result has not: then a
    sum is added to what stands there, which is 0.0 at first, and with ``onto`` it starts from that.
    """

    way: Way
    adds: bool = False
    onto: bool = False

    def __str__(self) -> str:
        return self.way + (" onto" if self.onto else " added" if self.adds else "")
