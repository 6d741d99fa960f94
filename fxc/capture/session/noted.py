"""The operations that have raised an exception while the program was captured.

See Note [Handled failures].
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from fxc.ir.errors import FxcError

_NOTED = "__fxc_failed__"


def note(error: BaseException, function: object, args: object, kwargs: object) -> None:
    """Note the innermost operation that has raised an exception."""
    if isinstance(error, Exception) and not isinstance(error, FxcError):
        vars(error).setdefault(_NOTED, (function, args, kwargs))


def noted(error: BaseException) -> tuple[Any, Any, Any]:
    """The operation that has raised an exception, with its arguments; None for a function that is
    not known.
    """
    found: tuple[Any, Any, Any] = vars(error).get(_NOTED, (None, (), {}))
    return found


def noting(method: Callable[..., object]) -> Callable[..., Any]:
    """An operator's method of traced values, which notes what it raises."""
    function = getattr(operator, method.__name__.strip("_"))

    def noted_method(*args: object) -> Any:
        try:
            return method(*args)
        except Exception as error:
            note(error, function, args, {})
            raise

    noted_method.__name__, noted_method.__doc__ = method.__name__, method.__doc__
    return noted_method
