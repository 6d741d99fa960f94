"""The programs of the gallery are short and equal NumPy; the notebook runs."""

import json
import linecache
from types import ModuleType

import pytest

import fxc
from fxc.cli import demo
from tests.gallery import FOLDER, NAMES, PAGE, PICTURES, difference, load
from tests.sources import ROOT

NOTEBOOK = ROOT / "examples" / "quickstart.ipynb"


def test_the_page_has_ten_programs() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert sorted(path.stem for path in FOLDER.glob("*.py")) == sorted(NAMES)
    for name in (*NAMES, *demo.PROGRAMS):
        assert f"{name}.py`" in text
    for path in PICTURES.glob("*.png"):
        assert f"({path.relative_to(ROOT / 'docs')})" in text
        assert path.stat().st_size < 120_000


@pytest.mark.parametrize("name", NAMES)
def test_a_program_equals_numpy(name: str) -> None:
    module = load(name)
    assert len((FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()) < 60
    compiled = fxc.compile(module.PROGRAM, fullgraph=True)
    inputs = module.make_inputs(module.QUICK_SIZE)
    assert difference(module.PROGRAM, compiled, inputs) <= module.TOLERANCE
    assert compiled.cache_info().eager_calls == 0


def test_the_notebook_runs(capsys: pytest.CaptureFixture[str]) -> None:
    book = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    names = ModuleType("notebook")
    cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells):
        assert cell["outputs"] == []
        source, file = "".join(cell["source"]), f"<cell {number}>"
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        exec(compile(source, file, "exec"), vars(names))
        del linecache.cache[file]
    shown = capsys.readouterr().out
    assert "captured smooth(" in shown
    assert "FXC0002: " in shown
    assert "\n  more: python -m fxc help FXC0002" in shown
