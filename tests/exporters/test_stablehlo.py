"""Programs as StableHLO, run in XLA: what the caller sees is NumPy's."""

import contextlib
import importlib.util
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.exporters.stablehlo.module import stablehlo_module
from fxc.ir.errors import ExportError
from fxc.ir.graph import ArrayConstant
from tests.exporters.corpus import EXAMPLES, Example
from tests.exporters.in_xla import (
    call_in_xla,
    differences_of,
    differs,
    execute,
    outcome,
    refined,
    results_in,
    results_of,
)
from tests.exporters.refused import STABLEHLO
from tests.lowered import OPS, graph_of
from tests.random_programs import random_program
from tests.sources import ROOT


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_programs_are_equal_in_xla(example: Example) -> None:
    found = outcome(example)
    if example.name in STABLEHLO:
        assert found.startswith(
            f"FXC0102: {example.function.__name__} cannot be exported to StableHLO:\n  "
        )
        assert re.search(rf"\n  {STABLEHLO[example.name]}\d* \(", found)
    else:
        assert found == "equal"


def smooth(u, f):
    v = u[1:-1]
    new = 0.5 * (u[:-2] + u[2:]) - f
    v += new - v
    return u[0]


def test_the_text_of_a_short_program() -> None:
    line = smooth.__code__.co_firstlineno + 1
    text = fxc.export(smooth, np.zeros(6, np.float32), np.zeros(4, np.float32)).to_stablehlo()
    at = [f' loc("test_stablehlo.py":{line + number}:0)' for number in range(4)]
    assert text == EXPECTED.format(*at)


EXPECTED = """\
module @smooth attributes {{fxc.outputs = ["result 0"]}} {{
  func.func public @main(%u: tensor<6xf32> {{tf.aliasing_output = 1 : i32}}, %f: tensor<4xf32>) -> (tensor<f32>, tensor<6xf32> {{fxc.updates = "u"}}) {{
    %0 = stablehlo.slice %u [0:4] : (tensor<6xf32>) -> tensor<4xf32>{1}
    %1 = stablehlo.slice %u [2:6] : (tensor<6xf32>) -> tensor<4xf32>{1}
    %2 = stablehlo.add %0, %1 : tensor<4xf32>{1}
    %t.1 = stablehlo.constant dense<0.5> : tensor<4xf32>{1}
    %3 = stablehlo.multiply %t.1, %2 : tensor<4xf32>{1}
    %4 = stablehlo.subtract %3, %f : tensor<4xf32>{1}
    %5 = stablehlo.slice %u [1:5] : (tensor<6xf32>) -> tensor<4xf32>{2}
    %6 = stablehlo.subtract %4, %5 : tensor<4xf32>{2}
    %7 = stablehlo.add %5, %6 : tensor<4xf32>{2}
    %t.2 = stablehlo.constant dense<1> : tensor<i64>{2}
    %8 = stablehlo.dynamic_update_slice %u, %7, %t.2 : (tensor<6xf32>, tensor<4xf32>, tensor<i64>) -> tensor<6xf32>{2}
    %t.3 = stablehlo.slice %8 [0:1] : (tensor<6xf32>) -> tensor<1xf32>{3}
    %9 = stablehlo.reshape %t.3 : (tensor<1xf32>) -> tensor<f32>{3}
    return %9, %8 : tensor<f32>, tensor<6xf32>
  }}
}}
"""


def test_what_is_refused_is_named_with_its_line() -> None:
    def program(x):
        y = np.spacing(x / 2)
        return np.linalg.svdvals(x[None]), y

    line = program.__code__.co_firstlineno
    with pytest.raises(ExportError) as caught:
        fxc.export(program, np.arange(5)).to_stablehlo()
    assert caught.value.text.splitlines() == [
        "program cannot be exported to StableHLO:",
        f"  spacing (test_stablehlo.py:{line + 1}): StableHLO has no operator for it",
        f"  linalg_svdvals (test_stablehlo.py:{line + 2}): StableHLO has no operator for it",
    ]


def swap_and_grow(x, y):
    x[...], y[...] = y.copy(), x.copy()
    x *= 2
    return y[1:], x


def test_which_input_each_result_updates() -> None:
    program = fxc.export(swap_and_grow, np.zeros(3), np.zeros(3))
    text = program.to_stablehlo()
    assert 'module @swap_and_grow attributes {fxc.outputs = ["view of input 1: slice(' in text
    assert '"input 0"]}' in text
    head = re.search(r"main\((.*)\) -> \((.*)\) {", text)
    assert head is not None
    aliased = re.findall(r"%(\w): tensor<3xf64> {tf.aliasing_output = (\d) : i32}", head[1])
    results = re.findall(r'fxc.updates = "(\w)"', head[2])
    assert [(results[int(number)], name) for name, number in aliased] == [("x", "x"), ("y", "y")]
    x, y = np.arange(3.0), np.arange(3.0, 6.0)
    tail, same = call_in_xla(program, (x, y))
    assert x.tolist() == [6.0, 8.0, 10.0]
    assert y.tolist() == [0.0, 1.0, 2.0]
    assert same is x
    assert np.shares_memory(tail, y)


# ---------------------------------------------------------------- sizes


def grow(n, x):
    made = np.zeros(n)
    made[:3] = x
    return made


def test_an_int_that_is_a_size() -> None:
    program = fxc.export(grow, 5, np.ones(3))
    assert "-> (tensor<?xf64>)" in program.to_stablehlo()
    assert "-> (tensor<7xf64>)" in program.to_stablehlo(sizes={"n": 7})
    with pytest.raises(ValueError, match="grow has no size 'm'; its sizes are: n"):
        program.to_stablehlo(sizes={"m": 7})


def test_sizes_that_the_program_is_not_for() -> None:
    program = fxc.export(lambda x, y: x + y[1:], np.ones(3), np.ones(4), dynamic=True)
    with pytest.raises(ValueError, match=r"is for sizes with .*, and not for x.0 = 5, y.0 = 5"):
        program.to_stablehlo(sizes={"x.0": 5, "y.0": 5})


def test_a_refused_symbol_says_who_takes_numbers() -> None:
    program = fxc.export(lambda x: np.cumsum(x), np.ones(3), dynamic=True)
    with pytest.raises(ExportError, match=r"no number; to_stablehlo\(sizes=\.\.\.\) takes numbers"):
        program.to_stablehlo()
    program.to_stablehlo(sizes={"x.0": 3})


@pytest.mark.parametrize(
    "sizes, kind, text",
    [
        ({"x.0": -3}, ValueError, "the size x.0 of spread must be 2 or more, it is -3"),
        ({"x.0": 1}, ValueError, "the size x.0 of spread must be 2 or more, it is 1"),
        ({"n": 1}, ValueError, "the size n of spread must be 2 or more, it is 1"),
        ({"n": 2**63}, ValueError, "the size n of spread must be less than 2**63, it is"),
        ({"n": 4.7}, TypeError, "the size n of spread must be an int, it is 4.7"),
        ({"n": True}, TypeError, "the size n of spread must be an int, it is True"),
        ({"n": "a"}, TypeError, "the size n of spread must be an int, it is 'a'"),
        (5, TypeError, "sizes are a dict of numbers, such as"),
        (0, TypeError, "sizes are a dict of numbers, such as"),
    ],
)
def test_what_is_no_size_of_the_program(sizes: Any, kind: type[Exception], text: str) -> None:
    def spread(x: np.ndarray, n: int) -> np.ndarray:
        return np.zeros((n, len(x))) + x

    program = fxc.export(spread, np.ones(3), 4, dynamic=True)
    with pytest.raises(kind, match=re.escape(text)):
        program.to_stablehlo(sizes=sizes)
    assert "tensor<2x7xf64>" in program.to_stablehlo(sizes={"x.0": np.int64(7), "n": 2})


def test_results_of_counted_size() -> None:
    def positive(x):
        return x[x > 0], np.nonzero(x > 1)[0]

    program = fxc.export(positive, np.arange(-3.0, 4.0))
    assert "fxc.size_of = [0, 0]" in program.to_stablehlo()
    for x in (np.array([3.0, -1, 2, 0, -5, 1, 0.5]), np.zeros(7), np.full(7, 2.0)):
        for found, expected in zip(call_in_xla(program, (x,)), positive(x), strict=True):
            assert not differs(found, expected, 0)


def of_the_chosen(A, x):
    m = A[:, x > 0]
    v = x[x > 0]
    pairs = np.stack([v, v * v], axis=1)
    return (
        v[1:], len(v[1:]), m.mean(), m.max(axis=1), m.argmin(axis=1), v.argmax(), np.sort(v), v.cumsum(), m @ v, v @ v,
        v.std(), pairs, (pairs > 1).all(axis=0), len(v), m.T[:, 1], np.where(v > 1, v, -v).min(),
    )  # fmt: skip


def put_where_chosen(A, x):
    found = np.nonzero(x > 0)[0]
    A[0, found] = x[found] * 2
    A[1][x > 1] = A[2][x > 1] - 1
    A[2, : len(found)] += 1
    np.add.at(A[2], found, 1.0)


@pytest.mark.parametrize("function", [of_the_chosen, put_where_chosen])
@pytest.mark.parametrize("least", [-2.0, 0.1, 1.5])
def test_what_is_nobodys_is_left_out(function: Callable[..., Any], least: float) -> None:
    """Arrays of counted size are held in larger ones, whose other elements nothing may see."""
    rng = np.random.default_rng(3)
    A, x = rng.standard_normal((3, 9)), rng.standard_normal(9) + least
    x[4] = 0.5 + abs(least)
    assert differences_of(function, lambda: (A.copy(), x.copy())) == ""


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.linalg.inv(np.outer(x[x > 0], x[x > 0]) + np.eye(len(x[x > 0]))),
        lambda x: np.cumsum(np.outer(x[x > 0], x[x > 0])),
        lambda x: np.concatenate([x[x > 0], x]),
        lambda x: x[x > 0][::-1] + 1,
        lambda x: np.outer(x, x[x > 0]).ravel() + 1,
    ],
)
def test_what_would_see_it_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(ExportError, match="change"):
        fxc.export(function, np.arange(-2.0, 4.0)).to_stablehlo()


def steps(u, k):
    for _ in range(k):
        u[1:-1] += 0.25 * (u[:-2] + u[2:] - 2 * u[1:-1])
    return u.sum(), u[::-1], u[2:].copy()


def rows(a, b):
    a -= a.mean(axis=0)
    scores = a @ b
    return np.where(scores > 0, scores, 0.0), a.T, scores.max(axis=1, keepdims=True)


def pieces(a, b):
    return np.concatenate([a[0], b[:, 1]]), a.reshape(-1)[::2], np.arange(len(b)) + b[:, 0]


def ends(a, b):
    for i in range(len(a)):
        b[i] += a[i, ::-1].sum()
    a[:, 0] = b
    return np.argmax(a, axis=1), np.abs(a).min()


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (steps, [((6,), 3), ((11,), 2)]),
        (rows, [((4, 3), (3, 5)), ((7, 2), (2, 6))]),
        (pieces, [((4, 3), (5, 2)), ((2, 6), (3, 4))]),
        (ends, [((4, 3), (4,)), ((5, 3), (5,))]),
    ],
)
def test_question_marks(function: Callable[..., Any], shapes: list[tuple[Any, Any]]) -> None:
    """One text for all sizes: XLA's tools put numbers in the place of question marks."""
    rng = np.random.default_rng(1)
    made = [[rng.random(s) if isinstance(s, tuple) else s for s in pair] for pair in shapes]
    program = fxc.export(function, *made[0], dynamic=True)
    text = program.to_stablehlo()
    assert "tensor<?x" in text
    for args in made:
        inputs = program._inputs(tuple(args), {})
        static = refined(text, [np.shape(x) for x in inputs])
        given = [np.asarray(x) for x in inputs]
        results = results_of(program.graph, text, execute(static, given))
        expected_args = [np.copy(x) if isinstance(x, np.ndarray) else x for x in args]
        expected = function(*expected_args)
        for leaf, value in zip(program.signature.outputs, expected, strict=True):
            number = getattr(leaf, "result", None)
            if number is not None:
                assert not differs(results[number], value, 1e-13)
        for mutation in program.signature.mutations:
            assert not differs(results[mutation.result], expected_args[mutation.input], 1e-13)


def diagonals(a):
    kept = np.diagonal(a, 1).copy()
    np.fill_diagonal(a, kept.sum())
    return kept, np.diagonal(a, -1) * 2, np.trace(a)


@pytest.mark.parametrize("shape", [(4, 5), (6, 3), (2, 2)])
def test_diagonals_of_sizes_that_are_given(shape: tuple[int, int]) -> None:
    program = fxc.export(diagonals, np.ones((4, 5)), dynamic=True)
    a = np.random.default_rng(2).random(shape)
    expected = a.copy()
    for mine, numpys in zip(call_in_xla(program, [a]), diagonals(expected), strict=True):
        assert not differs(mine, numpys, 1e-13)
    assert not differs(a, expected, 1e-13)


# ---------------------------------------------------------------- text


def operations(function: Callable[..., Any], *args: Any) -> list[str]:
    return re.findall(r"= stablehlo\.(\w+)", fxc.export(function, *args).to_stablehlo())


def test_what_is_known_makes_the_text_short() -> None:
    x = np.arange(4)
    named = ["constant", "remainder", "constant", "compare", "add", "select"]
    assert operations(lambda x: x % 3, x) == named
    assert operations(lambda x: x << 2, x) == ["constant", "shift_left"]
    assert len(operations(lambda x, y: x % y, x, x)) > 10
    assert operations(lambda x: (x + 1) * (x + 1) - 1, x) == [
        "constant", "add", "multiply", "subtract",
    ]  # fmt: skip


def test_constants() -> None:
    """Arrays of many elements are bytes in the text, numbers of all kinds are read back."""
    tables = [
        np.arange(300.0) / 7, np.arange(300) % 2 == 0, np.arange(300, dtype=np.uint8),
        np.arange(300) * (1 + 2j), np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324, 1e300]),
        np.array([0.1, 3e38, 1e-20], np.float32), np.array([1.5 - np.inf * 1j, np.nan]),
        np.zeros((2, 0)), np.array([[True, False]]), np.array([2**64 - 1, 0], np.uint64),
        np.array([0.1, 60000.0], np.float16),
    ]  # fmt: skip

    def made(x):
        return {f"r{n}": OPS.constant(ArrayConstant.of(t)) for n, t in enumerate(tables)}

    graph = graph_of(made, [np.ones(2)])
    found = results_in(graph, stablehlo_module(graph, {}), [np.ones(2)])
    assert [x.tobytes() for x in found] == [x.tobytes() for x in tables]


def test_the_order_of_complex_scalars() -> None:
    """MLIR has none: their parts are compared."""

    def program(z):
        return z[0] < z[1], z[0] >= z[1], z[0] > 1j, z[0] == z[1], 2 * z[0] <= z[1]

    for z in (np.array([1 + 2j, 1 + 3j]), np.array([complex(np.inf, np.nan), 2j])):
        found = call_in_xla(fxc.export(program, z), (z,))
        assert [bool(x) for x in found] == [bool(x) for x in program(z)]


def test_names_that_mlir_does_not_know() -> None:
    def program(größe, t):
        α = größe + t
        größe *= α
        return α

    args = (np.arange(2.0), 0.5)
    assert call_in_xla(fxc.export(program, *args), args)[0].tolist() == [0.5, 1.5]
    assert args[0].tolist() == [0.0, 1.5]


def test_what_raises_in_numpy() -> None:
    """As docs/export.md has it."""

    def program(x, i, v):
        y = x.copy()
        y[i[0]] = -1.0
        z = x.copy()
        z[i] = -2.0
        return x[i[0]], x[i], y, z, v ** (v - 3), np.linalg.inv(np.outer(x, x)).sum()

    args = (np.arange(3.0), np.array([7, 1]), np.array([2, 4]))
    found = call_in_xla(fxc.export(program, *args), args)
    expected = (2.0, [2.0, 1.0], [0.0, 1.0, -1.0], [0.0, -2.0, 2.0], [1, 4])
    assert [np.asarray(x).tolist() for x in found[:5]] == [np.asarray(x).tolist() for x in expected]
    assert not np.isfinite(found[5])


# ---------------------------------------------------------------- random programs


@pytest.mark.parametrize("first", [0, 100, 200])
def test_random_programs(first: int) -> None:
    """Views, writes, branches and loops on random layouts and dtypes."""
    texts = []
    for seed in range(first, first + 12):
        function, make = random_program(seed, overlap=False).load()
        try:
            function(*make())
        except Exception:
            continue
        with contextlib.suppress(fxc.CaptureError, ExportError):
            texts.append(f"{seed} {differences_of(function, make)}")
    assert len(texts) > 6
    assert [text for text in texts if not text.endswith(" ")] == []


# ---------------------------------------------------------------- a backend


@pytest.fixture(scope="module")
def jax_example() -> ModuleType:
    path = Path(__file__).parents[2] / "examples" / "jax_backend.py"
    assert len(path.read_text().splitlines()) < 150
    spec = importlib.util.spec_from_file_location("jax_backend", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_backend_runs_functions_that_write(jax_example: ModuleType) -> None:
    def step(u, k, mask):
        for _ in range(k):
            u[1:-1] += 0.25 * (u[2:] + u[:-2] - 2 * u[1:-1])
        mask[u < 0.5] = False
        return u[1:3], u[mask], u, int(k) + 1

    compiled = fxc.compile(step, backend=jax_example.jax_backend, fullgraph=True)
    for size, count in ((8, 3), (9, 2), (10, 4)):
        u = np.random.default_rng(size).random(size)
        mask = np.ones(size, bool)
        expected_u, expected_mask = u.copy(), mask.copy()
        expected = step(expected_u, count, expected_mask)
        found = compiled(u, count, mask)
        assert [differs(*pair, 1e-14) for pair in zip(found, expected, strict=True)] == [""] * 4
        assert not differs(u, expected_u, 1e-14)
        assert not differs(mask, expected_mask, 0)
        assert found[2] is u
        assert np.shares_memory(found[0], u)
    assert compiled.cache_info().eager_calls == 0


def test_the_example_backend_names_what_it_lacks(jax_example: ModuleType) -> None:
    compiled = fxc.compile(np.linalg.svdvals, backend=jax_example.jax_backend, fullgraph=True)
    with pytest.raises(fxc.CaptureError, match="linalg_svdvals"):
        compiled(np.eye(2))


def test_the_recipe_of_the_page_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs/export.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (block,) = (each for each in blocks if "compile_and_load" in each)
    path = tmp_path / "recipe.py"  # capture reads the source of the function
    path.write_text(block, encoding="utf-8")
    exec(compile(block, str(path), "exec"), {"__name__": "recipe"})


def test_sizes_without_a_bound_are_refused_at_once() -> None:
    """They were held in tensors of 2**30 elements."""

    def butterflies(x: np.ndarray) -> np.ndarray:
        h = len(x) // 2
        while h >= 1:
            x[:h] += np.exp(np.arange(h) / h)
            h //= 2
        return x

    program = fxc.export(butterflies, np.ones(16))
    with pytest.raises(
        fxc.ExportError, match=r"arange \(.*: the size \w+ changes while the .* bound"
    ):
        program.to_stablehlo()
