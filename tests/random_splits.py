"""Random programs with statements that no graph holds, at random places of random loop programs."""

from __future__ import annotations

import ast
import io
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tests.programs import SCOPE, shrunk
from tests.random_loops import LoopProgram, random_loops
from tests.random_loops import _smaller as smaller


def _shown(value: Any) -> Any:
    """What a call has seen, to be compared: no addresses."""
    if isinstance(value, np.ndarray):
        return value.copy()
    text = repr(value)
    return type(value).__name__ if " at 0x" in text else text


class Notes:
    """What the strange statements of a program have seen and drawn, in order."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.out = io.StringIO()
        self.rng = np.random.default_rng(7)

    def note(self, *values: Any) -> None:
        """A call of which fxc knows nothing: the source that it runs is made here."""
        known = {"seen": self.seen, "values": values, "shown": _shown}
        eval("seen.append([shown(v) for v in values])", known)

    def through(self, value: Any, *others: Any) -> Any:
        """A value, as such a call gives it."""
        self.note(value)
        return value

    shown = staticmethod(_shown)

    def halved(self, value: Any, array: Any) -> Any:
        """A value, as a call gives it that changes something else."""
        eval("array.__imul__(0.5)", {"array": array})
        return value

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
    "y += x.sum() * 2 + notes.halved(1, x) * x.sum()",
    "x[notes.halved(0, y)] = y.sum() * notes.through(n) + y.sum()",
    "n = n + len(eval('[]'))",
    "x, y = [eval('each') for each in (x, y)]",
)
YIELDS = ("yield n", "yield x.sum()", "notes.note((yield n))")
CALLS = (
    "notes.through({})",
    "notes.through({}, x)",
    "(notes.note(n), {})[1]",
    "notes.halved({}, x)",
)
WAITS = ("notes.through({}, (yield n))", "notes.through({}, (yield notes.shown({})))")
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
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        body = _in_expression(rng, body, rng.choice(CALLS + WAITS * is_generator))
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


def _in_expression(rng: random.Random, body: list[str], call: str) -> list[str]:
    """Let one of the expressions of a program go through a call."""
    lines = ["def f():", *("    " + line for line in body)]
    try:
        nodes = [*ast.walk(ast.parse("\n".join(lines)))]
    except SyntaxError:  # a handler stands in the middle: it will be no program
        return body
    found = [each for each in nodes if _may_go_through(each)]
    right = [x.right for x in nodes if isinstance(x, ast.BinOp) and _computes(x.left)]
    found = [x for x in right if _may_go_through(x)] * 5 + found  # with something before them
    if not found:
        return body
    node = rng.choice(found)
    line, left, right = lines[node.lineno - 1], node.col_offset, node.end_col_offset
    lines[node.lineno - 1] = line[:left] + call.replace("{}", line[left:right]) + line[right:]
    return [line[4:] for line in lines[1:]]


def _computes(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp | ast.Call | ast.Subscript)


def _may_go_through(node: Any) -> bool:
    is_value = isinstance(
        node, ast.BinOp | ast.Call | ast.Compare | ast.Name | ast.Subscript | ast.Constant
    )
    if not is_value or node.lineno != node.end_lineno:
        return False
    return isinstance(getattr(node, "ctx", None) or ast.Load(), ast.Load)


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
