"""The dispatcher that fxc uses, with all that the tables of ``fxc.ops`` hold."""

from __future__ import annotations

from fxc.ir.forking import table_lock
from fxc.ops.composite_rows import COMPOSITES
from fxc.ops.kernels import kernel_of
from fxc.ops.metas import meta_of

from .dispatcher import Dispatcher
from .keys import AliasKey, DispatchKey
from .trace import trace_column

_lock = table_lock()
_default: Dispatcher | None = None


def make_dispatcher() -> Dispatcher:
    """A new dispatcher: NumPy kernels, metas, composites, and the Trace column.

    Kernels and metas are found by name when an operator is first called, so that operators which
    are added to the table later are there too.
    """
    dispatcher = Dispatcher()
    dispatcher.source(DispatchKey.CPU, kernel_of)
    dispatcher.source(DispatchKey.META, meta_of)
    dispatcher.fallback(DispatchKey.TRACE, trace_column(dispatcher))
    for composite in COMPOSITES:
        dispatcher.impl_composite(composite.op, AliasKey(composite.alias_key), composite.function)
    return dispatcher


def default_dispatcher() -> Dispatcher:
    """The process's dispatcher, made when first asked for."""
    global _default
    if _default is None:
        with _lock:
            if _default is None:
                _default = make_dispatcher()
    return _default
