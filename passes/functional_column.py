"""The Functionalize column of the dispatcher: captured nodes, run on arrays that know their base.

See Note [Bases and views].
"""

from __future__ import annotations

from _thread import _local
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np

from fxc.dispatch.dispatcher import Dispatcher
from fxc.dispatch.keys import DispatchKey, KeySet, excluding
from fxc.dispatch.trace import current_builder
from fxc.ir.boxed_dtypes import is_boxed
from fxc.ir.errors import InternalError
from fxc.ir.forking import table_lock
from fxc.ir.graph import Arg, Literal, Node, Operand, Region, Value, walk
from fxc.ir.later import import_later
from fxc.ir.records import replace
from fxc.ir.schema import Param
from fxc.ir.signature import ViewStep
from fxc.ir.types import ArrayType, ScalarType, Type, stride_order
from fxc.ops.operators import ROUNDED, Operator, Tag
from fxc.ops.python_numbers import OF_NUMBERS
from fxc.ops.table import TABLE

from .bases import Base, FunctionalArray
from .imported_later import Affine, Other, extended, inverse_steps, region_of, steps_of

if TYPE_CHECKING:
    from .aliases import Path


# See Note [Rooms with one door].
symbols_bound_by = import_later("fxc.ir.evaluate", "symbols_bound_by")
as_numpy_rounds = import_later("fxc.passes.rounded_products", "as_numpy_rounds")
as_numpy_turns = import_later("fxc.passes.turned_products", "as_numpy_turns")

# Note [Carried bases]
# A base that a region writes, itself or in a region inside, is carried through the node: it is one
# more operand, of each region (but of a test, which only reads) one more parameter and one more
# result, and its value afterwards is one more result of the node. Each region starts from its own
# parameter; an arm that does not write gives it back. What a region derives of a base, the views
# that it reads, is gone with it. Results of regions are arrays made there, or parameters, so that
# no two of what a loop carries are one array.


class _Thread(_local):
    run: Functionalization | None = None


_thread = _Thread()
COLUMN = KeySet.of(DispatchKey.FUNCTIONALIZE)


@contextmanager
def functionalizing(run: Functionalization) -> Iterator[None]:
    """Inside the block the Functionalize column of this thread is that of ``run``."""
    register_column(run.dispatcher)
    before, _thread.run = _thread.run, run
    try:
        yield
    finally:
        _thread.run = before


_columns: WeakSet[Dispatcher] = WeakSet()
_columns_lock = table_lock()


def register_column(dispatcher: Dispatcher) -> None:
    """Fill the Functionalize column of a dispatcher, once.

    It has kernels of the operators that deal with arrays. Those of numbers fall through to the
    Trace column: nothing of theirs is a view, or written.
    """
    with _columns_lock:
        if dispatcher not in _columns:
            dispatcher.source(DispatchKey.FUNCTIONALIZE, _kernel_of)
            dispatcher.fallthrough(DispatchKey.FUNCTIONALIZE, lambda op: op.name in OF_NUMBERS)
            _columns.add(dispatcher)


def _kernel_of(name: str) -> Callable[..., Any]:
    op = TABLE[name]
    if name in OF_NUMBERS:
        raise KeyError(name)

    def kernel(*args: object) -> Any:
        if _thread.run is None:
            raise InternalError(f"{name}: nothing is being functionalized")
        return _thread.run.kernel(op, args)

    return kernel


def array_kind(kind: Type) -> ArrayType:
    if not isinstance(kind, ArrayType):
        raise InternalError(f"{kind} is not an array")
    return kind


class Functionalization:
    """The Functionalize column of one run, and the captured values met so far."""

    def __init__(self, dispatcher: Dispatcher, sees_sharing: bool = False) -> None:
        self.dispatcher = dispatcher
        self.sees_sharing = sees_sharing
        self.known: dict[Value, FunctionalArray | Operand] = {}
        self.derived_here: list[list[tuple[Base, Path]]] = []  # by each of the open regions

    # -- running nodes

    def node(self, node: Node) -> None:
        """Run one captured node on what stands for its operands."""
        builder = current_builder()
        builder.loc = node.loc
        bases = self.written_by(node) if node.regions else ()
        args = [
            self.argument(node, param, arg, bases)
            for param, arg in zip(node.schema.params, node.args, strict=True)
        ]
        found = self.dispatcher.call(node.op, *args)
        results = found if isinstance(found, tuple) else (found,)
        self.known.update(zip(node.outputs, map(self.owned, results), strict=False))
        for base, value in zip(bases, results[len(node.outputs) :], strict=False):
            base.hold(self.operand(value))

    def owned(self, result: object) -> Any:
        """A fresh array gets a base of its own."""
        if isinstance(result, tuple):
            return tuple(map(self.owned, result))
        if isinstance(result, Value) and isinstance(result.type, ArrayType):
            return FunctionalArray(Base(result), (), (), result.type)
        return result

    def argument(self, node: Node, param: Param, arg: Arg, bases: Sequence[Base]) -> Any:
        """What stands for an argument; ``bases`` are those that the node's regions write."""
        if isinstance(arg, Value):
            return self.known[arg]
        if isinstance(arg, Region):
            return self.region(node, param, arg, bases)
        if isinstance(arg, tuple):
            found = tuple(self.known[item] if isinstance(item, Value) else item for item in arg)
            carried = (base.value for base in bases) if param.is_list and param.is_value else ()
            return (*found, *carried)
        return arg

    # -- regions: see Note [Carried bases]

    def written_by(self, node: Node) -> tuple[Base, ...]:
        """The bases, made outside of the node, that its regions write."""
        found: dict[Base, None] = {}
        viewed: dict[Value, Value] = {}
        for inner in (inner for region in node.regions for inner in walk(region)):
            if inner.schema.is_view:
                viewed[inner.output] = inner.args[0]
            for place in inner.schema.written_params:
                target = inner.args[place]
                while target in viewed:
                    target = viewed[target]
                array = self.known.get(target)
                if isinstance(array, FunctionalArray):
                    found[array.base] = None
        return tuple(found)

    def region(self, node: Node, param: Param, region: Region, bases: Sequence[Base]) -> Region:
        """A region without views and writes, which carries ``bases``."""
        builder = current_builder()
        params = [builder.value(value.type, _word(value.name)) for value in region.params]
        for old, new in zip(region.params, params, strict=True):
            self.known[old] = self.owned(new)
        before = [(base.value, base.derived) for base in bases]
        for base in bases:
            params.append(builder.value(base.value.type))
            base.hold(params[-1])
        loc = builder.loc
        self.derived_here.append([])
        with builder.region():
            for inner in region.nodes:
                self.node(inner)
            results = [self.operand(self.known_operand(r)) for r in region.results]
            if param.name != "test":
                count = len(node.outputs)
                results[count:count] = [base.value for base in bases]
                results = self.apart(results, params)
            made = builder.finish(params, results)
        builder.loc = loc
        for base, path in self.derived_here.pop():
            base.derived.pop(path, None)
        gone = {name for value in params for name in _bound_int(value)}
        gone.update(inner.bound for inner in walk(region) if inner.bound is not None)
        for base, (value, derived) in zip(bases, before, strict=True):
            base.value, base.derived = value, derived
            base.forget_symbols(gone)
        return made

    def apart(self, results: Sequence[Operand], params: Sequence[Value]) -> list[Operand]:
        """The results of a region, with copies of those that are not its own or are there twice."""
        own = {*params, *(value for node in current_builder().nodes for value in node.outputs)}
        found: list[Operand] = []
        for result in results:
            if isinstance(result.type, ArrayType) and (result not in own or result in found):
                assert isinstance(result, Value)
                result = self.copied(result, result.type)
            found.append(result)
        return found

    def copied(self, value: Operand, kind: ArrayType) -> Value:
        """A copy in the layout of ``kind``."""
        moving = [axis for axis in stride_order(kind) if kind.shape[axis] != 1]
        orders = {tuple(sorted(moving, reverse=True)): "F", tuple(sorted(moving)): "C"}
        order = orders.get(tuple(moving), "K") if len(moving) > 1 else "K"
        copied: Value = self.trace("copy", value, order)
        copied.type = replace(
            array_kind(copied.type), strides=kind.strides, writeable=kind.writeable
        )
        return copied

    def known_operand(self, operand: Operand) -> Any:
        return self.known[operand] if isinstance(operand, Value) else operand

    # -- the column

    def kernel(self, op: Operator, args: tuple[Any, ...]) -> Any:
        """What the Functionalize column runs for an operator that deals with arrays."""
        if op.tag is Tag.CUSTOM and (found := self.composed(op, args)) is not NotImplemented:
            return found
        if op.schema.writes:
            return self.owned(self.write(op, args))
        if op.schema.is_view:
            return self.view(op, args)
        return self.owned(self.trace(op.name, *map(self.unwrapped, args)))

    def composed(self, op: Operator, args: tuple[Any, ...]) -> object:
        """What an operator gives that is made of others for all columns."""
        for _, function in self.dispatcher.composites_of(op.name, DispatchKey.FUNCTIONALIZE):
            found = function(self.dispatcher.ops, *args)
            if found is not NotImplemented:
                return found
        return NotImplemented

    def trace(self, name: str, *args: object) -> Any:
        """Record a call of a pure operator: go on below the Functionalize column."""
        with excluding(COLUMN):
            return self.dispatcher.call(name, *args)

    def unwrapped(self, arg: object) -> Any:
        if isinstance(arg, tuple):
            return tuple(map(self.unwrapped, arg))
        return self.operand(arg)

    def operand(self, arg: object) -> Any:
        """The current value of an array; other arguments as they are."""
        if not isinstance(arg, FunctionalArray):
            return arg
        base = arg.base
        value = base.value
        for end in range(1, len(arg.path) + 1):
            path = arg.path[:end]
            found = base.derived.get(path)
            if found is None:
                found = base.derived[path] = self.copies(value, steps_of(path[-1:]))[-1]
                if self.derived_here:
                    self.derived_here[-1].append((base, path))
            value = found
        return value

    def copies(self, value: Value, steps: Sequence[ViewStep]) -> list[Value]:
        """``value``, and the copies of the views that each step leads to."""
        found = [value]
        for step in steps:
            found.append(self.trace(_copy_of(step), found[-1], *step.args))
        return found

    def view(self, op: Operator, args: tuple[Any, ...]) -> FunctionalArray:
        """A view: one more step on the chain; nothing is recorded before it is read."""
        array: FunctionalArray = args[0]
        step = ViewStep(op.name, args[1:])
        types = (array.type, *map(_type_of, args[1:]))
        kind = self.dispatcher.redispatch(DispatchKey.META, op.name, types)
        path = extended(array.path, array.type.shape, step)
        return FunctionalArray(array.base, (*array.steps, step), path, array_kind(kind), array)

    def write(self, op: Operator, args: tuple[Any, ...]) -> Any:
        """Compute the new content purely, then let the base take it; what else it gives."""
        args = tuple(map(_as_operand, op.schema.params, args))
        types = tuple(map(_type_of, args))
        self.dispatcher.redispatch(DispatchKey.META, op.name, types)  # raises what NumPy raises
        if op.tag is Tag.CUSTOM:
            return self.write_all(op, args)
        (place,) = op.schema.written_params
        target: FunctionalArray = args[place]
        more: tuple[Any, ...] = ()
        match op.role:
            case "inplace" if op.schema.returns:
                content, *more = self.trace(op.group, *map(self.unwrapped, args))
            case "inplace" | "out":
                read = args if op.role == "inplace" else args[:-1]
                values = list(map(self.unwrapped, read))
                content = self.trace(op.group, *values)
                if op.group in ROUNDED and content.type.dtype.kind == "c":
                    content = as_numpy_rounds(self.trace, op.group, target, read, values, content)
                if TABLE[op.group].tag is Tag.CONTRACTION:
                    content = as_numpy_turns(self.trace, target.type, values, content)
            case _:  # copy_: the content is the second argument
                content = self.unwrapped(args[1])
                whole = all(isinstance(x, Affine) and region_of(x) is None for x in target.path)
                if self.sees_sharing and whole:  # it replaces all that its base holds
                    # See Note [Operands that stay apart].
                    content = self.trace("copy", content, "K")
        self.store(target, content)
        return more[0] if len(more) == 1 else tuple(more) or None

    def write_all(self, op: Operator, args: tuple[Any, ...]) -> object:
        """An operator of the user's: what follows from it gives all that it writes."""
        found = self.trace(TABLE.partner(op.name, "functional").name, *map(self.unwrapped, args))
        results = found if isinstance(found, tuple) else (found,)
        places = op.schema.written_params
        for place, content in zip(places, results, strict=False):
            self.store(args[place], content)
        more = results[len(places) :]
        return more[0] if len(more) == 1 else more or None

    def store(self, target: FunctionalArray, content: Operand) -> None:
        """Replace what ``target`` holds by ``content``, broadcast and cast as NumPy does."""
        base, kind = target.base, target.type
        if content.type.dtype != kind.dtype:
            if is_boxed(kind.dtype) and isinstance(content.type, ScalarType):
                content = self.trace("copy", content, "K")  # no scalar is of a foreign byte order
            content = self.trace("astype", content, kind.dtype, "unsafe", "K")
        more = content.type.rank - kind.rank
        if more > 0:  # loops over matrices drop leading axes of size 1
            content = self.trace("squeeze_copy", content, tuple(range(more)))
        if content.type.shape != kind.shape or not isinstance(content.type, ArrayType):
            content = self.trace("broadcast_to_copy", content, kind.shape)
        wholes = [base.value]
        for segment in target.path[:-1]:
            wholes.append(self.copies(wholes[-1], steps_of((segment,)))[-1])
        for segment, whole in reversed(list(zip(target.path, wholes, strict=False))):
            content = self.written_back(segment, whole, content)
        base.update(self.in_layout(content, base), target.path)

    def written_back(self, segment: Affine | Other, whole: Value, content: Operand) -> Operand:
        """``whole`` with ``content`` in place of what a view of it shows."""
        if isinstance(segment, Other) and segment.step.op == "bitcast":
            return self.trace("reinterpret", content, whole.type.dtype)  # type: ignore[no-any-return]
        if isinstance(segment, Other):
            scatter = TABLE.partner(segment.step.op, "scatter").name
            return self.trace(scatter, whole, content, *segment.step.args)  # type: ignore[no-any-return]
        for step in inverse_steps(segment):
            content = self.trace(_copy_of(step), content, *step.args)
        region = region_of(segment)
        if region is None:
            return content
        scatter = TABLE.partner(region.op, "scatter").name
        return self.trace(scatter, whole, content, *region.args)  # type: ignore[no-any-return]

    def in_layout(self, content: Operand, base: Base) -> Value:
        """``content`` as the value of a base that keeps its layout (Note [Layout in types])."""
        kind = array_kind(base.value.type)
        if isinstance(content, Value) and content.type == kind:
            return content
        return self.copied(content, kind)


def _copy_of(step: ViewStep) -> str:
    """The operator that gives what the view shows; of a bitcast that is a pointwise one."""
    return "reinterpret" if step.op == "bitcast" else TABLE.partner(step.op, "copy").name


def _word(name: str) -> str | None:
    """A name that says something; what is only numbered gets a number of its own here."""
    return name if name.isidentifier() else None


def _bound_int(value: Value) -> set[str]:
    return symbols_bound_by(value) if isinstance(value.type, ScalarType) else set()


def _as_operand(param: Param, arg: object) -> object:
    """An argument, a number of a decomposition's own as the operand that it is."""
    if param.is_value and isinstance(arg, np.generic | bool | int | float | complex):
        return Literal(arg)
    return arg


def _type_of(arg: object) -> Any:
    """What a meta function is given for an argument."""
    if isinstance(arg, tuple):
        return tuple(map(_type_of, arg))
    if isinstance(arg, FunctionalArray | Value):
        return arg.type
    return arg
