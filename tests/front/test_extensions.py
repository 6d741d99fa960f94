"""Backends and passes of others: by registration, and by the entry points of installed packages."""

import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.dispatch.backend import BackendIndex
from fxc.dispatch.keys import DispatchKey
from fxc.ir.errors import ExtensionError
from fxc.ir.evaluate import evaluate
from fxc.ir.graph import Graph, Node, Value
from fxc.ops.kernels import kernel_of
from fxc.ops.operators import Operator
from fxc.ops.table import TABLE

ROOT = Path(__file__).resolve().parents[2]
made: list[Any] = []


@pytest.fixture(autouse=True)
def _nothing_stays() -> Iterator[None]:
    yield
    while made:
        made.pop().remove()


def registered(name: str, backend: Any) -> Any:
    made.append(fxc.register_backend(name, backend))
    return made[-1]


seen: list[Graph] = []


def plain(graph: Graph, index: Any, types: Sequence[Any]) -> Callable[..., Any]:
    seen.append(graph)
    return lambda *inputs: evaluate(graph, inputs, kernel_of)


def step(x: Any, y: Any) -> Any:
    x[1:] += y[:-1]
    z = x[::2]
    z *= 2
    return z, y.mean()


def check(**options: Any) -> Any:
    compiled = fxc.compile(step, fullgraph=True, **options)
    for size in (5, 6, 9):
        x, y = np.arange(float(size)), np.arange(float(size)) ** 2
        mine = x.copy()
        (found, mean), (wanted, theirs) = compiled(mine, y), step(x, y)
        assert (found.tolist(), mean) == (wanted.tolist(), theirs)
        assert mine.tolist() == x.tolist()
        assert np.shares_memory(found, mine)
    return compiled


# ------------------------------------------------------------------ backends


def test_a_backend_by_name() -> None:
    handle = registered("plain", plain)
    seen.clear()
    check(backend="plain")
    assert seen
    assert all(node.schema.is_functional for graph in seen for node in graph.nodes)
    compiled = fxc.compile(step, backend="plain")
    handle.remove()
    handle.remove()
    with pytest.raises(ValueError, match=r"one of \('llvm', 'numpy'.*\), not 'plain'"):
        fxc.compile(step, backend="plain")
    registered("plain", plain)
    compiled(np.arange(3.0), np.arange(3.0))


def test_a_backend_that_is_an_index() -> None:
    """What it has no kernel of is decomposed; what has no composite runs by NumPy's kernels."""
    asked: set[str] = set()

    def kernel(op: Operator) -> Any:
        asked.add(op.name)
        return kernel_of(op.name) if op.name in ("add", "multiply", "sum") else None

    index = BackendIndex("few", DispatchKey.CPU, functional=True, kernels=kernel)
    registered("few", index)
    for backend in ("few", index):
        compiled = check(backend=backend)
        nodes = compiled.inspect(np.ones(5), np.ones(5)).decomposed.nodes
        assert all(node.schema.is_functional for node in nodes)
        assert {"sum", "divide"} <= {node.op for node in nodes}
        assert "mean" not in {node.op for node in nodes}
    assert {"add", "mean"} <= asked


def test_a_functional_backend_gets_no_write_of_the_only_decomposition() -> None:
    def shifted(ops: Any, x: Any) -> Any:
        found = ops.copy(x, "K")
        ops.add_(ops.transpose(found, (1, 0)), 1.0)
        return found

    op = fxc.custom_op("test::plus(Array x) -> Array", lambda x: x + 1, meta=lambda x: x.new())
    made.append(op)
    op.register_decomposition(shifted, kind="non_functional")
    kernels = lambda op: None if "::" in op.name else kernel_of(op.name)  # noqa: E731
    registered("pure", BackendIndex("pure", DispatchKey.CPU, functional=True, kernels=kernels))
    compiled = fxc.compile(lambda x: op(x * 2), backend="pure", fullgraph=True)
    x = np.arange(6.0).reshape(2, 3)
    assert compiled(x).tolist() == (x * 2 + 1).tolist()
    nodes = compiled.inspect(x).decomposed.nodes
    assert all(node.schema.is_functional for node in nodes)
    assert "test::plus" not in {node.op for node in nodes}


def test_names_of_backends() -> None:
    registered("plain", plain)
    for name in ("plain", "llvm", "numpy"):
        with pytest.raises(ValueError, match=f"there is a backend {name!r} already"):
            fxc.register_backend(name, plain)
    with pytest.raises(TypeError, match="must be a function or a BackendIndex, not an int"):
        fxc.register_backend("other", 3)
    with pytest.raises(TypeError, match="the name of a backend is a str, not an int"):
        fxc.register_backend(3, plain)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="backend must be a callable"):
        fxc.compile(step, backend=3)  # type: ignore[call-overload]


def test_a_backend_that_raises() -> None:
    def broken(graph: Any, index: Any, types: Any) -> Any:
        raise RuntimeError("no such machine")

    with pytest.raises(ExtensionError, match="the backend 'broken' raises RuntimeError"):
        fxc.compile(step, backend=broken, fullgraph=True)(np.ones(3), np.ones(3))
    registered("theirs", broken)
    with pytest.warns(fxc.CaptureWarning, match="the backend 'theirs' raises RuntimeError") as told:
        fxc.compile(step, backend="theirs")(np.ones(3), np.ones(3))
    assert "bug in fxc" not in str(told[0].message)


def test_a_backend_whose_code_raises() -> None:
    """It is not fxc that has failed; but what NumPy raises, too, is the program's own error."""

    def failing(graph: Graph, index: Any, types: Any) -> Any:
        def run(*inputs: Any) -> Any:
            raise ValueError("no such card")

        return run

    x, text = np.ones(3), "the backend 'failing' raises ValueError.* where NumPy raises nothing"
    with pytest.raises(ExtensionError, match=text):
        fxc.compile(step, backend=failing, fullgraph=True)(x, x)
    with pytest.warns(fxc.CaptureWarning, match=text) as told:
        fxc.compile(step, backend=failing)(x, x)
    assert "report" not in str(told[0].message)
    for options in ({}, {"fullgraph": True}):
        inverse = fxc.compile(lambda x: np.linalg.inv(x), backend=failing, **options)
        with pytest.raises(np.linalg.LinAlgError):
            inverse(np.zeros((2, 2)))


def test_a_backend_that_lacks_an_operator() -> None:
    def lacking(graph: Graph, index: Any, types: Any) -> Any:
        raise fxc.ExportError("plus cannot be exported to toy:\n  add (plus.py:1): no addition")

    def plus(x: np.ndarray) -> np.ndarray:
        return x + 1

    with pytest.raises(fxc.ExportError, match="no addition"):
        fxc.compile(plus, backend=lacking, fullgraph=True)(np.ones(3))
    with pytest.warns(fxc.CaptureWarning, match="no addition") as told:
        assert fxc.compile(plus, backend=lacking)(np.ones(3)).tolist() == [2.0, 2.0, 2.0]
    assert "a bug in fxc" not in str(told[0].message)


# ------------------------------------------------------------------ passes


def doubled(graph: Graph) -> Graph:
    """``multiply(x, 2)`` as ``add(x, x)``."""

    def same(node: Node) -> Node:
        if node.op == "multiply" and getattr(node.args[1], "value", None) == 2:
            return Node(TABLE.schema_of("add"), (node.args[0],) * 2, node.outputs, node.loc)
        return node

    return graph.with_body(replace(graph.body, nodes=tuple(map(same, graph.nodes))))


@pytest.mark.parametrize("backend", ["llvm", "numpy", plain])
def test_passes_run_in_their_order_on_the_functional_graph(backend: Any) -> None:
    order: list[str] = []

    def first(graph: Graph) -> Graph:
        order.append("first")
        assert graph.stage == "functional"
        assert "multiply" in {node.op for node in graph.nodes}
        return doubled(graph)

    def second(graph: Graph) -> Graph:
        order.append("second")
        assert "multiply" not in {node.op for node in graph.nodes}
        return graph

    compiled = check(passes=[first, second], backend=backend)
    assert order[:2] == ["first", "second"]
    assert "multiply" not in str(compiled.inspect(np.ones(5), np.ones(5)).functional)


def _with_results(graph: Graph, change: Callable[[Any], Any]) -> Graph:
    return graph.with_body(replace(graph.body, results=change(graph.body.results)))


def _cut(graph: Graph) -> Graph:
    return graph.with_body(replace(graph.body, nodes=graph.nodes[1:]))


@pytest.mark.parametrize(
    "function, text",
    [
        (lambda graph: 1 / 0, "the pass lost raises ZeroDivisionError"),
        (lambda graph: None, "the pass lost gives a NoneType, not a Graph"),
        (
            lambda graph: _with_results(graph, lambda r: r[1:]),
            "the pass lost gives 1 results, not 2",
        ),
        (lambda graph: _with_results(graph, lambda r: r[::-1]), "gives a result of the type"),
        (lambda graph: replace(graph, signature=None), "with another signature"),
        (
            lambda graph: graph.with_body(
                replace(graph.body, params=(Value("new", graph.inputs[0].type), graph.inputs[1]))
            ),
            "with other inputs",
        ),
    ],
)
def test_a_pass_that_fails_is_named(function: Callable[..., Any], text: str) -> None:
    def lost(graph: Graph) -> Graph:
        return function(graph)  # type: ignore[no-any-return]

    with pytest.raises(ExtensionError, match=text):
        fxc.compile(step, passes=[lost], fullgraph=True)(np.ones(3), np.ones(3))
    x, y = np.ones(3), np.ones(3)
    with pytest.warns(fxc.CaptureWarning, match="the pass lost"):
        found = fxc.compile(step, passes=[lost])(x, y)
    assert found[0].tolist() == [2, 4]


@pytest.mark.parametrize("setting", [True, False])
def test_a_graph_of_a_pass_is_verified(setting: bool) -> None:
    with fxc.config.override(verify_graphs=setting):
        with pytest.raises(ExtensionError, match=r"problems? after the pass _cut"):
            fxc.compile(step, passes=[_cut], fullgraph=True)(np.ones(3), np.ones(3))
        with pytest.warns(fxc.CaptureWarning, match=r"problems? after the pass _cut"):
            fxc.compile(step, passes=[_cut])(np.ones(3), np.ones(3))


def test_passes_without_a_list() -> None:
    for given in (_cut, "name"):
        with pytest.raises(TypeError, match="passes must be a list of passes, not"):
            fxc.compile(step, passes=given)  # type: ignore[call-overload]


def test_dynamic_is_a_bool() -> None:
    with pytest.raises(ValueError, match="dynamic must be True, False or None, not 'yes'"):
        fxc.compile(step, dynamic="yes")  # type: ignore[call-overload]


def test_a_pass_that_writes() -> None:
    def writing(graph: Graph) -> Graph:
        target = next(node for node in graph.nodes if node.op == "add")
        node = Node(TABLE.schema_of("add_"), (target.output, target.output), ())
        return graph.with_body(replace(graph.body, nodes=(*graph.nodes, node)))

    with pytest.raises(ExtensionError, match="the pass writing uses add_, which writes"):
        fxc.compile(step, passes=[writing], fullgraph=True)(np.ones(3), np.ones(3))


def test_what_is_no_pass() -> None:
    with pytest.raises(TypeError, match="not an int"):
        fxc.compile(step, passes=[3])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="no pass 'nobody'; no installed package offers any"):
        fxc.compile(step, passes=["nobody"])


# ------------------------------------------------------------------ packages

PACKAGE = {
    "pyproject.toml": """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "fxc-sample"
version = "1.0"

[tool.setuptools]
packages = ["fxc_sample"]

[project.entry-points."fxc.operators"]
sample = "fxc_sample.operators"
[project.entry-points."fxc.backends"]
sample = "fxc_sample.parts:backend"
failing = "fxc_sample.missing:backend"
[project.entry-points."fxc.passes"]
sample-doubled = "fxc_sample.parts:doubled"
[project.entry-points."fxc.exporters"]
sample = "fxc_sample.parts:ops_of"
""",
    "fxc_sample/__init__.py": "",
    "fxc_sample/operators.py": """
import numpy as np

import fxc

@fxc.custom_op("sample::blur_(Array(a!) x, float weight) -> ()")
def blur(x, weight):
    np.multiply(x, weight, out=x)
""",
    "fxc_sample/parts.py": """
from dataclasses import replace

from fxc.ir.evaluate import evaluate
from fxc.ir.graph import Node
from fxc.ops.kernels import kernel_of
from fxc.ops.table import TABLE

ran = []


def backend(graph, index, types):
    def run(*inputs):
        ran.append(graph.name)
        return evaluate(graph, inputs, kernel_of)

    return run


def doubled(graph):
    def same(node):
        if node.op == "multiply" and getattr(node.args[1], "value", None) == 2:
            return Node(TABLE.schema_of("add"), (node.args[0],) * 2, node.outputs, node.loc)
        return node

    return graph.with_body(replace(graph.body, nodes=tuple(map(same, graph.nodes))))


def ops_of(program, prefix=""):
    return [prefix + node.op for node in program.graph.nodes]
""",
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a package stands that offers an operator, a backend, a pass, an exporter."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site")
    for name, text in PACKAGE.items():
        path = source / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (source / "dist").mkdir()
    build = "import setuptools.build_meta as backend; backend.build_wheel('dist')"
    done = subprocess.run(
        [sys.executable, "-c", build], cwd=source, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = (source / "dist").glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


def run_with(installed: Path, folder: Path, code: str) -> str:
    """What a fresh process prints that has the package."""
    script = folder / "script.py"
    script.write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        env={
            "PYTHONPATH": f"{installed}:{ROOT}",
            "PATH": "/usr/bin:/bin",
            "FXC_VERIFY_GRAPHS": "1",
        },
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_package_adds_an_operator_a_pass_and_a_backend(installed: Path, tmp_path: Path) -> None:
    shown = run_with(
        installed,
        tmp_path,
        """
import numpy as np
import fxc

def f(x):
    x[1:] *= 2
    return x + 1

g = fxc.compile(f, backend="sample", passes=["sample-doubled"], fullgraph=True)
x = np.arange(4.0)
print(g(x).tolist(), x.tolist())
print("multiply" in str(g.inspect(x).functional), "add" in str(g.inspect(x).functional))
from fxc_sample import parts
print(parts.ran)
from fxc_sample.operators import blur

def h(x):
    blur(x[1:], 3.0)
    return x

program = fxc.export(h, np.arange(4.0))
print(program.to("sample", prefix=">"))
program.save("h.fxc")
""",
    )
    assert shown.splitlines() == [
        "[1.0, 3.0, 5.0, 7.0] [0.0, 2.0, 4.0, 6.0]",
        "False True",
        "['f']",
        "['>slice_copy', '>sample::blur_.functional', '>slice_scatter']",
    ]
    loaded = """
import numpy as np
import fxc
program = fxc.load("h.fxc")
x = np.arange(4.0)
print(program(x) is x, x.tolist())
"""
    assert run_with(installed, tmp_path, loaded) == "True [0.0, 3.0, 6.0, 9.0]\n"
    with pytest.raises(
        fxc.FxcError, match=r"needs the custom operator 'sample::blur_\.functional'"
    ):
        fxc.load(tmp_path / "h.fxc")


def test_packages_are_looked_for_only_when_a_name_is_unknown(
    installed: Path, tmp_path: Path
) -> None:
    shown = run_with(
        installed,
        tmp_path,
        """
import sys
import numpy as np
import fxc
handle = fxc.register_backend("mine", lambda graph, index, types: None)
op = fxc.custom_op("own::neg(Array x) -> Array", np.negative)
for backend in ("llvm", "numpy"):
    fxc.compile(lambda x: op(x) + 1, backend=backend, passes=[lambda graph: graph])(np.ones(3))
fxc.compile(lambda x: x, backend="mine")
print("importlib.metadata" in sys.modules, "fxc_sample" in sys.modules)
try:
    fxc.compile(lambda x: x, backend="nobody")
except ValueError as error:
    print(error)
try:
    fxc.compile(lambda x: x, backend="failing")
except fxc.FxcError as error:
    print(type(error).__name__, error.text[:75])
print("fxc_sample" in sys.modules)
""",
    )
    first, unknown, failing, last = shown.splitlines()
    assert first == "False False"
    assert unknown.startswith(
        "FXC0301: backend must be a callable or one of ('llvm', 'numpy', 'mine', 'fai"
    )
    assert failing.startswith(
        "ExtensionError 'failing' of fxc.backends (fxc_sample.missing:backend) cannot be load"
    )
    assert last == "True"


# ------------------------------------------------------------------ exported programs


def test_an_exported_program_with_operators_of_the_users(tmp_path: Path) -> None:
    def scale(x: Any, k: float) -> None:
        x *= k

    op = fxc.custom_op("test::scale_(Array(a!) x, float k) -> ()", scale)
    program = fxc.export(lambda x, k: op(x[1:], k), np.arange(4.0), 2.0, dynamic=True)
    program.save(tmp_path / "scale.fxc")
    for each in (program, fxc.load(tmp_path / "scale.fxc")):
        x = np.arange(5.0)
        each(x, 3.0)
        assert x.tolist() == [0, 3, 6, 9, 12]
    tiny = 2.0**-30  # what looks like roundings, and shows that this has run
    handle = op.register_decomposition(lambda ops, x, k: ops.multiply_(x, ops.add(k, tiny)))
    x = np.arange(5.0)
    program(x, 3.0)
    assert x.tolist() == (np.arange(5.0) * (3.0 + tiny)).tolist()
    handle.remove()
    op.remove()
    with pytest.raises(fxc.FxcError, match=r"needs the custom operator 'test::scale_.functional'"):
        fxc.load(tmp_path / "scale.fxc")


def test_a_program_file_with_a_wrong_operator(tmp_path: Path) -> None:
    op = fxc.custom_op("test::two(Array x) -> Array", np.negative, meta=lambda x: x.new())
    path = tmp_path / "two.fxc"
    fxc.export(lambda x: op(x), np.arange(4.0)).save(path)
    op.remove()
    made.append(fxc.custom_op("test::two(Array x, Array y) -> Array", np.add))
    with pytest.raises(fxc.FxcError, match=r"two.fxc cannot be loaded"):
        fxc.load(path)


# ------------------------------------------------------------------ what backends give


def _counting(x: Any) -> Any:
    x += 1
    return x * 2, x.sum()


@pytest.mark.parametrize(
    "change, text",
    [
        (lambda found: None, r"must give a tuple or list of 3 results, it gives None"),
        (lambda found: found[:2], r"must give a tuple or list of 3 results, it gives 2"),
        (lambda found: [each.astype("f4") for each in found], r"gives f32\[3\] as result"),
        (
            lambda found: [np.zeros(7), *found[1:]],
            r"gives f64\[7\] as result 0, the graph says f64",
        ),
        (lambda found: [found[0], np.zeros(3), found[2]], r"gives f64\[3\] as result 1, .* f64"),
        (lambda found: [None, *found[1:]], r"gives None as result 0, the graph says"),
    ],
)
@pytest.mark.parametrize("dynamic", [True, False])
def test_results_of_a_backend_are_those_of_the_graph(
    change: Callable[..., Any], text: str, dynamic: bool
) -> None:
    def wrong(graph: Graph, index: Any, types: Any) -> Any:
        return lambda *inputs: change(evaluate(graph, inputs, kernel_of))

    x = np.arange(3.0)
    with pytest.raises(ExtensionError, match=f"the backend 'wrong' {text}"):
        fxc.compile(_counting, backend=wrong, fullgraph=True, dynamic=dynamic)(x)
    assert x.tolist() == [0, 1, 2]
    compiled = fxc.compile(_counting, backend=wrong, dynamic=dynamic)
    with pytest.warns(fxc.CaptureWarning, match=f"runs as plain NumPy: the backend 'wrong' {text}"):
        found = compiled(x)
    assert found[0].tolist() == [2, 4, 6]
    assert x.tolist() == [1, 2, 3]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled(x)[1] == 9


def test_a_backend_that_gives_no_function() -> None:
    def nothing(graph: Graph, index: Any, types: Any) -> Any:
        return None

    with pytest.raises(ExtensionError, match="the backend 'nothing' gives a NoneType, not a func"):
        fxc.compile(_counting, backend=nothing, fullgraph=True)(np.ones(3))


def test_sizes_of_a_backends_results_that_are_counted() -> None:
    compiled = fxc.compile(lambda x: x[x > 1] * 2, backend=plain, fullgraph=True, dynamic=True)
    for size in (3, 5):
        assert compiled(np.arange(float(size))).tolist() == [2.0 * k for k in range(2, size)]
