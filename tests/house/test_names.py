"""One word for one thing: names of classes, and the words of ``docs/glossary.md``."""

import re

import pytest

from tests.sources import ROOT, SOURCE_FOLDERS, python_files

ROWS = re.findall(
    r"^\| ([^|]+) \| [^|]+ \| `([^`]+)` \|$",
    (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)

# Names of two classes each: fewer from change to change, none added.
NAMES_OF_TWO = {
    "Buffer", "Check", "Code", "Handed", "Held",
    "Names", "Numbers", "Origin", "Param", "Record",
    "Scope", "Slot", "Statement", "Table", "Value", "Whole",
}  # fmt: skip
PUBLIC_CLASS = re.compile(r"^class ([A-Za-z]\w*)", re.MULTILINE)
CONSTANT = re.compile(r"^(_?[A-Z][A-Z_0-9]+)(?:: [^=]+)? = ", re.MULTILINE)


def test_public_classes_have_names_of_their_own() -> None:
    modules: dict[str, list[str]] = {}
    for path in python_files(SOURCE_FOLDERS):
        where = path.relative_to(ROOT).as_posix()
        for name in PUBLIC_CLASS.findall(path.read_text(encoding="utf-8")):
            modules.setdefault(name, []).append(where)
    repeated = {name: where for name, where in modules.items() if len(where) > 1}
    new = {name: where for name, where in repeated.items() if name not in NAMES_OF_TWO}
    assert not new, "two classes have one name: give one of them another"
    assert set(repeated) == NAMES_OF_TWO, "take it out of NAMES_OF_TWO"


def test_constants_have_one_value() -> None:
    """Another module may have taken the first one."""
    for path in python_files(SOURCE_FOLDERS):
        names = CONSTANT.findall(path.read_text(encoding="utf-8"))
        assert len(set(names)) == len(names), path.relative_to(ROOT).as_posix()


def test_the_glossary_has_each_word_once() -> None:
    words = [word for row, _ in ROWS for word in row.split(", ")]
    assert words
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("row, owner", ROWS)
def test_the_owner_of_a_word_uses_it(row: str, owner: str) -> None:
    """The module exists, and what it owns is spoken of in it."""
    text = (ROOT / owner).read_text(encoding="utf-8").lower()
    assert [word for word in row.split(", ") if word.rstrip("s").lower() not in text] == []
