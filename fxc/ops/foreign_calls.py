"""Calls of functions that fxc knows nothing of, but that they only compute what they return."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from fxc.ir.asynchronous import NUMPYS_ERRORS, hand_on
from fxc.ir.errors import WouldRaise
from fxc.ir.graph import Literal
from fxc.ir.objects import C_ARRAY, C_ORDER, HELD_ONCE, OWN_ARRAY, OWN_DATA
from fxc.ir.records import frozen
from fxc.ir.types import ArrayType, Type

from .foreign_results import Container, Result
from .foreign_ufuncs import is_numpys_ufunc
from .library import plain
from .operators import Operator, Row, Tag, row
from .table import TABLE

# Note [Foreign calls]
# A function of SciPy's is called as it is, from inside the graph. Nobody says what it gives: that
# is learnt. While the program is captured the function runs on samples: arrays of the operands'
# dtypes, shapes and layouts, with elements that most functions take. Where sizes are symbols it
# runs for several sizes, and each size of a result is taken to be a sum of multiples of them.
# What was learnt need not be true for other elements. So each call compares what it gives with
# that, and sends the whole call back to Python where they differ (Note [Raising ops]). From then
# on nothing is learnt of the function for these types: the guard ``holds`` of each compilation
# that relied on it fails, and the next capture refuses the call.
# This is right for functions whose only effect is what they return. Of a function that is said to
# be one it is looked at as far as can be seen: it is given arrays that cannot be written, samples
# are afterwards as they were, no result shares memory with an operand or with another result, both
# generators of global random numbers stand where they stood, and the same gives the same again, in
# another array: what it gives is then the graph's, without a copy.
# One that raises or gives None (``numpy.testing.assert_equal``) gives True; it sees no samples.
# An operand that is given twice is one: functions ask ``y is x``. A method of an object that SciPy
# defines (``scipy.stats.norm.cdf``) is such a function, too.


@frozen
class Hole:
    """The place of an operand among the arguments of a function."""

    operand: int


class ForeignCall:
    """A function with some of its arguments; the others are operands of an operator."""

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.gives_new = True  # arrays that nobody else has
        self.holds = True  # until a call has given something else than what was learnt
        self.container: Container | None = None  # of a result with several parts
        self.results: tuple[Result, ...] = ()
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self.takes_arrays: tuple[bool, ...] = ()  # by operands
        self._run: Callable[..., Any] | None = None

    @property
    def varying(self) -> list[Result]:
        """The results of the operator."""
        return [result for result in self.results if result.kind != "fixed"]

    @property
    def width(self) -> int:
        """How many results the operator has."""
        return len(self.varying)

    def made(self, values: Sequence[Any]) -> Any:
        """The function's result for those of the operator."""
        if self.container is None:
            return values[0]
        rest = iter(values)
        parts = (each.value if each.kind == "fixed" else next(rest) for each in self.results)
        return self.container.made(parts)

    def __call__(self, *operands: Any) -> Any:
        return self.kernel()(*operands)

    def kernel(self) -> Callable[..., Any]:
        """What calls the function and compares, without the way by ``__call__``."""
        if self._run is None:
            self._run = _written(self)
            self._run.gives_new = self.gives_new  # type: ignore[attr-defined]
        return self._run

    def raises(self, error: Exception) -> WouldRaise:
        """What is raised for an exception of a class of its own, see ``NUMPYS_ERRORS``."""
        hand_on(error)
        return WouldRaise(f"{self.__name__} raises {error!r}")

    def differs(self) -> WouldRaise:
        """What is raised where a result is none of the type that was learnt."""
        self.holds = False
        return WouldRaise(f"{self.__name__} gives something else than for samples")

    def call(self, operands: Sequence[Any]) -> Any:
        """What the function gives for operands."""
        options = {name: _filled(x, operands) for name, x in self.kwargs.items()}
        return self.function(*_filled(self.args, operands), **options)

    def meta(self, *kinds: Type | Literal) -> Type | tuple[Type, ...]:
        """The types of the results."""
        given = [x.type if isinstance(x, Literal) else x for x in kinds]
        found = tuple(result.type(given) for result in self.varying)
        return found[0] if len(found) == 1 else found


def gives_new(kernel: object) -> bool:
    """Whether the arrays that a kernel gives are the graph's, without a copy."""
    return bool(getattr(kernel, "gives_new", False))


def _filled(x: Any, operands: Sequence[Any]) -> Any:
    """Arguments with operands in the holes; lists and dicts are new ones."""
    if type(x) is Hole:
        return operands[x.operand]
    if type(x) in (tuple, list):
        return type(x)([_filled(item, operands) for item in x])
    return x


def _written(call: ForeignCall) -> Callable[..., Any]:
    """The function that calls and compares, as Python code: loops over operands and results would
    take as long as short calls.
    """
    writes_nothing = _writes_nothing(call)
    function = plain(call.function) if writes_nothing else call.function
    constants: dict[str, Any] = {"function": function, "call": call, "ndarray": np.ndarray}
    constants |= {"share": plain(np.may_share_memory), "numpys": NUMPYS_ERRORS}
    constants |= {"refs": sys.getrefcount, "few": HELD_ONCE}
    constant = partial(_constant, constants)
    places = range(len(call.takes_arrays))
    arrays = [place for place in places if call.takes_arrays[place]]
    lines = [f"def run({', '.join(f'v{place}' for place in places)}):"]
    if writes_nothing:
        given = [f"v{place}" for place in arrays]
    else:
        given = [f"g{place}" for place in arrays]
        for place in arrays:
            lines += [f"    g{place}, v{place} = v{place}, v{place}[...]"]
            lines += [f"    v{place}.setflags(False)"]  # by its name it takes three times as long
    lines += [
        f"    try: found = {call_text(call, constants)}",
        "    except numpys: raise",
        "    except Exception as error: raise call.raises(error) from error",
    ]
    parts = [f"p{place}" for place in range(len(call.results))]
    if call.container is None:
        lines.append("    p0 = found")
    else:
        lines += _taken_apart(call.container, "found", iter(parts), constant)
    lines += _compared(call, parts, [f"v{place}" for place in arrays], given, constant)
    varying = [part for part, each in zip(parts, call.results, strict=True) if each.kind != "fixed"]
    lines.append(f"    return {', '.join(varying)}")
    exec("\n".join(lines), constants)
    found: Callable[..., Any] = constants["run"]
    return found


def _taken_apart(
    container: Container, name: str, parts: Iterator[str], constant: Callable[[Any], str]
) -> Iterator[str]:
    """The code that gives each part of a result a name."""
    kind, count = constant(container.kind), len(container.items)
    several = f"type({name}) is {kind} and len({name}) == {count}"
    yield f"    if not ({several}): raise call.differs()"
    names, inner = list[str](), list[str]()
    for place, item in enumerate(container.items):
        if item is None:
            names.append(next(parts))
        else:
            names.append(f"{name}{place}")
            inner += _taken_apart(item, names[-1], parts, constant)
    yield f"    [{', '.join(names)}] = {name}"
    yield from inner


def _writes_nothing(call: ForeignCall) -> bool:
    """Whether a call leaves its arguments as they are by what it is: NumPy's functions write to
    nothing but ``out``, and do what else they are told by functions among their arguments.
    """
    function = plain(call.function)
    if is_numpys_ufunc(function):
        return True
    given = [*call.args, *call.kwargs.values()]
    module = getattr(function, "__module__", None) or ""
    is_numpys = module.partition(".")[0] == "numpy" and type(function) in _FUNCTIONS
    return is_numpys and not any(_may_call(each) for each in given)


_FUNCTIONS = (FunctionType, BuiltinFunctionType)


def _may_call(x: object) -> bool:
    if isinstance(x, tuple | list):
        return any(_may_call(each) for each in x)
    return not isinstance(x, Hole | int | float | complex | str | np.generic | np.dtype | None)


def _compared(
    call: ForeignCall,
    parts: Sequence[str],
    memory: Sequence[str],
    given: Sequence[str],
    constant: Callable[[Any], str],
) -> Iterator[str]:
    """The code that compares what was given with what was learnt. No result shares ``memory``, or
    is one of the arrays that the caller has ``given``.

    Mostly a result has memory of its own, or is a view of an array that has, and nobody else knows
    it: that takes less time than a look at all the others.
    """
    for part, result in zip(parts, call.results, strict=True):
        holds = result.condition(part, constant)
        yield f"    if not ({' and '.join(holds)}): raise call.differs()"
        if result.kind != "array":
            continue
        shared = [f"share({part}, {other})" for other in memory]
        same = [f"{part} is {other}" for other in given]
        wanted = OWN_ARRAY if result.is_in_order else OWN_DATA
        yield f"    n = {part}.flags.num"
        yield f"    if n & {wanted} != {wanted} or refs({part}) != few:"
        yield f"        b = {part}.base"
        own = f"type(b) is ndarray and b.flags.num & {OWN_DATA} and refs(b) == few"
        yield f"        if not ({own}):"
        yield f"            if {' or '.join(same + shared) or 'False'}: raise call.differs()"
        if result.is_in_order:
            yield f"        if not n & {C_ORDER}: raise call.differs()"
            yield f"        if n & {C_ARRAY} != {C_ARRAY}: {part} = {part}.copy()"
        given, memory = [*given, part], [*memory, part]


def _constant(constants: dict[str, Any], value: object) -> str:
    name = f"k{len(constants)}"
    constants[name] = value
    return name


def call_text(call: ForeignCall, constants: dict[str, Any]) -> str:
    """The call of ``function`` as Python code, with operands ``v0``, ``v1`` and so on."""

    def text(x: Any) -> str:
        if type(x) is Hole:
            return f"v{x.operand}"
        if type(x) in (tuple, list):
            items = "".join(f"{text(item)}, " for item in x)
            return f"({items})" if type(x) is tuple else f"[{items}]"
        return _constant(constants, x)

    given = [text(x) for x in call.args] + [f"{n}={text(x)}" for n, x in call.kwargs.items()]
    return f"function({', '.join(given)})"


def operator_for(call: ForeignCall, kinds: Sequence[Type]) -> Operator:
    """The operator that means a call with operands of these types."""
    call.takes_arrays = tuple(isinstance(kind, ArrayType) for kind in kinds)
    return TABLE.adopt(call, lambda name: _row_of(call, name, len(kinds)))


def _row_of(call: ForeignCall, name: str, count: int) -> Row:
    params = ", ".join(f"Array x{place}" for place in range(count))
    returns = ", ".join(["Array"] * call.width)
    result = returns if call.width == 1 else f"({returns})"
    return row(f"{name}({params}) -> {result}", Tag.OPAQUE, call, raises=True)
