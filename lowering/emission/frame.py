"""Numbers in the stack frame in place of memory, and which storages are known to be apart.

See Note [Scalar loops].
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal as OneOf

from fxc.ir.records import frozen
from fxc.ir.size_functions import hint
from fxc.ir.symbols import Dim, product

from ..nests.addressing import byte_offset, split, step_of
from ..nests.buffers import Const
from ..nests.program import Program
from ..nests.statements import (
    Apply,
    Boxed,
    For,
    Load,
    Loop,
    Matmul,
    Stmt,
    Store,
    While,
    blocks_of,
    walk,
    whole_buffers,
)
from .llvm_text import FunctionText, ModuleText

# Note [Divisions in arms]
# LLVM's loop vectorizer (22.1) makes one division for all lanes of one whose operands are the same
# in all iterations. Where it is in an arm of a branch it runs if the first lane takes the arm, and
# the others then read what was in the register. LLVM also moves into an arm what is used there
# alone. So loops with branches that divide by a register are not given to it.

# Note [Scalar loops]
# A program with loops of the user's program (``For``) that are scalar code goes through LLVM's own
# -O3, others through next to nothing: where there are loops over arrays inside, those have been
# written as they are to be. In scalar code an index, an element or a carried number should be in a
# register from one iteration to the next; lowering does not place those. What LLVM has to know for
# that is said here:
# - what holds one number is a slot of the stack frame, not memory: SROA makes it a register;
# - accesses to different storages are in different alias scopes (``alias_marks``).
# Loops in lanes, those that do the rest of them, ``chains``, and those that LLVM cannot do
# (``goes_backwards``) are marked as finished: not to be unrolled. Short iterations of long loops
# are copied: a jump back for each takes longer than they do, and LLVM copies none with checks.
# Registers of 512 bits lower the clock of Intel's processors before Ice Lake for a millisecond or
# so, to fill an array is enough. Such a program is mostly scalar code, so it does with 256 bits
# unless it computes elementary functions of arrays. So does one that calls NumPy in between: all of
# NumPy would run at the lower clock of 512-bit code. Later processors keep their clock (T. Downs,
# "Ice Lake AVX-512 Downclocking", 2020), and so do AMD's: there the engine lets it have 512.
# Before a nest without such loops stands the call of a function that does nothing: LLVM then clears
# the upper halves of the vector registers (vzeroupper). Scalar code between dirty ones runs at the
# lower clock of 512-bit code. A loop of a few iterations is rather written out.
# A look at an index that passes gives the place that later accesses use (``Emitter._look_at``); the
# way of an index that counts from the end is apart.
# LLVM may not change a bit of a result: no instruction has fast-math flags.

LoopKind = OneOf["none", "array", "scalar"]
WORD = 8
_NARROW = ' "min-legal-vector-width"="0" "prefer-vector-width"="256"'  # of a function
NOTHING = '@"fxc.nothing"'  # a function that does nothing


def loops_of(program: Program) -> LoopKind:
    """Which loops of the user's program there are: with nothing but scalar code in one of them?"""
    found = [stmt for stmt in walk(program.body) if isinstance(stmt, For | While)]
    if any(is_scalar(stmt) for stmt in found):
        return "scalar"
    return "array" if found else "none"


def width(module: ModuleText, program: Program, loops: LoopKind) -> str:
    """How a function says that vectors of 256 bits do, if they do: functions that hand vectors to
    each other are all of one kind, and loops that hand them on need all registers.
    """
    heads = (text.partition("{\n")[0] for text in module.functions)
    wide = bool(module.math) or any("<" in head for head in heads)
    wide = wide or bool(vectors(program, program.body))
    narrow = bool(module.calls) or loops == "scalar"
    return _NARROW if narrow and not wide else ""


def is_scalar(stmt: For | While) -> bool:
    """Whether there are no loops over arrays in a loop."""
    return not any(isinstance(inner, Loop | Matmul | Apply | Boxed) for inner in walk((stmt,)))


def numbers(program: Program, block: Sequence[Stmt]) -> dict[str, int]:
    """The storages of one number that ``block`` only loads and stores, with their sizes."""
    found: dict[str, int] = {}
    by_address: set[str] = set()
    for stmt in walk(tuple(block)):
        if isinstance(stmt, Load | Store):
            buffer = program.buffers[program.buffers[stmt.buffer].storage]
            is_one = product(buffer.shape) == 1 and buffer.copies == 1
            if buffer.role != "constant" and is_one:
                found[buffer.name] = buffer.dtype.itemsize
        elif isinstance(stmt, Matmul | Apply | Boxed):
            by_address.update(program.buffers[name].storage for name, _ in whole_buffers(stmt))
    for storage in by_address:
        found.pop(storage, None)
    return found


def vectors(program: Program, block: Sequence[Stmt]) -> dict[str, int]:
    """The temporaries that loops only meet in all of their lanes at once, with their sizes."""
    found: dict[str, Dim] = {}
    others: set[str] = set()

    def visit(stmts: Sequence[Stmt], whole: Loop | None) -> None:
        for stmt in stmts:
            if isinstance(stmt, Load | Store):
                buffer = program.buffers[stmt.buffer]
                at_once = (
                    whole is not None
                    and [*map(str, stmt.index)] == [whole.var]
                    and buffer.shape == (whole.lanes,)
                )
                if at_once and buffer.role == "temp" and buffer.name == buffer.storage:
                    found[buffer.storage] = product(buffer.shape) * buffer.dtype.itemsize
                else:
                    others.add(buffer.storage)
            elif isinstance(stmt, Matmul | Apply | Boxed):
                others.update(program.buffers[name].storage for name, _ in whole_buffers(stmt))
            fills = isinstance(stmt, Loop) and stmt.size == stmt.lanes and stmt.ends == "rest"
            for inner in blocks_of(stmt):
                visit(inner, stmt if fills and isinstance(stmt, Loop) else None)

    visit(block, None)
    return {name: hint(size) for name, size in found.items() if name not in others}


@frozen
class Slot:
    """A number in the stack frame; ``memory`` is where it comes from and goes to."""

    register: str
    memory: str
    size: int

    def read(self, f: FunctionText) -> None:
        self._copy(f, self.memory, self.register)

    def write(self, f: FunctionText) -> None:
        self._copy(f, self.register, self.memory)

    def _copy(self, f: FunctionText, source: str, target: str) -> None:
        for start in range(0, self.size, WORD):
            kind = f"i{8 * min(WORD, self.size - start)}"
            there, here = (f"getelementptr i8, ptr {p}, i64 {start}" for p in (source, target))
            value = f.op(f"load {kind}, ptr {f.op(there)}, align 1")
            f.do(f"store {kind} {value}, ptr {f.op(here)}, align 1")


def alias_marks(
    module: ModuleText, storages: Sequence[str], sharing: Mapping[str, frozenset[str]]
) -> dict[str, str]:
    """For each storage, what stands behind its loads and stores to say which others it is not.

    ``sharing``: the temporaries that take the same memory as others, one after the other.
    """
    domain = module.metadata("distinct !{!SELF}")
    scopes = {name: module.metadata(f"distinct !{{!SELF, {domain}}}") for name in storages}
    marks: dict[str, str] = {}
    for name in storages:
        same = sharing.get(name, frozenset()) | {name}
        others = ", ".join(scope for other, scope in scopes.items() if other not in same)
        own, apart = module.metadata(f"!{{{scopes[name]}}}"), module.metadata(f"!{{{others}}}")
        marks[name] = f", !alias.scope {own}, !noalias {apart}"
    return marks


def finished(module: ModuleText) -> str:
    """What the last branch of a loop bears that LLVM is to leave as it is."""
    return _loop_mark(module, '"llvm.loop.unroll.disable"', _NO_LANES)


def advice(f: FunctionText, begin: int, copies: int = 0, *, is_scalar: bool = False) -> str:
    """What the last branch of a loop bears, which begins with that line: nothing, how many
    iterations are to be written down one after the other, or that it stays scalar, as is known, or
    as it may divide in an arm. See Note [Divisions in arms].
    """
    lines = f.lines[begin:]
    branches = sum(not line.startswith(" ") for line in lines) > 2  # its test, and its body
    stays = is_scalar or (branches and any(re.search(_DIVIDES, line) for line in lines))
    marks = [_NO_LANES] if stays else []
    if copies:
        marks.append(f'"llvm.loop.unroll.count", i32 {copies}')
    if copies and not stays:  # a loop that has got lanes is finished
        lanes, once = (f.module.metadata(f"!{{!{mark}}}") for mark in (_HAS_LANES, _ONCE))
        marks.append(f'"llvm.loop.vectorize.followup_all", {lanes}, {once}')
    return _loop_mark(f.module, *marks) if marks else ""


_NO_LANES = '"llvm.loop.vectorize.enable", i1 false'
_HAS_LANES = '"llvm.loop.isvectorized", i32 1'
_ONCE = '"llvm.loop.unroll.runtime.disable"'
_DIVIDES = r" = [su](?:div|rem) i\d+ [^,]*, %"


def _loop_mark(module: ModuleText, *marks: str) -> str:
    known = ", ".join(module.metadata(f"!{{!{mark}}}") for mark in marks)
    return f", !llvm.loop {module.metadata(f'distinct !{{!SELF, {known}}}')}"


def goes_backwards(program: Program, loop: For | Loop) -> bool:
    """Whether a loop meets one element after another from the end, and these are narrow. LLVM's
    vectoriser (22) fails an assertion of its own on such loops, which ends the process.
    """
    for stmt in walk(loop.body):
        if isinstance(stmt, Load | Store) and stmt.dtype.itemsize < WORD:
            step = step_of(
                split(byte_offset(program.buffers[stmt.buffer], stmt.index))[0], loop.var
            )
            if isinstance(step, int) and step == -stmt.dtype.itemsize:
                return True
    return False


def is_few(loop: For | While, most: int) -> bool:
    """Whether a loop is known to have fewer iterations."""
    match loop:
        case For(lo=Const(first), hi=Const(last)):
            return int(last) - int(first) < most
        case _:
            return False


def leave_vectors(module: ModuleText) -> str:
    """A call before which LLVM clears the upper halves of vector registers."""
    body = f"define internal void {NOTHING}() noinline optnone {{ ret void }}"
    if body not in module.functions:
        module.functions.append(body)
    return f"call void {NOTHING}()"
