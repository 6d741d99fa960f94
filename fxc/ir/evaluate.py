"""Running a graph with NumPy, node by node: what a graph means.

``evaluate`` gives a graph's results, ``call`` what its caller sees (see Note [Boundary of a
graph]). Kernels are passed in; each gets the canonical arguments with real arrays and scalars,
dims as ints, and regions as functions from a tuple to a tuple.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, assert_never

import numpy as np

from . import size_functions
from .errors import InternalError, a_kind
from .graph import Arg, Graph, Literal, Node, Operand, Region, SliceSpec, Value
from .records import field, mutable
from .signature import (
    ConstantLeaf,
    DimLeaf,
    InputLeaf,
    OutputLeaf,
    ResultLeaf,
    ViewLeaf,
    ViewStep,
)
from .symbols import SymExpr, plain_symbol
from .types import ArrayType, ScalarType, Type, layout_model, normal_strides, strided_empty

KernelOf = Callable[[str], Callable[..., Any]]


# Symbols


def symbols_bound_by(value: Value) -> set[str]:
    """The symbols that an input or a region parameter gives a value to.

    A Python int is the symbol of its own name; an array binds each of its dims and strides that
    is a plain symbol.
    """
    kind = value.type
    if isinstance(kind, ScalarType):
        return {value.name} if kind.weak and kind.dtype.kind == "i" else set()
    return {name for dim in kind.shape + kind.strides if (name := plain_symbol(dim)) is not None}


def bind_symbols(
    inputs: Sequence[Value], args: Sequence[Any], outer: Mapping[str, int] | None = None
) -> dict[str, int]:
    """The values of the symbols that inputs bind, with those of ``outer``.

    Raises ``InternalError`` if an array has not the rank or the sizes that its type claims.
    """
    if len(inputs) != len(args):
        raise InternalError(f"{len(args)} arguments for {len(inputs)} inputs")
    known = dict(outer or {})
    arrays: list[tuple[Value, ArrayType, np.ndarray]] = []
    for value, arg in zip(inputs, args, strict=True):
        if not isinstance(value.type, ArrayType):
            known.update((name, int(arg)) for name in symbols_bound_by(value))
        elif isinstance(arg, np.ndarray) and arg.ndim == value.type.rank:
            arrays.append((value, value.type, arg))
        else:
            raise InternalError(f"%{value.name} is {_describe(arg)}, its type says {value.type}")
    for _, kind, arg in arrays:
        strides = normal_strides(arg.shape, arg.strides, arg.itemsize)
        for dim, size in zip(kind.shape + kind.strides, (*arg.shape, *strides), strict=True):
            name = plain_symbol(dim)
            if name is not None:
                known.setdefault(name, size_functions.evaluate(size, {}))
    for value, kind, arg in arrays:
        if tuple(size_functions.evaluate(dim, known) for dim in kind.shape) != arg.shape:
            text = f"%{value.name} is {_describe(arg)}, its type says {kind}"
            raise InternalError(f"{text} where {show_values(known)}")
    return known


def show_values(values: Mapping[str, int]) -> str:
    """``n = 4, m = 5``."""
    return ", ".join(f"{name} = {value}" for name, value in values.items())


# Evaluation


def evaluate(
    graph: Graph,
    args: Sequence[Any],
    kernel_of: KernelOf,
    *,
    check: bool = False,
    sizes: dict[str, int] | None = None,
) -> tuple[Any, ...]:
    """The graph's results for these arguments, one an input; ``sizes`` takes those it counts.

    With ``check`` each input and result is compared with its type, and ``InternalError`` names
    the node whose result differs.
    """
    evaluation = _Evaluation(graph, args, kernel_of, check)
    results = evaluation.run(graph.body, args)
    if sizes is not None:
        sizes.update(evaluation.symbols)
    return results


class _Evaluation:
    """One run of a graph. Regions share ``values``: a value has one place in the whole graph.

    Arrays of a captured graph lie in memory as their types say by themselves: they are NumPy's, and
    views of one another. Later ones are made so, for those kernels that add in memory's order.
    """

    def __init__(self, graph: Graph, args: Sequence[Any], kernel_of: KernelOf, check: bool) -> None:
        self.kernel_of = kernel_of
        self.check = check
        self.lays_out = graph.stage != "captured"
        self.values: dict[Value, Any] = {}
        self.symbols = bind_symbols(graph.inputs, args)
        if check:
            for value, arg in zip(graph.inputs, args, strict=True):
                self.compare(value.type, arg, f"input %{value.name}")

    def run(self, region: Region, args: Sequence[Any]) -> tuple[Any, ...]:
        self.hold(region.params, args)
        for node in region.nodes:
            self.step(node)
        return tuple(self.read(operand) for operand in region.results)

    def step(self, node: Node) -> None:
        args = [self.argument(arg) for arg in node.args]
        found = self.kernel_of(node.op)(*args)
        results = _as_tuple(node, found)
        if self.check:
            for value, result in zip(node.outputs, results, strict=True):
                where = f" ({node.loc})" if node.loc else ""
                self.compare(value.type, result, f"{node.op}{where}: %{value.name}")
        if node.bound is not None:
            first = results[0]
            self.symbols[node.bound] = len(first) if isinstance(first, np.ndarray) else int(first)
        self.hold(node.outputs, results)

    def hold(self, values: Sequence[Value], found: Sequence[Any]) -> None:
        for value, one in zip(values, found, strict=True):
            kind = value.type
            if self.lays_out and isinstance(kind, ArrayType) and isinstance(one, np.ndarray):
                one = _laid_out(one, with_symbols(kind.strides, self.symbols))
            self.values[value] = one

    def read(self, operand: Operand) -> Any:
        return operand.value if isinstance(operand, Literal) else self.values[operand]

    def argument(self, arg: Arg) -> Any:
        match arg:
            case Value() | Literal():
                return self.read(arg)
            case tuple():
                return tuple(self.argument(item) for item in arg)
            case Region():
                return self.function(arg)
            case _:
                return with_symbols(arg, self.symbols)

    def function(self, region: Region) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
        def run(args: Sequence[Any]) -> tuple[Any, ...]:
            outer = self.symbols
            self.symbols = bind_symbols(region.params, args, outer)
            try:
                return self.run(region, args)
            finally:
                self.symbols = outer

        return run

    def compare(self, kind: Type, found: object, what: str) -> None:
        """Raise ``InternalError`` unless ``found`` has the dtype, shape and kind claimed."""
        if isinstance(kind, ArrayType):
            shape = tuple(size_functions.evaluate(dim, self.symbols) for dim in kind.shape)
            right = isinstance(found, np.ndarray) and (found.dtype, found.shape) == (
                kind.dtype,
                shape,
            )
        elif kind.weak:
            right = type(found) is kind.python_type
        else:
            right = isinstance(found, np.generic) and found.dtype == kind.dtype
        if not right:
            raise InternalError(f"{what} is {_describe(found)}, its type says {kind}")


def with_symbols(arg: object, values: Mapping[str, int]) -> Any:
    """A static argument with every dim as a number."""
    match arg:
        case SymExpr():
            return size_functions.evaluate(arg, values)
        case SliceSpec(start, stop, step):
            return SliceSpec(*(size_functions.evaluate(dim, values) for dim in (start, stop, step)))
        case tuple():
            return tuple(with_symbols(item, values) for item in arg)
        case _:
            return arg


def _as_tuple(node: Node, found: Any) -> tuple[Any, ...]:
    returns = node.schema.returns
    if len(returns) == 1 and not returns[0].is_list:
        results: tuple[Any, ...] = (found,)
    else:
        results = () if found is None else tuple(found)
    if len(results) != len(node.outputs):
        raise InternalError(
            f"{node.op} gave {len(results)} results, the graph has {len(node.outputs)}"
        )
    return results


def _describe(found: object) -> str:
    if isinstance(found, np.ndarray):
        return f"an array {found.dtype}{list(found.shape)}"
    return a_kind(found)


# The boundary


def call(
    graph: Graph, args: Sequence[Any], kernel_of: KernelOf, *, check: bool = False
) -> list[Any]:
    """Run a functional graph as its caller sees it: the leaves of the caller's result.

    Inputs that the signature names are updated in place, and outputs alias as it says.
    """
    sizes: dict[str, int] = {}
    results = evaluate(graph, args, kernel_of, check=check, sizes=sizes)
    return deliver(graph, args, results, kernel_of, sizes)


def deliver(
    graph: Graph,
    args: Sequence[Any],
    results: Sequence[Any],
    kernel_of: KernelOf,
    sizes: Mapping[str, int] | None = None,
) -> list[Any]:
    """Apply the signature: bring new contents into inputs, make the leaves of the result.

    Sizes that were counted are those of arrays among the results, if they are not given.
    """
    signature = graph.signature
    if signature is None:
        raise InternalError(f"{graph.name} has no signature: it is not functionalized")
    known = {**_sizes_of(graph, results), **bind_symbols(graph.inputs, args), **(sizes or {})}
    boundary = _Boundary(args, results, known, kernel_of)
    # A result may be an input that the caller sees change: all are kept before one is written.
    for leaf in signature.outputs:
        boundary.keep(leaf)
    news = [np.array(results[mutation.result]) for mutation in signature.mutations]
    for mutation, new in zip(signature.mutations, news, strict=True):
        for steps in mutation.regions or ((),):
            target, source = (
                viewed(x, steps, known, kernel_of) for x in (args[mutation.input], new)
            )
            np.copyto(target, source, casting="equiv")
    return [boundary.object(leaf) for leaf in signature.outputs]


def _sizes_of(graph: Graph, results: Sequence[Any]) -> dict[str, int]:
    """The symbols that are sizes of the results."""
    return {
        name: size
        for operand, result in zip(graph.outputs, results, strict=True)
        if isinstance(operand.type, ArrayType)
        for dim, size in zip(operand.type.shape, result.shape, strict=True)
        if (name := plain_symbol(dim)) is not None
    }


@mutable
class _Boundary:
    """Makes the caller's objects from arguments and results, each object once."""

    args: Sequence[Any]
    results: Sequence[Any]
    symbols: Mapping[str, int]
    kernel_of: KernelOf
    fresh: dict[int, Any] = field(default_factory=dict)
    views: dict[int, Any] = field(default_factory=dict)

    def keep(self, leaf: OutputLeaf) -> None:
        """Make the fresh result that ``leaf`` is or is a view of."""
        base = leaf.base if isinstance(leaf, ViewLeaf) else leaf
        if isinstance(base, ResultLeaf) and base.result not in self.fresh:
            self.fresh[base.result] = self.own(self.results[base.result], base.type)

    def own(self, result: object, kind: Type) -> Any:
        """``result``, or a copy if it is a view, shares memory or lies otherwise than ``kind``."""
        if not isinstance(result, np.ndarray) or not isinstance(kind, ArrayType):
            return result
        claimed = tuple(size_functions.evaluate(dim, self.symbols) for dim in kind.strides)
        wanted = normal_strides(result.shape, claimed, result.itemsize)
        others = (*self.args, *self.fresh.values())
        shared = any(
            isinstance(other, np.ndarray) and np.may_share_memory(result, other) for other in others
        )
        layout = normal_strides(result.shape, result.strides, result.itemsize)
        if result.base is None and not shared and wanted == layout:
            return result
        return _dense_copy(result, claimed)

    def object(self, leaf: OutputLeaf) -> Any:
        match leaf:
            case InputLeaf(number):
                return self.args[number]
            case ResultLeaf(result, _):
                return self.fresh[result]
            case ViewLeaf(_, _, identity):
                if identity not in self.views:
                    self.views[identity] = self.view(leaf)
                return self.views[identity]
            case DimLeaf(value):
                return size_functions.evaluate(value, self.symbols)
            case ConstantLeaf(value):
                return value
            case _:
                assert_never(leaf)

    def view(self, leaf: ViewLeaf) -> Any:
        return viewed(self.object(leaf.base), leaf.steps, self.symbols, self.kernel_of)


def viewed(
    array: object, steps: Sequence[ViewStep], known: Mapping[str, int], kernel_of: KernelOf
) -> Any:
    """The view of an array by these steps."""
    for step in steps:
        array = kernel_of(step.op)(array, *with_symbols(step.args, known))
    return array


def _laid_out(array: np.ndarray, strides: Sequence[int]) -> np.ndarray:
    """``array``, or a copy with these strides if it has others."""
    if array.strides == strides:
        return array
    normal = normal_strides(array.shape, strides, array.itemsize)
    if normal == normal_strides(array.shape, array.strides, array.itemsize):
        return array
    wanted = [size_functions.evaluate(step, {}) for step in normal]
    made = strided_empty(array.dtype, array.shape, wanted)
    made[...] = array
    return made


def _dense_copy(array: np.ndarray, strides: Sequence[int]) -> np.ndarray:
    """A copy without gaps whose axes lie in memory as those with ``strides`` do."""
    order = sorted(range(array.ndim), key=lambda axis: -abs(strides[axis]))
    model = layout_model(array.dtype, order)
    made = np.empty_like(model, shape=array.shape)  # an array that is nobody's view
    made[...] = array
    return made
