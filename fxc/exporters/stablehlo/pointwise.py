"""Operators of elements: operands become one dtype and one shape, a rule does the rest."""

from __future__ import annotations

import numpy as np

from fxc.ir.graph import Literal, Node, Operand, Value
from fxc.ir.types import PART_DTYPES
from fxc.lowering.building.pointwise import loop_name
from fxc.lowering.operators.inner_loops import promotion_key
from fxc.ops.operators import Operator, Tag
from fxc.ops.table import TABLE

from . import arithmetic, elementary
from .arithmetic import Rule
from .builder import BOOL, F32, I64, Val
from .casts import cast
from .emission import Emission
from .numbers import computes_in_result, number_rule
from .problems import Unsayable
from .signs import is_negative

_F16 = np.dtype("f2")
_RULES = arithmetic.RULES | elementary.RULES


def rule_of(op: Operator) -> Rule | None:
    """What an operator does to elements, if it is one of those."""
    if op.tag is not Tag.POINTWISE or op.role:
        return None
    return number_rule(op.name) or _RULES.get(op.name)


def pointwise(e: Emission, node: Node) -> list[Val]:
    """The node by its rule. float16 is computed in float32, as NumPy does it."""
    rule = rule_of(TABLE[node.op])
    assert rule is not None
    if node.op == "power" and loop_name(node) == "power_by_one":
        rule = elementary.power_by_one
    kind = node.output.type
    xs = [
        e.spread(arg, F32 if dtype == _F16 and node.op != "nextafter" else dtype, kind)
        for arg, dtype in zip(_operands(node), _dtypes(node), strict=True)
    ]
    return [cast(e, rule(e, *xs), kind.dtype)]


def _operands(node: Node) -> list[Operand]:
    return [arg for arg in node.args if isinstance(arg, Value | Literal)]


def _dtypes(node: Node) -> list[np.dtype]:
    """The dtypes in which the operands are taken."""
    operands = _operands(node)
    function = TABLE[node.op].numpy
    if isinstance(function, np.ufunc) and number_rule(node.op) is None:
        keys = tuple(promotion_key(each.type) for each in operands)
        *inputs, _ = function.resolve_dtypes((*keys, None))
        if all(dtype.kind != "O" for dtype in inputs):
            return inputs
        return [np.result_type(*(each.type.dtype for each in operands))] * len(operands)
    if computes_in_result(node.op):
        return [node.output.type.dtype] * len(operands)
    return [each.type.dtype for each in operands]


# ---------------------------------------------------------------- no arithmetic


def astype(e: Emission, node: Node) -> list[Val]:
    return [e.cast(node.args[0], node.output.type.dtype)]


def as_it_is(e: Emission, node: Node) -> list[Val]:
    """What is the same number, or has the same elements."""
    return [e.read(node.args[0])]


def where(e: Emission, node: Node) -> list[Val]:
    kind = node.output.type
    condition, x, y = node.args
    chosen = e.spread(condition, BOOL, kind)
    return [e.b.select(chosen, e.spread(x, kind.dtype, kind), e.spread(y, kind.dtype, kind))]


def wrap_index(e: Emission, node: Node) -> list[Val]:
    """Negative indices count from the end. Those out of bounds stay what they are."""
    index, size = node.args[:2]
    if isinstance(index, Literal) and isinstance(e.sizes.plain(size), int):
        value = int(index.value.real)
        return [e.b.scalar(value + e.sizes.plain(size) if value < 0 else value, I64)]
    x = e.cast(index, I64)
    if e.range_of(index)[0] >= 0:
        return [x]
    total = e.broadcast(e.sizes.value(size), x.shape)
    return [e.b.select(is_negative(e, x), e.b.same("add", x, total), x)]


def reinterpret(e: Emission, node: Node) -> list[Val]:
    """The bits of elements as another dtype of the same size."""
    return [as_bits(e, e.read(node.args[0]), node.output.type.dtype)]


def as_bits(e: Emission, x: Val, dtype: np.dtype) -> Val:
    if BOOL in (x.dtype, dtype):
        if 1 not in (x.dtype.itemsize, dtype.itemsize):
            raise Unsayable("the bytes of bools")
        return cast(e, x, dtype)
    if x.dtype in PART_DTYPES or dtype in PART_DTYPES:
        raise Unsayable("the bytes of complex numbers")
    return e.b.bits(x, dtype)


def real_number(e: Emission, node: Node) -> list[Val]:
    return [part_of(e, e.read(node.args[0]), "real")]


def imaginary_number(e: Emission, node: Node) -> list[Val]:
    return [part_of(e, e.read(node.args[0]), "imag")]


def part_of(e: Emission, x: Val, name: str) -> Val:
    """The real or imaginary part: of a real number itself, or 0."""
    if x.dtype in PART_DTYPES:
        return e.b.op(name, [x], PART_DTYPES[x.dtype], x.shape)
    return x if name == "real" else e.like(x, 0)


def int_value(e: Emission, node: Node) -> list[Val]:
    size = node.args[0]
    e.ranges[node.output] = e.sizes.range(size)
    return [e.sizes.value(size)]


EMITTERS = {
    "astype": astype,
    "copy": as_it_is,
    "item": as_it_is,
    "where": where,
    "wrap_index": wrap_index,
    "reinterpret": reinterpret,
    "real_number": real_number,
    "imaginary_number": imaginary_number,
    "int_value": int_value,
}
