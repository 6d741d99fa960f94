"""Random programs as Python source: what one is, how it is loaded, and how it is made smaller.

``tests/random_programs.py`` writes them. A program is only text, so that a failing one can be pasted
into a file and run::

    python -c "from tests.random_programs import random_program; print(random_program(17))"
"""

from __future__ import annotations

import itertools
import linecache
import textwrap
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import pytest

import fxc

P = TypeVar("P")
Failure = Callable[[P], str]  # what is wrong with a program, or ''
_LOADED = itertools.count()  # a file's name for each program that is loaded

HEADER = """\
import numpy as np

import fxc
from tests.written_programs import array, dates, extreme, read_only
"""


@dataclass(frozen=True)
class Program:
    """A function ``program`` and the inputs it is called with, as source text."""

    seed: int
    inputs: tuple[str, ...]  # statements that make the arguments, and what they are windows of
    names: tuple[str, ...]  # of the arguments
    body: tuple[str, ...]  # statements, some of several lines
    returned: tuple[str, ...]
    container: str = "tuple"

    def __str__(self) -> str:
        return f"# seed {self.seed}\n{HEADER}\n\n{self.source}"

    @property
    def source(self) -> str:
        """The two functions."""
        arguments = ", ".join(self.names)
        lines = [
            "def inputs():",
            *(f"    {line}" for line in self.inputs),
            f"    return ({arguments},)",
            "",
            "",
            f"def program({arguments}):",
            *(textwrap.indent(line, "    ") for line in self.body),
            f"    return {CONTAINERS[self.container](self.returned)}",
            "",
        ]
        return "\n".join(lines)

    def load(self) -> tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]:
        """The function, and a function that makes its arguments anew."""
        source = self.source
        name = f"<program {self.seed}, {next(_LOADED)}>"
        space = {**SCOPE}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a program that is being shrunk may make no sense
            exec(compile(source, name, "exec"), space)
        # What captures a function asks for its source; the lines live as long as the function.
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        weakref.finalize(space["program"], linecache.cache.pop, name, None).atexit = False
        return space["program"], space["inputs"]


def _as_dict(names: tuple[str, ...]) -> str:
    return "{" + ", ".join(f"'r{place}': {name}" for place, name in enumerate(names)) + "}"


# How several results are returned.
CONTAINERS: dict[str, Callable[[tuple[str, ...]], str]] = {
    "bare": lambda names: names[0],
    "tuple": lambda names: "(" + "".join(f"{name}, " for name in names).strip() + ")",
    "list": lambda names: f"[{', '.join(names)}]",
    "dict": _as_dict,
    "nested": lambda names: f"({names[0]}, [{', '.join(names[1:])}])",
}


# ---------------------------------------------------------------- what programs call

MARGIN = 64  # bytes around each array that nobody may touch


def array(dtype: str, shape: tuple[int, ...], shift: int = 0, parts: int = 4) -> np.ndarray:
    """Small numbers, all different from their neighbours; quarters (or ``parts``) among the floats.

    The array is a window of a larger one, so that a write outside of it shows in its base.
    """
    kind = np.dtype(dtype)
    size = int(np.prod(shape))
    values: np.ndarray = (np.arange(size) * 7 + shift * 5) % 23 - 8
    if kind.kind == "u":
        values = np.abs(values)
    elif kind.kind == "b":
        values = values % 3 == 0
    elif kind.kind == "f":
        values = values / parts
    elif kind.kind == "c":
        values = values / 4 + 1j * ((np.arange(size) * 5 + shift) % 11 - 4) / 2
    memory = np.full(size * kind.itemsize + 2 * MARGIN, 0x5A, np.uint8)
    window: np.ndarray = memory[MARGIN : MARGIN + size * kind.itemsize].view(kind)
    window[:] = values
    return window.reshape(shape)


def extreme(dtype: str, shape: tuple[int, ...], shift: int = 0) -> np.ndarray:
    """As ``array``, with numbers at the ends of the range among them, and what is no number."""
    x = array(dtype, shape, shift)
    kind = x.dtype.kind
    if kind in "iu":
        ends = np.iinfo(x.dtype)
        special: list[Any] = [ends.max, ends.min, 0, ends.max // 2 + 1]
    elif kind in "fc":
        special = [np.nan, -0.0, np.inf, 0.0, -np.inf, 2.0**-14]
    else:
        return x
    places = x.reshape(-1)[shift % 4 :: 3]
    places[...] = np.resize(np.array(special, dtype), places.shape)
    return x


def dates(size: int, shift: int = 0) -> np.ndarray:
    """Days, one of them none."""
    x = array("i8", (size,), shift).view("M8[D]")
    x[shift % size] = np.datetime64("NaT")
    return x


def read_only(x: np.ndarray) -> np.ndarray:
    """``x`` itself, which nobody may write any more."""
    x.flags.writeable = False
    return x


@dataclass(eq=False)
class State:
    """An object whose attributes a program reads and assigns."""

    t: float
    u: np.ndarray
    k: int = 0
    best: float | None = None

    def step(self, by: float) -> float:
        self.t += by
        self.k += 1
        return self.t

    def deposit(self, place: int, what: float) -> None:
        if what > 0:
            self.u[place] += what


SCOPE: dict[str, Any] = {
    "np": np,
    "fxc": fxc,
    "array": array,
    "dates": dates,
    "extreme": extreme,
    "read_only": read_only,
    "State": State,
}


# ---------------------------------------------------------------- shrinking


def shrink(program: Program, fails: Callable[[Program], bool]) -> Program:
    """A smaller program that still fails: statements and results dropped while it does."""
    return shrunk(program, fails, _smaller)


def shrunk(program: P, fails: Callable[[P], bool], smaller: Callable[[P], Iterable[P]]) -> P:
    """The program, or a smaller one that still fails, of which none that is smaller does."""
    while True:
        found = next(filter(fails, smaller(program)), None)
        if found is None:
            return program
        program = found


def check(programs: Iterable[P], failure: Failure[P], smaller: Callable[[P], Iterable[P]]) -> None:
    """Fail with the first program that has a failure, made smaller as long as it is of one kind."""
    for program in programs:
        text = failure(program)
        if text:
            kind = text.split(":")[0]
            small = shrunk(program, lambda p, kind=kind: failure(p).startswith(kind), smaller)
            pytest.fail(f"{failure(small)}\n\n{small}", pytrace=False)


def defined(label: str, source: str, space: dict[str, Any]) -> dict[str, Any]:
    """The globals of a program, with what it defines, and its lines for tracebacks and captures."""
    name = f"<{label}, {next(_LOADED)}>"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a program may make no sense
        exec(compile(source, name, "exec"), space)
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    return space


def _smaller(program: Program) -> Iterator[Program]:
    body, returned = program.body, program.returned
    for size in (8, 4, 2, 1):
        for place in range(len(body) - size, -1, -1):
            yield replace(program, body=body[:place] + body[place + size :])
    for place in range(len(returned) if len(returned) > 1 else 0):
        yield replace(program, returned=returned[:place] + returned[place + 1 :])
    if program.container != "bare" and len(returned) == 1:
        yield replace(program, container="bare")
    elif program.container not in ("bare", "tuple"):
        yield replace(program, container="tuple")
    for place, line in enumerate(program.inputs):
        name = line.partition(" = ")[0]
        rest = (*program.inputs[place + 1 :], *body, *returned)
        if len(program.names) > 1 and not any(name in other for other in rest):
            yield replace(
                program,
                names=tuple(each for each in program.names if each != name),
                inputs=program.inputs[:place] + program.inputs[place + 1 :],
            )
