"""From a call that differs to the step that is wrong and a folder that shows it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fxc.ir.errors import FxcError
from fxc.ir.graph import Graph

from .bisect import Verdict, verdict_of
from .calls import Difference, VerifiedCall
from .cases import Case, case_of
from .reducing import SECONDS, reduced, verdict_or_none
from .reproducer import write

_OF_CAPTURED = ("functionalize", "simplify")


def found(
    difference: Difference,
    folder: Path,
    say: Callable[[str], None],
    seconds: float = SECONDS,
) -> Verdict:
    """The step that is wrong of a call; a small case of it is written to a folder."""
    call = difference.call
    say(f"{_name(call)} differs from NumPy: {difference.text}")
    say("looking for the step that is wrong")
    verdict = verdict_of(call, difference.text)
    say(f"the first step whose result differs: {verdict}")
    case = _case(call, verdict)
    if case is None:
        say("no graph alone shows it: there is no reproducer")
        return verdict
    alone = verdict_or_none(case, verdict.step)
    if alone is None:
        say("the graph alone does not show it: the reproducer is the whole of it")
    else:
        say(f"making it smaller, for {seconds:.0f} s at most")
        case, alone = reduced(case, alone, seconds, lambda nodes: say(f"  {nodes} nodes"))
    try:
        write(folder, case, alone or verdict)
    except OSError as error:
        raise FxcError(f"{folder} cannot be written: {error.strerror or error}") from error
    say(f"wrote {folder}: python {folder / 'show.py'} shows it")
    return verdict


def _name(call: VerifiedCall) -> str:
    return getattr(call.function, "__qualname__", type(call.function).__name__)


def _case(call: VerifiedCall, verdict: Verdict) -> Case | None:
    """A graph before the step that is wrong, from which compilation goes on by itself."""
    from fxc.pipeline.stages import functional_graph

    captured, math = call.captured, call.options.math
    own = ("capture", "what follows native code")
    if verdict.step in own or verdict.step.startswith("the pass "):
        return None
    if verdict.step in _OF_CAPTURED:
        return case_of(captured.graph, call.inputs, math)
    graph: Graph = functional_graph(captured)
    if call.options.passes:
        from fxc.pipeline.passing import passed

        graph = passed(graph, call.options.passes)
    return case_of(graph, call.inputs, math)
