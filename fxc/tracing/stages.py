"""The text of a stage, and the line of the program that each of its lines is for.

No elements of arrays are part of it: of those that the program holds as constants it says dtype and
shape.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from fxc.ir.graph import Arg, ArrayConstant, Graph, Node, Region, walk
from fxc.ir.location import SourceLocation
from fxc.ir.records import frozen, replace
from fxc.ir.text import graph_lines
from fxc.lowering.emission.entry import emit_module
from fxc.lowering.emission.llvm_text import ModuleText
from fxc.lowering.emission.located import (
    CodePlaces,
    places_of_lines,
    with_debug_locations,
    without_marks,
)
from fxc.lowering.emission.native_module import Module
from fxc.lowering.nests.program import Program
from fxc.lowering.nests.text import program_lines
from fxc.runtime.engine import Engine

from .assembly import located_lines

Place = tuple[str, int]  # a file and a line in it


@frozen
class StageText:
    """The lines of a stage, and by line the numbers of ``places`` that it is for."""

    lines: tuple[str, ...]
    places: tuple[Place, ...]
    of: tuple[tuple[int, ...], ...]


def of_graph(graph: Graph) -> StageText:
    """The text of a graph."""
    lines = graph_lines(without_contents(graph))
    places = [
        [line.subject.loc] if isinstance(line.subject, Node) and line.subject.loc else []
        for line in lines
    ]
    return _numbered([line.text for line in lines], places)


def without_contents(graph: Graph) -> Graph:
    """The graph with constants of which nothing but dtype and shape is left."""
    constants = (a for n in walk(graph.body) for a in n.args if isinstance(a, ArrayConstant))
    return graph if next(constants, None) is None else graph.with_body(_emptied(graph.body))


def _emptied(region: Region) -> Region:
    nodes = (replace(n, args=tuple(map(_emptied_argument, n.args))) for n in region.nodes)
    return Region(region.params, tuple(nodes), region.results)


def _emptied_argument(arg: Arg) -> Arg:
    if isinstance(arg, ArrayConstant):
        return ArrayConstant(arg.dtype, arg.shape, b"")
    return _emptied(arg) if isinstance(arg, Region) else arg


def of_program(program: Program, graph: Graph) -> StageText:
    """The text of loop nests, which were made of a graph. The head of a loop is for all that its
    body is for.
    """
    buffers = {name: replace(each, data=None) for name, each in program.buffers.items()}
    of_value = {value.name: node.loc for node in walk(graph.body) for value in node.outputs}
    lines = program_lines(replace(program, buffers=buffers))
    places: list[list[SourceLocation]] = []
    for line in lines:
        subjects: Iterable[object] = line.subject or ()  # type: ignore[assignment]
        found = (of_value.get(x) if isinstance(x, str) else x for x in subjects)
        places.append([x for x in found if isinstance(x, SourceLocation)])
    depths = [len(line.text) - len(line.text.lstrip()) for line in lines]
    for number in reversed(range(len(lines))):
        if re.match(r"\s*(for|loop|while|do|if|else)\b", lines[number].text):
            for inner in range(number + 1, len(lines)):
                if depths[inner] <= depths[number]:
                    break
                places[number] += places[inner]
    return _numbered([line.text for line in lines], places)


def of_module(module: Module) -> StageText:
    """The LLVM text of a module; nothing is known of places."""
    text = _CONTENT.sub(' c"…"', module.text).split("\n")
    return StageText(tuple(text), (), ((),) * len(text))


def of_code(
    module: Module, engine: Engine, graph: Graph, drawn: Sequence[int], fast: bool
) -> tuple[StageText, StageText]:
    """The LLVM text of a module and its assembly.

    The module is written once more, with marks. The code that runs is made without them, and is the
    same. See ``fxc.lowering.emission.located``.
    """
    where = CodePlaces(graph)
    marked = emit_module(graph, module.program, ModuleText(fast=fast, places=where), drawn).text
    if without_marks(marked) != module.text:  # nothing is said of places that may be wrong
        marked = module.text
    found = [(n - 1,) if n else () for n in places_of_lines(marked)]
    llvm = replace(of_module(module), places=tuple(where.listed), of=tuple(found))
    lines, numbers = located_lines(engine.assembly(with_debug_locations(marked)))
    of = tuple((number - 1,) if number else () for number in numbers)
    return llvm, StageText(tuple(lines), tuple(where.listed), of)


_CONTENT = re.compile(r'(?<=\]) c".*"(?=, align)')


def _numbered(lines: Sequence[str], places: Iterable[Iterable[SourceLocation]]) -> StageText:
    numbers: dict[Place, int] = {}
    of = tuple(
        tuple(dict.fromkeys(numbers.setdefault((x.file, x.line), len(numbers)) for x in each))
        for each in places
    )
    return StageText(tuple(lines), tuple(numbers), of)
