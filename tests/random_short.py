"""Short random programs of which hardly one is a graph: what a graph does not hold, at random places.

Calls that nobody knows, draws, prints, handlers, contexts, generators, closures and helpers stand
among a few statements on small arrays, or in a program of ``random_loops``. ::

    python -c "from tests.random_short import random_short; print(random_short(17))"
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tests.random_loops import HEAD, BlockWriter, LoopProgram, random_loops, smaller
from tests.short_world import World
from tests.written_programs import SCOPE, shrunk

# ---------------------------------------------------------------- templates

# Where a template has {X}, {F}, {I} or {B} stands an array, a float, an int or a bool. The first
# LEAVES of each kind have none of these. What follows after STRANGE is no operation of a graph.
LEAVES = {
    "X": ("x", "y", "u", "w", "x", "y", "A[0]", "A[-1]", "x[::-1]", "o.u"),
    "F": ("c", "s", "t", "x[0]", "y[-1]", "o.t", "0.5", "2.0"),
    "I": ("n", "n", "k", "len(x)", "2", "o.k"),
    "B": ("flag", "n > 3", "c > 1.0", "x[0] > 0.0"),
}
FORMS = {
    "X": (
        "({X} + {X})", "({X} * {F} - {X})", "({X} * {F})", "np.sqrt(np.abs({X}))", "(-{X})",
        "np.where({X} > {F}, {X}, {X})", "(np.maximum({X}, {X}) + 0.0)", "{X}[v]", "{X}.cumsum()",
        "{X}.copy()", "({X} if {B} else {X})", "np.add({X}, {X}, out=w)", "({X} / ({F} + {X} * {X}))",
        "np.array([q * {F} for q in {X}])", "({X}, {X})[{I} % 2]", "A.sum(axis=0)", "np.roll({X}, {I})",
    ),
    "F": (
        "({F} * {F})", "({F} + {F})", "({F} - {F})", "{X}.sum()", "({X}.max() + 0.0)", "{X}[{I} % len(x)]",
        "({X} * {X}).sum()", "max({F}, {F})", "abs({F})", "({F} if {B} else {F})", "float({I})",
        "sum(q * {F} for q in {X})", "(s := {F})", "math.sqrt(abs({F}))", "A[{I} % 3, 0]", "o.step({F})",
    ),
    "I": ("({I} + 1)", "({I} % 3)", "int({X}.argmax())", "({I} - {I})", "int({F}) % 5", "len(log)"),
    "B": ("{F} > {F}", "{I} % 2 == 0", "({X} > {F}).any()", "not {B}", "({B} and {B})", "({B} or {B})"),
}  # fmt: skip
STRANGE = {
    "X": (
        "through({X})", "through({X})", "through({X}, {F})", "halved({X}, y)", "halved({X}, x)",
        "RNG.normal(0.0, {F}, len(x))", "RNG.random(len(x))", "RS.normal({X})", "np.random.rand(len(x))",
        "({X} * {F} + halved({X}, x))", "({X} * 2.0 - halved({X}, u))", "RNG.permutation({X})", "eval('x * 2.0')", "np.array([through(q) for q in {X}])", "failing({X}, {I})",
    ),
    "F": (
        "through({F})", "through({F})", "through({F}, {X})", "failing({F}, {I})", "halved({F}, x)", "halved({F}, y)",
        "RNG.random()", "RNG.normal({F}, 0.5)", "PY.random()", "RS.uniform({F}, {F})", "np.random.exponential({F})",
        "random.gauss(0.0, 1.0)", "eval('c * 2.0')", "float(str({F}))", "crc({X})", "memoryview({X})[0]",
        "({X}.sum() * 2.0 + halved({F}, x) * {X}.sum())", "(s * 2.0 + (s := through({F})))", "next(q for q in {X} if through(q) > {F})", "(note({F}), {F})[1]", "o.noted({F})",
    ),
    "I": ("through({I})", "int(RNG.integers(3))", "RNG.binomial(5, 0.5)", "PY.randrange(3)", "len(eval('[1]'))"),
    "B": ("through({B})", "RNG.random() < 0.5", "PY.random() < 0.5", "o.noted({B})"),
}  # fmt: skip
YIELDED = {
    "generator": {"F": ("((yield {F}) or {F})",), "X": (), "I": (), "B": ("((yield {F}) is None)",)},
    "coroutine": {"F": ("(await turn({F}))", "(await waited({F}))"), "X": ("(await turn({X}))",), "I": (), "B": ()},
}  # fmt: skip

PLAIN_STATEMENTS = (
    "u = {X}", "w = {X}", "u = {X}", "x *= {F}", "y += {X}", "x[1:] = {X}[:-1]", "x[1:] += x[:-1]", "u += {X}",
    "s = {F}", "s += {F}", "t = {F}", "c = {F}", "n += 1", "n = {I}", "x[{I} % len(x)] = {F}", "y[{I}] += {F}",
    "A[{I} % 3] += {X}", "A *= {F}", "u = x", "x, y = y, x", "s, t = {F}, {F}", "o.t = {F}", "o.t += {F}",
    "o.u = {X}", "o.u += {X}", "o.k = {I}", "o.best = {F}", "log.append({F})", "log.append({X})", "x[v] += {F}",
    "x[x > {F}] = {F}", "u[:] = {X}", "np.add(x, y, out=x)", "late = {X}", "u, *rest = {X}, {F}, {I}",
    "u, s = {X}, {F}", "table = {{'a': {F}, 'b': {X}}}", "u = [{X}, {X}][{I} % 2]", "o.deposit({I} % len(x), {F})",
    "if {B}: late = {X} * {F}", "w = late + {X}", "late = {X} * {F} + {X}",
)  # fmt: skip
STRANGE_STATEMENTS = (
    "note({X}, {F})", "note({X})", "note({X}, {X})", "note({I})", "print({F}, {I})", "print(f'{{{F}}} {{{I}}}', file=OUT)",
    "OUT.write(f'{{{F}}}\\n')", "LOG.warning('%s %s', {F}, {I})", "warnings.warn(f'of {{{I}}}')",
    "text = str({F}); print(text)", "RNG.shuffle(x)", "x += RNG.normal(0.0, 0.5, len(x))", "RNG.random()", "RS.rand(2)",
    "exec('pass')", "u = eval('x * 2.0')", "del u", "del w", "late = 1.0; del late", "assert {B}, {F}",
    "setattr(o, 't', {F})", "log.append(through({F}))", "s, c = through(({F}, {F}))", "x[:] = through({X})",
    "u, *rest = through([{X}, {F}, {F}])", "x[halved(0, y)] = {F}", "y[through({I}) % len(x)] += {F}",
    "u = [through(q) for q in ({X}, {X})][{I} % 2]", "o.best = through({F})", "log.sort(key=through)",
    "table = {{through({I}): {F}}}", "o.noted({F})", "s = o[{I}]", "o[{I}] = {F}", "PY.shuffle(log)",
    "if {B}: raise ValueError(str({I}))", "failing({F}, {I})", "failing({F}, n)", "if {B}: raise KeyError from ValueError({I})", "note(late)",
)  # fmt: skip
YIELDS = {
    "generator": ("yield {F}", "yield {X}", "s = (yield {I}) or {F}", "note((yield n))", "yield from ({F}, {F})"),
    "coroutine": ("await turn({F})", "s = await turn({F})", "u = {X} + await turn({F})", "await waited({X})"),
}  # fmt: skip
JUMPS = ("break", "continue", "return {F}", "return {X}, {F}", "return")
LOOPS = (
    "for k in range({I} % 5):", "for k in range(3):", "for k in range(n):", "for q in x:", "for k, q in enumerate({X}):",
    "for u in A:", "for s in (1.0, {F}, {F}):", "for k in reversed(range(n)):", "for s in through([0.5, {F}]):",
    "for _ in range(int(through({I})) % 4):", "for q, s in zip(x, {X}):", "for s in items({F}, 3):",
)  # fmt: skip
LOOPS_THAT_WAIT = ("async for s in turns({F}, 3):", "async for s in turns({F}, 3):", *LOOPS[:3])
CONTEXTS = (
    "with np.errstate(all='ignore'):", "with Context({F}) as s:", "with Context({F}) as s, Leaving({I}):",
    "with contextlib.suppress(ValueError, IndexError):", "with swallowing({F}) as s:", "with warnings.catch_warnings():",
)  # fmt: skip
CONTEXTS_THAT_WAIT = ("async with Waiting({F}) as s:", "async with Waiting({F}):", *CONTEXTS[:3])
HANDLED = (
    "except ValueError as error:", "except (ValueError, IndexError) as error:", "except Exception as error:",
    "except ZeroDivisionError:", "except (KeyError, AssertionError):", "except:",
)  # fmt: skip
INNER = ("lambda q: {F} * q", "lambda q, m={F}: through(q) + m", "lambda q: note(q) or {F}")

# What a local variable begins with, if it does.
BEGINS = {
    "u": "u = x * 2.0 + y", "w": "w = y - 1.0", "s": "s = c * 0.5", "t": "t = 0.0", "k": "k = n", "late": "late = x + 1.0",
}  # fmt: skip
_ASSIGNED = re.compile(r"\b(u|w|s|t|k|late|table|text|rest)\b")
_STRANGE = re.compile(
    r"through|halved|failing|note|eval|exec|RNG|RS\.|PY|random|print|LOG|OUT|warn|try|with |await|yield|str\(|crc|def |lambda"
)
_GOES_ON = ("else", "elif", "except", "finally", "case", ")")


# ---------------------------------------------------------------- programs


@dataclass(frozen=True)
class ShortProgram(LoopProgram):
    """A program, a function that it calls, and how it is driven if it is entered again."""

    helper: tuple[str, ...] = ()  # lines of its body
    kind: str = "function"
    driven: str = "on"

    @property
    def source(self) -> str:
        text = super().source
        if self.kind == "coroutine":
            text = text.replace(HEAD, f"async {HEAD}")
        if self.helper:
            lines = ["def helper_of(x, y, c, n, o, log):", *self.helper, "", "", ""]
            text = "\n".join(lines) + text
        return text

    def __str__(self) -> str:
        return f"# driven: {self.driven}\n{super().__str__()}"

    def load_in(
        self, world: World
    ) -> tuple[Callable[..., Any], list[Callable[[], tuple[Any, ...]]]]:
        """As ``load``, with what a world has among the globals."""
        names = world.names()
        SCOPE.update(names)
        try:
            return self.load()
        finally:
            for name in names:
                del SCOPE[name]


class _Writer(BlockWriter):
    def __init__(self, rng: random.Random, kind: str, strange: float) -> None:
        self.rng = rng
        self.kind = kind
        self.strange = strange  # how often an expression is
        self.left = rng.choice((2, 2, 2, 3, 3, 4, 5))  # statements
        self.loops = self.fuel = 0
        self.inner: list[str] = []  # functions that are defined inside
        self.has_helper = False
        self.in_helper = False

    # -- expressions

    def filled(self, template: str, depth: int = 2) -> str:
        return re.sub(
            r"\{([XFIB])\}|\{\{|\}\}",
            lambda found: self.expression(found[1], depth) if found[1] else found[0][0],
            template,
        )

    def expression(self, kind: str, depth: int) -> str:
        rng = self.rng
        if depth <= 0 or rng.random() < 0.45:
            return rng.choice(LEAVES[kind])
        forms = FORMS[kind]
        if rng.random() < self.strange:
            entered = YIELDED.get(self.kind, {}).get(kind, ())
            forms = STRANGE[kind] + entered * (3 if entered else 0)
        elif kind in "FX" and rng.random() < 0.15:
            forms = self.calls(kind) or forms
        return self.filled(rng.choice(forms), depth - 1)

    def calls(self, kind: str) -> tuple[str, ...]:
        found = tuple(f"{name}({{F}})" for name in self.inner)
        if self.has_helper and not self.in_helper:
            found += ("helper_of({X}, {X}, {F}, {I}, o, log)",)
        return tuple(f"({{X}} * {each})" for each in found) if kind == "X" else found

    # -- statements

    def indented(self, depth: int, most: int = 3) -> list[str]:
        return [f"    {line}" for line in self.lines(depth + 1, most)]

    def statement(self, depth: int) -> list[str]:
        rng = self.rng
        self.left -= 1
        if depth < 3 and self.left > 0 and rng.random() < 0.45:
            compound = (self.branch, self.loop, self.handled, self.context, self.function)
            return rng.choices(compound, (3, 3, 3, 1.5, 1.5))[0](depth)
        if rng.random() < 0.06:
            return [self.filled("if {B}:"), f"    {self.jump()}"]
        if self.kind != "function" and not self.in_helper and rng.random() < 0.2:
            return [self.filled(rng.choice(YIELDS[self.kind]))]
        templates = STRANGE_STATEMENTS if rng.random() < 0.35 else PLAIN_STATEMENTS
        return self.filled(rng.choice(templates)).split("\n")

    def jump(self) -> str:
        found = self.filled(self.rng.choice(JUMPS if self.loops else JUMPS[2:]), 1)
        return "return" if found.startswith("return") and "yield" in found else found

    def branch(self, depth: int) -> list[str]:
        lines = [self.filled("if {B}:"), *self.indented(depth)]
        if self.rng.random() < 0.2:
            lines += [self.filled("elif {B}:"), *self.indented(depth, 2)]
        if self.rng.random() < 0.4:
            lines += ["else:", *self.indented(depth, 2)]
        return lines

    def loop(self, depth: int) -> list[str]:
        rng = self.rng
        if rng.random() < 0.2:
            self.fuel += 1
            count = f"k{self.fuel}"
            head = f"while {count} < {rng.choice((2, 3, 'n'))} and {{B}}:"
            lines = [
                f"{count} = 0",
                self.filled(head),
                f"    {count} += 1",
                f"    if {count} > 9: break",
            ]
        else:
            heads = LOOPS_THAT_WAIT if self.waits() else LOOPS
            lines = [self.filled(rng.choice(heads), 1)]
        self.loops += 1
        lines += self.indented(depth)
        if rng.random() < 0.25:
            lines += [f"    {self.filled('if {B}:')}", f"        {self.jump()}"]
        self.loops -= 1
        if rng.random() < 0.1:
            lines += ["else:", *self.indented(depth, 1)]
        return lines

    def waits(self) -> bool:
        return self.kind == "coroutine" and not self.in_helper and self.rng.random() < 0.5

    def handled(self, depth: int) -> list[str]:
        rng = self.rng
        lines = ["try:", *self.indented(depth)]
        if rng.random() < 0.4:
            lines.append(f"    {self.filled('failing({F}, {I})', 1)}")
        heads = rng.sample(HANDLED[:-1], rng.choice((0, 1, 1, 1, 2)))
        if rng.random() < 0.1:
            heads.append(HANDLED[-1])
        for head in heads:
            lines += [head, *self.indented(depth, 1)]
            if rng.random() < 0.6:
                shown = ("note(u, s)", "note(w, t)", "note(x, late)", "raise")
                told = ("note(str(error))", "note(x, repr(error))") if "error" in head else ()
                lines.append(f"    {rng.choice((*shown, *told))}")
        if heads and rng.random() < 0.2:
            lines += ["else:", *self.indented(depth, 1)]
        if not heads or rng.random() < 0.3:
            lines += ["finally:", *self.indented(depth, 2)]
        return lines

    def context(self, depth: int) -> list[str]:
        heads = CONTEXTS_THAT_WAIT if self.waits() else CONTEXTS
        return [self.filled(self.rng.choice(heads), 1), *self.indented(depth)]

    def function(self, depth: int) -> list[str]:
        """A function inside; it may be a generator."""
        rng = self.rng
        if self.in_helper or len(self.inner) == 2:
            return self.branch(depth)
        name = f"inner{len(self.inner)}"
        if rng.random() < 0.4:
            lines = [f"{name} = {self.inside(lambda: self.filled(rng.choice(INNER)))}"]
            self.inner.append(name)
            return lines
        binds = rng.choice(("", "    nonlocal s", "    nonlocal u", "    nonlocal s, x"))
        gives = rng.random() < 0.25
        body = self.inside(
            lambda: [
                *self.indented(depth + 1, 2),
                f"    {self.filled('s = s + {F}' if 's' in binds[4:] else 'note(q)', 1)}",
            ]
        )
        end = "yield" if gives else "return"
        last = self.inside(lambda: self.filled("{F} * q", 1))
        lines = [f"def {name}(q):", *([binds] if binds else []), *body, f"    {end} {last}"]
        if gives:
            return [*lines, self.filled(f"for s in {name}({{F}}):"), *self.indented(depth, 1)]
        self.inner.append(name)
        return lines

    def inside(self, write: Callable[[], Any]) -> Any:
        """What is written for another function: it is not left where this one is."""
        kind, loops, self.kind, self.loops = self.kind, self.loops, "function", 0
        try:
            return write()
        finally:
            self.kind, self.loops = kind, loops

    # -- functions

    def helper(self) -> list[str]:
        self.in_helper = True
        left, self.left = self.left, self.rng.choice((1, 2, 3))
        lines = self.inside(
            lambda: self.begun([*self.lines(1), f"return {self.filled('{F}')}"], "A")
        )
        self.in_helper, self.left, self.has_helper = False, left, True
        return lines

    def body(self) -> list[str]:
        lines: list[str] = []
        while self.left > 0:
            lines += self.statement(0)
        if self.kind == "generator" and not any("yield" in line for line in lines):
            lines.append("yield s")
        lines.append(
            self.filled(
                self.rng.choice(("return {X}, {F}", "return x, u, s", "return {F}", "return u")), 1
            )
        )
        if self.kind == "generator":
            lines[-1] = lines[-1] if "yield" not in lines[-1] else "return x, s"
        return self.begun(lines)

    def begun(self, lines: list[str], more: str = "") -> list[str]:
        """The lines behind others that give their variables a value, mostly."""
        used = {found for line in lines for found in _ASSIGNED.findall(line)}
        begins = [line for name, line in BEGINS.items() if name in used]
        begins = [line for line in begins if self.rng.random() < (0.3 if "late" in line else 0.97)]
        if more:
            begins.insert(0, "A, v, flag = np.stack([x, y, x]), np.arange(len(x)), n > 2")
        return [f"    {line}" for line in begins + lines]


KINDS = ("function",) * 7 + ("generator", "generator", "coroutine")


def random_short(seed: int, *, loops: bool | None = None) -> ShortProgram:
    """The program of this seed; with ``loops`` one of ``random_loops`` with more lines."""
    rng = random.Random(seed)
    kind = rng.choice(KINDS)
    driven = rng.choice(("on", "on", "send", "throw", "close")) if kind != "function" else "on"
    if loops if loops is not None else rng.random() < 0.02:
        return _with_loops(seed, rng, kind, driven)
    writer = _Writer(rng, kind, rng.choice((0.1, 0.2, 0.3)))
    helper = writer.helper() if rng.random() < 0.25 else []
    body = writer.body()
    if not any(_STRANGE.search(line) for line in (*body, *helper)):
        _insert(rng, body, writer.filled(rng.choice(STRANGE_STATEMENTS), 1))
    return ShortProgram(seed, tuple(body), tuple(_calls(rng)), tuple(helper), kind, driven)


def _calls(rng: random.Random) -> Iterator[str]:
    """Statements that make arguments, of each call: mostly other data alone."""
    size = rng.choice((3, 4, 5, 6, 8, 9))
    x, y, n, c = rng.randint(0, 5), rng.randint(0, 5), rng.randint(2, 5), "0.5"
    kind, flag, layout = "f8", rng.random() < 0.5, "x.copy()"
    others = ("x", "x[::-1]", "base[1:-1]", "array('f4', x.shape, 1)", "array('i8', x.shape, 1)")
    if rng.random() < 0.08:
        layout = rng.choice(others)
    for place in range(rng.choice((3, 3, 4))):
        if place and rng.random() < 0.8:
            x, y = rng.randint(0, 5), rng.randint(0, 5)
            n = rng.randint(2, 5) if rng.random() < 0.7 else n
            c = rng.choice(("0.5", "1.5", "-1.5", "2.0", "3.25"))
            if rng.random() < 0.04:
                size = rng.choice((1, 3, 4, 7, 8))
            if rng.random() < 0.03:
                n, flag = rng.choice((0, 1, -1)), not flag
            if rng.random() < 0.02:
                kind = rng.choice(("f4", "i8", "c16"))
        made = f"array('f8', ({size},), {y})" if layout == "x.copy()" else layout
        yield "\n".join((
            f"base = array('f8', ({size + 2},), 1)", f"A = array('f8', (3, {size}), {y + 1})",
            f"x = array('{kind}', ({size},), {x})", f"y = {made}", f"v = np.arange({size})[::-1] % {max(size, 1)}",
            f"n = {n}", f"c = {c}", f"flag = {flag}", "mode = 'a'", f"o = Thing({c}, {'x' if size % 4 == 0 else 'y.copy()'})",
        ))  # fmt: skip


# ---------------------------------------------------------------- in programs of loops


def _with_loops(seed: int, rng: random.Random, kind: str, driven: str) -> ShortProgram:
    base = random_loops(seed, short=True)
    kind = "function" if kind == "coroutine" else kind
    writer = _Writer(rng, kind, 0.2)
    body = [*base.body]
    if rng.random() < 0.4:
        _guard(writer, body)
    for _ in range(rng.choice((1, 1, 2, 3))):
        _insert(rng, body, writer.filled(rng.choice(STRANGE_STATEMENTS), 1))
    if kind == "generator":
        for _ in range(rng.choice((1, 2))):
            _insert(rng, body, writer.filled(rng.choice(YIELDS[kind]), 1))
    begun = writer.begun([line[4:] for line in body])
    calls = tuple(each.replace("State(", "Thing(") for each in base.calls)
    return ShortProgram(seed, tuple(begun), calls, (), kind, driven)


def _places(body: list[str]) -> list[int]:
    """Where a statement may stand: before a line that begins one."""
    return [
        place
        for place, line in enumerate(body)
        if not line.lstrip().startswith(_GOES_ON)
        and _depth(line) % 4 == 0
        and not (place and body[place - 1].rstrip().endswith((",", "(", "\\")))
    ]


def _insert(rng: random.Random, body: list[str], statement: str) -> None:
    place = rng.choice(_places(body))
    indent = " " * _depth(body[place])
    body[place:place] = [indent + line for line in statement.split("\n")]


def _guard(writer: _Writer, body: list[str]) -> None:
    """Put a handler or a context around a statement with its block."""
    rng = writer.rng
    place = rng.choice(_places(body))
    depth = _depth(body[place])
    end = place + 1
    while end < len(body) and (
        _depth(body[end]) > depth or body[end].lstrip().startswith(_GOES_ON)
    ):
        end += 1
    before, after = writer.filled(rng.choice(CONTEXTS), 1), []
    if rng.random() < 0.7:
        head = rng.choice((*HANDLED, "finally:"))
        before, after = "try:", [head, "    note(x)"]
    indent = " " * depth
    body[place:end] = [
        indent + before,
        *("    " + line for line in body[place:end]),
        *(indent + line for line in after),
    ]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


# ---------------------------------------------------------------- shrinking


def shrink(program: ShortProgram, fails: Callable[[ShortProgram], bool]) -> ShortProgram:
    """A smaller program that still fails."""
    found: ShortProgram = shrunk(program, fails, _smaller)
    return found


def _smaller(program: ShortProgram) -> Iterator[ShortProgram]:
    if program.helper:
        yield replace(program, helper=())
    yield from smaller(program)
    for each in smaller(replace(program, body=program.helper, calls=())):
        yield replace(program, helper=each.body)
