"""Large temporaries move into results: loops → the same with one array less, and the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from fxc.ir.records import replace
from fxc.lowering.machine.target import Target
from fxc.lowering.nests.parse import parse_loops
from fxc.lowering.scheduling.in_results import in_results
from tests.outcomes import difference, run
from tests.parallel_loops import SMALL, everywhere
from tests.scheduled import after, text

X = np.arange(1.0, 17.0).reshape(4, 4)
BYTES = 8 * X.size
UPDATE = "b2[i2, i3] = divide(b0[i2, i3], 7.0)"


def loops(*body: str, behind: tuple[str, ...] = (), header: tuple[str, ...] = ()) -> str:
    """Loops that store a temporary, and those with this body, which make a result of it."""
    lines = (
        *header,
        "for i0 in 0:4",
        "  for i1 in 0:4",
        "    b0[i0, i1] = multiply(x[i0, i1], 3.0)",
        "for i2 in 0:4",
        "  for i3 in 0:4",
        *(f"    {line}" for line in body),
        *behind,
    )
    return "\n".join(
        (
            "loops f",
            "  input x: float64[4, 4]",
            "  temp b0: float64[4, 4]",
            "  output b2: float64[4, 4]",
            *(f"  {line}" for line in lines),
            "  bytes moved 0; copies 0",
        )
    )


def moved(before: str, cache: int = BYTES - 1) -> str:
    program = replace(parse_loops(before), target=Target(cache=cache))
    return text(after(in_results, program, X))


def test_a_result_has_the_temporary_that_it_is_made_of() -> None:
    assert_expected_inline(
        moved(loops(UPDATE)),
        """\
loops f
  input x: float64[4, 4]
  output b2: float64[4, 4]
  for i0 in 0:4
    for i1 in 0:4
      b2[i0, i1] = multiply(x[i0, i1], 3.0)
  for i2 in 0:4
    for i3 in 0:4
      b2[i2, i3] = divide(b2[i2, i3], 7.0)
  bytes moved 512; copies 0""",
    )


def test_a_temporary_that_the_cache_holds_stays() -> None:
    assert "temp b0" in moved(loops(UPDATE), BYTES)


@pytest.mark.parametrize(
    "before",
    [
        loops("b2[i2, i3] = divide(b0[i3, i2], 7.0)"),
        loops("b2[i2, i3] = divide(b0[-i2 + 3, i3], 7.0)"),
        loops("b2[i2, i3] = add(b0[i2, i3], b0[0, i3])"),
        loops(UPDATE, "b3[i3, i2] = b0[i2, i3]", header=("output b3: float64[4, 4]",)),
        loops(UPDATE, "for i4 in 0:4", "  t5 = add b0[i2, i3]  [sequential]"),
        loops(UPDATE, behind=("for i5 in 0:4", "  b2[0, i5] = 1.0")),
        loops(
            UPDATE,
            behind=("for i5 in 0:4", "  b3[i5] = b0[i5, 0]"),
            header=("output b3: float64[4]",),
        ),
    ],
)
def test_what_is_met_otherwise_stays(before: str) -> None:
    assert "temp b0" in moved(before)


def softmax(x: Any) -> Any:
    powers = np.exp(x - x.max())
    return powers / powers.sum()


def test_threads_and_lanes_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere(monkeypatch, replace(SMALL, cache=64))
    x = np.linspace(-3.0, 2.0, 1003)
    compiled = fxc.compile(softmax, fullgraph=True)
    assert "temp" not in str(compiled.inspect(x).loops)
    assert not difference(run(softmax, x), run(compiled, x))
