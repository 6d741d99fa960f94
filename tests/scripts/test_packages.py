"""`python -m tests.packages` tells tests that ran out of time from those that fail compiled."""

import subprocess
import sys
from pathlib import Path

from tests.packages.__main__ import ROOT

PACKAGE = """
def add(x):
    return x + 1
"""
TESTS = """
def test_ends():
    pass
def test_does_not_end():
    while True:
        pass
"""


def _told(tmp_path: Path, *options: str) -> str:
    (tmp_path / "slow_package.py").write_text(PACKAGE)
    (tmp_path / "test_slow.py").write_text(TESTS)
    given = [sys.executable, "-m", "tests.packages", *options]
    given += ["slow_package", str(tmp_path / "test_slow.py")]
    paths = {"PYTHONPATH": str(tmp_path), "FXC_CACHE": "0"}
    told = subprocess.run(given, capture_output=True, text=True, cwd=ROOT, env=paths)
    assert told.returncode == 0, told.stdout
    return told.stdout


def test_tests_and_files_that_run_out_of_time_are_listed_apart(tmp_path: Path) -> None:
    for options, late in (
        (["--seconds=0.5"], "test_slow.py::test_does_not_end"),
        (["--file-seconds=2"], str(tmp_path / "test_slow.py")),
    ):
        told = _told(tmp_path, *options)
        assert f"=== ran out of time: {late}" in told
        assert "1 passed" in told
        assert "0 fail compiled and not plainly" in told
