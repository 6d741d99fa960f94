"""Which meta an operator has, where that does not follow from its NumPy callable alone."""

from __future__ import annotations

from collections.abc import Mapping

from ..foreign_calls import ForeignCall
from ..table import TABLE, Operator, Tag
from . import (
    Meta,
    contractions,
    control,
    effects,
    factories,
    indexed,
    joins,
    library,
    meta_of,
    pointwise,
    reductions,
    ufunc_methods,
    views,
    writes,
)

# The metas of single operators. Those of ufuncs, reductions and scans follow from their tag, those
# of derived operators from the row of their group: see ``meta_for``.
META: Mapping[str, Meta] = {
    **pointwise.METAS,
    **views.METAS,
    **indexed.METAS,
    **ufunc_methods.METAS,
    **library.METAS,
    **factories.METAS,
    **joins.METAS,
    **contractions.METAS,
    **writes.METAS,
    **control.METAS,
    **effects.METAS,
}


def meta_for(op: Operator) -> Meta:
    """The meta of ``op``; ``KeyError`` if nothing says what its results are."""
    if op.name in META:
        return META[op.name]
    if op.role:
        return _derived_meta(op)
    if isinstance(op.numpy, ForeignCall):
        return op.numpy.meta
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
