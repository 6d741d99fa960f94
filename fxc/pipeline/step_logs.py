"""The steps of a compilation: how long each takes, and what the logs show of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter
from typing import TYPE_CHECKING, Any

from fxc.ir.logs import DEBUG, GRAPH, LLVM, LOOPS, PASSES
from fxc.ir.steps import listening

if TYPE_CHECKING:
    from .stages import Compilation


STAGES = ("capture", "graph passes", "loop nests", "LLVM text", "machine code", "call plan")
"""What steps belong to, in their order."""
# The step that begins a stage; those of graph passes have many names.
_BEGINS = {"capture": 0, "build_loops": 2, "emit_module": 3, "machine code": 4, "plan": 5}


class StageTimes:
    """Seconds that each of the ``STAGES`` of a compilation took."""

    __slots__ = ("_last", "_stage", "seconds")

    def __init__(self) -> None:
        self.seconds = [0.0] * len(STAGES)
        self._stage = 0
        self._last = perf_counter()

    def __call__(self, step: str, made: object) -> None:
        now = perf_counter()
        self._stage = _BEGINS.get(step, max(self._stage, 1))
        self.seconds[self._stage] += now - self._last
        self._last = now


def logging_steps(name: str) -> AbstractContextManager[None]:
    """Log the steps that this thread does in the block for a function of this name."""
    shows = any(each.isEnabledFor(DEBUG) for each in (GRAPH, PASSES, LOOPS, LLVM))
    return listening(_StepLog(name)) if shows else nullcontext()


def costs_of(made: Compilation) -> Iterator[str]:
    """What of a compilation costs: copies, and what is left to NumPy."""
    if made.assembled is not None:
        yield from (f"a copy: {why}" for why in made.assembled.module.program.copies)
    for name, count in Counter(made.fallbacks).items():
        yield f"NumPy itself runs {name}" + (f", {count} times" if count > 1 else "")


class _StepLog:
    """What the logs show of one compilation."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.before: Any = None
        self.last = perf_counter()

    def __call__(self, step: str, made: Any) -> None:
        took = 1e3 * (perf_counter() - self.last)
        if step == "capture":
            GRAPH.debug("%s: captured\n%s", self.name, made)
        elif step == "emit_module":
            LOOPS.debug("%s: loop nests\n%s", self.name, made.program)
            LLVM.debug("%s: LLVM text\n%s", self.name, made.text)
        elif PASSES.isEnabledFor(DEBUG) and step not in ("machine code", "plan"):
            self._pass(step, made, took)
        self.before, self.last = made, perf_counter()

    def _pass(self, step: str, made: Any, took: float) -> None:
        from fxc.ir.text_diff import text_diff  # with difflib: for who reads logs

        change = "\n" + str(made)
        if type(made) is type(self.before):
            same = made is self.before
            change = "" if same else text_diff(str(self.before), str(made), ("before", "after"))
            change = f"\n{change}" if change else ", no change"
        PASSES.debug("%s: %s, %.1f ms%s", self.name, step, took, change)
