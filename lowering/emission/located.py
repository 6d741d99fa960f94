"""Where in the user's program LLVM text comes from; for people who read it, as traces do.

Text that is written for ``CodePlaces`` has marks: comments such as ``; @3`` behind instructions,
with the number of a line of the program. Without them it is the text that is written otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fxc.ir.graph import Graph, walk
from fxc.ir.location import SourceLocation

from ..nests.statements import Stmt

_MARK = r"(?m)  ; @(\d+)$"
_NODE = r"(?m)^!(\d+) ="


class CodePlaces:
    """The lines of a program that a graph comes from, with a number for each that code is for."""

    def __init__(self, graph: Graph) -> None:
        self._of = {value.name: n.loc for n in walk(graph.body) for value in n.outputs}
        self._numbers: dict[tuple[str, int], int] = {}

    def mark(self, stmt: Stmt, before: str) -> str:
        """What instructions of a statement bear; that ``before`` it if it is for no line."""
        loc: SourceLocation | None = getattr(stmt, "loc", None)
        if loc is None:
            loc = self._of.get(getattr(stmt, "node", ""))
        if loc is None:
            return before
        number = self._numbers.setdefault((loc.file, loc.line), len(self._numbers) + 1)
        return f"  ; @{number}"

    @property
    def listed(self) -> list[tuple[str, int]]:
        """File and line of each number, from 1 on."""
        return list(self._numbers)


def without_marks(text: str) -> str:
    """The text as it is when nobody asks for places."""
    return re.sub(_MARK, "", text) if "  ; @" in text else text


def places_of_lines(text: str) -> list[int]:
    """The number that each line of a text bears, or 0."""
    found = (re.search(_MARK, line) for line in text.split("\n"))
    return [0 if mark is None else int(mark[1]) for mark in found]


def with_debug_locations(text: str) -> str:
    """The text with a debug location for each mark: its number, as a line of one file."""
    first = max(map(int, re.findall(_NODE, text)), default=-1) + 1
    return "\n".join(_Debug(first).lines(text))


class _Debug:
    """Metadata nodes, from a number on: the file, the compile unit, its functions and lines."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._nodes = [
            '!DIFile(filename: "fxc", directory: "")',
            f"distinct !DICompileUnit(language: DW_LANG_C99, file: !{first}, "
            "emissionKind: DebugDirectivesOnly)",
            '!{i32 2, !"Debug Info Version", i32 3}',
            "!DISubroutineType(types: !{null})",
        ]
        self._known: dict[tuple[int, int], int] = {}

    def lines(self, text: str) -> Iterator[str]:
        function: list[str] = []
        for line in text.split("\n"):
            if function or (line.startswith("define ") and line.endswith("{")):
                function.append(line)
                if line == "}":
                    yield from self._function(function)
                    function = []
            else:
                yield line
        first = self._first
        yield f"!llvm.dbg.cu = !{{!{first + 1}}}"
        yield f"!llvm.module.flags = !{{!{first + 2}}}"
        yield from (f"!{number} = {node}" for number, node in enumerate(self._nodes, first))

    def _function(self, lines: list[str]) -> Iterator[str]:
        if not any(re.search(_MARK, line) for line in lines):
            yield from lines
            return
        scope = self._node(
            f'distinct !DISubprogram(name: "fxc", file: !{self._first}, type: !{self._first + 3}, '
            f"unit: !{self._first + 1}, spFlags: DISPFlagDefinition)"
        )
        yield f"{lines[0].removesuffix(' {')} !dbg !{scope} {{"
        for line in lines[1:]:
            mark = re.search(_MARK, line)
            if mark is not None:
                yield f"{line[: mark.start()]}, !dbg !{self._location(int(mark[1]), scope)}"
            elif "call " in line and line.endswith(")"):  # calls that are inlined need one
                yield f"{line}, !dbg !{self._location(0, scope)}"
            else:
                yield line

    def _location(self, number: int, scope: int) -> int:
        known = self._known.get((number, scope))
        if known is None:
            known = self._node(f"!DILocation(line: {number}, scope: !{scope})")
            self._known[number, scope] = known
        return known

    def _node(self, text: str) -> int:
        self._nodes.append(text)
        return self._first + len(self._nodes) - 1
