"""Metas of operators with effects."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from fxc.ir.error_kinds import RANDOM
from fxc.ir.errors import uncapturable
from fxc.ir.graph import Literal
from fxc.ir.handles import HANDLE
from fxc.ir.size_functions import hint
from fxc.ir.types import ArrayType, ScalarType, Type

from ..effects import NUMBERS, caller, fresh_source
from .layout import fresh_strides
from .probing import Operand, kind_of_result, quietly, type_of
from .shapes import Shape


def draw(
    state: Operand,
    xs: tuple[Operand, ...],
    size: Shape | None,
    shape: Shape | None,
    call: str,
    source: str,
) -> tuple[Type, Type]:
    """The handle, and what a draw gives: asked of a generator of the same kind."""
    if any(type_of(x).dtype.kind not in NUMBERS for x in xs):
        raise uncapturable(RANDOM, "a draw for operands that are no numbers cannot be captured")
    sizes = None if size is None else tuple(hint(dim) for dim in size)
    found = _asked(call, source, tuple(map(_key, xs)), sizes)
    if shape is None or isinstance(found, ScalarType):
        return HANDLE, found
    if len(shape) != found.rank:
        raise uncapturable(RANDOM, f"a draw by {call} gives an array of rank {found.rank} here")
    return HANDLE, ArrayType(found.dtype, shape, fresh_strides(shape, found.dtype.itemsize))


def note(log: Operand, xs: tuple[Operand, ...], site: int) -> Type:
    """The handle."""
    return HANDLE


def clock(log: Operand, which: str) -> tuple[Type, Type]:
    """The handle, and what a clock shows: nanoseconds, or a float of seconds."""
    dtype = np.dtype(np.int64 if which.endswith("_ns") else np.float64)
    return HANDLE, ScalarType(dtype, weak=True)


# ---------------------------------------------------------------- samples

# An operand of a draw: the dtype, the shape or the kind, and the value of a literal.
_Key = tuple[np.dtype, "tuple[int, ...] | str", Any]
_FEW = 64  # elements of a draw to ask for


def _key(x: Operand) -> _Key:
    kind = type_of(x)
    if isinstance(x, Literal):
        return kind.dtype, "literal", x.value
    if isinstance(kind, ArrayType):
        return kind.dtype, tuple(hint(dim) for dim in kind.shape), None
    return kind.dtype, "weak" if kind.weak else "scalar", None


@lru_cache(maxsize=1024)
def _asked(call: str, source: str, keys: tuple[_Key, ...], size: tuple[int, ...] | None) -> Type:
    """The type of what a draw gives. The numbers that a distribution takes are not known: several
    are tried, and for ints also the sizes of arrays, as in ``g.choice(n, p=p)``.
    """
    made, error = caller(call, len(keys)), None
    for small in (True, False):
        asked = size
        if small and size is not None:
            asked = tuple(min(each, 2) for each in size)
        shapes = [_sample_shape(kind, small) for _, kind, _ in keys]
        counts = dict.fromkeys(shape[-1] for shape in shapes if shape)
        for number, fill in product((None, *counts), _FILLS):
            samples = [
                _sample(fill, place, key, shape, number)
                for place, (key, shape) in enumerate(zip(keys, shapes, strict=True))
            ]
            try:
                found = quietly(made, fresh_source(source), asked, *samples)
            except (ValueError, ZeroDivisionError) as problem:
                error = problem
                continue
            return kind_of_result(found, call)
    raise uncapturable(RANDOM, f"it is not known what a draw by {call} gives: {error}")


def _sample_shape(kind: tuple[int, ...] | str, small: bool) -> tuple[int, ...]:
    shape = kind if isinstance(kind, tuple) else ()
    return tuple(min(each, 2) for each in shape) if small and np.prod(shape) > _FEW else shape


def _sample(
    fill: Callable[[int, int], float],
    place: int,
    key: _Key,
    shape: tuple[int, ...],
    size: int | None,
) -> Any:
    """An operand of this kind; an int is the size, if there is one."""
    dtype, kind, value = key
    if kind == "literal":
        return value
    number = fill(place, max(shape[-1] if shape else 1, 1))
    if dtype.kind in "iu":
        number = max(1, int(number)) if size is None or shape else size
    if kind == "weak":
        return ScalarType(dtype, weak=True).python_type(number)
    return dtype.type(number) if kind == "scalar" else np.full(shape, number, dtype)


_FILLS: tuple[Callable[[int, int], float], ...] = (
    lambda place, count: 1,
    lambda place, count: 1 / count,
    lambda place, count: 0.5,
    lambda place, count: place + 1,
    lambda place, count: place + 2,
    lambda place, count: (place + 1) / 8,
)


METAS: dict[str, Callable[..., Any]] = {
    "draw": draw,
    "note": note,
    "clock": clock,
    "draw_": lambda *args: draw(*args)[1],
    "note_": lambda *args: (),
    "clock_": lambda *args: clock(*args)[1],
}
