"""Random programs: which statements they are made of, and how often."""

from __future__ import annotations

from tests import index_statements as i
from tests import python_control as p
from tests import statements as s
from tests.program_writer import Statement, Writer
from tests.spellings import SPELLINGS, any_spelling
from tests.written_programs import Program

CHOICES: tuple[tuple[Statement, float], ...] = (
    (s.make_view, 18), (s.in_place, 18), (s.set_item, 16), (s.swap, 4), (s.swap_through_copy, 1),
    (s.with_out, 6), (s.with_where, 4), (s.computed, 5), (s.expression, 4), (s.compare, 2),
    (s.copies, 5), (s.made, 2), (s.fill, 4), (s.reduction, 4), (s.scan, 1), (s.choose, 2),
    (s.joined, 3), (s.element, 3), (s.rebind, 1), (s.again, 4), (s.take_over, 6), (s.read_back, 3),
    (s.set_masked, 2), (s.loop_over_rows, 3), (s.loop_over_places, 3), (s.staged_loop, 2),
    (s.staged_loop_of_two, 2), (s.staged_while, 2), (s.staged_branch, 2), (s.in_list, 1), (s.by_helper, 2),
    (p.branch, 2), (p.counted_loop, 2), (p.loop_while, 2),
    (i.read_at_places, 3), (i.put_at_places, 5), (i.update_at_places, 2), (i.put_by_mask, 3),
    (i.write_found_row, 1), (i.index_function, 5), (any_spelling, 14),
)  # fmt: skip
_KINDS = tuple(kind for kind, _ in CHOICES)
_WEIGHTS = tuple(weight for _, weight in CHOICES)


def random_program(seed: int, *, overlap: bool = True, focus: str | None = None) -> Program:
    """The program of this seed.

    ``overlap``: whether its arguments may share memory. ``focus`` names an operator that the
    program should have.
    """
    first = SPELLINGS[focus] if focus is not None else None
    return Writer(seed, overlap).program(_KINDS, _WEIGHTS, first)
