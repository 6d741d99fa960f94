"""Decomposed graph → loop nests → LLVM text: the whole of lowering."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum

from fxc.ir.graph import Graph
from fxc.ir.later import import_later
from fxc.ir.records import frozen
from fxc.ir.steps import done

from .building.build import build_loops
from .building.context import KernelOf
from .emission.entry import emit_module
from .emission.llvm_text import ModuleText
from .emission.native_module import Module
from .machine.target import SERIAL, Target
from .nests.program import Program
from .nests.statements import Compute, For, Loop, Stmt, While, walk
from .scheduling.allocations import with_allocations
from .scheduling.fuse import fuse
from .scheduling.lanes import lanes
from .scheduling.parallel import parallel
from .scheduling.same_sizes import same_sizes
from .scheduling.speculate import speculate

proven_places = import_later("fxc.lowering.scheduling.proven_places", "proven_places")
reassociate = import_later("fxc.lowering.scheduling.reassociate", "reassociate")
fixed_checks = import_later("fxc.lowering.scheduling.fixed_checks", "fixed_checks")
fixed_numbers = import_later("fxc.lowering.scheduling.fixed_numbers", "fixed_numbers")
known_places = import_later("fxc.lowering.scheduling.known_places", "known_places")
abreast = import_later("fxc.lowering.scheduling.abreast", "abreast")
branchless = import_later("fxc.lowering.scheduling.branchless", "branchless")
index_sets = import_later("fxc.lowering.scheduling.index_sets", "index_sets")
held = import_later("fxc.lowering.scheduling.held", "held")
steps_ahead = import_later("fxc.lowering.scheduling.steps_ahead", "steps_ahead")
short_loops = import_later("fxc.lowering.scheduling.short_loops", "short_loops")
short_totals = import_later("fxc.lowering.scheduling.short_loops", "short_totals")
tabulated = import_later("fxc.lowering.scheduling.tabulated", "tabulated")
block_columns = import_later("fxc.lowering.scheduling.block_columns", "block_columns")
independent_steps = import_later("fxc.lowering.scheduling.independent_steps", "independent_steps")
running_totals = import_later("fxc.lowering.scheduling.running_totals", "running_totals")
short_dots = import_later("fxc.lowering.scheduling.short_dots", "short_dots")
repeated_updates = import_later("fxc.lowering.scheduling.repeated_updates", "repeated_updates")
growing_products = import_later("fxc.lowering.scheduling.growing_products", "growing_products")
products_ahead = import_later("fxc.lowering.scheduling.products_ahead", "products_ahead")
vectors_together = import_later("fxc.lowering.scheduling.vectors_together", "vectors_together")
inverses = import_later("fxc.lowering.scheduling.inverses", "inverses")
truths = import_later("fxc.lowering.scheduling.truths", "truths")


class WithCare(Enum):
    """What becomes of a step in careful code: see Note [Floating-point flags]."""

    SAME = "it sets no flags that the program does not"
    TOLD = "it is told, and keeps apart what may set flags"
    LEFT_OUT = "what no iteration needs may set flags"


@frozen
class Scheduling:
    """A step on loop nests: a function from Program to Program, and where it is left out.

    One ``of_loops`` has something to do where the program has some; one ``of_arms`` of branches in
    them computes what arms do where others are taken, too. One ``of_nests`` has something to do
    where arrays are walked by loops in others, one with ``ops`` where one of these is computed.
    """

    schedule: Callable[..., Program]
    ops: tuple[str, ...] = ()
    of_loops: bool = False
    of_arms: bool = False
    of_nests: bool = False
    with_care: WithCare = WithCare.SAME


_PLACES = ("wrap_index", "out_of_bounds")
_SCHEDULING = (
    Scheduling(index_sets, of_loops=True),
    Scheduling(vectors_together, of_loops=True),
    Scheduling(products_ahead, of_loops=True),
    Scheduling(growing_products, of_loops=True),
    Scheduling(repeated_updates, of_loops=True),
    Scheduling(short_totals, of_nests=True),
    Scheduling(fuse),
    Scheduling(short_loops, of_nests=True),
    Scheduling(fixed_numbers, of_loops=True, with_care=WithCare.LEFT_OUT),
    Scheduling(tabulated, of_loops=True, with_care=WithCare.LEFT_OUT),
    Scheduling(short_dots, of_loops=True),
    Scheduling(fixed_checks, of_loops=True),
    Scheduling(branchless, of_loops=True, of_arms=True, with_care=WithCare.LEFT_OUT),
    Scheduling(independent_steps, of_loops=True),
    Scheduling(running_totals, of_loops=True, with_care=WithCare.LEFT_OUT),
    Scheduling(abreast, of_loops=True, of_arms=True, with_care=WithCare.LEFT_OUT),
    Scheduling(steps_ahead, of_loops=True, of_arms=True, with_care=WithCare.TOLD),
    Scheduling(held, of_loops=True),
    Scheduling(block_columns, of_nests=True),
    Scheduling(speculate),
    Scheduling(truths, of_loops=True),
    Scheduling(known_places, ops=_PLACES),
    Scheduling(proven_places, ops=_PLACES),
    Scheduling(with_allocations),
    Scheduling(parallel),
    Scheduling(lanes),
    Scheduling(inverses, ops=("divide",)),
)


def _is_same(block: tuple[Stmt, ...], other: tuple[Stmt, ...]) -> bool:
    return len(block) == len(other) and all(map(operator.is_, block, other))


def _has_loops(program: Program) -> bool:
    return any(isinstance(stmt, For | While) for stmt in walk(program.body, into_loops=False))


def _computes(program: Program, ops: tuple[str, ...]) -> bool:
    return any(isinstance(stmt, Compute) and stmt.op in ops for stmt in walk(program.body))


def _has_nests(program: Program) -> bool:
    loops = [stmt for stmt in walk(program.body) if isinstance(stmt, Loop)]
    return any(isinstance(stmt, Loop) for loop in loops for stmt in loop.body)


def lower(
    graph: Graph,
    kernel_of: KernelOf,
    drawn: Sequence[int] = (),
    *,
    careful: bool = False,
    fast: bool = False,
    target: Target = SERIAL,
    plain: str = "",
) -> Module:
    """Native code, as text, for a functional graph whose operators are decomposed.

    It keeps the states of the generators whose handles are the inputs at the places ``drawn``,
    unless it is cut: see Note [Native draws]. For ``careful`` see Note [Floating-point flags]. In
    ``fast`` code sums and products may be contracted and reordered. The ``target`` says what the
    code is for; for ``plain`` see Note [Plain entries]. There are so many parameters because most
    callers give the first two alone.

    Requires: ``graph.signature`` is filled in; each operator has native code or can be left to
    NumPy's own kernel.
    """
    program = build_loops(graph, kernel_of, target)
    done("build_loops", program)
    program = same_sizes(program, graph.guards)
    done("same_sizes", program)
    vain = False
    for step in (Scheduling(reassociate), *_SCHEDULING) if fast else _SCHEDULING:
        if step.of_loops and not _has_loops(program):
            continue
        if careful and step.with_care is WithCare.LEFT_OUT:
            continue
        if step.of_nests and not _has_nests(program):
            continue
        if step.ops and not _computes(program, step.ops):
            continue
        before = program.body
        options = {"careful": careful} if step.with_care is WithCare.TOLD else {}
        program = step.schedule(program, **options)
        vain |= step.of_arms and not _is_same(before, program.body)
        done(step.schedule.__name__, program)
    module = emit_module(graph, program, ModuleText(careful, fast, plain), drawn)
    if vain and not careful:  # what arms compute is computed where others are taken, too
        module = replace(module, may_be_careful=True)
    done("emit_module", module)
    return module
