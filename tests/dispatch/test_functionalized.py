"""fxc.functionalize: a pure function, run by NumPy."""

from __future__ import annotations

import itertools
import types

import numpy as np
import pytest

import fxc


def relax(u, f):
    v = u[1:-1]
    v += 0.5 * (u[:-2] + u[2:] - f)
    return u, v, u.max()


def test_results_are_those_of_the_function_and_nothing_is_changed() -> None:
    u, f = np.arange(6.0) ** 2, np.ones(4)
    before = u.copy()
    (same, view, highest), changed = fxc.functionalize(relax)(u, f)
    np.testing.assert_array_equal(u, before)
    expected = relax(u, f)
    np.testing.assert_array_equal(same, u)
    np.testing.assert_array_equal(view, u[1:-1])
    assert highest == expected[2]
    assert list(changed) == ["u"]
    assert changed["u"] is same  # the array that the function returns
    assert view.base is same
    assert not np.shares_memory(same, u)


def test_what_is_not_written_is_handed_on() -> None:
    x = np.ones(3)
    result, changed = fxc.functionalize(lambda x: x)(x)
    assert result is x
    assert changed == {}


def test_new_contents_have_the_names_of_what_is_written() -> None:
    state = types.SimpleNamespace(u=np.zeros(2))

    def step(xs, by):
        xs[1][0] += 1.0
        by["k"][...] = 2.0
        state.u += 3.0

    xs, by = [np.zeros(2), np.zeros(2)], {"k": np.zeros(1)}
    result, changed = fxc.functionalize(step)(xs, by)
    assert result is None
    assert {name: array.tolist() for name, array in changed.items()} == {
        "xs[1]": [1.0, 0.0],
        "by['k']": [2.0],
        "state.u": [3.0, 3.0],
    }
    assert not state.u.any()


def test_layouts_are_kept() -> None:
    def add(x):
        x += 1.0

    _, changed = fxc.functionalize(add)(np.zeros((3, 4)).T)
    assert changed["x"].flags.f_contiguous


def test_another_kind_of_argument_is_captured_anew() -> None:
    pure = fxc.functionalize(relax)
    for size in (6, 9):
        u, f = np.arange(float(size)), np.zeros(size - 2)
        (_, _, highest), _ = pure(u, f)
        assert highest == relax(u, f)[2]


def test_the_graph_can_be_read() -> None:
    graph = fxc.functionalize(relax).graph(np.arange(6.0), np.ones(4))
    assert graph.stage == "functional"
    assert "%u := result" in str(graph)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_what_was_overwritten_from_another_layout_adds_in_its_own_order(order) -> None:
    """In the graph the sum is of the Fortran-ordered quotient; in NumPy it is of ``a``."""

    def overwritten(a):
        a[0:] = a[0:].copy("F") / 3
        return a[0:].sum()

    def array():
        base = np.random.default_rng(5).standard_normal((4, 2, 4, 4)).astype("f4")
        return base[::2, ::-1, :, ::-1].transpose(order)

    assert fxc.functionalize(overwritten)(array())[0] == overwritten(array())


def test_what_cannot_be_captured_is_refused() -> None:
    def choose(x):
        return x if x.sum() > 0 else -x

    with pytest.raises(fxc.CaptureError, match="a result that is one array in one case"):
        fxc.functionalize(choose)(np.ones(3))
    with pytest.raises(TypeError, match="takes a function"):
        fxc.functionalize(3)  # type: ignore[arg-type]


def test_errors_are_those_of_numpy() -> None:
    def wrong(x):
        x += np.ones(5)

    with pytest.raises(ValueError, match="non-broadcastable"):
        fxc.functionalize(wrong)(np.ones(1))


def test_the_compiled_function_is_looked_through() -> None:
    pure = fxc.functionalize(fxc.compile(relax))
    u, f = np.arange(6.0), np.ones(4)
    np.testing.assert_array_equal(pure(u, f)[1]["u"], relax(u, f)[0])
    assert pure.__name__ == "relax"
