"""Metas of the user's operators, and of those that follow from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fxc.ir.records import replace
from fxc.ir.types import ArrayType, Type

from ..custom import definition_of, partner_types, types_given
from ..operators import Operator
from .probing import type_of
from .views import check_assignable


def custom_meta(op: Operator) -> Callable[..., Any]:
    """The meta of an operator of the user's, or of one that follows from it."""
    match op.role:
        case "functional":
            return lambda *args: _result(op, partner_types(op, args))
        case "copy":
            return lambda *args: _fresh(_of_view(op, args))
        case "scatter":
            return lambda x, source, *rest: _scattered(op, x, source, rest)
        case _:
            definition = definition_of(op.name)
            return lambda *args: _result(op, types_given(definition, args))


def _result(op: Operator, types: tuple[Type, ...]) -> Type | tuple[Type, ...]:
    return types[0] if len(op.schema.returns) == 1 else types


def _of_view(op: Operator, args: tuple[Any, ...]) -> Type:
    (found,) = types_given(definition_of(op.group), args)
    return found


def _fresh(kind: Type) -> Type:
    return replace(kind, writeable=True) if isinstance(kind, ArrayType) else kind


def _scattered(op: Operator, x: Any, source: Any, rest: tuple[Any, ...]) -> Type:
    check_assignable(type_of(source).shape, _of_view(op, (x, *rest)).shape)
    return type_of(x)
