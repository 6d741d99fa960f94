"""``argsort`` in native code: by NumPy's own function, so that equal elements come in its order."""

import numpy as np
import pytest

import fxc
from tests.compiling import check
from tests.covering import in_turns
from tests.outcomes import difference, run

RNG = np.random.default_rng(7)
SPECIAL = np.array([np.nan, 1, np.nan, -0.0, 0.0, -np.inf, np.inf, 1])


def agree(fn, *calls, dynamic=None):
    """What is left to NumPy."""
    return dict(check(fn, *calls, times=1, dynamic=dynamic).cache_info().fallbacks)


@pytest.mark.parametrize(("dtype", "dynamic"), in_turns("bBhHiIlLfd", (True, False)))
def test_ties_and_layouts(dtype, dynamic):
    def orders(x, y):
        return (
            np.argsort(x),
            x.argsort(),
            np.argsort(x[::-1]),
            np.argsort(x[::3]),
            np.argsort(y),
            np.argsort(y[:, 2:5], axis=1),
            np.argsort(y[:0]),
            x[np.argsort(x)[2]],
        )

    calls = [
        (RNG.integers(0, high, size).astype(dtype), RNG.integers(0, 5, (size, 9)).astype(dtype))
        for high, size in ((5, 40), (100, 3), (3, 700))
    ]
    assert agree(orders, *calls, dynamic=dynamic) == {}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_values(dtype):
    assert agree(lambda x: (np.argsort(x), np.argsort(-x)), (SPECIAL.astype(dtype),)) == {}


def test_what_is_numpys():
    def orders(x):
        return (
            np.argsort(x, axis=0),
            np.argsort(x.T),
            np.argsort(x, kind="stable"),
            (x > 1).argsort(),
        )

    assert agree(orders, (RNG.random((4, 5)),)) == {"argsort": 3}


def test_windows_in_a_loop():
    """The keys are read where they lie; what the loop writes meanwhile is read anew."""

    def median(x, w):
        for i in range(w - 1, len(x)):
            window = x[i - w + 1 : i + 1]
            x[i] = window[np.argsort(window)[w // 2]]
        return x

    calls = [(RNG.random(size), 5) for size in (30, 5, 12, 200)]
    copies = [(x.copy(), w) for x, w in calls]
    compiled = fxc.compile(median, fullgraph=True)
    for mine, others in zip(calls, copies, strict=True):
        assert difference(run(median, mine), run(compiled, others)) == ""
    assert compiled.cache_info().eager_calls == 0
    assert not compiled.cache_info().fallbacks
