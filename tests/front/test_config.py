"""``fxc.config``: values, where they come from, and what is refused."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ir.settings import SETTINGS, Config
from tests.sources import ROOT, SOURCE_FOLDERS, python_files

SAMPLES = {
    "num_threads": 3,
    "kept_memory": 0,
    "cache_size": 9,
    "logs": "perf",
    "cache_dir": "d",
    "trace": "t",
}


def by_process(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", f"import fxc; {code}"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr[-400:]


def test_what_the_program_sets_counts_before_the_variable() -> None:
    told = by_process(
        "c = fxc.config; print(c.kept_memory, c.trace, c.full_traceback)\n"
        "c.kept_memory = 8; print(c.kept_memory, fxc.get_kept_memory())\n"
        "fxc.set_kept_memory(9); print(c.kept_memory); print(c)",
        FXC_KEPT_MEMORY="7",
        FXC_TRACE="there",
        FXC_FULL_TRACEBACK="on",
    )
    assert told.splitlines()[:3] == ["7 there True", "8 8", "9"]
    shown = {row.split()[0]: re.split(r"  +", row)[1:3] for row in told.splitlines()[3:]}
    assert shown["kept_memory"] == ["9", "the program"]
    assert shown["trace"] == ["'there'", "FXC_TRACE"]
    assert shown["verify"] == ["False", "default"]
    assert shown.keys() == {"fxc.config", *SETTINGS}


@pytest.mark.parametrize("name", [name for name, each in SETTINGS.items() if not each.once])
def test_override_sets_for_a_block(name: str) -> None:
    before, origin = getattr(fxc.config, name), SETTINGS[name].origin
    value = SAMPLES.get(name, not before)
    with fxc.config.override(**{name: value}):
        assert getattr(fxc.config, name) == value != before
    assert (getattr(fxc.config, name), SETTINGS[name].origin) == (before, origin)
    with pytest.raises(KeyError), fxc.config.override(**{name: value}):
        raise KeyError
    assert getattr(fxc.config, name) == before


def test_threads_are_those_of_set_num_threads() -> None:
    usual = fxc.get_num_threads()
    with fxc.config.override(num_threads=7):
        assert fxc.get_num_threads() == 7
        fxc.set_num_threads(5)
        assert fxc.config.num_threads == 5
    assert fxc.get_num_threads() == usual


def test_unknown_names_are_told_with_what_is_near() -> None:
    config: Any = fxc.config
    with pytest.raises(AttributeError, match=r"no setting 'verfy'; did you mean 'verify'\?"):
        config.verfy = True
    with pytest.raises(AttributeError, match=r"no setting 'xyz'$"):
        _ = config.xyz
    wrong = fxc.config.override(verify_graphs=False, num_thread=2)
    with pytest.raises(AttributeError, match=r"did you mean 'num_threads'\?"), wrong:
        pass
    assert {*SETTINGS, "override"} == {*dir(config)}


@pytest.mark.parametrize(
    "name, wrong, kind",
    [
        ("num_threads", 0, ValueError),
        ("num_threads", 2.0, TypeError),
        ("num_threads", np.array([1, 2]), TypeError),
        ("verify", 1, TypeError),
        ("trace", b"x", TypeError),
        ("trace", "", ValueError),
        ("cache_dir", 3, TypeError),
        ("logs", ["perf"], TypeError),
        ("logs", "perf,recompile", ValueError),
        ("cpu_features", "avx2", ValueError),
    ],
)
def test_senseless_values_change_nothing(name: str, wrong: object, kind: type[Exception]) -> None:
    before = getattr(fxc.config, name), fxc.config.verify_graphs
    with pytest.raises(kind, match=rf"fxc\.config\.{name} must be {SETTINGS[name].kind.must[:8]}"):
        setattr(fxc.config, name, wrong)
    if name != "cpu_features":
        with pytest.raises(kind), fxc.config.override(**{"verify_graphs": False, name: wrong}):
            pass
    assert (getattr(fxc.config, name), fxc.config.verify_graphs) == before


@pytest.mark.parametrize(
    "name, wrong, told",
    [
        ("FXC_VERIFY", "maybe", "must be True or False (1 or 0), not 'maybe'"),
        ("FXC_LOGS", "recompile", "not 'recompile'; did you mean 'recompiles'?"),
        ("FXC_LOGS", "everything", "not 'everything'\n"),
        ("FXC_NUM_THREADS", "9" * 5000, "must be a number from 1 to 256"),
    ],
)
def test_a_senseless_variable_is_told_where_a_function_is_compiled(
    name: str, wrong: str, told: str
) -> None:
    text = by_process("print(fxc.config); fxc.compile(len)", **{name: wrong})
    assert f"UsageError: FXC0302: {name} " in text
    assert told in text


def test_what_code_was_made_with_stays(tmp_path: Path) -> None:
    file = tmp_path / "late.py"
    file.write_text(
        "import fxc, numpy as np\n"
        "fxc.config.cpu_features = '-avx512f, -avx2'\n"
        "print(fxc.config.cpu_features)\n"
        "fxc.compile(lambda x: x + 1)(np.ones(3))\n"
        "fxc.config.cpu_features = '-avx512f,-avx2'\n"
        "fxc.config.cpu_features = ''\n"
    )
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False)
    assert done.stdout == "-avx512f,-avx2\n"
    last = done.stderr.splitlines()[-1]
    assert last.startswith(
        "RuntimeError: FXC0302: fxc.config.cpu_features stays '-avx512f,-avx2': code has"
    )
    wrong = fxc.config.override(cpu_features="")
    with pytest.raises(ValueError, match="is for a whole process"), wrong:
        pass


def test_the_page_has_each_setting() -> None:
    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    rows = [
        f"| `{name}` | `{each.variable}` | `{each.default!r}` | {each.summary} |"
        for name, each in SETTINGS.items()
    ]
    assert re.findall(r"^\| `\w+` .*$", text, re.MULTILINE) == rows


def test_no_other_module_reads_variables_of_the_environment() -> None:
    """But for one that sets it for processes that it starts, and then back."""
    for path in python_files(SOURCE_FOLDERS):
        text = path.read_text(encoding="utf-8")
        read = set(re.findall(r"environ\.(?:get|pop)\(.(FXC_\w+)|getenv\(.(FXC_\w+)", text))
        written = set(re.findall(r"environ\[.(FXC_\w+).\] = ", text))
        assert {name for names in read for name in names if name} <= written, path
    assert all(vars(Config)[name] is each for name, each in SETTINGS.items())
