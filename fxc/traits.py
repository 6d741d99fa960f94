"""What is known of a compilation before it runs: its loops, and the flags that it may set."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from fxc.ir.flag_bits import FLAG_KINDS
from fxc.ir.graph import Graph, Node, Region
from fxc.ir.location import SourceLocation
from fxc.ir.size_functions import hint
from fxc.ir.symbols import product
from fxc.ir.types import ArrayType, ScalarType
from fxc.lowering.nests.boxed_args import boxed_buffers
from fxc.lowering.nests.program import Program
from fxc.lowering.nests.statements import Boxed, walk
from fxc.lowering.nests.traffic import traffic
from fxc.ops.foreign_ufuncs import name_in_scipy
from fxc.ops.kernels import kernel_of
from fxc.ops.operators import EFFECTS
from fxc.ops.table import TABLE

from .flagged import FlagFacts
from .variants import Traits

if TYPE_CHECKING:
    from fxc.capture.captured import Captured
    from fxc.lowering.emission.native_module import Module

    from .stages import Compilation


def traits_of(captured: Captured, made: Compilation) -> Traits:
    """Those of what has been captured, and compiled."""
    module = None if made.assembled is None else made.assembled.module
    watches = module is not None and bool(made.fallbacks or module.sets_flags)
    return Traits(
        module is not None and not module.approximates,
        _may_be_fast(made.decomposed.body),
        _flag_facts(captured, module) if module is not None and watches else None,
    )


def _flag_facts(captured: Captured, module: Module) -> FlagFacts:
    """What counts for flags. See Note [Warnings]."""
    graph = captured.graph
    updated = tuple(place for place in module.updated if place not in captured.drawn)
    kinds = [graph.inputs[place].type for place in updated]
    return FlagFacts(
        updated,
        sum(k.dtype.itemsize * hint(product(k.shape)) for k in kinds if hasattr(k, "shape")),
        hint(traffic(module.program)),
        any(name_in_scipy(TABLE[node.op].numpy) for node in _nodes(graph)),
        _may_warn(module.program),
        () if module.keeps_states else captured.drawn,
    )


def _may_be_fast(region: Region) -> bool:
    """Whether a loop in it may be far faster than Python's, as its iterations have no effects."""
    for node in region.nodes:
        inside = [each.op for inner in node.regions for each in inner.nodes]
        if inside and not any(TABLE[op].tag in EFFECTS for op in inside):
            return True
        if any(map(_may_be_fast, node.regions)):
            return True
    return False


def _may_warn(program: Program) -> bool:
    """Whether NumPy is called for what may set floating-point flags."""
    for stmt in walk(program.body):
        if isinstance(stmt, Boxed) and TABLE[stmt.op].tag not in EFFECTS:
            names = (*boxed_buffers(stmt.args), *stmt.outs)
            if any(program.buffers[name].dtype.kind in "iufc" for name in names):
                return True
    return False


def first_that_sets(graph: Graph, mode: str) -> tuple[str, SourceLocation] | None:
    """What NumPy says of the first operator that can set a flag, and where that stands."""
    for node in _nodes(graph):
        text = _text(node, mode)
        if text is not None and node.loc is not None:
            return text, node.loc
    return None


def _nodes(graph: Graph | Region) -> list[Node]:
    found = []
    for node in graph.nodes:
        for region in node.regions:
            found += _nodes(region)
        found.append(node)
    return found


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
