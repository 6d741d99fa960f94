"""Which meta an operator has, where that does not follow from its NumPy callable alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from fxc.ir.later import import_class_later

from ..operators import Operator, Tag
from ..table import TABLE
from . import (
    contractions,
    control,
    effects,
    factories,
    indexed,
    joins,
    library,
    pointwise,
    reductions,
    ufunc_methods,
    views,
    writes,
)

if TYPE_CHECKING:
    from ..foreign_calls import ForeignCall
else:
    ForeignCall = import_class_later("fxc.ops.foreign_calls", "ForeignCall")

Meta = Callable[..., Any]

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


def meta_for(op: Operator, meta_of: Callable[[str], Meta]) -> Meta:
    """The meta of ``op``; ``KeyError`` if nothing says what its results are. ``meta_of`` gives that
    of another operator.
    """
    if op.name in META:
        return META[op.name]
    if op.role:
        return _derived_meta(op, TABLE[op.group], meta_of(op.group))
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


def _derived_meta(op: Operator, row: Operator, meta: Meta) -> Meta:
    match op.role:
        case "inplace":
            return writes.inplace_meta(op, row, meta)
        case "out":
            return writes.out_meta(op, row, meta)
        case "copy":
            return views.copy_meta(op, meta)
        case "scatter":
            return views.scatter_meta(op, meta)
        case _:
            raise KeyError(f"no meta says what {op.name!r} gives")
