"""Methods of NumPy's random generators that draw numbers by one function in C.

See Note [Native draws].
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Any

from fxc.ir.records import frozen

# Note [Native draws]
# A method that is given numbers looks at them, takes the lock of the bit generator, calls a
# function in C with a pointer into the generator, and makes an object of the number. Native code
# calls that function itself, on the caller's generator: there is no state but NumPy's.
# - An array of a ``size`` is filled in place: by the function for that if there is one, else by as
#   many calls, as NumPy does it. Very large ones are NumPy's: it lets other threads run meanwhile.
# - The table below says which function it is, and which arguments NumPy takes for certain. Others
#   (a scale below 0, nan) are left to the method, which raises what it raises.
# - ``RandomState`` has functions of its own, which its library does not export. They are written
#   down in LLVM's text, lowering/emission/legacy_draws.py.
# - The method takes a lock, since others hold it while they fill arrays without the GIL. Native
#   code has the GIL all the time, so it is enough that nobody holds the lock when it begins;
#   otherwise the method is called, and waits.
# - fxc/native/draws.py finds the functions and makes an adapter of each, which looks at all of
#   this, once in a process and when it is needed. Before the adapter is used it is tried beside the
#   method, numbers and states. If anything is missing or differs (another NumPy, another platform),
#   there is no adapter, and the method is called as always.
# - A function that has no other effects and is one piece of native code keeps the states of its
#   generators itself, a copy of the bytes of the bit generator on the stack, and brings them back
#   where it fails: it costs no more than 50 ns a call. Bit generators whose bytes are not all of
#   their state are kept by Python. An interrupted call leaves the states as they are.
# - What a function leaves in the processor's floating-point flags NumPy never tells of. They are
#   put back.


@frozen
class Real:
    """An argument that is a double, if it has bounds from ``least`` (not below 0) to ``most``."""

    name: str
    default: float | None = None
    least: float | None = None
    most: float = sys.float_info.max


@frozen
class Whole:
    """An argument that is an int of 64 bits, at least ``least``."""

    name: str
    default: int | None = None
    least: int = -(2**63)


@frozen
class Form:
    """How a method draws: the function in C, its arguments in the method's order. ``fill`` is the
    function that draws many numbers; without one there are as many calls.
    """

    source: str
    method: str
    function: str
    arguments: tuple[Real | Whole, ...] = ()
    result: str = "f8"
    options: str = ""  # what else stands in the call
    fill: str = ""

    @property
    def standard(self) -> str:
        """The function whose numbers are scaled, where one step of a generator makes them; or none.

        See Note [Quick draws].
        """
        kind = self.function.removeprefix("random_").removeprefix("standard_")
        is_quick = kind in ("uniform", "normal", "exponential") and self.source == "Generator"
        return f"random_standard_{kind}" if is_quick else ""

    @property
    def key(self) -> str:
        return f"{self.source}.{self.method}({self.options})"


_TINY = 5e-324
_LOC = Real("loc", 0.0)
_SCALE = Real("scale", 1.0, 0.0)
_LOW, _HIGH = Whole("low"), Whole("high")
_MOST_LAM = 1e18  # NumPy's own bound is a little above
_BOUNDED = "random_bounded_uint64_fill"


def _positive(name: str) -> Real:
    return Real(name, None, _TINY)


def _share(name: str, least: float = 0.0) -> Real:
    return Real(name, None, least, 1.0)


_BINOMIAL = (Whole("n", None, 0), _share("p"))
_UNIFORM = (Real("low", 0.0), Real("high", 1.0))
_POISSON = (Real("lam", 1.0, 0.0, _MOST_LAM),)
_GAMMA = (Real("shape", None, 0.0), _SCALE)
_LOGNORMAL = (Real("mean", 0.0), Real("sigma", 1.0, 0.0))


_FILLED = ("standard_uniform", "standard_normal", "standard_exponential")


def _bounded(source: str, method: str) -> tuple[Form, ...]:
    options = ("", "endpoint=True") if method == "integers" else ("",)
    return tuple(Form(source, method, _BOUNDED, (_LOW, _HIGH), "i8", each) for each in options)


def _of_generator(method: str, *arguments: Real | Whole, result: str = "f8") -> Form:
    name = "standard_uniform" if method == "random" else method
    fill = f"random_{name}_fill" if name in _FILLED else ""
    return Form("Generator", method, f"random_{name}", arguments, result, fill=fill)


def _of_state(method: str, function: str, *arguments: Real | Whole, result: str = "f8") -> Form:
    fill = "random_standard_uniform_fill" if function == "random_standard_uniform" else ""
    return Form("RandomState", method, function, arguments, result, fill=fill)


_FORMS = (
    _of_generator("random"),
    _of_generator("uniform", *_UNIFORM),
    _of_generator("standard_normal"),
    _of_generator("normal", _LOC, _SCALE),
    _of_generator("lognormal", *_LOGNORMAL),
    _of_generator("standard_exponential"),
    _of_generator("exponential", _SCALE),
    _of_generator("standard_gamma", _GAMMA[0]),
    _of_generator("gamma", *_GAMMA),
    _of_generator("beta", _positive("a"), _positive("b")),
    _of_generator("chisquare", _positive("df")),
    _of_generator("f", _positive("dfnum"), _positive("dfden")),
    _of_generator("noncentral_chisquare", _positive("df"), Real("nonc", None, 0.0)),
    _of_generator("noncentral_f", _positive("dfnum"), _positive("dfden"), Real("nonc", None, 0.0)),
    _of_generator("standard_cauchy"),
    _of_generator("standard_t", _positive("df")),
    _of_generator("vonmises", Real("mu"), Real("kappa", None, 0.0)),
    _of_generator("pareto", _positive("a")),
    _of_generator("weibull", Real("a", None, 0.0)),
    _of_generator("power", _positive("a")),
    _of_generator("laplace", _LOC, _SCALE),
    _of_generator("gumbel", _LOC, _SCALE),
    _of_generator("logistic", _LOC, _SCALE),
    _of_generator("rayleigh", _SCALE),
    _of_generator("wald", _positive("mean"), _positive("scale")),
    _of_generator("binomial", *_BINOMIAL, result="i8"),
    _of_generator("poisson", *_POISSON, result="i8"),
    _of_generator("geometric", _share("p", _TINY), result="i8"),
    *_bounded("Generator", "integers"),
    _of_state("random", "random_standard_uniform"),
    _of_state("random_sample", "random_standard_uniform"),
    _of_state("uniform", "random_uniform", *_UNIFORM),
    _of_state("laplace", "random_laplace", _LOC, _SCALE),
    _of_state("gumbel", "random_gumbel", _LOC, _SCALE),
    _of_state("logistic", "random_logistic", _LOC, _SCALE),
    _of_state("standard_normal", "legacy_gauss"),
    _of_state("normal", "legacy_normal", _LOC, _SCALE),
    _of_state("lognormal", "legacy_lognormal", *_LOGNORMAL),
    _of_state("standard_exponential", "legacy_standard_exponential"),
    _of_state("exponential", "legacy_exponential", _SCALE),
    _of_state("standard_gamma", "legacy_standard_gamma", _GAMMA[0]),
    _of_state("gamma", "legacy_gamma", *_GAMMA),
    _of_state("chisquare", "legacy_chisquare", _positive("df")),
    _of_state("binomial", "random_binomial", Whole("n", None, 1), _share("p", _TINY), result="i8"),
    _of_state("poisson", "random_poisson", *_POISSON, result="i8"),
    *_bounded("RandomState", "randint"),
)
FORMS: Mapping[str, Form] = {form.key: form for form in _FORMS}

_CALL = r"g\.(\w+)\((.*)\)"
_USUAL = frozenset({"dtype='int64'", "endpoint=False"})


def form_of(source: str, call: str, xs: tuple[Any, ...]) -> tuple[Form, tuple[Any, ...]] | None:
    """How the draw ``call`` of Note [Operators with effects] is made natively, and the arguments
    in order; None if it is not.
    """
    found = re.fullmatch(_CALL, call)
    if found is None:
        return None
    method, given = found[1], [each for each in found[2].split(", ") if each]
    operands = {f"x{place}": x for place, x in enumerate(xs)}
    options = [each for each in given if each not in _USUAL and each.startswith("endpoint=")]
    apart = {*_USUAL, *options, "size", "size=size"}
    given = [each for each in given if each not in apart]
    form = FORMS.get(f"{source}.{method}({', '.join(options)})")
    if form is None:
        return None
    values: dict[str, Any] = {}
    names = [each.name for each in form.arguments]
    for place, text in enumerate(given):
        name, _, value = text.rpartition("=")
        name = name or (names[place] if place < len(names) else "")
        if name not in names or value not in (*operands, "None"):
            return None
        if value != "None":
            values[name] = operands[value]
    if form.function == _BOUNDED and "high" not in values and "low" in values:
        values = {"low": 0, "high": values["low"]}
    arguments = []
    for each in form.arguments:
        value = values.get(each.name, each.default)
        if value is None:
            return None
        arguments.append(value)
    return form, tuple(arguments)
