"""What calls of functions that fxc knows nothing of give, by kinds, dtypes and sizes.

See Note [Foreign calls].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fxc.ir.dtypes import same_dtype
from fxc.ir.errors import a_kind
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

    def condition(self, name: str, constant: Callable[[Any], str]) -> list[str]:
        """What has to hold of a result of that name; operands are ``v0``, ``v1`` and so on. Whether
        an array is in C order, if it shall be, is left to the caller.
        """
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
            return holds
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


def order_of(part: np.ndarray) -> tuple[int, ...]:
    """The axes of an array from the outermost to the innermost in memory."""
    return stride_order(array_type(known_dtype(part.dtype), part.shape, part.strides))


def has_gaps(part: object) -> bool:
    """Whether a result is an array with gaps in memory, or one that runs backwards through it."""
    if not isinstance(part, np.ndarray) or not part.size:
        return False
    return part.strides != ordered_strides(part.shape, order_of(part), part.dtype.itemsize)


# A number and multiples of sizes of operands, by operand and axis.
Sum = tuple[int, tuple[tuple[int, int, int], ...]]


def _totals(sums: Sequence[Sum], shapes: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    return tuple(
        sum((times * shapes[place][axis] for place, axis, times in parts), start=number)
        for number, parts in sums
    )


def _text_of(sums: Sequence[Sum]) -> str:
    """A tuple of sums as Python code; operands are ``v0``, ``v1`` and so on."""
    return f"({''.join(f'{_sum_text(*total)}, ' for total in sums)})"


def _sum_text(number: int, parts: tuple[tuple[int, int, int], ...]) -> str:
    terms = [f"{n} * " * (n != 1) + f"v{place}.shape[{axis}]" for place, axis, n in parts]
    return " + ".join([str(number)] * (number != 0 or not terms) + terms)


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
    container = _parts_into(parts, found)
    if container is None:
        _check_part(found)
        return None, [found]
    for part in parts:
        if not isinstance(part, FIXED):
            _check_part(part)
    if len(parts) < 2 or all(isinstance(part, FIXED) for part in parts):
        raise Unlearnable("it gives a container of no or one array")
    return container, parts


def _parts_into(parts: list[Any], found: object) -> Container | None:
    if not isinstance(found, tuple | list):
        parts.append(found)
        return None
    kind = type(found)
    if kind not in (tuple, list) and not hasattr(kind, "_make"):
        raise Unlearnable(f"it gives {a_kind(found)}")
    return Container(kind, tuple([_parts_into(parts, item) for item in found]))


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
