"""How NumPy's functions, and the methods of its arrays, come to traced values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .above import above
from .signatures import check_call


class TakesUfuncs:
    """What stands for a number, or for numbers: ufuncs of it are recorded."""

    __slots__ = ()

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object
    ) -> Any:
        return above().array_ufunc(ufunc, method, inputs, kwargs)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self


class TakesFunctions(TakesUfuncs):
    """What stands for an array, or for a number of NumPy's: its functions are recorded, too."""

    __slots__ = ()

    def __array_function__(
        self, function: object, types: object, args: object, kwargs: object
    ) -> Any:
        return above().array_function(function, args, kwargs)


def as_numpys(name: str) -> Callable[..., Any]:
    """The method that does what NumPy's function of that name does with the array."""
    function = getattr(np, name)

    def method(self: object, *args: object, **kwargs: object) -> Any:
        check_call(function, (self, *args), kwargs)
        return above().handler_of(function)(self, *args, **kwargs)

    method.__name__ = name  # by which failures are looked at again
    return method
