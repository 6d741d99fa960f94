"""The pages of ``docs/errors``: their programs, what these show, and the list of them.

``python -m tests.error_pages`` writes what the first program of each page shows, and the list.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import os
import re
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import fxc
from fxc.ir import error_kinds
from fxc.ops.custom import definition_of, definitions
from tests.sources import ROOT

FOLDER = ROOT / "docs" / "errors"
LIST = FOLDER / "index.md"
_PARTS = re.compile(
    r"# (FXC\d{4}): (?P<title>[^\n]+)\n\n(?P<text>.+?)```python\n(?P<wrong>.+?)```\n\n"
    r"```text\n(?P<shown>.*?)```\n\n(?P<instead>.+?)```python\n(?P<right>.+?)```\n",
    re.DOTALL,
)


def kinds() -> dict[str, str]:
    """The names of the kinds by their numbers."""
    found = vars(error_kinds)
    return {found[name]: name for name in found if str(found[name]).startswith("FXC0")}


def pages() -> list[Path]:
    """All pages but the list."""
    return sorted(FOLDER.glob("FXC*.md"))


def parts_of(page: Path) -> re.Match[str]:
    """Its title, its texts, its two programs, and what the first of them shows."""
    found = _PARTS.fullmatch(page.read_text(encoding="utf-8"))
    assert found is not None, f"{page.name} has not the parts of a page"
    assert found[1] == page.stem
    return found


def shown_by(source: str) -> str:
    """What is told where a program ends that is in ``program.py``; nothing if it runs."""
    program = ModuleType("program")
    linecache.cache["program.py"] = (len(source), None, source.splitlines(True), "program.py")
    with _apart(), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(source, "program.py", "exec"), vars(program))
        except Exception as error:
            return "".join(traceback.format_exception_only(error))
        finally:
            del linecache.cache["program.py"]
    ours = [x.message for x in told if isinstance(x.message, fxc.CaptureWarning)]
    return "".join(traceback.format_exception_only(ours[0])) if ours else ""


@contextlib.contextmanager
def _apart() -> Iterator[None]:
    """A folder of its own, and no operators of it afterwards; onnx may seem not to be there."""
    before = os.getcwd()
    onnx = {"onnx": sys.modules["onnx"]} if "onnx" in sys.modules else {}
    with tempfile.TemporaryDirectory() as folder, fxc.config.override(cache=False):
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
            sys.modules.pop("onnx", None)
            sys.modules.update(onnx)
            for name in [each for each in definitions() if each.startswith("errors::")]:
                definition_of(name).owner.remove()


def page_list() -> str:
    """The text of the list."""
    rows = [f"| [{page.stem}]({page.name}) | {parts_of(page)['title']} |" for page in pages()]
    head = ["# Errors and warnings", "", _ABOUT, "", "| number | what |", "|---|---|"]
    return "\n".join([*head, *rows, ""])


_ABOUT = """\
Each error and warning of fxc has a number: `FXC0002: …`. The number stands for a kind: what has
happened, and what you can do about it. `python -m fxc help FXC0002` prints its page, which has a
program that meets it and one that does not. NumPy's own exceptions have no number: they are those
that NumPy raises, at your line."""


def main() -> None:
    """Write the pages."""
    for page in pages():
        found = parts_of(page)
        text = page.read_text(encoding="utf-8")
        first, last = found.span("shown")
        page.write_text(text[:first] + shown_by(found["wrong"]) + text[last:], encoding="utf-8")
    LIST.write_text(page_list(), encoding="utf-8")


if __name__ == "__main__":
    main()
