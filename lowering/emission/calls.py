"""Calls of NumPy from native code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING

from fxc.ir.records import frozen
from fxc.ir.symbols import SymExpr

from ..loops import Boxed, Buffer, Program
from ..scheduling.accesses import boxed_buffers

if TYPE_CHECKING:
    from .emit import Emitter

# Note [Calls of NumPy]
# An operator without native code is called from the plan, between pieces of native code. In a loop
# or branch of the user's that is not possible; and if what NumPy gives depends on the strides of
# operands, it will not do, for those are arrays of their own in the plan. There native code calls a
# function of Python's, with a bytes object of the addresses of the operands and results, and of
# what the sizes in their shapes and in the other arguments are. It makes arrays over that memory,
# calls the kernel, and says whether that went well; if not, the whole call goes back to NumPy, as
# by any other check.


@frozen
class CallSite:
    """What stands in memory for a call: an address for each buffer, then a number for each size or
    other argument that depends on symbols.
    """

    stmt: Boxed
    buffers: tuple[Buffer, ...]
    dims: tuple[SymExpr, ...]


CALL = "call NumPy"  # among the functions of the pointer table

# From a function of Python's and the words it is given to whether it has failed. What it raises
# itself (an interrupt between its instructions) is a failure, too.
_CALL = """\
define internal i1 @"fxc.call"(ptr %function, ptr %words, i64 %size) noinline nounwind {
  %given = call ptr @PyBytes_FromStringAndSize(ptr %words, i64 %size)
  %none = icmp eq ptr %given, null
  br i1 %none, label %failed, label %made
made:
  %answer = call ptr @PyObject_CallOneArg(ptr %function, ptr %given)
  call void @Py_DecRef(ptr %given)
  %raised = icmp eq ptr %answer, null
  br i1 %raised, label %failed, label %answered
answered:
  %truth = call i32 @PyObject_IsTrue(ptr %answer)
  call void @Py_DecRef(ptr %answer)
  %bad = icmp ne i32 %truth, 1
  ret i1 %bad
failed:
  call void @PyErr_Clear()
  ret i1 true
}
"""
_FUNCTIONS = (
    "declare ptr @PyBytes_FromStringAndSize(ptr, i64)",
    "declare ptr @PyObject_CallOneArg(ptr, ptr)",
    "declare i32 @PyObject_IsTrue(ptr)",
    "declare void @Py_DecRef(ptr)",
    "declare void @PyErr_Clear()",
)


def site_of(program: Program, stmt: Boxed) -> CallSite:
    """The layout of a call."""
    names = dict.fromkeys((*boxed_buffers(stmt.args), *stmt.outs))
    buffers = tuple(program.buffers[name] for name in names)
    dims = [*dims_in(stmt.args)]
    for buffer in buffers:
        dims += [*dims_in((*buffer.shape, *buffer.strides))]
    return CallSite(stmt, buffers, tuple(dict.fromkeys(dims)))


def dims_in(tree: object) -> Iterator[SymExpr]:
    """What depends on symbols among the arguments of a call."""
    if isinstance(tree, SymExpr):
        yield tree
    elif isinstance(tree, tuple):
        for item in tree:
            yield from dims_in(item)
    elif is_dataclass(tree) and not isinstance(tree, type):
        for each in fields(tree):
            yield from dims_in(getattr(tree, each.name))


def emit_call(emitter: Emitter, stmt: Boxed) -> None:
    """Fill in what the function of Python's needs, and call it."""
    f, site = emitter.function, site_of(emitter.program, stmt)
    words = [
        f.op(f"ptrtoint ptr {emitter.address(buffer.name, buffer.offset)} to i64")
        for buffer in site.buffers
    ]
    words += [emitter.dim(dim) for dim in site.dims]
    place = f.stack("i64", len(words))
    for number, word in enumerate(words):
        slot = f.op(f"getelementptr i64, ptr {place}, i64 {number}")
        f.do(f"store i64 {word}, ptr {slot}, align 8")
    module = emitter.module
    if not module.calls:
        module.functions.append(_CALL)
        for each in _FUNCTIONS:
            module.declare(each)
    module.calls.append(site)
    function, _ = emitter.inner_loop(CALL, str(len(module.calls) - 1))
    answer = f.op(f'call i1 @"fxc.call"(ptr {function}, ptr {place}, i64 {8 * len(words)})')
    emitter.regs.atoms[stmt.failed] = (answer, 1)
