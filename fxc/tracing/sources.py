"""The lines of the program that a compilation is of: the functions that its nodes come from."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator

from fxc.ir.records import frozen

_AROUND = 2  # lines that are shown beside one that is in no function


@frozen
class SourcePart:
    """Lines of a file, the first of which has this number."""

    file: str
    first: int
    lines: tuple[str, ...]


def source_parts(places: Iterable[tuple[str, int]]) -> Iterator[SourcePart]:
    """The functions in which these lines of files are, each once; of a file that cannot be read
    nothing.
    """
    by_file: dict[str, set[int]] = {}
    for file, line in places:
        by_file.setdefault(file, set()).add(line)
    for file, numbers in by_file.items():
        text = linecache.getlines(file)
        if text:
            spans = _functions(text)
            for first, last in _merged(_span(number, spans, len(text)) for number in numbers):
                lines = (line.rstrip("\r\n") for line in text[first - 1 : last])
                yield SourcePart(file, first, tuple(lines))


def _functions(text: list[str]) -> list[tuple[int, int]]:
    """First and last line of each function, decorators included; inner ones behind outer ones."""
    try:
        tree = ast.parse("".join(text))
    except (SyntaxError, ValueError):
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            decorators = getattr(node, "decorator_list", ())
            first = min([node.lineno, *(each.lineno for each in decorators)])
            found.append((first, node.end_lineno or node.lineno))
    return sorted(found, key=lambda span: (span[0], -span[1]))


def _span(number: int, functions: list[tuple[int, int]], count: int) -> tuple[int, int]:
    """The innermost function that a line is in, or the lines around it."""
    around = [span for span in functions if span[0] <= number <= span[1] and span[1] > span[0]]
    if around:
        return max(around)
    return max(1, number - _AROUND), min(count, number + _AROUND)


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans without what is in others, those that touch made one."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found
