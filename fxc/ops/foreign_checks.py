"""Calls of functions that look at their arguments, and raise an exception or give None."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fxc.ir.types import Type

from .foreign_calls import ForeignCall, operator_for
from .foreign_learning import looks_of
from .foreign_results import Result, Unlearnable
from .operators import Operator

_lock = threading.Lock()
_known: dict[Any, ForeignCall] = {}


def check_of(
    function: Callable[..., object],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    kinds: Sequence[Type],
) -> tuple[Operator, ForeignCall]:
    """The operator that means a call: it gives True (Note [Foreign calls]). No samples are needed,
    and none would do: most of them the function would not like.

    Raises ``Unlearnable`` if the function has given something.
    """
    key = (id(function), looks_of(args, kwargs, kinds))
    with _lock:
        call = _known.get(key)
        if call is None:
            call = _known[key] = ForeignCall(_giving_none(function), args, kwargs)
            call.results = (Result("scalar", np.dtype(bool), (), ()),)
    if not call.holds:
        raise Unlearnable("it gives something")
    return operator_for(call, kinds), call


def _giving_none(function: Callable[..., object]) -> Callable[..., np.bool | None]:
    """A function that gives True where this one gives None."""

    @functools.wraps(function)  # which keeps the function, and its id with it
    def checked(*args: Any, **kwargs: Any) -> np.bool | None:
        return np.True_ if function(*args, **kwargs) is None else None

    return checked
