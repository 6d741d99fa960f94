"""Builtins that mean something of their own on traced values: ``len``, ``int``, ``getattr``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .creation import is_array
from .operands import Traced, operand, record
from .session import refuse
from .traced_int import TracedInt, largest, smallest
from .traced_scalar import TracedScalar

if TYPE_CHECKING:
    from .door import Door


def _len(door: Door, x: Any) -> Any:
    if is_array(x) and x.ndim:
        return x.shape[0]
    return len(door.indexed(x))


def _int(door: Door, *args: Any, **kwargs: Any) -> Any:
    if len(args) == 1 and type(args[0]) is TracedInt:
        return args[0]
    return int(*args, **kwargs)


def _float(door: Door, *args: Any) -> Any:
    if len(args) == 1:
        (x,) = args
        if type(x) is TracedInt:
            return record("py_multiply", operand(x), operand(1.0))
        if type(x) is TracedScalar and x._type.weak and x._type.dtype.kind == "f":
            return x
    return float(*args)


def _type(door: Door, x: Any, *rest: Any) -> Any:
    if rest:
        raise refuse("making a class with type() cannot be captured")
    return x.__class__ if isinstance(x, Traced) else type(x)


def _extreme(plain: Any, symbolic: Any) -> Any:
    def extreme(door: Door, *args: Any, **kwargs: Any) -> Any:
        items = list(args[0]) if len(args) == 1 and isinstance(args[0], tuple | list) else args
        kinds = set(map(type, items))
        if not kwargs and TracedInt in kinds and kinds <= {int, TracedInt}:
            return symbolic(list(items))
        return plain(*door.runnables(args), **door.runnable_options(kwargs))

    return extreme


def _getattr(door: Door, owner: Any, name: str, *default: Any) -> Any:
    try:
        return door.attr(owner, name)
    except AttributeError:
        if default:
            return default[0]
        raise


def _hasattr(door: Door, owner: Any, name: str) -> bool:
    try:
        door.attr(owner, name)
    except AttributeError:
        return False
    return True


def _setattr(door: Door, owner: Any, name: str, value: Any) -> None:
    setattr(door.owned(owner), name, value)


def _next(door: Door, iterator: Any, *default: Any) -> Any:
    return next(door.iterable(iterator), *default)


SPECIAL: dict[Any, Callable[..., Any]] = {
    len: _len,
    int: _int,
    float: _float,
    type: _type,
    min: _extreme(min, smallest),
    max: _extreme(max, largest),
    getattr: _getattr,
    hasattr: _hasattr,
    setattr: _setattr,
    next: _next,
}
