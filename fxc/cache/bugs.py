"""Bugs of ours that processes of the user have met: the last ones are kept on disk for a report.

What is kept is what a report says, so it has no values either; see Note [Masks].
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fxc.ir.asynchronous import hand_on
from fxc.ir.digesting import digest
from fxc.ir.logs import ROOT
from fxc.ir.version import __version__

from . import folder

if TYPE_CHECKING:
    from fxc.compilations.variants import Variant
    from fxc.reporting.traced import TracedCompilation

_KEY = digest(b"the last bugs of fxc")
_MOST = 20  # bugs
_LONGEST = 40_000  # characters of each
_met: set[tuple[str, str]] = set()  # in this process: a bug may be met at each call


def keep_bug(
    function: Callable[..., Any],
    variants: Sequence[Variant],
    error: BaseException,
    options: Mapping[str, str],
) -> None:
    """Keep what there is to say of a bug and of the function that has met it. Nothing is raised."""
    name = getattr(function, "__qualname__", type(function).__name__)
    bug = (name, type(error).__name__)
    if bug in _met or len(_met) >= _MOST:
        return
    _met.add(bug)
    try:
        text = _told(function, name, variants, error, options)
        texts = [*kept_bugs(), text[:_LONGEST]][-_MOST:]
        folder.write(_KEY, json.dumps(texts).encode())
    except Exception as problem:
        hand_on(problem)
        ROOT.info("%s: the bug is not kept for a report: %r", name, problem)


def kept_bugs() -> list[str]:
    """What was kept of bugs, the newest last."""
    found = folder.read(_KEY)
    return [] if found is None else list(map(str, json.loads(found)))


def _told(
    function: Callable[..., Any],
    name: str,
    variants: Sequence[Variant],
    error: BaseException,
    options: Mapping[str, str],
) -> str:
    import time

    from fxc.reporting.bundle import compilations_text
    from fxc.reporting.masking import own_names
    from fxc.reporting.traced import TraceContent, TracedCompilation, TracedFailure
    from fxc.tracing.frames import own_frames

    code = getattr(function, "__code__", None)
    place = None if code is None else (code.co_filename, code.co_firstlineno)
    made = [*_compilations(variants)]
    failed = TracedCompilation(0, 0, variant=len(made) + 1)
    frames = tuple(own_frames(error))
    failed.failure = TracedFailure(type(error).__name__, str(error), None, "", frames)
    for each in (*made, failed):
        each.function, each.place = name, place
        each.options = dict(options)
    text = compilations_text(TraceContent(compilations=[failed, *made]))
    when = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
    return own_names().hidden_in(f"-- {when}, fxc {__version__}\n{text}")


def _compilations(variants: Sequence[Variant]) -> Iterator[TracedCompilation]:
    from fxc.capture.guards.program import Check
    from fxc.ir.text import inputs_text
    from fxc.reporting.traced import TracedCompilation, TracedText
    from fxc.tracing.stages import of_graph

    for number, variant in enumerate(variants, 1):
        captured, lines = variant.captured, of_graph(variant.captured.graph).lines
        yield TracedCompilation(
            0,
            number,
            arguments=(inputs_text(captured.graph),),
            variant=number,
            reason=variant.why,
            stages={"captured": TracedText(lines, ((),) * len(lines))},
            checks=tuple(each.text for each in captured.guards.steps if isinstance(each, Check)),
            seconds=sum(variant.seconds),
            fallbacks=tuple(variant.compilation.fallbacks),
        )
