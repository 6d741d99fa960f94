"""low_bits: checked arithmetic of Python ints → unchecked where high bits are lost anyway."""

import pytest
from expecttest import assert_expected_inline

from fxc.passes.low_bits import without_high_bits
from tests.passed import after


def lowered(source: str, *calls: tuple[int]) -> str:
    return after(without_high_bits, source, *calls)


def test_sums_and_products_under_a_mask() -> None:
    source = """
functional f(%x: py.int)
  %0: py.int = try_multiply(%x, 3)
  %1: py.int = try_add(%0, 7)
  %2: py.int = py_and(%1, 65535)
  return %2"""
    assert_expected_inline(
        lowered(source, (5,), (2**40,)),
        """\
  %0: py.int = py_multiply(%x, 3)
  %1: py.int = py_add(%0, 7)
  %2: py.int = py_and(%1, 65535)
  return %2""",
    )


def test_what_is_read_elsewhere_stays_checked() -> None:
    source = """
functional f(%x: py.int)
  %0: py.int = try_multiply(%x, 3)
  %1: py.int = py_and(%0, 65535)
  return %1, %0"""
    assert_expected_inline(
        lowered(source, (5,)),
        """\
  %0: py.int = try_multiply(%x, 3)
  %1: py.int = py_and(%0, 65535)
  return %1, %0""",
    )


@pytest.mark.parametrize(
    "reader", ["try_floor_divide(%0, 3)", "py_right_shift(%0, 3)", "py_less(%0, 7)"]
)
def test_what_high_bits_decide_stays_checked(reader: str) -> None:
    kind = "bool" if "less" in reader else "int"
    source = f"""
functional f(%x: py.int)
  %0: py.int = try_multiply(%x, 3)
  %1: py.{kind} = {reader}
  return %1"""
    assert "try_multiply" in lowered(source, (5,), (-7,))
