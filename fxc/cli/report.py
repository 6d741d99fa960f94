"""``python -m fxc report``: a page about compilations, of a trace or of a script that is run."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from fxc.ir.settings import SETTINGS, config

from ..scripts.as_main import NOT_PASSED, NoScript, print_error, script

_HELP = """\
Write one page of HTML about each compilation: the program beside every stage that became of it,
with what belongs together marked; drawings, loop nests, memory, times, guards.

    python -m fxc report heat.py 1000        runs the script, then tells of what it compiled
    FXC_TRACE=traces python heat.py 1000     writes a trace while a program runs,
    python -m fxc report traces              from which the page is made

The page is one file that needs nothing else. What stands behind the script is passed on to it.

The status is 0 if the page was written, that of the script if that fails, 2 if there is no trace.
"""


class _NoTrace(Exception):
    """There is nothing to tell of."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m fxc report``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = _HELP
    parser.add_argument(
        "-o", "--out", type=Path, default=Path("fxc-report.html"), metavar="FILE", help="the page"
    )
    parser.add_argument("what", metavar="FOLDER|TRACE|SCRIPT", help="traces, or a script to run")
    rest = parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="...", help="arguments of the script"
    )
    rest.required = False  # no message says that it is missing


def run(options: argparse.Namespace) -> int:
    """Write the page; the exit status."""
    try:
        if not options.what.endswith(".py"):
            if options.arguments:
                raise _NoTrace(f"{options.what} is no script: {NOT_PASSED}")
            return _write(Path(options.what), options.out, Path(options.what).resolve().name)
        return _of_script(options)
    except (_NoTrace, NoScript, OSError) as error:
        print(f"fxc report: {error}", file=sys.stderr)
        return 2


def _of_script(options: argparse.Namespace) -> int:
    """Run the script as Python would, then write the page."""
    name, out = Path(options.what).name, options.out.resolve()  # the script may go elsewhere
    with tempfile.TemporaryDirectory(prefix="fxc-trace-") as folder:
        status = _run(options.what, options.arguments, folder)
        written = _write(Path(folder), out, name)
    return status or written


def _run(path: str, arguments: list[str], folder: str) -> int:
    """The exit status of the script. Processes that it starts are traced, too.

    Raises ``NoScript`` if it is not there.
    """
    main, argv, paths = sys.modules["__main__"], sys.argv[:], sys.path[:]
    variable = SETTINGS["trace"].variable
    before = os.environ.get(variable)
    os.environ[variable] = folder
    try:
        with config.override(trace=folder):
            script(path, arguments).run()
    except NoScript:
        raise
    except SystemExit as end:
        return _status(end.code)
    except BaseException as error:
        print_error(error, path)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    finally:
        sys.modules["__main__"], sys.argv[:], sys.path[:] = main, argv, paths
        os.environ.pop(variable, None)
        if before is not None:
            os.environ[variable] = before
    return 0


def _status(code: object) -> int:
    if code is None or isinstance(code, int):
        return code or 0
    print(code, file=sys.stderr)
    return 1


def _write(source: Path, out: Path, title: str) -> int:
    """Write the page of the traces in a folder or a file."""
    from fxc.reporting.writing import counted, write_page

    if not source.exists():
        raise _NoTrace(f"there is no {source}: give a folder with traces, a trace, or a script")
    if source.is_dir() and not any(source.glob("*.jsonl")):
        if title.endswith(".py"):
            raise _NoTrace(
                f"{title} has compiled nothing: let it use fxc.compile, or try "
                f"python -m fxc run --report {title}"
            )
        raise _NoTrace(f"{source} has no trace: FXC_TRACE={source} python … writes one")
    traced = write_page(source, out, title)
    print(f"{out}: {counted(traced)}", file=sys.stderr)
    for each in traced.problems:
        print(f"  {each}", file=sys.stderr)
    return 0
