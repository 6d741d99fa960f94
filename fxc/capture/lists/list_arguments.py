"""Lists of the program as arguments of functions of NumPy's."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fxc.ir.graph import Value
from fxc.ir.later import import_class_later, import_later
from fxc.ops.metas.shapes import normalize_axis

from ..arrays.traced_array import TracedArray
from ..values.operands import Traced, has_traced, operand, wrap
from .list_changes import is_list

are_numbers = import_later("fxc.capture.forms.form", "are_numbers")
is_in_arrays = import_later("fxc.capture.lists.traced_lists", "is_in_arrays")
is_in_graph = import_later("fxc.capture.lists.traced_lists", "is_in_graph")

if TYPE_CHECKING:
    from ..forms.form import Array, Items
    from .lists_of_lists import ListOfLists
else:
    Array = import_class_later("fxc.capture.forms.form", "Array")
    Items = import_class_later("fxc.capture.forms.form", "Items")
    ListOfLists = import_class_later("fxc.capture.lists.lists_of_lists", "ListOfLists")


def as_numpy(
    args: tuple[Any, ...], kwargs: dict[str, object]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a function of NumPy's, with arrays in place of lists."""
    if not any(is_list(x) or _is_deque(x) for x in (*args, *kwargs.values())):
        return args, kwargs
    return tuple(map(_array, args)), {name: _array(x) for name, x in kwargs.items()}


def _array(x: Any) -> Any:
    if _is_deque(x):
        return list(x)
    return x.as_array() if is_list(x) else x


def _is_deque(x: object) -> bool:
    return isinstance(x, deque) and not isinstance(x, Traced)


def array_of_list(args: tuple[Any, ...], kwargs: dict[str, object]) -> object:
    """What ``np.array(list, dtype)`` gives; None for other arguments."""
    if len(args) not in (1, 2) or not kwargs.keys() <= {"dtype"}:
        return None
    if not (is_in_graph(args[0]) or isinstance(args[0], ListOfLists)):
        return None
    return args[0].as_array(args[1] if len(args) == 2 else kwargs.get("dtype"))


def joined_list(f: object, args: tuple[Any, ...], kwargs: dict[str, object]) -> object:
    """What ``np.stack(list)`` and its like give; None for other arguments."""
    join = _joins.get(f)
    if join is None or not args or not is_in_arrays(args[0]):
        return None
    if has_traced(args[1:]) or has_traced(kwargs):
        return None
    form = args[0].form
    if f is np.block and isinstance(form, Items):
        raise args[0].unclear("np.block() of tuples, or lists,")  # each is one block, or none
    if not isinstance(form, Array) and not (isinstance(form, Items) and are_numbers(form)):
        return None
    array = operand(args[0].as_array())
    assert isinstance(array, Value)
    try:
        return join(wrap(array), *args[1:], **kwargs)
    except TypeError:  # other options than the axis
        return None


def _stack(items: Any, axis: int = 0) -> Any:
    place = normalize_axis(axis, items.ndim)
    return items if place == 0 else np.moveaxis(items, 0, place).copy()


def _concatenate(items: Any, axis: int | None = 0) -> object:
    if axis is None:
        return items.ravel()
    place = normalize_axis(axis, items.ndim - 1)
    shape = items.shape
    joined = (*shape[1 : place + 1], shape[0] * shape[place + 1], *shape[place + 2 :])
    return np.moveaxis(items, 0, place).reshape(joined).copy()


def _dstack(items: TracedArray) -> object:
    if items.ndim == 2:
        return _stack(items, 1)[None]
    return _stack(items, 2) if items.ndim == 3 else _concatenate(items, 2)


_joins: dict[Any, Callable[..., Any]] = {
    np.stack: _stack,
    np.concatenate: _concatenate,
    np.vstack: lambda items: items if items.ndim == 2 else _concatenate(items),
    np.hstack: lambda items: _concatenate(items, 0 if items.ndim == 2 else 1),
    np.column_stack: lambda items: (_stack if items.ndim == 2 else _concatenate)(items, 1),
    np.dstack: _dstack,
    np.block: lambda items: _concatenate(items, -1),
}
