"""What has been stored or loaded is passed on in a register: statements → fewer statements."""

from dataclasses import replace

import numpy as np
import pytest
from expecttest import assert_expected_inline

from fxc.ir.symbols import symbol
from fxc.lowering.nests.buffers import F64, Const
from fxc.lowering.nests.program import Program
from fxc.lowering.nests.statements import Accumulate, Compute, If, Load, Loop, Stmt, Store
from fxc.lowering.scheduling import forward as module
from fxc.lowering.scheduling.forward import forward
from tests.scheduled import after, body, buffer, program

X = np.arange(1.0, 9.0)
i0 = symbol("i0", hint=0, lower=0)
BUFFERS = [buffer("x", "input", 8), buffer("out", "output", 8), buffer("more", "output", 8)]


def add(name: str, left: str | Const, right: str | Const) -> Compute:
    return Compute(name, F64, "add", (left, right), (F64, F64))


def forwarded(*statements: Stmt) -> str:
    def step(before: Program) -> Program:
        return replace(before, body=forward(before, before.body))

    before = program(BUFFERS, *statements, results=("out", "more"))
    return body(after(step, before, X))


def over(*statements: Stmt, ordered: bool = False) -> Loop:
    return Loop("i0", 8, statements, ordered)


def number(value: float) -> Const:
    return Const(value, F64)


CLEAR = over(Store("out", (i0,), number(0.0), F64), Store("more", (i0,), number(0.0), F64))


def test_an_element_is_loaded_once_and_a_result_computed_once() -> None:
    found = forwarded(
        CLEAR,
        over(
            Load("a", F64, "x", (i0,)),
            add("s", "a", "a"),
            Store("out", (i0,), "s", F64),
            Load("b", F64, "x", (i0,)),
            add("t", "b", "a"),
            Store("more", (i0,), "t", F64),
        ),
    )
    assert_expected_inline(
        found,
        """\
for i0 in 0:8
  out[i0] = 0.0
  more[i0] = 0.0
for i0 in 0:8
  a = x[i0]
  s = add(a, a)
  out[i0] = s
  more[i0] = s""",
    )


def test_what_is_stored_is_not_loaded_again() -> None:
    found = forwarded(
        CLEAR,
        over(
            Store("out", (i0,), number(3.0), F64),
            Load("a", F64, "out", (i0,)),
            add("s", "a", number(1.0)),
            Store("more", (i0,), "s", F64),
        ),
    )
    assert_expected_inline(
        found,
        """\
for i0 in 0:8
  out[i0] = 0.0
  more[i0] = 0.0
for i0 in 0:8
  out[i0] = 3.0
  more[i0] = add(3.0, 1.0)""",
    )


def test_a_store_elsewhere_in_the_buffer_is_forgotten_only_if_it_may_be_the_same_place() -> None:
    found = forwarded(
        CLEAR,
        Load("a", F64, "x", (0,)),
        Store("x", (1,), "a", F64),
        Load("b", F64, "x", (0,)),
        Store("out", (0,), "b", F64),
        over(
            Load("c", F64, "x", (0,)),
            Store("x", (i0,), number(5.0), F64),
            Load("d", F64, "x", (0,)),
            add("s", "c", "d"),
            Store("more", (0,), "s", F64),
            ordered=True,
        ),
    )
    assert_expected_inline(
        found,
        """\
for i0 in 0:8
  out[i0] = 0.0
  more[i0] = 0.0
a = x[0]
x[1] = a
out[0] = a
for i0 in 0:8 ordered
  c = x[0]
  x[i0] = 5.0
  more[0] = add(c, x[0])""",
    )


def test_zeros_of_two_signs_are_two_numbers() -> None:
    def divided(name: str, by: float) -> Compute:
        return Compute(name, F64, "copysign", (number(1.0), number(by)), (F64, F64))

    found = forwarded(
        CLEAR,
        divided("a", 0.0),
        divided("b", -0.0),
        divided("c", 0.0),
        Store("out", (0,), "a", F64),
        Store("out", (1,), "b", F64),
        Store("out", (2,), "c", F64),
    )
    assert_expected_inline(
        found,
        """\
for i0 in 0:8
  out[i0] = 0.0
  more[i0] = 0.0
a = copysign(1.0, 0.0)
out[0] = a
out[1] = copysign(1.0, -0.0)
out[2] = a""",
    )


def test_behind_a_branch_nothing_is_known_of_what_it_stores() -> None:
    found = forwarded(
        CLEAR,
        Load("a", F64, "x", (0,)),
        Load("b", F64, "x", (1,)),
        Compute("less", np.dtype(bool), "less", ("a", "b"), (F64, F64)),
        If("less", (Store("x", (0,), "b", F64),), ()),
        Load("c", F64, "x", (0,)),
        Store("out", (0,), "c", F64),
        Load("d", F64, "x", (1,)),
        Store("out", (1,), "d", F64),
    )
    assert_expected_inline(
        found,
        """\
for i0 in 0:8
  out[i0] = 0.0
  more[i0] = 0.0
b = x[1]
if less(x[0], b)
  x[0] = b
out[0] = x[0]
out[1] = x[1]""",
    )


def test_of_elements_at_numbers_each_store_meets_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(module, "are_apart", lambda *places: asked.append(places))
    stores = [Store("out", (k,), number(float(k)), F64) for k in range(8)]
    found = forwarded(
        CLEAR, *stores, Load("a", F64, "out", (3,)), Store("more", (0,), "a", F64), stores[0]
    )
    assert "more[0] = 3.0" in found
    assert not asked


def test_equal_totals_are_added_up_once() -> None:
    """What begins elsewhere, a zero of the other sign too, is another total."""

    def total(name: str, value: str, start: float) -> Accumulate:
        return Accumulate(name, F64, "add", value, number(start), "sequential")

    found = forwarded(
        CLEAR,
        over(
            Load("a", F64, "x", (i0,)),
            total("s", "a", 0.0),
            Load("b", F64, "x", (i0,)),
            total("t", "b", 0.0),
            total("u", "b", -0.0),
        ),
        add("v", "t", "u"),
        Store("out", (0,), "v", F64),
        Store("more", (0,), "t", F64),
    )
    assert found.count("[sequential") == 2
    assert "more[0] = s" in found


def test_a_total_of_an_inner_loop_is_another_one() -> None:
    """It adds the same number up, but more often."""
    each = Accumulate("each", F64, "add", "a", number(0.0), "sequential")
    inner = replace(over(replace(each, name="often")), var="i1")
    found = forwarded(
        over(Load("a", F64, "x", (i0,)), each, inner, Store("out", (i0,), "often", F64)),
        over(Store("more", (i0,), "each", F64)),
    )
    assert found.count("[sequential") == 2
    assert "out[i0] = often" in found
