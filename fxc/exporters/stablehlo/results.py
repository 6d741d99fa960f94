"""What a module has given, as the results of its graph."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from fxc.ir.graph import Graph
from fxc.ir.types import ArrayType

_SIZE = re.compile(r"fxc\.size_of = \[(\d+), (\d+)\]")


def results_of(graph: Graph, text: str, found: Sequence[Any]) -> list[Any]:
    """Arrays, cut to the sizes that the module has counted (see Note [Held sizes]), and numbers."""
    arrays = [np.array(each) for each in found]
    count = len(graph.outputs)
    for (result, axis), size in zip(_SIZE.findall(text), arrays[count:], strict=True):
        whole = arrays[int(result)]
        arrays[int(result)] = whole.take(range(int(size)), int(axis))
    return [
        array if isinstance(kind, ArrayType) else array.item() if kind.weak else array[()]
        for array, kind in zip(arrays[:count], (each.type for each in graph.outputs), strict=True)
    ]
