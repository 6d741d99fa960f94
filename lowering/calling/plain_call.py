"""The native function that is a whole call of a package's program.

See Note [Calls of packages].
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fxc.ir.graph import Graph
from fxc.ir.objects import ARRAY_DATA, ARRAY_DIMS, ARRAY_STRIDES, BYTES_DATA
from fxc.ir.records import frozen
from fxc.ir.signature import ConstantLeaf, OutputLeaf, ResultLeaf, Slot
from fxc.ir.size_guards import Guard
from fxc.ir.symbols import Dim, product, symbols_of
from fxc.ir.types import ArrayType, ScalarType, is_c_contiguous

from ..emission.native_module import Module, Segment
from ..emission.objects import weak_number
from .guard_things import Untranslated, WordNumber
from .guarded_function import ENTRIES, FAILED, SCALAR, CallText, Steps
from .native_call import WholeCall

# Note [Calls of packages]
# A package has, beside the object file for C of each level, one with a native function that is all
# of a call from Python: that of Note [Native calls], whose code is a plain entry (Note [Plain
# entries]). So its table begins with the pointers for that entry, in place of pieces of code, and
# calls are not counted. What C knows nothing of, objects, is in this file alone, and a loader does
# without it where objects lie otherwise (``package.native_calls``), or CPython lacks a function.
# - The guards are written from the types of the graph and what the caller sees of it (``for_calls``
#   of the exporter): arrays of these kinds, sizes and strides, apart where one is written.
# - What it refuses goes to the loader's function in Python, which looks again, and says what is
#   wrong. That serves what is right all the same, as other keywords.
# - Numbers among the results are made of memory in the stack frame.
# - Where the code gives another status than 0, a function of the loader's raises.


@frozen
class Shown:
    """An object that there is when a package is loaded, as its manifest has it."""

    content: Any


ARENA, KEEP, FAIL = (Shown({"own": name}) for name in ("arena", "keep", "fail"))


@frozen
class Plain:
    """What calls of a program look like: guards on kinds, then relations of sizes, and the
    containers of the result, as ``package.trees`` has them.
    """

    entry: str
    steps: Steps
    needs: tuple[Guard, ...]
    result: Any


def emit_plain_call(graph: Graph, module: Module, plain: Plain) -> CallText:
    """The native function for a call of a package's program.

    Raises ``Untranslated``.
    """
    return _PlainCall(graph, module, plain).emit()


class _PlainCall(WholeCall):
    def __init__(self, graph: Graph, module: Module, plain: Plain) -> None:
        super().__init__(graph, module, plain.steps)
        self.plain = plain
        self.places: dict[str, str] = {}  # storages of numbers → memory
        self.numbers: dict[str, str] = {}  # the same → objects
        program, results = module.program, [x for x in self.leaves if isinstance(x, ResultLeaf)]
        arrays = {program.results[x.result] for x in results if isinstance(x.type, ArrayType)}
        self.in_frame = {program.results[x.result] for x in results} - arrays
        self.in_frame |= {*program.sizes.values()} - arrays

    def check_kind(self) -> None:
        """Calls of NumPy are no matter here."""

    def count(self) -> None:
        """Nobody asks how many calls there were."""

    # -------------------------------------------------------- sizes

    def look_at_sizes(self) -> None:
        kinds = [value.type for value in self.graph.inputs]
        self.needed |= {
            value.name
            for value, kind in zip(self.graph.inputs, kinds, strict=True)
            if isinstance(kind, ScalarType) and kind.weak and kind.dtype.kind == "i"
        }  # each has to fit
        self.bind_symbols()
        for given, kind in zip(self.inputs, kinds, strict=True):
            if isinstance(kind, ArrayType):
                self._look_at_layout(given, kind)
        for need in self.plain.needs:
            names = self.guards.names
            names["left"] = WordNumber(self.dim(need.left))
            names["right"] = WordNumber(self.dim(need.right))
            self.guards.check(f"left {need.relation} right")

    def _look_at_layout(self, given: str, kind: ArrayType) -> None:
        """Strides of axes that have no second element say nothing: Python looks at those, except
        in C order, which is seen from flags.
        """
        code = self.code
        fields, has_strides = [(ARRAY_DIMS, kind.shape)], not is_c_contiguous(kind)
        if has_strides:
            fields.append((ARRAY_STRIDES, kind.strides))
        for field, dims in fields:
            vector = code.load("ptr", given, field) if dims else ""
            for axis, dim in enumerate(dims):
                found = code.load("i64", vector, 8 * axis)
                code.demand(code.op(f"icmp eq i64 {found}, {self.dim(dim)}"))
                is_looked_at = has_strides and field == ARRAY_DIMS
                if is_looked_at and any(symbols_of(each) for each in kind.strides):
                    code.demand(code.op(f"icmp sgt i64 {found}, 1"))

    # -------------------------------------------------------- the code

    def new_array(self, slot: Slot, shape: Sequence[Dim], spent: int | None) -> str:
        if slot.name not in self.in_frame:
            return super().new_array(slot, shape, spent)
        self.places[slot.name] = self.code.f.stack("i64", 2)
        return "null"

    def data(self, storage: str) -> str:
        return self.places[storage] if storage in self.places else super().data(storage)

    def new_arena(self, size: str) -> str:
        code = self.code
        given = [code.int_object(size)]
        return code.hold(code.present(code.vectorcall(code.known(ARENA), given)))

    def enter(self, place: int, segment: Segment, packed: str, arrays: Sequence[str]) -> None:
        code, given = self.code, self.module.given
        arena = arrays[len(self.slots) :]
        data = [self.data(slot.name) for slot in self.slots]
        data += [code.load("ptr", each, ARRAY_DATA) for each in arena] or ["null"]
        sizes = [self.symbols[name] for name in given.symbols]
        numbers = code.op(f"getelementptr i8, ptr {packed}, i64 {BYTES_DATA}")
        vectors = code.vector("ptr", data), code.vector("i64", sizes), numbers, code.table(ENTRIES)
        code.f.module.declare(f'declare i32 @"{self.plain.entry}"(ptr, ptr, ptr, ptr)')
        pointers = ", ".join(f"ptr {each}" for each in vectors)
        call = f'call i32 @"{self.plain.entry}"({pointers})'
        self._raise_for(code.op(call) if segment.looks else self._run_alone(call))
        code.failing = FAILED
        for each in arena:
            code.hold(code.present(code.vectorcall(code.known(KEEP), [each])))

    def _run_alone(self, call: str) -> str:
        """The status of code that does not give up the interpreter lock: that is done here, where
        the arrays are large.
        """
        code = self.code
        total: Dim = 0
        for slot in self.slots:
            total = total + product(slot.shape if slot.room is None else (slot.room,))
        if isinstance(total, int) and total < _LARGE:
            return code.op(call)
        large, small, done = map(code.f.new_label, ("large", "small", "done"))
        status = code.f.stack("i32", 1)
        code.branch(code.op(f"icmp sge i64 {self.dim(total)}, {_LARGE}"), large, small)
        code.f.start(large)
        state = code.call("ptr", "PyEval_SaveThread")
        code.do(f"store i32 {code.op(call)}, ptr {status}, align 4")
        code.call("void", "PyEval_RestoreThread", f"ptr {state}")
        code.do(f"br label %{done}")
        code.f.start(small)
        code.do(f"store i32 {code.op(call)}, ptr {status}, align 4")
        code.do(f"br label %{done}")
        code.f.start(done)
        return code.load("i32", status)

    def _raise_for(self, status: str) -> None:
        """Raise for another status than 0. A handler of a signal may have raised already."""
        code = self.code
        bad, tell, fine = map(code.f.new_label, ("bad", "tell", "fine"))
        code.branch(code.op(f"icmp eq i32 {status}, 0"), fine, bad)
        code.f.start(bad)
        raised = code.call("ptr", "PyErr_Occurred")
        code.branch(code.op(f"icmp eq ptr {raised}, null"), tell, FAILED)
        code.f.start(tell)
        wide = code.op(f"sext i32 {status} to i64")
        number = code.present(code.call("ptr", "PyLong_FromLongLong", f"i64 {wide}"), FAILED)
        code.vectorcall(code.known(FAIL), [code.hold(number)])
        code.do(f"br label %{FAILED}")
        code.f.start(fine)

    # -------------------------------------------------------- the result

    def leaf(self, leaf: OutputLeaf) -> str:
        match leaf:
            case ConstantLeaf(value) if isinstance(value, _CHANGEABLE):
                raise Untranslated("a constant that may be changed")
            case ResultLeaf(result, ScalarType() as kind):
                name = self.module.program.results[result]
                if name not in self.numbers:
                    self.numbers[name] = self.code.hold(self.code.present(self._made(name, kind)))
                return self.numbers[name]
        return super().leaf(leaf)

    def _made(self, name: str, kind: ScalarType) -> str:
        """A new number, or null."""
        code, place = self.code, self.data(name)
        if kind.weak:
            return weak_number(code.f, place, kind.dtype)
        given = f"ptr {place}, ptr {code.known(kind.dtype)}, ptr null"
        return code.op(f"call ptr {code.table(SCALAR)}({given})")

    def result(self, leaves: Sequence[str], taken: Sequence[str]) -> str:
        return self._tree(self.plain.result, iter(leaves))

    def _tree(self, shown: Any, leaves: Iterator[str]) -> str:
        """Containers with these leaves, as ``package.trees`` makes them."""
        code = self.code
        match shown:
            case None:
                return code.known(None)
            case {"tuple": parts} | {"list": parts}:
                (kind,) = shown
                items = [self._tree(each, leaves) for each in parts]
                return code.sequence(kind.capitalize(), items)
            case {"dict": parts, "keys": keys}:
                made = code.hold(code.present(code.call("ptr", "PyDict_New")))
                for key, part in zip(keys, parts, strict=True):
                    value = self._tree(part, leaves)
                    given = f"ptr {made}", f"ptr {code.known(Shown(key))}", f"ptr {value}"
                    done = code.call("i32", "PyDict_SetItem", *given)
                    code.demand(code.op(f"icmp eq i32 {done}, 0"), FAILED)
                return made
            case {"items": parts}:
                make = code.known(Shown({"maker": {**shown, "items": []}}))
                items = [self._tree(each, leaves) for each in parts]
                made = code.vectorcall(make, [code.sequence("List", items)])
                return code.hold(code.present(made))
        return next(leaves)


_LARGE = 1 << 14  # elements: to give up the lock takes a hundredth of their time
_CHANGEABLE = (list, dict, set, bytearray, np.ndarray)
