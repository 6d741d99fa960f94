"""Complex numbers of a body as pairs of floats: their arithmetic, casts, and what NumPy fuses.

See Note [Complex numbers].
"""

from __future__ import annotations

from functools import cache

import numpy as np

from fxc.ir.types import PART_DTYPES

from ..nests.buffers import BOOL, Atom, Const, Element, Pair
from .rule_body import RuleBody


@cache
def fused(dtype: np.dtype, step: int = 1) -> bool:
    """Whether this NumPy, on this processor, fuses the products of complex numbers of ``dtype``,
    where it goes by that many elements.
    """
    tiny = 2.0 ** -(np.finfo(dtype).nmant // 2 + 1)
    x = np.full(8, complex(1 + tiny, 1), dtype)
    y = np.full(8, complex(1 + tiny, 1 + 2 * tiny), dtype)
    # Rounded, (1 + t)² is 1 + 2t and the real part vanishes.
    return bool(np.all((x[::step] * y[::step]).real != 0))


class Floats:
    """Arithmetic on float scalars of one dtype, written into a body."""

    def __init__(self, body: RuleBody, dtype: np.dtype) -> None:
        self.body = body
        self.dtype = dtype

    def const(self, value: float) -> Const:
        return Const(value, self.dtype)

    def op(self, name: str, *args: Atom) -> Atom:
        return self.body.compute(name, args, (self.dtype,) * len(args), self.dtype)

    def test(self, name: str, *args: Atom) -> Atom:
        return self.body.compute(name, args, (self.dtype,) * len(args), BOOL)

    def choose(self, condition: Atom, yes: Atom, no: Atom) -> Atom:
        dtypes = (BOOL, self.dtype, self.dtype)
        return self.body.compute("where", (condition, yes, no), dtypes, self.dtype)

    def add(self, x: Atom, y: Atom) -> Atom:
        return self.op("add", x, y)

    def sub(self, x: Atom, y: Atom) -> Atom:
        return self.op("subtract", x, y)

    def mul(self, x: Atom, y: Atom) -> Atom:
        return self.op("multiply", x, y)

    def div(self, x: Atom, y: Atom) -> Atom:
        return self.op("divide", x, y)

    def neg(self, x: Atom) -> Atom:
        return self.op("negative", x)

    def muladd(self, x: Atom, y: Atom, z: Atom, dtype: np.dtype) -> Atom:
        """x * y + z, with one rounding where NumPy's loops on complex ``dtype`` have one."""
        if fused(dtype):
            return self.op("fused_multiply_add", x, y, z)
        return self.add(self.mul(x, y), z)


def logic(body: RuleBody, name: str, *args: Atom) -> Atom:
    """``logical_and`` and its kin on bools."""
    return body.compute(name, args, (BOOL,) * len(args), BOOL)


def cast(body: RuleBody, x: Element, source: np.dtype, dtype: np.dtype) -> Element:
    """NumPy's cast where one of the dtypes is complex; an imaginary part is not dropped."""
    part = PART_DTYPES.get(dtype)
    if isinstance(x, Pair):
        if dtype == BOOL:
            return truth(body, x, source)
        assert part is not None
        given = PART_DTYPES[source]
        return Pair(*(body.cast_atom(each, given, part) for each in (x.re, x.im)))
    assert part is not None
    return Pair(body.cast_atom(x, source, part), Const(0.0, part))


def truth(body: RuleBody, x: Pair, dtype: np.dtype) -> Atom:
    """Whether the element counts as true."""
    floats = Floats(body, PART_DTYPES[dtype])
    zero = floats.const(0.0)
    tests = [floats.test("not_equal", each, zero) for each in (x.re, x.im)]
    return logic(body, "logical_or", *tests)
