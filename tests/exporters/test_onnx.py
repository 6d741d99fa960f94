"""Exported models in onnxruntime: values, dtypes, shapes, updated inputs, aliases, the flag."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import fxc
from fxc.ir.errors import ExportError
from tests.exporters.corpus import EXAMPLES, Example
from tests.exporters.onnx_runs import by_name, compare, model_of, outcome
from tests.exporters.refused import ONNX


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_programs_of_the_corpus(example: Example) -> None:
    found = outcome(example)
    if example.name not in ONNX:
        assert found == "equal"
    else:
        assert ONNX[example.name] in found
        assert "cannot be exported to ONNX" in found


def check(function: Any, *calls: tuple[Any, ...], dynamic: bool = False) -> None:
    """Export for the first arguments, and compare with NumPy for all."""
    program = fxc.export(function, *calls[0], dynamic=dynamic)
    model = model_of(program)
    for args in calls:

        def make(args: tuple[Any, ...] = args) -> tuple[Any, ...]:
            return tuple(np.copy(x) if isinstance(x, np.ndarray) else x for x in args)

        text = compare(program, model, function, make)
        assert not text, text


def step(u: Any, v: Any, dt: float) -> Any:
    v -= dt * u
    u[1:] += dt * v[:-1]
    return u[::2], v, (u + v).astype(np.float32)


def test_updated_inputs_are_outputs_that_say_what_they_are(tmp_path: Path) -> None:
    u, v = np.arange(6.0), np.ones(6)
    check(step, (u, v, 0.5), (-u, v, 2.25))
    fxc.export(step, u, v, 0.5).to_onnx(tmp_path / "step.onnx")
    model = onnx.load(tmp_path / "step.onnx")
    assert [each.name for each in model.graph.input] == ["u", "v", "dt"]
    assert [each.name for each in model.graph.output] == [
        "result_0",
        "v_after",
        "result_2",
        "u_after",
    ]


def branches_and_loops(x: Any, n: int, limit: float) -> Any:
    total = 0.0
    for i in range(n):
        if x[i] > limit:
            x[i] = limit
            total += i
        elif x[i] < 0:
            break
    while total > 3:
        total -= 1.5
        x[1:] += 0.5 * x[:-1]
    return total, x.max()


def test_branches_and_loops() -> None:
    x = np.array([0.5, 2.0, 0.25, 3.0, 2.5, 0.125])
    y = np.array([4.0, 2.0, 0.25, -3.0, 2.5, 0.125])
    check(branches_and_loops, (x, 6, 1.0), (y, 6, 1.0), (x, 3, 0.125), (y, 2, 9.0))


def test_products_of_transposed_matrices_and_vectors() -> None:
    """onnxruntime makes one node of the two, which is wrong for vectors."""

    def program(a: Any, b: Any, x: Any) -> Any:
        return a.T @ (a @ x), x @ a.T, b.transpose(0, 2, 1) @ a[:, 0], a.T.dot(a[:, 1])

    random = np.random.default_rng(0)
    a, b, x = (random.integers(-9, 9, shape).astype(float) for shape in ((6, 8), (2, 6, 8), 8))
    check(program, (a, b, x), (a * 2, b + 1, x - 1))


def of_any_size(a: Any, b: Any) -> Any:
    a[1:] -= a[:-1].copy()
    rows = a.reshape(-1, 2)
    picked = b[b > 0.5]
    table = np.zeros((len(b), len(a)), np.int32)
    table[::2, 1::3] = 7
    return rows.sum(axis=1), picked * 2, table, a[::-1], len(a) // 3, np.arange(len(b)) % 3


@pytest.mark.parametrize("sizes", [(6, 5), (8, 9), (20, 2), (2, 40)])
def test_sizes_are_symbols(sizes: tuple[int, int]) -> None:
    def arrays(n: int, m: int) -> tuple[Any, Any]:
        random = np.random.default_rng(n)
        return random.random(n), random.random(m)

    check(of_any_size, arrays(6, 5), arrays(*sizes), dynamic=True)


def test_sizes_have_names() -> None:
    program = fxc.export(lambda a, b: a[:, None] * b, np.ones(3), np.ones(4), dynamic=True)
    session = model_of(program).session
    assert [each.shape for each in session.get_inputs()] == [["a.0"], ["b.0"]]
    assert session.get_outputs()[0].shape == ["a.0", "b.0"]


def without_elements(a: Any, b: Any) -> Any:
    empty = a[:, 2:2]
    wide = np.broadcast_to(b[:1, None], (1, 0))
    a[:, 0:0] = 3.0
    return (
        empty @ empty.T,
        np.dot(empty[None], empty.T[None]),
        wide,
        empty.sum(axis=1),
        empty.cumprod(1),
    )


def test_sizes_of_zero() -> None:
    check(without_elements, (np.ones((2, 3)), np.ones(4)), (np.zeros((2, 3)), np.ones(4)))
    check(
        without_elements, (np.ones((2, 3)), np.ones(4)), (np.ones((5, 4)), np.ones(2)), dynamic=True
    )


def shrinking(x: Any) -> Any:
    while len(x) > 2:
        x = x[1:] + x[:-1]
    return x


def test_sizes_change_in_loops() -> None:
    check(shrinking, (np.arange(7.0),), (np.arange(9.0),), dynamic=True)


def in_containers(state: Any, opts: Any) -> Any:
    first, second = state
    first += opts["rate"] * second
    return {"sum": first + second, "first": first, "name": "x", "row": second[1:]}


def test_arguments_and_results_in_containers() -> None:
    state = (np.arange(4.0), np.ones(4))
    program = fxc.export(in_containers, state, {"rate": 0.5, "kind": "euler"})
    model = model_of(program)
    assert not compare(
        program,
        model,
        in_containers,
        lambda: ((np.arange(4.0), np.ones(4)), {"rate": 0.25, "kind": "euler"}),
    )
    assert [each["name"] for each in model.metadata["inputs"]] == [
        "state_0",
        "state_1",
        "opts_rate",
    ]
    assert model.metadata["fixed"] == [{"argument": "opts['kind']", "value": "'euler'"}]
    assert model.metadata["updates"] == [{"input": "state_0", "output": "state_0_after"}]
    places = {each["place"]: each for each in model.metadata["results"]}
    assert places["result['name']"]["constant"] == "x"
    assert places["result['first']"]["is"] == "state_0"
    assert places["result['row']"]["view_of"] == "state_1"


# ---------------------------------------------------------------- the flag


def indexed(x: Any, i: Any) -> Any:
    x[i] += 1
    return x[i[0]]


def divided(n: int, m: int) -> int:
    return n // m + n % m


def counted(n: int, steps: int) -> int:
    for _ in range(steps):
        n = n * 3 + 1
    return n


def rooted(x: float, y: float) -> float:
    return math.sqrt(x) + math.exp(y)


def solved(a: Any, b: Any) -> Any:
    return np.linalg.solve(a, b)


def waiting(x: Any, i: int) -> Any:
    while x[i] > 0:
        i += 1
    return i


def counting_down(n: int) -> int:
    if n < 1:
        raise ValueError("n")
    steps = 0
    while n != 0:
        n -= 1
        steps += 1
    return steps


_SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])


@pytest.mark.parametrize(
    "function, right, wrong",
    [
        (indexed, (np.zeros(4), np.array([3, -4])), (np.zeros(4), np.array([0, 4]))),
        (indexed, (np.zeros(4), np.array([3, -4])), (np.zeros(4), np.array([-5, 0]))),
        (divided, (7, 2), (7, 0)),
        (divided, (-7, 3), (7, 0)),
        (counted, (5, 9), (5, 60)),
        (rooted, (4.0, 1.0), (-1.0, 1.0)),
        (rooted, (4.0, 1.0), (1.0, 1000.0)),
        (solved, (np.array([[0.0, 2.0], [3.0, 1.0]]), np.ones(2)), (_SINGULAR, np.ones(2))),
        (counting_down, (5,), (-5,)),
        (waiting, (np.array([1.0, 1, 0]), 0), (np.array([1.0, 1, 1]), 0)),
    ],
)
def test_the_flag_is_false_where_python_raises(function: Any, right: Any, wrong: Any) -> None:
    program = fxc.export(function, *right)
    model = model_of(program)
    flag = model.metadata["valid"]
    assert model(by_name(program, function, right))[flag]
    assert not model(by_name(program, function, wrong))[flag]
    assert not compare(
        program,
        model,
        function,
        lambda: [np.copy(x) if isinstance(x, np.ndarray) else x for x in right],
    )


def test_the_flag_is_false_for_arguments_that_the_program_is_not_for() -> None:
    def function(a: Any, b: Any) -> Any:
        return a + b

    program = fxc.export(function, np.ones(3), np.ones(3), dynamic=True)
    model = model_of(program)
    flag = model.metadata["valid"]
    assert model({"a": np.ones(5), "b": np.ones(5)})[flag]
    assert not model({"a": np.ones(1), "b": np.ones(1)})[flag]


def test_a_program_that_cannot_raise_has_no_flag() -> None:
    program = fxc.export(lambda x: x * 2 + 1, np.ones(3))
    assert model_of(program).metadata["valid"] is None


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("function", [lambda z, x: x + 1, lambda z, x: (z, x + 1)])
def test_arguments_that_onnx_has_no_dtype_for_are_refused(function: Any, tmp_path: Path) -> None:
    program = fxc.export(function, np.ones(2, complex), np.ones(2))
    with pytest.raises(ExportError, match="z: ONNX has no dtype complex128"):
        program.to_onnx(tmp_path / "model.onnx")


def test_nothing_is_written_of_what_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    program = fxc.export(lambda x: (np.fft.fft(x), np.linalg.svd(np.outer(x, x))), np.ones(3))
    with pytest.raises(ExportError, match=r"(?s)fourier \(test_onnx.*linalg_svd \(test_onnx"):
        program.to_onnx(path)
    assert not list(tmp_path.iterdir())


def test_a_model_gives_something(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="it gives nothing, and changes nothing"):
        fxc.export(lambda x: None, np.ones(3)).to_onnx(tmp_path / "model.onnx")


def test_an_older_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_text("old")
    fxc.export(lambda x: x * 2, np.ones(3)).to_onnx(path)
    onnx.checker.check_model(onnx.load(path), full_check=True)
    assert [each.name for each in tmp_path.iterdir()] == ["model.onnx"]


def test_without_onnx_the_error_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r'pip install "fxc\[onnx\]"'):
        fxc.export(lambda x: x * 2, np.ones(3)).to_onnx(tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


def test_onnx_is_imported_by_to_onnx_alone() -> None:
    code = "import fxc, sys, numpy as np; fxc.export(np.sin, np.ones(3)); assert 'onnx' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_lines_of_the_program_stand_at_nodes(tmp_path: Path) -> None:
    path = tmp_path / "step.onnx"
    fxc.export(step, np.arange(6.0), np.ones(6), 0.5).to_onnx(path)
    places = {node.doc_string for node in onnx.load(path).graph.node}
    assert f"test_onnx.py:{step.__code__.co_firstlineno + 1}" in places


def test_metadata_say_what_results_are() -> None:
    model = model_of(fxc.export(step, np.arange(6.0), np.ones(6), 0.5))
    assert model.metadata["updates"] == [
        {"input": "u", "output": "u_after"},
        {"input": "v", "output": "v_after"},
    ]
    first, second, third = model.metadata["results"]
    assert (first["place"], first["output"], first["view_of"]) == ("result[0]", "result_0", "u")
    assert first["by"] == "slice([0:6:2])"
    assert (second["output"], second["is"]) == ("v_after", "v")
    assert third["output"] == "result_2"
    assert model.metadata["valid"] is None
