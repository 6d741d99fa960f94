"""What is known while a graph is lowered: where values live, and what reads them.

A value is *placed* (it lives in a buffer) or *inline* (an expression, computed where it is read).
Views are always inline, as index arithmetic. See Note [Writes in place].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from fxc.ir.graph import Literal, Node, Operand, Value
from fxc.ir.location import SourceLocation
from fxc.ir.records import frozen, replace
from fxc.ir.symbols import Dim, product, symbol
from fxc.ir.types import (
    PART_DTYPES,
    ArrayType,
    Type,
    array_type,
    c_strides,
    ordered_strides,
    stride_order,
)
from fxc.ops.operators import Operator
from fxc.ops.table import TABLE
from fxc.ops.updates import Way

from ..machine.target import Target
from ..nests.buffers import Buffer, Element, Idx, Pair
from ..nests.program import Param
from ..nests.statements import Loop, Stmt, Store
from .affine import affine
from .coverage import has_conversions, is_called, is_known, moves, reads_unseen, types_in
from .fields import field, names_of_field
from .index_maps import is_view_copy
from .pointwise import weight
from .rotations import Rotation
from .scope import Scope, ValueState

# Note [Writes in place]
# A functional scatter gives a new value; where the old one is not read any more the new one takes
# over its buffer and only the written region is stored. Three rules keep that exact:
# - every inline value that would read the buffer after the store is placed before it;
# - inside the storing nest each load of the buffer is of the element stored in the same iteration,
#   of a region that is not stored, or (ordered loops) of elements that are stored later, if need be
#   because stores run behind (``delayed``); otherwise what is read is placed first;
# - an input's own buffer takes a new value only if the caller shall see one there, and only behind
#   the last operation that can raise (Note [Raising ops]).


@frozen
class NativeKernel:
    """Native code of an operator: what builds it, and for which nodes, if not for all.

    ``checks`` says that it looks for what NumPy or Python raises for. One that is ``last`` is for
    nodes that no composite serves.
    """

    build: Callable[[Context, Node], None]
    covers: Callable[[Node], bool] = lambda node: True
    checks: bool = False
    last: bool = False


KernelOf = Callable[[Operator], NativeKernel | None]


class Context(ABC):
    """The state of one lowering. The rules that use it are functions in the modules around."""

    def __init__(self, kernel_of: KernelOf, machine: Target) -> None:
        self._kernel_of = kernel_of
        self.machine = machine
        self._kernels: dict[Node, NativeKernel | None] = {}  # as far as they have been asked for
        self.inputs: tuple[Value, ...] = ()
        self.taken: set[str] = set()  # names of inputs and of parameters of regions
        self.buffers: dict[str, Buffer] = {}
        self.params: list[Param] = []
        self.param_of: dict[Value, Param] = {}
        self.dim_of: dict[Value, Dim] = {}  # Python ints
        self.literal_of: dict[Value, Literal] = {}  # region parameters bound to literals
        self.place: dict[Value, str] = {}
        self.node_of: dict[Value, Node] = {}
        self.reads: dict[Value, frozenset[str]] = {}  # storages that computing a value reads
        self.readers: dict[str, dict[Value, None]] = {}  # by storage: those that may read it later
        self.inline_users: dict[Value, list[Value]] = {}  # values computed from it where read
        self.weights: dict[Value, int] = {}
        self.reshapes: dict[Value, int] = {}  # how many lie between a value and memory
        self.rotations: dict[Value, Rotation] = {}  # what is read round its end
        self.target: dict[Value, str] = {}  # the buffer that a value should best live in
        self.occupants: dict[str, set[Value]] = {}  # values placed in a storage
        self.copies: list[str] = []
        self.sizes: dict[str, str] = {}  # of counted sizes, by symbol: the buffers of their values
        self.size_values: list[Value] = []  # that bind them in graphs of their own
        self.way_of: dict[str, Way] = {}  # by input: see Note [The memory of an input]
        self.last_arms: dict[Node, bool] = {}  # of branches that end a loop
        self.looked_ahead: dict[tuple[Value, int], tuple[int, Value]] = {}  # see ``computed``
        self.commits_from = 0  # the first position at which inputs may be overwritten
        self.can_undo = False  # see Note [Stores that are undone]
        self.undone: set[str] = set()  # inputs that are stored to before that
        self.scopes: list[Scope] = []
        self._names = 0
        self._loops = 0

    @abstractmethod
    def fill_new(self, value: Operand, *, c_order: bool = False, aimed: bool = True) -> str:
        """Compute ``value`` into a buffer: the one it aims at if that is free, else a new one."""

    @abstractmethod
    def store_whole(self, value: Operand, name: str) -> None:
        """Compute all elements of ``value`` into a buffer."""

    @property
    def scope(self) -> Scope:
        return self.scopes[-1]

    def is_work(self, value: Operand) -> bool:
        """Whether a value is rather stored than computed again for each reader."""
        least = self.machine.costs.stored_weight
        return isinstance(value, Value) and self.weights.get(value, 0) >= least

    def kernel_for(self, node: Node) -> NativeKernel | None:
        """The native code of a node, and of all that is inside of it; None if NumPy is called."""
        if node not in self._kernels:
            kernel = self._kernel_of(TABLE[node.op])
            inside = (inner for region in node.regions for inner in region.nodes)
            self._kernels[node] = (
                kernel
                if kernel is not None
                and (is_known(*types_in(node)) or moves(node))
                and has_conversions(node, self.machine)
                and kernel.covers(node)
                and not reads_unseen(node, self.inputs)
                and all(self.kernel_for(inner) or is_called(inner) for inner in inside)
                else None
            )
        return self._kernels[node]

    # -- names, buffers, loops

    def fresh(self) -> str:
        self._names += 1
        return self.unused(f"t{self._names}")

    def unused(self, name: str) -> str:
        """The name, or one like it if something in the user's function is called so."""
        while name in self.taken:
            name += "_"
        return name

    def loop_vars(self, shape: Sequence[Dim]) -> tuple[Dim, ...]:
        """A loop variable for each dim; 0 for a dim of size 1."""
        found: list[Dim] = []
        for dim in shape:
            found.append(0 if dim == 1 else self.loop_var())
        return tuple(found)

    def loop_var(self) -> Dim:
        self._loops += 1
        while f"i{self._loops - 1}" in self.taken:
            self._loops += 1
        return symbol(f"i{self._loops - 1}", hint=0, lower=0)

    def new_buffer(self, kind: Type, *, c_order: bool = False) -> str:
        """A new temporary of this type, in NumPy's layout or in plain C order."""
        order = tuple(range(kind.rank))
        if isinstance(kind, ArrayType) and not c_order:
            order = stride_order(kind)
        strides = ordered_strides(kind.shape, order, kind.dtype.itemsize)
        return self.add_buffer(kind.dtype, kind.shape, strides)

    def given_buffer(self, kind: Type) -> str:
        """A new temporary for an array that a call gives: in its own layout, gaps and all."""
        if isinstance(kind, ArrayType):
            return self.add_buffer(kind.dtype, kind.shape, kind.strides)
        return self.new_buffer(kind)

    def add_buffer(self, dtype: np.dtype, shape: Sequence[Dim], strides: Sequence[Dim]) -> str:
        name = self.unused(f"b{len(self.buffers)}")
        self.buffers[name] = Buffer(name, dtype, tuple(shape), tuple(strides), "temp", name)
        self.scope.owned.add(name)
        return name

    def put(self, value: Value, name: str) -> None:
        """From now on ``value`` lives in the buffer ``name``. See Note [Placed in a region]."""
        if value not in self.scope.made:
            costs = self.weights.get(value, 0), self.reshapes.get(value, 0)
            known = ValueState(self.place.get(value), self.reads_of(value), *costs)
            self.scope.before.setdefault(value, known)
        storage = self.buffers[name].storage
        self.occupants.setdefault(storage, set()).add(value)
        self._set(value, ValueState(name, frozenset({storage}), 0, 0))

    def leave(self) -> None:
        """End a region: what is from around it is what it was before."""
        for value, known in self.scopes.pop().before.items():
            self._set(value, known)

    def _set(self, value: Value, known: ValueState) -> None:
        if known.place is None:
            self.place.pop(value, None)
        else:
            self.place[value] = known.place
        self._set_reads(value, known.reads)
        self.weights[value] = known.weight
        self.reshapes[value] = known.reshapes
        changed = [value]
        while changed:  # inline values now read the buffer instead of computing ``value``
            for user in self.inline_users.get(changed.pop(), ()):
                reads = self._reads_of_inputs(self.node_of[user])
                if user not in self.place and reads != self.reads[user]:
                    self._set_reads(user, reads)
                    changed.append(user)

    def _set_reads(self, value: Value, storages: frozenset[str]) -> None:
        self.reads[value] = storages
        for storage in storages:
            self.readers.setdefault(storage, {})[value] = None

    def storage_of(self, value: Value) -> str | None:
        name = self.place.get(value)
        return None if name is None else self.buffers[name].storage

    def emit(self, stmt: Stmt) -> None:
        self.scope.statements.append(stmt)

    def emit_nest(
        self,
        indices: Sequence[Dim],
        shape: Sequence[Dim],
        body: Sequence[Stmt],
        loc: SourceLocation | None,
        *,
        direction: str = "",
        note: str = "",
    ) -> None:
        """Emit ``body`` in loops over ``indices``; a constant index stands for a dim of size 1."""
        stmts = tuple(body)
        for index, dim in reversed(list(zip(indices, shape, strict=True))):
            if isinstance(index, int):
                continue
            down = direction == "descending"
            loop = Loop(str(index), dim, stmts, bool(direction), down, None, loc, note)
            stmts = (loop,)
        for stmt in stmts:
            self.emit(stmt)

    # -- when to place a value

    def is_alive(self, value: Value) -> bool:
        """Whether a node behind the current one, or the region's result, reads ``value``."""
        return self.scope.last_use.get(value, -1) > self.scope.position

    def place_readers(self, storage: str, value: Operand | None = None) -> None:
        """Place every inline value that would read ``storage`` later: it is about to change.

        ``value`` is what changes it; how that reads it is for the storing nest to settle.
        """
        self._forget_dead(storage)
        for reader in list(self.readers.get(storage, ())):
            if storage not in self.reads[reader]:
                continue
            if reader is not value and reader not in self.place and self.is_alive(reader):
                self.fill_new(reader, aimed=False)

    def _forget_dead(self, storage: str) -> None:
        """Drop from the readers and occupants of a storage what no later node reads."""
        if len(self.scopes) > 1:
            return  # what is dead in a region may be alive around it
        readers = self.readers.get(storage, {})
        self.readers[storage] = {reader: None for reader in readers if self.is_alive(reader)}
        living = {value for value in self.occupants.get(storage, ()) if self.is_alive(value)}
        self.occupants[storage] = living

    def may_overwrite(self, storage: str, *, undo: bool = False) -> bool:
        """Whether nothing that lives in ``storage`` is needed behind the current node.

        ``undo``: what is stored to an input may be undone by a check that fails.
        """
        if storage not in self.scope.owned:
            return False
        if self.is_early(storage) and not undo:
            return False
        return not any(self.is_alive(value) for value in self.occupants.get(storage, ()))

    def is_early(self, storage: str) -> bool:
        """Whether an operation that may raise follows, and the storage is an input."""
        is_input = self.buffers[storage].role == "input"
        return is_input and self.scope.position < self.commits_from

    def place_value(self, value: Operand, *, c_order: bool = False) -> str:
        """The buffer that ``value`` lives in; computed into a new one if it was inline."""
        if isinstance(value, Value) and value in self.place:
            return self.place[value]
        return self.fill_new(value, c_order=c_order)

    # -- reading

    def reads_of(self, value: Value) -> frozenset[str]:
        return self.reads.get(value, frozenset())

    def _reads_of_inputs(self, node: Node) -> frozenset[str]:
        return frozenset().union(*(self.reads_of(value) for value in node.inputs))

    def note_inline(self, node: Node) -> None:
        """Record what computing the result of ``node`` reads and costs."""
        self._set_reads(node.output, self._reads_of_inputs(node))
        for value in node.inputs:
            self.inline_users.setdefault(value, []).append(node.output)
        inputs = (self.weights.get(value, 0) for value in node.inputs)
        self.weights[node.output] = weight(node, self.machine.costs) + sum(inputs)
        deepest = max((self.reshapes.get(value, 0) for value in node.inputs), default=0)
        self.reshapes[node.output] = deepest + (TABLE[node.op].group == "reshape")

    def as_buffer(self, value: Operand) -> str:
        """A buffer that holds ``value``: its own, a strided reading of one, or a new one."""
        if isinstance(value, Value):
            found = self.strided(value)
            if found is not None:
                return found
        return self.place_value(value)

    def strided(self, value: Value) -> str | None:
        """A buffer that reads ``value`` in place with strides, if it is an affine view of one."""
        if value in self.place:
            return self.place[value]
        base = value
        while base not in self.place:
            node = self.node_of.get(base)
            if node is None or not is_view_copy(node) or not isinstance(node.args[0], Value):
                return None
            base = node.args[0]
        buffer = self.buffers[self.place[base]]
        index = self.loop_vars(value.type.shape)
        found = affine(value, base, buffer.strides, index, self.node_of)
        if found is None:
            return None
        part, start, strides = found
        buffer = self.buffers[
            field(self.buffers, buffer.name, names_of_field(value, base, self.node_of))
        ]
        if part is not None:
            buffer = self.buffers[self.parts(buffer.name)]
            start = start + part * buffer.strides[-1]
        return self.alias(buffer, value.type, strides, buffer.offset + start)

    def flattened(self, operand: Operand) -> Operand:
        """A value of rank 1 with the elements of ``operand`` in C order."""
        kind = operand.type
        if kind.rank == 1:
            return operand
        name = self.place_value(operand, c_order=True)
        buffer = self.buffers[name]
        itemsize = buffer.dtype.itemsize
        if buffer.strides != c_strides(buffer.shape, itemsize):
            name = self.new_buffer(kind, c_order=True)
            self.store_whole(operand, name)
            buffer = self.buffers[name]
        flat = Value(f"{name}_flat", array_type(buffer.dtype, (product(kind.shape),)))
        self.put(flat, self.alias(buffer, flat.type, (itemsize,), buffer.offset))
        return flat

    def alias(self, buffer: Buffer, kind: Type, strides: Sequence[Dim], offset: Dim) -> str:
        """Another reading of the memory of ``buffer``."""
        name = self.unused(f"v{len(self.buffers)}")
        self.buffers[name] = replace(
            buffer,
            name=name,
            dtype=kind.dtype,
            shape=kind.shape,
            strides=tuple(strides),
            offset=offset,
            parts=False,
        )
        return name

    def parts(self, name: str) -> str:
        """The reading of a complex buffer as floats. See Note [Complex numbers]."""
        buffer, parts = self.buffers[name], f"{name}.parts"
        if parts not in self.buffers:
            dtype = PART_DTYPES[buffer.dtype]
            shape, strides = (*buffer.shape, 2), (*buffer.strides, dtype.itemsize)
            self.buffers[parts] = replace(
                buffer, name=parts, dtype=dtype, shape=shape, strides=strides, parts=True
            )
        return parts

    def cells(self, name: str, index: Idx, element: Element) -> list[Store]:
        """The stores that put an element at ``index`` of a buffer."""
        if not isinstance(element, Pair):
            return [Store(name, index, element, self.buffers[name].dtype)]
        parts = self.parts(name)
        dtype = self.buffers[parts].dtype
        both = enumerate((element.re, element.im))
        return [Store(parts, (*index, part), atom, dtype) for part, atom in both]
