"""Which stage of a compilation, or which pass, is the first whose result differs from NumPy's.

See Note [Bisecting].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from fxc.ir.graph import Graph
from fxc.ir.records import frozen
from fxc.ir.steps import listening
from fxc.lowering.nests.program import Program

from .stage_runs import Run, functional_run, loops_run

if TYPE_CHECKING:
    from .calls import VerifiedCall

# Note [Bisecting]
# Each step of a compilation (steps.py) gives something that NumPy or the evaluator of loop nests
# can run. So the call is compiled again, each result of a step takes the place of native code, and
# what the caller would see is compared with NumPy's. The first step of which it differs is wrong;
# where that cannot be run (the evaluator knows not all statements, and takes its time), all steps
# since the last one that is right may be. Steps behind the loop nests make one: native code.

NATIVE = "native code"


@frozen(eq=False)
class StepRun:
    """What a step has made, as a run, and as text; ``graph`` is what it has, or was made, of."""

    step: str
    made: Graph | Program
    graph: Graph
    run: Run


@frozen(eq=False)
class Verdict:
    """The step that is wrong, what differs, and the last result before it that is right.

    ``doubted`` are steps before it that could not be looked at.
    """

    step: str
    text: str
    before: Graph | Program | None
    after: Graph | Program | None = None
    doubted: tuple[str, ...] = ()

    def __str__(self) -> str:
        others = f" (or {', '.join(self.doubted)}, which could not be run)" if self.doubted else ""
        return f"{self.step}{others}: {self.text}"


def step_runs(compile_it: Callable[[], object]) -> Iterator[StepRun]:
    """What the steps of a compilation make, in their order, those that can be run."""
    made: list[tuple[str, object]] = []
    with listening(lambda step, result: made.append((step, result))):
        compile_it()
    graph: Graph | None = None
    for step, result in made:
        if isinstance(result, Graph):
            graph = result
            if graph.stage != "captured":
                yield StepRun(step, graph, graph, functional_run(graph))
        elif isinstance(result, Program) and graph is not None:
            yield StepRun(step, result, graph, loops_run(graph, result))


def first_wrong(
    steps: Iterator[StepRun],
    native: Run | None,
    differs: Callable[[Run], str],
    before: Graph | None = None,
) -> Verdict | None:
    """The first of the steps, and then native code, of which ``differs`` says something.

    It raises ``NotImplementedError`` for what it cannot look at.
    """
    right: Graph | Program | None = before
    doubted: list[str] = []
    for each in steps:
        try:
            text = differs(each.run)
        except NotImplementedError:
            doubted.append(each.step)
            continue
        if text:
            return Verdict(each.step, text, right, each.made, tuple(doubted))
        right = each.made
        doubted.clear()
    text = "" if native is None else differs(native)
    return Verdict(NATIVE, text, right, None, tuple(doubted)) if text else None


def verdict_of(call: VerifiedCall, text: str) -> Verdict:
    """Which step is wrong of a call that differs by ``text``."""
    from fxc.pipeline.stages import compile_captured, result_leaves

    from .stage_runs import captured_run

    captured, options = call.captured, call.options
    expected, _ = call.expected()
    leaves = result_leaves(captured)
    if not call.shows:
        found = call.difference(
            expected, call.by(captured_run(captured.graph, leaves)), aliases=False
        )
        if found:
            return Verdict("capture", found, None, captured.graph)

    def compile_it() -> Any:
        return compile_captured(captured, options.backend, math=options.math, passes=options.passes)

    def differs(run: Run) -> str:
        def heard(*inputs: Any) -> list[Any]:
            try:
                return run(*inputs)
            except NotImplementedError as error:
                failed.append(error)
                raise

        failed: list[Exception] = []
        now = call.by(heard)
        if failed:
            raise failed[0]
        return call.difference(expected, now)

    watch = call.variant.watch
    native = call.compilation.run if watch is None else watch.run
    verdict = first_wrong(step_runs(compile_it), native, differs, captured.graph)
    return verdict or Verdict("what follows native code", text, None)
