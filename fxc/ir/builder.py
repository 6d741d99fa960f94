"""Building a graph node by node, with deterministic names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from .graph import Arg, Node, Operand, Region, Value
from .location import SourceLocation
from .schema import Schema
from .types import Type


class GraphBuilder:
    """Collects nodes in order. ``%0, %1, …`` name results; inputs bring their own names.

    Regions are built inside ``with builder.region() as nodes``; value names are unique over the
    whole graph.
    """

    def __init__(self) -> None:
        self._blocks: list[list[Node]] = [[]]
        self._counts: dict[str, int] = {}  # of values called alike; names do not depend on others
        self._taken: set[str] = set()
        self.loc: SourceLocation | None = None

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes of the innermost open region so far."""
        return tuple(self._blocks[-1])

    def value(self, type: Type, name: str | None = None) -> Value:
        """A new value that no node makes: an input or a region parameter."""
        if name is None or name in self._taken:
            stem, name = name or "", None
            while name is None or name in self._taken:
                count = self._counts.get(stem, 0)
                name = f"{stem}_{count + 1}" if stem else str(count)
                self._counts[stem] = count + 1
        self._taken.add(name)
        return Value(name, type)

    def add(
        self,
        schema: Schema,
        args: Sequence[Arg],
        types: Sequence[Type],
        loc: SourceLocation | None = None,
    ) -> tuple[Value, ...]:
        """Append a call; the results have the given types."""
        outputs = tuple([self.value(kind) for kind in types])
        self._blocks[-1].append(Node(schema, tuple(args), outputs, loc or self.loc))
        return outputs

    @contextmanager
    def region(self) -> Iterator[None]:
        """Collect the nodes added inside the block for an inner region; end it with ``finish``."""
        self._blocks.append([])
        depth = len(self._blocks)
        try:
            yield
        finally:
            if len(self._blocks) == depth:
                self._blocks.pop()

    def append(self, node: Node) -> None:
        """Add a node that was made for another region."""
        self._blocks[-1].append(node)

    def open(self, nodes: Sequence[Node] = ()) -> None:
        """Collect nodes for an inner region, which has some already, until ``close``."""
        self._blocks.append(list(nodes))

    def close(self) -> tuple[Node, ...]:
        """The nodes of the innermost open region, which ends."""
        return tuple(self._blocks.pop())

    def finish(self, params: Sequence[Value], results: Sequence[Operand]) -> Region:
        """The nodes of the innermost open region, as a Region."""
        return Region(tuple(params), self.nodes, tuple(results))
