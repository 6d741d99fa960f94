"""What NumPy's functions may be called with: their own signatures, asked of NumPy once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import FunctionType
from typing import Any

from fxc.ir.error_kinds import NUMPY_OPTION

from ..session.refusing import refuse


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
        if _is_python(function):
            raise
        reason = f"a call of np.{function.__name__} beside its signature cannot be captured"
        raise refuse(NUMPY_OPTION, f"{reason} ({error})") from None


@lru_cache(maxsize=1024)
def parameters_of(function: Any) -> Mapping[str, inspect.Parameter]:
    """The parameters of a function that tells them, by name, in order."""
    return inspect.signature(function).parameters


def _is_python(function: object) -> bool:
    return isinstance(getattr(function, "_implementation", function), FunctionType)


@lru_cache(maxsize=1024)
def _binder(function: Any) -> Callable[..., None] | None:
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
