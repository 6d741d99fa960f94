"""What a drawing shows of a graph: operations, what each reads and gives, regions, groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from fxc.ir.graph import Graph, Node, Region, Value
from fxc.ir.location import SourceLocation
from fxc.ir.records import frozen
from fxc.ir.text import show_operand, show_type

Kind = Literal["plain", "view", "write", "input", "result"]
Place = tuple[str, int]  # a file and a line in it


@frozen
class DrawnOperation:
    """A box: its name, what stands below it, the values that it reads and gives.

    ``after`` are operations, by their ``key``, that come before without giving it a value: what is
    written is read behind the write. ``group`` names the loop nest that it is a part of.
    """

    key: str
    label: str
    below: str = ""
    reads: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    kind: Kind = "plain"
    place: Place | None = None
    group: str = ""
    parts: tuple[DrawnRegion, ...] = ()


@frozen
class DrawnRegion:
    """Operations inside of another one: a region."""

    name: str
    operations: tuple[DrawnOperation, ...]


@frozen
class Picture:
    """A graph as it is drawn. ``groups`` say how each loop nest runs, by its name."""

    title: str
    operations: tuple[DrawnOperation, ...]
    groups: Mapping[str, str]


def picture_of(
    graph: Graph, groups: Mapping[str, str] | None = None, group_of: Mapping[str, str] | None = None
) -> Picture:
    """The picture of a graph; ``group_of`` says by values in which group what gives them is."""
    made = _Pictured(group_of or {})
    shown = made.region(graph.body, "", "result")
    return Picture(f"{graph.stage} {graph.name}", tuple(shown), dict(groups or {}))


class _Pictured:
    """Numbers operations, and knows which arrays are views of which, and who wrote last."""

    def __init__(self, group_of: Mapping[str, str]) -> None:
        self._group_of = group_of
        self._count = 0
        self._base: dict[str, str] = {}
        self._written: dict[str, str] = {}

    def region(self, region: Region, prefix: str, end: str) -> Iterator[DrawnOperation]:
        """The operations of a region: its parameters, its nodes, what leaves it."""
        for value in region.params:
            yield DrawnOperation(
                self._key(),
                f"%{value.name}",
                show_type(value.type),
                gives=(value.name,),
                kind="input",
            )
        for node in region.nodes:
            yield self._node(node)
        for number, operand in enumerate(region.results):
            read = (operand.name,) if isinstance(operand, Value) else ()
            below = show_operand(operand)
            after = self._writes(read)
            label = f"{end} {number}"
            yield DrawnOperation(self._key(), label, below, reads=read, after=after, kind="result")

    def _key(self) -> str:
        self._count += 1
        return str(self._count)

    def _node(self, node: Node) -> DrawnOperation:
        key, schema = self._key(), node.schema
        reads = tuple(dict.fromkeys(value.name for value in node.inputs))
        gives = tuple(value.name for value in node.outputs)
        after = () if schema.is_view else self._writes(reads)
        is_write = not schema.is_functional and not schema.is_view
        if schema.is_view and reads and gives:
            self._base[gives[0]] = self._base.get(reads[0], reads[0])
        if is_write and reads:
            self._written[self._base.get(reads[0], reads[0])] = key
        parts = tuple(
            DrawnRegion(name, tuple(self.region(region, key, "yield")))
            for name, region in zip(_names(node), node.regions, strict=True)
        )
        below = ", ".join(show_type(value.type) for value in node.outputs)
        group = next((g for g in map(self._group_of.get, gives) if g), "")
        kind: Kind = "write" if is_write else "view" if schema.is_view else "plain"
        outer = _outside(parts, reads)
        return DrawnOperation(
            key,
            node.op,
            below,
            (*reads, *outer),
            gives,
            after,
            kind,
            _place(node.loc),
            group,
            parts,
        )

    def _writes(self, reads: Iterable[str]) -> tuple[str, ...]:
        bases = (self._base.get(name, name) for name in reads)
        return tuple(dict.fromkeys(self._written[base] for base in bases if base in self._written))


def _names(node: Node) -> list[str]:
    params = node.schema.params
    return [p.name for p, arg in zip(params, node.args, strict=True) if isinstance(arg, Region)]


def _place(loc: SourceLocation | None) -> Place | None:
    return None if loc is None else (loc.file, loc.line)


def _outside(parts: Iterable[DrawnRegion], known: Iterable[str]) -> tuple[str, ...]:
    """The values that operations in parts read of the graph around."""
    inside = [each for part in parts for each in part.operations]
    given = {name for each in inside for name in each.gives} | set(known)
    read = (name for each in inside for name in each.reads if name not in given)
    return tuple(dict.fromkeys(read))
