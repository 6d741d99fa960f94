"""Which operator of a graph may set a floating-point flag, and what NumPy says then."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from fxc.ir.flag_bits import FLAG_KINDS
from fxc.ir.graph import Graph, Node, walk
from fxc.ir.location import SourceLocation
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.kernels import kernel_of


def first_that_sets(graph: Graph, mode: str) -> tuple[str, SourceLocation] | None:
    """What NumPy says of the first operator that can set a flag, and where that stands."""
    for node in walk(graph.body):
        text = _text(node, mode)
        if text is not None and node.loc is not None:
            return text, node.loc
    return None


_SPECIAL = (0.0, 1.0, -1.0, -0.5, 2.0, np.inf, -np.inf, 1e308, -1e308, 1e-308, 1e38, 1e-38)


def _text(node: Node, mode: str) -> str | None:
    """What NumPy says of an operator if this happens to one of its operands, if it can."""
    kinds = [getattr(arg, "type", None) for arg in node.args]
    operands = [i for i, kind in enumerate(kinds) if isinstance(kind, ArrayType | ScalarType)]
    if not operands or node.regions or len(operands) > 2:
        return None
    quiet = dict.fromkeys(FLAG_KINDS.values(), "ignore")
    for left in _SPECIAL:
        for right in _SPECIAL if len(operands) == 2 else (0.0,):
            args: list[Any] = list(node.args)
            with suppress(Exception), np.errstate(**{**quiet, mode: "raise"}):  # type: ignore[arg-type]
                with np.errstate(all="ignore"):
                    for place, number in zip(operands, (left, right), strict=False):
                        args[place] = _sample(kinds[place], number)
                try:
                    kernel_of(node.op)(*args)
                except FloatingPointError as error:
                    return str(error)
    return None


def _sample(kind: Any, number: float) -> Any:
    if isinstance(kind, ScalarType):
        return kind.dtype.type(number) if not kind.weak else number
    return np.full((2,) * len(kind.shape), number).astype(kind.dtype)
