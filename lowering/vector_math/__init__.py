"""Transcendental functions as LLVM text, for vectors and scalars alike.

The kernel emitter calls `@fxc.exp.f64x8` and the like; `definitions` gives the internal functions
it then needs. They are straight-line polynomial code with fused multiply-adds, in float64 or
float32 arithmetic, that LLVM inlines into the loop; rare arguments branch to cold code. A lane's
bits do not depend on the lane count or on the other lanes. No fast-math flag is used.

Error bounds stand in the docstring of each function's builder and are tested. What NumPy does with
nan, infinities, signed zeros and arguments outside the domain, these functions do too.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from fxc.ir.records import frozen

from . import exponential, hyperbolic, inverse, logarithm, power, trigonometric
from .builder import Code, Value

__all__ = ["FUNCTIONS", "Definitions", "definitions", "symbol"]

_Unary = Callable[[Code, Value], Value]
_Binary = Callable[[Code, Value, Value], Value]

_UNARY: Final[Mapping[str, _Unary]] = {
    "exp": exponential.exp,
    "exp2": exponential.exp2,
    "expm1": exponential.expm1,
    "log": logarithm.log,
    "log2": logarithm.log2,
    "log10": logarithm.log10,
    "log1p": logarithm.log1p,
    "sin": trigonometric.sin,
    "cos": trigonometric.cos,
    "tan": trigonometric.tan,
    "sinh": hyperbolic.sinh,
    "cosh": hyperbolic.cosh,
    "tanh": hyperbolic.tanh,
    "arcsin": inverse.arcsin,
    "arccos": inverse.arccos,
    "arctan": inverse.arctan,
    "arcsinh": hyperbolic.arcsinh,
    "arccosh": hyperbolic.arccosh,
    "arctanh": hyperbolic.arctanh,
    "cbrt": power.cbrt,
}
_BINARY: Final[Mapping[str, _Binary]] = {
    "arctan2": inverse.arctan2,
    "hypot": power.hypot,
    "pow": power.pow,
}

FUNCTIONS: Final[Mapping[str, int]] = MappingProxyType(
    dict.fromkeys(_UNARY, 1) | dict.fromkeys(_BINARY, 2)
)
"""The functions there are, by name, with their number of arguments."""

_ATTRIBUTES: Final = "alwaysinline nounwind willreturn memory(none)"


@frozen
class Definitions:
    """LLVM text to put into a module: `declare` lines apart, since others may need them too."""

    declares: frozenset[str]
    text: str


def symbol(name: str, kind: str, lanes: int) -> str:
    """The function's name in LLVM, without the `@`: fxc.exp.f64x8, or fxc.exp.f64 for one lane."""
    return f"fxc.{name}.{kind}" if lanes == 1 else f"fxc.{name}.{kind}x{lanes}"


def definitions(names: Iterable[tuple[str, str, int]]) -> Definitions:
    """Definitions of these (function, 'f64' or 'f32', lanes) and of all that they call.

    Each is defined once, however often it is named; the order of the text is that of the names.
    """
    declares: set[str] = set()
    texts: dict[str, str] = {}
    for name in names:
        built = _built(*name)
        declares |= built.declares
        texts.update(built.texts)
    return Definitions(frozenset(declares), "\n".join(texts.values()))


@frozen
class _Built:
    declares: frozenset[str]
    texts: Mapping[str, str]


@cache
def _built(name: str, kind: str, lanes: int) -> _Built:
    code = Code(lanes)
    if name in _UNARY:
        x = code.argument(kind, "%x")
        parameters, result = [x], _UNARY[name](code, x)
    else:
        x, y = code.argument(kind, "%x"), code.argument(kind, "%y")
        parameters, result = [x, y], _BINARY[name](code, x, y)
    label = symbol(name, kind, lanes)
    text = code.function(label, parameters, result, _ATTRIBUTES)
    return _Built(frozenset(code.declares), code.helpers | {label: text})
