"""How much of the signatures says ``Any``: a share by room that may only shrink."""

import ast
import functools
from collections import Counter

import pytest

from tests.sources import ROOT, SOURCE_FOLDERS, python_files, statements_in, tree_of

# Per cent of a room's annotated parameters and results that are ``Any``. Lower a number when it is
# more than what there is; what comes from a program and is not looked into is an ``object``.
MOST = {
    "cache": 13,
    "calling": 10,
    "capture": 10,
    "cli": 5,
    "compilations": 5,
    "dispatch": 8,
    "drawing": 3,
    "explaining": 5,
    "exported": 7,
    "exporters": 3,
    "front modules": 4,
    "ir": 4,
    "lowering": 1,
    "native": 11,
    "ops": 8,
    "package": 7,
    "passes": 2,
    "pipeline": 5,
    "reporting": 3,
    "runtime": 6,
    "scripts": 10,
    "split": 3,
    "tracing": 0,
    "verifying": 11,
}


def _annotations(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    given = function.args
    params = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    found = [param.annotation for param in params if param is not None]
    return [each for each in (*found, function.returns) if each is not None]


@functools.cache
def _shares() -> dict[str, float]:
    """By room, what per cent of the annotations in signatures are ``Any``."""
    total: Counter[str] = Counter()
    vague: Counter[str] = Counter()
    for path in python_files(SOURCE_FOLDERS):
        top, *rest = path.relative_to(ROOT).parts
        room = top if top != "fxc" else rest[0] if len(rest) > 1 else "front modules"
        for statement in statements_in(tree_of(path.read_text(encoding="utf-8"))):
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                found = _annotations(statement)
                total[room] += len(found)
                vague[room] += sum(isinstance(x, ast.Name) and x.id == "Any" for x in found)
    return {room: 100 * vague[room] / total[room] for room in total}


def test_each_room_has_a_number() -> None:
    assert _shares().keys() == MOST.keys()


@pytest.mark.parametrize("room", MOST)
def test_signatures_say_what_they_take(room: str) -> None:
    assert _shares()[room] <= MOST[room]
