"""A graph as a module: its operators, its function, and what that says to the caller."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType

from fxc.ir.graph import Graph, Node, Region, Value
from fxc.ir.signature import DimLeaf, InputLeaf, OutputLeaf, ResultLeaf, ViewLeaf
from fxc.ir.symbols import Dim, counted_in, dims_in, plain_symbol, symbols_of
from fxc.ir.types import ArrayType
from fxc.ops.operators import Operator

from ..legalize import legalize, place_of, refuse
from . import (
    contractions,
    control,
    factories,
    indexed,
    linear,
    pointwise,
    reductions,
    views,
    writes,
)
from .builder import I32, I64, Block, Namer, Val, pruned, written
from .emission import Emission
from .given_sizes import checked_sizes, symbols_of_sizes
from .problems import Unsayable
from .text import identifier, quoted

TARGET = "StableHLO"

_EMITTERS = {
    **pointwise.EMITTERS,
    **views.EMITTERS,
    **writes.EMITTERS,
    **reductions.EMITTERS,
    **contractions.EMITTERS,
    **factories.EMITTERS,
    **indexed.EMITTERS,
    **linear.EMITTERS,
}


def has_words(op: Operator) -> object:
    """How an operator is written, if it is."""
    found = _EMITTERS.get(op.name) or control.CONTROL.get(op.name)
    if found is not None:
        return found
    return pointwise.pointwise if pointwise.rule_of(op) is not None else None


def stablehlo_module(
    graph: Graph, sizes: Mapping[str, int], at_least: Mapping[str, int] = MappingProxyType({})
) -> str:
    """The text of the module; see ``ExportedProgram.to_stablehlo`` and ``checked_sizes``."""
    known = checked_sizes(graph, sizes, at_least)
    legal = legalize(graph, TARGET, has_words)
    return _Module(legal, known).text()


def size_symbols(graph: Graph) -> frozenset[str]:
    """The symbols on which sizes of the graph's arrays depend; all that there are, if sizes change
    from time to time, as those in loops do.
    """
    dims = [dim for value in _values(graph.body) for dim in value.type.shape]
    found = frozenset(name for dim in dims for name in symbols_of(dim))
    every = frozenset(name for value in graph.inputs for name in symbols_of_sizes(value))
    return found if found <= every else every


def _values(region: Region) -> Iterator[Value]:
    yield from region.params
    for node in region.nodes:
        yield from node.outputs
        for inner in node.regions:
            yield from _values(inner)


class _Module:
    """One module while it is written."""

    def __init__(self, graph: Graph, sizes: Mapping[str, int]) -> None:
        self.graph = graph
        self.e = Emission(sizes)
        self.found: dict[str, None] = {}  # what cannot be said
        self.lost: set[Value] = set()  # what would be made of it

    def text(self) -> str:
        graph = self.graph
        params = [
            Val(value.type.dtype, self.e.held(value.type), identifier(value.name))
            for value in graph.inputs
        ]
        with self.e.b.block() as body:
            self.bind(params)
            results = self.region(graph.body)
            if self.found:
                refuse(graph.name, TARGET, self.found)
            results += self.counted()
            self.e.b.loc = None
            self.e.b.give(results, "return")
        pruned(body, set())
        return self.written(params, results, body)

    def bind(self, params: list[Val]) -> None:
        """What the inputs are, and the sizes that they tell."""
        for value, param in zip(self.graph.inputs, params, strict=True):
            self.e.bind(value, param)
            for axis, dim in enumerate(value.type.shape):
                name = plain_symbol(dim)
                if name is not None:
                    self.e.sizes.values.setdefault(name, partial(_asked, self.e, param, axis))

    # ------------------------------------------------------------ nodes

    def region(self, region: Region) -> list[Val]:
        """The nodes of a region, and its results."""
        for node in region.nodes:
            self.e.b.loc = node.loc
            if not node.regions and not self.lost.isdisjoint(node.inputs):
                self.lose(node)
                continue
            try:
                self.node(node)
            except Unsayable as problem:
                self.found[f"{node.op} ({place_of(node)}): {problem}"] = None
                self.lose(node)
        return [self.e.read(result) for result in region.results]

    def lose(self, node: Node) -> None:
        """Go on without the results of a node, to name all that cannot be said."""
        self.lost.update(node.outputs)
        for value in node.outputs:
            shape = [dim if isinstance(dim, int) else 1 for dim in value.type.shape]
            self.e.bind(value, Val(value.type.dtype, shape))

    def node(self, node: Node) -> None:
        loop = control.CONTROL.get(node.op)
        if loop is not None:
            results = loop(self.e, node, self.region)
        elif node.op in _EMITTERS:
            results = _EMITTERS[node.op](self.e, node)
        else:
            results = pointwise.pointwise(self.e, node)
        self.e.b.loc = node.loc
        self.e.named(node, results)

    # ------------------------------------------------------------ the boundary

    def counted(self) -> list[Val]:
        """Sizes that the program counts, for the caller. See Note [Held sizes]."""
        of_results = [self.e.sizes.value(dim) for _, _, dim in self.sizes_of_results()]
        return of_results + [self.e.sizes.values[name]() for name in self.sizes_of_views()]

    def sizes_of_views(self) -> list[str]:
        """The counted sizes on which views at the boundary depend."""
        signature = self.graph.signature
        assert signature is not None
        steps = [step for each in signature.mutations for view in each.regions for step in view]
        for leaf in signature.outputs:
            steps += leaf.steps if isinstance(leaf, ViewLeaf) else []
        sizes = [leaf for leaf in signature.outputs if isinstance(leaf, DimLeaf)]
        dims = dims_in((*steps, *sizes))
        return sorted({each.name for dim in dims for each in counted_in(dim)})

    def sizes_of_results(self) -> list[tuple[int, int, Dim]]:
        """Result, axis and size of what is held in a larger tensor."""
        return [
            (number, axis, dim)
            for number, result in enumerate(self.graph.outputs)
            if isinstance(result.type, ArrayType)
            for axis, dim in enumerate(result.type.shape)
            if self.e.sizes.changes(dim)
        ]

    def written(self, params: list[Val], results: list[Val], body: Block) -> str:
        namer = Namer({identifier(value.name) for value in _values(self.graph.body)})
        given = ", ".join(
            f"{namer.name(param)}: {param.type}{self.of_input(number)}"
            for number, param in enumerate(params)
        )
        found = ", ".join(
            f"{result.type}{self.of_result(number)}" for number, result in enumerate(results)
        )
        lines = [f"module @{identifier(self.graph.name)} {self.of_module()}{{"]
        lines.append(f"  func.func public @main({given}) -> ({found}) {{")
        lines += written(body, namer, 2)
        lines.append("  }")
        for name, block in self.e.functions.items():
            lines += self.function(name, block)
        return "\n".join([*lines, "}", ""])

    def function(self, name: str, block: Block) -> list[str]:
        namer = Namer(set())
        given = ", ".join(f"{namer.name(param)}: {param.type}" for param in block.params)
        found = ", ".join(result.type for result in block.results)
        head = f"  func.func private @{name}({given}) -> ({found}) {{"
        pruned(block, set())
        plain = Block()
        plain.lines = block.lines
        return [head, *written(plain, namer, 2), "  }"]

    def of_module(self) -> str:
        """What the caller's result is made of."""
        signature = self.graph.signature
        assert signature is not None
        leaves = ", ".join(quoted(_leaf(leaf)) for leaf in signature.outputs)
        return f"attributes {{fxc.outputs = [{leaves}]}} "

    def of_input(self, number: int) -> str:
        """Which result may take over the memory of an input: its new content."""
        signature = self.graph.signature
        assert signature is not None
        given = {each.result: each.input for each in reversed(signature.mutations)}
        found = [result for result, place in given.items() if place == number]
        return f" {{tf.aliasing_output = {found[0]} : i32}}" if found else ""

    def of_result(self, number: int) -> str:
        """Which inputs a result is the new content of, or what it is the size of."""
        signature = self.graph.signature
        assert signature is not None
        parts = []
        for mutation in signature.mutations:
            if mutation.result == number:
                name = self.graph.inputs[mutation.input].name
                parts.append(f"fxc.updates = {quoted(name)}")
        of_results, extra = self.sizes_of_results(), number - len(self.graph.outputs)
        if 0 <= extra < len(of_results):
            of, axis, _ = of_results[extra]
            parts.append(f"fxc.size_of = [{of}, {axis}]")
        elif extra >= 0:
            parts.append(f"fxc.size = {quoted(self.sizes_of_views()[extra - len(of_results)])}")
        return f" {{{', '.join(parts)}}}" if parts else ""


def _asked(e: Emission, param: Val, axis: int) -> Val:
    """The size of an input along an axis, asked for where it is needed."""
    size = e.b.op("get_dimension_size", [param], I32, (), f"dim = {axis}")
    return e.b.convert(size, I64)


def _leaf(leaf: OutputLeaf) -> str:
    """A leaf of the caller's result, in words."""
    match leaf:
        case ResultLeaf(result):
            return f"result {result}"
        case InputLeaf(number):
            return f"input {number}"
        case ViewLeaf(base, steps):
            return f"view of {_leaf(base)}: " + " ".join(
                f"{step.op}({', '.join(map(str, step.args))})" for step in steps
            )
        case _:
            return repr(leaf.value)
