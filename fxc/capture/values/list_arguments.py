"""Lists of the program as arguments of functions of NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from fxc.ir.graph import Value

from .lists_of_lists import ListOfLists
from .operands import operand, wrap
from .traced_lists import TracedList


def as_numpy(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a function of NumPy's, with arrays in place of lists."""
    if not any(type(x) is TracedList for x in (*args, *kwargs.values())):
        return args, kwargs
    return tuple(map(_array, args)), {name: _array(x) for name, x in kwargs.items()}


def _array(x: Any) -> Any:
    return x.as_array() if type(x) is TracedList else x


def array_of_list(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What ``np.array(list, dtype)`` gives; None for other arguments."""
    if len(args) not in (1, 2) or not kwargs.keys() <= {"dtype"}:
        return None
    is_ours = type(args[0]) is ListOfLists
    if not is_ours and (type(args[0]) is not TracedList or args[0].items is not None):
        return None
    return args[0].as_array(args[1] if len(args) == 2 else kwargs.get("dtype"))


def joined_list(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What ``np.stack(list)`` and its like give; None for other arguments."""
    if f not in _JOINS or len(args) != 1 or type(args[0]) is not TracedList or kwargs:
        return None
    room = args[0]._room
    if room is None or not room.kind.is_array:
        return None
    array = operand(args[0].as_array())
    assert isinstance(array, Value)
    found = wrap(array)
    if f is np.stack or (f is np.vstack and found.ndim == 2):
        return found
    first, second, *rest = found.shape
    return found.reshape((first * second, *rest)).copy()


_JOINS = (np.stack, np.vstack, np.concatenate)
