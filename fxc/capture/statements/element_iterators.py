"""``np.nditer`` and ``np.broadcast``: checks of arguments, and classes that are staged for them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from fxc.ir.error_kinds import ITERATOR
from fxc.ir.size_guards import guard
from fxc.ir.types import ArrayType
from fxc.ops.metas.layout import is_c_ordered
from fxc.ops.metas.shapes import broadcast_shapes, same_shape

from ..arrays.shaping import broadcast_to
from ..numbers.dims import dims_of
from ..numbers.traced_int import wrap_dim
from ..regions.needed import StatementDoor
from ..session.locations import as_programs
from ..session.refusing import refuse
from ..values.operands import array_value, taken_for, wrap

# Note [Elements in turn]
# An ``np.nditer`` of arrays in C order goes through them in C order. It is an object of the
# program: its counter is an attribute that loops carry, and what it gives are views without axes.
# ``while not it.finished`` and ``for x in it`` end in states of their own, so that a program that
# does both is refused. So are what has buffers, casts, or chunks (``external_loop``).

_FLAGS = frozenset({"multi_index", "c_index", "refs_ok", "zerosize_ok"})
_WRITTEN = {"readonly": False, "readwrite": True, "writeonly": True}


def element_iterator(
    door: StatementDoor,
    op: Any,
    flags: Any = None,
    op_flags: Any = None,
    order: object = "K",
    **options: object,
) -> Any:
    """``np.nditer(op, flags, op_flags, order=order)``. Raises ``CaptureError`` for others."""
    is_one = not isinstance(op, list | tuple)
    ops = (op,) if is_one else op
    given, written = [array_value(x) for x in ops if x is not None], _written(op_flags, ops)
    dtypes = {x.type.dtype for x in given}
    is_usual = order in ("K", "C") and _FLAGS.issuperset(flags or ()) and not options
    can_make = len(dtypes) == 1 or len(given) == len(ops)
    if not is_usual or written is None or not can_make:
        raise refuse(ITERATOR, "np.nditer with these options", "loop over np.ndindex(x.shape)")
    if not all(isinstance(x.type, ArrayType) and is_c_ordered(x.type) for x in given):
        raise refuse(ITERATOR, "np.nditer of an array that is not in C order", "copy it first")
    shape = broadcast_shapes(*(x.type.shape for x in given))
    if not all(guard(dim, ">", 0) for dim in shape):
        raise refuse(ITERATOR, "np.nditer of an array without elements")
    sizes = tuple(map(wrap_dim, shape))
    made = [door.call(np.empty, sizes, *dtypes) if x is None else x for x in ops]
    operands = (_operand(x, sizes, to) for x, to in zip(made, written, strict=True))
    return door.call(ElementsInTurn, tuple(operands), sizes, frozenset(flags or ()), is_one)


def _operand(x: object, sizes: tuple[Any, ...], is_written: bool) -> Any:
    """An operand of this shape: the array itself, or a view to read."""
    value = array_value(x)
    if not is_written:
        return broadcast_to(wrap(value), sizes)
    kind = value.type
    assert isinstance(kind, ArrayType)
    if not (same_shape(kind.shape, dims_of(sizes)) and kind.writeable):
        raise refuse(ITERATOR, "np.nditer that writes to what is broadcast or read-only")
    return wrap(value)


def _written(op_flags: Any, ops: Sequence[object]) -> list[bool] | None:
    """Of each operand whether it may be written to; None if flags ask for something else."""
    if op_flags is None:
        return [x is None for x in ops]
    each = op_flags if all(isinstance(x, list | tuple) for x in op_flags) else [op_flags] * len(ops)
    if len(each) != len(ops):
        return None
    found = []
    for x, flags in zip(ops, each, strict=True):
        ways = set(flags) - ({"allocate"} if x is None else set())
        if len(ways) != 1 or not ways <= _WRITTEN.keys():
            return None
        found.append(_WRITTEN[ways.pop()])
    return found


@as_programs
class ElementsInTurn:
    """The elements of arrays of one shape, one by one: an ``np.nditer`` to the program."""

    __class__ = taken_for(np.nditer)

    def __init__(
        self,
        operands: tuple[Any, ...],
        shape: tuple[int, ...],
        flags: frozenset[str],
        is_one: bool,
    ) -> None:
        self.operands = operands
        self._flags = flags
        self._shape = shape
        self.itersize: int = operands[0].size
        self.iterindex = 0
        self._next = 0  # where a loop over it begins
        self._is_one = is_one
        self._is_run_over = False

    def __iter__(self) -> Iterator[Any]:
        self._is_run_over = True
        return map(self._moved_to, range(self._next, self.itersize))

    def _moved_to(self, number: int) -> object:
        self.iterindex = number
        self._next = number + 1
        return self.value

    @property
    def finished(self) -> bool:
        if self._is_run_over:
            refused("np.nditer.finished of one that was looped over")
        return self.iterindex >= self.itersize

    def iternext(self) -> bool:
        if self._is_run_over:
            refused("np.nditer.iternext of one that was looped over")
        self.iterindex += 1
        return self.iterindex < self.itersize

    def reset(self) -> None:
        self.iterindex = 0
        self._next = 0

    def close(self) -> None:
        pass

    @property
    def index(self) -> int:
        if "c_index" not in self._flags:
            refused("np.nditer.index without that flag")
        return self.iterindex

    @property
    def multi_index(self) -> tuple[int, ...]:
        if "multi_index" not in self._flags:
            refused("np.nditer.multi_index without that flag")
        return self._place()

    def _place(self) -> tuple[int, ...]:
        place: tuple[int, ...] = ()
        rest = self.iterindex
        for size in self._shape[::-1]:
            place = (rest % size, *place)
            rest = rest // size
        return place

    @property
    def value(self) -> Any:
        place = (*self._place(), ...)
        return self.operands[0][place] if self._is_one else tuple(x[place] for x in self.operands)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            refused("a slice of np.nditer")
        return self.operands[number][(*self._place(), ...)]

    def __setitem__(self, number: int, value: object) -> None:
        self[number][...] = value

    def __len__(self) -> int:
        return len(self.operands)

    def __getattr__(self, name: str) -> object:
        return refused(f"np.nditer.{name}")

    def __enter__(self) -> ElementsInTurn:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def broadcast_together(door: StatementDoor, *arrays: object) -> Any:
    """``np.broadcast(*arrays)``."""
    shape = broadcast_shapes(*(array_value(x).type.shape for x in arrays))
    return door.call(ArraysTogether, tuple(map(wrap_dim, shape)), len(arrays))


@as_programs
class ArraysTogether:
    """The shape in which arrays meet: an ``np.broadcast`` to the program."""

    __class__ = taken_for(np.broadcast)

    def __init__(self, shape: tuple[int, ...], numiter: int) -> None:
        self.shape = shape
        self.nd = len(shape)
        self.ndim = self.nd
        self.numiter = numiter

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def __iter__(self) -> Any:
        refused("a loop over np.broadcast")

    def __getattr__(self, name: str) -> object:
        return refused(f"np.broadcast.{name}")


def refused(what: str) -> NoReturn:
    """Called by what is staged, in which ``raise`` would be the program's."""
    raise refuse(ITERATOR, what)
