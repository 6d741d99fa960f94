"""Simplification: what is known, repeated, unread or as cheap to say in other words goes.

Known values, repeated nodes, cheaper equal operators, reads of what was just written, branches
and loops that need not be ones or that carry what they need not.
"""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Sequence
from operator import is_
from typing import Any

import numpy as np

from fxc.ir.errors import InternalError
from fxc.ir.graph import Arg, Graph, Literal, Node, Operand, Region, Value, operands_of, walk
from fxc.ir.later import import_later
from fxc.ir.types import ArrayType, ScalarType, scalar_type_of
from fxc.ops.identities import DISTINCT, IDENTITIES
from fxc.ops.kernels import kernel_of
from fxc.ops.metas.layout import overlaps_itself
from fxc.ops.operators import Tag
from fxc.ops.table import TABLE
from fxc.ops.updates import UPDATES

from .apart import LAYOUT_FREE, Sharing
from .choices import without_choices
from .overwrites import drop_overwritten
from .unread import carried_params, drop_unread, keeping, regions_in

hoist = import_later("fxc.passes.hoisting", "hoist")  # see Note [Rooms with one door]

# Note [Results that stay apart]
# A node's array is an array of its own, and a caller sees that when the array is returned. A
# simplification therefore never lets a result of the graph (or of a region) become the same value
# as another result or a parameter, or one from outside of the region.


def simplify(graph: Graph) -> Graph:
    """Compute what is known, compute nothing twice, and drop what nobody reads.

    Scalar operators on literals are folded by their NumPy kernels, unless that raises or warns.
    Nodes with the same operator, arguments and result types become one. Identities of
    ``fxc.ops.identities`` apply. A view read back from its own scatter is the scattered value, and
    what later scatters overwrite unread is not written at all (``overwrites``). What a call of
    NumPy gives only to be copied is not copied. A branch whose condition is known is the nodes of
    one arm; what a loop gives back as it came is read from outside; what does not change in a loop
    is computed before it (``hoisting``).

    Requires: the graph is functional: no node writes or aliases.
    Ensures: results have the same bits; an operator that can raise still runs.
    """
    for node in walk(graph.body):
        if not node.schema.is_functional:
            raise InternalError(f"simplify: {node.op!r} is not functional")
    body = without_choices(_Simplification(graph).region(graph.body, ChainMap()))
    if any(node.regions for node in body.nodes):
        body = hoist(body)
    return graph.with_body(drop_unread(drop_overwritten(body)))


# What a node computes, as a key: its operator, arguments and result types.
_Known = ChainMap[tuple[Any, ...], Node]


class _Simplification:
    """One run of the pass over a graph, region by region."""

    def __init__(self, graph: Graph) -> None:
        self.replaced: dict[Value, Operand] = {}
        self.made_here: list[set[Value]] = []  # what the nodes of each open region have made
        self.made_by: dict[Value, Node] = {}
        self.results = {o for region in regions_in(graph.body) for o in region.results}
        self.params = {value for region in regions_in(graph.body) for value in region.params}
        # Bases of updates, and what branches and loops may update.
        self.filled = {
            value
            for node in walk(graph.body)
            if node.regions or TABLE[node.op].tag in UPDATES
            for value in (node.inputs if node.regions else node.args[:1])
            if isinstance(value.type, ArrayType)
        }
        self.layout_read = {
            value
            for node in walk(graph.body)
            if TABLE[node.op].tag not in LAYOUT_FREE
            for value in node.inputs
        }
        self.reads = Counter(value for node in walk(graph.body) for value in node.inputs)
        self.sharing = Sharing(graph)

    def region(self, region: Region, known: _Known) -> Region:
        """The region simplified; ``known`` are the nodes whose values it can read."""
        nodes: list[Node] = []
        self.made_here.append(set())
        pending = list(reversed(region.nodes))
        while pending:
            node = self.substituted(pending.pop(), known)
            instead = self.instead_of(node) if node.regions else None
            if instead is not None:
                pending += reversed(instead)
                continue
            made = self.simplified(node, known)
            if made is None:
                continue
            nodes.append(made)
            self.made_here[-1].update(made.outputs)
            for value in made.outputs:
                self.made_by[value] = made
        self.made_here.pop()
        return Region(region.params, tuple(nodes), tuple(map(self.operand, region.results)))

    def operand(self, operand: Operand) -> Operand:
        while isinstance(operand, Value) and operand in self.replaced:
            operand = self.replaced[operand]
        return operand

    def substituted(self, node: Node, known: _Known) -> Node:
        args = tuple([self.argument(arg, known) for arg in node.args])
        return node if all(map(is_, args, node.args)) else _with_args(node, args)

    def argument(self, arg: Arg, known: _Known) -> Arg:
        kind = type(arg)
        if kind is Value:
            return self.operand(arg)
        if kind is Region:
            return self.region(arg, known.new_child())
        if kind is tuple and not self.replaced.keys().isdisjoint(operands_of(arg)):
            return tuple(map(self.operand, arg))
        return arg

    # ------------------------------------------------------------ one node

    def simplified(self, node: Node, known: _Known) -> Node | None:
        """The node in its simplest form; None if other values stand for its own."""
        if node.regions or node.bound is not None:
            return node
        node = _by_identity(node)
        found: tuple[Operand, ...] | None = _folded(node)
        if found is None:
            back = self.only_copied(node) if node.op == "copy" else self.read_back(node)
            found = None if back is None else (back,)
        if found is None:
            types = tuple(value.type for value in node.outputs)
            key = (node.op, node.args, types, node.quiet)
            if self.filled.intersection(node.outputs) and TABLE[node.op].tag is Tag.FACTORY:
                return node  # if two were one, one of them would be a copy
            earlier = known.get(key) if node.op not in DISTINCT else None
            if earlier is None:
                known[key] = node
                return node
            found = earlier.outputs
        if not all(map(self.may_replace, node.outputs, found)):
            return node
        self.replaced.update(zip(node.outputs, found, strict=True))
        return None

    def may_replace(self, value: Value, by: Operand) -> bool:
        """See Note [Results that stay apart] and Note [Operands that stay apart]."""
        if not self.sharing.stays(value, by, self.operand):
            return False
        if value not in self.results:
            if isinstance(by, Value) and value in self.layout_read:
                self.layout_read.add(by)
            return True
        if isinstance(value.type, ScalarType):
            return True
        if by in self.results or by in self.params or by not in self.made_here[-1]:
            return False
        self.results.add(by)
        return True

    # ------------------------------------------------------------ branches and loops

    def instead_of(self, node: Node) -> list[Node] | None:
        """What does the same as a branch or a loop and is simpler, if there is something."""
        operands = node.arg("operands" if TABLE[node.op].tag is Tag.BRANCH else "init")
        if TABLE[node.op].tag is Tag.BRANCH and isinstance(node.arg("pred"), Literal):
            chosen = node.arg("on_true" if node.arg("pred").value else "on_false")
            self.replaced.update(zip(chosen.params, operands, strict=True))
            return [*chosen.nodes, *self.given_by(chosen, node.outputs)]
        if node.op == "fori_loop" and _never_runs(node):
            return self.standing_for(node.outputs, operands)
        for number, output in enumerate(node.outputs):
            given = _unchanged(node, number)
            if given is not None and given.type == output.type:
                if TABLE[node.op].tag is not Tag.BRANCH:
                    for region in node.regions:
                        self.replaced[carried_params(node, region)[number]] = given
                rest = [n for n in range(len(node.outputs)) if n != number]
                return [*self.standing_for((output,), (given,)), keeping(node, rest)]
        return None

    def given_by(self, arm: Region, outputs: Sequence[Value]) -> list[Node]:
        """Let the results of an arm, whose nodes are to stand here, be those of the branch."""
        own = {value for node in arm.nodes for value in node.outputs}
        self.results.difference_update(own)  # they are no longer results of a region
        copies: list[Node] = []
        for output, result in zip(outputs, arm.results, strict=True):
            if not isinstance(result, Value) or result not in own:
                copies += self.standing_for((output,), (self.operand(result),))
            elif output in self.results and result in self.results:
                copies.append(_copy(result, output))
            else:
                self.replaced[output] = result
                for noted in (self.results, self.layout_read):
                    if output in noted:
                        noted.add(result)
        return copies

    def standing_for(self, outputs: Sequence[Value], operands: Sequence[Operand]) -> list[Node]:
        """Let operands be the outputs; copies of those that must stay apart."""
        copies: list[Node] = []
        for output, operand in zip(outputs, operands, strict=True):
            if self.may_replace(output, operand):
                self.replaced[output] = operand
            else:
                copies.append(_copy(operand, output))
        return copies

    # ------------------------------------------------------------ views and scatters

    def maker(self, operand: Arg, role: str, like: Node) -> Node | None:
        """The node that made ``operand``, if it has this role in the group of ``like`` and the
        same view arguments."""
        made = self.made_by.get(operand) if isinstance(operand, Value) else None
        if made is None or made.op != TABLE.partner(like.op, role).name:
            return None
        return made if _view_args(made) == _view_args(like) else None

    def read_back(self, node: Node) -> Operand | None:
        """The value that a copy of a scattered region, or a scatter of a copied one, is."""
        match TABLE[node.op].role:
            case "copy":
                scattered = self.maker(node.args[0], "scatter", node)
                source = None if scattered is None else scattered.args[1]
                kind = node.output.type
                if isinstance(kind, ArrayType) and overlaps_itself(kind):
                    return None  # of what was written to one element the last is there
                if source is not None and self.alike(node.output, source):
                    return None if self.is_update(source) else source
            case "scatter":
                copied = self.maker(node.args[1], "copy", node)
                base = node.args[0]
                if copied is not None and copied.args[0] is base and isinstance(base, Value):
                    return base
        return None

    def only_copied(self, node: Node) -> Operand | None:
        """What was made here, if this copy of it is all that reads it, and nothing updates that."""
        operand = node.args[0]
        if operand not in self.made_here[-1] or self.reads.get(operand) != 1:
            return None
        if node.output in self.filled:
            return None
        return operand if node.output.type == operand.type else None

    def is_update(self, operand: Operand) -> bool:
        """Whether the value is another one with some elements replaced.

        What is read and written next is then better the base, in whose memory that was done, than
        this value, which would have to live in memory of its own.
        """
        made = self.made_by.get(operand) if isinstance(operand, Value) else None
        return made is not None and TABLE[made.op].tag in UPDATES

    def alike(self, value: Value, other: Operand) -> bool:
        """Whether ``other`` can stand for ``value``, as far as its type tells.

        Another layout is as good where nobody adds up elements in the order of memory.
        """
        left, right = value.type, other.type
        if not isinstance(left, ArrayType) or not isinstance(right, ArrayType):
            return False
        if left.dtype != right.dtype or left.shape != right.shape:
            return False
        if any(s == 0 and n != 1 for s, n in zip(left.strides, left.shape, strict=True)):
            return False  # elements share memory: the last one written is read by all
        if left.strides == right.strides:
            return True
        return value not in self.layout_read and value not in self.results


def _with_args(node: Node, args: tuple[Arg, ...]) -> Node:
    return Node(node.schema, args, node.outputs, node.loc)


def _view_args(node: Node) -> tuple[Arg, ...]:
    """The arguments that say which view a copy or a scatter is of."""
    return node.args[1:] if TABLE[node.op].role == "copy" else node.args[2:]


def _copy(operand: Operand, output: Value) -> Node:
    return Node(TABLE.schema_of("copy"), (operand, "K"), (output,))


def _never_runs(loop: Node) -> bool:
    low, high = loop.arg("lo"), loop.arg("hi")
    known = isinstance(low, Literal) and isinstance(high, Literal)
    return known and int(low.value) >= int(high.value)


def _unchanged(node: Node, number: int) -> Operand | None:
    """What a branch or a loop was given that this result of it always is."""
    if TABLE[node.op].tag is not Tag.BRANCH:
        body: Region = node.arg("body")
        same = body.results[number] is carried_params(node, body)[number]
        return node.arg("init")[number] if same else None
    found: list[Operand] = []
    for arm in node.regions:
        result = arm.results[number]
        if result in arm.params:
            result = node.arg("operands")[arm.params.index(result)]
        elif any(result in inner.outputs for inner in arm.nodes):
            return None
        found.append(result)
    return found[0] if found[0] == found[1] else None


def _by_identity(node: Node) -> Node:
    """The node as an equal and cheaper operator."""
    rewrite = IDENTITIES.get(node.op)
    found = rewrite(node.args) if rewrite is not None else None
    if found is None:
        return node
    return Node(TABLE[found[0]].schema, found[1], node.outputs, node.loc)


def _folded(node: Node) -> tuple[Literal, ...] | None:
    """The node's scalars, if all its operands are known and NumPy computes them silently."""
    if node.inputs or not node.outputs:
        return None
    if not all(isinstance(value.type, ScalarType) for value in node.outputs):
        return None
    try:
        with np.errstate(all="raise"):
            found = kernel_of(node.op)(*map(_plain, node.args))
    except Exception:  # whatever it is, it belongs to the run and not to us
        return None
    results = found if isinstance(found, tuple) else (found,)
    try:
        types = [scalar_type_of(result) for result in results]
    except TypeError:
        return None
    if types != [value.type for value in node.outputs]:
        return None
    return tuple(map(Literal, results))


def _plain(arg: Arg) -> Any:
    if isinstance(arg, Literal):
        return arg.value
    return tuple(map(_plain, arg)) if isinstance(arg, tuple) else arg
