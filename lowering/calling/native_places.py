"""Where the elements of a view lie, as native functions for calls compute it.

See Note [Native calls].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fxc.ir.graph import SliceSpec
from fxc.ir.objects import ARRAY_DATA, ARRAY_DIMS, ARRAY_STRIDES
from fxc.ir.signature import ViewStep
from fxc.ir.symbols import Dim, counted_in, dims_in

from ..emission.object_code import Code


@dataclass
class NativePlace:
    """The first element, shape and strides of a view, in registers."""

    code: Code
    dim: Callable[[Dim], str]
    first: str
    shape: list[str]
    strides: list[str]

    @classmethod
    def of_array(cls, code: Code, dim: Callable[[Dim], str], array: str, rank: int) -> NativePlace:
        """That of an array."""
        shape, strides = (code.load("ptr", array, field) for field in (ARRAY_DIMS, ARRAY_STRIDES))
        return cls(
            code,
            dim,
            code.load("ptr", array, ARRAY_DATA),
            [code.load("i64", shape, 8 * axis) for axis in range(rank)],
            [code.load("i64", strides, 8 * axis) for axis in range(rank)],
        )

    def step(self, step: ViewStep) -> bool:
        """Go on to a view of this one, if that is known to be inside of it, as NumPy goes."""
        if any(map(counted_in, dims_in(step.args))):
            return False
        match step.op, step.args:
            case "slice", (parts,) if all(isinstance(part.step, int) for part in parts):
                for axis, part in enumerate(parts):
                    self._slice(axis, part)
            case "select", (int(axis), index):
                self._select(axis % len(self.shape), index)
            case "transpose", (order,):
                self._take([axis % len(self.shape) for axis in order])
            case "squeeze", (axes,):
                gone = {axis % len(self.shape) for axis in axes}
                self._take([axis for axis in range(len(self.shape)) if axis not in gone])
            case "expand_dims", (axes,):
                rank = len(self.shape) + len(axes)
                for axis in sorted(axis % rank for axis in axes):
                    self.shape.insert(axis, "1")
                    self.strides.insert(axis, "0")
            case _:
                return False
        return True

    def _take(self, axes: Sequence[int]) -> None:
        self.shape = [self.shape[axis] for axis in axes]
        self.strides = [self.strides[axis] for axis in axes]

    def _slice(self, axis: int, part: SliceSpec) -> None:
        """One without elements begins at the first element, and makes no steps."""
        op, start, stop, step = self.code.op, self.dim(part.start), self.dim(part.stop), part.step
        assert isinstance(step, int)
        low, high = (start, stop) if step > 0 else (stop, start)
        count = op(f"sub i64 {high}, {low}")
        if abs(step) > 1:
            more = op(f"add i64 {count}, {abs(step) - 1}")
            count = op(f"sdiv i64 {more}, {abs(step)}")
        some = op(f"icmp sgt i64 {count}, 0")
        self.shape[axis] = op(f"select i1 {some}, i64 {count}, i64 0")
        self._move(axis, op(f"select i1 {some}, i64 {start}, i64 0"))
        taken = op(f"select i1 {some}, i64 {step}, i64 1")
        self.strides[axis] = op(f"mul i64 {self.strides[axis]}, {taken}")

    def _select(self, axis: int, index: Dim) -> None:
        """An element of an axis; a number below 0 counts from its end."""
        op, at = self.code.op, self.dim(index)
        back = op(f"select i1 {op(f'icmp slt i64 {at}, 0')}, i64 {self.shape[axis]}, i64 0")
        self._move(axis, op(f"add i64 {at}, {back}"))
        self._take([other for other in range(len(self.shape)) if other != axis])

    def _move(self, axis: int, steps: str) -> None:
        offset = self.code.op(f"mul i64 {self.strides[axis]}, {steps}")
        self.first = self.code.op(f"getelementptr i8, ptr {self.first}, i64 {offset}")
