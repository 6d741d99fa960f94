"""Branches of a loop's body one of whose arms ends the loop."""

from __future__ import annotations

from collections.abc import Mapping

from fxc.ir.graph import Literal, Node, Operand, Region, Value
from fxc.ops.operators import Tag
from fxc.ops.python_numbers import AS_TRUE
from fxc.ops.table import TABLE


def last_arms(body: Region, result: Operand, ends: bool) -> dict[Node, bool]:
    """Which arm of branches runs in the last iteration only: ``on_true`` if True.

    The loop ends when ``result`` of the body ``ends``.
    """
    found: dict[Node, bool] = {}
    _look(result, ends, _makers(body), found)
    return found


def _makers(region: Region) -> dict[Value, Node]:
    return {value: node for node in region.nodes for value in node.outputs}


def _look(x: Operand, ends: bool, makers: Mapping[Value, Node], found: dict[Node, bool]) -> None:
    """The loop ends if ``x``, made in the same region, is true, or if it is not."""
    node = makers.get(x) if isinstance(x, Value) else None
    if node is None:
        return
    assert isinstance(x, Value)
    if node.op in AS_TRUE:
        _look(node.args[0], ends, makers, found)
    elif node.op in ("py_not", "logical_not"):
        _look(node.args[0], not ends, makers, found)
    elif TABLE[node.op].tag is Tag.BRANCH:
        place = node.outputs.index(x)
        for name, arm in (("on_true", True), ("on_false", False)):
            region: Region = node.arg(name)
            result = region.results[place]
            if not isinstance(result, Literal):
                _look(result, ends, _makers(region), found)
            elif bool(result.value) == ends:
                found[node] = arm
                _look(node.arg("pred"), arm, makers, found)
