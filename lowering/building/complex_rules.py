"""Pointwise operators on complex numbers as operations on their real and imaginary parts.

See Note [Complex numbers].
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from fxc.ir.types import PART_DTYPES, Type

from ..nests.buffers import BOOL, Atom, Element, Pair
from ..operators.scalar_rules import (
    COMPLEX_MATH,
    COMPLEX_MATH_COSTS,
    DTypes,
    cast_types,
    where_types,
)
from .complex_floats import Floats, logic, truth
from .made_rules import MadeRule, Make
from .rule_body import RuleBody

# Note [Complex numbers]
# The loop IR has no complex scalars. A complex value is a Pair of float scalars while it is
# computed, and a complex buffer has a second reading, its *parts*: floats with one more dim of size
# 2. An operator on complex numbers is therefore a rule that makes float operations of it. Which
# ones, and where they are fused, is NumPy's choice, which depends on where the numbers stand:
# - ufuncs multiply with one rounding less, re = fma(ar, br, -(ai * bi)), im = fma(ar, bi, ai * br),
#   if the processor can; ``absolute`` and ``square`` likewise. ``fused()`` asks NumPy itself. For
#   those written among what is read see Note [Products among what is read].
# - exp, log and sqrt are code of our own (``vector_math``): two operations give a part each; one
#   call in the code that is written gives both. Other functions are NumPy's inner loops.
# - Python's ``*`` on NumPy's complex scalars (py_multiply) rounds each product, as C would, and so
#   does the loop for complex64 if an operand is walked backwards, but in NumPy 2.0; ``absolute``
#   then calls hypot, on some processors.
#   ``rule_of`` (complex_nodes.py) follows that for arrays of rank 1; docs/numerics.md has the bound
#   for the rest, and for ``absolute`` of complex64.
# - Python's ``<`` on NumPy's complex scalars (py_less) looks at the imaginary parts where the real
#   ones are equal, and nowhere else; the ufunc says no wherever there is a nan.

COMPLEX128 = np.dtype(np.complex128)


def pairs_of(args: Sequence[Element]) -> list[Pair]:
    assert all(isinstance(arg, Pair) for arg in args)
    return list(args)  # type: ignore[arg-type]


def by_part(name: str) -> Make:
    """The operator of the same name on each part."""

    def make(body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype) -> Element:
        floats, pairs = Floats(body, PART_DTYPES[result]), pairs_of(args)
        re = floats.op(name, *(pair.re for pair in pairs))
        return Pair(re, floats.op(name, *(pair.im for pair in pairs)))

    return make


def _identity(body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype) -> Element:
    return args[0]


def _product(body: RuleBody, x: Pair, y: Pair, dtype: np.dtype) -> Pair:
    """As NumPy's ufunc loops multiply."""
    floats = Floats(body, PART_DTYPES[dtype])
    both = floats.mul(x.im, y.im), floats.mul(x.im, y.re)
    re = floats.muladd(x.re, y.re, floats.neg(both[0]), dtype)
    return Pair(re, floats.muladd(x.re, y.im, both[1], dtype))


def _multiply(body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype) -> Element:
    x, y = pairs_of(args)
    return _product(body, x, y, result)


def _square(body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype) -> Element:
    (x,) = pairs_of(args)
    return _product(body, x, x, result)


def multiply_scalars(
    body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype
) -> Element:
    """As C multiplies: Python's numbers, and NumPy's by Python's operator."""
    floats, (x, y) = Floats(body, PART_DTYPES[result]), pairs_of(args)
    re = floats.sub(floats.mul(x.re, y.re), floats.mul(x.im, y.im))
    return Pair(re, floats.add(floats.mul(x.re, y.im), floats.mul(x.im, y.re)))


def _is_larger(floats: Floats, x: Atom, y: Atom) -> Atom:
    """Whether x ≥ y, of sizes of parts: NumPy calls nan invalid there."""
    compared = logic(floats.body, "logical_not", floats.test("has_no_order", x, y))
    return logic(floats.body, "logical_and", compared, floats.test("greater_equal", x, y))


def _divide(body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype) -> Element:
    """Smith's algorithm, as NumPy has it: by the larger part of the divisor."""
    floats, (x, y) = Floats(body, PART_DTYPES[result]), pairs_of(args)
    choose = floats.choose
    re_size, im_size = floats.op("absolute", y.re), floats.op("absolute", y.im)
    by_re = _is_larger(floats, re_size, im_size)
    small, large = choose(by_re, y.im, y.re), choose(by_re, y.re, y.im)
    ratio = floats.div(small, large)
    scale = floats.div(floats.const(1.0), floats.add(large, floats.mul(small, ratio)))
    first, second = choose(by_re, x.re, x.im), choose(by_re, x.im, x.re)
    re = floats.add(first, floats.mul(second, ratio))
    turned = floats.mul(first, ratio)
    im = floats.sub(choose(by_re, x.im, turned), choose(by_re, turned, x.re))
    nothing = floats.test("equal", floats.add(re_size, im_size), floats.const(0.0))
    # x / 0 is the division of each part by +0.0.
    scale = choose(nothing, floats.const(np.inf), scale)
    re, im = choose(nothing, x.re, re), choose(nothing, x.im, im)
    return Pair(floats.mul(re, scale), floats.mul(im, scale))


def _reciprocal(
    body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype
) -> Element:
    floats, (x,) = Floats(body, PART_DTYPES[result]), pairs_of(args)
    choose, one = floats.choose, floats.const(1.0)
    by_re = _is_larger(floats, floats.op("absolute", x.re), floats.op("absolute", x.im))
    small, large = choose(by_re, x.im, x.re), choose(by_re, x.re, x.im)
    ratio = floats.div(small, large)
    whole = floats.add(large, floats.mul(small, ratio))
    re, im = choose(by_re, one, ratio), choose(by_re, ratio, one)
    return Pair(floats.div(re, whole), floats.div(floats.neg(im), whole))


def _conjugate(
    body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype
) -> Element:
    (x,) = pairs_of(args)
    return Pair(x.re, Floats(body, PART_DTYPES[result]).neg(x.im))


def _absolute(body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype) -> Element:
    """``larger * sqrt(1 + (smaller / larger)²)``."""
    floats, (x,) = Floats(body, result), pairs_of(args)
    choose, infinity = floats.choose, floats.const(np.inf)
    re, im = floats.op("absolute", x.re), floats.op("absolute", x.im)
    by_re = floats.test("greater", re, im)
    larger, smaller = choose(by_re, re, im), choose(by_re, im, re)
    infinite = logic(
        body, "logical_or", *(floats.test("equal", each, infinity) for each in (re, im))
    )
    nothing = floats.test("equal", floats.add(re, im), floats.const(0.0))
    special = logic(body, "logical_or", nothing, infinite)  # their ratio would set flags
    ratio = floats.div(smaller, choose(special, floats.const(1.0), larger))
    root = floats.op("sqrt", floats.muladd(ratio, ratio, floats.const(1.0), dtypes[0]))
    size = floats.mul(root, larger)
    size = choose(nothing, larger, size)
    return choose(infinite, infinity, size)


def absolute_scalar(
    body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype
) -> Element:
    (x,) = pairs_of(args)
    return body.compute("hypot_of_parts", (x.re, x.im), (result, result), result)


def _function(name: str) -> Make:
    """A function of ``vector_math`` that gives both parts."""

    def make(body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype) -> Element:
        floats, (x,) = Floats(body, PART_DTYPES[result]), pairs_of(args)
        return Pair(
            *(floats.op(op, x.re, x.im) for op, (of, _) in COMPLEX_MATH.items() if of == name)
        )

    return make


def equality(name: str, joined: str) -> Make:
    def make(body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype) -> Element:
        floats, (x, y) = Floats(body, PART_DTYPES[dtypes[0]]), pairs_of(args)
        return logic(body, joined, floats.test(name, x.re, y.re), floats.test(name, x.im, y.im))

    return make


def ordered(body: RuleBody, dtype: np.dtype, name: str, x: Pair, y: Pair) -> Atom:
    """By the real part, then by the imaginary one: the order of NumPy's scalars."""
    floats = Floats(body, PART_DTYPES[dtype])
    strict = {"less_equal": "less", "greater_equal": "greater"}.get(name, name)
    same = floats.test("equal", x.re, y.re)
    then = logic(body, "logical_and", same, floats.test(name, x.im, y.im))
    return logic(body, "logical_or", floats.test(strict, x.re, y.re), then)


def _ordered(body: RuleBody, dtype: np.dtype, name: str, x: Pair, y: Pair) -> Atom:
    """The order of NumPy's ufuncs: no nan is in order."""
    floats = Floats(body, PART_DTYPES[dtype])
    numbers = floats.test("equal", x.im, x.im), floats.test("equal", y.im, y.im)
    before = ordered(body, dtype, name, x, y)
    return logic(body, "logical_and", before, logic(body, "logical_and", *numbers))


def _comparison(name: str) -> Make:
    """NumPy calls nan invalid in it, which it does not in maximum, minimum and their like."""

    def make(body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype) -> Element:
        floats, (x, y) = Floats(body, PART_DTYPES[dtypes[0]]), pairs_of(args)
        told = floats.test("has_no_order", x.re, y.re, x.im, y.im)
        compared = logic(body, "logical_not", told)  # what has no order is neither less nor greater
        return logic(body, "logical_and", compared, _ordered(body, dtypes[0], name, x, y))

    return make


def _is_nan(body: RuleBody, dtype: np.dtype, x: Pair) -> Atom:
    floats = Floats(body, PART_DTYPES[dtype])
    tests = [floats.test("isnan", each) for each in (x.re, x.im)]
    return logic(body, "logical_or", *tests)


def _chosen(body: RuleBody, condition: Atom, yes: Pair, no: Pair, dtype: np.dtype) -> Pair:
    floats = Floats(body, PART_DTYPES[dtype])
    return Pair(floats.choose(condition, yes.re, no.re), floats.choose(condition, yes.im, no.im))


def _extreme(name: str, numbers_win: bool) -> Make:
    """maximum and minimum take the first nan there is; fmax and fmin a number before it."""

    def make(body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype) -> Element:
        x, y = pairs_of(args)
        wins = _ordered(body, result, name, x, y)
        nan = _is_nan(body, result, y if numbers_win else x)
        return _chosen(body, logic(body, "logical_or", nan, wins), x, y, result)

    return make


def _tested(name: str, joined: str) -> Make:
    """A test of floats that holds for one of the parts, or for both."""

    def make(body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype) -> Element:
        floats, (x,) = Floats(body, PART_DTYPES[dtypes[0]]), pairs_of(args)
        return logic(body, joined, floats.test(name, x.re), floats.test(name, x.im))

    return make


def _logical(name: str) -> Make:
    def make(body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype) -> Element:
        tests = [
            truth(body, arg, dtype) if isinstance(arg, Pair) else body.cast_atom(arg, dtype, BOOL)
            for arg, dtype in zip(args, dtypes, strict=True)
        ]
        return logic(body, name, *tests)

    return make


def _astype(body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype) -> Element:
    return body.cast(args[0], dtypes[0], result)


def _where(body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype) -> Element:
    condition, *rest = args
    assert not isinstance(condition, Pair)
    if result.kind != "c":  # the condition was complex
        atoms = [each for each in args if not isinstance(each, Pair)]
        return body.compute("where", atoms, dtypes, result)
    yes, no = pairs_of(rest)
    return _chosen(body, condition, yes, no, result)


def _part(name: str) -> Make:
    read = operator.attrgetter(name)

    def make(body: RuleBody, args: Sequence[Element], dtypes: DTypes, result: np.dtype) -> Element:
        (x,) = pairs_of(args)
        found: Atom = read(x)
        return found

    return make


def _keeps_imaginary(types: Sequence[Type]) -> bool:
    """A cast that drops an imaginary part warns, and is NumPy's."""
    result = types[-1]
    return result.dtype in PART_DTYPES or result.dtype == BOOL


COMPLEX_RULES: dict[str, MadeRule] = {
    **{name: MadeRule(by_part(name)) for name in ("add", "subtract", "negative", "rint")},
    "multiply": MadeRule(_multiply, cost=6),
    "square": MadeRule(_square, cost=6),
    "divide": MadeRule(_divide, cost=36),
    "reciprocal": MadeRule(_reciprocal, cost=30),
    "positive": MadeRule(_identity, cost=0),
    "conjugate": MadeRule(_conjugate, cost=1),
    "absolute": MadeRule(_absolute, cost=24),
    **{
        name: MadeRule(_function(name), 2 * cost, bounded=True)
        for name, cost in COMPLEX_MATH_COSTS.items()
    },
    "copy": MadeRule(_identity, cost=0, typed=cast_types),
    "item": MadeRule(_identity, cost=0, typed=cast_types),
    "astype": MadeRule(_astype, typed=cast_types, supports=_keeps_imaginary),
    "where": MadeRule(_where, typed=where_types),
    "equal": MadeRule(equality("equal", "logical_and"), cost=3),
    "not_equal": MadeRule(equality("not_equal", "logical_or"), cost=3),
    **{
        name: MadeRule(_comparison(name), cost=12)
        for name in ("less", "less_equal", "greater", "greater_equal")
    },
    "maximum": MadeRule(_extreme("greater_equal", False), cost=12),
    "minimum": MadeRule(_extreme("less_equal", False), cost=12),
    "fmax": MadeRule(_extreme("greater_equal", True), cost=12),
    "fmin": MadeRule(_extreme("less_equal", True), cost=12),
    "isnan": MadeRule(_tested("isnan", "logical_or"), cost=3),
    "isinf": MadeRule(_tested("isinf", "logical_or"), cost=3),
    "isfinite": MadeRule(_tested("isfinite", "logical_and"), cost=3),
    **{
        name: MadeRule(_logical(name), cost=6)
        for name in ("logical_and", "logical_or", "logical_xor", "logical_not")
    },
    "real_number": MadeRule(_part("re"), cost=0, typed=cast_types),
    "imaginary_number": MadeRule(_part("im"), cost=0, typed=cast_types),
}
