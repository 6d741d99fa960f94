"""What is known of native code before it runs, as far as floating-point flags are concerned.

See Note [Warnings].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fxc.ir.graph import walk as nodes_of
from fxc.ir.size_functions import hint
from fxc.ir.symbols import product
from fxc.lowering.emission.sticky import overwritten_inputs
from fxc.lowering.nests.boxed_args import boxed_buffers
from fxc.lowering.nests.program import Program
from fxc.lowering.nests.statements import Boxed, walk
from fxc.lowering.nests.traffic import traffic
from fxc.ops.foreign_ufuncs import name_in_scipy
from fxc.ops.operators import EFFECTS
from fxc.ops.table import TABLE

from .flagged import FlagFacts

if TYPE_CHECKING:
    from fxc.capture.captured import Captured
    from fxc.lowering.emission.native_module import Module


def flag_facts(captured: Captured, module: Module) -> FlagFacts:
    """That of what has been captured, and compiled to this module."""
    graph = captured.graph
    updated = tuple(place for place in module.updated if place not in captured.drawn)
    overwritten = overwritten_inputs(module.program)
    kinds = [graph.inputs[place].type for place in updated]
    calls = _may_warn(module.program)
    keeps_states = module.keeps_states and not calls  # what hears a call ends it behind native code
    return FlagFacts(
        updated,
        tuple(place for place in overwritten if place not in captured.drawn),
        sum(k.dtype.itemsize * hint(product(k.shape)) for k in kinds if hasattr(k, "shape")),
        hint(traffic(module.program)),
        any(name_in_scipy(TABLE[node.op].numpy) for node in nodes_of(graph.body)),
        calls,
        () if keeps_states else captured.drawn,
    )


def _may_warn(program: Program) -> bool:
    """Whether NumPy is called for what may set floating-point flags."""
    for stmt in walk(program.body):
        if isinstance(stmt, Boxed) and TABLE[stmt.op].tag not in EFFECTS:
            names = (*boxed_buffers(stmt.args), *stmt.outs)
            if any(program.buffers[name].dtype.kind in "iufc" for name in names):
                return True
    return False
