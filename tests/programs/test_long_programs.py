"""Programs whose loops Python runs for much of the capture: they compile in a time that grows with
their length, or are refused after a fixed amount of work.
"""

import ast
import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.capture import capture as capturing
from fxc.capture.session.session import MOST_NODES, Session
from fxc.ir.errors import CaptureError
from fxc.lowering.nests.program import Param
from tests.outcomes import difference, run

X = np.random.default_rng(0).normal(size=30) * 3


def many_branches(x):
    s = 0
    for i in range(len(x)):
        for k in [1, 2, 3, 4, 5] * 8:
            if x[i] > k:
                s += k
            else:
                s -= 1
    return s


def a_long_sum(x):
    s = 0
    for i in range(len(x)):
        for k in [1, 2, 3] * 200:
            s += k + i
    return s


def indices_from_a_long_sum(x):
    y = np.zeros(100)
    for i in range(3):
        at = 0
        for k in [1, 2] * 20:
            at += k * i
            y[at % 100] += at
    return y


@pytest.mark.parametrize("program", [many_branches, a_long_sum, indices_from_a_long_sum])
def test_long_bodies_of_loops(program: Any) -> None:
    """What is known of numbers was looked for along each way back, of which there are 2**40; or
    along one that is longer than Python's stack.
    """
    compiled = fxc.compile(program, fullgraph=True)
    assert difference(run(program, (X,)), run(compiled, (X,))) == ""
    assert compiled.cache_info().eager_calls == 0


def shortest_way(x):
    best, found = 1e9, None
    for places in itertools.permutations(range(7)):
        length = 0.0
        for i in range(6):
            length += abs(x[places[i]] - x[places[i + 1]])
            if length > best:
                break
        if length < best:
            best, found = length, places
    return best, found


def texts_at_the_end(x):
    s, names = 0.0, []
    for b in [1.5, 2.5, 3.5, 4.5] * 200:
        t = 0.0
        for k in range(len(x)):
            for j in range(3):
                if x[k] > b:
                    t += x[k] * j
        s += t
    for i in range(10):
        for j in range(10):
            names.append(f"{s} {i} {j}")
    return names


@pytest.mark.parametrize("program", [shortest_way, texts_at_the_end])
def test_all_attempts_together_have_a_limit(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them had one of its own: it took many seconds until NumPy ran the program."""
    recorded = [0]

    class Counting(Session):
        def record(self, name: str, *args: Any, **kwargs: Any) -> Any:
            recorded[0] += 1
            return super().record(name, *args, **kwargs)

    monkeypatch.setattr(capturing, "Session", Counting)
    with pytest.raises(CaptureError):
        fxc.compile(program, fullgraph=True)(X)
    assert recorded[0] < MOST_NODES * 1.1


def test_numbers_of_a_long_tuple_are_not_compared_with_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A table of some thousands of numbers took minutes to compile."""
    compared, values = [], tuple(map(float, range(2, 302)))
    equal = Param.__eq__
    monkeypatch.setattr(Param, "__eq__", lambda a, b: compared.append(a) or equal(a, b))
    compiled = fxc.compile(lambda x, values: (x * 2, values), fullgraph=True)
    found, given = compiled(X, values)
    assert np.array_equal(found, X * 2)
    assert given == values
    assert len(compared) < len(values)


def cooling(start, end, factor):
    while start > end:
        yield start
        start *= factor


def accepted(x):
    y = np.sqrt(x * x + 1.0)
    z = y - y.mean()
    for temperature in cooling(1.0, 0.01, 0.98):
        z = np.where(z > temperature, z - temperature, z + 0.01)
        z = z - z.mean()
    w = z * 2 + y
    return w - w.mean()


def test_the_loop_that_makes_a_program_too_large_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the line that the last attempt had come to, of what earlier ones had left."""
    monkeypatch.setattr(fxc.capture.session.session, "MOST_NODES", 600)
    with pytest.raises(CaptureError) as raised:
        fxc.compile(accepted, fullgraph=True)(X)
    split = fxc.compile(accepted)._splitting()
    assert split is not None
    (loop,) = (each for each in split.plan.statements() if isinstance(each.node, ast.For))
    assert split._busiest(raised.value.work, split.plan.body) is loop
    refusal = replace(raised.value.refusal, places=raised.value.refusal.places[:0])
    raised.value.refusal = refusal
    split.refused(raised.value, split.plan.body)
    assert split._is_cut(loop)
    assert split._busiest(raised.value.work, split.plan.body) is None
    compiled = fxc.compile(accepted)
    for _ in range(2):
        assert difference(run(accepted, (X,)), run(compiled, (X,))) == ""
    assert compiled.cache_info().parts == 3
