"""``fxc.config.logs``: what each logger says, and that none says anything unless it is asked."""

import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fxc
from fxc.ir.settings import LOGS

PROGRAM = """\
import numpy as np, fxc, sys

@fxc.compile
def f(x, p):
    y = x * 2
    y[p] = y[p] + x
    return np.linalg.det(np.outer(y, y))

f(np.arange(4.0), np.arange(4))
f(np.arange(5.0), np.arange(5))
fxc.config.logs = ""
f(np.arange(4), np.arange(4))
"""


def shown(tmp_path: Path, logs: str, first: str = "") -> list[str]:
    """What a process of its own shows on the standard error."""
    file = tmp_path / "told.py"
    file.write_text(first + PROGRAM)
    done = subprocess.run(
        [sys.executable, str(file)],
        env={"FXC_LOGS": logs, "FXC_CACHE": "0", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == ""
    return done.stderr.splitlines()


def test_what_is_asked_for_is_shown(tmp_path: Path) -> None:
    lines = shown(tmp_path, "recompiles,perf")
    assert lines[0].startswith("[fxc.recompiles] f: variant 1 is made in ")
    assert lines[0].endswith(" ms, for x: f64[4], p: i64[4]")
    assert lines[1].startswith("[fxc.perf] f: a copy: told.py:6 ")
    assert lines[2] == "[fxc.perf] f: NumPy itself runs linalg_det"
    assert lines[3] == "[fxc.recompiles] f: compiled again: x: shape was (4,), is (5,)"
    assert [line.split("]")[0] for line in lines[4:]] == ["[fxc.recompiles", *2 * ["[fxc.perf"]]


def test_nothing_is_shown_twice_where_the_program_logs_itself(tmp_path: Path) -> None:
    lines = shown(tmp_path, "recompiles", "import logging; logging.basicConfig()\n")
    assert [line.split(" is ")[0].split(" again")[0] for line in lines] == [
        "INFO:fxc.recompiles:f: variant 1",
        "INFO:fxc.recompiles:f: compiled",
        "INFO:fxc.recompiles:f: variant 2",
    ]


def test_help_lists_the_names(tmp_path: Path) -> None:
    lines = shown(tmp_path, "help")
    assert [line.split()[0] for line in lines[1:]] == [*LOGS]
    assert shown(tmp_path, "") == []


def f(x):
    y = x * 2
    y[1:] = y[:-1]
    return y.mean()


def test_stages_are_shown_with_what_passes_change(caplog: pytest.LogCaptureFixture) -> None:
    with fxc.config.override(logs="graph,passes,loops,llvm"):
        fxc.compile(f, fullgraph=True)(np.arange(4.0))
    said: dict[str, list[str]] = {}
    for record in caplog.records:
        said.setdefault(record.name, []).append(record.getMessage())
    assert said.keys() == {"fxc.graph", "fxc.passes", "fxc.loops", "fxc.llvm"}
    assert said["fxc.graph"][0].startswith("f: captured\ncaptured f(%x: f64[4])\n  %0: f64[4] =")
    assert said["fxc.loops"][0].startswith("f: loop nests\nloops f\n")
    assert "define" in said["fxc.llvm"][0]
    passes = {text.split(",")[0]: text for text in said["fxc.passes"]}
    assert "f: fuse" in passes
    assert passes["f: simplify"].endswith(" ms, no change")
    assert "\n-  %3: f64 = mean(" in passes["f: decompose"].replace("%4", "%3")
    assert "\n+  %" in passes["f: decompose"]


def test_what_is_exported_or_functionalized_is_shown(caplog: pytest.LogCaptureFixture) -> None:
    with fxc.config.override(logs="graph,passes"):
        fxc.export(f, np.arange(4.0))
        fxc.functionalize(f).graph(np.arange(4.0))
    said = [record.getMessage() for record in caplog.records]
    assert [text.partition("\n")[0] for text in said].count("f: captured") == 2
    assert sum(text.startswith("f: functionalize, ") for text in said) == 2


def test_loggers_are_silent_again(caplog: pytest.LogCaptureFixture) -> None:
    root = logging.getLogger("fxc")
    own = root.getChild("perf")
    own.setLevel(logging.ERROR)
    try:
        with fxc.config.override(logs="recompiles"):
            assert root.getChild("recompiles").isEnabledFor(logging.DEBUG)
            with fxc.config.override(logs="splits"):
                assert not root.getChild("recompiles").isEnabledFor(logging.INFO)
        assert not any(root.getChild(name).isEnabledFor(logging.INFO) for name in LOGS)
        assert own.level == logging.ERROR  # as the program has set it
        assert not root.handlers
        fxc.compile(f, fullgraph=True)(np.arange(4.0))
    finally:
        own.setLevel(logging.NOTSET)
    assert not caplog.records


def test_a_program_that_does_not_log_imports_no_logging(tmp_path: Path) -> None:
    file = tmp_path / "quiet.py"
    file.write_text(
        "import numpy as np, fxc, sys\n"
        "fxc.config.logs = ''\n"
        "fxc.compile(lambda x: x + 1)(np.ones(3))\n"
        "print('logging' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, str(file)],
        env={"FXC_CACHE": "0", "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "False\n"


def test_a_program_that_imports_logging_later_is_told(tmp_path: Path) -> None:
    first = """\
import fxc.ir.logs
assert not fxc.ir.logs.RECOMPILES.isEnabledFor(20)
import logging
logging.basicConfig(level=logging.DEBUG, format="%(name)s %(funcName)s %(message)s")
assert not fxc.ir.logs.RECOMPILES.isEnabledFor(20)
logging.getLogger("fxc").setLevel(logging.INFO)
"""
    lines = shown(tmp_path, "", first)
    assert lines[0].startswith("fxc.recompiles log_variant f: variant 1 is made in ")


def test_a_split_function_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    def g(x):
        y = x * 2
        y += x
        sys.setswitchinterval(0.005)
        y *= x
        return y + 1

    with fxc.config.override(logs="splits"), pytest.warns(fxc.CaptureWarning):
        fxc.compile(g)(np.arange(4.0))
    (text,) = {record.getMessage() for record in caplog.records if record.name == "fxc.splits"}
    assert text.startswith(
        "g: 1 of 5 statements run as plain NumPy: a call of sys.setswitchinterval "
    )


def test_a_program_that_logs_all_it_can_is_told_of_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.DEBUG):
        fxc.compile(lambda x: x + 1)(np.ones(3))
    assert not [each for each in caplog.records if each.name.startswith("fxc")]
