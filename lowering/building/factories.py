"""Factories as expressions: the element of a fresh array at an index."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fxc.ir.graph import Literal, Node, Operand

from ..nests.buffers import Atom, Const, Element, Idx
from .rule_body import RuleBody

Factory = Callable[[RuleBody, Node, Idx], Element]


def _full(body: RuleBody, node: Node, index: Idx) -> Element:
    return body.element(node.arg("value"), (), node.arg("dtype"))


def _zero(body: RuleBody, node: Node, index: Idx) -> Element:
    return body.element(Literal(0), (), node.arg("dtype"))


def _one(body: RuleBody, node: Node, index: Idx) -> Element:
    return body.element(Literal(1), (), node.arg("dtype"))


def _arange(body: RuleBody, node: Node, index: Idx) -> Atom:
    """As NumPy fills it: the first two elements, then ``first + i * (second - first)``."""
    start, step, dtype = node.arg("start"), node.arg("step"), node.arg("dtype")
    wide = np.result_type(start.type.dtype, step.type.dtype)
    pair = (body.value(start, (), wide), body.value(step, (), wide))
    second = body.cast_atom(body.compute("add", pair, (wide, wide), wide), wide, dtype)
    first = body.value(start, (), dtype)
    both = (dtype, dtype)
    delta = body.compute("subtract", (second, first), both, dtype)
    scaled = body.compute("multiply", (body.index(index[0], dtype), delta), both, dtype)
    filled = body.compute("add", (first, scaled), both, dtype)
    if dtype.kind != "f":
        return filled
    place, flag = np.dtype(np.intp), np.dtype(bool)
    known = {1: second} if _is_finite(start) and _is_finite(step) else {0: first, 1: second}
    for number, element in known.items():
        places = (body.index(index[0], place), Const(number, place))
        is_there = body.compute("equal", places, (place, place), flag)
        filled = body.compute("where", (is_there, element, filled), (flag, dtype, dtype), dtype)
    return filled


def _is_finite(x: Operand) -> bool:
    """Whether a number is known, and nowhere near the end of its dtype."""
    return isinstance(x, Literal) and bool(np.abs(x.value) < 2**15)


def _int_value(body: RuleBody, node: Node, index: Idx) -> Atom:
    return body.index(node.arg("value"), node.output.type.dtype)


_FACTORIES: dict[str, Factory] = {
    "full": _full,
    "zeros": _zero,
    "ones": _one,
    "empty": _zero,
    "arange": _arange,
    "int_value": _int_value,
}


def factory(body: RuleBody, node: Node, index: Idx) -> Element:
    """The element of a new array."""
    return _FACTORIES[node.op](body, node, index)
