"""The native function that is a whole call: guards, code, result.

See Note [Native calls].
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fxc.ir.asynchronous import hand_on
from fxc.ir.graph import Graph
from fxc.ir.objects import (
    ARRAY_DIMS,
    ARRAY_STRIDES,
    BYTES_DATA,
    OBJECT_TYPE,
    SCALAR_VALUE,
    references_are_as_known,
)
from fxc.ir.records import frozen
from fxc.ir.signature import ConstantLeaf, DimLeaf, InputLeaf, OutputLeaf, ResultLeaf
from fxc.ir.symbols import Dim, SymFunc, counted_in, symbols_of
from fxc.ir.types import ArrayType, ScalarType, array_type, stride_order

from ..emission.llvm_text import memory_type
from ..emission.native_module import Module, Segment
from ..emission.object_code import MISS
from ..nests.buffers import Buffer
from ..nests.program import Param
from ..nests.statements import Boxed, walk
from .guard_things import Untranslated
from .guarded_function import (
    CODE,
    CODE_SELF,
    COUNTER,
    FAILED,
    NEW,
    CallText,
    GuardedFunction,
    Spent,
    Steps,
)
from .new_arrays import NewArray

# Note [Native calls]
# A compiled function whose calls follow each other closely, or are many (``Variant.look``), gets a
# native function for each of its captures, which is all that a call is: it checks the guards, makes
# the arrays of the result, calls the native code and makes the result. Its calling convention is
# that of METH_FASTCALL | METH_KEYWORDS:
# ``PyObject *call(PyObject *self, PyObject **args, n, PyObject *keywords)``. ``self`` is a bytes
# object with a table of pointers: objects that guards and result mention, the code and its own
# ``self``, NumPy's function that makes arrays, a counter, and the object to call where this is not
# the code for the call: that of the next capture, behind the last one Python's way.
# - It is translated from the guard program (native_guards.py), whose Python source stays the one
#   place that says what a capture relies on. What is not translated refuses all of it.
# - Where something else of a call is not translated (NumPy runs, a size is counted, a view is given
#   back), only the guards are native, and the rest is one Python function.
# - It may say "no" where the source says "yes", never the other way: Python then looks again. So an
#   ``or`` may lose parts, and numbers may be refused that do not fit 64 bits.
# - Whatever goes wrong before an effect, a check in the code that failed included, is left to
#   Python, too, which does all of it again: replays, warnings and logs are in one place.
# - It counts the calls that it serves.
# - Objects that it has fetched or made are its own until it returns: a handler of a signal may drop
#   the last other reference to an array that is being read.
# The object that users call becomes of a class of its own, whose ``__call__`` is the first builtin:
# CPython passes no ``self`` to those, it is part of the table. See Note [Vectorcall]. Builtins are
# never changed: a new capture makes a new chain of them, and a thread that is inside of an old one
# ends there.

_IS_EXCEPTION = 1 << 30  # Py_TPFLAGS_BASE_EXC_SUBCLASS


@frozen
class Finish:
    """What makes the result of the leaves: its source, the function, the variables it takes."""

    source: str
    function: Any
    objects: tuple[str, ...]


def emit_call(
    graph: Graph, module: Module, steps: Steps, finish: Finish | None, spent: Spent | None = None
) -> CallText:
    """The native function for a call.

    Raises ``Untranslated``.
    """
    return _Call(graph, module, steps, finish, spent).emit()


class _Call(GuardedFunction):
    def __init__(
        self,
        graph: Graph,
        module: Module,
        steps: Steps,
        finish: Finish | None,
        spent: Spent | None,
    ) -> None:
        self.graph = graph
        self.module = module
        self._check_kind()
        super().__init__(steps, spent)
        self.spent = spent
        self.steps = steps
        self.finish = finish
        self.inputs = self.pointers(steps.inputs)
        self.symbols: dict[str, str] = {}
        self.made: dict[str, str] = {}  # storages → arrays

    def emit(self) -> CallText:
        self._bind_symbols()
        ints = {leaf: self._int(leaf.value) for leaf in self._leaves if isinstance(leaf, DimLeaf)}
        taken = self.pointers(() if self.finish is None else self.finish.objects)
        self._run()
        return self.end(self._result(ints, taken))

    def _check_kind(self) -> None:
        """One piece of native code at most, without counted sizes."""
        module = self.module
        if any(isinstance(s, Boxed) and not s.brief for s in walk(module.program.body)):
            raise Untranslated("NumPy is called")
        if module.program.sizes:
            raise Untranslated("counted sizes")

    # -------------------------------------------------------- sizes

    def _bind_symbols(self) -> None:
        code = self.code
        for given, value in zip(self.inputs, self.graph.inputs, strict=True):
            kind = value.type
            if isinstance(kind, ScalarType):
                if self._is_symbol(value.name):
                    self.symbols[value.name] = code.number_of(given)
                continue
            for field, dims in ((ARRAY_DIMS, kind.shape), (ARRAY_STRIDES, kind.strides)):
                for axis, dim in enumerate(dims):
                    name = str(dim)
                    if name in symbols_of(dim) and name not in self.symbols:
                        vector = code.load("ptr", given, field)
                        self.symbols[name] = code.load("i64", vector, 8 * axis)

    def _is_symbol(self, name: str) -> bool:
        """Whether a size depends on the input of this name."""
        dims: list[Dim] = [self.module.arena]
        for storage in self.module.given.arrays:
            dims += self.module.program.buffers[storage].shape
        for leaf in self._leaves:
            if isinstance(leaf, DimLeaf):
                dims.append(leaf.value)
        return any(name in symbols_of(dim) for dim in dims)

    @property
    def _leaves(self) -> tuple[OutputLeaf, ...]:
        assert self.graph.signature is not None
        return self.graph.signature.outputs

    def dim(self, dim: Dim) -> str:
        """The number that a dim is."""
        if isinstance(dim, int):
            return str(dim)
        total = "0"
        for monomial, coefficient in dim.terms:
            term = str(coefficient)
            for atom in monomial:
                if isinstance(atom, SymFunc):
                    value = self._function(atom)
                elif atom.name in self.symbols:
                    value = self.symbols[atom.name]
                else:
                    raise Untranslated(f"a size that depends on {atom.name}")
                term = value if term == "1" else self.code.checked("mul", term, value)
            total = term if total == "0" else self.code.checked("add", total, term)
        return total

    def _function(self, atom: SymFunc) -> str:
        left, right = self.dim(atom.left), self.dim(atom.right)
        if atom.name in ("floordiv", "mod"):
            return self.code.floor(atom.name, left, right)
        return self.code.extreme(atom.name, left, right)

    def _int(self, dim: Dim) -> str:
        """A dim as an object: that of an argument, if it is one."""
        for given, value in zip(self.inputs, self.graph.inputs, strict=True):
            if value.name == str(dim) and isinstance(value.type, ScalarType):
                return given
        return self.code.int_object(self.dim(dim))

    # -------------------------------------------------------- the native code

    def _run(self) -> None:
        code, given = self.code, self.module.given
        arguments = ["%self", self._packed()]
        arguments += [self.inputs[param.input] for param in given.objects]
        spent = self._spent_places()
        for name in given.arrays:
            buffer = self.module.program.buffers[name]
            if buffer.role == "input":
                self.made[name] = self.inputs[self.module.program.inputs.index(name)]
            else:
                self.made[name] = self._new_array(buffer, spent.get(name))
            arguments.append(self.made[name])
        if self.module.arena != 0:
            memory = NewArray(np.dtype(np.uint8), [self.dim(self.module.arena)])
            arguments.append(code.hold(memory.made(code, code.table(NEW))))
        for segment in self.module.segments:
            self._enter(segment, arguments)
        counter = code.table(COUNTER)
        count = code.op(f"add i64 {code.load('i64', counter)}, 1")
        code.do(f"store i64 {count}, ptr {counter}, align 8")

    def _enter(self, segment: Segment, arguments: Sequence[str]) -> None:
        """Call the native code. See Note [Native entry]."""
        code, function, own = self.code, self.code.table(CODE), self.code.table(CODE_SELF)
        given = f"ptr {own}, ptr {code.vector('ptr', arguments)}, i64 {len(arguments)}"
        self.found = code.present(code.op(f"call ptr {function}({given})"), FAILED)
        if segment.checks:
            bad, fine = code.f.new_label("bad"), code.f.new_label("fine")
            code.branch(code.op(f"icmp eq ptr {self.found}, %self"), bad, fine)
            code.f.start(bad)
            code.call("void", "Py_DecRef", "ptr %self")
            code.do(f"br label %{MISS}")
            code.f.start(fine)
        if segment.calls:
            self._look_for_raised(arguments[1])
        if segment.flags:
            bad, fine = code.f.new_label("flagged"), code.f.new_label("fine")
            code.branch(code.op(f"icmp eq ptr {self.found}, {own}"), bad, fine)
            code.f.start(bad)
            code.call("void", "Py_DecRef", f"ptr {own}")
            code.do(f"br label %{MISS}")
            code.f.start(fine)
        if self.module.returned:
            code.hold(self.found)

    def _look_for_raised(self, packed: str) -> None:
        """A call has raised what native code gives back: raise it if it comes from the handler of a
        signal, else Python does all of it again. Usually it gives back numbers, or ``packed``.
        """
        code = self.code
        other, fine = code.f.new_label("other"), code.f.new_label("fine")
        code.branch(code.op(f"icmp eq ptr {self.found}, {packed}"), fine, other)
        code.f.start(other)
        kind = code.load("ptr", self.found, OBJECT_TYPE)
        flags = code.call("i64", "PyType_GetFlags", f"ptr {kind}")
        bit = code.op(f"and i64 {flags}, {_IS_EXCEPTION}")
        bad = code.f.new_label("raised")
        code.branch(code.op(f"icmp ne i64 {bit}, 0"), bad, fine)
        code.f.start(bad)
        done = code.vectorcall(code.known(hand_on), [self.found])
        code.call("void", "Py_DecRef", f"ptr {self.found}")
        code.call("void", "Py_DecRef", f"ptr {done}")
        code.branch(code.op(f"icmp eq ptr {done}, null"), FAILED, MISS)
        code.f.start(fine)

    def _packed(self) -> str:
        """What looks like a bytes object with the scalar parameters, in the stack frame.

        Native code may take it as a result: it has a count of references.
        """
        code, params = self.code, self.module.given.packed
        room = code.f.stack("i8", BYTES_DATA + 8 * len(params))
        code.do(f"store i64 1, ptr {room}, align 8")
        for place, param in enumerate(params):
            at = code.op(f"getelementptr i8, ptr {room}, i64 {BYTES_DATA + 8 * place}")
            kind = "double" if param.dtype.kind == "f" else "i64"
            code.do(f"store {kind} {self._scalar(param)}, ptr {at}, align 8")
        return room

    def _scalar(self, param: Param) -> str:
        """A number of 64 bits."""
        code, given = self.code, self.inputs[param.input]
        kind = self.graph.inputs[param.input].type
        assert isinstance(kind, ScalarType)
        if kind.weak and kind.dtype.kind == "b":
            return code.op(f"zext i1 {code.op(f'icmp eq ptr {given}, {code.known(True)}')} to i64")
        if kind.weak and not param.part:
            raise Untranslated("a Python number among the packed ones")
        offset = SCALAR_VALUE + (param.dtype.itemsize if param.part == "imag" else 0)
        memory = memory_type(param.dtype)
        value = code.load(memory, given, offset)
        if memory in ("i64", "double"):
            return value
        if memory == "half":
            raise Untranslated("a number of float16")
        wide = {"f": "fpext float", "i": f"sext {memory}"}.get(param.dtype.kind, f"zext {memory}")
        return code.op(f"{wide} {value} to {'double' if param.dtype.kind == 'f' else 'i64'}")

    def _spent_places(self) -> dict[str, int]:
        """The arguments that may be written into, by the storage of the result."""
        spent = self.spent
        if spent is None or not references_are_as_known():
            return {}
        value = ast.Name("r0") if self.finish is None else _plain_result(self.finish.source)
        if spent.is_second and isinstance(value, ast.Tuple):
            value = value.elts[1]
        items = [value]
        if spent.results > 1 and isinstance(value, ast.Tuple):
            items = [*value.elts]
        found: dict[str, int] = {}
        for number, place in enumerate(spent.places):
            match items[place] if place < len(items) else None:
                case ast.Name(name):
                    leaf = self._leaves[int(name[1:])]
                    if isinstance(leaf, ResultLeaf) and isinstance(leaf.type, ArrayType):
                        storage = self.module.program.results[leaf.result]
                        found[storage] = spent.arguments + number
        return found

    def _new_array(self, buffer: Buffer, spent: int | None) -> str:
        if any(counted_in(dim) for dim in buffer.shape):
            raise Untranslated("a counted size")
        order = stride_order(array_type(buffer.dtype, buffer.shape, buffer.strides))
        axes = tuple(range(len(buffer.shape)))
        if order not in (axes, axes[::-1]):
            raise Untranslated("an order of axes")
        sizes = [self.dim(dim) for dim in buffer.shape]
        new, code = NewArray(buffer.dtype, sizes, order != axes), self.code
        if spent is None:
            return code.hold(new.made(code, code.table(NEW)))
        return code.hold(new.made_or_taken(code, code.table(NEW), spent, self.has_spent))

    # -------------------------------------------------------- the result

    def _result(self, ints: Mapping[DimLeaf, str], taken: Sequence[str]) -> str:
        """The pointer to the result. Here nothing is left to Python any more."""
        leaves = [self._leaf(leaf, ints) for leaf in self._leaves]
        if self.finish is None:
            return leaves[0]
        plain = _plain_result(self.finish.source)
        if plain is not None:
            return self._container(plain, leaves)
        code = self.code
        listed = code.sequence("List", leaves, FAILED)
        made = code.vectorcall(code.known(self.finish.function), [listed, *taken])
        return code.hold(code.present(made, FAILED))

    def _leaf(self, leaf: OutputLeaf, ints: Mapping[DimLeaf, str]) -> str:
        code = self.code
        match leaf:
            case ConstantLeaf(value):
                return code.known(value)
            case InputLeaf(place):
                return self.inputs[place]
            case DimLeaf():
                return ints[leaf]
            case ResultLeaf(result, kind):
                name = self.module.program.results[result]
                if name in self.module.returned:
                    return self._returned(self.module.returned.index(name))
                if isinstance(kind, ArrayType):
                    return self.made[name]
        raise Untranslated("a leaf")

    def _returned(self, place: int) -> str:
        if len(self.module.returned) == 1:
            return self.found
        return self.code.call("ptr", "PyTuple_GetItem", f"ptr {self.found}", f"i64 {place}")

    def _container(self, node: ast.expr, leaves: Sequence[str]) -> str:
        match node:
            case ast.Constant(value):
                return self.code.known(value)
            case ast.Name(name):
                return leaves[int(name[1:])]
            case ast.Tuple(elements) if elements:
                items = [self._container(x, leaves) for x in elements]
                return self.code.sequence("Tuple", items, FAILED)
        raise Untranslated("a result")


def _plain_result(source: str) -> ast.expr | None:
    """What an epilogue returns, if that is all it does: leaves, constants, and tuples of them."""
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    *before, last = function.body
    if not isinstance(last, ast.Return) or last.value is None:
        return None
    unpacks = all(
        isinstance(stmt, ast.Assign)
        and isinstance(stmt.value, ast.Name)
        and stmt.value.id == "leaves"
        for stmt in before
    )
    parts = (ast.Tuple, ast.Constant, ast.Name, ast.Load)
    plain = all(isinstance(part, parts) for part in ast.walk(last.value))
    names = {part.id for part in ast.walk(last.value) if isinstance(part, ast.Name)}
    leaves = {f"r{place}" for place in range(100)}
    empty = any(isinstance(p, ast.Tuple) and not p.elts for p in ast.walk(last.value))
    return last.value if unpacks and plain and names <= leaves and not empty else None
