"""Which nodes have native code; NumPy itself is called for the others."""

from __future__ import annotations

import numpy as np

from fxc.ir.graph import Node, operands_of
from fxc.ir.types import PART_DTYPES, ArrayType, Type, is_c_contiguous
from fxc.ops.table import TABLE, Operator, Tag

from ..emission.python_rules import FAILS, SCALAR_RULES
from .complex_rules import COMPLEX_RULES, ComplexRule
from .indexed import has_index, update_dtypes
from .pointwise import loop_dtypes, rule_of, runs_inner_loop
from .reductions import REDUCERS, SCANS, has_nest

NATIVE_DTYPES = frozenset(
    np.dtype(code) for code in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
)

PRODUCT_RANKS = {"matmul": 64, "dot": 2}  # up to which rank it is a product of matrices


def is_native(node: Node, known: dict[Node, bool]) -> bool:
    """Whether lowering has code for the node; ``known`` keeps the answers, for loops are asked
    about with all that is inside them.
    """
    found = known.get(node)
    if found is None:
        found = known[node] = _is_native(node, known)
    return found


def _is_native(node: Node, known: dict[Node, bool]) -> bool:
    types = _types(node)
    if not all(map(_is_known, types)):
        return False
    match TABLE[node.op].tag:
        case Tag.POINTWISE:
            rule = rule_of(node)
            if isinstance(rule, ComplexRule):
                return rule.supports is None or rule.supports(types)
            if rule is None:
                return runs_inner_loop(node)
            dtypes, result = loop_dtypes(node)
            are_native = all(dtype in NATIVE_DTYPES for dtype in (*dtypes, result))
            if node.op == "wrap_index" and node.arg("size") == 0:
                return False  # every index is out of bounds
            if node.op in FAILS and node.output.type.rank:
                return False
            return are_native and rule.supports(node.args, dtypes)
        case Tag.FACTORY:
            return _fills(types[-1].dtype, [kind.dtype for kind in types[:-1]], node)
        case Tag.REDUCTION | Tag.SCAN:
            return has_nest(node)
        case Tag.CONTRACTION:
            return _has_product(node)
        case Tag.CONTROL:
            inside = (inner for region in node.regions for inner in region.nodes)
            return all(is_native(inner, known) or is_called(inner) for inner in inside)
        case Tag.INDEX_PUT:
            if node.op == "masked_put":
                return bool(node.arg("mask").type.rank)
            return node.op == "index_put" or _has_update(node)
        case Tag.OPAQUE:
            return node.op in _SORTS and _sorts_rows(node)
        case Tag.VIEW | Tag.SCATTER:
            return has_index(TABLE[node.op])
        case Tag.GATHER | Tag.JOIN | Tag.SIZE:
            return True
        case _:
            return False


def is_called(node: Node) -> bool:
    """Whether native code can call NumPy for the node: see Note [Calls of NumPy]."""
    is_plain = not node.regions and node.bound is None and TABLE[node.op].tag is not Tag.WRITE
    return is_plain and all(map(_is_known, _types(node)))


def _types(node: Node) -> list[Type]:
    types = [operand.type for arg in node.args for operand in operands_of(arg)]
    return types + [value.type for value in node.outputs]


def _is_known(kind: Type) -> bool:
    return kind.dtype in NATIVE_DTYPES or kind.dtype in PART_DTYPES


def _sorts_rows(node: Node) -> bool:
    """Whether a sort is one along the last axis of an array in C order, of real numbers."""
    kind, axis = node.output.type, node.arg("axis")
    if not isinstance(kind, ArrayType) or kind.rank == 0 or node.arg("kind") not in _QUICK:
        return False
    is_last = axis is not None and axis % kind.rank == kind.rank - 1
    dtype = node.args[0].type.dtype
    return (
        is_last and dtype.kind in "iuf" and _is_known(node.args[0].type) and is_c_contiguous(kind)
    )


_SORTS = ("sort", "argsort")
_QUICK = (None, "quicksort")


def _has_update(node: Node) -> bool:
    """Whether there is a loop for the ufunc of an ``index_reduce`` on these dtypes."""
    rule = SCALAR_RULES.get(node.arg("ufunc"))
    if rule is None or node.arg("source") is None:
        return False
    dtypes, result = update_dtypes(node)
    known = all(dtype in NATIVE_DTYPES for dtype in (*dtypes, result))
    return known and rule.supports(node.args[:2], dtypes)


def _fills(dtype: np.dtype, given: list[np.dtype], node: Node) -> bool:
    """Whether there is code for a factory: complex numbers are counted up, or cut, by NumPy."""
    if dtype in PART_DTYPES:
        return node.op != "arange"
    return not any(each in PART_DTYPES for each in given)


def _has_product(node: Node) -> bool:
    """NumPy's inner loop multiplies matrices; ``dot`` means the same up to rank 2."""
    ranks = [operand.type.rank for operand in node.args[:2]]
    most = PRODUCT_RANKS[node.op]
    return node.output.type.dtype.kind in "fc" and all(1 <= rank <= most for rank in ranks)


def has_code(op: Operator) -> bool:
    """Whether lowering has code for the operator, on dtypes that it knows."""
    match op.tag:
        case Tag.POINTWISE:
            return op.name in SCALAR_RULES or op.name in COMPLEX_RULES
        case Tag.REDUCTION | Tag.SCAN:
            return op.name in REDUCERS or op.name in SCANS
        case Tag.VIEW | Tag.SCATTER:
            return has_index(op)
        case Tag.FACTORY | Tag.GATHER | Tag.JOIN | Tag.CONTRACTION | Tag.CONTROL:
            return True
        case Tag.OPAQUE:
            return op.name in _SORTS
        case Tag.INDEX_PUT | Tag.SIZE:
            return True
        case _:
            return False
