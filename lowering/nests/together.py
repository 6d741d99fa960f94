"""Products of some vectors with one matrix at once, as a field of the loop IR."""

from __future__ import annotations

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
