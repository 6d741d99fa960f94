"""Which files are the user's program, and which are installed packages."""

import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from fxc.capture.session.locations import is_in_library, is_of_program, is_users


@pytest.mark.parametrize(
    "folder", ["lib/python3.11/site-packages", "lib/python3/dist-packages", "a/site-packages/b"]
)
def test_installed_packages_are_libraries_wherever_they_lie(tmp_path: Path, folder: str) -> None:
    """``pip install --user``, ``--target`` and Debian's folders are not the interpreter's own."""
    module = tmp_path / folder / "tools.py"
    assert is_in_library(str(module))
    code = compile(textwrap.dedent("def f(): pass"), str(module), "exec")
    found: dict[str, object] = {}
    exec(code, found)
    assert not is_of_program(found["f"])


def test_python_and_numpy_are_libraries() -> None:
    assert is_in_library(textwrap.__file__)
    assert is_in_library(str(np.__file__))


def test_what_lies_elsewhere_is_the_users(tmp_path: Path) -> None:
    assert not is_in_library(str(tmp_path / "site_packages.py"))
    assert not is_in_library("<stdin>")
    assert is_of_program(test_what_lies_elsewhere_is_the_users)


def test_frames_that_python_starts_with_are_not_the_users() -> None:
    for file, users in (("<frozen runpy>", False), ("<string>", True), ("program.py", True)):
        frame = eval(compile("sys._getframe()", file, "eval"), {"sys": sys})
        assert is_users(frame) is users
