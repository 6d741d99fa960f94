"""How NumPy's functions, and the methods of its arrays, come to traced values."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from fxc.ir.error_kinds import NUMPY_OPTION

from ..session.refusing import refusal
from .above import above


def check_call(function: Any, args: Sequence[object], kwargs: Mapping[str, object]) -> None:
    """Raise what NumPy raises for arguments that its function has no parameters for.

    The signatures of functions in C are text beside the code, which may know more (``np.arange``
    takes ``start=``): what does not fit there is refused, so that NumPy itself says.
    """
    binder = _binder(function)
    if binder is None:
        return
    try:
        binder(*args, **kwargs)
    except TypeError as error:
        if isinstance(getattr(function, "_implementation", function), FunctionType):
            raise
        reason = f"a call of np.{function.__name__} beside its signature cannot be captured"
        raise refusal(NUMPY_OPTION, f"{reason} ({error})") from None


@lru_cache(maxsize=1024)
def parameters_of(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """The parameters of a function that tells them, by name, in order."""
    return inspect.signature(function).parameters


@lru_cache(maxsize=1024)
def _binder(function: Callable[..., Any]) -> Callable[..., None] | None:
    """A function with these parameters that does nothing; None if NumPy does not tell them."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    parameters = [
        each.replace(
            default=each.default if each.default is each.empty else None, annotation=each.empty
        )
        for each in signature.parameters.values()
    ]
    plain = signature.replace(parameters=parameters, return_annotation=signature.empty)
    space: dict[str, Any] = {}
    exec(f"def {function.__name__}{plain}: pass", space)
    made: Callable[..., None] = space[function.__name__]
    return made


class TakesUfuncs:
    """What stands for a number, or for numbers: ufuncs of it are recorded."""

    __slots__ = ()

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object
    ) -> object:
        if ufunc is np.multiply and isinstance(inputs[0], np.complexfloating):
            this: Any = self
            if issubclass(this.__class__, complex | np.complexfloating):
                return this.__rmul__(inputs[0])  # the operator, which rounds otherwise
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
    ) -> object:
        return above().array_function(function, args, kwargs)


def as_numpys(name: str) -> Callable[..., Any]:
    """The method that does what NumPy's function of that name does with the array."""
    function = getattr(np, name)
    code = getattr(np._core._methods, f"_{name}", function)  # type: ignore[attr-defined]
    is_logical = name in ("any", "all")  # only the methods take ``dtype``
    checked = code if is_logical or name in ("var", "std") else function  # nor ``correction``

    def method(self: object, *args: object, **kwargs: object) -> object:
        check_call(checked, (self, *args), kwargs)
        if is_logical:
            args, kwargs = _without_dtype(args, kwargs)
        return above().as_function(function, (self, *args), kwargs)

    method.__name__ = name  # by which failures are looked at again
    return method


def _without_dtype(
    args: tuple[object, ...], kwargs: dict[str, object]
) -> tuple[tuple[object, ...], dict[str, object]]:
    """Arguments of the methods ``any`` and ``all`` as their functions take them: their dtype is
    the second, and bool, as it is without one, or objects.
    """
    dtype: Any = args[1] if len(args) > 1 else kwargs.get("dtype")
    if dtype is not None and np.dtype(dtype) != np.bool:
        raise refusal(NUMPY_OPTION, f"any() and all() with dtype={dtype} cannot be captured")
    return (*args[:1], *args[2:]), {name: x for name, x in kwargs.items() if name != "dtype"}
