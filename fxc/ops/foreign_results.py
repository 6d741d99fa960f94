"""What calls of functions that fxc knows nothing of give, by kinds, dtypes and sizes.

See Note [Foreign calls].
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fxc.ir.dtypes import same_dtype
from fxc.ir.errors import a_kind
from fxc.ir.objects import C_ARRAY
from fxc.ir.records import frozen
from fxc.ir.types import (
    PYTHON_KINDS,
    ArrayType,
    ScalarType,
    Type,
    array_type,
    is_known,
    known_dtype,
    normal_strides,
    ordered_strides,
    stride_order,
)

if TYPE_CHECKING:
    from fxc.ir.taking import Looks, Sum


class Unlearnable(Exception):
    """Why the types of the results of a function cannot be learnt."""


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

    def look(self, looks: Looks, within: int, place: int) -> bool:
        """Look at what is in that place of a result; whether that is possible."""
        if self.kind == "fixed":
            looks.same(self.value, within, place)
        elif self.kind == "python":
            looks.number(_PYTHON_TYPE[self.dtype.kind], within, place)
        elif self.kind == "scalar":
            looks.number(self.dtype.type, within, place)
        else:
            flags, strides = (C_ARRAY, self.strides) if self.is_in_order else (0, self.strides)
            if not flags and not strides:
                if any(parts for _, parts in self.sizes):
                    return False
                shape = [number for number, _ in self.sizes]
                steps = ordered_strides(shape, self.order, self.dtype.itemsize)
                strides = tuple((step, ()) for step in steps if isinstance(step, int))
            looks.array(self.dtype, flags, within, place, sizes=self.sizes, strides=strides)
        return True

    @property
    def is_in_order(self) -> bool:
        """Whether an array is in C order."""
        return not self.strides and self.order == tuple(range(len(self.sizes)))

    def type(self, kinds: Sequence[Type]) -> Type:
        """The type, for the types of the operands."""
        if self.kind != "array":
            return ScalarType(self.dtype, weak=self.kind == "python")
        shapes = [kind.shape for kind in kinds]
        return ArrayType(self.dtype, self.shape(shapes), self.layout(shapes))


def order_of(part: np.ndarray) -> tuple[int, ...]:
    """The axes of an array from the outermost to the innermost in memory."""
    return stride_order(array_type(known_dtype(part.dtype), part.shape, part.strides))


def has_gaps(part: object) -> bool:
    """Whether a result is an array with gaps in memory, or one that runs backwards through it."""
    if not isinstance(part, np.ndarray) or not part.size:
        return False
    return part.strides != ordered_strides(part.shape, order_of(part), part.dtype.itemsize)


def _totals(sums: Sequence[Sum], shapes: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    return tuple(
        sum((times * shapes[place][axis] for place, axis, times in parts), start=number)
        for number, parts in sums
    )


@frozen
class Container:
    """The class of a result with several parts, and what those are: containers, or None for an
    array, a number or what is fixed.
    """

    kind: Any
    items: tuple[Container | None, ...]

    def made(self, parts: Iterator[Any]) -> Any:
        """One of these with the parts that come next."""
        items = [next(parts) if item is None else item.made(parts) for item in self.items]
        return getattr(self.kind, "_make", self.kind)(items)


def parts_of(found: object) -> tuple[Container | None, list[Any]]:
    """What a result with several parts is, and these; None and the result alone.

    Raises ``Unlearnable`` for what is made of other things than arrays and numbers.
    """
    parts: list[Any] = []
    container = parts_into(parts, found)
    if container is None:
        _check_part(found)
        return None, [found]
    for part in parts:
        if not isinstance(part, FIXED):
            _check_part(part)
    if len(parts) < 2 or all(isinstance(part, FIXED) for part in parts):
        raise Unlearnable("it gives a container of no or one array")
    return container, parts


def parts_into(parts: list[Any], found: object) -> Container | None:
    """What a result is made of, and its parts put into a list. Raises ``Unlearnable``."""
    if not isinstance(found, tuple | list):
        parts.append(found)
        return None
    kind = type(found)
    if kind not in (tuple, list) and not hasattr(kind, "_make"):
        raise Unlearnable(f"it gives {a_kind(found)}")
    return Container(kind, tuple([parts_into(parts, item) for item in found]))


FIXED = (bool, str, type(None))


def _check_part(part: object) -> None:
    if type(part) is np.ndarray or isinstance(part, np.generic):
        if is_known(part.dtype):
            return
        raise Unlearnable(f"it gives dtype {part.dtype}")
    if type(part) not in PYTHON_KINDS:
        raise Unlearnable(f"it gives {a_kind(part)}")


def is_like(part: object, result: Result, shapes: Sequence[Sequence[int]]) -> bool:
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
    strides = normal_strides(part.shape, part.strides, part.dtype.itemsize)
    return strides == result.layout(shapes)


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
