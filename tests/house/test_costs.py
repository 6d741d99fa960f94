"""Numbers that decide speed stand in one place: in `lowering/machine`."""

import ast
from collections.abc import Iterator

import pytest

from tests.sources import ROOT, python_files

# Folders in which no module has a number of its own.
WITHOUT_NUMBERS = ("lowering/scheduling",)


def numbers_of(source: str) -> Iterator[str]:
    """The names at the top level of a module that stand for a number, however it is written."""
    for stmt in ast.parse(source).body:
        match stmt:
            case ast.Assign(targets=targets, value=value):
                pass
            case ast.AnnAssign(target=target, value=value):
                targets = [target]
            case _:
                continue
        if value is not None and _is_number(value):
            yield from (ast.unparse(target) for target in targets)


def _is_number(value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=int() | float() as constant):
            return not isinstance(constant, bool)
        case ast.BinOp(left=left, right=right):
            return any(map(_is_number, (left, right)))
        case ast.UnaryOp(operand=operand):
            return _is_number(operand)
        case ast.Tuple(elts=elements):
            return any(map(_is_number, elements))
        case _:
            return False


@pytest.mark.parametrize("folder", WITHOUT_NUMBERS)
def test_numbers_that_decide_speed_stand_in_machine(folder: str) -> None:
    found = {
        str(path.relative_to(ROOT)): names
        for path in python_files((folder,))
        if (names := [*numbers_of(path.read_text())])
    }
    assert not found, "these belong to Target or Costs, in lowering/machine"


def test_numbers_are_seen_however_they_are_written() -> None:
    assert [*numbers_of("A = 3\nB: int = 1 << 18\nC = -2.5\nD = 4 * A\nE, F = 1, 2\nG = True")] == [
        "A", "B", "C", "D", "(E, F)",
    ]  # fmt: skip
    assert not [*numbers_of("NAME = 'x'\nTABLE = {1: 2}\ndef f(n=3):\n    m = 4\n")]
