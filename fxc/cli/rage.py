"""Bundle what a bug report needs into one text file, without what is nobody's business."""

from __future__ import annotations

import argparse
import os
import platform
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from fxc.cache.bugs import kept_bugs
from fxc.ir.settings import SETTINGS, config

from ..scripts.as_main import NOT_PASSED
from . import doctor

_HELP = """\
Bundle what a bug report needs into one text file: versions, settings, what doctor finds, and the
last compilations: arguments' types, guards, why each was made, captured graphs, times, errors.

    python -m fxc rage heat.py 1000       runs the script, and tells of what it compiled
    FXC_TRACE=traces python heat.py       writes a trace while a program runs,
    python -m fxc rage traces             from which the bundle is made
    python -m fxc rage                    tells of the installation, and of bugs that were met

It has no elements of arrays, no values of strings, no source of yours, no variable of the
environment but fxc's own; ~ stands for names of users and hosts, and for home folders, … for what
is in front of the folders of settings. Names of functions and arguments, and numbers that a
function depends on, are in it: look at it before you send it. What stands behind the script is
passed on to it.

The status is 0 if the bundle was written, also where the script has failed, else 2.
"""
_MOST = 1_000_000  # characters


class _NoBundle(Exception):
    """There is nothing to tell of."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m fxc rage``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = _HELP
    parser.add_argument(
        "-o", "--out", type=Path, default=Path("fxc-rage.txt"), metavar="FILE", help="the bundle"
    )
    parser.add_argument(
        "what", nargs="?", metavar="SCRIPT|FOLDER|TRACE", help="a script to run, or traces"
    )
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="...", help="arguments of the script"
    )


def run(options: argparse.Namespace) -> int:
    """Write the bundle; the exit status."""
    from fxc.reporting.masking import own_names

    try:
        made = _compilations(options.what, options.arguments)
        parts = (
            ("fxc", _environment()),
            ("settings", repr(config)),
            ("doctor", "\n".join(map(str, doctor.findings()))),
            ("bugs that were met, the newest last", _bugs()),
            ("compilations", made),
        )
        text = "\n\n".join(f"== {title}\n{part}" for title, part in parts)
        text = own_names().hidden_in(text)
        if len(text) > _MOST:
            text = f"{text[:_MOST]}\n… cut off here\n"
        _write(options.out, f"{text.rstrip()}\n")
    except (_NoBundle, OSError) as error:
        print(f"python -m fxc rage: {error}", file=sys.stderr)
        return 2
    print(f"{options.out}: look at it, then put it into your report", file=sys.stderr)
    return 0


def _compilations(what: str | None, arguments: list[str]) -> str:
    """What the traces tell that are given, or those of the script."""
    if what is None:
        return "none: python -m fxc rage SCRIPT runs a script and tells of what it compiles"
    if what.endswith(".py"):
        return _of_script(what, arguments)
    if arguments:
        raise _NoBundle(f"{what} is no script: {NOT_PASSED}")
    if not os.path.exists(what):
        raise _NoBundle(f"there is no {what}: give a script, a folder with traces, or a trace")
    return _of_traces(Path(what))


def _of_script(path: str, arguments: list[str]) -> str:
    """Run the script in a process of its own: what is a bug may end it in any way."""
    with open(path, "rb"):  # raises if it cannot be read
        pass
    with tempfile.TemporaryDirectory(prefix="fxc-trace-") as folder:
        env = {**os.environ, SETTINGS["trace"].variable: folder}
        status = subprocess.run([sys.executable, path, *arguments], env=env, check=False).returncode
        ended = signal.Signals(-status).name if status < 0 else f"status {status}"
        return f"the script ended with {ended}\n{_of_traces(Path(folder))}"


def _of_traces(source: Path) -> str:
    from fxc.reporting.bundle import compilations_text
    from fxc.reporting.reader import read

    return compilations_text(read(source)) or "nothing was compiled"


def _bugs() -> str:
    return "\n\n".join(kept_bugs()) or "none is kept"


def _environment() -> str:
    """What fxc runs on. doctor says more."""
    import numpy as np

    blas = np.show_config(mode="dicts").get("Build Dependencies", {}).get("blas", {})
    rows = {
        "python": sys.version.replace("\n", " "),
        "system": platform.platform(),
        "BLAS": f"{blas.get('name', '?')} {blas.get('version', '')}",
        "scipy": doctor.version_of("scipy") or "is not installed",
    }
    return "\n".join(f"{name:<8} {value}".rstrip() for name, value in rows.items())


def _write(out: Path, text: str) -> None:
    """Write the file as a whole, or leave what was there."""
    part = out.with_name(f"{out.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8", errors="backslashreplace")
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
