"""`python -m fxc bisect`: the first call of a script that differs from NumPy's, and why."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from fxc.ir.errors import FxcError
from fxc.ir.settings import config

from ..scripts.as_main import NoScript, print_error, script
from ..verifying.calls import Difference, hearers
from ..verifying.counts import COUNTS, as_text
from ..verifying.finding import found
from ..verifying.reducing import SECONDS

_HELP = """\
Run a script with each call of compiled code beside NumPy (FXC_VERIFY=1). For the first call that
differs, say which stage or pass is the first whose result differs, and write a small case of it to
a folder: the graph as text, its inputs, and show.py, which shows the difference.

    python -m fxc bisect heat.py --steps 100
    python -m fxc bisect --out wrong heat.py

The inputs in the folder are arrays of the script's: look at them before you send them to others.
The status is 0 if no call differs, 1 if one does, and 2 if the script cannot be run, or fails.
"""


class _Stopped(BaseException):
    """A difference was found: the script does not go on."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = _HELP
    parser.add_argument(
        "--out", metavar="FOLDER", default="fxc-wrong", help="where to write (fxc-wrong)"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=SECONDS,
        help=f"how long to make the case smaller ({SECONDS:.0f})",
    )
    parser.add_argument("script", help="a script in Python")
    rest = parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    rest.required = False  # no message says that it is missing


def run(options: argparse.Namespace) -> int:
    """Look for a call that differs; the exit status."""
    folder = Path(os.path.abspath(options.out))  # the script may go elsewhere

    def hear(difference: Difference) -> None:
        with config.override(verify=False):
            found(difference, folder, _say, options.seconds)
        raise _Stopped

    hearers.append(hear)
    try:
        with config.override(verify=True):
            script(options.script, options.arguments).run()
    except _Stopped:
        return 1
    except (NoScript, FxcError) as error:
        print(f"fxc bisect: {error}", file=sys.stderr)
        return 2
    except SystemExit as ended:
        if ended.code:
            _say(f"the script has ended with status {ended.code}")
    except BaseException as error:
        print_error(error, options.script)
        _say(f"the script has failed before a call differed; {as_text(COUNTS)}")
        return 2
    finally:
        hearers.remove(hear)
    _say(as_text(COUNTS))
    return 0


def _say(text: str) -> None:
    print(f"fxc bisect: {text}", file=sys.stderr, flush=True)
