"""Numbers that are of one type or of another by a condition, in each of many expressions, as in NumPy.

``FXC_FUZZ_PROGRAMS`` sets how many pairs of a number and an expression are tried; all, if there are so many.
"""

from __future__ import annotations

import itertools
import math
import operator
import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run
from tests.programs.test_random_loops import observed
from tests.written_programs import defined

COUNT = int(os.environ.get("FXC_FUZZ_PROGRAMS", "30"))
FIRST = int(os.environ.get("FXC_FUZZ_FIRST", "0"))  # another choice for each
NUMBERS = {
    "an int or a float64": "s = 2\n    if x[0] > 0: s = x[1]",
    "a float or a float64": "s = 2.5\n    if x[0] > 0: s = x[1]",
    "an int or a float": "s = 2\n    if x[0] > 0: s = float(x[1])",
    "an int or an int64": "s = 2\n    if x[0] > 0: s = v[1]",
    "an int or an int32": "s = 2\n    if x[0] > 0: s = w[1]",
    "a float or a float32": "s = 2.5\n    if x[0] > 0: s = z[1]",
    "a bool of either": "s = False\n    if x[0] > 0: s = x[1] > 0",
    "a bool or an int": "s = True\n    if x[0] > 0: s = int(v[1])",
    "what a loop finds": "s = 0\n    for q in x:\n        if q > 0: s = q",
    "an int64 or a float64": "s = v[0]\n    if x[0] > 0: s = x[1]",
    "a float32 or a float64": "s = z[0]\n    if x[0] > 0: s = x[1]",
    "None or a float64": "s = None\n    if x[1] > -5: s = x[1]",
    "a float or a complex128": "s = 1.5\n    if x[0] > 0: s = c[0]",
    "a float or an array": "s = 2.0\n    if x[0] > 0: s = x[:1]",
    "a float or an array of rank 0": "s = 2.0\n    if x[0] > 0: s = np.array(x[1])",
}
EXPRESSIONS = (
    "pow(s, 2)", "pow(s, 3)", "pow(2, s)", "divmod(s, 3)", "divmod(7, s)", "round(s)", "round(s, 1)", "abs(s)", "float(s)", "int(s)", "complex(s)",
    "bool(s)", "str(s)", "f'{s}'", "f'{s:.2f}'", "repr(s)", "max(s, 1)", "min(s, 1)", "max(s, x[1])", "sum([s, 1])", "sum((s, s), s)",
    "math.floor(s)", "math.ceil(s)", "math.trunc(s)", "math.sqrt(s)", "math.hypot(s, 1)", "math.isnan(s)", "math.copysign(1, s)",
    "math.fsum([s, 1])", "math.prod([s, s])", "s.real", "s.imag", "s.conjugate()", "isinstance(s, float)", "isinstance(s, int)",
    "isinstance(s, np.generic)", "isinstance(s, np.floating)", "type(s) is float", "type(s).__name__", "np.float32(s)", "np.float64(s)",
    "np.int64(s)", "np.asarray(s)", "np.array(s)", "np.array([s, 1])", "np.array([s, s]).dtype", "[s] * 2", "s in (1, 2)", "s == 2", "s != 2",
    "s is None", "range(int(s))[-1:]", "x[int(s)]", "x * s", "z * s", "v * s", "w + s", "w - s", "b + s", "s + x[0]", "s * z[0]", "s / w[0]",
    "s // v[0]", "s % 3", "-s", "+s", "~s", "s << 1", "s >> 1", "s & 3", "s ^ 1", "s ** 2", "s ** 0.5", "2 ** s", "np.add(x, s)", "np.add(w, s)",
    "np.multiply(z, s)", "np.where(x > s, x, s)", "np.where(z > s, z, s)", "np.full(3, s)", "np.full_like(z, s)", "np.minimum(s, w)",
    "np.clip(w, 0, s)", "np.sum([s, s])", "np.power(x, s)", "np.maximum(s, 1)", "np.sqrt(s)", "np.floor(s)", "np.square(s)", "np.abs(s)",
    "np.isnan(s)", "np.sign(s)", "{s: 1}", "(s,) == (2,)", "sorted([s, 1])", "[s, 1].index(s)", "[1, s].count(1)", "s or 5", "s and 5", "not s",
    "s if s else 1", "s > 1", "1 < s < 3", "s <= x[0]", "s == x", "np.ndim(s)", "np.size(s)", "np.isscalar(s)", "np.result_type(s)",
    "np.append(x, s)", "np.concatenate([x, [s]])", "np.stack([s, s])", "np.linspace(0, s, 3)", "np.zeros(int(s))", "np.round(s, 1)", "np.dot(s, x)",
    "np.outer(s, x)", "x.clip(s)", "x.fill(s) or x", "w.fill(s) or w", "np.copyto(z, s) or z", "operator.add(s, 1)", "operator.truediv(s, 2)",
    "operator.index(s)", "s.item()", "s.dtype", "s.shape", "s.astype('f4')", "s.is_integer()", "s.bit_length()", "hash(s)", "np.dtype(type(s))",
    "s.__add__(1)", "(lambda q: q * 2)(s)", "np.mean([s, s])", "np.max([s, 1])", "[q * s for q in x]", "list(map(lambda q: q + s, (1, 2)))",
    "sum(q * s for q in x)", "np.expand_dims(s, 0)", "np.full((2,), s, dtype='i4')", "np.asarray(s, 'f4')", "np.divmod(s, 2)", "np.hypot(s, s)",
    "np.logical_not(s)", "np.add.reduce([s, 1, 2])", "np.interp(s, [0, 1, 5], [0, 1, 2])", "np.searchsorted([0, 1, 2], s)",
    "np.digitize(s, [0, 1, 2])", "x[:int(s)]", "np.eye(3)[int(s)]", "'%.1f' % s", "'%s' % s", "format(s, '.1f')", "str([s])",
    "np.array2string(np.array(s))", "math.pow(s, 2)", "math.fmod(s, 2)", "math.isclose(s, 2)", "math.log(s)", "math.gcd(s, 4)", "s.__pow__(2)",
    "s.__round__()", "pow(s, s)", "pow(s, x[1])", "pow(x, s)", "divmod(x, s)", "divmod(s, x[1])", "round(s, 0)", "abs(-s)", "max([s, 3])",
    "min((s, 3), key=lambda q: -q)", "max(s, 1, 2)", "sum([s], 0.5)", "sum([s, x[0]])", "any([s, 0])", "all([s, 1])", "len([s])", "tuple([s])",
    "[*[s]]", "dict(a=s)['a']", "s * True", "s + 1j", "complex(s, 1)", "int(s) + s", "float(s) + s", "str(int(s))", "bool(s) + 1", "s + 'a'", "s[0]",
    "len(s)",
)  # fmt: skip
VALUES = ([1.0, 2.0, 3.0], [-1.0, 2.0, 3.0], [1.0, -2.5, 0.5])


def function(number: str, expression: str) -> Callable[..., Any]:
    source = f"def f(x, v, w, z, b, c):\n    {NUMBERS[number]}\n    return {expression}\n"
    space: dict[str, Any] = {"np": np, "math": math, "operator": operator}
    return defined(f"types, {number}, {expression}", source, space)["f"]  # type: ignore[no-any-return]


def arguments(values: list[float]) -> tuple[np.ndarray, ...]:
    """Vectors of float64, int64, int32, float32, int8 and complex128."""
    ints = np.array([3, 4, 1]), np.array([5, 6, 7], "i4")
    return (
        np.array(values), *ints, np.array([1.5, 2.5, -1.0], "f4"), np.array([100, 3], "i1"), np.array([1 + 2j, 3]),
    )  # fmt: skip


def failure(number: str, expression: str) -> str:
    """How the compiled expression differs from NumPy's, or ''."""
    fn = function(number, expression)
    compiled = fxc.compile(fn)
    for values in VALUES:
        expected = run(fn, arguments(values))
        found, reports = observed(compiled, arguments(values))
        text = next(iter(reports), "") or difference(expected, found)
        if text:
            return f"{number}, {expression}, {values}: {text}"
    return ""


def test_numbers_of_either_type() -> None:
    pairs = list(itertools.product(NUMBERS, EXPRESSIONS))
    random.Random(FIRST).shuffle(pairs)
    found = [failure(*pair) for pair in pairs[:COUNT]]
    assert [text for text in found if text] == []


@pytest.mark.parametrize("expression", ["pow(s, 2)", "np.clip(w, 0, s)", "abs(s)"])
def test_finds(expression: str) -> None:
    """What was wrong once."""
    numbers = "an int or an int64", "a bool of either"
    assert [failure(number, expression) for number in numbers] == ["", ""]
