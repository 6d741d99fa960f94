"""Assembly with the lines of the program that it is for: debug directives read, and left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_LOC = re.compile(r"\s*\.loc\s+\d+\s+(\d+)\s")
_ONLY_FOR_DEBUGGERS = re.compile(
    r"\s*\.(loc|file)\s+\d|\s*\.cfi_|\.L(func_begin|tmp)\d+:|\s*\.section\s+\.debug_"
)


def located_lines(assembly: str) -> tuple[list[str], list[int]]:
    """The lines of assembly without what stands there for debuggers, and of each the number that
    the last ``.loc`` has given; 0 where there is none. Directives are for no line. Of the elements
    of constant arrays nothing is left.
    """
    lines: list[str] = []
    numbers: list[int] = []
    number = 0
    for line in _without_contents(assembly.split("\n")):
        found = _LOC.match(line)
        if found is not None:
            number = int(found[1])
        if _ONLY_FOR_DEBUGGERS.match(line):
            continue
        if line and line[0] not in "\t ." and line.endswith(":"):  # another function
            number = 0
        is_code = line.startswith("\t") and not line.startswith("\t.")
        lines.append(line)
        numbers.append(number if is_code else 0)
    return lines, numbers


_ARRAY = re.compile(r"(\.L)?\"?fxc\.[\w.]+\"?:")  # or a function, whose lines are code


def _without_contents(lines: Iterable[str]) -> Iterator[str]:
    inside = False
    for line in lines:
        if not line.startswith("\t"):
            inside = _ARRAY.match(line) is not None
        elif inside and _DATA.match(line):
            continue
        yield line


_DATA = re.compile(r"\t\.(ascii|asciz|byte|short|long|quad|zero|octa)\b")
