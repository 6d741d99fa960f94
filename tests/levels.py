"""Ways to run a program, each giving an ``Outcome`` to compare with NumPy's.

*Cheap*: captured, functionalized, simplified, decomposed and reinplaced, each graph verified, and
the last one evaluated by NumPy: node by node, updates marked ``into`` in the memory they take over.
*Native*: ``fxc.compile``; ``failure`` also evaluates the graph that was lowered, as above. *Symbolic*: with
sizes as symbols.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import fxc
from fxc.capture.capture import Terms, capture
from fxc.capture.captured import Captured
from fxc.ir.errors import CaptureError, OverlapError
from fxc.ir.evaluate import call
from fxc.ir.graph import Graph
from fxc.ir.tree import LEAF, unflatten
from fxc.ir.verify import verify
from fxc.ops.metas import types_of
from fxc.ops.table import TABLE
from fxc.passes import reinplace
from fxc.passes.fills import fills_apart
from fxc.pipeline.stages import decomposed_graph, functional_graph, llvm_index
from fxc.verifying.in_place import in_place, updating_kernel_of
from tests.numpys_bugs import NEGATES_GAPS_WRONGLY
from tests.outcomes import Outcome, difference, run, same_bits
from tests.written_programs import MARGIN, Program, shrink

Level = Callable[[Callable[..., Any], tuple[Any, ...]], Outcome]


# ---------------------------------------------------------------- cheap


def stages(captured: Captured) -> Graph:
    """All graph stages; the last one, verified. The others are where conftest.py says so."""
    graph = fills_apart(decomposed_graph(functional_graph(captured), llvm_index()))
    return _verified(reinplace.reinplace(graph))


def _verified(graph: Graph) -> Graph:
    verify(graph, table=TABLE.schema_of, meta=types_of, after="reinplace")
    return graph


def cheaply(fn: Callable[..., Any], inputs: tuple[Any, ...]) -> Outcome:
    """Through the graph stages, the last graph evaluated by NumPy."""

    def evaluated(*args: Any) -> Any:
        captured = capture(fn, args, {}, Terms(effects=False))
        return _evaluated(stages(captured), captured, args)

    return run(evaluated, inputs)


def _evaluated(graph: Graph, captured: Captured, args: tuple[Any, ...]) -> Any:
    """The result of a call by the last of the graph stages, evaluated by NumPy."""
    given = captured.guards.check(args, {})
    assert given is not None
    inputs, objects = given[: len(captured.inputs)], given[len(captured.inputs) :]
    leaves = call(in_place(graph), inputs, updating_kernel_of, check=True)
    if captured.epilogue is not None:
        return captured.epilogue.finish(leaves, *objects)
    return leaves[0] if captured.out_spec is LEAF else unflatten(captured.out_spec, leaves)


# ---------------------------------------------------------------- native


def natively(fn: Callable[..., Any], inputs: tuple[Any, ...]) -> Outcome:
    """Compiled; what does not run natively counts as an error of its own."""
    return _counted(fxc.compile(fn, fullgraph=True), inputs)


def symbolically(fn: Callable[..., Any], inputs: tuple[Any, ...]) -> Outcome:
    """Compiled with the sizes of arrays as symbols."""
    return _counted(fxc.compile(fn, fullgraph=True, dynamic=True), inputs)


def _counted(compiled: Any, inputs: tuple[Any, ...]) -> Outcome:
    outcome = run(compiled, inputs)
    info = compiled.cache_info()
    if outcome.error is None and info.eager_calls:
        return Outcome(None, AssertionError(f"ran as plain NumPy: {info}"), outcome.inputs)
    return outcome


def _as_lowered(compiled: Any, inputs: tuple[Any, ...]) -> Outcome:
    """The graph that was lowered for this call, evaluated by NumPy."""

    def evaluated(*args: Any) -> Any:
        variant = compiled._find(args, {})
        graph = _verified(variant.compilation.decomposed)
        return _evaluated(graph, variant.captured, args)

    return run(evaluated, inputs)


# ---------------------------------------------------------------- comparison


# What docs/limits.md says is refused. Without fullgraph the program runs, in parts or as plain NumPy.
_REFUSED = (
    "by where= or in two",
    "into an array that it reads",
    "that shares memory with the mask",
    "that is not in C order",
    "may have replaced by another one",
    "with another step depends on the order",
    "that is one array in one case and another",
)
# A graph has copies of views. Of one array and its transposed view BLAS makes the product by another
# routine than of two arrays, and zeros may have the other sign: a quarter of the last place.
_PRODUCTS = re.compile(r"\b(matmul|dot)\(|@")
_NEGATES = re.compile(r"np\.negative\(.*\bout=")


def failure(program: Program, level: Level, refused: Counter[str] | None = None) -> str:
    """How the program differs from plain NumPy when it is run like this, or ''.

    What is refused for a known reason, which ``refused`` counts, is compared without ``fullgraph``.
    """
    fn, inputs = program.load()
    if NEGATES_GAPS_WRONGLY and _NEGATES.search(program.source):
        return ""
    expected = run(fn, inputs())
    if isinstance(expected.error, NameError):
        return ""  # no program: one that is being shrunk
    compiled = fxc.compile(fn, fullgraph=True)
    found = _counted(compiled, inputs()) if level is natively else level(fn, inputs())
    reason = _reason(found.error)
    if reason:
        if refused is not None:
            refused[reason] += 1
        found = run(fxc.compile(fn), inputs())
        return difference(expected, found) or _beyond(expected.inputs, found.inputs)
    of_graph = 0.25 if _PRODUCTS.search(program.source) else 0.0
    text = _failure(expected, found, level, of_graph if level is cheaply else 0.0)
    if text or found.error is not None or level is not natively:
        return text
    return _failure(expected, _as_lowered(compiled, inputs()), level, of_graph)


def _reason(error: BaseException | None) -> str:
    """Why a program is refused, if it is for a reason that is known, or ''."""
    if isinstance(error, OverlapError):
        return "arguments that overlap as no graph can say"
    if not isinstance(error, CaptureError):
        return ""
    return next((reason for reason in _REFUSED if reason in str(error)), "")


def _failure(expected: Outcome, found: Outcome, level: Level, ulps: float) -> str:
    if isinstance(found.error, CaptureError):
        return f"cannot be captured: {found.error}"
    if level is cheaply and expected.error is not None:
        # Messages and the state of inputs after an exception are the runtime's affair.
        return "" if found.error is not None else f"raises nothing, NumPy {expected.error!r}"
    beyond = _beyond(expected.inputs, found.inputs, ends=ulps > 0)
    return difference(expected, found, lambda _: (ulps, ulps)) or beyond


def _beyond(expected: tuple[Any, ...], found: tuple[Any, ...], *, ends: bool = False) -> str:
    """Whether memory around the arguments was written that is not theirs; or at its ``ends`` alone."""
    part = slice(MARGIN) if ends else slice(None)
    for place, (x, y) in enumerate(zip(expected, found, strict=True)):
        if not isinstance(x, np.ndarray) or not isinstance(x.base, np.ndarray):
            continue
        bases = x.base.ravel("K"), y.base.ravel("K")
        if not all(same_bits(*(base[::step][part] for base in bases)) for step in (1, -1)):
            return f"argument {place}: memory around it differs"
    return ""


def shrunk_failure(program: Program, level: Level, refused: Counter[str] | None = None) -> str:
    """As ``failure``, with the smallest program that fails in the same way."""
    text = failure(program, level, refused)
    if not text:
        return ""
    refusal = re.match(r"cannot be captured: FXC\d+", text)  # else a name that is gone is one
    kind = refusal[0] if refusal else text.split()[0][:6]
    small = shrink(program, lambda p: failure(p, level).startswith(kind))
    return f"{failure(small, level)}\n\n{small}"
