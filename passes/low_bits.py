"""Arithmetic of Python ints of which only the low bits are looked at: 64 bits do.

::

    %1: py.int = try_multiply(%x, 1664525)       %1: py.int = py_multiply(%x, 1664525)
    %2: py.int = try_add(%1, 1013904223)     →   %2: py.int = py_add(%1, 1013904223)
    %3: py.int = py_and(%2, 4294967295)          %3: py.int = py_and(%2, 4294967295)

Native code then wraps around, which the bits below do not show. Sums, differences, products and
shifts to the left pass on as many low bits as they get.
"""

from __future__ import annotations

from collections.abc import Mapping

from fxc.ir.graph import Graph, Literal, Node, Operand, Region, Value, walk
from fxc.ir.types import ScalarType
from fxc.ops.python_numbers import PYTHON_OPERATORS, proven, stem
from fxc.ops.table import TABLE

WRAPPING = frozenset({"add", "subtract", "multiply", "left_shift"})
_BITWISE = frozenset({"and", "or", "xor", "invert"})
_MOST = 2**63 - 1


def without_high_bits(graph: Graph) -> Graph:
    """Replace checked arithmetic of ints by unchecked where high bits are lost anyway.

    Requires: the graph is functional.
    Ensures: results have the same bits.
    """
    if not any(_lowers(node, 0) or _lowers(node, 1) for node in walk(graph.body)):
        return graph
    readers: dict[Operand, list[tuple[Node, int]]] = {}
    kept: set[Operand] = set()  # what regions yield
    for node in walk(graph.body):
        for number, arg in enumerate(node.args):
            if isinstance(arg, Value):
                readers.setdefault(arg, []).append((node, number))
            elif isinstance(arg, tuple):
                kept.update(each for each in arg if isinstance(each, Value))
            elif isinstance(arg, Region):
                kept.update(arg.results)
    kept.update(graph.outputs)
    low: dict[Value, bool] = {}
    for node in reversed(list(walk(graph.body))):
        for output in node.outputs:
            of_output = readers.get(output, ())
            low[output] = output not in kept and all(_is_low(*each, low) for each in of_output)
    return graph.with_body(_region(graph.body, low))


def _lowers(node: Node, number: int) -> bool:
    """Whether a node looks at low bits of that operand only."""
    if node.op not in PYTHON_OPERATORS or len(node.args) != 2:
        return False
    other = node.args[1 - number]
    if not isinstance(other, Literal) or type(other.value) is not int:
        return False
    match stem(node.op):
        case "and":
            return 0 <= other.value <= _MOST
        case "remainder":
            return number == 0 and 0 < other.value <= _MOST and other.value.bit_count() == 1
        case _:
            return False


def _is_low(node: Node, number: int, low: Mapping[Value, bool]) -> bool:
    """Whether nothing but the low bits of an operand shows."""
    if _lowers(node, number):
        return True
    if node.op not in PYTHON_OPERATORS or stem(node.op) not in WRAPPING | _BITWISE:
        return False
    return (stem(node.op) != "left_shift" or number == 0) and low[node.output]


def _region(region: Region, low: Mapping[Value, bool]) -> Region:
    nodes = tuple(_node(node, low) for node in region.nodes)
    return Region(region.params, nodes, region.results)


def _node(node: Node, low: Mapping[Value, bool]) -> Node:
    if node.regions:
        args = tuple(_region(arg, low) if isinstance(arg, Region) else arg for arg in node.args)
        return Node(node.schema, args, node.outputs, node.loc, node.into)
    if not _wraps(node) or not low[node.output]:
        return node
    return Node(TABLE[proven(node.op)].schema, node.args, node.outputs, node.loc, node.into)


def _wraps(node: Node) -> bool:
    """Whether low bits of the result are those of the operands, with checks for nothing else."""
    if not node.op.startswith("try_") or stem(node.op) not in WRAPPING:
        return False
    if not all(map(_is_int, node.args)) or not any(isinstance(x, Value) for x in node.args):
        return False
    by = node.args[1]
    is_count = isinstance(by, Literal) and by.value >= 0  # type: ignore[operator]
    return stem(node.op) != "left_shift" or is_count


def _is_int(operand: Operand) -> bool:
    kind = operand.type
    return isinstance(kind, ScalarType) and kind.weak and kind.dtype.kind == "i"
