"""Methods, partial functions, slices and known sets that leave the function."""

from __future__ import annotations

from functools import partial
from types import MethodType
from typing import Any, Protocol

from fxc.ir.later import import_later

from ..outside.containers import External
from ..values.objects import class_attribute
from ..values.operands import Traced, has_traced
from ..values.shadows import class_of, is_compiled


class _Expressions(Protocol):
    """What writes expressions for the parts."""

    def _place(self, x: object) -> str: ...
    def _items(self, items: object) -> str: ...
    def _dict(self, items: dict[Any, Any]) -> str: ...
    def _constant(self, value: object) -> str: ...


# See Note [Rooms with one door].
_order_to_add = import_later("fxc.capture.dicts.set_orders", "order_to_add")


def bound(builder: _Expressions, x: MethodType | partial[Any] | slice | set[Any]) -> str | None:
    """The expression that binds a function, or makes bounds or a set, anew; None for what only a
    capture has, and for what is a constant.
    """
    if isinstance(x, slice):
        parts = (x.start, x.stop, x.step)
        return f"slice({builder._items(parts)})" if has_traced(x) else None
    if isinstance(x, set):
        order = _order_to_add(x)
        known = builder._constant(x if order is None else order)
        return f"{known}.copy()" if order is None else f"{{key for key in {known}}}"
    if isinstance(x, partial):
        if vars(x):
            return None
        given = f"{builder._items(x.args)}**{builder._dict(x.keywords)}"
        return f"partial({builder._place(x.func)}, {given})"
    owner, function = x.__self__, x.__func__
    if isinstance(owner, Traced | External):
        return None
    kind = owner if isinstance(owner, type) else class_of(owner)
    found = class_attribute(kind, getattr(function, "__name__", ""))
    if is_compiled(found) and found.__fxc_original__ is function:
        return f"method({builder._constant(found)}, {builder._place(owner)})"
    return f"method({builder._place(function)}, {builder._place(owner)})"
