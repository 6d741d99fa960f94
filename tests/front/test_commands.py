"""``python -m fxc``: its help, what its commands print, and their exit status."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

import fxc
from fxc.cli import doctor
from fxc.cli.main import COMMANDS, GROUPS, main
from fxc.cli.progress import with_progress
from tests.sources import ROOT


def test_the_help_has_all_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    for name, summary in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(summary)}$", shown, re.MULTILINE)
    listed = [name for names in GROUPS.values() for name in names]
    assert len(set(listed)) == len(listed)
    assert set(listed) <= set(COMMANDS)


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"fxc {fxc.__version__}\n"


def test_the_page_names_all_commands() -> None:
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `(\w+)", text, re.MULTILINE))
    assert named == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_has_an_example(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: python -m fxc {name}")
    assert re.search(rf"^    python -m fxc {name}\b|^    \w+ +", shown, re.MULTILINE)
    assert import_module(f"fxc.cli.{name}").__doc__


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("nothing", "python -m fxc: error: there is no command nothing; there are bench, bisect,"),
        ("hlep", "python -m fxc: error: there is no command hlep; did you mean help?"),
        ("--quiet", "python -m fxc: error: unrecognized arguments: --quiet"),
        ("run --quite a.py", "python -m fxc run: error: unrecognized arguments: --quite"),
        ("doctor me", "python -m fxc doctor: error: unrecognized arguments: me"),
        *(
            (name, f"python -m fxc {name}: error: the following arguments are required: {what}\n")
            for name, what in [
                ("run", "script"),
                ("bisect", "script"),
                ("report", "FOLDER|TRACE|SCRIPT"),
            ]
        ),
    ],
)
def test_what_no_command_takes(given: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(given.split())
    assert ended.value.code == 2
    shown = capsys.readouterr().err
    assert said in shown
    usage = said.partition(":")[0]
    assert shown.startswith(f"usage: {usage} ")  # of the command itself


def test_a_setting_that_makes_no_sense_is_one_line() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fxc", "cache"],
        env={**os.environ, "FXC_CACHE": "maybe"},
        capture_output=True,
        text=True,
        check=False,
    )
    said = "fxc cache: FXC0302: FXC_CACHE must be True or False (1 or 0), not 'maybe'\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


@pytest.mark.parametrize("command", ["explain", "dump", "export --numpy -"])
def test_a_setting_that_makes_no_sense_is_none_of_the_functions(command: str) -> None:
    file = ROOT / "examples" / "nbody.py"
    done = subprocess.run(
        [sys.executable, "-m", "fxc", *command.split(), f"{file}:step"],
        env={**os.environ, "FXC_NUM_THREADS": "two"},
        capture_output=True,
        text=True,
        check=False,
    )
    said = f"fxc {command.split()[0]}: FXC0302: FXC_NUM_THREADS must be a number from 1 to 256"
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(said)


def test_nobody_reads_what_is_printed() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "fxc", "help"], stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def test_ctrl_c_ends_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    module = import_module("fxc.__main__")
    monkeypatch.setattr(module, "main", interrupted)
    assert module.run() == 130


# ---------------------------------------------------------------- doctor


def test_doctor_finds_nothing_wrong_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().out
    for what in ("Python", "numpy", "llvmlite", "processor", "threads", "cache", "result"):
        assert re.search(rf"^[ !] {what} +\S", shown, re.MULTILINE)
    assert "equals NumPy's" in shown
    assert shown.endswith("all is well\n")


def test_doctor_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "version_of", lambda name: {"numpy": "1.26.4"}.get(name, ""))
    found = {each.what: each for each in doctor.versions()}
    assert found["numpy"].advice == "pip install -U numpy"
    assert found["llvmlite"].found == "is not installed"
    assert found["numpy"].is_wrong
    assert str(found["numpy"]).splitlines()[1] == "             → pip install -U numpy"


def test_doctor_names_settings_that_make_no_sense() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fxc", "doctor"],
        env={"FXC_NUM_THREADS": "many", "FXC_VERFY": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "! settings   FXC_NUM_THREADS must be a number from 1 to 256" in done.stdout
    assert "all is well" not in done.stdout


def test_doctor_names_settings_that_slow_fxc_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FXC_VERFY", "1")
    with fxc.config.override(verify_graphs=True):
        found = [str(each) for each in doctor.settings()]
    assert any("FXC_VERFY is no setting" in each for each in found)
    assert any("FXC_VERIFY_GRAPHS is on" in each for each in found)


def test_doctor_looks_whether_calls_are_native() -> None:
    assert not next(doctor.native_calls()).advice
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(fxc, "compile", lambda fn, **given: lambda *args: time.sleep(1e-5))
        assert next(doctor.native_calls()).advice.startswith("calls are not entered natively")


def test_doctor_says_why_nothing_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with fxc.config.override(cache=False):
        assert next(doctor.cache()).advice.endswith("unset FXC_CACHE")
    (tmp_path / "file").touch()
    with fxc.config.override(cache=True, cache_dir=str(tmp_path / "file")):
        assert "FXC_CACHE_DIR names a folder" in next(doctor.cache()).advice


# ---------------------------------------------------------------- coverage, bench


def test_coverage_of_a_function(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["coverage", "np.sort"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "np.sort"
    assert shown[7].split() == ["f64", "native"]
    dtypes = [line for line in shown[1:] if "keywords" not in line]
    assert {line[: len("  timedelta64 ")][-1] for line in dtypes} == {" "}
    for name in ("numpy.linalg.svd", "linalg.svd"):
        assert main(["coverage", name]) == 0
        assert capsys.readouterr().out.startswith("np.linalg.svd\n")
    assert main(["coverage", "alg.svd"]) == 2
    assert main(["coverage", "sort"]) == 0
    assert "np.ndarray.sort" in capsys.readouterr().out


def test_coverage_says_why_a_function_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["coverage", "np.array2string"]) == 0
    assert "refused (bool): np.array2string cannot be captured" in capsys.readouterr().out


def test_coverage_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["coverage", "np.srot"]) == 2
    assert "did you mean" in capsys.readouterr().err
    assert main(["coverage"]) == 0
    assert "functions: " in capsys.readouterr().out


def test_bench_wants_a_checkout(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("fxc.cli.bench._ROOT", tmp_path)
    assert main(["bench"]) == 2
    assert "in a checkout" in capsys.readouterr().err


# ---------------------------------------------------------------- progress


class Terminal(io.StringIO):
    """A file that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_progress_is_for_terminals_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (io.StringIO, Terminal):
        shown = kind()
        monkeypatch.setattr(sys, "stderr", shown)
        assert [*with_progress(["one", "two"], "checking")] == ["one", "two"]
        assert ("checking two" in shown.getvalue()) == (kind is Terminal)
        assert shown.getvalue().endswith("\x1b[K") == (kind is Terminal)
