"""Python's own numbers: ints of 64 bits, with the flag for all that Python does otherwise.

See Note [The flag of a model] and Note [Operators of Python numbers].
"""

from __future__ import annotations

import numpy as np

from fxc.ir.graph import Node
from fxc.ops.python_numbers import PYTHON_OPERATORS, stem

from . import arithmetic, elementary
from .arithmetic import Function, is_inf, is_nan, truth
from .emitter import OnnxEmitter, Write
from .kernels import FLOAT64, INT64
from .tensors import Tensor
from .writer import ModelWriter

_MOST = 2.0**63 - 2048  # a float below which all ints have 64 bits, with a margin for rounding


def _operands(w: ModelWriter, node: Node) -> list[Tensor]:
    """The operands in one dtype: that of the result, if it is a number."""
    found = [w.value(x) for x in node.args]
    result = node.output.type.dtype
    if result.kind in "if":
        return [w.cast(x, result) for x in found]
    kinds = {x.dtype.kind for x in found}
    if kinds == {"b"}:
        return found
    common = FLOAT64 if "f" in kinds else INT64
    return [w.cast(x, common) for x in found]


def _plain(function: Function) -> Write:
    return lambda w, node: w.cast(function(*_operands(w, node)), node.output.type.dtype)


def _checked(function: Function, fits: Function) -> Write:
    """An operator of ints that has to fit into 64 bits; of floats one that is always one."""

    def write(w: ModelWriter, node: Node) -> Tensor:
        operands = _operands(w, node)
        found = function(*operands)
        if found.dtype == INT64 and node.op.startswith("try_"):
            w.require(fits(found, *operands))
        return w.cast(found, node.output.type.dtype)

    return write


def _sum_fits(found: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return ((x ^ found) & (y ^ found)) >= 0


def _difference_fits(found: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return ((x ^ y) & (x ^ found)) >= 0


def _product_fits(found: Tensor, x: Tensor, y: Tensor) -> Tensor:
    quotient, rest = arithmetic.divided(found, y)
    is_least = y.equal(-1) & x.equal(-(2**63))
    return y.equal(0) | (quotient.equal(x) & rest.equal(0) & ~is_least)


def _is_not_least(found: Tensor, x: Tensor) -> Tensor:
    return ~x.equal(-(2**63))


def _divided(place: int) -> Write:
    def write(w: ModelWriter, node: Node) -> Tensor:
        x, y = _operands(w, node)
        if node.op.startswith("try_"):
            w.require(~y.equal(0))
            if x.dtype == INT64 and place == 0:
                w.require(~(y.equal(-1) & x.equal(-(2**63))))
        return arithmetic.divided(x, y)[place]

    return write


def _natural(place: int) -> Write:
    def write(w: ModelWriter, node: Node) -> Tensor:
        x, y = _operands(w, node)
        w.require((x >= 0) & (y > 0))
        return arithmetic.divided(x, y)[place]

    return write


def _true_quotient(w: ModelWriter, node: Node) -> Tensor:
    """Ints of more than 53 bits are not rounded as Python does it."""
    x, y = (w.value(each) for each in node.args)
    if x.dtype.kind != "f" and y.dtype.kind != "f":
        for each in (x, y):
            w.require(abs(w.cast(each, INT64)) <= 2**53)
    x, y = w.cast(x, FLOAT64), w.cast(y, FLOAT64)
    w.require(~y.equal(0))
    return x / y


def _power(w: ModelWriter, node: Node) -> Tensor:
    x, y = _operands(w, node)
    if x.dtype != INT64:
        found = elementary.power(x, y)
        _require_number(w, found, x, y)
        return found
    w.require(y >= 0)
    size = elementary.power(abs(w.cast(x, FLOAT64)), w.cast(y, FLOAT64))
    if node.op.startswith("try_"):
        w.require(size < _MOST)
    return arithmetic.int_power(x, y)


def _require_number(w: ModelWriter, found: Tensor, *operands: Tensor) -> None:
    """As functions of the C library report errors: neither nan nor infinity out of numbers."""
    is_error, is_too_large = is_nan(found), is_inf(found)
    for x in operands:
        is_error = is_error & ~is_nan(x)
        is_too_large = is_too_large & (abs(x) < np.inf)
    w.require(~(is_error | is_too_large))


def _left_shift(w: ModelWriter, node: Node) -> Tensor:
    x, y = _operands(w, node)
    found = arithmetic.left_shift(x, y)
    w.require(y >= 0)
    if node.op.startswith("try_"):
        w.require(x.equal(0) | (arithmetic.right_shift(found, y).equal(x) & (y < 64)))
    return found


def _right_shift(w: ModelWriter, node: Node) -> Tensor:
    x, y = _operands(w, node)
    if node.op.startswith("try_"):
        w.require(y >= 0)
    return arithmetic.right_shift(x, y)


def _to_int(function: Function) -> Write:
    def write(w: ModelWriter, node: Node) -> Tensor:
        x = w.value(node.args[0])
        if x.dtype.kind != "f":
            return w.cast(x, INT64)
        x = w.cast(x, FLOAT64)
        fits = abs(x) < 2.0**63
        if not node.op.startswith("py_"):
            w.require(fits)
        return w.cast(function(w.where(fits, x, 0.0)), INT64)

    return write


def _fit(w: ModelWriter, node: Node) -> Tensor:
    x, low, high = _operands(w, node)
    w.require((x >= low) & (x <= high))
    return x


def _demand(w: ModelWriter, node: Node) -> Tensor:
    holds = truth(w.value(node.args[0]))
    w.require(holds)
    return holds


def _bit_length(w: ModelWriter, node: Node) -> Tensor:
    size = abs(w.cast(w.value(node.args[0]), INT64))
    w.require(size >= 0)
    total = w.constant(0, INT64)
    for bits in (32, 16, 8, 4, 2, 1):
        high = arithmetic.right_shift(size, w.constant(bits, INT64))
        more = ~high.equal(0)
        total = total + w.where(more, w.constant(bits, INT64), 0)
        size = w.where(more, high, size)
    return total + w.cast(~size.equal(0), INT64)


def _larger(x: Tensor, y: Tensor) -> Tensor:
    return x.writer.where(y > x, y, x)


def _smaller(x: Tensor, y: Tensor) -> Tensor:
    return x.writer.where(y < x, y, x)


_ARITHMETIC: dict[str, Write] = {
    "add": _checked(lambda x, y: x + y, _sum_fits),
    "subtract": _checked(lambda x, y: x - y, _difference_fits),
    "multiply": _checked(lambda x, y: x * y, _product_fits),
    "divide": _true_quotient,
    "floor_divide": _divided(0),
    "remainder": _divided(1),
    "natural_quotient": _natural(0),
    "natural_remainder": _natural(1),
    "power": _power,
    "left_shift": _left_shift,
    "right_shift": _right_shift,
    "negative": _checked(lambda x: -x, _is_not_least),
    "absolute": _checked(abs, _is_not_least),
    "int": _to_int(arithmetic.trunc),
    "round": _to_int(arithmetic.rint),
    "fit": _fit,
    "demand": _demand,
    "and": _plain(lambda x, y: x & y),
    "or": _plain(lambda x, y: x | y),
    "xor": _plain(lambda x, y: x ^ y),
    "invert": _plain(lambda x: ~x),
    "not": lambda w, node: ~truth(w.value(node.args[0])),
    **{
        name: _plain(arithmetic.compared(name))
        for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
    },
    "root": _plain(arithmetic.sqrt),
    "maximum": _plain(_larger),
    "minimum": _plain(_smaller),
    "bit_length": _bit_length,
    "float": _plain(lambda x: x),
    "bool": lambda w, node: truth(w.value(node.args[0])),
}
_ROUNDED = frozenset({"power"})

# The functions of ``math`` by those of arrays that compute the same.
_MATH = {
    "atan": "arctan",
    "asinh": "arcsinh",
    "atan2": "arctan2",
    "asin": "arcsin",
    "acos": "arccos",
    "acosh": "arccosh",
    "fabs": "absolute",
    "degrees": "rad2deg",
    "radians": "deg2rad",
    "pow": "power",
}


def _of_math(name: str, fails: bool) -> Write:
    known = {**arithmetic.EXACT, **elementary.ROUNDED}
    function = known[_MATH.get(name, name)]

    def write(w: ModelWriter, node: Node) -> Tensor:
        operands = [w.cast(w.value(x), FLOAT64) for x in node.args]
        found = function(*operands)
        if fails:
            _require_number(w, found, *operands)
        return w.cast(found, node.output.type.dtype)

    return write


def _root(w: ModelWriter, node: Node) -> Tensor:
    """``math.isqrt``: what the float's root is off by is one at most."""
    x = w.cast(w.value(node.args[0]), INT64)
    w.require(x >= 0)
    root = w.cast(arithmetic.sqrt(w.cast(abs(x), FLOAT64)), INT64)
    root = w.where(root > 3037000499, 3037000499, root)
    root = w.where(root * root > x, root - 1, root)
    more = root + 1
    return w.where((more <= 3037000499) & (more * more <= x), more, root)


def _gcd(w: ModelWriter, node: Node) -> Tensor:
    x, y = (w.cast(w.value(each), INT64) for each in node.args)
    found = arithmetic.gcd(x, y)
    w.require(found >= 0)
    return found


_SPECIAL = {
    "math_floor": _to_int(arithmetic.floor),
    "math_ceil": _to_int(arithmetic.ceil),
    "math_isqrt": _root,
    "math_gcd": _gcd,
}


def _emitters() -> dict[str, OnnxEmitter]:
    found = {name: OnnxEmitter(write) for name, write in _SPECIAL.items()}
    known = {**arithmetic.EXACT, **elementary.ROUNDED}
    for name, (_, _, fails) in PYTHON_OPERATORS.items():
        kind = stem(name)
        inner = kind.removeprefix("math_")
        if kind.startswith("math_"):
            source = _MATH.get(inner, inner)
            if name not in found and source in known:
                exact = source in arithmetic.EXACT
                found[name] = OnnxEmitter(_of_math(inner, fails), exact=exact)
        elif kind in _ARITHMETIC:
            found[name] = OnnxEmitter(_ARITHMETIC[kind], exact=kind not in _ROUNDED)
    return found


EMITTERS = _emitters()
