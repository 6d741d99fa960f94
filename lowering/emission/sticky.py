"""Native code looks at the processor's floating-point flags where it ends.

See Note [Floating-point flags].
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from fxc.ir.flag_bits import DIVIDE, FLAG_KINDS, HAS_FLAGS, INVALID, OVERFLOW, UNDERFLOW

from ..nests.accesses import accesses
from ..nests.program import Program
from ..nests.statements import (
    Accumulate,
    Compute,
    For,
    If,
    Loop,
    Stmt,
    While,
    walk,
)
from ..operators.scalar_rules import ignored, sets_flag
from .emitter import Emitter
from .llvm_text import FunctionText
from .notice_code import NOTICE_CODE

# Note [Floating-point flags]
# NumPy looks at the processor's sticky flags behind each ufunc, and warns of what it finds as
# ``np.errstate`` says. Native code does so once, where it ends: a few instructions. It clears the
# flags where it starts, in case that something has left any.
# - Nothing is set but "inexact", as a rule: that is all.
# - Else a Python function, ``Notice``, decides by np.errstate and the filters of ``warnings``
#   whether NumPy could say anything. "Underflow" alone is looked at only if the thread's errstate
#   is not NumPy's default: a comparison of two pointers.
# - If it could, native code gives back its ``self``, and the call is replayed as plain NumPy, which
#   then says what it has to say, with its own words, at the user's lines, as often as it has to.
# So flags that NumPy would not set cost time, but are never a wrong warning. The other way round,
# code has to set a flag where NumPy does: elementary functions do so by what they compute for
# special arguments, divisions of integers and casts to them by ``Lanes.report``.
# What ``np.errstate`` in the function says to ignore is dropped nest by nest (``ignoring``): nests
# of which more is told are not merged with those of which less is.
# What comes before a call of NumPy is collected first: NumPy clears the flags. Those that foreign
# calls leave (Note [Foreign calls]) are dropped.
# LLVM takes floating-point operations for free of effects. All that are computed are stored before
# the flags are looked at; of numbers that are returned a copy is. Dead code sets no flags.
# It also computes both arms of a branch if that is quicker, which it is by far in loops: then
# ``if x != 0: y = 1 / x`` divides by zero. And the instructions for the larger and the smaller of
# two floats call a nan invalid. The first call that sets flags has such code made once more, in a
# ``careful`` way, which takes the call: arms stay branches (``stay``), and comparisons are quiet.
# There are no lanes past the end of a loop: see runtime/engine.py.
# ``updated`` names the inputs that a program reads and writes: they are not what they were when the
# flags are looked at; fxc/native/flagged.py says what is done about that.

NOTICE = "floating-point flags"  # among the functions of the pointer table
_ALL = INVALID | DIVIDE | OVERFLOW | UNDERFLOW
_STICKY = 63
_BITS = {kind: bit for bit, kind in FLAG_KINDS.items()}
_GO_ON, _REPLAY, _RAISED = range(3)  # what ``fxc.notice`` gives

_EXTREMES = frozenset(("maximum", "minimum", "py_maximum", "py_minimum"))


def sets_flags(block: Sequence[Stmt]) -> bool:
    """Whether statements may set a flag that NumPy would tell of."""
    return HAS_FLAGS and any(map(sets_flag, walk(tuple(block))))


def is_guarded(arm: Sequence[Stmt]) -> bool:
    """Whether an arm computes what the branch may be there to prevent for some numbers."""
    return any(isinstance(stmt, Compute) and sets_flag(stmt) for stmt in arm)


def has_guarded(block: Sequence[Stmt]) -> bool:
    """Whether there are such arms."""
    branches = (stmt for stmt in walk(tuple(block)) if isinstance(stmt, If))
    return any(is_guarded(stmt.then) or is_guarded(stmt.orelse) for stmt in branches)


def has_early(block: Sequence[Stmt]) -> bool:
    """Whether what may fail is computed in front of a loop that looks whether it has failed."""
    for loop in walk(tuple(block)):
        if isinstance(loop, For | While):
            numbers = [each for each in walk((loop,)) if isinstance(each, Compute)]
            made = {each.name for each in numbers}
            if any(each.op.endswith(" fails") and each.args[-1] not in made for each in numbers):
                return True
    return False


def has_extremes(block: Sequence[Stmt]) -> bool:
    """Whether the larger or smaller of floats is taken beside what NumPy would tell of."""
    return sets_flags(block) and any(map(_is_extreme, walk(tuple(block))))


def _is_extreme(stmt: Stmt) -> bool:
    match stmt:
        case Compute(op=op, arg_dtypes=(dtype, *_)) | Accumulate(combine=op, dtype=dtype):
            return op in _EXTREMES and dtype.kind == "f"
    return False


def stay(f: FunctionText) -> None:
    """What is behind this in a block is run only where the block is come to."""
    f.do('call void asm sideeffect "", ""() nounwind memory(none)')


def updated_inputs(program: Program) -> tuple[int, ...]:
    """The numbers of the inputs that a program both reads and writes."""
    read, written = _used(program)
    return tuple(i for i, name in enumerate(program.inputs) if name in read & written)


def overwritten_inputs(program: Program) -> tuple[int, ...]:
    """The numbers of the inputs that a program writes and does not read."""
    read, written = _used(program)
    return tuple(i for i, name in enumerate(program.inputs) if name in written - read)


def _used(program: Program) -> tuple[set[str], set[str]]:
    """The storages that are read, and those that are written."""
    read: set[str] = set()
    written: set[str] = set()
    for stmt in program.body:
        for access in accesses(program, stmt):
            (written if access.written else read).add(access.storage)
    return read, written


def clear(emitter: Emitter) -> None:
    """At the start of a function: what others have left is not ours."""
    f = emitter.function
    emitter.flags = "%fxc.flags"
    f.stack_lines.append(f"  {emitter.flags} = alloca i32, i64 2, align 8")
    f.do(f"store i32 0, ptr {_collected(emitter)}, align 4")
    drop(emitter)


def drop(emitter: Emitter) -> None:
    """Behind a call of code of which NumPy tells nothing."""
    if not emitter.flags:
        return
    f = emitter.function
    other, on = f.new_label("clear"), f.new_label("clean")
    found = _stored(f, emitter.flags)
    some = f.op(f"icmp ne i32 {f.op(f'and i32 {found}, {_ALL}')}, 0")
    f.do(f"br i1 {some}, label %{other}, label %{on}{f.module.seldom(True)}")
    f.start(other)
    _load(f, emitter.flags, f.op(f"and i32 {found}, {~_STICKY}"))
    f.do(f"br label %{on}")
    f.start(on)


def collect(emitter: Emitter) -> None:
    """Before a call of NumPy, which clears the flags."""
    if emitter.flags:
        f, at = emitter.function, _collected(emitter)
        before = f.op(f"load i32, ptr {at}, align 4")
        f.do(
            f"store i32 {f.op(f'or i32 {before}, {_stored(f, emitter.flags)}')}, ptr {at}, align 4"
        )


@contextmanager
def ignoring(emitter: Emitter, stmt: Loop) -> Iterator[None]:
    """Around a nest: what it alone sets of flags that nobody is to be told of is not kept."""
    is_asked = emitter.has_quiet and emitter.flags and not emitter.is_ignored
    quiet = ignored((stmt,)) if is_asked else frozenset()
    quiet = frozenset(_BITS) if quiet is None else quiet
    if not quiet:
        yield
        return
    collect(emitter)
    emitter.is_ignored = True
    yield
    emitter.is_ignored = False
    f, bits = emitter.function, sum(_BITS[kind] for kind in quiet)
    kept = f.op(f"and i32 {_stored(f, emitter.flags)}, {~bits}")
    _load(f, emitter.flags, kept)


def has_quiet(block: Sequence[Stmt]) -> bool:
    """Whether flags of some statements are to be ignored."""
    return any(getattr(s, "quiet", None) and sets_flag(s) for s in walk(tuple(block)))


def look(emitter: Emitter, numbers: Sequence[tuple[str, int]], replay: str, raised: str) -> None:
    """Where a function ends: go on, or to one of the blocks.

    ``numbers`` are places of numbers, with their sizes in bytes, that are yet to be returned.
    """
    f, module = emitter.function, emitter.module
    shown, offset = "%fxc.numbers", 0
    if numbers:
        f.stack_lines.append(f"  {shown} = alloca [{sum(s for _, s in numbers)} x i8], align 8")
    for place, size in numbers:
        kind, at = f"i{8 * size}", f.op(f"getelementptr i8, ptr {shown}, i64 {offset}")
        f.do(f"store {kind} {f.op(f'load {kind}, ptr {place}, align 1')}, ptr {at}, align 1")
        offset += size
    if numbers:
        _settle(f, shown)
    found = _stored(f, emitter.flags)
    found = f.op(f"or i32 {found}, {f.op(f'load i32, ptr {_collected(emitter)}, align 4')}")
    found = f.op(f"and i32 {found}, {_ALL}")
    ask, decided, on = f.new_label("notice"), f.new_label("decided"), f.new_label("on")
    some = f.op(f"icmp ne i32 {found}, 0")
    f.do(f"br i1 {some}, label %{ask}, label %{on}{module.seldom(True)}")
    f.start(ask)
    notice, variable = emitter.inner_loop(NOTICE, "notice")
    default, _ = emitter.inner_loop(NOTICE, "default")
    module.support[NOTICE_CODE] = None
    module.declare('declare i32 @"fxc.notice"(i32, ptr, ptr, ptr) cold nounwind')
    state = f.op(
        f'call i32 @"fxc.notice"(i32 {found}, ptr {notice}, ptr {variable}, ptr {default})'
    )
    f.do(f"br i1 {f.op(f'icmp eq i32 {state}, {_GO_ON}')}, label %{on}, label %{decided}")
    f.start(decided)
    f.do(f"br i1 {f.op(f'icmp eq i32 {state}, {_RAISED}')}, label %{raised}, label %{replay}")
    f.start(on)


def _collected(emitter: Emitter) -> str:
    return emitter.function.op(f"getelementptr i32, ptr {emitter.flags}, i64 1")


def _stored(f: FunctionText, at: str) -> str:
    """The register with the processor's flags."""
    _settle(f, at)
    f.module.declare("declare void @llvm.x86.sse.stmxcsr(ptr)")
    f.do(f"call void @llvm.x86.sse.stmxcsr(ptr {at})")
    return f.op(f"load i32, ptr {at}, align 4")


def _load(f: FunctionText, at: str, flags: str) -> None:
    """Give the processor its flags."""
    f.module.declare("declare void @llvm.x86.sse.ldmxcsr(ptr)")
    f.do(f"store i32 {flags}, ptr {at}, align 4")
    f.do(f"call void @llvm.x86.sse.ldmxcsr(ptr {at})")
    _settle(f, at)


def _settle(f: FunctionText, at: str) -> None:
    """No load and no store passes this point, and ``at`` is in memory."""
    f.do(f'call void asm sideeffect "", "r,~{{memory}}"(ptr {at})')
