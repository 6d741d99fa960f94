"""Powers by a small whole number of the program, as products.

The products of float64 are sums of two numbers, so the result is rounded once but for what that
loses. float32 is multiplied in float64, where so few products are as good as exact. Errors: below
0.51 ulp, or those of pow where float64 might overflow.
"""

from typing import Final

from .builder import Code, Value, copysign, fma, magnitude, pattern, where
from .power import pow

_SAFE: Final = 900  # powers of two: results in this range, and what they lack, are normal numbers
_ATTRIBUTES: Final = "noinline cold nounwind willreturn memory(none)"


def whole_power(code: Code, x: Value, exponent: int) -> Value:
    """x**exponent, for a whole number other than 0. Below 0.75 ulp."""
    if x.kind == "f32":
        power, _ = _product(x.widen(), abs(exponent), is_pair=False)
        return (power if exponent > 0 else 1.0 / power).narrow()
    most = 2.0 ** (_SAFE // abs(exponent))
    first = pattern(x.kind, 1.0 / most)
    unusual = (magnitude(x) - first).at_least_unsigned(pattern(x.kind, most) - first)
    if exponent > 0:
        unusual = unusual & x.differs(0.0)
    high, low = _product(where(unusual, 1.0, x), abs(exponent), is_pair=True)
    usual = copysign(high + low, high) if exponent > 0 else _reciprocal(high, low)
    return code.unless_rare(unusual, [usual], lambda: [_seldom(code, x, exponent)])[0]


def _product(x: Value, exponent: int, *, is_pair: bool) -> tuple[Value, Value]:
    """x**exponent, by squares, as a sum of two numbers; the second is 0 unless ``is_pair``."""
    high, low = x, x.code.constant(x.kind, 0.0)
    for bit in f"{exponent:b}"[1:]:
        for factor, is_square in ((high, True), (x, False))[: 1 + int(bit)]:
            product = high * factor
            if is_pair:
                lost = fma(high, factor, -product)
                low = fma(high + high if is_square else x, low, lost)
            high = product
    return high, low


def _reciprocal(high: Value, low: Value) -> Value:
    near = 1.0 / high
    return fma(near, fma(-low, near, fma(-high, near, 1.0)), near)


def _seldom(code: Code, x: Value, exponent: int) -> Value:
    """The power where it may overflow, or be 0 or nan: by a function of its own, for its length."""
    inner = Code(code.lanes, code.permutes)
    base, number = inner.argument(x.kind, "%x"), inner.argument(x.kind, "%y")
    label = f"fxc.seldom.pow.{x.kind}x{code.lanes}"
    power = pow(inner, base, number)
    code.declares |= inner.declares
    code.helpers |= inner.helpers
    code.helpers[label] = inner.function(label, (base, number), power, _ATTRIBUTES)
    return code.call(x.kind, f"@{label}", (x, code.constant(x.kind, float(exponent))))
