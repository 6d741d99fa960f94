"""Indices that have been checked are not looked at once more: loops behind a check → others."""

import numpy as np
import pytest
from expecttest import assert_expected_inline

from fxc.lowering.nests.parse import parse_loops
from fxc.lowering.scheduling.known_places import known_places
from tests.scheduled import after, body

UPDATE = """\
loops f
  input x: float64[10]
  input y: int64[3, 4]
  input z: int64[4]
  for i0 in 0:3
    for i1 in 0:4
      t3 = logical_or out_of_bounds(y[i0, i1], 10)  [any through 2 loops]
  raise if t3
  for i2 in 0:3
    for i3 in 0:4
      t6 = wrap_index(y[i2, i3], 10)
      x[t6] = add(x[t6], 1.0)
  bytes moved 0; copies 0
"""


def known(text: str, *, outside: bool = False) -> str:
    places = np.array([[9, -10, 0, 0], [3, -1, 5, 5], [7, 2, -4, 1]])
    places[2, 1] = 10 if outside else 2
    inputs = np.arange(10.0), places, np.array([1, 2, 3, 0])
    return body(after(known_places, parse_loops(text), *inputs))


def test_all_elements_of_an_array_have_been_checked() -> None:
    assert_expected_inline(
        known(UPDATE),
        """\
for i0 in 0:3
  for i1 in 0:4
    t3 = logical_or out_of_bounds(y[i0, i1], 10)  [any through 2 loops]
raise if t3
for i2 in 0:3
  for i3 in 0:4
    t6 = count_from_front(y[i2, i3], 10)
    x[t6] = add(x[t6], 1.0)""",
    )
    known(UPDATE, outside=True)


OTHERS = {
    "another size": ("t6 = wrap_index(y[i2, i3], 10)", "t6 = wrap_index(y[i2, i3], 9)"),
    "another array": ("t6 = wrap_index(y[i2, i3], 10)", "t6 = wrap_index(z[i3], 10)"),
    "not all of them": ("for i0 in 0:3", "for i0 in 0:2"),
    "some of them twice": ("out_of_bounds(y[i0, i1], 10)", "out_of_bounds(y[i0, 0], 10)"),
    "no check": ("  raise if t3\n", ""),
    "all of them, not any": ("logical_or out", "logical_and out"),
    "written between": (
        "  raise if t3\n",
        "  raise if t3\n  for i9 in 0:4\n    y[0, i9] = z[i9]\n",
    ),
}


@pytest.mark.parametrize("what", OTHERS)
def test_others_are_looked_at(what: str) -> None:
    text = UPDATE.replace(*OTHERS[what])
    assert text != UPDATE
    assert "count_from_front" not in known(text)
