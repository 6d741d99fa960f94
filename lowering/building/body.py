"""How the elements of values are computed inside a loop nest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fxc.ir.graph import Literal, Node, Operand, Value
from fxc.ir.later import import_class_later, import_later
from fxc.ir.records import mutable
from fxc.ir.symbols import Dim, computed, symbol, symbols_of
from fxc.ir.types import PART_DTYPES
from fxc.ops.operators import Tag
from fxc.ops.table import TABLE

from ..nests.buffers import BOOL, F32, HALF, Atom, Const, Element, Idx, Pair
from ..nests.program import Param
from ..nests.statements import Compute, Index, Load, Stmt
from .context import Context
from .fields import FIELD_COPIES, Names, field, names_in, own_index
from .index_maps import PART_VIEWS, broadcast, is_view_copy
from .pointwise import loop_dtypes, loop_name, rule_of

if TYPE_CHECKING:
    from .made_rules import MadeRule
else:
    MadeRule = import_class_later("fxc.lowering.building.made_rules", "MadeRule")

# See Note [Rooms with one door].
cast = import_later("fxc.lowering.building.complex_floats", "cast")
truth = import_later("fxc.lowering.building.complex_floats", "truth")
factory = import_later("fxc.lowering.building.factories", "factory")
indexed = import_later("fxc.lowering.building.indexed", "indexed")
view_index = import_later("fxc.lowering.building.indexed", "view_index")
wrapped = import_later("fxc.lowering.building.indexed", "wrapped")

INTP = np.dtype(np.intp)


@mutable
class Origin:
    """Where a load comes from: the largest value that rearranges a buffer and has the element."""

    load: Load
    value: Value


class Body:
    """The statements that compute elements of values inside one loop nest."""

    def __init__(self, context: Context, *, rotations: bool = False) -> None:
        self.context = context
        self.rotations = rotations  # whether arrays may be read round their end
        self.stmts: list[Stmt] = []
        self.origins: list[Origin] = []
        self._known: dict[tuple[Operand, Idx], Element] = {}
        self.quiet: frozenset[str] = frozenset()  # of the node that is being computed
        self.node = ""  # the value that it gives

    def value(self, operand: Operand, index: Idx, dtype: np.dtype | None = None) -> Atom:
        """The element of ``operand``, which is real, at ``index``, cast to ``dtype``."""
        return real_atom(self.element(operand, index, dtype))

    def element(self, operand: Operand, index: Idx, dtype: np.dtype | None = None) -> Element:
        """The element of ``operand`` at ``index``, cast to ``dtype``."""
        if isinstance(operand, Literal):
            own = operand.type.dtype
            if dtype is not None and _sets_flag(operand, dtype):
                return self.cast(literal_element(operand.value, own), own, dtype)
            return literal_element(operand.value, dtype or own)
        found = self._known.get((operand, index))
        if found is None:
            found = self._known[operand, index] = self._element(operand, index)
        return self.cast(found, operand.type.dtype, dtype)

    def truth(self, operand: Operand, index: Idx) -> Atom:
        """Whether the element of ``operand`` at ``index`` counts as true."""
        found = self.element(operand, index)
        dtype = operand.type.dtype
        if isinstance(found, Pair):
            known: Atom = truth(self, found, dtype)
            return known
        if dtype in (BOOL, HALF):  # a float16 is not converted for it
            return self.cast_atom(found, dtype, BOOL)
        zero = Const(dtype.type(0).item(), dtype)
        return self.compute("not_equal", (found, zero), (dtype, dtype), BOOL)

    def cast(self, element: Element, source: np.dtype, dtype: np.dtype | None) -> Element:
        if dtype is None or dtype == source:
            return element
        if isinstance(element, Pair) or dtype in PART_DTYPES:
            made: Element = cast(self, element, source, dtype)
            return made
        return self.cast_atom(element, source, dtype)

    def cast_atom(self, atom: Atom, source: np.dtype, dtype: np.dtype) -> Atom:
        if dtype == source:
            return atom
        return self.compute("astype", (atom,), (source,), dtype)

    def compute(
        self, op: str, args: Sequence[Atom], dtypes: Sequence[np.dtype], dtype: np.dtype
    ) -> str:
        if HALF in (dtype, *dtypes) and op not in _RAW:
            wide = [self.cast_atom(x, d, _wide(d)) for x, d in zip(args, dtypes, strict=True)]
            name = _OF_HALVES.get(op, op) if dtype == HALF else op
            made = self.compute(name, wide, [_wide(d) for d in dtypes], _wide(dtype))
            return str(self.cast_atom(made, _wide(dtype), dtype))
        name = self.context.fresh()
        self.stmts.append(
            Compute(name, dtype, op, tuple(args), tuple(dtypes), self.quiet, self.node)
        )
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
        dtype = self.context.buffers[buffer].dtype
        self.stmts.append(Load(name, dtype, buffer, index, node=self.node))
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
            rotation = context.rotations.get(value) if self.rotations else None
            if rotation is not None:
                value, index = rotation.base, rotation.at(index)
                continue
            node = context.node_of[value]
            if node.op in PART_VIEWS:
                return self._part(node, index, origin)
            if node.op in FIELD_COPIES:
                return self._field(node, index, origin)
            passed = self._passed(node, index)
            if passed is None:
                return self._computed(node, index)
            index = passed
            if isinstance(node.args[0], Literal):
                return self.element(node.args[0], index)
            value = node.args[0]
        return self._read(context.place[value], index, origin)

    def _read(self, name: str, index: Idx, origin: Value) -> Element:
        """The element at ``index`` of a buffer."""
        if self.context.buffers[name].dtype not in PART_DTYPES:
            return self._loaded(name, index, origin)
        parts = self.context.parts(name)
        return Pair(*(self._loaded(parts, (*index, part), origin) for part in range(2)))

    def _passed(self, node: Node, index: Idx) -> Idx | None:
        """The index into the array that ``node`` only rearranges; None if it computes something."""
        if TABLE[node.op].tag is Tag.GATHER:
            place: Idx = indexed(self, node, index)
            return place
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
            passed = (
                None if inner is None or inner.op in FIELD_COPIES else self._passed(inner, index)
            )
            if inner is None or passed is None:
                break
            index, value = passed, inner.args[0]
        if isinstance(value, Value) and value in self.context.place:
            parts = self.context.parts(self.context.place[value])
            return self._loaded(parts, (*index, part), origin)
        pair = self.element(value, index)
        assert isinstance(pair, Pair)
        return (pair.re, pair.im)[part]

    def _field(self, node: Node, index: Idx, origin: Value) -> Element:
        """The element of a field of records, which are in memory; only the field is read."""
        context, value = self.context, node.output
        names: Names = ()
        own: Idx = ()
        while value not in context.place:
            inner = context.node_of[value]
            passed = self._passed(inner, index)
            if passed is None:
                context.place_value(value)
                break
            if inner.op in FIELD_COPIES:
                names, own = (*names_in(inner), *names), (*own_index(inner, index), *own)
            index, value = passed, inner.args[0]
        return self._read(
            field(context.buffers, context.place[value], names), (*index, *own), origin
        )

    def _computed(self, node: Node, index: Idx) -> Element:
        op = TABLE[node.op]
        if op.tag is Tag.FACTORY:
            made: Element = factory(self, node, index)
            return made
        if node.op == "wrap_index":
            wrapped_index: Element = wrapped(self, node, index)
            return wrapped_index
        if op.tag is not Tag.POINTWISE:
            self.context.place_value(node.output)
            return self._element(node.output, index)
        args, dtypes = [], []
        around, self.node = self.node, node.output.name
        operands = node.args[: len(node.args) - _statics(node)]
        resolved, result = loop_dtypes(node)
        for operand, dtype in zip(operands, resolved, strict=True):
            at = broadcast(operand.type.shape, index, node.output.type.shape)
            args.append(self.element(operand, at, dtype))
            dtypes.append(dtype)
        rule, before = rule_of(node), self.quiet
        self.quiet = node.quiet
        if isinstance(rule, MadeRule):
            made = rule.make(self, args, tuple(dtypes), result)
        else:
            name = loop_name(node, repeated=len(self.context.scopes) > 1)
            made = self.compute(name, list(map(real_atom, args)), dtypes, result)
        made = self.cast(made, result, node.output.type.dtype)
        self.quiet, self.node = before, around
        return made


# What takes a float16 as it is, and what computes otherwise on those.
_RAW = frozenset({"astype", "copy", "item", "where", "reinterpret"})
_OF_HALVES = {name: f"{name} of halves" for name in ("maximum", "minimum", "fmax", "fmin")}


def _wide(dtype: np.dtype) -> np.dtype:
    """In which dtype one computes with elements. See Note [Half precision]."""
    return F32 if dtype == HALF else dtype


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


def _sets_flag(x: Literal, dtype: np.dtype) -> bool:
    """Whether NumPy may tell of the cast to ``dtype``: of a number that is too large for it, or
    too small.
    """
    own, to = (PART_DTYPES.get(each, each) for each in (x.type.dtype, dtype))
    if own.kind not in "iuf" or to.kind != "f" or own.itemsize <= to.itemsize:
        return False
    try:
        with np.errstate(all="raise"):
            np.asarray(x.value).astype(dtype)
    except FloatingPointError:
        return True
    return False


def real_atom(element: Element) -> Atom:
    """An element that is no complex number."""
    assert not isinstance(element, Pair)
    return element


def _given(param: Param) -> Element:
    if param.dtype in PART_DTYPES:
        return Pair(f"{param.name}.real", f"{param.name}.imag")
    return param.name
