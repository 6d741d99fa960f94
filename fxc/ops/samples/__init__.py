"""Sample inputs of every operator: dtypes, layouts, overlaps.

``samples(op)`` gives canonical arguments on real arrays, each sample with arrays of its own, so
that an operator may write them. Regions are Python functions from a tuple to a tuple. What NumPy
refuses (a dtype without a loop, an unsafe cast in place) is left out. Samples follow by tag and
schema; the modules of this folder, named as those of the metas, have those that do not.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fxc.ir.errors import WouldRaise
from fxc.ir.records import frozen
from fxc.ir.schema import Param

from ..kernels import kernel_of
from ..operators import Operator, Tag
from ..table import TABLE
from . import (
    contractions,
    control,
    effects,
    factories,
    indexed,
    joins,
    library,
    pointwise,
    ufunc_methods,
    views,
    writes,
)
from .arguments import Make, Source, operands
from .arrays import BOOL, FLOAT64, filled

_BY_NAME: dict[str, Source] = {
    **pointwise.SAMPLES,
    **views.SAMPLES,
    **indexed.SAMPLES,
    **ufunc_methods.SAMPLES,
    **library.SAMPLES,
    **factories.SAMPLES,
    **joins.SAMPLES,
    **contractions.SAMPLES,
    **writes.SAMPLES,
    **control.SAMPLES,
    **effects.SAMPLES,
}


@frozen
class Sample:
    """Canonical arguments of one call, in the order of the schema."""

    args: tuple[Any, ...]


def samples(op: Operator) -> Iterator[Sample]:
    """Sample inputs of an operator, the same at each call."""
    for make in _candidates(op):
        if _runs(op, make):
            yield Sample(make())


def _runs(op: Operator, make: Make) -> bool:
    """Whether NumPy takes these arguments."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            kernel_of(op.name)(*make())
    except (TypeError, ValueError, IndexError, ArithmeticError, AttributeError, WouldRaise):
        return False
    return True


def _candidates(op: Operator) -> Iterator[Make]:
    base = TABLE[op.group]
    match op.role:
        case "inplace":
            yield from _in_place(base)
        case "out":
            yield from _with_out(base)
        case "scatter":
            yield from _scatters(base)
        case _:
            yield from _rows(base)


def _rows(op: Operator) -> Iterator[Make]:
    """Arguments of a row of the table, by its name or else by its tag."""
    own = _BY_NAME.get(op.name)
    if own is not None:
        yield from own()
        return
    values = [param for param in op.schema.params if param.is_value]
    rest = op.schema.params[len(values) :]
    for make in operands(len(values), scalars=op.tag is Tag.POINTWISE):
        rank = max((x.ndim for x in make() if isinstance(x, np.ndarray)), default=0)
        for attributes in itertools.product(*(_attribute(param, rank) for param in rest)):
            yield _with(make, attributes)


def _with(make: Make, attributes: Sequence[Any]) -> Make:
    return lambda: (*make(), *attributes)


def _attribute(param: Param, rank: int) -> list[Any]:
    """Values of a static parameter of an operator on arrays of this rank."""
    match param.kind, param.is_list:
        case "int", True:
            every: list[Any] = [None, (0,), (1,), tuple(range(rank))]
            return every if rank > 1 else every[: rank + 1]
        case "int", False if param.name == "axis":
            return [None, *range(rank)]
        case "bool", _:
            return [False, True]
        case "DType", _ if param.optional:
            return [None, FLOAT64]
        case "str", _ if param.name == "kind":
            return [None, "stable"]
        case "int", _:
            return [0, 1]
        case _:
            raise KeyError(f"no samples for a parameter {param}")


def _in_place(base: Operator) -> Iterator[Make]:
    """The arguments of the row, where the first is an array to write to."""
    for make in _rows(base):
        if isinstance(make()[0], np.ndarray):
            yield make


def _with_out(base: Operator) -> Iterator[Make]:
    """The arguments of the row with a fitting output: new, in Fortran order, or an operand."""
    for make in _rows(base):
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                result = np.asarray(kernel_of(base.name)(*make()))
        except Exception:  # NumPy refuses these arguments, and says why elsewhere
            continue
        yield _and_out(make, result, "C")
        if result.ndim == 2:
            yield _and_out(make, result, "F")
        first = make()[0]
        if isinstance(first, np.ndarray) and first.shape == result.shape:
            yield _into_first(make)


def _and_out(make: Make, result: np.ndarray, order: str) -> Make:
    def arguments() -> tuple[Any, ...]:
        return (*make(), _unlike(result, order))

    return arguments


def _unlike(result: np.ndarray, order: str) -> np.ndarray:
    """An array for this result, whose elements differ from it in every byte."""
    out = np.empty(result.shape, result.dtype, order)  # type: ignore[call-overload]
    flipped = np.frombuffer(result.tobytes(), np.uint8) ^ 255
    if result.dtype == BOOL:
        flipped &= 1
    out[...] = np.frombuffer(flipped.tobytes(), result.dtype).reshape(result.shape)
    return out  # type: ignore[no-any-return]


def _into_first(make: Make) -> Make:
    def arguments() -> tuple[Any, ...]:
        args = make()
        return (*args, args[0])

    return arguments


def _scatters(base: Operator) -> Iterator[Make]:
    """The arguments of the view, with a source of the view's shape, an array or a scalar."""
    for make in _rows(base):
        yield _with_source(make, base)


def _with_source(make: Make, base: Operator) -> Make:
    def arguments() -> tuple[Any, ...]:
        x, *rest = make()
        view = kernel_of(base.name)(x, *rest)
        return (x, filled(view.dtype, view.shape, shift=3), *rest)

    return arguments
