"""Transcendental functions as LLVM text, for vectors and scalars alike.

The kernel emitter calls `@fxc.exp.f64x8` and the like; `definitions` gives the internal functions
it then needs. They are straight-line polynomial code with fused multiply-adds, in float64 or
float32 arithmetic, that LLVM inlines into the loop; rare arguments branch to cold code. A lane's
bits do not depend on the lane count or on the other lanes. No fast-math flag is used.

Error bounds stand in the docstring of each function's builder and are tested. What NumPy does with
nan, infinities, signed zeros and arguments outside the domain, these functions do too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from fxc.ir.later import import_later
from fxc.ir.records import frozen

if TYPE_CHECKING:
    from .builder import Code, Value

    _Builder = Callable[..., Value | tuple[Value, ...]]

__all__ = [
    "EXACT",
    "FUNCTIONS",
    "MOST_OF_SINGLES",
    "PAIRS",
    "WHOLE_POWERS",
    "Definitions",
    "definitions",
    "pair_type",
    "symbol",
]

# See Note [Rooms with one door].
new_code = import_later("fxc.lowering.vector_math.builder", "Code")

# The functions by module, where their builders have the same names; imported when first used.
_MODULES: Final[Mapping[str, str]] = {
    "exponential": "exp exp2 exp10 expm1",
    "logarithm": "log log2 log10 log1p",
    "trigonometric": "sin cos tan",
    "hyperbolic": "sinh cosh tanh arcsinh arccosh arctanh",
    "inverse": "arcsin arccos arctan arctan2",
    "power": "cbrt hypot pow",
    "division": "fmod",
    "error_functions": "erf erfc erfcx ndtr log_ndtr",
    "logistic": "expit logit log_expit xlogy xlog1py entr rel_entr",
    "quantiles": "erfinv erfcinv ndtri",
    "gamma": "gamma gammaln",
    "bessel": "j0 j1",
    "complex_functions": "complex_exp complex_log complex_sqrt",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}

WHOLE_POWERS: Final[Mapping[int, str]] = MappingProxyType(
    {each: f"pow{each}" for each in (*range(-6, -1), *range(3, 13)) if each not in (9, 11)}
)
"""The functions of powers by these numbers. float32 has those whose products fit float64."""
MOST_OF_SINGLES: Final = 6

PAIRS: Final = frozenset(name for name in _MODULE_OF if name.startswith("complex_"))
"""Those that take a complex number, as two arguments, and give one, as a pair."""

_BINARY = PAIRS | {"arctan2", "fmod", "hypot", "pow", "xlogy", "xlog1py", "rel_entr"}

FUNCTIONS: Final[Mapping[str, int]] = MappingProxyType(
    {name: 2 if name in _BINARY else 1 for name in (*_MODULE_OF, *WHOLE_POWERS.values())}
)
"""The functions there are, by name, with their number of arguments."""

EXACT: Final = frozenset({"fmod"})
"""Those that give NumPy's bits."""

MOST_COPIES: Final = 16
MOST_LINES: Final = 1000  # of all copies of a function: LLVM takes 25 ms for them
_ATTRIBUTES: Final = "alwaysinline nounwind willreturn memory(none)"


@frozen
class Definitions:
    """LLVM text to put into a module: `declare` lines apart, since others may need them too."""

    declares: frozenset[str]
    text: str


def symbol(name: str, kind: str, lanes: int) -> str:
    """The function's name in LLVM, without the `@`: fxc.exp.f64x8, or fxc.exp.f64 for one lane."""
    return f"fxc.{name}.{kind}" if lanes == 1 else f"fxc.{name}.{kind}x{lanes}"


def pair_type(vector: str) -> str:
    """The LLVM type of what a function of complex numbers returns, given that of a part."""
    return f"{{ {vector}, {vector} }}"


def definitions(calls: Mapping[tuple[str, str, int], int], permutes: int = 0) -> Definitions:
    """Definitions of these (function, 'f64' or 'f32', lanes), each with the number of its calls,
    and of all that they call; the order of the text is that of the names. For ``permutes`` see
    ``Target``.

    What is long, for how often it is called, is not inlined.
    """
    declares: set[str] = set()
    texts: dict[str, str] = {}
    for name, count in calls.items():
        built, label = _built(*name, permutes), symbol(*name)
        declares |= built.declares
        texts.update(built.texts)
        lines = count * texts[label].count("\n")
        if count > MOST_COPIES or (count > 1 and lines > MOST_LINES):
            texts[label] = texts[label].replace("alwaysinline", "noinline", 1)
    return Definitions(frozenset(declares), "\n".join(texts.values()))


@frozen
class _Built:
    declares: frozenset[str]
    texts: Mapping[str, str]


@cache
def _built(name: str, kind: str, lanes: int, permutes: int) -> _Built:
    build = _builder(name)
    code: Code = new_code(lanes, permutes)
    parameters = [code.argument(kind, register) for register in ("%x", "%y")[: FUNCTIONS[name]]]
    label = symbol(name, kind, lanes)
    result = build(code, *parameters)
    if isinstance(result, tuple):
        result = _joined(code, result, kind)
    text = code.function(label, parameters, result, _ATTRIBUTES)
    return _Built(frozenset(code.declares), code.helpers | {label: text})


def _builder(name: str) -> _Builder:
    for exponent, each in WHOLE_POWERS.items():
        if each == name:
            return partial(_function("whole_powers", "whole_power"), exponent=exponent)
    return _function(_MODULE_OF[name], name)


def _function(module: str, name: str) -> _Builder:
    found: _Builder = getattr(import_module(f".{module}", __name__), name)
    return found


def _joined(code: Code, parts: tuple[Value, ...], kind: str) -> Value:
    pair = code.types["pair"] = pair_type(code.type(kind))
    first = code.emit("pair", f"insertvalue {pair} poison, {parts[0].typed}, 0")
    return code.emit("pair", f"insertvalue {first.typed}, {parts[1].typed}, 1")
