"""The text of a program → the program: what ``text`` has printed, or a test has written.

What is inlined gets a name of its own, ``t.0``. Constants that were left out have no data, calls of
NumPy have arguments of which nothing is known but the buffers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from fxc.ir.records import replace
from fxc.ir.symbols import Dim, symbol

from ..machine.target import SERIAL, Target
from .boxed_args import BufferArg
from .buffers import BOOL, F64, I64, Atom
from .neutral import usual_start
from .parse_header import Header
from .parse_line import LoopLine, Names, Opaque, lines_of
from .program import Program
from .statements import (
    Accumulate,
    Allocate,
    Apply,
    Bind,
    Boxed,
    Check,
    For,
    If,
    Loop,
    Matmul,
    Order,
    Stmt,
    Store,
    While,
    walk,
)
from .text_header import standard_inputs, standard_results
from .together import Sums, Together, Way

Block = tuple[Stmt, ...]
_ACCUMULATE = re.compile(r"([\w.]+) = (\w+) (.+)  \[([^\[\]]*(?:\[.*\])?[^\[\]]*)\]")
_CALL = re.compile(r"(.+?) = numpy\.([\w.:]+)\((.*)\)((?:  (?:size|fails|brief)\b.*)?)")
_MATMUL = re.compile(r"([\w.]+) = (begin )?matmul\(([\w.]+), ([\w.]+)\)( (?:up to|from|of|in) .*)?")
_APPLY = re.compile(r"(\w+) ([\w.]+)(?: of ([\w.]+))?")


def parse_loops(text: str, target: Target = SERIAL) -> Program:
    """The program of a text; ``ParseError`` says in which line and column something else was
    expected.
    """
    lines = lines_of(text)
    header = Header(lines)
    parser = _Parser(lines, header, header.names())
    body = parser.block(1)
    for line in lines[parser.at :]:
        line.fail("the end of the text")
    stored = {stmt.buffer for stmt in walk(body) if isinstance(stmt, Store)}
    params, buffers = tuple(header.params), header.buffers
    inputs = standard_inputs(params, buffers.values()) if header.inputs is None else header.inputs
    results = standard_results(buffers.values(), stored)
    return Program(
        header.name,
        buffers,
        params,
        inputs,
        results if header.results is None else header.results,
        body,
        tuple(header.copies),
        header.sizes,
        frozenset(header.undone),
        target,
    )


class _Parser:
    """Reads statements, line by line."""

    def __init__(self, lines: list[LoopLine], header: Header, names: Names) -> None:
        self.lines, self.at, self.names = lines, header.end, names
        self.buffers = header.buffers

    def block(self, depth: int) -> Block:
        """The statements that are so far indented."""
        outer, self.names.block = self.names.block, []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.depth < depth or self.ends_block(line):
                break
            if line.depth > depth:
                line.refuse("indented further than its block")
            self.at += 1
            self.statement(line)
        found, self.names.block = self.names.block, outer
        return tuple(found)

    def ends_block(self, line: LoopLine) -> bool:
        return line.word in ("else", "do", "holds") or line.text.startswith("leave if ")

    def inner(self, line: LoopLine, *, over: str = "") -> Block:
        if over:
            self.names.enter(over)
        body = self.block(line.depth + 1)
        if over:
            self.names.leave()
        return body

    def flag(self, line: LoopLine, *words: str) -> Atom:
        """What the last line of a block says."""
        last = self.lines[self.at] if self.at < len(self.lines) else line
        if last is line or last.depth != line.depth + 1:
            line.refuse(f"its block does not end with {' '.join(words)!r}")
        self.at += 1
        last.expect(*words)
        return last.only(self.names, BOOL)

    def statement(self, line: LoopLine) -> None:
        kinds: dict[str, Callable[[LoopLine], None]] = {
            "for": self.nest,
            "loop": self.user_loop,
            "while": self.while_loop,
            "if": self.branch,
            "raise": self.check,
            "size": self.bind,
            "allocate": self.allocate,
        }
        if line.word in kinds and not re.match(r"\w+ = |\w+\[", line.text):
            kinds[line.word](line)
            return
        for pattern, made in (
            (_CALL, self.call),
            (_MATMUL, self.matmul),
            (_ACCUMULATE, self.accumulate),
            (_APPLY, self.apply),
        ):
            found = pattern.fullmatch(line.text)
            if found is not None:
                made(line, found)
                return
        self.assignment(line)

    def add(self, stmt: Stmt) -> None:
        self.names.block.append(stmt)

    # -- loops and branches

    def nest(self, line: LoopLine) -> None:
        line.expect("for")
        var = line.name("a loop variable")
        line.expect("in", "0:")
        loop = Loop(var, line.dim(self.names), (), note=line.remark)
        loop = replace(loop, **self.options(line))
        self.add(replace(loop, body=self.inner(line, over=var)))

    def options(self, line: LoopLine) -> dict[str, Any]:
        """What is said of a loop behind its size."""
        found: dict[str, Any] = {}
        while not line.ended:
            match line.name("a word about the loop"):
                case (
                    "ordered" | "descending" | "moved" | "packed" | "searched" | "postponed" as word
                ):
                    found[word] = True
                case "in":
                    line.expect("turn")
                    found["in_turn"] = True
                case "chunk" | "parallel" as word:
                    found[word] = line.dim(self.names)
                case "stores":
                    found["behind"] = line.integer()
                    line.expect("behind")
                case "lanes":
                    found["lanes"] = line.integer()
                case "overlapping" | "reaching" | "again" as word:
                    found["ends"] = word
                case "end" | "ends" as word:
                    line.expect("first")
                    found["ends"] = f"{word} first"
                case "aligned":
                    line.expect("to")
                    found["aligned"] = line.name("a buffer")
                case word:
                    line.refuse(f"{word!r} says nothing about a loop")
        return found

    def user_loop(self, line: LoopLine) -> None:
        line.expect("loop")
        var = line.name("a loop variable")
        line.expect("in")
        lo = line.atom(self.names, I64)
        line.expect(":")
        hi = line.only(self.names, I64)
        body = self.inner(line, over=var)
        last = self.lines[self.at] if self.at < len(self.lines) else None
        leaves = last is not None and last.depth > line.depth
        before = self.names.block
        self.names.block = [*body]
        leave = self.flag(line, "leave", "if") if leaves else None
        body, self.names.block = tuple(self.names.block), before
        self.add(For(var, lo, hi, body, leave=leave))

    def while_loop(self, line: LoopLine) -> None:
        line.expect("while")
        brief = not line.ended
        if brief:
            line.expect("brief")
        test = self.inner(line)
        before, self.names.block = self.names.block, [*test]
        condition = self.flag(line, "holds")
        test, self.names.block = tuple(self.names.block), before
        self.again(line, "do")
        self.add(While(test, condition, self.inner(line), brief=brief))

    def again(self, line: LoopLine, word: str) -> None:
        """Go past a line that goes on with a statement."""
        if self.at == len(self.lines) or self.lines[self.at].word != word:
            line.refuse(f"there is no {word!r} for it")
        self.at += 1

    def branch(self, line: LoopLine) -> None:
        line.expect("if")
        condition, ends = line.atom(self.names, BOOL), None
        if not line.ended:
            line.expect("ends", "if")
            ends = line.expect("True", "False", any_of=True) == "True"
        then = self.inner(line)
        has_other = self.at < len(self.lines) and self.lines[self.at].text == "else"
        if has_other and self.lines[self.at].depth == line.depth:
            self.at += 1
            self.add(If(condition, then, self.inner(line), ends))
        else:
            self.add(If(condition, then, (), ends))

    # -- others

    def check(self, line: LoopLine) -> None:
        line.expect("raise", "if")
        self.add(Check(line.only(self.names, BOOL)))

    def bind(self, line: LoopLine) -> None:
        line.expect("size")
        name = line.name("a size")
        line.expect("=")
        value = line.atom(self.names, I64)
        line.expect(",", "at", "most")
        most = line.dim(self.names)
        cuts = not line.ended
        if cuts:
            line.expect(";", "cut")
        self.names.kinds.setdefault(name, I64)
        self.names.sizes.setdefault(name, symbol(name, hint=0, lower=0, most=most))
        self.add(Bind(name, value, most, cuts))

    def allocate(self, line: LoopLine) -> None:
        line.expect("allocate")
        self.add(Allocate(line.name("a storage")))

    def matmul(self, line: LoopLine, found: re.Match[str]) -> None:
        out, x, y = map(line.buffer_in(self.buffers), found.group(1, 3, 4))
        stmt = Matmul(out, x, y)
        line.at = found.end(4) + 1
        if line.accept("up"):
            line.expect("to")
            stmt = replace(stmt, done=line.dim(self.names))
        elif line.accept("from"):
            begun = line.name("a buffer")
            line.expect("[")
            place = line.dim(self.names)
            line.expect("]", "behind")
            stmt = replace(stmt, begun=begun, place=place, done=line.dim(self.names))
        elif line.accept("of"):
            line.expect("up", "to")
            most = line.integer()
            line.expect("vectors", ",")
            vectors = line.integer()
            line.expect("x")
            columns = line.integer()
            line.expect("at", "once")
            fewer = 0
            if line.accept(","):
                line.expect("each")
                fewer = line.integer()
                line.expect("fewer")
            stmt = replace(stmt, together=Together(most, vectors, columns, fewer))
        elif line.accept("in"):
            way: Way = "in lanes" if line.accept("lanes") else "in turn"
            if way == "in turn":
                line.expect("turn")
            onto = line.accept("onto")
            stmt = replace(stmt, sums=Sums(way, onto or line.accept("added"), onto))
        self.add(stmt)

    def apply(self, line: LoopLine, found: re.Match[str]) -> None:
        function, out, keys = found.groups()
        named = line.buffer_in(self.buffers)
        self.add(Apply(function, named(out), keys=None if keys is None else named(keys)))

    def call(self, line: LoopLine, found: re.Match[str]) -> None:
        outs, op, given, rest = found.groups()
        args: list[object] = []
        for name in re.findall(r"[A-Za-z_][\w.]*", given):
            if name in self.buffers:
                args.append(BufferArg(name))
        size = re.search(r"  size ([\w.]+) in ([\w.]+)", rest)
        fails = re.search(r"  fails ([\w.]+)", rest)
        failed = "" if fails is None else fails[1]
        if failed:
            self.names.kinds[failed] = BOOL
        made = () if outs == "nothing" else tuple(outs.split(", "))
        named = line.buffer_in(self.buffers)
        self.add(
            Boxed(
                op,
                (Opaque(given, tuple(args)),),
                tuple(map(named, made)),
                size=None if size is None else (size[1], size[2]),
                failed=failed,
                brief="  brief" in rest,
            )
        )

    def accumulate(self, line: LoopLine, found: re.Match[str]) -> None:
        name, combine = found[1], found[2]
        line.expect(name, "=", combine)
        value = line.atom(self.names)
        line.expect("[")
        order: Order = line.expect("any", "sequential", "pairwise", "complex", any_of=True)  # type: ignore[assignment]
        if line.accept("pairwise"):
            order = "complex pairwise"
        dtype = self.names.kind(value)
        levels, position = 1, None
        init: Atom | None = usual_start(combine, dtype)
        while not line.accept("]"):
            match line.expect("through", "at", "from", any_of=True):
                case "through":
                    levels = line.integer()
                    line.expect("loops")
                case "at":
                    position = line.dim(self.names)
                case _:
                    init = line.atom(self.names, dtype)
        line.end()
        if init is None:
            line.refuse(f"from what does {combine} start?")
        self.names.define(name, dtype if position is None else I64, value)
        self.add(Accumulate(name, dtype, combine, value, init, order, levels, position))

    def assignment(self, line: LoopLine) -> None:
        name = line.name("a statement")
        if line.accept("["):
            buffer = line.buffer_in(self.buffers)(name)
            index: tuple[Dim, ...] = line.listed(self.names, "]")
            ahead = line.integer() if line.accept("ahead") else 0
            line.expect("=")
            dtype = self.buffers[buffer].dtype
            value = line.only(self.names, dtype)
            self.add(Store(buffer, index, value, dtype, ahead))
            return
        line.expect("=")
        self.names.wanted = name
        found = line.only(self.names, F64)
        if found != name:
            line.refuse("a scalar is loaded or computed; this is neither")
