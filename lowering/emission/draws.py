"""Draws of single numbers from native code. See Note [Native draws]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fxc.ir.records import frozen
from fxc.ops.draws import Form, Real, form_of

from ..loops import Boxed, Buffer, BufferArg
from .llvm_text import constant, memory_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .emit import Emitter

DRAW = "draw a number"  # among the functions of the pointer table
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


def native_draw(stmt: Boxed, buffers: Mapping[str, Buffer]) -> NativeDraw | None:
    """The draw that a call is, if native code can make it."""
    if stmt.op != "draw":
        return None
    state, xs, size, _, call, source = stmt.args
    out = buffers[stmt.outs[0]]
    assert isinstance(state, BufferArg)
    assert isinstance(xs, tuple)
    found = form_of(str(source), str(call), xs)
    if found is None or size is not None or out.shape or out.dtype.str[1:] != found[0].result:
        return None
    form, given = found
    for each, x in zip(form.arguments, given, strict=True):
        if not _is_taken(x, buffers, isinstance(each, Real)):
            return None
    return NativeDraw(form, given, buffers[state.buffer], out)


def _is_taken(x: Any, buffers: Mapping[str, Buffer], is_real: bool) -> bool:
    """Whether a number becomes a double, or an int of 64 bits, as NumPy makes it one."""
    if isinstance(x, BufferArg):
        dtype = buffers[x.buffer].dtype
        if not x.scalar or x.steps or buffers[x.buffer].shape:
            return False
    elif isinstance(x, bool | int | float | np.bool_ | np.integer | np.floating):
        dtype = np.asarray(x).dtype
    else:
        return False
    if dtype.kind == "u" and dtype.itemsize == 8:
        return False
    return dtype.kind in (_TO_REAL if is_real else _TO_WHOLE) and dtype.str[1:] != "f2"


def emit_draw(emitter: Emitter, draw: NativeDraw, left: str, drawn: str) -> str:
    """Draw, and go on at ``drawn``; or at ``left`` if the method has to. The block that this is."""
    f = emitter.function
    adapter, _ = emitter.inner_loop(DRAW, draw.form.key)
    begin = f.new_label("draw")
    usual = f.module.seldom(False)
    f.do(f"br i1 {f.op(f'icmp ne ptr {adapter}, null')}, label %{begin}, label %{left}{usual}")
    f.start(begin)
    handle = emitter.address(draw.state.name, draw.state.offset)
    given = [f"ptr {f.op(f'load ptr, ptr {handle}, align 8')}"]
    for each, x in zip(draw.form.arguments, draw.given, strict=True):
        given.append(_number(emitter, x, isinstance(each, Real)))
    given.append(f"ptr {emitter.address(draw.out.name, draw.out.offset)}")
    state = f.op(f"call i32 {adapter}({', '.join(given)})")
    f.do(f"br i1 {f.op(f'icmp ne i32 {state}, 0')}, label %{drawn}, label %{left}{usual}")
    return begin


def _number(emitter: Emitter, x: Any, is_real: bool) -> str:
    """A number with its type, as an argument of the adapter."""
    f, kind = emitter.function, "double" if is_real else "i64"
    if not isinstance(x, BufferArg):
        return f"{kind} {constant(float(x) if is_real else int(x), _F64 if is_real else _I64)}"
    buffer = emitter.program.buffers[x.buffer]
    stored = memory_type(buffer.dtype)
    found = f.op(f"load {stored}, ptr {emitter.address(buffer.name, buffer.offset)}, align 1")
    if stored == kind:
        return f"{kind} {found}"
    make = (_TO_REAL if is_real else _TO_WHOLE)[buffer.dtype.kind]
    return f"{kind} {f.op(f'{make} {stored} {found} to {kind}')}"
