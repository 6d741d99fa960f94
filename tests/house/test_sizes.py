"""Sizes: what does not fit on a page or two, or takes too much, says why in its docstring.

A module, or a function, that is longer says "so many lines because", and one with more parameters
"so many parameters because".
"""

import ast
from collections.abc import Iterator

import pytest

from tests.sources import ROOT, SOURCE_FOLDERS, python_files, tree_of

MOST_LINES = 400  # of a module
MOST_LINES_OF_FUNCTION = 50  # with its docstring
MOST_PARAMETERS = 6  # besides ``self`` and ``cls``

OF_LINES, OF_PARAMETERS = "so many lines because", "so many parameters because"

Function = ast.FunctionDef | ast.AsyncFunctionDef


def too_large(where: str, source: str) -> Iterator[str]:
    """What in a module is too large without a reason: the module itself, or functions in it."""
    tree = tree_of(source)
    if len(source.splitlines()) > MOST_LINES and not _says(OF_LINES, tree):
        yield where
    for name, function, owner in _functions(tree):
        lines = (function.end_lineno or function.lineno) - function.lineno + 1
        is_long = lines > MOST_LINES_OF_FUNCTION and not _says(OF_LINES, function, owner)
        takes_many = len(_parameters(function)) > MOST_PARAMETERS
        if is_long or (takes_many and not _says(OF_PARAMETERS, function, owner)):
            yield f"{where}: {name}"


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function, ast.AST]]:
    """Every function with its whole name, and what it stands in."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function | ast.ClassDef):
            name = f"{prefix}{node.name}"
            if isinstance(node, Function):
                yield name, node, tree
            yield from _functions(node, f"{name}.")
        else:
            yield from _functions(node, prefix)


def _parameters(function: Function) -> list[str]:
    given = function.args
    names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def _says(reason: str, node: ast.AST, owner: ast.AST | None = None) -> bool:
    """Whether the docstring gives the reason; for ``__init__`` that of the class may."""
    is_init = isinstance(node, Function) and node.name == "__init__"
    nodes = [node, owner] if is_init and isinstance(owner, ast.ClassDef) else [node]
    documented = (each for each in nodes if isinstance(each, Function | ast.ClassDef | ast.Module))
    texts = (ast.get_docstring(each) or "" for each in documented)
    return any(reason in " ".join(text.split()) for text in texts)


def test_what_is_large_says_why() -> None:
    found = {
        each
        for path in python_files(SOURCE_FOLDERS)
        for each in too_large(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    }
    assert found == set(), "make it smaller, or say why it is so large"


# The checker itself, on made-up sources.

MODULE = "x = 1\n" * MOST_LINES
LONG = "    x = 1\n" * MOST_LINES_OF_FUNCTION
MANY = "a, b, c, d, *, e, f"


@pytest.mark.parametrize(
    "source, found",
    [
        (MODULE, []),
        (MODULE + "x = 1", ["m"]),
        (f'"""So: so many lines\nbecause of it."""\n{MODULE}', []),
        (f"def f():\n{LONG}", ["m: f"]),
        (f"async def f():\n{LONG}", ["m: f"]),
        (f'def f():\n    """So many lines because."""\n{LONG}', ["m: f"]),
        (f'def f():\n    """It has so many lines because of it."""\n{LONG}', []),
        (f"def f({MANY}): ...", []),
        (f"def f({MANY}, g): ...", ["m: f"]),
        (f"class A:\n    def f(self, {MANY}): ...", []),
        (f"class A:\n    def f(self, {MANY}, g): ...", ["m: A.f"]),
        (f"if x:\n    def f():\n        def g({MANY}, h): ...", ["m: f.g"]),
        (f'def f({MANY}, g):\n    """It takes so many parameters because of it."""', []),
        (f'def f({MANY}, g):\n    """It has so many lines because of it."""', ["m: f"]),
        (
            f'class A:\n    """So many parameters because."""\n    def __init__(self, {MANY}, g): ...',
            ["m: A.__init__"],
        ),
        (
            f'class A:\n    """Takes so many parameters because."""\n    def __init__(self, {MANY}, g): ...',
            [],
        ),
    ],
)  # fmt: skip
def test_sizes_are_told(source: str, found: list[str]) -> None:
    assert list(too_large("m", source)) == found
