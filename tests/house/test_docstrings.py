"""The examples in docstrings and in README.md run, and every public name has one."""

import doctest
import pkgutil
import re
from pathlib import Path

import pytest

import fxc
from fxc.dispatch.custom_op import CustomOp
from tests.sources import SOURCE_FOLDERS, module_name, python_files

pytestmark = pytest.mark.usefixtures("as_users")

README = Path(__file__).resolve().parents[2] / "README.md"

MODULES = sorted(
    module_name(path)
    for path in python_files(SOURCE_FOLDERS)
    if ">>>" in path.read_text(encoding="utf-8")
)


def public_callables() -> list[str]:
    """The functions and classes of the API; errors and warnings are shown where they are raised."""
    values = {name: getattr(fxc, name) for name in fxc.__all__}
    return [
        name
        for name, value in values.items()
        if callable(value) and not (isinstance(value, type) and issubclass(value, BaseException))
    ]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name):
    module = pkgutil.resolve_name(name)
    results = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert results.failed == 0, f"{results}; the differences are in the captured output"


@pytest.mark.parametrize("name", public_callables())
def test_a_public_name_has_an_example(name):
    assert ">>>" in (getattr(fxc, name).__doc__ or "")


GOING_ON = ("quickstart", "guide", "coming-from")  # whose examples are one program
PAGES = [README, *(README.parent / "docs" / f"{n}.md" for n in ("index", "extending", *GOING_ON))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(page, tmp_path):
    # From a file: capture reads the source of the functions it is given.
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    if page.stem in GOING_ON:
        blocks = ["\n\n".join(blocks)]
    for number, block in enumerate(blocks):
        path = tmp_path / f"{page.stem.lower()}_{number}.py"
        path.write_text(block, encoding="utf-8")
        names = {"__name__": path.stem}
        exec(compile(block, str(path), "exec"), names)
        for each in names.values():
            if isinstance(each, CustomOp):
                each.remove()


def test_a_custom_operator_with_all_its_parts_takes_thirty_lines():
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    (block,) = (each for each in blocks if "fxc.custom_op(" in each)
    assert len(block.splitlines()) <= 30
    for part in ("register_meta", "register_decomposition", "register_lowering", "check_op"):
        assert part in block
