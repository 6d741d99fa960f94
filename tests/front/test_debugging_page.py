"""``docs/debugging.md``: each command gives what the page shows, but for times and rates.

``python -m tests.front.test_debugging_page`` writes the page's outputs.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fxc.cli.main import main
from tests.sources import ROOT

PAGE = ROOT / "docs" / "debugging.md"
PROGRAM = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OUTPUT = re.compile(r"^```\n\$ (.*?)\n(.*?)```$", re.MULTILINE | re.DOTALL)


def programs(page: str, folder: Path) -> None:
    """Write the programs of the page to files, named by the comment in their first line."""
    for program in PROGRAM.findall(page):
        name = program.splitlines()[0].partition("# ")[2]
        (folder / name).write_text(program, encoding="utf-8")


def output_of(command: str, folder: Path) -> str:
    """What a command shows, by this Python."""
    words = shlex.split(command)
    settings = dict(word.split("=") for word in words if "=" in word)
    arguments = [word for word in words[len(settings) :] if word != "python"]
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), "FXC_NUM_THREADS": "2", **settings},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return "\n".join(line.rstrip() for line in (done.stdout + done.stderr).splitlines()) + "\n"


def still(text: str) -> str:
    """The text without what differs from machine to machine, and from run to run."""
    text = re.sub(r"\d[\d.]* (ns|µs|ms|[kMG]B/s)", "N", text)
    text = re.sub(r"at least, by \w+", "at least", text)
    return re.sub(r"(?<=compiled   in N: ).*", "...", text)


@pytest.mark.parametrize("command", OUTPUT.findall(PAGE.read_text("utf-8")), ids=lambda x: x[0])
def test_a_command_gives_what_the_page_shows(
    command: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    programs(PAGE.read_text("utf-8"), tmp_path)
    ours = command[0].removeprefix("python -m fxc ")
    if ours == command[0]:
        shown = output_of(command[0], tmp_path)
    else:  # here: to start a process takes longer
        monkeypatch.chdir(tmp_path)
        for name in ("heat", "checkpoints"):  # to be forgotten again
            monkeypatch.setitem(sys.modules, name, None)
        assert main(shlex.split(ours)) == 0
        shown = "\n".join(map(str.rstrip, capsys.readouterr().out.splitlines())) + "\n"
    assert still(shown) == still(command[1])


def test_the_page_has_outputs() -> None:
    assert len(OUTPUT.findall(PAGE.read_text("utf-8"))) == 5


if __name__ == "__main__":
    text = PAGE.read_text("utf-8")
    with tempfile.TemporaryDirectory() as name:
        programs(text, Path(name))
        PAGE.write_text(
            OUTPUT.sub(lambda m: f"```\n$ {m[1]}\n{output_of(m[1], Path(name))}```", text), "utf-8"
        )
