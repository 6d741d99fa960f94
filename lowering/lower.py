"""Decomposed graph → loop nests → LLVM text: the whole of lowering."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace

from fxc.ir.graph import Graph
from fxc.ir.later import import_later
from fxc.ir.steps import done

from .building.build import build_loops
from .building.context import KernelOf
from .emission.entry import emit_module
from .emission.llvm_text import ModuleText
from .emission.native_module import Module
from .machine.target import SERIAL, Target
from .nests.program import Program
from .nests.statements import For, Loop, Stmt, While, walk
from .scheduling.allocations import with_allocations
from .scheduling.block_columns import block_columns
from .scheduling.fuse import fuse
from .scheduling.growing_products import growing_products
from .scheduling.independent_steps import independent_steps
from .scheduling.lanes import lanes
from .scheduling.parallel import parallel
from .scheduling.products_ahead import products_ahead
from .scheduling.repeated_updates import repeated_updates
from .scheduling.same_sizes import same_sizes
from .scheduling.short_dots import short_dots
from .scheduling.speculate import speculate
from .scheduling.vectors_together import vectors_together

reassociate = import_later("fxc.lowering.scheduling.reassociate", "reassociate")
fixed_numbers = import_later("fxc.lowering.scheduling.fixed_numbers", "fixed_numbers")
known_places = import_later("fxc.lowering.scheduling.known_places", "known_places")
branchless = import_later("fxc.lowering.scheduling.branchless", "branchless")
held = import_later("fxc.lowering.scheduling.held", "held")
steps_ahead = import_later("fxc.lowering.scheduling.steps_ahead", "steps_ahead")
short_loops = import_later("fxc.lowering.scheduling.short_loops", "short_loops")
short_totals = import_later("fxc.lowering.scheduling.short_loops", "short_totals")
tabulated = import_later("fxc.lowering.scheduling.tabulated", "tabulated")

_SCHEDULING: tuple[Callable[..., Program], ...] = (
    vectors_together,
    products_ahead,
    growing_products,
    repeated_updates,
    short_totals,
    fuse,
    short_loops,
    fixed_numbers,
    tabulated,
    short_dots,
    branchless,
    independent_steps,
    steps_ahead,
    held,
    block_columns,
    speculate,
    known_places,
    with_allocations,
    parallel,
    lanes,
)

_IN_FRONT = (fixed_numbers, tabulated)  # of loops of the user's program
_OF_ARMS = (branchless, steps_ahead)  # of branches in them
_OF_LOOPS = (*_IN_FRONT, *_OF_ARMS, held)
_OF_NESTS = (short_totals, short_loops)  # of loops in others


def _is_same(block: tuple[Stmt, ...], other: tuple[Stmt, ...]) -> bool:
    return len(block) == len(other) and all(map(operator.is_, block, other))


def _has_loops(program: Program) -> bool:
    return any(isinstance(stmt, For | While) for stmt in walk(program.body, into_loops=False))


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
    for schedule in (reassociate, *_SCHEDULING) if fast else _SCHEDULING:
        if schedule in _OF_LOOPS and not _has_loops(program):
            continue
        if schedule in _OF_NESTS and not _has_nests(program):
            continue
        if careful and schedule in (*_IN_FRONT, branchless):
            continue  # what no iteration needs may set flags
        before = program.body
        options = {"careful": careful} if schedule is steps_ahead else {}
        program = schedule(program, **options)
        vain |= schedule in _OF_ARMS and not _is_same(before, program.body)
        done(schedule.__name__, program)
    module = emit_module(graph, program, ModuleText(careful, fast, plain), drawn)
    if vain and not careful:  # what arms compute is computed where others are taken, too
        module = replace(module, may_be_careful=True)
    done("emit_module", module)
    return module
