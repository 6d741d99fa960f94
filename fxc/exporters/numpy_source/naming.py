"""Names of variables: the user's where the program's lines tell them, else short words."""

from __future__ import annotations

import ast
import builtins
import keyword
import linecache
import re
from collections.abc import Iterable
from functools import cache

from fxc.ir.graph import Graph, Node, Region, Value, walk
from fxc.ir.types import ArrayType
from fxc.ops.table import TABLE

_TAKEN = frozenset({*dir(builtins), *keyword.kwlist, *keyword.softkwlist, "np", "math"})
# What results of operators are called where nobody gave them a name.
_WORDS = {
    "sum": "total",
    "where": "chosen",
    "less": "below",
    "greater": "above",
    "constant": "table",
    "concatenate": "joined",
    "stack": "stacked",
    "gather": "picked",
    "wrap_index": "index",
    "select": "part",
    "dynamic_select": "part",
    "slice": "part",
    "expand_dims": "part",
    "item": "element",
    "bind_size": "count",
    "fori_loop": "state",
    "while_loop": "state",
    "cond": "result",
    "transpose": "turned",
    "invert": "others",
    "negative": "minus",
    "empty": "result",
    "py_int": "number",
    "try_int": "number",
    "arange": "places",
    "matmul": "product",
    "dot": "product",
}


class Names:
    """Names that are given once each in a module."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken: set[str] = {*taken}

    def free(self, wish: str) -> str:
        """The name, or one like it that is free; it is taken from then on."""
        word = re.sub(r"\W+", "_", wish).strip("_") or "value"
        word = f"v{word}" if word[0].isdigit() else word
        name, number = word, 1
        while name in self.taken or name in _TAKEN:
            number += 1
            name = f"{word}{number}" if not word[-1].isdigit() else f"{word}_{number}"
        self.taken.add(name)
        return name


def wishes(graph: Graph) -> dict[Value, str]:
    """The names that the user's program gives to values, as far as its lines tell.

    The nodes of one assignment stand together; those of their values which none of them reads are
    what is assigned.
    """
    found: dict[Value, str] = {}
    _wishes_in(graph.body, found)
    return found


def _wishes_in(region: Region, found: dict[Value, str]) -> None:
    nodes = list(region.nodes)
    start = 0
    while start < len(nodes):
        stop = start + 1
        statement = _statement(nodes[start])
        while stop < len(nodes) and _statement(nodes[stop]) == statement:
            stop += 1
        if statement is not None:
            _name_results(nodes[start:stop], statement[2], found)
        start = stop
    for node in region.nodes:
        for inner in node.regions:
            _wishes_in(inner, found)


def _name_results(nodes: list[Node], targets: tuple[str, ...], found: dict[Value, str]) -> None:
    read = {v for node in nodes for v in node.inputs}
    read |= {v for node in nodes for inner in walk_inside(node) for v in inner.inputs}
    ends = [out for node in nodes for out in node.outputs if out not in read]
    if len(ends) == len(targets):
        found.update((value, name) for value, name in zip(ends, targets, strict=True) if name)


def walk_inside(node: Node) -> list[Node]:
    return [inner for region in node.regions for inner in walk(region)]


def _statement(node: Node) -> tuple[str, int, tuple[str, ...]] | None:
    """The assignment that a node belongs to: file, line, names."""
    if node.loc is None:
        return None
    targets = _assignments(node.loc.file).get(node.loc.line)
    return None if targets is None else (node.loc.file, targets[0], targets[1])


@cache
def _assignments(file: str) -> dict[int, tuple[int, tuple[str, ...]]]:
    """For each line of an assignment to names: its first line, and the names."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return {}
    found: dict[int, tuple[int, tuple[str, ...]]] = {}
    for each in ast.walk(tree):
        targets = _targets(each)
        if targets:
            for line in range(each.lineno, (each.end_lineno or each.lineno) + 1):  # type: ignore[attr-defined]
                found[line] = (each.lineno, targets)  # type: ignore[attr-defined]
    return found


def _targets(statement: ast.AST) -> tuple[str, ...]:
    match statement:
        case ast.Assign(targets=[ast.Name(name)]) | ast.AugAssign(target=ast.Name(name)):
            return (name,)
        case ast.AnnAssign(target=ast.Name(name), value=ast.expr()):
            return (name,)
        case ast.Assign(targets=[ast.Tuple(elts)]) if all(isinstance(e, ast.Name) for e in elts):
            return tuple(e.id for e in elts)  # type: ignore[attr-defined]
        case _:
            return ()


def word_for(node: Node) -> str:
    """A short word for what a node gives."""
    group = TABLE[node.op].group
    word = _WORDS.get(group, group.removeprefix("linalg_").removeprefix("py_").removeprefix("try_"))
    if not isinstance(node.output.type if len(node.outputs) == 1 else None, ArrayType):
        word = word.removeprefix("math_")
    short = {"multiply": "scaled", "add": "added", "subtract": "difference", "divide": "ratio"}
    return short.get(word, word)
