"""Whether types agree where guards hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .size_functions import substitute
from .size_guards import Guard
from .symbols import Dim, Symbol, SymExpr, symbols_of
from .types import ScalarType, Type


class SameDims:
    """Whether two dims are equal where guards hold: ``==`` guards are solved for a symbol each."""

    def __init__(self, guards: Iterable[Guard]) -> None:
        self.known: dict[str, Dim] = {}
        for guard in guards:
            if guard.relation != "==":
                continue
            for name, value in _solved(substitute(guard.left - guard.right, self.known)):
                fixed = {name: value}
                self.known = {n: substitute(dim, fixed) for n, dim in self.known.items()}
                self.known[name] = value

    def __call__(self, left: Dim, right: Dim) -> bool:
        return left == right or substitute(left - right, self.known) == 0

    def types(self, left: Type, right: Type, *, strides: bool = False) -> bool:
        """Whether dtype, shape and kind agree; with ``strides``, the whole layout."""
        if left.dtype != right.dtype:
            return False
        if isinstance(left, ScalarType) or isinstance(right, ScalarType):
            return left == right
        if left.rank != right.rank or not all(map(self, left.shape, right.shape)):
            return False
        if not strides:
            return True
        moved = (
            not self(a, b)
            for a, b, dim in zip(left.strides, right.strides, left.shape, strict=True)
            if dim != 1
        )
        return left.writeable == right.writeable and not any(moved)


def _solved(zero: Dim) -> Iterator[tuple[str, Dim]]:
    """One symbol of ``zero == 0`` and its value, if some symbol occurs once, with factor ±1."""
    if isinstance(zero, int):
        return
    for monomial, factor in zero.terms:
        match monomial:
            case (Symbol(name),) if abs(factor) == 1:
                rest = zero - SymExpr(((monomial, factor),))
                if name not in symbols_of(rest):
                    yield name, -factor * rest
                    return
