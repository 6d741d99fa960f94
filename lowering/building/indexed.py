"""Index arrays as index arithmetic over integers that the loops load.

::

    t3 = idx[i0]                  gather:     t4 = x[t3, i1]
                                  index_put:  x[t3, i1] = …

See Note [Index arrays] in ``fxc.ops.table`` and Note [Computed indices] in ``loops``.
"""

from __future__ import annotations

import numpy as np

from fxc.ir.graph import Node
from fxc.ir.later import import_later
from fxc.ir.symbols import Dim
from fxc.ops.operators import Operator
from fxc.ops.table import TABLE

from ..nests.buffers import I64, Atom, Idx
from ..operators.scalar_rules import DTypes
from .index_maps import INDEX_MAPS, broadcast, select_index
from .pointwise import binary_dtypes
from .rule_body import RuleBody

# See Note [Rooms with one door].
space_of = import_later("fxc.ops.metas.indexed", "index_space")


def index_space(node: Node) -> tuple[tuple[Dim, ...], tuple[Dim, ...]]:
    """The shape that a node reads or writes, and the shape of its index arrays in it."""
    types = tuple(index.type for index in node.arg("indices"))
    source, axes, place = node.args[0].type, node.arg("axes"), node.arg("place")
    space: tuple[tuple[Dim, ...], tuple[Dim, ...]] = space_of(source, types, axes, place)
    return space


def indexed(body: RuleBody, node: Node, index: Idx) -> Idx:
    """The index into the array of the element at ``index`` of what the node reads or writes."""
    axes, place = node.arg("axes"), node.arg("place")
    _, shape = index_space(node)
    stop = place + len(shape)
    here = index[place:stop]
    rest = iter((*index[:place], *index[stop:]))
    at = {
        axis: body.computed(each, broadcast(each.type.shape, here, shape))
        for axis, each in zip(axes, node.arg("indices"), strict=True)
    }
    rank = node.args[0].type.rank
    return tuple(at[axis] if axis in at else next(rest) for axis in range(rank))


def view_index(body: RuleBody, node: Node, index: Idx) -> Idx:
    """The index into the array of its element at ``index`` of what a view or scatter is about."""
    base, group = node.args[0], TABLE[node.op].group
    if group == "dynamic_select":
        return select_index(
            base.type, (node.arg("axis"), body.computed(node.arg("index"), ())), index
        )
    statics = node.args[2:] if TABLE[node.op].role == "scatter" else node.args[1:]
    return INDEX_MAPS[group](base.type, statics, index)


def has_index(op: Operator) -> bool:
    """Whether a view or scatter is index arithmetic."""
    return op.group in INDEX_MAPS or op.group == "dynamic_select"


def wrap_operands(body: RuleBody, node: Node, index: Idx) -> tuple[Atom, Atom]:
    """What ``wrap_index`` and ``out_of_bounds`` take: an index, and the size of the axis."""
    return body.value(node.arg("index"), index, I64), body.index(node.arg("size"), I64)


def wrapped(body: RuleBody, node: Node, index: Idx) -> Atom:
    """An index counted from the front, 0 if it is out of bounds."""
    return body.compute("wrap_index", wrap_operands(body, node, index), (I64, I64), I64)


def update_dtypes(node: Node) -> tuple[DTypes, np.dtype]:
    """The dtypes of the old element and the source in an ``index_reduce``, and of what it gives."""
    return binary_dtypes(node.arg("ufunc"), node.args[0].type, node.arg("source").type)


def updated(body: RuleBody, node: Node, name: str, target: Idx, given: Atom) -> Atom:
    """What stands at ``target`` of a buffer after the update of an ``index_reduce``."""
    dtypes, result = update_dtypes(node)
    dtype = node.output.type.dtype
    old = body.cast_atom(body.load(name, target), dtype, dtypes[0])
    new = body.compute(node.arg("ufunc"), (old, given), dtypes, result)
    return body.cast_atom(new, result, dtype)
