"""The native function that is a whole call: guards, code, result.

See Note [Native calls].
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

import numpy as np

from fxc.ir.graph import Graph
from fxc.ir.objects import (
    ARRAY_DATA,
    ARRAY_DIMS,
    ARRAY_STRIDES,
    BYTES_DATA,
    SCALAR_VALUE,
    references_are_as_known,
)
from fxc.ir.signature import (
    ConstantLeaf,
    DimLeaf,
    InputLeaf,
    OutputLeaf,
    ResultLeaf,
    Slot,
    ViewLeaf,
)
from fxc.ir.symbols import Dim, SymFunc, dims_in, symbols_of
from fxc.ir.types import ArrayType, ScalarType, Type

from ..emission.llvm_text import memory_type
from ..emission.native_module import Module, Segment, slots_of
from ..nests.program import Param
from ..nests.statements import Boxed, walk
from .finish import Finish
from .guard_things import Untranslated
from .guarded_function import (
    COUNTER,
    FAILED,
    NEW,
    CallText,
    GuardedFunction,
    Spent,
    Steps,
)
from .native_entries import NativeEntries
from .native_sizes import NativeSizes
from .native_views import NativeViews
from .new_arrays import NewArray

# Note [Native calls]
# A compiled function whose calls follow each other closely, or are many (``Variant.look``), gets a
# native function for each of its captures, which is all that a call is: it checks the guards, makes
# the arrays of the result, calls the native code and makes the result. Its calling convention is
# that of METH_FASTCALL | METH_KEYWORDS:
# ``PyObject *call(PyObject *self, PyObject **args, n, PyObject *keywords)``. ``self`` is a bytes
# object with a table of pointers: the pieces of code, each with its own ``self``, NumPy's functions
# that make and resize arrays and views, a counter, the object to call where this is not the code
# for the call (that of the next capture, behind the last one Python's way), and objects that guards
# and result mention.
# - It is translated from the guard program (native_guards.py), whose Python source stays the one
#   place that says what a capture relies on. What is not translated refuses all of it.
# - Where NumPy runs between pieces of native code, the plan is called behind the guards
#   (guarded_call.py): one Python function.
# - Between pieces it makes the arrays whose sizes the one before has counted. Slices and
#   transposes among the results are made of what shape and strides come to, other views by NumPy.
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


def emit_call(
    graph: Graph, module: Module, steps: Steps, finish: Finish | None, spent: Spent | None = None
) -> CallText:
    """The native function for a call.

    Raises ``Untranslated``.
    """
    return WholeCall(graph, module, steps, finish, spent).emit()


class WholeCall(GuardedFunction):
    """A native function for calls of a graph, whose code is called as Note [Native entry] says."""

    def __init__(
        self,
        graph: Graph,
        module: Module,
        steps: Steps,
        finish: Finish | None = None,
        spent: Spent | None = None,
    ) -> None:
        self.graph = graph
        self.module = module
        self.slots = slots_of(graph, module)
        self.check_kind()
        super().__init__(steps, spent, finish)
        self.spent = spent
        self.steps = steps
        self.inputs = self.pointers(steps.inputs)
        self.symbols: dict[str, str] = {}
        dims = dims_in((module.arena, self.slots, self.leaves))
        self.needed = {name for dim in dims for name in symbols_of(dim)}
        self.made: dict[str, str] = {}  # storages → arrays
        self.views: dict[int, str] = {}  # identities → arrays

    def emit(self) -> CallText:
        self.look_at_sizes()
        self.ints = {
            leaf: self._int(leaf.value) for leaf in self.leaves if isinstance(leaf, DimLeaf)
        }
        taken = self.pointers(() if self.finish is None else self.finish.objects)
        self._run()
        return self.end(self.result([self.leaf(leaf) for leaf in self.leaves], taken))

    def check_kind(self) -> None:
        """Native code is all that runs, and what it counts is in C order."""
        body = self.module.program.body
        if any(isinstance(s, Boxed) and not s.brief for s in walk(body)):
            raise Untranslated("NumPy is called")
        for slot in self.slots:
            if slot.room is not None and slot.order != tuple(range(len(slot.shape))):
                raise Untranslated("a counted size in another order")

    def _leave_timed(self) -> None:
        """Leave a call to Python that is to be timed. See Note [Hot sizes]."""
        code, given = self.code, (value.type for value in self.graph.inputs)
        sizes = [each.shape for each in given if isinstance(each, ArrayType)]
        if any(symbols_of(dim) for shape in sizes for dim in shape):
            counter = code.table(COUNTER)
            calls, most = code.load("i64", counter), code.load("i64", counter, 8)
            code.demand(code.op(f"icmp slt i64 {calls}, {most}"))

    # -------------------------------------------------------- sizes

    def look_at_sizes(self) -> None:
        """Leave calls to Python that this is not for, by their sizes; the others have symbols."""
        self._leave_timed()
        self.bind_symbols()

    def bind_symbols(self) -> None:
        """Take the sizes that inputs have."""
        code = self.code
        for given, value in zip(self.inputs, self.graph.inputs, strict=True):
            kind = value.type
            if isinstance(kind, ScalarType):
                if value.name in self.needed:
                    self.symbols[value.name] = code.number_of(given)
                continue
            for field, dims in ((ARRAY_DIMS, kind.shape), (ARRAY_STRIDES, kind.strides)):
                for axis, dim in enumerate(dims):
                    name = str(dim)
                    if name in symbols_of(dim) and name not in self.symbols:
                        vector = code.load("ptr", given, field)
                        self.symbols[name] = code.load("i64", vector, 8 * axis)

    @property
    def leaves(self) -> tuple[OutputLeaf, ...]:
        """What the result is made of."""
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
        packed, spent = self._packed(), self._spent_places()
        arena = [] if self.module.arena == 0 else [self.new_arena(self.dim(self.module.arena))]
        self._make_known(spent)
        for place, segment in enumerate(self.module.segments):
            arrays = [self.made.get(slot.name) or self.code.known(None) for slot in self.slots]
            self.enter(place, segment, packed, [*arrays, *arena])
            self._bind_sizes(segment.binds)
            self._make_known(spent)
        for slot in self.slots:
            if slot.room is not None and slot.name in self.module.program.results:
                sized = NativeSizes(
                    self.code, slot, self.dim(slot.room), [*map(self.dim, slot.shape)]
                )
                self.made[slot.name] = sized.settled(self.made[slot.name])
        self.count()

    def new_arena(self, size: str) -> str:
        """An array for temporaries."""
        memory = NewArray(np.dtype(np.uint8), [size], (0,))
        return self.code.hold(memory.made(self.code, self.code.table(NEW)))

    def enter(self, place: int, segment: Segment, packed: str, arrays: Sequence[str]) -> None:
        """Call the code of a segment, the last one of which writes into arguments."""
        code = self.code
        objects = [self.inputs[param.input] for param in self.module.given.objects]
        given = ["%self", packed, *objects, *arrays]
        self.found = NativeEntries(code).enter(place, segment, given)
        if self.module.returned:
            code.hold(self.found)
        if segment is self.module.segments[-1]:
            code.failing = FAILED

    def _make_known(self, spent: Mapping[str, int]) -> None:
        """Make the arrays whose sizes are known, and that are not made yet."""
        for slot in self.slots:
            if slot.name in self.made:
                continue
            if slot.input is not None:
                self.made[slot.name] = self.inputs[slot.input]
                continue
            shape = slot.shape if slot.room is None else (slot.room,)
            if all(self.symbols.keys() >= symbols_of(dim).keys() for dim in shape):
                self.made[slot.name] = self.new_array(slot, shape, spent.get(slot.name))

    def _bind_sizes(self, names: Sequence[str]) -> None:
        """Take the sizes that the code has found. See Note [Counted sizes]."""
        for name in names:
            if name in self.needed:
                place = self.data(self.module.program.sizes[name])
                self.symbols[name] = self.code.load("i64", place)

    def data(self, storage: str) -> str:
        """Where the elements of an array are."""
        return self.code.load("ptr", self.made[storage], ARRAY_DATA)

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
        if kind.weak and kind.dtype.kind == "i":
            return code.number_of(given)
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
        value = ast.Name("r0") if self.finish is None else self.finish.plain
        if spent.is_second and isinstance(value, ast.Tuple):
            value = value.elts[1]
        items = [value]
        if spent.results > 1 and isinstance(value, ast.Tuple):
            items = [*value.elts]
        found: dict[str, int] = {}
        for number, place in enumerate(spent.places):
            match items[place] if place < len(items) else None:
                case ast.Name(name) if name not in self._globals:
                    leaf = self.leaves[int(name[1:])]
                    if isinstance(leaf, ResultLeaf) and isinstance(leaf.type, ArrayType):
                        storage = self.module.program.results[leaf.result]
                        found[storage] = spent.arguments + number
        return found

    def new_array(self, slot: Slot, shape: Sequence[Dim], spent: int | None) -> str:
        """An array that the code fills."""
        order, code = slot.order if slot.room is None else (0,), self.code
        new = NewArray(slot.dtype, [self.dim(dim) for dim in shape], order)
        if spent is None:
            return code.hold(new.made(code, code.table(NEW)))
        return code.hold(new.made_or_taken(code, code.table(NEW), spent, self.has_spent))

    # -------------------------------------------------------- the result

    def leaf(self, leaf: OutputLeaf) -> str:
        """A part of the result."""
        code = self.code
        match leaf:
            case ConstantLeaf(value):
                return code.known(value)
            case InputLeaf(place):
                return self.inputs[place]
            case DimLeaf():
                return self.ints[leaf]
            case ViewLeaf(base, steps, identity):
                if identity not in self.views:
                    views, array = NativeViews(code, self.dim), self.leaf(base)
                    self.views[identity] = views.view(array, self._type_of(base), steps)
                return self.views[identity]
            case ResultLeaf(result, kind):
                name = self.module.program.results[result]
                if name in self.module.returned:
                    return self._returned(self.module.returned.index(name))
                if isinstance(kind, ArrayType):
                    return self.made[name]
        raise Untranslated("a leaf")

    def _type_of(self, base: InputLeaf | ResultLeaf) -> Type:
        return self.graph.inputs[base.input].type if isinstance(base, InputLeaf) else base.type

    def _returned(self, place: int) -> str:
        if len(self.module.returned) == 1:
            return self.found
        return self.code.call("ptr", "PyTuple_GetItem", f"ptr {self.found}", f"i64 {place}")
