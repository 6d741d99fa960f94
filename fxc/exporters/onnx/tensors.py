"""What a model of ONNX is made of, and arithmetic that writes nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from fxc.ir.records import frozen

Number = bool | int | float | np.generic


@frozen(eq=False)
class OnnxCall:
    """One node of a model. Among ``attributes`` are sub-graphs, arrays (tensors) and dtypes."""

    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    place: str  # the line of the program


@frozen(eq=False)
class SubGraph:
    """A sub-graph: it may use tensors of the graphs around it by their names."""

    inputs: tuple[Tensor, ...]
    calls: tuple[OnnxCall, ...]
    outputs: tuple[Tensor, ...]


class Writes(Protocol):
    """What arithmetic needs of a writer."""

    def op(
        self, kind: str, inputs: Sequence[Tensor | None], dtype: np.dtype, **attributes: Any
    ) -> Tensor: ...

    def same(self, kind: str, *inputs: Tensor, **attributes: Any) -> Tensor: ...

    def compare(self, kind: str, x: Tensor, y: Tensor) -> Tensor: ...

    def where(self, condition: Tensor, x: Tensor | Number, y: Tensor | Number) -> Tensor: ...

    def choose(self, condition: Tensor, x: Tensor | Number, y: Tensor | Number) -> Tensor: ...

    def cast(self, x: Tensor, dtype: np.dtype) -> Tensor: ...

    def constant(self, value: object, dtype: np.dtype | None = None) -> Tensor: ...


class Tensor:
    """A tensor of a model by its name. Operators between tensors of one dtype write nodes.

    A number beside a tensor is a constant of its dtype. ``==`` is identity; ``x.equal(y)`` writes.
    ``unsigned_zeros`` says that no element is -0.0, see Note [Zeros with a sign].
    """

    __slots__ = ("dtype", "is_number", "name", "unsigned_zeros", "writer")

    def __init__(self, writer: Writes, name: str, dtype: np.dtype, is_number: bool) -> None:
        self.writer = writer
        self.name = name
        self.dtype = dtype
        self.is_number = is_number
        self.unsigned_zeros = dtype.kind != "f"

    def _like(self, other: Tensor | Number) -> Tensor:
        return other if isinstance(other, Tensor) else self.writer.constant(other, self.dtype)

    def __add__(self, other: Tensor | Number) -> Tensor:
        return self.writer.same("Add", self, self._like(other))

    def __radd__(self, other: Number) -> Tensor:
        return self._like(other) + self

    def __sub__(self, other: Tensor | Number) -> Tensor:
        return self.writer.same("Sub", self, self._like(other))

    def __rsub__(self, other: Number) -> Tensor:
        return self._like(other) - self

    def __mul__(self, other: Tensor | Number) -> Tensor:
        return self.writer.same("Mul", self, self._like(other))

    def __rmul__(self, other: Number) -> Tensor:
        return self._like(other) * self

    def __truediv__(self, other: Tensor | Number) -> Tensor:
        """Of floats; of integers the quotient is cut, and nobody looks for divisions by zero."""
        return self.writer.same("Div", self, self._like(other))

    def __rtruediv__(self, other: Number) -> Tensor:
        return self._like(other) / self

    def __neg__(self) -> Tensor:
        if self.dtype.kind == "u":
            return 0 - self
        return self.writer.same("Neg", self)

    def __abs__(self) -> Tensor:
        return self if self.dtype.kind in "bu" else self.writer.same("Abs", self)

    def __lt__(self, other: Tensor | Number) -> Tensor:
        return self.writer.compare("Less", self, self._like(other))

    def __le__(self, other: Tensor | Number) -> Tensor:
        return self.writer.compare("LessOrEqual", self, self._like(other))

    def __gt__(self, other: Tensor | Number) -> Tensor:
        return self.writer.compare("Greater", self, self._like(other))

    def __ge__(self, other: Tensor | Number) -> Tensor:
        return self.writer.compare("GreaterOrEqual", self, self._like(other))

    def equal(self, other: Tensor | Number) -> Tensor:
        return self.writer.compare("Equal", self, self._like(other))

    def _bits(self, logical: str, bitwise: str, *others: Tensor | Number) -> Tensor:
        kind = logical if self.dtype.kind == "b" else bitwise
        operands = (self, *map(self._like, others))
        return self.writer.op(kind, operands, self.dtype)

    def __and__(self, other: Tensor | Number) -> Tensor:
        return self._bits("And", "BitwiseAnd", other)

    def __or__(self, other: Tensor | Number) -> Tensor:
        return self._bits("Or", "BitwiseOr", other)

    def __xor__(self, other: Tensor | Number) -> Tensor:
        return self._bits("Xor", "BitwiseXor", other)

    def __invert__(self) -> Tensor:
        return self._bits("Not", "BitwiseNot")

    def cast(self, dtype: np.dtype) -> Tensor:
        return self.writer.cast(self, dtype)
