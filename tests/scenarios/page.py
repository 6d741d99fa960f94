"""``docs/semantics.md``: what the scenarios are, and how fxc treats each in each layout."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, assert_never

import numpy as np

from tests.outcomes import Outcome, differences, leaves, run

from .layouts import arguments, program
from .model import LAYOUTS, Absent, Eager, Refused, Scenario

PAGE = Path(__file__).resolve().parents[2] / "docs" / "semantics.md"

_HEAD = """\
# Views, writes and aliases, case by case

<!-- Written by `make semantics` from tests/scenarios; do not edit. -->

Each row is a small program (`tests/scenarios` has them), each column a layout of the arrays that it
is called with. `tests/ops/test_scenarios.py` runs every cell twice, plain and with
`fxc.compile(fullgraph=True)`, and compares **values** (Python types, dtypes, shapes, strides,
writeability and every bit of every result), **writes** (the arguments afterwards, and the memory
around them), **aliases** (which results and arguments are one object, are views of one another, share
memory and from which byte on) and **exceptions** (type and message, and what was written before).
Where a program writes to its arguments, it is run on read-only ones, too.

| mark | the call |
|---|---|
| ✓ | is compiled as a whole and does what NumPy does |
| raises | raises NumPy's exception, having written what NumPy had written by then |
| plain | runs as plain NumPy, which the logger `fxc` says; the note has the reason |
| refused | runs as plain NumPy with a `CaptureWarning`; `fullgraph=True` raises a `CaptureError` with the words of the note |
| – | does not exist |

No mark means another result: there are no known differences but the sign and payload of nans,
floating-point warnings ([numerics](numerics.md)), and `.strides` along axes of size 1 of new arrays in
another order than C.

The layouts: C and Fortran order; every second element of a larger array; all steps negative; no
elements; rank 0; and two arrays that share part of their memory: the two that the program takes,
shifted by one row, or its array and one that its caller reads before and writes after. "Shows" says
what a row has of v(alues returned), w(rites to arguments), a(liases), e(xceptions, also those of
read-only arguments).
"""


def page(scenarios: Sequence[Scenario]) -> str:
    """The whole page."""
    parts = [_HEAD]
    for group, members in itertools.groupby(scenarios, lambda scenario: scenario.group):
        parts.append(f"## {group}\n\n{_table(list(members))}")
    return "\n".join(parts)


def _table(scenarios: Sequence[Scenario]) -> str:
    lines = [
        f"| program | shows | {' | '.join(LAYOUTS)} | notes |",
        "|---|---|" + "---|" * (len(LAYOUTS) + 1),
    ]
    for scenario in scenarios:
        marks = " | ".join(_mark(scenario, layout) for layout in LAYOUTS)
        title = scenario.title.replace("|", "\\|")
        lines.append(f"| {title} | {_shown(scenario)} | {marks} | {_notes(scenario)} |")
    return "\n".join(lines) + "\n"


def _mark(scenario: Scenario, layout: str) -> str:
    expected = scenario.expected(layout)
    if isinstance(expected, Absent):
        return "–"
    if as_numpy(scenario, layout).error is not None:
        return "raises"
    match expected:
        case None:
            return "✓"
        case Eager():
            return "plain"
        case Refused():
            return "refused"
        case _:
            assert_never(expected)


def _notes(scenario: Scenario) -> str:
    notes = []
    for layout in LAYOUTS:
        match scenario.expected(layout):
            case Refused(text) | Eager(text) | Absent(text):
                notes.append(text)
            case _:
                pass
    return "; ".join(dict.fromkeys(notes))


def _shown(scenario: Scenario) -> str:
    """The aspects that the program has, by letter, as plain NumPy runs it on C arrays."""
    outcome = as_numpy(scenario, "C")
    results = [x for _, x in leaves(outcome.result, "result") if x is not None]
    inputs = [x for _, x in leaves(outcome.inputs, "inputs")]
    arrays = [x for x in results + inputs if isinstance(x, np.ndarray)]
    shares = itertools.combinations(arrays, 2)
    has = {
        "v": bool(results),
        "w": writes(scenario, "C"),
        "a": any(np.may_share_memory(x, y) for x, y in shares),
        "e": outcome.error is not None or as_numpy(scenario, "C", read_only=True).error is not None,
    }
    return " ".join(letter for letter, shown in has.items() if shown)


def as_numpy(scenario: Scenario, layout: str, *, read_only: bool = False) -> Outcome:
    """What plain NumPy does."""
    given = arguments(scenario, layout)
    return run(program(scenario, layout), protected(given) if read_only else given)


def writes(scenario: Scenario, layout: str) -> bool:
    """Whether plain NumPy changes an argument."""
    before = Outcome(None, None, arguments(scenario, layout))
    after = Outcome(None, None, as_numpy(scenario, layout).inputs)
    return bool(differences(before, after))


def protected(given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments, whose arrays nobody may write any more."""
    for _, x in leaves(given, "arguments"):
        if isinstance(x, np.ndarray):
            x.flags.writeable = False
    return given
