"""The pages for people: what they say of the sources is so."""

import importlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.capture.capture import capture
from fxc.dispatch.default import default_dispatcher
from fxc.dispatch.keys import DispatchKey
from fxc.lowering.building.native_kernels import native_kernel
from fxc.lowering.lower import _SCHEDULING
from fxc.ops.operators import EFFECTS, Tag
from fxc.ops.table import TABLE
from tests.modules import PAGE, page
from tests.sources import ROOT, SOURCE_FOLDERS, notes_in, python_files

PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "CONTRIBUTING.md", ROOT / "README.md"]


def test_the_page_of_modules_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make modules`"


@cache
def titles() -> set[str]:
    sources = (path.read_text(encoding="utf-8") for path in python_files(SOURCE_FOLDERS))
    return {title for source in sources for title in notes_in(source)[0]}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_pages_name_notes_and_files_that_exist(path: Path) -> None:
    text = re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))
    notes = set(re.findall(r"\bNote \[([^\]]+)\]", text)) - {"Title"}
    files = set(
        re.findall(r"`((?:fxc|passes|lowering|runtime|tests|docs)/[\w/]*(?:\.\w+)?)`", text)
    )
    missing = {name for name in files if not (ROOT / name).exists()}
    assert not notes - titles()
    assert not missing
    tables = re.findall(r"`([A-Z_]{4,})` (?:of|in) `((?:\w+/)+\w+\.py)`", text)
    assert [each for each in tables if each[0] not in (ROOT / each[1]).read_text()] == []


def test_the_site_and_the_first_page_have_all_pages() -> None:
    names = {page.name for page in PAGES if page.parent.name == "docs"}
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert set(re.findall(r": ([\w-]+\.md)$", site, re.MULTILINE)) == names
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\(([\w-]+\.md)\)", index)) == names - {"index.md"}


def test_the_page_of_the_api_has_all_public_names() -> None:
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^::: fxc\.(\w+)$", text, re.MULTILINE)
    assert sorted(listed) == sorted(fxc.__all__)


def test_the_page_of_the_architecture_names_all_passes() -> None:
    """Those that a graph goes through, in the table of arrows and by their modules' names."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    stages = (ROOT / "fxc" / "pipeline" / "stages.py").read_text(encoding="utf-8")
    passes = re.findall(r"^from fxc\.passes\.(\w+) import (\w+)$", stages, re.MULTILINE)
    section = text[text.index("## Passes") :].split("\n## ")[0]
    assert len(passes) > 4
    for module, function in passes:
        arrow, name = f"{module}.{function}`", f"**{module.replace('_', ' ').capitalize()}**"
        assert arrow in text, f"name `{arrow} in the table of arrows of docs/architecture.md"
        assert name in section, (
            f"say in the section Passes of docs/architecture.md what {name} does"
        )


def test_the_page_of_the_architecture_names_all_steps_on_loop_nests() -> None:
    """In the table of arrows, in the order in which programs go through them."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith("| decomposed → loop nests"))
    steps = [step.schedule.__name__ for step in _SCHEDULING]
    named = re.findall(r"`(\w+)`", row)
    assert named == ["same_sizes", "reassociate", *steps], "name them in docs/architecture.md"


def test_the_worked_example_prints_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line of its listings, in their order; registers of LLVM have other numbers at times."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    program, *listings = re.findall(r"^```(?:python)?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "heat.py").write_text(program, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    heat: Any = importlib.import_module("heat")
    stages = heat.stages
    guards = capture(heat.relax.__wrapped__, (heat.u, heat.f), {}).guards
    graphs = (stages.captured, stages.functional, stages.decomposed)
    printed = (guards.source, *graphs, stages.loops, stages.llvm, stages.plan)
    for listing, stage in zip(listings, printed, strict=True):
        lines = iter(lines_of(str(stage)))
        missing = [line for line in lines_of(listing) if line != "…" and line not in lines]
        assert not missing


def test_the_readme_shows_loops_that_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """But for their threads and lanes, which are this machine's."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    program = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[0]
    shown = text.partition("The last line above prints")[2].partition("\nLoops and branches")[0]
    (tmp_path / "step.py").write_text(program, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("step")
    said, printed = (
        [re.sub(r" (?:parallel|lanes) [^#]*(?= # )", "", line) for line in lines_of(each)]
        for each in (shown.partition("\n\n")[2].rstrip(), capsys.readouterr().out)
    )
    assert len(said) == 3
    assert [line for line in printed if line in said] == said


def lines_of(text: str) -> list[str]:
    """The lines without indentation, columns and the numbers of registers."""
    return [re.sub(r"%r\d+", "%r", " ".join(line.split())) for line in text.splitlines()]


def test_what_has_no_native_kernel_is_said_to_be_left_to_numpy() -> None:
    limits = (ROOT / "docs/limits.md").read_text(encoding="utf-8")
    section = limits[limits.index("## Left to NumPy") :].split("\n## ")[0]
    words = set(re.findall(r"\w+", section))
    composites_of = default_dispatcher().composites_of
    left = {
        op.numpy.__name__
        for op in TABLE
        if not op.role and op.numpy is not None and op.tag not in {*EFFECTS, Tag.WRITE}
        if native_kernel(op) is None and not list(composites_of(op.name, DispatchKey.CPU))
        if any(getattr(m, op.numpy.__name__, None) is op.numpy for m in (np, np.linalg))
    }
    assert len(left) > 30
    assert left - words == set()
