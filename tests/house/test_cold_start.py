"""What the first call of straight-line code imports, and what it leaves. No time is measured."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.test_imports import Import, imports_of, project

PROGRAM = """
import sys
import numpy as np, fxc
@fxc.compile(fullgraph=True)
def fn(a, b):
    {body}
fn(np.arange(8.0), np.ones(8))
print(*sys.modules)
assert fn.cache_info().native_calls == 1
"""


def imported(body: str, folder: Path, **settings: str) -> set[str]:
    """The modules of a process that has called a function once."""
    script = folder / "script.py"
    script.write_text(PROGRAM.format(body=body), encoding="utf-8")
    os.utime(script, (0, 0))  # what is edited while a process runs is not kept
    environment = {**os.environ, **settings}
    done = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def inside(modules: set[str], room: str) -> set[str]:
    return {name for name in modules if name == room or name.startswith(room + ".")}


# Rooms, and modules, that only some programs need.
LEFT = (
    "fxc.capture.arrays.elements",
    "fxc.capture.arrays.indexing",
    "fxc.capture.dicts",
    "fxc.capture.door.comparisons",
    "fxc.capture.door.places",
    "fxc.capture.lists",
    "fxc.capture.numpy_api",
    "fxc.capture.statements",
    "fxc.capture.door.containers",
    "fxc.capture.door.special",
    "fxc.capture.door.unstaged",
    "fxc.capture.forms",
    "fxc.capture.numbers.derived",
    "fxc.capture.numbers.python_numbers",
    "fxc.capture.numbers.varying",
    "fxc.capture.outside.dicts",
    "fxc.capture.outside.generators",
    "fxc.capture.outside.lists",
    "fxc.capture.outside.sets",
    "fxc.capture.regions.counted",
    "fxc.capture.regions.structured",
    "fxc.capture.session.alternatives",
    "fxc.capture.values.late",
    "fxc.exporters",
    "fxc.lowering.building.complex_rules",
    "fxc.lowering.calling",
    "fxc.lowering.emission.control",
    "fxc.lowering.emission.pairwise",
    "fxc.lowering.emission.products",
    "fxc.lowering.emission.undo",
    "fxc.lowering.operators.reduction_order",
    "fxc.native.draws",
    "fxc.native.large_arrays",
    "fxc.ops.composites",
    "fxc.ops.kernels.making",
    "fxc.passes.aliases",
    "fxc.passes.hoisting",
    "fxc.split",
    "llvmlite.ir",
    "networkx",
)


def test_straight_line_code_imports_no_room_that_it_does_not_need(tmp_path: Path) -> None:
    found = imported("return a * b + 1", tmp_path)
    assert {room: inside(found, room) for room in LEFT} == {room: set() for room in LEFT}
    assert len(inside(found, "fxc")) <= 315, "more than it was: what is needed by all programs?"


def test_a_call_of_what_is_kept_on_disk_imports_little(tmp_path: Path) -> None:
    settings = {"FXC_CACHE": "1", "FXC_CACHE_DIR": str(tmp_path / "cache")}
    found = [imported("return a * b + 1", tmp_path, **settings) for _ in range(2)][1]
    assert len(inside(found, "fxc")) <= 73, "more than it was: what is needed by all calls?"
    left = ("fxc.lowering", "fxc.passes", "fxc.ir.graph", "fxc.ir.types", "fxc.pipeline")
    left += ("array", "dataclasses", "mmap", "threading")  # NumPy imports none of them
    assert {room: inside(found, room) for room in left} == {room: set() for room in left}


@pytest.mark.parametrize(
    ("body", "room"),
    [
        ("return np.where(a > b, a, b)", "fxc.capture.numpy_api"),
        ("for k in range(8): a[k] += b[k] * k", "fxc.capture.statements"),
        ("return (a * b).sum()", "fxc.lowering.emission.pairwise"),
    ],
)
def test_a_program_imports_what_it_needs(body: str, room: str, tmp_path: Path) -> None:
    assert inside(imported(body, tmp_path), room)


def late() -> Iterator[tuple[str, Import]]:
    files, packages = project()
    for name, path in files.items():
        source = path.read_text("utf-8")
        if "_later(" in source:
            for found in imports_of(name, name in packages, source, set(files)):
                if found.text.startswith(("import_later(", "import_class_later(")):
                    yield name, found


def test_what_is_imported_later_is_there() -> None:
    found = list(late())
    assert len(found) > 40
    for module, each in found:
        space: dict[str, object] = {}
        exec(f"from fxc.ir.later import *\nfound = {each.text}", space)
        called = space["found"]
        __import__(each.target)
        assert callable(getattr(sys.modules[each.target], called.__name__)), (module, each.text)
