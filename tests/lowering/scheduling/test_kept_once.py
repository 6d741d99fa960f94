"""What is stored twice is loaded from where the program keeps it: temporaries that go."""

from __future__ import annotations

from typing import Any

import numpy as np
from expecttest import assert_expected_inline

import fxc
from tests.nests_of import nests_of

A, B = np.arange(9.0 * 7).reshape(9, 7) % 5, np.ones((9, 7))


def test_the_second_sweep_reads_what_the_first_has_stored() -> None:
    def sweeps(a: Any, b: Any, steps: int) -> None:
        for _ in range(steps):
            b[1:-1, 1:-1] = (a[1:-1, :-2] + a[2:, 1:-1]) / 2.0
            a[1:-1, 1:-1] = (b[1:-1, 1:-1] - b[:-2, 1:-1]) / 2.0

    assert_expected_inline(
        nests_of(sweeps, A, B, 3),
        """\
loop i in 0:(steps)
  for i0 in 0:7
    for i1 in 0:5 lanes 4 overlapping
      b[i0 + 1, i1 + 1] = divide(add(a[i0 + 1, i1], a[i0 + 2, i1 + 1]), 2.0)
  for i4 in 0:7
    for i5 in 0:5 lanes 4 overlapping
      a[i4 + 1, i5 + 1] = divide(subtract(b[i4 + 1, i5 + 1], b[i4, i5 + 1]), 2.0)""",
    )


def temporaries(program: Any, *args: Any) -> int:
    nests_of(program, *args)
    text = str(fxc.compile(program, fullgraph=True).inspect(*args).loops)
    return sum(line.startswith("  temp") for line in text.splitlines())


def test_what_is_stored_with_gaps_stays() -> None:
    def reversed_rows(a: Any, b: Any) -> Any:
        t = np.sqrt(a)
        b[::-1] = t
        return t[1:] - t[:-1]

    def every_other(a: Any, b: Any) -> Any:
        t = np.sqrt(a[:, :3])
        b[:, ::2] = t
        return t[1:] - t[:-1]

    assert temporaries(reversed_rows, A, B) == 0
    assert temporaries(every_other, A, np.ones((9, 6))) == 1


def test_what_is_overwritten_before_it_is_read_stays() -> None:
    def rows(a: Any, b: Any) -> Any:
        t = np.sqrt(a)
        b[:] = t
        b[3] = 7.0
        return t[1:] - t[:-1]

    def itself(a: Any, b: Any) -> None:
        t = np.sqrt(a)
        b[:] = t
        b[1:] = t[1:] - t[:-1]

    def later_steps(a: Any, b: Any, steps: int) -> Any:
        t = np.zeros((9, 7))
        for _ in range(steps):
            a[1:] += t[1:] - t[:-1]
            t = np.sqrt(np.abs(a))
            b[:] = t
        return t

    def other_dtype(a: Any, b: Any) -> Any:
        t = np.sqrt(a)
        b[:] = t
        return t[1:] - t[:-1]

    def one_for_all(a: Any, b: Any) -> Any:
        t = np.sqrt(a[0])
        b[:] = t
        b[2] = 1.0
        return t[1:] - t[:-1]

    nests_of(rows, A, B)
    nests_of(itself, A, B)
    nests_of(later_steps, A, B, 4)
    nests_of(other_dtype, A, B.astype("f4"))
    nests_of(one_for_all, A, B)


def test_a_result_is_kept_apart_from_what_is_written() -> None:
    def program(a: Any, b: Any) -> Any:
        t = np.sqrt(a)
        b[:] = t
        return t, t[1:] - t[:-1]

    compiled = fxc.compile(program, fullgraph=True)
    b = B.copy()
    kept, _ = compiled(A, b)
    assert not np.shares_memory(kept, b)
    nests_of(lambda a, b: program(a, b)[1], A, B)


def test_a_sum_over_all_elements_has_no_gaps_to_jump_over() -> None:
    def total(a: Any, b: Any) -> Any:
        t = np.sqrt(a[:, :4])
        b[:, :4] = t
        return t.sum(), b[0, 0]

    nests_of(total, A, B)
