"""``np.fft`` in compiled code: NumPy's bits and memory layouts, without its Python code."""

from __future__ import annotations

import numpy as np
import pytest

import fxc
from fxc.ops.transforms import fourier
from tests.outcomes import difference, run

KINDS = ("fft", "ifft", "rfft", "irfft")


def _arrays(char):
    rng = np.random.default_rng(0)
    for shape in ((8,), (7,), (1,), (3, 6), (1, 6), (6, 1), (2, 3, 5)):
        x = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if char in "FD" else 0)
        x = x.astype(char)
        yield from (x, np.asfortranarray(x), x[..., ::-1], x.T)


@pytest.mark.parametrize("char", "bdfFD")
@pytest.mark.parametrize("kind", KINDS)
def test_the_kernel_is_numpy_s_function(kind, char):
    function = getattr(np.fft, kind)
    for x in _arrays(char):
        for axis in {-1, 0, x.ndim - 1}:
            for n in (None, 5, 12):
                for norm in (None, "ortho"):
                    expected = run(lambda x: function(x, n, axis, norm), [x])  # noqa: B023
                    found = run(lambda x: fourier(x, kind, axis, norm, n), [x])  # noqa: B023
                    assert difference(expected, found) == "", (x.shape, x.strides, axis, n)


@pytest.mark.parametrize("kind", KINDS)
def test_its_python_code_is_not_called(kind, monkeypatch):
    def fn(x):
        total = 0.0
        for row in x:
            total += getattr(np.fft, kind)(row)[1].real
        return total

    x = np.random.default_rng(1).standard_normal((5, 16)) + (0 if kind == "rfft" else 1j)
    expected, compiled = fn(x), fxc.compile(fn, fullgraph=True)
    assert compiled(x) == expected
    import numpy.fft._pocketfft as code

    monkeypatch.setattr(code, "_raw_fft", None)
    assert compiled(x) == expected
