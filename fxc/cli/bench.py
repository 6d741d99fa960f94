"""Run the benchmarks of a checkout: programs of users by fxc, NumPy and what else is installed."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

_HELP = """\
Time programs of users by fxc, NumPy, and numba, jax and numexpr where they are installed.

    python -m fxc bench                 all rows, which takes half an hour
    python -m fxc bench stencils        one suite

The benchmarks are in the repository, not in the package: run it in a checkout. docs/performance.md
has what was measured. The status is 0, or 2 where there is no checkout.
"""
_ROOT = Path(__file__).resolve().parents[2]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m fxc bench``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = _HELP
    parser.add_argument("rows", nargs="*", metavar="ROW", help="a suite, or one of its rows")


def run(options: argparse.Namespace) -> int:
    """Run the benchmarks; the exit status."""
    if not (_ROOT / "benchmarks" / "suites").is_dir():
        text = "the benchmarks are in the repository of fxc; run it in a checkout"
        print(f"fxc bench: {text}", file=sys.stderr)
        return 2
    sys.path.insert(0, str(_ROOT))
    sys.argv = ["benchmarks.suites", *options.rows]
    try:
        runpy.run_module("benchmarks.suites", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0
