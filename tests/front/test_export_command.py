"""``python -m fxc export``: what it writes, where arguments come from, errors and exit codes."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pytest

import fxc
from fxc.cli.given_function import add_call, call_of
from fxc.exported.program import ExportedProgram
from tests.exporters.test_numpy_source import loaded

FILE = '''\
import numpy as np; import fxc

SIZE = 6


def step(u, rate):
    """A step.

    >>> u = np.arange(SIZE) * 1.0
    >>> step(u, rate=0.5)
    """
    u[1:-1] += rate * (u[:-2] - u[2:])
    return u


def bare(x):
    return x + 1


def wrong(x):
    """
    >>> wrong(nothing)
    """


def printed(x):
    """
    >>> printed(np.ones(3))
    """
    open(x)


def raises(x):
    raise RuntimeError("no")


def casts(x):
    x += 0.5


def fits(x, y):
    return x + y


class Box:
    def go(self, x):
        return x

    @fxc.compile
    def fast(self, x):
        return x
'''


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "heat_of_this_test.py"
    path.write_text(FILE)
    return str(path)


def run(*arguments: str) -> int:
    from fxc.cli.main import main

    return main(["export", *arguments])


def test_examples_of_the_docstring_say_the_types(file: str, tmp_path: Path) -> None:
    out, saved = tmp_path / "out.py", tmp_path / "step.fxc"
    assert run(f"{file}:step", "--numpy", str(out), "--save", str(saved)) == 0
    u, v = np.arange(6.0), np.arange(6.0)
    assert loaded(out.read_text())(u, rate=0.25) is u
    fxc.load(saved)(v, rate=0.25)
    assert u.tolist() == v.tolist() != np.arange(6.0).tolist()


def test_arguments_by_a_spec_with_an_open_size(file: str, tmp_path: Path) -> None:
    out = tmp_path / "out.py"
    assert run(f"{file}:bare", "--args", "f32[n, 3]", "--numpy", str(out)) == 0
    found = loaded(out.read_text())(np.zeros((5, 3), np.float32))
    assert (found.dtype, found.shape) == (np.dtype("f4"), (5, 3))


def test_dtypes_have_numpys_names_too(file: str, tmp_path: Path) -> None:
    made = []
    for number, name in enumerate(("c64", "complex64")):
        out = tmp_path / f"out{number}.py"
        assert run(f"{file}:bare", "--args", f"{name}[4]", "--numpy", str(out)) == 0
        made.append(out.read_text())
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("spec", "args", "kwargs", "is_open"),
    [
        ("f64[], 'a, b'", (np.ones(()), "a, b"), {}, False),
        ("'f64[n], f64[]', [1e3]", ("f64[n], f64[]", [1e3]), {}, False),
        (
            "f64[n, 3], y=-2.5, z=f32[n]",
            (np.ones((8, 3)),),
            {"y": -2.5, "z": np.ones(8, "f4")},
            True,
        ),
        (
            "((1, 2), 3), {'a': 1, 'b': 2}, 1+2j,",
            (((1, 2), 3), {"a": 1, "b": 2}, 1 + 2j),
            {},
            False,
        ),
    ],
)
def test_arguments_by_a_spec(
    spec: str, args: tuple[object, ...], kwargs: dict[str, object], is_open: bool, tmp_path: Path
) -> None:
    path = tmp_path / "takes.py"
    path.write_text("def takes(*args, **kwargs): ...", encoding="utf-8")
    parser = argparse.ArgumentParser()
    add_call(parser)
    call = call_of(parser.parse_args([f"{path}:takes", "--args", spec]))
    np.testing.assert_equal((call.args, call.kwargs, call.is_open), (args, kwargs, is_open))


def test_text_goes_to_the_screen(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"{file}:bare", "--args", "i64[4]", "--numpy", "-") == 0
    assert "def bare(x):" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, status, text",
    [
        (["{}:step"], 2, "say what to write: --numpy, --save, "),
        (["{}", "--numpy", "-"], 2, "has no function"),
        (["step", "--numpy", "-"], 2, "is not FILE:FUNCTION, as in heat.py:step"),
        (["no.py:step", "--numpy", "-"], 2, "there is no file no.py"),
        (
            ["{}:stop", "--numpy", "-"],
            2,
            "has no function stop; it has step, bare, wrong, printed, raises, casts, fits\n",
        ),
        (
            ["{}:bare", "--numpy", "-"],
            2,
            'bare has no example in its docstring, such as ">>> bare(',
        ),
        (["{}:wrong", "--numpy", "-"], 2, "the example 'wrong(nothing)' of wrong fails: NameError"),
        (["{}:bare", "--numpy", "-", "--args", "f65[3]"], 2, "there is no dtype f65; bool, i8,"),
        (["{}:bare", "--numpy", "-", "--args", "f64[3"], 2, "is neither an array"),
        (["{}:bare", "--numpy", "-", "--args", "f64[3:4]"], 2, "is no size and no name of one"),
        (["{}:bare", "--numpy", "-", "--args", "f64[999999999999999999]"], 2, "Unable to allocate"),
        (["{}:bare", "--numpy", "-", "--args", "1) + (2"], 2, "is neither an array"),
        (["{}:bare", "--numpy", "-", "--args", "**{'x': 1}"], 2, "is neither an array"),
        (["{}:bare", "--numpy", "-", "--args", "{[]: 1}"], 2, "is neither an array"),
        (["{}:printed", "--numpy", "-"], 1, "cannot be exported: "),
        (["{}:step", "--save", "-"], 2, "--save takes the name of a file or folder, not -"),
        (["{}:step", "--object", "-"], 2, "--object takes the name of a file or folder, not -"),
        (["{}:step", "--numpy", "-", "--size", "u.0=6"], 2, "--size is for --stablehlo"),
        (["{}:step", "--stablehlo", "-", "--size", "u.0"], 2, "'u.0' is not NAME=NUMBER"),
        (["{}:step", "--stablehlo", "-", "--size", "u.0=6"], 1, "step has no size 'u.0'"),
        (["{}:step", "--numpy", "/no/folder/x.py"], 2, "/no/folder/x.py cannot be written"),
    ],
)
def test_errors_say_what_to_do(
    file: str, arguments: list[str], status: int, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [each.replace("{}", file) for each in arguments]
    if arguments == ["{}", "--numpy", "-"]:
        given[0] = f"{file}:"[:-1] + ":nothing"
    assert run(*given) == status
    assert text in capsys.readouterr().err


@pytest.mark.parametrize(
    "name, spec, status, text",
    [
        ("fits", "f64[3]", 2, "missing a required argument: 'y'; its parameters are fits(x, y)"),
        ("fits", "1, 2, 3", 2, "too many positional arguments; its parameters are fits(x, y)"),
        ("fits", "", 2, "missing a required argument: 'x'; its parameters are fits(x, y)"),
        ("Box", "f64[3]", 2, "is a class; give a function"),
        ("Box.go", "f64[3]", 2, "is a method; give a function"),
        ("Box.fast", "f64[3]", 2, "is a method; give a function"),
        ("raises", "f64[3]", 1, ":34: RuntimeError: no"),
        ("casts", "i64[3]", 1, ":38: UFuncTypeError: Cannot"),
        ("fits", "f64[3], f64[4]", 1, ":42: ValueError: operands could not be broadcast"),
    ],
)
def test_mistakes_are_one_line(
    file: str, name: str, spec: str, status: int, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(f"{file}:{name}", "--args", spec, "--numpy", "-") == status
    found = capsys.readouterr().err
    assert found.startswith(f"fxc export: {file}")
    assert text in found
    assert found.count("\n") == 1


def test_the_notes_of_a_refusal_are_printed(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"{file}:printed", "--numpy", "-") == 1
    assert "in printed:  open(x)" in capsys.readouterr().err


def test_other_targets_are_methods_of_the_program(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []
    for name in ("to_onnx", "to_object"):
        monkeypatch.setattr(
            ExportedProgram, name, lambda self, path: seen.append(path), raising=False
        )
    monkeypatch.setattr(
        ExportedProgram, "to_stablehlo", lambda self, sizes: f"module {sizes}\n", raising=False
    )
    out = tmp_path / "step.mlir"
    targets = ["--onnx", "step.onnx", "--object", "folder", "--stablehlo", str(out)]
    assert run(f"{file}:step", *targets) == 0
    assert seen == ["step.onnx", "folder"]
    assert out.read_text() == "module {}\n"
    assert run(f"{file}:step", "--stablehlo", str(out), "--size", "u.0=6", "--size", "n=2") == 0
    assert out.read_text() == "module {'u.0': 6, 'n': 2}\n"


def test_the_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run("--help")
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert ">>> step(np.zeros(64), 0.1)" in text
    assert "python -m fxc export heat.py:step --numpy step_numpy.py" in text
