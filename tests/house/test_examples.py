"""The example programs compute what plain NumPy computes; the demo runs them and tells the truth."""

from __future__ import annotations

import copy
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.cli import demo

ROOT = Path(__file__).resolve().parents[2]
SYMBOLIC = ("gray_scott", "black_scholes", "nbody")
CALLS = 3


@pytest.fixture(params=demo.PROGRAMS)
def example(request: pytest.FixtureRequest) -> ModuleType:
    return demo.load_example(request.param)


def difference(plain: Any, compiled: Any, inputs: tuple[Any, ...]) -> float:
    """In ulps, over the last of some calls' results and the inputs after them."""
    expected = demo.outcome(plain, copy.deepcopy(inputs), CALLS)
    return demo.max_ulps(expected, demo.outcome(compiled, copy.deepcopy(inputs), CALLS))


def test_equals_numpy(example: ModuleType) -> None:
    """Bit for bit where only arithmetic is used; else to the bound whose reason the module gives."""
    compiled = fxc.compile(example.PROGRAM, fullgraph=True)
    inputs = example.make_inputs(example.QUICK_SIZE)
    assert difference(example.PROGRAM, compiled, inputs) <= example.MAX_ULPS
    info = compiled.cache_info()
    assert info.eager_calls == 0
    assert info.native_calls == CALLS
    assert info.variants == 1
    assert set(info.fallbacks) <= set(example.FALLBACKS)


@pytest.mark.parametrize("name", SYMBOLIC)
def test_one_variant_serves_all_sizes(name: str) -> None:
    example = demo.load_example(name)
    compiled = fxc.compile(example.PROGRAM, fullgraph=True, dynamic=True)
    for size in (example.QUICK_SIZE, 2 * example.QUICK_SIZE - 5):
        inputs = example.make_inputs(size)
        assert difference(example.PROGRAM, compiled, inputs) <= example.MAX_ULPS
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (1, 0)


def test_inputs_are_the_same_every_time(example: ModuleType) -> None:
    first, second = (example.make_inputs(example.QUICK_SIZE) for _ in range(2))
    assert demo.max_ulps(first, second) == 0


@pytest.mark.parametrize(
    "name, lines",
    [("numpy_backend", 60), ("source_backend", 90), ("onnxruntime_backend", 150)],
)
def test_backends_are_short(name: str, lines: int) -> None:
    assert len((ROOT / "examples" / f"{name}.py").read_text().splitlines()) < lines


@pytest.mark.parametrize("own", ["numpy_backend", "source_backend"])
@pytest.mark.parametrize("name", SYMBOLIC)
def test_backends_equal_numpy(name: str, own: str) -> None:
    """Every operator is NumPy's own kernel, so every bit is."""
    example = demo.load_example(name)
    backend = getattr(demo.load_example(own), own)
    compiled = fxc.compile(example.PROGRAM, fullgraph=True, backend=backend)
    inputs = example.make_inputs(example.QUICK_SIZE)
    assert difference(example.PROGRAM, compiled, inputs) == 0
    assert compiled.cache_info().eager_calls == 0


def test_numpy_backend_writes_in_place() -> None:
    module = demo.load_example("numpy_backend")
    compiled = fxc.compile(module.smooth, fullgraph=True, backend=module.numpy_backend)
    random = np.random.default_rng(0)
    inputs = random.random((7, 9)), random.random((7, 9))
    assert difference(module.smooth, compiled, inputs) == 0


def of_sizes(x: Any) -> Any:
    return x.mean(0) + np.arange(len(x[0])), x[x > 0.5] * 2, np.concatenate([x[1:], x[:1]]).T


def with_a_loop(x: Any) -> Any:
    for i in range(1, len(x)):
        x[i] += 0.5 * x[i - 1]
    return x.var()


@pytest.mark.parametrize("program", [of_sizes, with_a_loop])
def test_source_backend_runs_any_operator(program: Any) -> None:
    backend = demo.load_example("source_backend").source_backend
    compiled = fxc.compile(program, fullgraph=True, dynamic=True, backend=backend)
    for size in (6, 9):
        inputs = (np.random.default_rng(size).random((size, size + 1)),)
        assert difference(program, compiled, inputs) == 0
    assert (compiled.cache_info().variants, compiled.cache_info().eager_calls) == (1, 0)


def test_source_backend_writes_a_function() -> None:
    module = demo.load_example("source_backend")
    compiled = fxc.compile(lambda x, y: np.mean(x * y), backend="numpy")
    graph = compiled.inspect(np.ones(3), np.ones(3)).decomposed
    _, _, *lines = module.text_of(graph, {}).splitlines()
    assert lines[0] == "    v_0 = np.multiply(v_x, v_y)"
    assert " = sum_" in lines[1]
    assert " = np.divide(" in lines[2]


def test_normal_cdf_is_the_normal_distribution() -> None:
    example = demo.load_example("black_scholes")
    points = np.array([-40.0, -8.0, -1.0, 0.0, 1.0, 8.0])
    exact = [
        0.0,
        6.220960574271785e-16,
        0.15865525393145707,
        0.5,
        0.8413447460685429,
        0.9999999999999994,
    ]
    np.testing.assert_allclose(example.normal_cdf(points), exact, rtol=0, atol=3e-16)


@pytest.mark.parametrize(
    "expected, actual, ulps",
    [
        (np.array([1.0, 2.0]), np.array([1.0, 2.0]), 0),
        (np.array([1.0, np.nan]), np.array([1.0, np.nan]), 0),
        (np.array([1.0]), np.array([np.nextafter(1.0, 2.0)]), 1),
        (np.array([1.0, 1e-9]), np.array([1.0, 1e-9 + 2**-52]), 1),
        (np.array([0.0]), np.array([-0.0]), 0.5),
        (np.array([1, 2], np.uint8), np.array([1, 3], np.uint8), 1),
        (np.array([1.0]), np.array([np.nan]), np.inf),
        (np.array([np.inf]), np.array([1.0]), np.inf),
        (np.array([1.0]), np.array([1.0], np.float32), np.inf),
        (np.array([1.0]), np.array(1.0), np.inf),
        (np.float64(1.0), np.array(1.0), np.inf),
        ((np.zeros(2), None), (np.zeros(2), None), 0),
        ((np.zeros(2), np.zeros(2)), (np.zeros(2),), np.inf),
    ],
)
def test_max_ulps(expected: Any, actual: Any, ulps: float) -> None:
    assert demo.max_ulps(expected, actual) == pytest.approx(ulps, rel=1e-6)


def run_demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fxc", "demo", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_demo_writes_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FXC_CACHE", "1")
    monkeypatch.setenv("FXC_CACHE_DIR", str(tmp_path / "cache"))
    process = run_demo("--quick", "--out", str(tmp_path))
    assert not (tmp_path / "cache").exists()  # first calls are those that compile
    assert process.returncode == 0, process.stdout + process.stderr
    for name in demo.PROGRAMS:
        assert name in process.stdout
    assert max(map(len, process.stdout.splitlines())) <= max(100, 4 + len(str(tmp_path)) + 30)
    pictures = {path.stem for path in tmp_path.glob("*.png")}
    assert pictures == {"gray_scott", "black_scholes", "photo", "nbody"}
    dump = (tmp_path / f"{demo.SHOWN}-stages.txt").read_text(encoding="utf-8")
    for stage in demo.STAGES:
        assert f" {stage} " in dump


def test_demo_fails_when_results_differ(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def wrong(function: Any, **options: Any) -> Any:
        return WrongProgram()

    monkeypatch.setattr(fxc, "compile", wrong)
    assert run_in_process("--quick", "--only", "transformer_block", "--out", str(tmp_path)) == 1
    failures = capsys.readouterr().err
    assert "transformer_block: results differ" in failures
    assert "transformer_block: 2 calls ran as plain NumPy" in failures
    assert "transformer_block: operators without a kernel: fft" in failures


class WrongProgram:
    """Stands for a compiler with a bug."""

    variants = 1
    eager_calls = 2
    fallbacks: dict[str, int] = {"fft": 1, "matmul": 1}  # noqa: RUF012

    def __call__(self, x: Any, parameters: Any) -> Any:
        return 2 * x

    def cache_info(self) -> WrongProgram:
        return self


def run_in_process(*arguments: str) -> int:
    from fxc.cli.main import main

    return main(["demo", *arguments])


def test_demo_without_examples(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(demo, "EXAMPLES", tmp_path / "examples")
    assert run_in_process("--out", str(tmp_path / "out")) == 2
    assert "the programs live in the folder `examples`" in capsys.readouterr().err


def test_demo_without_picture_libraries(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "PIL" else find_spec(name)
    )
    assert run_in_process("--out", str(tmp_path / "out")) == 2
    assert 'pip install "fxc[examples]"' in capsys.readouterr().err
