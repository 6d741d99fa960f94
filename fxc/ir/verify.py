"""Checking that a graph holds what its schemas, its types and its stage claim.

``problems`` lists what is wrong; ``verify`` raises an error that names the pass that has just
run, and prints the graph with each problem below the line that it concerns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from .errors import VerificationError, WouldRaise
from .evaluate import symbols_bound_by
from .fitting import describe, fits
from .graph import STAGES, Arg, Graph, Literal, Node, Operand, Region, Value, walk
from .records import frozen
from .same_dims import SameDims, is_without_symbols
from .schema import Param, Schema
from .signature import DimLeaf, InputLeaf, OutputLeaf, ResultLeaf, Signature, ViewLeaf
from .size_guards import assuming, recording
from .symbols import symbols_of
from .text import dims_of, graph_lines, show_type
from .types import ArrayType, Type

SchemaOf = Callable[[str], Schema]
MetaOf = Callable[[Node], tuple[Type, ...]]


@frozen
class Problem:
    """What is wrong, and with which part of the graph: something ``graph_lines`` has a line for."""

    message: str
    subject: object

    def __str__(self) -> str:
        return self.message


def verify(
    graph: Graph,
    *,
    table: SchemaOf,
    meta: MetaOf | None = None,
    after: str | None = None,
    before: Graph | None = None,
) -> None:
    """Raise ``VerificationError`` if the graph has problems.

    ``after`` names the last pass, ``before`` is the graph that it took, if that has been verified.
    """
    found = problems(graph, table=table, meta=meta, before=before)
    if found:
        count = "a problem" if len(found) == 1 else f"{len(found)} problems"
        when = f" after {after}" if after else ""
        raise VerificationError(f"the graph has {count}{when}:\n{annotated(graph, found)}")


def annotated(graph: Graph, found: Iterable[Problem]) -> str:
    """The text of a graph with each problem below the line that it concerns."""
    waiting: dict[int, list[str]] = {}
    for problem in found:
        waiting.setdefault(id(problem.subject), []).append(problem.message)
    text = []
    for line in graph_lines(graph):
        text.append(line.text)
        indent = " " * (len(line.text) - len(line.text.lstrip()))
        text += [f"{indent}^ {message}" for message in waiting.pop(id(line.subject), ())]
    text += [f"^ {message}" for messages in waiting.values() for message in messages]
    return "\n".join(text)


def problems(
    graph: Graph, *, table: SchemaOf, meta: MetaOf | None = None, before: Graph | None = None
) -> list[Problem]:
    """Everything that is wrong with a graph.

    ``table`` gives an operator's schema by name and raises ``KeyError`` for an unknown one;
    ``meta`` gives the types that a node's results should have, or raises. The nodes of ``before``,
    a graph without problems, are only asked whether all that they read is still there.
    """
    if graph is before:
        return []
    checker = _Checker(graph, table, meta)
    if before is not None and _asks_the_same(before, graph):
        checker.agreeing.update(walk(before.body))
    with recording({}), assuming(lambda guard: None):  # what metas take for granted
        checker.graph_is_well_formed()
    return checker.found


def _asks_the_same(before: Graph, after: Graph) -> bool:
    """Whether what is right for a node of the one graph is for the other."""
    captured = [each.stage == "captured" for each in (before, after)]
    return captured[0] == captured[1] and before.guards == after.guards


class _Checker:
    """Collects problems; ``values`` and ``symbols`` are those defined where the check is."""

    def __init__(self, graph: Graph, table: SchemaOf, meta: MetaOf | None) -> None:
        self.graph = graph
        self.table = table
        self.meta = meta
        self.found: list[Problem] = []
        self.names: dict[str, Value] = {}
        self.values: set[Value] = set()
        self.in_order: list[Value] = []  # the same, as they were defined
        self.symbols: set[str] = set()
        self.same = SameDims(graph.guards)
        self.agreeing: set[Node] = set()  # nodes that are right where what they read is there

    def report(self, subject: object, message: str) -> None:
        self.found.append(Problem(message, subject))

    # The whole

    def graph_is_well_formed(self) -> None:
        graph = self.graph
        if graph.stage not in STAGES:
            self.report(graph, f"there is no stage {graph.stage!r}")
        for guard in graph.guards:
            self.symbols.update(symbols_of(guard.left), symbols_of(guard.right))
        self.parameters(graph.inputs, graph)
        self.region(graph.body)
        if graph.signature is not None:
            self.signature(graph.signature)
        elif graph.stage != "captured":
            self.report(graph, f"a {graph.stage} graph has a signature, this has none")

    def region(self, region: Region) -> None:
        for node in region.nodes:
            self.node(node)
            self.define(node.outputs, node)
            if node.bound is not None:
                self.symbols.add(node.bound)
            self.symbols_are_defined(node.outputs, node)
        for operand in region.results:
            self.operand_is_defined(operand, region)

    def parameters(self, values: tuple[Value, ...], subject: object) -> None:
        self.define(values, subject)
        self.symbols.update(*map(symbols_bound_by, values))
        self.symbols_are_defined(values, subject)

    def define(self, values: tuple[Value, ...], subject: object) -> None:
        for value in values:
            other = self.names.get(value.name)
            if other is value:
                self.report(subject, f"%{value.name} is defined twice")
            elif other is not None:
                self.report(subject, f"two values are named %{value.name}")
            self.names[value.name] = value
            if not (value.name.isalnum() or _WORD.fullmatch(value.name)):
                self.report(subject, f"{value.name!r} is no name for a value")
            if value not in self.values:
                self.values.add(value)
                self.in_order.append(value)

    def symbols_are_defined(self, dims: object, subject: object) -> None:
        if is_without_symbols(dims):
            return
        used = {name for dim in dims_of(dims) for name in symbols_of(dim)}
        if used <= self.symbols:
            return
        for name in sorted(used - self.symbols):
            self.report(subject, f"the symbol {name} is not defined here")

    def operand_is_defined(self, operand: Operand, subject: object) -> None:
        if isinstance(operand, Literal) or operand in self.values:
            return
        stale = operand.name in self.names and self.names[operand.name] is not operand
        hint = "; another value has its name" if stale else ""
        self.report(subject, f"%{operand.name} is not defined here{hint}")

    # Nodes

    def node(self, node: Node) -> None:
        if node in self.agreeing:
            self.is_still_served(node)
            return
        before = len(self.found)
        try:
            listed = self.table(node.op)
        except KeyError:
            self.report(node, f"there is no operator {node.op!r}")
        else:
            if listed != node.schema:
                self.report(node, f"the schema of {node.op} is not the table's: {listed}")
        self.arguments(node, node.schema.params, node.args)
        if node.into is not None and node.into not in node.inputs:
            self.report(
                node, f"{node.into} is not an argument: its memory is not the node's to take"
            )
        self.result_count(node)
        for region in node.regions:
            self.inner_region(node, region)
        self.stage_allows(node)
        if len(self.found) == before:
            self.types_agree(node)

    def is_still_served(self, node: Node) -> None:
        """What another graph may change about a node: which values and symbols there are."""
        for value in node.inputs:
            self.operand_is_defined(value, node)
        for region in node.regions:
            self.inner_values(node, region)
        for place in node.schema.attributes:
            self.symbols_are_defined(node.args[place], node)

    def arguments(self, subject: object, params: tuple[Param, ...], args: tuple[Arg, ...]) -> None:
        if len(args) != len(params):
            self.report(subject, f"{len(args)} arguments for {len(params)} parameters")
        for param, arg in zip(params, args, strict=False):
            if not fits(param, arg):
                self.report(subject, f"{describe(arg)} cannot be the argument {str(param)!r}")
                continue
            if param.is_value:
                for operand in arg if param.is_list else (arg,):
                    if operand is not None:
                        self.operand_is_defined(operand, subject)
            elif param.kind != "Region":
                self.symbols_are_defined(arg, subject)

    def result_count(self, node: Node) -> None:
        returns, count = node.schema.returns, len(node.outputs)
        if not any(each.is_list for each in returns) and count != len(returns):
            self.report(node, f"{count} results, the schema has {len(returns)}")

    def stage_allows(self, node: Node) -> None:
        if self.graph.stage != "captured":
            if not node.schema.is_functional:
                verb = "writes" if node.schema.writes else "gives a view"
                self.report(node, f"{node.op} {verb}, and the graph is {self.graph.stage}")
            return
        for place in node.schema.written_params:
            arg = node.args[place] if place < len(node.args) else ()
            for target in arg if isinstance(arg, tuple) else (arg,):
                if not isinstance(target, Value) or not isinstance(target.type, ArrayType):
                    self.report(node, f"{describe(target)} is written, and it is no array")
                elif not target.type.writeable:
                    self.report(node, f"{describe(target)} is written, and it is read-only")

    def types_agree(self, node: Node) -> None:
        if self.meta is None:
            return
        try:
            types = self.meta(node)
        except WouldRaise:  # numbers that are known make it fail in each call
            return
        except Exception as error:  # a meta raises whatever NumPy would
            self.report(node, f"its meta raises {type(error).__name__}: {error}")
            return
        if len(types) != len(node.outputs):
            self.report(node, f"{len(node.outputs)} results, its meta gives {len(types)}")
        for value, kind in zip(node.outputs, types, strict=False):
            strides = self.graph.stage == "captured"
            if not self.same.types(value.type, kind, strides=strides):
                text = f"%{value.name} is {show_type(value.type)}"
                self.report(node, f"{text}, its meta says {show_type(kind)}")

    # Regions

    def inner_values(self, node: Node, region: Region) -> None:
        count, symbols = len(self.in_order), self.symbols
        self.symbols = set(symbols)
        self.parameters(region.params, node)
        self.region(region)
        self.symbols = symbols
        self.values.difference_update(self.in_order[count:])
        del self.in_order[count:]

    def inner_region(self, node: Node, region: Region) -> None:
        self.inner_values(node, region)
        if all(map(fits, node.schema.params, node.args)):
            self.region_params(node, region)
        self.region_results(node, region)

    def region_params(self, node: Node, region: Region) -> None:
        """A region takes the node's list of arrays, after a Python int if that is counted up."""
        given = next(
            (arg for p, arg in zip(node.schema.params, node.args, strict=False) if p.is_list), ()
        )
        params = region.params
        if len(params) == len(given) + 1 and symbols_bound_by(params[0]) == {params[0].name}:
            params = params[1:]
        if not isinstance(given, tuple) or len(params) != len(given):
            self.report(node, f"a region takes {len(region.params)} values, {given} are given")
            return
        for value, operand in zip(params, given, strict=True):
            if not self.same.types(value.type, operand.type):
                text = f"%{value.name} is {show_type(value.type)}"
                self.report(node, f"{text}, {describe(operand)} is {show_type(operand.type)}")

    def region_results(self, node: Node, region: Region) -> None:
        """A region gives the node's results; a test a bool, a body that stops a bool besides."""
        results, is_test = region.results, _argument(node, "test") is region
        if is_test or _argument(node, "stops") is True:
            *kept, flag = results or (None,)
            results = tuple(kept)
            if flag is None or flag.type.rank or flag.type.dtype.kind != "b":
                self.report(region, f"it ends with {describe(flag)}, which is no bool")
        if is_test:
            self.reads_only(region)
        outputs = () if is_test else node.outputs
        if len(results) != len(outputs):
            self.report(region, f"{len(results)} results, the node has {len(outputs)}")
            return
        for operand, value in zip(results, outputs, strict=True):
            if not self.same.types(operand.type, value.type):
                text = f"{describe(operand)} is {show_type(operand.type)}"
                self.report(region, f"{text}, %{value.name} is {show_type(value.type)}")

    def reads_only(self, region: Region) -> None:
        """A test writes nothing but what it made itself."""
        own: set[Arg] = set()
        for node in walk(region):
            if not node.schema.is_view or node.args[0] in own:
                own.update(node.outputs)
            own.update(param for inner in node.regions for param in inner.params)
            for place in node.schema.written_params:
                if place < len(node.args) and node.args[place] not in own:
                    self.report(node, f"{describe(node.args[place])} is written by a test")

    # The signature; see Note [Boundary of a graph]

    def signature(self, signature: Signature) -> None:
        inputs, results = self.graph.inputs, self.graph.outputs
        mutated: set[int] = set()
        for mutation in signature.mutations:
            if mutation.input in mutated:
                self.report(mutation, "the input is updated twice")
            mutated.add(mutation.input)
            if not 0 <= mutation.input < len(inputs):
                self.report(mutation, f"there is no input number {mutation.input}")
            elif not isinstance(kind := inputs[mutation.input].type, ArrayType):
                self.report(mutation, "only arrays can be updated")
            elif self.result_exists(mutation.result, mutation):
                new = results[mutation.result].type
                if (new.dtype, len(new.shape)) != (kind.dtype, kind.rank) or not all(
                    map(self.same, new.shape, kind.shape)
                ):
                    text = f"the new content is {show_type(new)}"
                    self.report(mutation, f"{text}, the input {show_type(kind)}")
        identities: dict[int, ViewLeaf] = {}
        for leaf in signature.outputs:
            self.leaf(leaf, leaf)
            if isinstance(leaf, ViewLeaf) and identities.setdefault(leaf.identity, leaf) != leaf:
                self.report(leaf, f"view {leaf.identity} is two different views")

    def leaf(self, leaf: OutputLeaf, subject: object) -> None:
        match leaf:
            case InputLeaf(number):
                if not 0 <= number < len(self.graph.inputs):
                    self.report(subject, f"there is no input number {number}")
            case DimLeaf(dim):
                self.symbols_are_defined(dim, subject)
            case ResultLeaf(number, kind):
                self.symbols_are_defined(kind, subject)
                if self.result_exists(number, subject):
                    found = self.graph.outputs[number].type
                    if not self.same.types(found, kind):
                        self.report(subject, f"result {number} is {show_type(found)}")
            case ViewLeaf(base, steps):
                self.leaf(base, subject)
                for step in steps:
                    self.step(step.op, step.args, subject)

    def step(self, op: str, args: tuple[Arg, ...], subject: object) -> None:
        try:
            schema = self.table(op)
        except KeyError:
            self.report(subject, f"there is no operator {op!r}")
            return
        if not schema.is_view:
            self.report(subject, f"{op} does not give a view")
        self.arguments(subject, schema.params[1:], args)

    def result_exists(self, number: int, subject: object) -> bool:
        exists = 0 <= number < len(self.graph.outputs)
        if not exists:
            self.report(subject, f"there is no result number {number}")
        return exists


_WORD = re.compile(r"[\w.]+")


def _argument(node: Node, name: str) -> Arg:
    place = node.schema.index_of.get(name)
    return node.args[place] if place is not None and place < len(node.args) else None
