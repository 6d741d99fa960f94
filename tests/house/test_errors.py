"""Errors and warnings have numbers, and each number a page whose programs do what it says."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.error_pages import LIST, kinds, page_list, pages, parts_of, shown_by
from tests.sources import ROOT, SOURCE_FOLDERS, python_files, tree_of

# What makes an error or a warning of a kind that is the first argument.
_OF_KIND = {"refuse", "refusal", "uncapturable", "UsageError", "UsageTypeError", "numbered"}
# Front modules raise no others of Python's, but what Python or NumPy would raise with that text.
_PLAIN = {"ValueError", "TypeError"}
_PYTHONS = {"__init__() should return None"}


def calls_in(path: Path, names: set[str]) -> Iterator[tuple[str, ast.Call]]:
    """The calls of functions of these names, with their places."""
    for node in ast.walk(tree_of(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            yield f"{path.relative_to(ROOT)}:{node.lineno}", node


def test_what_is_raised_names_a_kind() -> None:
    names = set(kinds().values())
    own = {"kind"}  # handed on
    wrong = [
        place
        for path in python_files(SOURCE_FOLDERS)
        if "exporters" not in path.parts  # whose function ``refuse`` is another one
        for place, call in calls_in(path, _OF_KIND)
        if call.args and _last_name(call.args[0]) not in names | own
    ]
    assert wrong == []


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def test_no_other_capture_errors_are_made() -> None:
    """One that is made without a kind is a backend's of the user's."""
    paths = (path for path in python_files(SOURCE_FOLDERS) if path.name != "errors.py")
    assert [place for path in paths for place, _ in calls_in(path, {"CaptureError"})] == []


def test_front_modules_raise_numbered_errors() -> None:
    plain = [
        place
        for path in sorted((ROOT / "fxc").glob("*.py"))
        for place, call in calls_in(path, _PLAIN)
        if not any(text in ast.unparse(call) for text in _PYTHONS)
    ]
    assert plain == []


def test_each_kind_is_used() -> None:
    sources = [path.read_text(encoding="utf-8") for path in python_files(SOURCE_FOLDERS)]
    text = "\n".join(source for source in sources if "class Kind" not in source)
    assert [name for name in kinds().values() if text.count(name) < 1] == []


def test_each_kind_has_a_page() -> None:
    assert sorted(kinds()) == [page.stem for page in pages()]
    assert LIST.read_text(encoding="utf-8") == page_list(), "run `make errors`"


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_the_programs_of_a_page(page: Path) -> None:
    found = parts_of(page)
    assert shown_by(found["wrong"]) == found["shown"], "run `make errors`, if that is right"
    assert f" {page.stem}: " in found["shown"]
    assert shown_by(found["right"]) == ""
