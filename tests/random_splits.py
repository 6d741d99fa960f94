"""Random programs with statements that no graph holds, at random places of random loop programs."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tests.programs import SCOPE, shrunk
from tests.random_loops import LoopProgram, random_loops
from tests.random_loops import _smaller as smaller


class Notes:
    """What the strange statements of a program have seen and drawn, in order."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.out = io.StringIO()
        self.rng = np.random.default_rng(7)

    def note(self, *values: Any) -> None:
        """A call of which fxc knows nothing: the source that it runs is made here."""
        known = {"seen": self.seen, "values": values, "np": np}
        eval(
            "seen.append([v.copy() if isinstance(v, np.ndarray) else repr(v) for v in values])",
            known,
        )

    def state(self) -> list[Any]:
        """All of it, to be compared."""
        return [*self.seen, self.out.getvalue(), repr(self.rng.bit_generator.state)]


# Statements that may stand anywhere; x, y, v and n are parameters of each program.
STRANGE = (
    "notes.note(x, n)",
    "notes.note(y)",
    "notes.note(x, y)",
    "print(n, file=notes.out)",
    "x *= 0.5 + notes.rng.random()",
    "y += notes.rng.integers(3)",
    "n = n + len(eval('[]'))",
    "x, y = [eval('each') for each in (x, y)]",
)
YIELDS = ("yield n", "yield x.sum()", "notes.note((yield n))")
GUARDS = (
    ("try:", "except ZeroDivisionError:", "    notes.note(x)"),
    ("try:", "finally:", "    notes.note(y)"),
    ("try:", "except (ValueError, IndexError) as error:", "    notes.note(str(error), x)"),
    ("with np.errstate(all='ignore'):",),
)


@dataclass(frozen=True)
class SplitProgram(LoopProgram):
    """A program whose ``notes`` are made anew at each load."""

    is_generator: bool = False
    notes: Notes = field(default_factory=Notes, compare=False)

    def load(self) -> tuple[Callable[..., Any], list[Callable[[], tuple[Any, ...]]]]:
        SCOPE["notes"] = self.notes
        try:
            return super().load()
        finally:
            del SCOPE["notes"]


def random_split(seed: int) -> SplitProgram:
    """The program of this seed."""
    base = random_loops(seed, short=seed % 2 == 0)
    rng = random.Random(seed)
    body = [*base.body]
    if rng.random() < 0.4:
        _guard(rng, body)
    is_generator = rng.random() < 0.25
    for _ in range(rng.choice((1, 1, 2, 3))):
        _insert(rng, body, rng.choice(STRANGE))
    if is_generator:
        for _ in range(rng.choice((1, 2))):
            _insert(rng, body, rng.choice(YIELDS))
    return SplitProgram(seed, tuple(body), base.calls, is_generator)


def _places(body: list[str]) -> list[int]:
    """Where a statement may stand: before a line that begins one."""
    depth = [len(line) - len(line.lstrip()) for line in body]
    return [
        place
        for place, line in enumerate(body)
        if not line.lstrip().startswith(("else", "elif", "except", "finally", "case", ")"))
        and depth[place] % 4 == 0
        and not (place and body[place - 1].rstrip().endswith((",", "(", "\\")))
    ]


def _insert(rng: random.Random, body: list[str], statement: str) -> None:
    place = rng.choice(_places(body))
    indent = " " * (len(body[place]) - len(body[place].lstrip()))
    body.insert(place, indent + statement)


def _guard(rng: random.Random, body: list[str]) -> None:
    """Put a handler or a context around a statement with its block."""
    place = rng.choice(_places(body))
    depth = len(body[place]) - len(body[place].lstrip())
    end = place + 1
    while end < len(body) and (
        len(body[end]) - len(body[end].lstrip()) > depth
        or body[end].lstrip().startswith(("else", "elif", "except", "finally"))
    ):
        end += 1
    before, *after = rng.choice(GUARDS)
    indent = " " * depth
    body[place:end] = [
        indent + before,
        *("    " + line for line in body[place:end]),
        *(indent + line for line in after),
    ]


def shrink(program: SplitProgram, fails: Callable[[SplitProgram], bool]) -> SplitProgram:
    """A smaller program that still fails."""
    found: SplitProgram = shrunk(program, fails, _smaller)
    return found


def _smaller(program: SplitProgram) -> Iterator[SplitProgram]:
    for each in smaller(program):
        yield replace(each, notes=Notes())  # type: ignore[type-var]
