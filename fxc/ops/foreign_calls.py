"""Calls of functions that fxc knows nothing of, but that they only compute what they return."""

from __future__ import annotations

import pickle
import random
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from fxc.ir.asynchronous import NUMPYS_ERRORS, hand_on
from fxc.ir.errors import WouldRaise
from fxc.ir.graph import Literal
from fxc.ir.records import frozen
from fxc.ir.size_functions import hint
from fxc.ir.types import (
    DTYPE_NAMES,
    DTYPES_BY_NAME,
    PYTHON_KINDS,
    ArrayType,
    ScalarType,
    Type,
    array_type,
    is_known,
    normal_strides,
    ordered_strides,
    same_dtype,
    stride_order,
)

from .library import plain
from .table import TABLE, Operator, Row, Tag, row

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
# An operand that is given twice is one: functions ask ``y is x``. A method of an object that SciPy
# defines (``scipy.stats.norm.cdf``) is such a function, too.


class Unlearnable(Exception):
    """Why the types of the results of a function cannot be learnt."""


@frozen
class Hole:
    """The place of an operand among the arguments of a function."""

    operand: int


@frozen
class Result:
    """A result: its dtype, whether it is an array, NumPy's scalar or Python's (``kind``), and each
    of its sizes as a sum. A "fixed" one is a flag, a text or None, no result of an operator.
    ``strides`` are those of an array with gaps in memory: a slice, the real parts of numbers.
    """

    kind: str
    dtype: np.dtype
    sizes: tuple[Sum, ...]
    order: tuple[int, ...]
    value: Any = None
    strides: tuple[Sum, ...] = ()

    def shape(self, shapes: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
        """The shape, for the shapes of the operands."""
        return _totals(self.sizes, shapes)

    def layout(self, shapes: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
        """The strides, for the shapes of the operands."""
        if self.strides:
            return normal_strides(
                self.shape(shapes), _totals(self.strides, shapes), self.dtype.itemsize
            )
        return ordered_strides(self.shape(shapes), self.order, self.dtype.itemsize)

    def condition(self, name: str, constant: Callable[[Any], str]) -> list[str]:
        """What has to hold of a result of that name; operands are ``v0``, ``v1`` and so on."""
        if self.kind == "fixed":
            return [f"type({name}) is {constant(type(self.value))}", f"{name} == {self.value!r}"]
        if self.kind == "python":
            kind = _PYTHON_TYPE[self.dtype.kind]
            small = [f"{-(2**63)} <= {name} < {2**63}"] if kind is int else []
            return [f"type({name}) is {constant(kind)}", *small]
        if self.kind == "scalar":
            return [f"type({name}) is {constant(self.dtype.type)}"]
        dtype = constant(self.dtype)
        holds = [
            f"type({name}) is ndarray",
            f"({name}.dtype is {dtype} or {constant(same_dtype)}({name}.dtype, {dtype}))",
            f"{name}.shape == {_text_of(self.sizes)}",
        ]
        if self.strides:
            return [*holds, f"{name}.strides == {_text_of(self.strides)}"]
        if self.is_in_order:
            return [*holds, f"(flags := {name}.flags).c_contiguous"]
        return [*holds, f"{constant(self.has_order)}({name})"]

    @property
    def is_in_order(self) -> bool:
        """Whether an array is in C order."""
        return not self.strides and self.order == tuple(range(len(self.sizes)))

    def has_order(self, array: np.ndarray) -> bool:
        """Whether an array has the layout of the result."""
        return array.strides == ordered_strides(array.shape, self.order, array.dtype.itemsize)

    def type(self, kinds: Sequence[Type]) -> Type:
        """The type, for the types of the operands."""
        if self.kind != "array":
            return ScalarType(self.dtype, weak=self.kind == "python")
        shapes = [kind.shape for kind in kinds]
        return ArrayType(self.dtype, self.shape(shapes), self.layout(shapes))


# A number and multiples of sizes of operands, by operand and axis.
Sum = tuple[int, tuple[tuple[int, int, int], ...]]


def _totals(sums: Sequence[Sum], shapes: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    return tuple(
        sum((times * shapes[place][axis] for place, axis, times in parts), start=number)
        for number, parts in sums
    )


def _text_of(sums: Sequence[Sum]) -> str:
    """A tuple of sums as Python code; operands are ``v0``, ``v1`` and so on."""
    totals = [
        " + ".join([str(number), *(f"{n} * v{place}.shape[{axis}]" for place, axis, n in parts)])
        for number, parts in sums
    ]
    return f"({''.join(f'{total}, ' for total in totals)})"


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
        self.container: Any = None  # the class of a result with several parts
        self.results: tuple[Result, ...] = ()
        self.__name__ = getattr(function, "__name__", type(function).__name__)
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
        parts = [each.value if each.kind == "fixed" else next(rest) for each in self.results]
        return getattr(self.container, "_make", self.container)(parts)

    def __call__(self, *operands: Any) -> Any:
        run = self._run or self._prepared(operands)
        try:
            return run(*operands)
        except NUMPYS_ERRORS:
            raise
        except Exception as error:  # of a class of its own, see ``NUMPYS_ERRORS``
            hand_on(error)
            raise WouldRaise(f"{self.__name__} raises {error!r}") from error

    def _prepared(self, operands: Sequence[Any]) -> Callable[..., Any]:
        """What calls the function, from the first operands."""
        self._run = _written(self, [type(x) is np.ndarray for x in operands])
        return self._run

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
    return isinstance(kernel, ForeignCall) and kernel.gives_new


def _filled(x: Any, operands: Sequence[Any]) -> Any:
    """Arguments with operands in the holes; lists and dicts are new ones."""
    if type(x) is Hole:
        return operands[x.operand]
    if type(x) in (tuple, list):
        return type(x)([_filled(item, operands) for item in x])
    return x


def _written(call: ForeignCall, is_array: Sequence[bool]) -> Callable[..., Any]:
    """The function that calls and compares, as Python code: loops over operands and results would
    take as long as short calls.
    """
    constants: dict[str, Any] = {"function": call.function, "call": call, "ndarray": np.ndarray}
    constants["share"] = plain(np.may_share_memory)
    constant = partial(_constant, constants)
    names = ", ".join(f"v{place}" for place in range(len(is_array)))
    lines = [f"def run({names}):"]
    arrays = [f"v{place}" for place, found in enumerate(is_array) if found]
    for name in arrays:
        lines += [f"    {name} = {name}.view()", f"    {name}.setflags(write=False)"]
    lines.append(f"    found = {call_text(call, constants)}")
    parts = [f"p{place}" for place in range(len(call.results))]
    if call.container is None:
        lines.append("    p0 = found")
    else:
        kind = constant(call.container)
        several = f"type(found) is {kind} and len(found) == {len(parts)}"
        lines += [
            f"    if not ({several}): raise call.differs()",
            f"    {', '.join(parts)} = found",
        ]
    for part, result in zip(parts, call.results, strict=True):
        holds = result.condition(part, constant)
        if result.kind == "array":
            holds += [f"not share({part}, {other})" for other in arrays]
            arrays.append(part)
        lines.append(f"    if not ({' and '.join(holds)}): raise call.differs()")
        if result.kind == "array" and result.is_in_order:
            lines.append(f"    if not flags.carray: {part} = {part}.copy()")
    given = [part for part, each in zip(parts, call.results, strict=True) if each.kind != "fixed"]
    lines.append(f"    return {', '.join(given)}")
    exec("\n".join(lines), constants)
    found: Callable[..., Any] = constants["run"]
    return found


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


def _unwritable(x: object) -> Any:
    if not isinstance(x, np.ndarray):
        return x
    view = x.view()
    view.flags.writeable = False
    return view


def parts_of(found: object) -> tuple[Any, list[Any]]:
    """The class of a result with several parts, and these; None and the result alone.

    Raises ``Unlearnable`` for what is made of other things than arrays and numbers.
    """
    if not isinstance(found, tuple | list):
        _check_part(found)
        return None, [found]
    kind = type(found)
    if kind not in (tuple, list) and not hasattr(kind, "_make"):
        raise Unlearnable(f"it gives a {kind.__name__}")
    parts = list(found)
    for part in parts:
        if not isinstance(part, _FIXED):
            _check_part(part)
    if len(parts) < 2 or all(isinstance(part, _FIXED) for part in parts):
        raise Unlearnable("it gives a container of no or one array")
    return kind, parts


_FIXED = (bool, str, type(None))


def _check_part(part: object) -> None:
    if type(part) is np.ndarray or isinstance(part, np.generic):
        if is_known(part.dtype):
            return
        raise Unlearnable(f"it gives dtype {part.dtype}")
    if type(part) not in PYTHON_KINDS:
        raise Unlearnable(f"it gives a {type(part).__name__}")


def _is_like(part: object, result: Result, shapes: Sequence[Sequence[int]]) -> bool:
    """Whether a part is as learnt: its kind, dtype, shape and layout."""
    if type(part) is not np.ndarray:
        if result.kind == "fixed":
            return type(part) is type(result.value) and bool(part == result.value)
        if result.kind == "python":
            is_small = type(part) is not int or -(2**63) <= part < 2**63
            return type(part) is _PYTHON_TYPE[result.dtype.kind] and is_small
        return result.kind == "scalar" and type(part) is result.dtype.type
    if result.kind != "array" or not same_dtype(part.dtype, result.dtype):
        return False
    if part.shape != result.shape(shapes):
        return False
    if result.is_in_order:
        return bool(part.flags.c_contiguous)
    return part.strides == result.layout(shapes)


_PYTHON_TYPE = {"b": bool, "i": int, "f": float, "c": complex}


def share_memory(parts: Sequence[Any], operands: Sequence[Any]) -> bool:
    """Whether results share memory with operands or with one another."""
    arrays = [x for x in parts if isinstance(x, np.ndarray)]
    given = [x for x in operands if isinstance(x, np.ndarray)]
    return any(
        np.may_share_memory(array, other)
        for place, array in enumerate(arrays)
        for other in (*given, *arrays[:place])
    )


# ---------------------------------------------------------------- learning


_lock = threading.RLock()  # a function may call a compiled one
_known: dict[Any, ForeignCall | Unlearnable] = {}


def operator_of(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    kinds: Sequence[Type],
    varying: Sequence[Group],
) -> tuple[Operator, ForeignCall]:
    """The operator that means a call; ``varying`` are the sizes that may change, those of a group
    together.

    Raises ``Unlearnable``.
    """
    group_of = {each: number for number, group in enumerate(varying) for each in group}
    sizes = tuple(
        tuple(("size", group_of.get((place, axis), size)) for axis, size in enumerate(kind.shape))
        for place, kind in enumerate(kinds)
    )
    key = (id(function), tuple(map(len, varying)), sizes, looks_of(args, kwargs, kinds))
    with _lock:
        known = _known.get(key)
        if known is None:
            try:
                known = _learnt(function, args, kwargs, kinds, varying)
            except Unlearnable as reason:
                known = reason
            _known[key] = known  # which keeps the function, and its id with it
            _kept.append(function)
    if isinstance(known, Unlearnable):
        raise known
    if not known.holds:
        raise Unlearnable("what it gives depends on more than the types of its arguments")
    return operator_for(known, len(kinds)), known


def operator_for(call: ForeignCall, count: int) -> Operator:
    """The operator that means a call with so many operands."""
    return TABLE.adopt(call, lambda name: _row_of(call, name, count))


_kept: list[Any] = []
Group = tuple[tuple[int, int], ...]  # operands and axes


def _row_of(call: ForeignCall, name: str, count: int) -> Row:
    params = ", ".join(f"Array x{place}" for place in range(count))
    returns = ", ".join(["Array"] * call.width)
    result = returns if call.width == 1 else f"({returns})"
    return row(f"{name}({params}) -> {result}", Tag.OPAQUE, call, raises=True)


def looks_of(args: tuple[Any, ...], kwargs: dict[str, Any], kinds: Sequence[Type]) -> Any:
    """A key for arguments, and dtypes and layouts of operands."""
    looks = tuple(
        (kind.dtype, stride_order(kind) if isinstance(kind, ArrayType) else kind.weak)
        for kind in kinds
    )
    return key_of((args, tuple(sorted(kwargs.items())))), looks


def key_of(x: Any) -> Any:
    """A key for arguments; numbers of several types, or signs of zero, have several."""
    if type(x) in (tuple, list):
        return (type(x), *map(key_of, x))
    if isinstance(x, np.generic):
        return (type(x), x.tobytes())
    if type(x) in PYTHON_KINDS:
        return (type(x), repr(x))
    return (type(x), x)


def _learnt(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    kinds: Sequence[Type],
    varying: Sequence[Group],
) -> ForeignCall:
    call = ForeignCall(function, args, kwargs)
    shapes = [tuple(hint(dim) for dim in kind.shape) for kind in kinds]
    orders = [stride_order(kind) if isinstance(kind, ArrayType) else () for kind in kinds]
    call.container, parts = _sampled(call, kinds, shapes, orders)
    found = [_extent(part) for part in parts]
    multiples: list[list[dict[tuple[int, int], int]]] = [[{} for _ in extent] for extent in found]
    for group in varying:
        _, more = _sampled(call, kinds, _longer(shapes, [group]), orders)
        if [np.ndim(part) for part in more] != [np.ndim(part) for part in parts]:
            raise Unlearnable("the rank of what it gives depends on sizes")
        for part, extent, counts in zip(more, found, multiples, strict=True):
            for place, number in enumerate(_extent(part)):
                if number != extent[place]:
                    counts[place][group[0]] = number - extent[place]
    if isinstance(function, FunctionType) and type(parts[0]) is bool and len(parts) == 1:
        raise Unlearnable("it gives a bool, by which Python code decides")
    call.results = tuple(
        Result("fixed", np.dtype(bool), (), (), part)
        if len(parts) > 1 and isinstance(part, _FIXED)
        else _result(part, counts, shapes)
        for part, counts in zip(parts, multiples, strict=True)
    )
    if varying:  # are they multiples?
        longer = shapes
        for number, group in enumerate(varying):
            longer = _longer(longer, [group] * (number + 2))
        _, more = _sampled(call, kinds, longer, orders)
        if len(more) != len(parts) or not all(
            _is_like(part, result, longer) for part, result in zip(more, call.results, strict=True)
        ):
            raise Unlearnable("sizes of what it gives are no multiples of those of its operands")
    return call


def _longer(shapes: Sequence[tuple[int, ...]], groups: Sequence[Group]) -> list[tuple[int, ...]]:
    """Shapes in which each axis is longer by the number of groups that it is in."""
    return [
        tuple(
            size + sum((place, axis) in group for group in groups)
            for axis, size in enumerate(shape)
        )
        for place, shape in enumerate(shapes)
    ]


def _extent(part: object) -> tuple[int, ...]:
    """The sizes of an array and its strides."""
    return (*part.shape, *part.strides) if isinstance(part, np.ndarray) else ()


def _result(
    part: Any,
    multiples: Sequence[dict[tuple[int, int], int]],
    shapes: Sequence[tuple[int, ...]],
) -> Result:
    if type(part) in PYTHON_KINDS:
        return Result("python", np.dtype(PYTHON_KINDS[type(part)]), (), ())
    dtype = DTYPES_BY_NAME[DTYPE_NAMES[part.dtype]]
    if isinstance(part, np.generic):
        return Result("scalar", dtype, (), ())
    sums = []
    for number, counts in zip(_extent(part), multiples, strict=True):
        rest = number - sum(times * shapes[place][axis] for (place, axis), times in counts.items())
        parts = tuple((place, axis, times) for (place, axis), times in counts.items())
        sums.append((rest, parts))
    sizes, strides = tuple(sums[: part.ndim]), tuple(sums[part.ndim :])
    order = stride_order(array_type(dtype, part.shape, part.strides))
    has_gaps = part.size and part.strides != ordered_strides(part.shape, order, dtype.itemsize)
    return Result("array", dtype, sizes, order, strides=strides if has_gaps else ())


def _sampled(
    call: ForeignCall,
    kinds: Sequence[Type],
    shapes: Sequence[tuple[int, ...]],
    orders: Sequence[tuple[int, ...]],
) -> tuple[Any, list[Any]]:
    """What ``parts_of`` says of a result for samples, of the values that the function takes."""
    error: Exception | None = None
    found: tuple[Any, list[Any]] | None = None
    began = time.perf_counter()
    for values in _VALUES:
        if found is not None and time.perf_counter() - began > _LONG:
            break
        operands = [
            _sample(kind, shape, order, values)
            for kind, shape, order in zip(kinds, shapes, orders, strict=True)
        ]
        try:
            more = _sampled_once(call, operands, may_warn=values is not _regular)
        except Unlearnable:
            raise
        except Exception as raised:
            hand_on(raised)
            error = raised
            continue
        if found is None:
            found = more
        elif _looks(*found) != _looks(*more):
            raise Unlearnable("what it gives depends on more than the types of its arguments")
    if found is None:
        raise Unlearnable(f"it raises {type(error).__name__} for samples ({error})")
    return found


_LONG = 0.1  # seconds: a call that takes longer is not made again to learn more


def _sampled_once(
    call: ForeignCall, operands: Sequence[Any], may_warn: bool
) -> tuple[Any, list[Any]]:
    before = [bytes_of(x) for x in operands]
    began = time.perf_counter()
    with (
        without_draws(),
        warnings.catch_warnings(record=True) as warned,
        np.errstate(all="ignore"),
    ):
        warnings.simplefilter("always")
        found = call.call(operands)
        is_long = time.perf_counter() - began > _LONG
        again = found if is_long else call.call(operands)
    if warned and not may_warn:
        raise Unlearnable("it warns")
    if [bytes_of(x) for x in operands] != before:
        raise Unlearnable("it writes to its arguments")
    container, parts = parts_of(found)
    if share_memory(parts, operands):
        raise Unlearnable("what it gives shares memory")
    others = parts_of(again)[1]
    if [bytes_of(x) for x in parts] != [bytes_of(x) for x in others]:
        raise Unlearnable("it gives something else each time")
    if is_long:
        call.gives_new = False  # as far as is known
    elif any(share_memory((x,), others) for x in parts):
        raise Unlearnable("it gives an array that it keeps")
    return container, parts


def _looks(container: object, parts: Sequence[Any]) -> Any:
    """What is learnt of a result."""
    arrays = [(x.dtype, x.shape, x.strides) for x in parts if isinstance(x, np.ndarray)]
    return container, list(map(type, parts)), arrays


@contextmanager
def without_draws() -> Iterator[None]:
    """A block that shall not draw from the global generators of random numbers."""
    states = random.getstate(), np.random.get_state(legacy=False)
    yield
    if pickle.dumps(states) != pickle.dumps((random.getstate(), np.random.get_state(legacy=False))):
        random.setstate(states[0])
        np.random.set_state(states[1])
        raise Unlearnable("it draws random numbers")


def bytes_of(x: object) -> Any:
    """What is equal for equal arguments."""
    if isinstance(x, np.ndarray | np.generic):
        return x.dtype, x.tobytes()
    return repr(x)


def _regular(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Increasing numbers; matrices with as many rows as columns are well conditioned."""
    size = int(np.prod(shape))
    steps = np.arange(size)
    if dtype.kind == "b":
        return np.asarray(steps % 2 == 0).reshape(shape)
    if dtype.kind in "iu":
        return (steps % 100).astype(dtype).reshape(shape)
    values: np.ndarray = ((steps + 1) / (size + 1)).astype(dtype).reshape(shape)
    if len(shape) > 1 and shape[-1] == shape[-2]:
        values = values * dtype.type(0.1) + np.eye(shape[-1], dtype=dtype) * (shape[-1] + 1)
        values = values + np.swapaxes(values, -1, -2)
    return values


def _ones(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    return np.ones(shape, dtype)


def _zeros(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    return np.zeros(shape, dtype)


_VALUES = (_regular, _ones, _zeros)


def _sample(
    kind: Type,
    shape: tuple[int, ...],
    order: tuple[int, ...],
    values: Callable[[tuple[int, ...], np.dtype], np.ndarray],
) -> Any:
    made = values(shape, kind.dtype).astype(kind.dtype)
    if isinstance(kind, ScalarType):
        return kind.python_type(made[()]) if kind.weak else made[()]
    places = tuple(sorted(range(len(order)), key=lambda axis: order[axis]))
    laid_out = np.ascontiguousarray(made.transpose(order)).transpose(places) if order else made
    return _unwritable(laid_out)
