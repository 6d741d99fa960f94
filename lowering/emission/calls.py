"""Calls of NumPy from native code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from fxc.ir.objects import OBJECT_TYPE, SCALAR_VALUE
from fxc.ir.records import frozen, replace
from fxc.ir.symbols import Dim, SymExpr, dims_in
from fxc.ir.types import c_strides
from fxc.ops.effects import direct
from fxc.ops.foreign_calls import ForeignCall
from fxc.ops.kernels import called_by, writing_kernel_of
from fxc.ops.operators import EFFECTS, Tag
from fxc.ops.table import TABLE

from ..nests.boxed_args import BufferArg, boxed_buffers
from ..nests.buffers import Buffer
from ..nests.program import Program
from ..nests.statements import Boxed
from . import sticky
from .call_parts import C_ORDER, CALL_DECLARES, CALL_PARTS, FORTRAN_ORDER, WRITEABLE
from .draws import emit_draw, native_draw
from .emitter import Emitter
from .interrupts import INTERRUPTED
from .llvm_text import FunctionText, ModuleText
from .native_module import CALL, NUMPY_FUNCTIONS
from .object_code import ERROR, Code
from .objects import weak_number
from .ufunc_calls import emit_ufunc_call, ufunc_call

# Note [Calls of NumPy]
# An operator without native code is called from the plan, between pieces of native code. In a loop
# or branch of the user's that is not possible; and if what NumPy gives depends on the strides of
# operands, it will not do, for those are arrays of their own in the plan. There native code calls
# NumPy's function itself. A native function for each such place makes new arrays over the memory of
# the operands, calls, and copies the results; a ufunc is given arrays for those, too.
# - It is given words: the addresses of operands and results, then what sizes and other arguments
#   are that depend on symbols. Its ``self`` is a bytes object with pointers: functions of NumPy's
#   in C, then objects that it mentions.
# - The memory of operands may be the stack frame, and changes afterwards. If somebody has kept an
#   operand (a traceback, or a profiler, has the frames that it was a variable of), it is given
#   memory of its own before the function returns.
# - An ``Exception`` is handed back as what the native code returns. As with any other check that
#   fails, nothing that the caller sees has changed, and NumPy replays the call, unless the
#   exception comes from a handler of a signal.
# - KeyboardInterrupt and its like are not replayed: they end native code as in Note [Interrupts].


@frozen
class CallSite:
    """What stands in memory for a call: an address for each buffer, then a number for each size or
    other argument that depends on symbols.
    """

    stmt: Boxed
    buffers: tuple[Buffer, ...]
    dims: tuple[SymExpr, ...]


# Of ``NUMPY_FUNCTIONS``.
_NEW_ARRAY, _NEW_SCALAR, _NEW_COPY, _UPDATE_FLAGS = range(4)
_DONE, _FAILED, _INTERRUPTED = range(3)  # what the function of a call gives


def site_of(program: Program, stmt: Boxed) -> CallSite:
    """The layout of a call."""
    names = dict.fromkeys((*boxed_buffers(stmt.args), *stmt.outs))
    buffers = tuple(program.buffers[name] for name in names)
    dims = [*dims_in(stmt.args)]
    for buffer in buffers:
        dims += [*dims_in((*buffer.shape, *buffer.strides))]
    return CallSite(stmt, buffers, tuple(dict.fromkeys(dims)))


def emit_call(emitter: Emitter, stmt: Boxed) -> None:
    """Draw a number, call an inner loop, or fill in what the function of this call needs, and call
    that.
    """
    f, buffers = emitter.function, emitter.program.buffers
    draw, loop = native_draw(stmt, buffers), ufunc_call(stmt, buffers)
    if loop is not None:
        emitter.regs.atoms[stmt.failed] = (emit_ufunc_call(emitter, stmt.op, loop), 1)
        return
    if draw is None:
        emitter.regs.atoms[stmt.failed] = (_call(emitter, stmt), 1)
        return
    left, drawn = f.new_label("left"), f.new_label("drawn")
    begin = emit_draw(emitter, draw, left, drawn)
    f.start(left)
    failed, left = _call(emitter, stmt), f.block
    f.do(f"br label %{drawn}")
    f.start(drawn)
    found = f.op(f"phi i1 [ false, %{begin} ], [ {failed}, %{left} ]")
    emitter.regs.atoms[stmt.failed] = (found, 1)


def _call(emitter: Emitter, stmt: Boxed) -> str:
    """Whether the call has failed."""
    f, module, site = emitter.function, emitter.module, site_of(emitter.program, stmt)
    sticky.collect(emitter)
    if not module.calls and not module.plain:
        module.functions += CALL_PARTS
        for each in CALL_DECLARES:
            module.declare(each)
    words = [
        f.op(f"ptrtoint ptr {emitter.address(buffer.name, buffer.offset)} to i64")
        for buffer in site.buffers
    ]
    words += [emitter.dim(dim) for dim in site.dims]
    number = len(module.calls)
    given = Code(f, 0).vector("i64", words)
    function, data = emitter.inner_loop(CALL, str(number))
    if module.plain:
        module.calls.append((site,))
        return _called(emitter, f"call i32 {function}(ptr {data}, ptr {given})")
    module.calls.append(_Function(module, site).write(number))
    state = f.op(f'call i32 @"fxc.call{number}"(ptr {function}, ptr {given}, ptr {emitter.raised})')
    on = f.new_label("on")
    interrupted = f.op(f"icmp eq i32 {state}, {_INTERRUPTED}")
    f.do(f"br i1 {interrupted}, label %{INTERRUPTED}, label %{on}{module.seldom(True)}")
    f.start(on)
    op = TABLE[stmt.op]
    if op.tag is Tag.CUSTOM or isinstance(op.numpy, ForeignCall):
        sticky.drop(emitter)
    return f.op(f"icmp ne i32 {state}, {_DONE}")


# What a call from plain code gives: anything else is to stop it.
PLAIN_DONE, PLAIN_FAILED = "1550", "2989"


def _called(emitter: Emitter, call: str) -> str:
    """Whether a call of NumPy from plain code has failed. See Note [Plain entries]."""
    f, known = emitter.function, emitter.function.new_label("known")
    state = f.op(call)
    done, failed = (f.op(f"icmp eq i32 {state}, {x}") for x in (PLAIN_DONE, PLAIN_FAILED))
    either, seldom = f.op(f"or i1 {done}, {failed}"), f.module.seldom(False)
    f.do(f"br i1 {either}, label %{known}, label %{INTERRUPTED}{seldom}")
    f.start(known)
    return failed


class _Function:
    """The native function of a call."""

    def __init__(self, module: ModuleText, site: CallSite) -> None:
        self.f = FunctionText(module)
        self.code = Code(self.f, len(NUMPY_FUNCTIONS))
        self.stmt = site.stmt
        self.words = {buffer.name: place for place, buffer in enumerate(site.buffers)}
        self.buffers = {buffer.name: buffer for buffer in site.buffers}
        self.dims = {dim: len(site.buffers) + place for place, dim in enumerate(site.dims)}
        self.arrays: dict[str, str] = {}
        self.slots: list[str] = []  # of arrays over memory

    def write(self, number: int) -> tuple[Any, ...]:
        """Append the text to the module; the objects that it mentions."""
        code = self.code
        outs = [self.buffers[name] for name in self.stmt.outs]
        into = None
        if TABLE[self.stmt.op].tag in EFFECTS:
            found = self.effect()
        else:
            given = [self.argument(arg) for arg in self.stmt.args]
            into = writing_kernel_of(self.stmt.op) if all(out.shape for out in outs) else None
            function, names = (into, ("out",)) if into is not None else called_by(self.stmt.op)
            if into is not None:
                arrays = [self.array(out) for out in outs]
                given += arrays if len(arrays) == 1 else [code.sequence("Tuple", arrays)]
            called = code.known(function), given, code.known(names) if names else "null"
            found = code.hold(code.present(code.vectorcall(*called, len(names))))
        if into is None and len(outs) == 1:
            self.store(found, outs[0])
        elif into is None:
            for place, out in enumerate(outs):
                item = code.call("ptr", "PySequence_GetItem", f"ptr {found}", f"i64 {place}")
                self.store(code.hold(code.present(item)), out)
        self.leave()
        arguments = "(ptr %self, ptr %words, ptr %raised)"
        # Code of calls is nothing to optimise: without that it compiles in a third of the time.
        head = f'define internal i32 @"fxc.call{number}"{arguments} noinline optnone nounwind {{'
        lines = [head, "entry:", *self.f.stack_lines, *self.f.lines, "}"]
        self.f.module.functions.append("\n".join(lines))
        return code.objects

    def effect(self) -> str:
        """Call what an operator with an effect does, with the object of its handle."""
        code, (state, *rest) = self.code, self.stmt.args
        assert isinstance(state, BufferArg)
        function, args = direct(self.stmt.op, tuple(rest))
        held = code.load("ptr", self.address(self.buffers[state.buffer]))
        given = [held, *map(self.argument, args)]
        return code.hold(code.present(code.vectorcall(code.known(function), given)))

    def leave(self) -> None:
        """Drop everything, and return: behind the results, and with what is raised."""
        code, f, done = self.code, self.f, self.f.block
        code.do("br label %leave")
        f.start(ERROR)
        error = code.op('call ptr @"fxc.raised"()')
        code.do("br label %leave")
        f.start("leave")
        raised = code.op(f"phi ptr [ null, %{done} ], [ {error}, %{ERROR} ]")
        code.release()
        functions = [f"ptr {code.table(place)}" for place in (_NEW_COPY, _UPDATE_FLAGS)]
        for slot in self.slots:
            array = code.load("ptr", slot)
            code.do(f'call void @"fxc.release"(ptr {array}, {", ".join(functions)})')
        code.demand(code.op(f"icmp ne ptr {raised}, null"), "done")
        kind = f"ptr {code.known(Exception)}"
        usual = code.call("i32", "PyErr_GivenExceptionMatches", f"ptr {raised}", kind)
        code.demand(code.op(f"icmp eq i32 {usual}, 0"), "usual")
        kind = f"ptr {code.load('ptr', raised, OBJECT_TYPE)}"
        code.call("void", "PyErr_SetObject", kind, f"ptr {raised}")
        code.call("void", "Py_DecRef", f"ptr {raised}")
        for label, state in (("", _INTERRUPTED), ("usual", _FAILED), ("done", _DONE)):
            if label:
                f.start(label)
            if state == _FAILED:
                code.do(f"store ptr {raised}, ptr %raised, align 8")
            code.do(f"ret i32 {state}")

    # -- arguments

    def argument(self, arg: Any) -> str:
        """The object that an argument is."""
        code = self.code
        if isinstance(arg, BufferArg):
            buffer = self.buffers[arg.buffer]
            if arg.scalar:
                return self.scalar(buffer, arg.weak)
            if buffer.name not in self.arrays:
                self.arrays[buffer.name] = self.array(buffer)
            return self.arrays[buffer.name]
        if isinstance(arg, SymExpr):
            return code.int_object(self.dim(arg))
        dims = tuple(dict.fromkeys(dims_in(arg)))
        if not dims and not any(True for _ in boxed_buffers((arg,))):
            return code.known(arg)
        if isinstance(arg, tuple):
            return code.sequence("Tuple", [self.argument(item) for item in arg])
        make = code.known(lambda *values: _known(arg, dict(zip(dims, values, strict=True))))
        made = code.vectorcall(make, [code.int_object(self.dim(dim)) for dim in dims])
        return code.hold(code.present(made))

    def scalar(self, buffer: Buffer, weak: bool) -> str:
        code, place = self.code, self.address(buffer)
        if weak:
            made = weak_number(self.f, place, buffer.dtype)
        else:
            given = f"ptr {place}, ptr {code.known(buffer.dtype)}, ptr null"
            made = code.op(f"call ptr {code.table(_NEW_SCALAR)}({given})")
        return code.hold(code.present(made))

    def array(self, buffer: Buffer) -> str:
        """A new array over the memory of a buffer."""
        code, dtype = self.code, self.code.known(buffer.dtype)
        code.call("void", "Py_IncRef", f"ptr {dtype}")  # the function takes it
        dims = self.layout(buffer)
        strides = code.op(f"getelementptr i64, ptr {dims}, i64 {len(buffer.shape)}")
        given = [f"ptr {code.known(np.ndarray)}", f"ptr {dtype}", f"i32 {len(buffer.shape)}"]
        given += [f"ptr {dims}", f"ptr {strides}", f"ptr {self.address(buffer)}"]
        given += [f"i32 {WRITEABLE}", "ptr null"]
        made = code.op(f"call ptr {code.table(_NEW_ARRAY)}({', '.join(given)})")
        self.slots.append(code.kept(code.present(made)))
        return made

    def layout(self, buffer: Buffer) -> str:
        """The shape and the strides, in the stack frame."""
        dims = [self.dim(dim) for dim in (*buffer.shape, *buffer.strides)]
        return self.code.vector("i64", dims)

    def address(self, buffer: Buffer) -> str:
        return self.code.load("ptr", "%words", 8 * self.words[buffer.name])

    def dim(self, dim: Dim) -> str:
        if isinstance(dim, int):
            return str(dim)
        return self.code.load("i64", "%words", 8 * self.dims[dim])

    # -- results

    def store(self, found: str, buffer: Buffer) -> None:
        """Copy a result to where it is expected, as an assignment does."""
        code, f = self.code, self.f
        stored, other = f.new_label("stored"), f.new_label("other")
        if buffer.shape:
            code.branch(self.copied(found, buffer), stored, other)
        else:
            number = f.new_label("number")
            kind = code.load("ptr", found, OBJECT_TYPE)
            is_number = code.op(f"icmp eq ptr {kind}, {code.known(buffer.dtype.type)}")
            if buffer.dtype == np.float64:  # a Python float has its number in the same place
                is_python = code.op(f"icmp eq ptr {kind}, {code.known(float)}")
                is_number = code.op(f"or i1 {is_number}, {is_python}")
            code.branch(is_number, number, other)
            f.start(number)
            value = code.op(f"getelementptr i8, ptr {found}, i64 {SCALAR_VALUE}")
            self.move(self.address(buffer), value, buffer.dtype.itemsize)
            code.do(f"br label %{stored}")
        f.start(other)
        whole, there = code.known(Ellipsis), self.array(buffer)
        given = f"ptr {there}", f"ptr {whole}", f"ptr {found}"
        state = code.call("i32", "PyObject_SetItem", *given)
        code.branch(code.op(f"icmp eq i32 {state}, 0"), stored, ERROR)
        f.start(stored)

    def copied(self, found: str, buffer: Buffer) -> str:
        """Whether the result is an array in the order of the buffer; then it is there."""
        code, size = self.code, buffer.dtype.itemsize
        order = 0
        if buffer.strides == c_strides(buffer.shape, size):
            order = C_ORDER
        elif buffer.strides[::-1] == c_strides(buffer.shape[::-1], size):
            order = FORTRAN_ORDER
        total = str(size)
        for dim in buffer.shape:
            total = code.op(f"mul i64 {total}, {self.dim(dim)}")
        given = [f"ptr {found}", f"ptr {code.known(np.ndarray)}", f"ptr {code.known(buffer.dtype)}"]
        given += [f"i32 {len(buffer.shape)}", f"ptr {self.layout(buffer)}", f"i32 {order}"]
        given += [f"ptr {self.address(buffer)}", f"i64 {total}"]
        return code.op(f'call i1 @"fxc.store"({", ".join(given)})')

    def move(self, target: str, source: str, size: int) -> None:
        given = f"ptr {target}, ptr {source}, i64 {size}, i1 false"
        self.code.do(f"call void @llvm.memmove.p0.p0.i64({given})")


def _known(arg: Any, values: Mapping[SymExpr, int]) -> Any:
    """An argument with numbers in place of its symbols."""
    if isinstance(arg, SymExpr):
        return values[arg]
    if is_dataclass(arg) and not isinstance(arg, type):
        found = {each.name: getattr(arg, each.name) for each in fields(arg)}
        return replace(arg, **{name: _known(x, values) for name, x in found.items()})
    return arg
