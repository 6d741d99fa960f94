"""The pages for people: one is written from the sources, the others name what is in them."""

import re
from functools import cache
from pathlib import Path

import pytest

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
