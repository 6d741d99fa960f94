"""`python -m fxc run`: a script as it is, with its hot functions compiled while it runs."""

from __future__ import annotations

import argparse
import os
import sys

_HELP = """\
Run an unchanged script. Functions that take much of its time and use NumPy are compiled in the
background, compared once with NumPy, and used from then on. What the script prints, writes and
returns is as with `python SCRIPT`; at its end one line on stderr says what was gained.

    python -m fxc run heat.py --steps 100
    python -m fxc run -m package.module
    python -m fxc run --report heat.py      and a page about what was compiled

Options for fxc stand before the script.
"""
_PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
_HOOK = os.path.join(_PACKAGE, "scripts", "startup")
_PAGE = "fxc-report.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = _HELP
    parser.add_argument("--quiet", action="store_true", help="say nothing at the end")
    parser.add_argument(
        "--report", action="store_true", help="write a page about what was compiled"
    )
    parser.add_argument("-o", "--out", metavar="FILE", help="that page (fxc-report.html)")
    parser.add_argument("-m", action="store_true", dest="is_module", help="SCRIPT is a module")
    parser.add_argument("script", help="a script in Python, or a module")
    rest = parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    rest.required = False  # no message says that it is missing


def run(options: argparse.Namespace) -> int:
    """Become the script; the exit status where that is not possible."""
    if not options.is_module and not os.path.exists(options.script):
        print(f"fxc run: there is no file {options.script}", file=sys.stderr)
        return 2
    wrong = _why_not(options)
    if wrong:
        print(f"fxc run: {wrong}", file=sys.stderr)
        return 2
    environment = dict(os.environ)
    before = environment.get("PYTHONPATH")
    if before is not None:
        environment["FXC_RUN_PATH"] = before
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (_HOOK, before)))
    environment["FXC_RUN"] = "quiet" if options.quiet else "tell"
    if options.report or options.out:
        environment["FXC_RUN_REPORT"] = os.path.abspath(options.out or _PAGE)
    environment["FXC_RUN_PACKAGE"] = _PACKAGE
    command = [sys.executable, *_flags(), *(["-m"] if options.is_module else [])]
    command += [options.script, *options.arguments]
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "posix":
        os.execve(sys.executable, command, environment)
    import subprocess

    return subprocess.run(command, env=environment).returncode


def _why_not(options: argparse.Namespace) -> str:
    """Why a script cannot be watched, or its page not be written; empty if that is not so."""
    if sys.flags.ignore_environment or sys.flags.no_site:
        return "Python's options -E, -I and -S leave out what watches a script"
    folder = os.path.dirname(os.path.abspath(options.out or _PAGE))
    if options.out and not os.path.isdir(folder):
        return f"there is no folder {folder}"
    return ""


def _flags() -> list[str]:
    """The options that this Python was given: those before ``-m fxc``."""
    given = sys.orig_argv[1:]
    return given[: given.index("-m")] if "-m" in given else []
