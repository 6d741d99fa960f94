"""`python -m fxc report`."""

import os
import subprocess
import sys

import pytest

from fxc.cli.main import main
from tests.tracing_programs import relax, relax_arguments, traced_to

SCRIPT = """
import sys
import numpy as np
import fxc
import beside

@fxc.compile
def twice(x):
    return 2 * x

print(twice(np.ones(3)), sys.argv[1:], __name__, beside.HERE)
{end}
"""


def script(folder, end=""):
    (folder / "beside.py").write_text("HERE = 1")
    path = folder / "twice.py"
    path.write_text(SCRIPT.format(end=end))
    return path


def test_a_script_is_run_as_by_python_and_told_of(tmp_path):
    path = script(tmp_path)
    command = [sys.executable, "-m", "fxc", "report", "-o", "page.html"]
    command += [path.name, "-o", "7", "--help"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "[2. 2. 2.] ['-o', '7', '--help'] __main__ 1\n")
    assert "page.html: 1 compilation\n" in ran.stderr
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "return 2 * x" in text
    assert [each.name for each in tmp_path.glob("*.part")] == []


@pytest.mark.parametrize(
    "end, status, said",
    [
        ("sys.exit(3)", 3, ""),
        ("sys.exit('no more')", 1, "no more\n"),
        ("raise KeyError('gone')", 1, "KeyError: 'gone'"),
    ],
)
def test_a_script_that_fails_has_its_own_end(tmp_path, capsys, monkeypatch, end, status, said):
    monkeypatch.delitem(sys.modules, "beside", raising=False)
    before = sys.path[:], sys.argv[:], os.environ.get("FXC_TRACE"), sys.modules["__main__"]
    out = tmp_path / "a.html"
    assert main(["report", "-o", str(out), str(script(tmp_path, end)), "3"]) == status
    found = capsys.readouterr()
    assert "['3']" in found.out
    assert said in found.err
    assert "cli" not in found.err
    assert "as_main" not in found.err
    assert out.exists()
    after = sys.path, sys.argv, os.environ.get("FXC_TRACE"), sys.modules["__main__"]
    assert after == before


def test_a_folder_is_told_of(tmp_path, capsys):
    traced_to(tmp_path / "traces", relax, relax_arguments())
    out = tmp_path / "a.html"
    assert main(["report", "-o", str(out), str(tmp_path / "traces")]) == 0
    assert "<h1>traces</h1>" in out.read_text(encoding="utf-8")
    (file,) = (tmp_path / "traces").iterdir()
    file.write_bytes(file.read_bytes()[:-10])
    assert main(["report", "-o", str(out), str(file)]) == 0
    assert "is cut off" in capsys.readouterr().err


def test_what_is_not_there_is_said(tmp_path, capsys):
    out = tmp_path / "a.html"
    out.write_text("before")
    (tmp_path / "empty").mkdir()
    (tmp_path / "plain.py").write_text("print(1)")
    for what, said in (
        (["nowhere"], "there is no nowhere"),
        (["nowhere.py"], "nowhere.py cannot be read: No such file"),
        ([str(tmp_path / "empty")], "has no trace: FXC_TRACE="),
        ([str(tmp_path / "empty"), "-o", "b"], "options of fxc's stand before it"),
        ([str(tmp_path / "plain.py")], "plain.py has compiled nothing"),
    ):
        assert main(["report", "-o", str(out), *what]) == 2
        assert said in capsys.readouterr().err
    assert out.read_text() == "before"
    assert main(["report", "-o", str(tmp_path / "no" / "a.html"), str(tmp_path / "empty")]) == 2


def test_what_an_earlier_process_has_compiled_is_told_of_too(tmp_path):
    path = script(tmp_path)
    env = {**os.environ, "FXC_CACHE": "1", "FXC_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "fxc", "report", path.name]
    plain = subprocess.run([sys.executable, path.name], cwd=tmp_path, env=env, capture_output=True)
    assert plain.returncode == 0
    assert any((tmp_path / "cache").rglob("*"))
    ran = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert "fxc-report.html: 1 compilation\n" in ran.stderr
