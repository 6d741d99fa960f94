"""Operators of Python's complex numbers, as CPython computes them, and where they fail.

See Note [Complex numbers].
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from fxc.ir.types import PART_DTYPES, ScalarType, Type

from ..nests.buffers import F64, Atom, Element, Pair
from ..operators.scalar_rules import DTypes, cast_types
from .complex_floats import Floats, logic
from .complex_rules import (
    absolute_scalar,
    by_part,
    equality,
    multiply_scalars,
    ordered,
    pairs_of,
)
from .made_rules import MadeRule, Make
from .rule_body import RuleBody

_COMPLEX128 = np.dtype(np.complex128)
# Python 3.14 has rules of its own for a float beside a complex number, and for infinities.
_COMPUTES_AS_KNOWN = sys.version_info < (3, 14)


def _of_parts(body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype) -> Element:
    re, im = args
    assert not isinstance(re, Pair)
    assert not isinstance(im, Pair)
    return Pair(re, im)


def _divide(body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype) -> Element:
    """Smith's algorithm: by the larger part of the divisor."""
    floats, (x, y) = Floats(body, F64), pairs_of(args)
    choose = floats.choose
    sizes = floats.op("absolute", y.re), floats.op("absolute", y.im)
    by_re = floats.test("greater_equal", *sizes)
    small, large = choose(by_re, y.im, y.re), choose(by_re, y.re, y.im)
    ratio = floats.div(small, large)
    whole = floats.add(large, floats.mul(small, ratio))
    first, second = choose(by_re, x.re, x.im), choose(by_re, x.im, x.re)
    re, turned = floats.add(first, floats.mul(second, ratio)), floats.mul(first, ratio)
    im = floats.sub(choose(by_re, x.im, turned), choose(by_re, turned, x.re))
    return Pair(floats.div(re, whole), floats.div(im, whole))


def _is_by_zero(body: RuleBody, args: Sequence[Element], result: Element) -> Atom:
    floats, (_, y) = Floats(body, F64), pairs_of(args)
    return logic(body, "logical_and", *(floats.test("equal", x, floats.const(0.0)) for x in _of(y)))


def is_infinite(body: RuleBody, args: Sequence[Element], result: Element) -> Atom:
    """Whether a part of the result is, which Python calls an overflow."""
    floats, (found,) = Floats(body, F64), pairs_of([result])
    return logic(body, "logical_or", *(floats.test("isinf", part) for part in _of(found)))


def _is_lost(body: RuleBody, args: Sequence[Element], result: Element) -> Atom:
    """Whether the size of finite parts is beyond all floats."""
    assert not isinstance(result, Pair)
    floats, (x,) = Floats(body, F64), pairs_of(args)
    tests = [floats.test("isfinite", part) for part in _of(x)]
    return logic(
        body,
        "logical_and",
        logic(body, "logical_and", *tests),
        logic(body, "logical_not", floats.test("isfinite", result)),
    )


def _of(pair: Pair) -> tuple[Atom, Atom]:
    return pair.re, pair.im


def _multiplies_as_c(types: Sequence[Type]) -> bool:
    """Whether ``*`` on these scalars multiplies complex numbers with each other, as C does.

    NumPy takes the way of its ufuncs if it multiplies, and an operand is of another of its dtypes.
    """
    x, y, result = types
    if not (isinstance(x, ScalarType) and isinstance(y, ScalarType)):
        return False
    if result.weak:
        return _COMPUTES_AS_KNOWN or x.dtype == y.dtype
    return all(kind.weak or kind.dtype == result.dtype for kind in (x, y))


def computes_as_known(types: Sequence[Type]) -> bool:
    """Whether Python computes a complex number, and as is known here."""
    return _COMPUTES_AS_KNOWN and types[-1].weak and types[-1].dtype == _COMPLEX128


def as_result(dtypes: DTypes, result: np.dtype) -> tuple[DTypes, np.dtype]:
    return (result,) * len(dtypes), result


def _as_complex(dtypes: DTypes, result: np.dtype) -> tuple[DTypes, np.dtype]:
    return (_COMPLEX128,) * len(dtypes), result


def _as_parts(dtypes: DTypes, result: np.dtype) -> tuple[DTypes, np.dtype]:
    return (PART_DTYPES[result],) * len(dtypes), result


def _is_of_parts(types: Sequence[Type]) -> bool:
    return not any(kind.dtype in PART_DTYPES for kind in types[:-1])


def _is_double(types: Sequence[Type]) -> bool:
    return types[0].dtype == _COMPLEX128


def _without_ints(types: Sequence[Type]) -> bool:
    """Ints are compared exactly, as no float need be."""
    return all(kind.dtype.kind in "fc" for kind in types[:-1])


def _order(name: str) -> Make:
    """As NumPy's scalars are compared; Python's have no order."""

    def make(body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype) -> Element:
        return ordered(body, dtypes[0], name, *pairs_of(args))

    return make


def _are_alike(types: Sequence[Type]) -> bool:
    """Whether the operands are of one dtype, as capture casts them."""
    x, y, _ = types
    return x.dtype == y.dtype


PYTHON_COMPLEX_RULES: dict[str, MadeRule] = {
    "py_add": MadeRule(by_part("add"), typed=as_result),
    "py_subtract": MadeRule(by_part("subtract"), typed=as_result),
    "py_negative": MadeRule(by_part("negative"), typed=as_result),
    **{
        name: MadeRule(absolute_scalar, 40, cast_types, _is_double, fails=_is_lost)
        for name in ("py_absolute", "try_absolute")
    },
    "py_equal": MadeRule(equality("equal", "logical_and"), 3, _as_complex, _without_ints),
    "py_not_equal": MadeRule(equality("not_equal", "logical_or"), 3, _as_complex, _without_ints),
    **{
        f"py_{name}": MadeRule(_order(name), 6, cast_types, _are_alike)
        for name in ("less", "less_equal", "greater", "greater_equal")
    },
    "py_complex": MadeRule(_of_parts, 0, _as_parts, _is_of_parts),
    "py_multiply": MadeRule(multiply_scalars, 6, as_result, _multiplies_as_c),
    **{
        name: MadeRule(_divide, 36, as_result, computes_as_known, fails=_is_by_zero)
        for name in ("py_divide", "try_divide")
    },
}
