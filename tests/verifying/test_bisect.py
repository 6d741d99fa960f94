"""``python -m fxc bisect``: wrong code planted in a pass is found, named, and made small."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ir.errors import FxcError, WrongResult
from fxc.ir.graph import Graph
from fxc.lowering import lower
from fxc.lowering.nests.statements import Compute, Stmt, blocks_of, with_blocks
from fxc.ops.table import TABLE
from fxc.pipeline import stages
from fxc.verifying import calls
from fxc.verifying.bisect import NATIVE, Verdict, verdict_of
from fxc.verifying.cases import case_of
from fxc.verifying.finding import found
from fxc.verifying.reproducer import read, show
from tests import planted
from tests.random_programs import random_program

ROOT = Path(__file__).resolve().parents[2]


def step(x: Any, y: Any) -> Any:
    """What each of the passes sees an addition in."""
    z = x * 3.0
    z[1:] += y[:-1]
    x[:] = z * y
    return (x + y) * 0.5, np.cumsum(z), z[::2]


def spoilt(graph: Graph) -> Graph:
    """The graph with its last addition a subtraction."""
    places = [place for place, node in enumerate(graph.nodes) if node.op == "add"]
    nodes = list(graph.nodes)
    nodes[places[-1]] = replace(nodes[places[-1]], schema=TABLE["subtract"].schema)
    return graph.with_body(replace(graph.body, nodes=tuple(nodes)))


def spoilt_loops(program: Any) -> Any:
    """The same of loop nests."""
    is_done = False

    def of(block: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        nonlocal is_done
        made = []
        for stmt in block:
            if isinstance(stmt, Compute) and stmt.op == "add" and not is_done:
                stmt, is_done = replace(stmt, op="subtract"), True
            made.append(with_blocks(stmt, tuple(map(of, blocks_of(stmt)))))
        return tuple(made)

    made = replace(program, body=of(program.body))
    assert is_done
    return made


def wrong(function: Any, spoil: Callable[[Any], Any]) -> Any:
    """A pass that makes a mistake."""

    def pass_with_a_bug(*args: Any, **kwargs: Any) -> Any:
        return spoil(function(*args, **kwargs))

    pass_with_a_bug.__name__ = function.__name__
    return pass_with_a_bug


def in_graphs(name: str) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda patch: patch.setattr(stages, name, wrong(getattr(stages, name), spoilt))


def in_loops(name: str) -> Callable[[pytest.MonkeyPatch], None]:
    def plant(patch: pytest.MonkeyPatch) -> None:
        if name == "build_loops":
            patch.setattr(lower, name, wrong(lower.build_loops, spoilt_loops))
            return
        steps = (  # without ``ops``: it is a step of this program, too
            replace(each, schedule=wrong(each.schedule, spoilt_loops), ops=())
            if each.schedule.__name__ == name
            else each
            for each in lower._SCHEDULING
        )
        patch.setattr(lower, "_SCHEDULING", tuple(steps))

    return plant


def in_code(patch: pytest.MonkeyPatch) -> None:
    def spoil(module: Any) -> Any:
        assert " fadd " in module.text
        return replace(module, text=module.text.replace(" fadd ", " fsub "))

    patch.setattr(lower, "emit_module", wrong(lower.emit_module, spoil))


BUGS = {
    "functionalize": in_graphs("functionalize"),
    "simplify": in_graphs("simplify"),
    "decompose": in_graphs("decompose"),
    "dates": in_graphs("in_integers"),
    "low bits": in_graphs("without_high_bits"),
    "ranges": in_graphs("prove_ranges"),
    "fills": in_graphs("fills_apart"),
    "reinplace": in_graphs("reinplace"),
    "build_loops": in_loops("build_loops"),
    **{name: in_loops(name) for name in ("fuse", "speculate", "known_places", "parallel", "lanes")},
    "with_allocations": in_loops("with_allocations"),
    NATIVE: in_code,
}


@pytest.fixture
def verdicts(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The verdicts of calls that differ."""
    heard: list[Verdict] = []
    hear = lambda difference: heard.append(verdict_of(difference.call, difference.text))  # noqa: E731
    monkeypatch.setattr(calls, "hearers", [hear])
    with fxc.config.override(verify=True):
        yield heard


def arguments() -> tuple[Any, Any]:
    return np.arange(1.0, 13.0), np.linspace(0, 1, 12)


@pytest.mark.parametrize("name", BUGS)
def test_a_bug_in_a_pass_is_named(name: str, monkeypatch: Any, verdicts: list[Verdict]) -> None:
    BUGS[name](monkeypatch)
    with pytest.raises(WrongResult):
        fxc.compile(step, fullgraph=True)(*arguments())
    (verdict,) = verdicts
    assert verdict.step == name
    assert not verdict.doubted


@pytest.mark.parametrize(
    ("bug", "number", "name"),
    [
        (planted.views_stay_stale_after_a_write, 0, "functionalize"),
        (planted.a_write_that_touches_a_region_hides_it, 5, "simplify"),
        (planted.inline_values_are_not_placed_before_their_source_changes, 14, "build_loops"),
        (planted.loops_are_merged_that_meet_each_others_elements, 2, "fuse"),
    ],
)
def test_bugs_as_people_make_them(bug, number, name, monkeypatch, verdicts):
    function, inputs = random_program(500_000 + number).load()
    bug(monkeypatch)
    with pytest.raises(WrongResult):
        fxc.compile(function, fullgraph=True)(*inputs())
    assert verdicts[0].step == name


def test_what_is_right_is_not_blamed(monkeypatch, verdicts):
    """Each step is run, and gives what NumPy gives."""

    def blamed(call: Any, *args: Any) -> None:
        call.before.restore()
        verdicts.append(verdict_of(call, "nothing"))

    monkeypatch.setattr(calls.VerifiedCall, "_compare", blamed)
    for number in (0, 1, *range(3, 12)):
        function, inputs = random_program(number).load()
        fxc.compile(function, fullgraph=True)(*inputs())
    assert {verdict.step for verdict in verdicts} == {"what follows native code"}


# ---------------------------------------------------------------- reproducers


@pytest.mark.parametrize("name", ["functionalize", "decompose", "fuse"])
def test_the_case_in_the_folder_is_small_and_shows_it(name, monkeypatch, tmp_path, capsys):
    said: list[str] = []
    hear = lambda difference: found(difference, tmp_path / "wrong", said.append, 4.0)  # noqa: E731
    monkeypatch.setattr(calls, "hearers", [hear])
    with monkeypatch.context() as patch, fxc.config.override(verify=True):
        BUGS[name](patch)
        with pytest.raises(WrongResult):
            fxc.compile(step, fullgraph=True)(*arguments())
        case, wrong_step = read(tmp_path / "wrong")
        assert wrong_step == name
        assert len(case.graph.nodes) <= 2
        assert show(str(tmp_path / "wrong" / "show.py")) == 1
        assert name in capsys.readouterr().out
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(tmp_path / "wrong" / "show.py"), run_name="__main__")
    assert end.value.code == 0
    (tmp_path / "wrong" / "graph.txt").write_text("junk")
    with pytest.raises(FxcError):
        read(tmp_path / "wrong")
    assert show(str(tmp_path / "wrong" / "show.py")) == 2


def test_a_case_keeps_layouts_and_generators(tmp_path):
    from fxc.capture.capture import Terms, capture
    from fxc.verifying.reproducer import write

    rng = np.random.default_rng(5)
    x = np.arange(24.0).reshape(4, 6)[::2, ::-1]
    captured = capture(lambda x, n: (x + n + rng.normal(size=6)).sum(0), (x, 3), {}, Terms(None))
    given = captured.guards.check((x, 3), {})
    assert given is not None
    case = case_of(captured.graph, given[: len(captured.inputs)], "default")
    assert case.verdict() is None
    write(tmp_path, case, Verdict("none", "", None))
    again, _ = read(tmp_path)
    assert str(again.graph) == str(case.graph)
    assert again.inputs[0].strides == x.strides
    assert again.verdict() is None


# ---------------------------------------------------------------- the command


def bisect(folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    (folder / "script.py").write_text(textwrap.dedent(source))
    command = [sys.executable, "-m", "fxc", "bisect", "--seconds", "2", "script.py", "3"]
    env = {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=env)


def test_the_command(tmp_path: Path) -> None:
    right = """
        import sys, numpy as np, fxc

        @fxc.compile
        def f(x):
            return x + 1

        print(f(np.ones(3))[0], sys.argv[1:], __name__)
    """
    done = bisect(tmp_path, right)
    assert done.stdout == "2.0 ['3'] __main__\n"
    assert "1 calls compared with NumPy, 0 that differ" in done.stderr
    assert done.returncode == 0
    bug = """
        from fxc.pipeline import stages
        from fxc.ir.signature import ResultLeaf
        from dataclasses import replace
        from fxc.ops.table import TABLE
        real = stages.decompose

        def decompose(*args):
            graph = real(*args)
            nodes = [replace(n, schema=TABLE["subtract"].schema) for n in graph.nodes]
            return graph.with_body(replace(graph.body, nodes=tuple(nodes)))

        stages.decompose = decompose
    """
    done = bisect(tmp_path, textwrap.dedent(bug) + textwrap.dedent(right))
    assert "the first step whose result differs: decompose: result" in done.stderr, done.stderr
    assert done.returncode == 1
    assert "subtract" not in (tmp_path / "fxc-wrong" / "graph.txt").read_text()
    done = bisect(tmp_path, "import fxc\n1 / 0")
    assert "ZeroDivisionError" in done.stderr
    assert done.returncode == 2


@pytest.mark.parametrize("source", ["def f(:\n    pass\n", "def f():\n    1 / 0\n\n\nf()\n"])
def test_what_a_script_raises_is_shown_as_python_shows_it(tmp_path: Path, source: str) -> None:
    done = bisect(tmp_path, source)
    plain = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    shown, _, _ = done.stderr.partition("fxc bisect: the script has failed")
    assert (done.returncode, shown) == (2, plain.stderr.replace(f"{tmp_path}{os.sep}", ""))
