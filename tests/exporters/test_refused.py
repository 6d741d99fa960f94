"""The table of programs and targets in ``docs/export.md``."""

from tests.exporters.corpus import EXAMPLES
from tests.exporters.refused import TARGETS, with_table
from tests.sources import ROOT


def test_the_table_is_up_to_date() -> None:
    page = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")
    assert page == with_table(page), "run `python -m tests.exporters.refused`"


def test_most_programs_are_equal_in_each_target() -> None:
    names = {example.name for example in EXAMPLES}
    for refused in TARGETS.values():
        assert refused.keys() <= names
        assert len(EXAMPLES) - len(refused) >= 54
