"""Decisions by numbers that change from call to call: two compilations serve all values."""

import numpy as np
import pytest

from tests.compiling import check


def agree(fn, calls, variants):
    """Compare calls with NumPy's, and count the compilations that they take."""
    assert check(fn, *calls).cache_info().variants == variants


def root(a):
    if a == 0:
        return 0.0
    x = a
    while True:
        y = 0.5 * (x + a / x)
        if abs(y - x) < 1e-12 * y:
            return y
        x = y


def relaxed(x, omega, top):
    step = omega if 0 < omega < 2 and omega != 1 else 1.0
    for i in range(len(x)):
        x[i] = step * x[i] if step < top else top
    return x


@pytest.mark.parametrize("kind", [float, np.float64, np.float32, np.int64])
def test_a_number_decides_in_the_graph_once_it_has_changed(kind):
    agree(root, [(kind(value),) for value in (2.0, 7.0, 0.0, 1e6, 3.0)], 2)


def test_conditional_expressions():
    values = [(1.5, 3.0), (1.0, 3.0), (-1.0, 0.5), (9.0, 1.0), (0.5, 0.25)]
    agree(relaxed, [(np.arange(9.0), omega, top) for omega, top in values], 2)


def test_an_array_is_one_or_another():
    def solved(x, theta):
        y = x if theta < 0.5 else x[:2] * theta
        return y.sum() + len(y)

    agree(solved, [(np.arange(9.0), theta) for theta in (0.1, 0.2, 0.7, 0.8)], 2)


def test_a_bool_is_a_constant():
    agree(
        lambda x, flag: x * 2 if flag else x, [(np.ones(3), np.bool_(k % 2)) for k in range(4)], 2
    )


def test_large_polynomials_of_numbers():
    """Beyond where no value of them could leave 64 bits, one compilation serves those that do not."""

    def gain(x, n):
        product = n * (n + 1) * (n + 2)
        return x * (3.0 * n / product), product

    numbers = (2, 3, 1_200_000, 1_200_001, 1_200_007, 1_500_003, 2_000_000)
    agree(gain, [(np.ones(3), n) for n in numbers], 2)
