"""Indices that are in bounds by how they are made need no check: loops with checks → without."""

import re

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from fxc.lowering.nests.parse import parse_loops
from fxc.lowering.scheduling.proven_places import proven_places
from tests.outcomes import difference, run
from tests.scheduled import after, body

LOOK_UP = """\
loops f
  input x: float64[10]
  input y: {dtype}[7]
  output b: float64[7]
  results b
  for i0 in 0:7
    t1 = {index}
    t3 = logical_or out_of_bounds(t1, 10)  [any]
    b[i0] = x[wrap_index(t1, 10)]
  raise if t3
  bytes moved 0; copies 0
"""


def looked_up(index: str, dtype: str = "int64") -> str:
    y = np.array([3, 0, 9, 1, 1, 7, 5], dtype)
    text = LOOK_UP.format(index=re.sub(r"\by\b", "y[i0]", index), dtype=dtype)
    return body(after(proven_places, parse_loops(text), np.arange(10.0), y))


def test_a_clipped_index() -> None:
    assert_expected_inline(
        looked_up("minimum(maximum(y, 0), 9)"),
        """\
for i0 in 0:7
  b[i0] = x[copy(minimum(maximum(y[i0], 0), 9))]""",
    )


def test_what_is_used_often_is_asked_once() -> None:
    """Each number is twice in the next one: two to the power of 25 ways lead to the first."""
    steps = [f"t{n} = minimum(t{n - 1}, add(t{n - 1}, 1))" for n in range(11, 36)]
    lines = "\n    ".join(["t10 = minimum(maximum(y[i0], 0), 9)", *steps, "t1 = minimum(t35, 9)"])
    text = LOOK_UP.format(index="", dtype="int64").replace("t1 = \n", f"{lines}\n")
    found = body(after(proven_places, parse_loops(text), np.arange(10.0), np.arange(7)))
    assert "raise if" not in found


@pytest.mark.parametrize(
    "index, dtype",
    [
        ("maximum(minimum(y, 9), 0)", "int64"),
        ("add(minimum(maximum(y, 0), 8), 1)", "int64"),
        ("add(1, minimum(maximum(y, -1), 8))", "int64"),
        ("minimum(maximum(add(y, -1), 0), 9)", "int64"),
        ("remainder(y, 10)", "int64"),
        ("minimum(astype:int64(y), 9)", "uint8"),
        ("remainder(astype:int64(y), 10)", "int8"),
    ],
)
def test_what_is_proven(index: str, dtype: str) -> None:
    found = looked_up(index, dtype)
    assert "out_of_bounds" not in found
    assert "raise" not in found


@pytest.mark.parametrize(
    "index, dtype",
    [
        ("y", "int64"),
        ("minimum(y, 9)", "int64"),
        ("maximum(y, 0)", "int64"),
        ("minimum(maximum(y, -1), 9)", "int64"),  # counts from the end
        ("minimum(maximum(y, 0), 10)", "int64"),
        ("add(minimum(maximum(y, 0), 9), 1)", "int64"),
        ("minimum(astype:int64(y), 9)", "int8"),
        ("astype:int64(y)", "uint8"),
        ("minimum(add(maximum(y, 0), 1), 9)", "int64"),  # the sum may wrap around
    ],
)
def test_what_is_not(index: str, dtype: str) -> None:
    assert "wrap_index" in looked_up(index, dtype)


def bilinear(image, y, x):
    h, w = image.shape
    i = np.clip(np.floor(y).astype(int), 0, h - 2)
    j = np.clip(np.floor(x).astype(int), 0, w - 2)
    return image[i, j] * (1 - y + i) + image[i + 1, j + 1] * (y - i) + image[i, j + 1]


def test_an_image_between_its_pixels() -> None:
    compiled = fxc.compile(bilinear, fullgraph=True)
    r = np.random.default_rng(2)
    image, y, x = r.random((20, 30)), r.random(500) * 30 - 5, r.random(500) * 40 - 5
    y[3], x[5] = np.inf, np.nan
    with np.errstate(all="ignore"):
        assert not difference(run(bilinear, (image, y, x)), run(compiled, (image, y, x)))
        assert "raise" not in str(compiled.inspect(image, y, x).loops)
