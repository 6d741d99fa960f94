"""The source files of the project, and the Notes in them."""

import ast
import functools
import os
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE_FOLDERS = ("fxc", "passes", "lowering", "runtime")
OTHER_FOLDERS = ("tests", "examples", "benchmarks")

_NOTE = re.compile(r"\bNote \[([^\]]+)\]")
_DEFINITION = re.compile(r"\s*# Note \[([^\]]+)\]\s*")


def python_files(folders: tuple[str, ...]) -> list[Path]:
    """Every Python file under the folders, once: the links inside fxc/ are not followed."""
    return sorted(
        Path(parent, name)
        for folder in folders
        for parent, _, names in os.walk(ROOT / folder, followlinks=False)
        for name in names
        if name.endswith(".py")
    )


def module_name(path: Path) -> str:
    """The name a source file is imported by: passes/simplify.py is fxc.passes.simplify."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts if parts[0] == "fxc" else ("fxc", *parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def tree_of(source: str) -> ast.Module:
    """The syntax tree of a source, made once for all that reads it; nobody changes it."""
    return ast.parse(source)


def statements_in(tree: ast.AST) -> Iterator[ast.stmt]:
    """All statements in a tree, from the outside in; no expression has any, so none is looked into."""
    for inner in ast.iter_child_nodes(tree):
        if isinstance(inner, ast.stmt):
            yield inner
        if isinstance(inner, ast.stmt | ast.excepthandler | ast.match_case):
            yield from statements_in(inner)


def notes_in(source: str) -> tuple[list[str], set[str]]:
    """The titles of the Notes that a source defines, and of those that it refers to.

    A definition is the first line of a comment and has only the title on it. A reference may be
    broken over two comment lines, its title too.
    """
    lines = source.splitlines()
    defined = []
    for number, line in enumerate(lines):
        match = _DEFINITION.fullmatch(line)
        if match and (number == 0 or not lines[number - 1].lstrip().startswith("# ")):
            defined.append(match[1])
            lines[number] = ""
    text = re.sub(r"\s*\n\s*(#\s)?\s*", " ", "\n".join(lines))
    return defined, set(_NOTE.findall(text))
