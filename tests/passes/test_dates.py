"""dates: operators on dates → on integers, with NaT."""

import numpy as np
from expecttest import assert_expected_inline

from fxc.dispatch.default import default_dispatcher
from fxc.ops.dates import _sums_wrap_around
from fxc.passes.dates import in_integers
from tests.passed import after

DATES = np.array(["2020-01-01", "NaT", "2021-05-05"], "M8[s]")


def made(source: str, *calls: tuple[np.ndarray, ...]) -> str:
    return after(lambda graph: in_integers(graph, default_dispatcher()), source, *calls)


def test_a_difference() -> None:
    source = """
functional f(%a: '<M8[s]'[3], %b: '<M8[s]'[3])
  %0: '<m8[s]'[3] = subtract(%a, %b)
  return %0"""
    if not _sums_wrap_around():  # from NumPy 2.5 on: it raises for what overflows
        assert made(source, (DATES, DATES[::-1])) in source
        return
    assert_expected_inline(
        made(source, (DATES, DATES[::-1])),
        """\
  %1: i64[3] = reinterpret(%a, i64)
  %2: bool[3] = equal(%1, i64(-9223372036854775808))
  %3: i64[3] = reinterpret(%b, i64)
  %4: bool[3] = equal(%3, i64(-9223372036854775808))
  %5: i64[3] = subtract(%1, %3)
  %6: bool[3] = logical_or(%2, %4)
  %7: i64[3] = where(%6, i64(-9223372036854775808), %5)
  %0: '<m8[s]'[3] = reinterpret(%7, '<m8[s]')
  return %0""",
    )


def test_what_numpy_computes_stays() -> None:
    source = """
functional f(%a: '<M8[M]'[3], %b: '<M8[s]'[3])
  %0: bool[3] = less(%a, %b)
  return %0"""
    assert_expected_inline(
        made(source, (DATES.astype("M8[M]"), DATES)),
        """\
  %0: bool[3] = less(%a, %b)
  return %0""",
    )
