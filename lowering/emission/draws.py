"""Draws of single numbers from native code. See Note [Native draws]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fxc.ir.records import frozen
from fxc.ir.symbols import SymExpr
from fxc.ir.types import c_strides
from fxc.ops.draws import Form, Real, form_of

from ..nests.boxed_args import BufferArg
from ..nests.buffers import Buffer
from ..nests.statements import Boxed
from .emitter import Emitter
from .llvm_text import constant, memory_type

# Among the functions of the pointer table: an adapter; what keeps a state, and brings it back.
DRAW, STATES = "draw a number", "keep a state"
MANY = " of an array"  # behind the key of a form
ROOM = 4096  # bytes for a state
_F64, _I64 = np.dtype(np.float64), np.dtype(np.int64)
# The instruction that makes a double or an int of 64 bits of a number, by the kind of its dtype.
_TO_REAL = {"f": "fpext", "i": "sitofp", "u": "uitofp", "b": "uitofp"}
_TO_WHOLE = {"i": "sext", "u": "zext", "b": "zext"}


@frozen
class NativeDraw:
    """A draw with its form, what it is given, the handle and the place of the result."""

    form: Form
    given: tuple[Any, ...]
    state: Buffer
    out: Buffer
    many: bool


def native_draw(stmt: Boxed, buffers: Mapping[str, Buffer]) -> NativeDraw | None:
    """The draw that a call is, if native code makes it."""
    if not stmt.brief or stmt.op != "draw":
        return None
    state, xs, size, _, call, source = stmt.args
    assert isinstance(state, BufferArg)
    assert isinstance(xs, tuple)
    found = form_of(str(source), str(call), xs)
    assert found is not None  # see ``is_drawn``
    out = buffers[stmt.outs[0]]
    if out.strides != c_strides(out.shape, out.dtype.itemsize):
        return None
    return NativeDraw(*found, buffers[state.buffer], out, size is not None)


def emit_draw(emitter: Emitter, draw: NativeDraw, left: str, drawn: str) -> str:
    """Draw, and go on at ``drawn``; or at ``left`` if the method has to. The block that this is."""
    f = emitter.function
    adapter, _ = emitter.inner_loop(DRAW, draw.form.key + MANY * draw.many)
    begin = f.new_label("draw")
    usual = f.module.seldom(False)
    f.do(f"br i1 {f.op(f'icmp ne ptr {adapter}, null')}, label %{begin}, label %{left}{usual}")
    f.start(begin)
    handle = emitter.address(draw.state.name, draw.state.offset)
    given = [f"ptr {f.op(f'load ptr, ptr {handle}, align 8')}"]
    for each, x in zip(draw.form.arguments, draw.given, strict=True):
        given.append(_number(emitter, x, isinstance(each, Real)))
    if draw.many:
        count = "1"
        for dim in draw.out.shape:
            count = f.op(f"mul i64 {count}, {emitter.dim(dim)}")
        given.append(f"i64 {count}")
    given.append(f"ptr {emitter.address(draw.out.name, draw.out.offset)}")
    state = f.op(f"call i32 {adapter}({', '.join(given)})")
    f.do(f"br i1 {f.op(f'icmp ne i32 {state}, 0')}, label %{drawn}, label %{left}{usual}")
    return begin


def _number(emitter: Emitter, x: Any, is_real: bool) -> str:
    """A number with its type, as an argument of the adapter."""
    f, kind = emitter.function, "double" if is_real else "i64"
    if isinstance(x, SymExpr):
        found = emitter.dim(x)
        return f"{kind} {f.op(f'sitofp i64 {found} to double') if is_real else found}"
    if not isinstance(x, BufferArg):
        return f"{kind} {constant(float(x) if is_real else int(x), _F64 if is_real else _I64)}"
    buffer = emitter.program.buffers[x.buffer]
    stored = memory_type(buffer.dtype)
    found = f.op(f"load {stored}, ptr {emitter.address(buffer.name, buffer.offset)}, align 1")
    if stored == kind:
        return f"{kind} {found}"
    make = (_TO_REAL if is_real else _TO_WHOLE)[buffer.dtype.kind]
    return f"{kind} {f.op(f'{make} {stored} {found} to {kind}')}"


def keep_states(emitter: Emitter, handles: Sequence[str], otherwise: str) -> list[tuple[str, str]]:
    """Keep the states of generators, or go to ``otherwise``: the generators, and where they are."""
    f, found = emitter.function, []
    for name in handles:
        keep, _ = emitter.inner_loop(STATES, "")
        at = emitter.address(name, emitter.program.buffers[name].offset)
        generator, room = f.op(f"load ptr, ptr {at}, align 8"), f.stack("i8", ROOM, 16)
        f.stack_lines.append(f"  store ptr null, ptr {room}, align 8")
        state = f.op(f"call i32 {keep}(ptr {generator}, ptr {room})")
        kept = f.new_label("kept")
        f.do(f"br i1 {f.op(f'icmp ne i32 {state}, 0')}, label %{kept}, label %{otherwise}")
        f.start(kept)
        found.append((generator, room))
    return found


def bring_back_states(emitter: Emitter, states: Sequence[tuple[str, str]]) -> None:
    for generator, room in states:
        _, bring = emitter.inner_loop(STATES, "")
        emitter.function.do(f"call void {bring}(ptr {generator}, ptr {room})")


def drop_states(emitter: Emitter, states: Sequence[tuple[str, str]]) -> None:
    """The states are no longer needed. Python may hold one; that is seldom so."""
    f = emitter.function
    for _, room in states:
        f.module.declare("declare void @Py_DecRef(ptr)")
        some, none = f.new_label("held"), f.new_label("dropped")
        held = f.op(f"load ptr, ptr {room}, align 8")
        is_none = f.op(f"icmp eq ptr {held}, null")
        f.do(f"br i1 {is_none}, label %{none}, label %{some}{f.module.seldom(False)}")
        f.start(some)
        f.do(f"call void @Py_DecRef(ptr {held})")
        f.do(f"br label %{none}")
        f.start(none)
