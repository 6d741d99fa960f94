"""Compilations of earlier processes: what has been edited since is captured anew."""

import importlib.util
import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.calling.compiling import captures_begun
from fxc.runtime import engine
from tests.outcomes import difference, run

from .conftest import Counted
from .edits import EDITS, Edit

_numbers = itertools.count()


def module_of(folder: Path, text: str, name: str = "edited_module") -> Any:
    """A module of this name with this text, in place of one that is there: another process has it."""
    place = folder / f"{next(_numbers)}"
    place.mkdir()
    (place / f"{name}.py").write_text("import numpy as np\n" + text)
    spec = importlib.util.spec_from_file_location(name, place / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made() -> int:
    """How often LLVM has been asked for code."""
    assert isinstance(engine.codes, Counted)
    return engine.codes.made


def called(function: Any, *args: Any) -> tuple[bool, int]:
    """Compare a call of a function that no call was compiled of with Python's; whether it was
    captured, and how often native code was made.
    """
    compiled = fxc.compile(function)
    before, codes = captures_begun(), made()
    assert difference(run(function, [*args]), run(compiled, [*args])) == ""
    return captures_begun() > before, made() - codes


@pytest.fixture
def forgotten() -> Any:
    yield
    sys.modules.pop("edited_module", None)


@pytest.mark.usefixtures("cache", "forgotten")
@pytest.mark.parametrize("edit", EDITS)
def test_what_is_edited_is_captured_anew(edit: Edit, tmp_path: Path) -> None:
    x = np.arange(1.0, 5.0)
    edited = edit.text.replace(edit.before, edit.after)
    assert edited != edit.text
    assert called(module_of(tmp_path, edit.text).f, x)[0]
    assert called(module_of(tmp_path, edit.text).f, x) == (False, 0)
    assert called(module_of(tmp_path, edited).f, x)[0] != edit.restored
    assert called(module_of(tmp_path, edited).f, x)[0] != edit.kept
    assert called(module_of(tmp_path, edit.text).f, x) == (False, 0)
