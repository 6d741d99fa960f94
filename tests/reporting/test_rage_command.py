"""`python -m fxc rage`: what it bundles, and that no secret is in it."""

import os
import platform
import re
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest

import fxc
from fxc.cache.bugs import keep_bug, kept_bugs
from fxc.cli.main import main
from fxc.ir.errors import InternalError, WrongResult
from fxc.reporting.bundle import compilations_text
from fxc.reporting.masking import Names, graph_without_values, own_names, without_values
from fxc.reporting.traced import TraceContent, TracedCompilation, TracedFailure, TracedText
from tests.tracing_programs import relax, relax_arguments, traced_to

SECRETS = ("hunter2", "zanzibar", "sesame", "1234.5678", "8765.4321", "swordfish", "opensource")
SCRIPT = '''
"""A docstring: zanzibar."""
import os
import pickle
import sys
import numpy as np
import fxc

PASSWORD, TOKEN = "it's hunter2", b"hunter2"
TABLE = np.array([1234.5678, 2.0, 3.0])

@fxc.compile
def scaled(a, mode="sesame"):
    """Its docstring: zanzibar."""
    if PASSWORD == "it's hunter2" and TOKEN == b"hunter2" and mode == "sesame":
        return a * TABLE + np.array([8765.4321, 1.0, 2.0])
    return a

@fxc.compile(fullgraph=True)
def refused(a):
    pickle.dumps(a)  # hunter2
    return a

@fxc.compile(fullgraph=True)
def raising(a):
    raise ValueError("opensource, as it stands in no quotes")

scaled(np.ones(3))
PASSWORD = "sesame, open"
scaled(np.ones(3))
for each in (refused, raising):
    try:
        each(np.ones(3))
    except Exception:
        pass
print(sys.argv[1:], os.environ["MY_TOKEN"] == "swordfish")
os.kill(os.getpid(), 9)
'''


def rage(folder, *arguments, **variables):
    command = [sys.executable, "-m", "fxc", "rage", *arguments]
    env = {**os.environ, **variables}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120)


def test_secrets_are_not_in_the_bundle(tmp_path):
    home = tmp_path / "home" / "mallory"
    home.mkdir(parents=True)
    (home / "heat.py").write_text(SCRIPT)
    ran = rage(
        home, "heat.py", "-o", "3", HOME=str(home), USER="mallory", MY_TOKEN="swordfish",
        FXC_CACHE_DIR=str(home / "kept"), FXC_HUNTER="hunter2",
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (0, "['-o', '3'] True\n")
    assert [each.name for each in home.glob("fxc-rage*")] == ["fxc-rage.txt"]
    found = (home / "fxc-rage.txt").read_bytes().decode()
    for secret in (*SECRETS, "mallory", str(tmp_path), "MY_TOKEN"):
        assert secret not in found
    assert own_names().hidden_in(found) == found
    assert platform.node().lower() not in found.lower().split()
    for told in (
        "the script ended with SIGKILL",
        "scaled, in heat.py:12: compiled",
        "variant 2, because PASSWORD: was '…'",
        "PASSWORD is '…'",
        "a is f64[3] of this layout",
        "captured scaled(%a: f64[3], %TABLE: f64[3])",
        "arguments: f64[3]",
        "CaptureError\n  at heat.py:21\n    FXC0001: a call of _pickle.dumps",
        "\n  ValueError\n",
        "  took ",
        "FXC_CACHE_DIR",
        "~/kept",
        "numpy ",
        "equals NumPy's",
    ):
        assert told in found


def test_traces_are_bundled(tmp_path, capsys):
    traced_to(tmp_path / "traces", relax, relax_arguments())
    out = tmp_path / "a.txt"
    assert main(["rage", "-o", str(out), str(tmp_path / "traces")]) == 0
    assert "captured relax(" in out.read_text(encoding="utf-8")
    assert "look at it" in capsys.readouterr().err


def test_what_is_not_there_is_said(tmp_path, capsys):
    out = tmp_path / "a.txt"
    out.write_text("before")
    for what, said in (
        (["nowhere"], "there is no nowhere"),
        (["nowhere.py"], "No such file"),
        ([str(tmp_path), "more"], "is no script"),
    ):
        assert main(["rage", "-o", str(out), *what]) == 2
        assert said in capsys.readouterr().err
    assert out.read_text() == "before"


def test_the_bundle_is_bounded():
    traced = TraceContent()
    for number in range(100):
        made = TracedCompilation(0, number, function=f"f{number}.", seconds=1.0)
        made.checks = ("x" * 10_000,) * 10_000
        made.stages["captured"] = TracedText(("y" * 10_000,) * 10_000, ((),) * 10_000)
        traced.compilations.append(made)
    traced.compilations[3].failure = TracedFailure("InternalError", "FXC0901: no", None, "fuse")
    text = compilations_text(traced)
    assert "f3." in text
    assert "f99." in text
    assert "f80." not in text
    assert "FXC0901: no" in text
    assert "9600 more lines" in text
    assert max(map(len, text.split("\n"))) < 600


@pytest.mark.parametrize(
    "text, shown",
    [
        ("NumPy's x is 'secret' of b's", "NumPy's x is '…'"),
        ("b's x is 'secret'", "'…'"),
        ("x was 'secret', is \"it's\" now", "x was '…'"),
        ("x is b'secret'", "x is '…'"),
        ("'one' and cut off 'secr", "'…'"),
        ("x[1.5 cut off", "x[…]cut off"),
        ("x is [1.5 2.5\n 3.5] here", "x is […] here"),
        ("x is [[1 2]\n [3 4]]", "x is […]"),
        ("given array([1, 2\n 3])", "given array(…)"),
        ("f64[100, 80]{640, 8} = slice(%u, [1:99:1, 1:79:1])", None),
        ("u: shape was (100, 80), is (200, 80)", None),
    ],
)
def test_values_are_masked(text, shown):
    assert without_values(text) == (text if shown is None else shown)


def test_texts_in_graphs_are_masked():
    line = """  %1: f64[2] = op(%0, 'se"c\\'ret', 2, b"secret", axis='cut off"""
    assert graph_without_values(line) == "  %1: f64[2] = op(%0, '…', 2, '…', axis='…'"


def test_names_are_masked():
    homes = [f"/{'/'.join(each)}" for each in (("home", "bob"), ("Users", "eve"))]
    names = Names(("/srv/me", "/"), ("Alice", "box1.lan", "box1", "u", ""))
    for text, shown in (
        ("/srv/me/heat.py /srv/me", "~/heat.py ~"),
        ("/srv/meals", "/srv/meals"),
        (f"{homes[0]}/x and {homes[1]}/y", "~/x and ~/y"),
        ("alice_heat.py of ALICE, not malice", "~_heat.py of ~, not malice"),
        ("box1.lan box1 box12", "~ ~ box12"),
        ("u + v in /data/u/x", "u + v in /data/~/x"),
    ):
        assert names.hidden_in(text) == shown
    assert own_names().hidden_in(os.path.expanduser("~/x")) == "~/x"


def test_paths_of_folders_that_are_set_are_shortened(tmp_path):
    names = Names(("/srv/me",), (), ("/srv/plans/of/kept", "/srv/me/kept", "kept", "/srv", ""))
    for text, shown in (
        ("cache_dir='/srv/plans/of/kept'", "cache_dir='…/kept'"),
        ("/srv/plans/of/kept/fxc/1f", "…/kept/fxc/1f"),
        ("/srv/plans/of/kept-2", "…/srv/plans/of/kept-2"),
        ("/srv/me/kept and kept", "~/kept and kept"),
    ):
        assert names.hidden_in(text) == shown
    out = tmp_path / "kept" / "a.txt"
    out.parent.mkdir()
    ran = rage(tmp_path, "-o", str(out), FXC_CACHE_DIR=str(out.parent))
    assert ran.returncode == 0
    text = out.read_text(encoding="utf-8")
    assert "…/kept" in text
    assert str(tmp_path) not in text


def test_a_bug_is_told_with_its_place_in_fxc(tmp_path):
    out = tmp_path / "a.txt"
    with bugged(), pytest.raises(InternalError):
        traced_to(tmp_path / "traces", relax, relax_arguments())
    assert main(["rage", "-o", str(out), str(tmp_path / "traces")]) == 0
    found = out.read_text(encoding="utf-8")
    assert "InternalError behind " in found
    assert "FXC0901: relax: KeyError: '…'" in found
    assert re.search(r"by KeyError:\n(    .*\n)* +lowering/lower.py:\d+ in ", found)
    assert "captured relax(" in found
    assert "hunter2" not in found


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setattr("fxc.cache.folder._failures", 0)
    monkeypatch.setattr("fxc.cache.bugs._met", set())
    with fxc.config.override(cache=True, cache_dir=str(tmp_path / "cache")):
        yield


@contextmanager
def bugged():
    def build_loops(*given, **how):
        return {}["hunter2"]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fxc.lowering.lower.build_loops", build_loops)
        yield


def test_bugs_that_were_met_are_kept_without_a_trace(tmp_path, empty_cache):
    compiled = fxc.compile(relax, fullgraph=True)
    compiled(*relax_arguments())
    for _ in range(3):
        with bugged(), pytest.raises(InternalError):
            compiled(*relax_arguments(50))
    out = tmp_path / "a.txt"
    assert main(["rage", "-o", str(out)]) == 0
    found = out.read_text(encoding="utf-8")
    assert found.count("relax, in tracing_programs.py:8: not compiled") == 1
    assert "FXC0901: relax: KeyError: '…'" in found
    assert "relax, in tracing_programs.py:8: compiled" in found
    assert "captured relax(%u: f64[100]" in found
    assert "u is f64[100] of this layout" in found
    assert "hunter2" not in found
    assert not any(
        b"hunter2" in each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()
    )


def test_a_cache_that_cannot_be_written_changes_nothing(tmp_path, empty_cache):
    (tmp_path / "cache").write_text("no folder")
    with bugged(), pytest.warns(fxc.CaptureWarning, match="python -m fxc rage SCRIPT"):
        np.testing.assert_array_equal(
            fxc.compile(relax)(*relax_arguments())[1], relax(*relax_arguments())[1]
        )
    assert kept_bugs() == []


def test_the_last_bugs_are_kept(monkeypatch, empty_cache):
    for number in range(25):
        monkeypatch.setattr("fxc.cache.bugs._met", set())
        keep_bug(relax, (), InternalError(f"number {number}."), {})
    assert len(kept_bugs()) == 20
    assert "number 24." in kept_bugs()[-1]


def test_a_wrong_result_is_kept(empty_cache):
    def wrong(graph, index, types):
        return lambda x: [x * 3.0]

    def twice(x):
        return x * 2.0

    with fxc.config.override(verify=True), pytest.raises(WrongResult, match="fxc rage SCRIPT"):
        fxc.compile(twice, backend=wrong, fullgraph=True)(np.full(3, 1234.5678))
    (found,) = kept_bugs()
    assert "WrongResult" in found
    assert "captured twice(" in found
    assert "1234" not in found
    assert "3703" not in found
    assert "differs from NumPy: result; 2.71e+15 ulps apart; 3 of 3 elements differ" in found


def test_failures_where_numpy_does_not_fail_are_kept(monkeypatch, empty_cache):
    def failing(*given):
        raise ValueError("hunter2 of the program")

    monkeypatch.setattr("fxc.calling.serving.Serving._found_or_compiled", failing)
    with pytest.raises(InternalError):
        fxc.compile(relax, fullgraph=True)(*relax_arguments())
    with pytest.warns(fxc.CaptureWarning, match="report it, with python -m fxc rage SCRIPT"):
        fxc.compile(relax)(*relax_arguments())
    raised, warned = kept_bugs()
    assert "calling/serving.py" in raised
    assert "importlib" not in raised
    assert "FXC0901: relax failed where NumPy did not" in raised
    assert "  ValueError\n    its text is left out" in warned
    assert " in _eager_after" in raised
    assert "hunter2" not in raised + warned
