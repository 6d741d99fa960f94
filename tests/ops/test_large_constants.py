"""Large arrays that a program knows: computed by a rule, or behind the table of pointers."""

from typing import Any

import numpy as np
import pytest

import fxc
from fxc.dispatch.bind import bind
from fxc.ir.graph import ArrayConstant, Literal
from fxc.ops.kernels import kernel_of
from fxc.ops.kernels.regular import by_rule
from fxc.ops.table import TABLE


class Computed:
    """What an operator gives, as a value of a graph."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = self.type = array


class Computing:
    """Computes what it is to record, and remembers how many elements stand in tables."""

    def __init__(self) -> None:
        self.tables = 0

    def __call__(self, name: str, *args: Any, **kwargs: Any) -> Any:
        given = [self._known(arg) for arg in bind(TABLE[name], args, kwargs)]
        return Computed(kernel_of(name)(*given))

    def _known(self, arg: Any) -> Any:
        if isinstance(arg, ArrayConstant):
            self.tables += len(arg.data) // arg.dtype.itemsize
        return arg.array if isinstance(arg, Computed) else getattr(arg, "value", arg)


RANGE, TABLE_OF = np.arange(300), np.sqrt(np.arange(30.0))
REGULAR = [
    RANGE * 3 - 7,
    np.linspace(0, 1, 257),
    np.arange(255, -1, -1).astype("u1"),
    np.broadcast_to(RANGE, (4, 300)),
    np.broadcast_to(RANGE[:, None], (300, 9)),
    np.indices((7, 40)),
    np.indices((2, 3, 40)),
    np.full((30, 3), -0.0),
    np.full(40, np.nan),
    np.full((2, 40), 1 - 2j),
    np.ones(40, bool),
    (RANGE / 8).astype("f2"),
]


@pytest.mark.parametrize("number", range(len(REGULAR)))
def test_a_rule_gives_the_same_bits(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fxc.ops.kernels.regular.Value", Computed)
    array, record = REGULAR[number], Computing()
    found: Any = by_rule(array, record)
    assert record.tables == 0
    made = found.array
    assert (made.dtype, made.shape) == (array.dtype, array.shape)
    assert made.tobytes() == array.tobytes()
    assert made.flags.c_contiguous


def test_a_row_is_kept_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fxc.ops.kernels.regular.Value", Computed)
    array, record = np.broadcast_to(TABLE_OF[:, None], (9, 30, 10)), Computing()
    found: Any = by_rule(array, record)
    assert record.tables == 30
    assert found.array.tobytes() == array.tobytes()


ODD = RANGE.copy()
ODD[-1] = 0
OTHERS = [
    TABLE_OF,
    ODD,
    np.array(["a", "b"]),
    np.stack([RANGE, ODD]),
    np.array([np.inf, np.inf, 1.0]),
    np.array([0.0] * 9 + [-0.0]),
    np.arange(2**63, 2**63 + 9, dtype="u8"),
]


@pytest.mark.parametrize("number", range(len(OTHERS)))
def test_no_rule(number: int) -> None:
    assert by_rule(OTHERS[number], lambda *args, **kwargs: Literal(0)) is None


def grid(x: np.ndarray) -> Any:
    i, j = np.indices((90, 120))
    return np.where((i + j) % 2 == 0, x, 0.0), j


def test_what_follows_a_rule_is_no_table() -> None:
    compiled, x = fxc.compile(grid, fullgraph=True), np.ones((90, 120))
    for expected, found in zip(grid(x), compiled(x), strict=True):
        assert np.array_equal(expected, found)
        assert expected.dtype == found.dtype
    stages = compiled.inspect(x)
    assert not any(node.op == "constant" for node in stages.captured.nodes)
    assert "constant c" not in str(stages.loops)


def below(x: np.ndarray) -> Any:
    return np.tri(90, 120) * x


def test_tables_are_not_in_the_text() -> None:
    compiled, x = fxc.compile(below, fullgraph=True), np.ones((90, 120))
    for _ in range(5):  # the last calls are native
        assert np.array_equal(compiled(x), below(x))
    assert len(str(compiled.inspect(x).llvm)) < 10_000


def test_one_number_again_and_again_is_compiled() -> None:
    def both(x: np.ndarray) -> Any:
        return np.array([-0.0] * 9000) * x, np.stack([np.tri(2, 9000, 9000), np.tri(2, 9000, 1)])

    compiled, x = fxc.compile(both, fullgraph=True), np.ones(9000)
    for _ in range(3):
        for expected, found in zip(both(x), compiled(x), strict=True):
            assert found.tobytes() == expected.tobytes()
            found[...] = 7  # it is the caller's
