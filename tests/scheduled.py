"""Steps of scheduling: loop nests before and after one, and what both do."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fxc.ir.errors import WouldRaise
from fxc.ir.evaluate import call
from fxc.ir.evaluate import evaluate as mean
from fxc.ir.graph import Graph
from fxc.lowering.building.build import build_loops
from fxc.lowering.machine.target import SERIAL, Target
from fxc.lowering.nests.buffers import Buffer, Role
from fxc.lowering.nests.program import Program
from fxc.lowering.nests.statements import Stmt
from fxc.ops.kernels import kernel_of
from fxc.passes.reinplace import reinplace
from fxc.pipeline.stages import decomposed_graph, llvm_index
from fxc.verifying.loop_evaluator import evaluate
from tests.passed import own, parsed

Step = Callable[[Program], Program]


def built(graph: Graph, target: Target = SERIAL) -> Program:
    """The loop nests of a functional graph, before any step of scheduling."""
    index = llvm_index()
    return build_loops(reinplace(decomposed_graph(graph, index)), index.get_kernel, target)


def text(program: Program) -> str:
    """The program without the user's lines."""
    return re.sub(r" +#.*", "", str(program))


def body(program: Program) -> str:
    """The statements alone."""
    lines = text(program).splitlines()
    kept = [
        line[2:]
        for line in lines[1:-1]
        if not re.match(
            r"  (symbols|param|inputs?|results|size \S+ in|output|temp|constant|copy)\b", line
        )
    ]
    return "\n".join(kept)


def program(buffers: Sequence[Buffer], *statements: Stmt, results: Sequence[str] = ()) -> Program:
    """A program of these statements; its inputs are the buffers that are inputs."""
    names = tuple(each.name for each in buffers if each.role == "input")
    known = {each.name: each for each in buffers}
    return Program("f", known, (), names, tuple(results), statements)


def buffer(name: str, role: Role, *shape: Any, dtype: str = "float64") -> Buffer:
    """A buffer in C order."""
    kind, strides, step = np.dtype(dtype), [], np.dtype(dtype).itemsize
    for size in reversed(shape):
        strides.insert(0, step)
        step = step * size
    return Buffer(name, kind, shape, tuple(strides), role, name)


def outcome(program: Program, inputs: Sequence[Any], *, backwards: bool = False) -> list[Any]:
    """The results of a program and its inputs afterwards, or that it would raise."""
    given = own(inputs)
    try:
        return [*evaluate(program, given, backwards=backwards), *given]
    except WouldRaise:
        return ["would raise", *given]


def after(step: Step, before: Program, *inputs: Any) -> Program:
    """What the step makes of a program; it does the same, in whatever order its loops run."""
    made = step(before)
    wanted = outcome(before, inputs)
    for backwards in (False, True):
        for found, expected in zip(outcome(made, inputs, backwards=backwards), wanted, strict=True):
            np.testing.assert_array_equal(found, expected)
    return made


def after_building(step: Step, source: str, *inputs: Any, target: Target = SERIAL) -> Program:
    """The same for the loop nests of a graph's text, and these do what the graph means."""
    graph = parsed(source)
    before = built(graph, target)
    changed = own(inputs)
    call(graph, changed, kernel_of)
    meant = [*mean(graph, inputs, kernel_of), *changed]
    for found, expected in zip(outcome(before, inputs), meant, strict=True):
        np.testing.assert_array_equal(found, expected)
    return after(step, before, *inputs)
