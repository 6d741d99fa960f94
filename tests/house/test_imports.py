"""The layers: who may import whom. Notes: each that is referred to exists once.

The rooms of the house and the arrows between them are in `MAY_IMPORT`, and docs/architecture.md.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import networkx
import pytest

from tests.sources import (
    OTHER_FOLDERS,
    ROOT,
    SOURCE_FOLDERS,
    module_name,
    notes_in,
    python_files,
    statements_in,
    tree_of,
)

# Everything that is in no room is a front module of fxc, which may import every room, and which
# no room may import.
FRONT = "front"
MAY_IMPORT = {
    "calling": {
        "verifying",
        "tracing",
        "cache",
        "compilations",
        "pipeline",
        "split",
        "capture",
        "lowering",
        "ir",
    },
    "verifying": {
        "cache",
        "compilations",
        "pipeline",
        "native",
        "capture",
        "lowering",
        "runtime",
        "ops",
        "ir",
    },
    "cache": {
        "reporting",
        "tracing",
        "compilations",
        "pipeline",
        "native",
        "capture",
        "lowering",
        "runtime",
        "ops",
        "ir",
    },
    "compilations": {
        "pipeline",
        "native",
        "split",
        "capture",
        "lowering",
        "runtime",
        "dispatch",
        "ops",
        "ir",
        "package",
    },
    "exported": {
        "pipeline",
        "exporters",
        "capture",
        "lowering",
        "runtime",
        "dispatch",
        "ops",
        "ir",
        "package",
    },
    "pipeline": {"native", "capture", "passes", "lowering", "runtime", "dispatch", "ops", "ir"},
    "native": {"lowering", "runtime", "ops", "ir", "package"},
    "reporting": {"tracing", "drawing", "ir"},
    "tracing": {"drawing", "capture", "lowering", "runtime", "ir"},
    "exporters": {"passes", "lowering", "runtime", "dispatch", "ops", "ir", "package"},
    "split": {"capture", "ir"},
    "capture": {"dispatch", "ops", "ir"},
    "passes": {"dispatch", "ops", "ir"},
    "lowering": {"ops", "ir"},
    "runtime": {"ir", "package"},
    "dispatch": {"ops", "ir"},
    "drawing": {"lowering", "ir"},
    "ops": {"ir"},
    "ir": set(),
    "package": set(),
}
TOP_FOLDERS = {"passes", "lowering", "runtime"}

# The floors of a room: its folders, and which others each may import, by itself or by way of
# those. "" are the modules of the room that stand in no folder.
FLOORS: dict[str, dict[str, set[str]]] = {
    "capture": {
        "guards": set(),
        "session": {"guards"},
        "staging": {"session"},
        "values": {"session"},
        "numbers": {"values"},
        "arrays": {"numbers"},
        "outside": {"arrays"},
        "forms": {"outside", "staging"},
        "regions": {"forms"},
        "lists": {"regions"},
        "dicts": {"lists"},
        "statements": {"dicts"},
        "numpy_api": {"statements"},
        "epilogue": {"statements"},
        "door": {"numpy_api", "epilogue"},
        "": {"door"},
    },
    "exporters": {
        "": set(),
        "objects": set(),
        "numpy_source": {""},
        "onnx": {""},
        "stablehlo": {""},
    },
    "lowering": {
        "vector_math": set(),
        "machine": set(),
        "nests": {"machine"},
        "operators": {"nests"},
        "scheduling": {"operators"},
        "building": {"operators"},
        "emission": {"operators", "vector_math"},
        "calling": {"emission"},
        "": {"scheduling", "building", "calling"},
    },
    "ops": {
        "": set(),
        "metas": {""},
        "kernels": {"metas"},
        "samples": {"kernels"},
    },
}


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module, by its full name, and how the statement spelled it."""

    target: str
    line: int
    relative: bool
    type_checking: bool
    text: str


def room_of(module: str, packages: set[str]) -> str:
    """The room of a module: a folder of that name, or else it is a front module."""
    parts = module.split(".")
    if len(parts) > 1 and parts[1] in MAY_IMPORT and f"fxc.{parts[1]}" in packages:
        return parts[1]
    return FRONT


def imports_of(module: str, is_package: bool, source: str, modules: set[str]) -> Iterator[Import]:
    """The imports of fxc and of the three folders in a source, wherever in it they stand."""
    for node, type_checking in may_import(source):
        for target, relative in targets_of(node, module, is_package, modules):
            if target.split(".")[0] in {"fxc", *TOP_FOLDERS}:
                yield Import(target, node.lineno, relative, type_checking, ast.unparse(node))


CALL_BY_SUCH_A_NAME = re.compile(r"\w+import\w*\s*\(|\bimport\w+\s*\(")


@cache
def may_import(source: str) -> list[tuple[ast.Import | ast.ImportFrom | ast.Call, bool]]:
    """The statements and calls of a source, and whether they are for the type checker alone."""
    tree = tree_of(source)
    nodes = list(ast.walk(tree) if CALL_BY_SUCH_A_NAME.search(source) else statements_in(tree))
    type_checking = {
        id(node)
        for test in nodes
        if isinstance(test, ast.If) and named(test.test) == "TYPE_CHECKING"
        for statement in test.body
        for node in ast.walk(statement)
    }
    return [
        (node, id(node) in type_checking)
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
        or (isinstance(node, ast.Call) and "import" in (named(node.func) or ""))
    ]


def named(function: ast.expr) -> str | None:
    """The name by which a function is called."""
    return getattr(function, "id", getattr(function, "attr", None))


def targets_of(
    node: ast.AST, module: str, is_package: bool, modules: set[str]
) -> Iterator[tuple[str, bool]]:
    match node:
        case ast.Import(names):
            yield from ((name.name, False) for name in names)
        case ast.ImportFrom(stem, names, level):
            if level:
                anchor = module.split(".")
                anchor = anchor[: len(anchor) - (level - is_package)]
                stem = ".".join([*anchor, stem] if stem else anchor)
            for name in names:
                submodule = f"{stem}.{name.name}"
                yield (submodule if submodule in modules else str(stem)), bool(level)
        case ast.Call(
            ast.Name("__import__" | "import_module") | ast.Attribute(_, "import_module"),
            [ast.Constant(str(target)), *_],
        ):
            yield target, target.startswith(".")
        case ast.Call(
            ast.Name("import_later" | "import_class_later"), [ast.Constant(str(target)), *_]
        ):
            of_own_room = target.split(".")[:2] == module.split(".")[:2]
            yield target, of_own_room  # by its full name, see Note [Rooms with one door]


def problems_of(
    module: str, is_package: bool, source: str, modules: set[str], packages: set[str]
) -> list[str]:
    """What is wrong with the imports of one source file of the project."""
    room = room_of(module, packages)
    problems = []
    for found in imports_of(module, is_package, source, modules):
        problem = problem_of(found, room, packages)
        if problem:
            problems.append(f"{module}:{found.line}: {found.text}: {problem}")
    return problems


def problem_of(found: Import, room: str, packages: set[str]) -> str | None:
    if found.target.split(".")[0] in TOP_FOLDERS:
        return f"the folder is the package fxc.{found.target}"
    if found.target == "fxc" and found.text.startswith("from "):
        return "import from the module that defines the name"
    target_room = room_of(found.target, packages)
    if target_room == room:
        return None if found.relative or room == FRONT else "import siblings relatively"
    if found.relative and room != FRONT:
        return "import other rooms absolutely"
    if found.type_checking or room == FRONT or target_room in MAY_IMPORT[room]:
        return None
    return f"{room} may not import {target_room}"


def project() -> tuple[dict[str, Path], set[str]]:
    """Every source file by module name, and which of the names are packages."""
    files = {module_name(path): path for path in python_files(SOURCE_FOLDERS)}
    return files, {name for name, path in files.items() if path.name == "__init__.py"}


def test_each_room_is_there():
    _, packages = project()
    assert {room for room in MAY_IMPORT if f"fxc.{room}" not in packages} == set()


def test_imports_follow_the_layers():
    files, packages = project()
    problems = [
        problem
        for name, path in files.items()
        for problem in problems_of(
            name, name in packages, path.read_text(encoding="utf-8"), set(files), packages
        )
    ]
    assert not problems, "\n" + "\n".join(problems)


# Of the many tests, those alone are parsed which may import a folder by its bare name.
MAYBE_BARE = re.compile(
    rf"^\s*(import|from)\b.*(?<!\.)\b({'|'.join(sorted(TOP_FOLDERS))})\b|{CALL_BY_SUCH_A_NAME.pattern}",
    re.MULTILINE,
)


def bare_imports(source: str) -> list[Import]:
    """The imports of a folder by its bare name, in a source outside of the project's."""
    if not MAYBE_BARE.search(source):
        return []
    every = imports_of("outside", False, source, set())
    return [found for found in every if found.target.split(".")[0] in TOP_FOLDERS]


def test_no_bare_import_of_a_folder_outside_the_sources():
    problems = [
        f"{path.relative_to(ROOT)}:{found.line}: {found.text}"
        for path in python_files(OTHER_FOLDERS)
        for found in bare_imports(path.read_text(encoding="utf-8"))
    ]
    assert not problems, "\n" + "\n".join(problems)


@pytest.mark.parametrize(
    "source",
    [
        "import runtime",
        "def f():\n    import os, passes.simplify",
        "from lowering.lower import lower",
        "importlib.import_module('runtime')",
        "__import__('passes')",
    ],
)
def test_bare_imports_are_found(source: str) -> None:
    assert len(bare_imports(source)) == 1


def floor_of(module: str, packages: set[str]) -> str:
    """The folder of a module inside its room; the file with a folder's docstring is of the folder."""
    parts = module.split(".")[2:]
    return ".".join(parts if module in packages else parts[:-1])


def floors_below(floors: dict[str, set[str]], floor: str) -> set[str]:
    """The floors that a floor may import."""
    return {each for lower in floors[floor] for each in (lower, *floors_below(floors, lower))}


def floor_problems(
    room: str,
    floors: dict[str, set[str]],
    sources: dict[str, str],
    packages: set[str],
) -> list[str]:
    """What is wrong with the imports among the folders of one room."""
    problems = []
    for module, source in sources.items():
        own = floor_of(module, packages)
        allowed = {own, *floors_below(floors, own)}
        for found in imports_of(module, module in packages, source, set(sources)):
            if room_of(found.target, packages) == room:
                floor = floor_of(found.target, packages)
                if floor not in allowed:
                    problems.append(f"{module}:{found.line}: {own or room} may not import {floor}")
    return problems


@pytest.mark.parametrize("room", FLOORS)
def test_imports_follow_the_floors_of_a_room(room: str) -> None:
    """Imports in functions count, and those for the type checker."""
    files, packages = project()
    sources = {
        name: path.read_text("utf-8")
        for name, path in files.items()
        if room_of(name, packages) == room
    }
    assert {floor_of(name, packages) for name in sources} == FLOORS[room].keys()
    problems = floor_problems(room, FLOORS[room], sources, packages)
    assert not problems, "\n" + "\n".join(problems)


def test_each_room_with_folders_has_floors() -> None:
    files, packages = project()
    folders = {room_of(name, packages) for name in files if floor_of(name, packages)}
    assert folders - {FRONT} == FLOORS.keys()


def test_the_page_of_the_architecture_has_the_floors_of_capture_in_their_order() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = text[text.index("## Capture") :].split("\n## ")[0]
    named = re.findall(r"^\| `(\w+)/` \|", section, re.MULTILINE)
    assert named == [floor for floor in FLOORS["capture"] if floor]
    for place, floor in enumerate(named):
        assert floors_below(FLOORS["capture"], floor) <= set(named[:place])


def test_the_page_of_the_architecture_has_the_rooms_and_what_they_may_import() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(?:fxc/)?(\w+)/` \|.*\| ([^|]+) \|$", text, re.MULTILINE)
    named = {room: set(re.findall(r"\w+", re.sub(r"\(.*?\)", "", may))) for room, may in rows}
    written = {room: may for room, may in named.items() if may != {"everything"}}
    assert written == {room: may or {"nothing"} for room, may in MAY_IMPORT.items()}


def test_no_module_imports_itself_by_way_of_others():
    """Imports in functions count, and those for the type checker."""
    files, packages = project()
    arrows = networkx.DiGraph(
        (name, found.target)
        for name, path in files.items()
        for found in imports_of(name, name in packages, path.read_text("utf-8"), set(files))
    )
    circles = [each for each in networkx.strongly_connected_components(arrows) if len(each) > 1]
    assert not circles, [sorted(each) for each in circles]


# The checker itself, on made-up sources.

PACKAGES = {"fxc", *(f"fxc.{room}" for room in MAY_IMPORT), "fxc.lowering.vector_math"}
MODULES = PACKAGES | {"fxc.ir.graph", "fxc.ops.table", "fxc.passes.simplify", "fxc.options"}


def check(module: str, source: str, packages: set[str] = PACKAGES) -> list[str]:
    return problems_of(module, module in packages, source, MODULES, packages)


@pytest.mark.parametrize(
    "module, source",
    [
        ("fxc.ops.table", "from fxc.ir.graph import Graph"),
        ("fxc.passes.simplify", "from .order import ordered"),
        ("fxc.lowering.vector_math", "from ..nests import Nest"),
        ("fxc.lowering.vector_math.exp", "from .. import nests"),
        ("fxc.options", "from fxc.runtime.engine import Engine"),
        ("fxc", "from .options import Options"),
        ("fxc.cli.export", "from fxc.exported.exporting import export"),
        ("fxc.compiled", "from fxc.capture.trace import trace"),
        ("fxc.ir.graph", "import numpy as np"),
        ("fxc.ops.table", "f = import_later('fxc.ops.kernels', 'f')"),
        (
            "fxc.ir.graph",
            "import typing\nif typing.TYPE_CHECKING:\n    from fxc.ops.table import Table",
        ),
    ],
)
def test_an_allowed_import_is_allowed(module, source):
    assert check(module, source) == []


@pytest.mark.parametrize(
    "module, source, problem",
    [
        ("fxc.ir.graph", "from fxc.ops.table import Table", "ir may not import ops"),
        ("fxc.ir.graph", "from fxc.ops import table", "ir may not import ops"),
        ("fxc.ir.graph", "import fxc.ops.table", "ir may not import ops"),
        ("fxc.ir.graph", "def f():\n    import fxc.ops.table", "ir may not import ops"),
        ("fxc.ir.graph", "importlib.import_module('fxc.ops')", "ir may not import ops"),
        ("fxc.ir.graph", "from fxc.options import Options", "ir may not import front"),
        ("fxc.ir.graph", "import fxc", "ir may not import front"),
        ("fxc.capture.trace", "from fxc.passes.simplify import s", "capture may not import passes"),
        ("fxc.lowering", "from fxc.dispatch.keys import Key", "lowering may not import dispatch"),
        ("fxc.runtime.engine", "from fxc.ops.table import T", "runtime may not import ops"),
        (
            "fxc.tracing.told",
            "from fxc.exporters.onnx import s",
            "tracing may not import exporters",
        ),
        ("fxc.ir.graph", "f = import_later('fxc.ops.table', 'f')", "ir may not import ops"),
        ("fxc.options", "from fxc import compile", "import from the module that defines"),
        ("fxc.options", "from . import compile", "import from the module that defines"),
        ("fxc.passes.simplify", "from ..ir.graph import Graph", "other rooms absolutely"),
        ("fxc.passes.simplify", "from fxc.passes.order import o", "siblings relatively"),
        ("fxc.options", "import passes", "the folder is the package fxc.passes"),
        ("fxc.options", "from runtime.engine import Engine", "the package fxc.runtime"),
        (
            "fxc.ir.graph",
            "if TYPE_CHECKING:\n    import os\nelse:\n    import fxc.ops.table",
            "ir may not import ops",
        ),
    ],
)
def test_a_forbidden_import_is_found(module, source, problem):
    (found,) = check(module, source)
    assert problem in found


def test_a_room_is_a_front_module_until_it_is_a_folder():
    without = PACKAGES - {"fxc.exporters"}
    assert check("fxc.exporters", "from fxc.tracing.told import t", without) == []
    assert check("fxc.exporters", "from fxc.tracing.told import t") != []


FLOORS_OF_IR = {"low": set[str](), "middle": {"low"}, "": {"middle"}}


@pytest.mark.parametrize(
    "module, source, allowed",
    [
        ("fxc.ir.middle.a", "from ..low.b import b", True),
        ("fxc.ir.middle.a", "from .c import c", True),
        ("fxc.ir.top", "from .low.b import b", True),
        ("fxc.ir.low.b", "from ..middle.a import a", False),
        ("fxc.ir.low.b", "def f():\n    from ..middle.a import a", False),
        ("fxc.ir.low.b", "if TYPE_CHECKING:\n    from ..middle.a import a", False),
        ("fxc.ir.low.b", "from .. import top", False),
    ],
)
def test_the_floors_of_a_room(module: str, source: str, allowed: bool) -> None:
    modules = ("fxc.ir", "fxc.ir.top", "fxc.ir.low", "fxc.ir.low.b", "fxc.ir.middle.a")
    sources = {**dict.fromkeys(modules, ""), module: source}
    packages = {"fxc", "fxc.ir", "fxc.ir.low", "fxc.ir.middle"}
    assert (floor_problems("ir", FLOORS_OF_IR, sources, packages) == []) is allowed


# Notes


def test_nobody_takes_the_lock_of_a_cached_property() -> None:
    """Up to Python 3.11 all objects have one lock, which no fork waits for: Note [Forks]."""
    takers = [
        str(path.relative_to(ROOT))
        for path in python_files(SOURCE_FOLDERS)
        if re.search(r"(\bimport |@).*\bcached_property\b", path.read_text(encoding="utf-8"))
    ]
    assert takers == ["fxc/ir/records.py"], "use computed_once of fxc.ir.records"


def test_each_note_referred_to_is_defined_once():
    defined: dict[str, list[str]] = {}
    referred: dict[str, list[str]] = {}
    for path in python_files((*SOURCE_FOLDERS, *OTHER_FOLDERS)):
        if path == Path(__file__).resolve():
            continue
        titles, references = notes_in(path.read_text(encoding="utf-8"))
        for title in titles:
            defined.setdefault(title, []).append(str(path.relative_to(ROOT)))
        for title in references:
            referred.setdefault(title, []).append(str(path.relative_to(ROOT)))
    missing = {title: where for title, where in referred.items() if title not in defined}
    repeated = {title: where for title, where in defined.items() if len(where) > 1}
    assert not missing, f"referred to, and defined nowhere: {missing}"
    assert not repeated, f"defined more than once: {repeated}"


def test_notes_are_told_from_references():
    source = """
# Note [Writes through views]
# A write to a view is a write to its base; compare Note [Dead
# bases].

x = 1  # See Note [Order of effects].
# See
# Note [Strides]
"""
    assert notes_in(source) == (
        ["Writes through views"],
        {"Dead bases", "Order of effects", "Strides"},
    )
