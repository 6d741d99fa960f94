"""Python's complex numbers in native code, and where Python raises, to the last bit."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest

import fxc

PARTS = [0.0, -0.0, 1.0, -1.5, 0.1, 3e200, -1e-200, np.inf, np.nan]
pytestmark = pytest.mark.skipif(
    sys.version_info >= (3, 14), reason="Python 3.14 has other rules, and runs them itself"
)


def _quotients(x, y):
    return x / y, y / (x + 1), x / 3, 2.5 / y, 7 / y


def _powers(x, y):
    return x**0, x**1, x**2, x**3, y**2.0, y**7 + x**16


def _sizes(x, y):
    return abs(x), abs(x * 1j + y)


def _beside_floats(x, y):
    k = np.float64(y.real)
    return x * k, k * x, 1j * k, k * 1j


_ROOT = np.float64(2**0.5)


def _beside_a_known_float(x, y):
    return x / _ROOT, x + _ROOT, y * _ROOT, y - _ROOT, x == _ROOT, (x * 1j) / _ROOT


_TURN = np.complex128(1.2 - 0.3j)


def _beside_a_known_complex(x, y):
    return _TURN * x, x * _TURN, _TURN * np.complex128(y), np.multiply(_TURN, x)


def _outcome(fn, x, y):
    """As text, since zeros have signs; a nan has none."""
    try:
        return repr([(type(each), each) for each in fn(x, y)]).replace("-nan", "nan")
    except ArithmeticError as error:
        return repr(error)


PROGRAMS = [_quotients, _powers, _sizes, _beside_floats, _beside_a_known_float]


@pytest.mark.parametrize("fn", [*PROGRAMS, _beside_a_known_complex])
def test_python_s_bits_and_exceptions(fn):
    compiled = fxc.compile(fn, fullgraph=True)
    for k, parts in enumerate(itertools.product(PARTS, repeat=4)):
        if k % 17 == 0:
            x, y = complex(*parts[:2]), complex(*parts[2:])
            with np.errstate(all="ignore"):
                assert _outcome(compiled, x, y) == _outcome(fn, x, y), (x, y)
    x, y = 0.3 + 0.7j, -1.2 + 0.1j
    calls = compiled.cache_info().eager_calls
    assert _outcome(compiled, x, y) == _outcome(fn, x, y)
    assert not compiled.cache_info().fallbacks
    assert compiled.cache_info().eager_calls == calls


def test_a_loop_of_squares():
    def escapes(c, most):
        z = 0j
        for k in range(most):
            if abs(z) > 2:
                return k, z
            z = z**2 + c / (k + 1)
        return most, z

    compiled = fxc.compile(escapes, fullgraph=True)
    for c in (0.3 + 0.5j, 2 + 2j, -1 + 0.1j):
        assert compiled(c, 60) == escapes(c, 60)
    assert not compiled.cache_info().fallbacks
