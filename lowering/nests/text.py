"""The text form of the loop IR."""

from __future__ import annotations

from dataclasses import field

from fxc.ir.records import mutable
from fxc.ir.size_functions import rename_computed
from fxc.ir.symbols import Dim, computed_in

from .boxed_args import BufferArg
from .buffers import Atom, Const
from .program import Program, prints_programs
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
from .traffic import traffic


def _given(arg: object) -> str:
    """An argument of a boxed call."""
    if isinstance(arg, tuple):
        return f"({', '.join(map(_given, arg))})"
    if not isinstance(arg, BufferArg):
        return repr(arg)
    shown = arg.buffer
    for step in arg.steps:
        shown = f"{step.op}({', '.join((shown, *map(_given, step.args)))})"
    return shown


@prints_programs
def print_program(program: Program) -> str:
    """The text of a program, and how many bytes it moves."""
    return _Printer(program).text()


@mutable
class _Printer:
    program: Program
    lines: list[str] = field(default_factory=list)
    uses: dict[str, int] = field(default_factory=dict)

    def text(self) -> str:
        program = self.program
        for stmt in walk(program.body):
            for atom in atoms_read(stmt):
                if isinstance(atom, str):
                    self.uses[atom] = self.uses.get(atom, 0) + 1
        self.lines.append(f"loops {program.name}")
        for buffer in program.buffers.values():
            shape = ", ".join(map(str, buffer.shape))
            storage = f" = {buffer.storage}" if buffer.storage != buffer.name else ""
            undone = "  # stores are undone if a check fails" * (buffer.name in program.undone)
            kind = f"{buffer.dtype}[{shape}]"
            kind += f" for each of {buffer.copies} threads" if buffer.copies > 1 else ""
            self.lines.append(f"  {buffer.role} {buffer.name}: {kind}{storage}{undone}")
        self.block(program.body, 1, {})
        for copy in program.copies:
            self.lines.append(f"  copy: {copy}")
        self.lines.append(f"  bytes moved {traffic(program)}; copies {len(program.copies)}")
        return "\n".join(self.lines)

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
                    self.settle(pad, known)
                    self.lines.append(pad + _head(stmt))
                    self.block(stmt.body, depth + 1, dict(known))
                case For(var, lo, hi, inner, leave=leave):
                    bounds = f"{self.atom(lo, known)}:{self.atom(hi, known)}"
                    self.lines.append(f"{pad}loop {var} in {bounds}")
                    self.block(inner, depth + 1, dict(known), leave, "leave if")
                case While(test, condition, inner):
                    self.lines.append(f"{pad}while")
                    self.block(test, depth + 1, dict(known), condition, "holds")
                    self.lines.append(f"{pad}do")
                    self.block(inner, depth + 1, dict(known))
                case If(condition, then, orelse):
                    self.lines.append(f"{pad}if {self.atom(condition, known)}")
                    self.block(then, depth + 1, dict(known))
                    if orelse:
                        self.lines.append(f"{pad}else")
                        self.block(orelse, depth + 1, dict(known))
                case _:
                    self.line(stmt, pad, known)
        if flag is not None:
            self.lines.append(f"{pad}{says} {self.atom(flag, known)}")

    def line(self, stmt: Stmt, pad: str, known: dict[str, str]) -> None:
        """A statement without others inside."""
        match stmt:
            case Load(name, _, buffer, index):
                ahead = f" ahead {stmt.ahead}" if stmt.ahead else ""
                self.define(pad, name, self.element(buffer, index, known) + ahead, known)
            case Compute(name, _, op, args):
                text = f"{op}({', '.join(self.atom(a, known) for a in args)})"
                self.define(pad, name, text, known)
            case Index(name, _, value):
                self.define(pad, name, f"({self.dim(value, known)})", known)
            case Store(buffer, index, value):
                target = self.element(buffer, index, known)
                shown = self.atom(value, known)
                self.settle(pad, known)
                self.lines.append(f"{pad}{target} = {shown}")
            case Accumulate(name, _, combine, value, _, order):
                self.lines.append(f"{pad}{name} = {combine} {self.atom(value, known)}  [{order}]")
            case Check(failed):
                self.lines.append(f"{pad}raise if {self.atom(failed, known)}")
            case Bind(name, value):
                cut = "; cut" if stmt.cuts else ""
                self.lines.append(f"{pad}size {name} = {self.atom(value, known)}{cut}")
            case Allocate(storage):
                self.lines.append(f"{pad}allocate {storage}")
            case Matmul(out, x, y, done=done, begun=begun, place=place):
                begin, end = "", ""
                if begun is not None:
                    end = f" from {begun}[{place}]"
                elif done is not None:
                    begin, end = "begin ", f" up to {done}"
                self.lines.append(f"{pad}{out} = {begin}matmul({x}, {y}){end}")
            case Apply(function, out, keys=keys):
                of = f" of {keys}" if keys is not None else ""
                self.lines.append(f"{pad}{function} {out}{of}")
            case Boxed(op, args, outs):
                shown = ", ".join(map(_given, args))
                self.lines.append(f"{pad}{', '.join(outs)} = numpy.{op}({shown})")

    def define(self, pad: str, name: str, text: str, known: dict[str, str]) -> None:
        """Keep the text for the one place that uses it, or give it a line."""
        if self.uses.get(name, 0) == 1 and len(text) < 160:
            known[name] = text
        else:
            self.lines.append(f"{pad}{name} = {text}")

    def atom(self, atom: Atom, known: dict[str, str]) -> str:
        if isinstance(atom, Const):
            return repr(atom.value)
        return known.pop(atom, atom)

    def element(self, buffer: str, index: tuple[Dim, ...], known: dict[str, str]) -> str:
        return f"{buffer}[{', '.join(self.dim(dim, known) for dim in index)}]"

    def dim(self, dim: Dim, known: dict[str, str]) -> str:
        names = {name: self.atom(name, known) for name in computed_in(dim)}
        return str(rename_computed(dim, names))

    def settle(self, pad: str, known: dict[str, str]) -> None:
        """Before memory changes: lines for what has been loaded and is used later."""
        for name in [name for name, text in known.items() if "[" in text]:
            self.lines.append(f"{pad}{name} = {known.pop(name)}")


def _head(loop: Loop) -> str:
    """The line that begins a loop nest's loop."""
    step = " ordered" if loop.ordered else ""
    step += " descending" if loop.descending else ""
    step += f" chunk {loop.chunk}" if loop.chunk is not None else ""
    step += f" stores {loop.behind} behind" if loop.behind else ""
    step += f" parallel {loop.parallel}" if loop.parallel is not None else ""
    step += f" lanes {loop.lanes}" if loop.lanes > 1 else ""
    step += f" {loop.ends}" if loop.ends != "rest" else ""
    step += f" aligned to {loop.aligned}" if loop.aligned else ""
    step += " moved" if loop.moved else ""
    step += " packed" if loop.packed else ""
    step += " in turn" if loop.in_turn else ""
    step += " searched" if loop.searched else ""
    remark = "  # " + f"{loop.loc or ''} {loop.note}".strip()
    return f"for {loop.var} in 0:{loop.size}{step}" + (remark if len(remark) > 4 else "")
