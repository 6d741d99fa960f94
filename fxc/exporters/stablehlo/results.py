"""What a module has given, as the results of its graph."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from fxc.ir.graph import Graph
from fxc.ir.types import ArrayType

_SIZE_OF = re.compile(r"fxc\.size_of = \[(\d+), (\d+)\]")
_SIZE = re.compile(r"fxc\.size = \"(\w+)\"")


def results_of(graph: Graph, text: str, found: Sequence[Any]) -> list[Any]:
    """Arrays, cut to the sizes that the module has counted (see Note [Held sizes]), and numbers."""
    count = len(graph.outputs)
    arrays = [np.array(each) for each in found[:count]]
    for (result, axis), size in zip(_SIZE_OF.findall(text), found[count:], strict=False):
        whole = arrays[int(result)]
        arrays[int(result)] = whole.take(range(int(size)), int(axis))
    return [
        array if isinstance(kind, ArrayType) else array.item() if kind.weak else array[()]
        for array, kind in zip(arrays, (each.type for each in graph.outputs), strict=True)
    ]


def sizes_of(text: str, found: Sequence[Any]) -> dict[str, int]:
    """The sizes that the module has counted for views at the boundary: the last of its results."""
    names = _SIZE.findall(text)
    return {name: int(size) for name, size in zip(names, found[-len(names) :], strict=False)}
