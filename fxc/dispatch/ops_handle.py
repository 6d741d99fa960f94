"""The handle through which composites call operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from fxc.ir.errors import InternalError, a_kind
from fxc.ir.objects import is_writeable
from fxc.ir.types import ArrayType, ScalarType, Type, array_type, scalar_type_of
from fxc.ops.table import Table


class Calls(Protocol):
    """What runs operators: the dispatcher."""

    @property
    def table(self) -> Table: ...

    def call(self, name: str, *args: object, **kwargs: object) -> Any: ...

    def meta(self, name: str, *args: object, **kwargs: object) -> Any: ...


def type_of(x: object) -> Type:
    """The type of an operand, whichever key it belongs to: a graph's, a real array, a type."""
    if isinstance(x, np.ndarray):
        kind = array_type(x.dtype, x.shape, x.strides)
        if is_writeable(x):
            return kind
        return ArrayType(kind.dtype, kind.shape, kind.strides, writeable=False)
    if isinstance(x, ArrayType | ScalarType):
        return x
    found = getattr(x, "type", None)
    if isinstance(found, ArrayType | ScalarType):
        return found
    try:
        return scalar_type_of(x)
    except TypeError:
        raise InternalError(f"{a_kind(x)} is no operand of an operator") from None


class Ops:
    """Operators as attributes: ``ops.add(x, y)``; ``ops.call("add.out", x, y, out=o)``."""

    def __init__(self, dispatcher: Calls) -> None:
        self._dispatcher = dispatcher

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in self._dispatcher.table:
            raise AttributeError(name)
        call = self._dispatcher.call

        def operator(*args: object, **kwargs: object) -> Any:
            return call(name, *args, **kwargs)

        return operator

    def call(self, name: str, /, *args: object, **kwargs: object) -> Any:
        """Call an operator whose name is no Python identifier."""
        return self._dispatcher.call(name, *args, **kwargs)

    def type_of(self, x: object) -> Type:
        """The type of an operand."""
        return type_of(x)

    def meta(self, name: str, /, *args: object, **kwargs: object) -> Any:
        """The type that an operator would return for these operands."""
        return self._dispatcher.meta(name, *args, **kwargs)
