"""Numbers that decide speed stand in one place: in `lowering/machine`."""

import ast
from collections.abc import Iterator

from tests.sources import ROOT, python_files, tree_of

FOLDERS = ("lowering/scheduling", "lowering/building", "lowering/emission", "lowering/operators")

# What has a number of its own: none decides how fast code is, or no other one is right.
RIGHT: dict[str, set[str]] = {
    "building/contraction.py": {"_LONG_ROW"},
    "building/natural_powers.py": {"_MOST"},
    "building/scope.py": {"NEVER"},
    "emission/arena.py": {"ALIGNMENT"},
    "emission/call_parts.py": {"_ALL_BUT_WRITEABLE", "(C_ORDER, FORTRAN_ORDER, WRITEABLE)"},
    "emission/draw_code.py": {"(_PARTS, _SIZES, _BYTES)", "_CACHE", "_LEGACY_SIZE", "_MOST"},
    "emission/draws.py": {"ROOM"},
    "emission/emit.py": {"ELEMENT"},
    "emission/extremes.py": {"STEEP", "_FACTOR", "FAR"},
    "emission/frame.py": {"WORD"},
    "emission/lock.py": {"_NANOSECONDS"},
    "emission/native_module.py": {"NUMPY_FUNCTIONS"},
    "emission/parallel.py": {"_ANY"},
    "emission/parallel_totals.py": {"_LEVELS", "_MOST", "_MULTIPLE"},
    "emission/places_code.py": {"LANES", "_EIGHT"},
    "emission/python_failures.py": {"LOWEST", "EXACT"},
    "emission/quick_draws.py": {"(SCALE_LEAST, SCALE_MOST)"},
    "emission/scalar_power.py": {"(_USUAL, _WIDE)", "_EVEN"},
    "emission/scratch.py": {"ALIGNMENT"},
    # Functions that the code of all programs shares: no target has others.
    "emission/side_by_side.py": {"_BLOCKS", "_FEW", "_LANES"},
    "emission/sticky.py": {"_STICKY"},
    "emission/store_log.py": {"SHIFT", "MANY", "_RECORD"},
    "emission/undo.py": {"_BLOCK"},
    "operators/dot_order.py": {"LONGEST", "_LENGTHS"},
    "operators/einsum_order.py": {"BLOCK", "VECTOR"},
    "operators/matrix_order.py": {"LEAST", "MOST", "_SHORT", "_LONG", "_LARGE", "_PRIME"},
    "operators/python_rules.py": {"_LIBRARY_COST"},
    "operators/scalar_rules.py": {"NEARLY_EXACT"},
    "operators/reduction_order.py": {"PAIRWISE_GROUPS", "BUFFER_SIZE"},
    "operators/small_order.py": {"_PRODUCTS", "_ROOM", "_STACKS", "_TOTALS"},
    "scheduling/growing_products.py": {"ACCUMULATORS", "MULTIPLE"},
    # It bounds what a proof may take: an index that it leaves unproven is checked.
    "scheduling/proven_places.py": {"_LEVELS"},
}


def numbers_of(source: str) -> Iterator[str]:
    """The names at the top level of a module that stand for a number, however it is written."""
    for stmt in tree_of(source).body:
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


def test_numbers_that_decide_speed_stand_in_machine() -> None:
    found = {
        str(path.relative_to(ROOT / "lowering")): names
        for path in python_files(FOLDERS)
        if (names := {*numbers_of(path.read_text())})
    }
    assert found == RIGHT, "what decides speed belongs to Target or Costs, in lowering/machine"


def test_numbers_are_seen_however_they_are_written() -> None:
    assert [*numbers_of("A = 3\nB: int = 1 << 18\nC = -2.5\nD = 4 * A\nE, F = 1, 2\nG = True")] == [
        "A", "B", "C", "D", "(E, F)",
    ]  # fmt: skip
    assert not [*numbers_of("NAME = 'x'\nTABLE = {1: 2}\ndef f(n=3):\n    m = 4\n")]
