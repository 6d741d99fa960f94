"""Numbers that come into native code and leave it as Python objects.

See Note [Native entry].
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fxc.ir.graph import Graph
from fxc.ir.signature import ResultLeaf, ViewLeaf
from fxc.ir.types import ScalarType

from ..nests.program import Param, Program, is_cut
from .emitter import Emitter
from .frame import Slot
from .llvm_text import FunctionText

SCALAR = "PyArray_Scalar"  # as the name of an inner loop: NumPy's function, and a dtype
# How CPython reads a number, and what makes one, by dtype: the function, and LLVM types.
_READ = {"f8": ("PyFloat_AsDouble", "double"), "i8": ("PyLong_AsLongLong", "i64")}
_MADE = {
    "f8": ("PyFloat_FromDouble", ("double",)),
    "i8": ("PyLong_FromLongLong", ("i64",)),
    "b1": ("PyBool_FromLong", ("i8",)),
    "c16": ("PyComplex_FromDoubles", ("double", "double")),
}


def is_object(param: Param) -> bool:
    """Whether a scalar parameter is given as the object that it is, not in the bytes of all."""
    return not param.part and param.dtype.str[1:] in _READ


def read_number(emitter: Emitter, param: Param, given: str, least: int | None) -> str:
    """The register with the number that the object ``given`` is, an int of at least ``least``."""
    f = emitter.function
    name, kind = _READ[param.dtype.str[1:]]
    emitter.module.declare(f"declare {kind} @{name}(ptr)")
    mark = "" if least is None else _range(emitter, least)
    return f.op(f"call noundef {kind} @{name}(ptr {given}){mark}")


def at_least(emitter: Emitter, least: int | None) -> str:
    """The range of a loaded int, for LLVM; '' if its least value is not known.

    With it ``0 <= i < n`` is one comparison, also where ``and`` would not look at n.
    """
    if least is None:
        return ""
    return f"{_range(emitter, least)}, !noundef {emitter.module.metadata('!{}')}"


def _range(emitter: Emitter, least: int) -> str:
    return f", !range {emitter.module.metadata(f'!{{i64 {least}, i64 {-(2**63)}}}')}"


def returned_numbers(graph: Graph, program: Program) -> dict[str, ScalarType]:
    """The results that native code returns as objects: fresh numbers, and nothing else.

    A plan has arrays for them if there are several pieces of native code.
    """
    assert graph.signature is not None
    if any(map(is_cut, program.body)):
        return {}
    found: dict[str, ScalarType] = {}
    others = set(program.sizes.values())
    for leaf in graph.signature.outputs:
        base = leaf.base if isinstance(leaf, ViewLeaf) else leaf
        if not isinstance(base, ResultLeaf):
            continue
        name, kind = program.results[base.result], base.type
        buffer = program.buffers[name]
        if isinstance(kind, ScalarType) and buffer.role == "output" and buffer.storage == name:
            found[name] = kind
        else:
            others.add(buffer.storage)
    return {name: kind for name, kind in found.items() if name not in others}


def return_numbers(emitter: Emitter, numbers: Mapping[str, ScalarType]) -> None:
    """Return the number in one storage as an object, or a tuple of several."""
    f = emitter.function
    made = [_made(emitter, emitter.regs.data[name], kind) for name, kind in numbers.items()]
    if len(made) == 1:
        f.do(f"ret ptr {made[0]}")
        return
    emitter.module.declare("declare ptr @PyTuple_New(i64)")
    emitter.module.declare("declare i32 @PyTuple_SetItem(ptr, i64, ptr)")
    found = f.op(f"call ptr @PyTuple_New(i64 {len(made)})")
    _return_if_null(emitter, found)
    for place, each in enumerate(made):
        f.op(f"call i32 @PyTuple_SetItem(ptr {found}, i64 {place}, ptr {each})")
    f.do(f"ret ptr {found}")


def _made(emitter: Emitter, place: str, kind: ScalarType) -> str:
    """A new object; without memory for it, the function has returned."""
    f, code = emitter.function, kind.dtype.str[1:]
    if not kind.weak:
        function, dtype = emitter.inner_loop(SCALAR, code)
        size = kind.dtype.itemsize
        shown = f.stack("i8", size)  # the place itself is to be a register
        Slot(place, shown, size).write(f)
        made = f.op(f"call ptr {function}(ptr {shown}, ptr {dtype}, ptr null)")
    else:
        made = weak_number(f, place, kind.dtype)
    _return_if_null(emitter, made)
    return made


def weak_number(f: FunctionText, place: str, dtype: np.dtype) -> str:
    """A new number of Python's, or null."""
    name, parts = _MADE[dtype.str[1:]]
    given = []
    for number, part in enumerate(parts):
        at = f.op(f"getelementptr {part}, ptr {place}, i64 {number}")
        value = f.op(f"load {part}, ptr {at}, align 1")
        if part == "i8":
            part, value = "i64", f.op(f"zext i8 {value} to i64")
        given.append(f"{part} {value}")
    types = ", ".join(each.split()[0] for each in given)
    f.module.declare(f"declare ptr @{name}({types})")
    return f.op(f"call ptr @{name}({', '.join(given)})")


def _return_if_null(emitter: Emitter, made: str) -> None:
    """Leave with the exception that CPython has set."""
    f = emitter.function
    there, none = f.new_label("there"), f.new_label("none")
    f.do(f"br i1 {f.op(f'icmp eq ptr {made}, null')}, label %{none}, label %{there}")
    f.start(none)
    f.do("ret ptr null")
    f.start(there)
