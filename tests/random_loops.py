"""Random programs of branches and loops: numbers, names that change, lists, helpers, calls.

A program is text: a function, helpers, and some calls, which differ in sizes, numbers and in which
arguments share memory. ``tests/loop_grammar.py`` has the templates it is made of.
``tests/random_programs.py`` has more of NumPy in fewer kinds of statements. ::

    python -c "from tests.random_loops import random_loops; print(random_loops(17))"
"""

from __future__ import annotations

import itertools
import linecache
import math
import random
import re
import textwrap
import warnings
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tests.loop_bounds import bounded
from tests.loop_grammar import (
    CALLS,
    CARRIED,
    CLOSURES,
    EXPRESSIONS,
    FIRST,
    HEAD,
    HELPERS,
    KINDS,
    LEAVES,
    LOOPS,
    NAMES,
    PARAMETERS,
    STATEMENTS,
    TESTS,
)
from tests.written_programs import SCOPE, shrunk

_LOADED = itertools.count()  # a file's name for each program that is loaded
_HEADER = "import math\n\nimport numpy as np\n\nfrom tests.written_programs import State, array\n"
# What ends a ``while``, and is not dropped from it.
_FUEL = re.compile(r" *(k\d+ \+= 1|if k\d+ > .*)$")


class BlockWriter:
    """Writes blocks of random statements, for as long as some are ``left``."""

    rng: random.Random
    left: int

    def statement(self, depth: int) -> list[str]:
        """The lines of a statement; one less is left."""
        raise NotImplementedError

    def lines(self, depth: int, most: int = 3) -> list[str]:
        found: list[str] = []
        for _ in range(self.rng.randint(1, most)):
            found += self.statement(depth)
            if self.left <= 0:
                break
        return found

    def block(self, depth: int, most: int = 3) -> list[str]:
        """The same, indented."""
        return [f"    {line}" for line in self.lines(depth, most)]


@dataclass(frozen=True)
class LoopProgram:
    """Source of ``program`` and of ``calls``: one tuple of arguments after the other."""

    seed: int
    body: tuple[str, ...]  # lines, indented
    calls: tuple[str, ...]  # lines that make the arguments, each

    def __str__(self) -> str:
        return f"# seed {self.seed}\n{_HEADER}\n\n{self.source}"

    @property
    def source(self) -> str:
        text = "\n".join(self.body)
        used = [part for part in HELPERS.split("\n\n\n") if part[4 : part.index("(")] in text]
        lines = [*(f"{part.rstrip()}\n\n" for part in used), HEAD, *self.body, "", ""]
        for place, call in enumerate(self.calls):
            lines += [f"def call{place}():", textwrap.indent(call, "    ")]
            lines += ["    return x, y, A, v, n, c, flag, mode, [], o", "", ""]
        return "\n".join(lines).rstrip() + "\n"

    def load(self) -> tuple[Callable[..., Any], list[Callable[[], tuple[Any, ...]]]]:
        """The function, and functions that make arguments anew."""
        source = self.source
        name = f"<loops {self.seed}, {next(_LOADED)}>"
        space = {**SCOPE, "math": math}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a program may make no sense
            exec(compile(source, name, "exec"), space)
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        weakref.finalize(space["program"], linecache.cache.pop, name, None).atexit = False
        return space["program"], [space[f"call{place}"] for place in range(len(self.calls))]


class _MissingError(Exception):
    """There is no name of a kind."""


class _Writer:
    """Writes a program; a ``short`` one mostly for arguments with which it runs to its end."""

    def __init__(self, seed: int, *, short: bool = False) -> None:
        self.rng = random.Random(seed)
        self.short = short
        self.scope: dict[str, set[str]] = {kind: set() for kind in KINDS}
        for name, kind in PARAMETERS.items():
            self.scope[kind].add(name)
        self.size = 0
        self.loops = 0
        self.fuel = 0
        self.objects = self.rng.random() < 0.25
        self.most = self.rng.choice((1, 2, 3, 5) if short else (4, 6, 9, 12, 16, 24))
        self.returned = self.rng.choices("FFFXXXIBMVWf", k=self.rng.choice((1, 1, 2, 2, 3, 4)))

    # -- expressions

    def expression(self, kind: str, depth: int) -> str:
        templates = EXPRESSIONS[kind]
        if depth <= 0 or self.rng.random() < 0.4:
            templates = templates[: LEAVES[kind]]
        for _ in range(20):
            try:
                text = self._filled(self.rng.choice(templates), depth - 1)
            except _MissingError:
                continue
            return text if text.isidentifier() else f"({text})"
        if kind not in "fibk":
            raise _MissingError
        return "(0)"

    def filled(self, *templates: str, depth: int = 2) -> str:
        """One of the templates, filled; one for which there are the names."""
        while True:
            try:
                return self._filled(self.rng.choice(templates), depth)
            except _MissingError:
                continue

    def _filled(self, template: str, depth: int) -> str:
        """The template with expressions and names in it; what it assigns is in scope afterwards."""
        if not self.objects and re.search(r"\bo\.", template):
            raise _MissingError
        made: list[tuple[str, str]] = []
        first = dict[str, str]()

        def fill(found: re.Match[str]) -> str:
            kind, mark = found[1], found[2]
            if mark == "!":
                return first[kind]
            if kind in EXPRESSIONS:
                return self.expression(kind, depth)
            name = self.target(kind) if mark else self.name(kind)
            if mark:
                made.append((kind, name))
            first.setdefault(kind, name)
            return name

        text = re.sub(r"\{(\w)([=!]?)\}", fill, template)
        for kind, name in made:
            for names in self.scope.values():
                names.discard(name)
            self.scope[kind].add(name)
        return text

    def name(self, kind: str) -> str:
        if kind == "N":
            kind = self.rng.choice("FI")
        names = sorted(self.scope[kind])
        if kind == "I" and self.scope["J"] and self.rng.random() < 0.5:
            names = sorted(self.scope["J"])
        if not names:
            raise _MissingError
        return self.rng.choice(names)

    def target(self, kind: str) -> str:
        rng = self.rng
        own = sorted(self.scope[kind])
        if own and rng.random() < 0.55:
            return rng.choice(own)
        if rng.random() < 0.05:
            return rng.choice([name for names in self.scope.values() for name in sorted(names)])
        return rng.choice(NAMES[kind].split())

    # -- statements

    def block(self, most: int, depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self.rng.randint(1, most)):
            lines += self.statement(depth)
        return lines

    def statement(self, depth: int) -> list[str]:
        rng = self.rng
        self.size += 1
        kind = rng.random()
        if depth < 4 and self.size < self.most:
            if kind < 0.13:
                return self.branch(depth)
            if kind < 0.24 - 0.03 * depth:
                return self.for_loop(depth)
            if kind < 0.27 - 0.03 * depth:
                return self.while_loop(depth)
            if kind < 0.30 - 0.02 * depth and depth < 2:
                return self.closure()
        if kind > 0.985 and len(self.scope["X"]) > 1:
            return self.rotation()
        if self.loops and kind > 0.95 - 0.02 * self.loops:
            jumps = (
                "break",
                "break",
                "continue",
                "continue",
                *(self.result() for _ in range(self.loops)),
            )
            jump = rng.choice(jumps)
            return [self.filled("if {b}:"), f"    {jump}"]
        if kind > 0.945:
            return [self.filled("if {b}:"), f"    {self.result()}"]
        choices, weights = zip(*STATEMENTS, strict=True)
        return self.filled(*rng.choices(choices, weights, k=20)).split("\n")

    def branch(self, depth: int) -> list[str]:
        rng = self.rng
        walrus = rng.random() < 0.08
        lines = [self.filled("if ({F=} := {f}) > {f}:" if walrus else "if {b}:")]
        before = self.copied()
        lines += self.arm(depth)
        after = [self.scope]
        ends = False
        for head, chance in (("elif {b}:", 0.25), ("else:", 0.5)):
            if rng.random() < chance:
                self.scope = {kind: set(names) for kind, names in before.items()}
                lines += [self.filled(head), *self.arm(depth)]
                after.append(self.scope)
                ends = head == "else:"
        self.merge(before, after if ends else [*after, before])
        return lines

    def arm(self, depth: int) -> list[str]:
        lines = self.block(3, depth + 1)
        if self.loops and self.rng.random() < 0.1 + 0.05 * self.loops:
            lines.append(self.rng.choice(("break", "continue", "continue", self.result())))
        return [f"    {line}" for line in lines]

    def copied(self) -> dict[str, set[str]]:
        return {kind: set(names) for kind, names in self.scope.items()}

    def merge(self, before: dict[str, set[str]], after: list[dict[str, set[str]]]) -> None:
        """Behind a statement: mostly what all ways leave; now and then what one of them does."""
        keep = set.union if self.rng.random() < 0.12 else set.intersection
        self.scope = {kind: keep(*(each[kind] for each in after)) for kind in before}

    def for_loop(self, depth: int) -> list[str]:
        rng = self.rng
        heads, weights = zip(*LOOPS, strict=True)
        before = self.copied()
        lines = [self.filled(*rng.choices(heads, weights, k=20), depth=1)]
        return lines + self.body(depth, before)

    def while_loop(self, depth: int) -> list[str]:
        rng = self.rng
        self.fuel += 1
        count = f"k{self.fuel}"
        most = rng.choice(("3", "9", "9", "5"))
        limits = f"{count} < n", f"{count} < len(x)"
        test = f"({self.filled(*TESTS, *limits)})"
        limit = f"{count} < {most}"
        heads = [f"while {limit}:", f"while {limit} and {test}:", f"while {test} and {limit}:"]
        before = self.copied()
        lines = [f"{count} = 0", rng.choice(heads)]
        fuel = f"    {count} += 1"
        if rng.random() < 0.25:
            lines[1] = "while True:"
            fuel += f"\n    if {count} > {most}:\n        break"
        return [*lines, *fuel.split("\n"), *self.body(depth, before)]

    def body(self, depth: int, before: dict[str, set[str]]) -> list[str]:
        self.loops += 1
        block = self.block(4, depth + 1)
        if depth < 2 and self.rng.random() < 0.15:
            block += self.for_loop(depth + 1)
        if self.rng.random() < 0.25:
            carries = self.rng.random() < 0.7 or len(self.scope["X"]) < 2
            block += self.filled(*CARRIED).split("\n") if carries else self.rotation()
        lines = [f"    {line}" for line in block]
        self.loops -= 1
        self.merge(before, [before, self.scope])
        if self.rng.random() < 0.12:
            lines += ["else:", *(f"    {line}" for line in self.block(2, depth + 1))]
            self.merge(before, [before, self.scope])
        return lines

    def closure(self) -> list[str]:
        """A function inside, and a call of it, mostly."""
        lines = self.filled(*CLOSURES, depth=1).split("\n")
        if self.rng.random() < 0.7:
            calls = [call for call, kind in CALLS if self.scope[kind]]
            lines.append(self.filled(*calls))
        return lines

    def rotation(self) -> list[str]:
        """Arrays that change their names."""
        names = sorted(self.scope["X"])
        before = self.rng.sample(names, min(len(names), self.rng.choice((2, 3, 3, 4))))
        after = before[1:] + before[:1]
        return [f"{', '.join(before)} = {', '.join(after)}"]

    def result(self) -> str:
        """A return statement; mostly of the same kinds as the others of the program."""
        rng = self.rng
        if rng.random() < 0.05:
            return f"return {rng.choice(('', 'None', '-1'))}"
        kinds = self.returned if rng.random() < 0.95 else rng.choices("fibxmw", k=rng.randint(1, 2))
        found = []
        for kind in kinds:
            names = sorted(self.scope.get(kind, set()) - {"log"})
            if kind in EXPRESSIONS or not names:
                kind = kind.lower() if kind.lower() in EXPRESSIONS else "f"
                wanted = f"{{{kind}}}"
                wanted = f"np.copy({wanted})" if kind in "xmvw" else wanted
                found.append(self.filled(wanted, wanted, wanted, "0.0"))
            else:
                found.append(rng.choice(names))
        return f"return {', '.join(found)}"

    # -- programs

    def program(self, seed: int) -> LoopProgram:
        rng = self.rng
        lines = [self.filled(rng.choice(FIRST)) for _ in range(rng.randint(1, 4 - 2 * self.short))]
        while not self.size or (self.size < self.most / 2 and rng.random() < 0.85):
            lines += self.for_loop(0) if rng.random() < 0.4 else self.statement(0)
        lines.append(self.result())
        text = bounded("\n".join(lines))
        calls = tuple(self.calls())
        return LoopProgram(seed, tuple(f"    {line}" for line in text.split("\n")), calls)

    def calls(self) -> Iterator[str]:
        """Statements that make arguments, of each call; much is often as in the call before."""
        size, values = -1, dict[str, str]()
        for _ in range(self.rng.choice((1, 2, 2, 3, 4, 5))):
            same = size >= 0 and self.rng.random() < 0.5
            size = size if same else self.size_of_vectors()
            found = self.arguments(size)
            kept = [name for name in found if same and self.rng.random() < 0.7]
            arrays = ("base", "A", "x", "y")  # which may share memory
            if any(name in kept for name in arrays):
                kept += arrays
            values = {name: values[name] if name in kept else found[name] for name in found}
            yield "\n".join(f"{name} = {value}" for name, value in values.items())

    def size_of_vectors(self) -> int:
        sizes = (5, 6, 8, 9, 12, 7) * 3 + (2, 3, 4, 4, 1, 1, 0, 17, 33)
        return self.rng.choice((*sizes[:18], 4, 17, 33) if self.short else sizes)

    def arguments(self, size: int) -> dict[str, str]:
        rng = self.rng

        def vector(kinds: tuple[str, ...], parts: int = 4) -> str:
            return f"array({rng.choice(kinds)!r}, ({size},), {rng.randint(0, 5)})"

        floats = ("f8",) * 24 + ("f4", "f4", "i8", "i4", "u1", "c16", "b1")
        matrix = f"array({rng.choice(floats)!r}, ({size}, {size}), {rng.randint(0, 5)})"
        ints = vector(("i8",) * 10 + ("i4", "u1"))
        counting = f"np.arange({size})"
        own = vector(floats)
        lines = ("A[0]", "A[-1]", "A[:, 0]", "A.diagonal()") if size else ("x",)
        x, y = rng.choice(
            ((own, vector(("f8",))),) * 8
            + ((own, vector(floats)),) * 3
            + ((own, "x"), (own, "x[::-1]"), (own, "x.copy()"), (own, rng.choice(lines)))
            + ((rng.choice(lines) if size else own, vector(floats)),)
            + (("base[1:-1]", rng.choice(("base[2:]", "base[:-2]", "base[:0:-1][1:]"))),)
            + ((f"array('f8', ({2 * size},), 1)[::2]", "x[::-1]"),)
        )
        if self.short and rng.random() < 0.8:
            shapes = (size, size), (size,), (size,)
            matrix, x, y = (f"array('f8', {shape}, {rng.randint(0, 5)})" for shape in shapes)
        return {
            "base": f"array('f8', ({size + 2},), 1)",
            "A": rng.choice(
                (matrix,) * 8 + (f"{matrix}.T", f"{matrix}[::-1]", f"{matrix}[:, ::-1].T")
            ),
            "x": x,
            "y": y,
            "v": rng.choice((ints, f"np.abs({ints})", counting, f"{counting}[::-1].copy()")),
            "n": str(rng.choice((-2, 0, 0, 1, 1, 2, 3, 4, 5, 5, 6, 7, 9, 12, 30))),
            "c": rng.choice(
                ("0.0", "1.0", "0.5", "-1.5", "2.0", "np.float64(0.75)", "1e300", "np.float32(3)")
            ),
            "flag": str(rng.random() < 0.5),
            "mode": repr(rng.choice("ab")),
            "o": rng.choice(
                ("State(0.5, y.copy())",) * 4 + ("State(2.0, x)", "State(1, y, best=0.25)")
            ),
        }


def random_loops(seed: int, *, short: bool = False) -> LoopProgram:
    """The program of this seed."""
    return _Writer(seed, short=short).program(seed)


# ---------------------------------------------------------------- shrinking


def shrink(program: LoopProgram, fails: Callable[[LoopProgram], bool]) -> LoopProgram:
    """A smaller program that still fails: lines, blocks and calls dropped while it does."""
    return shrunk(program, fails, smaller)


def smaller(program: LoopProgram) -> Iterator[LoopProgram]:
    for place in range(len(program.calls) if len(program.calls) > 1 else 0):
        yield replace(program, calls=program.calls[:place] + program.calls[place + 1 :])
    body = program.body
    for start in range(len(body)):
        end = _end(body, start)
        if _FUEL.match(body[start]) or (_FUEL.match(body[start - 1]) and "break" in body[start]):
            continue
        yield replace(program, body=body[:start] + body[end:])
        chain = end
        while chain < len(body) and _continues(body[chain], body[start]):
            chain = _end(body, chain)
        if chain != end:
            yield replace(program, body=body[:start] + body[chain:])
        if end > start + 1:
            inner = tuple(line[4:] for line in body[start + 1 : end])
            yield replace(program, body=body[:start] + inner + body[chain:])
    for start, line in enumerate(body):
        for old, new in _SHORTER:
            changed = re.sub(old, new, line, count=1)
            if len(changed) < len(line) and not _FUEL.match(line):
                yield replace(program, body=(*body[:start], changed, *body[start + 1 :]))


_SHORTER = (
    (r"return .*", "return"),
    (r"(return.*), [^,]*$", r"\1"),
    (r"return \(?[^,]*, ", "return "),
    (r" (and|or) .*:$", ":"),
    (r"(if|while) .* (and|or) ", r"\1 "),
    (r" = .*", " = 1"),
    (r"= .* [-+*/] ", "= "),
    (r" [-+*/] [^=]*$", ""),
    (r"\(.* if (.*) else .*\)", "1.0"),
)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _continues(line: str, start: str) -> bool:
    """Whether a line is an ``else`` of the statement that begins with ``start``."""
    heads = ("else:", "elif ", "except", "finally:")
    return line.lstrip().startswith(heads) and _depth(line) == _depth(start)


def _end(body: tuple[str, ...], start: int) -> int:
    """One past the block that begins at a line."""
    end = start + 1
    while end < len(body) and _depth(body[end]) > _depth(body[start]):
        end += 1
    return end
