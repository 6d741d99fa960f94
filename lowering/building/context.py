"""What is known while a graph is lowered: where values live, and how one is computed in a loop.

A value is *placed* (it lives in a buffer) or *inline* (an expression, computed where it is read).
Views are always inline, as index arithmetic. See Note [Writes in place].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

import numpy as np

from fxc.ir.graph import Literal, Node, Operand, Region, Value, walk
from fxc.ir.location import SourceLocation
from fxc.ir.records import mutable
from fxc.ir.symbols import Dim, computed, product, substitute, symbol, symbols_of
from fxc.ir.types import (
    PART_DTYPES,
    ArrayType,
    Type,
    array_type,
    c_strides,
    ordered_strides,
    stride_order,
)
from fxc.ops.table import TABLE, Tag
from fxc.ops.updates import Way

from ..emission import complex_rules
from ..emission.complex_rules import ComplexRule
from ..emission.scalar_rules import BOOL
from ..loops import (
    Atom,
    Buffer,
    Compute,
    Const,
    Element,
    Index,
    Load,
    Loop,
    Pair,
    Param,
    Stmt,
    Store,
)
from .factories import FACTORIES
from .index_maps import INDEX_MAPS, PART_VIEWS, Idx, broadcast
from .indexed import indexed, view_index, wrapped
from .pointwise import loop_dtypes, loop_name, rule_of, weight

# Note [Writes in place]
# A functional scatter gives a new value; where the old one is not read any more the new one takes
# over its buffer and only the written region is stored. Three rules keep that exact:
# - every inline value that would read the buffer after the store is placed before it;
# - inside the storing nest each load of the buffer is of the element stored in the same iteration,
#   of a region that is not stored, or (ordered loops) of elements that are stored later, if need be
#   because stores run behind (``delayed``); otherwise what is read is placed first;
# - an input's own buffer takes a new value only if the caller shall see one there, and only behind
#   the last operation that can raise (Note [Raising ops]).

INLINE_WEIGHT = 64  # operations that one inline expression may hold
INLINE_RESHAPES = 3  # each may multiply the length of index expressions
STRETCHED_WEIGHT = 4  # operations that are rather stored than done again for each reader
INTP = np.dtype(np.intp)
NEVER = 1 << 60  # the last use of what outlives its region


@mutable
class Scope:
    """What is known while the nodes of one region are visited."""

    nodes: Sequence[Node]
    last_use: dict[Value, int]
    uses: dict[Value, int]
    statements: list[Stmt] = field(default_factory=list)
    owned: set[str] = field(default_factory=set)  # storages that this region may overwrite
    position: int = -1


def new_scope(region: Region) -> Scope:
    """Last uses and numbers of uses of all values that the nodes of ``region`` read."""
    last_use: dict[Value, int] = {}
    uses: dict[Value, int] = {}
    for value in region.results:
        if isinstance(value, Value):
            last_use[value] = NEVER
            uses[value] = uses.get(value, 0) + 1
    for position in range(len(region.nodes) - 1, -1, -1):
        node = region.nodes[position]
        reached = uses.get(node.output, 0) if is_view_copy(node) else 1
        for value in (*node.inputs, *free_values(node)):
            last_use.setdefault(value, position)
            uses[value] = uses.get(value, 0) + reached
    return Scope(region.nodes, last_use, uses)


def is_view_copy(node: Node) -> bool:
    """Whether the node only rearranges its operand: index arithmetic."""
    return TABLE[node.op].tag is Tag.VIEW


def free_values(node: Node) -> tuple[Value, ...]:
    """The values from outside that the regions of ``node`` read."""
    found: dict[Value, None] = {}
    for region in node.regions:
        inside = set(region.params)
        for inner in walk(region):
            inside.update(inner.outputs)
            for nested in inner.regions:
                inside.update(nested.params)
        read = [v for inner in walk(region) for v in inner.inputs]
        read += [
            v for r in (region, *_regions_in(region)) for v in r.results if isinstance(v, Value)
        ]
        found.update((v, None) for v in read if v not in inside)
    return tuple(found)


def _regions_in(region: Region) -> list[Region]:
    return [inner for node in walk(region) for inner in node.regions]


class Context:
    """The state of one lowering. The rules that use it are functions in the modules around."""

    def __init__(self) -> None:
        self.inputs: tuple[Value, ...] = ()
        self.taken: set[str] = set()  # names of inputs and of parameters of regions
        self.buffers: dict[str, Buffer] = {}
        self.params: list[Param] = []
        self.param_of: dict[Value, Param] = {}
        self.dim_of: dict[Value, Dim] = {}  # Python ints
        self.literal_of: dict[Value, Literal] = {}  # region parameters bound to literals
        self.place: dict[Value, str] = {}
        self.node_of: dict[Value, Node] = {}
        self.native: dict[Node, bool] = {}  # whether they have native code, as far as is known
        self.reads: dict[Value, frozenset[str]] = {}  # storages that computing a value reads
        self.readers: dict[str, dict[Value, None]] = {}  # by storage: those that may read it later
        self.inline_users: dict[Value, list[Value]] = {}  # values computed from it where read
        self.weights: dict[Value, int] = {}
        self.reshapes: dict[Value, int] = {}  # how many lie between a value and memory
        self.target: dict[Value, str] = {}  # the buffer that a value should best live in
        self.occupants: dict[str, set[Value]] = {}  # values placed in a storage
        self.copies: list[str] = []
        self.sizes: dict[str, str] = {}  # of counted sizes, by symbol: the buffers of their values
        self.size_values: list[Value] = []  # that bind them in graphs of their own
        self.way_of: dict[str, Way] = {}  # by input: see Note [The memory of an input]
        self.last_arms: dict[Node, bool] = {}  # of branches that end a loop
        self.commits_from = 0  # the first position at which inputs may be overwritten
        self.can_undo = False  # see Note [Stores that are undone]
        self.undone: set[str] = set()  # inputs that are stored to before that
        self.scopes: list[Scope] = []
        self._names = 0
        self._loops = 0

    @property
    def scope(self) -> Scope:
        return self.scopes[-1]

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

    def add_buffer(self, dtype: np.dtype, shape: Sequence[Dim], strides: Sequence[Dim]) -> str:
        name = self.unused(f"b{len(self.buffers)}")
        self.buffers[name] = Buffer(name, dtype, tuple(shape), tuple(strides), "temp", name)
        self.scope.owned.add(name)
        return name

    def put(self, value: Value, name: str) -> None:
        """From now on ``value`` lives in the buffer ``name``."""
        self.place[value] = name
        storage = self.buffers[name].storage
        self.occupants.setdefault(storage, set()).add(value)
        self._set_reads(value, frozenset({storage}))
        self.weights[value] = 0
        self.reshapes[value] = 0
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
        from .writes import fill_new  # the rules for stores use this class

        self._forget_dead(storage)
        for reader in list(self.readers.get(storage, ())):
            if storage not in self.reads[reader]:
                continue
            if reader is not value and reader not in self.place and self.is_alive(reader):
                fill_new(self, reader, aimed=False)

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
        from .writes import fill_new  # the rules for stores use this class

        return fill_new(self, value, c_order=c_order)

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
        self.weights[node.output] = weight(node) + sum(inputs)
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
        index = self.loop_vars(value.type.shape)
        here: Idx = index
        base = value
        part: Idx = ()
        while base not in self.place:
            node = self.node_of.get(base)
            if node is None or not is_view_copy(node) or isinstance(node.args[0], Literal):
                return None
            index_map = INDEX_MAPS.get(TABLE[node.op].group)
            if index_map is None:
                return None
            base, here = node.args[0], index_map(node.args[0].type, node.args[1:], here)
            part = (PART_VIEWS[node.op],) if node.op in PART_VIEWS else part
        buffer = self.buffers[self.place[base]]
        if part:
            buffer, here = self.buffers[self.parts(buffer.name)], (*here, *part)
        offset: Dim = buffer.offset
        for stride, at in zip(buffer.strides, here, strict=True):
            offset = offset + at * stride
        zero = {str(i): 0 for i in index if not isinstance(i, int)}
        strides: list[Dim] = []
        for i in index:
            one = {**zero, str(i): 1}
            step = substitute(offset, one) - substitute(offset, zero) if str(i) in one else 0
            strides.append(step if not isinstance(i, int) else buffer.dtype.itemsize)
        start = substitute(offset, zero)
        rebuilt: Dim = start
        for stride, i in zip(strides, index, strict=True):
            rebuilt = rebuilt + (i * stride if not isinstance(i, int) else 0)
        if rebuilt != offset:
            return None
        return self.alias(buffer, value.type, strides, start)

    def flattened(self, operand: Operand) -> Operand:
        """A value of rank 1 with the elements of ``operand`` in C order."""
        kind = operand.type
        if kind.rank == 1:
            return operand
        name = self.place_value(operand, c_order=True)
        buffer = self.buffers[name]
        itemsize = buffer.dtype.itemsize
        if buffer.strides != c_strides(buffer.shape, itemsize):
            from .writes import store, whole  # the rules for stores use this class

            name = self.new_buffer(kind, c_order=True)
            store(self, operand, name, whole, None)
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


@mutable
class Origin:
    """Where a load comes from: the largest value that rearranges a buffer and has the element."""

    load: Load
    value: Value


class Body:
    """The statements that compute elements of values inside one loop nest."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.stmts: list[Stmt] = []
        self.origins: list[Origin] = []
        self._known: dict[tuple[Operand, Idx], Element] = {}

    def value(self, operand: Operand, index: Idx, dtype: np.dtype | None = None) -> Atom:
        """The element of ``operand``, which is real, at ``index``, cast to ``dtype``."""
        return real_atom(self.element(operand, index, dtype))

    def element(self, operand: Operand, index: Idx, dtype: np.dtype | None = None) -> Element:
        """The element of ``operand`` at ``index``, cast to ``dtype``."""
        if isinstance(operand, Literal):
            return literal_element(operand.value, dtype or operand.type.dtype)
        found = self._known.get((operand, index))
        if found is None:
            found = self._known[operand, index] = self._element(operand, index)
        return self.cast(found, operand.type.dtype, dtype)

    def truth(self, operand: Operand, index: Idx) -> Atom:
        """Whether the element of ``operand`` at ``index`` counts as true."""
        found = self.element(operand, index)
        dtype = operand.type.dtype
        if isinstance(found, Pair):
            return complex_rules.truth(self, found, dtype)
        if dtype == BOOL:
            return found
        zero = Const(dtype.type(0).item(), dtype)
        return self.compute("not_equal", (found, zero), (dtype, dtype), BOOL)

    def cast(self, element: Element, source: np.dtype, dtype: np.dtype | None) -> Element:
        if dtype is None or dtype == source:
            return element
        if isinstance(element, Pair) or dtype in PART_DTYPES:
            return complex_rules.cast(self, element, source, dtype)
        return self.cast_atom(element, source, dtype)

    def cast_atom(self, atom: Atom, source: np.dtype, dtype: np.dtype) -> Atom:
        if dtype == source:
            return atom
        return self.compute("astype", (atom,), (source,), dtype)

    def compute(
        self, op: str, args: Sequence[Atom], dtypes: Sequence[np.dtype], dtype: np.dtype
    ) -> str:
        name = self.context.fresh()
        self.stmts.append(Compute(name, dtype, op, tuple(args), tuple(dtypes)))
        return name

    def index(self, dim: Dim, dtype: np.dtype) -> Atom:
        if isinstance(dim, int):
            return Const(dim, dtype)
        name = self.context.fresh()
        self.stmts.append(Index(name, dtype, dim))
        return name

    def computed(self, operand: Operand, index: Idx) -> Dim:
        """The integer element of ``operand`` at ``index``, to index with."""
        if isinstance(operand, Value) and operand in self.context.dim_of:
            return self.context.dim_of[operand]
        atom = self.value(operand, index, INTP)
        if isinstance(atom, Const):
            return int(atom.value)
        over = {name: each for dim in index for name, each in symbols_of(dim).items()}
        return computed(atom, tuple(symbol(name) for name in sorted(over)))

    def load(self, buffer: str, index: Idx) -> str:
        name = self.context.fresh()
        self.stmts.append(Load(name, self.context.buffers[buffer].dtype, buffer, index))
        return name

    def _element(self, value: Value, index: Idx) -> Element:
        context = self.context
        origin = value
        while value not in context.place:
            if value in context.param_of:
                return _given(context.param_of[value])
            if value in context.literal_of:
                return self.element(context.literal_of[value], ())
            if value in context.dim_of:
                return self.index(context.dim_of[value], value.type.dtype)
            node = context.node_of[value]
            if node.op in PART_VIEWS:
                return self._part(node, index, origin)
            passed = self._passed(node, index)
            if passed is None:
                return self._computed(node, index)
            index = passed
            if isinstance(node.args[0], Literal):
                return self.element(node.args[0], index)
            value = node.args[0]
        name = context.place[value]
        if value.type.dtype not in PART_DTYPES:
            return self._loaded(name, index, origin)
        parts = context.parts(name)
        return Pair(*(self._loaded(parts, (*index, part), origin) for part in range(2)))

    def _passed(self, node: Node, index: Idx) -> Idx | None:
        """The index into the array that ``node`` only rearranges; None if it computes something."""
        if TABLE[node.op].tag is Tag.GATHER:
            return indexed(self, node, index)
        return view_index(self, node, index) if is_view_copy(node) else None

    def _loaded(self, name: str, index: Idx, origin: Value) -> Atom:
        atom = self.load(name, index)
        load = self.stmts[-1]
        assert isinstance(load, Load)
        self.origins.append(Origin(load, origin))
        return atom

    def _part(self, node: Node, index: Idx, origin: Value) -> Atom:
        """The element of ``x.real`` or ``x.imag``; of memory only that part is read."""
        part, value = PART_VIEWS[node.op], node.args[0]
        while isinstance(value, Value) and value not in self.context.place:
            inner = self.context.node_of.get(value)
            passed = None if inner is None else self._passed(inner, index)
            if inner is None or passed is None:
                break
            index, value = passed, inner.args[0]
        if isinstance(value, Value) and value in self.context.place:
            parts = self.context.parts(self.context.place[value])
            return self._loaded(parts, (*index, part), origin)
        pair = self.element(value, index)
        assert isinstance(pair, Pair)
        return (pair.re, pair.im)[part]

    def _computed(self, node: Node, index: Idx) -> Element:
        op = TABLE[node.op]
        if op.tag is Tag.FACTORY:
            return FACTORIES[node.op](self, node, index)
        if node.op == "wrap_index":
            return wrapped(self, node, index)
        if op.tag is not Tag.POINTWISE:
            self.context.place_value(node.output)
            return self._element(node.output, index)
        args, dtypes = [], []
        operands = node.args[: len(node.args) - _statics(node)]
        resolved, result = loop_dtypes(node)
        for operand, dtype in zip(operands, resolved, strict=True):
            at = broadcast(operand.type.shape, index, node.output.type.shape)
            args.append(self.element(operand, at, dtype))
            dtypes.append(dtype)
        rule = rule_of(node)
        if isinstance(rule, ComplexRule):
            made = rule.make(self, args, tuple(dtypes), result)
        else:
            made = self.compute(loop_name(node), list(map(real_atom, args)), dtypes, result)
        return self.cast(made, result, node.output.type.dtype)


def _statics(node: Node) -> int:
    return sum(not param.is_value for param in node.schema.params)


def literal_element(value: object, dtype: np.dtype) -> Element:
    """A scalar known now, as an element of ``dtype``."""
    with np.errstate(all="ignore"):
        found = np.asarray(value).astype(dtype)
    if dtype in PART_DTYPES:
        part = PART_DTYPES[dtype]
        return Pair(Const(found.real.item(), part), Const(found.imag.item(), part))
    return Const(found.item(), dtype)


def real_atom(element: Element) -> Atom:
    """An element that is no complex number."""
    assert not isinstance(element, Pair)
    return element


def _given(param: Param) -> Element:
    if param.dtype in PART_DTYPES:
        return Pair(f"{param.name}.real", f"{param.name}.imag")
    return param.name
