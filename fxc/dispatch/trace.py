"""The Trace column: an operator call becomes a Node of the thread's current GraphBuilder.

Every Node of every graph comes through here, in capture as in passes that re-interpret a graph.
"""

from __future__ import annotations

from _thread import _local
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from fxc.ir.builder import GraphBuilder
from fxc.ir.errors import InternalError, a_kind
from fxc.ir.graph import Literal, Value
from fxc.ir.location import SourceLocation
from fxc.ops.operators import Operator

from .keys import DispatchKey, KeySet, including

if TYPE_CHECKING:
    from .dispatcher import BoxedKernel, Dispatcher

LocationProvider = Callable[[], SourceLocation | None]


class _Recording(_local):
    builder: GraphBuilder | None = None
    locate: LocationProvider | None = None


_recording = _Recording()
_TRACE = KeySet.of(DispatchKey.TRACE)
_NUMBERS = frozenset({bool, int, float, complex})


@contextmanager
def recording_into(
    builder: GraphBuilder, locate: LocationProvider | None = None
) -> Iterator[GraphBuilder]:
    """Record this thread's operator calls into ``builder`` inside the block.

    Where ``builder.loc`` is None, ``locate()`` says where the user asked for a node.
    """
    before = _recording.builder, _recording.locate
    _recording.builder, _recording.locate = builder, locate
    try:
        with including(_TRACE):
            yield builder
    finally:
        _recording.builder, _recording.locate = before


def current_builder() -> GraphBuilder:
    """The builder that this thread records into.

    Raises ``InternalError`` if there is none.
    """
    if _recording.builder is None:
        raise InternalError("an operator was traced, but nothing is recording")
    return _recording.builder


def _operand(x: Any) -> Value | Literal:
    """What stands for ``x`` in a node; scalars become literals."""
    kind = type(x)
    if kind is Literal or kind is Value:
        return x  # type: ignore[no-any-return]
    if kind in _NUMBERS or isinstance(x, np.generic):
        return Literal(x)
    raise InternalError(f"{a_kind(x)} cannot be an operand of a node")


def trace_column(dispatcher: Dispatcher) -> BoxedKernel:
    """The fallback kernel of the Trace column of ``dispatcher``."""
    redispatch = dispatcher.redispatch
    meta_key = DispatchKey.META

    def trace(op: Operator, args: tuple[Any, ...]) -> Any:
        builder = _recording.builder
        if builder is None:
            builder = current_builder()
        schema = op.schema
        node_args: list[Any] = []
        meta_args: list[Any] = []
        for param, arg in zip(schema.params, args, strict=True):
            kind = type(arg)
            if kind is Value:
                node_args.append(arg)
                meta_args.append(arg.type)
                continue
            if arg is not None and param.is_value:
                if param.is_list:
                    arg = tuple(map(_operand, arg))
                    node_args.append(arg)
                    meta_args.append(tuple(x.type if type(x) is Value else x for x in arg))
                    continue
                arg = _operand(arg)
            node_args.append(arg)
            meta_args.append(arg)
        types = redispatch(meta_key, schema.name, tuple(meta_args))
        loc = builder.loc
        if loc is None and _recording.locate is not None:
            loc = _recording.locate()
        if type(types) is not tuple:
            return builder.add(schema, node_args, (types,), loc)[0]
        outputs = builder.add(schema, node_args, types, loc)
        return outputs if schema.returns else None

    return trace
