"""Writing one graph: what each value of it is in the module, and what all emitters need."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fxc.ir.evaluate import symbols_bound_by
from fxc.ir.graph import Literal, Node, Operand, Region, Value
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, Type

from . import casts
from .builder import BOOL, I64, Block, Builder, Val, separated, signature_of
from .problems import Unsayable
from .sizes import Range, TensorSizes
from .text import identifier


class Emission:
    """The module so far: ``values`` are those of the graph that are in it."""

    def __init__(self, known: Mapping[str, int]) -> None:
        self.b = Builder()
        self.sizes = TensorSizes(self.b, known)
        self.values: dict[Value, Val] = {}
        self.ranges: dict[Value, Range] = {}  # of Python ints, as far as they are known
        self.functions: dict[str, Block] = {}

    # ------------------------------------------------------------ operands

    def read(self, operand: Operand) -> Val:
        """The tensor of an operand."""
        if isinstance(operand, Literal):
            return self.b.scalar(operand.value, operand.type.dtype)
        return self.values[operand]

    def held(self, kind: Type) -> tuple[Dim, ...]:
        """The sizes of a tensor for a value of this type. See Note [Held sizes]."""
        return self.sizes.held_shape(kind.shape)

    def cast(self, operand: Operand, dtype: np.dtype) -> Val:
        """An operand as another dtype, as NumPy casts it."""
        if isinstance(operand, Literal):
            with np.errstate(all="ignore"):
                return self.b.constant(np.asarray(operand.value).astype(dtype))
        return casts.cast(self, self.values[operand], dtype)

    def spread(self, operand: Operand, dtype: np.dtype, kind: Type) -> Val:
        """An operand as ``dtype``, broadcast to the shape of ``kind``."""
        shape = self.held(kind)
        if isinstance(operand, Literal):
            return self.full(operand.value, dtype, shape)
        return self.broadcast(self.cast(operand, dtype), shape)

    def full(self, value: Any, dtype: np.dtype, shape: Sequence[Dim]) -> Val:
        """A tensor of one number."""
        with np.errstate(all="ignore"):
            one = np.asarray(value).astype(dtype)
        if all(isinstance(dim, int) for dim in shape):
            return self.b.constant(np.broadcast_to(one, tuple(map(int, shape))))  # type: ignore[arg-type]
        made = self.broadcast(self.b.constant(one), shape)
        made.known = one[()]
        return made

    def like(self, x: Val, value: Any, dtype: np.dtype | None = None) -> Val:
        """A number in a tensor of the shape of ``x``."""
        return self.full(value, x.dtype if dtype is None else dtype, x.shape)

    # ------------------------------------------------------------ shapes

    def broadcast(self, x: Val, shape: Sequence[Dim], dims: Sequence[int] | None = None) -> Val:
        """``x`` in a larger shape: its axes become ``dims`` of it, else the last ones."""
        if dims is None:
            drop = x.rank - len(shape)
            if drop > 0:  # axes of size 1 in front, which assignment drops
                x = self.reshape(x, x.shape[drop:])
            dims = range(len(shape) - x.rank, len(shape))
        x = self.fitted(x, [shape[d] if x.shape[a] != 1 else 1 for a, d in enumerate(dims)])
        wanted = Val(x.dtype, shape)
        if wanted.type == x.type:
            return x
        rest = f"dims = {list(dims)}"
        if all(isinstance(dim, int) for dim in shape):
            return self.b.op("broadcast_in_dim", [x], x.dtype, shape, rest)
        sizes = self.sizes.shape(shape)
        return self.b.op("dynamic_broadcast_in_dim", [x, sizes], x.dtype, shape, rest)

    def fitted(self, x: Val, shape: Sequence[Dim]) -> Val:
        """The first elements along each axis, or more than there are: see Note [Held sizes]."""
        if all(
            have == want or not (isinstance(have, int) and isinstance(want, int))
            for have, want in zip(x.shape, shape, strict=True)
        ):
            return x
        high = [
            want - have if isinstance(have, int) and isinstance(want, int) else 0
            for have, want in zip(x.shape, shape, strict=True)
        ]
        return self.pad(x, [0] * x.rank, high)

    def pad(
        self, x: Val, low: Sequence[int], high: Sequence[int], inner: Sequence[int] | None = None
    ) -> Val:
        """Zeros around an array, and between its elements."""
        inner = [0] * x.rank if inner is None else inner
        if not any((*low, *high, *inner)):
            return x
        shape = [
            size + (0 if size == 0 else (size - 1) * gap) + before + after
            for size, before, after, gap in zip(x.shape, low, high, inner, strict=True)
        ]
        rest = f"low = {list(low)}, high = {list(high)}, interior = {list(inner)}"
        return self.b.op("pad", [x, self.b.scalar(0, x.dtype)], x.dtype, shape, rest)

    def reshape(self, x: Val, shape: Sequence[Dim]) -> Val:
        """The elements of ``x`` in C order as another shape."""
        if Val(x.dtype, shape).type == x.type and tuple(shape) == x.shape:
            return x
        if all(isinstance(dim, int) for dim in shape):
            return self.b.op("reshape", [x], x.dtype, shape)
        return self.b.op("dynamic_reshape", [x, self.sizes.shape(shape)], x.dtype, shape)

    def transpose(self, x: Val, axes: Sequence[int]) -> Val:
        """The axes in another order."""
        if list(axes) == list(range(x.rank)):
            return x
        shape = [x.shape[axis] for axis in axes]
        return self.b.op("transpose", [x], x.dtype, shape, f"dims = {list(axes)}")

    def iota(self, shape: Sequence[Dim], axis: int, dtype: np.dtype = I64) -> Val:
        """The place along an axis, everywhere."""
        if all(isinstance(dim, int) for dim in shape):
            return self.b.op("iota", [], dtype, shape, f"dim = {axis}")
        sizes = self.sizes.shape(shape)
        return self.b.op("dynamic_iota", [sizes], dtype, shape, f"dim = {axis}")

    def call(
        self, name: str, xs: Sequence[Val], like: Sequence[Val], body: Callable[..., Sequence[Val]]
    ) -> list[Val]:
        """A call of a function of the module: one for each of the types that it is called with."""
        name = identifier("_".join([name, *(re.sub(r"\W", "", x.type) for x in xs)]))
        if name not in self.functions:
            outer, self.b.blocks = self.b.blocks, []
            params = [Val(x.dtype, x.shape) for x in xs]
            with self.b.block(params) as made:
                self.b.give(body(*params), "return")
            self.functions[name] = made
            self.b.blocks = outer
        results = [Val(x.dtype, x.shape) for x in like]
        head = (*separated(results), f" = func.call @{name}(", *separated(xs))
        self.b.line(*head, f") : {signature_of(xs, results)}")
        return results

    # ------------------------------------------------------------ what is nobody's

    def changing(self, kind: Type) -> list[int]:
        """The axes whose size changes. See Note [Held sizes]."""
        return [axis for axis, dim in enumerate(kind.shape) if self.sizes.changes(dim)]

    def present(self, kind: Type, shape: Sequence[Dim], axes: Sequence[int]) -> Val | None:
        """Where in a tensor there are elements of the value; None if they are everywhere."""
        found: Val | None = None
        for axis in axes:
            if self.sizes.changes(kind.shape[axis]):
                places = self.iota(shape, axis)
                size = self.broadcast(self.sizes.value(kind.shape[axis]), shape)
                here = self.b.compare("LT", places, size)
                found = here if found is None else self.b.same("and", found, here)
        return found

    def filled(self, x: Val, kind: Type, axes: Sequence[int], value: Any) -> Val:
        """``x`` with a number for what is nobody's along these axes."""
        here = self.present(kind, x.shape, axes)
        return x if here is None else self.b.select(here, x, self.like(x, value))

    # ------------------------------------------------------------ numbers

    def truth(self, x: Val) -> Val:
        """``bool(x)`` of each element."""
        return x if x.dtype == BOOL else self.b.compare("NE", x, self.like(x, 0))

    def bind(self, value: Value, held: Val, within: Range | None = None) -> None:
        """Let a tensor stand for a value of the graph, and for the symbols that it binds."""
        self.values[value] = held
        kind = value.type
        if within is not None:
            self.ranges[value] = within
        if isinstance(kind, ArrayType):
            return
        for name in symbols_bound_by(value):
            self.sizes.values[name] = lambda: held
            if within is not None:
                self.sizes.ranges[name] = within

    def range_of(self, operand: Operand) -> Range:
        """The least and greatest number that a Python int can be."""
        if isinstance(operand, Literal):
            return int(operand.value.real), int(operand.value.real)
        return self.ranges.get(operand, (-(2**62), None))

    # ------------------------------------------------------------ names

    def params(self, region: Region) -> list[Val]:
        """Tensors for the parameters of a region."""
        return [Val(p.type.dtype, self.held(p.type), identifier(p.name)) for p in region.params]

    def named(self, node: Node, results: Sequence[Val]) -> None:
        """Let new tensors have the names of what they stand for."""
        for value, found in zip(node.outputs, results, strict=True):
            wanted = self.held(value.type)
            if found.dtype != value.type.dtype or len(wanted) != found.rank:
                raise Unsayable(f"it has become {found.type}, its type says {value.type}")
            if found.name is None:
                found.name = identifier(value.name)
            self.values[value] = found
