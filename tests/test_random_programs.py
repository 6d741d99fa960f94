"""Random programs of views and writes, plain and compiled: everything a caller sees is equal.

Two levels. *Cheap*: captured, functionalized, simplified and decomposed, each graph verified, and
evaluated by NumPy. *Native*: ``fxc.compile``. ``FXC_FUZZ_PROGRAMS`` sets how many programs run
(``make fuzz``); a failing one is shrunk and printed as source.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.capture.capture import ArrayLeaf, Captured, ScalarLeaf, capture
from fxc.dispatch.default import default_dispatcher
from fxc.ir.errors import CaptureError
from fxc.ir.evaluate import call
from fxc.ir.graph import Graph, Node
from fxc.ir.signature import OutputLeaf, ResultLeaf
from fxc.ir.tree import LEAF, unflatten
from fxc.ir.types import Type
from fxc.ir.verify import verify
from fxc.ops.kernels import kernel_of
from fxc.ops.metas import meta_of
from fxc.ops.table import TABLE
from fxc.passes.decompose import decompose
from fxc.passes.functionalize import functionalize
from fxc.passes.simplify import simplify
from fxc.stages import llvm_index
from tests.outcomes import Outcome, difference, run
from tests.programs import Program, random_program, shrink

COUNT = int(os.environ.get("FXC_FUZZ_PROGRAMS", "0"))
CHEAP = COUNT or 300
NATIVE = COUNT // 4 or 80
FIRST = int(os.environ.get("FXC_FUZZ_FIRST", "0"))  # seeds from here on
CHUNKS = 10  # tests to spread the programs over


# ---------------------------------------------------------------- levels

Level = Callable[[Callable[..., Any], tuple[Any, ...]], Outcome]


def meta(node: Node) -> tuple[Type, ...]:
    """The types that the results of a node should have."""
    args = [_types(arg) for arg in node.args]
    found = meta_of(node.op)(*args)
    return found if isinstance(found, tuple) else (found,)


def _types(arg: Any) -> Any:
    from fxc.ir.graph import Value

    if isinstance(arg, tuple):
        return tuple(map(_types, arg))
    return arg.type if isinstance(arg, Value) else arg


def verified(graph: Graph, after: str) -> Graph:
    verify(graph, table=lambda name: TABLE[name].schema, meta=meta, after=after)
    return graph


def stages(captured: Captured) -> Graph:
    """All graph stages, each verified; the last one."""
    verified(captured.graph, "capture")
    leaves: list[OutputLeaf] = []
    place = 0
    for leaf in captured.outputs:
        if isinstance(leaf, ArrayLeaf | ScalarLeaf):
            operand = leaf.value if isinstance(leaf, ArrayLeaf) else leaf.operand
            leaves.append(ResultLeaf(place, operand.type))
            place += 1
        else:
            leaves.append(leaf)
    functional = verified(
        functionalize(captured.graph, leaves, default_dispatcher()), "functionalize"
    )
    simple = verified(simplify(functional), "simplify")
    pure = verified(decompose(simple, llvm_index(), default_dispatcher()), "decompose")
    return verified(simplify(pure), "simplify after decompose")


def cheaply(fn: Callable[..., Any], inputs: tuple[Any, ...]) -> Outcome:
    """Through the graph stages, the last graph evaluated by NumPy."""

    def evaluated(*args: Any) -> Any:
        captured = capture(fn, args, {})
        graph = stages(captured)
        given = captured.guards.check(args, {})
        assert given is not None
        leaves = call(graph, given, kernel_of, check=True)
        return leaves[0] if captured.out_spec is LEAF else unflatten(captured.out_spec, leaves)

    return run(evaluated, inputs)


def natively(fn: Callable[..., Any], inputs: tuple[Any, ...]) -> Outcome:
    """Compiled; what does not run natively counts as an error of its own."""
    compiled = fxc.compile(fn, fullgraph=True)
    outcome = run(compiled, inputs)
    info = compiled.cache_info()
    if outcome.error is None and info.eager_calls and not overlap(inputs):
        return Outcome(None, AssertionError(f"ran as plain NumPy: {info}"), outcome.inputs)
    return outcome


def overlap(inputs: tuple[Any, ...]) -> bool:
    """Whether different arguments share memory: such a call runs as plain NumPy."""
    arrays = list({id(x): x for x in inputs}.values())
    return any(np.may_share_memory(x, y) for x, y in itertools.combinations(arrays, 2))


def failure(program: Program, level: Level) -> str:
    """How the compiled program differs from the plain one, or ''."""
    fn, inputs = program.load()
    expected = run(fn, inputs())
    found = level(fn, inputs())
    if isinstance(expected.error, NameError):
        return ""
    if isinstance(found.error, CaptureError):
        return f"cannot be captured: {found.error}"
    if level is cheaply and expected.error is not None:
        return ""  # an exception half way is the runtime's affair
    return difference(expected, found)


def check(program: Program, level: Level) -> None:
    text = failure(program, level)
    if text:
        kind = text.split()[0][:6]
        small = shrink(program, lambda p: failure(p, level).startswith(kind))
        pytest.fail(f"{failure(small, level)}\n\n{small}", pytrace=False)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_graphs_of_random_programs(chunk: int) -> None:
    for seed in range(FIRST + chunk, FIRST + CHEAP, CHUNKS):
        check(random_program(seed, overlap=False), cheaply)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_native_random_programs(chunk: int) -> None:
    for seed in range(FIRST + chunk, FIRST + NATIVE, CHUNKS):
        check(random_program(seed), natively)
