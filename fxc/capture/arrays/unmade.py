"""What stands for an array that is made when something asks for what is not known without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fxc.ir.graph import Operand

from ..values.operands import Traced, settled, taken_for
from ..values.protocols import TakesFunctions
from .ufuncs import call_ufunc, give_operators, write_in_place


class UnmadeArray(TakesFunctions, Traced):
    """An array that may not be made yet: what its class does not do itself, the array does."""

    __slots__ = ()
    __array_priority__ = 1000.0
    __class__ = taken_for(np.ndarray)

    @property
    def array(self) -> Any:
        """The array, made now if it is not made yet."""
        raise NotImplementedError

    def _settled(self) -> object:
        return self.array

    def _operand(self) -> Operand:
        found: Operand = self.array._operand()
        return found

    def __getattr__(self, name: str) -> object:
        return getattr(self.array, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name in type(self).__slots__:
            object.__setattr__(self, name, value)
        else:
            setattr(self.array, name, value)

    def _run(self, name: str, inputs: Sequence[object]) -> object:
        """A ufunc on ``inputs``, one of which this is."""
        return call_ufunc(name, *(x.array if isinstance(x, UnmadeArray) else x for x in inputs))

    def _run_in_place(self, name: str, other: object) -> None:
        """An augmented assignment by a ufunc."""
        write_in_place(name)(self.array, settled(other))


def _in_place(name: str) -> Callable[[UnmadeArray, object], UnmadeArray]:
    def method(self: UnmadeArray, other: object) -> UnmadeArray:
        self._run_in_place(name, other)
        return self

    return method


def _of_the_array(name: str) -> Callable[..., Any]:
    """A special method that the array has, too."""
    return lambda self, *given: getattr(self.array, name)(*map(settled, given))


give_operators(UnmadeArray, _in_place)
for _name in ("len", "iter", "bool", "getitem", "setitem"):
    setattr(UnmadeArray, f"__{_name}__", _of_the_array(f"__{_name}__"))
