"""What takes less time to compute where it is read than to store and to load is computed there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

from fxc.lowering.machine.costs import Costs
from fxc.lowering.machine.target import SERIAL, Target
from fxc.lowering.scheduling.fuse import fuse
from tests.compiling import check
from tests.scheduled import after_building, body

U = np.arange(20.0 * 6).reshape(20, 6) % 11 + 1
TWICE = """
functional f(%u: f64[20, 6])
  %0: f64[19, 6] = slice_copy(%u, [1:20:1, 0:6:1])
  %1: f64[19, 6] = slice_copy(%u, [0:19:1, 0:6:1])
  %2: f64[19, 6] = add(%0, %1)
  %3: f64[19, 6] = {last}
  %4: f64[18, 6] = slice_copy(%3, [1:19:1, 0:6:1])
  %5: f64[18, 6] = slice_copy(%3, [0:18:1, 0:6:1])
  %6: f64[18, 6] = subtract(%4, %5)
  return {results}"""


def made(last: str = "multiply(%2, %2)", results: str = "%6", target: Target = SERIAL) -> str:
    return body(after_building(fuse, TWICE.format(last=last, results=results), U, target=target))


def test_few_operations_are_done_again_at_each_place() -> None:
    assert_expected_inline(
        made(),
        """\
for i2 in 0:108
  t5_1 = u[floordiv(i2, 6) + 1, mod(i2, 6)]
  t5_2 = add(u[floordiv(i2, 6) + 2, mod(i2, 6)], t5_1)
  t6_2 = add(t5_1, u[floordiv(i2, 6), mod(i2, 6)])
  b2[floordiv(i2, 6), mod(i2, 6)] = subtract(multiply(t5_2, t5_2), multiply(t6_2, t6_2))""",
    )


def test_no_division_is_done_twice() -> None:
    assert made("divide(%2, %0)").count("divide") == 1


def test_what_is_a_result_is_stored() -> None:
    assert made(results="%3, %6").count("add") == 1


def test_operations_that_take_long_are_done_once_unless_memory_is_far() -> None:
    slow = Costs(operation=300)
    assert made(target=Target(costs=slow)).count("add") == 1
    far = Target(nearest=64, costs=replace(slow, far_byte=1000))
    assert made(target=far).count("add") == 2


def limited(u: Any, k: Any) -> Any:
    second = 4.0 * u[1:-1, 1:-1] - (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    down = second[1:, 1:-1] - second[:-1, 1:-1]
    down = np.where(down * (u[2:-1, 2:-2] - u[1:-2, 2:-2]) > 0, 0.0, down)
    along = second[1:-1, 1:] - second[1:-1, :-1]
    along = np.where(along * (u[2:-2, 2:-1] - u[2:-2, 1:-2]) > 0, 0.0, along)
    return u[2:-2, 2:-2] - k * (down[1:] - down[:-1] + along[:, 1:] - along[:, :-1])


@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 5, 3), (13, 9, 17), (61, 53, 27)])
def test_stages_with_limiters(shape: tuple[int, int, int]) -> None:
    r = np.random.default_rng(1)
    u, k = r.random((shape[0] + 4, shape[1] + 4, shape[2])), r.random(shape)
    compiled = check(limited, (u, k))
    if shape[0] > 50:
        assert "temp" not in str(compiled.inspect(u, k).loops)


def overwritten(u: Any, v: Any) -> Any:
    w = u[1:] - u[:-1]
    u[2:-1] = v
    return w[1:] * w[:-1]


def in_place(u: Any, v: Any) -> Any:
    w = u[1:] - u[:-1]
    u[1:-1] += w[1:] - w[:-1]
    return u


def in_steps(u: Any, v: Any) -> Any:
    for _ in range(3):
        w = u[1:] - u[:-1]
        v = v + w[1:-1] * w[2:] - w[:-2]
        u[1:-2] = v
    return v


def in_a_row(u: Any, v: Any) -> Any:
    for _ in range(8):
        u = 0.5 * u[1:] + 0.25 * u[:-1]
    return u


def turned(u: Any, v: Any) -> Any:
    w = u.T * 2.0
    return w[:, 1:] - w[:, :-1]


def as_other_numbers(u: Any, v: Any) -> Any:
    w = (u * 7).astype(np.int8)
    x = u.astype(np.float32)
    return w[1:] + w[:-1], x[1:] * x[:-1], (u > 3)[1:] ^ (u > 3)[:-1]


@pytest.mark.parametrize(
    "program", [overwritten, in_place, in_steps, in_a_row, turned, as_other_numbers]
)
@pytest.mark.parametrize("rows", [12, 33])
def test_programs_are_numpys(program: Any, rows: int) -> None:
    u = np.arange(rows * 19.0).reshape(rows, 19) % 13
    check(program, (u.copy(), np.ones((rows - 3, 19))))


def test_reads_round_the_end_and_of_every_other_element() -> None:
    def f(u: Any) -> Any:
        w = u * u - 1.0
        return np.roll(w, 1, 0) - w, w[::2, 1:] + w[::2, :-1], w[::-1] * w

    check(f, (np.arange(300.0).reshape(20, 15),))


def test_a_row_of_a_matrix_is_not_made_for_each_of_its_readers() -> None:
    def f(u: Any, v: Any) -> Any:
        w = v * v + v * 3.0 - 1.0
        return u * w[1:] + w[:-1]

    u, v = np.ones((50, 31)), np.arange(32.0)
    assert "temp" in str(check(f, (u, v)).inspect(u, v).loops)


def test_what_is_made_of_a_number_is_stored_where_native_code_ends_behind_it() -> None:
    """NumPy makes the texts: the code behind them begins with no registers."""

    def lowered(a, b):
        np.power(a[0, ...], 0, out=a[2, ...])
        low = np.take_along_axis(a, a.argmin(axis=0, keepdims=True), 0)
        np.subtract(a, low.reshape((1,)), out=a)
        return np.where(np.ones(4, "f2") > 2, np.ones(4, "f2"), low + (b[...] - np.float16(-0.25)))

    check(lowered, (np.array([4, 2, 5], "i4"), np.array(3.5)))


def test_what_is_made_of_two_counters_is_stored_for_a_sum_over_all_elements() -> None:
    def f(u: Any) -> Any:
        return (2.0 ** -np.add.outer(np.arange(4), np.arange(4)) * u).sum()

    check(f, (np.arange(16.0).reshape(4, 4),))
