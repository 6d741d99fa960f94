"""What a split function calls: classes, objects, methods and recursion that are split in turn."""

import numpy as np
import pytest
from scipy import integrate, optimize

import fxc
from tests.splitting import compared, unknown


class Layer:
    def __init__(self, u, n, *, scale=1.0):
        weights = np.sqrt(u * u + n) * scale
        unknown(n)
        self.weights = weights * 2 + u
        self.n = n

    def __call__(self, u):
        v = u * self.weights + self.n
        unknown(v)
        return v * 2 + u


class Thin(Layer):
    pass


class Wrong:
    def __init__(self, u):
        v = u * 2 + 1
        unknown(v)
        self.v = v * v + u
        return v.size


def made_and_called(u, n):
    layer = Layer(u, n, scale=2.0)
    thin = Thin(u, n)
    return layer(u) + 1, layer.weights, type(thin).__name__, thin(u * 2 + 1)


def wrongly_made(u, n):
    try:
        Wrong(u)
    except TypeError as error:
        return str(error), u * 2 + 1
    try:
        Layer(u)
    except TypeError as error:
        return str(error)


def halves(u, depth):
    m = u > u.mean()
    if depth == 0 or m.all() or not m.any():
        unknown(depth)
        return [float(np.sqrt(u * u + 1).sum())]
    return [depth, halves(u[m] * 2 + 1, depth - 1), halves(u[~m] * 3 - 1, depth - 1)]


def recursive(u, n):
    return halves(u, n), u * 2 + n


class Tree:
    def __init__(self, most):
        self.most = most

    def fit(self, u):
        self.root = self.grow(u, 0)
        return self

    def grow(self, u, depth):
        v = np.sqrt(u * u + depth)
        if depth == self.most:
            return unknown(float(v.sum() * 2))
        return {"low": self.grow(v[::2] + 1, depth + 1), "high": self.grow(v[1::2] * 2, depth + 1)}


def by_methods(u, n):
    tree = Tree(min(n, 3)).fit(u)
    return tree.root, u * 2 + 1


def plus(u):
    v = np.sqrt(u * u + 1) + np.sqrt(u * u)
    return v * 2 + u * v


def minus(u):
    v = np.sqrt(u * u + 2) - np.abs(u)
    unknown(v)
    return v * 3 - u * v


def small(u):
    return u


TABLE = {"plus": plus, "minus": minus, "small": small, "again": plus}


def one_or_another(u, n):
    return {name: f(u) for name, f in TABLE.items()}, TABLE["minus"](u * n)


class Pipeline(list):
    def run(self, u):
        for f in self:
            u = f(u) * 0.5 + u
        return u, u * 2 + 1


def of_a_list(u, n, pipeline):
    v, w = pipeline.run(u)
    return v * w + n


def sorted_by_parts(u):
    if len(u) <= 1:
        return u
    low = sorted_by_parts(u[u < u[0]])
    same = u[u == u[0]]
    high = sorted_by_parts(u[u > u[0]])
    return np.concatenate([low, same, high])


def test_a_recursion_that_data_end_is_refused_once():
    """It was captured down to Python's limit, and then again for the second call."""
    u = np.random.default_rng(0).random(20)
    with pytest.warns(fxc.CaptureWarning, match="as deep as the elements of arrays say") as said:
        assert fxc.compile(sorted_by_parts)(u).tolist() == sorted(u)
    assert len({str(each.message) for each in said}) == 1


def halved(u, count):
    return halved(u * 0.5, count - 1) if u[0] > 1 and count > 0 else u + count


def test_a_recursion_that_data_and_a_number_end_is_captured():
    compiled, u = fxc.compile(halved, fullgraph=True), np.linspace(900.0, 2.0, 5)
    assert all(compiled(u, n).tolist() == halved(u, n).tolist() for n in (12, 3, 12))


PROGRAMS = [made_and_called, wrongly_made, recursive, by_methods, one_or_another]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_what_is_called_is_split_in_turn(program):
    compared(program, lambda: (np.linspace(-1.0, 1.0, 40), 5))


def test_a_method_of_an_argument_that_no_graph_takes():
    compared(of_a_list, lambda: (np.linspace(-1.0, 1.0, 40), 5, Pipeline([plus, minus, small])))


def decay(y, t, rate):
    v = np.sqrt(y * y + 1) * rate
    return -v * y + np.abs(y - v) * 0.5


class Model:
    def __init__(self, rate):
        self.rate = rate

    def slope(self, y, t):
        return decay(y, t, self.rate)

    def run(self, y, times):
        return integrate.odeint(self.slope, y, times)


def with_callbacks(u, n):
    times = np.linspace(0.0, 1.0, n)
    found = integrate.odeint(decay, u[:3] + 1, times, args=(0.5,))
    return found * 2 + 1, Model(0.25).run(u[:2], times) * 2


def with_inner_callbacks(u, n):
    roots = []
    for k in range(n):
        w = u * k + 1

        def residual(x):
            return x * x * (w @ w) + np.abs(w * x).sum() - n - 1  # noqa: B023

        roots.append(optimize.brentq(residual, 0.0, 9.0))
        shifted = lambda x: residual(x) * k + x * 2 - 0.5  # noqa: B023, E731
        roots.append(optimize.brentq(shifted, 0.0, 9.0))
    return roots, u * 2 + 1


def with_a_callback_that_raises(u, n):
    def residual(x):
        if x > 2:
            raise KeyError(float(x))
        return x * x * (u @ u) - np.abs(u).sum() * n

    try:
        return optimize.brentq(residual, 0.0, 8.0)
    except KeyError as error:
        return str(error), u * 2 + 1


@pytest.mark.parametrize(
    "program",
    [with_callbacks, with_inner_callbacks, with_a_callback_that_raises],
    ids=lambda each: each.__name__,
)
def test_functions_that_scipy_calls_are_compiled(program):
    compiled = compared(program, lambda: (np.linspace(-1.0, 1.0, 40), 5), parts=0)
    if program is with_callbacks:
        assert compiled.cache_info().part_calls > 40


def test_a_call_alone_is_a_part():
    """As it may do a lot."""

    def f(u, n):
        v = plus(u)
        unknown(n)
        return v

    compared(f, lambda: (np.linspace(-1.0, 1.0, 40), 5))


def test_functions_that_a_comprehension_calls_count_as_parts():
    def f(u, n):
        return {name: g(u) for name, g in TABLE.items()}

    info = compared(f, lambda: (np.linspace(-1.0, 1.0, 40), 5)).cache_info()
    assert info.parts >= 3  # plus, and two of minus
    assert info.part_calls >= 14
