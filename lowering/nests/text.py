"""The text form of the loop IR; ``parse`` reads it.

What follows from the rest is left out: the dtypes of loads, of constants beside a number of their
kind, and of results that are as their operands; strides in C order; what reductions start from.
Of what NumPy is to tell of (``quiet``, sites) and of large constants nothing is said.
"""

from __future__ import annotations

import numpy as np

from fxc.ir.location import SourceLocation
from fxc.ir.records import field, mutable
from fxc.ir.size_functions import rename_computed
from fxc.ir.symbols import Dim, computed_in
from fxc.ir.text import Line

from .boxed_args import BufferArg
from .buffers import BOOL, I64, Atom, Const
from .neutral import usual_start
from .program import Program
from .statements import (
    Accumulate,
    Allocate,
    Apply,
    Bind,
    Boxed,
    Check,
    Compute,
    For,
    If,
    Index,
    Load,
    Loop,
    Matmul,
    Stmt,
    Store,
    While,
    atoms_read,
    walk,
)
from .text_header import header_lines
from .text_kinds import fits, kind_beside, kind_of_result
from .traffic import traffic

Subject = str | SourceLocation


def _given(arg: object) -> str:
    """An argument of a boxed call."""
    if isinstance(arg, tuple):
        return f"({', '.join(map(_given, arg))})"
    if not isinstance(arg, BufferArg):
        shown = repr(arg)
        return shown if "\n" not in shown else f"<{type(arg).__name__}>"
    shown = arg.buffer
    for step in arg.steps:
        shown = f"{step.op}({', '.join((shown, *map(_given, step.args)))})"
    return shown


def print_program(program: Program) -> str:
    """The text of a program, and how many bytes it moves."""
    return "\n".join(line.text for line in program_lines(program))


def program_lines(program: Program) -> list[Line]:
    """The lines of the text, each with what it is for: the values of the graph that it computes, by
    their names, and the line of the program of a nest or a call, in one frozenset.
    """
    return _Printer(program).printed()


@mutable
class _Printer:
    program: Program
    lines: list[Line] = field(default_factory=list)
    uses: dict[str, int] = field(default_factory=dict)
    parts: dict[str, frozenset[Subject]] = field(default_factory=dict)  # what known texts are for
    subjects: set[Subject] = field(default_factory=set)  # of the line to come

    def printed(self) -> list[Line]:
        program = self.program
        for stmt in walk(program.body):
            for atom in atoms_read(stmt):
                if isinstance(atom, str):
                    self.uses[atom] = self.uses.get(atom, 0) + 1
        moved = traffic(program)
        self.lines += map(Line, header_lines(program, moved))
        self.block(program.body, 1, {})
        self.subjects.clear()
        for copy in program.copies:
            self.say(f"  copy: {' '.join(copy.split())}")
        self.say(f"  bytes moved {moved}; copies {len(program.copies)}")
        return self.lines

    def say(self, text: str) -> None:
        """Add a line for what its subjects are so far."""
        self.lines.append(Line(text, frozenset(self.subjects)))
        self.subjects.clear()

    def note(self, stmt: Stmt) -> None:
        """The line to come is for this statement, too."""
        subject = getattr(stmt, "node", None) or getattr(stmt, "loc", None)
        if subject is not None:
            self.subjects.add(subject)

    def block(
        self,
        body: tuple[Stmt, ...],
        depth: int,
        known: dict[str, str],
        flag: Atom | None = None,
        says: str = "",
    ) -> None:
        """The lines of a block, and what the ``flag`` computed in it says."""
        pad = "  " * depth
        for stmt in body:
            match stmt:
                case Loop():
                    self.settle(pad, known, whole=True)
                    self.note(stmt)
                    self.say(pad + _head(stmt))
                    self.block(stmt.body, depth + 1, dict(known))
                case For(var, lo, hi, inner, leave=leave):
                    bounds = f"{self.atom(lo, known, I64)}:{self.atom(hi, known, I64)}"
                    self.note(stmt)
                    self.settle(pad, known, whole=True)
                    self.say(f"{pad}loop {var} in {bounds}")
                    self.block(inner, depth + 1, dict(known), leave, "leave if")
                case While(test, condition, inner):
                    self.settle(pad, known, whole=True)
                    self.say(f"{pad}while" + " brief" * stmt.brief)
                    self.block(test, depth + 1, dict(known), condition, "holds")
                    self.say(f"{pad}do")
                    self.block(inner, depth + 1, dict(known))
                case If(condition, then, orelse):
                    ends = "" if stmt.ends is None else f"  ends if {stmt.ends}"
                    shown = self.atom(condition, known, BOOL)
                    self.settle(pad, known, whole=True)
                    self.say(f"{pad}if {shown}{ends}")
                    self.block(then, depth + 1, dict(known))
                    if orelse:
                        self.say(f"{pad}else")
                        self.block(orelse, depth + 1, dict(known))
                case _:
                    self.line(stmt, pad, known)
        if flag is not None:
            self.say(f"{pad}{says} {self.atom(flag, known, BOOL)}")

    def line(self, stmt: Stmt, pad: str, known: dict[str, str]) -> None:
        """A statement without others inside."""
        self.note(stmt)
        match stmt:
            case Load(name, _, buffer, index):
                shown = self.element(buffer, index, known) + _ahead(stmt)
                self.define(pad, name, shown, known)
            case Compute(name):
                self.define(pad, name, self.computed(stmt, known), known)
            case Index(name, dtype, value):
                kind = "" if dtype == I64 else f": {dtype}"
                self.define(pad, name, f"({self.dim(value, known)}{kind})", known)
            case Store(buffer, index, value, dtype):
                target = self.element(buffer, index, known) + _ahead(stmt)
                shown = self.atom(value, known, dtype)
                self.subjects |= self.parts.get(str(value), frozenset())
                self.settle(pad, known)
                self.say(f"{pad}{target} = {shown}")
            case Accumulate(name, _, combine, value):
                shown = self.atom(value, known)
                self.say(f"{pad}{name} = {combine} {shown}  [{self.carried(stmt, known)}]")
            case Check(failed):
                self.say(f"{pad}raise if {self.atom(failed, known, BOOL)}")
            case Bind(name, value, most):
                cut = "; cut" if stmt.cuts else ""
                shown = self.atom(value, known, I64)
                self.say(f"{pad}size {name} = {shown}, at most {most}{cut}")
            case Allocate(storage):
                self.say(f"{pad}allocate {storage}")
            case Matmul(out, x, y, done=done, begun=begun, place=place):
                begin, end = "", ""
                if begun is not None:
                    end = f" from {begun}[{place}] behind {done}"
                elif done is not None:
                    begin, end = "begin ", f" up to {done}"
                elif stmt.together is not None:
                    end = f" {stmt.together}"
                elif stmt.sums is not None:
                    end = f" {stmt.sums}"
                self.say(f"{pad}{out} = {begin}matmul({x}, {y}){end}")
            case Apply(function, out, keys=keys):
                of = f" of {keys}" if keys is not None else ""
                self.say(f"{pad}{function} {out}{of}")
            case Boxed(op, args, outs):
                shown = ", ".join(map(_given, args))
                size = "" if stmt.size is None else f"  size {stmt.size[0]} in {stmt.size[1]}"
                fails = f"  fails {stmt.failed}" if stmt.failed else ""
                brief = "  brief" * stmt.brief
                outs_ = ", ".join(outs) or "nothing"
                self.say(f"{pad}{outs_} = numpy.{op}({shown}){size}{fails}{brief}")

    def computed(self, stmt: Compute, known: dict[str, str]) -> str:
        """An operation on its operands; with its dtype if that does not follow."""
        dtypes = stmt.arg_dtypes
        beside = [d for x, d in zip(stmt.args, dtypes, strict=True) if not isinstance(x, Const)]
        args = []
        for x in stmt.args:
            standard = isinstance(x, Const) and kind_beside(x.value, beside)
            args.append(self.atom(x, known, standard or None))
        kind = "" if stmt.dtype == kind_of_result(stmt.op, dtypes) else f":{stmt.dtype}"
        return f"{stmt.op}{kind}({', '.join(args)})"

    def carried(self, stmt: Accumulate, known: dict[str, str]) -> str:
        """How a total is carried: what its line says in brackets."""
        text: str = stmt.order
        if stmt.levels > 1:
            text += f" through {stmt.levels} loops"
        if stmt.position is not None:
            text += f" at {self.dim(stmt.position, known)}"
        if repr(stmt.init) != repr(usual_start(stmt.combine, stmt.dtype)):
            text += f" from {self.atom(stmt.init, known, stmt.dtype)}"
        return text

    def define(self, pad: str, name: str, text: str, known: dict[str, str]) -> None:
        """Keep the text for the one place that uses it, or give it a line."""
        if self.uses.get(name, 0) == 1 and len(text) < 160:
            known[name] = text
            self.parts[name] = frozenset(self.subjects)
            self.subjects.clear()
        else:
            self.parts[name] = frozenset(self.subjects)
            self.say(f"{pad}{name} = {text}")

    def atom(self, atom: Atom, known: dict[str, str], standard: np.dtype | None = None) -> str:
        """A scalar; of a constant the dtype is shown if it is not the standard one."""
        if isinstance(atom, Const):
            if standard is None:
                standard = kind_beside(atom.value, ())
            is_plain = atom.dtype == standard and fits(atom.value, standard)
            return repr(atom.value) if is_plain else f"{atom.dtype}({atom.value!r})"
        if atom in known:
            self.subjects |= self.parts.get(atom, frozenset())
        return known.pop(atom, atom)

    def element(self, buffer: str, index: tuple[Dim, ...], known: dict[str, str]) -> str:
        return f"{buffer}[{', '.join(self.dim(dim, known) for dim in index)}]"

    def dim(self, dim: Dim, known: dict[str, str]) -> str:
        names = {name: self.atom(name, known) for name in computed_in(dim)}
        return str(rename_computed(dim, names))

    def settle(self, pad: str, known: dict[str, str], *, whole: bool = False) -> None:
        """Before memory changes: lines for what has been loaded and is used later; before a block
        for all that is: it is computed here.
        """
        for name in [name for name, text in known.items() if whole or "[" in text]:
            self.lines.append(Line(f"{pad}{name} = {known.pop(name)}", self.parts[name]))


def how_it_runs(loop: Loop) -> str:
    """What is said of a loop behind its size."""
    step = " ordered" if loop.ordered else ""
    step += " descending" if loop.descending else ""
    step += f" chunk {loop.chunk}" if loop.chunk is not None else ""
    step += f" stores {loop.behind} behind" if loop.behind else ""
    step += f" parallel {loop.parallel}" if loop.parallel is not None else ""
    step += f" lanes {loop.lanes}" if loop.lanes > 1 else ""
    step += f" {loop.ends}" if loop.ends != "rest" else ""
    step += f" aligned to {loop.aligned}" if loop.aligned else ""
    words = ("moved", "packed", "in turn", "searched", "postponed")
    said = (loop.moved, loop.packed, loop.in_turn, loop.searched, loop.postponed)
    return step + "".join(f" {word}" for word, holds in zip(words, said, strict=True) if holds)


def _ahead(stmt: Load | Store) -> str:
    return f" ahead {stmt.ahead}" if stmt.ahead else ""


def _head(loop: Loop) -> str:
    """The line that begins a loop nest's loop."""
    remark = "  # " + " ".join(f"{loop.loc or ''} {loop.note}".split())
    head = f"for {loop.var} in 0:{loop.size}{how_it_runs(loop)}"
    return head + (remark if len(remark) > 4 else "")
