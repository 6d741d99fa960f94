"""Which operators have native code, for which nodes, and what builds it: no other place says so.

``native_kernel`` is the LLVM backend's index of kernels (``llvm_index`` of
``fxc/pipeline/stages.py``). For an operator that has none its composite takes its place, or else
NumPy is called, as for nodes that a kernel does not cover.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from fxc.ir.graph import Node
from fxc.ir.later import import_class_later, import_later
from fxc.ir.types import PART_DTYPES, ArrayType, is_c_contiguous
from fxc.ops.foreign_ufuncs import is_foreign
from fxc.ops.operators import Operator, Tag
from fxc.ops.table import TABLE

from ..nests.buffers import F32, HALF
from ..operators.python_rules import FAILING, SCALAR_RULES
from ..operators.scalar_rules import ScalarRule
from .build import visit
from .computed import applied, attempted, inline, ordered, pointwise, unset, wrap_index
from .context import Context, NativeKernel
from .coverage import NATIVE_DTYPES, has_halves, moves, types_in
from .pointwise import (
    has_complex_loop,
    loop_dtypes,
    loop_name,
    rule_name,
    rule_of,
    runs_inner_loop,
)
from .reducers import REDUCERS, SCANS
from .writes import join, scatter

if TYPE_CHECKING:
    from .made_rules import MadeRule
else:
    MadeRule = import_class_later("fxc.lowering.building.made_rules", "MadeRule")

# See Note [Rooms with one door].
definition_of = import_later("fxc.ops.custom", "definition_of")
cond = import_later("fxc.lowering.building.control", "cond")
fori_loop = import_later("fxc.lowering.building.control", "fori_loop")
while_loop = import_later("fxc.lowering.building.control", "while_loop")
contraction = import_later("fxc.lowering.building.contraction", "contraction")
segments = import_later("fxc.lowering.building.segments", "segments")
chosen_sums = import_later("fxc.lowering.building.chosen_sums", "chosen_sums")
einsum = import_later("fxc.lowering.building.einsum", "einsum")
has_einsum = import_later("fxc.lowering.building.einsum", "covers")
reduction = import_later("fxc.lowering.building.reductions", "reduction")
scan = import_later("fxc.lowering.building.reductions", "scan")
has_nest = import_later("fxc.lowering.building.reductions", "has_nest")
has_scan = import_later("fxc.lowering.building.reductions", "has_scan")
has_segments = import_later("fxc.lowering.building.reductions", "has_segments")
sums_runs = import_later("fxc.lowering.building.reductions", "sums_runs")
total = import_later("fxc.lowering.building.counting", "total")
bind_size = import_later("fxc.lowering.building.counting", "bind_size")
places = import_later("fxc.lowering.building.counting", "places")
check_count = import_later("fxc.lowering.building.masked", "check_count")
has_complex_rule = import_later("fxc.lowering.building.complex_nodes", "has_rule")
has_index = import_later("fxc.lowering.building.indexed", "has_index")
update_dtypes = import_later("fxc.lowering.building.indexed", "update_dtypes")


def native_kernel(op: Operator) -> NativeKernel | None:
    """The native code of an operator, or None: on dtypes that lowering knows."""
    found = _BY_NAME.get(op.name)
    if found is not None:
        return found
    match op.tag:
        case Tag.CUSTOM:
            return _of_user(op)
        case Tag.POINTWISE if op.name in FAILING:
            return _ATTEMPTED
        case Tag.POINTWISE if rule_name(op) in SCALAR_RULES or has_complex_rule(op.name):
            return _POINTWISE
        case Tag.REDUCTION if op.name in REDUCERS:
            return _REDUCTION
        case Tag.SCAN if op.name in SCANS:
            return _SCAN
        case Tag.VIEW if has_index(op):
            return _INLINE
        case Tag.SCATTER if has_index(op):
            return _SCATTER
        case Tag.GATHER:
            return _INLINE
        case Tag.FACTORY:
            return _FACTORY
        case Tag.JOIN:
            return _JOIN
        case _:
            return None


def _of_user(op: Operator) -> NativeKernel | None:
    """The native code that is registered of an operator of the user's, or without its writes."""
    found = definition_of(op.group).lowering
    return None if found is None else NativeKernel(found.build, found.covers, found.checks)


# Note [Exact math]
# ``fxc.compile(math="exact")`` is for NumPy's own bits in all functions. Where native code keeps to
# a bound (``ScalarRule.bounded``), NumPy's inner loop computes the function instead, in place on a
# copy of the operand. Its bits depend on nothing but the element as long as it walks memory
# upwards, without gaps: other arrays of floats, and functions of several operands, are left to
# NumPy.


def exact_kernel(op: Operator) -> NativeKernel | None:
    """As ``native_kernel``, with NumPy's bits. See Note [Exact math]."""
    found = native_kernel(op)
    if found is _POINTWISE:
        return _EXACT
    if found is not None and op.name == "index_reduce":
        return _EXACT_UPDATE
    return found


def _is_bounded(node: Node) -> bool:
    rule = rule_of(node)
    if not isinstance(rule, ScalarRule):
        return rule is not None and rule.bounded
    dtypes, result = loop_dtypes(node)
    return not SCALAR_RULES[loop_name(node)].bounded.isdisjoint((*dtypes, result))


def _computes_exactly(node: Node) -> bool:
    has_loop = has_complex_loop(node) or _has_float_loop(node)
    return _computes(node) and (has_loop or not _is_bounded(node))


def _has_float_loop(node: Node) -> bool:
    function, kind = TABLE[node.op].numpy, node.output.type
    if not isinstance(function, np.ufunc) or function.nin != 1 or is_foreign(function):
        return False
    given = node.args[0].type
    is_array = isinstance(kind, ArrayType) and isinstance(given, ArrayType)
    return is_array and given.dtype == kind.dtype and is_c_contiguous(given)


def _exactly(context: Context, node: Node) -> None:
    build = applied if _is_bounded(node) else pointwise
    build(context, node)


def _has_exact_update(node: Node) -> bool:
    return _has_update(node) and not SCALAR_RULES[node.arg("ufunc")].bounded


# Which nodes kernels cover


def _computes(node: Node) -> bool:
    if moves(node):
        return True
    rule = rule_of(node)
    if has_halves(node) and not _is_exact_on_halves(rule):
        return False
    if isinstance(rule, MadeRule):
        return rule.supports is None or rule.supports(types_in(node))
    if rule is None:
        return runs_inner_loop(node)
    dtypes, result = loop_dtypes(node)
    if HALF in dtypes and not has_halves(node):  # np.signbit of bools
        return False
    are_native = all(dtype in NATIVE_DTYPES for dtype in (*dtypes, result))
    return are_native and rule.supports(node.args, dtypes)


def _is_exact_on_halves(rule: ScalarRule | MadeRule | None) -> bool:
    """See Note [Half precision]."""
    return isinstance(rule, ScalarRule) and F32 not in rule.bounded


def _is_attempted(node: Node) -> bool:
    return not node.output.type.rank and _computes(node)


def _has_places(node: Node) -> bool:
    """Whether an index can be in bounds at all."""
    return node.arg("size") != 0 and _computes(node)


def _fills(node: Node) -> bool:
    """Whether there is code for a factory: complex numbers are counted up, or cut, by NumPy."""
    *given, kind = types_in(node)
    return kind.dtype in PART_DTYPES or not any(each.dtype in PART_DTYPES for each in given)


def _counts(node: Node) -> bool:
    return not any(each.dtype in PART_DTYPES for each in types_in(node))


def _has_product(node: Node, most: int) -> bool:
    """NumPy's inner loop multiplies matrices; ``dot`` means the same up to rank 2, but of columns
    and rows of complex numbers: ``matmul`` rounds a product without a sum otherwise than BLAS.
    """
    kinds = [operand.type for operand in node.args[:2]]
    if not all(1 <= kind.rank <= most and getattr(kind, "aligned", True) for kind in kinds):
        return False
    found = node.output.type
    rounds_otherwise = node.op == "dot" and kinds[0].shape[-1] == 1 and {*found.shape} - {1}
    return found.dtype.kind == "f" or (found.dtype.kind == "c" and not rounds_otherwise)


def _sorts_rows(node: Node) -> bool:
    """Whether a sort is one along the last axis of an array in C order, of real numbers."""
    kind, axis = node.output.type, node.arg("axis")
    if not isinstance(kind, ArrayType) or kind.rank == 0 or node.arg("kind") not in _QUICK:
        return False
    is_last = axis is not None and axis % kind.rank == kind.rank - 1
    return is_last and node.args[0].type.dtype.kind in "iuf" and is_c_contiguous(kind)


_QUICK = (None, "quicksort")


def _has_update(node: Node) -> bool:
    """Whether there is a loop for the ufunc of an ``index_reduce`` on these dtypes."""
    rule = SCALAR_RULES.get(node.arg("ufunc"))
    if rule is None or node.arg("source") is None:
        return False
    dtypes, result = update_dtypes(node)
    known = all(dtype in NATIVE_DTYPES and dtype != HALF for dtype in (*dtypes, result))
    return known and rule.supports(node.args[:2], dtypes)


def _has_axes(node: Node) -> bool:
    return bool(node.arg("mask").type.rank)


def _put_masked(context: Context, node: Node) -> None:
    check_count(context, node)
    scatter(context, node)


_POINTWISE = NativeKernel(pointwise, _computes)
_ATTEMPTED = NativeKernel(attempted, _is_attempted, checks=True)
_EXACT = NativeKernel(_exactly, _computes_exactly)
_EXACT_UPDATE = NativeKernel(scatter, _has_exact_update)
_INLINE = NativeKernel(inline)
_FACTORY = NativeKernel(inline, _fills)
_REDUCTION = NativeKernel(reduction, has_nest)
_SCAN = NativeKernel(scan, has_nest)
_SCATTER = NativeKernel(scatter)
_JOIN = NativeKernel(join)

_BY_NAME = {
    "wrap_index": NativeKernel(wrap_index, _has_places, checks=True),
    "arange": NativeKernel(inline, _counts),
    "empty": NativeKernel(unset, _fills),
    "index_put": NativeKernel(scatter),
    "index_reduce": NativeKernel(scatter, _has_update),
    "masked_put": NativeKernel(_put_masked, _has_axes, checks=True),
    "matmul": NativeKernel(contraction, partial(_has_product, most=64)),
    "dot": NativeKernel(contraction, partial(_has_product, most=2)),
    "einsum": NativeKernel(einsum, has_einsum),
    "sort": NativeKernel(applied, _sorts_rows),
    "argsort": NativeKernel(ordered, _sorts_rows),
    "sum": NativeKernel(total, has_nest),
    "bind_size": NativeKernel(bind_size),
    "nonzero": NativeKernel(places),
    "ufunc_reduce": NativeKernel(chosen_sums, sums_runs, last=True),
    "ufunc_accumulate": NativeKernel(scan, has_scan),
    "ufunc_reduceat": NativeKernel(segments, has_segments, checks=True),
    "cond": NativeKernel(partial(cond, visit=visit)),
    "fori_loop": NativeKernel(partial(fori_loop, visit=visit)),
    "while_loop": NativeKernel(partial(while_loop, visit=visit)),
}
