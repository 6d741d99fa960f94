"""The forms of values: few modules know more than a few of them by name.

Whoever has to ask which of many classes a value is of has a question that one function, or one
method of these classes, should answer. See Note [Forms].
"""

import ast
import pkgutil
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

from fxc import capture
from fxc.capture.forms import form
from fxc.capture.lists.list_room import WithLength
from fxc.capture.values.limited import Limited
from fxc.capture.values.operands import Traced, TracedValue
from tests.sources import ROOT, python_files, tree_of

MOST = 3
_CAPTURE = ROOT / "fxc" / "capture"
# What has a case for each form, or for most of them: what joins, carries, holds and leaves them.
_BY_FORM = {
    *("forms/carrying.py", "forms/items.py", "forms/joining.py", "forms/leaving.py"),
    *("epilogue/expressions.py", "epilogue/listed.py", "door/comparisons.py"),
}
_OF_ANY = {Traced, TracedValue, Limited, WithLength}  # what all, or very many, have in common


def _classes(kind: type) -> Iterator[type]:
    for each in kind.__subclasses__():
        yield each
        yield from _classes(each)


@cache
def names_of_forms() -> frozenset[str]:
    """The members of the closed set, and the classes of the values that have such a form."""
    for module in pkgutil.walk_packages(capture.__path__, "fxc.capture."):
        import_module(module.name)
    of_values = {each for each in _classes(Traced) if each.__module__.startswith("fxc.")}
    return frozenset(each.__name__ for each in {*get_args(form.Form), *of_values} - _OF_ANY)


def forms_in(source: str) -> set[str]:
    """The forms that the code of a module names, but for annotations, for the classes that it
    defines and for those that they derive from.
    """
    tree = tree_of(source)
    left_out: set[ast.AST] = set()
    own: set[str] = set()
    for node in ast.walk(tree):
        parts: list[ast.expr | None] = []
        match node:
            case ast.ClassDef():
                own |= {node.name, *(x.id for x in node.bases if isinstance(x, ast.Name))}
            case ast.arg() | ast.AnnAssign():
                parts = [node.annotation]
            case ast.FunctionDef():
                parts = [node.returns]
        left_out.update(x for part in parts if part is not None for x in ast.walk(part))
    names = {x.id for x in ast.walk(tree) if isinstance(x, ast.Name) and x not in left_out}
    return (names & names_of_forms()) - own


def _outside() -> list[Path]:
    return sorted({*python_files(("fxc/capture",))} - {_CAPTURE / each for each in _BY_FORM})


@pytest.mark.parametrize("path", _outside(), ids=lambda x: x.relative_to(ROOT).as_posix())
def test_a_module_that_has_no_case_for_each_form_knows_few_of_them_by_name(path: Path) -> None:
    found = forms_in(path.read_text(encoding="utf-8"))
    assert len(found) <= MOST, f"let one function, or a method, say which it is of {sorted(found)}"


def test_what_is_asked_for_is_counted() -> None:
    source = """
from x import Mixed, Several, TracedInt, TracedList, TracedScalar

class Char(Several):
    def f(self, x: TracedScalar) -> Mixed:
        y: Number = x
        return type(x) is TracedInt or isinstance(x, TracedList | Char)
"""
    assert forms_in(source) == {"TracedInt", "TracedList"}
    assert {"Number", "Union", "Several", "TracedArray", "Buffer"} <= names_of_forms()
    assert all(len(forms_in((_CAPTURE / each).read_text())) > MOST for each in _BY_FORM)
