"""What a bug report says of compilations: bounded, and without values. See Note [Masks]."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from fxc.ir.errors import WrongResult

from .cards import time_of
from .masking import difference_without_values, graph_without_values, without_values
from .traced import Place, TraceContent, TracedCompilation

_MOST = 20  # compilations
_LINES = 400  # of each graph, and of guards
_WIDTH = 500  # characters of a line
_TEXT = 20_000  # characters of a message
_SLOWEST = 8  # steps


def compilations_text(traced: TraceContent) -> str:
    """The last compilations of a trace, those that failed before others."""
    made = traced.compilations
    chosen = _chosen(made)
    lines = [*_clean(traced.problems)]
    if len(made) > len(chosen):
        lines.append(f"the last {len(chosen)} of {len(made)} compilations, failed ones first kept")
    for each in chosen:
        lines += ["", *_clean(_compilation(each))]
        captured = each.stages.get("captured")
        if captured is not None:
            lines += _bounded(_listed("captured", captured.lines), graph_without_values)
    return "\n".join(lines)


def _chosen(made: Sequence[TracedCompilation]) -> list[TracedCompilation]:
    """In their order: of those that have failed the last ones, then of all others."""
    numbers = sorted(range(len(made)), key=lambda n: (made[n].outcome == "compiled", -n))
    return [made[number] for number in sorted(numbers[:_MOST])]


def _compilation(made: TracedCompilation) -> Iterator[str]:
    part = ", a part of a function" if made.is_part else ""
    yield f"{made.function}, in {_where(made.place)}{part}: {made.outcome}"
    if made.arguments:
        yield f"  arguments: {', '.join(made.arguments)}"
    yield f"  variant {made.variant}" + (f", because {made.reason}" if made.reason else "")
    yield from (f"  option {name}: {value}" for name, value in made.options.items())
    if made.failure is not None:
        yield f"  {made.failure.error} behind {made.failure.after}".removesuffix(" behind ")
        if made.failure.place is not None:
            yield f"  at {_where(made.failure.place)}"
        is_ours = made.failure.message.startswith("FXC")  # another one may say anything
        text = made.failure.message if is_ours else "its text is left out"
        is_wrong = made.failure.error == WrongResult.__name__
        yield from _indented(difference_without_values(text) if is_wrong else text)
        yield from _listed("frames of fxc", made.failure.frames)
    if made.took:
        yield f"  took {time_of(made.took)}"
    slowest = sorted(made.steps, key=lambda step: -step.seconds)[:_SLOWEST]
    yield from (f"    {time_of(s.seconds)} {s.name} {s.size}".rstrip() for s in slowest)
    yield from (f"  a copy: {why}" for why in made.copies)
    yield from (f"  NumPy runs {name}" for name in made.fallbacks)
    yield from (f"  the trace: {each}" for each in made.problems)
    yield from _listed("checks", made.checks)


def _where(place: Place | None) -> str:
    return "?" if place is None else f"{os.path.basename(place[0])}:{place[1]}"


def _listed(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"  {title}:"
        yield from (f"    {each}" for each in lines[:_LINES])
    if len(lines) > _LINES:
        yield f"    … {len(lines) - _LINES} more lines"


def _indented(text: str) -> Iterator[str]:
    lines = without_values(text[:_TEXT]).split("\n")  # arrays take several
    yield from (f"    {each}" for each in lines[:_LINES])


def _clean(texts: Iterable[str]) -> Iterator[str]:
    """The texts without values, each one line of a bounded length."""
    return _bounded((text.replace("\n", " ") for text in texts), without_values)


def _bounded(lines: Iterable[str], masked: Callable[[str], str]) -> Iterator[str]:
    for line in lines:
        yield masked(line if len(line) <= _WIDTH else f"{line[:_WIDTH]}…")
