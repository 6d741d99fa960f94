"""The facts that ``fxc.explain`` tells of a compilation."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fxc.capture.guards.program import Check
from fxc.ir.graph import walk
from fxc.ir.records import frozen
from fxc.ir.size_functions import hint
from fxc.ir.text import inputs_text
from fxc.lowering.emission.memory import memory_of
from fxc.lowering.scheduling.kernels import Kernel, kernels
from fxc.pipeline.step_logs import STAGES

from .numpy_memory import numpy_memory
from .results import returned, written

if TYPE_CHECKING:
    from fxc.compilations.variants import Variant


@frozen
class MemoryFacts:
    """Bytes that a call takes at most at once, and temporaries, beside those of plain NumPy."""

    ours: int
    temporaries: int
    numpys: int
    numpys_temporaries: int


@frozen
class VariantFacts:
    """One compilation: what it is for, why it was made, and how many calls it has served."""

    inputs: str
    why: str
    calls: int


@frozen
class CompilationFacts:
    """What one compilation, of a function or a part, does. ``seconds`` are those of its steps."""

    name: str
    inputs: str
    operators: int
    lines: tuple[int, int] | None
    written: tuple[str, ...]
    returned: tuple[str, ...]
    changed: tuple[str, ...]
    kernels: tuple[Kernel, ...]
    fallbacks: tuple[tuple[str, int], ...]
    memory: MemoryFacts | None
    copies: tuple[str, ...]
    guards: tuple[str, ...]
    seconds: tuple[tuple[str, float], ...]


@frozen
class PythonsShare:
    """What of a function Python runs: so many of its ``statements``, at these lines, and why.

    ``is_planned``: no call was split yet, this is what the first one will do.
    """

    statements: int
    of: int
    lines: tuple[int, ...]
    reasons: tuple[str, ...]
    is_planned: bool


def variant_facts(variant: Variant) -> VariantFacts:
    """What there is to say of one of several compilations."""
    return VariantFacts(inputs_text(variant.captured.graph), variant.why, variant.all_calls)


def facts_of(variant: Variant) -> CompilationFacts:
    """What the compilation does."""
    made, captured = variant.compilation, variant.captured
    module = None if made.assembled is None else made.assembled.module
    names = [each.text for each in captured.inputs]
    nodes = [*walk(captured.graph.body)]
    lines = sorted(node.loc.line for node in nodes if node.loc is not None)
    memory = None
    if module is not None:
        arrays, arena, count = memory_of(module)
        numpys, numpys_count = numpy_memory(captured.graph)
        memory = MemoryFacts(hint(arrays) + hint(arena), count, numpys, numpys_count)
    results, changes = returned(made.functional, names, captured.epilogue)
    checks = (step.text for step in captured.guards.steps if isinstance(step, Check))
    return CompilationFacts(
        captured.graph.name,
        inputs_text(captured.graph),
        len(nodes),
        (lines[0], lines[-1]) if lines else None,
        tuple(written(made.functional, names)),
        tuple(results),
        tuple(changes),
        () if module is None else tuple(kernels(module.program)),
        tuple(Counter(made.fallbacks).items()),
        memory,
        () if module is None else module.program.copies,
        tuple(dict.fromkeys(checks)),
        tuple((name, each) for name, each in zip(STAGES, variant.seconds, strict=False) if each),
    )
