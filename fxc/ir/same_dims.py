"""Whether types agree where guards hold, and whether there are sizes in them to ask for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from .graph import SliceSpec, Value
from .size_functions import substitute
from .size_guards import Guard
from .symbols import Dim, Symbol, SymExpr, symbols_of
from .types import ArrayType, ScalarType, Type


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
        if left.shape != right.shape and not (
            left.rank == right.rank and all(map(self, left.shape, right.shape))
        ):
            return False
        if not strides:
            return True
        if left.strides == right.strides:
            return left.writeable == right.writeable
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


def is_without_symbols(part: object) -> bool:
    """Whether it is seen at a glance that no dim in it is symbolic, as of most values."""
    if isinstance(part, tuple):
        return all(map(is_without_symbols, part))
    if isinstance(part, Value):
        part = part.type
    if isinstance(part, ArrayType):
        return _INTS.issuperset(map(type, part.shape)) and _INTS.issuperset(map(type, part.strides))
    if isinstance(part, SliceSpec):
        return _INTS.issuperset(map(type, (part.start, part.stop, part.step)))
    return part is None or isinstance(part, int | str | ScalarType | np.dtype)


_INTS = frozenset({int})
