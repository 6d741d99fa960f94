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

from collections.abc import Callable, Mapping

from fxc.ir.types import Type

from ..table import TABLE, Operator, Tag
from . import (
    contractions,
    control,
    factories,
    joins,
    pointwise,
    reductions,
    views,
    writes,
)

Meta = Callable[..., Type | tuple[Type, ...]]

# The metas of single operators. Those of ufuncs, reductions and scans follow from their tag, those
# of derived operators from the row of their group: see ``meta_of``.
META: Mapping[str, Meta] = {
    **pointwise.METAS,
    **views.METAS,
    **reductions.METAS,
    **factories.METAS,
    **joins.METAS,
    **contractions.METAS,
    **writes.METAS,
    **control.METAS,
}

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


def _make_meta(op: Operator) -> Meta:
    if op.name in META:
        return META[op.name]
    if op.role:
        return _derived_meta(op)
    if op.numpy is not None:
        if op.tag is Tag.SCAN:
            return reductions.scan_meta(op)
        if "keepdims" in op.schema.index_of:
            return reductions.reduction_meta(op)
        if all(param.is_value for param in op.schema.params):
            return pointwise.pointwise_meta(op)
    raise KeyError(f"no meta says what {op.name!r} gives")


def _derived_meta(op: Operator) -> Meta:
    row = TABLE[op.group]
    meta = meta_of(op.group)
    match op.role:
        case "inplace":
            return writes.inplace_meta(op, row, meta)
        case "out":
            return writes.out_meta(op, row, meta)
        case "copy":
            return views.copy_meta(op, meta)  # type: ignore[arg-type]
        case "scatter":
            return views.scatter_meta(op, meta)  # type: ignore[arg-type]
        case _:
            raise KeyError(f"no meta says what {op.name!r} gives")
