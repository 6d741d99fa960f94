"""Calls of functions that fxc knows nothing of, but that they only compute what they return."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from fxc.ir.asynchronous import NUMPYS_ERRORS, hand_on
from fxc.ir.errors import WouldRaise
from fxc.ir.graph import Literal
from fxc.ir.later import import_later
from fxc.ir.objects import C_ARRAY
from fxc.ir.records import frozen
from fxc.ir.types import ArrayType, Type

from .foreign_results import Container, Result, Unlearnable, is_like, parts_into, share_memory
from .foreign_ufuncs import is_numpys_ufunc
from .library import plain
from .operators import Operator, Row, Tag, row
from .table import TABLE

if TYPE_CHECKING:
    from fxc.ir.taking import Looks

# See Note [Rooms with one door].
new_looks = import_later("fxc.ir.taking", "Looks")
taker = import_later("fxc.ir.taking", "taker")

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

    def compared(self, found: object, *operands: Any) -> Any:
        """The results of the operator in what the function gives, compared with what was learnt. No
        array shares memory with an operand or with another one.
        """
        parts: list[Any] = []
        try:
            container = parts_into(parts, found) if self.container is not None else None
        except Unlearnable:
            raise self.differs() from None
        if container != self.container:
            raise self.differs()
        parts = parts if container is not None else [found]
        shapes = [np.shape(x) for x in operands]
        arrays = [x for x in parts if type(x) is np.ndarray]
        if (
            not all(map(is_like, parts, self.results, [shapes] * len(parts)))
            or any(x is y or x is getattr(y, "base", None) for x in arrays for y in operands)
            or len({*map(id, arrays)}) != len(arrays)
            or share_memory(parts, operands)
        ):
            raise self.differs()
        given = [
            part.copy()
            if type(part) is np.ndarray
            and result.is_in_order
            and part.flags.num & C_ARRAY != C_ARRAY
            else part
            for part, result in zip(parts, self.results, strict=True)
            if result.kind != "fixed"
        ]
        return given[0] if len(given) == 1 else tuple(given)

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
    """The function that calls and compares, as Python code: loops over operands would take as long
    as short calls.
    """
    writes_nothing = _writes_nothing(call)
    function = plain(call.function) if writes_nothing else call.function
    constants: dict[str, Any] = {"function": function, "call": call}
    looks = _looks(call)
    take = call.compared if looks is None else taker(looks, call.compared)
    constants |= {"numpys": NUMPYS_ERRORS, "take": take}
    places = range(len(call.takes_arrays))
    arrays = [place for place in places if call.takes_arrays[place]]
    lines = [f"def run({', '.join(f'v{place}' for place in places)}):"]
    if not writes_nothing:
        for place in arrays:
            lines += [f"    v{place} = v{place}[...]"]
            lines += [f"    v{place}.setflags(False)"]  # by its name it takes three times as long
    operands = "".join(f", v{place}" for place in places)
    lines += [
        f"    try: found = {call_text(call, constants)}",
        "    except numpys: raise",
        "    except Exception as error: raise call.raises(error) from error",
        f"    return take(found{operands})",
    ]
    exec("\n".join(lines), constants)
    found: Callable[..., Any] = constants["run"]
    return found


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


def _looks(call: ForeignCall) -> Looks | None:
    """What is looked at of a result, see Note [Taken results]; None if it is for Python."""
    looks: Looks = new_looks()
    results = iter(call.results)
    if call.container is None:
        return looks if next(results).look(looks, 0, -1) else None
    return looks if _look_within(call.container, looks, (0, -1), results) else None


def _look_within(
    container: Container, looks: Looks, at: tuple[int, int], results: Iterator[Result]
) -> bool:
    """Look at a container in that place, and at what is in it; whether that is possible."""
    number = looks.container(container.kind, len(container.items), *at)
    return all(
        next(results).look(looks, number, place)
        if item is None
        else _look_within(item, looks, (number, place), results)
        for place, item in enumerate(container.items)
    )


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
