"""Metas: from the types of an operator's arguments to the types of its results.

A meta is called with the canonical arguments in schema order, where operands are Types and
Literals, regions are Regions and attributes are themselves. It returns the type of the result
(a tuple for several, ``()`` for writers) or raises what NumPy raises. See ``probing`` for how
NumPy is asked and ``layout`` for strides.

    >>> from fxc.ir.types import array_type, DTYPES_BY_NAME
    >>> x = array_type(DTYPES_BY_NAME["i64"], (3, 4))
    >>> print(meta_of("add")(x, array_type(DTYPES_BY_NAME["f32"], (4,))))
    f64[3, 4]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fxc.ir.graph import Node, Value
from fxc.ir.types import Type

from ..operators import Operator, Tag
from ..table import TABLE

Meta = Callable[..., Type | tuple[Type, ...]]

_found: dict[str, tuple[Operator, Meta]] = {}


def meta_of(name: str) -> Meta:
    """The meta of the operator ``name``.

    Raises ``KeyError`` if there is no such operator, or nothing says what its results are.
    """
    op = TABLE[name]
    known = _found.get(name)
    if known is None or known[0] is not op:
        known = _found[name] = (op, _make_meta(op))
    return known[1]


def types_of(node: Node) -> tuple[Type, ...]:
    """What the operator's meta says about the results of a node."""

    def seen(arg: Any) -> Any:
        if isinstance(arg, Value):
            return arg.type
        if isinstance(arg, tuple):
            return tuple(x.type if isinstance(x, Value) else x for x in arg)
        return arg

    types = meta_of(node.op)(*map(seen, node.args))
    return types if isinstance(types, tuple) else (types,)


def _make_meta(op: Operator) -> Meta:
    if op.tag is Tag.CUSTOM:
        from .custom import custom_meta

        return custom_meta(op)
    values_only = all(param.is_value for param in op.schema.params)
    if op.tag is Tag.POINTWISE and op.numpy is not None and values_only:
        from .pointwise import pointwise_meta

        return pointwise_meta(op)
    from .selection import meta_for  # imports the whole folder; many programs are pointwise only

    return meta_for(op, meta_of)
