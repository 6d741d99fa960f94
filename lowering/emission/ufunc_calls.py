"""Calls of the inner loops of ufuncs that NumPy does not have. See Note [Foreign ufuncs]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fxc.ir.records import frozen
from fxc.ir.symbols import SymExpr, product
from fxc.ir.types import ScalarType, Type, c_strides, scalar_type_of
from fxc.ops.foreign_ufuncs import InnerLoop

from ..nests.boxed_args import BufferArg
from ..nests.buffers import Buffer
from ..nests.statements import Boxed
from ..operators.inner_loops import loop_for
from . import sticky
from .casts import cast
from .emitter import Emitter
from .llvm_text import Lanes, constant, memory_type
from .native_module import UFUNC

_I64 = np.dtype(np.int64)


@frozen
class UfuncCall:
    """What an inner loop is given: operands that are numbers, or arrays just as the result is."""

    loop: InnerLoop
    operands: tuple[Any, ...]
    out: Buffer


def ufunc_call(stmt: Boxed, buffers: Mapping[str, Buffer]) -> UfuncCall | None:
    """The call that a statement is, if it is one that native code makes itself."""
    if not stmt.brief or not all(isinstance(arg, _OPERANDS) for arg in stmt.args):
        return None
    loop = loop_for(stmt.op, [_type(arg, buffers) for arg in stmt.args])
    out = buffers[stmt.outs[0]]
    if loop is None or not _is_in_order(out, out):
        return None
    for arg, dtype in zip(stmt.args, loop.dtypes, strict=False):
        if isinstance(arg, BufferArg) and not arg.scalar:
            buffer = buffers[arg.buffer]
            if arg.steps or buffer.dtype != dtype or not _is_in_order(buffer, out):
                return None
    return UfuncCall(loop, stmt.args, out)


_OPERANDS = (BufferArg, SymExpr, bool, int, float, np.generic)


def _type(arg: Any, buffers: Mapping[str, Buffer]) -> Type:
    if isinstance(arg, BufferArg):
        return ScalarType(buffers[arg.buffer].dtype, weak=arg.weak)
    return ScalarType(_I64, weak=True) if isinstance(arg, SymExpr) else scalar_type_of(arg)


def _is_in_order(buffer: Buffer, out: Buffer) -> bool:
    return (
        buffer.shape == out.shape
        and buffer.strides == c_strides(buffer.shape, buffer.dtype.itemsize)
        and not buffer.parts
    )


def emit_ufunc_call(emitter: Emitter, op: str, call: UfuncCall) -> str:
    """Call the inner loop: whether it has raised."""
    sticky.collect(emitter)  # what it leaves of the flags is its own
    f, out = emitter.function, call.out
    *dtypes, _ = call.loop.dtypes
    places, steps = [], []
    for operand, dtype in zip(call.operands, dtypes, strict=True):
        is_array = isinstance(operand, BufferArg) and not operand.scalar
        places.append(_place(emitter, operand, dtype))
        steps.append(str(dtype.itemsize if is_array else 0))
    places.append(emitter.address(out.name, out.offset))
    arrays = emitter.on_stack("ptr", places)
    sizes = emitter.on_stack("i64", [emitter.dim(product(out.shape))])
    strides = emitter.on_stack("i64", [*steps, str(out.dtype.itemsize)])
    function, data = emitter.inner_loop(UFUNC, f"{op} {call.loop.number}")
    f.do(f"call void {function}(ptr {arrays}, ptr {sizes}, ptr {strides}, ptr {data})")
    for name in ("declare ptr @PyErr_Occurred()", "declare void @PyErr_Clear()"):
        f.module.declare(name)
    raised = f.op(f"icmp ne ptr {f.op('call ptr @PyErr_Occurred()')}, null")
    clear, on = f.new_label("clear"), f.new_label("on")
    f.do(f"br i1 {raised}, label %{clear}, label %{on}{f.module.seldom(True)}")
    f.start(clear)
    f.do("call void @PyErr_Clear()")
    f.do(f"br label %{on}")
    f.start(on)
    return raised


def _place(emitter: Emitter, operand: Any, dtype: np.dtype) -> str:
    """Where an operand stands in memory, as a number of the loop's."""
    f = emitter.function
    if not isinstance(operand, BufferArg):
        if isinstance(operand, SymExpr):
            found = _cast(emitter, emitter.dim(operand), _I64, dtype)
        else:
            found = constant(operand, dtype)
        return _stored(emitter, found, dtype)
    buffer = emitter.program.buffers[operand.buffer]
    at = emitter.address(buffer.name, buffer.offset)
    if buffer.dtype == dtype:
        return at
    stored = memory_type(buffer.dtype)
    found = f.op(f"load {stored}, ptr {at}, align 1")
    if buffer.dtype.kind == "b":
        found = f.op(f"icmp ne i8 {found}, 0")
    return _stored(emitter, _cast(emitter, found, buffer.dtype, dtype), dtype)


def _cast(emitter: Emitter, x: str, source: np.dtype, dtype: np.dtype) -> str:
    return cast(Lanes(emitter.function, 1), (x,), (source,), dtype)


def _stored(emitter: Emitter, x: str, dtype: np.dtype) -> str:
    f, kind = emitter.function, memory_type(dtype)
    if dtype.kind == "b":
        x = f.op(f"zext i1 {x} to i8")
    slot = f.stack(kind, 1)
    f.do(f"store {kind} {x}, ptr {slot}, align 8")
    return slot
